"""One backfill cycle: every job that is looked at gets a plan on named nodes, or starts.

Nothing is kept from one cycle to the next: a plan protects a job only from those behind it in the same cycle.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Clock, Job, Node, Phase, Run, Share, State
from headway.jit import count_bits, kernel, routine
from headway.policies.slurm.bits import (
    ALL,
    copy_set,
    empty,
    first_node,
    meet,
    pack_row,
    pack_set,
    put,
    size_of,
    unpack,
)
from headway.policies.slurm.calendar import NOT_NOW, lay_allowed, next_reservation_end
from headway.policies.slurm.earliest import earliest
from headway.policies.slurm.ends import NEVER, note_end, note_ends, starts_after
from headway.policies.slurm.independence import (
    array_is_full,
    count_array_plan,
    eligible,
    licences_free,
    refuse_array,
    refused_before,
    waits_for_a_start,
)
from headway.policies.slurm.life_tables import Array
from headway.policies.slurm.limits import (
    after_selection,
    before_selection,
    cap_of,
    first_qos,
    hold_by_limit,
    second_qos,
)
from headway.policies.slurm.main_loop import priority_bound
from headway.policies.slurm.offers import fewest_nodes, whole_nodes
from headway.policies.slurm.owners import lay_others, leave_others_out
from headway.policies.slurm.plan_table import (
    END,
    clear_table,
    collides,
    cut_window,
    fold,
    go_ahead,
    hold,
    is_behind,
    is_full,
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
from headway.policies.slurm.preemption import took_victims, victim_mode
from headway.policies.slurm.queue import (
    GONE,
    adapt,
    close_gaps,
    holds_back,
    minutes_in,
    shortest_in,
    standing_in,
)
from headway.policies.slurm.settings import Mode, Preemption, Setting
from headway.policies.slurm.starting import BUSY, FILLING, LIMITED, STARTED, try_start
from headway.policies.slurm.submission import by_deadline, cancel, is_too_late
from headway.policies.slurm.tables import (
    RESOURCE,
    UNSET,
    Choice,
    Count,
    Holder,
    Memory,
    Partition,
    Plan,
    Reason,
    Record,
    Scratch,
    SlurmClock,
    SlurmJob,
    SlurmNode,
    Work,
)
from headway.policies.slurm.whole import (
    counts_nodes,
    enough_over,
    idle_after,
    note_running_sets,
    over_by,
)
from headway.units import SECOND

GO_ON, STOP = True, False
STOPPED = 500
"""After so many seconds a job is planned that a limit keeps from starting now (assoc_limit_stop)."""
HOLDS_NOTHING = -1
"""The end of a plan that begins later than backfill looks: it keeps nothing from others."""


@kernel
def count_search(memory: Memory, job: int, part: int) -> bool:
    """Count a job with its user, partition and association; False where one of them has had enough.

    Jobs without an association are not bounded by one.
    """
    counts, settings = memory.counts, memory.settings
    user, association = memory.jobs[SlurmJob.USER, job], memory.jobs[SlurmJob.ASSOCIATION, job]
    both = user * memory.partitions.shape[1] + part
    user_bound = settings[Setting.BF_MAX_USER] if settings[Setting.BF_MAX_ASSOC] == 0 else 0
    if (
        0 < settings[Setting.BF_MAX_USER_PART] <= counts[Count.USER_PARTITION, both]
        or 0 < settings[Setting.BF_MAX_PART] <= counts[Count.PARTITION, part]
        or (
            association != UNSET
            and 0 < settings[Setting.BF_MAX_ASSOC] <= counts[Count.ASSOCIATION, association]
        )
        or 0 < user_bound <= counts[Count.USER, user]
    ):
        return False
    counts[Count.USER_PARTITION, both] += 1
    counts[Count.PARTITION, part] += 1
    if association != UNSET:
        counts[Count.ASSOCIATION, association] += 1
    counts[Count.USER, user] += 1
    return True


@kernel
def note_plan(memory: Memory) -> None:
    """Copy the chosen nodes to the place of the next plan."""
    copy_set(memory.words_sets, Scratch.TAKEN, memory.words_planned, memory.clock[SlurmClock.PLANS])


@kernel
def planned_size(state: State, job: int, part: int) -> int:
    """CPUs that a job would have on the chosen nodes, from now on those of its size factor."""
    memory, cpus = state.memory, 0
    if counts_nodes(memory, job, part):
        cpus = size_of(memory.words_sets, Scratch.TAKEN)
        cpus *= state.nodes[Node.CPUS, first_node(memory.words_sets, Scratch.TAKEN)]
    else:
        whole = whole_nodes(memory, job, part)
        for node in range(memory.nodes.shape[1]):
            if memory.work[Work.TAKEN, node] > 0:
                cpus += state.nodes[Node.CPUS, node] if whole else memory.work[Work.TAKEN, node]
    memory.jobs[SlurmJob.SIZE, job] = cpus
    if memory.jobs[SlurmJob.SIZED, job] == 0:
        memory.jobs[SlurmJob.SIZED, job] = 1
    return cpus


@kernel
def note_start(state: State, job: int, place: int, start: int) -> None:
    """Remember where and when the present cycle lets a job start, for those who ask afterwards."""
    memory = state.memory
    memory.jobs[SlurmJob.PLANNED, job] = start
    memory.jobs[SlurmJob.PLANNED_AT, job] = state.clock[Clock.NOW] // SECOND + memory.settings[Setting.ORIGIN]
    memory.jobs[SlurmJob.PLANNED_NODE, job] = first_node(memory.words_planned, place)
    memory.jobs[SlurmJob.PLANNED_NODES, job] = size_of(memory.words_planned, place)


@kernel
def write_plan(memory: Memory, job: int, start: int, end: int) -> int:
    """Write down a plan, whose nodes are noted; where it stands."""
    place = memory.clock[SlurmClock.PLANS]
    memory.plans[Plan.JOB, place] = job
    memory.plans[Plan.START, place] = start
    memory.plans[Plan.END, place] = end
    memory.clock[SlurmClock.PLANS] = place + 1
    return int(place)


@kernel
def keep_plan(state: State, job: int, part: int, start: int, begin: int, end: int) -> bool:
    """Enter a plan in the table; whether the cycle goes on."""
    memory = state.memory
    place = write_plan(memory, job, start, end)
    memory.counts[Count.PLANNED, part] += 1
    if (
        memory.jobs[SlurmJob.TESTED, job] != memory.clock[SlurmClock.CYCLES]
        or start < memory.jobs[SlurmJob.PLANNED, job]
    ):
        note_start(state, job, place, start)
    memory.jobs[SlurmJob.TESTED, job] = memory.clock[SlurmClock.CYCLES]
    if meet(memory.words_planned, place, memory.words_sets, Scratch.IDLE):
        memory.clock[SlurmClock.STAMPED] = 1
    if is_full(memory):
        return STOP
    hold(memory, begin, end, place, job)
    return GO_ON


@kernel
def holds_nodes(memory: Memory, job: int) -> bool:
    """Whether a running job keeps its nodes in the table: whole ones, and nobody may preempt it."""
    if memory.settings[Setting.PREEMPTION] != Preemption.OFF and victim_mode(memory, job) != Mode.OFF:
        return False
    return whole_nodes(memory, job, memory.jobs[SlurmJob.PARTITION, job])


@kernel
def is_entered(memory: Memory, job: int) -> bool:
    """Whether a running job keeps anything in the table: its nodes, or licences where these are planned."""
    licences = memory.settings[Setting.BF_LICENCES] > 0 and memory.jobs[SlurmJob.LICENCES, job] > 0
    return licences or holds_nodes(memory, job)


@kernel
def keep_nodes(memory: Memory, job: int) -> None:
    """Let a running job hold the nodes of the set TAKEN in the table until its limit, or licences only."""
    if not holds_nodes(memory, job):
        empty(memory.words_sets, Scratch.TAKEN)
    note_plan(memory)
    hold(memory, 0, rounded(memory, memory.jobs[SlurmJob.ENDS, job]), memory.clock[SlurmClock.PLANS], job)


@kernel
def enter_started(state: State, job: int) -> None:
    """A job that has just started keeps whole nodes, and its licences, in the table until its limit."""
    if is_entered(state.memory, job):
        pack_row(state.memory, Work.TAKEN, Scratch.TAKEN)
        keep_nodes(state.memory, job)


@routine
def enter_running(state: State) -> None:
    """The same for all running jobs (bf_running_job_reserve), as long as the table has room."""
    memory = state.memory
    for place in range(memory.clock[SlurmClock.RUNNING]):
        job = memory.running[1, place]
        if memory.clock[SlurmClock.SLOTS] >= memory.settings[Setting.BF_TABLE]:
            return
        if state.jobs[Job.PHASE, job] == Phase.RUNNING and is_entered(memory, job):
            run = state.jobs[Job.RUN, job]
            empty(memory.words_sets, Scratch.TAKEN)
            for entry in range(state.runs[Run.SHARE, run], end_of_shares(state, run)):
                put(memory.words_sets, Scratch.TAKEN, state.shares[Share.NODE, entry])
            keep_nodes(memory, job)


@kernel
def end_of_reservation(
    memory: Memory, job: int, part: int, begin: int, minutes: int, now: int, later: int
) -> int:
    """When more nodes may be free, if a reservation that takes some ends before that; else ``later``.

    The job would run in partition ``part`` from ``begin`` on for ``minutes``; ``later`` is 0 for never.
    """
    after = next_reservation_end(memory, job, part, begin, minutes, now)
    if after == 0 or after + 1 >= rounded(memory, now + memory.settings[Setting.BF_WINDOW]):
        return later
    return after + 1 if later == 0 or after + 1 < later else later


@kernel
def when_and_where(state: State, job: int, part: int, now: int, only_now: bool) -> int:
    """When a job could start on the set WINDOW, with its nodes in the set TAKEN; -1 where it never could."""
    if counts_nodes(state.memory, job, part):
        return earliest(state, job, part, now, only_now, True)
    memory, row = state.memory, state.memory.jobs[SlurmJob.FEATURES, job]
    first, parts = memory.choices[Choice.FIRST, row], memory.choices[Choice.PARTS, row]
    unpack(memory, Scratch.WINDOW)
    if parts == 0 or memory.choices[Choice.NODES, first] > 0:
        start = earliest(state, job, part, now, only_now, False)
    else:
        start = earliest_choice(state, job, part, now, only_now)
    pack_row(memory, Work.TAKEN, Scratch.TAKEN)
    return start


@routine
def earliest_choice(state: State, job: int, part: int, now: int, only_now: bool) -> int:
    """When a job could start on nodes of the set WINDOW of one alternative; -1 where it never could.

    Each alternative is sought by itself, and of the earliest the first is taken.
    """
    memory, best = state.memory, NEVER
    row = memory.jobs[SlurmJob.FEATURES, job]
    first = memory.choices[Choice.FIRST, row]
    for choice in range(first, first + memory.choices[Choice.PARTS, row]):
        unpack(memory, Scratch.WINDOW)
        for node in range(memory.nodes.shape[1]):
            memory.sets[Scratch.WINDOW, node] &= memory.features[choice, node]
        start = earliest(state, job, part, now, only_now, False)
        if start != NEVER and (best == NEVER or start < best):
            best = start
            for node in range(memory.nodes.shape[1]):
                memory.work[Work.BEST, node] = memory.work[Work.TAKEN, node]
    for node in range(memory.nodes.shape[1]):
        memory.work[Work.TAKEN, node] = memory.work[Work.BEST, node]
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
    memory.clock[SlurmClock.SEARCHED] += 1
    memory.clock[SlurmClock.SEARCHES] += 1


@routine
def search(state: State, place: int, now: int) -> bool:
    """Find a start for the record at ``place`` and plan or start the job; whether the cycle goes on."""
    memory = state.memory
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    adapt(memory, place)
    minutes = length = by_deadline(memory, job, now, shortest_in(memory, job, part))
    if reserves_nothing(memory, job) and memory.settings[Setting.PREEMPTION] != Preemption.OFF:
        minutes, length = 1, minutes_in(memory, job, part)
    only_now = (
        not holds_back(memory, place, now, priority_bound(memory, job))
        or (
            memory.settings[Setting.BF_ONE_RESERVATION] > 0
            and memory.jobs[SlurmJob.TESTED, job] == memory.clock[SlurmClock.CYCLES]
        )
        or 0 < memory.settings[Setting.BF_PART_RESERVE] <= memory.counts[Count.PLANNED, part]
    )
    least, plain = memory.jobs[SlurmJob.MIN_NODES, job], memory.settings[Setting.PLAIN] > 0
    stops = memory.settings[Setting.LIMIT_STOPS] > 0
    later, slot, lacks, seen, counted, skipped = now, 0, 0, END, False, False
    if stops:
        later = max(now, blocked_until(memory, job, part))
    folded = reach = END
    any_reserved, by_user = memory.reservations.shape[1] > 0, memory.settings[Setting.KEEPS_NODES] > 0
    narrowed = any_reserved or by_user
    lay_widest(memory, job, part)
    kind = kind_of(memory, job, part)
    preempts = memory.settings[Setting.PREEMPTION] != Preemption.OFF
    known = memory.jobs[SlurmJob.SIZED, job] > 0 and not only_now and not plain and not preempts
    licences = memory.settings[Setting.BF_LICENCES] > 0 and memory.jobs[SlurmJob.LICENCES, job] > 0
    by_count = known and not (narrowed or licences) and counts_nodes(memory, job, part)
    enough = enough_over(memory, least) if by_count else 0
    while True:
        begin = later
        if narrowed:
            begin = lay_allowed(memory, job, part, later, minutes, now)
            if begin == NOT_NOW:
                memory.jobs[SlurmJob.REASON, job] = Reason.RESERVATION
                return GO_ON
            if by_user:
                lay_others(state, job, part)
                leave_others_out(memory, Scratch.ALLOWED)
            pack_set(memory, Scratch.ALLOWED)
            lay_widest(memory, job, part)
            lacks, seen = 0, END
        end = 60 * minutes + max(begin, now)
        slot = slot_at(memory, slot, begin)
        seen = survey(memory, seen, end, least, kind)
        later = next_rise(memory, slot, end)
        lacks_licences = lacks_licences_until(memory, job, slot, end) if licences else 0
        if lacks_licences > 0:
            later = lacks_licences
        if any_reserved:
            later = end_of_reservation(memory, job, part, begin, minutes, now, later)
        if lacks_licences > 0:
            if only_now:
                return GO_ON
            continue
        if lacks <= begin and not plain:
            lacks = lacks_until(memory, seen, end, least)
        if lacks <= begin:
            over = over_by(memory, later) if later > 0 and by_count else enough
            if over < enough:
                skipped = True
                continue
            if plain or slot == END:
                lay_window(memory, slot, end)
            else:
                if is_behind(memory, slot, folded):
                    folded = reach = fold(memory, slot, end)
                else:
                    reach = go_ahead(memory, reach, end)
                lay_folded(memory, slot)
            if later > 0 and by_count and idle_after(memory, over) < least:
                skipped = True
                continue
        if lacks > begin or size_of(memory.words_sets, Scratch.WINDOW) < least:
            if later > 0 and not only_now:
                continue
            if skipped and not counted and some_window_fits(memory, now, minutes, least):
                count_searched(memory)
            return GO_ON
        if not counted:
            counted = True
            count_searched(memory)
        if later > 0 and known and not by_count:
            unpack(memory, Scratch.WINDOW)
            if starts_after(state, job, part, later):
                continue
        start = when_and_where(state, job, part, now, only_now)
        if start == NEVER:
            if later > 0 and not only_now:
                continue
            return GO_ON
        if start < begin:
            memory.clock[SlurmClock.STAMPED] = 1
            start = begin
        cpus = planned_size(state, job, part)
        note_plan(memory)
        if start <= now and meet(memory.words_sets, Scratch.TAKEN, memory.words_sets, Scratch.COMPLETING):
            start, later = now + 1, 0
        if start <= now and standing_in(memory, job, part) != Reason.NONE:
            memory.jobs[SlurmJob.REASON, job] = standing_in(memory, job, part)
            memory.clock[SlurmClock.STAMPED] = 1
            later = 0  # its plan stands all the same
        elif start <= now:
            unpack(memory, Scratch.WINDOW)
            outcome = LIMITED
            if not (stops and is_limited(memory, job, part)):
                outcome = try_start(state, Scratch.WINDOW, job, part, now, FILLING, length)
            if outcome == STARTED:
                enter_started(state, job)
                note_end(state, job)
                memory.clock[SlurmClock.CYCLE_STARTS] += 1
            if outcome == STARTED or preempts:
                note_nodes(state)
            if outcome == LIMITED and stops:
                start = later if later > 0 else now + STOPPED
                block(memory, job, part, start)
            elif outcome != BUSY:
                return GO_ON
            else:
                later = 0
        if start > now and only_now:
            return GO_ON
        if later > 0 and start > later:
            continue
        first, last = rounded(memory, start), rounded(memory, start + 60 * minutes)
        if start > now + memory.settings[Setting.BF_WINDOW]:
            write_plan(memory, job, start, HOLDS_NOTHING)
            return GO_ON
        if start > now and collides(memory, first, last, job):
            later = start
            continue
        if not stops and plan_breaks_limit(state, job, part, cpus):
            return GO_ON
        return keep_plan(state, job, part, start, first, last)


@kernel
def is_limited(memory: Memory, job: int, part: int) -> bool:
    """Whether a limit that is looked at before nodes are sought holds a job."""
    reason = before_selection(memory, job, part)
    hold_by_limit(memory, job, reason)
    return bool(reason != Reason.NONE)


@kernel
def blocked_until(memory: Memory, job: int, part: int) -> int:
    """Until when nobody of the QOS of a job, or of its partition, is planned in this cycle."""
    of_job, of_part, until = memory.jobs[SlurmJob.QOS, job], memory.partitions[Partition.QOS, part], UNSET
    if of_job != UNSET:
        until = memory.holders[Holder.BLOCKED, of_job]
    if of_part != UNSET:
        until = max(until, memory.holders[Holder.BLOCKED, of_part])
    return int(until)


@kernel
def block(memory: Memory, job: int, part: int, until: int) -> None:
    """Plan nobody before ``until`` of the QOS whose limit for a group stopped a job."""
    reason = memory.jobs[SlurmJob.REASON, job]
    tres, kind = reason // RESOURCE, reason % RESOURCE
    if not Reason.QOS_GRP <= kind <= Reason.QOS_GRP_RUN_MINS:
        return
    qos = first_qos(memory, job, part)
    if qos == UNSET or cap_of(memory, kind - Reason.QOS_GRP, qos, tres) == UNSET:
        qos = second_qos(memory, job, part)
    if qos != UNSET:
        memory.holders[Holder.BLOCKED, qos] = max(memory.holders[Holder.BLOCKED, qos], until)


@kernel
def reserves_nothing(memory: Memory, job: int) -> bool:
    """Whether a job's QOS is NoReserve: no plan of it counts, and where jobs may be preempted it needs only
    a minute free of others' plans."""
    qos = memory.jobs[SlurmJob.QOS, job]
    return bool(qos != UNSET and memory.holders[Holder.NO_RESERVE, qos] > 0)


@kernel
def plan_breaks_limit(state: State, job: int, part: int, cpus: int) -> bool:
    """Whether a job of the planned size would break a limit, or its QOS plans nothing."""
    memory = state.memory
    nodes = size_of(memory.words_planned, memory.clock[SlurmClock.PLANS])
    if reserves_nothing(memory, job):
        return True
    reason = after_selection(state, job, part, cpus, 0, nodes, False)
    hold_by_limit(memory, job, reason)
    return reason != Reason.NONE


@kernel
def note_nodes(state: State) -> None:
    """Lay the sets of nodes that are idle, completing or open to new jobs, and what running jobs hold."""
    memory = state.memory
    sets = memory.words_sets
    empty(sets, Scratch.COMPLETING)
    empty(sets, Scratch.OPEN)
    for node in range(memory.nodes.shape[1]):
        if memory.nodes[SlurmNode.COMPLETING, node] > 0:
            put(sets, Scratch.COMPLETING, node)
        elif state.nodes[Node.FREE_CPUS, node] > 0 and state.nodes[Node.ALONE, node] == 0:
            put(sets, Scratch.OPEN, node)
    note_running_sets(state)


@kernel
def may_start(memory: Memory, place: int, now: int) -> bool:
    """Whether the job of a record could start now beside the plans made so far; needed, not sufficient.

    It must end before a plan begins on a node, so as many nodes as it wants must be free long enough.
    """
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    if job == GONE:
        return False
    if not eligible(memory, job, now):
        return waits_for_a_start(memory, job)
    if memory.jobs[SlurmJob.SIZED, job] < 1 or memory.settings[Setting.PREEMPTION] != Preemption.OFF:
        return True  # its search changes its priority, or it takes the place of others
    if memory.jobs[SlurmJob.DEADLINE, job] != UNSET:
        return True  # it may have to be cancelled
    sets, features, count = memory.words_sets, memory.jobs[SlurmJob.FEATURES, job], 0
    open_nodes = Scratch.IDLE if whole_nodes(memory, job, part) else Scratch.OPEN
    least, end = fewest_nodes(memory, job, part), now + 60 * shortest_in(memory, job, part)
    for word in range(sets.shape[1]):
        here = sets[Scratch.OPEN, word] & sets[open_nodes, word] & memory.words_members[part, word]
        sets[Scratch.WINDOW, word] = here & memory.words_features[features, word]
        count += count_bits(sets[Scratch.WINDOW, word])
    if count < least:
        return False
    cut_window(memory, 0, end)
    return size_of(sets, Scratch.WINDOW) >= least


@kernel
def begin_cycle(state: State, now: int) -> None:
    """Forget the last cycle."""
    memory = state.memory
    clock = memory.clock
    clock[SlurmClock.CYCLES] += 1
    clock[SlurmClock.PLANS] = clock[SlurmClock.SEARCHED] = clock[SlurmClock.CYCLE_STARTS] = 0
    clock[SlurmClock.STAMPED] = clock[SlurmClock.UNSURE] = 0
    empty(memory.words_sets, Scratch.USABLE)
    for node in range(memory.nodes.shape[1]):
        if memory.nodes[SlurmNode.USABLE, node] > 0:
            put(memory.words_sets, Scratch.USABLE, node)
    for word in range(memory.words_sets.shape[1]):
        memory.words_sets[Scratch.ALLOWED, word] = ALL
    clear_table(memory, now)
    for qos in range(memory.holders.shape[1]):
        memory.holders[Holder.BLOCKED, qos] = UNSET
    for row in range(memory.counts.shape[0]):
        for column in range(memory.counts.shape[1]):
            memory.counts[row, column] = 0


@routine
def backfill_cycle(state: State, now: int, whole: bool) -> None:
    """Go through the queue once; as far as a job may start, unless the ``whole`` queue is asked for.

    Plans behind the last job that may start keep nothing from anybody. Whether they change a time stamp is
    then not known (UNSURE).
    """
    memory = state.memory
    begin_cycle(state, now)
    memory.clock[SlurmClock.OF_PASS] = now
    note_nodes(state)
    note_ends(state)
    if memory.settings[Setting.RESERVE_RUNNING] > 0:
        enter_running(state)
    last, plans, starts, left = memory.clock[SlurmClock.QUEUED] - 1, -1, 0, 0
    number = memory.clock[SlurmClock.CYCLES]
    for place in range(memory.clock[SlurmClock.QUEUED]):
        if memory.clock[SlurmClock.SEARCHED] >= memory.settings[Setting.BF_MAX_TEST]:
            break
        if not whole and (
            plans != memory.clock[SlurmClock.PLANS] or starts != memory.clock[SlurmClock.CYCLE_STARTS]
        ):
            plans, starts = memory.clock[SlurmClock.PLANS], memory.clock[SlurmClock.CYCLE_STARTS]
            while last >= place and not may_start(memory, last, now):
                last -= 1
        if place > last:
            memory.clock[SlurmClock.UNSURE] = 1 - memory.clock[SlurmClock.STAMPED]
            break
        job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
        if job == GONE or not eligible(memory, job, now) or memory.partitions[Partition.UP, part] == 0:
            continue
        if array_is_full(memory, job) or refused_before(memory, job, part, Array.REFUSED_CYCLE, number):
            continue
        if standing_in(memory, job, part) == Reason.QOS_NOT_ALLOWED:
            memory.jobs[SlurmJob.REASON, job] = Reason.QOS_NOT_ALLOWED
            memory.clock[SlurmClock.STAMPED] = 1
            continue
        if memory.settings[Setting.LIMIT_STOPS] == 0:
            reason = before_selection(memory, job, part)
            if reason != Reason.NONE:
                hold_by_limit(memory, job, reason)
                continue
        if took_victims(memory, job) or not count_search(memory, job, part):
            continue
        if memory.settings[Setting.BF_LICENCES] == 0 and not licences_free(memory, job):
            memory.jobs[SlurmJob.REASON, job] = Reason.LICENCES
            refuse_array(memory, job, part, Array.REFUSED_CYCLE, number)
            continue
        if is_too_late(memory, job, part, now):
            cancel(state, job, Reason.DEADLINE, now)
            left += 1
            continue
        planned, started = memory.clock[SlurmClock.PLANS], memory.clock[SlurmClock.CYCLE_STARTS]
        if not search(state, place, now):
            break
        if memory.jobs[SlurmJob.ARRAY, job] != UNSET and memory.clock[SlurmClock.CYCLE_STARTS] == started:
            is_planned = memory.clock[SlurmClock.PLANS] > planned and memory.plans[Plan.END, planned] >= 0
            enough = count_array_plan(memory, job) >= memory.settings[Setting.BF_MAX_ARRAY]
            if enough or not is_planned:
                refuse_array(memory, job, part, Array.REFUSED_CYCLE, number)
        if 0 < memory.settings[Setting.BF_MAX_START] <= memory.clock[SlurmClock.CYCLE_STARTS]:
            break
    if memory.clock[SlurmClock.CYCLE_STARTS] + left > 0:
        close_gaps(memory)
