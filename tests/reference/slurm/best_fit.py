"""Best fit, section 6.3: over runs of nodes that follow each other and have equal weight."""

from __future__ import annotations

from dataclasses import dataclass

from .machine import Job, Machine, members
from .switches import by_switches


@dataclass(frozen=True)
class Want:
    """How many nodes: at least, at most, and the number aimed at."""

    least: int
    most: int
    aim: int


def choose(
    job: Job, offers: dict[int, int], want: Want, weights: list[int], machine: Machine
) -> dict[int, int] | None:
    """Best fit, and where it fails again without the nodes that offer fewest CPUs.

    What an attempt took from a node stays its offer in the next attempt, as in the original.
    """
    if len(offers) < want.least or any(i not in offers for i in members(job.required)):
        return None
    offers = dict(offers)
    pool = set(offers)
    most = want.most
    if job.tasks and most > job.tasks:
        most = max(job.tasks, want.least)
    want = Want(want.least, most, want.aim)
    chosen = best_fit(job, pool, offers, want, weights, machine)
    if chosen is not None:
        return chosen
    left = len(pool)
    if left <= want.least:
        return best_fit(job, pool, offers, want, weights, machine)
    largest, few, in_turn = max(offers.values()), 0, machine.settings.since(24, 11, 4)
    while few + 1 < largest:
        few += 1
        changed = False
        for i in sorted(pool):
            if 0 < offers[i] <= few and not job.required >> i & 1:
                if in_turn and not changed:
                    few -= 1  # the others of this size have their turn in the next attempt
                changed = True
                pool.discard(i)
                left -= 1
                if left <= want.least:
                    break
        if not changed and few != 1:
            continue
        chosen = best_fit(job, pool, offers, want, weights, machine)
        if chosen is not None or left <= want.least:
            return chosen
    return None


def deal(job: Job, chosen: dict[int, int], machine: Machine) -> dict[int, int]:
    """The CPUs of the tasks that each node gets: one each, then in turn a core at a time, as room is."""
    each = job.cpus_per_task
    cpus = max(job.cpus, len(chosen) * job.node_cpus)
    tasks = len(chosen) * job.tasks_per_node if job.tasks_per_node and each > 1 else cpus // each
    dealt = {i: min(each, chosen[i]) for i in sorted(chosen)}
    left, most = tasks - len(chosen), each * (job.tasks_per_node or tasks)
    given = True
    while left > 0 and given:
        given = False
        for i in dealt:
            threads = machine.nodes[i].threads
            for _ in range(max((threads - dealt[i] % threads) // each, 1)):
                if left > 0 and chosen[i] - dealt[i] >= each and dealt[i] < most:
                    dealt[i] += each
                    left, given = left - 1, True
    for i in dealt:  # the last tasks make do with what is left
        if left > 0:
            dealt[i] = min(dealt[i] + each, chosen[i])
            left -= 1
    return {i: -(-count // machine.nodes[i].threads) * machine.nodes[i].threads for i, count in dealt.items()}


@dataclass
class Run:
    """Nodes that follow each other by index and have equal weight."""

    weight: int
    nodes: list[int]
    cpus: int = 0
    required: int = -1
    """First required node in it, or -1."""


def runs_of(job: Job, pool: set[int], offers: dict[int, int], weights: list[int]) -> list[Run]:
    """The pool cut into runs; required nodes are already taken but hold a run together."""
    runs: list[Run] = []
    last = -2
    for i in sorted(pool):
        if i != last + 1 or not runs or weights[i] != runs[-1].weight:
            runs.append(Run(weights[i], []))
        last = i
        if job.required >> i & 1:
            if runs[-1].required < 0:
                runs[-1].required = i
            continue
        runs[-1].nodes.append(i)
        runs[-1].cpus += offers[i]
    return [run for run in runs if run.nodes]


def best_fit(
    job: Job, pool: set[int], offers: dict[int, int], want: Want, weights: list[int], machine: Machine
) -> dict[int, int] | None:
    """Section 6.3: fill from the best run, then the next best, until all is found; or by switches."""
    if len(pool) < want.least:
        return None
    taken: dict[int, int] = {}
    state = Need(job, max(want.least, want.aim), job.cpus, want.least, want.most, machine)
    for i in members(job.required):
        state.take(i, offers, taken)
    if machine.switches:
        return by_switches(job, pool, offers, state, want, weights, taken, machine)
    if job.required and state.met():
        return taken
    runs = runs_of(job, pool, offers, weights)
    while runs and state.most > 0:
        run = best_run(runs, state)
        fill(run, state, offers, taken)
        if state.met():
            return taken
        runs.remove(run)
    return None


class Need:
    """What is still to be found for a job."""

    def __init__(self, job: Job, nodes: int, cpus: int, least: int, most: int, machine: Machine) -> None:
        self.job = job
        self.nodes = nodes
        self.cpus = cpus
        self.least = least
        self.most = most
        self.machine = machine

    def met(self) -> bool:
        return self.nodes <= 0 and self.cpus <= 0

    def take(self, i: int, offers: dict[int, int], taken: dict[int, int]) -> None:
        """Take node i: all CPUs still needed, but one for each node still to come; whole nodes in full."""
        cpus = offers[i]
        if not self.job.whole:
            spare = max(self.least - 1, 0) * self.machine.nodes[i].threads
            if cpus > self.cpus - spare:
                cpus = max(self.cpus - spare, self.job.node_cpus)
                offers[i] = cpus
        taken[i] = cpus
        self.cpus -= cpus
        self.nodes -= 1
        self.least -= 1
        self.most -= 1


def best_run(runs: list[Run], need: Need) -> Run:
    best: Run | None = None
    best_enough = False
    for run in runs:
        enough = run.cpus >= need.cpus and len(run.nodes) >= need.nodes
        if best is None or (best.required < 0 <= run.required) or run.weight < best.weight:
            better = True
        elif run.weight == best.weight:
            better = (enough and (not best_enough or run.cpus < best.cpus)) or (
                not enough and run.cpus > best.cpus
            )
        else:
            better = False
        if better:
            best, best_enough = run, enough
    assert best is not None
    return best


def fill(run: Run, need: Need, offers: dict[int, int], taken: dict[int, int]) -> None:
    """Take nodes of a run: from the low index up, around a required node, or the tightest fit."""
    if run.required >= 0:
        order = [i for i in run.nodes if i > run.required]
        order += [i for i in reversed(run.nodes) if i < run.required]
        for i in order:
            if need.most == 0 or need.met():
                return
            need.take(i, offers, taken)
        return
    order = run.nodes
    if need.nodes <= 1:
        fitting = [i for i in order if offers[i] >= need.cpus]
        if fitting:
            order = [min(fitting, key=lambda i: (offers[i], i))]
    for i in order:
        if need.most == 0 or need.met():
            return
        if need.most == 1 and offers[i] < need.cpus:
            continue
        need.take(i, offers, taken)
