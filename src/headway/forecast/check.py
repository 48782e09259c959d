"""Whether forecasts keep what they promise: a walk through a record, forecasting as it goes.

A sample of the jobs is forecast when each is submitted, from what is known then; the correction learns from
those of the sample that have started. The jobs of the first part of the record only teach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.errors import UsageError
from headway.forecast.baselines import Baselines
from headway.forecast.correction import LEVELS, Correction
from headway.forecast.forecast import Outlook
from headway.forecast.record import Column, Record
from headway.policies.spec import Spec

Progress = Callable[[int, int], None]

WARM_UP = 0.2
"""The share of the jobs, the first ones, that are not forecast."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Forecasts of some jobs beside what happened; one row per job, in order of submission, times in µs."""

    policy: str
    draws: int
    job: Column
    submit: Column
    procs: Column
    wait: Column
    """What happened."""
    simulated: Column
    """[job, level] waits by the draws at LEVELS."""
    corrected: Column
    """[job, level] the same after the correction."""
    plan: Column
    recent: Column
    bound: Column
    """QBETS' 95 % bound; NEVER where it has none."""
    waiting: Column
    """How many waited before the job."""


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
    record = outlook.record
    rows = chosen(record, jobs, seed)
    baselines = Baselines(record)
    work = record.workload
    columns: dict[str, list[int]] = {name: [] for name in ("plan", "recent", "bound", "waiting")}
    simulated = np.empty((len(rows), len(LEVELS)), np.int64)
    for place, row in enumerate(rows.tolist()):
        found = outlook.of_row(row, draws=draws, seed=seed + place)
        baselines.learn(found.now)
        simulated[place] = [found.wait(level) for level in LEVELS]
        for name, value in (
            ("plan", found.plan - found.submit), ("recent", baselines.recent_median(row)),
            ("bound", baselines.bound(row)), ("waiting", found.waiting),
        ):  # fmt: skip
            columns[name].append(value)
        if progress is not None:
            progress(place + 1, len(rows))
    submit, start = work.submit[rows], record.start[rows]
    return Sample(
        policy=str(outlook.forward.policy.spec),
        draws=draws,
        job=work.job[rows],
        submit=submit,
        procs=work.procs[rows],
        wait=start - submit,
        simulated=simulated,
        corrected=corrected(simulated, submit, start),
        **{name: np.array(values, np.int64) for name, values in columns.items()},
    )


def chosen(record: Record, jobs: int, seed: int) -> Column:
    """Rows of a random sample of the jobs behind the warm-up, in order of submission."""
    first = round(WARM_UP * len(record))
    if len(record) - first < 2:
        raise UsageError(f"{record.workload.source.name}: too few jobs to forecast any from those before it")
    places = np.arange(first, len(record))
    if len(places) > jobs:
        places = np.sort(np.random.default_rng([seed, 2]).choice(places, jobs, replace=False))
    return record.order[places]


def corrected(simulated: Column, submit: Column, start: Column) -> Column:
    """The quantiles of each forecast, corrected by those before it whose jobs have started by then."""
    correction, done = Correction(), np.zeros(len(submit), np.bool_)
    found = np.empty_like(simulated)
    for place, now in enumerate(submit.tolist()):
        before = np.arange(place)
        for known in before[~done[:place] & (start[:place] < now)].tolist():
            correction.learn(simulated[known], int(start[known] - submit[known]))
            done[known] = True
        longer = [(simulated[one], now - int(submit[one])) for one in before[~done[:place]].tolist()]
        found[place] = correction.apply(simulated[place], longer)
    return found
