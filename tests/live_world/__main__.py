"""Try seeds, one after the other; the first that fails prints its history with few faults."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from live_world.aims import aimed
from live_world.mutants import MUTANTS
from live_world.world import World, tried


def shrunk(seed: int, mutant: str = "") -> World:
    """The history of a seed that fails, with as few faults as it fails with: halves of them go first."""
    world, _ = tried(seed, patches=MUTANTS[mutant], **aimed(seed))
    keep = set(range(1, world.faults + 1))
    size = len(keep)
    while size:
        for begin in range(0, len(keep), size):
            less = keep - set(sorted(keep)[begin : begin + size])
            again, wrong = tried(seed, less, MUTANTS[mutant], **aimed(seed))
            if wrong:
                keep, world = less, again
                break
        else:
            size //= 2
        size = min(size, len(keep))
    return world


def main() -> None:
    parser = argparse.ArgumentParser(prog="live_world", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=1, help="so many seeds from this one on")
    parser.add_argument(
        "--mutant", choices=MUTANTS, default="", help="with a fault that is planted on purpose"
    )
    parser.add_argument("--history", action="store_true", help="print the history in any case")
    words = parser.parse_args()
    began, killed, seen, faults, failed = (
        time.process_time(),
        Counter[tuple[str, str]](),
        Counter[str](),
        0,
        0,
    )
    for seed in range(words.seed, words.seed + words.count):
        world, wrong = tried(seed, patches=MUTANTS[words.mutant], **aimed(seed))
        killed, seen, faults = killed + world.written, seen + world.seen, faults + world.faults
        if wrong:
            failed += 1
            world = shrunk(seed, words.mutant)
        if wrong or words.history:
            sys.stdout.write("\n".join([*world.history, f"seed {seed}: {wrong or 'nothing is wrong'}", ""]))
            sys.stdout.flush()
        if wrong and words.mutant:
            break
    sides = [(site, when) for site in sorted(seen) for when in ("before", "after")]
    reached = sum(killed[side] > 0 for side in sides)
    sys.stdout.write(
        f"{seed - words.seed + 1} seeds, {failed} failed, {faults} faults, "
        f"{time.process_time() - began:.0f} s of CPU; "
        f"processes were killed at {sum(killed.values())} writes: "
        f"at {reached} of the {len(sides)} sides of {len(seen)} writes\n"
        + "".join(f"never {when} {site}\n" for site, when in sides if not killed[site, when])
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
