"""The tables that a site alone decides: nodes, partitions, switches, and who may preempt whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.tables import NODE_ROWS, Nodes, Table
from headway.jit.rows import array_of, zeros
from headway.policies.slurm.nodes.offers import LIGHTER, UNIT
from headway.policies.slurm.setup.fitting import is_up
from headway.policies.slurm.setup.holders import or_unset
from headway.policies.slurm.setup.levels import further_total, level_of, mode_of, rows_of, suspends
from headway.policies.slurm.setup.life import counted, forced, gres_names, keeps_forced_off, kept_apart
from headway.policies.slurm.tables.bits import packed, words_for
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.settings import Mode, Preemption
from headway.policies.slurm.tables.sites import Partitions, SlurmNodes, Switches
from headway.site import Site
from headway.site.model import UNLIMITED, outage_of
from headway.site.model import Partition as OfSite
from headway.site.once import once
from headway.site.topology import is_one_network, steps_between


@once
def node_table(site: Site) -> Table:
    """The engine's table of nodes; their generic resources are the further rows."""
    further = further_total(site)
    table = zeros(Nodes, len(site.nodes), more=len(further))
    table[NODE_ROWS:] = further
    table.cpus[:] = table.free_cpus[:] = [node.cpus for node in site.nodes]
    table.memory_mb[:] = table.free_memory[:] = [node.memory_for_jobs_mb for node in site.nodes]
    return array_of(table)


@once
def node_rows(site: Site) -> SlurmNodes:
    """What nodes have beyond the engine's rows."""
    rows = zeros(SlurmNodes, len(site.nodes))
    rows[[SlurmNodes["off_after"], SlurmNodes["boot_takes"]]] = np.transpose(site.power())
    rows.weight[:] = [node.weight for node in site.nodes]
    kinds: dict[str, int] = {}
    texts = [str(replace(node, name="", state="", off_after=None)) for node in site.nodes]
    rows.kind[:] = [kinds.setdefault(text, len(kinds)) for text in texts]
    if site.is_linear:
        _rank_kinds(site, rows)
    rows.set_weight[:] = rows.weight * UNIT + LIGHTER - 1
    rows.threads[:] = [node.threads_per_core for node in site.nodes]  # CR_CPU gives whole cores, too
    told = {event.node for event in site.events}  # better than the state at the time of the export
    rows.usable[:] = [node.name in told or outage_of(node.state) is None for node in site.nodes]
    return rows


def _rank_kinds(site: Site, rows: SlurmNodes) -> None:
    """Number the kinds of nodes by weight, and let runs of neighbours go over kinds: so does select/linear.

    Kinds of one weight are one where jobs may be preempted, or nodes are on switches.
    """
    kinds = np.where(_merges_kinds(site), 0, rows.kind)
    by_weight = np.stack([rows.weight, kinds])
    rows.kind[:] = np.unique(by_weight, axis=1, return_inverse=True)[1].reshape(-1)
    rows.weight[:] = 1


def _merges_kinds(site: Site) -> bool:
    return bool(site.switches) or not site.config.get("PreemptType").lower().endswith("none")


@once
def partition_rows(site: Site) -> Partitions:
    """The partitions."""
    rows = Partitions(np.full((len(Partitions), len(site.partitions)), UNSET, np.int64))
    least_loaded = "CR_LLN" in site.config.list("SelectTypeParameters")
    one_by_one = not {"bf_busy_nodes", "pack_serial_at_end"}.isdisjoint(site.scheduler)
    for p, partition in enumerate(site.partitions):
        nodes = [site.nodes[node] for node in partition.nodes]
        alike = {(one.cpus, one.memory_for_jobs_mb, one.threads_per_core, one.weight) for one in nodes}
        shared, shared_preempting = rows_of(site, partition)
        known = {
            Partitions["tier"]: partition.tier,
            Partitions["factor"]: partition.job_factor,
            Partitions["max_minutes"]: or_unset(partition.max_minutes),
            Partitions["min_nodes"]: partition.min_nodes,
            Partitions["max_nodes"]: or_unset(partition.max_nodes),
            Partitions["max_cpus"]: or_unset(partition.max_cpus_per_node),
            Partitions["memory_cpu"]: or_unset(partition.def_mem_per_cpu_mb),
            Partitions["memory_node"]: or_unset(partition.def_mem_per_node_mb),
            Partitions["exclusive"]: site.is_linear or partition.oversubscribe == "EXCLUSIVE",
            Partitions["qos"]: site.qos_place.get(partition.qos, UNSET),
            Partitions["up"]: is_up(site, partition),
            Partitions["over_time"]: over_time(site, partition),
            Partitions["nodes"]: len(nodes),
            Partitions["failed"]: 0,
            Partitions["tested"]: 0,
            Partitions["preempt"]: mode_of(site, partition.preempt_mode),
            Partitions["grace"]: partition.grace_seconds,
            Partitions["alike"]: len(alike) <= 1
            and not (one_by_one or least_loaded or partition.lln)
            and is_one_network(site, partition.nodes),
            Partitions["least_loaded"]: least_loaded or partition.lln,
            Partitions["keeps_nodes"]: partition.exclusive_user,
            Partitions["level"]: level_of(site, partition) if suspends(site) else 0,
            Partitions["rows"]: shared,
            Partitions["rows_preempting"]: shared_preempting,
            **count_places(site, partition),
        }
        rows[list(known), p] = list(known.values())
    return rows


def count_places(site: Site, partition: OfSite) -> dict[int, int]:
    """Where the CPUs of a partition's jobs are counted on each node, and whose nodes they may not have."""
    first, of = len(gres_names(site)), counted(site)
    private = first + len(of)
    apart = private - len(kept_apart(site))
    found = {Partitions["avoids_from"]: apart, Partitions["avoids_to"]: private}
    if keeps_forced_off(site):
        if forced(partition):
            found = {Partitions["avoids_from"]: private, Partitions["avoids_to"]: private + 1}
        else:
            found[Partitions["private_row"]] = private
    elif forced(partition):
        found[Partitions["avoids_to"]] = apart
    if partition in of:
        found[Partitions["cpus_row"]] = first + of.index(partition)
    return found


def over_time(site: Site, partition: OfSite) -> int:
    """How many seconds beyond their limit a partition's jobs may run (OverTimeLimit); UNSET: as they like."""
    if partition.over_time_limit is None:
        return or_unset(site.config.seconds("OverTimeLimit"))
    return UNSET if partition.over_time_limit == UNLIMITED else 60 * partition.over_time_limit


@once
def members(site: Site) -> npt.NDArray[np.uint8]:
    """Which node is in which partition."""
    table = np.zeros((len(site.partitions), len(site.nodes)), np.uint8)
    for p, partition in enumerate(site.partitions):
        table[p, list(partition.nodes)] = 1
    return table


@once
def network(site: Site) -> dict[str, Any]:
    """The tree of switches."""
    count = len(site.switches)
    below = np.zeros((count, len(site.nodes)), np.uint8)
    for place, switch in enumerate(site.switches):
        below[place, list(switch.nodes)] = 1
    switches = zeros(Switches, count)
    switches.level[:] = [switch.level for switch in site.switches]
    switches.parent[:] = [switch.parent for switch in site.switches]
    return {
        "switches": switches,
        "switch_steps": np.array(steps_between(site.switches), np.int64).reshape(count, count),
        "words_switches": packed(below, len(site.nodes)).reshape(count, words_for(len(site.nodes))),
    }


@once
def may_preempt(site: Site) -> Table:
    """Whether jobs of one QOS may preempt those of another."""
    count = len(site.qos)
    table = np.zeros((max(count, 1), max(count, 1)), np.int64)
    for place, one in enumerate(site.qos):
        for name in one.preempt:
            if name in site.qos_place:
                table[place, site.qos_place[name]] = 1
    return table


def may_run_in_circles(site: Site, kind: int, jobs: SlurmJobs) -> bool:
    """Whether the order of these jobs may run in circles, by who may preempt whom and by all other terms.

    There are none where the right to preempt ranks the QOS of the jobs: whoever may preempt another may then
    preempt all others, too, or these may preempt that one. Tiers rank them by themselves, unless a partition
    without preemption and reservations, which come before tiers, stand against it.
    """
    if kind == Preemption.BY_TIER:
        spared = any(mode_of(site, partition.preempt_mode) == Mode.OFF for partition in site.partitions)
        return spared and bool((jobs.reservation != UNSET).any())
    if kind != Preemption.BY_QOS:
        return False
    present = np.unique(jobs.qos)
    table = np.pad(may_preempt(site), (0, 1))[np.ix_(present, present)] > 0  # the last is for no QOS
    ranks = ~table[:, :, None] | table[:, None, :] | table.T[None, :, :]
    return bool(table.diagonal().any() or not ranks.all())
