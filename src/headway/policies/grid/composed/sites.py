"""Where the compiled loop of a composed grid finds its clusters: their simulations, copies and submissions.

Each cluster is a simulation of its own, with two copies that run ahead: one with a task that is tried, one of
the cluster as it is. The tables of all three, and what is kept of the submissions, stand at addresses in one
table, a row for each cluster, so that the loop is compiled once for any clusters under any policies. What a
policy remembers in tables of its own stands behind all else in a simulation: the loop knows nothing of it but
where its tables are, to copy them, and hands the policy the address of the whole.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from headway import jit
from headway.engine.drive import EMPTY, Setup, make_state
from headway.engine.tables import State, Table, World
from headway.jit import by_address, kernel

# Entries of a cluster's row: its simulation, the copy in which a task is tried, the one that shows the future
# of the cluster as it is; the heap of ends of each; what is kept of submissions; the policy's hook, and how
# it is asked. MAIN, TRIAL and FUTURE are also the numbers of the three.
MAIN, TRIAL, FUTURE, WORLDS, REGISTER, HOOK, REQUEST = 0, 1, 2, 3, 6, 7, 8
ENTRIES = 9
WORDS = 3

# What is kept of a job on a cluster: its column there (-1: it is not there), its size and by what its times
# are multiplied; the last answer about it, when it was not there: which state of the cluster that is of, the
# completion, the size, and whether it is completed then, or no sooner.
COLUMN, SIZE, BY, OVER, ASKED, COMPLETION, TUNED, IS_EXACT = range(8)
KEPT_OF_JOB = 8

# Facts of a cluster: whether an instant is open, and the last one that was; when something happens next by
# itself; whether jobs were taken away since its plan was last put in order; how often something has happened
# here; the state that the future was made of, and whether nothing is left to happen there; the last state
# that was asked about, when, and the number of that state; estimates so far. What its policy is like: whether
# it catches up before a job leaves, whether it may stop a running job when nobody comes, the row that numbers
# what is in its lists (-1: they are of running jobs) and the length of these, whether it looks at newcomers.
# Columns of jobs that were taken away, and from how many on they are taken out of the tables (0: never).
# The widest task, the speed as a fraction. For each copy: columns and runs that are not over, and those there
# were, when it was made; whether the ends are known.
(
    IS_OPEN,
    OPENED,
    FOLLOWING,
    DISTURBED,
    VERSION,
    FORESEEN,
    IS_OVER,
    ASKED_VERSION,
    ASKED_AT,
    STATE_ASKED,
    ESTIMATES,
    CATCHES_UP,
    MAY_STOP,
    NUMBERED_BY,
    LISTED,
    LOOKS_AT_NEWCOMERS,
    WIDEST,
    SPEED,
    SPEED_OVER,
    WITHDRAWN_HERE,
    TIDY_FROM,
    LIVE_COLUMNS,
) = range(22)
LIVE_RUNS, SEEN_COLUMNS, SEEN_RUNS, HAS_ENDS = (LIVE_COLUMNS + 2 * i for i in range(1, 5))
FACTS = HAS_ENDS + 2

# Facts of the grid: the present instant, jobs that have arrived, the period (µs; 0: no events) and the last
# event; instants, and how many waited in them; jobs that no cluster took; how tasks are tuned, the law of
# speedup with its sigma; the cluster in which something went wrong (-1: none), and in which of the three.
(
    INSTANT,
    ARRIVED,
    PERIOD,
    LAST_EVENT,
    INSTANTS_SEEN,
    WAITED,
    MOST_WAITED,
    NOT_TAKEN,
    TUNING,
    LAW,
    SIGMA,
    SIGMA_OVER,
    WRONG,
    WRONG_IN,
) = range(14)
GRID_FACTS = 14

# What the log says of each job: submission and times (µs), then the rows of ``moldability``.
L_SUBMIT, L_RUNTIME, L_WALL, L_PROCS, L_OF, L_OUT_OF, L_LIMIT, L_SPEEDUP, L_SPEEDUP_OVER, L_HOME = range(10)

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
    notes: Table
    """The agent's memory."""
    facts: Table


def empty_register() -> Register:
    """A register of nothing, which has its types."""
    one, two = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
    return Register(two, one, one, two, one, one, two, two, one)


if jit.INTERPRETED:

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
    from headway import jit_addresses
    from headway.engine.drive import state_type

    _world = make_state(EMPTY, Setup(pools=(1,), hook=lambda t, s: None))[1]
    _number: Any = jit.types.int64
    state_at = jit_addresses.reader(state_type())
    world_at = jit_addresses.reader(jit.type_of(_world))
    register_at = jit_addresses.reader(jit.type_of(empty_register()))
    copy_words = jit_addresses.copy_words
    call_hook = jit_addresses.caller(jit.types.void(_number, _number))
    call_request = jit_addresses.caller(jit.types.void(_number, _number, _number, _number))
    call_back = jit_addresses.caller(_number(_number, _number))


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
    return bool(grid.facts[WRONG] >= 0)


@kernel
def go_wrong(grid: Tables, k: int, which: int) -> None:
    """Note where something went wrong first."""
    if grid.facts[WRONG] < 0:
        grid.facts[WRONG], grid.facts[WRONG_IN] = k, which


@kernel
def is_untidy(facts: Table, columns: int) -> bool:
    """Whether columns of jobs that were taken away are many enough to take them out."""
    left = facts[WITHDRAWN_HERE]
    return bool(facts[TIDY_FROM] > 0 and left >= facts[TIDY_FROM] and A_PART * left >= columns)


@kernel
def ask_for(grid: Tables, k: int, what: int) -> bool:
    """Let Python make tables of cluster ``k`` larger, which then stand elsewhere; whether it could."""
    if is_wrong(grid) or call_back(grid.back[0], k, what) != 0:
        go_wrong(grid, k, MAIN)
        return False
    return True
