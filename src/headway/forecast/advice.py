"""Whether what `when` advises is right: the sign of a change's effect, held against simulated truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.arrays import Ints
from headway.forecast.answer import LATER, Effect, Question, alternatives
from headway.forecast.check import chosen
from headway.forecast.correction import MEDIAN
from headway.forecast.forecast import MOST_DAYS, Outlook, quantile
from headway.forecast.forward import Future
from headway.forecast.instant import Instant
from headway.forecast.levels import LONGEST
from headway.forecast.record import Record
from headway.forecast.waits import Waits
from headway.plain import Progress
from headway.policies.spec import Spec
from headway.units import DAY, HOUR, MINUTE, NEVER

JOBS = 40
"""So many jobs that waited for more than a minute are asked about."""


@dataclass(frozen=True, eq=False)
class Advice:
    """What a change of some jobs would do: as forecast, and as simulated with what really came.

    Signs are -1 for a shorter wait, 1 for a longer one; up to a minute is no difference.
    """

    change: str
    simulated: Ints
    """[job] by the median of the differences on the same draws."""
    history: Ints
    """[job] by the medians of what like jobs waited."""
    truth: Ints
    """[job] by simulation with the true run times and arrivals."""

    def describe(self) -> dict[str, Any]:
        """How often each tells a shorter from a longer wait, and how often what it advises is right."""
        return {
            "change": self.change,
            "jobs": len(self.truth),
            "better": int((self.truth < 0).sum()),
            "worse": int((self.truth > 0).sum()),
            **{
                name: {
                    "right": float(np.mean(told == self.truth)),
                    "advised": int((told < 0).sum()),
                    "advised_harms": int(((told < 0) & (self.truth > 0)).sum()),
                    "discouraged": int((told > 0).sum()),
                    "discouraged_helps": int(((told > 0) & (self.truth < 0)).sum()),
                }
                for name, told in (("simulated", self.simulated), ("history", self.history))
            },
        }


def sign_of(difference: int) -> int:
    """-1 or 1; up to a minute is no difference."""
    return 0 if abs(difference) <= MINUTE else 1 if difference > 0 else -1


def advice(
    record: Record,
    policy: str | Spec | object,
    jobs: int = JOBS,
    draws: int = 40,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Advice]:
    """What `when` advises for some rows, in order of submission, held against what would have happened."""
    outlook = Outlook(record, policy)
    record, waits = outlook.record, Waits(outlook.record)
    rows = chosen(record, len(record), seed)
    rows = rows[record.start[rows] > record.workload.submit[rows] + MINUTE]
    rows = rows[np.linspace(0, len(rows) - 1, min(jobs, len(rows))).astype(np.int64)]
    found: dict[str, list[tuple[int, int, int]]] = {}
    for place, row in enumerate(rows.tolist()):
        now = int(record.workload.submit[row])
        waits.learn(now)
        asked = outlook.of_row(row, draws=draws, seed=seed + place)
        before, really = int(waits.quantiles(row)[MEDIAN]), truly(outlook, row, now)
        question = Question(int(record.workload.procs[row]), int(record.workload.walltime[row]))
        for name, other in alternatives(question):
            if other.later and other.later != LATER[0] * HOUR:
                continue
            changed = outlook.with_request(row, other.procs, other.walltime)
            if changed is None:
                continue
            submit = now + other.later
            instant = Instant.of(changed.record, now, row)
            effect = Effect(name, other, changed.at(instant, row, draws, seed + place, submit), asked)
            waits.record = changed.record
            told = int(waits.quantiles(row)[MEDIAN]) - before
            waits.record = record
            true = truly(changed, row, submit) - really
            signs = (sign_of(quantile(effect.waits, 0.5)), sign_of(told), sign_of(true))
            found.setdefault(name, []).append(signs)
        if progress is not None:
            progress(place + 1, len(rows))
    return [Advice(name, *np.array(signs).T) for name, signs in found.items()]


def truly(outlook: Outlook, row: int, submit: int) -> int:
    """How long a row waits that is submitted then, with the run times and arrivals that really came."""
    record = outlook.record
    now = int(record.workload.submit[row])
    begin = outlook.forward.begin(Instant.of(record, now, row))
    ran = np.where(record.start < NEVER, record.end - record.start, record.workload.walltime)
    ran = np.where(record.end < NEVER, ran, record.workload.walltime)
    comes = record.order[int(record.rank[row]) + 1 :]
    comes = comes[~record.cancelled[comes]]
    when = np.maximum(record.workload.submit[comes], now + 1)
    comes, when = comes[when < submit + MOST_DAYS * DAY], when[when < submit + MOST_DAYS * DAY]
    start = begin.start_of(row, Future(ran[begin.rows], comes, when, ran[comes]), submit)
    return min(start - submit, LONGEST)
