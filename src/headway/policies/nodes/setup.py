"""Prepares the policies on nodes: their tables, load times and weights in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.drive import Setup
from headway.engine.tables import KEY, R_LEAD, RUN, State
from headway.errors import InputError, UsageError
from headway.platform.node_table import Node, in_tie_order, load_time
from headway.policies.nodes import layout as at
from headway.policies.nodes.areas import (
    areas_of,
    areas_of_log,
    fill_level,
    planned_areas,
    planned_cores,
)
from headway.policies.nodes.placing import HOW_TO_ADD
from headway.policies.nodes.policy import Lem, OnNodes, Scored
from headway.policies.prepare import Arrivals, Prepared
from headway.policies.spec import Spec
from headway.units import SECOND

Table = npt.NDArray[np.int64]
PRESENCES = ("contiguous", "until-next-start", "lru")
BYTE_GB = Fraction(1, 10**9)


RULES = {"fixed": at.FIXED, "leo": at.LEO, "lem": at.LEM}


def scored(policy: Scored, arrivals: Arrivals) -> Prepared:
    """FCFS, EFT, LEA, LEO, LEM, the free score; conservative backfilling is FCFS with windows."""
    from headway.policies.nodes.scored import scored as hook

    machine = Machine(policy, arrivals, policy.backfills)
    machine.options[at.BACKFILL] = int(policy.backfills)
    machine.options[at.RULE] = RULES[policy.rule]
    _weigh(policy, machine)
    return machine.prepared(hook, key=-machine.size_class) if policy.big_first else machine.prepared(hook)


def easy(policy: OnNodes, arrivals: Arrivals) -> Prepared:
    """EASY on nodes."""
    from headway.policies.nodes.easy import easy_on_nodes as hook

    return Machine(policy, arrivals).prepared(hook)


def backfill_big(policy: OnNodes, arrivals: Arrivals) -> Prepared:
    """Backfill on bigger nodes."""
    from headway.policies.nodes.sizes import backfill_big as hook

    machine = Machine(policy, arrivals)
    machine.options[at.FORM] = int(policy.params["allowance"] == "mean")
    return machine.prepared(hook, key=-machine.size_class)


def area_filling(policy: OnNodes, arrivals: Arrivals) -> Prepared:
    """Area filling."""
    from headway.policies.nodes.sizes import area_filling as hook

    machine = Machine(policy, arrivals)
    _plan_areas(policy.spec, arrivals, machine)
    return machine.prepared(hook)


class Machine:
    """The tables of a run: nodes in the order of ties, files, and where everything stands in the options."""

    def __init__(self, policy: OnNodes, arrivals: Arrivals, backfills: bool = False) -> None:
        assert arrivals.platform is not None
        self.policy, self.arrivals, self.backfills = policy, arrivals, backfills
        self.nodes: list[Node] = in_tie_order(arrivals.platform)
        groups = [node.group for node in self.nodes]
        self.cores = np.array([group.cores for group in groups], np.int64)
        memory = np.array([group.memory_gb for group in groups])
        sizes, self.first_of_class = np.unique(memory, return_index=True)
        jobs = len(arrivals.submit)
        need = np.nan_to_num(arrivals.extra.get("needs_node_gb", np.zeros(jobs)))
        self.size_class = np.searchsorted(sizes, need).astype(np.int64)
        match = policy.match
        ends = np.append(self.first_of_class, len(groups)).astype(np.int64)
        own = np.minimum(self.size_class, len(sizes) - 1)
        self.low = np.zeros(jobs, np.int64) if match == "any" else ends[own]
        self.high = ends[own + 1] if match == "exact" else np.full(jobs, len(groups), np.int64)
        self.file, self.file_gb = _files(arrivals)
        speeds, of_node = np.unique([group.bandwidth_gb_s for group in groups], return_inverse=True)
        self.loads = np.array(
            [[load_time(gb, speed) for gb in self.file_gb] for speed in speeds], np.int64
        ).reshape(len(speeds), len(self.file_gb))
        self._lay_out(jobs, of_node.astype(np.int64), memory, ends)

    def _lay_out(self, jobs: int, speed: Table, memory: npt.NDArray[np.float64], ends: Table) -> None:
        nodes, widest, files = len(self.nodes), int(self.cores.max()), len(self.file_gb)
        points = nodes * (widest + 1) + 2 * jobs if self.backfills else 0
        base = np.full((nodes, widest), at.FAR, np.int64)
        for node, cores in enumerate(self.cores):
            base[node, :cores] = at.IDLE
        open_nodes = [0, *((self.cores >= k).sum() for k in range(1, widest + 1))]
        room = [at.FAR if math.isinf(gb) else int(Fraction(repr(float(gb))) / BYTE_GB) for gb in memory]
        sizes = [math.ceil(Fraction(repr(float(gb))) / BYTE_GB) for gb in self.file_gb]
        nil, classes = at.NIL, len(ends) - 1
        tables: dict[int, Any] = {
            at.T_CORES: self.cores, at.T_SPEED: speed, at.T_MEMORY: room, at.T_LOAD: self.loads.ravel(),
            at.T_BYTES: sizes, at.T_BASE: base.ravel(), at.T_ROW: base.T.ravel(),
            at.T_UNTIL: np.full(nodes * widest, at.FAR), at.T_OPEN: open_nodes,
            at.T_USES: np.full(nodes, nil), at.T_FILE_USES: np.full(files, nil),
            at.T_PLANS: np.full(nodes, nil), at.T_FILE_PLANS: np.full(files, nil),
            at.T_MARK: np.zeros(nodes), at.T_WAIT: np.zeros(nodes), at.T_START: np.zeros(nodes),
            at.T_COPY: np.zeros(nodes),
            at.T_FILE_MARK: np.zeros(files), at.T_FILE_LAST: np.zeros(files), at.T_BUSY: np.zeros(nodes),
            at.T_LAST_START: np.full(nodes, at.IDLE), at.T_START_BEFORE: np.full(nodes, at.IDLE),
            at.T_RESIDENT: np.full(nodes, nil), at.T_FILE_RESIDENT: np.full(files, nil),
            at.T_FIRST_PLAN: np.full(nodes, nil), at.T_POINT_HEAD: np.full(nodes, nil),
            at.T_POINT_TIME: np.zeros(points), at.T_POINT_FREE: np.zeros(points),
            at.T_POINT_PIN: np.zeros(points), at.T_POINT_NEXT: np.full(points, nil),
            at.T_CLASS_FROM: ends, at.T_PLANNED_AREA: np.zeros(classes**2),
            at.T_USED_AREA: np.zeros(classes**2), at.T_SEEN: np.zeros(nodes * at.SEEN_ENTRIES),
        }  # fmt: skip
        parts, place = [np.zeros(at.ENTRIES, np.int64)], at.ENTRIES
        for entry, table in tables.items():
            parts[0][entry] = place
            parts.append(np.asarray(table, np.int64))
            place += len(parts[-1])
        self.options: Table = np.concatenate(parts)
        self.options[at.AT_ONCE] = self.policy.match == "now"
        plain = {
            at.NODES: nodes, at.WIDEST: widest, at.FILES: files, at.SPEEDS: len(self.loads),
            at.CLASSES: classes, at.PRESENCE: PRESENCES.index(str(self.policy.presence)),
            at.SCALE: 1, at.MOST_AHEAD: 1 << 60, at.MOST_EVICTED: 1 << 60, at.WATCHED: nil,
            at.INSTANT: at.IDLE, at.PLANS: nil, at.ENDED_NOW: nil,
            at.ORIGIN: int(self.arrivals.submit[0]) if jobs else 0,
        }  # fmt: skip
        for entry, value in plain.items():
            self.options[entry] = value

    def prepared(self, hook: Callable[[int, State], None], key: Table | None = None) -> Prepared:
        """The policy ready to run."""

        def fill(state: State) -> None:
            rows = ((at.FILE, self.file), (at.LOW, self.low), (at.HIGH, self.high))
            for row, column in (*rows, (at.SIZE_CLASS, self.size_class)):
                state.jobs[row] = column
            if key is not None:
                state.jobs[KEY] = key

        def own(state: State) -> dict[str, object]:
            return {
                "file_loads": int(state.options[at.LOADS]),
                "file_reuses": int(state.options[at.REUSES]),
            }

        def notes(state: State, ids: Table) -> dict[str, Table]:
            run = state.jobs[RUN]
            return {"file_wait": state.runs[R_LEAD, run], "loaded": state.jobs[at.OWN_LOAD]}

        setup = Setup(
            tuple(int(cores) for cores in self.cores),
            hook,
            prepare=fill,
            more_rows=at.MORE_ROWS,
            queues=1,
            tables=self.options,
        )
        numbers = np.array([node.number for node in self.nodes], np.int64)
        return Prepared(
            setup,
            self.arrivals.walltime,
            own=own,
            notes=notes,
            lead="loading",
            remark=self.policy.remark,
            nodes=numbers,
        )


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


def _weigh(policy: Scored, machine: Machine) -> None:
    """The weights as whole numbers over one scale, and how far scores can be compared exactly."""
    x, y, z = policy.weights
    shares = math.lcm(*(int(cores) for cores in machine.cores)) if y else 1
    scale = math.lcm(x.denominator, y.denominator * shares, z.denominator)
    options = machine.options
    longest = int(machine.loads.max(initial=0))
    worst = max(x * scale * longest, z * scale * longest * len(machine.nodes), y * scale * longest * 64)
    if worst >= 1 << 58 or scale > 1 << 20:
        raise UsageError(
            f"{policy.spec.name}: with load={float(x):g}, evict={float(y):g} and copies={float(z):g} scores "
            "grow beyond what can be compared exactly; give smaller weights or fewer decimals"
        )
    options[at.SCALE] = scale
    options[at.X], options[at.Y], options[at.Z] = (int(weight * scale) for weight in (x, y, z))
    options[at.MOST_AHEAD] = (1 << 60) // scale
    options[at.MOST_EVICTED] = (1 << 58) // max(1, int(y * scale))
    if isinstance(policy, Lem):
        threshold = policy.threshold
        options[at.THRESHOLD], options[at.THRESHOLD_OVER] = threshold.numerator, threshold.denominator


DAY = 86_400 * SECOND


def _plan_areas(spec: Spec, arrivals: Arrivals, machine: Machine) -> None:
    """Areas of the jobs that the plan is made from, and the budgets of each size on larger ones."""
    earlier = str(spec.params["areas"])
    sizes = sorted({node.group.memory_gb for node in machine.nodes})
    areas = [0] * len(sizes)
    if not isinstance(spec.params["areas"], str):
        known = arrivals.submit < arrivals.submit[:1] + round(float(earlier) * DAY)
        machine.options[at.KNOWN_FROM] = arrivals.submit[:1].sum() + round(float(earlier) * DAY)
        areas = areas_of(arrivals.procs[known], arrivals.walltime[known], machine.size_class[known], sizes)
    elif earlier == "all":
        areas = areas_of(arrivals.procs, arrivals.walltime, machine.size_class, sizes)
    else:
        areas = areas_of_log(earlier, sizes)
    ends = np.append(machine.first_of_class, len(machine.nodes))
    counts = np.diff(ends).tolist()
    tmax = str(spec.params["tmax"])
    plan = planned_areas(areas, counts, tmax)
    budget = [[math.floor(part) for part in row] for row in plan]
    if spec.params["form"] == "ratio":
        cores = [int(machine.cores[ends[x] : ends[x + 1]].sum()) for x in range(len(sizes))]
        budget = planned_cores(plan, fill_level(areas, counts, tmax), counts, cores)
        machine.options[at.FORM] = 1
    first = machine.options[at.T_PLANNED_AREA]
    machine.options[first : first + len(sizes) ** 2] = np.array(budget, np.int64).ravel()
