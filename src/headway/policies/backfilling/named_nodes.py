"""EASY and conservative backfilling on named nodes, whole ones or shares of their CPUs and memory.

Jobs are looked at in order of arrival. One that fits now beside the reservations made so far starts. Else it
gets a reservation of its own: the first time at which it fits, on the nodes that it would have then. EASY
makes one reservation, conservative backfilling one for each job; all are made again at each event::

    free at t    what is free now + what running jobs give back by t - what reservations hold at t
    fits at s    on the least that is free from s to s + walltime, on nodes as Slurm chooses them
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares, free_shares
from headway.engine.tables import (
    NODE_ROWS,
    Nodes,
    State,
    Why,
)
from headway.engine.verbs import start_on_nodes, turn_away
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.submission import newcomer, submitted
from headway.policies.slurm.nodes.ends import forget_running, note_running
from headway.policies.slurm.nodes.offers import ANYWHERE, memory_taken, reset_weights, whole_nodes
from headway.policies.slurm.nodes.selection import deal_units, propose_taken, select, wanted_of
from headway.policies.slurm.queue.queue import GONE, close_gaps
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch

NEVER = -1


@kernel
def copy_rows(source: Nodes, target: Nodes) -> None:
    """Copy what changes of nodes; what they have in all both tables have already."""
    for row in range(Nodes["free_cpus"], source.shape[0]):
        for node in range(source.shape[1]):
            target[row, node] = source[row, node]


@kernel
def lower(least: Nodes, other: Nodes) -> None:
    """Leave in ``least`` what both tables have free; a node is as busy as in the busier one."""
    for row in range(Nodes["free_cpus"], least.shape[0]):
        for node in range(least.shape[1]):
            if row in (Nodes["runs"], Nodes["alone"]):
                least[row, node] = max(least[row, node], other[row, node])
            else:
                least[row, node] = min(least[row, node], other[row, node])


@kernel
def give_back_until(state: State, table: Nodes, place: int, t: int) -> int:
    """Let the running jobs from a place on be over that end by ``t``; the place behind them."""
    memory = state.memory
    while place < memory.clock.running and memory.running[0, place] <= t:
        free_shares(state, table, state.jobs.run[memory.running[1, place]])
        place += 1
    return place


@kernel
def holds_at(memory: Memory, claim: int, t: int) -> bool:
    """Whether a reservation holds its nodes at ``t``."""
    return bool(memory.plans.start[claim] <= t < memory.plans.end[claim])


@kernel
def take_claims(memory: Memory, table: Nodes, t: int) -> None:
    """Take from a table what reservations hold at ``t``."""
    rows = table.shape[0]
    for claim in range(memory.clock.plans):
        if holds_at(memory, claim, t):
            for row in range(Nodes["free_cpus"], rows):
                for node in range(table.shape[1]):
                    table[row, node] += memory.claims[claim * rows + row, node]


@routine
def fit_from(state: State, place: int, job: int, begin: int) -> int:
    """Choose nodes for a job that starts at ``begin``; how many, 0 where it does not fit.

    The trial table has what running jobs leave by then, those before ``place``.
    """
    memory, part = state.memory, state.memory.jobs.partition[job]
    end, claimed = begin + state.jobs.plan[job], False
    if memory.gres_asked.shape[0] > 0:
        reset_weights(memory, ANYWHERE, job, part)
    for claim in range(memory.clock.plans):
        claimed |= memory.plans.start[claim] < end and memory.plans.end[claim] > begin
    if not claimed:
        return select(state, memory.trial, Scratch.CANDIDATES, job, part)
    copy_rows(memory.trial, memory.least)
    take_claims(memory, memory.least, begin)
    for claim in range(memory.clock.plans):
        later = memory.plans.start[claim]
        if begin < later < end:
            copy_rows(memory.trial, memory.instant)
            give_back_until(state, memory.instant, place, later)
            take_claims(memory, memory.instant, later)
            lower(memory.least, memory.instant)
    return select(state, memory.least, Scratch.CANDIDATES, job, part)


@kernel
def allow(memory: Memory, job: int) -> None:
    """The nodes that a job may have at all: usable, of its partition, with its features."""
    part, features = memory.jobs.partition[job], memory.jobs.features[job]
    for node in range(memory.nodes.shape[1]):
        here = memory.members[part, node] & memory.features[features, node]
        memory.sets[Scratch.CANDIDATES, node] = here & (memory.nodes.usable[node] > 0)


@kernel
def next_end(memory: Memory, place: int, after: int) -> int:
    """When a running job from ``place`` on ends next, or a reservation after ``after``; -1: never."""
    found = NEVER
    if place < memory.clock.running:
        found = memory.running[0, place]
    for claim in range(memory.clock.plans):
        end = memory.plans.end[claim]
        if end > after and (found == NEVER or end < found):
            found = end
    return int(found)


@kernel
def fewest(memory: Memory, job: int) -> int:
    """CPUs that a job takes at least."""
    return int(max(memory.jobs.cpus[job], memory.jobs.min_nodes[job]))


@routine
def reserve(state: State, job: int, t: int) -> bool:
    """Give a job that does not fit now a reservation; whether there is a time at which it fits."""
    memory = state.memory
    copy_rows(state.nodes, memory.trial)
    begin, place, free = t, 0, state.pools.free[0]
    while True:
        begin = next_end(memory, place, begin)
        if begin == NEVER:
            return False
        before = place
        place = give_back_until(state, memory.trial, place, begin)
        for over in range(before, place):
            run = state.jobs.run[memory.running[1, over]]
            for entry in range(state.runs.share[run], end_of_shares(state, run)):
                free += state.shares.cpus[entry]
        if free >= fewest(memory, job) and fit_from(state, place, job, begin) > 0:
            claim_taken(state, job, begin)
            return True


@kernel
def claim_taken(state: State, job: int, begin: int) -> None:
    """Note a reservation of the chosen nodes."""
    memory, part = state.memory, state.memory.jobs.partition[job]
    claim, rows = memory.clock.plans, memory.trial.shape[0]
    whole = whole_nodes(memory, job, part)
    if memory.jobs.units[job] > 0:
        deal_units(memory, memory.trial, job)
    for row in range(rows):
        for node in range(memory.trial.shape[1]):
            memory.claims[claim * rows + row, node] = 0
    for node in range(memory.trial.shape[1]):
        cpus = memory.work.taken[node]
        if cpus <= 0:
            continue
        taken = state.nodes.cpus[node] if whole else cpus
        memory.claims[claim * rows + Nodes["free_cpus"], node] = -taken
        memory.claims[claim * rows + Nodes["free_memory"], node] = -memory_taken(
            state, job, part, node, taken
        )
        memory.claims[claim * rows + Nodes["runs"], node] = 1
        memory.claims[claim * rows + Nodes["alone"], node] = int(whole)
        for resource in range(memory.gres_asked.shape[0]):
            asked = wanted_of(memory, resource, job, node)
            memory.claims[claim * rows + NODE_ROWS + resource, node] = -asked
        bounded = memory.partitions.cpus_row[part]
        if bounded != UNSET:
            memory.claims[claim * rows + NODE_ROWS + bounded, node] = -taken
    memory.plans.job[claim] = job
    memory.plans.start[claim] = begin
    memory.plans.end[claim] = begin + state.jobs.plan[job]
    memory.clock.plans = claim + 1


@routine
def start_taken(state: State, job: int, t: int, why: int) -> None:
    """Start a job on the chosen nodes."""
    memory = state.memory
    count = propose_taken(state, job, memory.jobs.partition[job])
    start_on_nodes(state, job, count, why, 0, state.jobs.wall[job])
    note_running(memory, job, t + state.jobs.plan[job])


@kernel
def take_changes(state: State) -> None:
    """Ended jobs leave the list of running ones, new ones join the queue."""
    memory = state.memory
    for i in range(state.clock.ended):
        forget_running(memory, state.runs.job[state.lists.ended_runs[i]])
    for place in range(submitted(state)):
        memory.queue.job[memory.clock.queued] = newcomer(state, place)
        memory.clock.queued += 1


def backfill_on_nodes(t: int, state: State) -> None:
    """EASY, or conservative backfilling, on named nodes."""
    memory = state.memory
    take_changes(state)
    memory.clock.plans = 0
    for place in range(memory.clock.queued):
        job, reserved = memory.queue.job[place], memory.clock.plans
        fits_now = state.pools.free[0] >= fewest(memory, job)
        if not fits_now and reserved >= memory.settings.bf_max_test:
            continue
        allow(memory, job)
        if fits_now:
            copy_rows(state.nodes, memory.trial)
            if fit_from(state, 0, job, t) > 0:
                in_order = Why.IMMEDIATE if state.jobs.submit[job] == t else Why.HEAD
                start_taken(state, job, t, Why.BACKFILL if reserved > 0 else in_order)
                memory.queue.job[place] = GONE
                continue
        if reserved < memory.settings.bf_max_test and not reserve(state, job, t):
            turn_away(state, job)  # not even an idle machine has room for it
            memory.queue.job[place] = GONE
    close_gaps(memory)
