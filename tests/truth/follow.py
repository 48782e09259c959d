"""The true state of a recorded run at each of its events: who waits, who runs, where, and what just ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from twins.slurm.machine import Allocation, Job, members
from twins.slurm.select import select
from twins.slurm.state import memory_of
from twins.slurm.usage import Usage

from .runs import Attempt, Event, Run

EPILOG = 8.0
"""Seconds after a job's end during which it is not known whether its epilog is over."""


@dataclass
class World:
    """What is true between two events."""

    run: Run
    pending: dict[str, Job] = field(default_factory=dict)
    running: dict[str, Allocation] = field(default_factory=dict)
    ended: list[tuple[float, Allocation]] = field(default_factory=list)

    def recent(self, t: float) -> list[Allocation]:
        """Allocations that ended so shortly before t that their nodes may still be completing."""
        self.ended = [(end, held) for end, held in self.ended if t - end < EPILOG]
        return [held for _, held in self.ended]

    def in_order(self) -> list[Allocation]:
        return sorted(self.running.values(), key=lambda held: held.job.id)


@dataclass
class Pass:
    """One pass or cycle: its kind (main, full, bf), its moment, and the starts recorded for it."""

    kind: str
    t: float
    number: int
    """Of the cycle, from 1; 0 for a pass of the main loop."""
    starts: list[tuple[str, int]]
    moments: dict[int, int] = field(default_factory=dict)
    """Job -> second of its recorded start in this pass."""


def by_name(run: Run) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for attempt in run.attempts:
        found.setdefault(attempt.name, []).append(attempt)
    return found


def follow(run: Run) -> Iterator[tuple[Pass, World]]:
    """Each pass with the state it found; the recorded starts are applied after the caller has looked."""
    world = World(run)
    attempts = by_name(run)
    tries: dict[str, int] = {}
    submitted: set[str] = set()
    recorded = starts_of_passes(run)
    cycle = 0
    for k, event in enumerate(run.events):
        if event.kind in ("main", "full", "bf"):
            cycle += event.kind == "bf"
            starts = recorded.get(k, [])
            known = [name for name, _ in starts]
            if event.kind == "bf":
                known += [plan.job for plan in run.plans.get(cycle, [])]
            for name in known:  # a submission logged just after the pass that saw it
                if name in run.asked_by_name and name not in world.pending and name not in submitted:
                    submit(world, name, attempts, submitted)
            moments = {
                int(name.split("_")[0]): attempts[name][tries.get(name, 0)].start
                for name, _ in starts
                if name in attempts and tries.get(name, 0) < len(attempts[name])
            }
            yield Pass(event.kind, event.t, cycle if event.kind == "bf" else 0, starts, moments), world
        elif event.kind == "submit":
            if event.job not in submitted:
                submit(world, event.job, attempts, submitted)
        elif event.kind in ("start_main", "start_bf"):
            row = attempts[event.job][tries.get(event.job, 0)]
            begin(world, event, row)
            tries[event.job] = tries.get(event.job, 0) + 1
        elif event.kind in ("done", "timeout") and event.job in world.running:
            world.ended.append((event.t, world.running.pop(event.job)))


def submit(world: World, name: str, attempts: dict[str, list[Attempt]], submitted: set[str]) -> None:
    job = world.run.asked_by_name[name].job
    world.pending[name] = replace(job, submit=attempts[name][0].submit if name in attempts else job.submit)
    submitted.add(name)


def begin(world: World, event: Event, row: Attempt) -> None:
    """Put a recorded start into the state; CPUs of each node as the selection would share them out."""
    machine = world.run.machine
    job = world.pending.pop(event.job)
    nodes = world.run.nodes(event.nodes)
    usage = Usage(machine, world.running.values())
    partition = machine.partitions[row.partition.split(",")[-1]]
    weights = [node.weight for node in machine.nodes]
    cpus = select(machine, job, partition, nodes, usage, weights) or spread(job, nodes)
    if job.whole:
        cpus = {i: machine.nodes[i].cpus for i in members(nodes)}
    end = row.start + 60 * row.limit
    memory = memory_of(machine, job, cpus)
    world.running[event.job] = Allocation(job, partition.name, nodes, cpus, memory, row.start, end)


def spread(job: Job, nodes: int) -> dict[int, int]:
    count = nodes.bit_count()
    return {i: job.cpus // count + (k < job.cpus % count) for k, i in enumerate(members(nodes))}


def starts_of_passes(run: Run) -> dict[int, list[tuple[str, int]]]:
    """Index of a pass among the events -> its recorded starts as (job, nodes)."""
    found: dict[int, list[tuple[str, int]]] = {}
    last_main = last_cycle = -1
    for k, event in enumerate(run.events):
        if event.kind in ("main", "full"):
            last_main = k
        elif event.kind == "bf":
            last_cycle = k
        elif event.kind == "start_main":
            found.setdefault(last_main, []).append((event.job, run.nodes(event.nodes)))
        elif event.kind == "start_bf":
            found.setdefault(last_cycle, []).append((event.job, run.nodes(event.nodes)))
    return found
