"""EASY on nodes, as a baseline: each job inside one node, files loaded but not looked at.

Decisions.  A job that can start now takes the first allowed node, in node order, with enough free cores.  The
head that cannot reserves on the node where its c-th core comes free first (expected ends; ties in node
order).  Another job may start now on any other node, and on that one if it ends by the head's start or leaves
the head its cores then.
"""

from __future__ import annotations

from collections.abc import Sequence

from .jobs import SECOND, Job
from .loop import drive
from .nodes import Node, Nodes, Placed


def simulate_easy_nodes(
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    presence: str = "contiguous",
    match: str = "fits",
    second: int = SECOND,
) -> Placed:
    world = Nodes(jobs, nodes, presence, match, second)
    queue: list[int] = []

    def places(j: int) -> list[int]:
        return [i for i in world.in_order() if i in world.allowed(j)]

    def disturbs(j: int, i: int, t: int, reservation: tuple[int, int, int] | None) -> bool:
        """Whether j, started now on node i, takes the head's cores there at the head's start."""
        if reservation is None:
            return False
        where, shadow, cores = reservation
        if i != where or t + jobs[j].walltime <= shadow:
            return False
        still = sum(run.cores for run in world.running if run.node == i and run.expected > shadow)
        return still + cores + jobs[j].procs > nodes[i].cores

    def schedule(t: int) -> None:
        reservation = None  # of the head: node, shadow time, cores
        for j in list(queue):
            c = jobs[j].procs
            fitting = [i for i in places(j) if c <= world.free(i) and not disturbs(j, i, t, reservation)]
            if fitting:
                queue.remove(j)
                world.start(t, j, fitting[0])
            elif reservation is None:
                shadow, _, where = min((world.row(t, i)[c - 1], k, i) for k, i in enumerate(places(j)))
                reservation = where, shadow, c

    def turn(t: int, arrivals: list[int]) -> None:
        world.complete(t)
        queue.extend(arrivals)
        schedule(t)

    drive(jobs, world.next_end, turn)
    return world.outcome()
