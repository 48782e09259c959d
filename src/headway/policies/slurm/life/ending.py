"""Ending a job: lists and counters change together, and its nodes are completing for a while."""

from __future__ import annotations

import math

from headway.engine.shares import end_of_shares
from headway.engine.tables import Ended, Phase, State
from headway.engine.verbs import end_suspended, has_room, kill, lose
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.life.power import note_epilog, note_idle_since
from headway.policies.slurm.limits.accrual import begin_age
from headway.policies.slurm.limits.independence import count_task, take_licences
from headway.policies.slurm.limits.limits import charge
from headway.policies.slurm.limits.submission import count_submitted
from headway.policies.slurm.nodes.ends import forget_running
from headway.policies.slurm.queue.fairshare import use
from headway.policies.slurm.queue.preemption import victim_mode
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import Outcome
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Mode

MODULUS = (1 << 31) - 1
"""Of the sequence of numbers that a seed gives (Park and Miller)."""


@kernel
def draw(memory: Memory, mean: int) -> int:
    """A time in ms with an exponential distribution, from the seed's sequence; 0 where the mean is."""
    if mean == 0:
        return 0
    memory.clock.drawn = memory.clock.drawn * 48271 % MODULUS
    return int(-mean * math.log(memory.clock.drawn / MODULUS))


@kernel
def second_of(ms: int) -> int:
    """The first whole second that is not before a time in ms."""
    return -(-ms // 1000)


@kernel
def completing(state: State, run: int, sign: int) -> None:
    """Let the nodes of a run that ended be completing (1), or no longer (-1)."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        state.memory.nodes.completing[state.shares.node[entry]] += sign


@kernel
def forget_grace(memory: Memory, job: int) -> None:
    """Let a job have no grace time, if it has any."""
    if memory.jobs.goes_at[job] != UNSET:
        memory.jobs.goes_at[job] = UNSET
        memory.clock.graces -= 1


@routine
def finish(state: State, job: int, run: int, now: int) -> None:
    """Let a job that ended leave the lists and counters; its last piece of usage is charged at once.

    Its nodes are completing until the epilog is over.
    """
    memory = state.memory
    memory.clock.unsettled = memory.clock.undealt = 1
    if memory.settings.multifactor > 0:
        use(memory, job, now)  # where priority is the order of submission nobody counts usage
    charge(state, job, -1)
    count_task(memory, job, -1)
    take_licences(memory, job, -1)
    forget_running(memory, job)
    forget_grace(memory, job)
    completing(state, run, 1)
    note_idle_since(state, run, now)
    over = second_of(1000 * now + draw(memory, memory.settings.epilog))
    note_epilog(state, over, run)
    memory.clock.stamp = memory.clock.changed = now


@routine
def take_off(state: State, job: int, now: int, requeues: bool, how: int) -> None:
    """End a running job from outside: it waits again from the beginning, or is lost."""
    memory = state.memory
    if state.jobs.phase[job] == Phase.SUSPENDED:
        end_suspended(state, job, how, requeues)
        finish(state, job, state.jobs.run[job], now)
    else:
        finish(state, job, state.jobs.run[job], now)
        if requeues:
            kill(state, job, how)
        else:
            lose(state, job, how)
    memory.jobs.suspended_at[job] = UNSET
    if not requeues:
        count_submitted(memory, job, -1)
        return
    memory.jobs.outcome[job] = Outcome.PENDING
    memory.jobs.begin[job] = max(memory.jobs.begin[job], now + memory.settings.requeue_wait)
    begin_age(memory, job, memory.jobs.begin[job])
    memory.jobs.entered[job] = now
    memory.jobs.reason[job] = Reason.BEGIN_TIME
    if has_room(state, memory.clock.returned, memory.returned):
        memory.returned[memory.clock.returned] = job
        memory.clock.returned += 1
    memory.clock.pending += 1


@kernel
def make_go(state: State, victim: int, now: int) -> None:
    """End a victim: it waits again, or is lost."""
    memory = state.memory
    requeues = victim_mode(memory, victim) == Mode.REQUEUE and memory.jobs.requeues[victim] > 0
    take_off(state, victim, now, requeues, Ended.BY_PREEMPTION)
