"""What a policy is prepared from, the jobs that arrive, and what it gives to the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.setup import Setup
from headway.engine.tables import State
from headway.platform import Platform

Table = npt.NDArray[np.int64]

BOOTING = "booting"
"""The lead of runs whose nodes are switched on for them."""
UNBOUNDED = 1 << 60
"""``WALL`` (µs) of a job that may go on as long as it needs."""


@dataclass(frozen=True)
class Arrivals:
    """The jobs in order of submit, then file: what preparing a policy may look at (times in µs)."""

    submit: Table
    procs: Table
    walltime: Table
    length: Table
    """What each job will get, min(run, walltime); only for ``estimate=exact``."""
    extra: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns of the workload, such as ``urgent``."""
    platform: Platform | None = None
    """The machine, for policies that look at its nodes or clusters."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Names of what columns hold as codes, such as ``file`` and ``cluster``."""
    origin: int = 0
    """When the log's clock was 0, in seconds since 1970; 0 where that is not known."""
    more_come: bool = False
    """Whether further jobs come one by one, of which nothing is known yet."""

    @property
    def is_changing(self) -> bool:
        """Whether processors of the machine come and go."""
        return self.platform is not None and self.platform.outages is not None

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Every column at hand but the lengths, by the workload's names."""
        return {**self.extra, "submit": self.submit, "procs": self.procs, "walltime": self.walltime}


@dataclass(frozen=True)
class Sets:
    """The processors of some runs of the log."""

    of_run: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Half-open ranges in ascending order; a later run of the same job that is not here has the same."""
    borrower: dict[int, int] = field(default_factory=dict)
    """Of a run that was suspended, the run that it was suspended for, where only what that one took is
    swapped out."""
    swap_out: dict[int, int] = field(default_factory=dict)
    """How long a run that was suspended took to be swapped out (µs)."""


@dataclass(frozen=True)
class Sites:
    """Which cluster and group each pool is, where clusters have groups of their own."""

    cluster: Table
    group: Table
    """The number of the group; -1 where the cluster has none."""
    groups: dict[str, int]
    """Processors of each group in all clusters."""


@dataclass(frozen=True)
class OnNodes:
    """Where jobs ran on named nodes."""

    nodes: Sequence[str]
    """The names of the engine's nodes."""
    partition: Table
    """The partition in which each job ran, in the engine's order."""
    partitions: Sequence[str]
    walltime: Table
    """The walltime that each job ran with (µs): the scheduler may have shortened it."""
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the codes of some notes."""


def refused_late(state: State, job: int) -> tuple[str, str]:
    """What is said of jobs that are refused because of their deadlines."""
    return "late", "refused on arrival, its deadline could not be met: not run"


@dataclass(frozen=True)
class Prepared:
    """A policy ready to run."""

    setup: Setup
    plan: Table
    """The time the scheduler plans with, per job."""
    promise_kind: str = ""
    groups: dict[str, int] = field(default_factory=dict)
    """Names and sizes of the pools, where there are several."""
    own: Callable[[State], dict[str, object]] | None = None
    """The policy's own summary numbers."""
    notes: Callable[[State, Table], dict[str, Any]] | None = None
    """What the policy noted of each job, in the engine's order; the table has the log's job numbers."""
    lead: str = ""
    """What a run does before its program begins, a state of pieces; where it is ``swap_in`` or BOOTING, a job
    that comes first to its processors starts when its program does."""
    sets: Callable[[State], Sets] | None = None
    """Which processors jobs had, where that matters; the schedule then has pieces of all these jobs."""
    remark: str = ""
    """One line that the user should read, such as that nothing in the workload concerns this policy."""
    source: dict[str, str] = field(default_factory=dict)
    """Name, file and digest of a policy that is the user's own."""
    again: Callable[[State], Setup | None] | None = None
    """A setup with more space for the policy's notes, where a run turned out to need it, to run again."""
    nodes: Table | None = None
    """Where the pools are nodes: the platform's number of each."""
    moves: Callable[[State], dict[str, Table]] | None = None
    """The moves of waiting jobs between clusters, the columns of a schedule's; jobs in the engine's order."""
    sites: Sites | None = None
    """Where the pools are, if they are more than the clusters of a grid or the groups of a machine."""
    on_nodes: Callable[[State], OnNodes] | None = None
    """Where jobs ran, if they have shares of named nodes."""
    refused: Callable[[State, int], tuple[str, str]] = refused_late
    """Rule and action of the ledger for a job (the engine's number) that the policy turned away."""
    left_out: Callable[[State], npt.NDArray[np.bool_]] | None = None
    """Which jobs (in the engine's order) are in no schedule, whether they have run or not."""
    hooks: tuple[tuple[Callable[[int, State], None], Any], ...] = ()
    """What is compiled before the run, where that is more than the setup's hook, and its memory."""
    loop: Callable[..., int] | None = None
    """What calls the hooks, where that is not the engine's loop."""
