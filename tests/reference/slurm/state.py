"""What the scheduler knows at one moment, and what a pass may ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .gang import place, spread_cores
from .machine import Allocation, Job, Machine, Partition
from .preemption import Preemption
from .select import plain_weight
from .usage import Usage


class Limits(Protocol):
    """Section 8 as the loops see it."""

    def before(self, job: Job, partition: Partition) -> str:
        """The reason why a limit tested before selection holds the job back, or ""."""

    def after(self, job: Job, partition: Partition, cpus: int, memory: int, nodes: int) -> str:
        """The same for limits tested with the CPUs, memory and node set that the job would get."""

    def started(self, held: Allocation) -> None:
        """A job of this pass began to run."""


class NoLimits:
    def before(self, job: Job, partition: Partition) -> str:
        return ""

    def after(self, job: Job, partition: Partition, cpus: int, memory: int, nodes: int) -> str:
        return ""

    def started(self, held: Allocation) -> None:
        return


class Calendar(Protocol):
    """Section 11 as the loops see it."""

    def window(self, job: Job, partition: Partition, start: int, limit: int) -> Window | None:
        """When the job may start at the earliest from `start` on, and where; None if it may not be tested."""


@dataclass
class Window:
    start: int
    nodes: int
    """Nodes not taken by a reservation during [start, start + limit)."""
    overlaps: int = 0
    """End of the reservation that overlaps first, rounded up to the resolution; 0 if none does."""


class NoReservations:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def window(self, job: Job, partition: Partition, start: int, limit: int) -> Window | None:
        return Window(start, self.machine.all_nodes)


@dataclass
class Start:
    job: Job
    partition: str
    held: Allocation


@dataclass
class State:
    """Everything a pass reads; a pass changes `running` and `pending` when it starts a job."""

    machine: Machine
    now: int
    pending: list[Job]
    running: list[Allocation]
    """In the order of Slurm's list of jobs."""
    completing: int = 0
    """Nodes whose epilog is not over: free for planning, not for starting."""
    unusable: int = 0
    """Nodes that are down or drained."""
    weights: list[int] = field(default_factory=list)
    """Of the nodes as the last tests left them; a start attempt sets its partition's back."""
    limits: Limits = field(default_factory=NoLimits)
    calendar: Calendar | None = None
    preemption: Preemption | None = None
    preempted: list[tuple[Job, Allocation]] = field(default_factory=list)
    """Job and its victim, of this pass; a job is at most once in a pass about to preempt."""
    moments: dict[int, int] = field(default_factory=dict)
    """Job -> second of its start, where a pass is known to have taken longer than its first second."""

    _usage: Usage | None = None

    def __post_init__(self) -> None:
        if not self.weights:
            self.weights = [plain_weight(self.machine, i) for i in range(len(self.machine.nodes))]
        if self.calendar is None:
            self.calendar = NoReservations(self.machine)

    @property
    def usable(self) -> int:
        return self.machine.all_nodes & ~self.unusable

    def usage(self) -> Usage:
        """What runs now uses; not to be changed, but for a copy."""
        if self._usage is None:
            self._usage = Usage(self.machine, self.running)
        return self._usage

    def begin(self, job: Job, partition: str, cpus: dict[int, int], limit: int) -> Start:
        """The job, or its next task, runs from now on; a job or last task leaves the queue."""
        nodes = sum(1 << i for i in cpus)
        now = self.moments.get(job.id, self.now)
        task = job.next_task()
        held = Allocation(
            task, partition, nodes, cpus, memory_of(self.machine, job, cpus), now, now + 60 * limit
        )
        if len(job.waiting_tasks) > 1:
            job.waiting_tasks = job.waiting_tasks[1:]
            everybody = [*self.pending, *(other.job for other in self.running)]
            job.made = 1 + max(one.made for one in everybody)
        else:
            self.pending.remove(job)
        if self.machine.settings.gang:
            within = self.machine.partitions[partition]
            placed = place(self.machine, job, within, nodes, self.usage(), self.weights)
            held.cores = placed[1] if placed else spread_cores(self.machine, nodes, cpus)
        self.running.append(held)
        self.running.sort(key=lambda other: (other.job.made, other.job.id, other.job.task))
        self._usage = None
        self.limits.started(held)
        return Start(task, partition, held)

    def preempt(self, job: Job, victims: Sequence[Allocation]) -> None:
        """The victims end at once; their nodes are completing."""
        self._usage = None
        for held in victims:
            self.running.remove(held)
            self.completing |= held.nodes
            self.preempted.append((job, held))
        if self.preemption is not None and victims:
            self.preemption.begun[job.id] = self.now

    def is_settled(self, job: Job) -> bool:
        """Whether the job has started or taken victims in this pass; its other records are left out."""
        return job not in self.pending or any(one is job for one, _ in self.preempted)

    def to_look_at(self) -> list[Job]:
        """The waiting jobs that a pass looks at."""
        return [job for job in self.pending if not self.array_is_full(job)]

    def array_is_full(self, job: Job) -> bool:
        """Whether as many tasks of the job's array run as may."""
        if not job.array_limit:
            return False
        return self.tasks_running(job) >= job.array_limit

    def tasks_running(self, job: Job) -> int:
        """Tasks of the job's array that run."""
        return sum(held.job.array == job.array for held in self.running)

    def since(self, *version: int) -> bool:
        """Whether a rule of this version is in force."""
        return self.machine.settings.since(*version)


def memory_of(machine: Machine, job: Job, cpus: dict[int, int]) -> dict[int, int]:
    """MB taken on each node; a job that names none takes all, where memory is counted."""
    if not machine.settings.counts_memory:
        return dict.fromkeys(cpus, 0)
    if job.per_cpu:
        return {i: job.memory * count for i, count in cpus.items()}
    return {i: job.memory or machine.nodes[i].memory for i in cpus}


def starts_of(passes: Sequence[Start]) -> list[tuple[int, int, str]]:
    """Job, nodes and partition of each start, in order."""
    return [(start.job.id, start.held.nodes, start.partition) for start in passes]
