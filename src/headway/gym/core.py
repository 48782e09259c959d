"""Many episodes side by side in one compiled call: those of :mod:`headway.gym.learner`, step for step.

Hundreds of sessions are stepped in turn, and over the engine's tables that takes three times as long: a
session's numbers stand close together here. Tests hold both to the same observations, masks and rewards.

The order inside an instant is the engine's: ends, then arrivals, then decisions; jobs are killed at their
walltime. Times are µs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.heap import pop, push
from headway.gym.rewards import Sum, add_started, add_time, clear_sums, growth, reward_of
from headway.jit.kernels import by_address, entry, kernel, routine
from headway.policies.agent import features as see
from headway.policies.agent.choices import BACKFILLS, CHOOSE, WEIGHTS
from headway.units import NEVER, SECOND

Table = npt.NDArray[np.int64]


class Job(IntEnum):
    """Rows of the log; a job is as long as it runs, at most its walltime."""

    SUBMIT = 0
    PROCS = 1
    WALL = 2
    LENGTH = 3


class Clock(IntEnum):
    """What is known of a session."""

    NOW = 0
    FIRST = 1
    """The episode's first job, the next to arrive, and the end of the episode."""
    NEXT = 2
    LAST = 3
    FREE = 4
    """Free processors; waiting and running jobs."""
    WAITS = 5
    RUNS = 6
    HELD = 7
    """Whether the agent waits for an event."""
    SHADOW_AT = 8
    """The oldest job's shadow time, and what it leaves over."""
    EXTRA = 9
    DUE = 10
    """When weights are due."""


class Setting(IntEnum):
    """What all sessions are for."""

    MODE = 0
    REWARD = 1
    WINDOW = 2
    MACHINE = 3
    """Processors."""
    ORIGIN = 4
    """The unix time (s) at 0."""
    PERIOD = 5
    """Time (µs) between two choices of weights."""
    MAY_WAIT = 6
    """Whether the agent may wait."""


@by_address
class Sessions(NamedTuple):
    """The tables of all simulations, one row or two each."""

    jobs: Table
    """[row, job] of the log, in order of submission"""
    scale: npt.NDArray[np.float64]
    """[job] the request on the scale of features"""
    clock: Table
    """[session, field]"""
    queue: Table
    """[session, place] waiting jobs in order of arrival"""
    ends: Table
    """[2 session + (time | job), place] heaps of real ends"""
    expected: Table
    """[2 session + (time | processors), place] expected ends in order"""
    started: Table
    """[session, job of the episode] when it started, -1 before"""
    sums: npt.NDArray[np.float64]
    """[session, sum]"""
    settings: Table
    """[setting]"""


@kernel
def busy(s: Sessions, e: int) -> float:
    """The share of processors that are busy."""
    return 1.0 - s.clock[e, Clock.FREE] / s.settings[Setting.MACHINE]


@kernel
def restart(s: Sessions, e: int, first: int, count: int) -> None:
    """Begin an episode with the jobs [first, first + count)."""
    for field in range(s.clock.shape[1]):
        s.clock[e, field] = 0
    for field in range(s.sums.shape[1]):
        s.sums[e, field] = 0.0
    s.clock[e, Clock.FIRST] = s.clock[e, Clock.NEXT] = first
    s.clock[e, Clock.LAST] = first + count
    s.clock[e, Clock.NOW] = s.clock[e, Clock.DUE] = s.jobs[Job.SUBMIT, first]
    s.clock[e, Clock.FREE] = s.settings[Setting.MACHINE]
    for i in range(count):
        s.started[e, i] = -1
    s.sums[e, Sum.LAST_TIME] = s.clock[e, Clock.NOW] / SECOND


@kernel
def expect(s: Sessions, e: int, end: int, procs: int) -> None:
    """Put an expected end in its place."""
    i = s.clock[e, Clock.RUNS]
    while i > 0 and s.expected[2 * e, i - 1] > end:
        s.expected[2 * e, i] = s.expected[2 * e, i - 1]
        s.expected[2 * e + 1, i] = s.expected[2 * e + 1, i - 1]
        i -= 1
    s.expected[2 * e, i], s.expected[2 * e + 1, i] = end, procs


@kernel
def forget(s: Sessions, e: int, end: int, procs: int) -> None:
    """Take an expected end away."""
    i = 0
    while s.expected[2 * e, i] != end or s.expected[2 * e + 1, i] != procs:
        i += 1
    for k in range(i, s.clock[e, Clock.RUNS] - 1):
        s.expected[2 * e, k] = s.expected[2 * e, k + 1]
        s.expected[2 * e + 1, k] = s.expected[2 * e + 1, k + 1]


@kernel
def start(s: Sessions, e: int, place: int) -> None:
    """Start the waiting job at a place of the queue."""
    job = s.queue[e, place]
    for i in range(place, s.clock[e, Clock.WAITS] - 1):
        s.queue[e, i] = s.queue[e, i + 1]
    s.clock[e, Clock.WAITS] -= 1
    now, procs = s.clock[e, Clock.NOW], s.jobs[Job.PROCS, job]
    s.started[e, job - s.clock[e, Clock.FIRST]] = now
    s.clock[e, Clock.FREE] -= procs
    push(s.ends, 2 * e, s.clock[e, Clock.RUNS], now + s.jobs[Job.LENGTH, job], job)
    expect(s, e, now + s.jobs[Job.WALL, job], procs)
    s.clock[e, Clock.RUNS] += 1
    add_started(s.sums[e], now - s.jobs[Job.SUBMIT, job], s.jobs[Job.LENGTH, job])
    s.sums[e, Sum.RATE] -= growth(s.jobs[Job.WALL, job])


@kernel
def next_event(s: Sessions, e: int) -> int:
    """When a job ends or arrives next."""
    t = NEVER
    if s.clock[e, Clock.RUNS] > 0:
        t = s.ends[2 * e, 0]
    if s.clock[e, Clock.NEXT] < s.clock[e, Clock.LAST]:
        t = min(t, s.jobs[Job.SUBMIT, s.clock[e, Clock.NEXT]])
    return t


@kernel
def pass_time(s: Sessions, e: int, t: int) -> None:
    """Let time go on to ``t``."""
    add_time(s.sums[e], t - s.clock[e, Clock.NOW], s.clock[e, Clock.WAITS], busy(s, e))
    s.clock[e, Clock.NOW] = t


@routine
def open_instant(s: Sessions, e: int, t: int) -> None:
    """Let it be ``t``: ends, then arrivals."""
    pass_time(s, e, t)
    s.clock[e, Clock.HELD] = 0
    while s.clock[e, Clock.RUNS] > 0 and s.ends[2 * e, 0] == t:
        job = s.ends[2 * e + 1, 0]
        procs = s.jobs[Job.PROCS, job]
        pop(s.ends, 2 * e, s.clock[e, Clock.RUNS])
        begun = s.started[e, job - s.clock[e, Clock.FIRST]]
        forget(s, e, begun + s.jobs[Job.WALL, job], procs)
        s.clock[e, Clock.RUNS] -= 1
        s.clock[e, Clock.FREE] += procs
    while s.clock[e, Clock.NEXT] < s.clock[e, Clock.LAST] and s.jobs[Job.SUBMIT, s.clock[e, Clock.NEXT]] == t:
        job = s.clock[e, Clock.NEXT]
        s.queue[e, s.clock[e, Clock.WAITS]] = job
        s.clock[e, Clock.WAITS] += 1
        s.clock[e, Clock.NEXT] += 1
        s.sums[e, Sum.RATE] += growth(s.jobs[Job.WALL, job])


@kernel
def set_shadow(s: Sessions, e: int, procs: int) -> None:
    """When enough processors are free for a job, and what it leaves over then."""
    free, i = s.clock[e, Clock.FREE], 0
    s.clock[e, Clock.SHADOW_AT] = s.clock[e, Clock.NOW]
    while free < procs or (
        i < s.clock[e, Clock.RUNS] and s.expected[2 * e, i] == s.clock[e, Clock.SHADOW_AT] and i > 0
    ):
        free += s.expected[2 * e + 1, i]
        s.clock[e, Clock.SHADOW_AT] = s.expected[2 * e, i]
        i += 1
    s.clock[e, Clock.EXTRA] = free - procs


@kernel
def fits(s: Sessions, e: int, job: int) -> bool:
    return bool(s.jobs[Job.PROCS, job] <= s.clock[e, Clock.FREE])


@kernel
def passes(s: Sessions, e: int, job: int) -> bool:
    """Whether a job is over by the shadow time or leaves the head its processors."""
    over = s.clock[e, Clock.NOW] + s.jobs[Job.WALL, job] <= s.clock[e, Clock.SHADOW_AT]
    return bool(over or s.jobs[Job.PROCS, job] <= s.clock[e, Clock.EXTRA])


@kernel
def first_slot(s: Sessions) -> int:
    """The place in the queue of the first slot: behind the head where that has no choice."""
    return int(s.settings[Setting.MODE] == BACKFILLS)


@kernel
def is_valid(s: Sessions, e: int, slot: int) -> bool:
    """Whether the agent may start the job of a slot."""
    place = slot + first_slot(s)
    if slot >= s.settings[Setting.WINDOW] or place >= s.clock[e, Clock.WAITS]:
        return False
    job = s.queue[e, place]
    return fits(s, e, job) and (s.settings[Setting.MODE] == CHOOSE or passes(s, e, job))


@kernel
def any_valid(s: Sessions, e: int) -> bool:
    """Whether there is something to decide."""
    if s.clock[e, Clock.HELD]:
        return False
    found, slots = False, min(s.settings[Setting.WINDOW], s.clock[e, Clock.WAITS])
    for slot in range(slots):
        found = found or is_valid(s, e, slot)
    return found


@kernel
def prepare_pass(s: Sessions, e: int) -> None:
    """Heads start where they have no choice; the shadow time of the oldest job that waits."""
    if s.settings[Setting.MODE] == BACKFILLS:
        while s.clock[e, Clock.WAITS] > 0 and fits(s, e, s.queue[e, 0]):
            start(s, e, 0)
    if s.clock[e, Clock.WAITS] > 0:
        set_shadow(s, e, s.jobs[Job.PROCS, s.queue[e, 0]])


@kernel
def over(s: Sessions, e: int) -> bool:
    """Whether every job of the episode has started."""
    return bool(s.clock[e, Clock.WAITS] == 0 and s.clock[e, Clock.NEXT] == s.clock[e, Clock.LAST])


@routine
def to_decision(s: Sessions, e: int) -> None:
    """Let time go on until there is something to decide, or nothing more."""
    while not over(s, e):
        prepare_pass(s, e)
        if over(s, e) or any_valid(s, e):
            return
        open_instant(s, e, next_event(s, e))


@kernel
def priority(s: Sessions, e: int, job: int, weights: npt.NDArray[np.float64]) -> float:
    """A waiting job's priority: weights of its wait, size, request and area, each from 0 to 1."""
    waited = see.as_seen(see.on_scale(s.clock[e, Clock.NOW] - s.jobs[Job.SUBMIT, job]))
    size, request = (
        see.as_seen(s.jobs[Job.PROCS, job] / s.settings[Setting.MACHINE]),
        see.as_seen(s.scale[job]),
    )
    total = 0.0
    for part in range(see.WEIGHED):
        total += weights[e, part] * see.weighed(part, waited, size, request)
    return total


@routine
def pass_by_priority(s: Sessions, e: int, weights: npt.NDArray[np.float64]) -> None:
    """EASY in the order of priorities; who came first among equals."""
    head = -1
    while s.clock[e, Clock.WAITS] > 0:
        best, most = -1, 0.0
        for place in range(s.clock[e, Clock.WAITS]):
            job = s.queue[e, place]
            if job == head or (head >= 0 and not (fits(s, e, job) and passes(s, e, job))):
                continue
            value = priority(s, e, job, weights)
            if best < 0 or value > most:
                best, most = place, value
        if best < 0:
            return
        job = s.queue[e, best]
        if head < 0 and not fits(s, e, job):
            head = job
            set_shadow(s, e, s.jobs[Job.PROCS, head])
            continue
        if head >= 0 and s.clock[e, Clock.NOW] + s.jobs[Job.WALL, job] > s.clock[e, Clock.SHADOW_AT]:
            s.clock[e, Clock.EXTRA] -= s.jobs[Job.PROCS, job]
        start(s, e, best)


@routine
def to_next_period(s: Sessions, e: int, weights: npt.NDArray[np.float64]) -> None:
    """Let time go on with these weights until others are due, or nothing is left to start."""
    while s.clock[e, Clock.DUE] <= s.clock[e, Clock.NOW]:
        s.clock[e, Clock.DUE] += s.settings[Setting.PERIOD]
    pass_by_priority(s, e, weights)
    while not over(s, e):
        t = next_event(s, e)
        if s.clock[e, Clock.WAITS] > 0 and s.clock[e, Clock.DUE] < t:
            pass_time(s, e, s.clock[e, Clock.DUE])
        else:
            open_instant(s, e, t)
        if s.clock[e, Clock.NOW] >= s.clock[e, Clock.DUE] and s.clock[e, Clock.WAITS] > 0:
            return
        pass_by_priority(s, e, weights)


@kernel
def decide(s: Sessions, e: int, action: int) -> None:
    """Start the job of a slot, or wait for the next event."""
    if 0 <= action < s.settings[Setting.WINDOW] and is_valid(s, e, action):
        place = action + first_slot(s)
        job = s.queue[e, place]
        if (
            s.settings[Setting.MODE] == BACKFILLS
            and s.clock[e, Clock.NOW] + s.jobs[Job.WALL, job] > s.clock[e, Clock.SHADOW_AT]
        ):
            s.clock[e, Clock.EXTRA] -= s.jobs[Job.PROCS, job]
        start(s, e, place)
        if s.settings[Setting.MODE] == BACKFILLS and any_valid(s, e):
            return  # the same pass goes on, with the shadow time it has
    else:
        s.clock[e, Clock.HELD] = int(next_event(s, e) != NEVER)  # else it would be for ever
    to_decision(s, e)


@kernel
def observe(s: Sessions, e: int, seen: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> None:
    """Write what the agent sees and may do."""
    window, now, some = s.settings[Setting.WINDOW], s.clock[e, Clock.NOW], False
    for i in range(seen.shape[1]):
        seen[e, i] = 0.0
    for slot in range(window):
        place = slot + first_slot(s)
        mask[e, slot] = 0
        if place < s.clock[e, Clock.WAITS]:
            job, at = s.queue[e, place], slot * see.OF_SLOT
            seen[e, at + see.PRESENT] = 1.0
            seen[e, at + see.SIZE] = s.jobs[Job.PROCS, job] / s.settings[Setting.MACHINE]
            seen[e, at + see.REQUEST] = s.scale[job]
            seen[e, at + see.WAITED] = see.on_scale(now - s.jobs[Job.SUBMIT, job])
            seen[e, at + see.FITS] = 1.0 if fits(s, e, job) else 0.0
            seen[e, at + see.PASSES] = 1.0 if passes(s, e, job) else 0.0
            mask[e, slot] = int(is_valid(s, e, slot))
            some = some or is_valid(s, e, slot)
    # Without anything that runs, nobody may wait: it might be for ever.
    may = s.settings[Setting.MODE] == BACKFILLS or s.clock[e, Clock.RUNS] > 0
    mask[e, window] = int(may and (s.settings[Setting.MAY_WAIT] > 0 or not some))
    at = window * see.OF_SLOT
    seen[e, at + see.FREE_SHARE] = s.clock[e, Clock.FREE] / s.settings[Setting.MACHINE]
    seen[e, at + see.QUEUED] = see.count_on_scale(s.clock[e, Clock.WAITS])
    seen[e, at + see.RUNNING_NOW] = see.count_on_scale(s.clock[e, Clock.RUNS])
    seen[e, at + see.SHADOW] = (
        see.on_scale(s.clock[e, Clock.SHADOW_AT] - now) if s.clock[e, Clock.WAITS] > 0 else 0.0
    )
    seen[e, at + see.DAY_X] = see.around_the_day(now, s.settings[Setting.ORIGIN], 0.0)
    seen[e, at + see.DAY_Y] = see.around_the_day(now, s.settings[Setting.ORIGIN], 0.25)


@routine
def begin(s: Sessions, e: int, first: int, count: int) -> None:
    """Begin an episode with the jobs [first, first + count), and go on to its first decision."""
    restart(s, e, first, count)
    open_instant(s, e, s.clock[e, Clock.NOW])
    if s.settings[Setting.MODE] == WEIGHTS:
        set_shadow(s, e, s.jobs[Job.PROCS, s.queue[e, 0]])
    else:
        to_decision(s, e)


@entry
def begin_all(
    s: Sessions,
    firsts: Table,
    count: int,
    seen: npt.NDArray[np.float32],
    mask: npt.NDArray[np.int8],
    low: int,
    high: int,
) -> None:
    """Begin episodes in the sessions [low, high) whose ``firsts`` is not negative."""
    for e in range(low, high):
        if firsts[e] < 0:
            continue
        begin(s, e, firsts[e], count)
        observe(s, e, seen, mask)


@entry
def step_all(
    s: Sessions,
    actions: Table,
    weights: npt.NDArray[np.float64],
    firsts: Table,
    count: int,
    seen: npt.NDArray[np.float32],
    mask: npt.NDArray[np.int8],
    reward: npt.NDArray[np.float64],
    done: npt.NDArray[np.bool_],
    low: int,
    high: int,
) -> None:
    """One decision in each of the sessions [low, high); one that was over begins the episode ``firsts``."""
    for e in range(low, high):
        reward[e] = 0.0
        if done[e]:
            done[e] = False
            begin(s, e, firsts[e], count)
        else:
            if s.settings[Setting.MODE] == WEIGHTS:
                to_next_period(s, e, weights)
                if s.clock[e, Clock.WAITS] > 0:
                    set_shadow(s, e, s.jobs[Job.PROCS, s.queue[e, 0]])
            else:
                decide(s, e, actions[e])
            sums, now, share = s.sums[e], s.clock[e, Clock.NOW], busy(s, e)
            reward[e] = reward_of(sums, s.settings[Setting.REWARD], now, share)
            clear_sums(sums, now, share)
            done[e] = over(s, e)
        observe(s, e, seen, mask)
