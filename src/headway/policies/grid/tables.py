"""Where the simulator keeps what it knows of a grid: rows of jobs, and its own tables in one tuple.

The options are those of each cluster's batch system. Where a share of each cluster is reserved, its two parts
count as clusters: first those of the agent, then the rest.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.tables import JOB_ROWS, Table
from headway.jit.kernels import by_address
from headway.policies.grid.notes import Notes


class Task(IntEnum):
    """Rows of jobs behind the engine's."""

    TRACE_PROCS = JOB_ROWS
    TRACE_WALL = JOB_ROWS + 1
    """Size and walltime as the log has them."""
    OF = JOB_ROWS + 2
    OUT_OF = JOB_ROWS + 3
    """The parallel fraction is OF / OUT_OF; 0: the job is rigid."""
    LIMIT = JOB_ROWS + 4
    """The most processors."""
    SPEEDUP = JOB_ROWS + 5
    SPEEDUP_OVER = JOB_ROWS + 6
    """SPEEDUP / SPEEDUP_OVER is the speedup on the log's processors."""
    HOME = JOB_ROWS + 7
    """The cluster of a local job; -1: a task of the grid."""
    PLACE = JOB_ROWS + 8
    """The cluster whose queue it is in; -1: none."""
    LEAVING = JOB_ROWS + 9
    """Where it still holds processors, because it was submitted elsewhere before it was cancelled there."""
    LEAVING_START = JOB_ROWS + 10
    LEAVING_PLAN = JOB_ROWS + 11
    LEAVING_PROCS = JOB_ROWS + 12
    PLANNED = JOB_ROWS + 13
    """Its start in the plan of an estimator."""
    TRANSFER = JOB_ROWS + 14
    """How long its data take to another cluster."""
    DATA_AT = JOB_ROWS + 15
    """The cluster that has or gets them (-1: none), and when they are there."""
    READY = JOB_ROWS + 16


MORE_ROWS = len(Task)
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
    agent: Notes
    """What the agent remembers."""
