"""Whose place a job may take, and how those go."""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Job, Run, Share, State
from headway.jit.kernels import kernel
from headway.policies.slurm.queue.caps import first_qos, qos_value, second_qos
from headway.policies.slurm.queue.queue import may_preempt
from headway.policies.slurm.tables.bits import meet
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.passes import SlurmClock
from headway.policies.slurm.tables.settings import Mode, Preemption, Setting
from headway.policies.slurm.tables.sites import Holder, Partition, Tres

NODES_OF_RANK = 1 << 16


@kernel
def victim_mode(memory: Memory, job: int) -> int:
    """How a running job would be preempted (:class:`Mode`)."""
    if memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS:
        qos = memory.jobs[SlurmJob.QOS, job]
        return int(Mode.OFF if qos == UNSET else memory.holders[Holder.PREEMPT, qos])
    return int(memory.partitions[Partition.PREEMPT, memory.jobs[SlurmJob.PARTITION, job]])


@kernel
def grace(memory: Memory, job: int) -> int:
    """How long a victim may go on, in seconds."""
    qos = memory.jobs[SlurmJob.QOS, job]
    if memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS:
        return int(0 if qos == UNSET else max(memory.holders[Holder.GRACE, qos], 0))
    return int(max(memory.partitions[Partition.GRACE, memory.jobs[SlurmJob.PARTITION, job]], 0))


@kernel
def exempt_until(memory: Memory, job: int) -> int:
    """When a running job may be preempted at the earliest: by a QOS as with limits, or as the site says."""
    part = memory.jobs[SlurmJob.PARTITION, job]
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    qos = qos_value(memory, first, second, Holder.EXEMPT)
    exempt = memory.settings[Setting.PREEMPT_EXEMPT] if qos == UNSET else memory.holders[Holder.EXEMPT, qos]
    return int(memory.jobs[SlurmJob.STARTED, job] + exempt)


@kernel
def takes_places(memory: Memory, job: int, part: int) -> bool:
    """Whether there are jobs, running or not, whose place a job in a partition might take."""
    kind, qos = memory.settings[Setting.PREEMPTION], memory.jobs[SlurmJob.QOS, job]
    if kind == Preemption.BY_TIER:
        for other in range(memory.partitions.shape[1]):
            lower = memory.partitions[Partition.TIER, other] < memory.partitions[Partition.TIER, part]
            gives_way = lower and memory.partitions[Partition.PREEMPT, other] != Mode.OFF
            if gives_way and meet(memory.words_members, part, memory.words_members, other):
                return True
    if kind == Preemption.BY_QOS and qos != UNSET:
        for other in range(memory.may_preempt.shape[1]):
            if memory.may_preempt[qos, other] > 0:
                return True
    return False


@kernel
def is_preemptable(memory: Memory, job: int, part: int, running: int, now: int) -> bool:
    """Whether a job may take the place of a running one."""
    return bool(
        victim_mode(memory, running) != Mode.OFF
        and may_preempt(memory, job, part, running, memory.jobs[SlurmJob.PARTITION, running])
        and now >= exempt_until(memory, running)
    )


@kernel
def cost(memory: Memory, job: int) -> int:
    """Who goes first: jobs of a low tier or QOS, then of few nodes; or the youngest."""
    if memory.settings[Setting.YOUNGEST_FIRST] > 0:
        return int(-memory.jobs[SlurmJob.STARTED, job])
    rank = memory.partitions[Partition.TIER, memory.jobs[SlurmJob.PARTITION, job]]
    if memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS:
        rank = max(memory.holders[Holder.PRIORITY, memory.jobs[SlurmJob.QOS, job]], 0)
    nodes = memory.jobs[SlurmJob.HOLDS + Tres.NODE, job]
    return int(min(rank, NODES_OF_RANK - 1) * NODES_OF_RANK + min(nodes, NODES_OF_RANK - 1))


@kernel
def is_pausing(memory: Memory, job: int, now: int) -> bool:
    """Whether a job took victims so recently that it takes no more."""
    took = memory.jobs[SlurmJob.TOOK_VICTIMS, job]
    return bool(took != UNSET and took > now - memory.settings[Setting.PREEMPT_PAUSE])


@kernel
def pass_number(memory: Memory) -> int:
    """The number of the present pass or cycle; both are counted together."""
    return int(memory.clock[SlurmClock.PASSES] + memory.clock[SlurmClock.CYCLES])


@kernel
def took_victims(memory: Memory, job: int) -> bool:
    """Whether a job has taken victims in this pass or cycle: it waits for their nodes then."""
    return bool(memory.jobs[SlurmJob.TOOK_IN, job] == pass_number(memory))


@kernel
def shares_partition(state: State, job: int, part: int) -> bool:
    """Whether a running job holds a node of a partition."""
    run = state.jobs[Job.RUN, job]
    for entry in range(state.runs[Run.SHARE, run], end_of_shares(state, run)):
        if state.memory.members[part, state.shares[Share.NODE, entry]] > 0:
            return True
    return False
