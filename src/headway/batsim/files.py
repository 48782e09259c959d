"""Batsim's own files of a run: PREFIX_jobs.csv, PREFIX_schedule.csv and PREFIX_machine_states.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from headway.batsim.messages import ranges
from headway.batsim.simulation import Job, Simulation
from headway.engine.tables import Ended, Run
from headway.engine.tables import Job as JobRow
from headway.export import COLUMNS
from headway.policies.prepare import UNBOUNDED
from headway.units import SECOND, seconds_text
from headway.writing import replacing

STATES = ("time", "nb_sleeping", "nb_switching_on", "nb_switching_off", "nb_idle", "nb_computing")


def write_files(simulation: Simulation, prefix: Path) -> list[Path]:
    """Write Batsim's files; their names begin with ``prefix``."""
    tables = {
        "jobs": (COLUMNS, [_line(simulation, job) for job in simulation.of_number]),
        "schedule": _totals(simulation),
        "machine_states": (STATES, _machine_states(simulation)),
    }
    written = []
    for name, (columns, rows) in tables.items():
        path = prefix.with_name(f"{prefix.name}_{name}.csv")
        _write(path, columns, rows)
        written.append(path)
    return written


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def _line(simulation: Simulation, job: Job) -> list[object]:
    workload, _, name = job.name.partition("!")
    walltime = "-1" if job.walltime >= UNBOUNDED else seconds_text(job.walltime)
    asked = [name, workload, job.profile, seconds_text(job.submit), job.procs, walltime]
    state, run = simulation.driver.state, simulation.run_of(job)
    if run < 0:
        return [*asked, 0, "REJECTED", *[-1] * 6, "", -1, job.metadata]
    start, end = int(state.runs[Run.START, run]), int(state.runs[Run.END, run])
    final = "COMPLETED_SUCCESSFULLY"
    if job.stopped:
        final = "COMPLETED_KILLED"
    elif state.runs[Run.ENDED, run] == Ended.AT_WALLTIME:
        final = "COMPLETED_WALLTIME_REACHED"
    times = [seconds_text(x) for x in (start, end - start, end, start - job.submit, end - job.submit)]
    stretch = (end - job.submit) / (end - start) if end > start else 1.0
    success = int(final == "COMPLETED_SUCCESSFULLY")
    return [*asked, success, final, *times, repr(stretch), ranges(job.machines), -1, job.metadata]


def _totals(simulation: Simulation) -> tuple[list[str], list[list[object]]]:
    """One line of totals, with the columns that Batsim has without energy and networks."""
    state, jobs, ran = simulation.driver.state, simulation.of_number, simulation.ran()
    runs = state.jobs[JobRow.RUN, [job.number for job in ran]]
    start, end = (state.runs[row, runs] / SECOND for row in (Run.START, Run.END))
    submit = np.array([job.submit / SECOND for job in ran])
    killed = sum(job.stopped for job in ran) + int((state.runs[Run.ENDED, runs] == Ended.AT_WALLTIME).sum())
    success = len(ran) - killed
    turnaround, waiting = end - submit, start - submit
    slowdown = turnaround / np.maximum(end - start, 1e-6)
    totals: dict[str, object] = {
        "nb_jobs": len(jobs),
        "nb_jobs_finished": len(ran),
        "nb_jobs_success": success,
        "nb_jobs_killed": killed,
        "success_rate": success / max(len(jobs), 1),
        "makespan": float(end.max(initial=0)),
        "mean_waiting_time": float(waiting.mean()) if len(ran) else 0,
        "mean_turnaround_time": float(turnaround.mean()) if len(ran) else 0,
        "mean_slowdown": float(slowdown.mean()) if len(ran) else 0,
        "max_waiting_time": float(waiting.max(initial=0)),
        "max_turnaround_time": float(turnaround.max(initial=0)),
        "max_slowdown": float(slowdown.max(initial=0)),
        "scheduling_time": simulation.scheduler_seconds,
        "simulation_time": simulation.wall_seconds,
        "nb_computing_machines": simulation.procs,
        "batsim_version": "headway",
    }
    return list(totals), [list(totals.values())]


def _machine_states(simulation: Simulation) -> list[list[object]]:
    """How many processors compute, whenever that changes."""
    state = simulation.driver.state
    changes: dict[int, int] = {0: 0}
    for job in simulation.ran():
        for row, by in ((Run.START, job.procs), (Run.END, -job.procs)):
            at = int(state.runs[row, simulation.run_of(job)])
            changes[at] = changes.get(at, 0) + by
    lines: list[list[object]] = []
    busy = 0
    for at in sorted(changes):
        busy += changes[at]
        lines.append([seconds_text(at), 0, 0, 0, simulation.procs - busy, busy])
    return lines
