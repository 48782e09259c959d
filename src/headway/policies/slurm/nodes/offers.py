"""What each node can offer a job, and how many nodes it wants."""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.tables import NODE_ROWS, Nodes, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.queue.caps import nodes_by_limits
from headway.policies.slurm.queue.queue import waives
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.settings import Waiver

MANY_NODES = 1 << 40
"""A job that gave no largest number of nodes."""
UNIT = 1 << 16
"""A unit of weight."""
LIGHTER = 256
"""The parts of it by which generic resources make a node lighter; a completing node is heavier by as many."""


@kernel
def whole_nodes(memory: Memory, job: int, part: int) -> bool:
    """Whether a job takes nodes as a whole."""
    return bool(memory.jobs.exclusive[job] > 0 or memory.partitions.exclusive[part] > 0)


@kernel
def memory_per_cpu(memory: Memory, job: int, part: int) -> int:
    """MB for each CPU; -1 where the job's memory is counted by node."""
    if memory.jobs.memory_cpu[job] != UNSET or memory.jobs.memory_node[job] != UNSET:
        return int(memory.jobs.memory_cpu[job])
    if memory.partitions.memory_cpu[part] != UNSET:
        return int(memory.partitions.memory_cpu[part])
    if memory.partitions.memory_node[part] != UNSET:
        return UNSET
    return int(memory.settings.memory_cpu)


@kernel
def memory_per_node(memory: Memory, job: int, part: int, node_memory: int) -> int:
    """MB on each node, for a job whose memory is counted by node; all of it where nobody says how much."""
    asked = memory.jobs.memory_node[job]
    if asked == UNSET:
        asked = memory.partitions.memory_node[part]
    if asked == UNSET:
        asked = memory.settings.memory_node
    return int(node_memory if asked <= 0 else asked)


@kernel
def memory_asked(memory: Memory, job: int, part: int, cpus: int, nodes: int) -> int:
    """MB that a job asks for on so many CPUs and nodes: by its own words or its partition's, else all.

    How much a node has is taken from the partition's first one.
    """
    by_cpu, node = memory_per_cpu(memory, job, part), 0
    if memory.jobs.memory_unit[job] > 0:
        return int(memory.jobs.memory_unit[job] * memory.jobs.units[job])
    if by_cpu > 0:
        return by_cpu * cpus
    while node + 1 < memory.members.shape[1] and memory.members[part, node] == 0:
        node += 1
    return memory_per_node(memory, job, part, memory.trial.memory_mb[node]) * nodes


@kernel
def memory_taken(state: State, job: int, part: int, node: int, cpus: int) -> int:
    """MB that a job takes of a node on which it has so many CPUs."""
    memory = state.memory
    if memory.settings.memory == 0:
        return 0
    if memory.jobs.memory_unit[job] > 0:
        return int(memory.jobs.memory_unit[job] * memory.work.dealt[node])
    by_cpu = memory_per_cpu(memory, job, part)
    return by_cpu * cpus if by_cpu > 0 else memory_per_node(memory, job, part, state.nodes.memory_mb[node])


@kernel
def fewest_cpus(memory: Memory, job: int) -> int:
    """CPUs that a node must have for a job: those of a task, or of all its tasks if it wants one node.

    Its memory may ask for more of them.
    """
    per_task = max(memory.jobs.cpus_per_task[job], 1)
    one_node = memory.jobs.max_nodes[job] == 1
    least = max(memory.jobs.tasks[job], 1) * per_task if one_node else per_task
    return int(max(least, memory.jobs.node_cpus[job]))


@kernel
def takes_any_node(memory: Memory, job: int, part: int) -> bool:
    """Whether a job takes one node, and any that offers something is enough."""
    return bool(
        (memory.jobs.units[job] == 0 or memory.jobs.by_task[job] > 0)
        and most_nodes(memory, job, part) == 1
        and fewest_cpus(memory, job) >= memory.jobs.cpus[job]
    )


@kernel
def units_free(memory: Memory, table: Nodes, job: int, column: int) -> int:
    """How many units of its generic resources a column of a table has free for a job, with their memory."""
    units = MANY_NODES
    for resource in range(memory.gres_asked.shape[0]):
        asked = memory.gres_asked[resource, job]
        if asked > 0:
            units = min(units, table[NODE_ROWS + resource, column] // asked)
    each = memory.jobs.memory_unit[job]
    if each > 0 and memory.settings.memory > 0:
        units = min(units, table.free_memory[column] // each)
    return int(units)


@kernel
def gres_free(memory: Memory, table: Nodes, job: int, column: int) -> int:
    """What a column of a table has free of the generic resource that a job asks for."""
    free = MANY_NODES
    for resource in range(memory.gres_asked.shape[0]):
        if memory.gres_asked[resource, job] > 0:
            free = min(free, table[NODE_ROWS + resource, column])
    return int(free)


@kernel
def has_gres(memory: Memory, table: Nodes, job: int, node: int) -> bool:
    """Whether a node has the generic resources free that a job wants of it."""
    for resource in range(memory.gres_asked.shape[0]):
        if memory.gres_asked[resource, job] > table[NODE_ROWS + resource, node]:
            return False
    return True


@kernel
def asks_gres(memory: Memory, job: int) -> int:
    """How many of the generic resources a job asks for most of, on each node."""
    most = 0
    for resource in range(memory.gres_asked.shape[0]):
        most = max(most, memory.gres_asked[resource, job])
    return most


@kernel
def cpus_beside_gres(memory: Memory, job: int) -> int:
    """CPUs that a node offers at most to a job with generic resources: those it needs there; 0: all."""
    if asks_gres(memory, job) == 0 or memory.jobs.any_tasks[job] > 0:
        return 0
    tasks = memory.jobs.tasks[job]
    one_node = memory.jobs.max_nodes[job] == 1
    per_node = memory.jobs.tasks_per_node[job]
    if per_node == 0 and not one_node and tasks != 1 and tasks != memory.jobs.min_nodes[job]:
        return 0
    need = (per_node if per_node > 0 else tasks if one_node else 1) * memory.jobs.cpus_per_task[job]
    return int(max(need, memory.jobs.node_cpus[job]))


@kernel
def cpus_beyond_tasks(memory: Memory, job: int) -> int:
    """CPUs of a job's units beyond those of its tasks: it may have them, and need not find them."""
    if memory.jobs.cpus_unit[job] == 0:
        return 0
    of_tasks = memory.jobs.tasks[job] * memory.jobs.cpus_per_task[job]
    return int(memory.jobs.cpus[job] - max(of_tasks, memory.jobs.min_nodes[job]))


class Terms(NamedTuple):
    """What a job asks of every node; all of them whole numbers."""

    whole: int
    """Whether it takes nodes as a whole."""
    fewest: int
    """CPUs that a node must have."""
    multiple: int
    """CPUs come in multiples of a task's, where memory bounds them."""
    bound: int
    """CPUs that jobs of the partition may have of a node; -1: all."""
    bound_row: int
    """The row of what jobs of the partition leave of them; those that they hold beyond them count, too."""
    each: int
    """CPUs that it holds for each that it uses; the bound is on these."""
    by_cpu: int
    """MB for each CPU; -1: memory is counted by node."""
    by_node: int
    """MB; -1: all that the node has, 0: memory does not count."""
    avoids_from: int
    avoids_to: int
    """The rows of CPUs, but for that of its own partition, of which a node may have none in use."""
    beside_gres: int
    """CPUs that it can do with beside generic resources; 0: all that there are."""
    unit: int
    """CPUs for each unit of generic resources that a node has; 0: it may have any beside them."""
    by_unit: int
    """MB for each of these units; 0: memory is not counted so."""
    each_unit: int
    """CPUs for each unit of those for the job as a whole, beside which it gets no fewer; 0: it wants none."""


@kernel
def linear_terms(memory: Memory, job: int, by_cpu: int, by_node: int) -> Terms:
    """The same under select/linear, which counts CPUs of no more tasks than a node may have."""
    per_task = max(memory.jobs.cpus_per_task[job], 1)
    tasks = per_task * memory.jobs.tasks_per_node[job]
    fewest = int(memory.jobs.node_cpus[job])
    return Terms(1, fewest, 1, UNSET, NODE_ROWS, 1, by_cpu, by_node, 0, 0, int(tasks), 0, 0, 0)


@kernel
def terms_of(memory: Memory, job: int, part: int) -> Terms:
    """What a job asks of every node in a partition."""
    by_cpu, by_node = 0, 0
    if memory.settings.memory > 0 and memory.jobs.memory_unit[job] == 0:
        by_cpu = memory_per_cpu(memory, job, part)
        by_node = 0 if by_cpu > 0 else memory_per_node(memory, job, part, UNSET)
    if memory.settings.linear > 0:
        return linear_terms(memory, job, by_cpu, by_node)
    return Terms(
        int(whole_nodes(memory, job, part)),
        fewest_cpus(memory, job),
        int(memory.jobs.cpus_per_task[job]),
        int(memory.partitions.max_cpus[part]),
        int(NODE_ROWS + memory.partitions.cpus_row[part]),
        int(memory.jobs.cpus_each[job]),
        by_cpu,
        by_node,
        int(NODE_ROWS + memory.partitions.avoids_from[part]),
        int(NODE_ROWS + memory.partitions.avoids_to[part]),
        cpus_beside_gres(memory, job),
        int(memory.jobs.by_task[job] * memory.jobs.cpus_per_task[job]),
        int(memory.jobs.memory_unit[job]),
        int(memory.jobs.cpus_unit[job] * (memory.jobs.by_task[job] == 0)),
    )


@kernel
def has_others(memory: Memory, table: Nodes, column: int, node: int, terms: Terms) -> bool:
    """Whether a node has jobs with whom a job is on no node: one shares CPUs, the other does not."""
    for row in range(terms.avoids_from, terms.avoids_to):
        if row != terms.bound_row and table[row, column] < memory.gres_total[row - NODE_ROWS, node]:
            return True
    return False


@kernel
def room(memory: Memory, table: Nodes, column: int, node: int, job: int, terms: Terms, cores: bool) -> int:
    """CPUs that a job could have of a node, with what a column of a table has free; 0 where it will not do.

    ``cores`` counts the CPUs in use as free, memory as it is.
    """
    if table.alone[column] > 0 or (terms.whole > 0 and table.runs[column] > 0):
        return 0
    if has_others(memory, table, column, node, terms):
        return 0
    cpus = table.cpus[column] if cores else table.free_cpus[column]
    if terms.bound != UNSET:
        all_of_it = memory.gres_total[terms.bound_row - NODE_ROWS, node]
        used = 0 if cores else all_of_it - table[terms.bound_row, column]
        too_large = terms.whole > 0 and cpus + used > terms.bound
        cpus = 0 if too_large else min(cpus, max(terms.bound - used, 0) * terms.each)
    have = table.free_memory[column]
    if terms.by_cpu > 0:
        threads = memory.nodes.threads[node]
        enough = have // terms.by_cpu // threads * threads
        cpus = 0 if terms.whole > 0 and cpus * terms.by_cpu > have else min(cpus, enough)
        cpus -= cpus % terms.multiple
    elif terms.by_node != 0 and (table.memory_mb[column] if terms.by_node < 0 else terms.by_node) > have:
        return 0
    return 0 if cpus < terms.fewest or not has_gres(memory, table, job, column) else int(cpus)


@kernel
def offer(memory: Memory, table: Nodes, column: int, node: int, job: int, terms: Terms, cores: bool) -> int:
    """CPUs that a node gives a job: those it has room for, no more than go with generic resources."""
    cpus, beside = room(memory, table, column, node, job, terms, cores), terms.beside_gres
    if terms.unit > 0 or terms.by_unit > 0:
        units = units_free(memory, table, job, column)
        cpus = min(cpus, units * terms.unit) if terms.unit > 0 else cpus * (units > 0)
        cpus = 0 if cpus < terms.fewest else cpus
    if terms.each_unit > 0 and beside > 0:
        units = min(units_free(memory, table, job, column), memory.jobs.units[job])
        beside = max(beside, min(units, cpus // terms.each_unit) * terms.each_unit)
    return int(min(cpus, beside) if beside > 0 else cpus)


@routine
def lay_offers(state: State, table: Nodes, candidates: int, job: int, part: int, cores: bool) -> int:
    """Fill the row OFFER with the CPUs that nodes of a set can give a job; the sum, -1 if too few nodes can.

    ``table`` has what is free: the engine's nodes, or what would be free later; ``cores`` as for one node.
    """
    memory, terms = state.memory, terms_of(state.memory, job, part)
    usable, offered, by_gres = 0, 0, asks_gres(memory, job) > 0
    for node in range(memory.nodes.shape[1]):
        cpus = 0
        memory.work.free[node] = table.cpus[node] if cores else table.free_cpus[node]
        if memory.sets[candidates, node] > 0:
            cpus = offer(memory, table, node, node, job, terms, cores)
        memory.work.offer[node] = cpus
        if by_gres and cpus > 0:
            memory.work.units[node] = units_free(memory, table, job, node)
            memory.work.gpus[node] = gres_free(memory, table, job, node)
            holds = room(memory, table, node, node, job, terms, cores)
            memory.work.count[node] = holds + memory.work.gpus[node]
        usable += cpus > 0
        offered += cpus
    return offered if usable >= memory.jobs.min_nodes[job] else -1


@kernel
def nodes_with(memory: Memory, what: int) -> int:
    """How many nodes have something in a row (:class:`Work`)."""
    count = 0
    for node in range(memory.nodes.shape[1]):
        count += memory.work[what, node] > 0
    return count


@kernel
def cut_offer(memory: Memory, node: int, cpus: int, to_come: int, each: int, whole: bool) -> int:
    """Let a node offer what a job that still wants so many CPUs would take there; how much that is."""
    have = memory.work.offer[node]
    if not whole:
        threads = memory.nodes.threads[node]
        left = cpus - max(to_come, 0) * threads
        cut = have > left
        have = max(min(have, left), each)
        have = -(-have // threads) * threads
        memory.work.offer[node] = have
        if cut:
            memory.work.count[node] = have + memory.work.gpus[node]
    return int(have)


@kernel
def give(memory: Memory, node: int, cpus: int, to_come: int, each: int, whole: bool) -> int:
    """Let a job that still wants so many CPUs have a node, with ``to_come`` others at least; what it gets."""
    have = cut_offer(memory, node, cpus, to_come, each, whole)
    memory.work.taken[node] = have
    return have


@kernel
def units_near(memory: Memory, job: int, node: int, whole: bool) -> int:
    """Generic resources of a node that a test of a job counts: those that it could get there, for which there
    are CPUs free; a job on whole nodes gets all."""
    units, by, free = memory.jobs.units[job], asks_gres(memory, job), memory.work.gpus[node]
    each = memory.jobs.cpus_unit[job]
    if not whole:
        free = min(free, by * max(units, 1))
    if memory.jobs.memory_unit[job] > 0:
        free = min(free, by * memory.work.units[node])
    return int(min(free, memory.work.free[node] * by // each) if each > 0 else free)


@kernel
def lighten(state: State, table: Nodes, candidates: int, job: int, part: int, cores: bool) -> None:
    """Make nodes lighter that could take a job with generic resources; they stay so for those after it.

    That is by parts of a unit of weight: whole units that limits or reservations added stay.
    """
    memory, whole = state.memory, whole_nodes(state.memory, job, part)
    lay_offers(state, table, candidates, job, part, cores)
    for node in range(memory.nodes.shape[1]):
        if memory.work.offer[node] > 0:
            weight = memory.nodes.set_weight[node] // LIGHTER * LIGHTER + LIGHTER - 1
            memory.nodes.set_weight[node] = weight - units_near(memory, job, node, whole)


@kernel
def units_taken(memory: Memory, job: int, part: int) -> int:
    """Generic resources that a test of a job counts on its nodes of TAKEN; -1 where it has them by node.

    Those of whole nodes are all its. One that wants a number of them on all of its nodes together counts what
    these have, and CPUs for, though that may be more.
    """
    whole, each, total = whole_nodes(memory, job, part), memory.jobs.cpus_unit[job], 0
    if not whole and memory.jobs.units[job] == 0:
        return UNSET
    for node in range(memory.nodes.shape[1]):
        if memory.work.taken[node] > 0:
            units = memory.work.gpus[node]
            if each > 0 and not whole:
                units = min(units, memory.work.offer[node] * asks_gres(memory, job) // each)
            total += units
    return int(total)


ANYWHERE = -1
"""In place of the number of a set: all nodes are in it."""


@kernel
def is_weighed(memory: Memory, within: int, job: int, part: int, node: int) -> bool:
    """Whether a test of a job sets the weight of a node: of all that it could ever have in its partition, and
    that are in the set ``within``."""
    here = memory.members[part, node] & memory.features[memory.jobs.features[job], node]
    return bool(here > 0 and (within == ANYWHERE or memory.sets[within, node] > 0))


@kernel
def reset_weights(memory: Memory, within: int, job: int, part: int) -> None:
    """Let the nodes that a test of a job weighs weigh what they are said to."""
    for node in range(memory.nodes.shape[1]):
        if is_weighed(memory, within, job, part, node):
            weight = memory.nodes.weight[node] * UNIT + LIGHTER - 1
            memory.nodes.set_weight[node] = weight


@kernel
def fewest_nodes(memory: Memory, job: int, part: int) -> int:
    """The fewest nodes that a job must have in a partition."""
    asked, bound = memory.jobs.min_nodes[job], memory.partitions.min_nodes[part]
    return int(asked if waives(memory, job, Waiver.MIN_NODES) else max(asked, bound))


@kernel
def bounded_nodes(memory: Memory, job: int, part: int) -> int:
    """The most nodes that a job asks for, and its partition and limits allow."""
    asked, bound = memory.jobs.max_nodes[job], memory.partitions.max_nodes[part]
    most = MANY_NODES if asked == UNSET else asked
    free = bound == UNSET or waives(memory, job, Waiver.MAX_NODES)
    return int(min(most if free else min(most, bound), nodes_by_limits(memory, job, part)))


@kernel
def is_over_limits(memory: Memory, job: int, part: int) -> bool:
    """Whether a job wants more nodes than limits let it have, whatever others hold."""
    return bool(nodes_by_limits(memory, job, part) < fewest_nodes(memory, job, part))


@kernel
def wanted_nodes(memory: Memory, job: int, part: int) -> int:
    """The nodes that a job gets if there are as many: the most where it names them, else the fewest."""
    if memory.jobs.max_nodes[job] == UNSET or memory.jobs.units[job] > 0:
        return fewest_nodes(memory, job, part)
    return bounded_nodes(memory, job, part)


@kernel
def most_nodes(memory: Memory, job: int, part: int) -> int:
    """The most nodes that a job may have in a partition: no more than it has tasks."""
    most, tasks = bounded_nodes(memory, job, part), memory.jobs.tasks[job]
    if memory.jobs.units[job] > 0:
        return most
    return min(most, max(tasks, fewest_nodes(memory, job, part))) if tasks > 0 else most


@kernel
def takes_first(memory: Memory, job: int, part: int) -> bool:
    """Whether a job takes the first node in the order of weights that will do for it."""
    return bool(memory.settings.first_node > 0 and most_nodes(memory, job, part) == 1)


@kernel
def weigh_anew(memory: Memory, job: int, part: int) -> None:
    """Let nodes weigh what they are said to where each test sets their weights and jobs changes them."""
    changed = memory.gres_asked.shape[0] > 0 or memory.settings.limits_nodes > 0
    if memory.settings.weighs_anew > 0 and changed:
        reset_weights(memory, ANYWHERE, job, part)


@kernel
def weigh_completing(memory: Memory, sign: int) -> None:
    """Let completing nodes be a little heavier than others of their weight (1), or no more (-1)."""
    for node in range(memory.nodes.shape[1] if memory.settings.weighs_anew > 0 else 0):
        if memory.nodes.completing[node] > 0:
            memory.nodes.set_weight[node] += sign * LIGHTER
