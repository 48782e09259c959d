"""The compiled policy given the recorded state: the same questions that the reference is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from headway.engine.faults import refusal
from headway.engine.setup import Jobs, make_state
from headway.engine.tables import (
    NODE_ROWS,
    OPEN,
    SHARE_ROWS,
    Fault,
    Phase,
    ShareTable,
)
from headway.jit.kernels import entry
from headway.policies.prepare import Arrivals
from headway.policies.slurm.backfill import backfill_cycle
from headway.policies.slurm.limits.limits import charge
from headway.policies.slurm.main_loop import main_pass
from headway.policies.slurm.nodes.cores import WORD as CORES
from headway.policies.slurm.queue.queue import FOR_RESERVATION, sort_queue
from headway.policies.slurm.setup.life import gres_names
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.life import Reservations
from headway.policies.slurm.tables.passes import SlurmClock
from headway.policies.slurm.tables.sites import Partitions, Tres
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.units import NEVER, SECOND
from reference.slurm.accounts import Association, Qos
from reference.slurm.backfill import Cycle, Plan
from reference.slurm.limits import AccountLimits
from reference.slurm.machine import Allocation, members
from reference.slurm.machine import Job as ReferenceJob
from reference.slurm.state import Start
from reference.slurm.state import State as ReferenceState
from truth.as_site import USERS, write_site
from truth.runs import Run

WORD = (1 << 64) - 1
COUNTS = (
    SlurmClock["queued"], SlurmClock["running"], SlurmClock["completing"], SlurmClock["pending"],
    SlurmClock["graces"], SlurmClock["returned"],
)  # fmt: skip
"""Entries of tables that a question is asked without, or that are laid for it."""


@entry
def cycle_at(state: Any, now: int) -> None:
    """A backfill cycle."""
    backfill_cycle(state, now, True)


@entry
def pass_at(state: Any, now: int, full: bool) -> None:
    """A pass of the main loop."""
    main_pass(state, now, full)


@entry
def lay_order(state: Any) -> None:
    """Put the queue in order."""
    sort_queue(state.memory)


@entry
def count_running(state: Any, job: int) -> None:
    """Count a running job with everyone whose limits it concerns."""
    charge(state, job, 1)


def waiting(reference: ReferenceState) -> dict[tuple[int, int], ReferenceJob]:
    """The waiting job, or array, of each number and task; -1 where it is no array."""
    return {(job.id, task): job for job in reference.pending for task in (job.waiting_tasks or (job.task,))}


class Compiled:
    """The policy's tables for the jobs of a recorded run, laid anew for each question."""

    def __init__(self, run: Run) -> None:
        folder = run.folder / "site"
        site = Site.load(folder if folder.is_dir() else write_site(run.name, Path(mkdtemp())))
        workload, platform = site.read_jobs(), site.platform()
        policy = parse_spec("slurm").policy.on(platform, workload)
        order = np.argsort(workload.submit, kind="stable")
        columns = {name: workload.columns[name][order] for name in policy.columns if name in workload}
        submit, procs, walltime, runtime = (
            workload.columns[name][order] for name in ("submit", "procs", "walltime", "runtime")
        )
        self.origin = workload.header.unix_start or 0
        arrivals = Arrivals(
            submit, procs, walltime, runtime, columns, platform, dict(workload.labels), self.origin
        )
        prepared = policy.prepare(arrivals, site.cpus)
        self.state, _ = make_state(Jobs(submit, procs, walltime, runtime, prepared.plan), prepared.setup)
        self.memory = self.state.memory
        self.begin = self.memory.jobs.table.copy()
        numbers, (arrays, tasks) = workload.job, (workload.columns[name] for name in ("array", "array_task"))
        self.ids = [
            (int(arrays[row]), int(tasks[row])) if arrays[row] >= 0 else (int(numbers[row]), -1)
            for row in order.tolist()
        ]
        """The number of each job, and of its task; -1 where it is no array."""
        self.place = {job: place for place, job in enumerate(self.ids)}
        self.site = site
        self.partitions = {one.name: p for p, one in enumerate(site.partitions)}
        self.lists = self.memory.lists.tolist()

    def lay(self, reference: ReferenceState) -> None:
        """Let the tables be as the recorded state is."""
        state, memory = self.state, self.memory
        memory.jobs[:] = self.begin
        for table in (memory.held, memory.users, memory.accounts):
            table[:] = 0
        memory.holders[3] = 0  # running jobs
        memory.licences.used[:] = 0
        for row in COUNTS:
            memory.clock[row] = 0
        state.clock.runs = state.clock.shares = state.clock.waits = 0
        state.clock.now = (reference.now - self.origin) * SECOND
        state.pools.free[0] = state.pools.size[0]
        state.nodes.free_cpus[:], state.nodes.free_memory[:] = (
            state.nodes.cpus,
            state.nodes.memory_mb,
        )
        state.nodes.runs[:] = state.nodes.alone[:] = 0
        state.nodes[NODE_ROWS:] = memory.gres_total
        memory.nodes.completing[:] = [reference.completing >> i & 1 for i in range(state.nodes.shape[1])]
        memory.nodes.usable[:] = [1 - (reference.unusable >> i & 1) for i in range(state.nodes.shape[1])]
        memory.nodes.set_weight[:] = reference.weights
        memory.arrays[1:] = 0
        for name, part in self.partitions.items():
            memory.partitions.up[part] = reference.machine.partitions[name].up
        self.lay_reservations(reference)
        self.lay_usage(reference)
        for held in sorted(reference.running, key=lambda one: (one.end, one.job.made)):
            self.lay_running(held)
        for job in reference.pending:
            for task in job.waiting_tasks or (job.task,):
                self.lay_waiting(reference, job, self.place[job.id, task])
        lay_order(state)
        memory.clock.pending = state.clock.waits

    def place_of(self, job: ReferenceJob) -> int:
        """The place of a job or of one task of an array."""
        return self.place[job.id, job.task]

    def lay_waiting(self, reference: ReferenceState, job: ReferenceJob, place: int) -> None:
        """Let a job or task wait with a record for each of its partitions."""
        state, memory = self.state, self.memory
        state.jobs.phase[place], state.jobs.run[place] = Phase.WAITING, -1
        state.clock.waits += 1
        memory.jobs[[SlurmJobs["kept_back"], SlurmJobs["held"]], place] = 0
        memory.jobs.begin[place] = job.eligible or job.submit
        memory.jobs.entered[place] = job.submit
        if job.waiting_tasks:
            memory.arrays.listed[memory.jobs.array[place]] = job.made
        else:
            memory.jobs.listed[place] = job.made
        memory.clock.lists = max(memory.clock.lists, job.made)
        if reference.preemption is not None:
            memory.jobs.took_victims[place] = reference.preemption.begun.get(job.id, UNSET)
        for k, name in enumerate(job.partitions):
            part, at = self.partitions[name], int(memory.clock.queued)
            longest = memory.partitions.max_minutes[part]
            if longest >= 0 and (job.time_min or job.limit) > longest:
                continue
            tier = int(memory.partitions.tier[part]) + (FOR_RESERVATION if job.reservation else 0)
            memory.queue.job[at], memory.queue.partition[at] = place, part
            memory.queue.tier[at], memory.queue.priority[at] = tier, job.priority_for(name)
            memory.queue.place[at] = k
            memory.clock.queued = at + 1

    def lay_reservations(self, reference: ReferenceState) -> None:
        """Reservations as they stand; the others are not known yet, or no more."""
        known = {one.name: one for one in getattr(reference.calendar, "reservations", [])}
        for place, one in enumerate(self.site.reservations):
            made = known.get(one.name)
            times = (NEVER, 0, 0) if made is None else (0, made.start, made.end)
            rows = [Reservations["known"], Reservations["start"], Reservations["end"]]
            self.memory.reservations[rows, place] = times
        self.memory.reservations.failed[:] = UNSET

    def lay_usage(self, reference: ReferenceState) -> None:
        """Minutes and wall time that accounts and QOS have used, as of the last calculation."""
        if not isinstance(reference.limits, AccountLimits):
            return
        self.memory.clock.priority_last = reference.limits.accounts.calculated
        names = ["cpu", "mem", "node", "billing"]
        accounts = reference.limits.accounts
        of: dict[tuple[str, str], Association | Qos] = {
            (one.account, "" if not one.user else USERS[int(one.user)]): one for one in accounts.root.walk()
        }
        holders: list[Association | Qos | None] = [accounts.qos.get(one.name) for one in self.site.qos]
        holders += [of.get((one.account, one.user)) for one in self.site.associations]
        for holder, found in enumerate(holders):
            self.memory.usage.wall[holder] = found.used_wall if found else 0.0
            for tres, name in enumerate(names):
                self.memory.used[holder, tres] = found.used_seconds.get(name, 0.0) if found else 0.0

    def further(self, held: Allocation, job: int, node: int) -> np.ndarray:
        """What a job holds of the further resources of a node: generic ones, and cores where these count."""
        memory = self.memory
        found = np.zeros(memory.gres_total.shape[0], np.int64)
        found[: memory.gres_asked.shape[0]] = memory.gres_asked[:, job]
        if node in held.gres:
            found[: memory.gres_asked.shape[0]] = self.dealt(held.gres[node])
        words = int(memory.settings.core_words)
        level = int(memory.partitions.level[self.partitions[held.partition]])
        for word in range(words):
            row = memory.gres_asked.shape[0] + level * words + word
            found[row] = held.cores[node] >> (CORES * word) & ((1 << CORES) - 1)
        for counter in (Partitions["cpus_row"], Partitions["private_row"]):
            row = int(memory.partitions[counter, self.partitions[held.partition]])
            if row != UNSET:
                found[row] = held.cpus[node]
        return found

    def dealt(self, gres: dict[str, int]) -> list[int]:
        """Generic resources in the order of the tables; one with a type counts as one of its name, too."""
        names = [name.removeprefix("gres/") for name in gres_names(self.site)]
        counts = [gres.get(name, 0) for name in names]
        of_name = [sum(n for kind, n in gres.items() if kind.partition(":")[0] == name) for name in names]
        return [max(pair) for pair in zip(counts, of_name, strict=True)]

    def lay_running(self, held: Allocation) -> None:
        state, memory = self.state, self.memory
        job, run, count = (
            self.place_of(held.job),
            int(state.clock.runs),
            int(state.clock.shares),
        )
        state.jobs.phase[job], state.jobs.run[job] = (
            (Phase.SUSPENDED if held.suspended else Phase.RUNNING),
            run,
        )
        memory.jobs.listed[job] = held.job.made
        memory.clock.lists = max(memory.clock.lists, held.job.made)
        state.runs.job[run], state.runs.share[run], state.runs.end[run] = (
            job,
            count,
            OPEN,
        )
        for node in members(held.nodes):
            cpus, mb = held.cpus[node], held.memory.get(node, 0)
            state.shares[
                [ShareTable["node"], ShareTable["cpus"], ShareTable["memory_mb"], ShareTable["alone"]], count
            ] = (
                node,
                cpus,
                mb,
                held.job.whole,
            )
            if not held.suspended:
                state.nodes.free_cpus[node] -= cpus
                state.nodes.runs[node] += 1
                state.nodes.alone[node] += held.job.whole
            state.nodes.free_memory[node] -= mb
            further = self.further(held, job, node)
            state.shares[SHARE_ROWS:, count] = further
            state.nodes[NODE_ROWS:, node] -= further
            count += 1
        state.clock.runs, state.clock.shares = run + 1, count
        total = sum(held.cpus.values())
        state.pools.free[0] -= 0 if held.suspended else total
        at = memory.clock.running
        memory.running[:, at] = held.end, job
        memory.clock.running += 1
        memory.jobs[[SlurmJobs["partition"], SlurmJobs["started"], SlurmJobs["ends"]], job] = (
            self.partitions[held.partition], held.start, held.end
        )  # fmt: skip
        memory.jobs[SlurmJobs["holds"] + Tres.CPU, job] = memory.jobs[
            SlurmJobs["holds"] + Tres.BILLING, job
        ] = total
        memory.jobs[SlurmJobs["holds"] + Tres.NODE, job] = held.nodes.bit_count()
        for resource, tres in enumerate(memory.gres_tres.tolist()):
            if tres != UNSET:
                has = [self.further(held, job, node)[resource] for node in members(held.nodes)]
                memory.jobs[SlurmJobs["holds"] + tres, job] = sum(has)
        if memory.jobs.array[job] != UNSET:
            memory.arrays.running[memory.jobs.array[job]] += 1
        memory.licences.used[:] += memory.licences_asked[:, job]
        if memory.settings.enforce:
            count_running(state, job)

    def node_set(self, row: np.ndarray[Any, Any]) -> int:
        """A row of words as the reference's set."""
        return sum((int(word) & WORD) << (64 * place) for place, word in enumerate(row))

    def started(self, reference: ReferenceState, before: int) -> list[Start]:
        """The runs that were opened since, as the reference tells them; those that ended are its victims."""
        state, found = self.state, []
        if state.clock.fault != Fault.NONE:
            raise refusal(state, None)
        jobs = waiting(reference)
        running = {self.place_of(held.job): held for held in reference.running}
        for run in range(int(state.clock.runs)):
            place = int(state.runs.job[run])
            if run < before:
                graced = self.memory.jobs.ends[place] < running[place].end
                if state.runs.end[run] != OPEN or graced:
                    reference.preempted.append((running[place].job, running[place]))
                continue
            last = run + 1 < state.clock.runs
            end = state.runs.share[run + 1] if last else state.clock.shares
            nodes = sum(1 << int(n) for n in state.shares.node[state.runs.share[run] : end])
            _, task = self.ids[place]
            job = jobs[self.ids[place]]
            if job.waiting_tasks:
                job.waiting_tasks = tuple(one for one in job.waiting_tasks if one != task) or (task,)
                job = replace(job, task=task, waiting_tasks=())
            ends = int(self.memory.jobs.ends[place])
            found.append(Start(job, "", Allocation(job, "", nodes, {}, {}, reference.now, ends)))
        reference.weights = self.memory.nodes.set_weight.tolist()
        return found

    def backfill_cycle(self, reference: ReferenceState) -> Cycle:
        """What the reference's function of this name gives."""
        self.lay(reference)
        before = int(self.state.clock.runs)
        cycle_at(self.state, reference.now)
        jobs, cycle = waiting(reference), Cycle()
        for k in range(int(self.memory.clock.plans)):
            place, start, end = self.memory.plans[:, k].tolist()
            nodes = self.node_set(self.memory.words_planned[k])
            waits = start == reference.now + 1 and bool(nodes & reference.completing)
            job = jobs[self.ids[place]]
            cycle.plans.append(Plan(job, "", start, end, nodes, held=end >= 0, waits_for_epilog=waits))
        cycle.starts = self.started(reference, before)
        return cycle

    def main_pass(self, reference: ReferenceState, *, full: bool) -> tuple[list[Start], bool]:
        """What the reference's function of this name gives."""
        self.lay(reference)
        before = int(self.state.clock.runs)
        pass_at(self.state, reference.now, full)
        return self.started(reference, before), False
