"""What an audit says: which invariants were checked, and every fault in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.plain import counted

if TYPE_CHECKING:
    from headway.audit.record import Record

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]
Wrong = Sequence[int] | Mask
"""Where something is wrong: places, or at each place whether it is."""
SHOWN = 10
"""Faults told in full for each invariant; all are counted."""


@dataclass(frozen=True)
class Fault:
    """One broken invariant: when (µs, None where no instant applies), whose (job numbers), and in words."""

    law: str
    time: int | None
    jobs: tuple[int, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.law}: {self.message}"


@dataclass(frozen=True)
class Finding:
    """What one invariant's check found: how many faults in all, and the first of them."""

    count: int = 0
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Law:
    """An invariant by name, what it demands, and its check, which answers None where it does not apply."""

    name: str
    demands: str
    check: Callable[[Record], Finding | None]


@dataclass(frozen=True)
class Audit:
    """The verdict on one schedule. `laws` were checked; `counts` says how often each was broken."""

    jobs: int
    laws: tuple[Law, ...]
    counts: dict[str, int]
    faults: list[Fault]
    unix_start: int | None = None
    """When the log's clock was 0, in seconds since 1970, where the log says so."""
    not_judged: tuple[Law, ...] = ()
    """Invariants of the policy that cannot be judged from what the schedule tells."""

    @property
    def ok(self) -> bool:
        """Whether every invariant that was checked holds."""
        return not self.faults

    def table(self) -> list[dict[str, Any]]:
        """One row per invariant checked: its name, what it demands, the number of faults."""
        return [
            {"law": law.name, "demands": law.demands, "faults": self.counts[law.name]} for law in self.laws
        ]

    def __repr__(self) -> str:
        return f"<Audit: {self}>"

    def __str__(self) -> str:
        laws = f"{counted(len(self.laws), 'invariant')} checked on {counted(self.jobs, 'job')}"
        if self.ok:
            return f"{laws}: all hold"
        broken = [f"{law.name} ({self.counts[law.name]})" for law in self.laws if self.counts[law.name]]
        return f"{laws}: broken are {', '.join(broken)}"


def fault(time: Any, jobs: Iterable[Any], message: str) -> Fault:
    """A fault from numpy's numbers; the audit says whose it is."""
    return Fault("", None if time is None else int(time), tuple(int(job) for job in jobs), message)


def found(wrong: Wrong, describe: Callable[[int], Fault]) -> Finding:
    """The faults at some places; only the first few are described."""
    places: Sequence[int] = np.flatnonzero(wrong).tolist() if isinstance(wrong, np.ndarray) else wrong
    return Finding(len(places), tuple(describe(place) for place in places[:SHOWN]))


def of_jobs(
    record: Record,
    wrong: Wrong,
    tell: Callable[[int], str],
    at: Sequence[int] | Column | None = None,
    rows: Sequence[int] | Column | None = None,
) -> Finding:
    """Faults of one job each, in words: "job N", and what ``tell`` says of the place.

    ``rows`` are the jobs' rows of the record, by default the places themselves; ``at`` when each is wrong, by
    default when the job starts.
    """

    def describe(place: int) -> Fault:
        row = place if rows is None else rows[place]
        number, time = record.job[row], record.start[row] if at is None else at[place]
        return fault(time, (number,), f"job {number} {tell(place)}")

    return found(wrong, describe)


def together(*findings: Finding) -> Finding:
    """Several findings of one invariant as one."""
    faults = [fault for finding in findings for fault in finding.faults]
    return Finding(sum(finding.count for finding in findings), tuple(faults[:SHOWN]))


def listed(jobs: Sequence[int]) -> str:
    """The first few job numbers as text."""
    some = ", ".join(str(int(job)) for job in jobs[:SHOWN])
    more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
    return f"{'job' if len(jobs) == 1 else 'jobs'} {some}{more}"
