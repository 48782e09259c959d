"""The main loop, section 4.3: by priority, and a partition stops at its first job that does not fit."""

from __future__ import annotations

from collections import Counter

from .machine import Allocation, Job, Partition, members
from .preemption import victims_for
from .queue import Record, build_queue
from .select import plain_weight, select, unfit, wanted
from .state import Start, State, memory_of
from .usage import Usage


def main_pass(state: State, *, full: bool) -> tuple[list[Start], bool]:
    """The starts of one pass, and whether it stamped the jobs as changed.

    A start does, and a job met in a partition that has failed; the first job to find its nodes busy does not.
    """
    settings = state.machine.settings
    around = Pass(state.usable)
    for record in build_queue(state.machine, state.to_look_at(), preemption=state.preemption):
        if state.is_settled(record.job):
            continue
        if settings.sched_max_job_start and len(around.starts) >= settings.sched_max_job_start:
            break
        if settings.partition_job_depth and around.beyond_depth(record, settings.partition_job_depth):
            continue
        if not full and around.tested > settings.default_queue_depth:
            break
        while test(state, record, around) and record.job in state.pending:
            continue  # the next task of an array, after one that started
    return around.starts, around.stamped or bool(around.starts)


class Pass:
    """What a pass knows on its way through the queue."""

    def __init__(self, available: int) -> None:
        self.available = available
        self.failed: set[str] = set()
        self.failed_reservations: set[str] = set()
        self.starts: list[Start] = []
        self.tested = 0
        self.stamped = False
        self.in_partition: Counter[str] = Counter()

    def fail(self, partition: Partition) -> None:
        self.failed.add(partition.name)
        self.available &= ~partition.nodes

    def beyond_depth(self, record: Record, depth: int) -> bool:
        self.in_partition[record.partition.name] += 1
        return self.in_partition[record.partition.name] > depth


def test(state: State, record: Record, around: Pass) -> bool:
    """Test one record; True if it started."""
    job, partition = record.job, record.partition
    if state.array_is_full(job):
        return False
    around.tested += 1
    if job.reservation:
        if job.reservation in around.failed_reservations:
            return False
    elif partition.name in around.failed:
        around.stamped = True
        return False
    if state.limits.before(job, partition):
        return False
    if job.required & ~state.usable:
        return False
    if (around.available & partition.nodes).bit_count() < job.nodes:
        around.stamped = True
        around.fail(partition)
        return False
    outcome = try_start(state, job, partition, around.available, around.starts)
    if outcome != "started":
        hold_up(state, record, around, outcome == "busy")
    return outcome == "started"


def hold_up(state: State, record: Record, around: Pass, busy: bool) -> None:
    """What a job that did not start keeps from the others: the nodes that it names, or, where its nodes are
    busy, its reservation or its partition."""
    job, partition = record.job, record.partition
    if job.required and job.required.bit_count() >= job.nodes:
        around.available &= ~job.required
    elif busy and job.reservation:
        around.failed_reservations.add(job.reservation)
    elif busy and holds_back(state, job, record.priority):
        around.fail(partition)


def holds_back(state: State, job: Job, priority: int) -> bool:
    """Whether a job that does not fit stops its partition."""
    settings = state.machine.settings
    if settings.bf_min_age_reserve and state.now - job.eligible < settings.bf_min_age_reserve:
        return False
    return not (settings.bf_min_prio_reserve and priority < settings.bf_min_prio_reserve)


def try_start(state: State, job: Job, partition: Partition, available: int, starts: list[Start]) -> str:
    """Start the job now if it fits: "started", or why not.

    "busy" stops the partition; "limit", "reservation" and "unavailable" only pass it over: it would not fit
    even if what is left to it were idle, and nobody else keeps it out.
    """
    assert state.calendar is not None
    window = state.calendar.window(job, partition, state.now, job.limit)
    if window is None or window.start > state.now:
        return "reservation"
    nodes = available & window.nodes & partition.nodes & ~unfit(state.machine, job)
    outcome = start_on(state, job, partition, nodes, starts, job.limit)
    if outcome == "busy" and job.required & ~nodes:
        return "unavailable"
    if outcome == "busy" and not any_busy(state, job, nodes) and not fits_idle(state, job, partition, nodes):
        return "unavailable"
    return outcome


def any_busy(state: State, job: Job, nodes: int) -> bool:
    """Whether one of the nodes is kept from the job by another: in use, held whole, or completing."""
    busy = state.completing
    for held in state.running:
        if job.whole or held.job.whole:
            busy |= held.nodes
    return bool(busy & nodes)


def fits_idle(state: State, job: Job, partition: Partition, nodes: int) -> bool:
    """Whether the job could run on these nodes if all of them were idle."""
    return select(state.machine, job, partition, nodes, Usage(state.machine), state.weights) is not None


def start_on(
    state: State, job: Job, partition: Partition, candidates: int, starts: list[Start], limit: int
) -> str:
    """Section 6.1: selection among candidates, then the limits that need to know what was selected."""
    for i in members(partition.nodes & ~job.excluded & ~unfit(state.machine, job)):
        state.weights[i] = plain_weight(state.machine, i)
    candidates &= partition.nodes & state.usable & ~state.completing & ~job.excluded
    usage = state.usage()
    if job.whole and state.preemption is None:
        candidates &= ~usage.busy()

    def selection(used: Usage) -> dict[int, int] | None:
        """The choice by switches may give a job more nodes than it may have; it does not start then."""
        chosen = select(state.machine, job, partition, candidates, used, state.weights)
        return chosen if chosen is None or len(chosen) <= wanted(job, partition).most else None

    chosen = selection(usage)
    victims: list[Allocation] = []
    if chosen is None and state.preemption is not None:
        others = state.preemption.candidates(job, partition, state.running, state.now)
        others = [held for held in others if state.preemption.mode(held) != "SUSPEND"]
        found = victims_for(usage, others, candidates, selection, state.machine) if others else None
        if found is not None:
            chosen, victims = found
    if chosen is None:
        size = max(job.cpus, wanted(job, partition).least)
        if job.whole:  # as many as a search before gave it
            smallest = min(state.machine.nodes[i].cpus for i in members(partition.nodes))
            size = max(size, wanted(job, partition).least * smallest)
        reason = state.limits.after(job, partition, size, 0, 0)
        return "limit" if reason else "busy"
    memory = sum(memory_of(state.machine, job, chosen).values())
    nodes = sum(1 << i for i in chosen)
    if state.limits.after(job, partition, sum(chosen.values()), memory, nodes):
        return "limit"
    if victims and state.preemption is not None:
        if not state.preemption.pausing(job, state.now):
            state.preempt(job, victims)
        return "busy"
    starts.append(state.begin(job, partition.name, chosen, limit))
    return "started"
