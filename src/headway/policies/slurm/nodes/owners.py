"""Nodes that one user's jobs have for themselves: --exclusive=user, and partitions with ExclusiveUser.

Such a job starts on no node on which another user's job runs, and nobody else's starts next to it. Backfill
leaves the same nodes out for all the time it looks at, though their jobs will end; since 24.05.5 it leaves
them out until they do.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.bits import drop, has, size_of
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch


@kernel
def keeps_nodes(memory: Memory, job: int, part: int) -> bool:
    """Whether a job in a partition lets nobody but its user on its nodes."""
    own = memory.jobs.keeps_nodes[job] > 0
    return bool(own or memory.partitions.keeps_nodes[part] > 0)


@kernel
def add_run(state: State, run: int, user: int, everybody: bool) -> None:
    """Put the nodes of a run into the set OTHERS if it is another user's, and keeps its nodes or everybody
    counts."""
    memory, job = state.memory, state.runs.job[run]
    if memory.jobs.user[job] == user:
        return
    if everybody or keeps_nodes(memory, job, memory.jobs.partition[job]):
        for entry in range(state.runs.share[run], end_of_shares(state, run)):
            memory.sets[Scratch.OTHERS, state.shares.node[entry]] = 1


@kernel
def lay_others(state: State, job: int, part: int) -> None:
    """The nodes on which a job may not run because of other users into the set OTHERS.

    Jobs whose epilog is not over count like running ones.
    """
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.OTHERS, node] = 0
    user, everybody = memory.jobs.user[job], keeps_nodes(memory, job, part)
    for place in range(memory.clock.running):
        add_run(state, state.jobs.run[memory.running[1, place]], user, everybody)
    for place in range(memory.clock.completing):
        if memory.epilogs[1, place] >= 0:
            add_run(state, memory.epilogs[1, place], user, everybody)


@kernel
def leave_others_out(memory: Memory, row: int) -> None:
    """Take the nodes of the set OTHERS from another set."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[row, node] &= 1 - memory.sets[Scratch.OTHERS, node]


@routine
def leave_to_others(state: State, job: int, begin: int, least: int) -> tuple[int, bool]:
    """Take from the sets AROUND and WIDEST the nodes that are others' at ``begin``, the longest kept first.

    Returns when the last one taken is free, 0 where none is; and whether a job that needs ``least`` nodes has
    too few without it, or names it.
    """
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        memory.work.run_cpus[node] = 0
    for place in range(memory.clock.running):
        ends, run = memory.running[0, place], state.jobs.run[memory.running[1, place]]
        for entry in range(state.runs.share[run], end_of_shares(state, run)):
            node = state.shares.node[entry]
            memory.work.run_cpus[node] = max(memory.work.run_cpus[node], ends)
    sets, row = memory.words_sets, memory.jobs.required[job]
    until, left = 0, size_of(sets, Scratch.AROUND)
    while True:
        last = UNSET
        for node in range(memory.nodes.shape[1]):
            free = memory.work.run_cpus[node]
            if free <= begin or memory.sets[Scratch.OTHERS, node] == 0 or not has(sets, Scratch.AROUND, node):
                continue
            if last == UNSET or free > memory.work.run_cpus[last]:
                last = node
        if last == UNSET:
            return until, False
        until = memory.work.run_cpus[last]
        if left <= least or memory.required[row, last] > 0:
            return until, True
        drop(sets, Scratch.AROUND, last)
        drop(sets, Scratch.WIDEST, last)
        left -= 1
