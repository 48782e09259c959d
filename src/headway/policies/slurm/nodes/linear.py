"""``select/linear``: jobs take whole nodes by runs of neighbours, and weights count only when they start.

A start is tried on the lightest kind of nodes alone, then with the next kind, and so on; a plan looks at all
nodes at once. Where the smallest nodes would not do, the largest are taken, the last ones first.
"""

from __future__ import annotations

from headway.engine.tables import Nodes, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.offers import (
    fewest_nodes,
    give,
    lay_offers,
    most_nodes,
    nodes_with,
    wanted_nodes,
)
from headway.policies.slurm.nodes.placing import around, best_run, lay_runs
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.passes import Work


@kernel
def smallest_does(memory: Memory, nodes: int, cpus: int) -> bool:
    """Whether so many nodes have the CPUs that are wanted though each offers no more than the smallest does,
    or all offer the same."""
    smallest = largest = 0
    for node in range(memory.nodes.shape[1]):
        have = memory.work.offer[node]
        largest = max(largest, have)
        if have > 0 and (smallest == 0 or have < smallest):
            smallest = have
    return bool(smallest == largest or cpus <= smallest * nodes)


@kernel
def largest_node(memory: Memory) -> int:
    """The last of the nodes that offer most and are not taken; -1 where none is left."""
    found = -1
    for node in range(memory.nodes.shape[1]):
        have = memory.work.offer[node] if memory.work.taken[node] == 0 else 0
        if have > 0 and (found < 0 or have >= memory.work.offer[found]):
            found = node
    return found


@routine
def fit_linear(memory: Memory, job: int, required: int, least: int, want: int, most: int) -> int:
    """Take nodes of the row OFFER for a job into TAKEN; how many, 0 where the request cannot be met.

    ``least``, ``want`` and ``most`` are numbers of nodes; those of the set ``required`` come first.
    """
    work, taken, cpus = memory.work, 0, memory.jobs.cpus[job]
    nodes, spared = max(least, want), max(want - least, 0)
    for node in range(memory.nodes.shape[1]):
        work.taken[node] = 0
        if memory.required[required, node] > 0:
            if work.offer[node] <= 0:
                return 0
            cpus -= give(memory, node, cpus, 0, 0, True)
            taken, nodes, most = taken + 1, nodes - 1, most - 1
    if not smallest_does(memory, nodes, cpus):
        while most > 0 and (nodes > 0 or cpus > 0):
            node = largest_node(memory)
            if node < 0:
                break
            cpus -= give(memory, node, cpus, 0, 0, True)
            taken, nodes, most = taken + 1, nodes - 1, most - 1
        return taken if cpus <= 0 and nodes - spared <= 0 else 0
    count = lay_runs(memory, job, required)
    while most > 0 and (nodes > 0 or cpus > 0):
        run = best_run(memory, job, count, nodes - spared, cpus, 0)
        if run < 0:
            break
        first, last, named = work.first[run], work.last[run], work.named[run]
        for step in range(last - first + 1):
            node = around(first, named, last, step)
            if most <= 0 or (nodes <= 0 and cpus <= 0):
                break
            if work.offer[node] > 0 and work.taken[node] == 0:
                cpus -= give(memory, node, cpus, 0, 0, True)
                taken, nodes, most = taken + 1, nodes - 1, most - 1
        work.run_nodes[run] = work.run_cpus[run] = 0
        if memory.jobs.contiguous[job] > 0:
            break
    return taken if cpus <= 0 and nodes - spared <= 0 else 0


@kernel
def offer_kinds(memory: Memory, required: int, last: int) -> int:
    """Let nodes of the kinds up to the ``last`` one offer what was put by, no others; how many they are."""
    for node in range(memory.nodes.shape[1]):
        within = memory.nodes.kind[node] <= last or memory.required[required, node] > 0
        memory.work.offer[node] = memory.work.chosen[node] if within else 0
    return nodes_with(memory, Work["offer"])


@routine
def select_linear(state: State, table: Nodes, candidates: int, job: int, part: int, required: int) -> int:
    """Choose nodes for a job among the set number ``candidates``; how many, 0 where it does not fit."""
    memory = state.memory
    least, want = fewest_nodes(memory, job, part), wanted_nodes(memory, job, part)
    most, last = most_nodes(memory, job, part), 0
    offered = lay_offers(state, table, candidates, job, part, False)
    if most < least or offered < memory.jobs.cpus[job]:
        return 0
    if memory.clock.by_kind == 0:
        return fit_linear(memory, job, required, least, want, most)
    for node in range(memory.nodes.shape[1]):
        memory.work.chosen[node] = memory.work.offer[node]
        last = max(last, memory.nodes.kind[node])
    for kind in range(last + 1):
        if offer_kinds(memory, required, kind) < max(least, want) and kind < last:
            continue
        found = fit_linear(memory, job, required, least, want, most)
        if found > 0:
            return found
    return 0
