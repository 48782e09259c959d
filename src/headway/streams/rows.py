"""Rows of a schedule that wait for their turn: jobs end in any order, a schedule has them in that of the log.

Rows stand in blocks. A block is handed on when all its jobs have ended and all blocks before it are gone. One
job that stays for long would keep everything behind it in memory; so, beyond some hundred thousand rows,
blocks lie in a file meanwhile, and what becomes of their last jobs is kept beside them.

    blocks     [ in files, some jobs still here | in memory | being filled ]
    handed on    ^ first
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from headway.arrays import Ints
from headway.workload.table import ALWAYS

BLOCK = 1 << 15
IN_MEMORY = 24
"""Blocks that are held in memory, 90 MB in all."""

OUTCOME = ("start", "end", "why", "killed", "promise")
ROWS = (*ALWAYS, *OUTCOME)
NOT_ENDED = -1
"""The end of a job that waits or runs."""
FIRST_OUTCOME = len(ALWAYS)


class Block:
    """Rows ``first`` to ``first + BLOCK`` of the schedule."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size
        self.filled = 0
        """Jobs that have been read."""
        self.ended = 0
        self.table: Ints | None = np.full((len(ROWS), size), NOT_ENDED, np.int64)
        """[column, row]; None while it lies in a file."""
        self.late: list[Ints] = []
        """[row | outcome, job] of jobs that ended since then."""
        self.file: Path | None = None

    @property
    def waits(self) -> bool:
        """Whether a job of it has not ended."""
        return self.ended < self.filled

    def put_away(self, folder: Path) -> None:
        """Let it lie in a file."""
        self.file = folder / f"rows-{self.first}.npy"
        np.save(self.file, self.table)  # type: ignore[arg-type]
        self.table = None

    def whole(self) -> dict[str, Ints]:
        """Its columns, also where no job has been read; the file goes."""
        if self.table is None:
            assert self.file is not None
            self.table = np.load(self.file)
            self.file.unlink()
            for late in self.late:
                self.table[FIRST_OUTCOME:, late[0]] = late[1:]
        return dict(zip(ROWS, self.table, strict=True))


class Rows:
    """Jobs as they are read and end, and blocks of them in order when these are complete."""

    def __init__(self, folder: Path, block: int = BLOCK, in_memory: int = IN_MEMORY) -> None:
        self._folder, self._size, self._in_memory = folder, block, in_memory
        self._blocks: deque[Block] = deque()
        self.read = 0
        """Jobs read."""
        self.given = 0
        """Jobs handed on."""

    def add(self, columns: Mapping[str, Ints], rows: Ints) -> None:
        """Jobs that were read, by their rows, which together with those before leave no gap in the end."""
        order = np.argsort(rows)
        columns, rows = {name: columns[name][order] for name in ALWAYS}, rows[order]
        numbers = rows // self._size
        for block, begin, end in _stretches(numbers):
            target = self._block(block)
            places = rows[begin:end] - target.first
            assert target.table is not None
            for row, name in enumerate(ALWAYS):
                target.table[row, places] = columns[name][begin:end]
            target.filled += end - begin
        self.read += len(rows)

    def end(self, rows: Ints, outcome: Mapping[str, Ints]) -> None:
        """Jobs that have ended, by their rows."""
        order = np.argsort(rows)
        rows = rows[order]
        table = np.stack([outcome[name][order] for name in OUTCOME]) if len(rows) else None
        for number, begin, end in _stretches(rows // self._size):
            assert table is not None
            block = self._block(number)
            places = rows[begin:end] - block.first
            block.ended += end - begin
            if block.table is None:
                block.late.append(np.concatenate((places[None], table[:, begin:end])))
            else:
                block.table[FIRST_OUTCOME:, places] = table[:, begin:end]

    def complete(self, last: bool = False) -> Iterator[dict[str, Ints]]:
        """Blocks in order while all their jobs have ended; one that is not full only if ``last``."""
        while self._blocks:
            block = self._blocks[0]
            if block.waits or (block.filled < block.size and not last):
                break
            self._blocks.popleft()
            self.given += block.filled
            yield {name: values[: block.filled] for name, values in block.whole().items()}
        held = [block for block in self._blocks if block.table is not None and block.filled == block.size]
        for block in held[: max(len(held) - self._in_memory, 0)]:
            block.put_away(self._folder)

    def ended(self) -> Iterator[dict[str, Ints]]:
        """After an interruption: all jobs that have ended, in order."""
        while self._blocks:
            columns = self._blocks.popleft().whole()
            done = columns["end"] != NOT_ENDED
            self.given += int(done.sum())
            if done.any():
                yield {name: values[done] for name, values in columns.items()}

    def _block(self, number: int) -> Block:
        first = self._blocks[0].first // self._size if self._blocks else self.given // self._size
        while number >= first + len(self._blocks):
            self._blocks.append(Block((first + len(self._blocks)) * self._size, self._size))
        return self._blocks[number - first]


def _stretches(numbers: Ints) -> Iterator[tuple[int, int, int]]:
    """Each number of an ascending list, and where it begins and ends there."""
    edges = np.flatnonzero(np.diff(numbers)) + 1
    begins = [0, *edges.tolist()] if len(numbers) else []
    for begin, end in zip(begins, [*begins[1:], len(numbers)], strict=False):
        yield int(numbers[begin]), begin, end
