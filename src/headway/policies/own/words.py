"""What a compiled policy needs, in one import: verbs, queue, profile and the names of the state's rows.

from headway.policies.own.words import *

@compiled
def mine(t, state):
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    while head_fits(state, MACHINE):
        start(state, leave(state, QUEUE, state.pools[Q_HEAD, QUEUE]), MACHINE, HEAD)
"""

from __future__ import annotations

from headway.engine.fitting import next_fit
from headway.engine.holes import earliest, fits, level_at, when_free
from headway.engine.planning import settle
from headway.engine.tables import (
    OPEN,
    Q_FIELDS,
    Changes,
    Clock,
    JobTable,
    Lists,
    Pools,
    Queues,
    Runs,
    State,
    Why,
)
from headway.policies.backfilling.changing import take_changes
from headway.policies.own.compiled import compiled, kernel
from headway.policies.own.guarded import enter, join, kill, leave, start, start_and_book, wake
from headway.policies.queueing.ordering import OWN as PARAMETERS
from headway.policies.queueing.strict import MACHINE, head_fits, reason
from headway.units import SECOND

QUEUE = 2 * MACHINE
"""The machine's waiting line, in scheduling order."""
# Rows in short, as plain numbers: a user's file has one table of each kind in mind.
NOW, FIRST_NEW, LAST_NEW = int(Clock["now"]), int(Clock["first_new"]), int(Clock["last_new"])
ENDED, CHANGES, RETURNS, RUNS = (
    int(Clock["ended"]),
    int(Clock["changes"]),
    int(Clock["returns"]),
    int(Clock["runs"]),
)
SUBMIT, PROCS, WALL, PLAN = (
    int(JobTable["submit"]),
    int(JobTable["procs"]),
    int(JobTable["wall"]),
    int(JobTable["plan"]),
)
R_JOB, R_START, R_END, R_EXPECTED = (
    int(Runs["job"]),
    int(Runs["start"]),
    int(Runs["end"]),
    int(Runs["expected"]),
)
SIZE, FREE, Q_HEAD, Q_TAIL, Q_COUNT = (
    int(row) for row in (Pools["size"], Pools["free"], Pools["head"], Pools["tail"], Pools["count"])
)
Q_JOB, Q_PROCS, Q_PLAN = int(Queues["job"]), int(Queues["procs"]), int(Queues["plan"])
C_FROM, C_TO, C_PROCS = int(Changes["start"]), int(Changes["end"]), int(Changes["procs"])
ENDED_RUNS, RETURNED = int(Lists["ended_runs"]), int(Lists["returned"])
IMMEDIATE, HEAD, BACKFILL = int(Why.IMMEDIATE), int(Why.HEAD), int(Why.BACKFILL)

__all__ = [
    "BACKFILL", "CHANGES", "C_FROM", "C_PROCS", "C_TO", "ENDED", "ENDED_RUNS", "FIRST_NEW", "FREE", "HEAD",
    "IMMEDIATE", "LAST_NEW", "MACHINE", "NOW", "OPEN", "PARAMETERS", "PLAN", "PROCS", "QUEUE", "Q_COUNT",
    "Q_FIELDS", "Q_HEAD", "Q_JOB", "Q_PLAN", "Q_PROCS", "Q_TAIL", "RETURNED", "RETURNS", "RUNS", "R_END",
    "R_EXPECTED", "R_JOB", "R_START", "SECOND", "SIZE", "SUBMIT", "WALL", "State", "compiled", "earliest",
    "enter", "fits", "head_fits", "join", "kernel", "kill", "leave", "level_at", "next_fit", "reason",
    "settle", "start", "start_and_book", "take_changes", "wake", "when_free",
]  # fmt: skip
