"""The search for the earliest start of a job, over the ends of running jobs in groups that widen with time.

The bounds of the groups double from the first end: 30, 60, 120 s and so on. A start is the end of the LAST
job of the group that makes room, though an earlier member might have been enough; far in the future groups
are hours wide, so the plans of large jobs lie later than they need to.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.backfilling.node_ends import NOW, enough_open, lay_trial
from headway.policies.slurm.backfilling.whole import enough_over, over_by, select_whole
from headway.policies.slurm.nodes.cores import suspends
from headway.policies.slurm.nodes.ends import (
    FREE_ENOUGH,
    MANY,
    NEVER,
    copy_nodes,
    idle_in_window,
    imagine_ended,
    imagine_preempted,
    next_staying,
    start_after,
    touches,
)
from headway.policies.slurm.nodes.offers import (
    asks_gres,
    lighten,
    takes_any_node,
    weigh_anew,
    weigh_completing,
    whole_nodes,
)
from headway.policies.slurm.nodes.rows import deal_trial
from headway.policies.slurm.nodes.selection import select, select_in
from headway.policies.slurm.queue.preemption import takes_places
from headway.policies.slurm.tables.bits import meet, pack_row, size_of, unpack
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.passes import Scratch, Work
from headway.policies.slurm.tables.settings import Preemption
from headway.policies.slurm.tables.sites import Partitions

TRIED = -2
"""In place of what was passed over: nothing was."""
ONE_BY_ONE = -1
"""Whatever a job is: every end is imagined, and every group tried."""
BY_COUNT = -2
"""It is enough to count nodes, for a job on whole ones that are alike
(:mod:`~headway.policies.slurm.backfilling.whole`).

For others a row of openings tells when each node will do
(:mod:`~headway.policies.slurm.backfilling.node_ends`)."""


@routine
def widened(memory: Memory, width: int, anchor: int, place: int) -> int:
    """The width of the next group: it reaches at least to the job at ``place``."""
    linear = memory.settings.bf_window_linear
    while True:
        width = width + linear if linear > 0 else 2 * width
        if place == memory.clock.running or memory.running[0, place] <= anchor + width:
            return width


@kernel
def first_bound(end: int) -> int:
    """What the groups are counted from, where the first job ends at ``end``."""
    return end + 30 - end % 30


@kernel
def select_later(state: State, candidates: int, job: int, part: int, rows: int) -> int:
    """Choose nodes for a job of a set on what the trial table has free, in one of the rows of its partition
    that a job may use (``rows``: which of its two numbers of them)."""
    memory = state.memory
    if memory.settings.slice > 0:
        deal_trial(state)
    return select_in(state, memory.trial, candidates, job, part, memory.partitions[rows, part])


@kernel
def select_ahead(state: State, candidates: int, job: int, part: int, rows: int) -> int:
    """The same after the end of other jobs: nodes in use may come first then."""
    state.memory.clock.looks_ahead = 1
    found = select_later(state, candidates, job, part, rows)
    state.memory.clock.looks_ahead = 0
    return found


@routine
def earliest_tried(
    state: State, job: int, part: int, now: int, only_now: bool, window: tuple[int, int]
) -> int:
    """:func:`earliest` by imagining one end after the other, and trying after every group."""
    memory, least = state.memory, state.memory.jobs.min_nodes[job]
    idle, by_window = FREE_ENOUGH, memory.settings.by_window > 0
    if whole_nodes(memory, job, part) and not suspends(memory):
        idle = idle_in_window(state)
    if idle >= least and (window[0] <= now or not by_window):
        weigh_completing(memory, 1)
        found = select(state, state.nodes, Scratch.WINDOW, job, part)
        weigh_completing(memory, -1)
        if found > 0:
            return now
    preempts, rows = takes_places(memory, job, part), Partitions["rows"]
    if only_now and not preempts:
        return NEVER
    weigh_anew(memory, job, part)
    copy_nodes(state)
    first = over_at(memory, window[0]) if by_window else 0
    for place in range(first):
        idle += imagine_ended(state, state.jobs.run[memory.running[1, place]])
    if preempts:
        more, aside = imagine_preempted(state, job, part, now, first)
        idle += more
        if aside and memory.settings.preemption == Preemption.BY_QOS:
            rows = Partitions["rows_preempting"]
    if preempts or (by_window and idle >= least):
        if select_later(state, Scratch.WINDOW, job, part, rows) > 0:
            return now
        if only_now:
            return NEVER
    running, count = memory.running, looked_at(memory, window[1])
    width, anchor, place = 30, 0, next_staying(state, job, part, now, first)
    linear = memory.settings.linear > 0
    while place < count:
        last, taken, many = -1, 0, False
        while place < count:
            this, end = place, running[0, place]
            place = next_staying(state, job, part, now, place + 1)
            if not touches(state, state.jobs.run[running[1, this]]):
                continue
            if anchor == 0:
                anchor = first_bound(end)
            last = this
            idle += imagine_ended(state, state.jobs.run[running[1, this]])
            if place >= count or linear or running[0, place] > anchor + width:
                break
            taken += 1
            if taken > MANY:
                many = True
                break
        if last < 0:
            return NEVER
        if many:
            continue
        width = widened(memory, width, anchor, place)
        if idle >= least and select_ahead(state, Scratch.WINDOW, job, part, rows) > 0:
            return start_after(memory, last_needed(state, first, last, job, part, now, ONE_BY_ONE), now)
    return NEVER


@kernel
def over_at(memory: Memory, begin: int) -> int:
    """How many running jobs are over in a window that begins then."""
    at = memory.settings.over_at_begin > 0
    return over_by(memory, begin if at else begin - 1) + 1


@kernel
def looked_at(memory: Memory, later: int) -> int:
    """How many running jobs a search looks at where the next window begins ``later`` (0: there is none)."""
    if memory.settings.by_window == 0 or later == 0:
        return int(memory.clock.running)
    return over_by(memory, later) + 1


@kernel
def has_taken(state: State, place: int, openings: int) -> bool:
    """Whether the running job at a place of the list has one of the chosen nodes."""
    memory = state.memory
    if openings == BY_COUNT:
        return meet(memory.words_held, place, memory.words_sets, Scratch.TAKEN)
    run = state.jobs.run[memory.running[1, place]]
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        if memory.work.taken[state.shares.node[entry]] > 0:
            return True
    return False


@routine
def last_needed(state: State, first: int, last: int, job: int, part: int, now: int, openings: int) -> int:
    """The place of the job whose end a start waits for: the last of those looked at from ``first`` on, or the
    last of them with a chosen node. Those that make room for the job are not waited for."""
    memory = state.memory
    for place in range(last, first - 1 if memory.settings.last_needed > 0 else last, -1):
        if has_taken(state, place, openings) and next_staying(state, job, part, now, place) == place:
            return place
    return last


@kernel
def frees(state: State, place: int, openings: int) -> bool:
    """Whether the running job at a place of the list has a node among those free of plans."""
    memory = state.memory
    if openings == BY_COUNT:
        return meet(memory.words_held, place, memory.words_sets, Scratch.WINDOW)
    return touches(state, state.jobs.run[memory.running[1, place]])


@routine
def next_freeing(state: State, place: int, count: int, openings: int) -> int:
    """The first of ``count`` running jobs from a place on that has a node among those free of plans; behind
    all if none."""
    while place < count and not frees(state, place, openings):
        place += 1
    return place


@routine
def group_from(state: State, place: int, count: int, bound: int, openings: int) -> tuple[int, int, bool]:
    """The group from a place on up to ``bound``: its last job, what comes behind it, whether it is given up.
    ``count`` jobs are looked at.

    Only a job with a node free of plans ends a group, the first such one behind which a later end comes.
    Under select/linear each is a group of its own.
    """
    memory = state.memory
    if memory.settings.linear > 0:
        last = next_freeing(state, place, count, openings)
        return last if last < count else -1, last + 1, False
    within = min(max(over_by(memory, bound), place), count - 1)
    last = next_freeing(state, within, count, openings)
    if last - place > MANY:
        taken = 0
        for this in range(place, last):
            taken += frees(state, this, openings)
            if taken > MANY:
                return this, this + 1, True
    if last < count:
        return last, last + 1, False
    last = within - 1
    while last >= place and not frees(state, last, openings):
        last -= 1
    return last if last >= place else -1, count, False


@kernel
def select_now(state: State, job: int, part: int, openings: int) -> int:
    """Choose nodes for a job of the set WINDOW as they are now, completing ones last of their weight where
    these weigh more."""
    memory = state.memory
    if memory.settings.weighs_anew == 0 or size_of(memory.words_sets, Scratch.COMPLETING) == 0:
        return select_known(state, NOW, job, part, openings)
    if openings == BY_COUNT:
        unpack(memory, Scratch.WINDOW)
    weigh_completing(memory, 1)
    found = select(state, state.nodes, Scratch.WINDOW, job, part)
    weigh_completing(memory, -1)
    if openings == BY_COUNT:
        pack_row(memory, Work["taken"], Scratch.TAKEN)
    return found


@kernel
def select_known(state: State, place: int, job: int, part: int, openings: int) -> int:
    """Choose nodes for a job of the set WINDOW as they are after the end at a place, or NOW."""
    memory = state.memory
    if openings == BY_COUNT:
        if place == NOW:
            return select_whole(state, memory.words_sets, Scratch.IDLE, job, part)
        return select_whole(state, memory.words_over, place, job, part)
    if place == NOW:
        return select(state, state.nodes, Scratch.WINDOW, job, part)
    only_open = whole_nodes(memory, job, part) or takes_any_node(memory, job, part)
    lay_trial(state, openings, place, only_open and asks_gres(memory, job) == 0)
    return select_ahead(state, Scratch.CANDIDATES, job, part, Partitions["rows"])


@kernel
def select_at_begin(state: State, place: int, job: int, part: int, openings: int) -> int:
    """:func:`select_known` where jobs are over when a window begins: idle nodes are as good as others."""
    if openings == BY_COUNT or place == NOW:
        return select_known(state, place, job, part, openings)
    lay_trial(state, openings, place, False)
    return select_later(state, Scratch.CANDIDATES, job, part, Partitions["rows"])


@kernel
def weigh_untried(state: State, place: int, job: int, part: int, openings: int) -> None:
    """Change the weights of nodes as a try after the end at a place would, or NOW, and all before it."""
    anew = state.memory.settings.weighs_anew > 0
    if asks_gres(state.memory, job) == 0 or place == TRIED or anew:
        return
    if place == NOW:
        lighten(state, state.nodes, Scratch.WINDOW, job, part, True)
    else:
        lay_trial(state, openings, place, False)
        lighten(state, state.memory.trial, Scratch.CANDIDATES, job, part, True)


@routine
def earliest_known(
    state: State, job: int, part: int, now: int, only_now: bool, openings: int, window: tuple[int, int]
) -> int:
    """:func:`earliest` where it is known from which end on enough nodes will do: it is tried only then.

    A try changes the weights of nodes for a job with generic resources, a later one those of more nodes. So
    what was ``passed`` over matters only where no try comes after it.
    """
    memory, least = state.memory, state.memory.jobs.min_nodes[job]
    running, count = memory.running, looked_at(memory, window[1])
    by_window = memory.settings.by_window > 0
    if openings == BY_COUNT:
        enough = enough_over(memory, Scratch.WINDOW, least)
    else:
        enough = enough_open(memory, openings, least)
    passed, first = NOW, 0
    if enough == NOW and (window[0] <= now or not by_window):
        passed = TRIED
        if select_now(state, job, part, openings) > 0:
            return now
    if by_window and not only_now:
        first = over_at(memory, window[0])
        weigh_anew(memory, job, part)
        if enough < first and select_at_begin(state, first - 1, job, part, openings) > 0:
            return now
    place = count if only_now else next_freeing(state, first, count, openings)
    width, anchor = 30, first_bound(running[0, place]) if place < count else 0
    while place < count:
        last, place, many = group_from(state, place, count, anchor + width, openings)
        if last < 0:
            break
        if many:
            continue
        width, passed = widened(memory, width, anchor, place), place - 1
        if place > enough:
            passed = TRIED
            if select_known(state, place - 1, job, part, openings) > 0:
                return start_after(memory, last_needed(state, first, last, job, part, now, openings), now)
    weigh_untried(state, passed, job, part, openings)
    return NEVER


@routine
def earliest(
    state: State, job: int, part: int, now: int, only_now: bool, openings: int, window: tuple[int, int]
) -> int:
    """When a job could start on the set WINDOW; -1 where it never could.

    ``window`` is when that begins, and when the next one does, or 0.

    Its nodes are in the row TAKEN; in the set TAKEN where it is enough to count nodes.
    """
    weigh_anew(state.memory, job, part)
    if openings == ONE_BY_ONE:
        return earliest_tried(state, job, part, now, only_now, window)
    return earliest_known(state, job, part, now, only_now, openings, window)
