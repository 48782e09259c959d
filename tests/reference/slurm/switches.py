"""Nodes by a tree of switches, section 6.5, as Slurm 22.05 does it: on few leaves, close to each other."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from .machine import Job, Machine, Switch, members, node_set

if TYPE_CHECKING:
    from .best_fit import Need, Want

FAR = 1 << 30


@cache
def distances(switches: tuple[Switch, ...]) -> list[list[int]]:
    """Links between each two switches, by Floyd and Warshall."""
    count = range(len(switches))
    steps = [[0 if i == j else FAR for j in count] for i in count]
    for i, switch in enumerate(switches):
        if switch.parent != i:
            steps[i][switch.parent] = steps[switch.parent][i] = 1
    for k in count:
        for i in count:
            for j in count:
                steps[i][j] = min(steps[i][j], steps[i][k] + steps[k][j])
    return steps


def by_switches(
    job: Job,
    pool: set[int],
    offers: dict[int, int],
    need: Need,
    want: Want,
    weights: list[int],
    taken: dict[int, int],
    machine: Machine,
) -> dict[int, int] | None:
    """What a job gets beside its required nodes, which it has; None where that is not enough."""
    switches, spared = machine.switches, max(want.aim - want.least, 0)
    free = node_set(pool)
    top = top_switch(switches, job.required, free, weights, need.nodes - spared)
    if top is None or job.required & ~switches[top].nodes:
        return None
    reached = free & switches[top].nodes
    if job.required and need.met():
        return taken
    if need.most <= 0:
        return None
    lighter, best = by_weight(reached & ~job.required, offers, weights, need, spared)
    if best is None:
        return None
    for i in members(lighter):
        if need.most > 0:
            need.take(i, offers, taken)
    if lighter and need.met():
        return taken
    if need.most <= 0:
        return None
    usable = best | node_set(taken)
    held = node_set(taken)
    below = [switch.nodes & usable for switch in switches]
    counts = [nodes.bit_count() for nodes in below]
    used = [bool(switch.nodes & held) for switch in switches]
    for k, switch in enumerate(switches):
        if used[k] and switch.level == 0:
            for i in members(below[k]):
                if i not in taken and not need.met():
                    need.take(i, offers, taken)
    if taken and need.met():
        return taken
    steps = distances(switches)
    far = [sum(steps[k][j] for k in range(len(switches)) if used[k]) for j in range(len(switches))]
    leaves = [k for k, switch in enumerate(switches) if switch.level == 0 and not used[k]]
    while True:
        before, best_leaf = need.nodes, None
        for k in leaves:
            if counts[k] and far[k] < FAR:
                best_leaf = k if best_leaf is None else closer(switches, counts, far, k, best_leaf, before)
        if best_leaf is None:
            break
        far = [far[j] + steps[best_leaf][j] for j in range(len(switches))]
        for i in members(below[best_leaf]):
            if i not in taken and need.most > 0 and not need.met():
                need.take(i, offers, taken)
        if need.met():
            return taken
        counts[best_leaf] = 0
        if need.nodes == before:
            break
    return taken if need.least <= 0 and need.cpus <= 0 else None


def top_switch(
    switches: tuple[Switch, ...], required: int, free: int, weights: list[int], needed: int
) -> int | None:
    """The switch that all nodes are to be below."""
    top: int | None = None
    lightest = 0
    for k, switch in enumerate(switches):
        if required:
            if switch.nodes & required and (top is None or switch.level > switches[top].level):
                top = k
            continue
        here = switch.nodes & free
        if here.bit_count() < needed or not here:
            continue
        weight = min(weights[i] for i in members(here))
        if top is None or (switch.level >= switches[top].level and weight <= lightest):
            top, lightest = k, weight
    return top


def by_weight(
    nodes: int, offers: dict[int, int], weights: list[int], need: Need, spared: int
) -> tuple[int, int | None]:
    """Nodes of the lightest weights until they are enough: those under the last weight, and all of them."""
    best = lighter = 0
    sizes = Counter(weights[i] for i in members(nodes))
    for weight in sorted(sizes):
        lighter = best
        best |= node_set(i for i in members(nodes) if weights[i] == weight)
        enough = best.bit_count() >= need.nodes - spared
        if enough and sum(offers[i] for i in members(best)) >= need.cpus:
            return lighter, best
    return 0, None


def closer(
    switches: tuple[Switch, ...], counts: list[int], far: list[int], k: int, best: int, nodes: int
) -> int:
    """Which of two leaves is taken first."""
    better = compare(switches, counts, k, best, nodes)
    if (far[k] < far[best] and better >= 0) or (far[k] == far[best] and better > 0):
        return k
    return best


def compare(switches: tuple[Switch, ...], counts: list[int], i: int, j: int, nodes: int) -> int:
    """1 where switch i is the better one, -1 where j is: the tightest, then the largest, then the lowest."""
    while counts[i] < nodes and counts[j] < nodes:
        up_i, up_j = switches[i].parent, switches[j].parent
        if up_i == up_j or (up_i == i and up_j == j):
            break
        i, j = up_i, up_j
    fits_i, fits_j = counts[i] >= nodes, counts[j] >= nodes
    if fits_i != fits_j:
        return 1 if fits_i else -1
    if counts[i] != counts[j]:
        return 1 if (counts[i] < counts[j]) == fits_i else -1
    return (switches[i].level < switches[j].level) - (switches[i].level > switches[j].level)
