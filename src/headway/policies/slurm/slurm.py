"""Slurm's controller: what it does when, by its own clocks.

Two loops start jobs. The main loop runs when nodes come free, a few seconds after a submission, and once a
minute in full; backfill runs every half minute if something has changed. Within one second::

    ends (suspended jobs go on) -> epilogs (nodes come free) -> submissions -> nodes, holds, reservations
         -> priorities -> a pass of the main loop -> backfill
"""

from __future__ import annotations

from headway.engine.heap import pop
from headway.engine.tables import Ended, Phase, State
from headway.engine.verbs import turn_away, wake
from headway.jit.kernels import kernel
from headway.policies.slurm.backfill import backfill_cycle
from headway.policies.slurm.life.ending import completing, draw, finish, second_of
from headway.policies.slurm.life.gang import settle
from headway.policies.slurm.life.happenings import next_happening, take_back, take_happenings
from headway.policies.slurm.life.power import begin_booted
from headway.policies.slurm.life.starting import end_by_minutes, goes_next, take_graces, weigh_at_submission
from headway.policies.slurm.limits.accrual import begin_age, give_ages
from headway.policies.slurm.limits.listing import list_job
from headway.policies.slurm.limits.priority import calculate, prioritise, renew_records
from headway.policies.slurm.limits.submission import count_submitted, newcomer, refuse_submission, submitted
from headway.policies.slurm.main_loop import main_pass, start_who_ran
from headway.policies.slurm.queue.queue import enqueue
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import Outcome
from headway.units import NEVER, SECOND


@kernel
def waits_for_epilogs(state: State, now: int) -> bool:
    """Whether both loops wait for jobs that are completing and ended a short while ago (CompleteWait)."""
    memory = state.memory
    if memory.settings.complete_wait == 0:
        return False
    since = now - memory.settings.complete_wait - memory.settings.origin
    for place in range(memory.clock.completing):
        run = memory.epilogs[1, place]
        if run >= 0 and state.runs.end[run] >= since * SECOND:
            return True
    return False


@kernel
def take_ends(state: State, now: int) -> None:
    """Jobs that ended: their nodes are completing until the epilog is over."""
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        finish(state, state.runs.job[run], run, now)
        count_submitted(state.memory, state.runs.job[run], -1)


@kernel
def take_epilogs(state: State, now: int) -> bool:
    """Nodes whose epilog is over come free; whether that asks for a pass at once."""
    memory = state.memory
    clock, any_free = memory.clock, False
    while clock.completing > 0 and memory.epilogs[0, 0] <= now:
        run = memory.epilogs[1, 0]
        if run < 0:
            memory.nodes.completing[-1 - run] -= 1
            clock.booting -= 1
            begin_booted(memory, memory.epilogs[0, 0])
        else:
            completing(state, run, -1)
        job = state.runs.job[max(run, 0)]
        if run >= 0 and state.jobs.phase[job] == Phase.DONE and state.jobs.run[job] == run:
            well = state.runs.ended[run] == Ended.BY_ITSELF and memory.jobs.succeeds[job] > 0
            memory.jobs.outcome[job] = Outcome.WELL if well else Outcome.BADLY
            memory.jobs.ends[job] = now
        pop(memory.epilogs, 0, clock.completing)
        clock.completing -= 1
        any_free = True
    if any_free:
        clock.stamp = clock.changed = now
        if memory.settings.defer > 0:
            clock.count += 1
            return False
    return any_free


@kernel
def take_submissions(state: State, now: int) -> None:
    """Jobs that arrive get their priority and join the queue."""
    memory = state.memory
    clock, first = memory.clock, memory.clock.queued
    ran = 0
    for place in range(submitted(state)):
        job = newcomer(state, place)
        if refuse_submission(state, job):
            continue
        since = memory.jobs.since[job]
        list_job(memory, job)
        memory.jobs.entered[job] = now if since == UNSET else since
        begin_age(memory, job, max(memory.jobs.entered[job], memory.jobs.begin[job]))
        ran += memory.jobs.ran[job]
        if memory.jobs.kept_back[job] > 0:
            memory.jobs.accrued[job] = UNSET
        prioritise(memory, job, now)
        enqueue(state, job)
        weigh_at_submission(state, job)
        clock.pending += 1
        clock.count += 1 - memory.jobs.ran[job]
        clock.stamp = clock.changed = now
    if ran > 0:
        start_who_ran(state, first, now)
    if clock.queued > first:
        renew_records(memory, first, now, False)


@kernel
def recalculates(memory: Memory) -> bool:
    """Whether priorities change while jobs wait: without accounting they stay as they were at submission."""
    settings = memory.settings
    return bool(settings.multifactor > 0 and settings.has_accounting > 0)


@kernel
def calculate_priorities(memory: Memory, before: int) -> None:
    """Priorities move in steps of the period, by a timer that does not drift."""
    clock = memory.clock
    if not recalculates(memory):
        return
    while clock.priority_next < before:
        calculate(memory, clock.priority_next)
        if clock.pending > 0:
            clock.stamp = clock.changed = clock.priority_next
        clock.priority_next += memory.settings.calc_period


@kernel
def cycle_due(memory: Memory) -> int:
    """When backfill runs next if nothing else changes; -1 if it waits for a change."""
    clock = memory.clock
    if memory.settings.bf_interval < 0 or clock.stamp < clock.cycle_end:
        return -1
    return second_of(clock.cycle_next)


@kernel
def end_cycle(memory: Memory, now: int) -> None:
    """Let backfill sleep after a cycle at ``now``."""
    clock, settings = memory.clock, memory.settings
    begun = clock.cycle_next if second_of(clock.cycle_next) == now else 1000 * now
    over = begun + draw(memory, settings.cycle_takes)
    clock.cycle_end = now
    clock.delayed = 0
    clock.cycle_next = over + 1000 * settings.bf_interval


@kernel
def end_full_pass(memory: Memory) -> None:
    """Let the background loop count to the next full pass."""
    settings = memory.settings
    interval = 1000 * settings.sched_interval + settings.full_late
    memory.clock.full_next += interval


@kernel
def catch_up(memory: Memory, now: int) -> None:
    """Let the clocks go on over a time in which nothing waited: nobody saw what they did."""
    clock = memory.clock
    calculate_priorities(memory, now)
    while second_of(clock.full_next) < now and memory.settings.sched_interval > 0:
        clock.last_pass = second_of(clock.full_next)
        end_full_pass(memory)
    due = cycle_due(memory)
    while 0 <= due < now:
        end_cycle(memory, due)
        due = cycle_due(memory)


@kernel
def main_loop(state: State, now: int, epilogs: bool) -> None:
    """Once a minute a full pass; one of default depth when nodes come free, or soon after a submission.

    Those asked for too soon after the last one wait, and are one then.
    """
    memory = state.memory
    clock = memory.clock
    if memory.settings.sched_interval < 0:
        return
    full = second_of(clock.full_next) <= now
    queued = clock.count > 0 and now - clock.last_pass >= memory.settings.batch_delay
    if full or queued:
        clock.count = 0
        clock.last_pass = now
    if full:
        end_full_pass(memory)
    clock.asked = max(clock.asked, 2 if full else 1 if queued or epilogs else 0)
    asked = clock.asked
    if asked == 0 or now - clock.passed < memory.settings.min_interval:
        return
    clock.asked, clock.passed = 0, now
    if waits_for_epilogs(state, now) or clock.pending == 0:
        return
    give_ages(state, now)
    if main_pass(state, now, asked == 2):
        clock.stamp = now  # a blocked job has a new reason


@kernel
def keep_weights(memory: Memory) -> None:
    """Keep the weights of nodes as they are when a cycle begins."""
    for node in range(memory.nodes.shape[1]):
        memory.nodes.weight_before[node] = memory.nodes.set_weight[node]


@kernel
def swap_weights(memory: Memory) -> None:
    """Let nodes weigh what they did when the last cycle began, or again what they do now."""
    for node in range(memory.nodes.shape[1]):
        before = memory.nodes.weight_before[node]
        memory.nodes.weight_before[node] = memory.nodes.set_weight[node]
        memory.nodes.set_weight[node] = before


@kernel
def make_sure(state: State, now: int) -> None:
    """Find out whether the last cycle changed a time stamp, if the next one depends on nothing else.

    Nothing has changed since but weights of nodes, so the whole cycle can be made up for.
    """
    clock = state.memory.clock
    if clock.unsure == 0:
        return
    if clock.stamp >= clock.cycle_end:
        clock.unsure = 0
    elif second_of(clock.cycle_next) <= now:
        swap_weights(state.memory)
        backfill_cycle(state, clock.cycle_end, True)
        swap_weights(state.memory)
        clock.unsure = 0
        if clock.stamped > 0:
            clock.stamp = clock.cycle_end


@kernel
def is_late(memory: Memory, now: int) -> bool:
    """Whether a cycle that is due is late: what changed while backfill slept keeps the controller busy."""
    clock = memory.clock
    if clock.delayed > 0 or not clock.cycle_end < clock.changed < now:
        return False
    clock.delayed = 1
    clock.cycle_next += draw(memory, memory.settings.late)
    return second_of(clock.cycle_next) > now


@kernel
def backfill(state: State, now: int) -> None:
    """A cycle, if it is time for one and something has changed since the last."""
    memory = state.memory
    clock = memory.clock
    make_sure(state, now)
    due = cycle_due(memory)
    if due < 0 or due > now or waits_for_epilogs(state, now) or is_late(memory, now):
        return
    if clock.pending > 0:
        give_ages(state, now)
        keep_weights(memory)
        backfill_cycle(state, now, memory.settings.plain > 0)
        if clock.stamped > 0:
            clock.stamp = now
    end_cycle(memory, now)


@kernel
def wake_at(state: State, second: int) -> None:
    """Ask the engine for a second of the site's clock."""
    wake(state, (second - state.memory.settings.origin) * SECOND)


@kernel
def give_up(state: State, now: int) -> bool:
    """Turn away jobs that have waited a week for an idle machine: a limit that no time lifts holds them."""
    clock, week = state.memory.clock, state.memory.settings.idle_at_most
    busy = state.clock.runs_now > 0 or state.clock.last_new < state.jobs.shape[1]
    if busy or clock.pending == 0 or next_happening(state.memory) < NEVER:
        clock.idle_since = 0
        return False
    if clock.idle_since == 0:
        clock.idle_since = now
    if now - clock.idle_since < week:
        wake_at(state, clock.idle_since + week)
        return False
    for job in range(state.jobs.shape[1]):
        if state.jobs.phase[job] == Phase.WAITING:
            turn_away(state, job)
            state.memory.clock.pending -= 1
    return True


@kernel
def ask_to_wake(state: State, now: int) -> None:
    """Ask for the next second in which one of the clocks does something."""
    memory = state.memory
    clock = memory.clock
    if clock.completing > 0:
        wake_at(state, memory.epilogs[0, 0])
    more = state.clock.runs_now > 0 or state.clock.last_new < state.jobs.shape[1]
    if (more or clock.pending > 0) and next_happening(memory) < NEVER:
        wake_at(state, next_happening(memory))
    if state.clock.suspends > 0 and clock.unsettled > 0:
        wake_at(state, now + 1)
    if state.clock.suspends > 0 and memory.settings.slice > 0:
        wake_at(state, max(clock.slice_next, now + 1))
    victim = goes_next(memory)
    if victim != UNSET:
        wake_at(state, max(memory.jobs.goes_at[victim], now + 1))
    ends_jobs = memory.settings.minutes_end_jobs > 0 and recalculates(memory)
    if ends_jobs and state.clock.runs_now > 0:
        wake_at(state, clock.priority_next)
    if clock.pending == 0 or give_up(state, now):
        return
    if memory.settings.sched_interval > 0:
        wake_at(state, max(second_of(clock.full_next), now + 1))
        if clock.count > 0:
            wake_at(state, max(clock.last_pass + memory.settings.batch_delay, now + 1))
        if clock.asked > 0:
            wake_at(state, max(clock.passed + memory.settings.min_interval, now + 1))
    if recalculates(memory):
        wake_at(state, clock.priority_next)
    if cycle_due(memory) >= 0 or clock.unsure > 0:
        wake_at(state, max(second_of(clock.cycle_next), now + 1))


def slurm(t: int, state: State) -> None:
    """Slurm's controller in one second."""
    now = t // SECOND + state.memory.settings.origin
    catch_up(state.memory, now)
    take_ends(state, now)
    settle(state, now)
    epilogs = take_epilogs(state, now)
    take_submissions(state, now)
    take_happenings(state, now)
    take_graces(state, now)
    calculate_priorities(state.memory, now + 1)
    if state.memory.settings.minutes_end_jobs > 0:
        end_by_minutes(state, now)
    main_loop(state, now, epilogs)
    take_back(state)
    backfill(state, now)
    take_back(state)
    ask_to_wake(state, now)
