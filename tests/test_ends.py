"""The expected ends of running jobs against a plain sorted list, with many more than a block holds."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from headway.engine.ends import expect_end, forget_end, when_enough
from headway.engine.profile import clear, new_profile
from headway.jit.kernels import INTERPRETED, entry

if INTERPRETED:
    expect, forget, search = expect_end, forget_end, when_enough
else:

    @entry
    def expect(profile: Any, k: int, x: int, procs: int) -> None:
        expect_end(profile, k, x, procs)

    @entry
    def forget(profile: Any, k: int, x: int, procs: int) -> None:
        forget_end(profile, k, x, procs)

    @entry
    def search(profile: Any, k: int, now: int, free: int, procs: int) -> tuple[int, int]:
        return when_enough(profile, k, now, free, procs)


def plain_when_enough(ends: Counter[int], free: int, procs: int) -> tuple[int, int]:
    """Walk through the ends in order of time."""
    at = 0
    for x in sorted(ends):
        if free >= procs:
            break
        at, free = x, free + ends[x]
    return at, free


@pytest.mark.parametrize("running", [3, 40, 600])
@pytest.mark.parametrize("spread", [20, 10_000], ids=["many at one time", "far apart"])
def test_ends_are_those_of_a_sorted_list(running: int, spread: int) -> None:
    chance = random.Random(running * spread)
    profile = new_profile(2, running)
    clear(profile, 0, 0, 1)
    clear(profile, 1, 0, 1)
    jobs: list[tuple[int, int]] = []
    for turn in range(3000):
        if len(jobs) == running or (jobs and chance.random() < 0.3):
            x, procs = jobs.pop(chance.randrange(len(jobs)))
            forget(profile, 1, x, procs)
        else:
            jobs.append((turn + chance.randrange(spread), chance.randint(1, 9)))
            expect(profile, 1, *jobs[-1])
        if turn % 10 == 0:
            ends: Counter[int] = Counter()
            for x, procs in jobs:
                ends[x] += procs
            if ends:
                wanted = chance.randint(1, sum(ends.values()))
                at, free = plain_when_enough(ends, 0, wanted)
                assert search(profile, 1, turn, 0, wanted) == (max(at, turn), free)
