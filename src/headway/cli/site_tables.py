"""Tables of a site: its machine, partitions, QOS, accounts and parameters, and what is not modelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from headway.cli.display import table_of
from headway.plain import counted
from headway.site import PARENT
from headway.site.limits import NAMES
from headway.site.node_names import compressed
from headway.site.parameters import DEFAULTS

if TYPE_CHECKING:
    from rich.console import Console

    from headway.site import Limits, Node, Partition, Site

SHOWN = 40
"""Lines of the table of accounts; the JSON document has them all."""


def site_tables(console: Console, site: Site) -> None:
    """Everything that is understood of a site."""
    console.print(
        f"{site.name}: {counted(len(site.nodes), 'node')}, {counted(site.cpus, 'CPU')}, "
        f"{counted(len(site.partitions), 'partition')}",
        style="bold",
    )
    if site.jobs is not None:
        console.print(f"jobs: {site.jobs.name}", style="dim")
    _nodes(console, site)
    _partitions(console, site)
    _qos(console, site)
    _accounts(console, site)
    _parameters(console, site)
    _happenings(console, site)
    _not_modelled(console, site)


def _print(console: Console, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with some rows; none without any."""
    listed = list(rows)
    if not listed:
        return
    console.print()
    others = (head if head.startswith(">") else f"~{head}" for head in heads[1:])
    table = table_of(heads[0], *others, title=title)
    for row in listed:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _nodes(console: Console, site: Site) -> None:
    """Nodes that are equal and follow each other stand in one line."""

    def kind(node: Node) -> tuple[object, ...]:
        return (
            node.cpus, node.sockets, node.cores_per_socket, node.threads_per_core, node.memory_mb,
            node.memory_spec_mb, node.weight, node.features, tuple(node.gres.items()),
        )  # fmt: skip

    rows = []
    for _, group in groupby(site.nodes, kind):
        nodes = list(group)
        one = nodes[0]
        shape = f"{one.sockets} x {one.cores_per_socket} x {one.threads_per_core}"
        gres = ", ".join(f"{name} {count}" for name, count in one.gres.items())
        rows.append((
            compressed(node.name for node in nodes), str(len(nodes)), str(one.cpus), shape,
            f"{one.memory_for_jobs_mb:,}", str(one.weight), ", ".join(one.features), gres,
        ))  # fmt: skip
    heads = (
        "nodes",
        ">count",
        ">CPUs",
        "sockets x cores x threads",
        ">memory (MB)",
        ">weight",
        "features",
        "GRES",
    )
    _print(console, "Nodes", heads, rows)


def _partitions(console: Console, site: Site) -> None:
    rows = [
        (
            partition.name + ("*" if partition.is_default else ""),
            compressed(site.nodes[place].name for place in partition.nodes),
            str(sum(site.nodes[place].cpus for place in partition.nodes)),
            partition.state,
            str(partition.tier),
            str(partition.job_factor),
            _minutes(partition.max_minutes),
            partition.oversubscribe,
            _rest(partition),
        )
        for partition in site.partitions
    ]
    heads = ("partition", "nodes", ">CPUs", "state", ">tier", ">factor", ">longest (min)", "sharing", "rules")
    _print(console, "Partitions (* the default)", heads, rows)


def _rest(partition: Partition) -> str:
    """The rules of a partition that few have."""
    found = {
        "default walltime (min)": partition.default_minutes,
        "MinNodes": partition.min_nodes if partition.min_nodes > 1 else None,
        "MaxNodes": partition.max_nodes,
        "MaxCPUsPerNode": partition.max_cpus_per_node,
        "DefMemPerCPU": partition.def_mem_per_cpu_mb,
        "DefMemPerNode": partition.def_mem_per_node_mb,
        "MaxMemPerCPU": partition.max_mem_per_cpu_mb,
        "MaxMemPerNode": partition.max_mem_per_node_mb,
        "QOS": partition.qos or None,
        "PreemptMode": partition.preempt_mode or None,
        "GraceTime (s)": partition.grace_seconds or None,
        "OverTimeLimit": partition.over_time_limit,
        "AllowAccounts": None if partition.allow_accounts is None else ",".join(partition.allow_accounts),
        "DenyAccounts": ",".join(partition.deny_accounts) or None,
        "AllowQos": None if partition.allow_qos is None else ",".join(partition.allow_qos),
        "DenyQos": ",".join(partition.deny_qos) or None,
        "AllowGroups": None if partition.allow_groups is None else ",".join(partition.allow_groups),
        "AllocNodes": None if partition.alloc_nodes is None else ",".join(partition.alloc_nodes),
        "RootOnly": "YES" if partition.root_only else None,
        "ReqResv": "YES" if partition.req_resv else None,
        "ExclusiveUser": "YES" if partition.exclusive_user else None,
        "LLN": "YES" if partition.lln else None,
        "TRESBillingWeights": _pairs(partition.billing_weights) or None,
    }
    return ", ".join(f"{name}={value}" for name, value in found.items() if value is not None)


def _minutes(minutes: int | None) -> str:
    return "no limit" if minutes is None else f"{minutes:,}"


def _pairs(items: Mapping[str, float]) -> str:
    return ",".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in items.items()
    )


def limits_text(limits: Limits) -> str:
    """Every limit that is set, by sacctmgr's names."""
    found = []
    for field, (name, *_) in NAMES.items():
        value = getattr(limits, field)
        if isinstance(value, Mapping):
            if value:
                found.append(f"{name} {_pairs(value)}")
        elif value is not None:
            found.append(f"{name} {value}{' min' if field.endswith('minutes') else ''}")
    return "; ".join(found)


def _qos(console: Console, site: Site) -> None:
    rows = [
        (
            qos.name,
            str(qos.priority),
            f"{qos.usage_factor:g}",
            ",".join(qos.preempt),
            ",".join(sorted(qos.flags)),
            limits_text(qos.limits),
        )
        for qos in site.qos
    ]
    _print(console, "QOS", ("QOS", ">priority", ">usage factor", "preempts", "flags", "limits"), rows)


def _accounts(console: Console, site: Site) -> None:
    depth: list[int] = []
    for association in site.associations:
        depth.append(0 if association.parent < 0 else depth[association.parent] + 1)
    children: dict[int, list[int]] = {}
    for place, association in enumerate(site.associations):
        children.setdefault(association.parent, []).append(place)
    order: list[int] = []
    waiting = children.get(-1, [])[::-1]
    while waiting:
        place = waiting.pop()
        order.append(place)
        waiting += children.get(place, [])[::-1]
    rows = []
    for place in order[:SHOWN]:
        one = site.associations[place]
        name = one.user or one.account
        usage = site.usage.get((one.account, one.user))
        rows.append((
            "  " * depth[place] + name + (f" ({one.partition})" if one.partition else ""),
            "user" if one.user else "account",
            "parent" if one.shares == PARENT else str(one.shares),
            "" if usage is None else f"{usage:,.0f}",
            ",".join(one.qos),
            limits_text(one.limits),
        ))  # fmt: skip
    heads = ("account or user", "kind", ">shares", ">usage (CPU s)", "QOS", "limits")
    _print(console, "Accounts", heads, rows)
    if len(order) > SHOWN:
        console.print(f"and {len(order) - SHOWN:,} more (--json lists all)", style="dim")


def _parameters(console: Console, site: Site) -> None:
    rows = [
        (key, site.config[key], site.config.where(key))
        for key in site.config
        if key.lower() in DEFAULTS and key.lower() != "schedulerparameters" and site.config.get(key)
    ]
    rows += [
        (name, value or "on", site.config.where("SchedulerParameters"))
        for name, value in site.scheduler.items()
    ]
    _print(console, "Parameters that are set", ("parameter", "value", "where"), rows)


def _happenings(console: Console, site: Site) -> None:
    if site.events:
        down = len({event.node for event in site.events})
        console.print(f"\nevents: {len(site.events):,}, on {counted(down, 'node')}")
    if site.reservations:
        names = ", ".join(reservation.name for reservation in site.reservations[:10])
        console.print(f"reservations: {len(site.reservations):,} ({names})")
    if site.groups is not None:
        names = ", ".join(f"{name} ({counted(len(users), 'user')})" for name, users in site.groups.items())
        console.print(f"groups: {names}")
    if site.diagnosis is not None and site.delays:
        seen, times = site.diagnosis, ", ".join(f"{name}={value:.3g}" for name, value in site.delays.items())
        console.print(f"sdiag: a backfill cycle every {seen.period:.1f} s; simulated with {times} (s)")
    if site.licenses:
        held = ", ".join(f"{name} {count}" for name, count in site.licenses.items())
        console.print(f"licences: {held}")


def _not_modelled(console: Console, site: Site) -> None:
    if not site.not_modelled:
        console.print("\nHeadway models everything in the configuration that is known to affect a schedule.")
        return
    rows = [(one.name, one.value, one.where) for one in site.not_modelled]
    _print(console, "Not modelled", ("what", "value", "where"), rows)
