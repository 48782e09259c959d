"""The 18 fields of the Standard Workload Format and the numbers they may hold."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from headway.errors import InputError
from headway.units import LONGEST, SECOND, microseconds, seconds_text


class Field(NamedTuple):
    """A column's name, what people call the field, and whether it is a time, kept in µs."""

    name: str
    title: str
    is_time: bool = False


FIELDS = (
    Field("job", "job number"),
    Field("submit", "submit time", True),
    Field("wait", "wait time", True),
    Field("runtime", "run time", True),
    Field("allocated", "allocated processors"),
    Field("cpu_time", "average CPU time", True),
    Field("used_memory_kb", "used memory"),
    Field("requested_procs", "requested processors"),
    Field("requested_time", "requested time", True),
    Field("requested_memory_kb", "requested memory"),
    Field("status", "status"),
    Field("user", "user"),
    Field("group", "group"),
    Field("executable", "executable"),
    Field("queue", "queue"),
    Field("partition", "partition"),
    Field("preceding", "preceding job"),
    Field("think_time", "think time", True),
)
WIDTH = len(FIELDS)
INDEX = {field.name: index for index, field in enumerate(FIELDS)}
FEWEST = 5
"""A job line has at least the fields up to the allocated processors."""

SCALE = np.array([SECOND if field.is_time else 1 for field in FIELDS], dtype=np.int64)
"""What one unit in the log is inside."""

LARGEST = np.array([LONGEST // scale - 1 for scale in SCALE.tolist()], dtype=np.int64)
"""Whole parts up to this are surely in range; what is larger goes through `number`."""

MISSING, EXTRA, ROUNDED = 1, 2, 4
"""Flags of a job line: too few fields, too many, and ROUNDED x the first field (1 to 18) that was rounded."""

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def place(index: int) -> str:
    """A field as an error names it: its number in the format and its title."""
    return f"field {index + 1} ({FIELDS[index].title})"


def number(token: bytes, index: int, file: str, line: int) -> tuple[int, bool]:
    """Exact value of a field (µs for times) and whether it had to be rounded.

    Fractions of a whole-number field are rounded up: a job that asks for 2.5 processors needs 3.
    """
    if len(token) > 100 or not _NUMBER.fullmatch(token):
        shown = ascii(token[:20].decode("latin-1")) + ("..." if len(token) > 20 else "")
        message = f"{shown} is not a number; write a number, or -1 where it is unknown"
        raise InputError(message, file=file, line=line, field=place(index))
    value = Decimal(token.decode("ascii"))
    scale = int(SCALE[index])
    if abs(value) * scale > LONGEST:
        most = seconds_text(LONGEST) + " s" if FIELDS[index].is_time else str(LONGEST)
        raise InputError(
            f"is beyond {most}, the largest that can be kept; correct it, or write -1",
            file=file,
            line=line,
            field=place(index),
        )
    if FIELDS[index].is_time:
        exact = microseconds(value)
        return exact, value != Decimal(exact).scaleb(-6)
    whole = int(value)
    whole += value > whole
    return whole, value != whole


def job_line(line: bytes, file: str, number_of_line: int) -> tuple[list[int], int]:
    """The 18 values of a job line and its flags; an InputError names what is wrong with it."""
    tokens = line.split()
    values = [number(token, index, file, number_of_line) for index, token in enumerate(tokens[:WIDTH])]
    if len(tokens) < FEWEST:
        raise InputError(
            f"has {len(tokens)} of a job's 18 fields, and the first {FEWEST} are needed; complete the line",
            file=file,
            line=number_of_line,
        )
    flags = (MISSING if len(tokens) < WIDTH else 0) | (EXTRA if len(tokens) > WIDTH else 0)
    flags |= ROUNDED * next((index + 1 for index, (_, rounded) in enumerate(values) if rounded), 0)
    unknown = [-int(scale) for scale in SCALE[len(tokens) :]]
    return [value for value, _ in values] + unknown, flags
