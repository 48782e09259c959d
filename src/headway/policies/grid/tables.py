"""Where the simulator keeps what it knows of a grid: rows of jobs, and its own tables in one tuple.

The options are those of each cluster's batch system. Where a share of each cluster is reserved, its two parts
count as clusters: first those of the agent, then the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.tables import JobTable
from headway.jit.kernels import by_address
from headway.jit.rows import Entries, Row, Rows
from headway.policies.grid.notes import Notes


class Tasks(JobTable):
    """Rows of jobs behind the engine's."""

    trace_procs: Row
    trace_wall: Row  # Size and walltime as the log has them.
    of: Row
    out_of: Row  # The parallel fraction is OF / OUT_OF; 0: the job is rigid.
    limit: Row  # The most processors.
    speedup: Row
    speedup_over: Row  # SPEEDUP / SPEEDUP_OVER is the speedup on the log's processors.
    home: Row  # The cluster of a local job; -1: a task of the grid.
    place: Row  # The cluster whose queue it is in; -1: none.
    # Where it still holds processors, because it was submitted elsewhere before it was cancelled there.
    leaving: Row
    leaving_start: Row
    leaving_plan: Row
    leaving_procs: Row
    planned: Row  # Its start in the plan of an estimator.
    transfer: Row  # How long its data take to another cluster.
    data_at: Row  # The cluster that has or gets them (-1: none), and when they are there.
    ready: Row


MORE_ROWS = len(Tasks)
NOWHERE = -1

RESERVING, RESERVING_FCFS, ESTIMATED_EASY = range(3)
"""Conservative backfilling; FCFS as a plan; EASY, whose completions are only estimated."""
BINARY, BOUNDED, EXHAUSTIVE = range(3)
AMDAHL, DOWNEY = range(2)


class Rules(Entries):
    """A parameter of the grid."""

    tuning: int  # How the size of a task is chosen: BINARY, BOUNDED or EXHAUSTIVE.
    law: int  # The law of speedup: AMDAHL, or DOWNEY with its sigma as a fraction.
    sigma: int
    sigma_over: int
    period: int  # Time between two events (µs); 0: there are none.
    transfers: int  # Whether data take time to come.


class Noted(Entries):
    """A number of the grid that changes."""

    last_event: int  # The instant of the last event.
    submissions: int  # Submissions and estimates so far.
    estimates: int


class Servers(Rows):
    """What is known of the server in front of a cluster."""

    kind: Row  # Its batch system: RESERVING, RESERVING_FCFS or ESTIMATED_EASY.
    speed: Row  # The cluster's speed as a fraction.
    speed_over: Row
    disturbed: Row  # Whether tasks were cancelled since its plan was last put in order.
    # The last estimate it made: whose (NOWHERE: none), when, on how many processors, for which start.
    memo_task: Row
    memo_time: Row
    memo_procs: Row
    memo_start: Row
    planned_at: Row  # When an estimator last planned; -1: never.


@by_address
class Memory(NamedTuple):
    """The tables of a grid."""

    rules: Rules
    notes: Noted
    servers: Servers
    """[row, cluster]"""
    agent: Notes
    """What the agent remembers."""
