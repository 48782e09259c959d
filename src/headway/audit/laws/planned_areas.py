"""Area filling: jobs on larger nodes stay within the areas planned for them, and the plan adds up.

The plan is made again from the jobs: each size's area is given out in full, and with the larger of the two
levels no size is filled beyond it. Then the starts are followed: a job on a larger size takes its area,
processors x walltime, and gives back at its end what it did not use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from headway.audit.laws.node_size import node_of, sizes_of
from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, Mask, fault, found, of_jobs, together
from headway.units import DAY, seconds_text


def check(
    record: Record,
    tmax: str,
    days: object,
    form: str,
    areas_of_log: Callable[[Sequence[float]], list[int]] | None = None,
) -> Finding | None:
    """The check for the parameters of a policy, which has the areas of another log by memory size."""
    node = node_of(record)
    if node is None or record.nodes is None or not len(record):
        return None
    memory = np.array([group.memory_gb for group in record.nodes])
    cores = np.array([group.cores for group in record.nodes])
    sizes, own = sizes_of(record)
    here = np.searchsorted(sizes, memory)[node]
    counts = [int(np.count_nonzero(memory == size)) for size in sizes]
    width = [int(cores[memory == size].sum()) for size in sizes]
    widest = np.array([cores[memory == size].max() for size in sizes])
    area = record.procs * record.walltime
    origin = int(record.submit.min())
    known, known_from = np.ones(len(record), np.bool_), origin
    if not isinstance(days, str):
        known_from = origin + round(float(str(days)) * DAY)
        known = record.submit < known_from
    areas = [int(area[known & (own == x)].sum()) for x in range(len(sizes))]
    if isinstance(days, str) and days != "all" and areas_of_log is not None:
        areas = areas_of_log(sizes.tolist())
    level, plan = _plan(areas, counts, tmax)

    def budget(t: int, z: int, y: int) -> int:
        if t < known_from:
            return 0
        if form == "plan":
            return int(plan[z][y])
        return int(plan[z][y] * width[z] * (t - origin) / (level * counts[z])) if level else 0

    # Jobs too wide for every node of their own size have to go to a larger one.
    room = _too_little(record, here, own, budget, may_stay=record.procs <= widest[own])

    def tell(row: int) -> str:
        left = seconds_text(room[row])
        return f"takes {seconds_text(area[row])} processor-seconds where {left} are left"

    return together(_adds_up(areas, plan, level, counts, tmax), of_jobs(record, list(room), tell))


def _too_little(
    record: Record, here: Column, own: Column, budget: Callable[[int, int, int], int], may_stay: Mask
) -> dict[int, int]:
    """Rows that started on a larger size than their ``own`` where less was left of the budget than they take,
    each with what was left; those that have to go there apart."""
    area, length = record.procs * record.walltime, record.end - record.start
    moved = np.flatnonzero((here > own) & (length > 0)).tolist()  # without length: nothing is used
    events = [(int(record.start[row]), 1, row) for row in moved]
    events += [(int(record.end[row]), 0, row) for row in moved]
    used: dict[tuple[int, int], int] = defaultdict(int)
    room: dict[int, int] = {}
    for t, starts, row in sorted(events, key=lambda e: (e[0], e[1], record.submit[e[2]], record.row[e[2]])):
        z, y = int(here[row]), int(own[row])
        if not starts:
            used[z, y] -= int(record.procs[row] * (record.walltime[row] - length[row]))
            continue
        left = budget(t, z, y) - used[z, y]
        if area[row] > left and may_stay[row]:
            room[row] = left
        used[z, y] += int(area[row])
    return room


def _plan(areas: list[int], counts: list[int], tmax: str) -> tuple[Fraction, list[list[Fraction]]]:
    """The level and the plan, written once more from the definition."""
    last = len(areas) - 1
    if tmax == "mean":
        level = Fraction(sum(areas), sum(counts))
    else:
        level = max(Fraction(sum(areas[x:]), sum(counts[x:])) for x in range(last + 1))
    left = list(map(Fraction, areas))
    plan = [[Fraction(0)] * (last + 1) for _ in areas]
    for x in range(last, -1, -1):
        plan[x][x], room = left[x], level * counts[x] - left[x]
        for y in range(x - 1, -1, -1):
            part = max(Fraction(0), min(room, left[y]))
            plan[x][y], room, left[y] = part, room - part, left[y] - part
    return level, plan


def _adds_up(
    areas: list[int], plan: list[list[Fraction]], level: Fraction, counts: list[int], tmax: str
) -> Finding:
    size = range(len(areas))
    lost = [y for y in size if sum(plan[x][y] for x in size) != areas[y]]
    over = [x for x in size if tmax == "max" and sum(plan[x]) > level * counts[x]]

    def describe(place: int) -> Fault:
        return fault(None, (), f"the areas planned for memory size {place} do not add up")

    return found([*lost, *over], describe)
