"""Compression where thousands wait: which jobs can move is told without a search along the plan.

A sweep looks at every waiting job. With a long plan nearly all its time goes into searches that find
nothing. A job with reserved start r moves forward in one of two ways:

    slide   enough processors are free just before r: it starts where the hole begins that ends there
    jump    a hole before r, not next to it, is as long as the job

Whether a job slides is seen at one step of the plan, the one just before r. That can have become free only
in this sweep or in the last one, so the time ahead is cut into slices, and each knows the last sweep in
which processors came free there: where that is longer ago, nothing is looked up. For jumps there is a table:
the time ahead in buckets of equal width, sizes in classes (two for each power of two). For each class and
bucket it has a bound from above: no hole for the least size of the class that reaches into the bucket is
longer, counted from the bucket's beginning where the hole begins before it. And it has the greatest of these
bounds up to each bucket. So one comparison tells of most jobs that no hole before their start is long enough;
for the others the few buckets with a greater bound are searched, the first one first.

Why nothing is missed. Let the earliest hole for a job begin at x in bucket B, and be as long as the job.
The maximal hole around it, for the least size of the job's class, is at least as long counted from B's
beginning, or from its own if that is later. So B's bound is no less than the job's length, and B is
searched; buckets before it have no hole for the job. The bounds stay right: where processors are taken,
holes become shorter; time that passes cuts holes off at now, and the bucket of now counts from now; where
processors come free, every hole that reaches into that time is noted anew in all its buckets, if it is long
enough for some job of the class that is reserved later, for no others could use it (:func:`note_holes`); a
job that comes afterwards gets the earliest start that there is. Where a search finds nothing, the bound of
the bucket is measured anew (:func:`measure_bucket`). What a job that slides moves into need not be as long
as the job, and is not looked for in the table: it ends at r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headway.engine.holes import free_until, hole_from
from headway.engine.profile import (
    ADDED,
    BLOCK_ROWS,
    BLOCKS_USED,
    COUNTS,
    FIRST,
    LEAST,
    LEVEL,
    STEP_ROWS,
    TIME,
    USED,
    base_of,
    find,
    locate,
    step_of,
)
from headway.engine.queue import draw_together
from headway.engine.reservations import bring_forward, length_of_hole
from headway.engine.tables import GONE, State, Table
from headway.jit.kernels import by_address, kernel, routine
from headway.jit.rows import Entries, zeros
from headway.units import NEVER

MOST_CLASSES = 128
FAR = 64
"""So many steps a hole is followed behind the time that came free; then it counts as endless."""
SLICES, SLICES_IN_BITS = 64, 6
"""Slices of a bucket."""
SWEEPS_A_COUNT = 32
"""After so many sweeps the sizes of jobs with late reservations are counted anew."""
MOST_BUCKETS, FEWEST_BUCKETS, WAITING_PER_BUCKET = 8192, 64, 8


class Notes(Entries):
    """A number that changes while the table of holes is in use."""

    in_use: int  # Whether it is.
    buckets: int  # Buckets in use; 0 until the table was first laid.
    origin: int  # When the first bucket begins.
    width: int  # How wide a bucket is: 2 to this power, in µs.
    now_at: int  # The bucket of now.
    sweeps: int  # Sweeps since the table was laid.


@by_address
class Holes(NamedTuple):
    """The table of holes."""

    notes: Notes
    sizes: Table
    """[class] the least size; NEVER behind the last class."""
    since: Table
    """[class] where the hole begins that is being followed."""
    bounds: Table
    """[class, bucket] no hole that reaches into the bucket is longer."""
    greatest: Table
    """[class, bucket] the greatest bound up to the bucket."""
    shortest: Table
    """[class, bucket] the shortest length of the jobs reserved in the bucket or later."""
    lowest: Table
    """[bucket] the lowest class of the jobs reserved in the bucket or later."""
    freed_in: Table
    """[slice] the last sweep in which processors came free there."""


def table_of_holes(jobs: int, procs: int) -> Holes:
    """An empty table for a log of so many jobs on a machine of ``procs`` processors.

    The least sizes of the classes are 1, 2, 3, 4, 6, 8, 12, 16 and so on.
    """
    buckets = FEWEST_BUCKETS
    while buckets < MOST_BUCKETS and buckets * WAITING_PER_BUCKET < jobs:
        buckets *= 2
    least = [1, *(size << i for i in range(procs.bit_length()) for size in (2, 3))]
    least = [size for size in least if size <= procs]
    sizes = np.full(MOST_CLASSES, NEVER)
    sizes[: len(least)] = least
    shapes = (len(least), *[(len(least), buckets)] * 3, buckets, SLICES * buckets)
    return Holes(zeros(Notes), sizes, *(np.zeros(shape, np.int64) for shape in shapes))


@kernel
def class_of(state: State, procs: int) -> int:
    """The class of a size; -1 for no processors."""
    c, step = -1, MOST_CLASSES >> 1
    while step > 0:
        c += step * (state.memory.sizes[c + step] <= procs)
        step >>= 1
    return c


@kernel
def bucket_of(state: State, x: int) -> int:
    """The bucket of a time."""
    b = (x - state.memory.notes.origin) >> state.memory.notes.width
    return int(min(max(b, state.memory.notes.now_at), state.memory.notes.buckets - 1))


@kernel
def beginning_of(state: State, bucket: int) -> int:
    """When a bucket begins."""
    return int(state.memory.notes.origin + (bucket << state.memory.notes.width))


@kernel
def slice_of(state: State, x: int) -> int:
    """The slice of a time."""
    notes = state.memory.notes
    after, width = max(x - notes.origin, 0), notes.width - SLICES_IN_BITS
    last = SLICES * notes.buckets - 1
    if after >> notes.width >= notes.buckets:
        return int(last)
    return int(min(after >> width if width >= 0 else after << -width, last))


@kernel
def note_room_in(state: State, begin: int, end: int) -> None:
    """Processors came free on [begin, end) in this sweep."""
    for place in range(slice_of(state, begin), slice_of(state, end - 1) + 1):
        state.memory.freed_in[place] = state.memory.notes.sweeps


@kernel
def may_slide(state: State, reserved: int) -> bool:
    """Whether processors may have come free just before a reserved start since that was last looked at."""
    return bool(state.memory.freed_in[slice_of(state, reserved - 1)] >= state.memory.notes.sweeps - 1)


@kernel
def note_reservation(state: State, job: int) -> None:
    """Note the class and length of a job for the buckets up to its reserved start."""
    last, plan = bucket_of(state, state.jobs.reserved[job]), state.jobs.plan[job]
    c = class_of(state, state.jobs.procs[job])
    lowest, shortest, bucket = state.memory.lowest, state.memory.shortest, last
    while bucket >= 0 and lowest[bucket] > c:
        lowest[bucket] = c
        bucket -= 1
    bucket = last
    while bucket >= 0 and shortest[c, bucket] > plan:
        shortest[c, bucket] = plan
        bucket -= 1


@routine
def note_reservations(state: State, k: int) -> None:
    """Note all reservations anew: jobs have left and moved forward, so what was noted before is too low."""
    lowest, shortest = state.memory.lowest, state.memory.shortest
    buckets = state.memory.notes.buckets
    for bucket in range(buckets):
        lowest[bucket] = MOST_CLASSES
    for c in range(shortest.shape[0]):
        for bucket in range(buckets):
            shortest[c, bucket] = NEVER
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        if state.queue.procs[2 * k, place] != GONE:
            note_reservation(state, state.queue.job[2 * k, place])


@routine
def note_hole(state: State, c: int, end: int, freed: int) -> None:
    """The hole of class ``c`` that is being followed ends at ``end``: raise the bounds of its buckets.

    Not if it is too short for all jobs of the class that are reserved in bucket ``freed`` or later.
    """
    begin, bounds, greatest = state.memory.since[c], state.memory.bounds, state.memory.greatest
    if end - begin < state.memory.shortest[c, freed]:
        return
    first, last = bucket_of(state, begin), bucket_of(state, end - 1)
    for b in range(first, last + 1):
        bounds[c, b] = max(bounds[c, b], end - max(begin, beginning_of(state, b)))
    b = first
    while b < state.memory.notes.buckets and greatest[c, b] < end - begin:
        greatest[c, b] = end - begin
        b += 1


@routine
def gather_greatest(state: State, c: int, bucket: int) -> None:
    """Bring the greatest bounds of a class from ``bucket`` on in line with the bounds."""
    notes, greatest, most = state.memory.notes, state.memory.greatest, 0
    if bucket > notes.now_at:
        most = greatest[c, bucket - 1]
    for b in range(bucket, notes.buckets):
        most = max(most, state.memory.bounds[c, b])
        if b > bucket and greatest[c, b] == most:
            break
        greatest[c, b] = most


@routine
def follow_back(t: int, state: State, k: int, b: int, place: int, c: int, lowest: int) -> None:
    """Note for classes from ``c`` down since when the hole lasts that holds the step at ``place``."""
    profile = state.profile
    begin = max(t, profile.steps[STEP_ROWS * k + TIME, place])
    while c >= lowest:
        if begin <= t:
            for lower in range(lowest, c + 1):
                state.memory.since[lower] = t
            return
        place -= 1
        if place < base_of(profile, k, b):
            b -= 1
            while (
                b > 0
                and profile.blocks[BLOCK_ROWS * k + FIRST, b] > t
                and profile.blocks[BLOCK_ROWS * k + LEAST, b] >= state.memory.sizes[c]
            ):
                b -= 1
            begin = profile.blocks[BLOCK_ROWS * k + FIRST, b + 1]
            place = base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b] - 1
        level = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
        while c >= lowest and level < state.memory.sizes[c]:
            state.memory.since[c] = begin
            c -= 1
        begin = max(t, profile.steps[STEP_ROWS * k + TIME, place])


@kernel
def least_level(state: State, k: int, b: int, place: int, end: int) -> int:
    """The least level from the step at ``place`` of block ``b`` on, up to ``end``."""
    profile, least = state.profile, NEVER
    while True:
        level = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
        least = min(least, level)
        place += 1
        if place >= base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b]:
            b += 1
            place = base_of(profile, k, b)
            if b >= profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]:
                break
        if profile.steps[STEP_ROWS * k + TIME, place] >= end:
            break
    return int(least)


@routine
def note_holes(t: int, state: State, k: int, begin: int, end: int, procs: int) -> None:
    """Note every hole that reaches into [begin, end), for the classes of jobs reserved after ``begin``.

    If ``procs`` came free there, holes for no more processors than were free before are noted already.
    """
    profile = state.profile
    freed = bucket_of(state, begin)
    lowest = state.memory.lowest[freed]
    b = locate(profile, k, begin)
    place = find(profile, k, b, begin)
    if procs < NEVER:
        lowest = max(lowest, class_of(state, least_level(state, k, b, place, end) - procs) + 1)
    c = class_of(
        state, profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
    )
    follow_back(t, state, k, b, place, c, lowest)
    count, beyond = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED], 0
    while c >= lowest or beyond == 0:
        place += 1
        if place >= base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b]:
            b += 1
            place = base_of(profile, k, b)
        if b == count or beyond > FAR:
            for lower in range(lowest, c + 1):
                note_hole(state, lower, NEVER, freed)
            return
        now = profile.steps[STEP_ROWS * k + TIME, place]
        level = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
        beyond += now >= end
        while c >= 0 and level < state.memory.sizes[c]:
            if c >= lowest:
                note_hole(state, c, now, freed)
            c -= 1
        while beyond == 0 and level >= state.memory.sizes[c + 1]:
            c += 1
            state.memory.since[c] = now


@routine
def measure_bucket(t: int, state: State, k: int, c: int, bucket: int) -> None:
    """Measure the longest hole of class ``c`` that reaches into a bucket, and set its bound to that."""
    profile, procs = state.profile, state.memory.sizes[c]
    begin, end = max(t, beginning_of(state, bucket)), beginning_of(state, bucket + 1)
    b = locate(profile, k, begin)
    place = find(profile, k, b, begin)
    count = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    since, longest, beyond, now = NEVER, 0, 0, begin
    while True:
        level = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
        if level < procs:
            longest = max(longest, now - since)
            since = NEVER
        elif since == NEVER and now < end:
            since = now
        beyond += now >= end
        place += 1
        if place >= base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b]:
            b += 1
            place = base_of(profile, k, b)
        if since == NEVER and beyond > 0:
            break
        if b == count or beyond > FAR:
            longest = NEVER if since < NEVER else longest
            break
        now = profile.steps[STEP_ROWS * k + TIME, place]
    state.memory.bounds[c, bucket] = longest
    gather_greatest(state, c, bucket)


@routine
def jump(t: int, state: State, k: int, job: int, length: int, c: int) -> int:
    """The earliest hole of ``length`` for a job of class ``c`` before its reserved start; else that start."""
    reserved, procs = state.jobs.reserved[job], state.jobs.procs[job]
    last = bucket_of(state, reserved - 1)
    bounds, greatest = state.memory.bounds, state.memory.greatest
    bucket, high = state.memory.notes.now_at, last
    while bucket < high:  # the first whose greatest bound is long enough has that bound itself
        middle = (bucket + high) >> 1
        if greatest[c, middle] >= length:
            high = middle
        else:
            bucket = middle + 1
    while bucket <= last:
        if bounds[c, bucket] >= length:
            begin = max(t, beginning_of(state, bucket))
            until = min(reserved, beginning_of(state, bucket + 1))
            place = step_of(state.profile, k, begin)
            found = hole_from(state.profile, k, place, begin, until, procs, length, reserved)[0]
            if found < reserved or bucket == last:
                return int(found)
            measure_bucket(t, state, k, c, bucket)
            if greatest[c, last] < length:
                break
        bucket += 1
    return int(reserved)


@kernel
def last_step(state: State, k: int) -> int:
    """When the last step of the plan begins."""
    profile = state.profile
    b = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] - 1
    place = base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b] - 1
    return int(profile.steps[STEP_ROWS * k + TIME, place])


@kernel
def is_current(t: int, state: State, k: int) -> bool:
    """Whether the buckets reach from now to the end of the plan, and are not too wide for what is left."""
    notes = state.memory.notes
    origin, width, buckets = notes.origin, notes.width, notes.buckets
    return bool(
        (t - origin) >> width <= buckets >> 1 and (last_step(state, k) - origin) >> width < buckets - 1
    )


@routine
def lay_buckets(t: int, state: State, k: int) -> None:
    """Lay the buckets anew from now on, and note every hole."""
    notes, bounds, greatest = state.memory.notes, state.memory.bounds, state.memory.greatest
    buckets, waiting = FEWEST_BUCKETS, state.pools.count[2 * k]
    while 2 * buckets <= bounds.shape[1] and buckets * WAITING_PER_BUCKET < waiting:
        buckets *= 2
    width, ahead = 0, last_step(state, k) - t
    while (ahead + (ahead >> 1)) >> width >= buckets - 1:
        width += 1
    notes.buckets, notes.origin, notes.width = buckets, t, width
    notes.now_at = notes.sweeps = 0
    for c in range(bounds.shape[0]):
        for bucket in range(buckets):
            bounds[c, bucket] = greatest[c, bucket] = 0
    for i in range(SLICES * buckets):
        state.memory.freed_in[i] = 0
    note_reservations(state, k)
    note_holes(t, state, k, t, NEVER, NEVER)


@kernel
def pass_time(t: int, state: State) -> None:
    """Leave out the buckets that are past."""
    now = bucket_of(state, t)
    if now > state.memory.notes.now_at:
        state.memory.notes.now_at = now
        for c in range(state.memory.bounds.shape[0]):
            gather_greatest(state, c, now)


@routine
def sweep_long_plan(t: int, state: State, k: int, more: int) -> bool:
    """Move each waiting job, in queue order and alone, to its earliest start; whether any moved.

    The same as :func:`~headway.policies.backfilling.conservative.sweep` where no reservation has length zero.
    A hole must be ``more`` µs longer than the job.
    """
    begin, end = max(state.pools.room_from[k], t), state.pools.room_to[k]
    state.pools.room_from[k], state.pools.room_to[k] = NEVER, 0
    pass_time(t, state)
    state.memory.notes.sweeps += 1
    if state.memory.notes.sweeps % SWEEPS_A_COUNT == 0:
        note_reservations(state, k)
    if begin < end:
        note_room_in(state, begin, end)
        note_holes(t, state, k, begin, end, NEVER)
    draw_together(state, 2 * k)
    moved = False
    q = 2 * k
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        procs = state.queue.procs[q, place]
        if procs == GONE:
            continue
        job = state.queue.job[q, place]
        reserved = state.jobs.reserved[job]
        if reserved <= t:
            continue
        earlier = reserved
        if may_slide(state, reserved):
            earlier = free_until(state.profile, k, t, reserved, procs)[0]
        length = length_of_hole(state, job, more)
        c = class_of(state, procs)
        if state.memory.greatest[c, bucket_of(state, reserved - 1)] >= length:
            earlier = min(earlier, jump(t, state, k, job, length, c))
        if earlier < reserved:
            bring_forward(state, k, job, earlier, step_of(state.profile, k, earlier))
            note_room_in(state, state.pools.room_from[k], state.pools.room_to[k])
            note_holes(t, state, k, state.pools.room_from[k], state.pools.room_to[k], procs)
            state.pools.room_from[k], state.pools.room_to[k] = NEVER, 0
            moved = True
    return moved
