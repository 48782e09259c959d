"""EASY that plans with what the user's last two runs took, as EASY++ does.

Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime
estimates", IEEE TPDS 18(6), 2007.

    average2   the mean of the last two runs of the same user that have ended when the job arrives
    last2      the longer of the two

never more than the request; the request itself for a user with fewer. A job that outlives its estimate is
expected to last a little longer, by steps that grow (1 min, 5 min, 15 min, ... 100 h), up to its request,
where it is killed.

Users are numbered, and the last two runs of each are noted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headway.engine.ends import expect_end, forget_run, settle_ended
from headway.engine.heap import push
from headway.engine.planning import next_outlived
from headway.engine.tables import JOB_ROWS, Lists, State
from headway.engine.verbs import expect
from headway.jit.kernels import by_address, kernel, routine
from headway.jit.rows import Row, Rows
from headway.policies.backfilling.easy import Rule, easy_pass
from headway.policies.queueing.ordering import join, option, sort_queues
from headway.policies.queueing.strict import MACHINE
from headway.units import MINUTE, SECOND

USER, STEPS_TAKEN, MORE_ROWS = JOB_ROWS, JOB_ROWS + 1, 2
"""Rows behind the engine's: the number of the user, -1 unknown; how often the estimate was outlived."""
AVERAGE, LONGER = range(2)
STEPS = np.array([1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000], np.int64) * MINUTE
"""By how much an expected end is put off each time (µs)."""


class Took(Rows):
    """How long a run of a user took, + 1 µs so that 0 means none."""

    last: Row  # The last run that has ended, and the one before.
    before: Row


@by_address
class Users(NamedTuple):
    """What is known of the users."""

    took: Took
    """[row, user]"""


@kernel
def note_runs(state: State) -> None:
    """Take note of how long the runs took that ended at this instant."""
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        user = state.jobs[USER, state.runs.job[run]]
        if user >= 0:
            took = state.memory.took
            took.before[user] = took.last[user]
            took.last[user] = state.runs.end[run] - state.runs.start[run] + 1


@kernel
def estimate(state: State, job: int) -> None:
    """Plan a newcomer with what its user's last two runs took."""
    user = state.jobs[USER, job]
    if user < 0:
        return
    last, before = state.memory.took.last[user] - 1, state.memory.took.before[user] - 1
    if before < 0:
        return
    took = max(last, before) if option(state, MACHINE, Rule.ESTIMATE) == LONGER else (last + before + 1) // 2
    state.jobs.plan[job] = min(max(took, SECOND), state.jobs.wall[job])


@routine
def put_off(t: int, state: State) -> None:
    """Runs that outlived their estimates are expected to last a little longer."""
    run = next_outlived(t, state)
    while run >= 0:
        job = state.runs.job[run]
        limit = state.runs.start[run] + state.jobs.wall[job]
        expected = state.runs.expected[run]
        while expected <= t and expected < limit:
            step = min(state.jobs[STEPS_TAKEN, job], len(STEPS) - 1)
            expected = min(expected + STEPS[step], limit)
            state.jobs[STEPS_TAKEN, job] += 1
        forget_run(state, MACHINE, run)
        expect(state, run, expected)
        expect_end(state.profile, MACHINE, expected, state.jobs.procs[job])
        if expected < limit:
            push(state.lists.table, Lists["outlive_time"], state.clock.outlives, expected, run)
            state.clock.outlives += 1
        run = next_outlived(t, state)


def easy_learned(t: int, state: State) -> None:
    """EASY on the whole machine with estimates from the users' last runs."""
    note_runs(state)
    settle_ended(state, MACHINE)
    put_off(t, state)
    for job in range(state.clock.first_new, state.clock.last_new):
        estimate(state, job)
        join(state, MACHINE, job)
    sort_queues(t, state, MACHINE)
    easy_pass(t, state, MACHINE)
