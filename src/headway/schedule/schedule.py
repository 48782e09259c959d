"""The result of a run: what every layer after the simulation knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.plain import counted
from headway.schedule.moves import Moves
from headway.schedule.pieces import Pieces
from headway.schedule.shares import Shares

if TYPE_CHECKING:
    import polars as pl

    from headway.platform import Platform
    from headway.workload import Workload

Column = NDArray[np.int64]

PROMISE_KINDS = ("", "start", "told", "end")
"""What `promise` holds: nothing, a latest start that is an invariant, a start told once, an end told once."""


@dataclass(eq=False)
class Schedule:
    """When and where each job of a workload ran, and why it started.

    One entry per job, in the workload's (file) order; times in microseconds on the trace's clock.
    `start` is the first start of the final run and `end` its end.
    """

    workload: Workload
    platform: Platform
    policy: str
    start: Column
    end: Column
    why: NDArray[np.uint8]
    killed: NDArray[np.bool_]
    procs: Column = None  # type: ignore[assignment]
    walltime: Column = None  # type: ignore[assignment]
    runtime: Column = None  # type: ignore[assignment]
    promise: Column | None = None
    promise_kind: str = ""
    group: Column | None = None
    cluster: Column | None = None
    node: Column | None = None
    partition: Column | None = None
    """The partition in which each job ran on a site; the workload has what it asked for."""
    shares: Shares | None = None
    """What jobs held of named nodes."""
    waiting: Column | None = None
    pieces: Pieces | None = None
    moves: Moves | None = None
    """How waiting jobs went from one cluster to another."""
    capacity: int = 0
    groups: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    own: Mapping[str, object] = field(default_factory=dict)
    notes: Mapping[str, Column] = field(default_factory=dict)
    """What the policy noted of each job, by name (times in µs, jobs by number); a saved run has them only
    where jobs have named nodes."""
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jobs = len(self.workload)
        for name in ("procs", "walltime", "runtime"):
            if getattr(self, name) is None:
                setattr(self, name, self.workload.columns[name])
        for name in ("start", "end", "procs", "walltime", "runtime"):
            setattr(self, name, _column(getattr(self, name), name, jobs, np.int64))
        for name in ("promise", "group", "cluster", "node", "partition", "waiting"):
            if getattr(self, name) is not None:
                setattr(self, name, _column(getattr(self, name), name, jobs, np.int64))
        self.why = _column(self.why, "why", jobs, np.uint8)
        self.killed = _column(self.killed, "killed", jobs, np.bool_)
        if self.promise_kind not in PROMISE_KINDS:
            raise ValueError(f"promise_kind {self.promise_kind!r} is none of {PROMISE_KINDS}")
        if not self.capacity:
            self.capacity = sum(self.groups.values()) or self.platform.total_procs

    def __len__(self) -> int:
        return len(self.workload)

    def __repr__(self) -> str:
        jobs, procs = counted(len(self), "job"), counted(self.capacity, "processor")
        return f"<Schedule of {jobs} on {procs} by {self.policy}>"

    # ---- what follows from the columns, in µs -------------------------------------------------

    @property
    def submit(self) -> Column:
        return np.asarray(self.workload.columns["submit"], dtype=np.int64)

    @property
    def run(self) -> Column:
        """What each job got of its run time: min(runtime, walltime), the p of every metric."""
        return np.minimum(self.runtime, self.walltime)

    @property
    def wait(self) -> Column:
        """From submission to the start of the final run."""
        return np.asarray(self.start - self.submit)

    @property
    def first_start(self) -> Column:
        """When each job started for the first time; runs that were given up count."""
        start = self.start.copy()
        if self.pieces is not None:
            np.minimum.at(start, self.pieces.job, self.pieces.start)
        return start

    @property
    def response(self) -> Column:
        """From submission to the end; also called flow or turnaround time."""
        return np.asarray(self.end - self.submit)

    @property
    def unix_start(self) -> int | None:
        """When the clock of the log was 0, in seconds since 1970, where the log says so."""
        return self.workload.header.unix_start

    # ---- tables -------------------------------------------------------------------------------

    def frame(self) -> pl.DataFrame:
        """One row per job, the columns of schedule.csv; times in seconds."""
        from headway.schedule.table import schedule_frame

        return schedule_frame(self)

    def runs(self) -> pl.DataFrame:
        """One row per piece of every run, the columns of runs.csv; times in seconds."""
        from headway.schedule.table import runs_frame

        return runs_frame(self)


def _column(values: ArrayLike, name: str, length: int, dtype: Any) -> Any:
    array = np.ascontiguousarray(values, dtype=dtype)
    if array.shape != (length,):
        raise ValueError(f"schedule: column {name} has shape {array.shape}, {length} jobs are expected")
    return array
