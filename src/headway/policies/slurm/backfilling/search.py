"""The search of backfill for one job: the first window of time with enough nodes that no plan holds."""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.backfilling.earliest import BY_COUNT, ONE_BY_ONE, earliest
from headway.policies.slurm.backfilling.node_ends import looks_by_node, openings_for, opens_after
from headway.policies.slurm.backfilling.plan_table import (
    END,
    collides,
    end_of_plan,
    fold,
    go_ahead,
    is_behind,
    kind_of,
    lacks_licences_until,
    lacks_until,
    lay_folded,
    lay_widest,
    lay_window,
    next_rise,
    rounded,
    slot_at,
    survey,
)
from headway.policies.slurm.backfilling.plans import (
    GO_ON,
    enter_started,
    keep_plan,
    note_plan,
    plan_breaks_limit,
    planned_size,
    reserves_nothing,
    write_plan,
)
from headway.policies.slurm.backfilling.whole import (
    counts_nodes,
    enough_over,
    idle_after,
    note_running_sets,
    over_by,
)
from headway.policies.slurm.life.starting import (
    BUSY,
    FILLING,
    LIMITED,
    STARTED,
    hold_over_limits,
    try_start,
)
from headway.policies.slurm.limits.limits import (
    before_selection,
    hold_by_limit,
)
from headway.policies.slurm.limits.submission import by_deadline
from headway.policies.slurm.nodes.calendar import NOT_NOW, lay_allowed, next_reservation_end
from headway.policies.slurm.nodes.ends import NEVER
from headway.policies.slurm.nodes.offers import asks_gres, is_over_limits
from headway.policies.slurm.nodes.owners import lay_others, leave_others_out, leave_to_others
from headway.policies.slurm.queue.caps import cap_of, first_qos, second_qos
from headway.policies.slurm.queue.preemption import takes_places
from headway.policies.slurm.queue.queue import (
    adapt,
    holds_back,
    minutes_in,
    shortest_in,
    standing_in,
)
from headway.policies.slurm.tables.bits import (
    empty,
    meet,
    pack_row,
    pack_set,
    put,
    size_of,
    unpack,
)
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch, Work
from headway.policies.slurm.tables.reasons import RESOURCE, Reason
from headway.policies.slurm.tables.settings import Preemption

STOPPED = 500
"""After so many seconds a job is planned that a limit keeps from starting now (assoc_limit_stop)."""
NEXT_JOB, NEXT_WINDOW, CYCLE_ENDS, NO_START = 0, 1, 2, 3
"""What comes after a window was tried for a job; the next one, too, where it had no start in this one."""
HOLDS_NOTHING = -1
"""The end of a plan that begins later than backfill looks: it keeps nothing from others."""


@kernel
def note_nodes(state: State) -> None:
    """Lay the sets of nodes that are idle, completing or open to new jobs, and what running jobs hold."""
    memory = state.memory
    sets = memory.words_sets
    empty(sets, Scratch.COMPLETING)
    empty(sets, Scratch.OPEN)
    for node in range(memory.nodes.shape[1]):
        if memory.nodes.completing[node] > 0:
            put(sets, Scratch.COMPLETING, node)
        elif state.nodes.free_cpus[node] > 0 and state.nodes.alone[node] == 0:
            put(sets, Scratch.OPEN, node)
    note_running_sets(state)
    memory.clock.ends_laid = 0


@kernel
def is_limited(memory: Memory, job: int, part: int) -> bool:
    """Whether a limit that is looked at before nodes are sought holds a job."""
    reason = before_selection(memory, job, part)
    hold_by_limit(memory, job, reason)
    return bool(reason != Reason.NONE)


@kernel
def blocked_until(memory: Memory, job: int, part: int) -> int:
    """Until when nobody of the QOS of a job, or of its partition, is planned in this cycle."""
    of_job, of_part, until = memory.jobs.qos[job], memory.partitions.qos[part], UNSET
    if of_job != UNSET:
        until = memory.holders.blocked[of_job]
    if of_part != UNSET:
        until = max(until, memory.holders.blocked[of_part])
    return int(until)


@kernel
def block(memory: Memory, job: int, part: int, until: int) -> None:
    """Plan nobody before ``until`` of the QOS whose limit for a group stopped a job."""
    reason = memory.jobs.reason[job]
    tres, kind = reason // RESOURCE, reason % RESOURCE
    if not Reason.QOS_GRP <= kind <= Reason.QOS_GRP_RUN_MINS:
        return
    qos = first_qos(memory, job, part)
    if qos == UNSET or cap_of(memory, kind - Reason.QOS_GRP, qos, tres) == UNSET:
        qos = second_qos(memory, job, part)
    if qos != UNSET:
        memory.holders.blocked[qos] = max(memory.holders.blocked[qos], until)


@kernel
def end_of_reservation(
    memory: Memory, job: int, part: int, begin: int, minutes: int, now: int, later: int
) -> int:
    """When more nodes may be free, if a reservation that takes some ends before that; else ``later``.

    The job would run in partition ``part`` from ``begin`` on for ``minutes``; ``later`` is 0 for never.
    """
    after = next_reservation_end(memory, job, part, begin, minutes, now)
    if after == 0 or after + 1 >= rounded(memory, now + memory.settings.bf_window):
        return later
    return after + 1 if later == 0 or after + 1 < later else later


@kernel
def look_for(state: State, job: int, part: int) -> int:
    """How the earliest start of a job is sought: BY_COUNT, with a row of openings, or ONE_BY_ONE."""
    if counts_nodes(state.memory, job, part):
        return BY_COUNT
    return openings_for(state, job, part) if looks_by_node(state.memory, job, part) else ONE_BY_ONE


@kernel
def when_and_where(
    state: State, job: int, part: int, now: int, only_now: bool, openings: int, window: tuple[int, int]
) -> int:
    """When a job could start on the set WINDOW, with its nodes in the set TAKEN; -1 where it never could.

    ``window`` is when that begins, and the next one.
    """
    if openings == BY_COUNT:
        return earliest(state, job, part, now, only_now, openings, window)
    memory, row = state.memory, state.memory.jobs.features[job]
    first, parts = memory.choices.first[row], memory.choices.parts[row]
    unpack(memory, Scratch.WINDOW)
    if parts == 0 or memory.choices.nodes[first] > 0:
        start = earliest(state, job, part, now, only_now, openings, window)
    else:
        start = earliest_choice(state, job, part, now, only_now, openings, window)
    pack_row(memory, Work["taken"], Scratch.TAKEN)
    return start


@routine
def earliest_choice(
    state: State, job: int, part: int, now: int, only_now: bool, openings: int, window: tuple[int, int]
) -> int:
    """When a job could start on nodes of the set WINDOW of one alternative; -1 where it never could.

    Each alternative is sought by itself, and of the earliest the first is taken.
    """
    memory, best = state.memory, NEVER
    row = memory.jobs.features[job]
    first = memory.choices.first[row]
    for choice in range(first, first + memory.choices.parts[row]):
        unpack(memory, Scratch.WINDOW)
        for node in range(memory.nodes.shape[1]):
            memory.sets[Scratch.WINDOW, node] &= memory.features[choice, node]
        start = earliest(state, job, part, now, only_now, openings, window)
        if start != NEVER and (best == NEVER or start < best):
            best = start
            for node in range(memory.nodes.shape[1]):
                memory.work.best[node] = memory.work.taken[node]
    for node in range(memory.nodes.shape[1]):
        memory.work.taken[node] = memory.work.best[node]
    return best


@routine
def some_window_fits(memory: Memory, now: int, minutes: int, least: int) -> bool:
    """Whether one of the windows of a job that found no start had as many nodes as it wants."""
    slot, begin = 0, now
    while True:
        end = 60 * minutes + begin
        slot = slot_at(memory, slot, begin)
        lay_window(memory, slot, end)
        if size_of(memory.words_sets, Scratch.WINDOW) >= least:
            return True
        begin = next_rise(memory, slot, end)
        if begin == 0:
            return False


@kernel
def count_searched(memory: Memory) -> None:
    """Count a job that was searched a start for."""
    memory.clock.searched += 1
    memory.clock.searches += 1


@kernel
def minutes_of(memory: Memory, job: int, part: int, now: int) -> tuple[int, int]:
    """For how many minutes a job needs nodes that no plan holds, and how many it gets.

    One that reserves nothing needs a minute where jobs may be preempted. One with a deadline needs as many as
    it asks for, though it may accept less.
    """
    most, shortest = minutes_in(memory, job, part), shortest_in(memory, job, part)
    if reserves_nothing(memory, job) and memory.settings.preemption != Preemption.OFF:
        return 1, most
    if memory.jobs.deadline[job] != UNSET:
        return most, by_deadline(memory, job, now, most)
    return shortest, shortest


@kernel
def gets_no_plan(memory: Memory, place: int, now: int) -> bool:
    """Whether the job of a record may start now and is not planned for later: it holds nobody back, has a
    plan in another partition, or its partition has enough of them."""
    job, part = memory.queue.job[place], memory.queue.partition[place]
    return bool(
        not holds_back(memory, place, now)
        or (memory.settings.bf_one_reservation > 0 and memory.jobs.tested[job] == memory.clock.cycles)
        or 0 < memory.settings.bf_part_reserve <= memory.counts.planned[part]
    )


@kernel
def lay_own(state: State, job: int, part: int, later: int, minutes: int, now: int) -> int:
    """Lay the nodes that reservations and users who keep theirs leave a job from ``later`` on.

    Returns from when on they do, or NOT_NOW.
    """
    memory = state.memory
    begin = lay_allowed(memory, job, part, later, minutes, now)
    if begin != NOT_NOW:
        if memory.settings.keeps_nodes > 0:
            lay_others(state, job, part)
            if memory.settings.plans_after_others == 0:
                leave_others_out(memory, Scratch.ALLOWED)
        pack_set(memory, Scratch.ALLOWED)
        lay_widest(memory, job, part)
    return int(begin)


@kernel
def lay_window_at(memory: Memory, slot: int, end: int, folded: int, reach: int) -> tuple[int, int]:
    """Lay the nodes that no plan holds from ``slot`` until ``end``; up to where the table is folded then.

    It is folded from slot ``folded`` on up to ``reach``: windows come one after the other.
    """
    if memory.settings.plain > 0 or slot == END:
        lay_window(memory, slot, end)
        return folded, reach
    if is_behind(memory, slot, folded):
        folded = reach = fold(memory, slot, end)
    else:
        reach = go_ahead(memory, reach, end)
    lay_folded(memory, slot)
    return folded, reach


@kernel
def start_now(
    state: State, job: int, part: int, start: int, later: int, now: int, length: int
) -> tuple[int, int, bool]:
    """Start a job on the nodes found for now. Where it cannot: its start, and what window comes next, if any.

    The last is whether the job is done with: it has started, or cannot have these nodes at all.
    """
    memory, stops = state.memory, state.memory.settings.limit_stops > 0
    if meet(memory.words_sets, Scratch.TAKEN, memory.words_sets, Scratch.COMPLETING):
        return now + 1, 0, False
    if standing_in(memory, job, part) != Reason.NONE:
        memory.jobs.reason[job] = standing_in(memory, job, part)
        memory.clock.stamped = 1
        return start, 0, False  # its plan stands all the same
    unpack(memory, Scratch.WINDOW)
    outcome = LIMITED
    if not (stops and is_limited(memory, job, part)):
        outcome = try_start(state, Scratch.WINDOW, job, part, now, FILLING, length)
    if outcome == STARTED:
        enter_started(state, job)
        memory.clock.cycle_starts += 1
    if outcome == STARTED or memory.settings.preemption != Preemption.OFF:
        note_nodes(state)
    if outcome == LIMITED and stops:
        start = later if later > 0 else now + STOPPED
        block(memory, job, part, start)
        return start, later, False
    return start, 0, outcome != BUSY


@kernel
def use_window(
    state: State,
    job: int,
    part: int,
    begin: int,
    later: int,
    now: int,
    minutes: int,
    length: int,
    only_now: bool,
    openings: int,
) -> tuple[int, int]:
    """Start or plan a job on the nodes of the set WINDOW, which begins at ``begin``, where it can be.

    Returns what comes next, and where the next window begins (0: there is none), at first at ``later``.
    """
    memory = state.memory
    start = when_and_where(state, job, part, now, only_now, openings, (begin, later))
    if start == NEVER:
        return NO_START if later > 0 and not only_now else NEXT_JOB, later
    if start < begin:
        memory.clock.stamped = 1
        start = begin
    cpus = planned_size(state, job, part)
    note_plan(memory)
    first, last = rounded(memory, start), end_of_plan(memory, start, minutes)
    early = memory.settings.by_window > 0 and start > now
    if early and collides(memory, first, last, job):
        return NEXT_WINDOW, start
    if start <= now:
        start, later, done = start_now(state, job, part, start, later, now, length)
        if done:
            return NEXT_JOB, later
    if start > now and only_now:
        return NEXT_JOB, later
    if later > 0 and start > later:
        return NEXT_WINDOW, later
    if start > now + memory.settings.bf_window:
        write_plan(memory, job, start, HOLDS_NOTHING)
        return NEXT_JOB, later
    first, last = rounded(memory, start), end_of_plan(memory, start, minutes)
    if start > now and not early and collides(memory, first, last, job):
        return NEXT_WINDOW, start
    if memory.settings.limit_stops == 0 and plan_breaks_limit(state, job, part, cpus):
        return NEXT_JOB, later
    return NEXT_JOB if keep_plan(state, job, part, start, first, last) else CYCLE_ENDS, later


@routine
def search(state: State, place: int, now: int) -> bool:
    """Find a start for the record at ``place`` and plan or start the job; whether the cycle goes on.

    It looks at one window after the other, each from ``begin`` until ``end`` on nodes that no plan holds
    meanwhile; the next begins ``later``, when a plan ends (0: there is none). Short cuts pass over windows in
    which the job could not start: plans leave too few nodes until ``lacks``; or, where its size is known, the
    jobs that run do until the next window begins (told by counting where nodes are alike: ``by_count``).
    """
    memory = state.memory
    job, part = memory.queue.job[place], memory.queue.partition[place]
    adapt(memory, place)
    if is_over_limits(memory, job, part):
        hold_over_limits(state, job, part)
        return GO_ON
    minutes, length = minutes_of(memory, job, part, now)
    whole, reserved_for = minutes_in(memory, job, part), minutes
    if memory.settings.reserved_for_all > 0 and reserves_nothing(memory, job):
        reserved_for = whole
    in_full = memory.settings.whole_limit_later > 0 or reserved_for == whole
    only_now = gets_no_plan(memory, place, now)
    least, kind = memory.jobs.min_nodes[job], kind_of(memory, job, part)
    plain, stops = memory.settings.plain > 0, memory.settings.limit_stops > 0
    any_reserved = memory.reservations.shape[1] > 0
    narrowed = any_reserved or memory.settings.keeps_nodes > 0
    after_others = memory.settings.keeps_nodes * memory.settings.plans_after_others > 0
    licences = memory.settings.bf_licences > 0 and memory.jobs.licences[job] > 0
    weighs = asks_gres(memory, job) > 0 and memory.settings.weighs_anew == 0  # for the next window
    known = memory.jobs.sized[job] > 0 and not (
        only_now or plain or weighs or takes_places(memory, job, part)
    )
    lay_widest(memory, job, part)
    by_count = known and not (narrowed or licences) and counts_nodes(memory, job, part)
    enough = enough_over(memory, Scratch.WIDEST, least) if by_count else 0
    slot, lacks, seen, folded, reach = 0, 0, END, END, END
    counted, skipped, openings = False, False, ONE_BY_ONE
    later = max(now, blocked_until(memory, job, part)) if stops else now
    while True:
        begin, until = later, 0
        if narrowed:
            begin = lay_own(state, job, part, later, reserved_for, now)
            if begin == NOT_NOW:
                memory.jobs.reason[job] = Reason.RESERVATION
                return GO_ON
            lacks, seen = 0, END
            if memory.settings.by_window > 0 and begin > now + memory.settings.bf_window:
                return GO_ON
            if after_others:
                until, delayed = leave_to_others(state, job, begin, least)
                if delayed:
                    if only_now:
                        return GO_ON
                    later, reserved_for = until, whole
                    continue
        end = 60 * minutes + max(begin, now)
        slot = slot_at(memory, slot, begin)
        seen = survey(memory, seen, end, least, kind)
        later = next_rise(memory, slot, end)
        lacks_licences = lacks_licences_until(memory, job, slot, end) if licences else 0
        if lacks_licences > 0:
            later = lacks_licences
        if any_reserved:
            later = end_of_reservation(memory, job, part, begin, reserved_for, now, later)
        if lacks_licences > 0:
            if only_now:
                return GO_ON
            reserved_for = whole if in_full else reserved_for
            continue
        if later == 0:
            later = until
        if lacks <= begin and not plain:
            lacks = lacks_until(memory, seen, end, least)
        if lacks <= begin:
            over = over_by(memory, later) if later > 0 and by_count else enough
            if over >= enough:
                folded, reach = lay_window_at(memory, slot, end, folded, reach)
            if over < enough or (later > 0 and by_count and idle_after(memory, over) < least):
                skipped = True
                continue
        if lacks > begin or size_of(memory.words_sets, Scratch.WINDOW) < least:
            if later > 0 and not only_now:
                reserved_for = whole if in_full else reserved_for
                continue
            if skipped and not counted and some_window_fits(memory, now, minutes, least):
                count_searched(memory)
            return GO_ON
        if not counted:
            counted, openings = True, look_for(state, job, part)
            count_searched(memory)
        if later > 0 and known and openings >= 0:
            unpack(memory, Scratch.WINDOW)
            if opens_after(memory, openings, least, later):
                reserved_for = whole
                continue
        step, later = use_window(state, job, part, begin, later, now, minutes, length, only_now, openings)
        if step == NO_START:
            reserved_for = whole
        elif step != NEXT_WINDOW:
            return step == NEXT_JOB
