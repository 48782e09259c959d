"""What policies that put jobs inside nodes promise: sizes, order, files and planned areas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Column, Fault, Finding, Mask, fault, found, of_jobs, together
from headway.plain import counted
from headway.platform.node_table import load_time
from headway.units import DAY, seconds_text

NOWHERE = -1


def node_of(record: Record) -> NDArray[np.int64] | None:
    """The platform's number of each job's node; None where the schedule does not say."""
    places = record.places.get("node")
    if places is None or record.nodes is None:
        return None
    # A table names the nodes that it uses, in any order; a name is the platform's number.
    numbers = [int(name) if name.isdecimal() else NOWHERE for name in places.names]
    if any(not 0 <= number < len(record.nodes) for number in numbers):
        if len(places.names) != len(record.nodes):
            return None
        numbers = list(range(len(record.nodes)))  # names of their own, in the platform's order
    node = np.full(len(record), NOWHERE, np.int64)
    node[record.intervals[0]] = np.array([*numbers, NOWHERE], np.int64)[places.codes]
    return node


def sizes_of(record: Record) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Memory sizes of the nodes from small to large, and the smallest that will do for each job."""
    assert record.nodes is not None
    sizes = np.unique([group.memory_gb for group in record.nodes])
    need = np.zeros(len(record)) if record.needs_node_gb is None else np.nan_to_num(record.needs_node_gb)
    return sizes, np.searchsorted(sizes, need).astype(np.int64)


def check_size(record: Record, match: str) -> Finding | None:
    """The check for one rule of matching."""
    node = node_of(record)
    if node is None or record.nodes is None:
        return None
    cores = np.array([group.cores for group in record.nodes])
    sizes, own = sizes_of(record)
    here = np.searchsorted(sizes, [group.memory_gb for group in record.nodes])[node]
    wrong = here != own if match == "exact" else here < own
    if match == "any":
        wrong = np.zeros(len(record), np.bool_)
    bad = (node == NOWHERE) | (record.procs > cores[node]) | wrong

    def tell(row: int) -> str:
        if node[row] == NOWHERE:
            return "is on no node"
        if record.procs[row] > cores[node[row]]:
            wide, size = counted(record.procs[row], "processor"), counted(cores[node[row]], "core")
            return f"has {wide} on node {node[row]} of {size}"
        return f"runs on node {node[row]} of {sizes[here[row]]:g} GB, which match={match} does not allow"

    return of_jobs(record, bad, tell)


# Where files make no difference to the choice of a node, the schedule is that of FCFS on cores.
#
# That is so without weights, with files of no size, and for EFT where no two jobs share a file and all nodes
# load equally fast. Then at every arrival and every end the waiting jobs, in order of submission, take the
# cores that come free first, ties by memory and number of the node, and those whose cores are free start. The
# ends are taken as they are; starts and nodes are made again, core by core.

LONGEST = 3000
"""Schedules of more jobs are not followed: every event plans the whole queue."""
IDLE, NEVER = -(1 << 62), 1 << 61

Cores = NDArray[np.int64]


def check_order(record: Record, weights: Sequence[Fraction], match: str) -> Finding | None:
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


# Input files on nodes: how long each job waited for its file, and who loaded it, recomputed from the starts.
#
# A job's file is there if some user has it loaded and runs, or as long as the rule of presence keeps it; it
# is
# waited for if somebody is loading it; else the job loads it, which takes its size over the node's bandwidth.
# The wait is thus never longer than a load. Only starts, ends, walltimes and the platform are looked at.


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


# Area filling: jobs on larger nodes stay within the areas planned for them, and the plan adds up.
#
# The plan is made again from the jobs: each size's area is given out in full, and with the larger of the two
# levels no size is filled beyond it. Then the starts are followed: a job on a larger size takes its area,
# processors x walltime, and gives back at its end what it did not use.


def check_areas(
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
