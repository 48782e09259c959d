"""From a site to the tables of those who set limits and are charged: QOS, accounts and users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.jit.rows import zeros
from headway.policies.slurm.queue.fairshare import PARENT
from headway.policies.slurm.setup.levels import mode_of
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.passes import Ranks
from headway.policies.slurm.tables.settings import Waiver
from headway.policies.slurm.tables.sites import Cap, Factors, Holders, Tres, Usage
from headway.site import Site
from headway.site.model import Limits
from headway.site.modelled import is_weighed
from headway.site.once import once
from headway.site.usage import usage_at

NAMED = ("cpu", "mem", "node", "billing")
"""Resources that have numbers of their own (:class:`Tres`)."""

WAIVERS = {
    "PARTITIONMINNODES": Waiver.MIN_NODES,
    "PARTITIONMAXNODES": Waiver.MAX_NODES,
    "PARTITIONTIMELIMIT": Waiver.TIME,
}
"""Flags of a QOS whose jobs a bound of partitions does not bind."""


def or_unset(value: int | None) -> int:
    """A number, or -1 where there is none."""
    return UNSET if value is None else value


def factors(site: Site, holders: int) -> Factors:
    """Factors of partitions, QOS and associations, of the largest there is; as they are with NO_NORMAL_*."""
    table = zeros(Factors, max(holders, len(site.partitions), 1))

    flags = set(site.config.list("PriorityFlags"))

    def of_largest(row: int, first: int, given: Sequence[int], flag: str) -> None:
        largest = max(given, default=0) if flags.isdisjoint(("NO_NORMAL_ALL", flag)) else 1
        if largest > 0:
            table[row, first : first + len(given)] = [value / largest for value in given]

    of_largest(Factors["partition"], 0, [one.job_factor for one in site.partitions], "NO_NORMAL_PART")
    of_largest(Factors["qos"], 0, [qos.priority for qos in site.qos], "NO_NORMAL_QOS")
    priorities = [one.priority for one in site.associations]
    of_largest(Factors["association"], len(site.qos), priorities, "NO_NORMAL_ASSOC")
    return table


@once
def holder_rows(site: Site) -> Holders:
    """QOS, then associations: shares, tree and limits that are no resources."""
    qos, count = len(site.qos), len(site.qos) + len(site.associations)
    rows = Holders(np.full((len(Holders), max(count, 1)), UNSET, np.int64))
    rows[
        [
            Holders["submitted"],
            Holders["ageing"],
            Holders["is_user"],
            Holders["running"],
            Holders["no_decay"],
            Holders["over_partition"],
            Holders["no_reserve"],
            Holders["waives"],
        ]
    ] = 0
    for h, one in enumerate(site.qos):
        flags = {flag.upper() for flag in one.flags}
        rows.no_decay[h] = "NODECAY" in flags
        rows.over_partition[h] = "OVERPARTQOS" in flags
        rows.no_reserve[h] = "NORESERVE" in flags
        rows.waives[h] = sum(bound for name, bound in WAIVERS.items() if name in flags)
        rows.min_priority[h] = or_unset(one.min_prio_threshold)
        rows.priority[h] = one.priority
        rows.exempt[h] = or_unset(one.preempt_exempt_seconds)
        rows.preempt[h] = mode_of(site, one.preempt_mode)
        rows.grace[h] = one.grace_seconds
        _limits(rows, h, one.limits)
    for h, association in enumerate(site.associations, start=qos):
        rows.parent[h] = UNSET if association.parent < 0 else qos + association.parent
        rows.shares[h] = association.shares
        rows.is_user[h] = bool(association.user)
        _limits(rows, h, association.limits)
    return rows


def _limits(rows: Holders, h: int, limits: Limits) -> None:
    for row, value in (
        (Holders["grp_jobs"], limits.grp_jobs),
        (Holders["grp_wall"], limits.grp_wall_minutes),
        (Holders["max_jobs"], limits.max_jobs),
        (Holders["max_wall"], limits.max_wall_minutes),
        (Holders["max_jobs_user"], limits.max_jobs_per_user),
        (Holders["max_jobs_account"], limits.max_jobs_per_account),
        (Holders["grp_submit"], limits.grp_submit),
        (Holders["max_submit"], limits.max_submit),
        (Holders["max_submit_user"], limits.max_submit_per_user),
        (Holders["max_submit_account"], limits.max_submit_per_account),
        (Holders["grp_ageing"], limits.grp_jobs_accrue),
        (Holders["max_ageing"], limits.max_jobs_accrue),
        (Holders["max_ageing_user"], limits.max_jobs_accrue_per_user),
        (Holders["max_ageing_account"], limits.max_jobs_accrue_per_account),
    ):
        rows[row, h] = or_unset(value)


def caps(site: Site, resources: Sequence[str]) -> Table:
    """Limits that are counted by resource."""
    holders: list[Limits] = [one.limits for one in site.qos] + [one.limits for one in site.associations]
    count = max(len(holders), 1)
    table = np.full((len(Cap) * count, len(resources)), UNSET, np.int64)
    for h, limits in enumerate(holders):
        for cap, given in (
            (Cap.GRP, limits.grp_tres), (Cap.GRP_MINS, limits.grp_tres_mins),
            (Cap.GRP_RUN_MINS, limits.grp_tres_run_mins), (Cap.MAX_JOB, limits.max_tres),
            (Cap.MAX_NODE, limits.max_tres_per_node), (Cap.MAX_MINS_JOB, limits.max_tres_mins),
            (Cap.MIN_JOB, limits.min_tres), (Cap.MAX_USER, limits.max_tres_per_user),
            (Cap.MAX_ACCOUNT, limits.max_tres_per_account),
        ):  # fmt: skip
            for name, value in given.items():
                table[cap * count + h, resources.index(name)] = value
    return table


def limits_age(limits: Limits) -> bool:
    """Whether a holder's limits are on jobs that gain age."""
    ages = (
        limits.grp_jobs_accrue, limits.max_jobs_accrue, limits.max_jobs_accrue_per_user,
        limits.max_jobs_accrue_per_account,
    )  # fmt: skip
    return any(one is not None for one in ages)


@once
def limits_nodes(site: Site) -> bool:
    """Whether anybody's jobs may hold only so many nodes together."""
    return any(
        "node" in given
        for one in _all_limits(site)
        for given in (one.grp_tres, one.max_tres_per_user, one.max_tres_per_account)
    )


@once
def bounds_nodes(site: Site) -> bool:
    """Whether limits bound the nodes of any job, alone or together with others."""
    return limits_nodes(site) or any("node" in one.max_tres for one in _all_limits(site))


def _all_limits(site: Site) -> list[Limits]:
    """The limits of each QOS and association."""
    return [one.limits for one in site.qos] + [one.limits for one in site.associations]


@once
def other_resources(site: Site) -> list[str]:
    """Resources beyond the named ones that some limit counts, that jobs are billed for, or that weigh."""
    names = {name: None for partition in site.partitions for name in partition.billing_weights}
    names.update(dict.fromkeys(tres_weights(site)))
    for limits in [*(one.limits for one in site.qos), *(one.limits for one in site.associations)]:
        for value in (getattr(limits, name) for name in limits.__slots__):
            if isinstance(value, Mapping):
                names.update(dict.fromkeys(value))
    return [name for name in names if name not in NAMED]


def usage_rows(site: Site, first: int) -> Usage:
    """Usage when the simulation begins (s since 1970), shares of each level, usage factors."""
    qos, count = len(site.qos), len(site.qos) + len(site.associations)
    rows = zeros(Usage, max(count, 1))
    rows[[Usage["factor"], Usage["limit_factor"]]] = 1.0
    rows.factor[:qos] = [one.usage_factor for one in site.qos]
    safe = ["USAGEFACTORSAFE" in {flag.upper() for flag in one.flags} for one in site.qos]
    rows.limit_factor[:qos] = np.where(safe, rows.factor[:qos], 1.0)
    level: dict[int, int] = {}
    for one in site.associations:
        if one.shares != PARENT:
            level[one.parent] = level.get(one.parent, 0) + one.shares
    used = usage_at(site, first)
    for h, one in enumerate(site.associations, start=qos):
        rows.raw[h] = used.get((one.account, one.user), 0.0)
        if one.parent < 0:
            rows[[Usage["shares_norm"], Usage["shares_product"]], h] = 1.0
        elif one.shares != PARENT and level.get(one.parent):
            rows.shares_norm[h] = one.shares / level[one.parent]
    return rows


def billing(site: Site, resources: Sequence[str]) -> npt.NDArray[np.float64]:
    """What a unit of a resource is billed in each partition: one for a CPU where nothing is said."""
    table = np.zeros((len(site.partitions), len(resources)), np.float64)
    for p, partition in enumerate(site.partitions):
        for name, weight in (partition.billing_weights or {"cpu": 1.0}).items():
            if name in resources:
                table[p, resources.index(name)] = weight
    table[:, resources.index("billing")] = 0
    return table


@once
def tres_weights(site: Site) -> dict[str, float]:
    """What asking for a resource weighs in the priority."""
    given = site.config.weights("PriorityWeightTRES")
    return {name: weight for name, weight in given.items() if is_weighed(name) and weight}


def tres_whole(site: Site, resources: Sequence[str]) -> npt.NDArray[np.float64]:
    """[partition, resource] what a partition has of a resource; one with NO_NORMAL_TRES."""
    if not {"NO_NORMAL_ALL", "NO_NORMAL_TRES"}.isdisjoint(site.config.list("PriorityFlags")):
        return np.ones((len(site.partitions), len(resources)))
    table = np.zeros((len(site.partitions), len(resources)))
    for p, partition in enumerate(site.partitions):
        nodes = [site.nodes[node] for node in partition.nodes]
        table[p, [Tres.CPU, Tres.MEMORY, Tres.NODE]] = (
            sum(node.cpus for node in nodes), sum(node.memory_mb for node in nodes), len(nodes),
        )  # fmt: skip
        for tres in range(len(NAMED), len(resources)):
            table[p, tres] = sum(node.gres.get(resources[tres].partition("/")[2], 0) for node in nodes)
    return table


@once
def ranks(site: Site) -> Ranks:
    """Space to rank users in; the order begins as the associations are listed."""
    table = zeros(Ranks, max(len(site.associations), 1))
    table.order[: len(site.associations)] = len(site.qos) + np.arange(len(site.associations))
    return table
