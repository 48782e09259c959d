"""Which jobs a site ever runs: a job that Slurm refuses, or that no partition of its has room for, is not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from headway.policies.slurm.nodes.memory_bounds import Asked, Idle, adapted
from headway.site import Site
from headway.site.access import DOORS, RULES, Asker, askers, enforces, restricts, rule_against
from headway.site.model import Partition
from headway.units import MINUTE
from headway.workload import Workload

Rows = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class KeptOut:
    """Jobs that cannot run, with rule and action of the ledger."""

    rule: str
    action: str
    rows: Rows


TOO_LARGE = "too_large", "more than any of its partitions allows: dropped"
NOT_UP = "partition", "its partition is not up, by the site's own State of it: not run"
REFUSED = {
    "ReqResv": "its partition is for jobs in a reservation (ReqResv): refused",
    "RootOnly": "its partition is for root (RootOnly): refused",
    "AllowGroups": "its partition does not allow a group of its user (AllowGroups): refused",
    "AllowAccounts": "its partition does not allow its account (AllowAccounts): refused",
    "DenyAccounts": "its partition does not allow its account (DenyAccounts): refused",
    "AllowQos": "its partition does not allow its QOS (AllowQos): refused",
    "DenyQos": "its partition does not allow its QOS (DenyQos): refused",
}
"""What is said of a job that a rule of a partition keeps out."""
NOBODY, SIZE, CLOSED = 0, 1 + len(RULES), 2 + len(RULES)
"""What keeps a job out of a partition: nothing, one of RULES (from 1 on), or that it asks for too much.
CLOSED: no partition of its is up."""


def kept_out(workload: Workload, site: Site) -> list[KeptOut]:
    """Jobs that are refused when they are submitted, or that no partition of theirs could ever run.

    A partition must have the nodes, CPUs, memory and time that a job asks for, and let it in. Of several that
    a job names one is enough; with EnforcePartLimits=ALL, or YES, all have to be. Where EnforcePartLimits is
    off, a job whose account or QOS is not allowed is accepted and waits: the simulation shows that.
    """
    names = list(workload.labels.get("partition", ()))
    given = workload.partition
    codes = np.where((given < 0) | (given >= len(names)), len(names), given)
    why = np.zeros(len(workload), np.int64)
    default = site.default_partition or site.partitions[0]
    limited = any(map(restricts, site.partitions))
    who, place = askers(site, workload.get, workload.labels) if limited else ([], np.zeros_like(codes))
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        wanted = names[code].split(",") if code < len(names) else [default.name]
        known = [name for name in wanted if name in site.partition_place] or [default.name]
        parts = [site.partitions[site.partition_place[name]] for name in known]
        if not any(is_up(site, part) for part in parts):
            why[rows] = CLOSED
            continue
        fits = np.array([_fits(workload, site, part)[rows] for part in parts])
        against = np.array([_against(site, part, who, place[rows]) for part in parts])
        why[rows] = np.where(_accepted(site, fits, against), NOBODY, _first(site, fits, against))
    found = [KeptOut(*TOO_LARGE, why == SIZE), KeptOut(*NOT_UP, why == CLOSED)]
    if limited:
        found += [KeptOut("partition", REFUSED[rule], why == 1 + k) for k, rule in enumerate(RULES)]
    return [one for one in found if one.rows.any()]


def _against(site: Site, part: Partition, who: list[Asker], place: Codes) -> Codes:
    """The rule that keeps each job out of a partition."""
    if not restricts(part):
        return np.zeros(len(place), np.int64)
    rules = [rule_against(site, part, one) for one in who]
    return np.array([1 + RULES.index(rule) if rule else NOBODY for rule in rules], np.int64)[place]


def _accepted(site: Site, fits: Rows, against: Codes) -> Rows:
    """Which jobs may run, or wait for their account or QOS; both tables by partition and job.

    Where a reservation, root or a group is wanted, EnforcePartLimits=ANY lets no partition make up for it.
    """
    door = (against > NOBODY) & (against <= len(DOORS))
    passes, how = fits & (against == NOBODY), enforces(site)
    if how == "ALL":
        return np.asarray(passes.all(axis=0), np.bool_)
    if how == "ANY":
        return np.asarray(passes.any(axis=0) & ~door.any(axis=0), np.bool_)
    return np.asarray((fits & ~door).any(axis=0), np.bool_)


def _first(site: Site, fits: Rows, against: Codes) -> Codes:
    """What keeps jobs out first: by partition with EnforcePartLimits=ALL, else rules before size."""
    why = np.where(against > NOBODY, against, np.where(fits, NOBODY, SIZE))
    ranked = (why > NOBODY) if enforces(site) == "ALL" else (why > NOBODY) * (1 + (against > NOBODY))
    return np.asarray(why[ranked.argmax(axis=0), np.arange(why.shape[1])], np.int64)


def _fits(workload: Workload, site: Site, partition: Partition) -> Rows:
    """Which jobs a partition can run when it is empty."""
    nodes = [site.nodes[node] for node in partition.nodes]
    least, bound = _nodes_asked(workload)
    waived = {flag: _waived(workload, site, flag) for flag in ("MINNODES", "MAXNODES", "TIMELIMIT")}
    most = np.full(len(workload), len(nodes))
    if partition.max_nodes is not None:
        most = np.where(waived["MAXNODES"], most, np.minimum(most, partition.max_nodes))
    asked = adapted(site, partition, Asked.of(partial(_column, workload), workload.procs))
    fits = asked.allowed & (least <= most)
    of_node = partition.max_cpus_per_node
    if of_node is not None:
        small = sum(node.cpus <= of_node for node in nodes)
        fits &= ~_whole(workload, site, partition) | (least <= small)
    idle = Idle.of(partial(_column, workload), site)
    cpus, node_cpus, of_task = (
        idle.whole_cores(count, asked.cpus_per_task)
        for count in (asked.cpus, asked.node_cpus, asked.cpus_per_task)
    )
    width, each = np.where(bound > 0, np.minimum(bound, most), most), of_task // asked.cpus_per_task
    for holds in np.unique(each).tolist():  # CPUs for each that a job uses; the bound is on these
        per_node = [node.cpus if of_node is None else min(node.cpus, holds * of_node) for node in nodes]
        per_node.sort(reverse=True)
        at_best = np.concatenate([[0], np.cumsum(per_node), [0]])[np.clip(width, 0, len(nodes))]
        fits &= (each != holds) | ((cpus <= at_best) & (node_cpus <= max(per_node, default=0)))
    fits &= (bound <= 0) | (bound >= partition.min_nodes) | waived["MINNODES"]
    if partition.max_nodes is not None:
        fits &= (bound <= partition.max_nodes) | waived["MAXNODES"]
    if partition.max_minutes is not None:
        fits &= (workload.walltime <= partition.max_minutes * MINUTE) | waived["TIMELIMIT"]
    memory = workload.get("memory_node_mb")
    if memory is not None and "MEMORY" in site.config.get("SelectTypeParameters").upper():
        largest = max((node.memory_for_jobs_mb for node in nodes), default=0)
        fits &= memory <= largest
    return np.asarray(fits & is_up(site, partition), np.bool_)


def is_up(site: Site, partition: Partition) -> bool:
    """Whether a partition takes and starts jobs when the log begins.

    What the events tell of it is better than its state at the time of the export.
    """
    return partition.state.upper() == "UP" or any(one.partition == partition.name for one in site.events)


def _column(workload: Workload, name: str, otherwise: int) -> Codes:
    given = workload.get(name)
    return np.full(len(workload), otherwise, np.int64) if given is None else given.astype(np.int64)


def _whole(workload: Workload, site: Site, partition: Partition) -> Rows:
    """Which jobs take nodes as a whole."""
    asked = workload.get("exclusive")
    none = np.full(len(workload), site.is_linear or partition.oversubscribe == "EXCLUSIVE")
    return none if asked is None else none | (asked > 0)


def _nodes_asked(workload: Workload) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The fewest and the most nodes that jobs ask for; 0: they name no largest number."""
    asked, bound = workload.get("min_nodes"), workload.get("max_nodes")
    none = np.zeros(len(workload), np.int64)
    least = none + 1 if asked is None else np.maximum(asked, 1)
    return least, none if bound is None else np.maximum(bound, 0)


def _waived(workload: Workload, site: Site, flag: str) -> Rows:
    """Which jobs have a QOS that waives a bound of partitions."""
    some = [f"PARTITION{flag}" in {one.upper() for one in qos.flags} for qos in site.qos]
    if not any(some):
        return np.zeros(len(workload), np.bool_)
    normal = site.qos_place.get("normal")
    names = [*workload.labels.get("qos", ()), ""]
    places = [site.qos_place.get(name, normal) for name in names]
    codes, of_label = workload.get("qos"), np.array([place is not None and some[place] for place in places])
    return np.full(len(workload), of_label[-1]) if codes is None else of_label[codes]
