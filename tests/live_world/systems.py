"""What runs tasks in the world: Slurms that do what they are asked and forget at times, and machines."""

from __future__ import annotations

import copy
import errno
import shlex
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.live.processes import Processes
from headway.live.script import FENCED, NO_FENCE
from headway.live.slurm.queue import HELD
from headway.live.wire import NoAnswer, Refused
from headway.units import SECOND
from live_grids import marked

if TYPE_CHECKING:
    from live_world.world import World

REMEMBERS = 300 * SECOND
"""How long a controller shows jobs that are over."""
OVER_LIMIT = 30 * SECOND
"""Slurm looks at limits so often."""
NEVER = 1 << 62


@dataclass
class Run:
    """A job script that runs, whatever anybody knows of it."""

    job: int
    text: str
    cluster: str
    started: bool = False
    end: int = NEVER
    left: int | None = None
    """Of one that is stopped: how long it would still have run."""
    code: int | None = None
    """Its exit status; negative: the signal that ended it."""

    def __post_init__(self) -> None:
        lines = self.text.splitlines()
        self.fence = Path(
            shlex.split(next(line for line in lines if line.startswith("fence=")).partition("=")[2])[0]
        )
        _, self.name, length, self.status = shlex.split(lines[-2].strip("()"))[-4:]
        self.length = int(length)
        self.has_fence = any("mkdir" in line for line in lines)

    def begin(self, world: World) -> None:
        """The script's first lines: who makes the fence runs."""
        if world.wrong("fence cannot be made", self.name):
            self.code = NO_FENCE
            world.harmed.add(self.name)
            return
        try:
            self.fence.mkdir(exist_ok=not self.has_fence)
        except FileExistsError:
            self.code = FENCED
            return
        world.touch(self.fence)
        if world.wrong("dies in its first moments", self.name):
            world.harmed.add(self.name)
            self.code = -9
            return
        world.touch(self.fence / "started", f"{self.job} {self.cluster}\n")
        world.note(f"{self.cluster}: {self.name} starts")
        world.starts.append((self.name, self.fence.name, world.t))
        self.started, self.end = True, world.t + self.length

    def step(self, world: World) -> None:
        """It ends when its time has come."""
        if self.code is None and self.left is None and self.end <= world.t:
            self.code = int(self.status)
            world.touch(self.fence / "exit", f"{self.code}\n", self.end)
            world.note(f"{self.cluster}: {self.name} ends")
            world.ends.append((self.name, self.end))


# ---- Slurm -------------------------------------------------------------------------------------------------


@dataclass
class Job:
    """A job as a controller has it."""

    number: int
    name: str
    text: str
    limit: int
    held: bool
    state: str = "PENDING"
    start: int = 0
    end: int = 0
    code: int = 0
    comment: str = ""
    nodes: str = ""


class Controller:
    """A Slurm's commands, with jobs on nodes that go on whatever the controller does."""

    timeout = 15.0

    def __init__(self, world: World, name: str, accounting: bool) -> None:
        self.world, self.name, self.jobs, self.runs = world, name, dict[int, Job](), list[Run]()
        self.next, self.up, self.accounting = 1, True, accounting
        self.saved = copy.deepcopy((self.next, self.jobs))
        self.accounts: list[tuple[int, Job]] = []
        """What the database knows of jobs, and from when on."""

    def run(self, *words: str, text: str = "") -> str:
        world, what = self.world, f"{self.name}: {' '.join(words[:3])}"
        world.wander()
        world.may_kill()
        if not self.up or world.wrong("command lost", what):
            raise NoAnswer("Unable to contact slurm controller")
        if world.wrong("command late", what):
            world.late_commands.append((self, words, text))
            raise NoAnswer("Socket timed out")
        printed = self.obey(words, text)
        if words[0] == "sbatch" and world.wrong("error, and a job", self.name):
            raise Refused("sbatch: error: something is wrong")
        if world.wrong("command's answer lost", what):
            raise NoAnswer("Socket timed out")
        if words[0] in ("squeue", "sacct") and printed and world.wrong("answer in part", what):
            printed = printed[: world.draw.randrange(len(printed))]
        world.may_kill()
        return printed

    def obey(self, words: tuple[str, ...], text: str) -> str:
        match words:
            case ("squeue", *_):
                return marked(words, *map(self._line, self.jobs.values()))
            case ("sinfo", *_):
                return "n1|main|up|idle|0/4/0/4\n"
            case ("sbatch", *_):
                named = dict(word.split("=", 1) for word in words if "=" in word)
                limit = int(named["--time"]) * 60 * SECOND
                job = Job(self.next, named["--job-name"], text, limit, held="--hold" in words)
                self.jobs[self.next] = job
                self._account(job)
                self.next += 1
                return f"{job.number}\n"
            case ("sacct", *_):
                name = words[-1].removeprefix("--name=")
                last = {
                    job.number: job for at, job in self.accounts if at <= self.world.t and job.name == name
                }
                return "".join(map(_accounted, last.values()))
            case ("scontrol", "show", "config"):
                kind = "slurmdbd" if self.accounting else "none"
                return f"AccountingStorageType = accounting_storage/{kind}\n"
            case ("scontrol", "update", which, comment):
                self._job(which.removeprefix("JobId=")).comment = comment.removeprefix("Comment=")
            case ("scontrol", "show", "job", number):
                job = self._job(number)
                known = f"JobId={number} JobName={job.name}\n   JobState={job.state} Reason=None\n"
                return f"{known}   NodeList={job.nodes}\n   Comment={job.comment}\n   ExitCode={job.code}:0\n"
            case ("scontrol", "suspend" | "resume" as act, number):
                self._suspend(self._job(number), act)
            case ("scontrol", act, number):
                job = self._job(number)
                if job.state != "PENDING":
                    raise Refused("Job is no longer pending execution")
                job.held = act == "uhold"
            case ("scancel", number):
                job = self._job(number)
                if job.state in ("PENDING", "RUNNING", "SUSPENDED"):
                    self._end_run(job)
                    self._over(job, "CANCELLED", 15)
        return ""

    def _job(self, number: str) -> Job:
        if int(number) not in self.jobs:
            raise Refused("Invalid job id specified")
        return self.jobs[int(number)]

    def _run_of(self, job: Job) -> Run | None:
        return next((run for run in self.runs if run.job == job.number and run.code is None), None)

    def _end_run(self, job: Job) -> None:
        if (run := self._run_of(job)) is not None:
            run.code = -15

    def _suspend(self, job: Job, act: str) -> None:
        run = self._run_of(job)
        if job.state != ("RUNNING" if act == "suspend" else "SUSPENDED") or run is None:
            raise Refused("Requested operation is presently disabled")
        stop_or_go(run, act == "suspend", self.world.t)
        job.state = "SUSPENDED" if act == "suspend" else "RUNNING"

    def _line(self, job: Job) -> str:
        reason = HELD if job.held and job.state == "PENDING" else "None"
        start, end = (str(at // SECOND) if at else "N/A" for at in (job.start, job.end))
        times = f"{start}|{end}|{job.limit // SECOND // 60}:00|{reason}|1|{1_700_000_000}"
        return f"{job.number}|{job.state}|1|{times}|main|ada|||{job.nodes}|{job.name}"

    def _over(self, job: Job, state: str, code: int) -> None:
        job.state, job.end, job.code = state, self.world.t, code
        self._account(job)

    def _account(self, job: Job) -> None:
        """The database hears of it some time later."""
        self.accounts.append((self.world.t + self.world.draw.randint(0, 30) * SECOND, copy.copy(job)))

    def step(self) -> None:
        """What may start starts, limits pass, the state is saved now and then."""
        world = self.world
        if not self.up:
            return
        for job in list(self.jobs.values()):
            run = self._run_of(job)
            if job.state == "PENDING" and not job.held and world.draw.random() < 0.4:
                self._start(job)
            elif job.state == "RUNNING" and run is None:  # also a controller that came back hears of it
                code = next((each.code for each in self.runs if each.job == job.number), 0) or 0
                self._over(job, "FAILED" if code > 0 else "NODE_FAIL" if code else "COMPLETED", max(code, 0))
            elif job.state == "RUNNING" and run is not None and world.t > job.start + job.limit + OVER_LIMIT:
                run.code = -9
                self._over(job, "TIMEOUT", 0)
            elif job.end and job.state not in ("PENDING", "RUNNING") and world.t > job.end + REMEMBERS:
                del self.jobs[job.number]
        if world.draw.random() < 0.3:
            self.saved = copy.deepcopy((self.next, self.jobs))

    def _start(self, job: Job) -> None:
        job.state, job.start, job.nodes = "RUNNING", self.world.t, "n1"
        if (other := self._run_of(job)) is not None and other.text != job.text:
            self._over(job, "CANCELLED", 0)  # its number is that of a job that a node still has
            return
        self.runs = [run for run in self.runs if run.job != job.number or run.code is None]
        self.runs.append(Run(job.number, job.text, self.name))
        self.runs[-1].begin(self.world)
        self._account(job)

    def go_on(self) -> None:
        """Scripts run on their nodes."""
        for run in self.runs:
            run.step(self.world)

    def node_dies(self) -> None:
        for run in self.runs:
            if run.code is None:
                self.world.harmed.add(run.name)
                run.code = -9

    def come_back(self, lost: str = "") -> None:
        self.up = True
        if lost == "moments":
            self.next, self.jobs = copy.deepcopy(self.saved)
        elif lost == "all":
            self.next, self.jobs = 1, {}
            self.saved = copy.deepcopy((self.next, self.jobs))
        for run in self.runs:  # nodes end the jobs that it does not know to run, if they tell it of them
            job = self.jobs.get(run.job)
            known = job is not None and job.state in ("RUNNING", "SUSPENDED")
            if lost and run.code is None and not known:
                self.world.harmed.add(run.name)
                run.code = -9 if self.world.draw.random() < 0.5 else None
        for job in self.jobs.values():
            if job.state == "SUSPENDED" and ((own := self._run_of(job)) is None or own.left is None):
                job.state = "RUNNING"


def _accounted(job: Job) -> str:
    start, end = (str(at // SECOND) if at else "Unknown" for at in (job.start, job.end))
    return f"{job.number}|{job.state}|1|{start}|{end}|00:10:00|1700000000|main|ada\n"


def stop_or_go(run: Run, stop: bool, t: int) -> None:
    if stop and run.left is None:
        run.left = run.end - t
    elif not stop and run.left is not None:
        run.end, run.left = t + run.left, None


# ---- processes of a machine --------------------------------------------------------------------------------


class Machine:
    """The processes of a local cluster, which outlive its server, but no loss of power."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name, self.runs, self.next = world, name, dict[int, Run](), 100

    def go_on(self) -> None:
        for run in self.runs.values():
            if not run.started and run.code is None:
                run.begin(self.world)
            run.step(self.world)

    def lose_power(self) -> None:
        for run in self.runs.values():
            if run.code is None:
                self.world.harmed.add(run.name)
        self.runs, self.next = {}, 100  # and numbers of processes begin again


class Child:
    """What a server has of a process that it started."""

    def __init__(self, run: Run) -> None:
        self.run, self.pid = run, run.job
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.run.code
        return self.returncode

    def wait(self, seconds: float) -> int:
        if self.poll() is None:
            raise subprocess.TimeoutExpired("sh", seconds)
        return int(self.returncode or 0)


class LocalProcesses(Processes):
    """Processes as they are, on a machine of the world."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine

    def launch(self, script: Path, output: Path) -> int:
        machine, world = self.machine, self.machine.world
        world.wander()
        world.may_kill()
        if world.wrong("process cannot be started", machine.name):
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable", str(script))
        pid = machine.next
        machine.next += 1
        machine.runs[pid] = Run(pid, script.read_text("utf-8"), machine.name)
        own: dict[int, Any] = self._own
        own[pid] = Child(machine.runs[pid])
        world.may_kill()
        return pid

    def is_alive(self, pid: int, name: str = "") -> bool:
        if pid in self._own:
            return self._own[pid].poll() is None
        run = self.machine.runs.get(pid)
        return run is not None and run.code is None and run.fence.name == name.rpartition(".")[0]

    def send(self, pid: int, name: str, what: signal.Signals) -> None:
        runs = self.machine.runs
        for each in {pid, *self.strays(name)} & runs.keys():
            if what in (signal.SIGSTOP, signal.SIGCONT):
                stop_or_go(runs[each], what == signal.SIGSTOP, self.machine.world.t)
            elif (runs[each].code is None and runs[each].left is None) or (
                what == signal.SIGKILL and runs[each].code is None
            ):
                runs[each].code = -what

    def strays(self, name: str) -> list[int]:
        runs = self.machine.runs.items()
        return [pid for pid, run in runs if run.code is None and run.fence.name == name.rpartition(".")[0]]

    def clear(self, pid: int, name: str) -> None:
        self.send(pid if pid in self._own else 0, name, signal.SIGKILL)
