"""The reference of the grid beside the simulator, and small workloads of moldable and local jobs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import headway
from headway import Schedule
from headway.platform import Cluster, Platform
from headway.policies.spec import Spec, parse_spec
from headway.schedule import WHY
from headway.units import SECOND
from headway.workload import Workload
from instances import log_of
from reference.grid import Cluster as Site
from reference.grid import Grid, simulate_reallocation
from reference.jobs import Job


def grid_log(jobs: Sequence[Job], names: Sequence[str] = ("a", "b", "c")) -> Workload:
    """The workload of jobs whose times are µs, with what a grid needs to know of them."""
    fraction = [math.nan if job.parallel_fraction is None else float(job.parallel_fraction) for job in jobs]
    limit = [-1 if job.max_procs is None else job.max_procs for job in jobs]
    home = [-1 if job.cluster is None else list(names).index(job.cluster) for job in jobs]
    size = [float(job.file_gb) if job.file_gb else math.nan for job in jobs]
    log = log_of(
        jobs, parallel_fraction=fraction, max_procs=limit, cluster=home, local=[job.local for job in jobs],
        file_gb=size,
    )  # fmt: skip
    return log.with_labels(cluster=list(names))


def platform_of(sites: Sequence[Site]) -> Platform:
    """The platform of the reference's clusters."""
    return Platform(tuple(Cluster(site.name, float(site.speed), site.procs) for site in sites))


def made(jobs: Sequence[Job], sites: Sequence[Site], spec: str) -> Schedule:
    """What the simulator makes of the jobs; periods and thresholds of the spec are in seconds."""
    return headway.simulate(grid_log(jobs, [site.name for site in sites]), platform_of(sites), spec)


def expected(jobs: Sequence[Job], sites: Sequence[Site], spec: str) -> Grid:
    """What the reference makes of them."""
    params = dict(parse_spec(spec).params)
    local = params["local"]
    assert isinstance(local, Spec)
    period = float(str(params["period"]))
    return simulate_reallocation(
        jobs,
        sites,
        str(params["heuristic"]),
        str(params["mode"]),
        10**15 if math.isinf(period) else round(period * SECOND),
        round(float(str(params["threshold"])) * SECOND),
        int(str(params["oldest"])),
        str(params["tuning"]),
        local.name,
        str(local.params.get("compress", "early")),
        str(local.params.get("hole", "closed")),
        str(params["law"]),
        Fraction(str(params["sigma"])),
        transfer=[transfer_of(job, params) for job in jobs],
        reserved=Fraction(str(params["reserved"])),
    )


def transfer_of(job: Job, params: Mapping[str, object]) -> int:
    """How long the data of a job take to another cluster, in µs."""
    seconds = Fraction(str(params["transfer"]))
    if not math.isinf(float(str(params["link"]))):
        seconds += Fraction(repr(float(job.file_gb))) / Fraction(str(params["link"]))
    return math.ceil(seconds * SECOND)


def check(jobs: Sequence[Job], sites: Sequence[Site], spec: str) -> tuple[Schedule, Grid]:
    """Compare job for job: starts, ends, kills, promises, clusters, sizes, times, and every move."""
    schedule, reference = made(jobs, sites, spec), expected(jobs, sites, spec)
    names = [site.name for site in sites]
    assert schedule.promise is not None and schedule.moves is not None
    for row, (job, result) in enumerate(zip(jobs, reference.results, strict=True)):
        columns = (schedule.start, schedule.end, schedule.killed, schedule.promise)
        assert [int(column[row]) for column in columns] == [
            result.start, result.end, result.killed, (-1 if result.promise is None else result.promise),
        ], (job, spec)  # fmt: skip
        assert int(schedule.procs[row]) == reference.procs[row], (job, spec)
        if schedule.cluster is not None:
            assert names[schedule.cluster[row]] == reference.clusters[row], (job, spec)
        assert (WHY[schedule.why[row]] == "moved") == (result.why == "moved")
    rows = zip(
        *(getattr(schedule.moves, name).tolist() for name in ("job", "time", "source", "target")), strict=True
    )
    assert [(j, t, names[a], names[b]) for j, t, a, b in rows] == reference.moves, spec
    return schedule, reference
