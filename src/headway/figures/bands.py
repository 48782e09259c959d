"""The pieces of a schedule that hold processors, each in its band: node, group, cluster or machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headway.policies.pools import cluster_pools
from headway.schedule import STATES, Pieces, Schedule
from headway.schedule.places import Places, places_of
from headway.schedule.table import all_pieces

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
