"""Jobs on named nodes: no node gives more than it has, and who is to be alone is alone.

What a run holds of a node it holds from its start to its end, also if it was given up and its job ran again.
While it is suspended others may have its CPUs; its memory stays its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from headway.audit.laws.capacity import overfull
from headway.audit.on_nodes import Held, OnNodes, busy, runs
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, fault, found, listed, of_jobs, together
from headway.plain import counted
from headway.schedule import Shares
from headway.site import Site
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

    return together(
        of_jobs(record, counts == 0, lambda row: "has no nodes"),
        of_jobs(record, single < counts, lambda row: "lists a node twice"),
        of_jobs(
            record,
            (counts > 0) & (cpus != record.procs),
            lambda row: f"has {counted(record.procs[row], 'processor')}, on its nodes they are {cpus[row]}",
        ),
        of_jobs(
            record,
            cpus < _least(record.asked, counts, named),
            lambda row: (
                f"asked for {counted(record.asked[row], 'processor')} and has {cpus[row]} on its nodes"
            ),
        ),
        _of_pieces(record),
    )


def _least(asked: Column, nodes: Column, named: OnNodes) -> Column:
    """CPUs that each job has at least on so many nodes: those that it asked for.

    Tasks of several CPUs are not divided. Where they do not all find room on the nodes, Slurm lets the last
    ones make do with what is left, so that a node may lack all but one CPU of a task; and where each node is
    to have so many tasks, the others get no CPUs.
    """
    least = asked
    per_task = np.ones_like(asked) if named.cpus_per_task is None else np.maximum(named.cpus_per_task, 1)
    if named.tasks_per_node is not None:
        bound = nodes * per_task * named.tasks_per_node
        least = np.where(named.tasks_per_node > 0, np.minimum(least, bound), least)
    return np.asarray(np.where(nodes > 1, least - nodes * (per_task - 1), least))


def _of_pieces(record: Record) -> Finding:
    """The same for the pieces of jobs that ran in several; the last ones are where the job ended."""
    pieces, named = record.pieces, record.on_nodes
    if pieces is None or pieces.shares is None or named is None:
        return Finding()
    shares, of_job = pieces.shares, named.shares
    cpus = shares.totals(len(pieces))
    moved = [
        piece
        for piece in np.flatnonzero(pieces.final(len(record))).tolist()
        if shares.nodes_of(piece) != of_job.nodes_of(int(pieces.job[piece]))
    ]

    def describe(piece: int) -> Fault:
        job, start = record.job[pieces.job[piece]], pieces.start[piece]
        if cpus[piece] != pieces.procs[piece]:
            words = f"has {counted(pieces.procs[piece], 'processor')}, on its nodes they are {cpus[piece]}"
        else:
            words = f"has {shares.nodes_of(piece)}, and not the nodes of its job"
        return fault(start, (job,), f"run {pieces.run[piece]} of job {job} {words}")

    wrong = np.union1d(np.flatnonzero(cpus != pieces.procs), moved)
    return found(wrong.tolist(), describe)


def check_cpus(record: Record) -> Finding | None:
    """At no instant are more CPUs of a node held than it has."""
    named = record.on_nodes
    if named is None or named.site is None:
        return None
    held = busy(record)
    return _within(record, named.site, held, held.shares.cpus, "CPUs", lambda node: node.cpus)


def check_memory(record: Record) -> Finding | None:
    """The same for memory, where the site counts it."""
    named = record.on_nodes
    if named is None or named.site is None or not named.shares.memory_mb.any():
        return None
    held = runs(record)
    memory = held.shares.memory_mb
    return _within(record, named.site, held, memory, "MB", lambda node: node.memory_for_jobs_mb)


def check_alone(record: Record) -> Finding | None:
    """A job that has its nodes to itself meets nobody on them; in some partitions every job has."""
    named = record.on_nodes
    if named is None:
        return None
    held = busy(record)
    alone = held.shares.alone | np.array(_exclusive(named), np.bool_)[held.job[held.shares.job]]
    findings = []
    for name, rows in _by_node(held.shares):
        stretch = held.shares.job[rows]
        jobs, start, end = held.job[stretch], held.start[stretch], held.end[stretch]
        lonely = np.flatnonzero(alone[rows])
        disturbed = lonely[_met(start, end, lonely) > 0]
        findings.append(found(disturbed.tolist(), _meeting(record, name, (jobs, start, end))))
    return together(*findings)


def _met(start: Column, end: Column, lonely: Column) -> Column:
    """How many other stretches of running on a node lie in the same time as each lonely one."""
    begun = np.searchsorted(np.sort(start), end[lonely], side="left")
    over = np.searchsorted(np.sort(end), start[lonely], side="right")
    itself = np.where(end[lonely] > start[lonely], 1, -1)
    return np.asarray(begun - over - itself)


def _meeting(record: Record, name: str, held: tuple[Column, Column, Column]) -> Callable[[int], Fault]:
    jobs, start, end = held

    def describe(own: int) -> Fault:
        meets = (start < end[own]) & (end > start[own])
        others = record.job[np.unique(jobs[meets & (jobs != jobs[own])])].tolist()
        job = record.job[jobs[own]]
        message = f"job {job} is to be alone on {name} and meets {listed(others)}"
        return fault(start[own], (job, *others), message)

    return describe


def _exclusive(named: OnNodes) -> list[bool]:
    """For each job whether its partition gives whole nodes only."""
    site = named.site
    if site is None:
        return [False] * len(named.user)
    whole = {one.name: site.is_linear or one.oversubscribe == "EXCLUSIVE" for one in site.partitions}
    return [whole.get(name, False) for name in named.partition]


def _by_node(shares: Shares) -> Iterator[tuple[str, Column]]:
    """The shares of each node, as places in the table."""
    order = np.argsort(shares.node, kind="stable")
    node = shares.node[order]
    for code in np.unique(node).tolist():
        first, last = np.searchsorted(node, [code, code + 1]).tolist()
        yield shares.names[code], order[first:last]


def _within(
    record: Record,
    site: Site,
    held: Held,
    amount: Column,
    unit: str,
    size: Callable[[Node], int],
) -> Finding:
    """No node gives more than its size."""
    findings = []
    for name, rows in _by_node(held.shares):
        place = site.node_place.get(name)
        if place is None:
            continue  # the invariant of partitions names it
        stretch = held.shares.job[rows]
        jobs, start, end = held.job[stretch], held.start[stretch], held.end[stretch]
        have = size(site.nodes[place])
        instants, needs = overfull(start, end, amount[rows], have)
        findings.append(found(range(len(instants)), _describe(
            record, name, unit, have, (jobs, start, end), (instants, needs)
        )))  # fmt: skip
    return together(*findings)


def _describe(
    record: Record,
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
        return fault(t, there, message)

    return describe
