"""Ending a job: lists and counters change together, and its nodes are completing for a while."""

from __future__ import annotations

import math

from headway.engine.heap import push
from headway.engine.shares import end_of_shares
from headway.engine.tables import BY_PREEMPTION, PHASE, R_SHARE, RUN, S_NODE, SUSPENDED, State
from headway.engine.verbs import end_suspended, kill, lose
from headway.jit import kernel, routine
from headway.policies.slurm.ends import forget_running
from headway.policies.slurm.fairshare import use
from headway.policies.slurm.independence import count_task, take_licences
from headway.policies.slurm.life_tables import Outcome
from headway.policies.slurm.limits import charge
from headway.policies.slurm.power import note_idle_since
from headway.policies.slurm.preemption import victim_mode
from headway.policies.slurm.settings import Mode, Setting
from headway.policies.slurm.submission import count_submitted
from headway.policies.slurm.tables import UNSET, Clock, Job, Memory, Node, Reason

MODULUS = (1 << 31) - 1
"""Of the sequence of numbers that a seed gives (Park and Miller)."""


@kernel
def draw(memory: Memory, mean: int) -> int:
    """A time in ms with an exponential distribution, from the seed's sequence; 0 where the mean is."""
    if mean == 0:
        return 0
    memory.clock[Clock.DRAWN] = memory.clock[Clock.DRAWN] * 48271 % MODULUS
    return int(-mean * math.log(memory.clock[Clock.DRAWN] / MODULUS))


@kernel
def second_of(ms: int) -> int:
    """The first whole second that is not before a time in ms."""
    return -(-ms // 1000)


@kernel
def completing(state: State, run: int, sign: int) -> None:
    """Let the nodes of a run that ended be completing (1), or no longer (-1)."""
    for entry in range(state.runs[R_SHARE, run], end_of_shares(state, run)):
        state.memory.nodes[Node.COMPLETING, state.shares[S_NODE, entry]] += sign


@routine
def finish(state: State, job: int, run: int, now: int) -> None:
    """Let a job that ended leave the lists and counters; its last piece of usage is charged at once.

    Its nodes are completing until the epilog is over.
    """
    memory = state.memory
    memory.clock[Clock.UNSETTLED] = 1
    use(memory, job, now)
    charge(memory, job, -1)
    count_task(memory, job, -1)
    take_licences(memory, job, -1)
    forget_running(memory, job)
    completing(state, run, 1)
    note_idle_since(state, run, now)
    over = second_of(1000 * now + draw(memory, memory.settings[Setting.EPILOG]))
    push(memory.epilogs, 0, memory.clock[Clock.COMPLETING], over, run)
    memory.clock[Clock.COMPLETING] += 1
    memory.clock[Clock.STAMP] = memory.clock[Clock.CHANGED] = now


@routine
def take_off(state: State, job: int, now: int, requeues: bool, how: int) -> None:
    """End a running job from outside: it waits again from the beginning, or is lost."""
    memory = state.memory
    if state.jobs[PHASE, job] == SUSPENDED:
        end_suspended(state, job, how, requeues)
        finish(state, job, state.jobs[RUN, job], now)
    else:
        finish(state, job, state.jobs[RUN, job], now)
        if requeues:
            kill(state, job, how)
        else:
            lose(state, job, how)
    memory.jobs[Job.SUSPENDED_AT, job] = UNSET
    if not requeues:
        count_submitted(memory, job, -1)
        return
    memory.jobs[Job.OUTCOME, job] = Outcome.PENDING
    memory.jobs[Job.BEGIN, job] = max(
        memory.jobs[Job.BEGIN, job], now + memory.settings[Setting.REQUEUE_WAIT]
    )
    memory.jobs[Job.ACCRUED, job] = memory.jobs[Job.BEGIN, job]
    memory.jobs[Job.ENTERED, job] = now
    memory.jobs[Job.REASON, job] = Reason.BEGIN_TIME
    memory.returned[memory.clock[Clock.RETURNED]] = job
    memory.clock[Clock.RETURNED] += 1
    memory.clock[Clock.PENDING] += 1


@kernel
def make_go(state: State, victim: int, now: int) -> None:
    """End a victim: it waits again, or is lost."""
    memory = state.memory
    requeues = victim_mode(memory, victim) == Mode.REQUEUE and memory.jobs[Job.REQUEUES, victim] > 0
    memory.jobs[Job.GOES_AT, victim] = UNSET
    take_off(state, victim, now, requeues, BY_PREEMPTION)
