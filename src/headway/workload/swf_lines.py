"""Job lines of SWF text as columns, with NumPy alone: the parser for commands that compile nothing.

Two parsers take a chunk of text and give the same `Lines`: this one and the compiled one in `swf_kernel`.
Both read the lines that hold plain numbers only. All others, comments and mistakes among them, are named as
odd and read one by one afterwards, so that every unusual form and every error has one place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints, Mask
from headway.workload.swf_fields import EXTRA, FEWEST, LARGEST, MISSING, ROUNDED, SCALE, WIDTH

Bytes = npt.NDArray[np.uint8]

_NEWLINE, _BLANK, _MINUS, _POINT, _ZERO = 10, 32, 45, 46, 48
_PLAIN = b"0123456789-. \t\n"
_PAD = 8
"""Blanks put before the text, so that eight bytes can be read up to any digit."""
_MILLIONTHS = 10 ** np.arange(6, -1, -1, dtype=np.int64)
"""Millionths in one unit of the last of k decimals."""


class Lines(NamedTuple):
    """Parsed job lines in order, and the odd lines left."""

    values: Ints
    """18 x jobs, times in µs."""
    line: Ints
    flags: Ints
    odd: Ints
    """One row per odd line: its first byte, its end, its line number."""


class _Layout:
    """Where the lines, numbers, minus signs and decimal points of a text are.

    Places count from the first of the blanks put before the text. A number is a run of digits; one with a
    decimal point is two runs, of which the second is counted as its decimals.
    """

    def __init__(self, text: bytes) -> None:
        whole = text if text.endswith(b"\n") or not text else text + b"\n"
        self.padded = b" " * _PAD + whole
        self.codes: Bytes = np.frombuffer(self.padded, dtype=np.uint8)
        self.ends = np.flatnonzero(self.codes == _NEWLINE)
        # Below the digits the subtraction wraps to large numbers, so one comparison is enough.
        self.digit: Mask = self.codes - np.uint8(_ZERO) < 10
        edges = np.flatnonzero(self.digit[1:] != self.digit[:-1]) + 1
        self.run_starts, self.run_ends = edges[0::2], edges[1::2]
        self.before = self.codes[self.run_starts - 1]
        self.decimals = np.flatnonzero(self.before == _POINT)
        starts = self.run_starts
        if len(self.decimals):
            starts = starts[self.before != _POINT]
        self.count = np.diff(np.searchsorted(starts, self.ends), prepend=0)

    @property
    def starts(self) -> Ints:
        """First bytes of the lines."""
        return np.append(_PAD, self.ends + 1)[:-1]

    def odd(self) -> Mask:
        """Lines that hold anything but blanks and at least five plain numbers of at most six decimals."""
        odd = (self.count > 0) & (self.count < FEWEST)
        if self.padded.translate(None, _PLAIN):
            plain = np.zeros(256, dtype=np.bool_)
            plain[list(_PLAIN)] = True
            odd[self._lines_of(np.flatnonzero(~plain[self.codes]))] = True
        minus = np.flatnonzero(self.codes == _MINUS)
        good = self.digit[minus + 1] & (self.codes[minus - 1] <= _BLANK)
        odd[self._lines_of(minus[~good])] = True
        points = np.flatnonzero(self.codes == _POINT)
        odd[self._lines_of(points[~(self.digit[points - 1] & self.digit[points + 1])])] = True
        places = self.run_starts[self.decimals]
        good = self.run_ends[self.decimals] - places <= 6
        good[1:] &= np.diff(self.decimals) > 1  # decimals of decimals, as in 1.2.3
        odd[self._lines_of(places[~good])] = True
        return odd

    def without(self, lines: Mask) -> _Layout:
        """The layout of the text without these lines."""
        if not lines.any():
            return self
        lengths = np.diff(self.ends, prepend=_PAD - 1)
        return _Layout(self.codes[_PAD:][np.repeat(~lines, lengths)].tobytes())

    def _lines_of(self, places: Ints) -> Ints:
        return np.searchsorted(self.ends, places)

    def numbers(self) -> tuple[Ints, Mask]:
        """Values of all runs of digits, without signs, and which have more than 16 digits."""
        length = self.run_ends - self.run_starts
        values = self._up_to_eight_digits(self.run_ends, length)
        long = np.flatnonzero(length > 8)
        if len(long):
            values[long] += 10**8 * self._up_to_eight_digits(self.run_ends[long] - 8, length[long] - 8)
        return values, length > 16

    def _up_to_eight_digits(self, ends: Ints, length: Ints) -> Ints:
        """Values of the last `length` digits (8 where it is more) before each end.

        Eight bytes are read as one integer, last digit in the highest byte, and added up in three steps: to
        pairs, to groups of four, to eight digits.

            digits      a b c d e f g h          each in a byte
            x 10 + >>8  ab . cd . ef . gh .      pairs, every other byte
            multiply    10^6 ab + 10^4 cd + 10^2 ef + gh, in the upper half
        """
        size = len(self.padded) - 7
        eights: npt.NDArray[np.uint64] = np.ndarray((size,), dtype="<u8", buffer=self.padded, strides=(1,))
        word = eights[ends - 8].astype(np.uint64, copy=False)
        foreign = ((8 - np.minimum(length, 8)) * 8).astype(np.uint64)
        word >>= foreign
        word <<= foreign
        word &= np.uint64(0x0F0F0F0F0F0F0F0F)
        word = word * np.uint64(10) + (word >> np.uint64(8))
        outer = word & np.uint64(0x000000FF000000FF)
        outer *= np.uint64(10**6 << 32 | 10**2)
        word >>= np.uint64(16)
        word &= np.uint64(0x000000FF000000FF)
        word *= np.uint64(10**4 << 32 | 1)
        word += outer
        word >>= np.uint64(32)
        return word.view(np.int64)


def parse(text: bytes, first_line: int) -> Lines:
    """Parse a chunk of whole lines, not empty, whose first line has the number `first_line`."""
    layout = _Layout(text)
    line = np.arange(first_line, first_line + len(layout.ends), dtype=np.int64)
    odd = layout.odd()
    plain = layout.without(odd)
    rows = np.flatnonzero(~odd)[plain.count > 0]
    values, flags, large = _columns(plain)
    if large.any():
        odd[rows[large]] = True
        rows, values, flags = rows[~large], values[:, ~large], flags[~large]
    places = np.stack((layout.starts - _PAD, layout.ends - _PAD, line), axis=1)
    return Lines(values, line[rows], flags, places[odd])


def _columns(plain: _Layout) -> tuple[Ints, Ints, Mask]:
    """Values and flags of the lines of a text without odd ones, and which lines have too large a number."""
    runs, long = plain.numbers()
    count = plain.count[plain.count > 0]
    offsets = np.cumsum(count) - count
    large = np.zeros(len(count), dtype=np.bool_)
    if long.any():
        large[np.searchsorted(plain.ends[plain.count > 0], plain.run_starts[long])] = True
    numbers = np.where(plain.before == _MINUS, -runs, runs)
    if len(plain.decimals):
        numbers = numbers[plain.before != _POINT]
    values = np.empty((WIDTH, len(count)), dtype=np.int64)
    fewest, most = (count.min(), count.max()) if len(count) else (WIDTH, WIDTH)
    for index, column in enumerate(values):
        if index < fewest == most:
            column[:] = numbers[index::most]
        else:
            here = count > index
            column[here] = numbers[offsets[here] + index]
            column[~here] = -1
        if len(column) and (column.max() > LARGEST[index] or column.min() < -LARGEST[index]):
            large |= (column > LARGEST[index]) | (column < -LARGEST[index])
        if SCALE[index] > 1:
            column *= SCALE[index]
    flags = MISSING * (count < WIDTH) + EXTRA * (count > WIDTH)
    if len(plain.decimals):
        _add_decimals(plain, runs, offsets, values, flags)
    return values, flags, large


def _add_decimals(plain: _Layout, runs: Ints, offsets: Ints, values: Ints, flags: Ints) -> None:
    """Add the decimals of times, and round whole-number fields up."""
    decimals = plain.decimals
    # The k-th decimals stand behind k other ones and the whole part they belong to.
    owner = decimals - np.arange(1, len(decimals) + 1)
    row = np.searchsorted(offsets, owner, side="right") - 1
    field = owner - offsets[row]
    millionths = runs[decimals] * _MILLIONTHS[plain.run_ends[decimals] - plain.run_starts[decimals]]
    millionths[plain.before[decimals - 1] == _MINUS] *= -1
    known = (field < WIDTH) & (millionths != 0)
    row, field, millionths = row[known], field[known], millionths[known]
    timed = SCALE[field] > 1
    values[field[timed], row[timed]] += millionths[timed]
    row, field, millionths = row[~timed], field[~timed], millionths[~timed]
    values[field, row] += millionths > 0
    # Backwards, so that the first rounded field of a line is the one that stays.
    rounded = np.zeros_like(flags)
    rounded[row[::-1]] = field[::-1] + 1
    flags += ROUNDED * rounded
