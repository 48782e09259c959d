"""When a job will start and end, as a distribution.

    outlook = Outlook(Record.of(schedule), "easy")      what happened so far, and the policy in force
    found = outlook.of_row(row)                          a job of the log, when it was submitted
    outlook, row = outlook.joined(now, procs=64, ...)    the same with a job that nobody has submitted yet
    found.wait(0.5), found.interval(0.9), found.chance(3600 * SECOND)

Nothing that happened after the instant is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.forecast.arrivals import Arrivals
from headway.forecast.forward import Forward, Future
from headway.forecast.instant import Instant
from headway.forecast.levels import LEVELS
from headway.forecast.record import Record
from headway.forecast.run_times import RunTimes
from headway.plain import counted
from headway.policies.spec import Spec
from headway.units import DAY, NEVER, SECOND

DRAWS = 200
DRAWN = 24, 48, 96
"""After so many draws it is asked whether they are enough."""
MOST_DAYS = 14
"""So many days of arrivals are drawn at most; after them nobody comes."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Draws of when a job starts and ends; times in µs on the log's clock."""

    now: int
    submit: int
    starts: Ints
    """[draw] NEVER where it did not start."""
    run_times: Ints
    """[draw] how long the job itself runs."""
    plan: int
    """The start that the policy plans if every job uses its whole request and nobody comes."""
    running: int
    waiting: int

    @property
    def since(self) -> int:
        """Waits count from here: its submission, or the instant where it has waited for a while already."""
        return max(self.submit, self.now)

    @property
    def waits(self) -> Ints:
        """[draw] until its start."""
        return np.where(self.starts == NEVER, NEVER, self.starts - self.since)

    def wait(self, level: float) -> int:
        """The wait that is not exceeded with this probability."""
        return quantile(self.waits, level)

    def start(self, level: float) -> int:
        """The start that is not exceeded with this probability."""
        return quantile(self.starts, level)

    def end(self, level: float) -> int:
        """The end that is not exceeded with this probability."""
        return quantile(np.where(self.starts == NEVER, NEVER, self.starts + self.run_times), level)

    def at_levels(self) -> Ints:
        """The waits that are not exceeded with the probabilities of LEVELS."""
        ordered = np.sort(self.waits)
        place = np.ceil(LEVELS * len(ordered) - 1e-9).astype(np.int64) - 1
        return np.asarray(ordered[np.clip(place, 0, len(ordered) - 1)])

    def chance(self, within: int) -> float:
        """The probability to start within so long."""
        return float(np.mean(self.waits <= within))

    def interval(self, level: float) -> tuple[int, int]:
        """Waits between which the job starts with at least this probability."""
        return interval(self.wait, level)


def quantile(draws: Ints, level: float) -> int:
    """The smallest draw that at least this share of the draws does not exceed."""
    place = int(np.ceil(level * len(draws) - 1e-9)) - 1
    return int(np.sort(draws)[min(max(place, 0), len(draws) - 1)])


def interval(wait: Callable[[float], int], level: float) -> tuple[int, int]:
    """Between which waits the probability ``level`` lies, if ``wait`` gives quantiles.

    As much is left out below as above, unless a start at once is likelier than that: then nothing is left
    out below.
    """
    tail = (1 - level) / 2
    low = wait(tail)
    return (0, wait(level)) if low <= 0 else (low, wait(1 - tail))


class NeverStarts(UsageError):
    """A job that no machine of the record could ever start."""


class Outlook:
    """A record and the policy in force: forecasts at any instant."""

    def __init__(self, record: Record, policy: str | Spec | object) -> None:
        self.policy = policy
        self.forward, self.record = Forward.of(record, policy)
        self.run_times = RunTimes(self.record)

    def joined(self, submit: int, procs: int, walltime: int, **codes: int) -> tuple[Outlook, int]:
        """The same with one more job that waits, and its row."""
        record, row = self.record.with_job(submit, procs, walltime, **codes)
        other = Outlook(record, self.policy)
        if len(other.record) < len(record):
            labels, code = record.workload.labels.get("partition", []), codes.get("partition", -1)
            limits = f" or partition {labels[code]}" if 0 <= code < len(labels) else ""
            machine = f"a machine of {counted(self.record.platform.total_procs, 'processor')}"
            raise NeverStarts(
                f"no such job can ever start: {counted(procs, 'processor')} for {walltime // SECOND} s is "
                f"more than {machine}{limits} allows"
            )
        return other, row

    def with_request(self, row: int, procs: int, walltime: int) -> Outlook | None:
        """The same where a job of the record asks for something else; None where it could never run."""
        columns = {name: column.copy() for name, column in self.record.workload.columns.items()}
        columns["procs"][row], columns["walltime"][row] = procs, walltime
        workload = self.record.workload.replaced(columns=columns)
        other = Outlook(replace(self.record, workload=workload), self.policy)
        if len(other.record) < len(self.record):
            return None
        other.run_times.take_over(self.run_times)
        return other

    def of_row(self, row: int, now: int | None = None, draws: int = DRAWS, seed: int = 0) -> Forecast:
        """Of a job of the record that waits at ``now``, by default when it is submitted."""
        submit = int(self.record.workload.submit[row])
        at = submit if now is None else now
        instant = Instant.of(self.record, at, row if at == submit else None)
        return self.at(instant, row, draws, seed)

    def at(
        self,
        instant: Instant,
        row: int,
        draws: int = DRAWS,
        seed: int = 0,
        submit: int | None = None,
        enough: Callable[[Ints], bool] | None = None,
    ) -> Forecast:
        """Of a row among the waiting of an instant, which may be submitted later than that.

        ``enough`` is asked about the starts drawn so far, each time they are twice as many: there may be no
        need of more.
        """
        rng = np.random.default_rng([seed, 1])
        begin = self.forward.begin(instant)
        self.run_times.learn(instant.now)
        rows, work = begin.rows, instant.record.workload
        elapsed = np.concatenate([begin.elapsed, np.zeros(len(instant.waiting), np.int64)])
        times = self.run_times.draw(rows, elapsed, draws, rng)
        asked = int(work.submit[row]) if submit is None else submit
        planned = begin.start_of(row, Future(np.maximum(work.walltime[rows], elapsed + 1)), submit)
        own = int(np.flatnonzero(rows == row)[0])
        beyond = MOST_DAYS * DAY if planned == NEVER else planned - instant.now
        days = min(beyond // DAY + 2, MOST_DAYS)
        arrivals = Arrivals(instant.record, instant.now, days, self.forward.policy.takes_cancelled)

        def futures() -> Iterator[Future]:
            for draw, run_time in enumerate(times):
                # Each draw has numbers of its own: whatever is asked, the same jobs come in it.
                come, when = arrivals.draw(np.random.default_rng([seed, 3, draw]))
                yield Future(run_time, come, when, arrivals.run_times(come))

        if planned == instant.now and not self.forward.plans_with_draws:
            starts = np.full(draws, planned)  # at the instant itself nothing is left to chance
        else:
            starts = np.empty(draws, np.int64)
            for drawn, start in enumerate(begin.starts_of(row, futures(), submit), 1):
                starts[drawn - 1] = start
                if enough is not None and drawn in DRAWN and enough(starts[:drawn]):
                    starts = starts[:drawn]
                    break
        own_times, count = times[: len(starts), own], len(instant.waiting) - 1
        return Forecast(instant.now, asked, starts, own_times, planned, len(begin.running), count)
