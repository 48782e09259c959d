"""Who gains age, where only so many waiting jobs of a user, an account or a QOS may (``MaxJobsAccruePU``...).

Each pass lets jobs begin in the order in which they were submitted, as long as there is room. A job keeps its
age; it makes room for another when it starts or is cancelled.
"""

from __future__ import annotations

from headway.engine.tables import Job, Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.limits import account_row, user_row
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.passes import SlurmClock
from headway.policies.slurm.tables.settings import Setting
from headway.policies.slurm.tables.sites import Holder

NO_LIMIT = -1


@kernel
def begin_age(memory: Memory, job: int, t: int) -> None:
    """Let a job gain age from ``t`` on; where ages are limited, from a pass on that has room for it."""
    memory.jobs[SlurmJob.ACCRUED, job] = t
    if memory.settings[Setting.LIMITS_AGE] > 0:
        memory.jobs[SlurmJob.ACCRUED, job] = UNSET
        memory.clock[SlurmClock.AGELESS_FROM] = min(memory.clock[SlurmClock.AGELESS_FROM], job)
        memory.clock[SlurmClock.AGELESS_TO] = max(memory.clock[SlurmClock.AGELESS_TO], job + 1)


@kernel
def count_ageing(memory: Memory, job: int, sign: int) -> None:
    """Count a job that begins to gain age (1), or waits no more (-1), with those whose limits it concerns."""
    qos, holder = memory.jobs[SlurmJob.QOS, job], memory.jobs[SlurmJob.ASSOCIATION, job]
    if qos != UNSET:
        memory.holders[Holder.AGEING, qos] += sign
        memory.ageing_by_user[user_row(memory, qos, job)] += sign
        memory.ageing_by_account[account_row(memory, qos, job)] += sign
    while holder != UNSET:
        memory.holders[Holder.AGEING, holder] += sign
        holder = memory.holders[Holder.PARENT, holder]


@kernel
def end_age(memory: Memory, job: int) -> None:
    """Make room for the age of another job: this one starts or is cancelled."""
    if memory.settings[Setting.LIMITS_AGE] > 0 and memory.jobs[SlurmJob.ACCRUED, job] != UNSET:
        count_ageing(memory, job, -1)


@kernel
def room_for_age(memory: Memory, job: int) -> int:
    """How many jobs like this one may still begin to gain age: by the first limit that is set; -1: none is.

    The job's QOS comes first, for all, an account or a user, then its association and the accounts above.
    """
    holders, qos = memory.holders, memory.jobs[SlurmJob.QOS, job]
    if qos != UNSET:
        if holders[Holder.GRP_AGEING, qos] != UNSET:
            return int(max(holders[Holder.GRP_AGEING, qos] - holders[Holder.AGEING, qos], 0))
        if holders[Holder.MAX_AGEING_ACCOUNT, qos] != UNSET:
            ageing = memory.ageing_by_account[account_row(memory, qos, job)]
            return int(max(holders[Holder.MAX_AGEING_ACCOUNT, qos] - ageing, 0))
        if holders[Holder.MAX_AGEING_USER, qos] != UNSET:
            ageing = memory.ageing_by_user[user_row(memory, qos, job)]
            return int(max(holders[Holder.MAX_AGEING_USER, qos] - ageing, 0))
    own = holder = memory.jobs[SlurmJob.ASSOCIATION, job]
    while holder != UNSET:
        bound = holders[Holder.GRP_AGEING, holder]
        if bound == UNSET and holder == own:
            bound = holders[Holder.MAX_AGEING, holder]
        if bound != UNSET:
            return int(max(bound - holders[Holder.AGEING, holder], 0))
        holder = holders[Holder.PARENT, holder]
    return NO_LIMIT


@kernel
def is_ageless(state: State, job: int) -> bool:
    """Whether a waiting job has no age yet."""
    waits = state.jobs[Job.PHASE, job] == Phase.WAITING
    return bool(waits and state.memory.jobs[SlurmJob.ACCRUED, job] == UNSET)


@routine
def give_ages(state: State, now: int) -> None:
    """Let waiting jobs begin to gain age for which there is room, in the order of submission."""
    memory = state.memory
    if memory.settings[Setting.LIMITS_AGE] == 0:
        return
    for job in range(memory.clock[SlurmClock.AGELESS_FROM], memory.clock[SlurmClock.AGELESS_TO]):
        begin, kept = memory.jobs[SlurmJob.BEGIN, job], memory.jobs[SlurmJob.KEPT_BACK, job] > 0
        if is_ageless(state, job) and begin <= now and not kept:
            room = room_for_age(memory, job)
            if room != 0:
                memory.jobs[SlurmJob.ACCRUED, job] = begin if room == NO_LIMIT else now
                count_ageing(memory, job, 1)
    while memory.clock[SlurmClock.AGELESS_FROM] < memory.clock[SlurmClock.AGELESS_TO] and not is_ageless(
        state, memory.clock[SlurmClock.AGELESS_FROM]
    ):
        memory.clock[SlurmClock.AGELESS_FROM] += 1
