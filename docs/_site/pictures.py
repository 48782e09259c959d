"""The pictures of the documentation, drawn anew from the code: python docs/_site/pictures.py."""

from __future__ import annotations

from pathlib import Path

import headway
from headway.figures import gantt, save
from headway.workload import Workload
from headway.workload.transform import apply

FOLDER = Path(__file__).parents[1] / "pictures"


def some_jobs() -> Workload:
    """Twenty-four jobs of a morning, chosen so that backfilling has something to do."""
    minutes = [
        (0, 6, 50, 60), (1, 4, 25, 40), (3, 12, 20, 30), (4, 2, 15, 20), (5, 3, 40, 60), (8, 1, 30, 30),
        (12, 16, 15, 20), (13, 2, 20, 25), (15, 4, 10, 15), (20, 8, 30, 40), (22, 1, 60, 90), (25, 2, 12, 15),
        (30, 10, 25, 30), (31, 3, 20, 30), (35, 1, 15, 20), (40, 6, 30, 45), (44, 2, 8, 10), (50, 16, 10, 15),
        (52, 4, 20, 25), (55, 2, 25, 30), (60, 1, 20, 30), (63, 8, 15, 20), (66, 3, 18, 20), (70, 2, 10, 15),
    ]  # fmt: skip
    submit, procs, runtime, walltime = zip(*minutes, strict=True)
    return Workload.from_arrays(
        unit="s",
        submit=[60 * t for t in submit],
        procs=procs,
        runtime=[60 * t for t in runtime],
        walltime=[60 * t for t in walltime],
    )


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    jobs, machine = some_jobs(), headway.Platform.procs(16)
    # With requests that are right, no job of half the machine or more starts later under EASY.
    right = apply(jobs, "exact")
    for log, name in ((right, "fcfs-and-easy"), (jobs, "overestimates")):
        schedules = [headway.simulate(log, machine, policy) for policy in ("fcfs", "easy")]
        names = ["fcfs: first come, first served", "easy: backfilling"]
        save(gantt(*schedules, names=names, height=1.7), FOLDER / f"{name}.svg")
        late = (schedules[1].start > schedules[0].start) & (schedules[1].procs >= 8)
        assert bool(late.any()) == (log is jobs), (name, log.job[late])


if __name__ == "__main__":
    main()
