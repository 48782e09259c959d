"""How many processors are free throughout an interval of a profile."""

from __future__ import annotations

from headway.engine.profile import (
    ADDED,
    BLOCK_ROWS,
    BLOCKS_USED,
    COUNTS,
    FEW,
    LEAST,
    LEVEL,
    STEP_ROWS,
    USED,
    Profile,
    base_of,
    find,
    locate,
)
from headway.jit.kernels import routine


@routine
def least_level(profile: Profile, k: int, begin: int, end: int) -> int:
    """The fewest processors free at once anywhere in [begin, end); ``begin`` itself is always looked at."""
    b, last = locate(profile, k, begin), locate(profile, k, max(begin, end - 1))
    few = profile.blocks[BLOCK_ROWS * k + COUNTS, BLOCKS_USED] <= FEW
    place = find(profile, k, b, begin)
    least = profile.steps[STEP_ROWS * k + LEVEL, place] + profile.blocks[BLOCK_ROWS * k + ADDED, b]
    for at in range(b, last + 1):
        if not few and b < at < last:
            least = min(least, profile.blocks[BLOCK_ROWS * k + LEAST, at])
            continue
        low = place if at == b else base_of(profile, k, at)
        high = base_of(profile, k, at) + profile.blocks[BLOCK_ROWS * k + USED, at]
        if at == last:
            high = find(profile, k, at, max(begin, end - 1)) + 1
        for i in range(low, high):
            level = profile.steps[STEP_ROWS * k + LEVEL, i] + profile.blocks[BLOCK_ROWS * k + ADDED, at]
            least = min(least, level)
    return least
