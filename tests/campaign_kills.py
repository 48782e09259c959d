"""Kill a campaign again and again at random moments, resume it, and compare with an undisturbed run.

    python tests/campaign_kills.py --kills 50

Each run is a process of its own that is killed with SIGKILL; results are written after every chunk, so that
many kills hit while a file is being written. After each kill every result file must be sound and no cell that
was on disk may be gone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import headway
from headway.campaign import running

SEEDS = 100
POLICIES = ("easy", "easy(order=sjf)", "fcfs", "sjf")


def campaign(seeds: int) -> headway.Campaign:
    return headway.Campaign(
        "lublin(jobs=200, procs=32, seed={seed})",
        POLICIES,
        baseline="easy",
        replications=seeds,
        classes=True,
        metrics=["jobs", "mean_wait", "mean_bsld"],
    )


def forked(work: Callable[[], None]) -> int:
    """Start a process that does the work; its id. Only such processes use Polars, which has threads."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def child(folder: Path, seeds: int, workers: int) -> int:
    """Start a process that runs the campaign; its id."""

    def work() -> None:
        running.SAVE_EVERY = 0.0
        campaign(seeds).run(folder, workers=workers, processes=False)

    return forked(work)


def on_disk(folder: Path) -> set[str]:
    """The cells in the result files, each of which must be sound."""
    answer = folder.parent / f"{folder.name}-cells.json"

    def work() -> None:
        import polars

        tables = [polars.read_parquet(path) for path in sorted(folder.rglob("*.parquet"))]
        cells = {cell for table in tables if "status" in table.columns for cell in table["cell"]}
        answer.write_text(json.dumps(sorted(cells)))

    if os.waitpid(forked(work), 0)[1]:
        raise SystemExit(f"a file in {folder} is damaged")
    return set(json.loads(answer.read_text()))


def kill_and_resume(
    scratch: Path, kills: int, whole: bytes, seeds: int = SEEDS, seed: int = 1
) -> tuple[Path, int, int]:
    """Kill so many runs, each resuming the one before; the last folder, the kills, the half-written files.

    A run that is quicker than its kill must have ended well; the next campaign then begins afresh, and is
    killed sooner.
    """
    draw = random.Random(seed)
    died = torn = rounds = 0
    pace = 1.0
    known: set[str] = set()
    folder = scratch / "killed-0"
    while died < kills:
        process = child(folder, seeds, workers=2)
        # A quarter of the kills hit a run that starts, the others one that has begun to write.
        if draw.random() < 0.25:
            time.sleep(pace * draw.uniform(0, 0.5))
        else:
            wait_for_file(folder)
            left = (len(POLICIES) * seeds - len(known)) / (kills - died)
            time.sleep(pace * draw.uniform(0, 0.008 * left))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            if status or (folder / "results.parquet").read_bytes() != whole:
                raise SystemExit(f"a run that nobody killed went wrong after {died} kills")
            rounds, pace, known = rounds + 1, pace / 2, set()
            folder = scratch / f"killed-{rounds}"
            continue
        died += 1
        torn += len(list(folder.rglob("*.part")))
        found = on_disk(folder)
        if not known <= found:
            raise SystemExit(f"kill {died} lost {len(known - found)} finished cells")
        known = found
    return folder, died, torn


def wait_for_file(folder: Path) -> None:
    """Until the run has written or begun a file of cells, or 30 seconds."""
    cells = folder / "cells"
    before = set(os.listdir(cells)) if cells.is_dir() else set()
    for _ in range(15_000):
        if cells.is_dir() and set(os.listdir(cells)) - before:
            return
        time.sleep(0.002)


def finish(folder: Path, seeds: int = SEEDS) -> bytes:
    """Run what is missing, undisturbed; the bytes of the results."""
    process = child(folder, seeds, workers=1)
    _, status = os.waitpid(process, 0)
    if status:
        raise SystemExit("the last run failed")
    return (folder / "results.parquet").read_bytes()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    # Kernels are loaded once, here, so that a run that lives for a tenth of a second gets to work.
    for policy in POLICIES:
        headway.simulate(
            headway.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1]), 4, policy
        )
    with tempfile.TemporaryDirectory() as scratch:
        whole = finish(Path(scratch) / "whole", options.seeds)
        folder, died, torn = kill_and_resume(Path(scratch), options.kills, whole, options.seeds, options.seed)
        before = len(on_disk(folder))
        same = finish(folder, options.seeds) == whole
        cells = len(on_disk(folder))
        sys.stdout.write(
            f"{died} kills, {torn} of them while a file was written, {before} of {cells} cells on disk before"
            f" the last run; results {'equal' if same else 'DIFFER FROM'} those of one undisturbed run\n"
        )
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
