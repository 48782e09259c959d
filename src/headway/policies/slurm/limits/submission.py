"""Jobs that Slurm refuses when they are submitted, or cancels while they wait.

Limits on submission count the jobs that wait or run, and an array as a whole. A job that the log shows to
have started was accepted by the site, and so it is here, however many wait in the simulation, unless the
limits are asked for (``submit_limits=enforced``). A job with a deadline is
cancelled as soon as it could not end by then; one whose dependency can never be met where the site or the
job says so.
"""

from __future__ import annotations

from headway.engine.tables import Clock, List, State
from headway.engine.verbs import turn_away
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.accrual import end_age
from headway.policies.slurm.limits.limits import account_row, user_row
from headway.policies.slurm.queue.caps import first_qos, qos_value, second_qos
from headway.policies.slurm.queue.queue import leave_queue, shortest_in
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Array, Outcome
from headway.policies.slurm.tables.passes import SlurmClock
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Setting
from headway.policies.slurm.tables.sites import Holder, Partition


@kernel
def submitted(state: State) -> int:
    """How many jobs are submitted now: those of the log, or, with feedback, who stand among the returned."""
    return int(state.clock[Clock.LAST_NEW] - state.clock[Clock.FIRST_NEW] + state.clock[Clock.RETURNS])


@kernel
def newcomer(state: State, place: int) -> int:
    """One of them."""
    if place < state.clock[Clock.RETURNS]:
        return int(state.lists[List.RETURNED, place])
    return int(state.clock[Clock.FIRST_NEW] + place - state.clock[Clock.RETURNS])


@kernel
def count_submitted(memory: Memory, job: int, sign: int) -> None:
    """Count a job that is submitted (1), or over for good (-1), with everyone whose limits it concerns."""
    part = memory.lists[memory.jobs[SlurmJob.PARTITIONS, job], 0]
    of_job, of_part = memory.jobs[SlurmJob.QOS, job], memory.partitions[Partition.QOS, part]
    for turn in range(2):
        qos = of_job if turn == 0 else of_part
        if qos == UNSET or (turn == 1 and of_part == of_job):
            continue
        memory.submitted_by_user[user_row(memory, qos, job)] += sign
        memory.submitted_by_account[account_row(memory, qos, job)] += sign
        memory.holders[Holder.SUBMITTED, qos] += sign
    holder = memory.jobs[SlurmJob.ASSOCIATION, job]
    while holder != UNSET:
        memory.holders[Holder.SUBMITTED, holder] += sign
        holder = memory.holders[Holder.PARENT, holder]


@routine
def too_many(memory: Memory, job: int, new: int) -> bool:
    """Whether ``new`` jobs like this one would be more than may be submitted at once."""
    if memory.settings[Setting.ENFORCE] == 0:
        return False
    part, holders = memory.lists[memory.jobs[SlurmJob.PARTITIONS, job], 0], memory.holders
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    qos = qos_value(memory, first, second, Holder.GRP_SUBMIT)
    group_set = qos != UNSET
    if group_set and holders[Holder.SUBMITTED, qos] + new > holders[Holder.GRP_SUBMIT, qos]:
        return True
    qos = qos_value(memory, first, second, Holder.MAX_SUBMIT_ACCOUNT)
    max_set = qos != UNSET
    if max_set:
        count = memory.submitted_by_account[account_row(memory, qos, job)]
        if count + new > holders[Holder.MAX_SUBMIT_ACCOUNT, qos]:
            return True
    qos = qos_value(memory, first, second, Holder.MAX_SUBMIT_USER)
    max_set = max_set or qos != UNSET
    if qos != UNSET:
        count = memory.submitted_by_user[user_row(memory, qos, job)]
        if count + new > holders[Holder.MAX_SUBMIT_USER, qos]:
            return True
    holder = memory.jobs[SlurmJob.ASSOCIATION, job]
    if holder != UNSET and not max_set:
        bound = holders[Holder.MAX_SUBMIT, holder]
        if bound != UNSET and holders[Holder.SUBMITTED, holder] + new > bound:
            return True
    while holder != UNSET and not group_set:
        bound = holders[Holder.GRP_SUBMIT, holder]
        if bound != UNSET and holders[Holder.SUBMITTED, holder] + new > bound:
            return True
        holder = holders[Holder.PARENT, holder]
    return False


@routine
def is_refused(state: State, job: int) -> bool:
    """Whether a job, or the array that it is the first task of, is refused now that it is submitted."""
    memory, array, new = state.memory, state.memory.jobs[SlurmJob.ARRAY, job], 1
    if memory.jobs[SlurmJob.ACCEPTED, job] > 0:
        return False
    if array != UNSET:
        if memory.arrays[Array.TURNED_AWAY, array] > UNSET:
            return bool(memory.arrays[Array.TURNED_AWAY, array] > 0)
        new = 0
        for place in range(submitted(state)):
            new += memory.jobs[SlurmJob.ARRAY, newcomer(state, place)] == array
    refused = too_many(memory, job, new)
    if array != UNSET:
        memory.arrays[Array.TURNED_AWAY, array] = refused
    return refused


@routine
def refuse_submission(state: State, job: int) -> bool:
    """Turn a job away that may not be submitted; whether it was. Else it is counted."""
    if is_refused(state, job):
        state.memory.jobs[SlurmJob.REASON, job] = Reason.SUBMIT_LIMIT
        state.memory.jobs[SlurmJob.OUTCOME, job] = Outcome.BADLY
        turn_away(state, job)
        return True
    count_submitted(state.memory, job, 1)
    return False


@routine
def cancel(state: State, job: int, reason: int, now: int) -> None:
    """Cancel a waiting job: it never runs."""
    memory = state.memory
    memory.jobs[SlurmJob.REASON, job] = reason
    memory.jobs[SlurmJob.OUTCOME, job] = Outcome.BADLY
    memory.clock[SlurmClock.PENDING] -= 1
    memory.clock[SlurmClock.STAMP] = memory.clock[SlurmClock.CHANGED] = now
    leave_queue(memory, job)
    end_age(memory, job)
    count_submitted(memory, job, -1)
    turn_away(state, job)


@kernel
def is_hopeless(memory: Memory, job: int) -> bool:
    """Whether a job is to be cancelled because a dependency of it can never be met."""
    return bool(
        memory.jobs[SlurmJob.KILL_INVALID, job] > 0
        and memory.jobs[SlurmJob.REASON, job] == Reason.NEVER_SATISFIED
    )


@kernel
def is_too_late(memory: Memory, job: int, part: int, now: int) -> bool:
    """Whether a job that started now could not end by its deadline."""
    deadline = memory.jobs[SlurmJob.DEADLINE, job]
    return bool(deadline != UNSET and now + 60 * shortest_in(memory, job, part) > deadline)


@kernel
def by_deadline(memory: Memory, job: int, now: int, minutes: int) -> int:
    """A time limit in minutes, cut to what is left until the job's deadline."""
    deadline = memory.jobs[SlurmJob.DEADLINE, job]
    return int(minutes if deadline == UNSET else min(minutes, max(deadline - now, 0) // 60))
