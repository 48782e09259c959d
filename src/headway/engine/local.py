"""What a cluster that jobs join and leave while it runs must know of its policy beside the hook.

A cluster is asked in the middle of an instant: what ended is known, the policy has not had its turn yet. A
policy that keeps reservations first catches up: it takes note of what ended and gives newcomers a place, all
that its turn does but starting jobs; so it is given a turn of that kind. A job that leaves is to it like one
that ends early: the others may move forward, in another such turn, when the next one looks. A policy of which
that is a part only, such as redirection, lets them in its own next turn.

How a job leaves, or what is noted of one that joins, a policy knows by a compiled ``request(instant, state,
job, which)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.tables import JobTable, State, Table, Why
from headway.jit.kernels import kernel

WITHDRAW, JOIN = range(2)

TIMES = (JobTable["wall"], JobTable["plan"])
Marks = npt.NDArray[np.bool_]
Request = Callable[[int, State, int, int], None]


@dataclass(frozen=True)
class Local:
    """How jobs join a policy, leave it and are copied."""

    request: Request
    """How a waiting job leaves."""
    times: tuple[int, ...] = TIMES
    """Rows of the table of jobs with times that depend on the cluster and the size there."""
    catches_up: bool = False
    """Whether it keeps reservations that must be up to date before one is taken away."""
    in_turn: int = Why.HEAD
    """Why a job starts that came back to the queue at this very instant, and had waited before."""
    not_of_jobs: tuple[int, ...] = ()
    """Rows of the table of jobs whose columns are not jobs, but lists from the front."""
    numbered_by: int = -1
    """The row whose numbers these lists are of; -1: they are of running jobs."""
    looks_at_newcomers: bool = False
    """Whether it is asked to JOIN each newcomer, to fill rows that depend on the size that it got here."""
    may_stop: bool = False
    """Whether it may stop a running job when nobody comes: then that may be completed later than it says."""
    takes_other_numbers: bool = True
    """Whether columns of its table may get other numbers in the same order, when others were withdrawn."""
    renumber: Callable[[State, Table, Marks, Table], None] | None = None
    """Changes the numbers in its own notes: of (state, the new number of each column, whether it stays, the
    job of each). Where a note outlives the column that it is of, it is -1 - job from then on."""
    renumber_runs: Callable[[State, Table], None] | None = None
    """The same for runs: of (state, the new number of each run, -1 for one that is over and goes)."""
    trial_memory: Callable[[Any], Any] | None = None
    """The policy's own tables as a trial needs them: each as it is, or with nothing in it."""


@kernel
def is_behind(state: State) -> bool:
    """Whether something has ended or come at this instant that the policy has not seen."""
    return bool(state.clock.ended > 0 or state.clock.first_new < state.clock.last_new)


@kernel
def only_plan(state: State) -> None:
    """The turn that follows is to bring plans up to date, and to start nothing."""
    state.clock.only_plans = 1


@kernel
def caught_up(state: State) -> None:
    """What ended, left, came and changed has been seen to: it is not seen to again at this instant."""
    clock = state.clock
    clock.only_plans = clock.ended = clock.changes = clock.returns = 0
    clock.first_new = clock.last_new
