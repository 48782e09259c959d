"""The reference left to its own clocks on a recorded run's submissions and run times."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.slurm.loop import Clocks, Simulation

from .accounts import load_multifactor
from .runs import Run


@dataclass
class Nearness:
    """How near a free run came to the recorded one."""

    within_60: float
    within_600: float
    mean_wait: float
    recorded_wait: float

    @property
    def wait_error(self) -> float:
        return self.mean_wait / self.recorded_wait - 1


def free_run(run: Run, clocks: Clocks, *, recorded_passes: bool = False) -> Nearness:
    recorded = {int(row.name): row for row in run.attempts if row.attempt == 1 and row.start > 0}
    jobs = [
        (replace(run.asked[number].job, submit=row.submit), max(row.end - row.start, 0))
        for number, row in recorded.items()
    ]
    factors = fairness = None
    if "multifactor" in run.conf.values.get("prioritytype", ""):
        factors, fairness = load_multifactor(run)
    passes = ("main", "full", "bf") if recorded_passes else ()
    log = [(int(event.t), event.kind) for event in run.events if event.kind in passes]
    outcome = Simulation(run.machine, jobs, clocks, factors, fairness, log=log).run()
    apart = [abs(outcome.start[number] - row.start) for number, row in recorded.items()]
    waits = [outcome.start[number] - row.submit for number, row in recorded.items()]
    truly = [row.start - row.submit for row in recorded.values()]
    count = len(apart)
    return Nearness(
        sum(gap <= 60 for gap in apart) / count,
        sum(gap <= 600 for gap in apart) / count,
        sum(waits) / count,
        sum(truly) / count,
    )
