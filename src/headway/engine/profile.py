"""Free processors over time: the one clever data structure under every policy that plans ahead.

A profile is a step function. Each step is a time and the number of processors free from then until the
next step; the last step lasts for ever. Steps stand in time order in blocks; a block knows its least and
greatest level, so a search skips blocks that cannot matter, and a change of many steps touches whole
blocks by one lazy addition:

    free                ┌──────┐              a job that ends at x frees its processors at x
      │  ┌────┐         │      └───── ...     (intervals are half open)
      │──┘    └─────────┘
      └──┴────┴─────────┴──────┴───────── time
        [   block 0    ][   block 1   ...

Steps that no longer matter (the past, or equal to the one before) stay until their block is full; where that
frees nothing, all blocks are laid anew, none of them full. Many profiles live in one set of tables, one per
pool; every function takes the pool's number ``k``. Two intervals of length zero at one instant both fit: they
hold nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.jit.kernels import by_address, entry, kernel, routine
from headway.units import NEVER

Table = npt.NDArray[np.int64]

BLOCK = 32
EIGHTH = BLOCK // 8
FILLED = 16
"""Steps in a block when it is laid."""
NO_STEP = (1 << 63) - 1
"""The time at unused positions of a block: after everything, where more is free than anybody wants.
Every block has such a position behind its last step, so that a search along it stops there."""
FEW = 12
"""Up to so many blocks are searched without skipping, and laid anew when one is full."""

# Rows of `steps` and of `blocks` for each pool. COUNTS holds: blocks in use, the half of `steps` in use.
TIME, LEVEL = range(2)
FIRST, USED, ADDED, LEAST, GREATEST, COUNTS = range(6)
STEP_ROWS, BLOCK_ROWS = 2, 6
BLOCKS_USED, HALF = range(2)


@by_address
class Profile(NamedTuple):
    """The tables of all pools' profiles."""

    steps: Table
    """[2 k + TIME | LEVEL, place] when a step begins (µs), and the processors free from then on, less what
    its block has ``ADDED``. Block b begins at position ``BLOCK * b`` of the half in use."""
    blocks: Table
    """[6 k + field, b] the blocks in the order of time."""


def new_profile(pools: int, jobs: int) -> Profile:
    """Empty tables with space for ``jobs`` intervals in each of ``pools`` profiles."""
    blocks = (2 * jobs + 2) // FILLED + 4
    return Profile(
        np.zeros((STEP_ROWS * pools, 2 * blocks * BLOCK), np.int64),
        np.zeros((BLOCK_ROWS * pools, blocks), np.int64),
    )


def copy_profile(source: Profile, target: Profile) -> None:
    """Copy every profile into larger tables."""
    old, new = source.steps.shape[1] // 2, target.steps.shape[1] // 2
    for half in range(2):
        target.steps[:, half * new : half * new + old] = source.steps[:, half * old : (half + 1) * old]
    target.blocks[:, : source.blocks.shape[1]] = source.blocks


@kernel
def leave_unused(profile: Profile, k: int, low: int, high: int) -> None:
    """Nothing stands at positions [low, high)."""
    for place in range(low, high):
        profile.steps[STEP_ROWS * k + TIME, place] = NO_STEP
        profile.steps[STEP_ROWS * k + LEVEL, place] = NEVER


@entry
def clear(profile: Profile, k: int, now: int, procs: int) -> None:
    """All ``procs`` processors of pool ``k`` are free from ``now`` on."""
    profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] = 1
    profile.blocks[BLOCK_ROWS * k + COUNTS, HALF] = 0
    profile.blocks[BLOCK_ROWS * k + FIRST, 0] = now
    profile.blocks[BLOCK_ROWS * k + USED, 0] = 1
    profile.blocks[BLOCK_ROWS * k + ADDED, 0] = 0
    leave_unused(profile, k, 1, BLOCK)
    profile.steps[STEP_ROWS * k + TIME, 0] = now
    profile.steps[STEP_ROWS * k + LEVEL, 0] = procs


@kernel
def base_of(profile: Profile, k: int, b: int) -> int:
    """The first position of block ``b``."""
    half = profile.blocks[BLOCK_ROWS * k + COUNTS, HALF]
    return int(half * (profile.steps.shape[1] >> 1) + b * BLOCK)


@kernel
def block_of(profile: Profile, k: int, place: int) -> int:
    """The block of a position."""
    half = profile.blocks[BLOCK_ROWS * k + COUNTS, HALF]
    return int((place - half * (profile.steps.shape[1] >> 1)) // BLOCK)


@kernel
def locate(profile: Profile, k: int, x: int) -> int:
    """The block that holds time ``x``."""
    low, left = 0, profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]
    while left > 1:  # halves without a branch on what is found: no guess to go wrong
        half = left >> 1
        low += half * (profile.blocks[BLOCK_ROWS * k + FIRST, low + half] <= x)
        left -= half
    return low


@kernel
def find(profile: Profile, k: int, b: int, x: int) -> int:
    """The position of the last step of block ``b`` that begins at or before ``x``."""
    row, low = STEP_ROWS * k + TIME, base_of(profile, k, b)
    eighths = begun = 0
    for i in range(1, 8):  # loads that do not wait for each other, and no branch that can be guessed wrong
        eighths += profile.steps[row, low + EIGHTH * i] <= x
    low += EIGHTH * eighths
    for i in range(1, EIGHTH):
        begun += profile.steps[row, low + i] <= x
    return low + begun


@kernel
def step_of(profile: Profile, k: int, x: int) -> int:
    """The position of the step that holds time ``x``."""
    return find(profile, k, locate(profile, k, x), x)


@kernel
def step_near(profile: Profile, k: int, place: int, x: int) -> int:
    """:func:`step_of` where ``place`` is no later than that, and perhaps near it."""
    b = block_of(profile, k, place)
    last = base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b] - 1
    while place < last and profile.steps[STEP_ROWS * k + TIME, place + 1] <= x:
        place += 1
    return place if place < last else step_of(profile, k, x)


@kernel
def is_short(profile: Profile, k: int) -> bool:
    """Whether a profile has so few blocks that none is worth skipping, and all are quickly laid anew."""
    return bool(profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] <= FEW)


@kernel
def measure(profile: Profile, k: int, b: int) -> None:
    """Set the least and greatest level of block ``b``; among a few blocks none is worth skipping."""
    if not is_short(profile, k):
        measure_block(profile, k, b)


@routine
def measure_block(profile: Profile, k: int, b: int) -> None:
    """Set the least and greatest level of block ``b``."""
    low = base_of(profile, k, b)
    least = greatest = profile.steps[STEP_ROWS * k + LEVEL, low]
    for place in range(low + 1, low + profile.blocks[BLOCK_ROWS * k + USED, b]):
        level = profile.steps[STEP_ROWS * k + LEVEL, place]
        least = min(least, level)
        greatest = max(greatest, level)
    profile.blocks[BLOCK_ROWS * k + LEAST, b] = least + profile.blocks[BLOCK_ROWS * k + ADDED, b]
    profile.blocks[BLOCK_ROWS * k + GREATEST, b] = greatest + profile.blocks[BLOCK_ROWS * k + ADDED, b]


@routine
def lay_over(profile: Profile, k: int, over: int, now: int) -> None:
    """Copy the steps of pool ``k`` that matter from ``now`` on to pool ``over``, ``FILLED`` to a block.

    They go to the half of ``over`` that is not in use, which may be the pool's own.
    """
    half = profile.blocks[BLOCK_ROWS * over + COUNTS, HALF]
    target = (1 - half) * (profile.steps.shape[1] >> 1)
    first = locate(profile, k, now)
    low = find(profile, k, first, now)
    last = NEVER
    steps = 0
    for b in range(first, profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED]):
        added = profile.blocks[BLOCK_ROWS * k + ADDED, b]
        base = base_of(profile, k, b)
        for place in range(max(low, base), base + profile.blocks[BLOCK_ROWS * k + USED, b]):
            level = profile.steps[STEP_ROWS * k + LEVEL, place] + added
            new = target + steps // FILLED * BLOCK + steps % FILLED
            profile.steps[STEP_ROWS * over + TIME, new] = profile.steps[STEP_ROWS * k + TIME, place]
            profile.steps[STEP_ROWS * over + LEVEL, new] = level
            steps += level != last  # if it is level with the step before it, the next one is written over it
            last = level
    profile.steps[STEP_ROWS * over + TIME, target] = max(profile.steps[STEP_ROWS * over + TIME, target], now)
    count = (steps + FILLED - 1) // FILLED
    profile.blocks[BLOCK_ROWS * over + COUNTS, BLOCKS_USED] = count
    profile.blocks[BLOCK_ROWS * over + COUNTS, HALF] = 1 - half
    for b in range(count):
        first = profile.steps[STEP_ROWS * over + TIME, target + b * BLOCK]
        profile.blocks[BLOCK_ROWS * over + FIRST, b] = first
        profile.blocks[BLOCK_ROWS * over + USED, b] = min(FILLED, steps - b * FILLED)
        profile.blocks[BLOCK_ROWS * over + ADDED, b] = 0
        profile.blocks[BLOCK_ROWS * over + LEAST, b] = -NEVER
        profile.blocks[BLOCK_ROWS * over + GREATEST, b] = NEVER
        base = target + b * BLOCK
        leave_unused(profile, over, base + profile.blocks[BLOCK_ROWS * over + USED, b], base + BLOCK)
        measure(profile, over, b)


@kernel
def lay_anew(profile: Profile, k: int, now: int) -> None:
    """Lay the steps of pool ``k`` that matter from ``now`` on anew."""
    lay_over(profile, k, k, now)


@routine
def tidy(profile: Profile, k: int, b: int, now: int) -> bool:
    """Drop the steps of block ``b`` that no longer matter; whether there is space again."""
    base = base_of(profile, k, b)
    last = base
    for i in range(base + 1, base + profile.blocks[BLOCK_ROWS * k + USED, b]):
        level, time = profile.steps[STEP_ROWS * k + LEVEL, i], profile.steps[STEP_ROWS * k + TIME, i]
        if time <= now:
            last = base
        elif level == profile.steps[STEP_ROWS * k + LEVEL, last]:
            continue
        else:
            last += 1
        profile.steps[STEP_ROWS * k + TIME, last] = time
        profile.steps[STEP_ROWS * k + LEVEL, last] = level
    used = last - base + 1
    leave_unused(profile, k, base + used, base + profile.blocks[BLOCK_ROWS * k + USED, b])
    profile.blocks[BLOCK_ROWS * k + USED, b] = used
    return used <= BLOCK - 8


@kernel
def tidy_both(profile: Profile, k: int, first: int, last: int, now: int) -> bool:
    """:func:`tidy` two blocks, or one that is both; whether there is space again."""
    return tidy(profile, k, first, now) and tidy(profile, k, last, now)


@kernel
def move_back(profile: Profile, k: int, low: int, high: int) -> None:
    """Move what stands at positions [low, high) back by one position."""
    for i in range(high, low, -1):
        profile.steps[STEP_ROWS * k + TIME, i] = profile.steps[STEP_ROWS * k + TIME, i - 1]
        profile.steps[STEP_ROWS * k + LEVEL, i] = profile.steps[STEP_ROWS * k + LEVEL, i - 1]


@kernel
def step_at(profile: Profile, k: int, b: int, x: int, now: int) -> int:
    """Let a step begin at ``x`` in its block ``b``, with the level that is there; the step's place."""
    return step_from(profile, k, b, find(profile, k, b, x), x, now)


@kernel
def step_from(profile: Profile, k: int, b: int, place: int, x: int, now: int) -> int:
    """:func:`step_at` where the step at ``place`` is the one that holds ``x``."""
    if profile.steps[STEP_ROWS * k + TIME, place] == x:
        return place
    if x == now:  # nobody asks for the past: the step that lasts through now may as well begin now
        profile.steps[STEP_ROWS * k + TIME, place] = now
        return place
    move_back(profile, k, place + 1, base_of(profile, k, b) + profile.blocks[BLOCK_ROWS * k + USED, b])
    profile.steps[STEP_ROWS * k + TIME, place + 1] = x
    profile.steps[STEP_ROWS * k + LEVEL, place + 1] = profile.steps[STEP_ROWS * k + LEVEL, place]
    profile.blocks[BLOCK_ROWS * k + USED, b] += 1
    return place + 1


@kernel
def add(profile: Profile, k: int, b: int, low: int, high: int, procs: int) -> None:
    """Add ``procs`` to the levels at positions [low, high) of block ``b``."""
    for i in range(low, high):
        profile.steps[STEP_ROWS * k + LEVEL, i] += procs
    measure(profile, k, b)


@kernel
def add_between(profile: Profile, k: int, first: int, low: int, last: int, high: int, procs: int) -> None:
    """Add ``procs`` to the levels from ``low`` of block ``first`` up to ``high`` of block ``last``."""
    if first == last:
        add(profile, k, first, low, high, procs)
        return
    used = profile.blocks[BLOCK_ROWS * k + USED, first]
    add(profile, k, first, low, base_of(profile, k, first) + used, procs)
    for b in range(first + 1, last):
        profile.blocks[BLOCK_ROWS * k + ADDED, b] += procs
        profile.blocks[BLOCK_ROWS * k + LEAST, b] += procs
        profile.blocks[BLOCK_ROWS * k + GREATEST, b] += procs
    add(profile, k, last, base_of(profile, k, last), high, procs)


@routine
def change(profile: Profile, k: int, begin: int, end: int, procs: int, now: int) -> None:
    """Add ``procs`` (negative: take them) to every level in [begin, end); what was before ``now`` may go."""
    if begin < end:
        first = locate(profile, k, begin)
        change_from(profile, k, first, find(profile, k, first, begin), begin, end, procs, now)


@routine
def change_from(
    profile: Profile, k: int, first: int, place: int, begin: int, end: int, procs: int, now: int
) -> None:
    """:func:`change` where the step at ``place`` of block ``first`` is the one that holds ``begin``."""
    last = locate(profile, k, end)
    row = BLOCK_ROWS * k + USED
    if profile.blocks[row, first] > BLOCK - 3 or profile.blocks[row, last] > BLOCK - 3:
        if is_short(profile, k) or not tidy_both(profile, k, first, last, now):
            lay_anew(profile, k, now)
            first, last = locate(profile, k, begin), locate(profile, k, end)
        place = find(profile, k, first, begin)
    low, high = step_from(profile, k, first, place, begin, now), step_at(profile, k, last, end, now)
    add_between(profile, k, first, low, last, high, procs)


@routine
def move_forward(
    profile: Profile, k: int, place: int, begin: int, old: int, length: int, procs: int, now: int
) -> int:
    """Move ``procs`` held on [old, old + length) forward to ``begin``; only the parts that differ change.

    before            [ old ...... old + length )
    after     [ begin ... begin + length )
              └ taken ┘                  └ freed ┘

    The step at ``place`` is the one that holds ``begin``. Returns the position of the step that begins there
    now, or -1 if steps were moved to make space, so that no position known from before is right any more.
    """
    taken, freed, end = min(begin + length, old), max(begin + length, old), old + length
    a, b = block_of(profile, k, place), locate(profile, k, taken)
    c, d = locate(profile, k, freed), locate(profile, k, end)
    row = BLOCK_ROWS * k + USED
    used = max(profile.blocks[row, a], profile.blocks[row, b])
    used = max(used, max(profile.blocks[row, c], profile.blocks[row, d]))
    full = used > BLOCK - 5
    if full:
        tidied = not is_short(profile, k) and tidy_both(profile, k, a, b, now)
        if not (tidied and tidy_both(profile, k, c, d, now)):
            lay_anew(profile, k, now)
        a, b = locate(profile, k, begin), locate(profile, k, taken)
        c, d = locate(profile, k, freed), locate(profile, k, end)
        place = find(profile, k, a, begin)
    held_b, held_c, held_d = find(profile, k, b, taken), find(profile, k, c, freed), find(profile, k, d, end)
    at_a = step_from(profile, k, a, place, begin, now)
    new_a = at_a - place  # 1 if the step is new: those behind it in its block are one position further
    held_b += new_a * (a == b)
    at_b = step_from(profile, k, b, held_b, taken, now)
    new_b = at_b - held_b
    held_c += new_a * (a == c) + new_b * (b == c)
    at_c = step_from(profile, k, c, held_c, freed, now)
    new_c = at_c - held_c
    held_d += new_a * (a == d) + new_b * (b == d) + new_c * (c == d)
    at_d = step_from(profile, k, d, held_d, end, now)
    add_between(profile, k, a, at_a, b, at_b, -procs)
    add_between(profile, k, c, at_c, d, at_d, procs)
    return -1 if full else at_a
