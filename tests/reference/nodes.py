"""Jobs inside nodes, and the input files in the nodes' memories: the world of the node policies.

Decisions.
- A job's class is the smallest node memory of the platform that is >= its need (no need: the smallest class).
   ``match``: ``exact`` nodes of that class, ``fits`` nodes with memory >= the need, ``any`` all; never a node
   with too few cores.
- A load takes file size / bandwidth of the node, rounded up once.  A load goes on for those who wait for it
  even if the job that began it is killed; without any of them left it is lost.
- Presence, asked for an instant A of a node's plan, in which running jobs hold their files until start +
  walltime: ``contiguous``: some user runs at A or ends at A.  ``until-next-start``: that, or no job
  without the file started on the node between the end of the file's last user (that instant included) and A
  (excluded).  ``lru``:
  files stay until the node's memory (GB) overflows when a new one comes in; then those without a user go,
  smallest last use first, ties in the order they came.  A file of which no load was finished goes with its
  last user.
- A job without a file loads nothing.
- The kill counts from the start, so a load eats into the walltime.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from .jobs import SECOND, Job, Result


@dataclass(frozen=True)
class Node:
    cores: int
    memory_gb: Fraction = Fraction(128)
    bandwidth_gb_s: Fraction = Fraction(1, 10)


@dataclass(frozen=True)
class Use:
    """A job on a node, done, running or planned; its file is there from ``loaded`` on.

    ``end`` is start + walltime until the job has ended, then the real end.
    """

    job: int
    file: str | None
    gb: Fraction
    begin: int
    loaded: int
    end: int


@dataclass(frozen=True)
class NodeRun:
    job: int
    node: int
    start: int
    end: int
    expected: int
    cores: int


@dataclass
class Placed:
    results: list[Result]
    nodes: list[int]
    overheads: list[int]  # time each job waited for its file
    loads: int
    reuses: int


class Nodes:
    def __init__(
        self,
        jobs: Sequence[Job],
        nodes: Sequence[Node],
        presence: str = "contiguous",
        match: str = "fits",
        second: int = SECOND,
    ) -> None:
        assert presence in ("contiguous", "until-next-start", "lru")
        assert match in ("exact", "fits", "now", "any")
        self.jobs, self.nodes, self.second = jobs, nodes, second
        self.presence, self.match = presence, match
        self.running: list[NodeRun] = []
        self.uses: list[list[Use]] = [[] for _ in nodes]  # everything that ever ran there, in starting order
        self.results: dict[int, Result] = {}
        self.placed: dict[int, int] = {}
        self.overheads: dict[int, int] = {}
        self.loads = 0
        self.reuses = 0

    # ---- sizes ----

    def classes(self) -> list[Fraction]:
        return sorted({node.memory_gb for node in self.nodes})

    def class_of(self, j: int) -> int:
        need = self.jobs[j].needs_node_gb
        return min(x for x, memory in enumerate(self.classes()) if memory >= need)

    def of_class(self, x: int, cores: int) -> list[int]:
        memory = self.classes()[x]
        return [i for i, n in enumerate(self.nodes) if n.memory_gb == memory and n.cores >= cores]

    def allowed(self, j: int) -> list[int]:
        job = self.jobs[j]
        if self.match == "exact":
            return self.of_class(self.class_of(j), job.procs)
        need = Fraction(0) if self.match == "any" else job.needs_node_gb
        return [i for i, n in enumerate(self.nodes) if n.memory_gb >= need and n.cores >= job.procs]

    def in_order(self) -> list[int]:
        """Nodes by class, then number: the order of ties."""
        return sorted(range(len(self.nodes)), key=lambda i: (self.nodes[i].memory_gb, i))

    # ---- cores ----

    def free(self, i: int) -> int:
        return self.nodes[i].cores - sum(run.cores for run in self.running if run.node == i)

    def row(self, t: int, i: int) -> list[int]:
        """Availability of each core of the node: now, or the expected end of its job."""
        here = [run for run in self.running if run.node == i]
        return sorted([t] * self.free(i) + [run.expected for run in here for _ in range(run.cores)])

    # ---- files ----

    def load_time(self, i: int, gb: Fraction) -> int:
        return math.ceil(gb / self.nodes[i].bandwidth_gb_s * self.second)

    def load_at(self, i: int, job: Job, at: int, uses: Sequence[Use]) -> tuple[int, bool]:
        """Time the job waits for its file if it starts at ``at``, and whether it has to load it itself."""
        if job.file is None:
            return 0, False
        kept = self.kept_until_full(i, at, uses) if self.presence == "lru" else uses
        mine = [use for use in kept if use.file == job.file and use.begin <= at]
        if any(use.loaded <= min(at, use.end) and self.still_there(use, at, uses) for use in mine):
            return 0, False
        coming = [use.loaded for use in mine if at < use.loaded and at < use.end]
        if coming:
            return min(coming) - at, False
        return self.load_time(i, job.file_gb), True

    def still_there(self, use: Use, at: int, uses: Sequence[Use]) -> bool:
        if self.presence == "contiguous":
            return at <= use.end
        if self.presence == "until-next-start":
            others = [other for other in uses if other.file != use.file]
            return at <= use.end or not any(use.end <= other.begin < at for other in others)
        return True

    def kept_until_full(self, i: int, at: int, uses: Sequence[Use]) -> list[Use]:
        """LRU by replay: the uses, up to ``at``, of the files that are in memory then, since they came in."""
        memory: dict[str, list[Use]] = {}
        for use in sorted((u for u in uses if u.begin <= at), key=lambda u: u.begin):
            if use.file is None:
                continue
            unread = [
                f for f, kept in memory.items() if all(u.end <= use.begin and u.loaded > u.end for u in kept)
            ]
            for f in unread:
                del memory[f]
            memory.setdefault(use.file, []).append(use)
            while sum(kept[0].gb for kept in memory.values()) > self.nodes[i].memory_gb:
                idle = [
                    f for f, kept in memory.items() if f != use.file and all(u.end <= use.begin for u in kept)
                ]
                if not idle:
                    break
                del memory[min(idle, key=lambda f: max(u.end for u in memory[f]))]
        return [use for kept in memory.values() for use in kept]

    def holds_copy(self, i: int, job: Job, t: int) -> bool:
        """Whether the node holds the job's file now, or is loading it."""
        return job.file is not None and not self.load_at(i, job, t, self.uses[i])[1]

    # ---- running ----

    def start(self, t: int, j: int, i: int) -> NodeRun:
        job = self.jobs[j]
        assert job.procs <= self.free(i) and i in range(len(self.nodes)) and t >= job.submit
        overhead, own = self.load_at(i, job, t, self.uses[i])
        if job.file is not None:
            self.loads, self.reuses = self.loads + own, self.reuses + (not own)
        needed = overhead + job.runtime
        run = NodeRun(j, i, t, t + min(job.walltime, needed), t + job.walltime, job.procs)
        self.running.append(run)
        self.uses[i].append(Use(j, job.file, job.file_gb, t, t + overhead, run.expected))
        why = "immediate" if t == job.submit else "reservation"
        self.results[j] = Result(t, run.end, needed > job.walltime, why)
        self.placed[j], self.overheads[j] = i, overhead
        return run

    def complete(self, t: int) -> list[NodeRun]:
        ended = [run for run in self.running if run.end <= t]
        self.running = [run for run in self.running if run.end > t]
        for run in ended:
            assert run.end == t
            uses = self.uses[run.node]
            uses[:] = [replace(u, end=t) if u.job == run.job else u for u in uses]
        return ended

    def next_end(self) -> int | None:
        return min((run.end for run in self.running), default=None)

    def outcome(self) -> Placed:
        n = len(self.jobs)
        assert not self.running and len(self.results) == n, "a job never ran"
        results = [self.results[j] for j in range(n)]
        places, waits = [self.placed[j] for j in range(n)], [self.overheads[j] for j in range(n)]
        return Placed(results, places, waits, self.loads, self.reuses)
