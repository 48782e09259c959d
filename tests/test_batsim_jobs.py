"""Schedules as Batsim writes them: the columns, the processors, and evalys itself as the reader."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import headway
from headway import Schedule
from headway.export import write_batsim_jobs
from headway.platform import Outage, Outages
from headway.units import SECOND
from headway.workload.models import generate
from small_schedules import workload

READ = """
import json, sys, warnings
warnings.simplefilter("ignore")
from evalys.jobset import JobSet
jobs = JobSet.from_csv(sys.argv[1], resource_bounds=(0, 63))
frame = jobs.df
print(json.dumps({
    "jobs": len(frame),
    "procs": jobs.MaxProcs,
    "mean_wait": float(frame.waiting_time.mean()),
    "widths": bool((frame.proc_alloc == frame.requested_number_of_resources).all()),
    "utilization": float(jobs.mean_utilisation()) / 64,
    "most": int(jobs.utilisation.load.max()),
}))
"""


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    work = generate("lublin(jobs=300, procs=64, estimates=tsafrir, load=0.9, seed=4)")
    return headway.simulate(work, 64, "easy")


def sets(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split():
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def test_columns_and_processors(schedule: Schedule, tmp_path: Path) -> None:
    write_batsim_jobs(schedule, tmp_path / "out_jobs.csv")
    with (tmp_path / "out_jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["job_id"]) for row in rows] == schedule.workload.job.tolist()
    assert [float(row["waiting_time"]) * 1e6 for row in rows] == schedule.wait.tolist()
    assert [float(row["finish_time"]) * 1e6 for row in rows] == schedule.end.tolist()
    held = [sets(row["allocated_resources"]) for row in rows]
    assert [len(each) for each in held] == schedule.procs.tolist()
    # No processor is used twice at once: in order of start, each finds its earlier user gone.
    free_from = dict.fromkeys(range(64), 0.0)
    for row, each in sorted(zip(rows, held, strict=True), key=lambda pair: float(pair[0]["starting_time"])):
        for processor in each:
            assert free_from[processor] <= float(row["starting_time"])
            free_from[processor] = float(row["finish_time"])


def test_a_killed_job_is_no_success(tmp_path: Path) -> None:
    from headway.workload import Workload

    work = Workload.from_arrays(unit="s", submit=[0, 0], procs=[1, 2], runtime=[20, 5], walltime=[10, 5])
    write_batsim_jobs(headway.simulate(work, 2, "fcfs"), tmp_path / "out_jobs.csv")
    with (tmp_path / "out_jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["success"], row["final_state"]) for row in rows] == [
        ("0", "COMPLETED_WALLTIME_REACHED"),
        ("1", "COMPLETED_SUCCESSFULLY"),
    ]
    assert [(row["starting_time"], row["execution_time"], row["stretch"]) for row in rows] == [
        ("0", "10", "1.0"),
        ("10", "5", "3.0"),
    ]


def test_a_job_whose_processors_failed_for_good_is_no_success(tmp_path: Path) -> None:
    outage = Outage("down", 3 * SECOND, 5 * SECOND, 1, ((0, 1),))
    machine = headway.Platform.procs(2).with_outages(Outages((outage,), "lost"))
    made = headway.simulate(workload([(0, 1, 9, 9), (0, 1, 9, 9)]), machine, "fcfs")
    write_batsim_jobs(made, tmp_path / "j.csv")
    with (tmp_path / "j.csv").open(newline="") as file:
        ends = [(row["success"], row["final_state"], row["finish_time"]) for row in csv.DictReader(file)]
    assert ends == [("0", "COMPLETED_FAILED", "3"), ("1", "COMPLETED_SUCCESSFULLY", "9")]


@pytest.mark.skipif(find_spec("evalys") is None, reason="evalys is not installed: pip install evalys")
def test_evalys_reads_what_we_write_and_agrees(schedule: Schedule, tmp_path: Path) -> None:
    path = tmp_path / "out_jobs.csv"
    write_batsim_jobs(schedule, path)
    run = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    summary = schedule.summary()
    assert found["jobs"] == 300 and found["procs"] == 64 and found["widths"]
    assert found["mean_wait"] == pytest.approx(summary["mean_wait"])
    assert found["utilization"] == pytest.approx(summary["utilization"])
    assert found["most"] <= 64
