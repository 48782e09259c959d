"""How near simulated schedules come to recorded ones: ``python -m benchmarks.fidelity SITE ...``.

Each SITE is a folder with a site's configuration and the jobs that ran there, as Slurm recorded them. They
are simulated with Slurm's rules under several seeds and once with EASY, and every start is held against the
recorded one. The table is that of docs/reference/slurm-fidelity.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import headway
from headway.schedule import Schedule
from headway.site import Site
from headway.units import SECOND

HEAD = "| site | jobs | recorded mean wait | policy | starts within 60 s | within 600 s | mean wait |"
RULE = "|---|--:|--:|---|--:|--:|--:|"


@dataclass(frozen=True)
class Nearness:
    """Shares of starts near the recorded ones, and how much longer the mean wait is (all in percent)."""

    minute: float
    ten_minutes: float
    wait: float


def nearness(schedule: Schedule) -> Nearness:
    """First starts of a schedule held against what its log recorded."""
    recorded = np.asarray(schedule.workload.columns["recorded_start"])
    rows = np.flatnonzero(recorded >= 0)
    start = schedule.first_start
    away = np.abs(start[rows] - recorded[rows])
    true, ours = ((when - schedule.submit)[rows].mean() for when in (recorded, start))
    return Nearness(
        100 * float((away <= 60 * SECOND).mean()),
        100 * float((away <= 600 * SECOND).mean()),
        100 * float(ours / true - 1),
    )


def band(values: Sequence[float], sign: str = "") -> str:
    """Least, largest and mean of several values; the value itself where there is one."""
    if len(values) == 1:
        return f"{values[0]:{sign}.0f} %"
    return f"{min(values):{sign}.0f} to {max(values):{sign}.0f} %, mean {np.mean(values):{sign}.0f} %"


def rows(folder: str, seeds: int, settings: str) -> list[str]:
    """The rows of one site: Slurm's rules, and EASY beside them."""
    site = Site.load(folder)
    jobs, machine = site.read_jobs(), site.platform()
    recorded = np.asarray(jobs.columns["recorded_start"])
    ran = recorded >= 0
    wait = float((recorded - jobs.submit)[ran].mean()) / SECOND
    more = f", {settings}" if settings else ""
    slurm = [headway.simulate(jobs, machine, f"slurm(seed={seed}{more})") for seed in range(1, seeds + 1)]
    runs = {
        f"`slurm{f'({settings})' if settings else ''}`, {seeds} seeds": [nearness(one) for one in slurm],
        "`easy`": [nearness(headway.simulate(jobs, machine, "easy"))],
    }
    name = site.folder.resolve() if site.folder else None
    title = "" if name is None else (name.parent.name if name.name == "site" else name.name)
    return [
        f"| {title} | {np.count_nonzero(ran)} | {wait:,.0f} s | {policy} "
        f"| {band([one.minute for one in found])} | {band([one.ten_minutes for one in found])} "
        f"| {band([one.wait for one in found], '+')} |"
        for policy, found in runs.items()
    ]


def main() -> None:
    """Print the table, a site after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("sites", nargs="+", metavar="SITE", help="folder with slurm.conf and jobs.txt")
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (10)")
    parser.add_argument("--settings", default="", help="other parameters of slurm, such as 'late=0'")
    given = parser.parse_args()
    print(HEAD, RULE, sep="\n")
    for folder in given.sites:
        print(*rows(folder, given.seeds, given.settings), sep="\n", flush=True)


if __name__ == "__main__":
    main()
