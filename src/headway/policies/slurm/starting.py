"""Starting and ending a job: nodes, limits, counters and lists change together."""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import (
    BACKFILL,
    HEAD,
    IMMEDIATE,
    PLAN,
    R_SHARE,
    S_MEMORY,
    S_NODE,
    SHARES,
    State,
)
from headway.engine.verbs import start_on_nodes
from headway.jit import kernel, routine
from headway.policies.slurm.ends import forget_running, note_running
from headway.policies.slurm.fairshare import use
from headway.policies.slurm.limits import after_selection, billed, charge, hold_by_limit
from headway.policies.slurm.priority import tres_of
from headway.policies.slurm.queue import leave_queue, minutes_in
from headway.policies.slurm.selection import propose_taken, select
from headway.policies.slurm.tables import Clock, Job, Memory, Node, Reason, Scratch, Setting, Work
from headway.units import SECOND

STARTED, BUSY, LIMITED = range(3)
MAIN, FILLING = range(2)
"""Which loop starts a job."""


@kernel
def candidates(state: State, allowed: int, job: int, part: int) -> None:
    """The nodes of the set ``allowed`` on which a job may start: usable, its partition's, not completing."""
    memory = state.memory
    features = memory.jobs[Job.FEATURES, job]
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.CANDIDATES, node] = (
            memory.sets[allowed, node]
            & memory.members[part, node]
            & memory.features[features, node]
            & (memory.nodes[Node.USABLE, node] > 0)
            & (memory.nodes[Node.COMPLETING, node] == 0)
        )


@kernel
def proposed_memory(state: State, count: int) -> int:
    """MB of the proposed shares in all."""
    total, first = 0, state.clock[SHARES]
    for entry in range(first, first + count):
        total += state.shares[S_MEMORY, entry]
    return total


@kernel
def taken_cpus(memory: Memory) -> int:
    """CPUs of the nodes that were chosen."""
    total = 0
    for node in range(memory.nodes.shape[1]):
        total += memory.work[Work.TAKEN, node]
    return total


@routine
def try_start(state: State, allowed: int, job: int, part: int, now: int, loop: int) -> int:
    """Start a job on nodes of the set ``allowed`` if it fits within its limits: STARTED, BUSY or LIMITED."""
    memory = state.memory
    candidates(state, allowed, job, part)
    if select(state, state.nodes, Scratch.CANDIDATES, job, part) == 0:
        size = max(memory.jobs[Job.CPUS, job], memory.jobs[Job.MIN_NODES, job])
        reason = after_selection(memory, job, part, size, 0, 0)
        hold_by_limit(memory, job, reason)
        if reason == Reason.NONE:
            memory.jobs[Job.REASON, job] = Reason.RESOURCES
        return BUSY if reason == Reason.NONE else LIMITED
    count, cpus = propose_taken(state, job, part), taken_cpus(memory)
    mb = proposed_memory(state, count)
    reason = after_selection(memory, job, part, cpus, mb, count)
    if reason != Reason.NONE:
        hold_by_limit(memory, job, reason)
        return LIMITED
    tres_of(memory, job, cpus, mb, count, billed(memory, part, cpus, mb, count))
    begin(state, job, part, now, loop, count)
    return STARTED


@routine
def begin(state: State, job: int, part: int, now: int, loop: int, count: int) -> None:
    """Let a job run on the nodes that were proposed."""
    memory = state.memory
    seconds = minutes_in(memory, job, part) * 60
    state.jobs[PLAN, job] = seconds * SECOND
    limit = (seconds + memory.settings[Setting.OVER_TIME]) * SECOND
    why = BACKFILL if loop == FILLING else (IMMEDIATE if now <= memory.jobs[Job.ENTERED, job] else HEAD)
    start_on_nodes(state, job, count, why, 0, limit)
    memory.jobs[Job.PARTITION, job] = part
    memory.jobs[Job.STARTED, job] = now
    memory.jobs[Job.ENDS, job] = now + seconds
    memory.jobs[Job.LOOP, job] = loop
    memory.clock[Clock.PENDING] -= 1
    note_running(memory, job, now + seconds)
    charge(memory, job, 1)
    leave_queue(memory, job)
    memory.clock[Clock.STAMP] = memory.clock[Clock.CHANGED] = now


@kernel
def completing(state: State, run: int, sign: int) -> None:
    """Let the nodes of a run that ended be completing (1), or no longer (-1)."""
    for entry in range(state.runs[R_SHARE, run], end_of_shares(state, run)):
        state.memory.nodes[Node.COMPLETING, state.shares[S_NODE, entry]] += sign


@routine
def finish(state: State, job: int, now: int) -> None:
    """Let a job that ended leave the lists and counters; its last piece of usage is charged at once."""
    memory = state.memory
    use(memory, job, now)
    charge(memory, job, -1)
    forget_running(memory, job)
    memory.clock[Clock.STAMP] = memory.clock[Clock.CHANGED] = now
