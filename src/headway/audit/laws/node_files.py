"""Input files on nodes: how long each job waited for its file, and who loaded it, recomputed from the starts.

A job's file is there if some user has it loaded and runs, or as long as the rule of presence keeps it; it is
waited for if somebody is loading it; else the job loads it, which takes its size over the node's bandwidth.
The wait is thus never longer than a load. Only starts, ends, walltimes and the platform are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.audit.laws.node_size import node_of, sizes_of
from headway.audit.record import Record
from headway.audit.verdict import Fault, Finding, fault, found, of_jobs
from headway.platform.node_table import load_time
from headway.units import seconds_text


@dataclass
class Use:
    """A job with its file on a node; times in µs."""

    file: int
    begin: int
    loaded: int
    end: int
    """The real end."""


@dataclass(frozen=True)
class Starts:
    """Starts on one node at one instant (µs)."""

    time: int = -(2**62)
    only: int = -1
    """The file that all of them have; -1: none, or several."""


class Memory:
    """The uses on one node that may still matter, under one rule of presence."""

    def __init__(self, presence: str, memory_gb: float) -> None:
        self.presence, self.memory_gb = presence, memory_gb
        self.uses: dict[int, list[Use]] = {}
        self.sizes: dict[int, float] = {}

    def wait(self, t: int, file: int, last: Starts) -> int | None:
        """How long a job that starts now waits for others' loads; None if it has to load the file.

        `last` are the last starts on the node before now.
        """
        mine = self.uses.get(file, [])
        if any(use.loaded <= min(t, use.end) and self._there(use, t, last) for use in mine):
            return 0
        coming = [use.loaded - t for use in mine if t < use.loaded and t < use.end]
        return min(coming, default=None)

    def _there(self, use: Use, t: int, last: Starts) -> bool:
        if t <= use.end or self.presence == "lru":
            return True
        own = last.time == use.end and last.only == use.file
        return self.presence == "until-next-start" and (last.time < use.end or own)

    def take_in(self, use: Use, gb: float) -> None:
        """Add a use; what no longer matters goes, or what no longer fits."""
        if self.presence != "lru":
            kept = [other for other in self.uses.get(use.file, []) if self._matters(other, use.begin)]
            self.uses[use.file] = [*kept, use]
            return
        unread = [file for file in self.uses if self._is_unread(file, use.begin)]
        for file in unread:
            del self.uses[file]
        self.uses.setdefault(use.file, []).append(use)
        self.sizes[use.file] = gb
        while sum(self.sizes[file] for file in self.uses) > self.memory_gb * (1 + 1e-12):
            idle = [
                file
                for file, uses in self.uses.items()
                if file != use.file and all(other.end <= use.begin for other in uses)
            ]
            if not idle:
                return
            del self.uses[min(idle, key=lambda file: max(other.end for other in self.uses[file]))]

    def _is_unread(self, file: int, t: int) -> bool:
        """Whether nobody uses the file any more, and no load of it was finished."""
        return all(use.end <= t and use.loaded > use.end for use in self.uses[file])

    def _matters(self, use: Use, t: int) -> bool:
        return use.end >= t or self.presence == "until-next-start"


def replay(record: Record, presence: str, big_first: bool) -> Iterator[tuple[int, int, bool]]:
    """Row, wait for the file (µs) and whether the job loads it, for every job with a file."""
    node = node_of(record)
    assert node is not None and record.nodes is not None and record.file is not None
    assert record.file_gb is not None
    # Within one instant jobs start in the order in which a pass looks at them.
    keys = [record.row, record.submit, *([-sizes_of(record)[1]] if big_first else []), record.start, node]
    order = np.lexsort(keys)
    memory, place, last, before = Memory(presence, 0), -1, Starts(), Starts()
    for row in order.tolist():
        group = record.nodes[node[row]]
        t, file = int(record.start[row]), int(record.file[row])
        if node[row] != place:
            memory, place, last, before = Memory(presence, group.memory_gb), node[row], Starts(), Starts()
        if t > last.time:
            before, last = last, Starts(t, file)
        elif file != last.only:
            last = Starts(t)
        if file < 0:
            continue
        gb = float(record.file_gb[row])
        wait = memory.wait(t, file, before)
        loads = wait is None
        due = load_time(gb, group.bandwidth_gb_s) if wait is None else wait
        memory.take_in(Use(file, t, t + due, int(record.end[row])), gb)
        yield row, due, loads


def applies(record: Record, presence: str) -> bool:
    """Whether files and nodes are known; of jobs without length nobody can tell which came first."""
    if record.file is None or record.file_gb is None or node_of(record) is None:
        return False
    return presence != "lru" or not bool((record.end == record.start).any())


def check_waits(record: Record, presence: str, big_first: bool) -> Finding | None:
    """The check of every job's wait under one rule of presence."""
    if not applies(record, presence):
        return None
    due: NDArray[np.int64] = np.zeros(len(record), np.int64)
    for row, wait, _ in replay(record, presence, big_first):
        due[row] = min(wait, int(record.walltime[row]))
    spent = record.time_in("loading")

    def tell(row: int) -> str:
        return f"waits {seconds_text(spent[row])} s for its file instead of {seconds_text(due[row])} s"

    return of_jobs(record, spent != due, tell)


def check_counts(record: Record, presence: str, big_first: bool) -> Finding | None:
    """The check that loads and re-uses are as many as were counted, and together the jobs with a file."""
    if not applies(record, presence) or record.file_counts is None:
        return None
    made = [loads for _, _, loads in replay(record, presence, big_first)]
    ours = (sum(made), len(made) - sum(made))
    open_ones = of_unknown_turn(record)
    wrong = sum(ours) != sum(record.file_counts) or abs(ours[0] - record.file_counts[0]) > open_ones

    def describe(_: int) -> Fault:
        said, told = (f"{loads} loads and {again} re-uses" for loads, again in (ours, record.file_counts))  # type: ignore[misc]
        return fault(None, (), f"the starts make {said}, and the run counted {told}")

    return found([0] if wrong else [], describe)


def of_unknown_turn(record: Record) -> int:
    """How many jobs without length start on one node at one instant with others that have their file.

    An instant with such a job has several turns, so it may have loaded the file before an older job did.
    """
    node, file = node_of(record), record.file
    assert node is not None and file is not None
    groups, size = np.unique([node, record.start, file], axis=1, return_inverse=True, return_counts=True)[1:]
    shared = size[groups.ravel()] > 1
    return int(np.count_nonzero(shared & (file >= 0) & (record.end == record.start)))
