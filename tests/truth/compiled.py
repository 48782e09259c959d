"""The compiled policy given the recorded state: the same questions that the twin is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.engine.drive import Jobs, make_state
from headway.engine.tables import (
    FREE,
    N_ALONE,
    N_CPUS,
    N_FREE_CPUS,
    N_FREE_MEMORY,
    N_MEMORY,
    N_RUNS,
    NOW,
    OPEN,
    PHASE,
    R_END,
    R_JOB,
    R_SHARE,
    RUN,
    RUNNING,
    RUNS,
    S_ALONE,
    S_CPUS,
    S_MEMORY,
    S_NODE,
    SHARES,
    SIZE,
    WAITING,
    WAITS,
)
from headway.jit import entry
from headway.policies.prepare import Arrivals
from headway.policies.slurm.backfill import backfill_cycle
from headway.policies.slurm.limits import charge
from headway.policies.slurm.main_loop import main_pass
from headway.policies.slurm.tables import Clock, Job, Node, Partition, Record, Setting, Tres
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.units import SECOND
from truth.runs import Run
from twins.slurm.backfill import Cycle, Plan
from twins.slurm.machine import Allocation, members
from twins.slurm.state import Start
from twins.slurm.state import State as TwinState


@entry
def cycle_at(state: Any, now: int) -> None:
    """A backfill cycle."""
    backfill_cycle(state, now, True)


@entry
def pass_at(state: Any, now: int, full: bool) -> None:
    """A pass of the main loop."""
    main_pass(state, now, full)


@entry
def count_running(state: Any, job: int) -> None:
    """Count a running job with everyone whose limits it concerns."""
    charge(state.memory, job, 1)


class Compiled:
    """The policy's tables for the jobs of a recorded run, laid anew for each question."""

    def __init__(self, run: Run) -> None:
        site = Site.load(run.folder / "site")
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
        self.begin = self.memory.jobs.copy()
        self.ids = workload.job[order].tolist()
        self.place = {job: place for place, job in enumerate(self.ids)}
        self.partitions = {one.name: p for p, one in enumerate(site.partitions)}
        self.lists = self.memory.lists.tolist()

    def lay(self, twin: TwinState) -> None:
        """Let the tables be as the recorded state is."""
        state, memory = self.state, self.memory
        memory.jobs[:] = self.begin
        for table in (memory.held, memory.users, memory.accounts):
            table[:] = 0
        memory.holders[3] = 0  # running jobs
        for row in (Clock.QUEUED, Clock.RUNNING, Clock.COMPLETING, Clock.PENDING):
            memory.clock[row] = 0
        state.clock[RUNS] = state.clock[SHARES] = 0
        state.clock[NOW] = (twin.now - self.origin) * SECOND
        state.pools[FREE, 0] = state.pools[SIZE, 0]
        state.nodes[N_FREE_CPUS], state.nodes[N_FREE_MEMORY] = state.nodes[N_CPUS], state.nodes[N_MEMORY]
        state.nodes[N_RUNS] = state.nodes[N_ALONE] = 0
        memory.nodes[Node.COMPLETING] = [twin.completing >> i & 1 for i in range(state.nodes.shape[1])]
        for held in sorted(twin.running, key=lambda one: (one.end, self.place[one.job.id])):
            self.lay_running(held)
        records = []
        for job in twin.pending:
            place = self.place[job.id]
            state.jobs[PHASE, place], state.jobs[RUN, place] = WAITING, -1
            memory.jobs[Job.BEGIN, place] = job.eligible or job.submit
            for k, name in enumerate(job.partitions):
                part = self.partitions[name]
                longest = memory.partitions[Partition.MAX_MINUTES, part]
                if longest < 0 or job.limit <= longest:
                    tier = int(memory.partitions[Partition.TIER, part])
                    records.append((-tier, -job.priority_for(name), place, k, part))
        for at, (tier, priority, place, k, part) in enumerate(sorted(records)):
            memory.queue[Record.JOB, at], memory.queue[Record.PARTITION, at] = place, part
            memory.queue[Record.TIER, at], memory.queue[Record.PRIORITY, at] = -tier, -priority
            memory.queue[Record.PLACE, at] = k
        memory.clock[Clock.QUEUED] = len(records)
        memory.clock[Clock.PENDING] = state.clock[WAITS] = len(twin.pending)

    def lay_running(self, held: Allocation) -> None:
        state, memory = self.state, self.memory
        job, run, count = self.place[held.job.id], int(state.clock[RUNS]), int(state.clock[SHARES])
        state.jobs[PHASE, job], state.jobs[RUN, job] = RUNNING, run
        state.runs[R_JOB, run], state.runs[R_SHARE, run], state.runs[R_END, run] = job, count, OPEN
        for node in members(held.nodes):
            cpus, mb = held.cpus[node], held.memory.get(node, 0)
            state.shares[[S_NODE, S_CPUS, S_MEMORY, S_ALONE], count] = node, cpus, mb, held.job.whole
            state.nodes[N_FREE_CPUS, node] -= cpus
            state.nodes[N_FREE_MEMORY, node] -= mb
            state.nodes[N_RUNS, node] += 1
            state.nodes[N_ALONE, node] += held.job.whole
            count += 1
        state.clock[RUNS], state.clock[SHARES] = run + 1, count
        total = sum(held.cpus.values())
        state.pools[FREE, 0] -= total
        at = memory.clock[Clock.RUNNING]
        memory.running[:, at] = held.end, job
        memory.clock[Clock.RUNNING] += 1
        memory.jobs[[Job.PARTITION, Job.STARTED, Job.ENDS], job] = (
            self.partitions[held.partition], held.start, held.end
        )  # fmt: skip
        memory.jobs[Job.HOLDS + Tres.CPU, job] = memory.jobs[Job.HOLDS + Tres.BILLING, job] = total
        memory.jobs[Job.HOLDS + Tres.NODE, job] = held.nodes.bit_count()
        if memory.settings[Setting.ENFORCE]:
            count_running(state, job)

    def node_set(self, row: np.ndarray[Any, Any]) -> int:
        """A row of bytes as the twin's set."""
        return sum(1 << int(node) for node in np.flatnonzero(row))

    def started(self, twin: TwinState, before: int) -> list[Start]:
        """The runs that were opened since, as the twin tells them."""
        state, found = self.state, []
        jobs = {job.id: job for job in twin.pending}
        for run in range(before, int(state.clock[RUNS])):
            last = run + 1 < state.clock[RUNS]
            end = state.runs[R_SHARE, run + 1] if last else state.clock[SHARES]
            nodes = sum(1 << int(n) for n in state.shares[S_NODE, state.runs[R_SHARE, run] : end])
            place = int(state.runs[R_JOB, run])
            job = jobs[self.ids[place]]
            ends = int(self.memory.jobs[Job.ENDS, place])
            found.append(Start(job, "", Allocation(job, "", nodes, {}, {}, twin.now, ends)))
        return found

    def backfill_cycle(self, twin: TwinState) -> Cycle:
        """What the twin's function of this name gives."""
        self.lay(twin)
        before = int(self.state.clock[RUNS])
        cycle_at(self.state, twin.now)
        jobs, cycle = {job.id: job for job in twin.pending}, Cycle()
        for k in range(int(self.memory.clock[Clock.PLANS])):
            place, start, end = self.memory.plans[:, k].tolist()
            nodes = self.node_set(self.memory.planned[k])
            waits = start == twin.now + 1 and bool(nodes & twin.completing)
            plan = Plan(jobs[self.ids[place]], "", start, end, nodes, held=end >= 0, waits_for_epilog=waits)
            cycle.plans.append(plan)
        cycle.starts = self.started(twin, before)
        return cycle

    def main_pass(self, twin: TwinState, *, full: bool) -> tuple[list[Start], bool]:
        """What the twin's function of this name gives."""
        self.lay(twin)
        before = int(self.state.clock[RUNS])
        pass_at(self.state, twin.now, full)
        return self.started(twin, before), False


