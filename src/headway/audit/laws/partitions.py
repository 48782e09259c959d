"""Partitions: a job runs on nodes of its partition that have its features, within the partition's limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headway.audit.on_nodes import OnNodes
from headway.audit.record import Record
from headway.audit.verdict import Column, Finding, of_jobs
from headway.plain import counted
from headway.site import Site
from headway.site.access import Asker, restricts, rule_against
from headway.units import MINUTE, seconds_text

Complaint = tuple[int, str]
"""A row of the record, and what is wrong with it."""


def check_nodes(record: Record) -> Finding | None:
    """Every node is one of the site, of the job's partition, and has the features it asked for."""
    named = record.on_nodes
    if named is None or named.site is None:
        return None
    members = {
        one.name: {named.site.nodes[place].name for place in one.nodes} for one in named.site.partitions
    }
    wrong: list[Complaint] = []
    bounds = named.shares.bounds(len(record)).tolist()
    for row, (first, last) in enumerate(pairwise(bounds)):
        nodes = [named.shares.names[code] for code in named.shares.node[first:last].tolist()]
        partition = named.partition[row]
        if partition not in members:
            wrong.append((row, f"ran in the partition {partition!r}, which the site does not have"))
            continue
        outside = [name for name in nodes if name not in members[partition]]
        if outside:
            wrong.append((row, f"ran in the partition {partition} on {', '.join(outside)}, not in it"))
        without = _without(named.site, nodes, named.constraint[row])
        if without:
            asked = named.constraint[row]
            wrong.append((row, f"asked for nodes with {asked} and ran on {', '.join(without)} without"))
    return complaints(record, wrong)


def _without(site: Site, nodes: Sequence[str], constraint: str) -> list[str]:
    """The nodes that lack a feature; of constraints with counts or brackets nothing is said."""
    if not constraint or re.search(r"[\[\]*()]", constraint):
        return []
    choices = [{name.strip().lower() for name in part.split("&")} for part in constraint.split("|")]
    known = {node.name: {name.lower() for name in node.features} for node in site.nodes}
    return [name for name in nodes if name in known and not any(part <= known[name] for part in choices)]


def check_access(record: Record) -> Finding | None:
    """Every job's partition lets in its user, account and QOS, and jobs without a reservation."""
    named = record.on_nodes
    if named is None or named.site is None or not any(map(restricts, named.site.partitions)):
        return None
    site = named.site
    wrong: list[Complaint] = []
    rules: dict[tuple[str, Asker], str] = {}
    for row, partition in enumerate(named.partition):
        place = site.partition_place.get(partition)
        asked = None if named.reservation is None else named.reservation[row]
        asker = Asker(named.user[row], named.account[row], named.qos[row], asked)
        if place is None:
            continue
        if (partition, asker) not in rules:
            rules[partition, asker] = rule_against(site, site.partitions[place], asker)
        if rules[partition, asker]:
            rule = rules[partition, asker]
            wrong.append((row, f"ran in the partition {partition}, whose {rule} keeps it out"))
    return complaints(record, wrong)


def check_limits(record: Record) -> Finding | None:
    """No job has more time, nodes or CPUs of a node than its partition allows, nor fewer nodes.

    The CPUs of a node are counted over all jobs of the partition. Where cores have threads, a job may use one
    thread of each and hold the others beyond the bound.
    """
    named = record.on_nodes
    if named is None or named.site is None:
        return None
    wrong = _beyond(record, named, named.site) + _together(record, named, named.site)
    return complaints(record, wrong)


def _together(record: Record, named: OnNodes, site: Site) -> list[Complaint]:
    """Jobs with which a partition's jobs have more CPUs of a node together than it allows."""
    wrong: list[Complaint] = []
    bounded = {one.name: one.max_cpus_per_node or 0 for one in site.partitions if one.max_cpus_per_node}
    if not bounded:
        return wrong
    shares = named.shares
    partition = np.array([list(bounded).index(name) if name in bounded else -1 for name in named.partition])
    kept = np.flatnonzero(partition[shares.job] >= 0)
    if not len(kept):
        return wrong
    job = shares.job[kept]
    group = partition[job] * (int(shares.node.max()) + 1) + shares.node[kept]
    cpus, idle = shares.cpus[kept], np.concatenate([_idle(named, site)[kept], np.zeros_like(kept)])
    change = np.concatenate([cpus, -cpus])
    when = np.concatenate([record.start[job], record.end[job]])
    groups, who = np.concatenate([group, group]), np.concatenate([job, job])
    order = np.lexsort((change, when, groups))
    total = np.cumsum(change[order])  # each group comes back to 0
    bounds = np.array(list(bounded.values()))[partition[who[order]]]
    for place in np.flatnonzero((total - idle[order] > bounds) & (change[order] > 0)).tolist():
        row = int(who[order[place]])
        text = f"with {total[place]} CPUs of a node in use by the partition {named.partition[row]}"
        wrong.append((row, f"starts {text}, which allows {bounds[place]}"))
    return wrong


def _idle(named: OnNodes, site: Site) -> Column:
    """CPUs of each share that its job leaves idle if it uses one thread of each core."""
    threads = {node.name: max(node.threads_per_core, 1) for node in site.nodes}
    shares = named.shares
    of_node = np.array([threads.get(name, 1) for name in shares.names], np.int64)[shares.node]
    return np.asarray(shares.cpus + (-shares.cpus // of_node))


def _beyond(record: Record, named: OnNodes, site: Site) -> list[Complaint]:
    wrong: list[Complaint] = []
    counts = np.bincount(named.shares.job, minlength=len(record))
    widest = np.zeros(len(record), np.int64)
    np.maximum.at(widest, named.shares.job, named.shares.cpus - _idle(named, site))
    codes = np.array([site.partition_place.get(name, -1) for name in named.partition], np.int64)
    for place, partition in enumerate(site.partitions):
        inside = codes == place
        minutes, most = partition.max_minutes, partition.max_nodes
        where = f"and the partition {partition.name}"
        if minutes is not None:
            for row in np.flatnonzero(inside & (record.walltime > minutes * MINUTE)).tolist():
                asked = seconds_text(int(record.walltime[row]))
                wrong.append((row, f"may run for {asked} s {where} allows {minutes} min"))
        few = inside & (counts < partition.min_nodes) & (counts > 0)
        many = inside & (counts > (len(site.nodes) if most is None else most))
        for row in np.flatnonzero(few | many).tolist():
            bound = f"{partition.min_nodes} to {most}" if partition.min_nodes else f"at most {most}"
            wrong.append((row, f"has {counted(counts[row], 'node')} {where} allows {bound}"))
        cpus = partition.max_cpus_per_node
        if cpus is not None:
            for row in np.flatnonzero(inside & (widest > cpus)).tolist():
                wrong.append((row, f"has {counted(widest[row], 'CPU')} of a node {where} allows {cpus}"))
    return wrong


def complaints(record: Record, wrong: list[Complaint]) -> Finding:
    """Complaints as faults."""
    return of_jobs(record, range(len(wrong)), lambda place: wrong[place][1], rows=[row for row, _ in wrong])
