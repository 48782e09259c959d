"""Expected ends of running jobs: when processors come free, and how many. All that EASY needs of the future.

Ends stand in order of time in the blocks of the pool's profile; each has a time and the processors that come
free then (jobs that end together share one entry), and a block knows the sum of its processors:

    time        10    25 | 40    55    60 | ...
    processors   4     8 |  2    16     1 |
    sum               12 |             19 |

Where a job ended the entry stays, with fewer processors or none, until its block is full. The first entry of
the first block is the profile's own beginning and stands for nothing.
"""

from __future__ import annotations

from headway.engine.planning import may_outlive, next_outlived
from headway.engine.profile import (
    ADDED,
    BLOCK,
    BLOCK_ROWS,
    BLOCKS_USED,
    COUNTS,
    FILLED,
    FIRST,
    HALF,
    LEVEL,
    STEP_ROWS,
    TIME,
    USED,
    Profile,
    base_of,
    find,
    leave_unused,
    locate,
    move_back,
)
from headway.engine.tables import State
from headway.engine.verbs import start
from headway.jit.kernels import kernel

SUM = ADDED
"""The field of a block that holds the processors of its ends."""


@kernel
def lay_ends(profile: Profile, k: int) -> None:
    """Lay the ends of pool ``k`` anew, half a block each, without those that are over."""
    count = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    half = profile.blocks[BLOCK_ROWS * k + COUNTS, HALF]
    target = (1 - half) * (profile.steps.shape[1] >> 1)
    ends = last = total = 0
    for b in range(count):
        base = base_of(profile, k, b)
        for place in range(base, base + profile.blocks[BLOCK_ROWS * k + USED, b]):
            procs = profile.steps[STEP_ROWS * k + LEVEL, place]
            if procs == 0 and ends > 0:
                continue
            last = ends // FILLED
            if ends % FILLED == 0:
                total = 0
                first = profile.steps[STEP_ROWS * k + TIME, place]
            new = target + last * BLOCK + ends % FILLED
            profile.steps[STEP_ROWS * k + TIME, new] = profile.steps[STEP_ROWS * k + TIME, place]
            profile.steps[STEP_ROWS * k + LEVEL, new] = procs
            total += procs if ends > 0 else 0
            ends += 1
            # The row of sums is written behind the block that is being read, or at it.
            profile.blocks[BLOCK_ROWS * k + FIRST, last] = first
            profile.blocks[BLOCK_ROWS * k + SUM, last] = total
    for b in range(last + 1):
        used = min(FILLED, ends - b * FILLED)
        profile.blocks[BLOCK_ROWS * k + USED, b] = used
        leave_unused(profile, k, target + b * BLOCK + used, target + (b + 1) * BLOCK)
    profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] = last + 1
    profile.blocks[BLOCK_ROWS * k + COUNTS, HALF] = 1 - half


@kernel
def drop_over(profile: Profile, k: int, b: int) -> int:
    """Drop the entries of block ``b`` that are over, but the first; how many are left."""
    base = base_of(profile, k, b)
    left = base + 1
    for place in range(left, base + profile.blocks[BLOCK_ROWS * k + USED, b]):
        procs = profile.steps[STEP_ROWS * k + LEVEL, place]
        if procs > 0:
            profile.steps[STEP_ROWS * k + TIME, left] = profile.steps[STEP_ROWS * k + TIME, place]
            profile.steps[STEP_ROWS * k + LEVEL, left] = procs
            left += 1
    leave_unused(profile, k, left, base + profile.blocks[BLOCK_ROWS * k + USED, b])
    profile.blocks[BLOCK_ROWS * k + USED, b] = left - base
    return int(left - base)


@kernel
def split_last(profile: Profile, k: int, b: int) -> None:
    """Move the later half of the last block to a new one behind it."""
    base, used = base_of(profile, k, b), profile.blocks[BLOCK_ROWS * k + USED, b]
    moved = 0
    for i in range(FILLED, used):
        procs = profile.steps[STEP_ROWS * k + LEVEL, base + i]
        profile.steps[STEP_ROWS * k + TIME, base + BLOCK + i - FILLED] = profile.steps[
            STEP_ROWS * k + TIME, base + i
        ]
        profile.steps[STEP_ROWS * k + LEVEL, base + BLOCK + i - FILLED] = procs
        moved += procs
    leave_unused(profile, k, base + FILLED, base + used)
    leave_unused(profile, k, base + BLOCK + used - FILLED, base + 2 * BLOCK)
    profile.blocks[BLOCK_ROWS * k + FIRST, b + 1] = profile.steps[STEP_ROWS * k + TIME, base + BLOCK]
    profile.blocks[BLOCK_ROWS * k + USED, b + 1] = used - FILLED
    profile.blocks[BLOCK_ROWS * k + SUM, b + 1] = moved
    profile.blocks[BLOCK_ROWS * k + USED, b] = FILLED
    profile.blocks[BLOCK_ROWS * k + SUM, b] -= moved
    profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] = b + 2


@kernel
def make_room(profile: Profile, k: int, b: int) -> None:
    """Let block ``b`` have positions again; blocks of ends that are over go when there are many of them."""
    if drop_over(profile, k, b) <= BLOCK - 8:
        return
    count = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    row = BLOCK_ROWS * k + SUM
    over = profile.blocks[row, 0] == 0 and profile.blocks[row, count >> 2] == 0  # a quarter, about
    if b == count - 1 and count < profile.blocks.shape[1] and not over:
        split_last(profile, k, b)
    else:
        lay_ends(profile, k)


@kernel
def expect_end(profile: Profile, k: int, x: int, procs: int) -> None:
    """A job with ``procs`` processors is expected to end at ``x``."""
    b = locate(profile, k, x)
    if profile.blocks[BLOCK_ROWS * k + USED, b] == BLOCK:
        make_room(profile, k, b)
        b = locate(profile, k, x)
    profile.blocks[BLOCK_ROWS * k + SUM, b] += procs
    base, place = base_of(profile, k, b), find(profile, k, b, x)
    if profile.steps[STEP_ROWS * k + TIME, place] == x and (b > 0 or place > base):
        profile.steps[STEP_ROWS * k + LEVEL, place] += procs
        return
    used = profile.blocks[BLOCK_ROWS * k + USED, b]
    move_back(profile, k, place + 1, base + used)
    profile.steps[STEP_ROWS * k + TIME, place + 1] = x
    profile.steps[STEP_ROWS * k + LEVEL, place + 1] = procs
    profile.blocks[BLOCK_ROWS * k + USED, b] = used + 1


@kernel
def forget_end(profile: Profile, k: int, x: int, procs: int) -> None:
    """A job with ``procs`` processors that was expected to end at ``x`` no longer is."""
    b = locate(profile, k, x)
    profile.blocks[BLOCK_ROWS * k + SUM, b] -= procs
    profile.steps[STEP_ROWS * k + LEVEL, find(profile, k, b, x)] -= procs


@kernel
def when_enough(profile: Profile, k: int, now: int, free: int, procs: int) -> tuple[int, int]:
    """When at least ``procs`` processors are free if ``free`` are now, and how many are free then."""
    b = 0
    while free + profile.blocks[BLOCK_ROWS * k + SUM, b] < procs:
        free += profile.blocks[BLOCK_ROWS * k + SUM, b]
        b += 1
    place = base_of(profile, k, b) - (b > 0)
    while free < procs:
        place += 1
        free += profile.steps[STEP_ROWS * k + LEVEL, place]
    return max(now, profile.steps[STEP_ROWS * k + TIME, place]), free


@kernel
def settle_ends(t: int, state: State, k: int) -> None:
    """Take note of the runs that ended in pool ``k``, and of those that outlived their estimates."""
    settle_ended(state, k)
    if state.clock.outlives > 0:
        outlive_ends(t, state)


@kernel
def settle_ended(state: State, k: int) -> None:
    """Take note of the runs that ended in pool ``k``."""
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        if state.runs.pool[run] == k:
            state.pools.freed[k] = 1
            forget_run(state, k, run)


@kernel
def forget_run(state: State, k: int, run: int) -> None:
    """A run of pool ``k`` ended or was stopped."""
    procs = state.jobs.procs[state.runs.job[run]]
    forget_end(state.profile, k, state.runs.expected[run], procs)


@kernel
def outlive_ends(t: int, state: State) -> None:
    """Runs that outlived their estimate are expected to last as long as was requested."""
    run = next_outlived(t, state)
    while run >= 0:
        expect_later(state, run)
        run = next_outlived(t, state)


@kernel
def expect_later(state: State, run: int) -> None:
    """Expect the end of a run as late as was requested."""
    k, job = state.runs.pool[run], state.runs.job[run]
    forget_run(state, k, run)
    state.runs.expected[run] = state.runs.start[run] + state.jobs.wall[job]
    expect_end(state.profile, k, state.runs.expected[run], state.jobs.procs[job])


@kernel
def start_and_expect_request(state: State, job: int, k: int, why: int) -> bool:
    """Start a waiting job now and expect its end as late as was requested, whatever else is planned."""
    if not start(state, job, k, why):
        return False
    end = state.clock.now + state.jobs.wall[job]
    state.runs.expected[state.jobs.run[job]] = end
    expect_end(state.profile, k, end, state.jobs.procs[job])
    return True


@kernel
def start_and_expect(state: State, job: int, k: int, why: int) -> bool:
    """Start a waiting job now and expect its end when it is planned."""
    if not start(state, job, k, why):
        return False
    expect_end(state.profile, k, state.clock.now + state.jobs.plan[job], state.jobs.procs[job])
    may_outlive(state, job)
    return True
