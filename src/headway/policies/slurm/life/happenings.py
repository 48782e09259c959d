"""What happens beside jobs coming and ending: nodes are lost and come back, holds are released,
partitions close, reservations begin and end.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Ended, Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.life.ending import take_off
from headway.policies.slurm.limits.accrual import begin_age
from headway.policies.slurm.limits.priority import prioritise, renew_records
from headway.policies.slurm.limits.submission import cancel
from headway.policies.slurm.queue.queue import close_gaps, enqueue, leave_queue, sort_queue
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.life import What
from headway.policies.slurm.tables.reasons import Reason
from headway.units import NEVER, SECOND


@kernel
def next_happening(memory: Memory) -> int:
    """The second in which something happens next."""
    place = memory.clock.happened
    if place >= memory.happenings.shape[1]:
        return NEVER
    return int(memory.happenings.time[place])


@kernel
def is_on(state: State, job: int, node: int) -> bool:
    """Whether a running job holds something of a node."""
    run = state.jobs.run[job]
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        if state.shares.node[entry] == node:
            return True
    return False


@routine
def lose_node(state: State, node: int, now: int) -> None:
    """A node goes down: what ran on it waits again, or is lost."""
    memory, place = state.memory, 0
    memory.nodes.usable[node] -= 1
    while place < memory.clock.running:
        job = memory.running[1, place]
        if is_on(state, job, node):
            take_off(state, job, now, memory.jobs.requeues[job] > 0, Ended.BY_FAILURE)
        else:
            place += 1


@routine
def release(state: State, job: int, now: int) -> None:
    """A hold is lifted: the job's priority is set anew, which puts it behind all others where that is the
    order of submission. A begin time that is still to come stays.
    """
    memory = state.memory
    memory.jobs.held[job] = 0
    begin = max(memory.jobs.begin[job], now)
    memory.jobs.begin[job] = begin
    begin_age(memory, job, begin)
    prioritise(memory, job, now)
    leave_queue(memory, job)
    close_gaps(memory)
    first = memory.clock.queued
    enqueue(state, job)
    renew_records(memory, first, now, False)


@routine
def cancel_job(state: State, job: int, now: int) -> None:
    """A user cancels a job: it waits no more, or, if it has started sooner than in the log, ends."""
    memory, phase = state.memory, state.jobs.phase[job]
    take_back(state)
    if phase == Phase.WAITING:
        cancel(state, job, Reason.CANCELLED, now)
        close_gaps(memory)
    elif phase in (Phase.RUNNING, Phase.SUSPENDED):
        take_off(state, job, now, False, Ended.BY_ITSELF)


@routine
def take_happenings(state: State, now: int) -> None:
    """Let happen what is due; each asks for a pass, but that a job is cancelled or usage forgotten."""
    memory = state.memory
    clock = memory.clock
    while next_happening(memory) <= now:
        place = clock.happened
        kind, which = memory.happenings.kind[place], memory.happenings.object[place]
        clock.happened = place + 1
        if kind == What.NODE_DOWN:
            lose_node(state, which, now)
        elif kind == What.NODE_DRAINS:
            memory.nodes.usable[which] -= 1
        elif kind == What.NODE_UP:
            memory.nodes.usable[which] += 1
        elif kind == What.RELEASE:
            release(state, which, now)
        elif kind == What.PARTITION_DOWN:
            memory.partitions.up[which] = 0
        elif kind == What.PARTITION_UP:
            memory.partitions.up[which] = 1
        elif kind == What.CANCEL:
            cancel_job(state, which, now)
            continue
        elif kind == What.RESET:
            clock.reset_due = 1
            continue
        clock.count += 1
        clock.stamp = clock.changed = now
    take_back(state)


@routine
def take_back(state: State) -> None:
    """Let the jobs that come back join the queue, with the priority they had or one given anew."""
    memory = state.memory
    clock = memory.clock
    if clock.returned == 0:
        return
    first, now = clock.queued, state.clock.now // SECOND + memory.settings.origin
    for place in range(clock.returned):
        if memory.settings.priority_anew > 0:
            prioritise(memory, memory.returned[place], now)
        enqueue(state, memory.returned[place])
        clock.count += 1
    clock.returned = 0
    if memory.settings.priority_anew > 0:
        renew_records(memory, first, now, False)
    sort_queue(memory)
