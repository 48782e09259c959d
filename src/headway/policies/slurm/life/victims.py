"""Preemption: whose place a job may take, and which running jobs have to go so that it fits.

Candidates leave one by one, the cheapest first, until the job fits. Then those that hold most of the nodes
found are put first, the last one before them all, and it begins anew: this drops victims that turn out
needless.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Job, Run, Share, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.ends import copy_nodes, imagine_ended, is_listed_before
from headway.policies.slurm.nodes.rows import deal_trial
from headway.policies.slurm.nodes.selection import select
from headway.policies.slurm.queue.preemption import cost, is_preemptable, shares_partition, victim_mode
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Victim
from headway.policies.slurm.tables.passes import Scratch, SlurmClock, Work
from headway.policies.slurm.tables.settings import Mode, Preemption, Setting

LAST_REMOVED = 99_999
"""A rank before all others."""
STAYS = 1


@kernel
def holds_of(state: State, job: int, chosen: bool) -> int:
    """How many of the candidate nodes, or of the ``chosen`` ones, a running job holds."""
    memory, run, count = state.memory, state.jobs[Job.RUN, job], 0
    for entry in range(state.runs[Run.SHARE, run], end_of_shares(state, run)):
        node = state.shares[Share.NODE, entry]
        if chosen:
            count += memory.work[Work.TAKEN, node] > 0
        else:
            count += memory.sets[Scratch.CANDIDATES, node] > 0
    return count


@routine
def sort_victims(memory: Memory, row: int, sign: int) -> None:
    """Put the candidates in the order of a row; equal ones stay as they are."""
    victims = memory.victims
    for place in range(1, memory.clock[SlurmClock.VICTIMS]):
        at = place
        while at > 0 and sign * victims[row, at] < sign * victims[row, at - 1]:
            for each in range(memory.victims.shape[0]):
                victims[each, at], victims[each, at - 1] = victims[each, at - 1], victims[each, at]
            at -= 1


@kernel
def put_first(memory: Memory, place: int) -> None:
    """Move the candidate at a place before all others."""
    for at in range(place, 0, -1):
        for each in range(memory.victims.shape[0]):
            here = memory.victims[each, at]
            memory.victims[each, at] = memory.victims[each, at - 1]
            memory.victims[each, at - 1] = here


@routine
def list_victims(state: State, job: int, part: int, now: int) -> int:
    """Write down the running jobs that a job may preempt, the cheapest first, then as Slurm lists them; how
    many."""
    memory, count = state.memory, 0
    for place in range(memory.clock[SlurmClock.RUNNING]):
        running = memory.running[1, place]
        if (
            victim_mode(memory, running) != Mode.SUSPEND  # the job is on its cores already, or cannot be
            and is_preemptable(memory, job, part, running, now)
            and shares_partition(state, running, part)
        ):
            memory.victims[Victim.JOB, count] = running
            memory.victims[Victim.COST, count] = cost(memory, running)
            memory.victims[Victim.LISTED, count] = memory.jobs[SlurmJob.LISTED, running]
            count += 1
    memory.clock[SlurmClock.VICTIMS] = count
    for row in (Victim.JOB, Victim.LISTED, Victim.COST):
        sort_victims(memory, row, 1)
    return count


@routine
def suspends_first(state: State, job: int, part: int, now: int) -> bool:
    """Whether the cheapest of the jobs that a job may preempt by QOS would be suspended: all are, then."""
    memory, first = state.memory, -1
    if memory.settings[Setting.PREEMPTION] != Preemption.BY_QOS:
        return False
    for place in range(memory.clock[SlurmClock.RUNNING]):
        running = memory.running[1, place]
        if is_preemptable(memory, job, part, running, now) and shares_partition(state, running, part):
            less = first < 0 or cost(memory, running) < cost(memory, first)
            alike = not less and cost(memory, running) == cost(memory, first)
            if less or (alike and is_listed_before(memory, running, first)):
                first = running
    return bool(first >= 0 and victim_mode(memory, first) == Mode.SUSPEND)


@routine
def fits_without(state: State, job: int, part: int) -> int:
    """Let candidates leave in their order until the job fits on the set CANDIDATES; the last one, or -1."""
    memory = state.memory
    copy_nodes(state)
    for place in range(memory.clock[SlurmClock.VICTIMS]):
        memory.victims[Victim.USABLE, place] = 0
        victim = memory.victims[Victim.JOB, place]
        if holds_of(state, victim, False) == 0:
            continue
        imagine_ended(state, state.jobs[Job.RUN, victim])
        if memory.settings[Setting.SLICE] > 0:
            deal_trial(state)
        if select(state, memory.trial, Scratch.CANDIDATES, job, part) > 0:
            return place
    return -1


@routine
def find_victims(state: State, job: int, part: int, now: int) -> bool:
    """Whether a job fits if others go; the nodes are then in TAKEN, those others first in the list."""
    memory, rounds = state.memory, 0
    if list_victims(state, job, part, now) == 0:
        return False
    victims = memory.victims
    while True:
        last = fits_without(state, job, part)
        if last < 0:
            return False
        rounds += 1
        if (
            rounds - 1 > memory.settings[Setting.PREEMPT_REORDERS]
            or memory.clock[SlurmClock.VICTIMS] <= rounds
        ):
            for place in range(memory.clock[SlurmClock.VICTIMS]):
                victims[Victim.USABLE, place] = 0 if place <= last else STAYS
            break
        for place in range(memory.clock[SlurmClock.VICTIMS]):
            removed = place < last
            victims[Victim.USABLE, place] = (
                holds_of(state, victims[Victim.JOB, place], True) if removed else 0
            )
        if memory.settings[Setting.STRICT_ORDER] > 0:
            put_first(memory, last)
        else:
            victims[Victim.USABLE, last] = LAST_REMOVED
            sort_victims(memory, Victim.USABLE, -1)
    keep_needed(state)
    return True


@routine
def keep_needed(state: State) -> None:
    """Leave in the list those that have to go: holders of chosen nodes, up to the first that may stay."""
    memory, count = state.memory, 0
    victims = memory.victims
    for place in range(memory.clock[SlurmClock.VICTIMS]):
        if holds_of(state, victims[Victim.JOB, place], True) == 0:
            continue
        if victims[Victim.USABLE, place] > 0:
            break
        victims[Victim.JOB, count] = victims[Victim.JOB, place]
        count += 1
    memory.clock[SlurmClock.VICTIMS] = count


@kernel
def victims_to_go(memory: Memory) -> int:
    """How many jobs have to go."""
    return int(memory.clock[SlurmClock.VICTIMS])
