"""Nodes that one user's jobs have for themselves: --exclusive=user, and partitions with ExclusiveUser.

Such a job starts on no node on which another user's job runs, and nobody else's starts beside it. Backfill
leaves the same nodes out for all the time it looks at, though their jobs will end.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Job, Run, Share, State
from headway.jit.kernels import kernel
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.passes import Scratch, SlurmClock
from headway.policies.slurm.tables.sites import Partition


@kernel
def keeps_nodes(memory: Memory, job: int, part: int) -> bool:
    """Whether a job in a partition lets nobody but its user on its nodes."""
    own = memory.jobs[SlurmJob.KEEPS_NODES, job] > 0
    return bool(own or memory.partitions[Partition.KEEPS_NODES, part] > 0)


@kernel
def add_run(state: State, run: int, user: int, everybody: bool) -> None:
    """Put the nodes of a run into the set OTHERS if it is another user's, and keeps its nodes or everybody
    counts."""
    memory, job = state.memory, state.runs[Run.JOB, run]
    if memory.jobs[SlurmJob.USER, job] == user:
        return
    if everybody or keeps_nodes(memory, job, memory.jobs[SlurmJob.PARTITION, job]):
        for entry in range(state.runs[Run.SHARE, run], end_of_shares(state, run)):
            memory.sets[Scratch.OTHERS, state.shares[Share.NODE, entry]] = 1


@kernel
def lay_others(state: State, job: int, part: int) -> None:
    """The nodes on which a job may not run because of other users into the set OTHERS.

    Jobs whose epilog is not over count like running ones.
    """
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.OTHERS, node] = 0
    user, everybody = memory.jobs[SlurmJob.USER, job], keeps_nodes(memory, job, part)
    for place in range(memory.clock[SlurmClock.RUNNING]):
        add_run(state, state.jobs[Job.RUN, memory.running[1, place]], user, everybody)
    for place in range(memory.clock[SlurmClock.COMPLETING]):
        if memory.epilogs[1, place] >= 0:
            add_run(state, memory.epilogs[1, place], user, everybody)


@kernel
def leave_others_out(memory: Memory, row: int) -> None:
    """Take the nodes of the set OTHERS from another set."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[row, node] &= 1 - memory.sets[Scratch.OTHERS, node]
