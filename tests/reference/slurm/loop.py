"""The two loops left to their own clocks, section 17: seconds pass, jobs come and end, passes follow.

Within one second: ends, epilogs, submissions, priorities, a pass of the main loop, a backfill cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from .backfill import backfill_cycle
from .fairshare import Fairness
from .limits import AccountLimits
from .machine import Allocation, Job, Machine
from .main import main_pass
from .priority import Multifactor, basic
from .state import NoLimits, Start, State


@dataclass
class Clocks:
    """When the clocks begin, in seconds after the first submission, and how long things take."""

    full: int = 0
    backfill: int = 0
    priority: int = 0
    epilog: int = 1
    """From a job's end until its nodes may be used."""
    late: float = 0.0
    """Share of backfill cycles that begin late; the recorded runs show about 0.4, from a busy machine."""
    lateness: int = 60
    """Seconds that a late cycle is late at most."""
    seed: int = 0

    @classmethod
    def seeded(cls, seed: int, epilog: int = 1, late: float = 0.0) -> Clocks:
        random = Random(seed)
        phases = random.randrange(60), random.randrange(30), random.randrange(300)
        return cls(*phases, epilog=epilog, late=late, seed=seed)


@dataclass
class Outcome:
    """What the run did: by job, its start, nodes and the loop that started it."""

    start: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)
    by: dict[int, str] = field(default_factory=dict)
    partition: dict[int, str] = field(default_factory=dict)
    cycles: int = 0
    passes: int = 0


class Simulation:
    """Jobs in order of submission with their run times in seconds; `factors` None is priority/basic.

    With a `log` of passes (second; main, full or bf) they happen at those seconds instead of by the clocks.
    """

    def __init__(
        self,
        machine: Machine,
        jobs: Sequence[tuple[Job, int]],
        clocks: Clocks,
        factors: Multifactor | None = None,
        fairness: Fairness | None = None,
        period: int = 300,
        log: Sequence[tuple[int, str]] = (),
    ) -> None:
        self.machine, self.factors, self.fairness, self.period = machine, factors, fairness, period
        self.jobs = sorted(jobs, key=lambda pair: (pair[0].submit, pair[0].id))
        for made, (job, _) in enumerate(self.jobs):
            job.made = made
        self.runtime = {job.id: run for job, run in jobs}
        self.clocks = clocks
        self.pending: list[Job] = []
        self.running: list[Allocation] = []
        self.completing: list[tuple[int, Allocation]] = []
        self.ends: dict[int, int] = {}
        first = self.jobs[0][0].submit
        self.now = first
        self.last_full = self.last_sched = first - 60 + clocks.full
        self.bf_end = first - 30 + clocks.backfill
        self.bf_wake = self.bf_end + machine.settings.bf_interval
        self.next_priority = first + clocks.priority
        self.waiting_requests = 0
        self.stamp = first
        self.last_priority: int | None = None
        self.random = Random(clocks.seed)
        self.log: dict[int, list[str]] = {}
        for t, kind in log:
            self.log.setdefault(t, []).append(kind)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        coming = list(reversed(self.jobs))
        while coming or self.pending or self.running:
            if not self.pending and not self.running and not self.completing:
                self.skip_to(coming[-1][0].submit)
            self.finish()
            epilog = self.epilogs()
            while coming and coming[-1][0].submit <= self.now:
                self.submit(coming.pop()[0])
            self.priorities()
            if self.log:
                self.by_log()
            else:
                self.main_loop(epilog)
                self.backfill()
            self.now += 1
        return self.outcome

    def skip_to(self, t: int) -> None:
        """Nothing runs or waits until t; clocks that tick meanwhile keep their phase."""
        interval = self.machine.settings.sched_interval
        while self.last_full + interval < t:
            self.last_full += interval
            self.last_sched = self.last_full
        while self.next_priority < t:
            self.calculate(self.next_priority)
            self.next_priority += self.period
        self.now = max(self.now, t)

    def submit(self, job: Job) -> None:
        job.eligible = self.now
        if self.factors is None:
            self.last_priority = job.priority = basic(self.last_priority, job.nice)
        else:
            self.prioritise(job, self.now, 0)
        self.pending.append(job)
        self.waiting_requests += 1
        self.stamp = self.now

    def prioritise(self, job: Job, t: int, since: int) -> None:
        assert self.factors is not None
        values = {part: self.factors.priority(job, part, t, since) for part in job.partitions}
        job.priority = values[job.partitions[0]]
        job.priority_in = values if len(values) > 1 else {}

    def finish(self) -> None:
        for held in [held for held in self.running if self.ends[held.job.id] <= self.now]:
            self.running.remove(held)
            self.completing.append((self.now + self.clocks.epilog, held))
            if self.fairness:
                self.fairness.add(held, self.now)
            self.stamp = self.now

    def epilogs(self) -> bool:
        """Nodes whose epilog is over come free; each message asks for a pass at once."""
        over = [pair for pair in self.completing if pair[0] <= self.now]
        self.completing = [pair for pair in self.completing if pair[0] > self.now]
        if over:
            self.stamp = self.now
        return bool(over)

    def priorities(self) -> None:
        while self.next_priority <= self.now:
            self.calculate(self.next_priority)
            self.next_priority += self.period

    def calculate(self, t: int) -> None:
        if self.factors is None or self.factors.accounts is None:
            return
        if self.fairness:
            self.fairness.calculate(t, self.running)
        for job in self.pending:
            self.prioritise(job, t, job.submit)
            self.stamp = self.now

    def state(self) -> State:
        completing = 0
        for _, held in self.completing:
            completing |= held.nodes
        state = State(self.machine, self.now, self.pending, self.running, completing)
        if self.fairness and "limits" in self.machine.settings.enforce:
            state.limits = AccountLimits(self.machine, self.fairness.accounts, self.running)
        else:
            state.limits = NoLimits()
        return state

    def main_loop(self, epilog: bool) -> None:
        settings = self.machine.settings
        full = queued = False
        if self.now - self.last_full >= settings.sched_interval:
            full = True
            self.last_full = self.last_sched = self.now
            self.waiting_requests = 0
        elif self.waiting_requests and self.now - self.last_sched >= settings.batch_sched_delay:
            queued = True
            self.last_sched = self.now
            self.waiting_requests = 0
        if not (full or queued or epilog):
            return
        self.outcome.passes += 1
        if not self.pending:
            return
        starts, stamped = main_pass(self.state(), full=full)
        self.note(starts, "main")
        if stamped:
            self.stamp = self.now

    def backfill(self) -> None:
        if self.now < self.bf_wake:
            return
        interval = self.machine.settings.bf_interval
        if self.now - self.bf_end < interval or self.stamp < self.bf_end:
            return
        self.outcome.cycles += 1
        if self.pending:
            cycle = backfill_cycle(self.state())
            self.note(cycle.starts, "backfill")
            if cycle.stamped:
                self.stamp = self.now
        self.bf_end = self.now
        self.bf_wake = self.now + interval
        if self.random.random() < self.clocks.late:
            self.bf_wake += self.random.randrange(self.clocks.lateness)

    def by_log(self) -> None:
        for kind in self.log.get(self.now, []):
            if not self.pending:
                continue
            if kind == "bf":
                self.note(backfill_cycle(self.state()).starts, "backfill")
            else:
                self.note(main_pass(self.state(), full=kind == "full")[0], "main")

    def note(self, starts: Sequence[Start], by: str) -> None:
        for start in starts:
            job = start.job.id
            self.ends[job] = self.now + self.runtime[job]
            self.outcome.start[job] = self.now
            self.outcome.nodes[job] = start.held.nodes
            self.outcome.by[job] = by
            self.outcome.partition[job] = start.partition
