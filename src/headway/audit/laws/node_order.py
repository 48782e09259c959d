"""Where files make no difference to the choice of a node, the schedule is that of FCFS on cores.

That is so without weights, with files of no size, and for EFT where no two jobs share a file and all nodes
load equally fast. Then at every arrival and every end the waiting jobs, in order of submission, take the
cores that come free first, ties by memory and number of the node, and those whose cores are free start. The
ends are taken as they are; starts and nodes are made again, core by core.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headway.audit.laws.node_size import node_of, sizes_of
from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import seconds_text

LONGEST = 3000
"""Schedules of more jobs are not followed: every event plans the whole queue."""
IDLE, NEVER = -(1 << 62), 1 << 61

Cores = NDArray[np.int64]


def check(record: Record, weights: Sequence[Fraction], match: str) -> Finding | None:
    """The check for a rule that plans in order of submission, without backfilling.

    ``weights`` are those of the wait for a file, of files pushed out, and of copies elsewhere.
    """
    node = node_of(record)
    if node is None or not 0 < len(record) <= LONGEST or bool((record.end <= record.start).any()):
        return None
    if any(weights) and not _files_tell_nothing(weights, record):
        return None
    wrong = _first_difference(record, node, match)
    if wrong is None:
        return Finding()
    row, t, due = wrong

    def tell(_: int) -> str:
        ran = f"starts at {seconds_text(record.start[row])} s on node {node[row]}"
        plan = "does not start it yet" if due is None else f"puts it on node {due} at {seconds_text(t)} s"
        return f"{ran}, and FCFS {plan}"

    return of_jobs(record, [0], tell, [t], [row])


def _files_tell_nothing(weights: Sequence[Fraction], record: Record) -> bool:
    if record.file is None or record.file_gb is None or record.nodes is None:
        return False
    has = record.file >= 0
    if not bool((record.file_gb[has] != 0).any()):
        return True
    alone = len(np.unique(record.file[has])) == int(has.sum())
    by_start_alone = weights[0] == 1 and not any(weights[1:])
    return by_start_alone and alone and len({group.bandwidth_gb_s for group in record.nodes}) == 1


def _first_difference(
    record: Record, node: NDArray[np.int64], match: str
) -> tuple[int, int, int | None] | None:
    """The first job that starts elsewhere or at another time: its row, the instant, and the node due then."""
    assert record.nodes is not None
    memory = np.array([group.memory_gb for group in record.nodes])
    numbers = np.lexsort((np.arange(len(memory)), memory))
    sizes, own = sizes_of(record)
    size = np.searchsorted(sizes, memory[numbers])
    width = max(group.cores for group in record.nodes)
    held: Cores = np.full((len(memory), width), NEVER, np.int64)
    for place, number in enumerate(numbers.tolist()):
        held[place, : record.nodes[number].cores] = IDLE
    place_of = np.argsort(numbers)
    order = np.lexsort((record.row, record.submit)).tolist()
    ends = np.argsort(record.end, kind="stable").tolist()
    queue: list[int] = []
    for t in np.unique(np.concatenate([record.submit, record.end])).tolist():
        while ends and record.end[ends[0]] <= t:
            row = ends.pop(0)
            _free(held[place_of[node[row]]], record.procs[row], record.start[row] + record.walltime[row])
        while order and record.submit[order[0]] <= t:
            queue.append(order.pop(0))
        if match == "now":
            queue.sort(key=lambda row: -own[row])
        plan, started = held.copy(), set()
        narrowest = np.minimum.accumulate([record.procs[row] for row in reversed(queue)])[::-1]
        for k, row in enumerate(queue):
            if plan[:, narrowest[k] - 1].min() > t:
                break
            allowed = size >= own[row] if match == "fits" else size == own[row]
            at = np.maximum(plan[:, record.procs[row] - 1], t)
            if match == "now":
                allowed |= (size > own[row]) & (at == t)
            at = np.where(allowed | (match == "any"), at, NEVER)
            place = int(np.argmin(at))
            _hold(plan[place], record.procs[row], at[place] + record.walltime[row])
            if at[place] == t:
                if record.start[row] != t or node[row] != numbers[place]:
                    return row, t, int(numbers[place])
                _hold(held[place], record.procs[row], t + record.walltime[row])
                started.add(row)
        queue = [row for row in queue if row not in started]
        for row in queue:
            if record.start[row] <= t:
                return row, t, None
    return None


def _hold(cores: Cores, procs: int, end: int) -> None:
    """The first cores to come free are held until ``end``; cores stay sorted."""
    cores[:procs] = end
    cores.sort()


def _free(cores: Cores, procs: int, end: int) -> None:
    """Cores held until ``end`` are idle again."""
    cores[np.flatnonzero(cores == end)[:procs]] = IDLE
    cores.sort()
