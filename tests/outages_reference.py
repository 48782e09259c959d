"""Strict orders, EASY and conservative backfilling with outages, once more: plain, slow, and by definition.

Processors are numbers in sets, plans are made by counting them at every instant where something changes, and
nothing is remembered that can be counted again. Times are whole seconds; every job runs for at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Job = tuple[int, int, int, int]
"""submit, procs, runtime, walltime"""
FAR = 400
"""Everything is over by then."""


@dataclass
class Loss:
    """An outage: maintenance has a number of processors, the others have names."""

    kind: str
    start: int
    end: int
    procs: int = 0
    names: frozenset[int] = frozenset()
    announced: int = 0


@dataclass
class Run:
    job: int
    start: int
    procs: frozenset[int]
    expected: int
    real_end: int
    end: int = -1
    failed: bool = False


@dataclass
class Reference:
    jobs: Sequence[Job]
    size: int
    losses: Sequence[Loss]
    policy: str = "easy"
    depth: int = 1
    order: Callable[[Job], int] = lambda job: 0
    backfill: Callable[[Job], int] | None = None
    compress: bool = True
    lost: bool = False
    t: int = -1
    queue: list[int] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    window: dict[int, Loss] = field(default_factory=dict)
    """processor -> the maintenance that has it longest"""
    reserved: dict[int, int] = field(default_factory=dict)

    # ---- the machine ------------------------------------------------------------------------------------

    def live(self) -> list[Run]:
        return [run for run in self.runs if run.end < 0]

    def active(self, kind: str) -> set[int]:
        return {
            p
            for loss in self.losses
            if loss.kind == kind and loss.start <= self.t < loss.end
            for p in loss.names
        }

    def free(self) -> list[int]:
        away = self.active("down") | self.active("drain") | set(self.window)
        away |= {p for run in self.live() for p in run.procs}
        return [p for p in range(self.size) if p not in away]

    def level(self, x: int) -> int:
        """Processors to plan with at x, now or later."""
        lasting = self.active("down") | self.active("drain")
        there = 0
        holder = {p: run for run in self.live() for p in run.procs}
        for p in range(self.size):
            if p in holder and holder[p].expected > x:
                continue
            if p in lasting or (p in self.window and self.window[p].end > x):
                continue
            there += 1
        for loss in self.losses:
            if loss.kind == "maintenance" and loss.announced <= self.t < loss.start <= x < loss.end:
                there -= loss.procs
        for job, start in self.reserved.items():
            if start <= x < start + self.jobs[job][3]:
                there -= self.jobs[job][1]
        return there

    def there(self) -> list[int]:
        """Processors there at every instant as far as is known, whoever runs on them."""
        lasting = self.active("down") | self.active("drain")
        holder = {p: run for run in self.live() for p in run.procs}
        found = []
        for x in range(FAR):
            there = 0
            for p in range(self.size):
                since = holder[p].expected if p in holder else 0
                if p in lasting and x >= since:
                    continue
                there += not (p in self.window and self.window[p].end > x)
            for loss in self.losses:
                if loss.kind == "maintenance" and loss.announced <= self.t < loss.start <= x < loss.end:
                    there -= loss.procs
            found.append(there)
        return found

    def moments(self) -> list[int]:
        found = {run.expected for run in self.live()}
        found |= {x for loss in self.losses for x in (loss.start, loss.end) if loss.announced <= self.t}
        found |= {x for job, start in self.reserved.items() for x in (start, start + self.jobs[job][3])}
        return [self.t, *sorted(x for x in found if x > self.t)]

    def fits(self, job: int, x: int) -> bool:
        _, procs, _, wall = self.jobs[job]
        inside = [y for y in self.moments() if x < y < x + wall]
        return all(self.level(y) >= procs for y in [x, *inside])

    def earliest(self, job: int) -> int | None:
        return next((x for x in self.moments() if self.fits(job, x)), None)

    # ---- what happens -----------------------------------------------------------------------------------

    def stop(self, run: Run) -> None:
        run.end, run.failed = self.t, True
        if not self.lost:
            self.queue.append(run.job)
            self.in_order()

    def in_order(self) -> None:
        self.queue.sort(key=lambda job: (self.order(self.jobs[job]), job))

    def happen(self) -> None:
        """Outages at this instant."""
        for p in [p for p, loss in self.window.items() if loss.end == self.t]:
            del self.window[p]
        for loss in self.losses:
            if loss.kind == "down" and loss.start == self.t:
                for run in self.live():
                    if run.procs & loss.names:
                        self.stop(run)
        for loss in self.losses:
            if loss.kind == "maintenance" and loss.start == self.t:
                idle = {p for p in range(self.size) if p not in self.window}
                idle -= {p for run in self.live() for p in run.procs}
                for run in reversed(self.live()):
                    if len(idle) < loss.procs:
                        self.stop(run)
                        idle |= run.procs
                shared = sorted(self.window)[::-1][: max(loss.procs - len(idle), 0)]
                for p in [*sorted(idle)[-loss.procs :], *shared]:
                    self.window[p] = max(self.window.get(p, loss), loss, key=lambda window: window.end)

    def start(self, job: int) -> None:
        _, procs, runtime, wall = self.jobs[job]
        chosen = frozenset(self.free()[:procs])
        assert len(chosen) == procs
        self.runs.append(Run(job, self.t, chosen, self.t + wall, self.t + min(runtime, wall)))
        self.queue.remove(job)
        self.reserved.pop(job, None)

    def can_start(self, job: int) -> bool:
        return self.jobs[job][1] <= len(self.free()) and self.fits(job, self.t)

    # ---- policies ---------------------------------------------------------------------------------------

    def strict(self) -> None:
        while self.queue and self.can_start(self.queue[0]):
            self.start(self.queue[0])

    def easy(self) -> None:
        self.reserved = {}
        for job in list(self.queue):
            if self.can_start(job):
                self.start(job)
                continue
            at = self.earliest(job)
            if at is not None:
                self.reserved[job] = at
                if len(self.reserved) == self.depth:
                    break
        key = self.backfill or self.order
        for job in sorted(self.queue, key=lambda job: (key(self.jobs[job]), job)):
            if job not in self.reserved and self.can_start(job):
                self.start(job)
        self.reserved = {}

    def conservative(self, early: bool, changed: bool, new: list[int]) -> None:
        if changed:
            self.reserved = {}
            for job in self.queue:
                if job not in new:
                    self.reserve(job)
        elif early and self.compress:
            for job in self.queue:
                if job in self.reserved:
                    at = self.reserved.pop(job)
                    earlier = self.earliest(job)
                    self.reserved[job] = at if earlier is None else min(at, earlier)
        for job in new:
            self.reserve(job)
        for job in [job for job in self.queue if self.reserved.get(job) == self.t]:
            self.start(job)

    def reserve(self, job: int) -> None:
        at = self.earliest(job)
        if at is not None:
            self.reserved[job] = at

    # ---- time -------------------------------------------------------------------------------------------

    def run(self) -> list[Run]:
        come = 0
        while True:
            expected = self.there() if self.policy == "conservative" else []
            times = [run.real_end for run in self.live()]
            times += [x for loss in self.losses for x in (loss.announced, loss.start, loss.end)]
            times += self.reserved.values()
            times += [job[0] for job in self.jobs[come:]]
            later = [x for x in times if x > self.t]
            if not later:
                break
            self.t = min(later)
            over = [run for run in self.live() if run.real_end == self.t]
            for run in over:
                run.end = self.t
            self.happen()
            changed = any(run.failed and run.end == self.t for run in self.runs)
            changed |= self.policy == "conservative" and self.there()[self.t :] != expected[self.t :]
            new = []
            while come < len(self.jobs) and self.jobs[come][0] == self.t:
                new.append(come)
                come += 1
            self.queue += new
            self.in_order()
            if self.policy == "strict":
                self.strict()
            elif self.policy == "easy":
                self.easy()
            else:
                self.conservative(any(run.expected > self.t for run in over), changed, new)
        assert not self.queue
        return self.runs
