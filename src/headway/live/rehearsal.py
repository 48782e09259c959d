"""A rehearsal: the jobs of a log go through a live agent to simulated clusters, in scaled time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

from headway.errors import UsageError
from headway.live.agent import LiveAgent
from headway.live.batch import Batch
from headway.live.conductor import Conductor
from headway.live.grid_file import Grid
from headway.live.launch import end, start_servers, wait_for
from headway.live.log_tasks import tasks_of
from headway.live.record import recorded
from headway.schedule import Schedule
from headway.workload import Workload


def rehearse(
    grid: Grid, workload: Workload, say: Callable[[str], None], progress: Callable[[int, int], None]
) -> Schedule:
    """Agent and servers as processes; the schedule is the one that a simulation gives."""
    if not grid.is_simulated:
        raise UsageError(f'{grid.file}: a rehearsal needs clusters of kind = "simulated"')
    grid = replace(grid, keep=max(grid.keep, len(workload)))  # all tasks are in the schedule
    shutil.rmtree(grid.folder, ignore_errors=True)
    for site in {site.policy: site for site in grid.sites}.values():
        Batch.warm(site.cluster, site.policy)
    processes = start_servers(grid, control=True)
    try:
        for site, process in zip(grid.sites, processes, strict=True):
            wait_for(site.listen, process, grid.folder / f"{site.name}.log", "describe", grid).close()
        agent = LiveAgent(grid, True, say)
        try:
            Conductor(agent, tasks_of(workload)).run(progress)
            return recorded(grid, agent.journal)
        finally:
            agent.stop()
    finally:
        end(processes)
