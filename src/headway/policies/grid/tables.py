"""Where the simulator keeps what it knows of a grid: rows of jobs, and its own tables in one tuple.

The options are those of each cluster's batch system. Where a share of each cluster is reserved, its two parts
count as clusters: first those of the agent, then the rest.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.tables import JOB_ROWS, Table
from headway.jit import by_address

# Rows of jobs. What the log says; how it may be molded: the parallel fraction OF / OUT_OF (OUT_OF 0: rigid)
# and the most processors; its speedup on the log's processors, as a fraction; the home of a local job (-1: a
# task of the grid); the cluster whose queue it is in (-1 none); and where it still holds processors, because
# it was submitted elsewhere before it was cancelled there; its start in the plan of an estimator; how long
# its data take to another cluster, the cluster that has or gets them (-1 none), and when they are there.
(
    TRACE_PROCS,
    TRACE_WALL,
    OF,
    OUT_OF,
    LIMIT,
    SPEEDUP,
    SPEEDUP_OVER,
    HOME,
    PLACE,
    LEAVING,
    LEAVING_START,
    LEAVING_PLAN,
    LEAVING_PROCS,
    PLANNED,
    TRANSFER,
    DATA_AT,
    READY,
) = range(JOB_ROWS, JOB_ROWS + 17)
MORE_ROWS = 17
NOWHERE = -1

RESERVING, RESERVING_FCFS, ESTIMATED_EASY = range(3)
"""Conservative backfilling; FCFS as a plan; EASY, whose completions are only estimated."""
BINARY, BOUNDED, EXHAUSTIVE = range(3)
AMDAHL, DOWNEY = range(2)


class Rule(IntEnum):
    """A parameter of the grid."""

    TUNING = 0
    """How the size of a task is chosen: BINARY, BOUNDED or EXHAUSTIVE."""
    LAW = 1
    """The law of speedup: AMDAHL, or DOWNEY with its sigma as a fraction."""
    SIGMA = 2
    SIGMA_OVER = 3
    PERIOD = 4
    """Time between two events (µs); 0: there are none."""
    TRANSFERS = 5
    """Whether data take time to come."""


class Note(IntEnum):
    """A number of the grid that changes."""

    LAST_EVENT = 0
    """The instant of the last event."""
    SUBMISSIONS = 1
    """Submissions and estimates so far."""
    ESTIMATES = 2


class Server(IntEnum):
    """What is known of the server in front of a cluster."""

    KIND = 0
    """Its batch system: RESERVING, RESERVING_FCFS or ESTIMATED_EASY."""
    SPEED = 1
    """The cluster's speed as a fraction."""
    SPEED_OVER = 2
    DISTURBED = 3
    """Whether tasks were cancelled since its plan was last put in order."""
    MEMO_TASK = 4
    """The last estimate it made: whose (NOWHERE: none), when, on how many processors, for which start."""
    MEMO_TIME = 5
    MEMO_PROCS = 6
    MEMO_START = 7
    PLANNED_AT = 8
    """When an estimator last planned; -1: never."""


@by_address
class Memory(NamedTuple):
    """The tables of a grid."""

    rules: Table
    """[Rule]"""
    notes: Table
    """[Note]"""
    servers: Table
    """[Server, cluster]"""
    agent: Table
    """What the agent remembers (:mod:`headway.policies.grid.notes`)."""
