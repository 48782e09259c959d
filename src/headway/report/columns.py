"""Columns of numbers as text inside a page: small, and unpacked by a browser in milliseconds.

Integers are divided by what all have in common, written as differences where that is smaller, folded to
unsigned (0, -1, 1, -2, ... become 0, 1, 2, 3, ...), laid out as byte planes (all lowest bytes first),
deflated and put into base64. `assets/columns.js` is the other half.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.units import SECOND

Packed = dict[str, Any]

EXACT = 2**52
"""Larger than this a browser's numbers are no longer exact integers."""


def packed(values: ArrayLike, unit: float = 1) -> Packed:
    """A column of integers, which the page sees multiplied by `unit`."""
    numbers = np.ascontiguousarray(values, dtype=np.int64)
    common = int(np.gcd.reduce(numbers)) if len(numbers) else 1
    common = common or 1
    reduced = numbers // common
    plain, differences = _deflated(reduced), _deflated(np.diff(reduced, prepend=0))
    delta = len(differences[1]) < len(plain[1])
    planes, data = differences if delta else plain
    scale = common * unit
    return {
        "n": len(numbers),
        "planes": planes,
        "delta": delta,
        "scale": int(scale) if float(scale).is_integer() else scale,
        "data": base64.b64encode(data).decode("ascii"),
    }


def packed_times(microseconds: ArrayLike) -> Packed:
    """A column of times in µs, which the page sees in seconds."""
    column = np.ascontiguousarray(microseconds, dtype=np.int64)
    if not (column % SECOND).any():
        return packed(column // SECOND)
    return packed(column, 1 / SECOND)


def unpacked(column: Packed) -> NDArray[np.float64]:
    """What the page sees; the same steps as in columns.js, for tests and for anybody who reads a report."""
    count, planes = column["n"], column["planes"]
    raw = np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), np.uint8)
    wide = np.zeros((count, 8), np.uint8)
    wide[:, :planes] = raw.reshape(planes, count).T
    folded = wide.view("<u8").reshape(count)
    numbers = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    if column["delta"]:
        numbers = np.cumsum(numbers)
    return np.asarray(numbers * column["scale"], np.float64)


def _deflated(numbers: NDArray[np.int64]) -> tuple[int, bytes]:
    """Number of byte planes, and the planes deflated."""
    folded = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    largest = int(folded.max()) if len(folded) else 0
    if largest > EXACT:
        raise ValueError(f"a column holds {largest}, which a page cannot show exactly")
    planes = max((largest.bit_length() + 7) // 8, 1)
    table = folded.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :planes]
    return planes, zlib.compress(np.ascontiguousarray(table.T).tobytes(), 7)
