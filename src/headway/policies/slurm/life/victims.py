"""Preemption: whose place a job may take, and which running jobs have to go so that it fits.

Candidates leave one by one, the cheapest first, until the job fits. Then those that hold most of the nodes
found are put first, the last one before them all, and it begins anew: this drops victims that turn out
needless.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.ends import copy_nodes, imagine_ended, is_listed_before
from headway.policies.slurm.nodes.rows import deal_trial
from headway.policies.slurm.nodes.selection import select
from headway.policies.slurm.queue.preemption import cost, is_preemptable, shares_partition, victim_mode
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.life import Victims
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.settings import Mode, Preemption

LAST_REMOVED = 99_999
"""A rank before all others."""
STAYS = 1


@kernel
def holds_of(state: State, job: int, chosen: bool) -> int:
    """How many of the candidate nodes, or of the ``chosen`` ones, a running job holds."""
    memory, run, count = state.memory, state.jobs.run[job], 0
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        node = state.shares.node[entry]
        if chosen:
            count += memory.work.taken[node] > 0
        else:
            count += memory.sets[Scratch.CANDIDATES, node] > 0
    return count


@routine
def sort_victims(memory: Memory, row: int, sign: int) -> None:
    """Put the candidates in the order of a row; equal ones stay as they are."""
    victims = memory.victims
    for place in range(1, memory.clock.victims):
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
    for place in range(memory.clock.running):
        running = memory.running[1, place]
        if (
            victim_mode(memory, running) != Mode.SUSPEND  # the job is on its cores already, or cannot be
            and is_preemptable(memory, job, part, running, now)
            and shares_partition(state, running, part)
        ):
            memory.victims.job[count] = running
            memory.victims.cost[count] = cost(memory, running)
            memory.victims.listed[count] = memory.jobs.listed[running]
            count += 1
    memory.clock.victims = count
    for row in (Victims["job"], Victims["listed"], Victims["cost"]):
        sort_victims(memory, row, 1)
    return count


@routine
def suspends_first(state: State, job: int, part: int, now: int) -> bool:
    """Whether the cheapest of the jobs that a job may preempt by QOS would be suspended: all are, then."""
    memory, first = state.memory, -1
    if memory.settings.preemption != Preemption.BY_QOS:
        return False
    for place in range(memory.clock.running):
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
    for place in range(memory.clock.victims):
        memory.victims.usable[place] = 0
        victim = memory.victims.job[place]
        if holds_of(state, victim, False) == 0:
            continue
        imagine_ended(state, state.jobs.run[victim])
        if memory.settings.slice > 0:
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
        if rounds - 1 > memory.settings.preempt_reorders or memory.clock.victims <= rounds:
            for place in range(memory.clock.victims):
                victims.usable[place] = 0 if place <= last else STAYS
            break
        for place in range(memory.clock.victims):
            removed = place < last
            victims.usable[place] = holds_of(state, victims.job[place], True) if removed else 0
        if memory.settings.strict_order > 0:
            put_first(memory, last)
        else:
            victims.usable[last] = LAST_REMOVED
            sort_victims(memory, Victims["usable"], -1)
    keep_needed(state)
    return True


@routine
def keep_needed(state: State) -> None:
    """Leave in the list those that have to go: holders of chosen nodes, up to the first that may stay."""
    memory, count = state.memory, 0
    victims = memory.victims
    for place in range(memory.clock.victims):
        if holds_of(state, victims.job[place], True) == 0:
            continue
        if victims.usable[place] > 0:
            break
        victims.job[count] = victims.job[place]
        count += 1
    memory.clock.victims = count


@kernel
def victims_to_go(memory: Memory) -> int:
    """How many jobs have to go."""
    return int(memory.clock.victims)
