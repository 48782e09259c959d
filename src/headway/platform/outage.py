"""Processors that are not there for a time: maintenance that is announced, failures, processors that drain.

    maintenance   known beforehand: from ``start`` to ``end`` so many processors are kept free, whichever;
                  a job that still runs on them is stopped
    down          not known beforehand, nor how long it lasts: what runs on these processors is stopped
    drain         from ``start`` on nothing more starts on these processors; what runs there goes on

Times are µs on the log's clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.errors import UsageError
from headway.units import LONGEST

KINDS = ("maintenance", "down", "drain")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Outage:
    """Some processors that are not there from ``start`` to ``end``."""

    kind: str
    start: int
    end: int | None
    """None: until the last job of the log is submitted."""
    procs: int
    processors: tuple[Range, ...] = ()
    """Half-open ranges in ascending order. A maintenance takes what is free; here is then what it took."""
    announced: int | None = None
    """When a maintenance becomes known; None: long before."""
    note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"the kind must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {self.kind!r}")
        if self.end is not None and self.end <= self.start:
            raise UsageError("the end must be later than the start")
        if self.procs < 1:
            raise UsageError(f"procs must be at least 1, not {self.procs}")
        if self.announced is not None:
            if self.kind != "maintenance":
                raise UsageError(
                    f"only maintenance is announced, not {self.kind}: leave the cell announced empty"
                )
            if self.announced > self.start:
                raise UsageError("announced must not be later than the start")

    @property
    def over(self) -> int:
        """When it is over; without an end, later than anything else."""
        return LONGEST if self.end is None else self.end
