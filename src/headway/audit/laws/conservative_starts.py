"""Under conservative backfilling each job starts when its reservation, made again from the log, falls due.

On arrival a job reserves the earliest start beside what runs and all reservations. When jobs end before their
requested time, waiting jobs move forward one by one, in the order of arrival, as `compress` says. The ends
are taken as they are; the starts are made again, and the first that differs is told.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from headway.arrays import Ints
from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import NEVER, seconds_text

NAME = "conservative starts"
COMPILE_FROM = 2000
"""Jobs from which compiling (or loading) the loop costs less than running it interpreted."""
MOST_STEPS, MOST_STEPS_INTERPRETED = 1_000_000_000, 20_000_000
"""Steps of the profile that may be passed, beyond which a schedule is not followed: that may take hours."""
MODES = ("early", "every", "fixpoint", "scratch", "none")
EARLY, EVERY, FIXPOINT, SCRATCH, NONE = range(len(MODES))
NOTHING, TOO_LONG = -1, -2


class Jobs(NamedTuple):
    """What is known of the jobs, by row."""

    submit: Ints
    start: Ints
    end: Ints
    plan: Ints
    """How long each is planned for."""
    procs: Ints
    reserved: Ints
    """Its start by the reservation it has."""


class Order(NamedTuple):
    """Rows as they arrive and end; room for those that wait, in order of arrival, and that end now."""

    arrivals: Ints
    ends: Ints
    instants: Ints
    waiting: Ints
    ending: Ints


class Profile(NamedTuple):
    """Free processors as steps: from when on, and how many."""

    times: Ints
    free: Ints


def check(record: Record, compress: str, hole: str) -> Finding | None:
    """The check for jobs that are all alike and planned with their requests."""
    length = record.end - record.start
    is_whole = not (record.missing or record.foreign or record.repeated) and record.follows is None
    is_sound = (length >= 0) & (length <= record.walltime) & (record.start >= record.submit)
    if not is_whole or not (is_sound & (record.procs <= record.capacity)).all():
        return None  # other invariants say so, or the order of the queue is not known
    row, reserved = first_difference(record, compress, hole)
    if row == TOO_LONG:
        return None
    if row == NOTHING:
        return Finding()

    def tell(_: int) -> str:
        start, due = seconds_text(record.start[row]), seconds_text(reserved)
        return f"starts at {start}, its reservation is for {due}"

    return of_jobs(record, [0], tell, [min(int(record.start[row]), reserved)], [row])


def first_difference(record: Record, compress: str, hole: str) -> tuple[int, int]:
    """The first job that does not start as reserved and its reservation (µs), or why there is none."""
    count = len(record)
    given = (record.submit, record.start, record.end, record.walltime, record.procs, np.full(count, NEVER))
    jobs = Jobs(*(np.ascontiguousarray(column, np.int64) for column in given))
    order = Order(
        np.lexsort((record.standing, record.submit)),
        np.argsort(record.end, kind="stable"),
        np.unique(np.concatenate([record.submit, record.start, record.end])),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
    )
    profile = Profile(np.zeros(2 * count + 4, np.int64), np.zeros(2 * count + 4, np.int64))
    replay = _follow if count < COMPILE_FROM else _compiled()
    most = MOST_STEPS_INTERPRETED if replay is _follow else MOST_STEPS
    mode, more = MODES.index(compress), int(hole == "open")
    row, reserved = replay(jobs, order, profile, record.capacity, mode, more, most)
    return int(row), int(reserved)


@cache
def _compiled() -> Callable[..., Any]:
    from headway.jit.kernels import INTERPRETED, calling, entry, routine

    if INTERPRETED:
        return _follow
    earliest = routine(_earliest)
    beside = routine(calling(_earliest_beside, _earliest=earliest))
    parts = {"_change": routine(_change), "_earliest": earliest, "_earliest_beside": beside}
    return entry(calling(_follow, **parts, _move_forward=routine(calling(_move_forward, **parts))))


def _change(profile: Profile, size: int, begin: int, end: int, procs: int) -> int:
    """Free processors on [begin, end); how many steps there are then."""
    times, free = profile
    if begin == end:
        return size
    place = size
    for edge in (end, begin):
        while times[place - 1] > edge:
            place -= 1
        if times[place - 1] != edge:
            for k in range(size, place, -1):
                times[k], free[k] = times[k - 1], free[k - 1]
            times[place], free[place] = edge, free[place - 1]
            size += 1
            place += 1
    first = place - 1
    last = first
    while times[last] < end:
        free[last] += procs
        last += 1
    for edge in (last, first):
        if edge > 0 and free[edge] == free[edge - 1]:  # no step any more
            size -= 1
            for k in range(edge, size):
                times[k], free[k] = times[k + 1], free[k + 1]
    return size


def _earliest(profile: Profile, size: int, t: int, procs: int, length: int, limit: int) -> int:
    """The earliest start from t on in a hole of a length; steps from `limit` on are taken to have room."""
    times, free = profile
    place, begin = 0, t
    while place + 1 < size and times[place + 1] <= t:
        place += 1
    while place < size and times[place] < limit:
        if free[place] < procs:
            place += 1
            begin = times[place]  # there is one: behind the last step all is free
        elif place + 1 < size and times[place + 1] < begin + max(length, 1):
            place += 1
        else:
            break
    return begin


def _earliest_beside(
    profile: Profile, size: int, jobs: Jobs, waiting: Ints, count: int, t: int, job: int, more: int
) -> int:
    """The earliest start of a job without a reservation: who is reserved for no length keeps its instant."""
    times, free = profile
    procs, plan = jobs.procs[job], jobs.plan[job]
    length = plan + more if plan > 0 else plan
    while True:
        begin, after = _earliest(profile, size, t, procs, length, NEVER), NEVER
        for k in range(count):
            other = waiting[k]
            at = jobs.reserved[other]
            if other != job and jobs.plan[other] == 0 and begin < at < min(begin + plan, after):
                place = size - 1
                while times[place] > at:
                    place -= 1
                if free[place] - jobs.procs[other] < procs:
                    after = at
        if after == NEVER:
            return begin
        t = after


def _move_forward(
    profile: Profile,
    size: int,
    jobs: Jobs,
    waiting: Ints,
    count: int,
    points: int,
    t: int,
    mode: int,
    more: int,
    most: int,
) -> tuple[int, int]:
    """Move the reservations of who waits forward; how many steps there are then, and how many were passed.

    ``points`` of those who wait are planned for no length. After more than ``most`` steps the rest stays.
    """
    plan, procs, reserved = jobs.plan, jobs.procs, jobs.reserved
    passed = 0
    if mode == SCRATCH:
        for k in range(count):
            job = waiting[k]
            size = _change(profile, size, reserved[job], reserved[job] + plan[job], procs[job])
            reserved[job] = NEVER
    sweeps = True
    while sweeps and passed <= most:
        sweeps = False
        for k in range(count):
            job = waiting[k]
            old, length = reserved[job], plan[job] + (more if plan[job] > 0 else 0)
            passed += size
            if old == t or (
                points == 0 and old != NEVER and _earliest(profile, size, t, procs[job], length, old) >= old
            ):
                continue  # its own reservation has the room from there on
            if old != NEVER:
                size = _change(profile, size, old, old + plan[job], procs[job])
            begin = _earliest_beside(profile, size, jobs, waiting, count, t, job, more)
            sweeps = sweeps or (mode == FIXPOINT and begin < old)
            reserved[job] = min(begin, old)
            size = _change(profile, size, reserved[job], reserved[job] + plan[job], -procs[job])
    return size, passed


def _follow(
    jobs: Jobs, order: Order, profile: Profile, capacity: int, mode: int, more: int, most: int
) -> tuple[int, int]:
    """Follow the schedule until a job starts before or after its reservation: the job and that."""
    submit, start, end, plan, procs, reserved = jobs
    arrivals, ends, instants, waiting, ending = order
    times, free = profile
    times[0], free[0], size = -NEVER, capacity, 1
    count = points = 0  # who waits, and those of no length among them
    arrived = ended = passed = 0
    idle = capacity
    for now in range(len(instants)):
        t = instants[now]
        for k in range(count):
            if reserved[waiting[k]] < t:
                return waiting[k], reserved[waiting[k]]
        over = 0
        while over + 1 < size and times[over + 1] <= t:
            over += 1
        if over > 0:
            for k in range(over, size):
                times[k - over], free[k - over] = times[k], free[k]
            size -= over
        turn = fresh = 0
        while turn == 0 or fresh > 0:  # turns, while jobs end where they start
            some = early = False
            while turn == 0 and ended < len(ends) and end[ends[ended]] == t:
                if start[ends[ended]] < t:
                    ending[fresh] = ends[ended]
                    fresh += 1
                ended += 1
            for k in range(fresh):
                job = ending[k]
                idle += procs[job]
                size = _change(profile, size, t, start[job] + plan[job], procs[job])
                some, early = True, early or t < start[job] + plan[job]
            fresh = 0
            moved = mode != NONE and (early or (mode == EVERY and some))
            if moved:
                size, steps = _move_forward(
                    profile, size, jobs, waiting, count, points, t, mode, more, most - passed
                )
                passed += steps
                if passed > most:
                    return TOO_LONG, NEVER
            while turn == 0 and arrived < len(arrivals) and submit[arrivals[arrived]] == t:
                job = arrivals[arrived]
                arrived += 1
                passed += size
                reserved[job] = _earliest_beside(profile, size, jobs, waiting, count, t, job, more)
                size = _change(profile, size, reserved[job], reserved[job] + plan[job], -procs[job])
                waiting[count] = job
                count += 1
                points += plan[job] == 0
            blocked = False
            for instantly in (True, False):  # those of no length first, up to one whose processors are held
                for k in range(count):
                    job = waiting[k]
                    if blocked or reserved[job] != t or (plan[job] == 0) != instantly:
                        continue
                    if procs[job] > idle:
                        blocked = True
                        continue
                    if start[job] != t:
                        return job, t
                    idle -= procs[job]
                    reserved[job] = NEVER
                    if end[job] == t:
                        ending[fresh] = job
                        fresh += 1
            left = 0
            for k in range(count):
                job = waiting[k]
                if reserved[job] != NEVER:
                    waiting[left] = job
                    left += 1
                else:
                    points -= plan[job] == 0
            count = left
            turn += 1
        for k in range(count):
            if start[waiting[k]] <= t:
                return waiting[k], reserved[waiting[k]]
    return NOTHING, NEVER
