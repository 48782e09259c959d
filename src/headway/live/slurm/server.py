"""The server in front of a Slurm cluster. Slurm schedules; this asks it, and foresees what it will do.

A job is known by its name alone: numbers may be given to other jobs after a crash of the controller. It is
handed over held. To take back one that waits, it is held first: a job that is held cannot start in between.
What became of a job is told by its fence, then by the queue, then by accounting.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headway.live import outside
from headway.live.batch import Batch, Picture, planned_from
from headway.live.engine import Job
from headway.live.grid_file import Grid, Site
from headway.live.script import FENCED, Fence, job_script, read_fence
from headway.live.server import SEARCH, ClusterServer
from headway.live.slurm.accounting import Accounting
from headway.live.slurm.commands import Slurm, sbatch_words
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import OURS, SlurmJob, in_order, look_at, parse_ours, parse_queue
from headway.live.slurm.rules import Rules, RulesPlan
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused
from headway.platform import Cluster
from headway.policies.grid.composed.cluster import Shape
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.policies.spec import Spec
from headway.units import MINUTE, NEVER, SECOND

FRESH = 0.3
"""Seconds for which a look at the queue is used again."""
RELEASED = "(let go by headway)"
"""In the comment of a job that was released."""
OVERRUN = 2 * MINUTE
"""A job may outlive its limit by so much before it counts as dead: Slurm looks every 30 s, then waits. One
that Slurm says has ended has as long to tell its end on the storage of the fences."""


def foreseen(
    cluster: Cluster, policy: Spec, ran: Sequence[SlurmJob], waits: Sequence[SlurmJob], usable: int, now: int
) -> Batch:
    """What a policy does from now on: jobs are numbered in order, and those that wait fit what is usable."""

    def job_of(job: SlurmJob) -> Job:
        """A job of the queue; one that has passed its limit is expected to end any moment."""
        limit = job.limit
        if job.start is not None and job.state == "running":
            limit = max(limit, now - job.start + SECOND)
        return Job(limit, Shape(max(job.procs, 1), 1, 1))

    running = [(number, job.start or now, job_of(job)) for number, job in enumerate(ran)]
    waiting = [(number, job_of(job)) for number, job in enumerate(waits, len(ran))]
    fits = [(number, job) for number, job in waiting if job.shape.procs <= usable]
    room = max(usable, sum(job.procs for job in ran), 1)
    plan = planned_from(replace(cluster, procs=room), policy, Picture(running, fits), now)
    plan.close()
    return plan


class SlurmServer(ClusterServer):
    """The front of one Slurm."""

    looks_at = ()  # Slurm is told of neither; the policy only foresees what it does

    def __init__(self, grid: Grid, site: Site, control: bool) -> None:
        super().__init__(grid, site, control)
        self.slurm = Slurm(site.name, site.conf, grid.timeout)
        self.accounting = Accounting(self.slurm)
        self.nodes = Nodes(self.slurm)
        self.output = grid.folder / site.name / "output"
        self.foresight = site.policy
        self.rules: Rules | None = None
        """Slurm's own rules, unless the cluster is foreseen by another policy."""
        if site.policy.name == "slurm":
            self.rules = Rules(self.slurm, site.policy, grid.folder / site.name / "site")
            self.rules.warm()
        else:
            Batch.warm(site.cluster, self.foresight)
        self._looked = -FRESH
        self._lines: list[str] = []
        """What squeue printed of each job."""
        self._plan: Batch | RulesPlan | None = None
        self._numbers: dict[str, int] = {}
        self._changed: dict[str, tuple[str, int | None]] = {}
        """The state of each job that was seen suspended, and since when it is in it."""

    @property
    def now(self) -> int:
        return outside.now()

    # ---- looking ------------------------------------------------------------------------------------------

    def look(self, fresh: bool = False) -> list[str]:
        """The queue as it is, or was a moment ago."""
        if fresh or outside.steady() - self._looked > FRESH:
            self._lines = look_at(self.slurm)
            self._looked, self._plan = outside.steady(), None
        return self._lines

    def jobs(self, fresh: bool = False) -> list[SlurmJob]:
        """The agent's jobs in the queue."""
        return parse_ours(self.look(fresh))

    def named(self, name: str) -> list[SlurmJob]:
        """The jobs of a name; a controller that was restarted may have more than one."""
        return [job for job in self.jobs(fresh=True) if job.name == name]

    @property
    def usable(self) -> int:
        """The processors that tasks may count on less those of nodes that are down or drained."""
        return self.nodes.usable(self.site.cluster.procs, self.site.partition)

    def plan(self) -> Batch | RulesPlan:
        """What waits and runs under the rules by which Slurm is foreseen."""
        lines = self.look()
        if self._plan is not None:
            return self._plan
        jobs = parse_queue(lines)
        now, part = self.now, self.site.partition
        here = [job for job in jobs if self.rules or job.is_in(part)]
        here = [job for job in here if not job.is_waiting or job.may_start or job.name.startswith(OURS)]
        ran = [job for job in here if job.state in ("running", "suspended") and job.start is not None]
        waits = in_order(here)
        self._numbers = {job.name: number for number, job in enumerate([*ran, *waits])}
        if self.rules is not None:
            self._plan = self.rules.plan(ran, waits, now, part)
        else:
            self._plan = foreseen(self.site.cluster, self.foresight, ran, waits, self.usable, now)
        return self._plan

    # ---- estimates ----------------------------------------------------------------------------------------

    def minutes(self, task: Task, procs: int) -> int:
        """The limit of a task on so many processors: Slurm counts in whole minutes."""
        return -(-self.shapes.walltime(task, procs) // MINUTE)

    def _trial(self, task: Task, procs: int) -> Job:
        return Job(self.minutes(task, procs) * MINUTE, Shape(procs, 1, 1))

    def _tuned(self, task: Task) -> tuple[int, int]:
        plan = self.plan()

        def completion(procs: int) -> int:
            if self.rules is None and procs > self.usable:
                return NEVER
            return plan.tried(self._trial(task, procs))

        return self.shapes.tuned(task, completion, SEARCH)

    def estimate(self, name: str, task: dict[str, Any]) -> dict[str, Any]:
        asked = Task.from_json(task)
        if name:
            state = self._state(name, self.jobs())
            if state["state"] not in ("waiting", "held") or "stays" in state:
                return {"completion": STARTED, "procs": 0}
            found = self._planned(name)
            if found is not None:
                return found | {"procs": state["procs"]}
        return self._estimate(asked)

    def _estimate(self, asked: Task) -> dict[str, Any]:
        completion, procs = self._tuned(asked)
        if completion >= NO_ANSWER:
            return {"completion": NO_ANSWER, "procs": 0} | self._for_now(asked)
        length = self.minutes(asked, procs) * MINUTE
        return {"completion": completion, "procs": procs, "start": completion - length, "walltime": length}

    def _for_now(self, asked: Task) -> dict[str, str]:
        """Why a task cannot run here, if it could with all nodes."""
        plan = None if self.rules is None else self.rules.whole(self.now, self.site.partition)

        def completion(procs: int) -> int:
            return 0 if plan is None else plan.tried(self._trial(asked, procs))

        if self.shapes.tuned(asked, completion, SEARCH)[0] >= NO_ANSWER:
            return {}
        return {"for_now": f"cluster {self.site.name}: too few nodes are up for it"}

    def _planned(self, name: str) -> dict[str, Any] | None:
        """When a job of the queue is planned to start and end."""
        plan = self.plan()
        number = self._numbers.get(name)
        if number is None or not plan.knows(number):
            return None
        start, completion = plan.planned(number)
        return {"start": start, "completion": completion if completion < NEVER else NO_ANSWER}

    # ---- acts ---------------------------------------------------------------------------------------------

    def submit(self, name: str, fence: str, task: dict[str, Any]) -> dict[str, Any]:
        asked = Task.from_json(task)
        known = self.named(name)
        if known:
            return self._estimate(asked) | {"procs": known[0].procs}
        self.guard.permit("submit")
        answer = self._estimate(asked)
        if answer["completion"] >= NO_ANSWER:
            raise self.cannot_run(asked)
        self._sbatch(name, fence, asked, answer["procs"])
        self._looked = -FRESH
        return answer

    def _sbatch(self, name: str, fence: str, task: Task, procs: int) -> None:
        """Hand a job over, held."""
        self.grid.fence.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.output.mkdir(parents=True, exist_ok=True, mode=0o700)
        script = job_script(task, self.grid.fence / fence, fence, procs, self.site.name)
        words = sbatch_words(self.site, name, task, procs, self.minutes(task, procs), self.output / fence)
        self.slurm.run("sbatch", "--parsable", "--hold", "--no-requeue", *words, text=script)

    def release(self, name: str) -> dict[str, Any]:
        for job in self.named(name):
            if job.state == "held" and RELEASED not in (comment := self._comment(job)):
                self.guard.permit("submit")
                self.slurm.run("scontrol", "release", job.number)
                self._note_release(job, comment)
                self._looked = -FRESH
        return {"released": True}

    def _comment(self, job: SlurmJob) -> str:
        return self._shown(job, r"^ +Comment=(.*)$")

    def _note_release(self, job: SlurmJob, comment: str) -> None:
        """Write into the job that it was let go: who holds it after that is its user.

        A controller that crashes and loses the release loses this word with it, for it is written later.
        """
        try:
            word = f"Comment={f'{comment} {RELEASED}'.strip()}"
            self.slurm.run("scontrol", "update", f"JobId={job.number}", word)
        except (NoAnswer, Refused):
            return

    def cancel(self, name: str) -> dict[str, Any]:
        jobs = self.named(name)
        if read_fence(self._fence(name)) is not None and not self._elsewhere(name):
            return {"gone": False}
        for job in jobs:
            if job.is_waiting:
                self.guard.permit("cancel")
                self._hold(job)
        held = self.named(name)
        if any(job.state in ("running", "suspended") for job in held):
            return {"gone": False}
        for job in held:
            if job.is_waiting:
                self._scancel(job)
        self._looked = -FRESH
        return {"gone": True}

    def _scancel(self, job: SlurmJob) -> None:
        """Cancel a job that was held for it; if Slurm will not, it waits on."""
        try:
            self.slurm.run("scancel", job.number)
        except Refused:
            self.slurm.run("scontrol", "release", job.number)
            raise

    def _hold(self, job: SlurmJob) -> None:
        """A job that is held does not start; one that has started meanwhile cannot be held."""
        try:
            self.slurm.run("scontrol", "uhold", job.number)
        except Refused:
            return

    def kill(self, name: str) -> dict[str, Any]:
        if self.cancel(name)["gone"]:
            return {"gone": True}
        fence = read_fence(self._fence(name))
        if fence is not None and fence.code is not None:
            return {"gone": False}  # it has ended by itself
        jobs = self.named(name)
        for job in jobs:
            if job.state in ("running", "suspended"):
                self.guard.permit("kill")
                self.slurm.run("scancel", job.number)
        self._looked = -FRESH
        if all(job.is_waiting for job in jobs) and self.accounting.last(name) is None:
            return {"gone": False}  # nobody knows that it runs, but perhaps its node
        fence = read_fence(self._fence(name))  # it may have ended by itself just before
        return {"gone": fence is None or fence.code in (None, 128 + signal.SIGTERM)}

    # ---- what became of jobs ------------------------------------------------------------------------------

    def _fence(self, name: str) -> Any:
        return self.grid.fence / name.rpartition(".")[0]

    def _elsewhere(self, name: str) -> bool:
        fence = read_fence(self._fence(name))
        return fence is not None and bool(fence.cluster) and fence.cluster != self.site.name

    def poll(self, names: list[str], prefix: str = "") -> dict[str, Any]:
        jobs = self.jobs(fresh=True)
        found = {name: self._state(name, jobs) for name in names}
        self._changed = {name: seen for name, seen in self._changed.items() if name in found}
        live = [job.name for job in jobs if job.state in ("waiting", "held")]
        others = [name for name in live if prefix and name.startswith(prefix) and name not in found]
        return {"jobs": found, "others": others, "now": self.now}

    def _state(self, name: str, jobs: list[SlurmJob]) -> dict[str, Any]:
        """What became of a job, by its fence and by the queue."""
        mine = [job for job in jobs if job.name == name]
        fence = read_fence(self._fence(name))
        live = next((job for job in mine if job.is_waiting or job.state in ("running", "suspended")), None)
        job = live or (mine[-1] if mine else None)
        if job is None and (fence is None or fence.code is None):
            job = self.accounting.last(name)  # the controller has forgotten it, or never had it
        procs = job.procs if job is not None else None
        if fence is not None and (not fence.cluster or fence.cluster == self.site.name):
            return {"procs": procs, "since": self._since(job)} | self._by_fence(fence, job)
        if job is None:
            return {"state": "fenced" if fence is not None else "absent"}
        if fence is not None and not job.is_waiting:
            return {"state": "fenced"}
        if job.state == "cancelled":
            if self._had_nodes(job):
                # Slurm gave it nodes, and cancelled it before its script began: as after a crash, when it
                # gave the number of a job that still ran to another one.
                return {"state": "absent"}
            job = replace(job, start=None)  # Slurm shows when it was cancelled
        let_go = job.state == "held" and RELEASED in self._comment(job)
        if let_go or (job.state == "waiting" and not job.is_eligible):
            # Its user or an operator holds it, or lets it wait: it must not start elsewhere instead.
            return {"state": "waiting", "procs": procs, "code": None, "stays": True}
        state = "failed" if job.state == "done" else job.state
        return {"state": state, "procs": procs, "started": job.start, "ended": job.end, "code": None}

    def _since(self, job: SlurmJob | None) -> int | None:
        """When a job that was seen suspended came into its state; None: it was not, or nobody knows."""
        if job is None or (job.state != "suspended" and job.name not in self._changed):
            return None
        if job.name not in self._changed or self._changed[job.name][0] != job.state:
            shown = self._shown(job, r"\bSuspendTime=([0-9]{1,12})\b")
            self._changed[job.name] = job.state, int(shown) * SECOND if shown else None
        return self._changed[job.name][1]

    def _had_nodes(self, job: SlurmJob) -> bool:
        """Whether a job that is over ever had nodes; one that somebody cancelled while it waited had none."""
        return self._shown(job, r"^ +NodeList=(\S+)") not in ("", "(null)")

    def _shown(self, job: SlurmJob, pattern: str) -> str:
        """What Slurm shows of a job; empty where it has forgotten it."""
        try:
            shown = self.slurm.run("scontrol", "show", "job", job.number)
        except Refused:
            return ""
        found = re.search(pattern, shown, re.MULTILINE)
        return "" if found is None else found[1]

    def _died(self, job: SlurmJob) -> bool:
        """Whether a job that left no word of its end is over, and no copy that met the fence."""
        if job.state not in ("done", "failed") or self.now <= (job.end or 0) + OVERRUN:
            return False
        return self._shown(job, r"\bExitCode=(\d+):") not in ("", str(FENCED))

    def _by_fence(self, fence: Fence, job: SlurmJob | None) -> dict[str, Any]:
        """A job that started here: ended, running, or dead without a word."""
        if fence.code is not None:
            state = "done" if fence.code == 0 else "failed"
            return {"state": state, "started": fence.started, "ended": fence.ended, "code": fence.code}
        found: dict[str, Any] = {"state": "running", "started": fence.started, "ended": None, "code": None}
        if job is not None and job.state == "suspended":
            return found | {"state": "suspended"}
        if job is not None and job.state in ("killed", "cancelled"):
            return found | {"state": job.state, "ended": max(job.end or self.now, fence.started)}
        if job is not None and self._died(job):  # with its node, say, before it could tell its end
            return found | {"state": job.state, "ended": max(job.end or 0, fence.started)}
        limit = job.limit if job is not None else 24 * 60 * MINUTE
        alive = job is not None and job.state == "running"
        if not alive and self.now > fence.started + limit + OVERRUN:
            return found | {"state": "killed", "ended": fence.started + limit}
        return found

    def picture(self) -> dict[str, Any]:
        jobs = []
        for job in parse_queue(self.look()):
            planned = self._planned(job.name) if job.is_waiting else None
            if job.is_waiting or job.state in ("running", "suspended"):
                end = (job.start or self.now) + job.limit
                times = planned or {"start": job.start, "completion": end}
                jobs.append({"name": job.name, "state": job.state, "procs": job.procs} | times)
        return {"procs": self.site.cluster.procs, "jobs": jobs, "now": self.now}
