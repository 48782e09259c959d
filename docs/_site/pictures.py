"""The pictures of the documentation, drawn from the code: python docs/_site/pictures.py."""

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


RATES = {
    "Headway": 2_346_775,
    "Batsim with batsched": 1_020,
    "pyss": 860,
    "Alea": 600,
    "AccaSim": 550,
    "CQSim": 215,
}
"""Jobs per CPU second of EASY on generated logs: ours as docs/reference/speed.md has it."""


def rates(ink: str, colours: tuple[str, str], path: Path) -> None:
    """A bar for each simulator, on a logarithmic scale."""
    import matplotlib

    matplotlib.rcParams.update({"svg.hashsalt": "headway", "font.size": 10})
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.4), layout="constrained")
    axes = figure.add_subplot()
    names, values = list(RATES)[::-1], list(RATES.values())[::-1]
    axes.barh(names, values, color=[colours[name == "Headway"] for name in names], log=True)
    for place, value in enumerate(values):
        axes.text(value * 1.2, place, f"{value:,}", va="center", color=ink)
    axes.set_xlim(100, 4e7)
    axes.set_xlabel("jobs per CPU second under EASY, logarithmic", color=ink)
    axes.tick_params(colors=ink, length=0)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main() -> None:
    """Write every picture."""
    rates("#1f2328", ("#8c959f", "#0072b2"), FOLDER / "speed-light.svg")
    rates("#f0f6fc", ("#6e7681", "#56b4e9"), FOLDER / "speed-dark.svg")
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
