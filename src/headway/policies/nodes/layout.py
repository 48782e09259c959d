"""Where the node policies keep their tables: job rows behind the engine's, and parts of ``options``.

Nodes are numbered in the order of ties: by memory, then as the platform lists them. ``options`` begins with
the entries named here; the ``T_`` ones say where a table begins. Times are µs.
"""

from __future__ import annotations

from headway.engine.tables import JOB_ROWS, State
from headway.jit import kernel

# Job rows. The nodes LOW to HIGH - 1 may run the job. A use is a job on a node, done, running or planned:
# on node ON from BEGIN to END (its walltime, or the real end once it has ended), with its file there from
# LOADED on; it is ALIVE until its end has been looked at. Uses are linked twice, by node and by file.
# SETTLED_USE marks those that `lru` has taken in; a file in memory is known by the use that brought it
# (RESIDENT_; linked by node, and by file as RESIDENT_ELSEWHERE), and PASS_NEXT links a pass's plans.
(
    FILE,
    LOW,
    HIGH,
    SIZE_CLASS,
    ON,
    BEGIN,
    LOADED,
    END,
    NODE_NEXT,
    NODE_PREVIOUS,
    FILE_NEXT,
    FILE_PREVIOUS,
    PASS_NEXT,
    ENDED_NEXT,
    SETTLED_USE,
    RESIDENT_NEXT,
    RESIDENT_LAST,
    RESIDENT_GOOD,
    RESIDENT_ELSEWHERE,
    REPLAY_NEXT,
    REPLAY_LAST,
    OWN_LOAD,
    ALIVE,
) = range(JOB_ROWS, JOB_ROWS + 23)
MORE_ROWS = 23

# Parameters: how many nodes, cores of the widest, files, classes of bandwidth and of memory; the rules.
# Scores are whole multiples of 1 / SCALE µs; X, Y, Z are the weights times SCALE.
(
    NODES,
    WIDEST,
    FILES,
    SPEEDS,
    CLASSES,
    PRESENCE,
    BACKFILL,
    RULE,
    SCALE,
    X,
    Y,
    Z,
    THRESHOLD,
    THRESHOLD_OVER,
    MOST_AHEAD,
    MOST_EVICTED,
    WATCHED,
    FORM,
    ORIGIN,
    KNOWN_FROM,
    AT_ONCE,
) = range(21)
# Notes: the instant at hand, up to which run `lru` and starts are settled, a stamp for marks in tables,
# nodes that run something, chains of plans and of uses that ended now; what `choose` found; counts; nodes
# that ran something when the watched job was planned.
(
    INSTANT,
    SETTLED,
    STAMP,
    BUSY_NODES,
    PLANS,
    ENDED_NOW,
    BEST_START,
    BEST_WAIT,
    LOADS,
    REUSES,
    WAIT_SUM,
    WAIT_COUNT,
    SEEN_BUSY,
) = range(21, 34)
# Tables by node (N), core (C, one node's cores in a row or all nodes' k-th cores in a row), file, job.
(
    T_CORES,
    T_SPEED,
    T_MEMORY,
    T_LOAD,
    T_BYTES,
    T_BASE,
    T_ROW,
    T_UNTIL,
    T_OPEN,
    T_USES,
    T_FILE_USES,
    T_PLANS,
    T_FILE_PLANS,
    T_MARK,
    T_WAIT,
    T_START,
    T_COPY,
    T_FILE_MARK,
    T_FILE_LAST,
    T_BUSY,
    T_LAST_START,
    T_START_BEFORE,
    T_RESIDENT,
    T_POINT_HEAD,
    T_POINT_TIME,
    T_POINT_FREE,
    T_POINT_PIN,
    T_POINT_NEXT,
    T_CLASS_FROM,
    T_PLANNED_AREA,
    T_USED_AREA,
    T_SEEN,
    T_FILE_RESIDENT,
    T_FIRST_PLAN,
) = range(34, 68)
ENTRIES = 68

CONTIGUOUS, UNTIL_NEXT_START, LRU = range(3)
FIXED, LEO, LEM = range(3)
IDLE = -(1 << 62)
"""Availability of a core that nothing runs on."""
FAR = 1 << 61
"""Later than anything; what a core that a node does not have is available at."""
NIL = -1
SEEN_ENTRIES = 5
"""Of each node for a job that is watched: start, wait for the file, load time evicted, copies elsewhere,
and whether the job would load the file itself."""


@kernel
def note(state: State, entry: int) -> int:
    """A parameter or note."""
    return int(state.options[entry])


@kernel
def cell(state: State, table: int, place: int) -> int:
    """An entry of one of the tables."""
    return int(state.options[state.options[table] + place])


@kernel
def put(state: State, table: int, place: int, value: int) -> None:
    """Set an entry of one of the tables."""
    state.options[state.options[table] + place] = value


@kernel
def load_time(state: State, node: int, file: int) -> int:
    """How long the node takes to load a file."""
    return cell(state, T_LOAD, cell(state, T_SPEED, node) * note(state, FILES) + file)
