"""On a site: shares of named nodes, partitions, calendar, and limits of accounts and QOS."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.audit.laws.jobs import LATE
from headway.audit.laws.machine import overfull
from headway.audit.on_nodes import Held, OnNodes, busy, runs
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, Mask, fault, found, listed, of_jobs, together
from headway.plain import counted
from headway.schedule import Shares
from headway.site import Site
from headway.site.access import Asker, limits_bind, restricts, rule_against
from headway.site.model import Limits, Node
from headway.units import MINUTE, SECOND, seconds_text


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
    record: Record, site: Site, held: Held, amount: Column, unit: str, size: Callable[[Node], int]
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


# Partitions: a job runs on nodes of its partition that have its features, within the partition's limits.

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


# What a site took away for a time: nodes that were down or drained, reservations, and tasks and jobs that
# wait for others. Every run is judged whose nodes are known; for tasks and dependencies the final one.


def check_away(record: Record) -> Finding | None:
    """Nothing starts on a node that drains or is down, and nothing goes on where one goes down."""
    named = record.on_nodes
    if named is None or named.site is None or not named.site.events:
        return None
    wrong: list[Complaint] = []
    held = runs(record)
    holders = stretches_by_node(held.shares)
    for event in named.site.events:
        holding = np.array(holders.get(event.node, []), np.int64)
        rows, start, end = held.job[holding], held.start[holding], held.end[holding]
        begins = (event.start - record.origin) * SECOND
        ends = None if event.end is None else (event.end - record.origin) * SECOND
        after = np.ones(len(rows), np.bool_) if ends is None else start < ends
        for row in rows[(start > begins) & after].tolist():
            wrong.append((row, f"started on {event.node}, which was {event.state} then"))
        if event.ends_jobs:
            for row in rows[(start < begins) & (end > begins)].tolist():
                wrong.append((row, f"went on on {event.node} when that went down"))
    return complaints(record, wrong)


def check_reservations(record: Record) -> Finding | None:
    """No job runs into a reservation of its nodes that it did not ask for and that was known."""
    named = record.on_nodes
    if named is None or named.site is None or not named.site.reservations or named.reservation is None:
        return None
    wrong: list[Complaint] = []
    held = runs(record)
    holders = stretches_by_node(held.shares)
    by_name = {one.name: one for one in named.site.reservations}
    for one in named.site.reservations:
        begins, ends = ((t - record.origin) * SECOND for t in (one.start, one.end))
        known = ((one.announced or 0) - record.origin) * SECOND
        if "IGNORE_JOBS" not in one.flags and "MAINT" not in one.flags and "FLEX" in one.flags:
            continue
        for node in one.nodes:
            for run in holders.get(named.site.nodes[node].name, []):
                row = int(held.job[run])
                meets = held.start[run] < ends and held.end[run] > begins + LATE
                own = by_name.get(named.reservation[row])
                if own is not None and (own.name == one.name or own.may_overlap(one)):
                    continue
                if meets and held.start[run] >= known:
                    wrong.append((row, f"ran into the reservation {one.name}"))
    return complaints(record, list(dict.fromkeys(wrong)))


def check_arrays(record: Record) -> Finding | None:
    """No more tasks of an array run at once than its limit says."""
    named = record.on_nodes
    if named is None or named.array is None or named.array_limit is None:
        return None
    wrong: list[Complaint] = []
    for array in np.unique(named.array[(named.array >= 0) & (named.array_limit > 0)]).tolist():
        rows = np.flatnonzero(named.array == array)
        start, end = np.sort(record.start[rows]), np.sort(record.end[rows])
        running = np.arange(1, len(rows) + 1) - np.searchsorted(end, start, "right")
        limit = int(named.array_limit[rows[0]])
        if (running > limit).any():
            at = start[int(np.argmax(running > limit))]
            row = int(rows[int(np.argmax(record.start[rows] == at))])
            wrong.append(
                (row, f"started as task number {int(running.max())} of its array, which may have {limit}")
            )
    return complaints(record, wrong)


def check_dependencies(record: Record) -> Finding | None:
    """No job starts before the jobs have ended, or started, that it depends on."""
    named = record.on_nodes
    if named is None or not any(named.dependency):
        return None
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, number in enumerate(record.job.tolist()):
        rows_of[str(number)].append(row)
    if named.array is not None:
        for row in np.flatnonzero(named.array >= 0).tolist():
            rows_of[str(named.array[row])].append(row)
    wrong: list[Complaint] = []
    for row, text in enumerate(named.dependency):
        if not text or "?" in text:
            continue
        for kind, numbers in re.findall(r"(after(?:any|ok|notok)?):([\d:]+)", text):
            for number in numbers.split(":"):
                for other in rows_of.get(number, []):
                    bound = record.start[other] if kind == "after" else record.end[other]
                    if (
                        record.start[row] < bound and not record.in_pieces[other]
                    ):  # it may have started before
                        wrong.append((row, f"depends on {kind}:{number} and started before"))
    return complaints(record, list(dict.fromkeys(wrong)))


def stretches_by_node(shares: Shares) -> dict[str, list[int]]:
    """The runs that held something of each node."""
    found: dict[str, list[int]] = defaultdict(list)
    for run, node in zip(shares.job.tolist(), shares.node.tolist(), strict=True):
        found[shares.names[node]].append(run)
    return found


# Limits of QOS and associations: where one counts for a job, it is kept at the instant the job starts.
#
# For each limit the partition's QOS decides if it sets it, then the job's (the other way round with the flag
# OverPartQOS), then the job's association and, for limits of a group, every account above it. A job counts
# with its QOS, with that of its partition, and with all its associations, whoever decides for it.

JOBS = "jobs"

SETS: dict[str, Callable[[Limits], Mapping[str, int]]] = {
    "MaxTRESPerUser": lambda one: one.max_tres_per_user,
    "MaxJobsPerUser": lambda one: _jobs(one.max_jobs_per_user),
    "MaxTRESPerAccount": lambda one: one.max_tres_per_account,
    "MaxJobsPerAccount": lambda one: _jobs(one.max_jobs_per_account),
    "GrpTRES": lambda one: one.grp_tres,
    "GrpJobs": lambda one: _jobs(one.grp_jobs),
    "MaxJobs": lambda one: _jobs(one.max_jobs),
}
"""The limits that are judged, by sacctmgr's names, as resource and bound."""

OF_USERS, OF_ACCOUNTS = ("MaxTRESPerUser", "MaxJobsPerUser"), ("MaxTRESPerAccount", "MaxJobsPerAccount")
OF_GROUPS = ("GrpTRES", "GrpJobs")


def _jobs(bound: int | None) -> Mapping[str, int]:
    return {} if bound is None else {JOBS: bound}


@dataclass(frozen=True)
class Bound:
    """A limit of somebody: who counts with it, and for whom it decides (rows of the record)."""

    words: str
    resource: str
    most: int
    counts: Mask
    decides: Mask


def check_site_limits(record: Record) -> Finding | None:
    """Limits that the site enforces, with the resources cpu, mem and node, and numbers of jobs."""
    named = record.on_nodes
    if named is None or named.site is None or not limits_bind(named.site):
        return None
    amounts = {
        "cpu": record.procs,
        "mem": named.sum_of(named.shares.memory_mb),
        "node": np.bincount(named.shares.job, minlength=len(record)),
        JOBS: np.ones(len(record), np.int64),
    }
    return together(
        *(_kept(record, bound, amounts[bound.resource]) for bound in _bounds(named, named.site, amounts))
    )


def _bounds(named: OnNodes, site: Site, amounts: Mapping[str, Column]) -> Iterator[Bound]:
    holders = Holders(named, site)
    for q, qos in enumerate(site.qos):
        for kind, of in SETS.items():
            for resource, most in of(qos.limits).items():
                if resource not in amounts or kind == "MaxJobs":
                    continue
                decides = holders.qos_decides(q, of, resource)
                words = f"{kind} of the QOS {qos.name}"
                yield from _each(words, kind, resource, most, holders.with_qos(q), decides, named)
    for a, one in enumerate(site.associations):
        who = one.user or f"the account {one.account}"
        for kind in ("MaxJobs", *OF_GROUPS):
            of = SETS[kind]
            if kind == "MaxJobs" and not one.user:
                continue  # accounts hand it on to their users
            for resource, most in of(one.limits).items():
                if resource in amounts:
                    counts = holders.with_association(a)
                    decides = counts & ~holders.some_qos_sets(of, resource)
                    if kind == "MaxJobs":
                        for per in ("MaxJobsPerUser", "MaxJobsPerAccount"):
                            decides &= ~holders.some_qos_sets(SETS[per], JOBS)
                    yield Bound(f"{kind} of {who}", resource, most, counts, decides)


def _each(
    words: str, kind: str, resource: str, most: int, counts: Mask, decides: Mask, named: OnNodes
) -> Iterator[Bound]:
    """The bound itself, or one for every user or account whom it concerns."""
    if kind not in (*OF_USERS, *OF_ACCOUNTS):
        yield Bound(words, resource, most, counts, decides)
        return
    names = np.array(named.user if kind in OF_USERS else named.account)
    for name in np.unique(names[decides]).tolist():
        mine = names == name
        yield Bound(f"{words} for {name}", resource, most, counts & mine, decides & mine)


class Holders:
    """Who sets limits for which job."""

    def __init__(self, named: OnNodes, site: Site) -> None:
        self.site = site
        place, normal = site.qos_place, site.qos_place.get("normal", -1)
        self.of_job = np.array([place.get(name, normal) for name in named.qos], np.int64)
        part = {one.name: place.get(one.qos, -1) for one in site.partitions}
        self.of_part = np.array([part.get(name, -1) for name in named.partition], np.int64)
        over = [{flag.upper() for flag in one.flags} & {"OVERPARTQOS"} for one in site.qos]
        job_first = np.array([*map(bool, over), False])[self.of_job] | (self.of_part < 0)
        self.first = np.where(job_first, self.of_job, self.of_part)
        self.second = np.where(job_first, self.of_part, self.of_job)
        self.chains = self._chains(named)

    def _chains(self, named: OnNodes) -> list[frozenset[int]]:
        """The associations of each job: the user's own and all accounts above it."""
        own: dict[tuple[str, str], int] = {}
        first: dict[str, int] = {}
        for a, one in enumerate(self.site.associations):
            if one.user and not one.partition:
                own[one.account, one.user] = a
                first.setdefault(one.user, a)
        chains: dict[int, frozenset[int]] = {-1: frozenset()}

        def chain(a: int) -> frozenset[int]:
            if a not in chains:
                chains[a] = chain(self.site.associations[a].parent) | {a}
            return chains[a]

        return [
            chain(own.get((account, user), first.get(user, -1) if not account else -1))
            for account, user in zip(named.account, named.user, strict=True)
        ]

    def with_qos(self, q: int) -> Mask:
        """The jobs that count with a QOS."""
        return np.asarray((self.of_job == q) | (self.of_part == q))

    def with_association(self, a: int) -> Mask:
        """The jobs that count with an association."""
        return np.array([a in chain for chain in self.chains], np.bool_)

    def _sets(self, of: Callable[[Limits], Mapping[str, int]], resource: str) -> Mask:
        """Which QOS set a limit on a resource; the last entry stands for no QOS."""
        return np.array([*(resource in of(one.limits) for one in self.site.qos), False], np.bool_)

    def qos_decides(self, q: int, of: Callable[[Limits], Mapping[str, int]], resource: str) -> Mask:
        """The jobs for which a QOS decides, as it or the one before it sets the limit."""
        sets = self._sets(of, resource)
        return np.asarray((self.first == q) | ((self.second == q) & ~sets[self.first]))

    def some_qos_sets(self, of: Callable[[Limits], Mapping[str, int]], resource: str) -> Mask:
        """The jobs for which a QOS sets the limit, so that associations are not asked."""
        sets = self._sets(of, resource)
        return np.asarray(sets[self.first] | sets[self.second])


def _kept(record: Record, bound: Bound, amount: Column) -> Finding:
    """What is held at each start that the limit decides on, this start included."""
    rows = np.flatnonzero(bound.counts & (record.end > record.start))
    decided = np.flatnonzero(bound.decides & bound.counts)
    if not len(decided):
        return Finding()
    starts, ends = np.sort(record.start[rows]), np.sort(record.end[rows])
    taken = np.concatenate([[0], np.cumsum(amount[rows[np.argsort(record.start[rows], kind="stable")]])])
    freed = np.concatenate([[0], np.cumsum(amount[rows[np.argsort(record.end[rows], kind="stable")]])])
    instants, place = np.unique(record.start[decided], return_inverse=True)
    across = taken[np.searchsorted(starts, instants)] - freed[np.searchsorted(ends, instants, side="right")]
    new = np.bincount(place, weights=amount[decided], minlength=len(instants)).astype(np.int64)

    def describe(place: int) -> Fault:
        t = instants[place]
        there = bound.counts & (record.start <= t) & (record.end > t)
        jobs = record.job[there].tolist()
        held = across[place] + new[place]
        run, are = ("job runs", "is") if held == 1 else ("jobs run", "are")
        what = run if bound.resource == JOBS else f"{bound.resource} {are} held"
        message = f"at {seconds_text(t)} s {held} {what}, {bound.words} allows {bound.most} ({listed(jobs)})"
        return fault(t, jobs, message)

    return found(across + new > bound.most, describe)
