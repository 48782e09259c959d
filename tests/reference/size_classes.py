"""Policies for the size constraint on nodes: backfill on bigger nodes, and area filling.

Both decide without looking at files; jobs that have one load it all the same.  As for the scores, the whole
queue is planned anew at every arrival and completion, on the availability of each node's cores.

Decisions.
- Among the nodes of one class: the earliest start, ties by number.  A class without a node wide enough is
  passed over.
- Area filling takes jobs in submission order; "the earliest" is over all allowed classes, ties the smaller
  class. Only jobs that start on a bigger class use its budget; plans do not.  ``statistics`` is the workload
  the areas come from (the jobs themselves unless another is given), known from ``known_from`` on: before that
  no job uses a bigger class unless it has to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .jobs import SECOND, Job
from .loop import drive
from .nodes import Node, NodeRun, Nodes, Placed

Place = tuple[int, int]  # start, node


def _simulate(
    world: Nodes,
    order: Callable[[int], tuple[int, ...]],
    choose: Callable[[int, int, dict[int, Place]], Place],
    started: Callable[[int, int], None],
    ended: Callable[[NodeRun], None],
) -> Placed:
    """``choose(t, j, best)`` picks among the best places of the classes x that can hold the job."""
    jobs = world.jobs
    queue: list[int] = []

    def turn(t: int, arrivals: list[int]) -> None:
        for run in world.complete(t):
            ended(run)
        queue.extend(arrivals)
        rows = [world.row(t, i) for i in range(len(world.nodes))]
        for j in sorted(queue, key=order):
            c, w = jobs[j].procs, jobs[j].walltime
            best: dict[int, Place] = {}
            for x in range(world.class_of(j), len(world.classes())):
                here = [(max(t, rows[i][c - 1]), i) for i in world.of_class(x, c)]
                if here:
                    best[x] = min(here)
            at, i = choose(t, j, best)
            rows[i] = sorted(rows[i][c:] + [at + w] * c)
            if at == t and c <= world.free(i):
                queue.remove(j)
                world.start(t, j, i)
                started(j, i)

    drive(jobs, world.next_end, turn)
    return world.outcome()


def simulate_backfill_big(
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    allowance: str = "none",
    presence: str = "contiguous",
    second: int = SECOND,
) -> Placed:
    """Biggest class first, then submission: now on the own class, now on a bigger one, later on the own.

    With an allowance "now" may be later by what the job's age lacks to the mean wait of all starts so far
    (rounded down to whole microseconds).
    """
    world = Nodes(jobs, nodes, presence, second=second)
    waits: list[int] = []

    def choose(t: int, j: int, best: dict[int, Place]) -> Place:
        grace = 0
        if allowance == "mean" and waits:
            grace = max(0, sum(waits) // len(waits) - (t - jobs[j].submit))
        now = [best[x] for x in sorted(best) if best[x][0] <= t + grace]
        return now[0] if now else best[min(best)]

    def started(j: int, i: int) -> None:
        waits.append(world.results[j].start - jobs[j].submit)

    def order(j: int) -> tuple[int, ...]:
        return (-world.class_of(j), jobs[j].submit, j)

    return _simulate(world, order, choose, started, lambda run: None)


def filled_to(areas: Sequence[int], counts: Sequence[int], tmax: str) -> Fraction:
    """T_max: area per node."""
    if tmax == "mean":
        return Fraction(sum(areas), sum(counts))
    return max(Fraction(sum(areas[x:]), sum(counts[x:])) for x in range(len(areas)))


def planned_areas(areas: Sequence[int], counts: Sequence[int], tmax: str = "max") -> list[list[Fraction]]:
    """Plan[x][y]: area of class-y jobs for the nodes of class x, classes from small to big."""
    left_over = [Fraction(area) for area in areas]
    size = len(areas)
    t_max = filled_to(areas, counts, tmax)
    plan = [[Fraction(0)] * size for _ in range(size)]
    for x in reversed(range(size)):
        plan[x][x] = left_over[x]
        left = t_max * counts[x] - left_over[x]
        for y in reversed(range(x)):
            if left <= 0:
                break
            plan[x][y] = min(left, left_over[y])
            left -= plan[x][y]
            left_over[y] -= plan[x][y]
    return plan


def simulate_area_filling(
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    tmax: str = "max",
    statistics: Sequence[Job] | None = None,
    known_from: int = 0,
    form: str = "plan",
    presence: str = "contiguous",
    second: int = SECOND,
) -> Placed:
    """In the ratio form a budget is a number of cores times the time since the first submission.

    The cores: the plan's part of T_max x nodes of the class, times its cores.
    """
    world = Nodes(jobs, nodes, presence, second=second)
    past = Nodes(jobs if statistics is None else statistics, nodes)
    size = len(world.classes())
    areas = [0] * size
    for k, job in enumerate(past.jobs):
        areas[past.class_of(k)] += job.procs * job.walltime
    counts = [len(world.of_class(x, 1)) for x in range(size)]
    plan = planned_areas(areas, counts, tmax)
    origin = min(job.submit for job in jobs)
    allocated = [[0] * size for _ in range(size)]

    def on(i: int) -> int:
        return world.classes().index(nodes[i].memory_gb)

    def budget(t: int, z: int, y: int) -> Fraction | int:
        if t < known_from:
            return 0
        if form == "plan":
            return plan[z][y]
        level = filled_to(areas, counts, tmax) * counts[z]
        cores = sum(nodes[i].cores for i in world.of_class(z, 1))
        return plan[z][y] / level * cores * (t - origin) if level else 0

    def choose(t: int, j: int, best: dict[int, Place]) -> Place:
        own, area = world.class_of(j), jobs[j].procs * jobs[j].walltime
        open_to = [z for z in sorted(best) if z == own or budget(t, z, own) - allocated[z][own] >= area]
        if not open_to:  # no node of the own class is wide enough, and no budget elsewhere
            open_to = sorted(best)
        now = [best[z] for z in open_to if best[z][0] == t]
        return now[0] if now else best[min(open_to, key=lambda z: best[z][0])]

    def started(j: int, i: int) -> None:
        own = world.class_of(j)
        if on(i) > own:
            allocated[on(i)][own] += jobs[j].procs * jobs[j].walltime

    def ended(run: NodeRun) -> None:
        own, z = world.class_of(run.job), on(run.node)
        if z > own:
            job = jobs[run.job]
            allocated[z][own] -= job.procs * (job.walltime - (run.end - run.start))

    return _simulate(world, lambda j: (jobs[j].submit, j), choose, started, ended)
