"""The queue of both loops, sections 4.1, 4.2 and 9: one record for each partition a job may run in.

Who may preempt another comes before it, whatever else they are. With priorities against that there are
circles; the queue is then what the C library's merge sort makes of the records as Slurm's list has the jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from .machine import Job, Machine, Partition
from .preemption import Preemption


@dataclass
class Record:
    job: Job
    partition: Partition
    priority: int

    def rank(self) -> tuple[int, ...]:
        """Small ranks come first: reservation, tier, priority, submission, identity, task."""
        job = self.job
        identity = job.array or job.id
        return (not job.reservation, -self.partition.tier, -self.priority, job.submit, identity, job.task)


def partition_allows(machine: Machine, job: Job, partition: Partition, limit: int) -> bool:
    """Section 9: the partition's own bounds on nodes and time."""
    if not partition.up:
        return False
    if partition.max_time is not None and limit > partition.max_time:
        return False
    if partition.max_nodes is not None and job.nodes > partition.max_nodes:
        return False
    return partition.min_nodes <= job.nodes <= partition.nodes.bit_count()


def build_queue(
    machine: Machine, pending: Iterable[Job], *, shortest: bool = False, preemption: Preemption | None = None
) -> list[Record]:
    """Records in the order in which they are tested.

    `pending` holds what is neither held nor dependent; backfill tests a job's shortest time where it gave
    one.
    """
    records = []
    for job in sorted(pending, key=lambda job: job.made):
        limit = job.time_min if shortest and job.time_min else job.limit
        for name in job.partitions:
            partition = machine.partitions[name]
            if partition_allows(machine, job, partition, limit):
                records.append(Record(job, partition, job.priority_for(name)))
    if preemption is None:
        return sorted(records, key=Record.rank)

    def is_first(one: Record, other: Record) -> bool:
        if preemption.may(one.job, one.partition, other.job, other.partition):
            return True
        if preemption.may(other.job, other.partition, one.job, one.partition):
            return False
        return one.rank() <= other.rank()

    return merge_sort(records, is_first)


One = TypeVar("One")


def merge_sort(records: list[One], is_first: Callable[[One, One], bool]) -> list[One]:
    """Both halves sorted, the second one larger by one where the number is odd; then merged."""
    if len(records) < 2:
        return records
    middle = len(records) // 2
    left, right = merge_sort(records[:middle], is_first), merge_sort(records[middle:], is_first)
    merged: list[One] = []
    while left and right:
        merged.append((left if is_first(left[0], right[0]) else right).pop(0))
    return merged + left + right
