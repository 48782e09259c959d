"""The head of a first-come-first-served queue, replayed from a finished schedule.

While job h is the head, each completion lets the scheduler look again. With R the jobs that run then
(those backfilled in the same pass left out) and q their processors, the head's shadow time lies before its
real start exactly if

    m - (sum of q over the jobs of R expected to end at or after start_h)  >=  q_h

because all others would have left by then. So a head that starts late is found without computing the shadow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record

Column = NDArray[np.int64]

COMPILE_FROM = 3000
"""Jobs from which compiling (or loading) the loop costs less than running it interpreted."""


def late_heads_of(record: Record, expected_end: Column) -> tuple[Column, Column]:
    """The same of a record, less those of whom it cannot be told behind whom they stood."""
    heads, instants = late_heads(
        record.start, record.end, expected_end, record.submit, record.standing, record.procs, record.capacity
    )
    known = ~record.in_a_further_turn[heads]
    return heads[known], instants[known]


class Jobs(NamedTuple):
    """What the replay knows of jobs."""

    start: Column
    end: Column
    expected_end: Column
    procs: Column
    place: Column
    """In the queue."""


class Instants(NamedTuple):
    """What happens, in the order in which it does."""

    heads: Column
    """Jobs that waited at the head of the queue."""
    head_from: Column
    """and from when on each did."""
    by_start: Column
    by_end: Column
    turns: Column
    """Instants with zero-length jobs, at which several passes follow one another."""


class Bag(NamedTuple):
    """Room for the running jobs."""

    running: Column
    slot: Column
    """[job] where it is among them; -1: it does not run."""


def late_heads(
    start: Column,
    end: Column,
    expected_end: Column,
    submit: Column,
    row: Column,
    procs: Column,
    capacity: int,
) -> tuple[Column, Column]:
    """Jobs (positions) that were heads and started late, and the first instant that shows it."""
    jobs = len(start)
    queue = np.lexsort((row, submit))
    place = np.empty(jobs, np.int64)
    place[queue] = np.arange(jobs)
    started = np.maximum.accumulate(start[queue]) if jobs else start
    earlier = np.append(np.iinfo(np.int64).min, started[:-1])
    head_from = np.maximum(submit[queue], earlier)
    waited = head_from < start[queue]
    instants = Instants(
        queue[waited],
        head_from[waited],
        np.lexsort((end, start)),
        np.argsort(end, kind="stable"),
        np.unique(start[start == end]),
    )
    bag = Bag(np.empty(jobs, np.int64), np.full(jobs, -1, np.int64))
    late = np.full(jobs, -1, np.int64)
    replay: Callable[..., Any] = _replay if jobs < COMPILE_FROM else _compiled()
    replay(instants, Jobs(start, end, expected_end, procs, place), bag, capacity, late)
    found = np.flatnonzero(late >= 0)
    found = found[np.argsort(late[found], kind="stable")]
    return found, late[found]


@cache
def _compiled() -> Callable[..., Any]:
    from headway.jit.kernels import entry

    return entry(_replay)


def _replay(instants, jobs, bag, capacity, late):  # type: ignore[no-untyped-def]
    """Go through the heads in queue order; late[h] becomes the instant that shows h to be late.

    At an instant of `turns` the jobs backfilled then count as running, for which of them came in an earlier
    pass cannot be told.
    """
    heads, head_from, by_start, by_end, turns = instants
    start, end, expected_end, procs, place = jobs
    running, slot = bag
    count = 0  # of running jobs
    entered = 0  # in by_start
    left = 0  # in by_end
    turn = 0
    for number in range(len(heads)):
        head = heads[number]
        begin = start[head]
        t = head_from[number]
        needed = capacity - procs[head]  # the head is not late as long as others block more than this
        blocked = 0  # processors of running jobs expected to end at `begin` or later
        fresh = True
        while t < begin:
            while entered < len(by_start) and start[by_start[entered]] < t:
                job = by_start[entered]
                entered += 1
                if end[job] > start[job]:
                    running[count] = job
                    slot[job] = count
                    count += 1
                    if not fresh and expected_end[job] >= begin:
                        blocked += procs[job]
            while left < len(by_end) and end[by_end[left]] <= t:
                job = by_end[left]
                left += 1
                if slot[job] >= 0:
                    count -= 1
                    moved = running[count]
                    running[slot[job]] = moved
                    slot[moved] = slot[job]
                    slot[job] = -1
                    if not fresh and expected_end[job] >= begin:
                        blocked -= procs[job]
            if fresh:
                fresh = False
                for index in range(count):
                    if expected_end[running[index]] >= begin:
                        blocked += procs[running[index]]
            while turn < len(turns) and turns[turn] < t:
                turn += 1
            several = turn < len(turns) and turns[turn] == t
            now = blocked
            ahead = entered
            while ahead < len(by_start) and start[by_start[ahead]] == t:
                job = by_start[ahead]
                ahead += 1
                if end[job] > t and (several or place[job] < place[head]) and expected_end[job] >= begin:
                    now += procs[job]
            if now <= needed:
                late[head] = t
                break
            if left >= len(by_end):
                break
            t = end[by_end[left]]
