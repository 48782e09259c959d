"""Prepares the policies on nodes: their tables, load times and weights in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from headway.engine.setup import Setup
from headway.engine.tables import State
from headway.errors import InputError, UsageError
from headway.jit.rows import zeros
from headway.platform.node_table import Node, in_tie_order, load_time
from headway.policies.nodes import tables as at
from headway.policies.nodes.placing import HOW_TO_ADD
from headway.policies.nodes.tables import Files, Nodes, Notes, Points, Rules, Seen
from headway.policies.prepare import Arrivals, Prepared
from headway.policies.spec import Spec
from headway.units import DAY, LONGEST
from headway.workload import read
from headway.workload.annotations import beside, read_annotations

Plan = list[list[Fraction]]
"""Plan[x][y]: area of jobs of size y for nodes of size x, sizes from small to large."""


def fill_level(areas: Sequence[int], counts: Sequence[int], tmax: str) -> Fraction:
    """T_max, the area per node to which each size is filled.

    ``mean``: all areas over all nodes. ``max``: the largest such mean over one size and all above it, so that
    no size is planned beyond it.
    """
    if tmax == "mean":
        return Fraction(sum(areas), sum(counts))
    return max(Fraction(sum(areas[x:]), sum(counts[x:])) for x in range(len(areas)))


def planned_areas(areas: Sequence[int], counts: Sequence[int], tmax: str = "max") -> Plan:
    """Each size takes its own jobs, then of the next smaller ones up to the level.

    areas: processors x walltime of the jobs of each size; counts: nodes of each size.

    >>> plan = planned_areas([15, 30, 2], [5, 3, 2])
    >>> [[str(area) for area in row] for row in plan]
    [['15', '0', '0'], ['0', '96/5', '0'], ['0', '54/5', '2']]
    """
    level = fill_level(areas, counts, tmax)
    left = [Fraction(area) for area in areas]
    plan = [[Fraction(0)] * len(areas) for _ in areas]
    for x in reversed(range(len(areas))):
        plan[x][x] = left[x]
        room = level * counts[x] - left[x]
        for y in reversed(range(x)):
            if room <= 0:
                break
            plan[x][y] = min(room, left[y])
            room -= plan[x][y]
            left[y] -= plan[x][y]
    return plan


def planned_cores(
    plan: Plan, level: Fraction, counts: Sequence[int], cores: Sequence[int]
) -> list[list[Fraction]]:
    """The ratio form: how many cores of size x jobs of size y may use on average.

    It is the planned area's part of what the nodes of size x hold at the level, times their ``cores``.
    """
    return [
        [area * width / (level * count) if level * count else Fraction(0) for area in row]
        for row, count, width in zip(plan, counts, cores, strict=True)
    ]


def quotients(number: Fraction) -> list[int]:
    """A number as its continued fraction, in which compiled code compares it exactly however long it is.

    >>> quotients(Fraction(16, 7))  # 2 + 1 / (3 + 1 / 2)
    [2, 3, 2]
    """
    above, below = number.numerator, number.denominator
    found = []
    while below:
        whole, rest = divmod(above, below)
        found.append(whole)
        above, below = below, rest
    return found


def areas_of(
    procs: npt.NDArray[np.int64],
    walltime: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
    sizes: Sequence[float],
) -> list[int]:
    """Processors x walltime (µs) of the jobs of each memory size; ``size`` numbers the sizes upwards."""
    return [int((procs * walltime)[size == x].sum()) for x in range(len(sizes))]


def areas_of_log(path: str, sizes: Sequence[float]) -> list[int]:
    """The same for another log, with its annotations (needs_node_gb) beside it, as convert writes them."""
    log = read(path)
    annotations = beside(path)
    if annotations.exists():
        log = read_annotations(log, annotations)
    if "needs_node_gb" not in log:
        raise InputError(
            f"area-filling: nothing says how much memory the jobs of {path} need; give the column "
            f"needs_node_gb in {annotations.name} next to it: headway convert --apply 'files(...)' writes it",
            file=path,
            field="needs_node_gb",
        )
    size = np.searchsorted(np.array(sizes), np.nan_to_num(log.columns["needs_node_gb"])).astype(np.int64)
    return areas_of(log.procs, log.walltime, size, sizes)


# Prepares the policies on nodes: their tables, load times and weights in whole numbers.

Table = npt.NDArray[np.int64]
PRESENCES = ("contiguous", "until-next-start", "lru")
RULES = {"fixed": at.FIXED, "leo": at.LEO, "lem": at.LEM}
BYTE_GB = Fraction(1, 10**9)


class Machine:
    """The tables of a run: nodes in the order of ties, files, and what the policy remembers of them."""

    def __init__(self, arrivals: Arrivals, match: str, presence: str, backfills: bool) -> None:
        assert arrivals.platform is not None
        self.arrivals, self.match, self.backfills = arrivals, match, backfills
        self.nodes: list[Node] = in_tie_order(arrivals.platform)
        groups = [node.group for node in self.nodes]
        self.cores = np.array([group.cores for group in groups], np.int64)
        memory = np.array([group.memory_gb for group in groups])
        sizes, self.first_of_class = np.unique(memory, return_index=True)
        jobs = len(arrivals.submit)
        need = np.nan_to_num(arrivals.extra.get("needs_node_gb", np.zeros(jobs)))
        self.size_class = np.searchsorted(sizes, need).astype(np.int64)
        ends = np.append(self.first_of_class, len(groups)).astype(np.int64)
        own = np.minimum(self.size_class, len(sizes) - 1)
        self.low = np.zeros(jobs, np.int64) if match == "any" else ends[own]
        self.high = ends[own + 1] if match == "exact" else np.full(jobs, len(groups), np.int64)
        self.file, self.file_gb = _files(arrivals)
        speeds, of_node = np.unique([group.bandwidth_gb_s for group in groups], return_inverse=True)
        loads = [[load_time(gb, speed) for gb in self.file_gb] for speed in speeds]
        largest = max(self.file_gb, default=0.0)
        if max((max(each, default=0) for each in loads), default=0) > LONGEST or _bytes(largest) > at.FAR:
            raise InputError(
                f"file_gb: a file of {largest:g} GB is larger than can be kept, or takes too long to load; "
                "correct it"
            )
        self.loads = np.array(loads, np.int64).reshape(len(speeds), len(self.file_gb))
        self.memory = self._lay_out(jobs, of_node.astype(np.int64), memory, ends)
        self.memory.rules.presence = PRESENCES.index(presence)

    def _lay_out(self, jobs: int, speed: Table, memory: npt.NDArray[np.float64], ends: Table) -> at.Memory:
        """The tables at the beginning: every core idle, no file anywhere."""
        count, widest, sizes = len(self.nodes), int(self.cores.max()), len(ends) - 1
        rules, notes = zeros(Rules), zeros(Notes)
        rules.scale, rules.watched = 1, at.NIL
        rules[[Rules["most_ahead"], Rules["most_evicted"]]] = 1 << 60
        rules.origin = self.arrivals.submit[0] if jobs else 0
        rules.at_once, rules.backfill = self.match == "now", self.backfills
        notes.instant, notes[[Notes["plans"], Notes["ended_now"]]] = at.IDLE, at.NIL
        nodes = zeros(Nodes, count)
        nodes.cores[:], nodes.speed[:] = self.cores, speed
        nodes.memory[:] = [at.FAR if math.isinf(gb) else math.floor(_bytes(gb)) for gb in memory]
        nodes[[Nodes["last_start"], Nodes["start_before"]]] = at.IDLE
        nodes[[Nodes["uses"], Nodes["plans"], Nodes["first_plan"], Nodes["resident"], Nodes["points"]]] = (
            at.NIL
        )
        nodes[[Nodes["last_file"], Nodes["file_before"]]] = at.NIL
        files = zeros(Files, len(self.file_gb))
        files.size[:] = [math.ceil(_bytes(gb)) for gb in self.file_gb]
        files[[Files["uses"], Files["plans"], Files["resident"]]] = at.NIL
        base = np.where(np.arange(widest) < self.cores[:, None], at.IDLE, at.FAR)
        points = zeros(Points, count * (widest + 1) + 2 * jobs if self.backfills else 0)
        points.next[:] = at.NIL
        return at.Memory(
            rules=rules,
            notes=notes,
            nodes=nodes,
            files=files,
            loads=self.loads,
            base=base,
            plan=base.T.copy(),
            until=np.full((widest, count), at.FAR),
            open=np.array([0, *((self.cores >= k).sum() for k in range(1, widest + 1))], np.int64),
            points=points,
            class_from=ends,
            planned_area=np.zeros((sizes, sizes), np.int64),
            used_area=np.zeros((sizes, sizes), np.int64),
            planned_cores=np.full((at.QUOTIENTS, sizes, sizes), at.NIL),
            seen=zeros(Seen, count),
        )

    def prepared(self, hook: Callable[[int, State], None], big_first: bool, remark: str) -> Prepared:
        """The policy ready to run; jobs of the largest size may go first."""

        def fill(state: State) -> None:
            rows = ((at.Uses["file"], self.file), (at.Uses["low"], self.low), (at.Uses["high"], self.high))
            for row, column in (*rows, (at.Uses["size_class"], self.size_class)):
                state.jobs[row] = column
            if big_first:
                state.jobs.key[:] = -self.size_class

        def own(state: State) -> dict[str, object]:
            return {
                "file_loads": int(state.memory.notes.loads),
                "file_reuses": int(state.memory.notes.reuses),
            }

        def notes(state: State, ids: Table) -> dict[str, Table]:
            run = state.jobs.run
            return {"file_wait": state.runs.lead[run], "loaded": at.Uses(state.jobs).own_load}

        setup = Setup(
            tuple(int(cores) for cores in self.cores),
            hook,
            prepare=fill,
            more_rows=at.MORE_ROWS,
            queues=1,
            memory=self.memory,
        )
        numbers = np.array([node.number for node in self.nodes], np.int64)
        return Prepared(
            setup,
            self.arrivals.walltime,
            own=own,
            notes=notes,
            lead="loading",
            remark=remark,
            nodes=numbers,
        )


def _bytes(gb: float) -> Fraction:
    """A size, exactly as it is written."""
    return Fraction(repr(float(gb))) / BYTE_GB


def _files(arrivals: Arrivals) -> tuple[Table, npt.NDArray[np.float64]]:
    """The file of each job (-1 none) and the size of each file in GB."""
    jobs = len(arrivals.submit)
    code = arrivals.extra.get("file", np.full(jobs, -1, np.int64))
    gb = arrivals.extra.get("file_gb", np.full(jobs, np.nan))
    count = int(code.max(initial=-1)) + 1
    sizes = np.zeros(count)
    has = code >= 0
    names = arrivals.labels.get("file", [])
    unknown = has & (np.isnan(gb) | (gb < 0))
    if unknown.any():
        name = names[int(code[np.argmax(unknown)])]
        raise InputError(f"the file {name!r} has no size; {HOW_TO_ADD}", field="file_gb")
    sizes[code[has]] = gb[has]
    differs = has & (gb != sizes[np.maximum(code, 0)]) if count else has & False
    if differs.any():
        row = int(np.argmax(differs))
        one, other = gb[row], sizes[code[row]]
        raise InputError(
            f"the file {names[int(code[row])]!r} has {one:g} GB for one job and {other:g} GB for another; "
            "give it one size",
            field="file_gb",
        )
    return code.astype(np.int64), sizes


def weigh(spec: Spec, rule: str, weights: tuple[Fraction, Fraction, Fraction], machine: Machine) -> None:
    """The weights as whole numbers over one scale, and how far scores can be compared exactly."""
    x, y, z = weights
    shares = math.lcm(*(int(cores) for cores in machine.cores)) if y else 1
    scale = math.lcm(x.denominator, y.denominator * shares, z.denominator)
    rules = machine.memory.rules
    longest = int(machine.loads.max(initial=0))
    worst = max(x * scale * longest, z * scale * longest * len(machine.nodes), y * scale * longest * 64)
    if worst >= 1 << 58 or scale > 1 << 20:
        raise UsageError(
            f"{spec.name}: with load={float(x):g}, evict={float(y):g} and copies={float(z):g} scores "
            "grow beyond what can be compared exactly; give smaller weights or fewer decimals"
        )
    rules.weights, rules.scale = RULES[rule], scale
    rules.x, rules.y, rules.z = (int(weight * scale) for weight in (x, y, z))
    rules.most_ahead = (1 << 60) // scale
    rules.most_evicted = (1 << 58) // max(1, int(y * scale))
    if rule == "lem":
        nodes = len(machine.nodes)
        rules.threshold = min(math.ceil(spec.fraction("threshold") * nodes), nodes + 1)


def plan_areas(spec: Spec, machine: Machine) -> None:
    """Areas of the jobs that the plan is made from, and the budgets of each size on larger ones."""
    arrivals = machine.arrivals
    earlier = str(spec.params["areas"])
    sizes = sorted({node.group.memory_gb for node in machine.nodes})
    areas = [0] * len(sizes)
    if not isinstance(spec.params["areas"], str):
        known = arrivals.submit < arrivals.submit[:1] + round(float(earlier) * DAY)
        machine.memory.rules.known_from = arrivals.submit[:1].sum() + round(float(earlier) * DAY)
        areas = areas_of(arrivals.procs[known], arrivals.walltime[known], machine.size_class[known], sizes)
    elif earlier == "all":
        areas = areas_of(arrivals.procs, arrivals.walltime, machine.size_class, sizes)
    else:
        areas = areas_of_log(earlier, sizes)
    ends = np.append(machine.first_of_class, len(machine.nodes))
    counts = np.diff(ends).tolist()
    tmax = str(spec.params["tmax"])
    plan = planned_areas(areas, counts, tmax)
    machine.memory.planned_area[:] = [[math.floor(part) for part in row] for row in plan]
    if spec.params["form"] == "ratio":
        cores = [int(machine.cores[ends[x] : ends[x + 1]].sum()) for x in range(len(sizes))]
        machine.memory.rules.form = 1
        for x, row in enumerate(planned_cores(plan, fill_level(areas, counts, tmax), counts, cores)):
            for y, share in enumerate(row):
                # No time in µs is compared further than QUOTIENTS, nor with quotients beyond FAR.
                for place, quotient in enumerate(quotients(share)[: at.QUOTIENTS]):
                    machine.memory.planned_cores[place, x, y] = min(quotient, at.FAR)
