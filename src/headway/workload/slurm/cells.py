"""Cells of sacct's columns as numbers: durations, clock times, memory, job numbers, node lists.

Each function takes a Polars column of strings and gives one of numbers; null stands for unknown.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from headway.units import SECOND

if TYPE_CHECKING:
    import polars as pl

NOTHING = ("", "Unknown", "None", "N/A", "None assigned", "INVALID", "(null)", "None Assigned")
"""Words that say a value is unknown."""

NO_LIMIT = ("UNLIMITED", "Partition_Limit", "infinite")
"""Requests for as much time as there is: none that a scheduler could plan with."""

LARGEST_COUNT = (1 << 31) - 1
"""Processors, nodes and tasks beyond this are taken for damage."""

LARGEST_SECONDS = 10**11
"""Seconds (3,000 years) beyond which a time is taken for damage."""

_DURATION = r"^(?:(?:([0-9]{1,6})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(?:\.([0-9]{1,6})[0-9]*)?$"
_CLOCK = "%Y-%m-%dT%H:%M:%S"
_UNITS = {"": 0, "K": 0, "M": 1, "G": 2, "T": 3, "P": 4, "E": 5}


def whole(text: pl.Series, most: int = LARGEST_COUNT) -> pl.Series:
    """A whole number from 0 up to `most`."""
    import polars as pl

    number = text.cast(pl.Int64, strict=False)
    if (number.max() or 0) <= most and (number.min() or 0) >= 0:  # type: ignore[operator]
        return number
    return pl.select(pl.when(number.is_between(0, most)).then(number)).to_series()


def duration(text: pl.Series, unit: int) -> pl.Series:
    """µs of D-HH:MM:SS, HH:MM:SS, MM:SS with decimals or not; a bare number counts `unit` seconds."""
    import polars as pl

    bare = whole(text, LARGEST_SECONDS // unit)
    if not text.str.contains(":", literal=True).any():
        return bare * (unit * SECOND)
    parts = text.str.extract_groups(_DURATION).struct.unnest()

    def part(place: str) -> pl.Expr:
        return pl.col(place).cast(pl.Int64, strict=False).fill_null(0)

    seconds = ((part("1") * 24 + part("2")) * 60 + part("3")) * 60 + part("4")
    fraction = pl.col("5").fill_null("").str.pad_end(6, "0").cast(pl.Int64, strict=False)
    written = pl.when(pl.col("4").is_not_null()).then(seconds * SECOND + fraction)
    return parts.select(pl.coalesce(bare * (unit * SECOND), written)).to_series()


def epoch(text: pl.Series) -> pl.Series:
    """µs since 1970 of a bare number of seconds or a time with its offset from UTC; 0 is unknown."""
    import polars as pl

    number = whole(text, LARGEST_SECONDS)
    times = pl.select(pl.when(number > 0).then(number * SECOND)).to_series()
    clocks = text.filter(number.is_null())
    if not clocks.str.contains(r"T.*(?:Z|[+-]\d\d:?\d\d)$").any():
        return times
    offset = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%#z", time_unit="us", strict=False).dt.timestamp("us")
    return pl.select(pl.coalesce(times, offset)).to_series()


def clock(text: pl.Series) -> pl.Series:
    """A clock time without a zone, as 2024-03-31T02:30:00."""
    return text.str.to_datetime(_CLOCK, time_unit="us", strict=False)


def memory_kb(text: pl.Series, bare: str) -> pl.Series:
    """KB of 4G, 16000M, 1.5T, whatever follows the unit; a bare number is in `bare` (K, M, ...) or bytes."""
    import polars as pl

    parts = text.str.to_uppercase().str.extract_groups(r"^(\d+(?:\.\d+)?)([KMGTPE]?)[NC]?$").struct.unnest()
    scale = 1 / 1024 if bare == "bytes" else 1024.0 ** _UNITS[bare]
    units = {name: 1024.0**power for name, power in _UNITS.items()} | {"": scale}
    unit = pl.col("2").replace_strict(units, default=None, return_dtype=pl.Float64)
    value = pl.col("1").cast(pl.Float64, strict=False) * unit
    sound = pl.when(value < 2.0**52).then(value.ceil())
    return parts.select(sound.cast(pl.Int64, strict=False)).to_series()


def tres(text: pl.Series, name: str) -> pl.Series:
    """The count of one resource in a list such as billing=4,cpu=4,mem=8G,node=1."""

    return whole(text.str.extract(rf"(?:^|,){re.escape(name)}=(\d+)"))


A_YEAR = ("525600", "365-00:00:00")
"""What Slurm records for a job without any time limit, as TimelimitRaw and as Timelimit show it."""


def waiting_tasks(job: str) -> int:
    """How many tasks a record such as 42_[0-1,4-5%2] stands for.

    >>> [waiting_tasks(job) for job in ("42_[0-1,4-5]", "31_[1-50%4]", "4_[1-9:4]", "7")]
    [4, 50, 3, 1]
    """
    return min(max(tasks_named(job), 1), MOST_TASKS)


def tasks_named(job: str) -> int:
    """How many tasks such a record names, however many can be."""
    return sum(map(len, _tasks(job)))


def task_numbers(job: str) -> list[int]:
    """The tasks that such a record stands for; -1 where it does not say which.

    >>> task_numbers("42_[0-1,4-5%2]"), task_numbers("4_[1-9:4]"), task_numbers("4_[...]")
    ([0, 1, 4, 5], [1, 5, 9], [-1])
    """
    return list(islice(chain.from_iterable(_tasks(job)), MOST_TASKS)) or [-1]


def _tasks(job: str) -> list[range]:
    inside, found = re.search(r"_\[([^\]%]*)", job), []
    for part in inside[1].split(",") if inside else []:
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", part.strip())
        if match is not None:
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            found.append(range(first, max(first, last) + 1, max(step, 1)))
    return found


MOST_TASKS = 4_000_000
"""Tasks of one array beyond what Slurm can have."""

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_HOSTS = re.compile(r"([^,\[\]]+)((?:\[[^\]]*\][^,\[\]]*)*)")


def nodes_of(text: str) -> int:
    """How many nodes a list such as cn[001-003,007],gpu1 names.

    >>> nodes_of("cn[001-003,007],gpu1"), nodes_of("rack[1-2]n[1-4]"), nodes_of("cn17")
    (5, 8, 1)
    """
    total = 0
    for match in _HOSTS.finditer(text):
        count = 1
        for ranges in re.findall(r"\[([^\]]*)\]", match[2]):
            count *= sum(int(last or first) - int(first) + 1 for first, last in _RANGE.findall(ranges))
        total += count
    return total
