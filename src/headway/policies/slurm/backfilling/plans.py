"""Plans of a backfill cycle: which nodes a job is to have, from when until when, and what others leave it."""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.backfilling.plan_table import (
    hold,
    is_full,
    rounded_end,
)
from headway.policies.slurm.backfilling.whole import (
    counts_nodes,
)
from headway.policies.slurm.limits.limits import (
    hold_by_limit,
    limit_against,
)
from headway.policies.slurm.nodes.offers import whole_nodes
from headway.policies.slurm.queue.preemption import victim_mode
from headway.policies.slurm.tables.bits import (
    copy_set,
    empty,
    first_node,
    meet,
    pack_row,
    put,
    size_of,
)
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch, Work
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import Mode, Preemption
from headway.units import SECOND

GO_ON, STOP = True, False
"""Whether the cycle goes on after a job."""


@kernel
def note_plan(memory: Memory) -> None:
    """Copy the chosen nodes to the place of the next plan."""
    copy_set(memory.words_sets, Scratch.TAKEN, memory.words_planned, memory.clock.plans)


@kernel
def planned_size(state: State, job: int, part: int) -> int:
    """CPUs that a job would have on the chosen nodes, from now on those of its size factor."""
    memory, cpus = state.memory, 0
    if counts_nodes(memory, job, part):
        cpus = size_of(memory.words_sets, Scratch.TAKEN)
        cpus *= state.nodes.cpus[first_node(memory.words_sets, Scratch.TAKEN)]
    else:
        whole = whole_nodes(memory, job, part)
        for node in range(memory.nodes.shape[1]):
            if memory.work.taken[node] > 0:
                cpus += state.nodes.cpus[node] if whole else memory.work.taken[node]
    memory.jobs.size[job] = cpus
    if memory.jobs.sized[job] == 0:
        memory.jobs.sized[job] = 1
    return cpus


@kernel
def note_start(state: State, job: int, place: int, start: int) -> None:
    """Remember where and when the present cycle lets a job start, for those who ask afterwards."""
    memory = state.memory
    memory.jobs.planned[job] = start
    memory.jobs.planned_at[job] = state.clock.now // SECOND + memory.settings.origin
    memory.jobs.planned_node[job] = first_node(memory.words_planned, place)
    memory.jobs.planned_nodes[job] = size_of(memory.words_planned, place)


@kernel
def write_plan(memory: Memory, job: int, start: int, end: int) -> int:
    """Write down a plan, whose nodes are noted; where it stands."""
    place = memory.clock.plans
    memory.plans.job[place] = job
    memory.plans.start[place] = start
    memory.plans.end[place] = end
    memory.clock.plans = place + 1
    return int(place)


@kernel
def keep_plan(state: State, job: int, part: int, start: int, begin: int, end: int) -> bool:
    """Enter a plan in the table; whether the cycle goes on."""
    memory = state.memory
    place = write_plan(memory, job, start, end)
    memory.counts.planned[part] += 1
    if memory.jobs.tested[job] != memory.clock.cycles or start < memory.jobs.planned[job]:
        note_start(state, job, place, start)
    memory.jobs.tested[job] = memory.clock.cycles
    if meet(memory.words_planned, place, memory.words_sets, Scratch.IDLE):
        memory.clock.stamped = 1
    if is_full(memory):
        return STOP
    hold(memory, begin, end, place, job)
    return GO_ON


@kernel
def reserves_nothing(memory: Memory, job: int) -> bool:
    """Whether a job's QOS is NoReserve: no plan of it counts, and where jobs may be preempted it needs only
    a minute free of others' plans."""
    qos = memory.jobs.qos[job]
    return bool(qos != UNSET and memory.holders.no_reserve[qos] > 0)


@kernel
def plan_breaks_limit(state: State, job: int, part: int, cpus: int) -> bool:
    """Whether a job of the planned size would break a limit, or its QOS plans nothing."""
    memory = state.memory
    nodes = size_of(memory.words_planned, memory.clock.plans)
    if reserves_nothing(memory, job):
        return True
    reason = limit_against(state, job, part, cpus, nodes)
    hold_by_limit(memory, job, reason)
    return reason != Reason.NONE


@kernel
def holds_nodes(memory: Memory, job: int) -> bool:
    """Whether a running job keeps its nodes in the table: whole ones, and nobody may preempt it."""
    if memory.settings.preemption != Preemption.OFF and victim_mode(memory, job) != Mode.OFF:
        return False
    return whole_nodes(memory, job, memory.jobs.partition[job])


@kernel
def is_entered(memory: Memory, job: int) -> bool:
    """Whether a running job keeps anything in the table: its nodes, or licences where these are planned."""
    licences = memory.settings.bf_licences > 0 and memory.jobs.licences[job] > 0
    return licences or holds_nodes(memory, job)


@kernel
def keep_nodes(memory: Memory, job: int) -> None:
    """Let a running job hold the nodes of the set TAKEN in the table until its limit, or licences only."""
    if not holds_nodes(memory, job):
        empty(memory.words_sets, Scratch.TAKEN)
    note_plan(memory)
    hold(memory, 0, rounded_end(memory, memory.jobs.ends[job]), memory.clock.plans, job)


@kernel
def enter_started(state: State, job: int) -> None:
    """A job that has just started keeps whole nodes, and its licences, in the table until its limit."""
    if is_entered(state.memory, job):
        pack_row(state.memory, Work["taken"], Scratch.TAKEN)
        keep_nodes(state.memory, job)


@routine
def enter_running(state: State) -> None:
    """The same for all running jobs (bf_running_job_reserve), as long as the table has room."""
    memory = state.memory
    for place in range(memory.clock.running):
        job = memory.running[1, place]
        if memory.clock.slots >= memory.settings.bf_table:
            return
        if state.jobs.phase[job] == Phase.RUNNING and is_entered(memory, job):
            run = state.jobs.run[job]
            empty(memory.words_sets, Scratch.TAKEN)
            for entry in range(state.runs.share[run], end_of_shares(state, run)):
                put(memory.words_sets, Scratch.TAKEN, state.shares.node[entry])
            keep_nodes(memory, job)
