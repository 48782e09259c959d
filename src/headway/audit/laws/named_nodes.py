"""Jobs on named nodes: no node gives more than it has, and who is to be alone is alone.

What a job holds of a node it holds from its start to its end, both as the schedule has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from headway.audit.laws.capacity import overfull
from headway.audit.on_nodes import Column, OnNodes
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, listed, together
from headway.site.model import Node
from headway.units import seconds_text


def check_shares(record: Record) -> Finding | None:
    """Each job has nodes, each of them once, and its CPUs on them are its processors, as many as it asked."""
    named = record.on_nodes
    if named is None:
        return None
    counts = np.bincount(named.shares.job, minlength=len(record))
    places = len(named.shares.names) + 1
    pairs = np.unique(named.shares.job * places + named.shares.node)
    single = np.bincount(pairs // places, minlength=len(record))
    cpus = named.sum_of(named.shares.cpus)

    def of_rows(wrong: NDArray[np.bool_], words: Callable[[int], str]) -> Finding:
        def describe(row: int) -> Fault:
            job = record.job[row]
            return fault("node shares", record.start[row], (job,), f"job {job} {words(row)}")

        return found(np.flatnonzero(wrong).tolist(), describe)

    return together(
        of_rows(counts == 0, lambda row: "has no nodes"),
        of_rows(single < counts, lambda row: "lists a node twice"),
        of_rows(
            (counts > 0) & (cpus != record.procs),
            lambda row: f"has {record.procs[row]} processors, on its nodes they are {cpus[row]}",
        ),
        of_rows(
            cpus < record.asked,
            lambda row: f"asked for {record.asked[row]} processors and has {cpus[row]} on its nodes",
        ),
    )


def check_cpus(record: Record) -> Finding | None:
    """At no instant are more CPUs of a node held than it has."""
    named = record.on_nodes
    if named is None or named.site is None:
        return None
    return _within(record, named, "node CPUs", named.shares.cpus, "CPUs", lambda node: node.cpus)


def check_memory(record: Record) -> Finding | None:
    """The same for memory, where the site counts it."""
    named = record.on_nodes
    if named is None or named.site is None or not named.shares.memory_mb.any():
        return None
    return _within(
        record, named, "node memory", named.shares.memory_mb, "MB",
        lambda node: node.memory_mb - node.memory_spec_mb,
    )  # fmt: skip


def check_alone(record: Record) -> Finding | None:
    """A job that has its nodes to itself meets nobody on them; in some partitions every job has."""
    named = record.on_nodes
    if named is None:
        return None
    shares = named.shares
    alone = shares.alone | np.array(_exclusive(named), np.bool_)[shares.job]
    findings = []
    for name, rows in _by_node(named):
        jobs, lonely = shares.job[rows], shares.job[rows[alone[rows]]]
        disturbed = lonely[_met(record, jobs, lonely) > 0]
        findings.append(found(disturbed.tolist(), _meeting(record, name, jobs)))
    return together(*findings)


def _met(record: Record, jobs: Column, lonely: Column) -> Column:
    """How many others of the jobs on a node run at the same time as each lonely one."""
    starts, ends = np.sort(record.start[jobs]), np.sort(record.end[jobs])
    begun = np.searchsorted(starts, record.end[lonely], side="left")
    over = np.searchsorted(ends, record.start[lonely], side="right")
    itself = np.where(record.end[lonely] > record.start[lonely], 1, -1)
    return np.asarray(begun - over - itself)


def _meeting(record: Record, name: str, jobs: Column) -> Callable[[int], Fault]:
    def describe(own: int) -> Fault:
        meets = (record.start[jobs] < record.end[own]) & (record.end[jobs] > record.start[own])
        others = record.job[jobs[meets & (jobs != own)]].tolist()
        job = record.job[own]
        message = f"job {job} is to be alone on {name} and meets {listed(others)}"
        return fault("exclusive nodes", record.start[own], (job, *others), message)

    return describe


def _exclusive(named: OnNodes) -> list[bool]:
    """For each job whether its partition gives whole nodes only."""
    site = named.site
    if site is None:
        return [False] * len(named.user)
    linear = "linear" in site.config.get("SelectType").lower()
    whole = {one.name: linear or one.oversubscribe == "EXCLUSIVE" for one in site.partitions}
    return [whole.get(name, False) for name in named.partition]


def _by_node(named: OnNodes) -> Iterator[tuple[str, Column]]:
    """The shares of each node, as places in the table."""
    order = np.argsort(named.shares.node, kind="stable")
    node = named.shares.node[order]
    for code in np.unique(node).tolist():
        first, last = np.searchsorted(node, [code, code + 1]).tolist()
        yield named.shares.names[code], order[first:last]


def _within(
    record: Record, named: OnNodes, law: str, held: Column, unit: str, size: Callable[[Node], int]
) -> Finding:
    """No node gives more than its size."""
    assert named.site is not None
    findings = []
    for name, rows in _by_node(named):
        place = named.site.node_place.get(name)
        if place is None:
            continue  # the invariant of partitions names it
        jobs = named.shares.job[rows]
        start, end, have = record.start[jobs], record.end[jobs], size(named.site.nodes[place])
        instants, needs = overfull(start, end, held[rows], have)
        findings.append(found(range(len(instants)), _describe(
            record, law, name, unit, have, (jobs, start, end), (instants, needs)
        )))  # fmt: skip
    return together(*findings)


def _describe(
    record: Record,
    law: str,
    name: str,
    unit: str,
    have: int,
    held: tuple[Column, Column, Column],
    over: tuple[Column, Column],
) -> Callable[[int], Fault]:
    def describe(place: int) -> Fault:
        (jobs, start, end), t = held, over[0][place]
        there = record.job[np.unique(jobs[(start <= t) & (t < end)])].tolist()
        message = (
            f"at {seconds_text(t)} s {over[1][place]} {unit} of {name} are held, it has {have} "
            f"({listed(there)})"
        )
        return fault(law, t, there, message)

    return describe
