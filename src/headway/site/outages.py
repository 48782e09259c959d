"""What a site recorded of its nodes as outages of counted processors, for policies that know no nodes.

Events (``sacctmgr show events --parsable2``): a node that was DOWN or FAIL was down, one that was DRAIN
drains; other states, such as nodes that were switched off to save power, are no outages. Reservations
(``scontrol show reservation``, ``sacctmgr show reservation --parsable2``): those for maintenance, or for
nobody; what is kept for some users or accounts is left out.

The processors of a node are those behind the ones of the nodes before it, in the order of the site's
configuration; where there is none, in the order of the names in the file, on a platform of equal nodes.
"""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import Path

from headway.errors import InputError
from headway.plain import counted
from headway.platform import Outage, Outages, Platform
from headway.platform.outages_file import bytes_of
from headway.site.happenings import read_events, read_reservations
from headway.site.model import NodeEvent, Reservation, outage_of
from headway.units import SECOND


def load_outages(
    path: Path,
    platform: Platform,
    unix_start: int | None,
    on_failure: str = "requeue",
    zone: str = "UTC",
) -> Outages:
    """The outages of a file of any kind: a CSV of ours, or events or reservations as Slurm shows them.

    Clock times of Slurm's are those of `zone`.
    """
    raw = bytes_of(path)
    first = raw[:10_000].decode("utf-8", "replace").partition("\n")[0]
    is_table = "|" in first and "\ufffd" not in first  # a packed file has such bytes, too
    is_events = is_table and "NodeName" in first and "Reservation" not in first
    is_reservations = first.startswith("ReservationName=") or (is_table and not is_events)
    if not is_events and not is_reservations:
        return Outages.parse(raw, path, unix_start, on_failure)
    if not path.is_file():
        raise InputError("is what Slurm shows, and a pipe; save it as a file first", file=path)
    if unix_start is None:
        raise InputError(
            "has dates, and the log does not say when its clock was 0; give a CSV with seconds", file=path
        )
    if is_events:
        found = of_events(read_events(path, zone), path, platform, unix_start)
    else:
        nodes = () if platform.site is None else platform.site.nodes
        found = of_reservations(read_reservations(path, nodes, zone), path, platform, unix_start)
    return Outages(tuple(found), on_failure, {"events": path.name})


def of_events(events: tuple[NodeEvent, ...], path: Path, platform: Platform, unix_start: int) -> list[Outage]:
    """Nodes that were down or drained."""
    places = node_places({event.node for event in events}, path, platform)
    found = []
    for event in events:
        kind = outage_of(event.state)
        if kind is None or event.node not in places:
            continue
        low, high = places[event.node]
        start = (event.start - unix_start) * SECOND
        end = None if event.end is None else (event.end - unix_start) * SECOND
        if end is None or end > start:
            found.append(Outage(kind, start, end, high - low, ((low, high),), note=event.reason))
    return found


def of_reservations(
    reservations: tuple[Reservation, ...], path: Path, platform: Platform, unix_start: int
) -> list[Outage]:
    """Reservations that keep jobs away."""
    site = platform.site
    found = []
    for reservation in reservations:
        someone = [user for user in reservation.users if user != "root"] + list(reservation.accounts)
        if "MAINT" not in reservation.flags and someone:
            continue
        if site is None:
            raise InputError(
                "names nodes, and the machine has none; give the site's folder with --site, or a CSV",
                file=path,
            )
        procs = sum(site.nodes[place].cpus for place in reservation.nodes) or reservation.cores or 0
        start, end = ((time - unix_start) * SECOND for time in (reservation.start, reservation.end))
        if procs and end > start:
            found.append(Outage("maintenance", start, end, procs, note=reservation.name))
    return found


def node_places(names: set[str], path: Path, platform: Platform) -> dict[str, tuple[int, int]]:
    """The processors of each node."""
    if platform.site is not None:
        nodes = [(node.name, node.cpus) for node in platform.site.nodes]
    else:
        groups = platform.clusters[0].nodes
        if len(groups) != 1:
            raise InputError(
                "names nodes; give the site's folder with --site, a --platform of equal nodes, or a CSV",
                file=path,
            )
        if len(names) > groups[0].count:
            raise InputError(
                f"names {counted(len(names), 'node')}, and the platform has {groups[0].count}; "
                "give the right platform",
                file=path,
            )
        nodes = [(name, groups[0].cores) for name in sorted(names, key=_natural)]
    ends = list(accumulate(cpus for _, cpus in nodes))
    return {name: (end - cpus, end) for (name, cpus), end in zip(nodes, ends, strict=True)}


def _natural(name: str) -> list[tuple[int, str]]:
    """n9 before n10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
