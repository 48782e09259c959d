"""Slurm's controller: what it does when, by its own clocks.

Two loops start jobs. The main loop runs when nodes come free, a few seconds after a submission, and once a
minute in full; backfill runs every half minute if something has changed. Within one second::

    ends (suspended jobs go on) -> epilogs (nodes come free) -> submissions -> nodes, holds, reservations
         -> priorities -> a pass of the main loop -> backfill
"""

from __future__ import annotations

from headway.engine.heap import pop
from headway.engine.tables import Clock, Ended, Job, List, Phase, Run, State
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
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Outcome
from headway.policies.slurm.tables.passes import SlurmClock
from headway.policies.slurm.tables.settings import Setting
from headway.policies.slurm.tables.sites import SlurmNode
from headway.units import NEVER, SECOND


@kernel
def waits_for_epilogs(state: State, now: int) -> bool:
    """Whether both loops wait for jobs that are completing and ended a short while ago (CompleteWait)."""
    memory = state.memory
    if memory.settings[Setting.COMPLETE_WAIT] == 0:
        return False
    since = now - memory.settings[Setting.COMPLETE_WAIT] - memory.settings[Setting.ORIGIN]
    for place in range(memory.clock[SlurmClock.COMPLETING]):
        run = memory.epilogs[1, place]
        if run >= 0 and state.runs[Run.END, run] >= since * SECOND:
            return True
    return False


@kernel
def take_ends(state: State, now: int) -> None:
    """Jobs that ended: their nodes are completing until the epilog is over."""
    for i in range(state.clock[Clock.ENDED]):
        run = state.lists[List.ENDED_RUNS, i]
        finish(state, state.runs[Run.JOB, run], run, now)
        count_submitted(state.memory, state.runs[Run.JOB, run], -1)


@kernel
def take_epilogs(state: State, now: int) -> bool:
    """Nodes whose epilog is over come free; whether that asks for a pass at once."""
    memory = state.memory
    clock, any_free = memory.clock, False
    while clock[SlurmClock.COMPLETING] > 0 and memory.epilogs[0, 0] <= now:
        run = memory.epilogs[1, 0]
        if run < 0:
            memory.nodes[SlurmNode.COMPLETING, -1 - run] -= 1
            clock[SlurmClock.BOOTING] -= 1
            begin_booted(memory, memory.epilogs[0, 0])
        else:
            completing(state, run, -1)
        job = state.runs[Run.JOB, max(run, 0)]
        if run >= 0 and state.jobs[Job.PHASE, job] == Phase.DONE and state.jobs[Job.RUN, job] == run:
            well = state.runs[Run.ENDED, run] == Ended.BY_ITSELF and memory.jobs[SlurmJob.SUCCEEDS, job] > 0
            memory.jobs[SlurmJob.OUTCOME, job] = Outcome.WELL if well else Outcome.BADLY
            memory.jobs[SlurmJob.ENDS, job] = now
        pop(memory.epilogs, 0, clock[SlurmClock.COMPLETING])
        clock[SlurmClock.COMPLETING] -= 1
        any_free = True
    if any_free:
        clock[SlurmClock.STAMP] = clock[SlurmClock.CHANGED] = now
        if memory.settings[Setting.DEFER] > 0:
            clock[SlurmClock.COUNT] += 1
            return False
    return any_free


@kernel
def take_submissions(state: State, now: int) -> None:
    """Jobs that arrive get their priority and join the queue."""
    memory = state.memory
    clock, first = memory.clock, memory.clock[SlurmClock.QUEUED]
    ran = 0
    for place in range(submitted(state)):
        job = newcomer(state, place)
        if refuse_submission(state, job):
            continue
        since = memory.jobs[SlurmJob.SINCE, job]
        list_job(memory, job)
        memory.jobs[SlurmJob.ENTERED, job] = now if since == UNSET else since
        begin_age(memory, job, max(memory.jobs[SlurmJob.ENTERED, job], memory.jobs[SlurmJob.BEGIN, job]))
        ran += memory.jobs[SlurmJob.RAN, job]
        if memory.jobs[SlurmJob.KEPT_BACK, job] > 0:
            memory.jobs[SlurmJob.ACCRUED, job] = UNSET
        prioritise(memory, job, now)
        enqueue(state, job)
        weigh_at_submission(state, job)
        clock[SlurmClock.PENDING] += 1
        clock[SlurmClock.COUNT] += 1 - memory.jobs[SlurmJob.RAN, job]
        clock[SlurmClock.STAMP] = clock[SlurmClock.CHANGED] = now
    if ran > 0:
        start_who_ran(state, first, now)
    if clock[SlurmClock.QUEUED] > first:
        renew_records(memory, first, now, False)


@kernel
def recalculates(memory: Memory) -> bool:
    """Whether priorities change while jobs wait: without accounting they stay as they were at submission."""
    settings = memory.settings
    return bool(settings[Setting.MULTIFACTOR] > 0 and settings[Setting.HAS_ACCOUNTING] > 0)


@kernel
def calculate_priorities(memory: Memory, before: int) -> None:
    """Priorities move in steps of the period, by a timer that does not drift."""
    clock = memory.clock
    if not recalculates(memory):
        return
    while clock[SlurmClock.PRIORITY_NEXT] < before:
        calculate(memory, clock[SlurmClock.PRIORITY_NEXT])
        if clock[SlurmClock.PENDING] > 0:
            clock[SlurmClock.STAMP] = clock[SlurmClock.CHANGED] = clock[SlurmClock.PRIORITY_NEXT]
        clock[SlurmClock.PRIORITY_NEXT] += memory.settings[Setting.CALC_PERIOD]


@kernel
def cycle_due(memory: Memory) -> int:
    """When backfill runs next if nothing else changes; -1 if it waits for a change."""
    clock = memory.clock
    if memory.settings[Setting.BF_INTERVAL] < 0 or clock[SlurmClock.STAMP] < clock[SlurmClock.CYCLE_END]:
        return -1
    return second_of(clock[SlurmClock.CYCLE_NEXT])


@kernel
def end_cycle(memory: Memory, now: int) -> None:
    """Let backfill sleep after a cycle at ``now``."""
    clock, settings = memory.clock, memory.settings
    begun = clock[SlurmClock.CYCLE_NEXT] if second_of(clock[SlurmClock.CYCLE_NEXT]) == now else 1000 * now
    over = begun + draw(memory, settings[Setting.CYCLE_TAKES])
    clock[SlurmClock.CYCLE_END] = now
    clock[SlurmClock.DELAYED] = 0
    clock[SlurmClock.CYCLE_NEXT] = over + 1000 * settings[Setting.BF_INTERVAL]


@kernel
def end_full_pass(memory: Memory) -> None:
    """Let the background loop count to the next full pass."""
    settings = memory.settings
    interval = 1000 * settings[Setting.SCHED_INTERVAL] + settings[Setting.FULL_LATE]
    memory.clock[SlurmClock.FULL_NEXT] += interval


@kernel
def catch_up(memory: Memory, now: int) -> None:
    """Let the clocks go on over a time in which nothing waited: nobody saw what they did."""
    clock = memory.clock
    calculate_priorities(memory, now)
    while second_of(clock[SlurmClock.FULL_NEXT]) < now and memory.settings[Setting.SCHED_INTERVAL] > 0:
        clock[SlurmClock.PASS] = second_of(clock[SlurmClock.FULL_NEXT])
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
    if memory.settings[Setting.SCHED_INTERVAL] < 0:
        return
    full = second_of(clock[SlurmClock.FULL_NEXT]) <= now
    queued = (
        clock[SlurmClock.COUNT] > 0 and now - clock[SlurmClock.PASS] >= memory.settings[Setting.BATCH_DELAY]
    )
    if full or queued:
        clock[SlurmClock.COUNT] = 0
        clock[SlurmClock.PASS] = now
    if full:
        end_full_pass(memory)
    clock[SlurmClock.ASKED] = max(clock[SlurmClock.ASKED], 2 if full else 1 if queued or epilogs else 0)
    asked = clock[SlurmClock.ASKED]
    if asked == 0 or now - clock[SlurmClock.PASSED] < memory.settings[Setting.MIN_INTERVAL]:
        return
    clock[SlurmClock.ASKED], clock[SlurmClock.PASSED] = 0, now
    if waits_for_epilogs(state, now) or clock[SlurmClock.PENDING] == 0:
        return
    give_ages(state, now)
    if main_pass(state, now, asked == 2):
        clock[SlurmClock.STAMP] = now  # a blocked job has a new reason


@kernel
def keep_weights(memory: Memory) -> None:
    """Keep the weights of nodes as they are when a cycle begins."""
    for node in range(memory.nodes.shape[1]):
        memory.nodes[SlurmNode.WEIGHT_BEFORE, node] = memory.nodes[SlurmNode.SET_WEIGHT, node]


@kernel
def swap_weights(memory: Memory) -> None:
    """Let nodes weigh what they did when the last cycle began, or again what they do now."""
    for node in range(memory.nodes.shape[1]):
        before = memory.nodes[SlurmNode.WEIGHT_BEFORE, node]
        memory.nodes[SlurmNode.WEIGHT_BEFORE, node] = memory.nodes[SlurmNode.SET_WEIGHT, node]
        memory.nodes[SlurmNode.SET_WEIGHT, node] = before


@kernel
def make_sure(state: State, now: int) -> None:
    """Find out whether the last cycle changed a time stamp, if the next one depends on nothing else.

    Nothing has changed since but weights of nodes, so the whole cycle can be made up for.
    """
    clock = state.memory.clock
    if clock[SlurmClock.UNSURE] == 0:
        return
    if clock[SlurmClock.STAMP] >= clock[SlurmClock.CYCLE_END]:
        clock[SlurmClock.UNSURE] = 0
    elif second_of(clock[SlurmClock.CYCLE_NEXT]) <= now:
        swap_weights(state.memory)
        backfill_cycle(state, clock[SlurmClock.CYCLE_END], True)
        swap_weights(state.memory)
        clock[SlurmClock.UNSURE] = 0
        if clock[SlurmClock.STAMPED] > 0:
            clock[SlurmClock.STAMP] = clock[SlurmClock.CYCLE_END]


@kernel
def is_late(memory: Memory, now: int) -> bool:
    """Whether a cycle that is due is late: what changed while backfill slept keeps the controller busy."""
    clock = memory.clock
    if clock[SlurmClock.DELAYED] > 0 or not clock[SlurmClock.CYCLE_END] < clock[SlurmClock.CHANGED] < now:
        return False
    clock[SlurmClock.DELAYED] = 1
    clock[SlurmClock.CYCLE_NEXT] += draw(memory, memory.settings[Setting.LATE])
    return second_of(clock[SlurmClock.CYCLE_NEXT]) > now


@kernel
def backfill(state: State, now: int) -> None:
    """A cycle, if it is time for one and something has changed since the last."""
    memory = state.memory
    clock = memory.clock
    make_sure(state, now)
    due = cycle_due(memory)
    if due < 0 or due > now or waits_for_epilogs(state, now) or is_late(memory, now):
        return
    if clock[SlurmClock.PENDING] > 0:
        give_ages(state, now)
        keep_weights(memory)
        backfill_cycle(state, now, memory.settings[Setting.PLAIN] > 0)
        if clock[SlurmClock.STAMPED] > 0:
            clock[SlurmClock.STAMP] = now
    end_cycle(memory, now)


@kernel
def wake_at(state: State, second: int) -> None:
    """Ask the engine for a second of the site's clock."""
    wake(state, (second - state.memory.settings[Setting.ORIGIN]) * SECOND)


@kernel
def give_up(state: State, now: int) -> bool:
    """Turn away jobs that have waited a week for an idle machine: a limit that no time lifts holds them."""
    clock, week = state.memory.clock, state.memory.settings[Setting.IDLE_AT_MOST]
    busy = state.clock[Clock.RUNS_NOW] > 0 or state.clock[Clock.LAST_NEW] < state.jobs.shape[1]
    if busy or clock[SlurmClock.PENDING] == 0 or next_happening(state.memory) < NEVER:
        clock[SlurmClock.IDLE_SINCE] = 0
        return False
    if clock[SlurmClock.IDLE_SINCE] == 0:
        clock[SlurmClock.IDLE_SINCE] = now
    if now - clock[SlurmClock.IDLE_SINCE] < week:
        wake_at(state, clock[SlurmClock.IDLE_SINCE] + week)
        return False
    for job in range(state.jobs.shape[1]):
        if state.jobs[Job.PHASE, job] == Phase.WAITING:
            turn_away(state, job)
            state.memory.clock[SlurmClock.PENDING] -= 1
    return True


@kernel
def ask_to_wake(state: State, now: int) -> None:
    """Ask for the next second in which one of the clocks does something."""
    memory = state.memory
    clock = memory.clock
    if clock[SlurmClock.COMPLETING] > 0:
        wake_at(state, memory.epilogs[0, 0])
    more = state.clock[Clock.RUNS_NOW] > 0 or state.clock[Clock.LAST_NEW] < state.jobs.shape[1]
    if (more or clock[SlurmClock.PENDING] > 0) and next_happening(memory) < NEVER:
        wake_at(state, next_happening(memory))
    if state.clock[Clock.SUSPENDS] > 0 and clock[SlurmClock.UNSETTLED] > 0:
        wake_at(state, now + 1)
    if state.clock[Clock.SUSPENDS] > 0 and memory.settings[Setting.SLICE] > 0:
        wake_at(state, max(clock[SlurmClock.SLICE_NEXT], now + 1))
    victim = goes_next(memory)
    if victim != UNSET:
        wake_at(state, max(memory.jobs[SlurmJob.GOES_AT, victim], now + 1))
    ends_jobs = memory.settings[Setting.MINUTES_END_JOBS] > 0 and recalculates(memory)
    if ends_jobs and state.clock[Clock.RUNS_NOW] > 0:
        wake_at(state, clock[SlurmClock.PRIORITY_NEXT])
    if clock[SlurmClock.PENDING] == 0 or give_up(state, now):
        return
    if memory.settings[Setting.SCHED_INTERVAL] > 0:
        wake_at(state, max(second_of(clock[SlurmClock.FULL_NEXT]), now + 1))
        if clock[SlurmClock.COUNT] > 0:
            wake_at(state, max(clock[SlurmClock.PASS] + memory.settings[Setting.BATCH_DELAY], now + 1))
        if clock[SlurmClock.ASKED] > 0:
            wake_at(state, max(clock[SlurmClock.PASSED] + memory.settings[Setting.MIN_INTERVAL], now + 1))
    if recalculates(memory):
        wake_at(state, clock[SlurmClock.PRIORITY_NEXT])
    if cycle_due(memory) >= 0 or clock[SlurmClock.UNSURE] > 0:
        wake_at(state, max(second_of(clock[SlurmClock.CYCLE_NEXT]), now + 1))


def slurm(t: int, state: State) -> None:
    """Slurm's controller in one second."""
    now = t // SECOND + state.memory.settings[Setting.ORIGIN]
    catch_up(state.memory, now)
    take_ends(state, now)
    settle(state, now)
    epilogs = take_epilogs(state, now)
    take_submissions(state, now)
    take_happenings(state, now)
    take_graces(state, now)
    calculate_priorities(state.memory, now + 1)
    if state.memory.settings[Setting.MINUTES_END_JOBS] > 0:
        end_by_minutes(state, now)
    main_loop(state, now, epilogs)
    take_back(state)
    backfill(state, now)
    take_back(state)
    ask_to_wake(state, now)
