"""Nodes that are switched off when they have been idle for long (SuspendTime), and on again for a job.

A job that gets such a node has it at once, and begins when it is up (ResumeTimeout later). Until then the
node is to others as one whose epilog is not over, and plans take the job to end as if it had begun. Jobs get
such nodes last, whatever these weigh.
"""

from __future__ import annotations

from headway.engine.heap import push
from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.engine.verbs import has_room
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.ends import forget_running, note_running
from headway.policies.slurm.nodes.selection import OUTSIDE_LAST
from headway.policies.slurm.tables.controller import UNSET, Memory


@kernel
def is_off(state: State, node: int, now: int) -> bool:
    """Whether a node is switched off."""
    memory = state.memory
    after = memory.nodes.off_after[node]
    return bool(
        after != UNSET
        and state.nodes.runs[node] == 0
        and memory.nodes.completing[node] == 0
        and now - memory.nodes.idle_since[node] >= after
    )


@kernel
def weigh_off(state: State, now: int, sign: int) -> None:
    """Let nodes that are off be heavier than others (1), and so taken last, or no more (-1)."""
    if state.memory.settings.saves_power == 0:
        return
    for node in range(state.nodes.shape[1]):
        if is_off(state, node, now):
            state.memory.nodes.set_weight[node] += sign * OUTSIDE_LAST


@kernel
def begins_at(memory: Memory, job: int, t: int) -> bool:
    """Whether a job begins at ``t`` because its nodes are up, and plans take it to have begun before."""
    since, length = memory.jobs.started[job], 60 * memory.jobs.length[job]
    early = memory.jobs.ends[job] == since + length
    return bool(early and memory.jobs.resumed_at[job] == t)


@routine
def begin_booted(memory: Memory, t: int) -> None:
    """Let plans know when the jobs have begun whose nodes are up at ``t``."""
    place = 0
    while place < memory.clock.running:
        job = memory.running[1, place]
        if begins_at(memory, job, t):
            forget_running(memory, job)
            memory.jobs.ends[job] += t - memory.jobs.started[job]
            note_running(memory, job, memory.jobs.ends[job])
            place = 0
        else:
            place += 1


@routine
def note_epilog(state: State, over: int, run: int) -> None:
    """Let the nodes of a run come free at ``over``; -1 - node for one that is switched on."""
    count = state.memory.clock.completing
    if has_room(state, count, state.memory.epilogs):
        push(state.memory.epilogs, 0, count, over, run)
        state.memory.clock.completing = count + 1


@routine
def switch_on(state: State, count: int, now: int) -> int:
    """Switch on those of the proposed nodes that are off; how long the last takes, in seconds."""
    memory, takes = state.memory, 0
    if memory.settings.saves_power == 0:
        return 0
    for entry in range(state.clock.shares, state.clock.shares + count):
        node = state.shares.node[entry]
        if is_off(state, node, now):
            boot = memory.nodes.boot_takes[node]
            takes = max(takes, boot)
            memory.nodes.completing[node] += 1
            note_epilog(state, now + boot, -1 - node)
            memory.clock.booting += 1
    return int(takes)


@kernel
def note_idle_since(state: State, run: int, now: int) -> None:
    """Note when the nodes of a run that ended became idle, if they did."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        state.memory.nodes.idle_since[state.shares.node[entry]] = now
