"""Recorded priorities: what a job's priority in a partition was known to be at some moment."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from reference.slurm.machine import Job
from reference.slurm.priority import Multifactor

from .accounts import load_multifactor
from .runs import Run, beginnings


class Known:
    """The last value logged for each job and partition; the formula where none was logged yet."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.cycles = [event.t for event in beginnings(run)]
        self.factors: Multifactor | None = None
        if "multifactor" in run.conf.values.get("prioritytype", ""):
            self.factors, _ = load_multifactor(run)
        self.times: dict[tuple[str, str], list[float]] = {}
        self.values: dict[tuple[str, str], list[int]] = {}
        for t, job, value, partition in run.priorities:
            self.times.setdefault((job, partition), []).append(t)
            self.values.setdefault((job, partition), []).append(value)

    def end_of_cycle(self, t: float) -> float:
        """The beginning of the first cycle after t: all tests of a cycle at t lie before it."""
        k = bisect_right(self.cycles, t)
        return self.cycles[k] if k < len(self.cycles) else float("inf")

    def value(self, job: str, partition: str, t: float) -> int | None:
        """The last value logged at or before t for a test in this partition."""
        k = bisect_right(self.times.get((job, partition), []), t)
        return self.values[job, partition][k - 1] if k else None

    def apart(self, partition: str) -> int:
        """What the partition's own factor adds."""
        assert self.factors is not None
        factor = self.run.machine.partitions[partition].job_factor / self.factors.highest_partition
        return int(self.factors.weights.partition * factor)

    def apply(self, name: str, job: Job, t: float, given: int = 0) -> Job:
        """A copy of the job with its priorities as known at t; `given` is that of submission or release."""
        last = f"{name}_{job.waiting_tasks[0]}" if len(job.waiting_tasks) == 1 else name
        own = given
        for known in (name, last):
            first = self.value(known, job.partitions[0], t)
            own = first if first is not None else own
        if len(job.partitions) == 1:
            return replace(job, priority=own)
        each = {}
        for partition in job.partitions:
            logged = self.value(name, partition, t)
            if logged is None and self.factors is not None:  # only the partition's factor differs
                logged = given + self.apart(partition) - self.apart(job.partitions[0])
            each[partition] = logged if logged is not None else own
        return replace(job, priority=own, priority_in=each)
