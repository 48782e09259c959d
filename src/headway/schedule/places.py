"""Where the pieces of a schedule were: groups, clusters and nodes, with their processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.platform import Platform
from headway.schedule.codes import NONE
from headway.schedule.pieces import Pieces

Column = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Where pieces were: a code per piece (-1 unknown), and name and processors of each place."""

    codes: Column
    names: Sequence[str]
    sizes: Sequence[int]


def interval_codes(name: str, of_jobs: Column | None, pieces: Pieces | None, jobs: int) -> Column | None:
    """Place codes in the order of `Record.intervals`."""
    if pieces is None:
        return of_jobs
    of_pieces = getattr(pieces, name)
    if of_pieces is None and of_jobs is None:
        return None
    alone, holds = pieces.alone(jobs), pieces.holding
    return np.concatenate(
        [
            np.full(int(holds.sum()), NONE) if of_pieces is None else of_pieces[holds],
            np.full(int(alone.sum()), NONE) if of_jobs is None else of_jobs[alone],
        ]
    )


def places_of(
    codes: Mapping[str, Column | None],
    labels: Mapping[str, Sequence[str]],
    groups: Mapping[str, int],
    platform: Platform,
) -> dict[str, Places]:
    """Places whose sizes are known: groups, clusters and nodes (numbered through all clusters)."""
    cores = [
        group.cores for cluster in platform.clusters for group in cluster.nodes for _ in range(group.count)
    ]
    known = {
        "group": (list(groups), list(groups.values())),
        "cluster": ([c.name for c in platform.clusters], [c.procs for c in platform.clusters]),
        "node": ([str(number) for number in range(len(cores))], cores),
    }
    places = {}
    for name, column in codes.items():
        names, sizes = known[name]
        if column is None or not names:
            continue
        given = labels.get(name) or names
        if set(given) <= set(names):
            places[name] = Places(column, given, [sizes[names.index(label)] for label in given])
        elif len(given) == len(names):
            places[name] = Places(column, given, sizes)  # nodes with names of their own, in the same order
    return places
