"""Area filling's plan: how much work of each memory size may go to larger nodes. Exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from headway.errors import InputError
from headway.workload import read
from headway.workload.annotations import beside, read_annotations

Plan = list[list[Fraction]]
"""Plan[x][y]: area of jobs of size y for nodes of size x, sizes from small to large."""


def fill_level(areas: Sequence[int], counts: Sequence[int], tmax: str) -> Fraction:
    """T_max, the area per node to which each size is filled.

    ``mean``: all areas over all nodes. ``max``: the largest such mean over one size and all above it, so that
    no size is planned beyond it.
    """
    if tmax == "mean":
        return Fraction(sum(areas), sum(counts))
    return max(Fraction(sum(areas[x:]), sum(counts[x:])) for x in range(len(areas)))


def planned_areas(areas: Sequence[int], counts: Sequence[int], tmax: str = "max") -> Plan:
    """Each size takes its own jobs, then of the next smaller ones up to the level.

    areas: processors x walltime of the jobs of each size; counts: nodes of each size.

    >>> plan = planned_areas([15, 30, 2], [5, 3, 2])
    >>> [[str(area) for area in row] for row in plan]
    [['15', '0', '0'], ['0', '96/5', '0'], ['0', '54/5', '2']]
    """
    level = fill_level(areas, counts, tmax)
    left = [Fraction(area) for area in areas]
    plan = [[Fraction(0)] * len(areas) for _ in areas]
    for x in reversed(range(len(areas))):
        plan[x][x] = left[x]
        room = level * counts[x] - left[x]
        for y in reversed(range(x)):
            if room <= 0:
                break
            plan[x][y] = min(room, left[y])
            room -= plan[x][y]
            left[y] -= plan[x][y]
    return plan


def planned_cores(
    plan: Plan, level: Fraction, counts: Sequence[int], cores: Sequence[int]
) -> list[list[Fraction]]:
    """The ratio form: how many cores of size x jobs of size y may use on average.

    It is the planned area's part of what the nodes of size x hold at the level, times their ``cores``.
    """
    return [
        [area * width / (level * count) if level * count else Fraction(0) for area in row]
        for row, count, width in zip(plan, counts, cores, strict=True)
    ]


def quotients(number: Fraction) -> list[int]:
    """A number as its continued fraction, in which compiled code compares it exactly however long it is.

    >>> quotients(Fraction(16, 7))  # 2 + 1 / (3 + 1 / 2)
    [2, 3, 2]
    """
    above, below = number.numerator, number.denominator
    found = []
    while below:
        whole, rest = divmod(above, below)
        found.append(whole)
        above, below = below, rest
    return found


def areas_of(
    procs: npt.NDArray[np.int64],
    walltime: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
    sizes: Sequence[float],
) -> list[int]:
    """Processors x walltime (µs) of the jobs of each memory size; ``size`` numbers the sizes upwards."""
    return [int((procs * walltime)[size == x].sum()) for x in range(len(sizes))]


def areas_of_log(path: str, sizes: Sequence[float]) -> list[int]:
    """The same for another log, with its annotations (needs_node_gb) beside it, as convert writes them."""
    log = read(path)
    annotations = beside(path)
    if annotations.exists():
        log = read_annotations(log, annotations)
    if "needs_node_gb" not in log:
        raise InputError(
            f"area-filling: nothing says how much memory the jobs of {path} need; give the column "
            f"needs_node_gb in {annotations.name} next to it: headway convert --apply 'files(...)' writes it",
            file=path,
            field="needs_node_gb",
        )
    size = np.searchsorted(np.array(sizes), np.nan_to_num(log.columns["needs_node_gb"])).astype(np.int64)
    return areas_of(log.procs, log.walltime, size, sizes)
