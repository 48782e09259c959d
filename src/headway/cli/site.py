"""``headway site``: show a Slurm site, export it, import it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, TypeAlias

from headway.cli import options
from headway.cli.application import command, group
from headway.cli.display import Display, output, print_json, table_of
from headway.errors import HeadwayError, UsageError
from headway.plain import counted

if TYPE_CHECKING:
    from rich.console import Console

    from headway.site import Limits, Node, Partition, Site

site = group("site", "Export a site from Slurm, import it, show it: headway site DIR.", default="show")
Folder: TypeAlias = Annotated[Path, options.argument("DIR", "The site's folder.")]


@command("show", example="headway site show cluster", of=site)
def show(folder: Folder, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Show a site as Headway understands it.

    Lists nodes, partitions, QOS, accounts and parameters, and names what is not modelled. The folder holds
    slurm.conf or what scontrol shows, what sacctmgr shows, and jobs.txt of sacct.
    `headway site DIR` is short for this.
    """
    from headway.site import Site

    found = Site.load(folder)
    if json:
        from headway.site.described import described

        print_json(described(found))
    elif not quiet:
        site_tables(output(), found)


@command("export", example="headway site export > export.sh", of=site)
def export() -> None:
    """Print a script that collects a site's files.

    The script packs configuration, accounts and job log into an archive. Run it on a login node:
    sh export.sh 2024-01-01 2025-01-01
    """
    from headway.site.export import script

    sys.stdout.write(script())


@command("example", example="headway site example fjord", of=site)
def example(
    folder: Annotated[Path, options.argument("DIR", "The folder to make.")], quiet: options.Quiet = False
) -> None:
    """Write a small, made-up site to try things on."""
    from headway.site.example import write_example

    write_example(folder)
    Display(quiet).say(f"a small site is written to {folder}; see it with: headway site {folder}")


@command("import", example="headway site import headway-site.tar.gz cluster", of=site)
def bring_in(
    sources: Annotated[list[Path], options.argument("ARCHIVE...", "The script's archive, or files.")],
    target: Annotated[Path, options.argument("DIR", "The folder to make.")],
    quiet: options.Quiet = False,
) -> None:
    """Make a folder from the script's archive, or from files."""
    from headway.cli.tables import ledger_table, not_modelled_table
    from headway.site import Site, bringing_in
    from headway.workload.cancelled import ran_only

    display = Display(quiet)
    with display.working(f"reading {', '.join(str(source) for source in sources)}"):
        taken, passed = bringing_in.bring_in(sources, target)
        try:
            found = Site.load(target)
            workload = None if found.jobs is None else ran_only(found.read_jobs())
        except HeadwayError as error:
            rmtree(target)  # what cannot be read is not there, so that the same command can be given again
            of = f"what {', '.join(map(str, sources))} holds makes no site: "
            raise UsageError(f"{of}{error}; {target} was not made") from None
    if quiet:
        return
    console = output()
    for name, kind in sorted(taken):
        console.print(f"{name} is {kind}" if name != kind else name)
    for name in passed:
        console.print(f"{name}: nothing of a site, left out")
    for name, kind in sorted(taken):
        if found.jobs is not None and kind.startswith("jobs.") and kind != found.jobs.name:
            console.print(f"{name}: a second log, not read; the log is {found.jobs.name}")
    console.print(
        f"\n{found.name}: {counted(len(found.nodes), 'node')}, {counted(found.cpus, 'CPU')}, "
        f"{counted(len(found.partitions), 'partition')}, {len(found.qos)} QOS, "
        f"{counted(len(found.associations), 'association')}\n",
        style="bold",
    )
    if workload is None:
        console.print("There is no log; add jobs.txt (sacct --parsable2).")
    else:
        ledger_table(console, workload.ledger)
        not_modelled_table(console, workload.source, by_site_rules=True)
    console.print(f"written to {target}; see it with: headway site {target}")


SHOWN = 40
"""Lines of the table of accounts; the JSON document has them all."""


def site_tables(console: Console, site: Site) -> None:
    """Everything that is understood of a site."""
    console.print(
        f"{site.name}: {counted(len(site.nodes), 'node')}, {counted(site.cpus, 'CPU')}, "
        f"{counted(len(site.partitions), 'partition')}",
        style="bold",
    )
    from headway.site.version import TAKEN, shown

    version = site.config.version
    console.print(f"Slurm {shown(version)}" if version else f"Slurm: version not known; {TAKEN}", style="dim")
    if site.jobs is not None:
        console.print(f"jobs: {site.jobs.name}", style="dim")
    _nodes(console, site)
    _partitions(console, site)
    _qos(console, site)
    _accounts(console, site)
    _parameters(console, site)
    _happenings(console, site)
    _not_modelled(console, site)


def _print(console: Console, title: str, rows: Sequence[Mapping[str, str]]) -> None:
    """A table with some rows, each with its cells by the heads of their columns; none without any."""
    from rich.text import Text

    if not rows:
        return
    console.print()
    first, *others = rows[0]
    table = table_of(first, *(head if head.startswith(">") else f"~{head}" for head in others), title=title)
    for row in rows:
        table.add_row(*map(Text, row.values()))
    console.print(table)


def _nodes(console: Console, site: Site) -> None:
    """Nodes that are equal and follow each other stand in one line."""

    def kind(node: Node) -> tuple[object, ...]:
        return (
            node.cpus, node.sockets, node.cores_per_socket, node.threads_per_core, node.memory_mb,
            node.memory_spec_mb, node.weight, node.features, tuple(node.gres.items()),
        )  # fmt: skip

    from headway.site.node_names import compressed

    rows = []
    for _, alike in groupby(site.nodes, kind):
        nodes = list(alike)
        one = nodes[0]
        shape = f"{one.sockets} x {one.cores_per_socket} x {one.threads_per_core}"
        rows.append(
            {
                "nodes": compressed(node.name for node in nodes),
                ">count": str(len(nodes)),
                ">CPUs": str(one.cpus),
                "sockets x cores x threads": shape,
                ">memory (MB)": f"{one.memory_for_jobs_mb:,}",
                ">weight": str(one.weight),
                "features": ", ".join(one.features),
                "GRES": ", ".join(f"{name} {count}" for name, count in one.gres.items()),
            }
        )
    _print(console, "Nodes", rows)


def _partitions(console: Console, site: Site) -> None:
    from headway.site.node_names import compressed

    rows = [
        {
            "partition": partition.name + ("*" if partition.is_default else ""),
            "nodes": compressed(site.nodes[place].name for place in partition.nodes),
            ">CPUs": str(sum(site.nodes[place].cpus for place in partition.nodes)),
            "state": partition.state,
            ">tier": str(partition.tier),
            ">factor": str(partition.job_factor),
            ">longest (min)": "no limit" if partition.max_minutes is None else f"{partition.max_minutes:,}",
            "sharing": partition.oversubscribe,
            "rules": _rest(partition),
        }
        for partition in site.partitions
    ]
    _print(console, "Partitions (* the default)", rows)


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


def _pairs(items: Mapping[str, float]) -> str:
    return ",".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in items.items()
    )


def limits_text(limits: Limits) -> str:
    """Every limit that is set, by sacctmgr's names."""
    from headway.site.limits import NAMES

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
        {
            "QOS": qos.name,
            ">priority": str(qos.priority),
            ">usage factor": f"{qos.usage_factor:g}",
            "preempts": ",".join(qos.preempt),
            "flags": ",".join(sorted(qos.flags)),
            "limits": limits_text(qos.limits),
        }
        for qos in site.qos
    ]
    _print(console, "QOS", rows)


def _accounts(console: Console, site: Site) -> None:
    from headway.site import PARENT

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
        of_partition = f" ({one.partition})" if one.partition else ""
        rows.append(
            {
                "account or user": "  " * depth[place] + name + of_partition,
                "kind": "user" if one.user else "account",
                ">shares": "parent" if one.shares == PARENT else str(one.shares),
                ">usage (CPU s)": "" if usage is None else f"{usage:,.0f}",
                "QOS": ",".join(one.qos),
                "limits": limits_text(one.limits),
            }
        )
    _print(console, "Accounts", rows)
    if len(order) > SHOWN:
        console.print(f"and {len(order) - SHOWN:,} more (--json lists all)", style="dim")


def _parameters(console: Console, site: Site) -> None:
    from headway.site.parameters import DEFAULTS

    rows = [
        {"parameter": key, "value": site.config[key], "where": site.config.where(key)}
        for key in site.config
        if key.lower() in DEFAULTS and key.lower() != "schedulerparameters" and site.config.get(key)
    ]
    rows += [
        {"parameter": name, "value": value or "on", "where": site.config.where("SchedulerParameters")}
        for name, value in site.scheduler.items()
    ]
    _print(console, "Parameters that are set", rows)


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
    rows = [{"what": one.name, "value": one.value, "where": one.where} for one in site.not_modelled]
    _print(console, "Not modelled", rows)
