"""What a scheduler behind the protocol made: the schedule, with what it rejected, killed and added; and the
files that Batsim writes of a run, PREFIX_jobs.csv, PREFIX_schedule.csv and PREFIX_machine_states.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from headway.batsim.messages import ranges
from headway.batsim.simulation import Job, Simulation
from headway.engine.driver import counts
from headway.engine.tables import Ended, Runs
from headway.export import COLUMNS
from headway.platform import Platform
from headway.policies.prepare import UNBOUNDED
from headway.result import Result
from headway.schedule import ENDED, Pieces
from headway.units import SECOND, seconds_text
from headway.workload import Workload
from headway.workload.ledger import Ledger, LedgerEntry
from headway.writing import replacing

KILLED = "killed by the scheduler: what it ran until then is its run time"
ADDED = "registered by the scheduler in the course of the run, and numbered after the log's"


def schedule_of(simulation: Simulation, policy: str) -> Result:
    """The schedule of a simulation that is over, with the processors that each job had."""
    state = simulation.driver.state
    ran = sorted(simulation.ran(), key=lambda job: (job.row < 0, job.row if job.row >= 0 else job.number))
    runs = state.jobs.run[[job.number for job in ran]]
    start, end, why, ended = (
        state.runs[row, runs] for row in (Runs["start"], Runs["end"], Runs["why"], Runs["ended"])
    )
    workload = _as_run(simulation, ran, end - start)
    killed = ended == Ended.AT_WALLTIME
    pieces = Pieces(
        job=np.arange(len(ran)),
        run=np.zeros(len(ran), np.int64),
        state=np.zeros(len(ran), np.int64),
        start=start,
        end=end,
        procs=workload.procs,
        ended=np.where(killed, ENDED.index("walltime"), ENDED.index("done")),
        processors=[ranges(job.machines).replace(" ", ",") for job in ran],
    )
    in_scheduler, wall = simulation.scheduler_seconds, simulation.wall_seconds
    return Result(
        workload=workload,
        platform=Platform.procs(simulation.procs),
        policy=policy,
        start=start,
        end=end,
        why=why.astype(np.uint8),
        killed=killed,
        pieces=pieces,
        own={
            "messages": simulation.messages,
            "rejected_jobs": sum(job.rejected for job in simulation.of_number),
            "killed_by_scheduler": sum(job.stopped for job in simulation.of_number),
            "scheduler_share": round(in_scheduler / wall, 4) if wall else 0.0,
        },
        provenance={"seed": 0, **counts(state), "timing": {"wall_seconds": wall, "scheduler": in_scheduler}},
    )


def _as_run(simulation: Simulation, ran: list[Job], lengths: np.ndarray) -> Workload:
    """The jobs that ran: the log's in its order, then those that the scheduler registered."""
    log = simulation.workload
    dynamic = [job for job in simulation.of_number if job.row < 0]
    first = int(log.job.max(initial=0)) + 1
    numbers = {job.name: first + place for place, job in enumerate(dynamic)}
    columns = {name: _column(name, values, ran, numbers) for name, values in log.columns.items()}
    stopped = np.array([job.stopped for job in ran], np.bool_)
    columns["runtime"] = np.where(stopped, lengths, columns["runtime"])
    rejected = [numbers.get(job.name, -1) if job.row < 0 else int(log.job[job.row])
                for job in simulation.of_number if job.rejected]  # fmt: skip
    ledger = Ledger(log.ledger.total + len(dynamic), log.ledger.entries).with_entries(
        LedgerEntry.of("registered", ADDED, list(numbers.values()), dropped=False),
        LedgerEntry.of("rejected", "rejected by the scheduler: not run", rejected, dropped=True),
        LedgerEntry.of("killed", KILLED, columns["job"][stopped], dropped=False),
    )
    return log.replaced(columns=columns, ledger=ledger)


def _column(name: str, values: np.ndarray, ran: list[Job], numbers: dict[str, int]) -> np.ndarray:
    """A column of the workload for the jobs that ran; -1 or its like where a registered job has no value."""
    own = {"job": None, "submit": "submit", "procs": "procs", "runtime": "runtime"}
    made = (
        np.zeros(len(ran), values.dtype) if values.dtype == np.bool_ else np.full(len(ran), -1, values.dtype)
    )
    for place, job in enumerate(ran):
        if job.row >= 0:
            made[place] = values[job.row]
        elif name == "job":
            made[place] = numbers[job.name]
        elif name == "walltime":
            made[place] = job.runtime if job.walltime >= UNBOUNDED else job.walltime
        elif name in own:
            made[place] = getattr(job, str(own[name]))
    return made


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
    start, end = int(state.runs.start[run]), int(state.runs.end[run])
    final = "COMPLETED_SUCCESSFULLY"
    if job.stopped:
        final = "COMPLETED_KILLED"
    elif state.runs.ended[run] == Ended.AT_WALLTIME:
        final = "COMPLETED_WALLTIME_REACHED"
    times = [seconds_text(x) for x in (start, end - start, end, start - job.submit, end - job.submit)]
    stretch = (end - job.submit) / (end - start) if end > start else 1.0
    success = int(final == "COMPLETED_SUCCESSFULLY")
    return [*asked, success, final, *times, repr(stretch), ranges(job.machines), -1, job.metadata]


def _totals(simulation: Simulation) -> tuple[list[str], list[list[object]]]:
    """One line of totals, with the columns that Batsim has without energy and networks."""
    state, jobs, ran = simulation.driver.state, simulation.of_number, simulation.ran()
    runs = state.jobs.run[[job.number for job in ran]]
    start, end = (state.runs[row, runs] / SECOND for row in (Runs["start"], Runs["end"]))
    submit = np.array([job.submit / SECOND for job in ran])
    killed = sum(job.stopped for job in ran) + int((state.runs.ended[runs] == Ended.AT_WALLTIME).sum())
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
        for row, by in ((Runs["start"], job.procs), (Runs["end"], -job.procs)):
            at = int(state.runs[row, simulation.run_of(job)])
            changes[at] = changes.get(at, 0) + by
    lines: list[list[object]] = []
    busy = 0
    for at in sorted(changes):
        busy += changes[at]
        lines.append([seconds_text(at), 0, 0, 0, simulation.procs - busy, busy])
    return lines
