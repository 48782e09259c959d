"""What the references are given and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

SECOND = 1_000_000  # the default meaning of one second: times are integer microseconds


@dataclass(frozen=True)
class Job:
    """One job; a list of them is in file order, and the place in the list is the last tie-break.

    ``runtime`` is what the program needs, ``walltime`` what was requested; the job gets the smaller of the
    two. A walltime of 0 is allowed only with a runtime of 0 (a reader replaces a missing request by the run
    time). ``deadline`` is on the clock of ``submit``.  ``swap`` is the time to swap the job out, and also to
    swap it in.
    """

    id: int
    submit: int
    procs: int
    walltime: int
    runtime: int
    deadline: int | None = None
    urgent: bool = False
    swap: int = 0
    memory_gb: Fraction = Fraction(0)  # what a host must hold while the job is swapped out, per processor
    file: str | None = None
    file_gb: Fraction = Fraction(0)
    needs_node_gb: Fraction = Fraction(0)
    parallel_fraction: Fraction | None = None  # None: rigid
    max_procs: int | None = None
    cluster: str | None = None  # home of a local job
    local: bool = False

    def __post_init__(self) -> None:
        assert self.procs > 0 and self.runtime >= 0 and self.walltime >= 0
        assert self.walltime > 0 or self.runtime == 0, "a missing request is the run time"

    @property
    def length(self) -> int:
        """Time the job holds its processors: it is killed at its walltime."""
        return min(self.runtime, self.walltime)


@dataclass
class Result:
    """What became of one job.  ``promise`` is None where nothing was promised."""

    start: int
    end: int
    killed: bool
    why: str
    promise: int | None = None
