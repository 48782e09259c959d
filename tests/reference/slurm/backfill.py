"""One backfill cycle, section 5.3: every tested job gets a plan on named nodes, or starts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .machine import YEAR, Allocation, Job
from .main import start_on
from .plan import PlanTable
from .queue import Record, build_queue
from .select import unfit
from .state import Start, State
from .when import Window, when_and_where


@dataclass
class Plan:
    job: Job
    partition: str
    start: int
    end: int
    nodes: int
    held: bool = True
    """False for a start beyond the window: it is written down but holds nothing."""
    waits_for_epilog: bool = False


@dataclass
class Cycle:
    plans: list[Plan] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    tested: int = 0
    begun: dict[int, str] = field(default_factory=dict)
    """The partition in which a waiting task of an array has started: it is not looked at in others."""
    stamped: bool = False
    """Whether it changed the jobs' or nodes' time stamp, so that another cycle follows."""


def backfill_cycle(state: State) -> Cycle:
    machine, settings = state.machine, state.machine.settings
    cycle = Cycle()
    table = PlanTable(
        state.now, settings.bf_window, settings.bf_resolution, state.usable, settings.since(24, 11)
    )
    if settings.bf_running_job_reserve:
        for held in state.running:
            if held.job.whole:
                table.add(0, table.end(held.end), held.nodes)
    kinds = ("user", "part", "user_part", "assoc", "resv")
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    planned: dict[int, int] = {}
    """Earliest start found for a job in any of its partitions."""
    for record in build_queue(machine, state.to_look_at(), shortest=True, preemption=state.preemption):
        if cycle.tested >= settings.bf_max_job_test:
            break
        if state.is_settled(record.job):
            continue
        if not place(state, cycle, table, record, counts, planned):
            break
        if settings.bf_max_job_start and len(cycle.starts) >= settings.bf_max_job_start:
            break
    busy = 0
    for held in state.running:
        busy |= held.nodes
    idle_planned = any(plan.nodes & ~busy for plan in cycle.plans if plan.held)
    cycle.stamped |= bool(cycle.starts) or idle_planned
    return cycle


def place(
    state: State,
    cycle: Cycle,
    table: PlanTable,
    record: Record,
    counts: dict[str, Counter[str]],
    planned: dict[int, int],
) -> bool:
    """Plan or start a job, or one task of an array after the other; False ends the cycle."""
    job = record.job
    plans = 0
    if job.waiting_tasks and cycle.begun.get(job.id, record.partition.name) != record.partition.name:
        return True
    while True:
        outcome = Search(state, cycle, table, record, counts, planned).run()
        if outcome == "full" or not job.waiting_tasks or job not in state.pending:
            return outcome != "full"
        if outcome == "started":
            cycle.begun[job.id] = record.partition.name
        if outcome == "planned":
            plans += 1
            if plans >= min(state.machine.settings.bf_max_job_array_resv, len(job.waiting_tasks)):
                return True
            if (
                state.since(23, 2, 4)
                and job.array_limit
                and plans + state.tasks_running(job) >= job.array_limit
            ):
                return True
        elif outcome != "started":
            return True
        settings = state.machine.settings
        if settings.bf_max_job_start and len(cycle.starts) >= settings.bf_max_job_start:
            return True
        if state.preemption is not None:  # each task of an array may take victims of its own
            state.preemption.begun.pop(job.id, None)


def too_many(state: State, record: Record, counts: dict[str, Counter[str]]) -> bool:
    """The bounds on jobs tested per user, partition and association; a job below them is counted."""
    settings = state.machine.settings
    job, name = record.job, record.partition.name
    keys = {
        "user_part": (f"{job.user} {name}", settings.bf_max_job_user_part),
        "part": (name, settings.bf_max_job_part),
        "assoc": (f"{job.account} {job.user}", settings.bf_max_job_assoc),
        "user": (job.user, 0 if settings.bf_max_job_assoc else settings.bf_max_job_user),
    }
    if any(bound and counts[kind][key] >= bound for kind, (key, bound) in keys.items()):
        return True
    for kind, (key, _) in keys.items():
        counts[kind][key] += 1
    return False


class Search:
    """The search for one record's place."""

    def __init__(
        self,
        state: State,
        cycle: Cycle,
        table: PlanTable,
        record: Record,
        counts: dict[str, Counter[str]],
        planned: dict[int, int],
    ) -> None:
        self.state, self.cycle, self.table, self.record = state, cycle, table, record
        self.counts, self.planned = counts, planned
        self.job, self.partition = record.job, record.partition
        self.limit = self.minutes()
        self.reserved_for = self.limit
        """Minutes that reservations must leave: after a window without a start, the whole limit."""
        self.now_only = self.no_reserve()

    def longest(self) -> int:
        longest = YEAR if self.partition.max_time is None else self.partition.max_time
        return min(self.job.limit, longest) if self.job.limit else longest

    def minutes(self) -> int:
        return min(self.longest(), self.job.time_min) if self.job.time_min else self.longest()

    def no_reserve(self) -> bool:
        settings = self.state.machine.settings
        age = self.state.now - self.job.eligible
        return (
            (settings.bf_min_prio_reserve > self.record.priority)
            or (settings.bf_min_age_reserve > age)
            or (settings.bf_one_resv_per_job and self.job.id in self.planned)
            or bool(
                settings.bf_job_part_count_reserve
                and self.counts["resv"][self.partition.name] >= settings.bf_job_part_count_reserve
            )
        )

    def run(self) -> str:
        """Plan or start the job: "planned", "started", "no" or, when the table is full, "full"."""
        state = self.state
        if state.limits.before(self.job, self.partition) or state.array_is_full(self.job):
            return "no"
        if too_many(state, self.record, self.counts):
            return "no"
        later = state.now
        counted = False
        while True:
            tried = self.candidates(later)
            if tried is None:
                return "no"
            start, nodes, later = tried
            if nodes.bit_count() < self.job.nodes or self.job.required & ~nodes:
                if later and not self.now_only:
                    if state.since(24, 5, 5):
                        self.reserved_for = self.longest()
                    continue
                return "no"
            if not counted:
                self.cycle.tested += 1
                counted = True
            found = when_and_where(
                state.machine,
                self.job,
                self.partition,
                nodes,
                state.running,
                state.usage(),
                state.now,
                state.weights,
                Window(start, later),
                completing=state.completing,
                now_only=self.now_only,
                preemptable=self.preemptable(),
            )
            if found is None:
                if later and not self.now_only:
                    self.reserved_for = self.longest()
                    continue
                return "no"
            at, chosen = max(found[0], start), found[1]
            self.cycle.stamped |= start > found[0]
            waits = at <= state.now and bool(chosen & state.completing)
            if waits:
                at, later = state.now + 1, 0
            if at <= state.now:
                outcome = self.start(nodes)
                if outcome != "busy":
                    return "started" if outcome == "started" else "no"
                later = 0
            if at > state.now and self.now_only:
                return "no"
            begin = self.table.floor(at)
            end = self.table.end(at + 60 * self.limit)
            if state.since(24, 5, 4):
                end = max(end, begin + state.machine.settings.bf_resolution)
            if state.since(24, 11) and at > state.now and self.table.overlaps(begin, end, chosen):
                later = at
                continue
            if later and at > later:
                continue
            if at <= state.now + state.machine.settings.bf_window:
                if at > state.now and self.table.overlaps(begin, end, chosen):
                    later = at
                    continue
                return self.hold(at, begin, end, chosen, waits)
            self.cycle.plans.append(Plan(self.job, self.partition.name, at, end, chosen, held=False))
            return "no"

    def preemptable(self) -> list[Allocation]:
        state = self.state
        if state.preemption is None:
            return []
        return state.preemption.candidates(self.job, self.partition, state.running, state.now)

    def candidates(self, later: int) -> tuple[int, int, int] | None:
        """Start of the window tested, the nodes free of plans in it, and when more may be free (or 0)."""
        state, job = self.state, self.job
        assert state.calendar is not None
        window = state.calendar.window(job, self.partition, later, self.reserved_for)
        if window is None:
            return None
        start = window.start
        end = 60 * self.limit + max(start, state.now)
        everything = window.nodes & self.partition.nodes & state.usable
        if state.since(24, 11):
            everything &= ~job.excluded
        nodes = everything
        next_later = 0
        slots = self.table.slots
        for k, slot in enumerate(slots):
            if slot.end > start and k + 1 < len(slots) and not next_later:
                coming = everything & slots[k + 1].free
                if coming & ~(nodes & slot.free):
                    next_later = slot.end
            if slot.end <= start:
                continue
            if slot.begin > end:
                if state.since(24, 11) and not next_later and k + 2 < len(slots):
                    next_later = slots[k + 1].end
                break
            nodes &= slot.free
        if window.overlaps:
            after = window.overlaps + 1
            if after < slots[-1].end and (not next_later or after < next_later):
                next_later = after
        return start, nodes & ~job.excluded & ~unfit(state.machine, job), next_later

    def start(self, nodes: int) -> str:
        outcome = start_on(self.state, self.job, self.partition, nodes, self.cycle.starts, self.limit)
        if outcome == "started":
            held = self.cycle.starts[-1].held
            if self.job.whole:
                self.table.add(0, self.table.end(held.end), held.nodes)
        return outcome

    def hold(self, at: int, begin: int, end: int, nodes: int, waits: bool) -> str:
        """Enter the plan in the table unless a limit forbids it."""
        state = self.state
        cpus = self.job.cpus
        if self.job.whole:
            cpus = sum(node.cpus for i, node in enumerate(state.machine.nodes) if nodes >> i & 1)
        if state.limits.after(self.job, self.partition, cpus, 0, nodes):
            return "no"
        self.cycle.plans.append(Plan(self.job, self.partition.name, at, end, nodes, waits_for_epilog=waits))
        self.counts["resv"][self.partition.name] += 1
        earlier = self.planned.get(self.job.id)
        self.planned[self.job.id] = at if earlier is None else min(earlier, at)
        if self.table.records >= state.machine.settings.table_size:
            return "full"
        self.table.add(begin, end, nodes)
        return "planned"
