"""What happened at a site beside its jobs: nodes that were down or drained, and reservations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from headway.site import values
from headway.site.accounts import table
from headway.site.entries import Entry, blocks_shown, text_of
from headway.site.model import Node, NodeEvent, Reservation
from headway.site.node_names import expanded
from headway.workload.rules import clock_of


def unix_time(text: str, zone: str = "UTC") -> int:
    """Seconds since 1970 of such a number, or of a clock time, which is one of that zone.

    >>> unix_time("1700000000"), unix_time("2023-11-14T22:13:20")
    (1700000000, 1700000000)
    >>> unix_time("2023-11-14T23:13:20", "Europe/Berlin"), unix_time("2023-11-14T22:13:20Z", "Europe/Berlin")
    (1700000000, 1700000000)
    """
    text = text.strip()
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time such as 2024-03-01T08:00:00 or 1709280000") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=clock_of(zone))).timestamp())


def _ended(text: str, zone: str) -> int | None:
    return None if values.nothing(text) or text.strip() == "0" else unix_time(text, zone)


def read_events(path: Path, zone: str = "UTC") -> tuple[NodeEvent, ...]:
    """Nodes that were not to be had, from `sacctmgr show events --parsable2`, in the order of time.

    A row may name a partition that was closed instead, in a column `Partition` of one's own.
    """
    if not path.is_file():
        return ()
    found: list[NodeEvent] = []
    for entry in table(path, "events"):
        start = entry.read("TimeStart", partial(unix_time, zone=zone), 0)
        end = entry.read("TimeEnd", partial(_ended, zone=zone), None)
        state = entry.get("State").rstrip("*")
        if not values.nothing(entry.get("Partition")):
            found.append(NodeEvent("", start, end, state, entry.get("Reason"), entry.get("Partition")))
            continue
        for name in entry.listed("NodeName", expanded):
            found.append(NodeEvent(name, start, end, state, entry.get("Reason")))
    return tuple(sorted(found, key=lambda event: (event.start, event.node)))


def read_reservations(path: Path, nodes: tuple[Node, ...], zone: str = "UTC") -> tuple[Reservation, ...]:
    """Reservations from `scontrol show reservation`, or from `sacctmgr show reservation --parsable2`."""
    if not path.is_file():
        return ()
    places = {node.name: place for place, node in enumerate(nodes)}
    first = text_of(path, "reservations").lstrip().partition("\n")[0]
    shown = table(path, "reservations") if "|" in first else blocks_shown(path, "ReservationName")
    return one_at_a_time([_reservation(entry, places, zone) for entry in shown])


def one_at_a_time(given: Sequence[Reservation]) -> tuple[Reservation, ...]:
    """Reservations, of which there is one of a name at a time: the next is known when the last is over."""
    found = list(given)
    over: dict[str, int] = {}
    for place in sorted(range(len(found)), key=lambda at: found[at].start):
        one = found[place]
        if one.name in over:
            found[place] = replace(one, announced=max(over[one.name], one.announced or 0))
        over[one.name] = one.end
    return tuple(found)


def times_of(
    reservations: Sequence[Reservation], log_end: int, ahead: int = 0
) -> Iterator[tuple[int, int, int]]:
    """Place, start and end of each time of each reservation, until ``ahead`` seconds after the log.

    The accounting, which gives them numbers, lists each time of one that recurs by itself: where the next one
    is not listed though the log goes on, or the last is shorter than another, the reservation was deleted.
    """
    last = {one.name: one.start for one in sorted(reservations, key=lambda one: one.start)}
    longest: dict[str, int] = {}
    for one in reservations:
        longest[one.name] = max(longest.get(one.name, 0), one.end - one.start)
    for place, one in enumerate(reservations):
        times = one.instances(log_end + ahead)
        cut_short = one.end - one.start < longest[one.name]
        deleted = one.number and len(times) > 1 and (cut_short or times[1][0] <= log_end)
        if deleted or one.start < last[one.name]:
            times = times[:1]
        for start, end in times:
            yield place, start, end


def _reservation(entry: Entry, places: dict[str, int], zone: str) -> Reservation:
    name = entry.get("ReservationName") or entry.get("Name")
    # scontrol calls them Nodes; sacctmgr is asked for NodeNames and heads the column NodeName.
    key = next(
        (key for key in ("Nodes", "NodeName", "NodeNames") if not values.nothing(entry.get(key))), None
    )
    members = [] if key is None else entry.listed(key, expanded)
    start, end = ("StartTime", "EndTime") if "StartTime" in entry else ("TimeStart", "TimeEnd")
    return Reservation(
        name,
        entry.read(start, partial(unix_time, zone=zone), 0),
        entry.read(end, partial(unix_time, zone=zone), 0),
        tuple(sorted(places[node] for node in members if node in places)),
        entry.listed("Flags", values.names),
        entry.listed("Users", values.names),
        entry.listed("Accounts", values.names),
        "" if values.nothing(entry.get("PartitionName")) else entry.get("PartitionName"),
        entry.read("CoreCnt", values.limit, None),
        entry.read("Announced", partial(_ended, zone=zone), None),
        entry.get("ID").strip(),
        tuple(node for node in members if node not in places),
    )
