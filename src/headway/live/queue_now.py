"""The queue of a Slurm cluster as it is now, for a forecast; nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence

from headway.forecast.present import Present
from headway.live import outside
from headway.live.grid_file import Grid, Site
from headway.live.slurm.commands import Slurm
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import in_order, look_at, parse_queue
from headway.site import Site as SlurmSite


def room_now(grid: Grid, site: Site, jobs: Sequence[Present]) -> int:
    """The processors that jobs can have now: not those of nodes that are down or drained."""
    usable = Nodes(Slurm(site.name, site.conf, grid.timeout)).usable(site.cluster.procs, site.partition)
    return max(usable, sum(job.procs for job in jobs if job.start is not None))


def site_now(grid: Grid, cluster: Site, site: SlurmSite, last: int) -> SlurmSite:
    """A site known up to ``last`` (s since 1970) with its nodes and partitions as they are now."""
    return Nodes(Slurm(cluster.name, cluster.conf, grid.timeout)).since(site, last)


def queue_now(grid: Grid, site: Site) -> tuple[list[Present], int]:
    """The jobs that run, then those that wait in Slurm's order of priority; and when (µs since 1970).

    Jobs that are held, or wait for a time or for other jobs, are left out: nobody knows when they may start.
    """
    jobs = parse_queue(look_at(Slurm(site.name, site.conf, grid.timeout)))
    now = outside.now()
    jobs = [job for job in jobs if job.is_in(site.partition)]
    running = [job for job in jobs if job.state == "running" and job.start is not None]
    waiting = [job for job in in_order(jobs) if job.may_start]
    return [
        Present(
            procs=job.procs,
            walltime=job.limit,
            submit=job.submitted,
            start=job.start if job in running else None,
            user=job.user,
            number=number,
            partition=job.partition,
            nodes=job.nodes,
            account=job.account,
            qos=job.qos,
        )
        for number, job in enumerate([*running, *waiting], 1)
    ], now
