"""The schedule that a scheduler behind the protocol made: what ran, what it rejected, killed and added."""

from __future__ import annotations

import numpy as np

from headway.batsim.messages import ranges
from headway.batsim.simulation import Job, Simulation
from headway.engine.driver import counts
from headway.engine.tables import Ended, Run
from headway.engine.tables import Job as JobRow
from headway.platform import Platform
from headway.policies.prepare import UNBOUNDED
from headway.result import Result
from headway.schedule import ENDED, Pieces
from headway.workload import Workload
from headway.workload.ledger import Ledger, LedgerEntry

KILLED = "killed by the scheduler: what it ran until then is its run time"
ADDED = "registered by the scheduler in the course of the run, and numbered after the log's"


def schedule_of(simulation: Simulation, policy: str) -> Result:
    """The schedule of a simulation that is over, with the processors that each job had."""
    state = simulation.driver.state
    ran = sorted(simulation.ran(), key=lambda job: (job.row < 0, job.row if job.row >= 0 else job.number))
    runs = state.jobs[JobRow.RUN, [job.number for job in ran]]
    start, end, why, ended = (state.runs[row, runs] for row in (Run.START, Run.END, Run.WHY, Run.ENDED))
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
