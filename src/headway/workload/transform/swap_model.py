"""How long it takes to swap a process out: its size over a bandwidth, and the measurements behind it.

Those are of the NAS parallel benchmarks on vector engines: M. Agung, Y. Watanabe, H. Weber, R. Egawa and
H. Takizawa, "Preemptive parallel job scheduling for heterogeneous systems supporting urgent computing", IEEE
Access 9, 2021, pages 17557-17571, Table 3. The times of LU in class A (0.073 s, where 0.020 would fit) and of
FT in class C (0.676 s, where 0.48 would fit) stand as printed; both look like misprints. Without them size
against time is a line of 6071 MB/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.units import LONGEST, SECOND
from headway.workload.annotations import KB_PER_MB

SWAP_TABLE: tuple[tuple[str, str, float, float], ...] = (
    ("A", "BT", 118.531, 0.022),
    ("A", "CG", 123.727, 0.023),
    ("A", "EP", 76.020, 0.014),
    ("A", "FT", 396.707, 0.073),
    ("A", "IS", 133.559, 0.024),
    ("A", "LU", 110.238, 0.073),
    ("A", "MG", 506.758, 0.093),
    ("A", "SP", 120.523, 0.022),
    ("B", "BT", 248.621, 0.040),
    ("B", "CG", 512.705, 0.082),
    ("B", "EP", 76.020, 0.012),
    ("B", "FT", 1630.167, 0.259),
    ("B", "IS", 331.559, 0.053),
    ("B", "LU", 215.742, 0.034),
    ("B", "MG", 608.109, 0.097),
    ("B", "SP", 256.770, 0.041),
    ("C", "BT", 573.680, 0.106),
    ("C", "CG", 741.656, 0.138),
    ("C", "EP", 76.023, 0.014),
    ("C", "FT", 2602.986, 0.676),
    ("C", "IS", 842.672, 0.156),
    ("C", "LU", 633.914, 0.118),
    ("C", "MG", 1741.941, 0.323),
    ("C", "SP", 797.586, 0.148),
    ("D", "BT", 1223.390, 0.201),
    ("D", "CG", 1071.495, 0.176),
    ("D", "EP", 76.023, 0.013),
    ("D", "FT", 5127.443, 0.844),
    ("D", "IS", 2116.223, 0.348),
    ("D", "LU", 1116.267, 0.184),
    ("D", "MG", 2469.829, 0.406),
    ("D", "SP", 1441.358, 0.237),
)
"""(input class, benchmark, average size in MB, average swapping time in s)."""

Point = tuple[str, str, float, float]

BANDWIDTH = 6000.0
"""MB/s at which a process is swapped out or in; the line through the unsuspicious points has 6071."""
SUSPICIOUS = (("A", "LU"), ("C", "FT"))
"""Points of the table far off the line of their class: probably misprints."""


def swap_times(memory_kb: Ints, bandwidth: float = BANDWIDTH) -> Ints:
    """Time (µs, rounded up) to move so many kB at so many MB/s; -1 where the size is unknown."""
    over, by = Decimal(str(bandwidth)).as_integer_ratio()
    divisor = over * KB_PER_MB
    exact = [-(-int(kb) * by * SECOND // divisor) if kb >= 0 else -1 for kb in np.unique(memory_kb)]
    if max(exact, default=0) > LONGEST:
        raise UsageError(f"at {bandwidth:g} MB/s swaps take longer than can be kept; give a larger bandwidth")
    return np.array(exact, np.int64)[np.unique(memory_kb, return_inverse=True)[1]]


@dataclass(frozen=True)
class Fit:
    """A line of times (s) against sizes (MB): time = intercept + size / bandwidth, by least squares."""

    name: str
    points: int
    intercept: float
    bandwidth: float
    r2: float


def fit(name: str, points: Sequence[Point], through_zero: bool = False) -> Fit:
    """The line of some points; ``r2`` is 1 - residual / total, through zero with the total about zero."""
    size = np.array([point[2] for point in points])
    time = np.array([point[3] for point in points])
    if through_zero:
        slope, intercept = float(size @ time / (size @ size)), 0.0
        total = float(time @ time)
    else:
        slope = float(np.cov(size, time, bias=True)[0, 1] / np.var(size))
        intercept = float(time.mean() - slope * size.mean())
        total = float(((time - time.mean()) ** 2).sum())
    residual = float(((time - intercept - slope * size) ** 2).sum())
    return Fit(name, len(points), intercept, 1 / slope, 1 - residual / total)


def fits() -> list[Fit]:
    """All points, all but the suspicious ones, and each class without its suspicious point through zero."""
    sound = [point for point in SWAP_TABLE if point[:2] not in SUSPICIOUS]
    found = [
        fit("all points", SWAP_TABLE),
        fit("without the suspicious ones", sound),
        fit("without the suspicious ones, through zero", sound, through_zero=True),
    ]
    for label in sorted({point[0] for point in SWAP_TABLE}):
        own = [point for point in sound if point[0] == label]
        found.append(fit(f"class {label}", own, through_zero=True))
    return found


def suspects(ratio: float = 1.2) -> list[tuple[Point, float]]:
    """Points whose time is more than ``ratio`` times off the line of their class, and what it would give.

    The line of a class goes through zero and the median of time over size, which one misprint cannot move.
    """
    found = []
    for point in SWAP_TABLE:
        own = [other for other in SWAP_TABLE if other[0] == point[0]]
        expected = point[2] * float(np.median([time / size for _, _, size, time in own]))
        if max(point[3] / expected, expected / point[3]) > ratio:
            found.append((point, expected))
    return found
