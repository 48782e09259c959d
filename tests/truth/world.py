"""What is true between two events of a recorded run: who waits, who runs and where, what became of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reference.slurm.independence import independent
from reference.slurm.machine import Allocation, Job
from reference.slurm.reservations import Reservation

from .runs import Run

EPILOG = 8.0
"""Seconds after a job's end during which its epilog may not be over, where the log does not tell."""

UNTOLD = 61.0
"""The same where the log tells of those that take longer."""
SECONDS = 3
"""By which the end in a line about an epilog may differ from the line about the end."""


def name_of(job: Job) -> str:
    """As in the records: number, or number_task for a task that stands by itself."""
    if job.waiting_tasks:
        return f"{job.id}_{job.waiting_tasks[0]}" if len(job.waiting_tasks) == 1 else f"{job.id}"
    return f"{job.id}" if job.task < 0 else f"{job.id}_{job.task}"


@dataclass
class World:
    run: Run
    pending: dict[str, Job] = field(default_factory=dict)
    running: dict[str, Allocation] = field(default_factory=dict)
    ended: list[tuple[float, Allocation]] = field(default_factory=list)
    """What ended, and until when its nodes may be completing."""
    fate: dict[str, str] = field(default_factory=dict)
    """Name -> ok or failed, of what has ended for good."""
    finished: list[tuple[int, Allocation]] = field(default_factory=list)
    """Ended since somebody looked, with the second of the end."""
    news: list[str] = field(default_factory=list)
    """Submitted since somebody looked."""
    held: set[str] = field(default_factory=set)
    unusable: int = 0
    closed: set[str] = field(default_factory=set)
    """Partitions that are not up."""
    reservations: dict[str, Reservation] = field(default_factory=dict)
    suspended_at: dict[str, int] = field(default_factory=dict)
    preempted_at: dict[int, int] = field(default_factory=dict)
    """Job -> second at which it last took victims."""
    made: int = 0
    """Entries that Slurm's list of jobs has had."""
    basic: dict[str, int] = field(default_factory=dict)
    """Priorities given under priority/basic, by submission and by release."""

    def recent(self, t: float) -> list[Allocation]:
        """Allocations that ended so shortly before t that their nodes may still be completing."""
        self.ended = [(until, held) for until, held in self.ended if t < until]
        return [held for _, held in self.ended]

    def epilog_over(self, name: str, end: float) -> float:
        """When the nodes of a job that ended are done with it, or may be at the latest."""
        for t, took in self.run.epilogs.get(name, ()):
            if t >= end and (not took or abs(t - int(took) - end) < SECONDS):
                return t
        return end + (UNTOLD if self.run.epilogs else EPILOG)

    def in_order(self) -> list[Allocation]:
        return sorted(self.running.values(), key=lambda held: held.job.made)

    def new_entry(self) -> int:
        """The number of a new entry at the end of Slurm's list of jobs."""
        self.made += 1
        return self.made

    def eligible(self, now: int, completing: Sequence[Allocation] = ()) -> dict[str, Job]:
        """Copies of the jobs that may be tested, if these ended jobs are still completing."""
        facts = WorldFacts(self, {name_of(held.job) for held in completing})
        return {
            name: replace(job)
            for name, job in self.pending.items()
            if name not in self.held and independent(job, now, facts)
        }


class WorldFacts:
    def __init__(self, world: World, completing: set[str]) -> None:
        self.world, self.completing = world, completing

    def states(self, number: int) -> list[str]:
        world = self.world
        head = world.pending.get(str(number))
        found = ["pending"] if head is not None else []
        family = (str(number), f"{number}_")
        for name in world.pending:
            if name.startswith(family[1]):
                found.append("pending")
        for name in world.running:
            if name == family[0] or name.startswith(family[1]):
                found.append("running")
        for name, fate in world.fate.items():
            if name == family[0] or name.startswith(family[1]):
                found.append("running" if name in self.completing else fate)
        return found

    def same_name(self, job: Job) -> list[Job]:
        world = self.world
        others = [held.job for held in world.running.values()]
        others += [other for other in world.pending.values() if other.id < job.id]
        others += [held.job for _, held in world.ended if name_of(held.job) in self.completing]
        return [one for one in others if one.name == job.name and one.user == job.user and one.id != job.id]
