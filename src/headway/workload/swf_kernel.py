"""Job lines of SWF text as columns, compiled: the parser for when a simulation follows.

It reads plain numbers and names every other line as odd, exactly as `swf_lines` does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints
from headway.jit.kernels import entry, kernel
from headway.workload.swf_fields import EXTRA, FEWEST, LARGEST, MISSING, ROUNDED, SCALE, WIDTH
from headway.workload.swf_lines import Lines

_NEWLINE, _BLANK, _TAB, _MINUS, _POINT, _ZERO = 10, 32, 9, 45, 46, 48
_DIGITS = 18
"""As many digits as an int64 surely holds."""


def parse(text: bytes, first_line: int) -> Lines:
    """Parse a chunk of whole lines, not empty, whose first line has the number `first_line`."""
    if not text.endswith(b"\n"):
        text += b"\n"  # so that the kernel needs no test for the end inside a line
    rows = text.count(b"\n")
    values = np.empty((WIDTH, rows), dtype=np.int64)
    line = np.empty(rows, dtype=np.int64)
    flags = np.empty(rows, dtype=np.int64)
    odd = np.empty((rows, 3), dtype=np.int64)
    found = np.zeros(2, dtype=np.int64)
    codes = np.frombuffer(text, dtype=np.uint8)
    _parse_lines(codes, first_line, values, line, flags, odd, SCALE, LARGEST, found)
    jobs, strange = found
    return Lines(values[:, :jobs], line[:jobs], flags[:jobs], odd[:strange])


@kernel
def _read_number(text: npt.NDArray[np.uint8], at: int) -> tuple[int, np.int64, np.int64, bool]:
    """Read the number at a place: the place behind it, its whole part, its millionths, whether negative.

    The place is -1 where there is no plain number of at most 18 digits and 6 decimals.
    """
    negative = text[at] == _MINUS
    if negative:
        at += 1
    first = at
    whole = np.int64(0)
    millionths = np.int64(0)
    digit = np.int64(text[at]) - _ZERO
    while 0 <= digit < 10 and at - first < _DIGITS:
        whole = whole * 10 + digit
        at += 1
        digit = np.int64(text[at]) - _ZERO
    if at == first:
        return -1, whole, millionths, negative
    if text[at] == _POINT:
        at += 1
        first = at
        unit = 100_000
        digit = np.int64(text[at]) - _ZERO
        while 0 <= digit < 10:
            millionths += digit * unit
            unit //= 10
            at += 1
            digit = np.int64(text[at]) - _ZERO
        if at == first or at - first > 6:
            return -1, whole, millionths, negative
    if text[at] != _BLANK and text[at] != _NEWLINE and text[at] != _TAB:
        return -1, whole, millionths, negative
    return at, whole, millionths, negative


@entry
def _parse_lines(
    text: npt.NDArray[np.uint8],
    first_line: int,
    values: Ints,
    line: Ints,
    flags: Ints,
    odd: Ints,
    scale: Ints,
    largest: Ints,
    found: Ints,
) -> None:
    """Fill the tables from text that ends with a newline; `found` gets the counts of job and odd lines."""
    end = len(text)
    at = 0
    row = 0
    strange = 0
    line_number = first_line
    while at < end:
        start = at
        field = 0
        flag = 0
        while True:
            while text[at] == _BLANK or text[at] == _TAB:
                at += 1
            if text[at] == _NEWLINE:
                break
            if field == WIDTH:
                flag |= EXTRA
                break
            place, whole, millionths, negative = _read_number(text, at)
            if place < 0 or whole > largest[field]:
                field = -1
                break
            at = place
            value = whole * scale[field]
            if scale[field] > 1:
                value += millionths
            elif millionths > 0:
                value += not negative
                if flag < ROUNDED:
                    flag |= ROUNDED * (field + 1)
            values[field, row] = -value if negative else value
            field += 1
        while text[at] != _NEWLINE:
            at += 1
        if field < 0 or 0 < field < FEWEST:
            odd[strange, 0] = start
            odd[strange, 1] = at
            odd[strange, 2] = line_number
            strange += 1
        elif field > 0:
            if field < WIDTH:
                flag |= MISSING
            for missing in range(field, WIDTH):
                values[missing, row] = -scale[missing]
            line[row] = line_number
            flags[row] = flag
            row += 1
        at += 1
        line_number += 1
    found[0] = row
    found[1] = strange
