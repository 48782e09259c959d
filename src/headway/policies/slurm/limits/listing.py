"""Slurm's list of jobs, and the queue that its merge sort makes of it.

Jobs stand in the list in the order in which the controller made them. An array is one entry: when a task
starts, that entry is the task's own, and a new one at the end of the list stands for those that still wait.

Mostly every sort gives the same queue. But whoever may preempt another comes first, so there may be circles:
A before B and B before C by priority, C before A because it may preempt it. The queue is then what Slurm's
sort makes of the list: it sorts both halves of it by themselves and merges them, first against first.
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.independence import array_is_full, eligible
from headway.policies.slurm.queue.queue import comes_first, sort_records
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Array
from headway.policies.slurm.tables.passes import Record, SlurmClock
from headway.policies.slurm.tables.sites import Partition

NOT_LISTED = 1 << 60
"""The place of a record that the present pass does not look at: behind all others."""


@kernel
def new_entry(memory: Memory) -> int:
    """Make an entry at the end of the list."""
    memory.clock[SlurmClock.LISTS] += 1
    return int(memory.clock[SlurmClock.LISTS])


@kernel
def list_job(memory: Memory, job: int) -> None:
    """Put a job that is submitted into the list, or its array."""
    array = memory.jobs[SlurmJob.ARRAY, job]
    if array == UNSET:
        memory.jobs[SlurmJob.LISTED, job] = new_entry(memory)
    elif memory.arrays[Array.LISTED, array] == UNSET:
        memory.arrays[Array.LISTED, array] = new_entry(memory)


@kernel
def list_start(memory: Memory, job: int) -> None:
    """Let a task that starts for the first time have the entry of its array, which gets another."""
    array = memory.jobs[SlurmJob.ARRAY, job]
    if memory.jobs[SlurmJob.LISTED, job] == UNSET and array != UNSET:
        memory.jobs[SlurmJob.LISTED, job] = memory.arrays[Array.LISTED, array]
        memory.arrays[Array.LISTED, array] = new_entry(memory)
        memory.arrays[Array.BEGUN_CYCLE, array] = memory.clock[SlurmClock.CYCLES]
        memory.arrays[Array.BEGUN_PARTITION, array] = memory.jobs[SlurmJob.PARTITION, job]


@kernel
def place_in_list(memory: Memory, record: int, now: int) -> int:
    """The place in the list of the job of a record, if a pass may look at it now."""
    job, part = memory.queue[Record.JOB, record], memory.queue[Record.PARTITION, record]
    if memory.partitions[Partition.UP, part] == 0 or not eligible(memory, job, now):
        return NOT_LISTED
    if array_is_full(memory, job, 0):
        return NOT_LISTED
    place, array = memory.jobs[SlurmJob.LISTED, job], memory.jobs[SlurmJob.ARRAY, job]
    if place == UNSET and array != UNSET:
        place = memory.arrays[Array.LISTED, array]
    return int(place)


@kernel
def is_of_one_entry(memory: Memory, a: int, b: int) -> bool:
    """Whether the records at two places are tasks of one array that wait in one entry of the list."""
    queue = memory.queue
    same_partition = queue[Record.PLACE, a] == queue[Record.PLACE, b]
    return bool(queue[Record.LISTED, a] == queue[Record.LISTED, b] and same_partition)


@kernel
def part_of(count: int, level: int, which: int) -> tuple[int, int]:
    """Where a part of a list begins that was halved ``level`` times, and how many entries it has.

    The second half has one more where the number is odd.
    """
    begin, size = 0, count
    for bit in range(level - 1, -1, -1):
        first = size // 2
        if which >> bit & 1:
            begin, size = begin + first, size - first
        else:
            size = first
    return begin, size


@routine
def merge(memory: Memory, begin: int, size: int) -> None:
    """Merge the two halves of a part, each of them sorted."""
    order, middle, end = memory.order, begin + size // 2, begin + size
    left, right = begin, middle
    for place in range(begin, end):
        from_left = left < middle
        if from_left and right < end:
            from_left = comes_first(memory, order[0, left], order[0, right])
        order[1, place] = order[0, left if from_left else right]
        left, right = left + from_left, right + 1 - from_left
    for place in range(begin, end):
        order[0, place] = order[1, place]


@kernel
def sort_entries(memory: Memory, count: int) -> None:
    """Sort the first entries of ``order`` as Slurm does."""
    level = 0
    while 1 << level < count:
        level += 1
    while level > 0:
        level -= 1
        for which in range(1 << level):
            begin, size = part_of(count, level, which)
            if size > 1:
                merge(memory, begin, size)


@kernel
def find_entries(memory: Memory) -> tuple[int, int]:
    """Lay the first record of each entry into ``order``; how many entries and records the pass looks at."""
    queue, entries, count = memory.queue, 0, memory.clock[SlurmClock.QUEUED]
    for place in range(count):
        if queue[Record.LISTED, place] == NOT_LISTED:
            return entries, place
        if place == 0 or not is_of_one_entry(memory, place - 1, place):
            memory.order[0, entries] = place
            entries += 1
    return entries, count


@routine
def sort_as_slurm(memory: Memory, now: int) -> None:
    """Put the queue in the order of Slurm's merge sort; who is not looked at now stands behind."""
    queue, target = memory.queue, 0
    for place in range(memory.clock[SlurmClock.QUEUED]):
        queue[Record.LISTED, place] = place_in_list(memory, place, now)
    sort_records(memory, True)
    entries, count = find_entries(memory)
    sort_entries(memory, entries)
    for entry in range(entries):
        first = place = memory.order[0, entry]
        while place < count and is_of_one_entry(memory, first, place):
            for row in range(queue.shape[0]):
                memory.listed[row, target] = queue[row, place]
            place, target = place + 1, target + 1
    for place in range(count):
        for row in range(queue.shape[0]):
            queue[row, place] = memory.listed[row, place]
