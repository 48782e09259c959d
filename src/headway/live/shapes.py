"""Sizes and times of a task on one cluster, by the rules of a simulated grid."""

from __future__ import annotations

import math
from collections.abc import Callable

from headway.jit.kernels import as_written
from headway.live import outside
from headway.live.task import Task
from headway.platform import Cluster
from headway.policies.grid import molding
from headway.policies.grid.composed.cluster import Shape
from headway.policies.grid.middleware import searched
from headway.policies.grid.moldability import fraction, law_of, lowest
from headway.policies.grid.notes import NO_ANSWER
from headway.policies.spec import Spec
from headway.units import LONGEST

Answer = tuple[int, int]


class Shapes:
    """How tasks are molded on a cluster; ``spec`` is the grid's, with its law and how sizes are searched."""

    def __init__(self, spec: Spec, cluster: Cluster, widest: int, method: int) -> None:
        self.spec, self.cluster, self.widest, self.method = spec, cluster, widest, method
        self.speed = fraction(cluster.speed)

    def sizes(self, task: Task) -> list[int] | tuple[int, int]:
        """The sizes of a task's forms, or (fewest, most) of what a law allows; empty or (1, 0): none."""
        if task.cluster and task.cluster != self.cluster.name:
            return 1, 0
        if task.forms:
            return [n for n, _ in task.forms if n <= self.widest]
        if not task.is_moldable:
            return (task.procs, task.procs) if task.procs <= self.widest else (1, 0)
        return 1, min(task.max_procs or self.widest, self.widest)

    def shape(self, task: Task, procs: int) -> Shape:
        """A task on so many processors: by what its walltime and its run time are multiplied."""
        speed, over = self.speed
        if task.forms:
            by, per = dict(task.forms)[procs] * over, task.walltime * speed
        elif not task.is_moldable:
            by, per = over, speed
        else:
            of, out_of = fraction(task.parallel_fraction or 0.0)
            logged = lowest(*law_of(self.spec, of, out_of, task.procs))
            here = law_of(self.spec, of, out_of, procs)
            by, per = as_written(molding.stretch)(*logged, *here, speed, over)
        if task.stage_time:
            # Staging takes as long on every size, so that the factor is that of both together.
            by, per = task.stage_time * per + task.walltime * by, task.walltime * per
        return Shape(procs, by, per)

    def walltime(self, task: Task, procs: int) -> int:
        """How long a task may take on so many processors here, with its staging (µs)."""
        return self.shape(task, procs).time(task.walltime)

    def tuned(self, task: Task, completion: Callable[[int], int], seconds: float = math.inf) -> Answer:
        """The earliest completion over the task's sizes, and the size: ``completion`` tells that of one.

        Sizes on which it would take longer than can be counted are none, and so are those that nobody has
        asked for after so many seconds.
        """
        longest, end = max(task.walltime, task.runtime or 0), outside.steady() + seconds

        def of(procs: int) -> int:
            if outside.steady() > end:
                return NO_ANSWER
            return completion(procs) if self.shape(task, procs).time(longest) < LONGEST else NO_ANSWER

        sizes = self.sizes(task)
        if isinstance(sizes, list):
            answers = [(of(n), n) for n in sizes]
            best = min(answers, default=(NO_ANSWER, 0))
        else:
            fewest, most = sizes
            if fewest > most:
                return NO_ANSWER, 0
            best = searched()(_Asked(of), 0, 0, fewest, most, self.method)
        return best if best[0] < NO_ANSWER else (NO_ANSWER, 0)


class _Asked:
    """What the searches of :mod:`headway.policies.grid.tuning` ask."""

    def __init__(self, of: Callable[[int], int]) -> None:
        self.of, self.known = of, dict[int, int]()

    def completion(self, _: int, procs: int) -> int:
        if procs not in self.known:
            self.known[procs] = self.of(procs)
        return self.known[procs]
