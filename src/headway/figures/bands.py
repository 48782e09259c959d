"""What a Gantt chart shows: bands of processors, the jobs on them, and when processors were away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.figures.curves import Clock
from headway.figures.style import BLACK, GREY
from headway.metrics.over_time import steps
from headway.platform.absences import absences
from headway.policies.pools import cluster_pools
from headway.schedule import STATES, Pieces, Schedule
from headway.schedule.pieces import Places, places_of
from headway.schedule.table import all_pieces
from headway.site.happenings import times_of
from headway.units import LONGEST, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from headway.site import Site

Ints = NDArray[np.int64]

WORKING = STATES.index("running")


@dataclass(frozen=True)
class Bands:
    """Stacked from below: band i holds `sizes[i]` processors from `offsets[i]` on.

    The other columns have one entry per piece; `job` is the row of the schedule, `lost` marks runs that
    were killed to start again, `processors` the numbers within the band where the schedule has them (an empty
    text where not).
    """

    names: Sequence[str]
    sizes: Ints
    offsets: Ints
    job: Ints
    band: Ints
    state: Ints
    start: Ints
    end: Ints
    procs: Ints
    lost: NDArray[np.bool_]
    processors: Sequence[str] | None

    def __len__(self) -> int:
        return len(self.job)

    @property
    def height(self) -> int:
        """Processors of all bands."""
        return int(self.sizes.sum())

    def within(self, begin: int, end: int) -> Bands:
        """Only the pieces that are seen between two instants (µs)."""
        seen = (self.start < end) & ((self.end > begin) | (self.start >= begin))
        if seen.all():
            return self
        kept = np.flatnonzero(seen)
        sets = None if self.processors is None else [self.processors[row] for row in kept.tolist()]
        columns = {
            name: getattr(self, name)[kept]
            for name in ("job", "band", "state", "start", "end", "procs", "lost")
        }
        return replace(self, processors=sets, **columns)


def bands(schedule: Schedule) -> Bands:
    """Nodes where jobs have nodes, else groups, else clusters, else the machine as one band."""
    pieces = all_pieces(schedule)
    holds = np.flatnonzero(pieces.holding)
    if schedule.shares is not None and len(schedule.shares):
        return _named_nodes(schedule, pieces, holds)
    names, sizes, band = _places(schedule, {
        name: None if getattr(pieces, name) is None else getattr(pieces, name)[holds]
        for name in ("node", "group", "cluster")
    }, len(holds))  # fmt: skip
    sets = None
    if pieces.processors is not None and any(pieces.processors[row] for row in holds.tolist()):
        sets = [pieces.processors[row] for row in holds.tolist()]
    return Bands(
        names=names,
        sizes=sizes,
        offsets=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        job=pieces.job[holds],
        band=band,
        state=pieces.state[holds],
        start=pieces.start[holds],
        end=pieces.end[holds],
        procs=pieces.procs[holds],
        lost=~pieces.final(len(schedule))[holds],
        processors=sets,
    )


def _named_nodes(schedule: Schedule, pieces: Pieces, holds: Ints) -> Bands:
    """A band for each named node; what a job holds of several is a piece in each.

    Where a folder does not have the nodes of runs that were lost, only final runs are shown.
    """
    final = pieces.final(len(schedule))
    if pieces.shares is None:
        assert schedule.shares is not None
        holds = holds[final[holds]]
        shares = schedule.shares.in_rows(pieces.job[holds], len(schedule))
    else:
        shares = pieces.shares.in_rows(holds, len(pieces))
    piece = holds[shares.job]
    sizes = np.zeros(len(shares.names), np.int64)
    np.maximum.at(sizes, shares.node, shares.cpus)
    site = schedule.platform.site
    if site is not None:
        place = [site.node_place.get(name, -1) for name in shares.names]
        known = [site.nodes[p].cpus if p >= 0 else 0 for p in place]
        sizes = np.maximum(sizes, known) if any(p < 0 for p in place) else np.array(known, np.int64)
    return Bands(
        names=shares.names,
        sizes=sizes,
        offsets=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        job=pieces.job[piece],
        band=shares.node,
        state=pieces.state[piece],
        start=pieces.start[piece],
        end=pieces.end[piece],
        procs=shares.cpus,
        lost=~final[piece],
        processors=None,
    )


def _places(
    schedule: Schedule, codes: dict[str, Ints | None], pieces: int
) -> tuple[Sequence[str], Ints, Ints]:
    """Names and sizes of the bands, and the band of each piece."""
    found = places_of(codes, schedule.labels, schedule.groups, schedule.platform)
    if "group" in found and "cluster" in found:
        return _groups_of_clusters(schedule, found["cluster"].codes, found["group"])
    for name in ("node", "group", "cluster"):
        places = found.get(name)
        if places is not None and len(places.names) > 1 and (places.codes >= 0).all():
            names = [f"{name} {each}" if each.isdecimal() else each for each in places.names]
            return names, np.asarray(places.sizes, np.int64), places.codes
    return ("machine",), np.array([schedule.capacity], np.int64), np.zeros(pieces, np.int64)


def _groups_of_clusters(
    schedule: Schedule, cluster: Ints, groups: Places
) -> tuple[Sequence[str], Ints, Ints]:
    """A band for each group of each cluster, and one for a cluster without groups."""
    pools = cluster_pools(schedule.policy, schedule.platform)
    if not any(pool.group for pool in pools):  # groups that are clusters themselves
        return groups.names, np.asarray(groups.sizes, np.int64), groups.codes
    names = [cluster.name for cluster in schedule.platform.clusters]
    number = {(pool.cluster, pool.group): place for place, pool in enumerate(pools)}
    labels = [*groups.names, ""]  # a piece without a group has the code -1
    where = zip(cluster.tolist(), groups.codes.tolist(), strict=True)
    band = [number[at, labels[code]] for at, code in where]
    return (
        [f"{names[pool.cluster]} {pool.group}".strip() for pool in pools],
        np.array([pool.procs for pool in pools], np.int64),
        np.array(band, np.int64),
    )


LOOKS: dict[str, dict[str, Any]] = {
    "maintenance": {"facecolor": "#E8E8E8", "edgecolor": GREY, "hatch": "\\\\\\\\", "linewidth": 0.3},
    "down": {"facecolor": BLACK, "edgecolor": BLACK, "linewidth": 0.2, "alpha": 0.75},
    "reserved": {"facecolor": "#F3E6C8", "edgecolor": GREY, "hatch": "////", "linewidth": 0.3},
    "drain": {"facecolor": "none", "edgecolor": GREY, "hatch": "....", "linewidth": 0.3},
}


@dataclass(frozen=True)
class Away:
    """Processors of the chart that somebody took away for a time (µs)."""

    kind: str
    low: int
    high: int
    start: int
    end: int


def all_away(schedule: Schedule, shown: Bands) -> list[Away]:
    """Every outage of the machine, or of the nodes of a site, where the chart has its processors."""
    outages, site = schedule.platform.outages, schedule.platform.site
    if schedule.shares is not None and site is not None:
        return list(_of_site(site, shown, schedule.workload.header.unix_start or 0))
    if outages is None or len(shown.names) != 1:
        return []
    return [Away(o.kind, low, high, o.start, o.over) for o in outages.outages for low, high in o.processors]


def _of_site(site: Site, shown: Bands, origin: int) -> Iterator[Away]:
    """What was reserved, and nodes that were down or drained."""
    band = {name: place for place, name in enumerate(shown.names)}

    def stretches(names: list[str], kind: str, start: int, end: int) -> Iterator[Away]:
        places = sorted(band[name] for name in names if name in band)
        first = 0
        for at in range(1, len(places) + 1):
            if at == len(places) or places[at] != places[at - 1] + 1:
                low, last = int(shown.offsets[places[first]]), places[at - 1]
                high = int(shown.offsets[last] + shown.sizes[last])
                yield Away(kind, low, high, (start - origin) * SECOND, (end - origin) * SECOND)
                first = at

    latest = origin + (int(shown.end.max()) // SECOND if len(shown) else 0)
    for place, start, end in times_of(site.reservations, latest):
        one = site.reservations[place]
        kind = "maintenance" if one.has("MAINT") else "reserved"
        yield from stretches([site.nodes[node].name for node in one.nodes], kind, start, end)
    for event in site.events:
        kind = "down" if event.ends_jobs else "drain"
        if event.node:
            end = LONGEST // SECOND if event.end is None else event.end
            yield from stretches([event.node], kind, event.start, end)


def draw_outages(axes: Axes, schedule: Schedule, shown: Bands, axis: Clock, dense: bool) -> list[Patch]:
    """Each outage on its processors; many of them by their number, from above. Keys for the legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    everything, keys = all_away(schedule, shown), []
    outages = schedule.platform.outages
    for kind, look in LOOKS.items():
        seen = [
            (away.low, away.high, max(away.start, axis.begin), min(away.end, axis.end))
            for away in everything
            if away.kind == kind and away.start < axis.end and away.end > axis.begin
        ]
        if not seen:
            continue
        keys.append(Patch(label=kind, **look))
        if dense and outages is not None:
            continue
        low, high, begin, end = np.array(seen, np.int64).T
        left, right = axis.scaled(begin), axis.scaled(end)
        corners = np.stack([np.stack([left, left, right, right], 1), np.stack([low, high, high, low], 1)], 2)
        several = ("facecolor", "edgecolor", "linewidth")
        style = {f"{key}s" if key in several else key: value for key, value in look.items()}
        axes.add_collection(PolyCollection(list(corners), zorder=0.5, **style))
    if dense and keys and outages is not None:
        _, start, end = absences(outages)
        away = steps(start, end, np.ones(len(start), np.int64))
        edges = axis.edges(350)
        means = away.means(edges)
        top = np.full(len(means), float(shown.height))
        axes.stairs(
            top, axis.scaled(edges), baseline=top - means, fill=True, facecolor="#D0D0D0", edgecolor=GREY,
            hatch="\\\\\\\\", linewidth=0.0,
        )  # fmt: skip
        keys = [Patch(label="down or maintenance", facecolor="#D0D0D0", edgecolor=GREY, hatch="\\\\\\\\")]
    return keys
