"""A cluster that is simulated, for rehearsals: the agent says what time it is.

Jobs take as long as their task says (``runtime``), or their whole walltime. Times are µs on the simulation's
clock. Nothing is kept on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headway.live.batch import Batch
from headway.live.engine import Job
from headway.live.grid_file import Grid, Site
from headway.live.server import REQUESTS, ClusterServer
from headway.live.spans import KILL, RESUME, START, STOP, SUSPEND, Span, noted
from headway.live.task import Task
from headway.policies.grid.notes import NO_ANSWER, STARTED

LIVE = ("waiting", "running", "suspended")
"""States of jobs that are not over."""


@dataclass
class Simulated:
    """A job of the simulated cluster."""

    number: int
    task: Task
    procs: int
    state: str = "waiting"
    started: int | None = None
    ended: int | None = None
    why: int = 0
    runs: int = 0
    spans: list[Span] = field(default_factory=list)


class SimulatedServer(ClusterServer):
    """The cluster; ``open`` and ``close`` are the borders of an instant."""

    requests = (*REQUESTS, "open", "close")

    def __init__(self, grid: Grid, site: Site, control: bool) -> None:
        super().__init__(grid, site, control)
        Batch.warm(site.cluster, site.policy)
        self.batch = Batch(site.cluster, site.policy)
        self.jobs: dict[str, Simulated] = {}
        self.names: dict[int, str] = {}
        self.now = 0
        self.given = 0
        """Numbers given to jobs so far."""

    def open(self, now: int) -> dict[str, Any]:
        """Let it be an instant, no later than what happens next here."""
        self.now = now
        if self.batch.following == now:
            self.batch.open(now)
        else:
            self.batch.look(now)
        return {"following": self.batch.following}

    def close(self) -> dict[str, Any]:
        """The policy's turn, if anything happened."""
        self.batch.close()
        for act in self.batch.acts():
            job = self.jobs[self.names[act.job]]
            job.spans = noted(job.spans, act.kind, job.runs, job.started or 0, act.at)
            if act.kind == START:
                job.state, job.started, job.why = "running", act.at, act.why
            elif act.kind == SUSPEND:
                job.state = "suspended"
            elif act.kind == RESUME:
                job.state = "running"
            elif act.kind == STOP:
                job.state, job.runs = "waiting", job.runs + 1
            elif act.kind == KILL:
                job.state, job.ended = "killed", act.at
        self._see_ends()
        self._forget()
        return {"following": self.batch.following}

    def _see_ends(self) -> None:
        for job in self.jobs.values():
            if job.state == "running" and self.batch.phase(job.number) == "done":
                job.state = "done"
                job.ended = self.batch.ended(job.number)

    def _forget(self) -> None:
        """Let go of what is over, as soon as it is much and the policy can."""
        live = {name: job for name, job in self.jobs.items() if job.state in LIVE}
        forgotten = self.batch.drop_over()
        if not forgotten and all(job.state == "running" for job in live.values()):
            forgotten = self.batch.forget_past(
                {job.number: (job.started or 0, self._job(job.task, job.procs)) for job in live.values()}
            )
        if forgotten:
            just = {name: job for name, job in self.jobs.items() if job.ended == self.now}
            self.jobs = just | live
            self.names = {job.number: name for name, job in self.jobs.items()}

    def _job(self, task: Task, procs: int) -> Job:
        runtime = task.walltime if task.runtime is None else task.runtime
        return Job.of(task, self.shapes.shape(task, procs), runtime)

    def _tuned(self, task: Task) -> tuple[int, int]:
        return self.shapes.tuned(task, lambda procs: self.batch.tried(self._job(task, procs)))

    def estimate(self, name: str, task: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs.get(name)
        if job is not None and job.state != "cancelled":
            if job.state != "waiting" or self.batch.phase(job.number) != "waiting":
                return {"completion": STARTED, "procs": 0}
            return self._answer(job)
        asked = Task.from_json(task)
        completion, procs = self._tuned(asked)
        if completion == NO_ANSWER:
            return {"completion": NO_ANSWER, "procs": 0}
        start = completion - self.shapes.walltime(asked, procs)
        return {"completion": completion, "procs": procs, "start": start}

    def _answer(self, job: Simulated) -> dict[str, Any]:
        start, completion = self.batch.planned(job.number)
        walltime = self.shapes.walltime(job.task, job.procs)
        return {"completion": completion, "procs": job.procs, "start": start, "walltime": walltime}

    def submit(self, name: str, fence: str, task: dict[str, Any]) -> dict[str, Any]:
        if name in self.jobs:
            return self._answer(self.jobs[name])
        self.guard.permit("submit")
        asked = Task.from_json(task)
        completion, procs = self._tuned(asked)
        if completion == NO_ANSWER:
            raise self.cannot_run(asked)
        job = Simulated(self.given, asked, procs)
        self.given += 1
        self.names[job.number] = name
        self.jobs[name] = job
        self.batch.open(self.now)
        self.batch.submit(job.number, self._job(asked, procs))
        length = self.shapes.walltime(asked, procs)
        return {"completion": completion, "procs": procs, "start": completion - length, "walltime": length}

    def release(self, name: str) -> dict[str, Any]:
        return {"released": True}  # at the end of an instant everything that came in it is let go

    def cancel(self, name: str) -> dict[str, Any]:
        job = self.jobs.get(name)
        if job is None or job.state == "cancelled":
            return {"gone": True}
        if job.state != "waiting" or self.batch.phase(job.number) != "waiting":
            return {"gone": False}
        self.guard.permit("cancel")
        self.batch.open(self.now)
        self.batch.cancel(job.number)
        job.state, job.ended = "cancelled", self.now
        return {"gone": True}

    def kill(self, name: str) -> dict[str, Any]:
        if self.cancel(name)["gone"]:
            return {"gone": True}
        job = self.jobs[name]
        if job.state not in LIVE:
            return {"gone": False}
        self.batch.end(job.number, self.now)
        job.state, job.ended = "cancelled", self.now
        return {"gone": True}

    def poll(self, names: list[str], prefix: str = "") -> dict[str, Any]:
        jobs = {name: self._state(self.jobs.get(name)) for name in names}
        return {"jobs": jobs, "others": [], "now": self.now}

    def _state(self, job: Simulated | None) -> dict[str, Any]:
        if job is None:
            return {"state": "absent"}
        code = 0 if job.state == "done" else None
        found: dict[str, Any] = {"state": job.state, "procs": job.procs, "code": code}
        found |= {"started": job.started, "ended": job.ended, "why": job.why, "runs": job.runs}
        return found | {"spans": job.spans}

    def picture(self) -> dict[str, Any]:
        jobs = []
        for name, job in self.jobs.items():
            if job.state in LIVE:
                start, completion = self.batch.planned(job.number)
                begun = start if job.state == "waiting" else job.started
                found = {"name": name, "state": job.state, "procs": job.procs}
                jobs.append(found | {"start": begun, "completion": completion})
        return {"procs": sum(self.batch.pools), "jobs": jobs, "now": self.now}
