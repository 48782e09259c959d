"""The jobs of a site: its log, with what each asked for and the limits of its partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.site.node_names import expanded
from headway.units import MINUTE
from headway.workload.header import Header
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.read import read_requests

if TYPE_CHECKING:
    from headway.site.model import Partition
    from headway.site.site import Site
    from headway.workload.table import Workload

YEAR_MINUTES = 365 * 24 * 60
"""What Slurm plans with for a job without any time limit."""

DEFAULTS = {"overrun": "late", "cancelled": "wait"}
"""Reading rules of a site's log that differ from the others': a kill is late, as it was, and jobs that were
cancelled while they waited are in the queue until then."""


def defaults(site: Site) -> dict[str, str]:
    """The reading rules of a site's log.

    Where the simulation sends jobs back to the queue itself, for others or because their node goes down, a
    job is submitted when it first was: its last run alone would come too late, and load would be missing.
    """
    modes = [site.config.get("PreemptMode"), *(one.preempt_mode for one in site.partitions)]
    modes += [one.preempt_mode for one in site.qos]
    preempts = not site.config.get("PreemptType").lower().endswith("none")
    for_others = preempts and any("REQUEUE" in mode.upper() for mode in modes)
    lost = site.config.number("JobRequeue") > 0 and any(one.ends_jobs for one in site.events)
    return DEFAULTS | ({"requeues": "first"} if for_others or lost else {})


def read_jobs(site: Site, log: str | None, rules: Mapping[str, str]) -> Workload:
    """The workload of a log; where it is no output of sacct, without Slurm's columns."""
    if log is None and site.jobs is None:
        place = site.folder or site.name
        raise UsageError(f"{place}: the site has no log; add jobs.txt (sacct --parsable2), or give a log")
    chosen = {**defaults(site), "zone": site.zone, **rules}
    workload = read_requests(str(site.jobs) if log is None else log, chosen)
    if workload.header.max_procs is None:
        workload = workload.with_header(Header((*workload.header.lines, f"; MaxProcs: {site.cpus}")))
    if "min_nodes" not in workload:
        return workload
    workload = _with_default_memory(site, _with_whole_nodes(site, workload))
    return _with_limits(site, _with_reservations(site, workload))


def _with_whole_nodes(site: Site, workload: Workload) -> Workload:
    """Jobs that asked for fewer CPUs than their nodes have and got all of them had the nodes to themselves.

    That is how a log shows ``--exclusive`` in a job script, which is not in the line that submitted it. CPUs
    for its GPUs are asked for, too.
    """
    got, exclusive = workload.get("allocated"), workload.columns["exclusive"]
    if got is None:
        return workload
    of_list = [_cpus_of(site, text) for text in workload.labels.get("node_list", [])]
    had = np.array([*of_list, 0], np.int64)[workload.columns["node_list"]]
    asked = np.maximum(workload.columns["cpus"], workload.columns.get("cpus_with_gpus", 0))
    whole = (exclusive == 0) & (got > asked) & (got == had)
    if not whole.any():
        return workload
    action = "had all CPUs of its nodes and asked for fewer: taken as --exclusive"
    entry = LedgerEntry.of("whole_nodes", action, workload.job[whole], dropped=False)
    exclusive = np.where(whole, 1, exclusive)
    return workload.with_columns(exclusive=exclusive).with_entries(entry)


def _cpus_of(site: Site, nodes: str) -> int:
    """CPUs of the nodes in a list; 0 where it is none."""
    try:
        return sum(site.nodes[site.node_place[name]].cpus for name in expanded(nodes))
    except (KeyError, ValueError):
        return 0


def _with_default_memory(site: Site, workload: Workload) -> Workload:
    """Jobs whose memory is what the first of their partitions gives to those who ask for none asked for none.

    The log has only the sum of it, and it is another one in a partition with another default.
    """
    total = workload.get("memory_job_mb")
    if total is None or not (total > 0).any():
        return workload
    by_cpu, by_node = _default_memory(site, workload.labels.get("partition", ()))[:, workload.partition]
    columns = workload.columns
    given = by_cpu * columns["cpus"] + by_node * columns["min_nodes"]
    none = (total > 0) & (total == given)
    return workload.with_columns(
        memory_cpu_mb=np.where(none, -1, columns["memory_cpu_mb"]),
        memory_node_mb=np.where(none, -1, columns["memory_node_mb"]),
    )


def _default_memory(site: Site, lists: Sequence[str]) -> Ints:
    """[CPU or node, list] MB that jobs of each list of partitions have by default; at last of those of none.

    Where there is no default, a job has all memory of a node; Slurm counts that of the partition's first.
    """
    found = []
    for text in [*lists, ""]:
        partition = _first_partition(site, text)
        by_cpu, by_node = (0, 0) if partition is None else site.default_memory(partition)
        if partition is not None and partition.nodes and not (by_cpu or by_node):
            first = site.nodes[min(partition.nodes)]
            by_node = first.memory_for_jobs_mb
        found.append((by_cpu, by_node))
    return np.array(found, np.int64).T


def _with_reservations(site: Site, workload: Workload) -> Workload:
    """Jobs of which the log has only the number of their reservation get its name."""
    names = {f"#{one.number}": one.name for one in site.reservations if one.number}
    given = workload.labels.get("reservation", [])
    if not any(text in names for text in given):
        return workload
    return workload.with_labels(reservation=[names.get(text, text) for text in given])


def _with_limits(site: Site, workload: Workload) -> Workload:
    """Jobs without a time limit get their partition's, or a year, as Slurm gives them."""
    asked = workload.get("requested_time")
    if asked is None or not (asked < 0).any():
        return workload
    names = workload.labels.get("partition", [])
    codes = workload.partition
    minutes = np.array([_limit(site, name) for name in [*names, ""]], np.int64)
    none = asked < 0
    walltime = np.where(none, minutes[codes] * MINUTE, workload.walltime)
    action = "no time limit: the partition's largest, or a year where it has none"
    entry = LedgerEntry.of("no_estimate", action, workload.job[none], dropped=False)
    # What the reading rule said of them does not hold: the run time stands for nothing here.
    entries = tuple(one for one in workload.ledger.entries if one.rule != "no_estimate")
    ledger = Ledger(workload.ledger.total, entries).with_entries(entry)
    return workload.with_columns(walltime=walltime).with_ledger(ledger)


def _limit(site: Site, names: str) -> int:
    """The largest limit of the first partition of a list."""
    partition = _first_partition(site, names)
    most = None if partition is None else partition.max_minutes
    return YEAR_MINUTES if most is None else most


def _first_partition(site: Site, names: str) -> Partition | None:
    """The first partition of a list; the default one where the site has it not."""
    place = site.partition_place.get(names.split(",")[0])
    return site.default_partition if place is None else site.partitions[place]
