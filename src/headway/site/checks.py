"""What fits together in a site's configuration: one sentence with file and line for what does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headway.plain import counted
from headway.site.entries import Entry, Lines
from headway.site.model import Limits, Partition
from headway.site.parameters import SCHEDULER, TIMES, WHOLE

if TYPE_CHECKING:
    from headway.site.site import Site


def check(site: Site, lines: Lines) -> None:
    """Raise the first contradiction, or the first number that is none."""
    _numbers(site)
    for partition in site.partitions:
        _partition(site, partition, lines.partitions[partition.name])
    totals = _totals(site)
    for qos in site.qos:
        line = lines.qos.get(qos.name)
        if line is None:
            continue
        _possible(qos.limits, f"QOS {qos.name}", line, totals)
        for other in qos.preempt:
            if other not in site.qos_place:
                raise line.error(f"QOS {qos.name} preempts the QOS {other}, which is not there", "Preempt")
    for association, line in zip(site.associations, lines.associations, strict=False):
        _possible(
            association.limits, f"the association of {association.user or association.account}", line, totals
        )
        if association.partition and association.partition not in site.partition_place:
            message = f"the association of {association.user} is for the partition {association.partition}, "
            raise line.error(message + "which is not there", "Partition")
        if site.qos:
            for name in (*association.qos, *filter(None, [association.default_qos])):
                if name not in site.qos_place:
                    who = association.user or association.account
                    raise line.error(f"{who} has the QOS {name}, which qos.txt does not have", "QOS")


def _numbers(site: Site) -> None:
    """Read every number that the site sets, also those that only some policies ask for."""
    for key in filter(site.config.__contains__, WHOLE):
        site.config.number(key)
    for key in filter(site.config.__contains__, TIMES):
        site.config.seconds(key)
    for name in site.scheduler:
        if SCHEDULER.get(name) or name == "requeue_delay":
            site.scheduling_number(name)


def _partition(site: Site, partition: Partition, line: Entry) -> None:
    count = len(partition.nodes)
    most = partition.max_nodes
    if partition.min_nodes > count and count:
        least = counted(partition.min_nodes, "node")
        message = f"partition {partition.name} asks for {least} at least and has {count}"
        raise line.error(f"{message}: no job can meet that", "MinNodes")
    if most is not None and partition.min_nodes > most:
        message = (
            f"partition {partition.name} asks for {partition.min_nodes} nodes at least and {most} at most"
        )
        raise line.error(f"{message}: no job can meet that", "MinNodes")
    if most == 0:
        raise line.error(f"partition {partition.name} allows 0 nodes: no job can meet that", "MaxNodes")
    if partition.max_minutes == 0:
        raise line.error(f"partition {partition.name} allows 0 minutes: no job can meet that", "MaxTime")
    if site.qos and partition.qos and partition.qos not in site.qos_place:
        message = f"partition {partition.name} has the QOS {partition.qos}, which qos.txt does not have"
        raise line.error(message, "QOS")


def _totals(site: Site) -> dict[str, int]:
    totals = {"cpu": site.cpus, "node": len(site.nodes), "mem": sum(node.memory_mb for node in site.nodes)}
    for node in site.nodes:
        for name, count in node.gres.items():
            totals[f"gres/{name}"] = totals.get(f"gres/{name}", 0) + count
    return totals


def _possible(limits: Limits, whose: str, line: Entry, totals: Mapping[str, int]) -> None:
    """A least request that is more than the most, or than the site has."""
    for name, least in limits.min_tres.items():
        most = limits.max_tres.get(name)
        if most is not None and least > most:
            message = f"{whose} asks for {name}={least} at least and {name}={most} at most"
            raise line.error(f"{message}: no job can meet that", "MinTRES")
        if name in totals and least > totals[name]:
            message = f"{whose} asks for {name}={least} at least and the site has {totals[name]}"
            raise line.error(f"{message}: no job can meet that", "MinTRES")
