"""Who gains age, where only so many waiting jobs of a user, an account or a QOS may (``MaxJobsAccruePU``...).

Each pass lets jobs begin in the order in which they were submitted, as long as there is room. A job keeps its
age; it makes room for another when it starts or is cancelled.
"""

from __future__ import annotations

from headway.engine.tables import Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.limits import account_row, user_row
from headway.policies.slurm.tables.controller import UNSET, Memory

NO_LIMIT = -1


@kernel
def begin_age(memory: Memory, job: int, t: int) -> None:
    """Let a job gain age from ``t`` on; where ages are limited, from a pass on that has room for it."""
    memory.jobs.accrued[job] = t
    if memory.settings.limits_age > 0:
        memory.jobs.accrued[job] = UNSET
        memory.clock.ageless_from = min(memory.clock.ageless_from, job)
        memory.clock.ageless_to = max(memory.clock.ageless_to, job + 1)


@kernel
def count_ageing(memory: Memory, job: int, sign: int) -> None:
    """Count a job that begins to gain age (1), or waits no more (-1), with those whose limits it concerns."""
    qos, holder = memory.jobs.qos[job], memory.jobs.association[job]
    if qos != UNSET:
        memory.holders.ageing[qos] += sign
        memory.ageing_by_user[user_row(memory, qos, job)] += sign
        memory.ageing_by_account[account_row(memory, qos, job)] += sign
    while holder != UNSET:
        memory.holders.ageing[holder] += sign
        holder = memory.holders.parent[holder]


@kernel
def end_age(memory: Memory, job: int) -> None:
    """Make room for the age of another job: this one starts or is cancelled."""
    if memory.settings.limits_age > 0 and memory.jobs.accrued[job] != UNSET:
        count_ageing(memory, job, -1)


@kernel
def room_for_age(memory: Memory, job: int) -> int:
    """How many jobs like this one may still begin to gain age: by the first limit that is set; -1: none is.

    The job's QOS comes first, for all, an account or a user, then its association and the accounts above.
    """
    holders, qos = memory.holders, memory.jobs.qos[job]
    if qos != UNSET:
        if holders.grp_ageing[qos] != UNSET:
            return int(max(holders.grp_ageing[qos] - holders.ageing[qos], 0))
        if holders.max_ageing_account[qos] != UNSET:
            ageing = memory.ageing_by_account[account_row(memory, qos, job)]
            return int(max(holders.max_ageing_account[qos] - ageing, 0))
        if holders.max_ageing_user[qos] != UNSET:
            ageing = memory.ageing_by_user[user_row(memory, qos, job)]
            return int(max(holders.max_ageing_user[qos] - ageing, 0))
    own = holder = memory.jobs.association[job]
    while holder != UNSET:
        bound = holders.grp_ageing[holder]
        if bound == UNSET and holder == own:
            bound = holders.max_ageing[holder]
        if bound != UNSET:
            return int(max(bound - holders.ageing[holder], 0))
        holder = holders.parent[holder]
    return NO_LIMIT


@kernel
def is_ageless(state: State, job: int) -> bool:
    """Whether a waiting job has no age yet."""
    waits = state.jobs.phase[job] == Phase.WAITING
    return bool(waits and state.memory.jobs.accrued[job] == UNSET)


@routine
def give_ages(state: State, now: int) -> None:
    """Let waiting jobs begin to gain age for which there is room, in the order of submission."""
    memory = state.memory
    if memory.settings.limits_age == 0:
        return
    for job in range(memory.clock.ageless_from, memory.clock.ageless_to):
        begin, kept = memory.jobs.begin[job], memory.jobs.kept_back[job] > 0
        if is_ageless(state, job) and begin <= now and not kept:
            room = room_for_age(memory, job)
            if room != 0:
                memory.jobs.accrued[job] = begin if room == NO_LIMIT else now
                count_ageing(memory, job, 1)
    while memory.clock.ageless_from < memory.clock.ageless_to and not is_ageless(
        state, memory.clock.ageless_from
    ):
        memory.clock.ageless_from += 1
