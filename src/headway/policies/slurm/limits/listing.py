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

NOT_LISTED = 1 << 60
"""The place of a record that the present pass does not look at: behind all others."""


@kernel
def new_entry(memory: Memory) -> int:
    """Make an entry at the end of the list."""
    memory.clock.lists += 1
    return int(memory.clock.lists)


@kernel
def list_job(memory: Memory, job: int) -> None:
    """Put a job that is submitted into the list, or its array."""
    array = memory.jobs.array[job]
    if array == UNSET:
        memory.jobs.listed[job] = new_entry(memory)
    elif memory.arrays.listed[array] == UNSET:
        memory.arrays.listed[array] = new_entry(memory)


@kernel
def list_start(memory: Memory, job: int) -> None:
    """Let a task that starts for the first time have the entry of its array, which gets another."""
    array = memory.jobs.array[job]
    if memory.jobs.listed[job] == UNSET and array != UNSET:
        memory.jobs.listed[job] = memory.arrays.listed[array]
        memory.arrays.listed[array] = new_entry(memory)
        memory.arrays.begun_cycle[array] = memory.clock.cycles
        memory.arrays.begun_partition[array] = memory.jobs.partition[job]


@kernel
def place_in_list(memory: Memory, record: int, now: int) -> int:
    """The place in the list of the job of a record, if a pass may look at it now."""
    job, part = memory.queue.job[record], memory.queue.partition[record]
    if memory.partitions.up[part] == 0 or not eligible(memory, job, now):
        return NOT_LISTED
    if array_is_full(memory, job, 0):
        return NOT_LISTED
    place, array = memory.jobs.listed[job], memory.jobs.array[job]
    if place == UNSET and array != UNSET:
        place = memory.arrays.listed[array]
    return int(place)


@kernel
def is_of_one_entry(memory: Memory, a: int, b: int) -> bool:
    """Whether the records at two places are tasks of one array that wait in one entry of the list."""
    queue = memory.queue
    same_partition = queue.place[a] == queue.place[b]
    return bool(queue.listed[a] == queue.listed[b] and same_partition)


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
    queue, entries, count = memory.queue, 0, memory.clock.queued
    for place in range(count):
        if queue.listed[place] == NOT_LISTED:
            return entries, place
        if place == 0 or not is_of_one_entry(memory, place - 1, place):
            memory.order[0, entries] = place
            entries += 1
    return entries, count


@routine
def sort_as_slurm(memory: Memory, now: int) -> None:
    """Put the queue in the order of Slurm's merge sort; who is not looked at now stands behind."""
    queue, target = memory.queue, 0
    for place in range(memory.clock.queued):
        queue.listed[place] = place_in_list(memory, place, now)
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
