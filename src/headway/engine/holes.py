"""Holes in a profile: where and when enough processors are free for long enough."""

from __future__ import annotations

from headway.engine.profile import (
    ADDED,
    BLOCK,
    BLOCK_ROWS,
    BLOCKS_USED,
    COUNTS,
    FIRST,
    GREATEST,
    LEAST,
    LEVEL,
    NO_STEP,
    STEP_ROWS,
    TIME,
    USED,
    Profile,
    add,
    base_of,
    block_of,
    change_from,
    find,
    locate,
    step_from,
    step_of,
)
from headway.jit.kernels import kernel, routine
from headway.units import NEVER


@kernel
def level_at(profile: Profile, k: int, x: int) -> int:
    """Processors free at time ``x``."""
    b = locate(profile, k, x)
    return int(
        profile.steps[STEP_ROWS * k + LEVEL, find(profile, k, b, x)]
        + profile.blocks[BLOCK_ROWS * k + ADDED, b]
    )


@kernel
def level_of(profile: Profile, k: int, place: int) -> int:
    """Processors free from the step at a position on."""
    b = block_of(profile, k, place)
    return int(profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b])


@kernel
def next_step(profile: Profile, k: int, b: int, place: int, procs: int, enough: bool) -> tuple[int, int]:
    """The first step from (block, place) on with at least ``procs`` free, or, if not ``enough``, with fewer.

    Block -1 if there is none.
    """
    count = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    best = GREATEST if enough else LEAST
    while True:
        base = base_of(profile, k, b)
        wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
        for i in range(place, base + profile.blocks[BLOCK_ROWS * k + USED, b]):
            if (profile.steps[STEP_ROWS * k + LEVEL, i] >= wanted) == enough:
                return b, i
        b += 1
        while b < count and (profile.blocks[BLOCK_ROWS * k + best, b] >= procs) != enough:
            b += 1
        if b >= count:
            return -1, 0
        place = base_of(profile, k, b)


@kernel
def next_free(profile: Profile, k: int, place: int, after: int, procs: int) -> tuple[int, int]:
    """The first time from ``after`` on with ``procs`` free, and the position of the step that holds it.

    The step at ``place`` holds ``after`` or is one before it. Without such a time: NEVER, and that place.
    """
    b, at = next_step(profile, k, block_of(profile, k, place), place, procs, True)
    return (max(after, profile.steps[STEP_ROWS * k + TIME, at]), at) if b >= 0 else (NEVER, place)


@kernel
def stays_between(profile: Profile, k: int, place: int, until: int, low: int, high: int) -> int:
    """The last step before ``until`` from the one at ``place`` on, if all of them have levels in [low, high).

    Else -1.
    """
    b = block_of(profile, k, place)
    end = base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b]
    added = profile.blocks[BLOCK_ROWS * k + ADDED, b]
    while low <= profile.steps[STEP_ROWS * k + LEVEL, place] + added < high:
        following = place + 1
        if following == end:
            b += 1
            if b == profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]:
                return place
            following = base_of(profile, k, b)
            end = following + profile.blocks[BLOCK_ROWS * k + USED, b]
        if profile.steps[STEP_ROWS * k + TIME, following] >= until:
            return place
        place, added = following, profile.blocks[BLOCK_ROWS * k + ADDED, b]
    return -1


@kernel
def when_free(profile: Profile, k: int, after: int, procs: int) -> tuple[int, int]:
    """The first time from ``after`` on with ``procs`` free, and the level then."""
    b = locate(profile, k, after)
    b, place = next_step(profile, k, b, find(profile, k, b, after), procs, True)
    level = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
    return max(after, profile.steps[STEP_ROWS * k + TIME, place]), level


@routine
def last_low(profile: Profile, k: int, b: int, place: int, before: int, procs: int) -> tuple[int, int]:
    """The last step after (block, place) that begins before ``before`` with fewer than ``procs`` free.

    Block -1 if there is none. Every start from here up to that step is blocked by it, so a search for a
    hole goes on behind it: it looks at the far end of the hole first.
    """
    first, first_place = b, place
    b = locate(profile, k, before - 1)
    place = find(profile, k, b, before - 1)
    while b > first:
        base = base_of(profile, k, b)
        wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
        if profile.blocks[BLOCK_ROWS * k + LEAST, b] < procs:
            for i in range(place, base - 1, -1):
                if profile.steps[STEP_ROWS * k + LEVEL, i] < wanted:
                    return b, i
        b -= 1
        place = base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b] - 1
    if b == first:
        wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
        for i in range(place, first_place, -1):
            if profile.steps[STEP_ROWS * k + LEVEL, i] < wanted:
                return b, i
    return -1, 0


@routine
def earliest_within(
    profile: Profile, k: int, after: int, until: int, procs: int, duration: int, limit: int
) -> int:
    """The smallest x in [after, until) with ``procs`` free on [x, min(x + duration, limit)); else ``limit``.

    With ``limit`` = a job's present reservation this is the position it can move forward to: what lies
    at and beyond the limit is its own. ``x`` itself is always tested, for a duration of 0 too.
    """
    place = step_of(profile, k, after)
    return hole_from(profile, k, place, after, until, procs, duration, limit)[0]


@routine
def take_earliest(
    profile: Profile, k: int, after: int, until: int, procs: int, duration: int, limit: int, now: int
) -> int:
    """Take ``procs`` for ``duration`` > 0 at the time that :func:`earliest_within` tells; that time.

    Steps before ``now`` may be forgotten.
    """
    place = step_of(profile, k, after)
    begin, place, held = hole_from(profile, k, place, after, until, procs, duration, limit)
    if begin == limit:
        place = step_of(profile, k, begin)
    if begin + duration > limit:
        held = -1
    take(profile, k, place, held, begin, begin + duration, procs, now)
    return begin


@routine
def take_if_free(profile: Profile, k: int, begin: int, procs: int, duration: int, now: int) -> bool:
    """Take ``procs`` for ``duration`` > 0 from ``begin`` on if they are free; whether they were."""
    b = locate(profile, k, begin)
    place = find(profile, k, b, begin)
    if profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b] < procs:
        return False
    at, place, held = hole_from(profile, k, place, begin, begin + 1, procs, duration, NEVER)
    if at > begin:
        return False
    take(profile, k, place, held, begin, begin + duration, procs, now)
    return True


@kernel
def take(profile: Profile, k: int, place: int, held: int, begin: int, end: int, procs: int, now: int) -> None:
    """Take ``procs`` on [begin, end). The step at ``place`` holds ``begin``.

    The one at ``held`` holds ``end`` and is in the same block, unless it is -1.
    """
    b = block_of(profile, k, place)
    if held < 0 or profile.blocks[BLOCK_ROWS * k + USED, b] > BLOCK - 3:
        change_from(profile, k, b, place, begin, end, -procs, now)
    else:
        low = step_from(profile, k, b, place, begin, now)
        high = step_from(profile, k, b, held + low - place, end, now)
        add(profile, k, b, low, high, -procs)


@kernel
def hole_from(
    profile: Profile, k: int, place: int, after: int, until: int, procs: int, duration: int, limit: int
) -> tuple[int, int, int]:
    """:func:`earliest_within` from the step at ``place`` on, which holds ``after`` or is one before it.

    Also the position of the step that holds the start, or of one before it; without a start, of one beginning
    before ``until``. And the position of the step that holds the end, if it is in the same block; else -1.
    """
    b = block_of(profile, k, place)
    wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
    while True:
        while profile.steps[STEP_ROWS * k + LEVEL, place] < wanted:  # stops behind a block's last step
            place += 1
        x = max(after, profile.steps[STEP_ROWS * k + TIME, place])
        if x < until:
            begin, goal = place, min(x + duration, limit)
            place += 1
            while (
                profile.steps[STEP_ROWS * k + TIME, place] < goal
                and profile.steps[STEP_ROWS * k + LEVEL, place] >= wanted
            ):
                place += 1
            if profile.steps[STEP_ROWS * k + TIME, place] < goal:
                continue
            if profile.steps[STEP_ROWS * k + TIME, place] < NO_STEP:
                return x, begin, place - (profile.steps[STEP_ROWS * k + TIME, place] > goal)
            b += 1
            if (
                b >= profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
                or profile.blocks[BLOCK_ROWS * k + FIRST, b] > goal
            ):
                return x, begin, place - 1
            b, place = last_low(profile, k, b, base_of(profile, k, b) - 1, goal, procs)
            if b < 0:
                return x, begin, -1
        elif x < NO_STEP:
            return limit, place - 1, -1
        else:
            b += 1
            count = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
            while b < count and profile.blocks[BLOCK_ROWS * k + GREATEST, b] < procs:
                b += 1
            if b >= count or profile.blocks[BLOCK_ROWS * k + FIRST, b] >= until:
                return limit, place - 1, -1
            place = base_of(profile, k, b)
        wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]


@kernel
def free_until(profile: Profile, k: int, after: int, until: int, procs: int) -> tuple[int, int]:
    """The earliest x from ``after`` on with ``procs`` free on all of [x, until); else ``until``.

    Also the position of the step that holds that start; without one, of the step before ``until``.
    """
    b = locate(profile, k, until - 1)
    place, base = find(profile, k, b, until - 1), base_of(profile, k, b)
    wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
    if profile.steps[STEP_ROWS * k + LEVEL, place] < wanted:
        return until, place
    while profile.steps[STEP_ROWS * k + TIME, place] > after:
        before = place - 1
        if place == base:
            b -= 1
            base = base_of(profile, k, b)
            before = base + profile.blocks[BLOCK_ROWS * k + USED, b] - 1
            wanted = procs - profile.blocks[BLOCK_ROWS * k + ADDED, b]
        if profile.steps[STEP_ROWS * k + LEVEL, before] < wanted:
            break
        place = before
    return max(after, profile.steps[STEP_ROWS * k + TIME, place]), place


@kernel
def earliest(profile: Profile, k: int, after: int, procs: int, duration: int) -> int:
    """The smallest x >= after with ``procs`` free on [x, x + duration)."""
    return earliest_within(profile, k, after, NEVER, procs, duration, NEVER)


@kernel
def fits(profile: Profile, k: int, begin: int, procs: int, duration: int) -> bool:
    """Whether ``procs`` are free on [begin, begin + duration); ``begin`` itself is always tested."""
    b = locate(profile, k, begin)
    place = find(profile, k, b, begin)
    if profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b] < procs:
        return False
    b, place = next_step(profile, k, b, place, procs, False)
    return b < 0 or profile.steps[STEP_ROWS * k + TIME, place] >= begin + duration
