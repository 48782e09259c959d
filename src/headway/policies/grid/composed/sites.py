"""Where the compiled loop of a composed grid finds its clusters: their simulations, copies and submissions.

Each cluster is a simulation of its own, with two copies that run ahead: one with a task that is tried, one of
the cluster as it is. The tables of all three, and what is kept of the submissions, stand at addresses in one
table, a row for each cluster, so that the loop is compiled once for any clusters under any policies. What a
policy remembers in tables of its own stands behind all else in a simulation: the loop knows nothing of it but
where its tables are, to copy them, and hands the policy the address of the whole.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from headway.engine.setup import EMPTY, Setup, make_state
from headway.engine.tables import State, Table, World
from headway.jit import kernels
from headway.jit.kernels import by_address, kernel
from headway.jit.rows import Entries
from headway.policies.grid.notes import Notes

# Entries of a cluster's row: its simulation, the copy in which a task is tried, the one that shows the future
# of the cluster as it is; the heap of ends of each; what is kept of submissions; the policy's hook, and how
# it is asked. MAIN, TRIAL and FUTURE are also the numbers of the three.
MAIN, TRIAL, FUTURE, WORLDS, REGISTER, HOOK, REQUEST = 0, 1, 2, 3, 6, 7, 8
ENTRIES = 9
WORDS = 3


class Kept(IntEnum):
    """What is kept of a job on a cluster, and of the last answer about it when it was not there."""

    COLUMN = 0
    """Its column there; -1: it is not there."""
    SIZE = 1
    """Its size there; its times are multiplied by BY / OVER."""
    BY = 2
    OVER = 3
    ASKED = 4
    """Which state of the cluster the answer is of."""
    COMPLETION = 5
    """The completion, and with what size."""
    TUNED = 6
    IS_EXACT = 7
    """Whether it is completed then, or no sooner."""


KEPT_OF_JOB = len(Kept)


class Fact(IntEnum):
    """Of a cluster. From LIVE_COLUMNS on there are two of each: of either copy."""

    IS_OPEN = 0
    """Whether an instant is open, and the last one that was."""
    OPENED = 1
    FOLLOWING = 2
    """When something happens next by itself."""
    VERSION = 3
    """How often something has happened here."""
    FORESEEN = 4
    """The state that the future was made of, and whether nothing is left to happen there."""
    IS_OVER = 5
    ASKED_VERSION = 6
    """The last state that was asked about, when, and the number of that state."""
    ASKED_AT = 7
    STATE_ASKED = 8
    ESTIMATES = 9
    """Estimates so far."""
    CATCHES_UP = 10
    """Whether the policy catches up before a job leaves."""
    MAY_STOP = 11
    """Whether it may stop a running job when nobody comes."""
    NUMBERED_BY = 12
    """The row that numbers what is in its lists (-1: they are of running jobs), and the length of these."""
    LISTED = 13
    LOOKS_AT_NEWCOMERS = 14
    """Whether it looks at newcomers."""
    WIDEST = 15
    """The widest task."""
    SPEED = 16
    """The speed as a fraction."""
    SPEED_OVER = 17
    WITHDRAWN_HERE = 18
    """Columns of jobs that were taken away."""
    TIDY_FROM = 19
    """From how many on they are taken out of the tables; 0: never."""
    LIVE_COLUMNS = 20
    """Columns and runs that are not over when a copy is made, and those there were."""
    LIVE_RUNS = 22
    SEEN_COLUMNS = 24
    SEEN_RUNS = 26
    HAS_ENDS = 28
    """Whether the ends are known."""


FACTS = Fact.HAS_ENDS + 2


class GridFacts(Entries):
    """Of the grid."""

    instant: int  # The present instant.
    arrived: int  # Jobs that have arrived.
    period: int  # Time between two events (µs; 0: there are none), and the last one.
    last_event: int
    instants_seen: int  # Instants, and how many waited in them.
    waited: int
    most_waited: int
    not_taken: int  # Jobs that no cluster took.
    tuning: int  # How tasks are tuned.
    law: int  # The law of speedup, with its sigma.
    sigma: int
    sigma_over: int
    wrong: int  # The cluster in which something went wrong (-1: none), and in which of the three.
    wrong_in: int


GRID_FACTS = len(GridFacts)


class Logged(IntEnum):
    """What the log says of each job: submission and times (µs), then the rows of ``moldability``."""

    SUBMIT = 0
    RUNTIME = 1
    WALL = 2
    PROCS = 3
    OF = 4
    OUT_OF = 5
    LIMIT = 6
    SPEEDUP = 7
    SPEEDUP_OVER = 8
    HOME = 9


# What the loop asks Python for: larger tables for live jobs (one for each of the three), more columns, or the
# same without those of jobs that were taken away.
LARGER, WIDER, TIDIER = 0, 3, 4
A_PART = 8
"""One of so many columns must be of a job that was taken away before these are taken out."""


@by_address
class Register(NamedTuple):
    """What is kept of the submissions to a cluster."""

    prepared: Table
    """[job, row] the policy's rows for every job of the log."""
    requested: Table
    """[column] the walltime (µs) with which a job was submitted here."""
    of_column: Table
    """[column] the job."""
    of_job: Table
    """[job, field]"""
    times: Table
    """Rows with times that depend on the cluster and the size there."""
    lists: Table
    """Rows whose columns are not jobs."""
    memory: Table
    """[table, MAIN | TRIAL | FUTURE | WORDS] where the policy's own tables stand, and how long they are."""
    live: Table
    """[row, place] columns in TRIAL and FUTURE that may have changed, then runs."""
    facts: Table


@by_address
class Tables(NamedTuple):
    """All that the loop works on."""

    sites: Table
    """[cluster, entry] addresses."""
    back: Table
    """[1] the address of what answers from Python."""
    log: Table
    """[job, field]"""
    notes: Notes
    """The agent's memory."""
    facts: GridFacts


def empty_register() -> Register:
    """A register of nothing, which has its types."""
    one, two = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
    return Register(two, one, one, two, one, one, two, two, one)


if kernels.INTERPRETED:

    def _itself(entry: Any) -> Any:
        return entry

    def _called(entry: Any, *args: Any) -> Any:
        return entry(*args)

    def _copied(source: Any, target: Any, words: int) -> None:
        if words > 0:
            target[...] = source

    state_at: Any = _itself
    copy_words: Any = _copied
    world_at: Any = _itself
    register_at: Any = _itself
    call_hook: Any = _called
    call_request: Any = _called
    call_back: Any = _called
else:
    from headway.engine.compiled import state_type
    from headway.jit import addresses

    _world = make_state(EMPTY, Setup(pools=(1,), hook=lambda t, s: None))[1]
    _number: Any = kernels.types.int64
    state_at = addresses.reader(state_type())
    world_at = addresses.reader(kernels.type_of(_world))
    register_at = addresses.reader(kernels.type_of(empty_register()))
    copy_words = addresses.copy_words
    call_hook = addresses.caller(kernels.types.void(_number, _number))
    call_request = addresses.caller(kernels.types.void(_number, _number, _number, _number))
    call_back = addresses.caller(_number(_number, _number))


@kernel
def state_of(grid: Tables, k: int, which: int) -> State:
    """The simulation of cluster ``k``, or one of its copies, but for the policy's own tables."""
    return state_at(grid.sites[k, which])


@kernel
def world_of(grid: Tables, k: int, which: int) -> World:
    """The ends of a simulation."""
    return world_at(grid.sites[k, WORLDS + which])


@kernel
def register_of(grid: Tables, k: int) -> Register:
    """What is kept of the submissions to cluster ``k``."""
    return register_at(grid.sites[k, REGISTER])


@kernel
def turn(grid: Tables, k: int, which: int, t: int) -> None:
    """The turn of the policy of cluster ``k``, in its simulation or in a copy."""
    call_hook(grid.sites[k, HOOK], t, grid.sites[k, which])


@kernel
def request(grid: Tables, k: int, which: int, t: int, job: int, what: int) -> None:
    """Ask the policy of cluster ``k``, in its simulation or in a copy (:mod:`headway.engine.local`)."""
    call_request(grid.sites[k, REQUEST], t, grid.sites[k, which], job, what)


@kernel
def is_wrong(grid: Tables) -> bool:
    """Whether something went wrong, so that all that follows is void."""
    return bool(grid.facts.wrong >= 0)


@kernel
def go_wrong(grid: Tables, k: int, which: int) -> None:
    """Note where something went wrong first."""
    if grid.facts.wrong < 0:
        grid.facts.wrong, grid.facts.wrong_in = k, which


@kernel
def is_untidy(facts: Table, columns: int) -> bool:
    """Whether columns of jobs that were taken away are many enough to take them out."""
    left = facts[Fact.WITHDRAWN_HERE]
    return bool(facts[Fact.TIDY_FROM] > 0 and left >= facts[Fact.TIDY_FROM] and A_PART * left >= columns)


@kernel
def ask_for(grid: Tables, k: int, what: int) -> bool:
    """Let Python make tables of cluster ``k`` larger, which then stand elsewhere; whether it could."""
    if is_wrong(grid) or call_back(grid.back[0], k, what) != 0:
        go_wrong(grid, k, MAIN)
        return False
    return True
