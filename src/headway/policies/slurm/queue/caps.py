"""Limits on resources: which QOS or association decides, and how many nodes a job may have by them."""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.sites import Cap, Tres

NO_LIMIT = 1 << 40
"""Nodes of a job that no limit bounds."""


@kernel
def first_qos(memory: Memory, job: int, part: int) -> int:
    """The QOS whose limits come first."""
    of_part, of_job = memory.partitions.qos[part], memory.jobs.qos[job]
    if of_part == UNSET or (of_job != UNSET and memory.holders.over_partition[of_job] > 0):
        return int(of_job)
    return int(of_part)


@kernel
def second_qos(memory: Memory, job: int, part: int) -> int:
    """The QOS whose limits come second; -1 where there is only one."""
    of_part, of_job = memory.partitions.qos[part], memory.jobs.qos[job]
    first = first_qos(memory, job, part)
    other = of_job if first == of_part else of_part
    return UNSET if other == first else int(other)


@kernel
def cap_of(memory: Memory, kind: int, holder: int, tres: int) -> int:
    """A limit on a resource; -1 where it is not set."""
    return int(memory.caps[kind * memory.holders.shape[1] + holder, tres])


@kernel
def qos_cap(memory: Memory, kind: int, first: int, second: int, tres: int) -> int:
    """The QOS that sets a limit on a resource; -1 where none does."""
    if first != UNSET and cap_of(memory, kind, first, tres) != UNSET:
        return first
    if second != UNSET and cap_of(memory, kind, second, tres) != UNSET:
        return second
    return UNSET


@kernel
def qos_value(memory: Memory, first: int, second: int, row: int) -> int:
    """The QOS that sets a limit of the row; -1 where none does."""
    if first != UNSET and memory.holders[row, first] != UNSET:
        return first
    if second != UNSET and memory.holders[row, second] != UNSET:
        return second
    return UNSET


@routine
def nodes_by_limits(memory: Memory, job: int, part: int) -> int:
    """The most nodes that a job may have in a partition, whatever others hold, by limits on them.

    Those of a job, a user, an account and a group count alike; the association's where no QOS sets one.
    """
    if memory.settings.bounds_nodes == 0:
        return NO_LIMIT
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    most, own = NO_LIMIT, NO_LIMIT
    for kind in (Cap.MAX_ACCOUNT, Cap.MAX_JOB, Cap.MAX_USER):
        qos = qos_cap(memory, kind, first, second, Tres.NODE)
        if qos != UNSET:
            own = min(own, cap_of(memory, kind, qos, Tres.NODE))
    qos = qos_cap(memory, Cap.GRP, first, second, Tres.NODE)
    most = own if qos == UNSET else min(own, cap_of(memory, Cap.GRP, qos, Tres.NODE))
    holder = memory.jobs.association[job]
    if holder != UNSET and own == NO_LIMIT and cap_of(memory, Cap.MAX_JOB, holder, Tres.NODE) != UNSET:
        most = min(most, cap_of(memory, Cap.MAX_JOB, holder, Tres.NODE))
    while qos == UNSET and holder != UNSET:
        if cap_of(memory, Cap.GRP, holder, Tres.NODE) != UNSET:
            most = min(most, cap_of(memory, Cap.GRP, holder, Tres.NODE))
        holder = memory.holders.parent[holder]
    return int(most)
