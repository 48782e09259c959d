"""Jobs that Slurm refuses when they are submitted, or cancels while they wait.

Limits on submission count the jobs that wait or run, and an array as a whole. A job that the log shows to
have started was accepted by the site, and so it is here, however many wait in the simulation, unless the
limits are asked for (``submit_limits=enforced``). A job with a deadline is
cancelled as soon as it could not end by then; one whose dependency can never be met where the site or the
job says so.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.engine.verbs import turn_away
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.accrual import end_age
from headway.policies.slurm.limits.limits import account_row, user_row
from headway.policies.slurm.queue.caps import first_qos, qos_value, second_qos
from headway.policies.slurm.queue.queue import leave_queue, shortest_in
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import Outcome
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.sites import Holders


@kernel
def submitted(state: State) -> int:
    """How many jobs are submitted now: those of the log, or, with feedback, who stand among the returned."""
    return int(state.clock.last_new - state.clock.first_new + state.clock.returns)


@kernel
def newcomer(state: State, place: int) -> int:
    """One of them."""
    if place < state.clock.returns:
        return int(state.lists.returned[place])
    return int(state.clock.first_new + place - state.clock.returns)


@kernel
def count_submitted(memory: Memory, job: int, sign: int) -> None:
    """Count a job that is submitted (1), or over for good (-1), with everyone whose limits it concerns."""
    part = memory.lists[memory.jobs.partitions[job], 0]
    of_job, of_part = memory.jobs.qos[job], memory.partitions.qos[part]
    for turn in range(2):
        qos = of_job if turn == 0 else of_part
        if qos == UNSET or (turn == 1 and of_part == of_job):
            continue
        memory.submitted_by_user[user_row(memory, qos, job)] += sign
        memory.submitted_by_account[account_row(memory, qos, job)] += sign
        memory.holders.submitted[qos] += sign
    holder = memory.jobs.association[job]
    while holder != UNSET:
        memory.holders.submitted[holder] += sign
        holder = memory.holders.parent[holder]


@routine
def too_many(memory: Memory, job: int, new: int) -> bool:
    """Whether ``new`` jobs like this one would be more than may be submitted at once."""
    if memory.settings.enforce == 0:
        return False
    part, holders = memory.lists[memory.jobs.partitions[job], 0], memory.holders
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    qos = qos_value(memory, first, second, Holders["grp_submit"])
    group_set = qos != UNSET
    if group_set and holders.submitted[qos] + new > holders.grp_submit[qos]:
        return True
    qos = qos_value(memory, first, second, Holders["max_submit_account"])
    max_set = qos != UNSET
    if max_set:
        count = memory.submitted_by_account[account_row(memory, qos, job)]
        if count + new > holders.max_submit_account[qos]:
            return True
    qos = qos_value(memory, first, second, Holders["max_submit_user"])
    max_set = max_set or qos != UNSET
    if qos != UNSET:
        count = memory.submitted_by_user[user_row(memory, qos, job)]
        if count + new > holders.max_submit_user[qos]:
            return True
    holder = memory.jobs.association[job]
    if holder != UNSET and not max_set:
        bound = holders.max_submit[holder]
        if bound != UNSET and holders.submitted[holder] + new > bound:
            return True
    while holder != UNSET and not group_set:
        bound = holders.grp_submit[holder]
        if bound != UNSET and holders.submitted[holder] + new > bound:
            return True
        holder = holders.parent[holder]
    return False


@routine
def is_refused(state: State, job: int) -> bool:
    """Whether a job, or the array that it is the first task of, is refused now that it is submitted."""
    memory, array, new = state.memory, state.memory.jobs.array[job], 1
    if memory.jobs.accepted[job] > 0:
        return False
    if array != UNSET:
        if memory.arrays.turned_away[array] > UNSET:
            return bool(memory.arrays.turned_away[array] > 0)
        new = 0
        for place in range(submitted(state)):
            new += memory.jobs.array[newcomer(state, place)] == array
    refused = too_many(memory, job, new)
    if array != UNSET:
        memory.arrays.turned_away[array] = refused
    return refused


@routine
def refuse_submission(state: State, job: int) -> bool:
    """Turn a job away that may not be submitted; whether it was. Else it is counted."""
    if is_refused(state, job):
        state.memory.jobs.reason[job] = Reason.SUBMIT_LIMIT
        state.memory.jobs.outcome[job] = Outcome.BADLY
        turn_away(state, job)
        return True
    count_submitted(state.memory, job, 1)
    return False


@routine
def cancel(state: State, job: int, reason: int, now: int) -> None:
    """Cancel a waiting job: it never runs."""
    memory = state.memory
    memory.jobs.reason[job] = reason
    memory.jobs.outcome[job] = Outcome.BADLY
    memory.clock.pending -= 1
    memory.clock.stamp = memory.clock.changed = now
    leave_queue(memory, job)
    end_age(memory, job)
    count_submitted(memory, job, -1)
    turn_away(state, job)


@kernel
def is_hopeless(memory: Memory, job: int) -> bool:
    """Whether a job is to be cancelled because a dependency of it can never be met."""
    return bool(memory.jobs.kill_invalid[job] > 0 and memory.jobs.reason[job] == Reason.NEVER_SATISFIED)


@kernel
def is_too_late(memory: Memory, job: int, part: int, now: int) -> bool:
    """Whether a job that started now could not end by its deadline."""
    deadline = memory.jobs.deadline[job]
    return bool(deadline != UNSET and now + 60 * shortest_in(memory, job, part) > deadline)


@kernel
def by_deadline(memory: Memory, job: int, now: int, minutes: int) -> int:
    """A time limit in minutes, cut to what is left until the job's deadline."""
    deadline = memory.jobs.deadline[job]
    return int(minutes if deadline == UNSET else min(minutes, max(deadline - now, 0) // 60))
