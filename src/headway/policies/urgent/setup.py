"""Prepares UJF and UJFB: swap times, hosts, the tables of processors, the notes of the policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import JobTable, State
from headway.errors import UsageError
from headway.jit.rows import zeros
from headway.plain import counted
from headway.policies.deadline import tables as dbf_rows
from headway.policies.deadline.tables import fill_rows
from headway.policies.prepare import UNBOUNDED, Arrivals, Prepared, Sets, Table
from headway.policies.queueing.ordering import STRIDE, URGENT_CLASS
from headway.policies.queueing.setup import ordered, strict
from headway.policies.spec import Spec, make_spec
from headway.policies.urgent import tables as rows
from headway.policies.urgent.deadlines import ujfb_deadlines
from headway.policies.urgent.processors import GROUP, SHIFT
from headway.policies.urgent.tables import NO_JOB, Memory, Notes, Processors, Rules, UjfbJobs
from headway.units import LONGEST, NEVER, SECOND, microseconds
from headway.workload.annotations import KB_PER_MB
from headway.workload.transform.swap_model import swap_times


def over_dbf(spec: Spec, plain: Prepared, some_have_deadlines: bool) -> Prepared:
    """UJFB, prepared already, with the lists of DBF for its regular jobs."""
    if spec.params["requeue"] == "end":
        raise UsageError(
            "ujfb: requeue=end does not go with regular=dbf, whose lists are in order of submission; give "
            "requeue=arrival"
        )

    def over(setup: Setup) -> Setup:
        """With a third profile, the base of DBF."""
        options = np.zeros(STRIDE, np.int64)
        options[dbf_rows.Rule.BASE] = rows.DEFINITIVE_BASE
        return replace(setup, pools=(*setup.pools, setup.pools[0]), hook=ujfb_deadlines, options=options)

    def again(state: State) -> Setup | None:
        setup = None if plain.again is None else plain.again(state)
        return None if setup is None else over(setup)

    def own(state: State) -> dict[str, object]:
        assert plain.own is not None
        names = {
            "accepted_deadlines": rows.Notes["accepted_jobs"],
            "late_on_arrival": rows.Notes["late_on_arrival"],
            "promotions": rows.Notes["promotions"],
            "displacements": rows.Notes["displacements"],
            "safety_net": rows.Notes["safety_net"],
            "deadlines_broken": rows.Notes["broken"],
        }
        return plain.own(state) | {name: int(state.memory.notes[note]) for name, note in names.items()}

    def notes(state: State, ids: Table) -> dict[str, Table]:
        jobs = rows.UjfbJobs(state.jobs)
        assert plain.notes is not None
        by = jobs.broken_by
        return plain.notes(state, ids) | {
            "first_given": jobs.first_given,
            "definitive_at": jobs.definitive_at,
            "displaced_times": jobs.displaced_times,
            "broken_by": np.where(by >= 0, ids[by], -1),
        }

    remark = plain.remark
    if not some_have_deadlines:
        remark = "no regular job has a deadline, so regular=dbf changes nothing"
    elif plain.sets is None:
        remark = "no job is urgent, so ujfb is dbf(compress=scratch)"
    return replace(
        plain,
        setup=over(plain.setup),
        promise_kind="end",
        own=own,
        notes=notes,
        again=again,
        remark=remark,
    )


# Prepares UJF and UJFB: swap times, hosts, the tables of processors, the notes of the policy.

MODES = ("suspend", "kill", "degree")
ORDERS = ("latest", "smallest", "largest")
RESERVE = ("none", "beside", "preempting")
KB_PER_GB = 1024 * KB_PER_MB
RECORD_LIMIT = 1 << 22
"""Entries at most in the record of processor sets at first."""


def ujf(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """First come, first served, urgent jobs before all others."""
    plain = strict(make_spec("fcfs", urgent="first"), arrivals, procs)
    urgent = _urgent(arrivals)
    setup = plain.setup
    if spec.params["overrun"] == "finish":
        assert setup.prepare is not None
        fill = setup.prepare

        def prepare(state: State) -> None:
            fill(state)
            let_finish(state)

        setup = replace(setup, prepare=prepare)
    return Prepared(setup, plain.plan, remark="" if urgent.any() else "no job is urgent, so ujf is fcfs")


def let_finish(state: State) -> None:
    """Urgent jobs are not killed at their walltime."""

    state.jobs.wall[state.jobs.priority_class == URGENT_CLASS] = UNBOUNDED


def ujfb(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Urgent jobs first with backfilling and preemption."""
    urgent = _urgent(arrivals)
    some = bool(urgent.any()) or arrivals.more_come
    swap, memory, assumed = _swaps(spec, arrivals, ~urgent) if some else (_none(arrivals), _none(arrivals), 0)
    deadline = arrivals.extra.get("deadline", np.full(len(urgent), -1))
    shapes = np.unique(np.stack([arrivals.procs, arrivals.walltime]), axis=1, return_inverse=True)[1]
    fill = ordered(arrivals, arrivals.walltime, {JobTable["key"]: "fcfs"}, urgent)
    back = _swaps_back(spec, swap)
    finishes = spec.params["overrun"] == "finish"
    hook = _hook(spec)

    def prepare(state: State) -> None:
        jobs = rows.UjfbJobs(state.jobs)
        fill(state)
        jobs.swap[:], jobs.memory[:] = swap, memory
        jobs.swap_back[:] = back
        fill_rows(state, deadline)
        if finishes:
            let_finish(state)
        jobs.shape_number[:] = shapes.ravel()
        jobs.stopped_by[:] = jobs.broken_by[:] = -1

    def setup(room: int) -> Setup:
        memory = _memory(spec, procs, some, room)
        return Setup((procs, procs), hook, (), prepare, more_rows=rows.MORE_ROWS, memory=memory)

    def again(state: State) -> Setup | None:
        """With more space for the processors of jobs, where some were not written down."""
        short = state.memory.notes.unrecorded > 0
        return setup(8 * len(state.memory.record)) if short else None

    plain = Prepared(
        setup(_record_room(arrivals, urgent) if some else 0),
        arrivals.walltime,
        "told",
        own=lambda state: _counted(state) | {"swap_assumed": assumed},
        notes=_noted,
        lead="swap_in",
        remark=_remark(some, assumed),
        again=again,
        sets=recorded if some else None,
    )
    if spec.params["regular"] == "conservative":
        return plain
    return over_dbf(spec, plain, bool((deadline[~urgent] >= 0).any()))


def _counted(state: State) -> dict[str, object]:
    """How often, and how long, urgent jobs made others stop."""
    jobs = UjfbJobs(state.jobs)
    noted = state.memory.notes
    delays = jobs.delay[jobs.preempted_for > 0]
    return {
        "suspensions": int(noted.stopped - noted.lost),
        "preempting_jobs": int(noted.preempting),
        "kills_for_urgent": int(noted.lost),
        "urgent_waited": int(noted.queued),
        "mean_preemption_delay": int(delays.sum()) / (len(delays) * SECOND) if len(delays) else None,
        "max_preemption_delay": int(delays.max()) / SECOND if len(delays) else None,
    }


def _noted(state: State, ids: Table) -> dict[str, Table]:
    """Of each job: who stopped it last, how often it was stopped, and for how long an urgent one waited."""
    jobs = UjfbJobs(state.jobs)
    by, rushed = jobs.stopped_by, jobs.priority_class == URGENT_CLASS
    return {
        "preempted_by": np.where(by >= 0, ids[by], -1),
        "preempted_times": jobs.stopped_times,
        "preemption_delay": np.where(rushed, jobs.delay, -1),
    }


def _remark(some: bool, assumed: int) -> str:
    """What a user should know of a run, or nothing."""
    if not some:
        return "no job is urgent, so ujfb is conservative(compress=scratch)"
    if not assumed:
        return ""
    return (
        f"neither swap time nor memory of {counted(assumed, 'job')} is known: taken to be of the median "
        "size of the others (unknown=median)"
    )


def _hook(spec: Spec) -> Callable[[int, State], None]:
    """The compiled policy: a form of its own where guests or overruns are allowed."""
    if spec.params["idle"] == "lent" or spec.params["overrun"] == "finish":
        from headway.policies.urgent.lending import ujfb_lending

        return ujfb_lending
    from headway.policies.urgent.ujfb import ujfb

    return ujfb


def recorded(state: State) -> Sets:
    """The processors that the policy has written down."""
    entries = state.memory.record[: state.memory.notes.recorded].tolist()
    found = Sets()
    place = 0
    while place < len(entries):
        run, number = entries[place], entries[place + 1]
        place += 2
        if run < 0:
            if number >= 0:
                found.borrower[-1 - run] = number
            found.swap_out[-1 - run] = entries[place]
            place += 1
            continue
        ranges = sorted(divmod(entry, SHIFT) for entry in entries[place : place + number])
        found.of_run[run] = [(low, high + 1) for low, high in ranges]
        place += number
    return found


def _urgent(arrivals: Arrivals) -> Any:
    return arrivals.extra.get("urgent", np.zeros(len(arrivals.submit), np.bool_))


def _none(arrivals: Arrivals) -> Table:
    return np.zeros(len(arrivals.submit), np.int64)


def _swaps_back(spec: Spec, swap: Table) -> Table:
    """How long jobs take to come back (µs, rounded up)."""
    factor = spec.fraction("swap_in")
    kinds, place = np.unique(swap, return_inverse=True)
    back = [-(-int(each) * factor.numerator // factor.denominator) for each in kinds]
    if max(back, default=0) > LONGEST:
        raise UsageError(
            f"ujfb: swap_in={float(factor):g} makes swaps longer than can be kept; give a smaller one"
        )
    return np.array(back, np.int64)[place]


def _memory(spec: Spec, procs: int, named: bool, room: int) -> Memory:
    """Parameters, notes, tables of processors, and so much space for the record."""
    host = spec.params["host_memory"]
    rules = zeros(Rules)
    rules.preempt = MODES.index(spec.word("preempt"))
    rules.victims = ORDERS.index(spec.word("victims"))
    rules.overtake = spec.params["overtake"] == "yes"
    rules.reserve = RESERVE.index(spec.word("reserve"))
    rules.host_size = spec.whole("host_size")
    room_kb = -1 if host == "unlimited" else int(spec.number("host_memory") * KB_PER_GB)
    rules.host_room = min(room_kb, NEVER)
    rules.named = named
    rules.lending = spec.params["idle"] == "lent"
    rules.swaps_whole = spec.params["leftover"] == "swapped"
    rules.finishes = spec.params["overrun"] == "finish"
    rules.to_the_end = spec.params["requeue"] == "end"
    rules.idle_first = spec.params["borrow"] == "first"
    notes = zeros(Notes)
    notes.unowned = procs
    notes.planned_key = notes.planned_job = notes.came = NO_JOB
    notes.next_start = notes.next_overrun = NEVER
    processors = zeros(Processors, procs)
    processors[[Processors["owner"], Processors["user"]]] = NO_JOB
    groups = np.bincount(np.arange(procs) // GROUP).astype(np.int64)
    suspended, candidates, hosts = (np.zeros(procs, np.int64) for _ in range(3))
    record = np.zeros(room, np.int64)
    return Memory(rules, notes, processors, groups, suspended, candidates, hosts, record)


def _record_room(arrivals: Arrivals, urgent: Any) -> int:
    """Space for the processors of urgent jobs and of those they stop, if each has a few ranges of them."""
    return min(RECORD_LIMIT, 4096 + 4 * int((arrivals.procs[urgent] + 2).sum()))


def _swaps(spec: Spec, arrivals: Arrivals, regular: Any) -> tuple[Table, Table, int]:
    """Swap time (µs) and memory (kB per processor) of each job, and how many had to be assumed."""
    source, bandwidth = spec.params["swap"], spec.number("bandwidth")
    memory = arrivals.extra.get("memory_kb", np.full(len(arrivals.submit), -1)).astype(np.int64)
    memory = np.where(memory > 0, memory, -1)
    bounded = spec.params["host_memory"] != "unlimited"
    suspends = spec.params["preempt"] != "kill"
    if source in ("column", "memory"):
        given = arrivals.extra.get("swap") if source == "column" else None
        swap = np.full(len(memory), -1) if given is None else given.astype(np.int64)
        needed = swap < 0
    else:
        swap = np.full(len(memory), microseconds(str(source)))
        needed = np.zeros(len(memory), np.bool_)
    unknown = regular & (memory < 0) & (needed | bounded) & suspends
    if unknown.any():
        if not (regular & (memory >= 0)).any():
            what, remedy = (
                ("how much memory hosts must hold", "a column memory_mb")
                if bounded
                else ("how long swapping takes", "swap=SECONDS in the policy, a column swap or memory_mb")
            )
            raise UsageError(
                f"ujfb: there are urgent jobs, but nothing says {what}: give {remedy} in --annotations, or "
                "apply memory(source=table) by headway convert"
            )
        if spec.params["unknown"] == "error":
            raise UsageError(
                f"ujfb: neither swap time nor memory of {counted(int(unknown.sum()), 'job')} is known: "
                "annotate them, apply memory(missing=median) by headway convert, or give unknown=median"
            )
        memory = np.where(unknown, int(np.median(memory[regular & (memory >= 0)])), memory)
    swap = np.where(needed & regular, swap_times(memory, bandwidth), np.maximum(swap, 0))
    return np.maximum(swap, 0), np.maximum(memory, 0), int(unknown.sum())
