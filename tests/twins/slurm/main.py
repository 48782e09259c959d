"""The main loop, section 4.3: by priority, and a partition stops at its first job that does not fit."""

from __future__ import annotations

from .machine import Job, Partition
from .queue import build_queue
from .select import select, wanted
from .state import Start, State, memory_of


def main_pass(state: State, *, full: bool) -> tuple[list[Start], bool]:
    """The starts of one pass, and whether a job was found blocked."""
    settings = state.machine.settings
    available = state.usable
    failed: set[str] = set()
    failed_reservations: set[str] = set()
    starts: list[Start] = []
    tested = 0
    blocked = False
    per_partition: dict[str, int] = {}
    for record in build_queue(state.machine, state.pending):
        job, partition = record.job, record.partition
        if job not in state.pending:
            continue
        if settings.sched_max_job_start and len(starts) >= settings.sched_max_job_start:
            break
        if settings.partition_job_depth:
            per_partition[partition.name] = per_partition.get(partition.name, 0) + 1
            if per_partition[partition.name] > settings.partition_job_depth:
                continue
        if not full and tested > settings.default_queue_depth:
            break
        tested += 1
        if job.reservation:
            if job.reservation in failed_reservations:
                continue
        elif partition.name in failed:
            blocked = True
            continue
        if state.limits.before(job, partition):
            continue
        outcome = "busy"
        if (available & partition.nodes).bit_count() >= job.nodes:
            outcome = try_start(state, job, partition, available, starts)
        if outcome in ("started", "limit", "reservation"):
            continue
        blocked = True
        if job.required and job.required.bit_count() >= job.nodes:
            available &= ~job.required
        elif job.reservation:
            failed_reservations.add(job.reservation)
        elif holds_back(state, job, record.priority):
            failed.add(partition.name)
            available &= ~partition.nodes
    return starts, blocked


def holds_back(state: State, job: Job, priority: int) -> bool:
    """Whether a job that does not fit stops its partition."""
    settings = state.machine.settings
    if settings.bf_min_age_reserve and state.now - job.eligible < settings.bf_min_age_reserve:
        return False
    return not (settings.bf_min_prio_reserve and priority < settings.bf_min_prio_reserve)


def try_start(state: State, job: Job, partition: Partition, available: int, starts: list[Start]) -> str:
    """Start the job now if it fits: "started", or why not: "busy", "limit" or "reservation"."""
    assert state.calendar is not None
    window = state.calendar.window(job, partition, state.now, job.limit)
    if window is None or window.start > state.now:
        return "reservation"
    return start_on(state, job, partition, available & window.nodes, starts, job.limit)


def start_on(
    state: State, job: Job, partition: Partition, candidates: int, starts: list[Start], limit: int
) -> str:
    """Section 6.1: selection among candidates, then the limits that need to know what was selected."""
    candidates &= partition.nodes & state.usable & ~state.completing & ~job.excluded
    usage = state.usage()
    if job.whole:
        candidates &= ~usage.busy()
    chosen = select(state.machine, job, partition, candidates, usage, state.weights)
    if chosen is None:
        size = wanted(job, partition).least
        reason = state.limits.after(job, partition, max(job.cpus, size), 0, 0)
        return "limit" if reason else "busy"
    memory = sum(memory_of(state.machine, job, chosen).values())
    nodes = sum(1 << i for i in chosen)
    if state.limits.after(job, partition, sum(chosen.values()), memory, nodes):
        return "limit"
    starts.append(state.begin(job, partition.name, chosen, limit))
    return "started"
