"""What jobs held of named nodes: CPUs and memory of each node of theirs, or the node alone.

In schedule.csv they are written as Slurm writes them::

    nodes        node_cpus   node_memory_mb   exclusive
    n[1-3,7]     8(x3),4     16000(x4)        0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import InputError
from headway.schedule.csv_table import CsvTable
from headway.site.node_names import compressed, expanded

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]

NODES, CPUS, MEMORY, ALONE = COLUMNS = ("nodes", "node_cpus", "node_memory_mb", "exclusive")
_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?")


@dataclass(eq=False)
class Shares:
    """A table with a row for each node of each job, by job and then as the nodes are listed.

    `job` is the row of the workload, `node` the place among `names`; memory in MB, 0 where it is not counted.
    """

    job: Ints
    node: Ints
    cpus: Ints
    memory_mb: Ints
    alone: NDArray[np.bool_]
    """Whether the job had its nodes to itself, although it may have used a part of them."""
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.job)

    def bounds(self, jobs: int) -> Ints:
        """Where the shares of each job begin, and where the last ones end."""
        return np.searchsorted(self.job, np.arange(jobs + 1))

    def of(self, row: int) -> Ints:
        """The places of a job's shares in the table."""
        first, last = np.searchsorted(self.job, [row, row + 1]).tolist()
        return np.arange(first, last)

    def nodes_of(self, row: int) -> str:
        """The nodes of a job, as Slurm writes a list."""
        return compressed(self.names[node] for node in self.node[self.of(row)].tolist())

    def totals(self, jobs: int) -> Ints:
        """CPUs of each job on all its nodes."""
        return np.bincount(self.job, weights=self.cpus, minlength=jobs).astype(np.int64)

    def select(self, kept: NDArray[np.bool_]) -> Shares:
        """The shares of some of the jobs, with the rows that these have among themselves."""
        here, row = kept[self.job], np.cumsum(kept) - 1
        return self.taken(np.flatnonzero(here), row)

    def in_rows(self, rows: Ints, count: int) -> Shares:
        """The shares of some of ``count`` jobs, one after the other as ``rows`` has them."""
        bounds = self.bounds(count)
        each = np.diff(bounds)[rows]
        begins = np.cumsum(each) - each
        places = np.arange(int(each.sum())) + np.repeat(bounds[rows] - begins, each)
        found = self.taken(places, np.zeros(count, np.int64))
        found.job = np.repeat(np.arange(len(rows)), each)
        return found

    def taken(self, places: Ints, row: Ints) -> Shares:
        """Some rows of the table; `row` has the new row of each job."""
        return Shares(
            row[self.job[places]],
            self.node[places],
            self.cpus[places],
            self.memory_mb[places],
            self.alone[places],
            self.names,
        )


def joined(first: Shares, second: Shares, rows: int) -> Shares:
    """Two tables over the same nodes in one; the rows of the second come behind the ``rows`` of the first."""

    def both(name: str) -> Any:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    job = np.concatenate([first.job, second.job + rows])
    return Shares(job, both("node"), both("cpus"), both("memory_mb"), both("alone"), first.names)


def share_columns(shares: Shares, jobs: int) -> list[pl.Series]:
    """The columns of schedule.csv; empty for a job without nodes."""
    import polars as pl

    bounds = shares.bounds(jobs).tolist()
    spans = list(pairwise(bounds))
    node, cpus, memory = (column.tolist() for column in (shares.node, shares.cpus, shares.memory_mb))
    alone = np.zeros(jobs, np.int8)
    alone[shares.job] = shares.alone
    lists = [compressed(shares.names[place] for place in node[a:b]) or None for a, b in spans]
    return [
        pl.Series(NODES, lists, dtype=pl.String),
        pl.Series(CPUS, [counted(cpus[a:b]) or None for a, b in spans], dtype=pl.String),
        pl.Series(MEMORY, [counted(memory[a:b]) or None for a, b in spans], dtype=pl.String),
        pl.Series(ALONE, alone),
    ]


def counted(values: Sequence[int]) -> str:
    """Numbers in order, equal neighbours counted, as Slurm writes CPUs per node.

    >>> counted([8, 8, 8, 4]), counted([2])
    ('8(x3),4', '2')
    """
    runs = [(value, len(list(equal))) for value, equal in groupby(values)]
    return ",".join(str(value) if count == 1 else f"{value}(x{count})" for value, count in runs)


def uncounted(text: str) -> list[int]:
    """The numbers of such a text.

    >>> uncounted("8(x3),4"), uncounted("")
    ([8, 8, 8, 4], [])
    """
    values: list[int] = []
    for part in filter(None, text.split(",")):
        match = _COUNT.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a list of numbers such as 8(x3),4")
        values += [int(match[1])] * int(match[2] or 1)
    return values


def read_shares(
    nodes: Sequence[str | None],
    cpus: Sequence[str | None],
    memory: Sequence[str | None],
    alone: NDArray[np.bool_],
    names: Sequence[str] = (),
) -> Shares:
    """The shares that columns of texts hold; `names` are the nodes that are known, others follow them.

    A text that cannot be read, or columns that do not fit each other, are a ValueError whose second argument
    is the row.
    """
    place = {name: number for number, name in enumerate(names)}
    job: list[int] = []
    node: list[int] = []
    held: list[list[int]] = [[], []]
    for row, text in enumerate(nodes):
        try:
            listed = expanded(text or "")
            for column, given in zip(held, (cpus[row], memory[row]), strict=True):
                values = uncounted(given or "")
                if len(values) != len(listed):
                    raise ValueError(f"{given!r} has {len(values)} numbers for {len(listed)} nodes")
                column += values
        except ValueError as error:
            raise ValueError(str(error), row) from None
        job += [row] * len(listed)
        node += [place.setdefault(name, len(place)) for name in listed]
    rows = np.array(job, np.int64)
    return Shares(
        rows,
        np.array(node, np.int64),
        np.array(held[0], np.int64),
        np.array(held[1], np.int64),
        alone[rows],
        tuple(place),
    )


def shares_of(table: CsvTable, known: Sequence[str]) -> Shares | None:
    """Those of each row of a table; `known` are the names of the site's nodes, where it is still there."""
    if not all(name in table for name in COLUMNS):
        return None
    texts = [table.texts[name].to_list() for name in COLUMNS[:-1]]
    try:
        return read_shares(texts[0], texts[1], texts[2], table.flags(COLUMNS[-1]), known)
    except ValueError as error:
        message, row = error.args
        raise InputError(
            f"{message}; correct the cell", file=table.path, line=table.line(row), field=COLUMNS[0]
        ) from None
