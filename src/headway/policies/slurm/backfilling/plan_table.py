"""Backfill's table of plans: stretches of time, each with the nodes that are free of plans in it.

Running jobs are not in it. Every cycle begins with one empty stretch and forgets the table at its end::

    time     T0 ........ 600 ........ 1200 ........ W       W: how far ahead backfill looks
    free     all         n4            all
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.bits import ALL, ONE, common_nodes, copy_set
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.passes import Scratch

END = -1
"""NEXT of the last stretch."""
KINDS = 63
"""Kinds of jobs for which it is kept what a survey of the stretches found: as many as a word has bits."""


@kernel
def rounded(memory: Memory, t: int) -> int:
    """A time rounded down to backfill's resolution."""
    step = memory.settings.bf_resolution
    return int(t // step * step)


@kernel
def rounded_end(memory: Memory, t: int) -> int:
    """When what lasts until ``t`` ends in the table."""
    step = memory.settings.bf_resolution if memory.settings.ends_rounded_up > 0 else 1
    return rounded(memory, t + step - 1)


@kernel
def end_of_plan(memory: Memory, start: int, minutes: int) -> int:
    """When a plan for so many minutes ends in the table."""
    end = rounded_end(memory, start + 60 * minutes)
    if memory.settings.holds_a_step == 0:
        return end
    return max(end, rounded(memory, start) + memory.settings.bf_resolution)


@routine
def clear_table(memory: Memory, now: int) -> None:
    """One stretch from now as far as backfill looks, in which all usable nodes are free."""
    memory.slots.begin[0] = rounded(memory, now)
    memory.slots.end[0] = rounded(memory, now + memory.settings.bf_window)
    memory.slots.next[0] = END
    memory.slots.known[0] = 0
    memory.clock.slots = 1
    for word in range(memory.words_free.shape[1]):
        memory.words_free[0, word] = memory.words_sets[Scratch.USABLE, word]
    for licence in range(memory.licences_left.shape[1]):
        memory.licences_left[0, licence] = memory.licences.total[licence]


@kernel
def split(memory: Memory, slot: int, t: int) -> int:
    """Cut a stretch at ``t``; the later part."""
    new = memory.clock.slots
    memory.clock.slots = new + 1
    slots = memory.slots
    slots.begin[new] = t
    slots.end[new] = slots.end[slot]
    slots.next[new] = slots.next[slot]
    slots.end[slot] = t
    slots.next[slot] = new
    slots.known[slot] = slots.known[new] = 0
    for word in range(memory.words_free.shape[1]):
        memory.words_free[new, word] = memory.words_free[slot, word]
    for licence in range(memory.licences_left.shape[1]):
        memory.licences_left[new, licence] = memory.licences_left[slot, licence]
    return int(new)


@kernel
def equally_free(memory: Memory, a: int, b: int) -> bool:
    """Whether the same nodes and licences are free in two stretches."""
    differ = 0
    for licence in range(memory.licences_left.shape[1]):
        differ |= memory.licences_left[a, licence] ^ memory.licences_left[b, licence]
    for word in range(memory.words_free.shape[1]):
        differ |= memory.words_free[a, word] ^ memory.words_free[b, word]
    return differ == 0


@kernel
def is_full(memory: Memory) -> bool:
    """Whether the table has had as many stretches as it may have; a cycle then ends."""
    return bool(memory.clock.slots >= memory.settings.bf_table)


@kernel
def take_left(memory: Memory, slot: int, job: int) -> None:
    """Let a stretch have fewer licences: those that a job asks for."""
    for licence in range(memory.licences_left.shape[1]):
        left = memory.licences_left[slot, licence] - memory.licences_asked[licence, job]
        memory.licences_left[slot, licence] = max(left, 0)


@kernel
def has_left(memory: Memory, slot: int, job: int) -> bool:
    """Whether a stretch has the licences that a job asks for."""
    for licence in range(memory.licences_left.shape[1]):
        if memory.licences_asked[licence, job] > memory.licences_left[slot, licence]:
            return False
    return True


@kernel
def lacks_licences_until(memory: Memory, job: int, slot: int, end: int) -> int:
    """The end of the last stretch from ``slot`` on that begins by ``end`` and lacks licences; 0: none."""
    until = 0
    while slot != END and memory.slots.begin[slot] <= end:
        if not has_left(memory, slot, job):
            until = memory.slots.end[slot]
        slot = memory.slots.next[slot]
    return int(until)


@routine
def hold(memory: Memory, start: int, end: int, nodes: int, job: int) -> None:
    """Keep the nodes of the plan at place ``nodes`` from ``start`` to ``end``, and the licences of its job.

    At most one pair of neighbours that have become equal is joined.
    """
    slots = memory.slots
    start = max(start, slots.begin[0])
    end = max(end, start + memory.settings.bf_resolution)
    before, slot = 0, 0
    while slots.end[slot] < start:
        before = slot
        slot = slots.next[slot]
        if slot == END:
            return
    if slots.end[slot] > start:
        slot = split(memory, slot, start)
    else:
        slots.known[slot] = 0
        slot = slots.next[slot]
        if slot == END:
            return
    last = slot
    while slot != END:
        slots.known[slot] = 0
        if end < slots.end[slot]:
            split(memory, slot, end)
        for word in range(memory.words_free.shape[1]):
            memory.words_free[slot, word] &= ~memory.words_planned[nodes, word]
        if memory.settings.bf_licences > 0:
            take_left(memory, slot, job)
        last = slot
        if slots.end[slot] == end:
            break
        slot = slots.next[slot]
    join_equal(memory, before, last, end)


@kernel
def join_equal(memory: Memory, before: int, last: int, end: int) -> None:
    """Join the first equal neighbours between the stretch before the plan and the one behind it."""
    slots = memory.slots
    reached = slots.end[last] == end and slots.next[last] != END
    here = before
    while True:
        behind = slots.next[here]
        if behind == END:
            return
        if equally_free(memory, here, behind):
            slots.end[here] = slots.end[behind]
            slots.next[here] = slots.next[behind]
            slots.known[here] = 0
            return
        if reached and here == last:
            return
        here = behind


@kernel
def lay_widest(memory: Memory, job: int, part: int) -> None:
    """The nodes that a job could ever have into the set WIDEST, those of its partition into AROUND."""
    sets, features = memory.words_sets, memory.jobs.features[job]
    for word in range(sets.shape[1]):
        here = memory.words_members[part, word] & sets[Scratch.USABLE, word] & sets[Scratch.ALLOWED, word]
        sets[Scratch.AROUND, word] = here
        sets[Scratch.WIDEST, word] = here & memory.words_features[features, word]


@kernel
def kind_of(memory: Memory, job: int, part: int) -> int:
    """The kind of a job: jobs of a kind could have the same nodes. The last one is for all that have none.

    What reservations or other users leave to a job is its own.
    """
    kinds, settings = memory.surveys.shape[1] - 1, memory.settings
    by_user = settings.keeps_nodes > 0
    if memory.reservations.shape[1] > 0 or by_user or settings.plain > 0:
        return kinds
    return min(part * memory.features.shape[0] + memory.jobs.features[job], kinds)


@kernel
def count_stretch(memory: Memory, slot: int, kind: int) -> None:
    """Count the free nodes of WIDEST in a stretch, and see whether any of AROUND come free behind it."""
    sets, free = memory.words_sets, memory.words_free
    following, more = memory.slots.next[slot], 0
    if following != END:
        for word in range(sets.shape[1]):
            more |= sets[Scratch.AROUND, word] & free[following, word] & ~free[slot, word]
    memory.surveys[slot, kind] = 2 * common_nodes(sets, Scratch.WIDEST, free, slot) + (more != 0)
    if kind < memory.surveys.shape[1] - 1:
        memory.slots.known[slot] |= ONE << kind


@kernel
def survey(memory: Memory, last: int, end: int, least: int, kind: int) -> int:
    """Learn what the stretches behind ``last`` (END: all) have for a job, as far as one behind ``end``.

    That is how many nodes of WIDEST are free in each, whether any of AROUND come free behind it, and where it
    last found fewer than it wants. The last stretch that is known now. What earlier jobs of its kind found
    out still holds where no plan has been entered since.
    """
    slots = memory.slots
    while last == END or (slots.begin[last] <= end and slots.next[last] != END):
        lacked = 0
        if last != END:
            lacked = slots.end[last] if slots.free[last] < least else slots.lacked[last]
        last = 0 if last == END else slots.next[last]
        if (slots.known[last] >> kind) & 1 == 0:
            count_stretch(memory, last, kind)
        found = memory.surveys[last, kind]
        slots.free[last] = found >> 1
        slots.rises[last] = found & 1
        slots.lacked[last] = lacked
    return last


@kernel
def slot_at(memory: Memory, slot: int, t: int) -> int:
    """The first stretch from ``slot`` on that ends after ``t``; END where none does."""
    while slot != END and memory.slots.end[slot] <= t:
        slot = memory.slots.next[slot]
    return slot


@kernel
def lacks_until(memory: Memory, last: int, end: int, least: int) -> int:
    """The end of the last stretch that begins by ``end`` and has fewer than ``least`` nodes; 0: none.

    ``last``: as far as the stretches are known, which is one behind ``end``.
    """
    slots = memory.slots
    if slots.begin[last] <= end and slots.free[last] < least:
        return int(slots.end[last])
    return int(slots.lacked[last])


@kernel
def next_rise(memory: Memory, slot: int, end: int) -> int:
    """When a node comes free of plans that is not so from ``slot`` on; 0 where none does until ``end``.

    The stretch that begins first after ``end`` is still looked at; with LOOKS_PAST it is the end of the one
    after that, unless it is the last. Until a node comes free the sets of neighbouring stretches only shrink,
    so what is free in one of them was free all the time.
    """
    while slot != END and memory.slots.next[slot] != END:
        if memory.slots.rises[slot] > 0:
            return int(memory.slots.end[slot])
        following = memory.slots.next[slot]
        if memory.slots.begin[slot] > end:
            past = memory.settings.looks_past > 0 and memory.slots.next[following] != END
            return int(memory.slots.end[following]) if past else 0
        slot = following
    return 0


@kernel
def lay_window(memory: Memory, slot: int, end: int) -> None:
    """The nodes of WIDEST that are free of plans from a stretch on until ``end`` into the set WINDOW.

    A stretch that begins just at ``end`` still counts.
    """
    sets = memory.words_sets
    copy_set(sets, Scratch.WIDEST, sets, Scratch.WINDOW)
    cut_window(memory, slot, end)


@kernel
def cut_window(memory: Memory, slot: int, end: int) -> None:
    """Leave those nodes in the set WINDOW that are free of plans from a stretch on until ``end``."""
    sets, free = memory.words_sets, memory.words_free
    while slot != END and memory.slots.begin[slot] <= end:
        for word in range(sets.shape[1]):
            sets[Scratch.WINDOW, word] &= free[slot, word]
        slot = memory.slots.next[slot]


@kernel
def fold(memory: Memory, slot: int, end: int) -> int:
    """Lay for each stretch from ``slot`` until ``end`` the nodes free in it and all behind it; the last one.

    The windows of a search only move on, so each of them is one such set, cut by the stretches AHEAD of them.
    """
    slots, free, folded, count = memory.slots, memory.words_free, memory.words_folded, 0
    while slot != END and slots.begin[slot] <= end:
        slots.order[count] = slot
        slot = slots.next[slot]
        count += 1
    last = slots.order[count - 1]
    copy_set(free, last, folded, last)
    for place in range(count - 2, -1, -1):
        here, behind = slots.order[place], slots.order[place + 1]
        for word in range(free.shape[1]):
            folded[here, word] = free[here, word] & folded[behind, word]
    for word in range(free.shape[1]):
        memory.words_sets[Scratch.AHEAD, word] = ALL
    return int(last)


@kernel
def go_ahead(memory: Memory, last: int, end: int) -> int:
    """Let the stretches behind ``last`` until ``end`` be AHEAD of the folded ones, too; the last one."""
    slots, sets, behind = memory.slots, memory.words_sets, memory.slots.next[last]
    while behind != END and slots.begin[behind] <= end:
        for word in range(sets.shape[1]):
            sets[Scratch.AHEAD, word] &= memory.words_free[behind, word]
        last, behind = behind, slots.next[behind]
    return int(last)


@kernel
def is_behind(memory: Memory, slot: int, folded: int) -> bool:
    """Whether a stretch lies behind those that are folded as far as ``folded`` (END: none are)."""
    return bool(folded == END or memory.slots.end[folded] < memory.slots.end[slot])


@kernel
def lay_folded(memory: Memory, slot: int) -> None:
    """The window that begins with a folded stretch into the set WINDOW, as :func:`lay_window` does."""
    sets = memory.words_sets
    for word in range(sets.shape[1]):
        here = memory.words_folded[slot, word] & sets[Scratch.AHEAD, word]
        sets[Scratch.WINDOW, word] = here & sets[Scratch.WIDEST, word]


@routine
def collides(memory: Memory, start: int, end: int, job: int) -> bool:
    """Whether a stretch between ``start`` and ``end`` lacks a node of the plan that is being made for a job,
    or a licence where these are planned, too."""
    slot, place = 0, memory.clock.plans
    licences = memory.settings.bf_licences > 0
    while slot != END:
        if memory.slots.end[slot] > start and memory.slots.begin[slot] < end:
            lacking = 0
            for word in range(memory.words_free.shape[1]):
                lacking |= memory.words_planned[place, word] & ~memory.words_free[slot, word]
            if lacking != 0 or (licences and not has_left(memory, slot, job)):
                return True
        slot = memory.slots.next[slot]
    return False
