"""A schedule as Batsim writes it (`..._jobs.csv`), for evalys and other tools that read that file.

Where processors were only counted, concrete ones are chosen afterwards, the lowest free ones first.
"""

from __future__ import annotations

import csv
from pathlib import Path

from headway.figures.bands import bands
from headway.figures.gantt import strips
from headway.metrics.own_numbers import lost
from headway.platform import processor_sets
from headway.schedule import Schedule
from headway.units import SECOND, seconds_text
from headway.writing import replacing

COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources",
    "requested_time", "success", "final_state", "starting_time", "execution_time", "finish_time",
    "waiting_time", "turnaround_time", "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
"""Columns in Batsim's order; times in seconds, resources as ranges such as `0-3 7`."""


def write_batsim_jobs(schedule: Schedule, path: str | Path) -> None:
    """Write one line for each job; a job of several runs has the processors of its last one."""
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(_lines(schedule))


def _lines(schedule: Schedule) -> list[list[object]]:
    name = Path(schedule.workload.source.name).name.split(".")[0] or "w0"
    places = _places(schedule)
    columns = (
        schedule.workload.columns["job"].tolist(), schedule.submit.tolist(), schedule.procs.tolist(),
        schedule.walltime.tolist(), schedule.runtime.tolist(), schedule.start.tolist(), schedule.end.tolist(),
        schedule.killed.tolist(), lost(schedule).tolist(), places,
    )  # fmt: skip
    lines: list[list[object]] = []
    for job, submit, procs, walltime, runtime, start, end, killed, gone, place in zip(*columns, strict=True):
        stretch = (end - submit) / (end - start) if end > start else 1.0
        how = "WALLTIME_REACHED" if killed else "FAILED" if gone else "SUCCESSFULLY"
        times = [seconds_text(time) for time in (start, end - start, end, start - submit, end - submit)]
        line = [job, name, f"delay{runtime // SECOND}", seconds_text(submit), procs, seconds_text(walltime)]
        success = int(not killed and not gone)
        lines.append([*line, success, f"COMPLETED_{how}", *times, repr(stretch), place, -1, ""])
    return lines


def _places(schedule: Schedule) -> list[str]:
    """Processors of each job's last run as text."""
    shown = bands(schedule)
    piece, low, count = strips(shown)
    last = ~shown.lost[piece]
    first = low + shown.offsets[shown.band[piece]]
    ranges: list[set[tuple[int, int]]] = [set() for _ in range(len(schedule))]
    rows, starts, ends = (values[last].tolist() for values in (shown.job[piece], first, first + count))
    for row, begin, end in zip(rows, starts, ends, strict=True):
        ranges[row].add((begin, end))
    return [processor_sets.text(processor_sets.joined(found), " ") for found in ranges]
