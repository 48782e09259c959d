"""Walks the events of a recorded run, so that the state is true at each of its passes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from reference.slurm.gang import place, spread_cores
from reference.slurm.machine import Allocation, Job, members
from reference.slurm.reservations import Reservation
from reference.slurm.select import plain_weight, select
from reference.slurm.state import memory_of
from reference.slurm.usage import Usage

from .log import Part
from .runs import Attempt, Event, Run
from .world import World


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
    victims: frozenset[str] = frozenset()
    """Jobs that it preempted."""


def by_name(run: Run) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for attempt in run.attempts:
        found.setdefault(attempt.name, []).append(attempt)
    return found


class Follower:
    """Walks the events of a run and keeps the state true."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.world = World(run)
        self.attempts = by_name(run)
        self.tries: dict[str, int] = {}
        self.submitted: set[str] = set()
        self.first_priority = {job: value for _, job, value, part in run.priorities if not part}
        self.planned_reservations = {one.name: one for one in read_reservations(run)}

    def apply(self, event: Event) -> Allocation | None:
        """Let the event happen; returns what a job held that ended by it."""
        if event.nodes.startswith("for "):
            self.world.preempted_at[int(event.nodes.split()[1].split("_")[0])] = int(event.t)
        match event.kind:
            case "submit":
                self.submit(event.job)
            case "start_main" | "start_bf":
                self.start(event)
            case "done" | "timeout" | "nodefail" | "preempt_killed":
                return self.end(event)
            case "requeue" | "preempt_requeued" | "requeue_nodefail":
                return self.requeue(event)
            case "suspend" | "resume":
                self.suspend(event)
            case "grace":
                held = self.world.running[event.job]
                held.end = min(held.end, int(event.t) + int(event.nodes.split()[2]))
            case "release":
                self.release(event.job)
            case "cancel":
                self.world.pending.pop(event.job, None)
                self.world.fate[event.job] = "failed"
            case "admin" | "state":
                self.administer(event)
        return None

    def submit(self, name: str) -> None:
        if name in self.submitted:
            return
        self.submitted.add(name)
        self.world.news.append(name)
        asked = self.run.asked_by_name[name]
        first = self.attempts.get(name) or self.attempts.get(f"{name}_{(asked.job.waiting_tasks or (0,))[0]}")
        since = first[0].submit if first else asked.job.submit
        self.world.pending[name] = replace(asked.job, submit=since, made=self.world.new_entry())
        self.world.basic[name] = self.first_priority.get(name, 0)
        if asked.options.get("hold"):
            self.world.held.add(name)

    def release(self, name: str) -> None:
        """A released job gets the lowest priority given so far less one."""
        self.world.held.discard(name)
        self.world.basic[name] = min((value for value in self.world.basic.values() if value), default=2) - 1

    def start(self, event: Event) -> None:
        world = self.world
        number = self.tries.get(event.job, 0)
        self.tries[event.job] = number + 1
        head = event.job.split("_")[0]
        job = world.pending.pop(event.job, None)
        if job is None:
            job = world.pending[head]
            task = int(event.job.split("_")[1])
            left = tuple(waiting for waiting in job.waiting_tasks if waiting != task)
            if left:
                world.pending[head] = replace(job, waiting_tasks=left, made=world.new_entry())
            else:
                del world.pending[head]
            job = replace(job, waiting_tasks=(), task=task)
        held = allocation(world, event, job, self.attempts[event.job][number])
        starts = self.run.dealt.get(event.job, [])
        world.running[event.job] = as_dealt(world, held, starts[number] if number < len(starts) else {})

    def gave_up(self, event: Event) -> Allocation | None:
        """What a job held until now."""
        world = self.world
        held = world.running.pop(event.job, None)
        if held is not None:
            world.ended.append((world.epilog_over(event.job, event.t), held))
            world.finished.append((int(event.t), held))
        return held

    def end(self, event: Event) -> Allocation | None:
        held, world = self.gave_up(event), self.world
        if held is None:
            return None
        row = self.attempts[event.job][self.tries[event.job] - 1]
        world.fate[event.job] = "ok" if row.state == "COMPLETED" else "failed"
        return held

    def requeue(self, event: Event) -> Allocation | None:
        """The attempt ends, the job waits again: submitted anew, to begin two minutes later."""
        held, world = self.gave_up(event), self.world
        if held is None:
            return None
        rows = self.attempts[event.job]
        number = self.tries[event.job]
        submit, begin = int(event.t), int(event.t) + 121
        if number < len(rows):
            submit, begin = rows[number].submit, rows[number].eligible
        limit = self.run.asked[held.job.id].job.limit
        world.pending[event.job] = replace(held.job, submit=submit, begin=begin, eligible=begin, limit=limit)
        return held

    def suspend(self, event: Event) -> None:
        held = self.world.running.get(event.job)
        if held is None:
            return
        now = int(event.t)
        held.suspended = event.kind == "suspend"
        if held.suspended:
            self.world.suspended_at[event.job] = now
        else:
            held.end += now - self.world.suspended_at.pop(event.job, now)

    def administer(self, event: Event) -> None:
        """Commands and their effects: holds, states of nodes and partitions, reservations."""
        world = self.world
        text = event.nodes
        if found := re.match(r"scontrol hold #(\d+)", text):
            world.held.add(found[1])
        elif found := re.match(r"node (\S+) (?:state set to (\S+)|returned to service)", text):
            bad = bool(found[2]) and ("DOWN" in found[2] or "DRAIN" in found[2])
            nodes = self.run.nodes(found[1])
            world.unusable = world.unusable | nodes if bad else world.unusable & ~nodes
        elif found := re.match(r"setting state_up to (\d+) for partition (\S+)", text):
            (world.closed.discard if found[1] == "3" else world.closed.add)(found[2])
        elif found := re.match(r"Created reservation=(\S+)", text):
            world.reservations[found[1]] = self.planned_reservations[found[1]]
        elif found := re.search(r"(?:vestigial reservation|complete for) (\S+)", text):
            world.reservations.pop(found[1], None)

    def passes(self) -> Iterator[tuple[Pass, World]]:
        """Each pass with the state it found; its recorded starts are applied after the caller has looked."""
        recorded = starts_of_passes(self.run)
        cycle = 0
        for k, event in enumerate(self.run.events):
            if event.kind not in ("main", "full", "bf"):
                self.apply(event)
                continue
            cycle += event.kind == "bf"
            starts = recorded.get(k, [])
            known = [name for name, _ in starts]
            if event.kind == "bf":
                known += [plan.job for plan in self.run.plans.get(cycle, [])]
            for name in known:  # a submission logged just after the pass that saw it
                if name in self.run.asked_by_name:
                    self.submit(name)
            moments = {
                int(name.split("_")[0]): self.attempts[name][self.tries.get(name, 0)].start
                for name, _ in starts
                if self.tries.get(name, 0) < len(self.attempts.get(name, []))
            }
            number = cycle if event.kind == "bf" else 0
            yield Pass(event.kind, event.t, number, starts, moments, victims_after(self.run, k)), self.world


def follow(run: Run) -> Iterator[tuple[Pass, World]]:
    return Follower(run).passes()


def allocation(world: World, event: Event, job: Job, row: Attempt) -> Allocation:
    """What a recorded start holds; CPUs of each node as the selection would share them out."""
    machine = world.run.machine
    nodes = world.run.nodes(event.nodes)
    usage = Usage(machine, world.running.values())
    partition = machine.partitions[row.partition.split(",")[-1]]
    weights = [plain_weight(machine, i) for i in range(len(machine.nodes))]
    alike = replace(job, nodes=nodes.bit_count())
    cpus = select(machine, alike, partition, nodes, usage, weights) or spread(job, nodes)
    if job.whole:
        cpus = {i: machine.nodes[i].cpus for i in members(nodes)}
    threads = {i: machine.nodes[i].threads for i in cpus}
    cpus = {i: -(-count // threads[i]) * threads[i] for i, count in cpus.items()}  # whole cores
    memory = memory_of(machine, job, cpus)
    held = Allocation(job, partition.name, nodes, cpus, memory, row.start, row.start + 60 * row.limit)
    if machine.settings.gang:
        placed = place(machine, job, partition, nodes, usage, weights)
        held.cores = placed[1] if placed else spread_cores(machine, nodes, cpus)
    return held


def as_dealt(world: World, held: Allocation, parts: dict[int, Part]) -> Allocation:
    """The same with what the log says it had of each node; as it is where the log tells nothing."""
    if set(parts) != set(members(held.nodes)):
        return held
    for i, part in parts.items():
        threads = world.run.machine.nodes[i].threads
        held.cpus[i] = -(-part.cpus // threads) * threads
        held.memory[i] = part.memory
        if part.gres is not None:
            held.gres[i] = part.gres
    return held


def spread(job: Job, nodes: int) -> dict[int, int]:
    count = nodes.bit_count()
    return {i: job.cpus // count + (k < job.cpus % count) for k, i in enumerate(members(nodes))}


def victims_after(run: Run, k: int) -> frozenset[str]:
    """Jobs preempted or suspended between the pass at this place among the events and the next one.

    A time of grace counts when it begins, not when it ends.
    """
    victims, graced = set(), run.graced
    for event in run.events[k + 1 :]:
        if event.kind in ("main", "full", "bf"):
            break
        preempted = event.kind.startswith("preempt_") and event.job not in graced
        if preempted or event.kind in ("suspend", "grace"):
            victims.add(event.job)
    return frozenset(victims)


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


def read_reservations(run: Run) -> Iterator[Reservation]:
    """The reservations that the administrator's commands made."""
    path = run.folder / "admin.tsv"
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        command = line.split("\t")[2]
        if "create reservation" not in command:
            continue
        given = dict(re.findall(r"(\w+)=(\S+)", command))
        start = int(re.findall(r"@(\d+)", command)[0])
        everything = given["nodes"] == "ALL"
        yield Reservation(
            given["reservationname"],
            start,
            start + 60 * int(given["duration"]),
            run.machine.all_nodes if everything else run.nodes(given["nodes"]),
            frozenset(given.get("users", "").split(",")),
            maintenance="maint" in given.get("flags", ""),
            all_nodes=everything,
        )
