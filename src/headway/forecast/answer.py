"""The answer to "when will my job start?", and what would help.

question = Question(procs=64, walltime=6 * 3600 * SECOND)
found = answer(outlook, now, question)
found.main.chance(3600 * SECOND), found.main.quantiles, found.others
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.forecast.check import corrected, in_turn
from headway.forecast.correction import FEWEST, Correction
from headway.forecast.forecast import DRAWS, Forecast, NeverStarts, Outlook, quantile
from headway.forecast.instant import Instant
from headway.forecast.levels import LEVELS, LONGEST
from headway.forecast.record import Record
from headway.forecast.waits import Waits
from headway.plain import Progress
from headway.units import HOUR, MINUTE, NEVER

TEACHERS, TEACHING_DRAWS = 60, 20
"""So many past forecasts of so many draws teach the correction of an answer."""
SPREAD = 10
"""They are every so-manieth job of the last ones."""
LATER = (6, 12, 24)
"""Hours after which the job might be submitted instead."""


@dataclass(frozen=True)
class Question:
    """A job that nobody has submitted yet (times in µs), or one of the log by its row."""

    procs: int
    walltime: int
    codes: dict[str, int] = field(default_factory=dict)
    """Codes of further columns, such as user and partition."""
    later: int = 0
    """It is submitted so long after the instant."""
    row: int | None = None

    def asked_of(self, outlook: Outlook, now: int) -> tuple[Outlook, int]:
        """The outlook with the job, and its row; NeverStarts if it never can."""
        if self.row is not None:
            return outlook, self.row
        return outlook.joined(now, self.procs, self.walltime, **self.codes)


@dataclass(frozen=True, eq=False)
class Told:
    """A forecast as it is told: draws, and the waits at LEVELS after the correction."""

    name: str
    question: Question
    forecast: Forecast
    quantiles: Ints
    is_corrected: bool

    def wait(self, level: float) -> int:
        """The wait that is not exceeded with this probability, which is one of LEVELS (µs)."""
        return int(self.quantiles[int(np.argmin(abs(LEVELS - level)))])

    def end(self, level: float) -> int:
        """The end that is not exceeded with this probability (µs): draws are moved as starts are.

        No job ends before it starts, so none is told to, although both are made of few draws.
        """
        waits = self.forecast.waits
        if self.is_corrected:
            told = np.interp(ranks(waits), LEVELS, self.quantiles.astype(np.float64))
            waits = told.astype(np.int64)
        end = quantile(waits + self.forecast.run_times, level)
        return self.forecast.since + max(end, self.wait(level))

    def chance(self, within: int) -> float:
        """The probability to start within so long."""
        if not self.is_corrected:
            return self.forecast.chance(within)
        kept = LEVELS[self.quantiles <= within]
        return float(kept[-1]) if len(kept) else 0.0


@dataclass(frozen=True, eq=False)
class Effect:
    """What a change does in the simulation: differences on the same draws, never what like jobs waited."""

    name: str
    question: Question
    forecast: Forecast
    asked: Forecast
    """Of the job as asked."""

    @cached_property
    def waits(self) -> Ints:
        """[draw] how much longer it waits (µs), each from its own submission; LONGEST at most."""
        return longer(self.forecast.waits, self.asked)

    @property
    def starts(self) -> Ints:
        """[draw] how much later it starts (µs), below 0 earlier."""
        return np.asarray(self.waits + (self.forecast.since - self.asked.since))


@dataclass(frozen=True, eq=False)
class Answer:
    """What is told of a job, and what changes of it would do."""

    main: Told
    others: list[Effect]
    taught: int
    """How many past forecasts the correction has learned from; 0 where nothing was corrected."""
    never: list[str] = field(default_factory=list)
    """Others by name that could never start."""
    history: float = 0.0
    """How much the waits of like jobs count in ``main``, 0 to 1; the rest is the simulation."""


def longer(waits: Ints, asked: Forecast) -> Ints:
    """How much longer than in the same draws of another forecast some waits are (µs); LONGEST at most."""
    return np.asarray(np.minimum(waits, LONGEST) - np.minimum(asked.waits[: len(waits)], LONGEST))


def sign_is_sure(differences: Ints) -> bool:
    """Whether the median of such differences is above, below or at none; up to a minute is no difference.

    The median of all is between the order statistics n/2 -+ sqrt(n) of n draws with 93 % and more (binomial).
    """
    ordered = np.sort(differences)
    place = int(len(ordered) / 2 - np.sqrt(len(ordered)))
    low, high = int(ordered[place]), int(ordered[-1 - place])
    return low > MINUTE or high < -MINUTE or -MINUTE <= low <= high <= MINUTE


def ranks(draws: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability at which each draw stands among all."""
    place = np.empty(len(draws), np.int64)
    place[np.argsort(draws, kind="stable")] = np.arange(len(draws))
    return (place + 0.5) / len(draws)


def answer(
    outlook: Outlook,
    now: int,
    question: Question,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    teachers: int = TEACHERS,
    others: Sequence[tuple[str, Question]] = (),
    progress: Progress | None = None,
) -> Answer:
    """Forecast a job at an instant, corrected by past forecasts, and what changes of it would do."""
    total = teachers + 1 + len(others)

    def told(done: int) -> None:
        if progress is not None:
            progress(done, total)

    waits = Waits(outlook.record)
    asked = question.asked_of(outlook, now)  # or NeverStarts, before anything is simulated
    correction = teach(outlook, now, teachers, seed, waits, lambda done, _: told(done)) if teachers else None
    outlook.run_times.learn(now)

    def simulated(question: Question, asked: tuple[Outlook, int], main: Forecast | None = None) -> Forecast:
        """The job as asked, or a change of it, with no more draws than tell whether it helps."""
        of, row = asked
        of.run_times.take_over(outlook.run_times)
        submit = now + question.later

        def enough(starts: Ints) -> bool:
            waits = np.where(starts == NEVER, NEVER, starts - submit)
            return main is not None and sign_is_sure(longer(waits, main))

        later = submit if question.later else None
        return of.at(of_job(of.record, now, row), row, draws, seed, later, None if main is None else enough)

    found = simulated(question, asked)
    quantiles, weight = found.at_levels(), 0.0
    if correction is not None:
        waits.learn(now)
        waits.record, waited = asked[0].record, found.since - found.submit
        history = waits.quantiles(asked[1], waited)
        nobody_so_long = waited > 0 and not history.any()
        weight = 0.0 if nobody_so_long else correction.weight_of_history(quantiles)
        quantiles = correction.tell(quantiles, quantiles if nobody_so_long else history)
    told(teachers + 1)
    effects, never = [], []
    for place, (name, other) in enumerate(others, 2):
        try:
            effects.append(Effect(name, other, simulated(other, other.asked_of(outlook, now), found), found))
        except NeverStarts:
            never.append(name)
        told(teachers + place)
    main = Told("as asked", question, found, quantiles, correction is not None)
    return Answer(main, effects, 0 if correction is None else correction.taught, never, weight)


def teach(
    outlook: Outlook, now: int, teachers: int, seed: int, waits: Waits, progress: Progress
) -> Correction | None:
    """What the last jobs that have started by ``now`` teach; nothing if they are too few."""
    record = outlook.record
    before = record.order[: int(np.searchsorted(record.submits, now))]
    before = before[~record.cancelled[before]]
    rows = before[max(len(before) // 10, len(before) - SPREAD * teachers) :]
    rows = rows[:: max(1, len(rows) // teachers)][:teachers]
    if not len(rows):
        return None
    walked = in_turn(outlook, rows, waits, TEACHING_DRAWS, seed, progress)
    forecasts = [(found.at_levels(), waits.quantiles(row)) for row, found in walked]
    simulated, history = (np.array(each) for each in zip(*forecasts, strict=True))
    _, correction = corrected(simulated, history, record.workload.submit[rows], record.start[rows], now)
    return correction if correction.taught >= FEWEST else None


def of_job(record: Record, now: int, row: int) -> Instant:
    """The queue in which a job of a row waits at ``now``."""
    instant = Instant.of(record, now, row if int(record.workload.submit[row]) == now else None)
    if row not in instant.waiting:
        raise UsageError(f"job {record.workload.job[row]} does not wait at that instant")
    return instant


def alternatives(
    question: Question, partitions: Sequence[tuple[str, int]] = ()
) -> list[tuple[str, Question]]:
    """What might help: smaller, shorter, both, later, another partition."""
    found = []
    smaller, shorter = question.procs // 2, -(-question.walltime // 2)
    if smaller:
        found.append(("half the processors", replace(question, procs=smaller)))
    found.append(("half as long", replace(question, walltime=shorter)))
    if smaller:
        longer = replace(question, procs=smaller, walltime=2 * question.walltime)
        found.append(("half the processors, twice as long", longer))
    for hours in LATER:
        found.append((f"submitted {hours} h later", replace(question, later=hours * HOUR)))
    for name, code in partitions:
        found.append((f"partition {name}", replace(question, codes=question.codes | {"partition": code})))
    return found
