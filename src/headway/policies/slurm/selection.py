"""Which nodes a job gets: what each node can offer it, then the best fit over runs of neighbouring nodes.

The nodes of equal weight that stand side by side form runs. The run that fits most tightly is taken from its
first node up, then the next, until the job has its nodes and its CPUs::

    node      1 2 3 4 5 6 7 8 9          a job that wants 2 nodes
    free      x x x . x x . x .          gets 5 and 6: the smallest run that is large enough
"""

from __future__ import annotations

from headway.engine.shares import propose, propose_further
from headway.engine.tables import NODE_ROWS, Node, State, Table
from headway.jit import kernel, routine
from headway.policies.slurm.bits import has
from headway.policies.slurm.cores import cores_in_row, imagine_suspended, propose_cores, suspends
from headway.policies.slurm.life_tables import Level, Reservation
from headway.policies.slurm.queue import waives
from headway.policies.slurm.settings import Placing, Preemption, Setting, Waiver
from headway.policies.slurm.tables import (
    UNSET,
    Choice,
    Memory,
    Partition,
    Scratch,
    SlurmClock,
    SlurmJob,
    SlurmNode,
    Work,
)

MANY_NODES = 1 << 40
"""A job that gave no largest number of nodes."""
LIGHTER = 256
"""Parts of a unit of weight."""
OUTSIDE_LAST = 1 << 38


@kernel
def whole_nodes(memory: Memory, job: int, part: int) -> bool:
    """Whether a job takes nodes as a whole."""
    return bool(memory.jobs[SlurmJob.EXCLUSIVE, job] > 0 or memory.partitions[Partition.EXCLUSIVE, part] > 0)


@kernel
def memory_per_cpu(memory: Memory, job: int, part: int) -> int:
    """MB for each CPU; -1 where the job's memory is counted by node."""
    if memory.jobs[SlurmJob.MEMORY_CPU, job] != UNSET or memory.jobs[SlurmJob.MEMORY_NODE, job] != UNSET:
        return int(memory.jobs[SlurmJob.MEMORY_CPU, job])
    if memory.partitions[Partition.MEMORY_CPU, part] != UNSET:
        return int(memory.partitions[Partition.MEMORY_CPU, part])
    if memory.partitions[Partition.MEMORY_NODE, part] != UNSET:
        return UNSET
    return int(memory.settings[Setting.MEMORY_CPU])


@kernel
def memory_per_node(memory: Memory, job: int, part: int, node_memory: int) -> int:
    """MB on each node, for a job whose memory is counted by node; all of it where nobody says how much."""
    asked = memory.jobs[SlurmJob.MEMORY_NODE, job]
    if asked == UNSET:
        asked = memory.partitions[Partition.MEMORY_NODE, part]
    if asked == UNSET:
        asked = memory.settings[Setting.MEMORY_NODE]
    return int(node_memory if asked <= 0 else asked)


@kernel
def memory_taken(state: State, job: int, part: int, node: int, cpus: int) -> int:
    """MB that a job takes of a node on which it has so many CPUs."""
    memory = state.memory
    if memory.settings[Setting.MEMORY] == 0:
        return 0
    by_cpu = memory_per_cpu(memory, job, part)
    return by_cpu * cpus if by_cpu > 0 else memory_per_node(memory, job, part, state.nodes[Node.MEMORY, node])


@kernel
def fewest_cpus(memory: Memory, job: int) -> int:
    """CPUs that a node must have for a job: those of a task, or of all its tasks if it wants one node.

    Its memory may ask for more of them.
    """
    per_task = max(memory.jobs[SlurmJob.CPUS_PER_TASK, job], 1)
    one_node = memory.jobs[SlurmJob.MAX_NODES, job] == 1
    least = max(memory.jobs[SlurmJob.TASKS, job], 1) * per_task if one_node else per_task
    return int(max(least, memory.jobs[SlurmJob.NODE_CPUS, job]))


@kernel
def has_gres(memory: Memory, table: Table, job: int, node: int) -> bool:
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
    if asks_gres(memory, job) == 0:
        return 0
    tasks = memory.jobs[SlurmJob.TASKS, job]
    one_node = memory.jobs[SlurmJob.MAX_NODES, job] == 1
    per_node = memory.jobs[SlurmJob.TASKS_PER_NODE, job]
    if per_node == 0 and not one_node and tasks != 1 and tasks != memory.jobs[SlurmJob.MIN_NODES, job]:
        return 0
    need = (per_node if per_node > 0 else tasks if one_node else 1) * memory.jobs[SlurmJob.CPUS_PER_TASK, job]
    return int(max(need, memory.jobs[SlurmJob.NODE_CPUS, job]))


@kernel
def lighten(state: State, table: Table, candidates: int, job: int, part: int) -> None:
    """Make nodes lighter that could take a job with generic resources; they stay so for those after it."""
    memory = state.memory
    lay_offers(state, table, candidates, job, part, True)
    for node in range(memory.nodes.shape[1]):
        if memory.work[Work.OFFER, node] > 0:
            weight = memory.nodes[SlurmNode.WEIGHT, node] * LIGHTER + LIGHTER - 1
            memory.nodes[SlurmNode.SET_WEIGHT, node] = weight - asks_gres(memory, job)


@kernel
def reset_weights(memory: Memory, part: int) -> None:
    """Let the nodes of a partition weigh what they are said to."""
    for node in range(memory.nodes.shape[1]):
        if memory.members[part, node] > 0:
            weight = memory.nodes[SlurmNode.WEIGHT, node] * LIGHTER + LIGHTER - 1
            memory.nodes[SlurmNode.SET_WEIGHT, node] = weight


@kernel
def lay_offers(state: State, table: Table, candidates: int, job: int, part: int, cores: bool) -> int:
    """Fill the row OFFER with the CPUs that nodes of a set can give a job; the sum, -1 if too few nodes can.

    ``table`` has what is free: the engine's nodes, or what would be free later. ``cores`` counts the CPUs in
    use as free, memory as it is.
    """
    memory = state.memory
    whole, fewest = whole_nodes(memory, job, part), fewest_cpus(memory, job)
    bound = memory.partitions[Partition.MAX_CPUS, part]
    bound_row = NODE_ROWS + memory.partitions[Partition.CPUS_ROW, part]
    counts_memory, by_cpu = memory.settings[Setting.MEMORY] > 0, memory_per_cpu(memory, job, part)
    by_node, all_memory = 0, False
    if counts_memory and by_cpu <= 0:
        by_node = memory_per_node(memory, job, part, UNSET)
        all_memory = by_node == UNSET
    usable, offered, beside_gres = 0, 0, cpus_beside_gres(memory, job)
    for node in range(memory.nodes.shape[1]):
        cpus = 0
        memory.work[Work.FREE, node] = table[Node.CPUS, node] if cores else table[Node.FREE_CPUS, node]
        alone = table[Node.ALONE, node] > 0 or (whole and table[Node.RUNS, node] > 0)
        if memory.sets[candidates, node] > 0 and not alone:
            cpus = memory.work[Work.FREE, node]
            if bound != UNSET:
                used = 0 if cores else bound - table[bound_row, node]
                cpus = 0 if whole and cpus + used > bound else min(cpus, max(bound - used, 0))
            if counts_memory:
                have = table[Node.FREE_MEMORY, node]
                if by_cpu > 0:
                    threads = memory.nodes[SlurmNode.THREADS, node]
                    enough = have // by_cpu // threads * threads
                    cpus = 0 if whole and cpus * by_cpu > have else min(cpus, enough)
                    cpus -= cpus % memory.jobs[SlurmJob.CPUS_PER_TASK, job]
                elif (table[Node.MEMORY, node] if all_memory else by_node) > have:
                    cpus = 0
            if cpus < fewest or not has_gres(memory, table, job, node):
                cpus = 0
            elif beside_gres > 0:
                cpus = min(cpus, beside_gres)
        memory.work[Work.OFFER, node] = cpus
        usable += cpus > 0
        offered += cpus
    return offered if usable >= memory.jobs[SlurmJob.MIN_NODES, job] else -1


@kernel
def lay_runs(memory: Memory, job: int, required: int) -> int:
    """Split the nodes that offer something into runs of neighbours with equal weight; how many there are.

    Weights do not matter to a job whose nodes must stand side by side. Required nodes are taken already, they
    hold a run together; NAMED is the first of them, or -1.
    """
    work, count, open_run, weight = memory.work, 0, False, UNSET
    for node in range(memory.nodes.shape[1]):
        cpus, here = work[Work.OFFER, node], memory.nodes[SlurmNode.SET_WEIGHT, node]
        if cpus <= 0:
            open_run = False
            continue
        if weight != UNSET and here != weight and memory.jobs[SlurmJob.CONTIGUOUS, job] == 0:
            open_run = False
        if not open_run:
            work[Work.FIRST, count], work[Work.NAMED, count] = node, UNSET
            work[Work.RUN_CPUS, count] = work[Work.RUN_NODES, count] = 0
            count += 1
            open_run, weight = True, UNSET
        if memory.required[required, node] > 0:
            if work[Work.NAMED, count - 1] == UNSET:
                work[Work.NAMED, count - 1] = node
            continue
        weight = here
        work[Work.LAST, count - 1] = node
        work[Work.RUN_CPUS, count - 1] += cpus
        work[Work.RUN_NODES, count - 1] += 1
    return count


@kernel
def best_run(memory: Memory, job: int, count: int, nodes: int, cpus: int) -> int:
    """The run of the lowest weight that fits ``nodes`` and ``cpus`` best; -1 where none is left.

    A job whose nodes must stand side by side takes the first that is large enough, unless a lighter one comes
    after it; where that is too small, there is none.
    """
    work, one_run = memory.work, memory.jobs[SlurmJob.CONTIGUOUS, job] > 0
    best, best_enough, best_weight, best_named = -1, False, 0, False
    for run in range(count):
        if work[Work.RUN_NODES, run] == 0:
            continue
        size = work[Work.RUN_CPUS, run]
        enough = size >= cpus and work[Work.RUN_NODES, run] >= nodes
        weight = memory.nodes[SlurmNode.SET_WEIGHT, work[Work.LAST, run]]
        first_enough = one_run and enough and not best_enough
        named = work[Work.NAMED, run] != UNSET
        if best >= 0 and not first_enough and not (named and not best_named):
            if weight > best_weight:
                continue
            best_size = work[Work.RUN_CPUS, best]
            if weight == best_weight and not (
                (enough and not best_enough)
                or (enough and size < best_size)
                or (not enough and size > best_size)
            ):
                continue
        best, best_enough, best_weight, best_named = run, enough, weight, named
    return -1 if one_run and not best_enough else best


@kernel
def tightest_node(memory: Memory, first: int, last: int, cpus: int) -> int:
    """The node with the fewest CPUs that are enough by themselves; -1 where there is none."""
    found = -1
    for node in range(first, last + 1):
        have = memory.work[Work.OFFER, node]
        if have > 0 and have >= cpus and (found < 0 or have < memory.work[Work.OFFER, found]):
            found = node
            if have == cpus:
                break
    return found


@kernel
def cut_offer(memory: Memory, node: int, cpus: int, to_come: int, each: int, whole: bool) -> int:
    """Let a node offer what a job that still wants so many CPUs would take there; how much that is."""
    have = memory.work[Work.OFFER, node]
    if not whole:
        threads = memory.nodes[SlurmNode.THREADS, node]
        have = max(min(have, cpus - max(to_come, 0) * threads), each)
        have = -(-have // threads) * threads
        memory.work[Work.OFFER, node] = have
    return int(have)


@kernel
def give(memory: Memory, node: int, cpus: int, to_come: int, each: int, whole: bool) -> int:
    """Let a job that still wants so many CPUs have a node, with ``to_come`` others at least; what it gets."""
    have = cut_offer(memory, node, cpus, to_come, each, whole)
    memory.work[Work.TAKEN, node] = have
    return have


@kernel
def around(first: int, named: int, last: int, step: int) -> int:
    """The node at a step through a run: from the first one up, or up and then down from a required one."""
    if named == UNSET:
        return first + step
    return named + step if named + step <= last else last - step


@kernel
def placing(memory: Memory, job: int, part: int) -> int:
    """In which order a job takes nodes (:class:`Placing`)."""
    settings = memory.settings
    ahead = memory.clock[SlurmClock.LOOKS_AHEAD] > 0 and memory.jobs[SlurmJob.CONTIGUOUS, job] == 0
    if settings[Setting.BUSY_FIRST] > 0 and ahead:
        return Placing.BUSY_FIRST
    if memory.partitions[Partition.LEAST_LOADED, part] > 0:
        return Placing.LEAST_LOADED
    serial = memory.jobs[SlurmJob.CPUS, job] == 1 and wanted_nodes(memory, job, part) == 1
    return Placing.FROM_THE_END if serial and settings[Setting.SERIAL_LAST] > 0 else Placing.BEST_FIT


@kernel
def next_weight(memory: Memory, above: int) -> int:
    """The lowest weight above another of a node that may still be taken; -1 where there is none."""
    found = UNSET
    for node in range(memory.nodes.shape[1]):
        weight = memory.nodes[SlurmNode.SET_WEIGHT, node]
        open_to_it = memory.work[Work.OFFER, node] > 0 and memory.work[Work.TAKEN, node] == 0
        if open_to_it and weight > above and (found == UNSET or weight < found):
            found = weight
    return int(found)


@kernel
def is_open(memory: Memory, node: int, weight: int) -> bool:
    """Whether a node of a weight may still be taken."""
    here = memory.work[Work.OFFER, node] > 0 and memory.work[Work.TAKEN, node] == 0
    return bool(here and memory.nodes[SlurmNode.SET_WEIGHT, node] == weight)


@kernel
def last_node(memory: Memory, weight: int) -> int:
    """The last node of a weight that may still be taken; -1 where none is left."""
    node = memory.nodes.shape[1] - 1
    while node >= 0 and not is_open(memory, node, weight):
        node -= 1
    return node


@routine
def busy_first(memory: Memory, least: int, nodes: int, most: int, cpus: int, each: int, whole: bool) -> int:
    """Take nodes that are in use, then idle ones, light ones first; how many, 0 if they do not do.

    Where those in use are enough, or as many as the job may have, Slurm goes on to the idle ones of that
    weight all the same: it takes one more, or what it needs.
    """
    taken, weight, enough, done = 0, next_weight(memory, UNSET), False, most <= 0
    while weight != UNSET and not done:
        for idle in range(2):
            for node in range(memory.nodes.shape[1]):
                turn = has(memory.words_sets, Scratch.IDLE, node) == (idle > 0)
                if not turn or not is_open(memory, node, weight):
                    continue
                cpus -= give(memory, node, cpus, least - 1, each, whole)
                taken, nodes, least, most = taken + 1, nodes - 1, least - 1, most - 1
                enough = nodes <= 0 and cpus <= 0
                if enough or most == 0:
                    done = True
                    break
        weight = next_weight(memory, weight)
    return taken if enough or (cpus <= 0 and least <= 0) else 0


@kernel
def least_loaded(
    memory: Memory, weight: int, last: int, cpus: int, to_come: int, each: int, whole: bool
) -> int:
    """The node of a weight with the largest part of its CPUs free; -1 where none is left.

    The first that comes up with as many as the ``last`` one taken will do. All that are looked at offer what
    the job would take there.
    """
    best, table = -1, memory.trial
    for node in range(memory.nodes.shape[1]):
        if not is_open(memory, node, weight):
            continue
        cut_offer(memory, node, cpus, to_come, each, whole)
        free = memory.work[Work.FREE, node]
        if best < 0 or (
            memory.work[Work.FREE, best] * table[Node.CPUS, node] < free * table[Node.CPUS, best]
        ):
            best = node
            if free == last:
                break
    return best


@routine
def one_by_one(
    memory: Memory, how: int, least: int, nodes: int, most: int, cpus: int, each: int, whole: bool
) -> int:
    """Take nodes of the row OFFER one after the other, light ones first; how many, 0 if they do not do.

    The job still needs ``least`` nodes, wants ``nodes`` and may have ``most``.
    """
    if how == Placing.BUSY_FIRST:
        return busy_first(memory, least, nodes, most, cpus, each, whole)
    taken, weight, last = 0, next_weight(memory, UNSET), UNSET
    while most > 0 and weight != UNSET:
        if how == Placing.LEAST_LOADED:
            node = least_loaded(memory, weight, last, cpus, least - 1, each, whole)
        else:
            node = last_node(memory, weight)
        if node < 0:
            weight, last = next_weight(memory, weight), UNSET
            continue
        last = memory.work[Work.FREE, node]
        cpus -= give(memory, node, cpus, least - 1, each, whole)
        taken, nodes, least, most = taken + 1, nodes - 1, least - 1, most - 1
        if nodes <= 0 and cpus <= 0:
            return taken
    return taken if cpus <= 0 and least <= 0 else 0


@routine
def best_fit(
    memory: Memory,
    job: int,
    required: int,
    least: int,
    want: int,
    most: int,
    cpus: int,
    whole: bool,
    how: int,
) -> int:
    """Take nodes of the row OFFER for a job into TAKEN; how many, 0 where the request cannot be met.

    ``least``, ``want`` and ``most`` are numbers of nodes. The nodes of the set ``required`` come first, the
    others as :class:`Placing` says (``how``).
    """
    work, each, taken = memory.work, memory.jobs[SlurmJob.NODE_CPUS, job], 0
    nodes, still_least = max(least, want), least
    spared = max(want - least, 0)
    for node in range(memory.nodes.shape[1]):
        work[Work.TAKEN, node] = 0
        if memory.required[required, node] > 0:
            if work[Work.OFFER, node] <= 0:
                return 0
            cpus -= give(memory, node, cpus, still_least - 1, each, whole)
            taken, nodes, still_least, most = taken + 1, nodes - 1, still_least - 1, most - 1
    if taken > 0 and nodes <= 0 and cpus <= 0:
        return taken
    if how != Placing.BEST_FIT:
        more = one_by_one(memory, how, still_least, nodes, most, cpus, each, whole)
        return taken + more if more > 0 or (taken > 0 and still_least <= 0 and cpus <= 0) else 0
    count = lay_runs(memory, job, required)
    while most > 0:
        run = best_run(memory, job, count, nodes - spared, cpus)
        if run < 0:
            break
        first, last, named = work[Work.FIRST, run], work[Work.LAST, run], work[Work.NAMED, run]
        single = tightest_node(memory, first, last, cpus) if nodes <= 1 and named == UNSET else -1
        for step in range(last - first + 1):
            if most <= 0 or (nodes <= 0 and cpus <= 0):
                break
            node = around(first, named, last, step)
            have = work[Work.OFFER, node]
            if have <= 0 or work[Work.TAKEN, node] > 0 or (single >= 0 and node != single):
                continue
            if most == 1 and have < cpus and named == UNSET:
                continue
            cpus -= give(memory, node, cpus, still_least - 1, each, whole)
            taken, nodes, still_least, most = taken + 1, nodes - 1, still_least - 1, most - 1
        if nodes <= 0 and cpus <= 0:
            return taken
        work[Work.RUN_NODES, run] = work[Work.RUN_CPUS, run] = 0
    return taken if cpus <= 0 and nodes - spared <= 0 else 0


@kernel
def offering(memory: Memory) -> int:
    """How many nodes offer something."""
    count = 0
    for node in range(memory.nodes.shape[1]):
        count += memory.work[Work.OFFER, node] > 0
    return count


@kernel
def drop_small(memory: Memory, required: int, cpus: int, least: int, left: int) -> int:
    """Leave out nodes that offer at most ``cpus``, until ``least`` are left; how many are."""
    for node in range(memory.nodes.shape[1]):
        small = 0 < memory.work[Work.OFFER, node] <= cpus and memory.required[required, node] == 0
        if small and left > least:
            memory.work[Work.OFFER, node] = 0
            left -= 1
    return left


@routine
def fit(
    memory: Memory,
    job: int,
    required: int,
    least: int,
    want: int,
    most: int,
    cpus: int,
    whole: bool,
    how: int,
) -> int:
    """:func:`best_fit`, tried again without the smallest nodes where it fails.

    What a try took of a node is from then on all that the node offers.
    """
    found = best_fit(memory, job, required, least, want, most, cpus, whole, how)
    if found > 0:
        return found
    left, largest = offering(memory), 0
    if whole and left <= most and memory.jobs[SlurmJob.CONTIGUOUS, job] == 0:
        return 0  # all that they have was taken, and is not enough
    if left <= least:
        return best_fit(memory, job, required, least, want, most, cpus, whole, how)
    for node in range(memory.nodes.shape[1]):
        largest = max(largest, memory.work[Work.OFFER, node])
    for small in range(1, largest):
        before = left
        left = drop_small(memory, required, small, least, left)
        if left == before and small != 1:
            continue
        found = best_fit(memory, job, required, least, want, most, cpus, whole, how)
        if found > 0 or left <= least:
            return found
    return 0


@kernel
def deal_tasks(memory: Memory, job: int, count: int) -> None:
    """Leave a job on its ``count`` nodes of TAKEN only the CPUs of the tasks that each of them gets.

    Each node has one task; then they get more in turn, a core at a time, while a node has room for them and
    may have more.
    """
    work, taken = memory.work, 0
    for node in range(memory.nodes.shape[1]):
        taken += work[Work.TAKEN, node]
    per_task, per_node = memory.jobs[SlurmJob.CPUS_PER_TASK, job], memory.jobs[SlurmJob.TASKS_PER_NODE, job]
    cpus = max(memory.jobs[SlurmJob.CPUS, job], count * memory.jobs[SlurmJob.NODE_CPUS, job])
    if count == 1 or (per_task == 1 and per_node == 0 and taken == cpus):
        return
    tasks = count * per_node if per_node > 0 and per_task > 1 else cpus // per_task
    most, given = per_task * (per_node if per_node > 0 else tasks), 1
    for node in range(memory.nodes.shape[1]):
        work[Work.CHOSEN, node] = min(per_task, work[Work.TAKEN, node])
        tasks -= work[Work.TAKEN, node] > 0
    while tasks > 0 and given > 0:
        given = 0
        for node in range(memory.nodes.shape[1]):
            threads = memory.nodes[SlurmNode.THREADS, node]
            for _ in range(max((threads - work[Work.CHOSEN, node] % threads) // per_task, 1)):
                room = work[Work.TAKEN, node] - work[Work.CHOSEN, node] >= per_task
                if room and tasks > 0 and work[Work.CHOSEN, node] < most:
                    work[Work.CHOSEN, node] += per_task
                    given, tasks = given + 1, tasks - 1
    for node in range(memory.nodes.shape[1]):
        dealt = work[Work.CHOSEN, node]
        if tasks > 0 and dealt > 0:  # the last tasks make do with what is left
            dealt, tasks = min(dealt + per_task, work[Work.TAKEN, node]), tasks - 1
        threads = memory.nodes[SlurmNode.THREADS, node]
        work[Work.TAKEN, node] = -(-dealt // threads) * threads


@kernel
def fewest_nodes(memory: Memory, job: int, part: int) -> int:
    """The fewest nodes that a job must have in a partition."""
    asked, bound = memory.jobs[SlurmJob.MIN_NODES, job], memory.partitions[Partition.MIN_NODES, part]
    return int(asked if waives(memory, job, Waiver.MIN_NODES) else max(asked, bound))


@kernel
def bounded_nodes(memory: Memory, job: int, part: int) -> int:
    """The most nodes that a job asks for and its partition allows."""
    asked, bound = memory.jobs[SlurmJob.MAX_NODES, job], memory.partitions[Partition.MAX_NODES, part]
    most = MANY_NODES if asked == UNSET else asked
    free = bound == UNSET or waives(memory, job, Waiver.MAX_NODES)
    return int(most if free else min(most, bound))


@kernel
def wanted_nodes(memory: Memory, job: int, part: int) -> int:
    """The nodes that a job gets if there are as many: the most where it names them, else the fewest."""
    if memory.jobs[SlurmJob.MAX_NODES, job] == UNSET:
        return fewest_nodes(memory, job, part)
    return bounded_nodes(memory, job, part)


@kernel
def most_nodes(memory: Memory, job: int, part: int) -> int:
    """The most nodes that a job may have in a partition: no more than it has tasks."""
    most, tasks = bounded_nodes(memory, job, part), memory.jobs[SlurmJob.TASKS, job]
    return min(most, max(tasks, fewest_nodes(memory, job, part))) if tasks > 0 else most


@routine
def select(state: State, table: Table, candidates: int, job: int, part: int) -> int:
    """Choose nodes for a job among the set number ``candidates``; how many, 0 where it does not fit.

    Where jobs are suspended for others, on cores that nobody holds; else on those of lower tiers, and of
    these as few tiers as will do; else on those of jobs that it takes turns with.
    """
    memory = state.memory
    if not suspends(memory):
        return select_part(state, table, candidates, job, part)
    memory.jobs[SlurmJob.ROW, job] = 0
    found = select_over(state, table, candidates, job, part, 0)
    if found > 0:
        return found
    bound = memory.partitions[Partition.TIER, part]
    if select_over(state, table, candidates, job, part, bound) == 0:
        if memory.settings[Setting.SLICE] == 0:
            return 0
        return select_row(state, table, candidates, job, part, memory.partitions[Partition.ROWS, part])
    for level in range(memory.levels.shape[1] - 1, -1, -1):
        tier = memory.levels[Level.TIER, level]
        if tier >= bound or memory.levels[Level.FIRM, level] > 0:
            continue
        if select_over(state, table, candidates, job, part, tier) == 0:
            break
        bound = tier
    return select_over(state, table, candidates, job, part, bound)


@routine
def select_over(state: State, table: Table, candidates: int, job: int, part: int, bound: int) -> int:
    """Choose nodes for a job as if lower tiers under ``bound`` gave way."""
    imagine_suspended(state, table, part, bound, -1)
    return select_part(state, state.memory.imagined, candidates, job, part)


@routine
def select_row(state: State, table: Table, candidates: int, job: int, part: int, rows: int) -> int:
    """Choose nodes for a job where it takes turns with others, in the first of ``rows`` that it fits in.

    The fullest row comes first; where jobs are preempted by QOS the rows stay in their order.
    """
    memory, tried = state.memory, 0
    in_order = memory.settings[Setting.PREEMPTION] == Preemption.BY_QOS
    for _ in range(rows if rows > 1 else 0):
        row, most = -1, -1
        for other in range(rows):
            used = 0 if in_order else cores_in_row(state, part, other)
            if tried >> other & 1 == 0 and used > most:
                row, most = other, used
        tried |= 1 << row
        imagine_suspended(state, table, part, 0, row)
        found = select_part(state, memory.imagined, candidates, job, part)
        if found > 0:
            memory.jobs[SlurmJob.ROW, job] = row
            return found
    return 0


@routine
def select_part(state: State, table: Table, candidates: int, job: int, part: int) -> int:
    """Choose nodes for a job on what a table has free, as the parts of its constraint want them."""
    memory, required = state.memory, state.memory.jobs[SlurmJob.REQUIRED, job]
    row = memory.jobs[SlurmJob.FEATURES, job]
    first, parts = memory.choices[Choice.FIRST, row], memory.choices[Choice.PARTS, row]
    if parts == 0:
        return select_on(state, table, candidates, job, part, required)
    if memory.choices[Choice.NODES, first] > 0:
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
def require_counted(state: State, table: Table, candidates: int, job: int, part: int) -> bool:
    """Choose as many nodes of each part as it wants into the last set of required nodes; whether it goes."""
    memory, row = state.memory, state.memory.jobs[SlurmJob.FEATURES, job]
    first, last = memory.choices[Choice.FIRST, row], memory.required.shape[0] - 1
    for node in range(memory.nodes.shape[1]):
        memory.required[last, node] = memory.required[memory.jobs[SlurmJob.REQUIRED, job], node]
    for choice in range(first, first + memory.choices[Choice.PARTS, row]):
        for node in range(memory.nodes.shape[1]):
            here = memory.sets[candidates, node] & memory.features[choice, node]
            memory.sets[Scratch.CHOICE, node] = here & (1 - memory.required[last, node])
        lay_offers(state, table, Scratch.CHOICE, job, part, False)
        count, whole = memory.choices[Choice.NODES, choice], whole_nodes(memory, job, part)
        if fit(memory, job, 0, count, count, count, count, whole, placing(memory, job, part)) == 0:
            return False
        for node in range(memory.nodes.shape[1]):
            if memory.work[Work.TAKEN, node] > 0:
                memory.required[last, node] = 1
    return True


@routine
def select_on(state: State, table: Table, candidates: int, job: int, part: int, required: int) -> int:
    """Choose nodes for a job, with those of a set of required ones."""
    memory = state.memory
    if asks_gres(memory, job) > 0:
        lighten(state, table, candidates, job, part)
    return select_freely(state, table, candidates, job, part, required)


@kernel
def flexible_reservation(memory: Memory, job: int) -> int:
    """The job's reservation where it may also use nodes outside it; else UNSET."""
    mine = memory.jobs[SlurmJob.RESERVATION, job]
    if mine == UNSET or memory.reservations[Reservation.FLEXIBLE, mine] == 0:
        return UNSET
    return int(mine)


@kernel
def weigh_outside(memory: Memory, which: int, sign: int) -> None:
    """Let nodes outside a reservation be heavier than others (1), and so taken last, or no more (-1)."""
    if which == UNSET:
        return
    for node in range(memory.nodes.shape[1]):
        if memory.reserved[which, node] == 0:
            memory.nodes[SlurmNode.SET_WEIGHT, node] += sign * OUTSIDE_LAST


@routine
def select_freely(state: State, table: Table, candidates: int, job: int, part: int, required: int) -> int:
    """Choose nodes for a job, those of a set first; how many, 0 where it does not fit.

    A job that shares nodes must also fit as if no CPU were in use, memory as it is: Slurm tries that first.
    """
    memory = state.memory
    least, want = fewest_nodes(memory, job, part), wanted_nodes(memory, job, part)
    most, cpus = most_nodes(memory, job, part), memory.jobs[SlurmJob.CPUS, job]
    if most < least:
        return 0
    whole, how = whole_nodes(memory, job, part), placing(memory, job, part)
    if lay_offers(state, table, candidates, job, part, False) < cpus:
        return 0
    if whole:
        return fit(memory, job, required, least, want, most, cpus, whole, how)
    found = fit(memory, job, required, least, want, most, cpus, whole, how)
    if found == 0:
        return 0
    deal_tasks(memory, job, found)
    for node in range(memory.nodes.shape[1]):
        memory.work[Work.CHOSEN, node] = memory.work[Work.TAKEN, node]
    lay_offers(state, table, candidates, job, part, True)
    if fit(memory, job, required, least, want, most, cpus, whole, how) == 0:
        return 0
    for node in range(memory.nodes.shape[1]):
        memory.work[Work.TAKEN, node] = memory.work[Work.CHOSEN, node]
    return found


@kernel
def propose_types(state: State, place: int, node: int, job: int) -> None:
    """Let what a job asks for of a resource without a type be of types that the node has free, those that are
    defined first before others; ``place`` is the number of the share."""
    memory, free = state.memory, state.nodes[:, node]
    for resource in range(memory.gres_asked.shape[0]):
        left = memory.gres_asked[resource, job]
        for kind in range(memory.gres_asked.shape[0]):
            left -= memory.gres_asked[kind, job] if memory.gres_of[kind] == resource else 0
        for kind in range(memory.gres_asked.shape[0]):
            if memory.gres_of[kind] == resource and left > 0:
                asked = memory.gres_asked[kind, job]
                more = min(left, free[NODE_ROWS + kind] - asked)
                propose_further(state, place, kind, asked + more)
                left -= more


@kernel
def propose_taken(state: State, job: int, part: int) -> int:
    """Propose the chosen nodes to the engine; how many."""
    memory = state.memory
    whole, count = whole_nodes(memory, job, part), 0
    for node in range(memory.nodes.shape[1]):
        cpus = memory.work[Work.TAKEN, node]
        if cpus <= 0:
            continue
        taken = state.nodes[Node.CPUS, node] if whole else cpus
        propose(state, count, node, taken, memory_taken(state, job, part, node, taken), int(whole))
        for resource in range(memory.gres_asked.shape[0]):
            propose_further(state, count, resource, memory.gres_asked[resource, job])
        propose_types(state, count, node, job)
        if memory.partitions[Partition.CPUS_ROW, part] != UNSET:
            propose_further(state, count, memory.partitions[Partition.CPUS_ROW, part], taken)
        if suspends(memory):
            propose_cores(state, count, node, taken, part, memory.jobs[SlurmJob.ROW, job])
        count += 1
    return count
