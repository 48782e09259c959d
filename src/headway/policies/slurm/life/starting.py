"""Starting a job: nodes, limits, counters and lists change together; and making others go for it."""

from __future__ import annotations

from headway.engine.tables import NODE_ROWS, Ended, Phase, State, Why
from headway.engine.verbs import has_room, start_on_nodes, start_suspended
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.life.ending import forget_grace, make_go, take_off
from headway.policies.slurm.life.gang import make_room, waits_for_turn
from headway.policies.slurm.life.power import switch_on, weigh_off
from headway.policies.slurm.life.turns import note_start
from headway.policies.slurm.life.victims import find_victims, suspends_first, victims_to_go
from headway.policies.slurm.limits.accrual import end_age
from headway.policies.slurm.limits.independence import count_task, take_licences
from headway.policies.slurm.limits.limits import (
    after_selection,
    billed,
    charge,
    hold_by_limit,
    lay_counted,
    limit_against,
    minutes_used_up,
)
from headway.policies.slurm.limits.listing import list_start
from headway.policies.slurm.limits.priority import tres_of
from headway.policies.slurm.nodes.calendar import (
    is_known,
    is_taken_from,
    lay_allowed,
    own_reservation,
    seconds_left,
)
from headway.policies.slurm.nodes.cores import suspends
from headway.policies.slurm.nodes.ends import forget_running, note_running
from headway.policies.slurm.nodes.offers import (
    ANYWHERE,
    UNIT,
    asks_gres,
    bounded_nodes,
    fewest_nodes,
    is_over_limits,
    is_weighed,
    lighten,
    reset_weights,
    units_taken,
    wanted_nodes,
    whole_nodes,
)
from headway.policies.slurm.nodes.owners import lay_others, leave_others_out
from headway.policies.slurm.nodes.selection import (
    flexible_reservation,
    propose_taken,
    select,
    select_row,
    weigh_outside,
)
from headway.policies.slurm.queue.preemption import grace, is_pausing, pass_number
from headway.policies.slurm.queue.queue import leave_queue, minutes_in
from headway.policies.slurm.tables.bits import has
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import Outcome
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import NOTICED_LATE, Preemption
from headway.units import NEVER, SECOND

STARTED, BUSY, LIMITED, PASSED_OVER = range(4)
"""PASSED_OVER: a reservation or lost nodes keep the job back, nobody else does: it holds up only those who
want nodes that it names."""
MAIN, FILLING = range(2)
"""Which loop starts a job."""
NEVER_STOPPED = 1 << 32
"""Seconds that a job may run where nobody stops it at its limit."""
CHECKS_EVERY = 30
"""Seconds between two looks at jobs whose time is over."""


@kernel
def candidates(state: State, allowed: int, job: int, part: int) -> None:
    """The nodes of the set ``allowed`` on which a job may start: usable, its partition's, not completing.

    The set BEFORE also has those that are completing, or that other users keep from it.
    """
    memory = state.memory
    features = memory.jobs.features[job]
    for node in range(memory.nodes.shape[1]):
        here = (
            memory.sets[allowed, node]
            & memory.members[part, node]
            & memory.features[features, node]
            & (memory.nodes.usable[node] > 0)
        )
        memory.sets[Scratch.BEFORE, node] = here
        memory.sets[Scratch.CANDIDATES, node] = here & (memory.nodes.completing[node] == 0)
    if memory.settings.keeps_nodes > 0:
        lay_others(state, job, part)
        leave_others_out(memory, Scratch.CANDIDATES)


@kernel
def leave_reserved_out(memory: Memory) -> None:
    """Keep to the nodes that reservations leave to the job at hand."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.BEFORE, node] &= memory.sets[Scratch.ALLOWED, node]
        memory.sets[Scratch.CANDIDATES, node] &= memory.sets[Scratch.ALLOWED, node]


@kernel
def prefer_held(state: State, within: int, job: int, part: int) -> None:
    """Make those of the nodes that are weighed a little heavier that would count anew for a limit on nodes,
    where others of their kind do not."""
    memory = state.memory
    if memory.settings.limits_nodes == 0:
        return
    lay_counted(state, job, part)
    work = memory.work
    for kind in range(memory.nodes.shape[1]):
        work.run_nodes[kind] = work.run_cpus[kind] = 0
    for node in range(memory.nodes.shape[1]):
        if is_weighed(memory, within, job, part, node):
            kind = memory.nodes.kind[node]
            work.run_nodes[kind] += 1
            work.run_cpus[kind] += memory.sets[Scratch.HELD, node]
    for node in range(memory.nodes.shape[1]):
        kind = memory.nodes.kind[node]
        if is_weighed(memory, within, job, part, node) and memory.sets[Scratch.HELD, node] == 0:
            some = 0 < work.run_cpus[kind] < work.run_nodes[kind]
            memory.nodes.set_weight[node] += UNIT if some else 0


@kernel
def proposed_memory(state: State, count: int) -> int:
    """MB of the proposed shares in all."""
    total, first = 0, state.clock.shares
    for entry in range(first, first + count):
        total += state.shares.memory_mb[entry]
    return total


@kernel
def taken_cpus(state: State, whole: bool) -> int:
    """CPUs that a job has on the nodes that were chosen: all of them, if it takes these as a ``whole``."""
    total, taken = 0, state.memory.work.taken
    for node in range(state.nodes.shape[1]):
        if taken[node] > 0:
            total += state.nodes.cpus[node] if whole else taken[node]
    return int(total)


@kernel
def others_keep_it_out(state: State, whole: bool) -> bool:
    """Whether a node that the job at hand might have is in use by others: completing, or held whole, or by
    jobs of users that may not meet."""
    memory = state.memory
    by_user = memory.settings.keeps_nodes > 0
    for node in range(memory.nodes.shape[1]):
        if memory.sets[Scratch.BEFORE, node] == 0:
            continue
        busy = memory.nodes.completing[node] > 0 or state.nodes.alone[node] > 0
        busy = busy or (by_user and memory.sets[Scratch.OTHERS, node] > 0)
        if busy or (whole and state.nodes.runs[node] > 0):
            return True
    return False


@kernel
def has_required(memory: Memory, named: int) -> bool:
    """Whether all nodes of a set of required ones are among those that the job at hand might have."""
    for node in range(memory.nodes.shape[1] if named > 0 else 0):
        if memory.required[named, node] > memory.sets[Scratch.BEFORE, node]:
            return False
    return True


@kernel
def empty_trial(state: State) -> None:
    """Let the trial table be that of an idle machine."""
    memory = state.memory
    for node in range(state.nodes.shape[1]):
        memory.trial.free_cpus[node] = state.nodes.cpus[node]
        memory.trial.free_memory[node] = state.nodes.memory_mb[node]
        memory.trial.runs[node] = memory.trial.alone[node] = 0
        for further in range(NODE_ROWS, state.nodes.shape[0]):
            memory.trial[further, node] = memory.gres_total[further - NODE_ROWS, node]


@kernel
def lay_all_idle(state: State, job: int, part: int) -> None:
    """The nodes of a partition that a job could ever have into the set BEFORE; as if all were idle."""
    memory = state.memory
    for node in range(memory.nodes.shape[1]):
        here = memory.features[memory.jobs.features[job], node]
        memory.sets[Scratch.BEFORE, node] = memory.members[part, node] & here
    empty_trial(state)


@routine
def never_fits(state: State, job: int, part: int) -> bool:
    """Whether a job of several partitions would not fit in one of them though all its nodes were idle."""
    memory = state.memory
    if memory.lists[memory.jobs.partitions[job], 1] == UNSET:
        return False
    lay_all_idle(state, job, part)
    return bool(select(state, memory.trial, Scratch.BEFORE, job, part) == 0)


@kernel
def weights_change(memory: Memory) -> bool:
    """Whether jobs make nodes lighter or heavier for others: by generic resources, or limits on nodes."""
    return bool(memory.gres_asked.shape[0] > 0 or memory.settings.limits_nodes > 0)


@kernel
def weigh_for(state: State, job: int, part: int) -> None:
    """Set the weights of nodes as the test does whether a job could ever run in a partition."""
    reset_weights(state.memory, ANYWHERE, job, part)
    prefer_held(state, ANYWHERE, job, part)
    if asks_gres(state.memory, job) > 0:
        lay_all_idle(state, job, part)
        lighten(state, state.memory.trial, Scratch.BEFORE, job, part, True)


@kernel
def weigh_at_submission(state: State, job: int) -> None:
    """A job is tested when it is submitted, in its partition of the highest tier or in all of them.

    The weights of nodes stay so for the jobs that are looked at next.
    """
    memory, place = state.memory, 0
    if memory.jobs.held[job] > 0 or not weights_change(memory):
        return
    row = memory.jobs.partitions[job]
    best = memory.lists[row, 0]
    while memory.lists[row, place] != UNSET:
        part = memory.lists[row, place]
        if memory.settings.tests_all > 0:
            weigh_for(state, job, part)
        elif memory.partitions.tier[part] > memory.partitions.tier[best]:
            best = part
        place += 1
    if memory.settings.tests_all == 0:
        weigh_for(state, job, best)


@routine
def why_not(state: State, job: int, part: int) -> int:
    """Whether a job that does not fit holds up its partition: BUSY, or only itself: PASSED_OVER."""
    memory = state.memory
    whole, named = memory.jobs.exclusive[job] > 0, memory.jobs.required[job]
    if has_required(memory, named) and others_keep_it_out(state, whole):
        return PASSED_OVER if never_fits(state, job, part) else BUSY
    empty_trial(state)
    if select(state, memory.trial, Scratch.BEFORE, job, part) > 0:
        return BUSY
    memory.jobs.reason[job] = Reason.NODES_AWAY
    return PASSED_OVER


@kernel
def hold_over_limits(state: State, job: int, part: int) -> None:
    """Note the limit that lets a job have fewer nodes than it wants."""
    nodes = fewest_nodes(state.memory, job, part)
    size = max(state.memory.jobs.cpus[job], nodes)
    hold_by_limit(state.memory, job, limit_against(state, job, part, size, nodes))


@kernel
def size_if_busy(state: State, job: int, part: int) -> int:
    """CPUs that limits count of a job that finds no nodes: of whole nodes, if it takes those.

    Slurm remembers how many the last search gave it; the smallest nodes of the partition are taken here.
    """
    memory, nodes = state.memory, fewest_nodes(state.memory, job, part)
    size, smallest = max(memory.jobs.cpus[job], memory.jobs.min_nodes[job]), 0
    if memory.settings.enforce > 0 and whole_nodes(memory, job, part):
        for node in range(memory.nodes.shape[1]):
            if memory.members[part, node] > 0 and (smallest == 0 or state.nodes.cpus[node] < smallest):
                smallest = state.nodes.cpus[node]
    return int(max(size, nodes * smallest))


@routine
def limit_if_busy(state: State, job: int, part: int) -> int:
    """The limit that a job would break that finds no nodes now, 0 where it breaks none.

    Slurm counts the generic resources that its test found last: of all nodes, as if they were idle.
    """
    memory, size = state.memory, size_if_busy(state, job, part)
    nodes = wanted_nodes(memory, job, part)
    if memory.settings.enforce > 0 and asks_gres(memory, job) > 0:
        empty_trial(state)
        if select(state, memory.trial, Scratch.BEFORE, job, part) > 0:
            memory.jobs.gres_found[job] = units_taken(memory, job, part)
    reason = limit_against(state, job, part, size, nodes)
    memory.jobs.gres_found[job] = UNSET
    return int(reason)


@kernel
def is_planned_elsewhere(memory: Memory, slot: int) -> bool:
    """Whether a stretch of backfill's table lacks one of the chosen nodes."""
    for node in range(memory.nodes.shape[1]):
        if memory.work.taken[node] > 0 and not has(memory.words_free, slot, node):
            return True
    return False


@kernel
def lengthened(memory: Memory, job: int, part: int, now: int, minutes: int) -> int:
    """For how many minutes a job may run that backfill starts on the chosen nodes, ``minutes`` at least: its
    whole limit, but for plans on these nodes and reservations of them that begin before its end."""
    if memory.settings.lengthened == 0 or memory.jobs.minutes_min[job] == UNSET:
        return minutes
    most, slot = minutes_in(memory, job, part), 0
    end = now + 60 * most
    while slot >= 0:
        begin = memory.slots.begin[slot]
        if begin != now and begin < end and is_planned_elsewhere(memory, slot):
            most = min(most, max(begin - now, 0) // 60)
        slot = memory.slots.next[slot]
    most = max(most, minutes)
    end, mine = now + 60 * most, own_reservation(memory, job, now)
    for which in range(memory.reservations.shape[1]):
        begin = memory.reservations.start[which]
        if (
            which != mine
            and is_known(memory, which, now)
            and now < begin < end
            and is_on_taken(memory, which)
        ):
            most = min(most, (begin - now) // 60)
    return int(max(most, minutes))


@kernel
def is_on_taken(memory: Memory, which: int) -> bool:
    """Whether a reservation has one of the chosen nodes."""
    for node in range(memory.nodes.shape[1]):
        if memory.work.taken[node] > 0 and memory.reserved[which, node] > 0:
            return True
    return False


@routine
def try_start(state: State, allowed: int, job: int, part: int, now: int, loop: int, minutes: int) -> int:
    """Start a job on nodes of the set ``allowed`` if it fits within its limits: STARTED, or why not.

    It runs in partition ``part`` from ``now`` on (s) for ``minutes`` at most; ``loop`` is who asks, MAIN or
    FILLING.
    """
    memory = state.memory
    if is_over_limits(memory, job, part):
        hold_over_limits(state, job, part)
        return LIMITED
    candidates(state, allowed, job, part)
    if weights_change(memory):
        within = allowed if loop == FILLING else ANYWHERE  # backfill leaves planned nodes out beforehand
        reset_weights(memory, within, job, part)
        prefer_held(state, within, job, part)
    if memory.reservations.shape[1] > 0 and loop == MAIN:
        if lay_allowed(memory, job, part, now, minutes, now) != now:
            memory.jobs.reason[job] = Reason.RESERVATION
            return PASSED_OVER
        mine = own_reservation(memory, job, now)
        if mine != UNSET and is_taken_from(memory, job, part, mine):
            for node in range(memory.nodes.shape[1]):  # nobody has the nodes of its reservation in this pass
                memory.sets[allowed, node] &= 1 - memory.reserved[mine, node]
            memory.jobs.reason[job] = Reason.RESERVATION
            return PASSED_OVER
        leave_reserved_out(memory)
    flexible = flexible_reservation(memory, job)
    weigh_outside(memory, flexible, 1)  # plans do not weigh so
    weigh_off(state, now, 1)
    memory.clock.by_kind = 1
    found, preempts = select(state, state.nodes, Scratch.CANDIDATES, job, part), False
    memory.clock.by_kind = 0
    weigh_off(state, now, -1)
    weigh_outside(memory, flexible, -1)
    if found > bounded_nodes(memory, job, part):
        found = 0  # the choice by switches does not keep to that, and plans do not care
    if found == 0 and memory.settings.preemption != Preemption.OFF:
        if memory.settings.slice > 0 and suspends_first(state, job, part, now):
            rows = memory.partitions.rows_preempting[part]
            found = select_row(state, state.nodes, Scratch.CANDIDATES, job, part, rows)
        else:
            preempts = find_victims(state, job, part, now)
    if found == 0 and not preempts:
        reason = limit_if_busy(state, job, part)
        hold_by_limit(memory, job, reason)
        if reason != Reason.NONE:
            return LIMITED
        memory.jobs.reason[job] = Reason.RESOURCES
        return why_not(state, job, part) if loop == MAIN else BUSY
    whole = whole_nodes(memory, job, part)
    count, cpus = propose_taken(state, job, part), taken_cpus(state, whole)
    mb = proposed_memory(state, count)
    reason = after_selection(state, job, part, cpus, mb, count, True)
    if reason != Reason.NONE:
        hold_by_limit(memory, job, reason)
        return LIMITED
    if preempts:
        if not is_pausing(memory, job, now):
            preempt(state, job, now)
        memory.jobs.reason[job] = Reason.RESOURCES
        return BUSY
    tres_of(memory, job, cpus, mb, count, billed(memory, job, part, cpus, mb, count, whole), whole)
    waits = False
    if suspends(memory):
        waits = memory.settings.slice > 0 and waits_for_turn(state, job, part, count)
        if not waits:
            make_room(state, job, part, count, now)
        note_start(memory, job, waits)
    if loop == FILLING:
        minutes = lengthened(memory, job, part, now, minutes)
    begin(state, job, part, now, loop, count, minutes, waits)
    return STARTED


@routine
def begin(
    state: State, job: int, part: int, now: int, loop: int, count: int, minutes: int, waits: bool
) -> None:
    """Let a job run on the ``count`` nodes that were proposed, or, if it ``waits``, have them until its turn.

    The others are as in :func:`try_start`.
    """
    memory = state.memory
    seconds, boot = minutes * 60, switch_on(state, count, now)
    state.jobs.plan[job] = (boot + seconds) * SECOND
    over = memory.partitions.over_time[part]
    most = NEVER_STOPPED if over == UNSET else boot + seconds + over + NOTICED_LATE
    limit = min(most, seconds_left(memory, job, now)) * SECOND
    why = (
        Why.BACKFILL if loop == FILLING else (Why.IMMEDIATE if now <= memory.jobs.entered[job] else Why.HEAD)
    )
    if not has_room(state, memory.clock.running, memory.running):
        return
    if waits:
        start_suspended(state, job, count, why, limit)
    else:
        start_on_nodes(state, job, count, why, boot * SECOND, limit)
    memory.jobs.suspended_at[job] = now if waits else UNSET
    memory.jobs.partition[job] = part
    memory.jobs.started[job] = now
    memory.jobs.resumed_at[job] = UNSET if boot == 0 else now + boot
    memory.jobs.ends[job] = now + seconds
    memory.jobs.length[job] = minutes
    memory.jobs.loop[job] = loop
    memory.jobs.outcome[job] = Outcome.RUNS
    memory.jobs.attempts[job] += 1
    memory.clock.pending -= 1
    list_start(memory, job)
    note_running(memory, job, now + seconds)
    charge(state, job, 1)
    count_task(memory, job, 1)
    take_licences(memory, job, 1)
    leave_queue(memory, job)
    end_age(memory, job)
    memory.clock.stamp = memory.clock.changed = now


@routine
def preempt(state: State, job: int, now: int) -> None:
    """End the victims of a job; it starts when their nodes are free."""
    memory = state.memory
    for place in range(victims_to_go(memory)):
        victim = memory.victims[0, place]
        memory.jobs.preempted_by[victim] = job
        if grace(memory, victim) > 0:
            give_grace(memory, victim, now)
        else:
            make_go(state, victim, now)
    memory.jobs.took_victims[job] = now
    memory.jobs.took_in[job] = pass_number(memory)


@kernel
def give_grace(memory: Memory, victim: int, now: int) -> None:
    """Let a victim go on for its grace time; the check that ends it comes every 30 seconds."""
    if memory.jobs.goes_at[victim] != UNSET:
        return
    end = min(memory.jobs.ends[victim], now + grace(memory, victim))
    forget_running(memory, victim)
    memory.jobs.ends[victim] = end
    note_running(memory, victim, end)
    late = memory.clock.drawn % CHECKS_EVERY
    memory.jobs.goes_at[victim] = end + late
    memory.clock.graces += 1


@kernel
def goes_next(memory: Memory) -> int:
    """The running job whose grace time is over first; UNSET where none has any."""
    first, goes_at = UNSET, NEVER
    for place in range(memory.clock.running if memory.clock.graces > 0 else 0):
        job = memory.running[1, place]
        at = memory.jobs.goes_at[job]
        if at != UNSET and (at < goes_at or (at == goes_at and job < first)):
            first, goes_at = job, at
    return int(first)


@routine
def take_graces(state: State, now: int) -> None:
    """Victims whose grace time is over have to go; one that is suspended then is let be."""
    memory, victim = state.memory, goes_next(state.memory)
    while victim != UNSET and memory.jobs.goes_at[victim] <= now:
        if state.jobs.phase[victim] == Phase.RUNNING:
            make_go(state, victim, now)
        else:
            forget_grace(memory, victim)
        victim = goes_next(memory)


@routine
def end_by_minutes(state: State, now: int) -> None:
    """End the running jobs of every group that has used up its minutes."""
    memory, place = state.memory, 0
    while place < memory.clock.running:
        job = memory.running[1, place]
        if minutes_used_up(memory, job):
            memory.jobs.reason[job] = Reason.ASSOC_GRP_MINS
            take_off(state, job, now, False, Ended.AT_WALLTIME)
        else:
            place += 1
