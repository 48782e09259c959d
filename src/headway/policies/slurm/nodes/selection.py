"""Which nodes a job gets: what each can offer it, then the choice among them, as its request wants them."""

from __future__ import annotations

from headway.engine.shares import propose, propose_further
from headway.engine.tables import NODE_ROWS, Nodes, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.cores import cores_in_row, imagine_suspended, propose_cores, suspends
from headway.policies.slurm.nodes.linear import select_linear
from headway.policies.slurm.nodes.offers import (
    asks_gres,
    cpus_beyond_tasks,
    fewest_nodes,
    lay_offers,
    lighten,
    memory_taken,
    most_nodes,
    nodes_with,
    takes_any_node,
    takes_first,
    units_free,
    wanted_nodes,
    whole_nodes,
)
from headway.policies.slurm.nodes.placing import fit, placing
from headway.policies.slurm.nodes.switches import waits_for_switches
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.passes import Scratch, Work
from headway.policies.slurm.tables.settings import Preemption
from headway.policies.slurm.tables.sites import Partitions

OUTSIDE_LAST = 1 << 50


@kernel
def deal_tasks(memory: Memory, job: int, count: int) -> None:
    """Leave a job on its ``count`` nodes of TAKEN only the CPUs of the tasks that each of them gets.

    Each node has one task; then they get more in turn, a core at a time, while a node has room for them and
    may have more. Where CPUs are for units of generic resources, too, it has room for all that it offered.
    """
    work, taken = memory.work, 0
    for node in range(memory.nodes.shape[1]):
        if memory.jobs.cpus_unit[job] > 0 and work.taken[node] > 0:
            work.taken[node] = work.offer[node]
        taken += work.taken[node]
    per_task, per_node = memory.jobs.cpus_per_task[job], memory.jobs.tasks_per_node[job]
    cpus = max(memory.jobs.cpus[job], count * memory.jobs.node_cpus[job])
    if count == 1 or (per_task == 1 and per_node == 0 and taken == cpus):
        return
    tasks = count * per_node if per_node > 0 and per_task > 1 else cpus // per_task
    most, given = per_task * (per_node if per_node > 0 else tasks), 1
    for node in range(memory.nodes.shape[1]):
        work.chosen[node] = min(per_task, work.taken[node])
        tasks -= work.taken[node] > 0
    while tasks > 0 and given > 0:
        given = 0
        for node in range(memory.nodes.shape[1]):
            threads = memory.nodes.threads[node]
            for _ in range(max((threads - work.chosen[node] % threads) // per_task, 1)):
                room = work.taken[node] - work.chosen[node] >= per_task
                if room and tasks > 0 and work.chosen[node] < most:
                    work.chosen[node] += per_task
                    given, tasks = given + 1, tasks - 1
    for node in range(memory.nodes.shape[1]):
        dealt = work.chosen[node]
        if tasks > 0 and dealt > 0:  # the last tasks make do with what is left
            dealt, tasks = min(dealt + per_task, work.taken[node]), tasks - 1
        threads = memory.nodes.threads[node]
        work.taken[node] = -(-dealt // threads) * threads


@kernel
def select(state: State, table: Nodes, candidates: int, job: int, part: int) -> int:
    """Choose nodes for a job among the set number ``candidates``; how many, 0 where it does not fit."""
    rows = state.memory.partitions.rows[part]
    return int(select_in(state, table, candidates, job, part, rows))


@routine
def select_in(state: State, table: Nodes, candidates: int, job: int, part: int, rows: int) -> int:
    """The same, where it may be in one of so many ``rows`` of those that take turns on cores.

    Where jobs are suspended for others, on cores that nobody holds; else on those of lower tiers, and of
    these as few tiers as will do; else on those of jobs that it takes turns with.
    """
    memory = state.memory
    if not suspends(memory):
        return select_part(state, table, candidates, job, part)
    memory.jobs.row[job] = 0
    found = select_over(state, table, candidates, job, part, 0)
    if found > 0:
        return found
    bound = memory.partitions.tier[part]
    if select_over(state, table, candidates, job, part, bound) == 0:
        if memory.settings.slice == 0:
            return 0
        return select_row(state, table, candidates, job, part, rows)
    for level in range(memory.levels.shape[1] - 1, -1, -1):
        tier = memory.levels.tier[level]
        if tier >= bound or memory.levels.firm[level] > 0:
            continue
        if select_over(state, table, candidates, job, part, tier) == 0:
            break
        bound = tier
    return select_over(state, table, candidates, job, part, bound)


@routine
def select_over(state: State, table: Nodes, candidates: int, job: int, part: int, bound: int) -> int:
    """Choose nodes for a job as if lower tiers under ``bound`` gave way."""
    imagine_suspended(state, table, part, bound, -1)
    return select_part(state, state.memory.imagined, candidates, job, part)


@routine
def select_row(state: State, table: Nodes, candidates: int, job: int, part: int, rows: int) -> int:
    """Choose nodes for a job where it takes turns with others, in the first of ``rows`` that it fits in.

    The fullest row comes first; where jobs are preempted by QOS the rows stay in their order. Also a single
    row is tried there: what is idle in it may be in use in the row of those who preempt.
    """
    memory, tried = state.memory, 0
    in_order = memory.settings.preemption == Preemption.BY_QOS
    takes_turns = memory.partitions.rows_preempting[part] > 1
    for _ in range(rows if takes_turns else 0):
        row, most = -1, -1
        for other in range(rows):
            used = 0 if in_order else cores_in_row(state, part, other)
            if tried >> other & 1 == 0 and used > most:
                row, most = other, used
        tried |= 1 << row
        imagine_suspended(state, table, part, 0, row)
        found = select_part(state, memory.imagined, candidates, job, part)
        if found > 0:
            memory.jobs.row[job] = row
            return found
    return 0


@routine
def select_part(state: State, table: Nodes, candidates: int, job: int, part: int) -> int:
    """Choose nodes for a job on what a table has free, as the parts of its constraint want them."""
    memory, required = state.memory, state.memory.jobs.required[job]
    row = memory.jobs.features[job]
    first, parts = memory.choices.first[row], memory.choices.parts[row]
    if parts == 0:
        return select_on(state, table, candidates, job, part, required)
    if memory.choices.nodes[first] > 0:
        if not require_counted(state, table, candidates, job, part):
            return 0
        return select_on(state, table, candidates, job, part, memory.required.shape[0] - 1)
    for choice in range(first, first + parts):
        for node in range(memory.nodes.shape[1]):
            memory.sets[Scratch.CHOICE, node] = memory.sets[candidates, node] & memory.features[choice, node]
        found = select_on(state, table, Scratch.CHOICE, job, part, required)
        if found > 0:
            return found
    return 0


@routine
def require_counted(state: State, table: Nodes, candidates: int, job: int, part: int) -> bool:
    """Choose as many nodes of each part as it wants into the last set of required nodes; whether it goes."""
    memory, row = state.memory, state.memory.jobs.features[job]
    first, last = memory.choices.first[row], memory.required.shape[0] - 1
    for node in range(memory.nodes.shape[1]):
        memory.required[last, node] = memory.required[memory.jobs.required[job], node]
    for choice in range(first, first + memory.choices.parts[row]):
        for node in range(memory.nodes.shape[1]):
            here = memory.sets[candidates, node] & memory.features[choice, node]
            memory.sets[Scratch.CHOICE, node] = here & (1 - memory.required[last, node])
        lay_offers(state, table, Scratch.CHOICE, job, part, False)
        count, whole = memory.choices.nodes[choice], whole_nodes(memory, job, part)
        if fit(memory, job, 0, count, count, count, count, whole, placing(memory, job, part)) == 0:
            return False
        for node in range(memory.nodes.shape[1]):
            if memory.work.taken[node] > 0:
                memory.required[last, node] = 1
    return True


@kernel
def is_tested_twice(memory: Memory) -> bool:
    """Whether a job must also fit as if no CPU were in use, memory as it is: Slurm tries that first."""
    return bool(memory.settings.tested_once == 0 or suspends(memory))


@routine
def select_on(state: State, table: Nodes, candidates: int, job: int, part: int, required: int) -> int:
    """Choose nodes for a job, with those of a set of required ones."""
    memory, twice = state.memory, is_tested_twice(state.memory)
    if asks_gres(memory, job) > 0 and not takes_first(memory, job, part):
        lighten(state, table, candidates, job, part, twice)
    if memory.jobs.cpus_unit[job] > 0 and twice:
        if fit_on(state, table, candidates, job, part, required, True) == 0:
            return 0
        lighten(state, table, candidates, job, part, False)
    return select_freely(state, table, candidates, job, part, required)


@kernel
def flexible_reservation(memory: Memory, job: int) -> int:
    """The job's reservation where it may also use nodes outside it; else UNSET."""
    mine = memory.jobs.reservation[job]
    if mine == UNSET or memory.reservations.flexible[mine] == 0:
        return UNSET
    return int(mine)


@kernel
def weigh_outside(memory: Memory, which: int, sign: int) -> None:
    """Let nodes outside a reservation be heavier than others (1), and so taken last, or no more (-1)."""
    if which == UNSET:
        return
    for node in range(memory.nodes.shape[1]):
        if memory.reserved[which, node] == 0:
            memory.nodes.set_weight[node] += sign * OUTSIDE_LAST


@routine
def fit_on(
    state: State, table: Nodes, candidates: int, job: int, part: int, required: int, cores: bool
) -> int:
    """Choose nodes for a job into the row TAKEN, ``cores`` as if no CPU were in use; how many."""
    memory = state.memory
    least, want = fewest_nodes(memory, job, part), wanted_nodes(memory, job, part)
    most, cpus = most_nodes(memory, job, part), memory.jobs.cpus[job]
    if most < least:
        return 0
    offered = lay_offers(state, table, candidates, job, part, cores)
    if not cores and offered < cpus - cpus_beyond_tasks(memory, job):
        return 0
    whole, how = whole_nodes(memory, job, part), placing(memory, job, part)
    return int(fit(memory, job, required, least, want, most, cpus, whole, how))


@routine
def select_freely(state: State, table: Nodes, candidates: int, job: int, part: int, required: int) -> int:
    """Choose nodes for a job, those of a set first; how many, 0 where it does not fit.

    A job that shares nodes may also have to fit as if no CPU were in use (:func:`is_tested_twice`). That is
    tried first, as Slurm does, only where it changes the weights of nodes.
    """
    memory = state.memory
    if memory.settings.linear > 0:
        return select_linear(state, table, candidates, job, part, required)
    found = fit_on(state, table, candidates, job, part, required, False)
    if found == 0 or waits_for_switches(memory, job):
        return 0
    if whole_nodes(memory, job, part) or (found == 1 and takes_any_node(memory, job, part)):
        return found
    deal_tasks(memory, job, found)
    if memory.jobs.cpus_unit[job] > 0 or not is_tested_twice(memory):
        return found
    for node in range(memory.nodes.shape[1]):
        memory.work.chosen[node] = memory.work.taken[node]
    if fit_on(state, table, candidates, job, part, required, True) == 0:
        return 0
    for node in range(memory.nodes.shape[1]):
        memory.work.taken[node] = memory.work.chosen[node]
    return found


@kernel
def deal_units(memory: Memory, table: Nodes, job: int) -> None:
    """Deal a job's units of generic resources to its nodes of TAKEN, into the row DEALT.

    Each node has at least one. The first gets as many as it has free and CPUs for, and may have by its tasks
    where these have a unit each, then the next; what is left goes where units are free.
    """
    work, wanted, nodes = memory.work, memory.jobs.units[job], nodes_with(memory, Work["taken"])
    several, by_task = nodes > 1, memory.jobs.by_task[job] > 0
    each = memory.jobs[SlurmJobs["cpus_per_task"] if by_task else SlurmJobs["cpus_unit"], job]
    for node in range(memory.nodes.shape[1]):
        work.dealt[node] = 0
        if work.taken[node] > 0:
            most = units_free(memory, table, job, node)
            if each > 0 and several:
                most = min(most, work.taken[node] // each)
            nodes -= 1
            work.dealt[node] = min(most, max(wanted - nodes, 1))
            wanted -= work.dealt[node]
    for node in range(memory.nodes.shape[1]):
        if work.taken[node] > 0 and wanted > 0 and not by_task:
            more = min(wanted, units_free(memory, table, job, node) - work.dealt[node])
            work.dealt[node] += more
            wanted -= more


@kernel
def wanted_of(memory: Memory, resource: int, job: int, node: int) -> int:
    """How many of a resource a job takes on a node of TAKEN."""
    units = memory.work.dealt[node] if memory.jobs.units[job] > 0 else 1
    return int(memory.gres_asked[resource, job] * units)


@kernel
def propose_types(state: State, place: int, node: int, job: int) -> None:
    """Let what a job asks for of a resource without a type be of types that the node has free, those that are
    defined first before others; ``place`` is the number of the share."""
    memory = state.memory
    for resource in range(memory.gres_asked.shape[0]):
        left = wanted_of(memory, resource, job, node)
        for kind in range(memory.gres_asked.shape[0]):
            left -= wanted_of(memory, kind, job, node) if memory.gres_of[kind] == resource else 0
        for kind in range(memory.gres_asked.shape[0]):
            if memory.gres_of[kind] == resource and left > 0:
                asked = wanted_of(memory, kind, job, node)
                more = min(left, state.nodes[NODE_ROWS + kind, node] - asked)
                propose_further(state, place, kind, asked + more)
                left -= more


@kernel
def propose_taken(state: State, job: int, part: int) -> int:
    """Propose the chosen nodes to the engine; how many."""
    memory = state.memory
    whole, count = whole_nodes(memory, job, part), 0
    if memory.jobs.units[job] > 0:
        deal_units(memory, state.nodes, job)
    for node in range(memory.nodes.shape[1]):
        cpus = memory.work.taken[node]
        if cpus <= 0:
            continue
        taken = state.nodes.cpus[node] if whole else cpus
        propose(state, count, node, taken, memory_taken(state, job, part, node, taken), int(whole))
        for resource in range(memory.gres_asked.shape[0]):
            propose_further(state, count, resource, wanted_of(memory, resource, job, node))
        propose_types(state, count, node, job)
        for counter in (Partitions["cpus_row"], Partitions["private_row"]):
            if memory.partitions[counter, part] != UNSET:
                propose_further(state, count, memory.partitions[counter, part], taken)
        if suspends(memory):
            propose_cores(state, count, node, taken, part, memory.jobs.row[job])
        count += 1
    return count
