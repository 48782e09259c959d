"""A rehearsal: the jobs of a log go through a live agent to simulated clusters, in scaled time.

Simulated clusters have no time of their own. The agent goes from one instant to the next, as a simulation
does, and waits between them where time is scaled. In each instant: what is due ends, tasks arrive, the
reallocation event, then each cluster's policy has its turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from headway.errors import UsageError
from headway.live import outside
from headway.live.agent import LiveAgent
from headway.live.batch import Batch
from headway.live.grid_file import Grid
from headway.live.journal import Journal
from headway.live.launch import running_servers
from headway.live.record import recorded
from headway.live.task import Task
from headway.plain import Notify, Progress
from headway.result import Result
from headway.units import NEVER, SECOND
from headway.workload import Workload


def rehearse(grid: Grid, workload: Workload, say: Notify, progress: Progress) -> Result:
    """Agent and servers as processes; the schedule is the one that a simulation gives."""
    if not grid.is_simulated:
        raise UsageError(f'{grid.file}: a rehearsal needs clusters of kind = "simulated"')
    grid = replace(grid, keep=max(grid.keep, len(workload)))  # all tasks are in the schedule
    _begin_anew(grid)
    for site in {site.policy: site for site in grid.sites}.values():
        Batch.warm(site.cluster, site.policy)
    with running_servers(grid):
        agent = LiveAgent(grid, True, say)
        try:
            Conductor(agent, tasks_of(workload)).run(progress)
            return recorded(grid, agent.journal)
        finally:
            agent.stop()


def _begin_anew(grid: Grid) -> None:
    """Take the journal of an earlier rehearsal away, and nothing else: who knows what the folder holds."""
    path = grid.folder / "journal.db"
    if path.exists():
        with closing(Journal(path, epoch=0)) as journal:
            is_real = journal.epoch != 0
        if is_real:
            raise UsageError(
                f"{path} is the journal of a grid that was not simulated; give the rehearsal another folder"
            )
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (grid.folder / name).unlink(missing_ok=True)


class Conductor:
    """Moves the clock of a simulated grid; ``arrivals`` are (submit, task) in order, times in µs."""

    def __init__(self, agent: LiveAgent, arrivals: Sequence[tuple[int, Task]]) -> None:
        self.agent, self.arrivals = agent, arrivals
        self.t, self.arrived, self.last_event = 0, 0, 0
        self.following = [NEVER] * len(agent.proxies)
        self.tasks: list[int] = []
        """The journal's numbers of the tasks that have arrived."""
        agent.clock = lambda: self.t

    def run(self, progress: Progress | None = None, until: int = NEVER) -> None:
        """Go on until nothing more happens, or to the last instant before ``until``."""
        begun, scale = outside.steady(), self.agent.grid.scale
        first = self.arrivals[0][0] if self.arrivals else 0
        while (t := self._next()) < until:
            if scale:
                outside.sleep(max(0.0, begun + (t - first) / SECOND / scale - outside.steady()))
            self._instant(t)
            if progress is not None:
                progress(self.arrived, len(self.arrivals))

    def _next(self) -> int:
        submit = self.arrivals[self.arrived][0] if self.arrived < len(self.arrivals) else NEVER
        period = self.agent.period
        event = (self.t // period + 1) * period if period and self._anybody_waits() else NEVER
        return min(submit, event, *self.following)

    def _anybody_waits(self) -> bool:
        return any(row.state == "waiting" and not row.task.cluster for row in self.agent.journal.live_tasks())

    def _instant(self, t: int) -> None:
        agent, self.t = self.agent, t
        for proxy in agent.proxies:
            proxy.ask("open", now=t)
        while self.arrived < len(self.arrivals) and self.arrivals[self.arrived][0] == t:
            row = agent.journal.add_task(self.arrivals[self.arrived][1], t)
            self.tasks.append(row.number)
            agent.arrive(row)
            self.arrived += 1
        if agent.period and t % agent.period == 0 and t > self.last_event and self._anybody_waits():
            self.last_event = t
            agent.reallocate(t)
        self.following = [proxy.ask("close")["following"] for proxy in agent.proxies]
        agent.accounts.poll(t)
        if self.arrived % 100 == 0:
            agent.forget()


def tasks_of(workload: Workload) -> list[tuple[int, Task]]:
    """(submit, task) of each job, in order of submit, then of the log; times in µs."""
    columns, count = workload.columns, len(workload)
    fraction = columns.get("parallel_fraction", np.full(count, math.nan))
    most = columns.get("max_procs", np.full(count, -1))
    local = columns.get("local", np.zeros(count, np.bool_))
    home, names = columns.get("cluster"), workload.labels.get("cluster", ())
    deadline = columns.get("deadline", np.full(count, -1))
    urgent = columns.get("urgent", np.zeros(count, np.bool_))
    found = []
    for row in workload.order.tolist():
        bound = bool(local[row])
        task = Task(
            command=("true",),
            name=str(workload.job[row]),
            procs=int(workload.procs[row]),
            walltime=max(int(workload.walltime[row]), 1),
            runtime=int(workload.runtime[row]),
            parallel_fraction=None if math.isnan(fraction[row]) or bound else float(fraction[row]),
            max_procs=int(most[row]) if most[row] > 0 else None,
            cluster=names[int(home[row])] if bound and home is not None else "",
            deadline=int(deadline[row]) if deadline[row] >= 0 else None,
            urgent=bool(urgent[row]),
        )
        found.append((int(workload.submit[row]), task))
    return found
