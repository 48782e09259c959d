"""What forecasts are made from: a log, the policy in force, and perhaps the present queue of a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.inputs import parse_rules
from headway.errors import UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec
from headway.units import SECOND, seconds_text

if TYPE_CHECKING:
    from headway.cli.runs import Inputs
    from headway.forecast import Outlook
    from headway.platform import Platform
    from headway.workload import Workload


def past_of(
    trace: str,
    procs: int | None,
    site: Path | None,
    rule: list[str] | None,
    simulated: bool,
    *,
    sizes: str,
    quiet: bool,
) -> Inputs:
    """The log that forecasts are made from: who still ran or waited when it was taken does so in them."""
    from headway.cli.runs import Inputs

    rules, defaults = parse_rules(rule), {} if simulated else {"unfinished": "open"}
    sizes = f"{sizes} or --site DIR"
    return Inputs.read(
        trace, procs, None, None, rules, quiet=quiet, site=site, sizes=sizes, defaults=defaults
    )


def policy_of(inputs: Inputs) -> str:
    """The policy that is taken to be in force where none is named."""
    return "easy" if inputs.platform.site is None else "slurm(seed=1)"


def outlook_of(inputs: Inputs, policy: str, simulated: bool) -> Outlook:
    """What happened, as the log recorded it or as the policy would have had it, and the policy."""
    from headway.forecast import Outlook, Record

    spec = parse_spec(policy)
    if simulated:
        record = Record.of(inputs.run(spec, 0))
    else:
        record = Record.recorded(with_partitions(inputs.workload, inputs.platform), inputs.platform)
    return Outlook(record, spec)


def with_partitions(workload: Workload, platform: Platform) -> Workload:
    """The same jobs, with codes for the partitions of a site that none of them asked for."""
    if platform.site is None or "partition" not in workload.labels:
        return workload
    labels = list(workload.labels["partition"])
    names = (partition.name for partition in platform.site.partitions)
    return workload.with_labels(partition=[*labels, *(name for name in names if name not in labels)])


def live_outlook(inputs: Inputs, policy: str, grid: Path, cluster: str, asked: int) -> tuple[Outlook, str]:
    """The present queue of a cluster behind the log, and now in seconds on the log's clock.

    Without a site's nodes the machine is as many processors as there are on nodes that are up. Nobody knows
    when the others come back, nor so when those may start who wait for them. A site has its nodes and
    partitions in the states of now.
    """
    from headway.forecast import Outlook, Record, present
    from headway.live.grid_file import load_grid
    from headway.live.queue_now import queue_now, room_now, site_now
    from headway.platform import Platform

    of = load_grid(grid)
    site = of.site(cluster)
    if site.kind != "slurm":
        raise UsageError(f"{cluster} is a {site.kind} cluster; --live looks at Slurm")
    jobs, now = queue_now(of, site)
    past = Record.recorded(with_partitions(inputs.workload, inputs.platform), inputs.platform)
    machine = inputs.platform
    if machine.site:
        last = min(past.last // SECOND + (past.workload.header.unix_start or 0), now // SECOND)
        machine = replace(machine, site=site_now(of, site, machine.site, last))
    else:
        room = room_now(of, site, jobs)
        if room < asked:
            have = f"{cluster} has {counted(room, 'processor')} on nodes that are up"
            raise UsageError(
                f"{have}; a job of {asked} must wait for others to come back, and nobody knows when they will"
            )
        machine = Platform.procs(room)
        jobs = [job for job in jobs if job.start is not None or job.procs <= room]
    record, at = present(jobs, now, machine, past)
    return Outlook(record, policy), seconds_text(at)
