"""Whether forecasts keep what they promise: a walk through a record, forecasting as it goes.

A sample of the jobs is forecast when each is submitted, from what is known then. The first jobs of the record
only fill the pools; the first of the sample only teach the correction, and are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.forecast.correction import Correction
from headway.forecast.forecast import Forecast, Outlook
from headway.forecast.record import Record
from headway.forecast.waits import Waits
from headway.plain import Progress
from headway.policies.spec import Spec
from headway.units import NEVER

WARM_UP = 0.2
"""The share of the jobs, the first ones, that are not forecast."""
TEACHING = 40
"""So many forecasts before the first that is judged teach the correction."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Forecasts of some jobs beside what happened; one row per job, in order of submission, times in µs."""

    job: Ints
    submit: Ints
    procs: Ints
    wait: Ints
    """What happened."""
    simulated: Ints
    """[job, level] waits by the draws at LEVELS."""
    history: Ints
    """[job, level] waits of like jobs at LEVELS."""
    corrected: Ints
    """[job, level] simulation and history after the correction."""
    plan: Ints
    recent: Ints
    bound: Ints
    """QBETS' 95 % bound; NEVER where it has none."""
    waiting: Ints
    """How many waited before the job."""

    def of(self, rows: slice | Ints | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Sample:
        """Some rows of it."""
        return Sample(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


def check(
    record: Record,
    policy: str | Spec | object,
    jobs: int = 400,
    draws: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
) -> Sample:
    """Forecast a sample of the jobs of a record, each at its submission, and keep what happened."""
    outlook = Outlook(record, policy)
    rows = chosen(outlook.record, jobs + TEACHING, seed)
    found = walk(outlook, rows, draws, seed, progress)
    return found.of(slice(max(len(rows) - jobs, min(TEACHING, len(rows) // 5)), None))


def chosen(record: Record, jobs: int, seed: int) -> Ints:
    """Rows of a random sample of the jobs behind the warm-up that have started, in order of submission."""
    first = round(WARM_UP * len(record))
    places = first + np.flatnonzero(record.start[record.order[first:]] < NEVER)
    if len(places) < 2:
        raise UsageError(f"{record.workload.source.name}: too few jobs to forecast any from those before it")
    if len(places) > jobs:
        places = np.sort(np.random.default_rng([seed, 2]).choice(places, jobs, replace=False))
    return record.order[places]


def walk(outlook: Outlook, rows: Ints, draws: int, seed: int = 0, progress: Progress | None = None) -> Sample:
    """Forecasts of some rows, in order of submission, each at its submission."""
    record, waits = outlook.record, Waits(outlook.record)
    work = record.workload
    one: dict[str, list[int]] = {name: [] for name in ("plan", "recent", "bound", "waiting")}
    simulated, history = [], []
    for row, found in in_turn(outlook, rows, waits, draws, seed, progress):
        simulated.append(found.at_levels())
        history.append(waits.quantiles(row))
        one["plan"].append(found.plan - found.since)
        one["recent"].append(waits.recent_median(row))
        one["bound"].append(waits.bound(row))
        one["waiting"].append(found.waiting)
    columns = {name: np.array(values, np.int64) for name, values in one.items()}
    columns |= {"simulated": np.array(simulated), "history": np.array(history)}
    submit, start = work.submit[rows], record.start[rows]
    told, _ = corrected(columns["simulated"], columns["history"], submit, start)
    return Sample(
        job=work.job[rows], submit=submit, procs=work.procs[rows], wait=start - submit,
        corrected=told, **columns,
    )  # fmt: skip


def in_turn(
    outlook: Outlook,
    rows: Ints,
    waits: Waits,
    draws: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Forecast]]:
    """Some rows, in order of submission, and the forecast of each at its submission; `waits` learns on."""
    for place, row in enumerate(rows.tolist()):
        found = outlook.of_row(row, draws=draws, seed=seed + place)
        waits.learn(found.now)
        yield row, found
        if progress is not None:
            progress(place + 1, len(rows))


def corrected(
    simulated: Ints, history: Ints, submit: Ints, start: Ints, now: int = NEVER
) -> tuple[Ints, Correction]:
    """The quantiles of each forecast, corrected by those before it whose jobs have started by then.

    Also the correction, which knows of all that have started by ``now``.
    """
    correction, done = Correction(), np.zeros(len(submit), np.bool_)
    told = np.empty_like(simulated)

    def learn(place: int, now: int) -> None:
        for known in np.flatnonzero(~done[:place] & (start[:place] < now)).tolist():
            correction.learn(known, int(start[known] - submit[known]))
            done[known] = True

    for place, then in enumerate(submit.tolist()):
        learn(place, then)
        told[place] = correction.tell(simulated[place], history[place])
    learn(len(submit), now)
    return told, correction
