"""Queue orders: who comes first.

An order is a key, smaller first, ties by submit then file. Keys that do not change with time are
turned into ranks before the run; keys that do (LXF, WFP3, UNICEF) are computed anew at each pass.
Ahead of every key stands a class: urgent jobs where asked for, then jobs older than the age limit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.queue import close_gaps, enter, find_job, leave
from headway.engine.tables import (
    GONE,
    JOB_ROWS,
    JobTable,
    Lists,
    Phase,
    State,
    Table,
)
from headway.jit.kernels import kernel, routine
from headway.units import SECOND

# Options that every queue policy has, at the front of its options; pool k's begin at k * STRIDE.
ORDER, BACKFILL_ORDER, AGE, OWN = range(4)
STRIDE = 8
# How a queue is ordered.
FIXED, LXF, WFP3, UNICEF, GIVEN, GIVEN_BACKFILL = range(6)
"""GIVEN keys are the user's: the bits of a float in the first job rows behind the engine's."""
AS_ORDER = -1
"""``BACKFILL_ORDER`` of a policy that has one queue for both."""
NO_AGE = -1
NO_RUN = -1
"""``jobs[Job.RUN]`` of a job that never started."""
SJF, LJF, SQF, LQF, SAF, LAF, F1, F2, F3, F4 = range(GIVEN_BACKFILL + 1, GIVEN_BACKFILL + 11)
"""Fixed orders sorted at each pass all the same, where jobs come in the course of the run."""

EFFORT = 4
"""A queue that is nearly in order is sorted by so many steps for each job at most."""
BURST = 32
"""More jobs than this that come at one instant are sorted before they join."""
NO_QUEUE = -1
"""Where jobs are sorted that stand in no queue yet."""
URGENT_CLASS, REGULAR_CLASS = 1, 3
"""Classes of jobs, smaller first; the even number before each is for jobs of that class that came of age."""
CLASS_WEIGHT = 1 << 40
"""Above every rank, so that one number sorts by class, then by rank."""

Columns = dict[str, npt.NDArray[np.int64]]


def lasting_key(kind: int, procs: Any, plan: Any, submit: Any) -> Any:
    """The key under an order that does not change with time: that of one job, or of whole columns.

    F1 to F4 take the logarithm of the submit time in seconds, which is at least 1 s so that it is defined.
    """
    if kind <= LJF:
        return plan if kind == SJF else -plan
    if kind <= LQF:
        return procs if kind == SQF else -procs
    if kind <= LAF:
        return procs * plan if kind == SAF else -(procs * plan)
    length, since = plan / SECOND, np.log10(np.maximum(submit / SECOND, 1.0))
    if kind == F1:
        return np.log10(np.maximum(length, 1.0)) * procs + 870 * since
    if kind == F2:
        return np.sqrt(length) * procs + 25_600 * since
    if kind == F3:
        return length * procs + 6_860_000 * since
    return length * np.sqrt(procs) + 530_000 * since


key_of_one = routine(lasting_key)
LASTING_KEYS = {"sjf": SJF, "ljf": LJF, "sqf": SQF, "lqf": LQF, "saf": SAF, "laf": LAF}
LASTING_KEYS |= {"f1": F1, "f2": F2, "f3": F3, "f4": F4}
MOVING_KEYS = {"lxf": LXF, "wfp3": WFP3, "unicef": UNICEF}


def kind_of(order: str) -> int:
    """FIXED, or the code of an order that changes with time."""
    return MOVING_KEYS.get(order, FIXED)


def sorted_kind_of(order: str) -> int:
    """How to sort an order at each pass: FIXED only where jobs stand in order of arrival."""
    return LASTING_KEYS.get(order, kind_of(order))


def ranks(order: str, columns: Columns) -> Table:
    """The rank of each job under a fixed order; equal keys share a rank (ties are broken by the queue)."""
    procs, plan, submit = columns["procs"], columns["plan"], columns["submit"]
    if len(submit) == 0:
        return np.zeros(0, np.int64)
    kind = LASTING_KEYS[order]
    if kind in (SAF, LAF) and int(procs.max()) * int(plan.max()) >= 1 << 63:
        plan = plan.astype(np.float64)  # else areas are exact
    keys = lasting_key(kind, procs, plan, submit)
    place = keys.argsort(kind="stable")
    ascending, rank = keys[place], np.zeros(len(keys), np.int64)
    rank[place[1:]] = (ascending[1:] != ascending[:-1]).cumsum()
    return rank


def set_order(
    state: State, row: int, order: str, columns: Columns, urgent: npt.NDArray[np.bool_] | None
) -> None:
    """Fill the class row and the key row ``row`` for an order."""
    jobs = state.jobs
    jobs.priority_class[:], jobs[row] = REGULAR_CLASS, REGULAR_CLASS * CLASS_WEIGHT
    if urgent is not None:
        jobs.priority_class[urgent], jobs[row, urgent] = URGENT_CLASS, URGENT_CLASS * CLASS_WEIGHT
    if order in LASTING_KEYS:
        jobs[row] += ranks(order, columns)


@kernel
def present_key(state: State, kind: int, t: int, job: int) -> float:
    """The key of a waiting job at time ``t`` under an order that changes with time."""
    if kind >= SJF:
        plan = float(state.jobs.plan[job])
        return key_of_one(kind, state.jobs.procs[job], plan, state.jobs.submit[job])
    if kind >= GIVEN:
        return float(np.int64(state.jobs[JOB_ROWS + kind - GIVEN, job]).view(np.float64))
    waited = float(t - state.jobs.submit[job])
    wall = float(max(state.jobs.plan[job], SECOND))
    if kind == LXF:
        return -((waited + wall) / wall)
    if kind == WFP3:
        ratio = waited / wall
        return -(ratio * ratio * ratio * state.jobs.procs[job])
    return -(waited / (wall * max(math.log2(state.jobs.procs[job]), 1.0)))


@kernel
def aged(state: State, job: int) -> bool:
    """Whether a job has come of age, so that its key counts no more."""
    return bool(state.jobs.priority_class[job] % 2 == 0)


@kernel
def ahead(state: State, q: int, row: int, a: int, b: int) -> bool:
    """Whether the entry with number ``a`` in the old order goes before ``b``: class, key, job.

    Newcomers have their own numbers, and are in order of arrival but for the keys in row ``row``.
    """
    if q == NO_QUEUE:
        return bool(state.jobs[row, a] < state.jobs[row, b])
    first, second = state.queue.job[q, a], state.queue.job[q, b]
    if state.jobs.priority_class[first] != state.jobs.priority_class[second]:
        return bool(state.jobs.priority_class[first] < state.jobs.priority_class[second])
    if state.keys[a] != state.keys[b] and not aged(state, first):
        return bool(state.keys[a] < state.keys[b])
    if state.jobs.submit[first] != state.jobs.submit[second]:
        return bool(state.jobs.submit[first] < state.jobs.submit[second])
    return bool(first < second)


@kernel
def put(state: State, q: int, row: int, place: int, job: int) -> None:
    """Write a job to a place of a queue, with the place as its key."""
    state.queue.job[q, place] = job
    state.queue.key[q, place] = place
    state.queue.procs[q, place] = state.jobs.procs[job]
    state.queue.plan[q, place] = state.jobs.plan[job]
    state.jobs[row, job] = place


@routine
def merge_sort(state: State, q: int, row: int, count: int) -> int:
    """Sort the numbers in ``SCRATCH``, from the bottom up; in which of the two lists they are then."""
    source, target = Lists["scratch"], Lists["spare_scratch"]
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            i, j = low, middle
            for out in range(low, high):
                if i < middle and (
                    j >= high or not ahead(state, q, row, state.lists[source, j], state.lists[source, i])
                ):
                    state.lists[target, out] = state.lists[source, i]
                    i += 1
                else:
                    state.lists[target, out] = state.lists[source, j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


@kernel
def sort_by_insertion(state: State, q: int, row: int, count: int) -> bool:
    """Sort the numbers in ``SCRATCH`` where few of them have far to go; False where that takes too long, and
    they are as yet in some order."""
    steps = EFFORT * count
    for i in range(1, count):
        moving, place = state.lists.scratch[i], i
        while place > 0 and steps > 0 and ahead(state, q, row, moving, state.lists.scratch[place - 1]):
            state.lists.scratch[place] = state.lists.scratch[place - 1]
            place -= 1
            steps -= 1
        state.lists.scratch[place] = moving
        if steps == 0:
            return False
    return True


@routine
def reorder(state: State, q: int, row: int, kind: int, t: int) -> None:
    """Sort queue ``q`` by the keys of time ``t``."""
    close_gaps(state, q)
    state.pools.resorted[q] = 1
    count = state.pools.tail[q]
    for place in range(count):
        state.keys[place] = present_key(state, kind, t, state.queue.job[q, place])
        state.lists.scratch[place] = place
    source: int = Lists["scratch"]
    if not sort_by_insertion(state, q, row, count):
        source = merge_sort(state, q, row, count)
    target = Lists["scratch"] + Lists["spare_scratch"] - source
    for place in range(count):  # `target` is free now: it carries the sorted jobs over
        state.lists[target, place] = state.queue.job[q, state.lists[source, place]]
    for place in range(count):
        put(state, q, row, place, state.lists[target, place])


@kernel
def option(state: State, k: int, name: int) -> int:
    """An option of the policy of pool ``k``."""
    return int(state.options[k * STRIDE + name])


@kernel
def has_backfill_queue(state: State, k: int) -> bool:
    """Whether pool ``k`` keeps a second queue, in backfill order."""
    return option(state, k, BACKFILL_ORDER) != AS_ORDER


@kernel
def join(state: State, k: int, job: int) -> None:
    """Let a job join the queue of pool ``k``, and its backfill queue where there is one."""
    enter(state, 2 * k, job, state.jobs.key[job])
    if has_backfill_queue(state, k):
        enter(state, 2 * k + 1, job, state.jobs.backfill_key[job])
    state.pools.newcomers[k] += 1


@kernel
def stand_in_order(state: State, first: int, last: int) -> bool:
    """Whether the jobs from ``first`` to before ``last`` come in the order of their keys."""
    job = first + 1
    while job < last and state.jobs.key[job - 1] <= state.jobs.key[job]:
        job += 1
    return job >= last


@kernel
def join_newcomers(state: State, k: int) -> None:
    """Let the jobs of this instant join pool ``k``."""
    first, last = state.clock.first_new, state.clock.last_new
    if last - first > BURST and not stand_in_order(state, first, last):
        join_sorted(state, k, first, last - first)
    else:
        for job in range(first, last):
            join(state, k, job)


@routine
def join_sorted(state: State, k: int, first: int, count: int) -> None:
    """Let jobs join in the order of their keys: who joins behind the one before moves no others."""
    for i in range(count):
        state.lists.scratch[i] = first + i
    source = merge_sort(state, NO_QUEUE, JobTable["key"], count)
    for i in range(count):
        join(state, k, state.lists[source, i])


@kernel
def withdraw(state: State, k: int, q: int, place: int) -> int:
    """Take the job at a place of one of pool ``k``'s queues out of both; the job."""
    job = leave(state, q, place)
    if has_backfill_queue(state, k):
        if q == 2 * k:
            leave(state, 2 * k + 1, find_job(state, 2 * k + 1, JobTable["backfill_key"], job))
        else:
            leave(state, 2 * k, find_job(state, 2 * k, JobTable["key"], job))
    return job


@kernel
def sort_queues(t: int, state: State, k: int) -> None:
    """Let jobs that came of age go first; then sort what changes with time."""
    if option(state, k, AGE) != NO_AGE:
        if k == 0:
            come_of_age(t, state, k)
        else:
            come_of_age_in_line(t, state, k)
    if option(state, k, ORDER) != FIXED:
        reorder(state, 2 * k, JobTable["key"], option(state, k, ORDER), t)
    if has_backfill_queue(state, k) and option(state, k, BACKFILL_ORDER) != FIXED:
        reorder(state, 2 * k + 1, JobTable["backfill_key"], option(state, k, BACKFILL_ORDER), t)


@kernel
def grow_old(state: State, q: int, row: int, job: int) -> None:
    """Move a job to the aged ones of its class, who stand in order of arrival."""
    leave(state, q, find_job(state, q, row, job))
    state.jobs[row, job] = state.jobs.priority_class[job] * CLASS_WEIGHT
    enter(state, q, job, state.jobs[row, job])


@routine
def come_of_age(t: int, state: State, k: int) -> None:
    """Jobs that have waited longer than the age limit go before the others, oldest first."""
    job = state.clock.aged
    while job < state.clock.last_new and (
        state.jobs.run[job] != NO_RUN or t - state.jobs.submit[job] > option(state, k, AGE)
    ):
        waits = state.jobs.phase[job] == Phase.WAITING and state.jobs.run[job] == NO_RUN
        if waits and not aged(state, job):
            state.jobs.priority_class[job] -= 1
            grow_old(state, 2 * k, JobTable["key"], job)
            if has_backfill_queue(state, k):
                grow_old(state, 2 * k + 1, JobTable["backfill_key"], job)
        job += 1
    state.clock.aged = job


@routine
def come_of_age_in_line(t: int, state: State, k: int) -> None:
    """The same in a queue that is sorted at each pass and whose jobs do not stand in order of submission."""
    for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
        job = state.queue.job[2 * k, place]
        waits = state.queue.procs[2 * k, place] != GONE
        if waits and not aged(state, job) and t - state.jobs.submit[job] > option(state, k, AGE):
            state.jobs.priority_class[job] -= 1
