"""The server in front of a cluster of a composed grid: the three requests that the agent knows.

A task that is not here is estimated by a trial: it is submitted to a copy of the cluster, which runs on
alone. The size of a moldable task is tuned by such trials, with the searches of the compiled grid.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

from headway.policies.grid import tuning
from headway.policies.grid.composed.cluster import Cluster
from headway.policies.grid.composed.foresight import Copy
from headway.policies.grid.composed.shaping import Shaping
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.units import NEVER

Answer = tuple[int, int]


class ClusterServer:
    """Answers for one cluster, which is number ``number`` of the grid; tasks are jobs by their number."""

    def __init__(self, number: int, cluster: Cluster, shaping: Shaping, method: int) -> None:
        self.number, self.cluster, self.shaping, self.method = number, cluster, shaping, method
        self.trial, self.future = Copy(cluster), Copy(cluster)
        self.foreseen = -1
        """The version of the cluster that ``future`` is a copy of."""
        self.asked = (-1, -1)
        self.known: dict[tuple[int, int], int] = {}
        """Completions of jobs that are not here on so many processors, as last asked for."""
        self.best: dict[int, Answer] = {}
        self.now = 0
        self.estimates = 0

    def estimate(self, task: int) -> Answer:
        """When the task is expected to be completed here, and on how many processors."""
        if task not in self.cluster.here:
            return self.tuned(task)
        if not self.cluster.waits(task):
            return STARTED, 0
        self.cluster.settle()
        submission = self.cluster.here[task]
        if self.foreseen != self.cluster.version:
            self.foreseen = self.cluster.version
            self.future.renew(self.now)
            self.future.begin(self.now)
            self.estimates += 1
        completion = self.future.completion(submission.column)
        return (completion if completion != NEVER else NO_ANSWER), submission.shape.procs

    def submit(self, task: int) -> Answer:
        """Hand the task to the cluster, with the size with which it is completed first."""
        completion, procs = self.tuned(task)
        self.place(task, procs)
        return completion, procs

    def place(self, task: int, procs: int) -> None:
        """Hand the task to the cluster on so many processors."""
        self.cluster.open(self.now)
        self.cluster.submit(task, self.shaping.shape(self.number, task, procs))

    def cancel(self, task: int) -> bool:
        """Take the task away, if it still waits."""
        if task not in self.cluster.here or not self.cluster.waits(task):
            return False
        self.cluster.open(self.now)
        self.cluster.cancel(task)
        return True

    def tuned(self, task: int) -> Answer:
        """The earliest completion of a task that is not here, and its size."""
        self.cluster.settle()
        if self.asked != (self.cluster.version, self.now):
            self.asked = (self.cluster.version, self.now)
            self.known.clear()
            self.best.clear()
        if task not in self.best:
            fewest, most = self.shaping.sizes(self.number, task)
            found = (NO_ANSWER, 0)
            if fewest <= most:
                found = searched()(self, self.number, task, fewest, most, self.method)
            self.best[task] = found if found[0] != NEVER else (NO_ANSWER, 0)
        return self.best[task]

    def completion(self, task: int, procs: int) -> int:
        """When a task that is not here would be completed on so many processors."""
        if (task, procs) not in self.known:
            self.estimates += 1
            self.trial.renew(self.now)
            column = self.trial.begin(self.now, task, self.shaping.shape(self.number, task, procs))
            self.known[task, procs] = self.trial.completion(column)
        return self.known[task, procs]


@cache
def searched() -> Any:
    """The searches of :mod:`headway.policies.grid.tuning` over completions that a Python object tells."""
    plain = getattr(tuning.tune, "py_func", tuning.tune)
    world = {**vars(tuning), "completion": lambda server, _, task, n: server.completion(task, n)}
    return FunctionType(plain.__code__, world, "tune")
