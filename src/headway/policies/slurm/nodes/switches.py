"""Which nodes a job gets where the network is a tree of switches: on few leaves that are close to each other.

All nodes must be below one switch. Of these, nodes of low weight come first; then the leaf that the job fits
on most tightly, or the fullest where it fits on none, and from there the nearest ones::

    spine       t1          t2           a job that wants 3 nodes
               /  |          |           gets the three of leaf 3: it is the smallest that is large enough
    leaf      1    2         3
    free     xx.. xxxx      xxx.         one that wants 6 gets leaf 2, then leaf 1 beside it
"""

from __future__ import annotations

from headway.jit.kernels import count_bits, kernel, routine
from headway.policies.slurm.nodes.offers import give, nodes_with
from headway.policies.slurm.tables.bits import common_nodes, empty, has, meet, next_node, pack_row, put
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch, Work


@kernel
def lightest_below(memory: Memory, switch: int) -> int:
    """The lowest weight of the nodes below a switch that offer something; -1 where there is none."""
    reached, found = memory.words_sets, UNSET
    node = next_node(reached, Scratch.REACHED, 0)
    while node >= 0:
        weight = memory.nodes.set_weight[node]
        if (found == UNSET or weight < found) and has(memory.words_switches, switch, node):
            found = weight
        node = next_node(reached, Scratch.REACHED, node + 1)
    return int(found)


@kernel
def top_switch(memory: Memory, needed: int, named: bool) -> int:
    """The switch below which all of a job's nodes are to be; -1 where none has ``needed``.

    With required nodes, which are taken already, the first of the highest that have one; else the last of the
    highest and, among those, of the ones with the lightest nodes.
    """
    table, top, lightest = memory.switches, -1, 0
    for switch in range(table.shape[1]):
        level = table.level[switch]
        if named:
            has_one = meet(memory.words_switches, switch, memory.words_sets, Scratch.TAKEN)
            if has_one and (top < 0 or level > table.level[top]):
                top = switch
            continue
        count = common_nodes(memory.words_switches, switch, memory.words_sets, Scratch.REACHED)
        if count > 0 and count >= needed and (top < 0 or level >= table.level[top]):
            weight = lightest_below(memory, switch)
            if top < 0 or weight <= lightest:
                top, lightest = switch, weight
    return top


@kernel
def keep_below(memory: Memory, switch: int) -> bool:
    """Leave only nodes below a switch in REACHED; whether all that are taken are among them."""
    sets, inside = memory.words_sets, True
    for word in range(sets.shape[1]):
        below = memory.words_switches[switch, word]
        inside = inside and sets[Scratch.TAKEN, word] & ~below == 0
        sets[Scratch.REACHED, word] &= below
    return inside


@kernel
def next_lightest(memory: Memory, above: int) -> int:
    """The lowest weight above another of the nodes of REACHED that are not taken; -1 where there is none."""
    reached, found = memory.words_sets, UNSET
    node = next_node(reached, Scratch.REACHED, 0)
    while node >= 0:
        weight = memory.nodes.set_weight[node]
        lighter = weight > above and (found == UNSET or weight < found)
        if lighter and memory.work.taken[node] == 0:
            found = weight
        node = next_node(reached, Scratch.REACHED, node + 1)
    return int(found)


@kernel
def lay_light(memory: Memory, needed: int, cpus: int) -> int:
    """Lay the nodes of the weights that a job needs, light ones first; the heaviest weight, -1 if too few."""
    sets, found, offered, weight = memory.words_sets, 0, 0, UNSET
    empty(sets, Scratch.LIGHT)
    while True:
        weight = next_lightest(memory, weight)
        if weight == UNSET:
            return UNSET
        node = next_node(sets, Scratch.REACHED, 0)
        while node >= 0:
            if memory.nodes.set_weight[node] == weight and memory.work.taken[node] == 0:
                put(sets, Scratch.LIGHT, node)
                found += 1
                offered += memory.work.offer[node]
            node = next_node(sets, Scratch.REACHED, node + 1)
        if found >= needed and offered >= cpus:
            return weight


@kernel
def note_switches(memory: Memory) -> bool:
    """Count the nodes of LIGHT below each switch, and note which switches are in use; whether one is."""
    sets, any_in_use = memory.words_sets, False
    for word in range(sets.shape[1]):
        sets[Scratch.LIGHT, word] |= sets[Scratch.TAKEN, word]
    memory.switches.distance[:] = 0
    for switch in range(memory.switches.shape[1]):
        count = common_nodes(memory.words_switches, switch, sets, Scratch.LIGHT)
        in_use = meet(memory.words_switches, switch, sets, Scratch.TAKEN)
        memory.switches.nodes[switch] = count
        memory.switches.in_use[switch] = in_use
        any_in_use = any_in_use or in_use
    for switch in range(memory.switches.shape[1]):
        if memory.switches.in_use[switch] > 0:
            add_distances(memory, switch)
    return any_in_use


@kernel
def add_distances(memory: Memory, switch: int) -> None:
    """Count the steps from one switch more to all others."""
    table = memory.switches
    for other in range(table.shape[1]):
        steps = memory.switch_steps[switch, other]
        near = table.distance[other] >= 0 and steps >= 0
        table.distance[other] = table.distance[other] + steps if near else -1


@kernel
def fits_better(memory: Memory, one: int, other: int, nodes: int) -> int:
    """Whether a switch is the better one for ``nodes``: 1, the worse: -1, or neither.

    The smaller one that is large enough; where neither is, those above them are compared, and in the end the
    larger one, then the lower one, is better.
    """
    table = memory.switches
    while table.nodes[one] < nodes and table.nodes[other] < nodes:
        above, above_other = table.parent[one], table.parent[other]
        if (above == one and above_other == other) or above == above_other:
            break
        one, other = above, above_other
    first, second = table.nodes[one], table.nodes[other]
    is_enough = first >= nodes
    if is_enough != (second >= nodes):
        return 1 if is_enough else -1
    if first != second:
        return 1 if (first < second) == is_enough else -1
    level, level_other = table.level[one], table.level[other]
    return 0 if level == level_other else 1 if level < level_other else -1


@kernel
def next_leaf(memory: Memory, nodes: int) -> int:
    """The leaf to take nodes from next: the nearest, of those the one that fits best; -1: none is left."""
    table, best = memory.switches, -1
    for switch in range(table.shape[1]):
        distance = table.distance[switch]
        if table.level[switch] > 0 or table.in_use[switch] > 0 or distance < 0:
            continue
        if table.nodes[switch] == 0:
            continue
        if best < 0:
            best = switch
            continue
        fits = fits_better(memory, switch, best, nodes)
        nearest = table.distance[best]
        if (distance < nearest and fits >= 0) or (distance == nearest and fits > 0):
            best = switch
    return best


@kernel
def take_below(
    memory: Memory, switch: int, need: tuple[int, int, int, int], bounded: bool, each: int, whole: bool
) -> tuple[int, int, int, int]:
    """Let a job take nodes of LIGHT below a switch, in their order, until it has enough; what it still needs.

    ``need`` is how many nodes it wants, must have and may have, and CPUs; ``bounded`` keeps to the third.
    """
    nodes, least, most, cpus = need
    node = next_node(memory.words_sets, Scratch.LIGHT, 0)
    while node >= 0 and (nodes > 0 or cpus > 0) and (most > 0 or not bounded):
        if memory.work.taken[node] == 0 and has(memory.words_switches, switch, node):
            cpus -= give(memory, node, cpus, least - 1, each, whole)
            nodes, least, most = nodes - 1, least - 1, most - 1
        node = next_node(memory.words_sets, Scratch.LIGHT, node + 1)
    return nodes, least, most, cpus


@kernel
def take_lighter(
    memory: Memory, weight: int, need: tuple[int, int, int, int], each: int, whole: bool
) -> tuple[int, int, int, int]:
    """Let a job take all nodes of LIGHT under a weight; what it still needs."""
    nodes, least, most, cpus = need
    node = next_node(memory.words_sets, Scratch.LIGHT, 0)
    while node >= 0 and most > 0:
        if memory.nodes.set_weight[node] < weight:
            cpus -= give(memory, node, cpus, least - 1, each, whole)
            nodes, least, most = nodes - 1, least - 1, most - 1
        node = next_node(memory.words_sets, Scratch.LIGHT, node + 1)
    return nodes, least, most, cpus


@kernel
def is_met(need: tuple[int, int, int, int]) -> bool:
    """Whether a job has the nodes that it wants, and its CPUs."""
    return need[0] <= 0 and need[3] <= 0


@routine
def by_switches(
    memory: Memory, need: tuple[int, int, int, int], spared: int, named: bool, each: int, whole: bool
) -> int:
    """Take nodes of the row OFFER for a job; how many it has then, 0 where the request cannot be met.

    ``need`` is how many nodes it still wants, must have and may have, and CPUs; ``spared`` of the nodes that
    it wants it can do without. ``named`` says whether it has required nodes, which are taken already.
    """
    pack_row(memory, Work["offer"], Scratch.REACHED)
    pack_row(memory, Work["taken"], Scratch.TAKEN)
    top = top_switch(memory, need[0] - spared, named)
    if top < 0 or not keep_below(memory, top):
        return 0
    if named and is_met(need):
        return nodes_with(memory, Work["taken"])
    if need[2] <= 0:
        return 0
    heaviest = lay_light(memory, need[0] - spared, need[3])
    if heaviest == UNSET:
        return 0
    need = take_lighter(memory, heaviest, need, each, whole)
    if is_met(need):
        return nodes_with(memory, Work["taken"])
    if need[2] <= 0:
        return 0
    pack_row(memory, Work["taken"], Scratch.TAKEN)
    if note_switches(memory):
        for switch in range(memory.switches.shape[1]):
            if memory.switches.in_use[switch] > 0 and memory.switches.level[switch] == 0:
                need = take_below(memory, switch, need, False, each, whole)
        if is_met(need):
            return nodes_with(memory, Work["taken"])
    before = need[0] + 1
    while before != need[0]:
        before = need[0]
        leaf = next_leaf(memory, before)
        if leaf < 0:
            break
        add_distances(memory, leaf)
        need = take_below(memory, leaf, need, True, each, whole)
        if is_met(need):
            return nodes_with(memory, Work["taken"])
        memory.switches.nodes[leaf] = 0
    return nodes_with(memory, Work["taken"]) if need[1] <= 0 and need[3] <= 0 else 0


@kernel
def put_first(memory: Memory, switch: int, count: int) -> int:
    """Put the first nodes of LIGHT below a switch into TAKEN that are not there yet; how many."""
    sets, left = memory.words_sets, count
    for word in range(sets.shape[1]):
        here = memory.words_switches[switch, word] & sets[Scratch.LIGHT, word] & ~sets[Scratch.TAKEN, word]
        if count_bits(here) <= left:
            sets[Scratch.TAKEN, word] |= here
            left -= count_bits(here)
            continue
        while left > 0:
            lowest = here & -here
            sets[Scratch.TAKEN, word] |= lowest
            here ^= lowest
            left -= 1
    return count - left


@routine
def whole_by_switches(memory: Memory, nodes: int, spared: int, most: int, cpus: int, each: int) -> int:
    """:func:`by_switches` for nodes of LIGHT that are alike, offer ``each`` CPUs and are below one switch."""
    empty(memory.words_sets, Scratch.TAKEN)
    note_switches(memory)
    before, taken = nodes + 1, 0
    while before != nodes:
        before = nodes
        leaf = next_leaf(memory, nodes)
        if leaf < 0:
            break
        add_distances(memory, leaf)
        here = put_first(memory, leaf, min(max(nodes, -(-cpus // each)), most))
        taken, nodes, most, cpus = taken + here, nodes - here, most - here, cpus - here * each
        if nodes <= 0 and cpus <= 0:
            return taken
        memory.switches.nodes[leaf] = 0
    return taken if nodes - spared <= 0 and cpus <= 0 else 0


@kernel
def waits_for_switches(memory: Memory, job: int) -> bool:
    """Whether the nodes that were chosen for a job are on more switches than it wants, and it still waits."""
    most = memory.jobs.switches[job]
    if most == 0 or memory.settings.by_switches == 0:
        return False
    now = memory.clock.of_pass
    if now - memory.jobs.entered[job] >= memory.jobs.switch_wait[job]:
        return False
    pack_row(memory, Work["taken"], Scratch.TAKEN)
    leaves = 0
    for switch in range(memory.switches.shape[1]):
        in_use = meet(memory.words_switches, switch, memory.words_sets, Scratch.TAKEN)
        leaves += memory.switches.level[switch] == 0 and in_use
    return bool(leaves > most)
