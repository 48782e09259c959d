"""Limits of QOS and associations: where one counts for a job, it is kept at the instant the job starts.

For each limit the partition's QOS decides if it sets it, then the job's (the other way round with the flag
OverPartQOS), then the job's association and, for limits of a group, every account above it. A job counts
with its QOS, with that of its partition, and with all its associations, whoever decides for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from headway.audit.on_nodes import OnNodes
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, Mask, fault, found, listed, together
from headway.site import Site
from headway.site.access import limits_bind
from headway.site.model import Limits
from headway.units import seconds_text

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


def check(record: Record) -> Finding | None:
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
