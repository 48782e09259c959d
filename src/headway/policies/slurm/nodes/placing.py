"""Best fit over runs of neighbouring nodes, and the other orders in which a job may take nodes.

The nodes of equal weight that stand side by side form runs. The run that fits most tightly is taken from its
first node up, then the next, until the job has its nodes and its CPUs::

    node      1 2 3 4 5 6 7 8 9          a job that wants 2 nodes
    free      x x x . x x . x .          gets 5 and 6: the smallest run that is large enough
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.offers import (
    asks_gres,
    cpus_beyond_tasks,
    cut_offer,
    give,
    nodes_with,
    takes_first,
    wanted_nodes,
)
from headway.policies.slurm.nodes.switches import by_switches
from headway.policies.slurm.tables.bits import has
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch, Work
from headway.policies.slurm.tables.settings import Placing

NO_WEIGHT = 0
"""What no node weighs."""


@kernel
def units_offered(memory: Memory, job: int, node: int) -> int:
    """Units of generic resources that a node offers a job, no more than it has CPUs for."""
    units, each = memory.work.units[node], memory.jobs.cpus_unit[job]
    return int(min(units, memory.work.offer[node] // each) if each > 0 else units)


@kernel
def lay_runs(memory: Memory, job: int, required: int) -> int:
    """Split the nodes that offer something into runs of neighbours with equal weight; how many there are.

    Weights do not matter to a job whose nodes must stand side by side. Required nodes are taken already, they
    hold a run together; NAMED is the first of them, or -1. Where weights change at a required node, Slurm
    forgets it with the next one.
    """
    work, count, open_run, weight = memory.work, 0, False, UNSET
    for node in range(memory.nodes.shape[1]):
        cpus, here = work.offer[node], memory.nodes.set_weight[node]
        if cpus <= 0:
            open_run, weight = False, UNSET
            continue
        if weight != UNSET and here != weight and memory.jobs.contiguous[job] == 0:
            open_run, weight = False, NO_WEIGHT
        if not open_run:
            work.first[count], work.named[count] = node, UNSET
            work.run_cpus[count] = work.run_nodes[count] = work.run_units[count] = 0
            count += 1
            open_run = True
        if memory.required[required, node] > 0:
            if work.named[count - 1] == UNSET:
                work.named[count - 1] = node
            continue
        weight = here
        work.last[count - 1] = node
        work.run_cpus[count - 1] += cpus
        work.run_nodes[count - 1] += 1
        work.run_units[count - 1] += units_offered(memory, job, node)
    return count


@kernel
def best_run(memory: Memory, job: int, count: int, nodes: int, cpus: int, units: int) -> int:
    """The run of the lowest weight that fits ``nodes``, ``cpus`` and ``units`` best; -1 where none is left.

    A job whose nodes must stand side by side takes the first that is large enough, unless a lighter one comes
    after it; where that is too small, there is none. If it requires nodes, only a run with them will do.
    """
    work, one_run = memory.work, memory.jobs.contiguous[job] > 0
    only_named = one_run and memory.jobs.required[job] > 0
    best, best_enough, best_weight, best_named = -1, False, 0, False
    for run in range(count):
        named = work.named[run] != UNSET
        if work.run_nodes[run] == 0 or (only_named and not named):
            continue
        size = work.run_cpus[run]
        enough = size >= cpus and work.run_nodes[run] >= nodes
        enough = enough and (units <= 0 or work.run_units[run] >= units)
        weight = memory.nodes.set_weight[work.last[run]]
        first_enough = one_run and enough and not best_enough
        if best >= 0 and not first_enough and not (named and not best_named):
            if weight > best_weight:
                continue
            best_size = work.run_cpus[best]
            if weight == best_weight and not (
                (enough and not best_enough)
                or (enough and size < best_size)
                or (not enough and size > best_size)
            ):
                continue
        best, best_enough, best_weight, best_named = run, enough, weight, named
    return -1 if one_run and not best_enough else best


@kernel
def tightest_node(memory: Memory, job: int, first: int, last: int, cpus: int, units: int) -> int:
    """The node with the fewest CPUs that are enough by themselves; -1 where there is none."""
    found = -1
    for node in range(first, last + 1):
        have = memory.work.offer[node]
        if units > 0 and units_offered(memory, job, node) < units:
            continue
        if have > 0 and have >= cpus and (found < 0 or have < memory.work.offer[found]):
            found = node
            if have == cpus:
                break
    return found


@kernel
def units_to_find(memory: Memory, job: int) -> int:
    """Units of generic resources that a job wants of its nodes together; those of tasks come with CPUs."""
    return int(0 if memory.jobs.by_task[job] > 0 else memory.jobs.units[job])


@kernel
def units_given(memory: Memory, job: int, node: int) -> int:
    """Units of generic resources that a job gets with a node that it has been given.

    Where it wants CPUs for each of them it has no more CPUs there than for these.
    """
    units, each = memory.work.units[node], memory.jobs.cpus_unit[job]
    if each > 0:
        units = min(units, memory.work.taken[node] // each)
        memory.work.taken[node] = units * each
    return int(units)


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
    if takes_first(memory, job, part):
        return Placing.FIRST_NODE
    if units_to_find(memory, job) > 0:
        return Placing.BEST_FIT
    ahead = memory.clock.looks_ahead > 0 and memory.jobs.contiguous[job] == 0
    if settings.busy_first > 0 and ahead:
        return Placing.BUSY_FIRST
    if memory.partitions.least_loaded[part] > 0:
        return Placing.LEAST_LOADED
    serial = memory.jobs.cpus[job] == 1 and wanted_nodes(memory, job, part) == 1
    if serial and settings.serial_last > 0:
        return Placing.FROM_THE_END
    network, side_by_side = settings.by_switches, memory.jobs.contiguous[job] > 0
    asked = network == 1 or memory.jobs.switches[job] > 0
    return Placing.BY_SWITCHES if network > 0 and asked and not side_by_side else Placing.BEST_FIT


@kernel
def next_weight(memory: Memory, above: int) -> int:
    """The lowest weight above another of a node that may still be taken; -1 where there is none."""
    found = UNSET
    for node in range(memory.nodes.shape[1]):
        weight = memory.nodes.set_weight[node]
        open_to_it = memory.work.offer[node] > 0 and memory.work.taken[node] == 0
        if open_to_it and weight > above and (found == UNSET or weight < found):
            found = weight
    return int(found)


@kernel
def is_open(memory: Memory, node: int, weight: int) -> bool:
    """Whether a node of a weight may still be taken."""
    here = memory.work.offer[node] > 0 and memory.work.taken[node] == 0
    return bool(here and memory.nodes.set_weight[node] == weight)


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
        free = memory.work.free[node]
        if best < 0 or (memory.work.free[best] * table.cpus[node] < free * table.cpus[best]):
            best = node
            if free == last:
                break
    return best


@kernel
def first_node(memory: Memory, cpus: int, each: int, whole: bool) -> int:
    """Take the first node in the order of weights that has as many CPUs; 1, 0 where none has."""
    best = -1
    for node in range(memory.nodes.shape[1]):
        weight = memory.nodes.set_weight[node]
        lighter = best < 0 or weight < memory.nodes.set_weight[best]
        if lighter and memory.work.offer[node] > 0 and memory.work.offer[node] >= cpus:
            best = node
    if best >= 0:
        give(memory, best, cpus, 0, each, whole)
    return int(best >= 0)


@routine
def one_by_one(
    memory: Memory, how: int, least: int, nodes: int, most: int, cpus: int, each: int, whole: bool
) -> int:
    """Take nodes of the row OFFER one after the other, light ones first; how many, 0 if they do not do.

    The job still needs ``least`` nodes, wants ``nodes`` and may have ``most``.
    """
    if how == Placing.BUSY_FIRST:
        return busy_first(memory, least, nodes, most, cpus, each, whole)
    if how == Placing.FIRST_NODE:
        return first_node(memory, cpus, each, whole)
    taken, weight, last = 0, next_weight(memory, UNSET), UNSET
    while most > 0 and weight != UNSET:
        if how == Placing.LEAST_LOADED:
            node = least_loaded(memory, weight, last, cpus, least - 1, each, whole)
        else:
            node = last_node(memory, weight)
        if node < 0:
            weight, last = next_weight(memory, weight), UNSET
            continue
        last = memory.work.free[node]
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
    others as :class:`Placing` says (``how``). Of ``cpus`` it may have, it must find those of its tasks.
    """
    work, each, taken = memory.work, memory.jobs.node_cpus[job], 0
    nodes, still_least, units = max(least, want), least, units_to_find(memory, job)
    spared, more = max(want - least, 0), cpus_beyond_tasks(memory, job)
    cpus -= more
    for node in range(memory.nodes.shape[1]):
        work.taken[node] = 0
        if memory.required[required, node] > 0:
            if work.offer[node] <= 0:
                return 0
            give(memory, node, cpus + more, still_least - 1, each, whole)
            units -= units_given(memory, job, node)
            cpus -= work.taken[node]
            taken, nodes, still_least, most = taken + 1, nodes - 1, still_least - 1, most - 1
    if how == Placing.BY_SWITCHES:
        need = nodes, still_least, most, cpus
        return int(by_switches(memory, need, spared, taken > 0, each, whole))
    if taken > 0 and nodes <= 0 and cpus <= 0 and units <= 0:
        return taken
    if how != Placing.BEST_FIT:
        others = one_by_one(memory, how, still_least, nodes, most, cpus, each, whole)
        return taken + others if others > 0 or (taken > 0 and still_least <= 0 and cpus <= 0) else 0
    count = lay_runs(memory, job, required)
    while most > 0:
        run = best_run(memory, job, count, nodes - spared, cpus, units)
        if run < 0:
            break
        first, last, named = work.first[run], work.last[run], work.named[run]
        single = tightest_node(memory, job, first, last, cpus, units) if nodes <= 1 and named == UNSET else -1
        for step in range(last - first + 1):
            if most <= 0 or (nodes <= 0 and cpus <= 0 and units <= 0):
                break
            node = around(first, named, last, step)
            have = work.offer[node]
            if have <= 0 or work.taken[node] > 0 or (single >= 0 and node != single):
                continue
            if most == 1 and have < cpus and named == UNSET:
                continue
            give(memory, node, cpus + more, still_least - 1, each, whole)
            units -= units_given(memory, job, node)
            cpus -= work.taken[node]
            taken, nodes, still_least, most = taken + 1, nodes - 1, still_least - 1, most - 1
        if nodes <= 0 and cpus <= 0 and units <= 0:
            return taken
        work.run_nodes[run] = work.run_cpus[run] = 0
    return taken if cpus <= 0 and nodes - spared <= 0 and units <= 0 else 0


@kernel
def drop_small(memory: Memory, required: int, what: int, size: int, least: int, left: int) -> int:
    """Leave out nodes that have at most ``size`` in a row (:class:`Work`), until ``least`` are left; how many
    are. With DROPS_IN_TURN one of that size, and those that are smaller and come after it."""
    in_turn, before = memory.settings.drops_in_turn > 0, left
    for node in range(memory.nodes.shape[1]):
        open_to_it = memory.work.offer[node] > 0 and memory.required[required, node] == 0
        bound = size - 1 if in_turn and left < before else size
        if open_to_it and memory.work[what, node] <= bound and left > least:
            memory.work.offer[node] = 0
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
    if found > 0 or how == Placing.FIRST_NODE:
        return found
    left, largest = nodes_with(memory, Work["offer"]), 0
    if whole and left <= most and memory.jobs.contiguous[job] == 0:
        return 0  # all that they have was taken, and is not enough
    if left <= least:
        return best_fit(memory, job, required, least, want, most, cpus, whole, how)
    what = Work["count"] if asks_gres(memory, job) > 0 else Work["offer"]
    for node in range(memory.nodes.shape[1]):
        if memory.work.offer[node] > 0:
            largest = max(largest, memory.work[what, node])
    small, in_turn = 1, memory.settings.drops_in_turn > 0
    while small < largest:
        before = left
        left = drop_small(memory, required, what, small, least, left)
        if left < before or small == 1:
            found = best_fit(memory, job, required, least, want, most, cpus, whole, how)
            if found > 0 or left <= least:
                return found
        if left == before or not in_turn:
            small += 1
    return 0
