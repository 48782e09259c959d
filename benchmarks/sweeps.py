"""Campaigns: one worker, two workers, and the whole of the paper on redirection."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import headway
from benchmarks import campaign_workers
from benchmarks.rates import Row

SMALL_MODEL = "lublin(jobs=500, procs=128, load=0.9, seed={seed})"
SMALL_POLICIES = ("fcfs", "sjf", "easy", "easy(backfill=sjf)", "conservative")
MODEL = "lublin(jobs=2000, procs=128, load=0.9, estimates=tsafrir, seed={seed})"


def generated(weeks: int) -> headway.Campaign:
    """Where no logs are: as many generated workloads under the same policies."""
    return headway.Campaign(
        workloads=[MODEL],
        policies=[
            {"policy": "easy", "grid": {"order": ["fcfs", "sjf", "saf", "lxf"]}},
            "fcfs",
            "conservative",
        ],
        baseline="easy",
        replications=weeks,
        tau=60,
    )


def all_sweeps(folder: Path | None, quick: bool) -> Iterator[Row]:
    """Cells a second with one worker and two, how much faster two are, and a paper's campaign.

    Small weeks take a millisecond or two each, most of it in Python, which runs on one core at a time: for so
    few of them no second process is started, and the second worker stands back.
    """
    with tempfile.TemporaryDirectory() as scratch:
        yield from _workers(folder, campaign_workers.LOGS, 3 if quick else 20, Path(scratch) / "small", False)
        if folder and not quick:
            yield from _workers(folder, campaign_workers.LARGE, 20, Path(scratch) / "large", True)
        yield from _cells(500 if quick else 20_000, Path(scratch) / "cells")
        yield from _growth(100 if quick else 1_000, Path(scratch) / "growth")
        yield from _paper(folder, quick, Path(scratch))


def _cells(cells: int, scratch: Path) -> Iterator[Row]:
    """Many small cells on two workers: cells a second, CPU time of each, and Python's share of it.

    Two idle cores at a thousand cells a second spend 2 ms on each; where others use the machine too, the CPU
    time says more than the rate.
    """
    replications = max(cells // len(SMALL_POLICIES), 1)
    made = headway.Campaign(
        workloads=[SMALL_MODEL], policies=list(SMALL_POLICIES), replications=replications, tau=60
    )
    begin, cpu = time.perf_counter(), _cpu_seconds()
    found: Any = made.run(scratch, workers=2)
    rate = len(found) / (time.perf_counter() - begin)
    each = 1000 * (_cpu_seconds() - cpu) / len(found)
    on = f"{len(found):,} cells of 500 jobs"
    yield {"kind": "small cells", "on": on, "value": round(rate, 1), "bar": cells == 20_000}
    yield {"kind": "CPU ms", "on": on, "value": round(each, 2), "bar": cells == 20_000}
    yield {"kind": "Python's share", "on": on, "value": round(python_share(), 2), "bar": cells == 20_000}


def _cpu_seconds() -> float:
    """CPU time of this process and of those that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _growth(cells: int, scratch: Path) -> Iterator[Row]:
    """The CPU time of n, 2 n and 4 n small cells on one worker, and how much longer 4 n take than 2 n."""
    seconds: list[float] = []
    for n in (0, 1, 2, 4):  # the first one loads the kernels
        made = headway.Campaign(
            workloads=[SMALL_MODEL],
            policies=list(SMALL_POLICIES),
            replications=max(n * cells // len(SMALL_POLICIES), 1),
            tau=60,
        )
        begin = time.process_time()
        found: Any = made.run(scratch / str(n), workers=1)
        if n == 0:
            continue
        seconds.append(time.process_time() - begin)
        yield {"kind": "CPU s", "on": f"{len(found):,} cells of 500 jobs", "value": round(seconds[-1], 2)}
    on = f"{4 * cells:,} cells of 500 jobs over {2 * cells:,}"
    yield {"kind": "growth", "on": on, "value": round(seconds[2] / max(seconds[1], 1e-9), 2)}


def python_share() -> float:
    """The part of a small cell's CPU time outside the simulation proper, over each policy, best of five."""
    from headway.campaign.measure import Settings, Task, run_task
    from headway.platform import Platform
    from headway.workload.models import lublin

    log, machine = lublin(jobs=500, procs=128, seed=1, load=0.9), Platform.procs(128)
    tasks = [Task(policy, machine, policy, None, (), 0, 128) for policy in SMALL_POLICIES]
    shares = []
    for _ in range(6):
        outcomes = [run_task(task, log, Settings(tau=60)) for task in tasks]
        shares.append(sum(o.python for o in outcomes) / sum(o.seconds for o in outcomes))
    return min(shares[1:])


def _workers(
    folder: Path | None, names: tuple[str, ...], weeks: int, scratch: Path, judged: bool
) -> Iterator[Row]:
    """One campaign with one worker and with two."""
    there = folder is not None and all((folder / f"{name}.swf.gz").is_file() for name in names)
    if judged and not there:
        return

    def made(count: int) -> headway.Campaign:
        return campaign_workers.campaign(folder, count, names) if there and folder else generated(count)

    on = f"{'large' if judged else 'small'} weeks of {len(names)} logs" if there else "generated workloads"
    made(1).run(scratch / "warm", workers=1)
    seconds: dict[int, float] = {}
    for workers in (1, 2):
        begin = time.perf_counter()
        found: Any = made(weeks).run(scratch / str(workers), workers=workers)
        seconds[workers] = time.perf_counter() - begin
        kind = f"{workers} worker{'s' if workers > 1 else ''}"
        yield {
            "kind": kind,
            "on": f"{len(found)} cells, {on}",
            "value": round(len(found) / seconds[workers], 1),
        }
    yield {"kind": "speed-up", "on": on, "value": round(seconds[1] / max(seconds[2], 1e-9), 2), "bar": judged}


def _paper(folder: Path | None, quick: bool, scratch: Path) -> Iterator[Row]:
    """The paper on redirection in one command: its campaign, and all of it with figures and verdicts."""
    logs = {"curie": "CEA-Curie-2011-2.1-cln.swf.gz", "ricc": "RICC-2010-2.swf.gz"}
    there = folder is not None and all((folder / name).is_file() for name in logs.values())
    whole = there and not quick
    words = ["reproduce", "redirection", "--out", str(scratch / "paper")]
    if whole and folder:
        words += [word for name, file in logs.items() for word in ("--trace", f"{name}={folder / file}")]
    else:
        words.append("--quick")
    begin = time.perf_counter()
    made = subprocess.run(
        [sys.executable, "-m", "headway", *words], check=True, capture_output=True, text=True
    )
    wall = time.perf_counter() - begin
    told = re.search(r"campaign paper: (\d+) runs in ([\d.]+) s", made.stdout + made.stderr)
    assert told is not None, "reproduce no longer says how long its campaign took"
    on = "Curie and RICC" if whole else "--quick, generated weeks"
    yield {"kind": "campaign", "on": f"{told[1]} runs, {on}", "value": float(told[2]), "bar": whole}
    yield {"kind": "paper", "on": on, "value": round(wall, 1)}
