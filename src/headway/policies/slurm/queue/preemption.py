"""Whose place a job may take, and how those go."""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.jit.kernels import kernel
from headway.policies.slurm.queue.caps import first_qos, qos_value, second_qos
from headway.policies.slurm.queue.queue import may_preempt
from headway.policies.slurm.tables.bits import meet
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.settings import Mode, Preemption
from headway.policies.slurm.tables.sites import Holders, Tres

NODES_OF_RANK = 1 << 16


@kernel
def victim_mode(memory: Memory, job: int) -> int:
    """How a running job would be preempted (:class:`Mode`)."""
    if memory.settings.preemption == Preemption.BY_QOS:
        qos = memory.jobs.qos[job]
        return int(Mode.OFF if qos == UNSET else memory.holders.preempt[qos])
    return int(memory.partitions.preempt[memory.jobs.partition[job]])


@kernel
def grace(memory: Memory, job: int) -> int:
    """How long a victim may go on, in seconds."""
    qos = memory.jobs.qos[job]
    if memory.settings.preemption == Preemption.BY_QOS:
        return int(0 if qos == UNSET else max(memory.holders.grace[qos], 0))
    return int(max(memory.partitions.grace[memory.jobs.partition[job]], 0))


@kernel
def exempt_until(memory: Memory, job: int) -> int:
    """When a running job may be preempted at the earliest: by a QOS as with limits, or as the site says."""
    part = memory.jobs.partition[job]
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    qos = qos_value(memory, first, second, Holders["exempt"])
    exempt = memory.settings.preempt_exempt if qos == UNSET else memory.holders.exempt[qos]
    return int(memory.jobs.started[job] + exempt)


@kernel
def takes_places(memory: Memory, job: int, part: int) -> bool:
    """Whether there are jobs, running or not, whose place a job in a partition might take."""
    kind, qos = memory.settings.preemption, memory.jobs.qos[job]
    if kind == Preemption.BY_TIER:
        for other in range(memory.partitions.shape[1]):
            lower = memory.partitions.tier[other] < memory.partitions.tier[part]
            gives_way = lower and memory.partitions.preempt[other] != Mode.OFF
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
        and may_preempt(memory, job, part, running, memory.jobs.partition[running])
        and now >= exempt_until(memory, running)
    )


@kernel
def cost(memory: Memory, job: int) -> int:
    """Who goes first: jobs of a low tier or QOS, then of few nodes; or the youngest."""
    if memory.settings.youngest_first > 0:
        return int(-memory.jobs.started[job])
    rank = memory.partitions.tier[memory.jobs.partition[job]]
    if memory.settings.preemption == Preemption.BY_QOS:
        rank = max(memory.holders.priority[memory.jobs.qos[job]], 0)
    nodes = memory.jobs[SlurmJobs["holds"] + Tres.NODE, job]
    return int(min(rank, NODES_OF_RANK - 1) * NODES_OF_RANK + min(nodes, NODES_OF_RANK - 1))


@kernel
def is_pausing(memory: Memory, job: int, now: int) -> bool:
    """Whether a job took victims so recently that it takes no more."""
    took = memory.jobs.took_victims[job]
    return bool(took != UNSET and took > now - memory.settings.preempt_pause)


@kernel
def pass_number(memory: Memory) -> int:
    """The number of the present pass or cycle; both are counted together."""
    return int(memory.clock.passes + memory.clock.cycles)


@kernel
def took_victims(memory: Memory, job: int) -> bool:
    """Whether a job has taken victims in this pass or cycle: it waits for their nodes then."""
    return bool(memory.jobs.took_in[job] == pass_number(memory))


@kernel
def shares_partition(state: State, job: int, part: int) -> bool:
    """Whether a running job holds a node of a partition."""
    run = state.jobs.run[job]
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        if state.memory.members[part, state.shares.node[entry]] > 0:
            return True
    return False
