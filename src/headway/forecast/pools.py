"""The last values of jobs that have something in common, for each kind of what they may have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.arrays import Floats, Ints, Mask

Key = tuple[int, ...]
Keys = tuple[Key | None, ...]
"""What a job agrees in with others, kind by kind; None: it is of no such kind."""
Values = Floats | Ints
_POWERS = 1 << np.arange(63, dtype=np.int64)


class Kind(NamedTuple):
    """What makes jobs of one kind: they agree in these columns. Those that are not known are of none."""

    columns: tuple[Ints, ...]
    known: Mask


class Pools:
    """The last ``kept`` values of each kind, by what its jobs agree in."""

    def __init__(self, kept: Sequence[int]) -> None:
        self._kept = kept
        self._last: list[dict[Key, deque[float]]] = [{} for _ in kept]

    def add(self, kinds: Sequence[Kind], values: Values) -> None:
        """Take values of some jobs, in their order, to the pools of all kinds that the jobs are of."""
        for last, kept, kind in zip(self._last, self._kept, kinds, strict=True):
            order = np.flatnonzero(kind.known)
            columns = [column[order] for column in kind.columns]
            sort = np.lexsort(columns[::-1]) if columns else np.arange(len(order))
            columns, ordered = [column[sort] for column in columns], values[order[sort]].tolist()
            first = np.zeros(len(ordered), np.bool_)
            first[:1] = True
            for column in columns:
                first[1:] |= column[1:] != column[:-1]
            begins = np.flatnonzero(first)
            ends = np.append(begins[1:], len(ordered)).tolist()
            keys = zip(*(column[begins].tolist() for column in columns), strict=True) if columns else [()]
            for key, begin, end in zip(keys, begins.tolist(), ends, strict=False):
                pool = last.setdefault(key, deque(maxlen=kept))
                pool.extend(ordered[max(begin, end - kept) : end])

    def of(self, keys: Keys) -> list[Sequence[float]]:
        """The pools of a job, kind by kind; empty ones where it is of no kind or nothing is kept."""
        return [() if key is None else last.get(key, ()) for last, key in zip(self._last, keys, strict=True)]


def keys_of(kinds: Sequence[Kind]) -> list[Keys]:
    """For each job what it agrees in with others, kind by kind."""
    found = []
    for kind in kinds:
        known = kind.known.tolist()
        keys = list(zip(*(column.tolist() for column in kind.columns), strict=True)) or [()] * len(known)
        found.append([key if one else None for key, one in zip(keys, known, strict=True)])
    return list(zip(*found, strict=True))


def doublings(values: Ints) -> Ints:
    """How many binary digits numbers have: the same for those within a factor of two."""
    return np.searchsorted(_POWERS, values, side="right").astype(np.int64)
