"""Scores on nodes: FCFS, EFT, LEA, LEO, LEM and the free score, with or without conservative backfilling.

At every arrival and completion the whole queue is planned anew in submission order.  For each allowed node:
A = earliest start there, B = time to wait for the file at A, C = (c / cores) * the load times of the other
files whose last use ends by A, D = copies elsewhere * load time; score = A + X B + Y C + Z D, lowest first,
ties in node order.

Decisions.
- C and D are made of whole load times (rounded up when made) and compared exactly; X, Y, Z are the decimals
  written.
- C looks at files with a user running on the node, with a user that ended at this instant, or planned there
  earlier in this pass, of which one at least sees the load to its end; a job without a file evicts nothing
  (C = 0).
- D counts only where the job would have to load the file itself; a copy is a node that holds the file now or
  is loading it.
- A job planned for now whose cores are still held by a job of no length starts in the next turn of the
  instant.
- LEM: nodes that run a job, over all nodes of the platform, >= threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .jobs import SECOND, Job
from .loop import drive
from .nodes import Node, Nodes, Placed, Use
from .profile import Profile

Weights = tuple[Fraction, Fraction, Fraction]
FCFS: Weights = (Fraction(0), Fraction(0), Fraction(0))
EFT: Weights = (Fraction(1), Fraction(0), Fraction(0))
LEA: Weights = (Fraction(500), Fraction(1), Fraction(0))


def weights(world: Nodes, rule: str, now: bool, free: Weights, threshold: Fraction) -> Weights:
    """The weights for one job on one node, where it could start now or not."""
    if rule == "leo":
        return EFT if now else LEA
    if rule == "lem":
        busy = {run.node for run in world.running}
        return LEA if Fraction(len(busy), len(world.nodes)) >= threshold else EFT
    return {"fcfs": FCFS, "eft": EFT, "lea": LEA, "score": free}[rule]


def evicted(world: Nodes, t: int, i: int, job: Job, at: int, planned: Sequence[Use]) -> Fraction:
    """C: what the job would push out, in load time."""
    if job.file is None:
        return Fraction(0)
    counted = [use for use in world.uses[i] if use.end >= t] + list(planned)
    others = {
        use.file: use.gb for use in counted if use.file not in (None, job.file) and use.loaded <= use.end
    }
    gone = [f for f in others if max(use.end for use in counted if use.file == f) <= at]
    share = Fraction(job.procs, world.nodes[i].cores)
    return share * sum(world.load_time(i, others[f]) for f in gone)


def simulate_locality(
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    rule: str = "fcfs",
    backfill: str = "none",
    presence: str = "contiguous",
    match: str = "fits",
    load: float = 1,
    evict: float = 1,
    copies: float = 1,
    threshold: float = 1,
    second: int = SECOND,
) -> Placed:
    """``rule``: fcfs, eft, lea, leo, lem or score (which takes load, evict, copies as X, Y, Z)."""
    world = Nodes(jobs, nodes, presence, match, second)
    free = (Fraction(str(load)), Fraction(str(evict)), Fraction(str(copies)))
    queue: list[int] = []

    def plan(t: int) -> None:
        rows = [world.row(t, i) for i in range(len(nodes))]
        profiles = [
            Profile(node.cores, [(r.start, r.expected, r.cores) for r in world.running if r.node == i])
            for i, node in enumerate(nodes)
        ]
        planned: list[list[Use]] = [[] for _ in nodes]

        def score(j: int, i: int) -> tuple[Fraction, int, int]:
            """(score, A, B) of the job on the node."""
            job = jobs[j]
            if backfill == "conservative":
                at = profiles[i].earliest(t, job.procs, job.walltime)
            else:
                at = max(t, rows[i][job.procs - 1])
            b, own = world.load_at(i, job, at, world.uses[i] + planned[i])
            c = evicted(world, t, i, job, at, planned[i])
            elsewhere = sum(world.holds_copy(k, job, t) for k in range(len(nodes)) if k != i)
            d = elsewhere * world.load_time(i, job.file_gb) if own else 0
            x, y, z = weights(world, rule, at == t, free, Fraction(str(threshold)))
            return at + x * b + y * c + z * d, at, b

        for j in sorted(queue, key=lambda j: -world.class_of(j)) if match == "now" else list(queue):
            job = jobs[j]
            choices = [i for i in world.in_order() if i in world.allowed(j)]
            if match == "now":  # a larger node only where the job starts at once
                own = world.of_class(world.class_of(j), job.procs)
                choices = [i for i in choices if i in own or score(j, i)[1] == t]
            i = min(choices, key=lambda i: score(j, i)[0])
            _, at, b = score(j, i)
            rows[i] = sorted(rows[i][job.procs :] + [at + job.walltime] * job.procs)
            profiles[i].add(at, at + job.walltime, job.procs)
            if at == t and job.procs <= world.free(i):
                queue.remove(j)
                world.start(t, j, i)
            else:
                planned[i].append(Use(j, job.file, job.file_gb, at, at + b, at + job.walltime))

    def turn(t: int, arrivals: list[int]) -> None:
        world.complete(t)
        queue.extend(arrivals)
        plan(t)

    drive(jobs, world.next_end, turn)
    return world.outcome()
