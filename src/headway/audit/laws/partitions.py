"""Partitions: a job runs on nodes of its partition that have its features, within the partition's limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headway.audit.on_nodes import OnNodes
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, listed
from headway.site import Site
from headway.units import SECOND, seconds_text

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
    return found_on_nodes(record, "partition nodes", wrong)


def _without(site: Site, nodes: Sequence[str], constraint: str) -> list[str]:
    """The nodes that lack a feature; of constraints with counts or brackets nothing is said."""
    if not constraint or re.search(r"[\[\]*()]", constraint):
        return []
    choices = [{name.strip().lower() for name in part.split("&")} for part in constraint.split("|")]
    known = {node.name: {name.lower() for name in node.features} for node in site.nodes}
    return [name for name in nodes if name in known and not any(part <= known[name] for part in choices)]


def check_limits(record: Record) -> Finding | None:
    """No job has more time, more or fewer nodes, or more CPUs of a node than its partition allows."""
    named = record.on_nodes
    if named is None or named.site is None:
        return None
    return found_on_nodes(record, "partition limits", _beyond(record, named, named.site))


def _beyond(record: Record, named: OnNodes, site: Site) -> list[Complaint]:
    wrong: list[Complaint] = []
    counts = np.bincount(named.shares.job, minlength=len(record))
    widest = np.zeros(len(record), np.int64)
    np.maximum.at(widest, named.shares.job, named.shares.cpus)
    codes = np.array([site.partition_place.get(name, -1) for name in named.partition], np.int64)
    for place, partition in enumerate(site.partitions):
        inside = codes == place
        minutes, most = partition.max_minutes, partition.max_nodes
        where = f"and the partition {partition.name}"
        if minutes is not None:
            for row in np.flatnonzero(inside & (record.walltime > minutes * 60 * SECOND)).tolist():
                asked = seconds_text(int(record.walltime[row]))
                wrong.append((row, f"may run for {asked} s {where} allows {minutes} min"))
        few = inside & (counts < partition.min_nodes) & (counts > 0)
        many = inside & (counts > (len(site.nodes) if most is None else most))
        for row in np.flatnonzero(few | many).tolist():
            bound = f"{partition.min_nodes} to {most}" if partition.min_nodes else f"at most {most}"
            wrong.append((row, f"has {counts[row]} nodes {where} allows {bound}"))
        cpus = partition.max_cpus_per_node
        if cpus is not None:
            for row in np.flatnonzero(inside & (widest > cpus)).tolist():
                wrong.append((row, f"has {widest[row]} CPUs of a node {where} allows {cpus}"))
    return wrong


def found_on_nodes(record: Record, law: str, wrong: list[Complaint]) -> Finding:
    def describe(place: int) -> Fault:
        row, words = wrong[place]
        job = record.job[row]
        return fault(law, record.start[row], (job,), f"{listed([job])} {words}")

    return found(range(len(wrong)), describe)
