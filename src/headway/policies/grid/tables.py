"""Where the simulator keeps what it knows of a grid: rows of jobs, and the options of servers and agent.

Options: those of each cluster's batch system (STRIDE each), then one row of server fields for each cluster,
then the grid's own, then the agent's notes.
"""

from __future__ import annotations

from headway.engine.tables import JOB_ROWS, Q_FIELDS, State
from headway.jit import kernel
from headway.policies.queueing.ordering import STRIDE

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

# Fields of a server: kind of its batch system; speed as a fraction; whether tasks were cancelled since its
# plan was last put in order; the last estimate it made, with the instant; when an estimator last planned.
KIND, SPEED, SPEED_OVER, DISTURBED, MEMO_TASK, MEMO_TIME, MEMO_PROCS, MEMO_START, PLANNED_AT = range(9)
SERVER_FIELDS = 9
RESERVING, RESERVING_FCFS, ESTIMATED_EASY = range(3)
"""Conservative backfilling; FCFS as a plan; EASY, whose completions are only estimated."""

# The grid's own: how many clusters, how jobs are tuned, the law of speedup with its sigma, the period, the
# instant of the last event, submissions so far, estimates so far, whether data take time to come. Where a
# share of each cluster is reserved, its two parts count as clusters: first those of the agent, then the rest.
CLUSTERS, TUNING, LAW, SIGMA, SIGMA_OVER, PERIOD, LAST_EVENT, SUBMISSIONS, ESTIMATES, TRANSFERS = range(10)
GRID_FIELDS = 10
BINARY, BOUNDED, EXHAUSTIVE = range(3)
AMDAHL, DOWNEY = range(2)


@kernel
def plans(state: State) -> int:
    """How many pools have a queue and a profile."""
    return state.queue.shape[0] // (2 * Q_FIELDS)


@kernel
def server(state: State, k: int, field: int) -> int:
    """Where a field of server ``k`` is in the options."""
    return plans(state) * STRIDE + k * SERVER_FIELDS + field


@kernel
def grid(state: State, field: int) -> int:
    """Where a field of the grid is in the options; the space for its fields is behind that of all pools."""
    return plans(state) * (STRIDE + SERVER_FIELDS) + field


@kernel
def notes_from(state: State) -> int:
    """Where the agent's memory begins, the last part of the options."""
    return grid(state, GRID_FIELDS)
