"""One backfill cycle: every job that is looked at gets a plan on named nodes, or starts.

Nothing is kept from one cycle to the next: a plan protects a job only from those behind it in the same cycle.
"""

from __future__ import annotations

from headway.engine.tables import N_ALONE, N_CPUS, N_FREE_CPUS, N_RUNS, NOW, State, Table
from headway.jit import kernel, routine
from headway.policies.slurm.calendar import NOT_NOW, lay_allowed, next_reservation_end
from headway.policies.slurm.ends import NEVER, earliest, note_end, note_ends, starts_after
from headway.policies.slurm.independence import (
    array_is_full,
    count_array_plan,
    eligible,
    licences_free,
    refuse_array,
    refused_before,
)
from headway.policies.slurm.limits import after_selection, before_selection, hold_by_limit
from headway.policies.slurm.main_loop import priority_bound
from headway.policies.slurm.plan_table import END, clear_table, collides, hold, is_full, rounded
from headway.policies.slurm.queue import GONE, close_gaps, holds_back, shortest_in
from headway.policies.slurm.selection import whole_nodes
from headway.policies.slurm.starting import BUSY, FILLING, STARTED, try_start
from headway.policies.slurm.tables import (
    UNSET,
    Array,
    Clock,
    Count,
    Holder,
    Job,
    Memory,
    Node,
    Partition,
    Plan,
    Preemption,
    Reason,
    Record,
    Scratch,
    Setting,
    Slot,
    Work,
)
from headway.units import SECOND

GO_ON, STOP = True, False
PAIRS, QUARTERS, HALF = 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0xFFFFFFFF
"""Every second byte of eight, every second pair, the lower four."""
FOR_EVER = 1 << 60
HOLDS_NOTHING = -1
"""The end of a plan that begins later than backfill looks: it keeps nothing from others."""


@kernel
def count_search(memory: Memory, job: int, part: int) -> bool:
    """Count a job with its user, partition and association; False where one of them has had enough."""
    counts, settings = memory.counts, memory.settings
    user, association = memory.jobs[Job.USER, job], max(memory.jobs[Job.ASSOCIATION, job], 0)
    both = user * memory.partitions.shape[1] + part
    user_bound = settings[Setting.BF_MAX_USER] if settings[Setting.BF_MAX_ASSOC] == 0 else 0
    if (
        0 < settings[Setting.BF_MAX_USER_PART] <= counts[Count.USER_PARTITION, both]
        or 0 < settings[Setting.BF_MAX_PART] <= counts[Count.PARTITION, part]
        or 0 < settings[Setting.BF_MAX_ASSOC] <= counts[Count.ASSOCIATION, association]
        or 0 < user_bound <= counts[Count.USER, user]
    ):
        return False
    counts[Count.USER_PARTITION, both] += 1
    counts[Count.PARTITION, part] += 1
    counts[Count.ASSOCIATION, association] += 1
    counts[Count.USER, user] += 1
    return True


@kernel
def sum_of_bytes(word: int) -> int:
    """The sum of the eight bytes of a number."""
    word = (word & PAIRS) + ((word >> 8) & PAIRS)
    word = (word & QUARTERS) + ((word >> 16) & QUARTERS)
    return (word & HALF) + (word >> 32)


@kernel
def common_nodes(a: Table, i: int, b: Table, j: int) -> int:
    """How many nodes two sets have in common."""
    count, sums = 0, 0
    for word in range(a.shape[1]):
        sums += a[i, word] & b[j, word]
        if word & 127 == 127:  # before a byte may overflow
            count += sum_of_bytes(sums)
            sums = 0
    return count + sum_of_bytes(sums)


@kernel
def lay_widest(memory: Memory, job: int, part: int) -> None:
    """The nodes that a job could ever have into the set WIDEST; how many of them each slot has free."""
    sets, features, slot = memory.words_sets, memory.jobs[Job.FEATURES, job], 0
    for word in range(sets.shape[1]):
        here = memory.words_members[part, word] & memory.words_features[features, word]
        sets[Scratch.WIDEST, word] = here & sets[Scratch.USABLE, word] & sets[Scratch.ALLOWED, word]
    while slot != END:
        memory.slots[Slot.FREE, slot] = common_nodes(sets, Scratch.WIDEST, memory.words_free, slot)
        slot = memory.slots[Slot.NEXT, slot]


@kernel
def too_few(memory: Memory, start: int, end: int, least: int) -> bool:
    """Whether fewer than ``least`` nodes are free in one of the slots from ``start`` to ``end``."""
    slot = 0
    while slot != END and memory.slots[Slot.BEGIN, slot] <= end:
        if memory.slots[Slot.END, slot] > start and memory.slots[Slot.FREE, slot] < least:
            return True
        slot = memory.slots[Slot.NEXT, slot]
    return False


@kernel
def lay_window(memory: Memory, start: int, end: int, only_later: bool) -> int:
    """The nodes free of plans from ``start`` to ``end`` into the set WINDOW; when more may be free, or 0.

    A slot that begins just at ``end`` still counts. With ``only_later`` the set is not completed.
    """
    later, slot = 0, 0
    sets, free = memory.words_sets, memory.words_free
    for word in range(sets.shape[1]):
        sets[Scratch.WINDOW, word] = sets[Scratch.WIDEST, word]
    while slot != END and not (only_later and later > 0):
        following = memory.slots[Slot.NEXT, slot]
        ends = memory.slots[Slot.END, slot]
        if ends > start and following != END and later == 0:
            more = 0
            for word in range(sets.shape[1]):
                coming = sets[Scratch.WIDEST, word] & free[following, word]
                more |= coming & ~(sets[Scratch.WINDOW, word] & free[slot, word])
            if more != 0:
                later = ends
        if ends > start:
            if memory.slots[Slot.BEGIN, slot] > end:
                break
            for word in range(sets.shape[1]):
                sets[Scratch.WINDOW, word] &= free[slot, word]
        slot = following
    return int(later)


@kernel
def note_plan(memory: Memory) -> None:
    """Copy the chosen nodes to the place of the next plan."""
    place = memory.clock[Clock.PLANS]
    for node in range(memory.nodes.shape[1]):
        memory.planned[place, node] = memory.work[Work.TAKEN, node] > 0


@kernel
def on_completing(memory: Memory) -> bool:
    """Whether a chosen node is still completing."""
    for node in range(memory.nodes.shape[1]):
        if memory.work[Work.TAKEN, node] > 0 and memory.nodes[Node.COMPLETING, node] > 0:
            return True
    return False


@kernel
def planned_size(state: State, job: int, part: int) -> int:
    """CPUs that a job would have on the chosen nodes, from now on those of its size factor."""
    memory, cpus = state.memory, 0
    whole = whole_nodes(memory, job, part)
    for node in range(memory.nodes.shape[1]):
        if memory.work[Work.TAKEN, node] > 0:
            cpus += state.nodes[N_CPUS, node] if whole else memory.work[Work.TAKEN, node]
    memory.jobs[Job.SIZE, job] = cpus
    memory.jobs[Job.SIZED, job] = 1
    return cpus


@kernel
def note_start(state: State, job: int, start: int) -> None:
    """Remember where and when the present cycle lets a job start, for those who ask afterwards."""
    memory, count, first = state.memory, 0, UNSET
    for node in range(memory.nodes.shape[1]):
        if memory.planned[memory.clock[Clock.PLANS] - 1, node] > 0:
            first = node if first == UNSET else first
            count += 1
    memory.jobs[Job.PLANNED, job] = start
    memory.jobs[Job.PLANNED_AT, job] = state.clock[NOW] // SECOND + memory.settings[Setting.ORIGIN]
    memory.jobs[Job.PLANNED_NODE, job] = first
    memory.jobs[Job.PLANNED_NODES, job] = count


@kernel
def write_plan(memory: Memory, job: int, start: int, end: int) -> int:
    """Write down a plan, whose nodes are noted; where it stands."""
    place = memory.clock[Clock.PLANS]
    memory.plans[Plan.JOB, place] = job
    memory.plans[Plan.START, place] = start
    memory.plans[Plan.END, place] = end
    memory.clock[Clock.PLANS] = place + 1
    return int(place)


@kernel
def keep_plan(state: State, job: int, part: int, start: int, begin: int, end: int) -> bool:
    """Enter a plan in the table; whether the cycle goes on."""
    memory = state.memory
    place = write_plan(memory, job, start, end)
    memory.counts[Count.PLANNED, part] += 1
    if memory.jobs[Job.TESTED, job] != memory.clock[Clock.CYCLES] or start < memory.jobs[Job.PLANNED, job]:
        note_start(state, job, start)
    memory.jobs[Job.TESTED, job] = memory.clock[Clock.CYCLES]
    for node in range(memory.nodes.shape[1]):
        if memory.planned[place, node] > 0 and state.nodes[N_RUNS, node] == 0:
            memory.clock[Clock.STAMPED] = 1
            break
    if is_full(memory):
        return STOP
    hold(memory, begin, end, place)
    for node in range(memory.nodes.shape[1]):
        if memory.planned[place, node] > 0:
            memory.work[Work.UNTIL, node] = min(memory.work[Work.UNTIL, node], begin)
    return GO_ON


@kernel
def enter_started(state: State, job: int, part: int) -> None:
    """A job that has just started on whole nodes keeps them in the table until its limit."""
    memory = state.memory
    if whole_nodes(memory, job, part):
        note_plan(memory)
        hold(memory, 0, rounded(memory, memory.jobs[Job.ENDS, job]), memory.clock[Clock.PLANS])


@kernel
def end_of_reservation(
    memory: Memory, job: int, part: int, begin: int, minutes: int, now: int, later: int
) -> int:
    """When more nodes may be free, if a reservation that takes some ends before that; else ``later``."""
    after = next_reservation_end(memory, job, part, begin, minutes, now)
    if after == 0 or after + 1 >= rounded(memory, now + memory.settings[Setting.BF_WINDOW]):
        return later
    return after + 1 if later == 0 or after + 1 < later else later


@routine
def search(state: State, place: int, now: int) -> bool:
    """Find a start for the record at ``place`` and plan or start the job; whether the cycle goes on."""
    memory = state.memory
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    minutes = shortest_in(memory, job, part)
    only_now = (
        not holds_back(memory, place, now, priority_bound(memory, job))
        or (
            memory.settings[Setting.BF_ONE_RESERVATION] > 0
            and memory.jobs[Job.TESTED, job] == memory.clock[Clock.CYCLES]
        )
        or 0 < memory.settings[Setting.BF_PART_RESERVE] <= memory.counts[Count.PLANNED, part]
    )
    later, counted, least = now, False, memory.jobs[Job.MIN_NODES, job]
    any_reserved = memory.reservations.shape[1] > 0
    lay_widest(memory, job, part)
    while True:
        begin = later
        if any_reserved:
            begin = lay_allowed(memory, job, part, later, minutes, now)
            if begin == NOT_NOW:
                memory.jobs[Job.REASON, job] = Reason.RESERVATION
                return GO_ON
            lay_widest(memory, job, part)
        end = 60 * minutes + max(begin, now)
        few = too_few(memory, begin, end, least)
        later = lay_window(memory, begin, end, few)
        if any_reserved:
            later = end_of_reservation(memory, job, part, begin, minutes, now, later)
        if few or common_nodes(memory.words_sets, Scratch.WINDOW, memory.words_sets, Scratch.WIDEST) < least:
            if later > 0 and not only_now:
                continue
            return GO_ON
        if not counted:
            counted = True
            memory.clock[Clock.SEARCHED] += 1
            memory.clock[Clock.SEARCHES] += 1
        known = memory.jobs[Job.SIZED, job] > 0 and not only_now
        if later > 0 and known and starts_after(state, job, part, later):
            continue
        start = earliest(state, job, part, now, only_now)
        if start == NEVER:
            if later > 0 and not only_now:
                continue
            return GO_ON
        if start < begin:
            memory.clock[Clock.STAMPED] = 1
            start = begin
        cpus = planned_size(state, job, part)
        note_plan(memory)
        if start <= now and on_completing(memory):
            start, later = now + 1, 0
        if start <= now:
            outcome = try_start(state, Scratch.WINDOW, job, part, now, FILLING, minutes)
            if outcome == STARTED:
                enter_started(state, job, part)
                note_end(state, job)
                free_now(state)
                memory.clock[Clock.CYCLE_STARTS] += 1
            if outcome != BUSY:
                return GO_ON
            later = 0
        if start > now and only_now:
            return GO_ON
        if later > 0 and start > later:
            continue
        first, last = rounded(memory, start), rounded(memory, start + 60 * minutes)
        if start > now + memory.settings[Setting.BF_WINDOW]:
            write_plan(memory, job, start, HOLDS_NOTHING)
            return GO_ON
        if start > now and collides(memory, first, last):
            later = start
            continue
        if memory.settings[Setting.LIMIT_STOPS] == 0 and plan_breaks_limit(state, job, part, cpus):
            return GO_ON
        return keep_plan(state, job, part, start, first, last)


@kernel
def plan_breaks_limit(state: State, job: int, part: int, cpus: int) -> bool:
    """Whether a job of the planned size would break a limit, or its QOS plans nothing."""
    memory, nodes = state.memory, 0
    for node in range(memory.nodes.shape[1]):
        nodes += memory.planned[memory.clock[Clock.PLANS], node]
    qos = memory.jobs[Job.QOS, job]
    if qos != UNSET and memory.holders[Holder.NO_RESERVE, qos] > 0:
        return True
    reason = after_selection(memory, job, part, cpus, 0, nodes)
    hold_by_limit(memory, job, reason)
    return reason != Reason.NONE


@kernel
def free_now(state: State) -> None:
    """Nodes that are not free any more have no time until which they are."""
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        if state.nodes[N_FREE_CPUS, node] == 0 or state.nodes[N_ALONE, node] > 0:
            memory.work[Work.UNTIL, node] = 0


@kernel
def note_free_nodes(state: State) -> None:
    """Until when each node is free of plans: no plan has been made yet."""
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        usable = memory.nodes[Node.USABLE, node] > 0 and memory.nodes[Node.COMPLETING, node] == 0
        memory.work[Work.UNTIL, node] = FOR_EVER if usable else 0
    free_now(state)


@kernel
def may_start(memory: Memory, place: int, now: int) -> bool:
    """Whether the job of a record could start now beside the plans made so far; needed, not sufficient.

    It must end before a plan begins on a node, so as many nodes as it wants must be free long enough.
    """
    job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
    if job == GONE or not eligible(memory, job, now):
        return False
    if memory.jobs[Job.SIZED, job] == 0 or memory.settings[Setting.PREEMPTION] != Preemption.OFF:
        return True  # its search changes its priority, or it takes the place of others
    end, enough = now + 60 * shortest_in(memory, job, part), 0
    for node in range(memory.nodes.shape[1]):
        enough += memory.members[part, node] & (memory.work[Work.UNTIL, node] > end)
    return bool(enough >= memory.jobs[Job.MIN_NODES, job])


@kernel
def begin_cycle(state: State, now: int) -> None:
    """Forget the last cycle."""
    memory = state.memory
    clock = memory.clock
    clock[Clock.CYCLES] += 1
    clock[Clock.PLANS] = clock[Clock.SEARCHED] = clock[Clock.CYCLE_STARTS] = 0
    clock[Clock.STAMPED] = clock[Clock.UNSURE] = 0
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.USABLE, node] = memory.nodes[Node.USABLE, node] > 0
        memory.sets[Scratch.ALLOWED, node] = 1
    clear_table(memory, now)
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
    note_free_nodes(state)
    note_ends(state)
    last, plans, starts = memory.clock[Clock.QUEUED] - 1, -1, 0
    number = memory.clock[Clock.CYCLES]
    for place in range(memory.clock[Clock.QUEUED]):
        if memory.clock[Clock.SEARCHED] >= memory.settings[Setting.BF_MAX_TEST]:
            break
        if not whole and (plans != memory.clock[Clock.PLANS] or starts != memory.clock[Clock.CYCLE_STARTS]):
            plans, starts = memory.clock[Clock.PLANS], memory.clock[Clock.CYCLE_STARTS]
            while last >= place and not may_start(memory, last, now):
                last -= 1
        if place > last:
            memory.clock[Clock.UNSURE] = 1 - memory.clock[Clock.STAMPED]
            break
        job, part = memory.queue[Record.JOB, place], memory.queue[Record.PARTITION, place]
        if job == GONE or not eligible(memory, job, now) or memory.partitions[Partition.UP, part] == 0:
            continue
        if array_is_full(memory, job) or refused_before(memory, job, part, Array.REFUSED_CYCLE, number):
            continue
        if not licences_free(memory, job):
            memory.jobs[Job.REASON, job] = Reason.LICENCES
            continue
        if memory.settings[Setting.LIMIT_STOPS] == 0:
            reason = before_selection(memory, job, part)
            if reason != Reason.NONE:
                hold_by_limit(memory, job, reason)
                continue
        if not count_search(memory, job, part):
            continue
        planned, started = memory.clock[Clock.PLANS], memory.clock[Clock.CYCLE_STARTS]
        if not search(state, place, now):
            break
        if memory.jobs[Job.ARRAY, job] != UNSET and memory.clock[Clock.CYCLE_STARTS] == started:
            is_planned = memory.clock[Clock.PLANS] > planned and memory.plans[Plan.END, planned] >= 0
            enough = count_array_plan(memory, job) >= memory.settings[Setting.BF_MAX_ARRAY]
            if enough or not is_planned:
                refuse_array(memory, job, part, Array.REFUSED_CYCLE, number)
        if 0 < memory.settings[Setting.BF_MAX_START] <= memory.clock[Clock.CYCLE_STARTS]:
            break
    if memory.clock[Clock.CYCLE_STARTS] > 0:
        close_gaps(memory)
