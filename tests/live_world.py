"""A world from a seed: the agent, servers over scripted Slurms, clients that try again, and what goes wrong.

PYTHONPATH=tests python -m live_world SEED [--count N] [--mutant NAME]

One process, one thread: whenever agent or server reaches beyond itself (a message, a command of Slurm's, a
write of the journal) the world may go on, or something goes wrong there. A seed that fails prints its history
with as few faults as it still fails with.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import shlex
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from headway.errors import HeadwayError
from headway.live import outside, script
from headway.live.accounts import Accounts
from headway.live.agent import LiveAgent
from headway.live.batch import Batch
from headway.live.grid_file import Grid, Site
from headway.live.journal import OVER
from headway.live.proxy import Proxy
from headway.live.script import FENCED
from headway.live.slurm import server as slurm_server
from headway.live.slurm.accounting import Accounting
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import HELD
from headway.live.slurm.server import SlurmServer
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused
from headway.units import SECOND
from live_grids import cluster, marked, written

BEGIN = 1_700_000_000 * SECOND
STEPS = 120
CALM = 600
"""Steps while things go wrong, and at most until all has ended afterwards."""
CHANCE = {
    "request lost": 0.03, "request late": 0.03, "request twice": 0.03, "answer lost": 0.03,
    "killed": 0.005, "killed at a write": 0.02, "command lost": 0.01,
    "command's answer lost": 0.02, "error, and a job": 0.05, "controller loses its last moments": 0.02,
    "controller down": 0.02, "disk full": 0.01, "clock jumps": 0.01,
}  # fmt: skip
"""How often what goes wrong, each time that it could."""
WORLD: list[World] = []


class Killed(BaseException):
    """A process has ended in the middle of what it did."""


class Tables(sqlite3.Connection):
    """A file whose writes the world sees; what is not committed when a process is killed is lost."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        word = sql.split(None, 1)[0]
        if word not in ("INSERT", "UPDATE", "DELETE", "COMMIT") or not WORLD[-1].running:
            return super().execute(sql, *values)
        site = f"{_writer()} {word}"
        WORLD[-1].writes(site, "before")
        done = super().execute(sql, *values)
        WORLD[-1].writes(site, "after")
        return done


def _writer() -> str:
    frame: Any = sys._getframe(2)
    while Path(frame.f_code.co_filename).name in ("journal.py", "database.py", "contextlib.py"):
        last, frame = frame.f_code.co_name, frame.f_back
    return f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name} {last}"


@dataclass
class Job:
    """A job as a controller has it."""

    number: int
    name: str
    text: str
    limit: int
    state: str = "PENDING"
    held: bool = True
    start: int = 0
    end: int = 0
    code: int = 0
    comment: str = ""
    nodes: str = ""


@dataclass
class Run:
    """A script that runs on a node, whatever its controller knows."""

    job: int
    name: str
    fence: Path
    end: int


class Controller:
    """A Slurm that does what it is told, and forgets at times."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name, self.jobs, self.runs = world, name, dict[int, Job](), list[Run]()
        self.next, self.up = 1, True
        self.saved = copy.deepcopy((self.next, self.jobs))
        self.accounts: list[Job] = []

    def run(self, *words: str, text: str = "") -> str:
        world = self.world
        world.wander()
        world.may_kill()
        if not self.up or world.wrong("command lost", f"{self.name}: {words[0]}"):
            raise NoAnswer("Unable to contact slurm controller")
        said = self.obey(words, text)
        if words[0] == "sbatch" and world.wrong("error, and a job", self.name):
            raise Refused("sbatch: error: something is wrong")
        if world.wrong("command's answer lost", f"{self.name}: {' '.join(words[:2])}"):
            raise NoAnswer("Socket timed out")
        world.may_kill()
        return said

    def obey(self, words: tuple[str, ...], text: str) -> str:
        match words:
            case ("squeue", *_):
                return marked(words, *map(self._line, self.jobs.values()))
            case ("sinfo", *_):
                return "n1|main|up|idle|0/4/0/4\n"
            case ("sbatch", *_):
                named = dict(word.split("=", 1) for word in words if "=" in word)
                limit = int(named["--time"]) * 60 * SECOND
                self.jobs[self.next] = Job(self.next, named["--job-name"], text, limit)
                self.next += 1
                return f"{self.next - 1}\n"
            case ("sacct", *_):
                name = words[-1].removeprefix("--name=")
                return "".join(_accounted(job) for job in self.accounts if job.name == name)
            case ("scontrol", "show", "config"):
                return "AccountingStorageType = accounting_storage/slurmdbd\n"
            case ("scontrol", "update", which, comment):
                self._job(which.removeprefix("JobId=")).comment = comment.removeprefix("Comment=")
            case ("scontrol", "show", "job", number):
                job = self._job(number)
                return f"   NodeList={job.nodes}\n   Comment={job.comment}\n   ExitCode={job.code}:0\n"
            case ("scontrol", act, number):
                job = self._job(number)
                if job.state != "PENDING":
                    raise Refused("Job is no longer pending execution")
                job.held = act == "uhold"
            case ("scancel", number):
                job = self._job(number)
                if job.state in ("PENDING", "RUNNING"):
                    self._over(job, "CANCELLED", 15)
                    self.runs = [run for run in self.runs if run.job != job.number]
        return ""

    def _job(self, number: str) -> Job:
        if int(number) not in self.jobs:
            raise Refused("Invalid job id specified")
        return self.jobs[int(number)]

    def _line(self, job: Job) -> str:
        reason = HELD if job.held and job.state == "PENDING" else "None"
        start, end = (str(at // SECOND) if at else "N/A" for at in (job.start, job.end))
        times = f"{start}|{end}|{job.limit // SECOND // 60}:00|{reason}|1|{BEGIN // SECOND}"
        return f"{job.number}|{job.state}|1|{times}|main|ada|||{job.nodes}|{job.name}"

    def _over(self, job: Job, state: str, code: int) -> None:
        job.state, job.end, job.code = state, self.world.t, code
        self.accounts.append(copy.copy(job))

    def step(self) -> None:
        """Scripts end; what may start starts; the state is saved now and then."""
        world = self.world
        for run in [run for run in self.runs if run.end <= world.t]:
            self.runs.remove(run)
            world.touch(run.fence / "exit", "0\n")
            world.note(f"{self.name}: {run.name} ends")
            world.ends.append((run.name, world.t))
            job = self.jobs.get(run.job)
            if job is not None and job.state == "RUNNING":
                self._over(job, "COMPLETED", 0)
        if not self.up:
            return
        for job in list(self.jobs.values()):
            if job.state == "PENDING" and not job.held and world.draw.random() < 0.4:
                job.state, job.start, job.nodes = "RUNNING", world.t, "n1"
                self._start(job)
            elif job.state == "RUNNING" and all(run.job != job.number for run in self.runs):
                self._over(job, "COMPLETED", 0)  # a controller that came back hears of it
            elif job.state not in ("PENDING", "RUNNING") and world.t > job.end + 300 * SECOND:
                del self.jobs[job.number]
        if world.draw.random() < 0.3:
            self.saved = copy.deepcopy((self.next, self.jobs))

    def _start(self, job: Job) -> None:
        """The script: whoever makes the fence runs."""
        lines = dict(line.split("=", 1) for line in job.text.splitlines() if line.startswith("fence="))
        name = shlex.split(job.text.splitlines()[-2].strip("()"))[-1]
        fence = Path(shlex.split(lines["fence"])[0])
        if "mkdir" in job.text:
            try:
                fence.mkdir()
            except FileExistsError:
                self._over(job, "FAILED", FENCED)
                return
        fence.mkdir(exist_ok=True)
        self.world.touch(fence / "started", f"{job.number} {self.name}\n")
        self.world.note(f"{self.name}: {name} starts")
        self.world.starts.append((name, self.world.t))
        self.runs.append(Run(job.number, name, fence, self.world.t + self.world.draw.randint(1, 50) * SECOND))

    def come_back(self, older: bool) -> None:
        self.up = True
        if older:
            self.next, self.jobs = copy.deepcopy(self.saved)


def _accounted(job: Job) -> str:
    start, end = (job.start or job.end) // SECOND, job.end // SECOND
    return f"{job.number}|{job.state}|1|{start}|{end}|00:10:00|{BEGIN // SECOND}|main|ada\n"


class Server(SlurmServer):
    """The server as it is, but that it guesses when tasks would end."""

    def __init__(self, grid: Grid, site: Site, slurm: Any) -> None:
        super().__init__(grid, site, control=True)
        self.slurm = slurm
        self.accounting, self.nodes = Accounting(slurm), Nodes(slurm)

    def _estimate(self, asked: Task) -> dict[str, Any]:
        start = self.now + WORLD[-1].draw.randint(1, 200) * SECOND
        return {"completion": start + asked.walltime, "procs": 1, "start": start, "walltime": asked.walltime}

    def _planned(self, name: str) -> dict[str, Any] | None:
        start = self.now + WORLD[-1].draw.randint(1, 200) * SECOND
        return {"start": start, "completion": start + 60 * SECOND}


class Wire:
    """Messages to a process of the world."""

    def __init__(self, address: str, **_: Any) -> None:
        self.address, self.to = address, Path(address).stem

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        world, told = WORLD[-1], f"{request} to {self.to}"
        message = (self.to, request, json.dumps(data))
        world.wander()
        world.may_kill()
        if world.wrong("request lost", told):
            raise NoAnswer("timed out")
        # Without a key of the client's a submission that comes late or twice is two tasks.
        submission = (self.to, request) == ("agent", "submit")
        if not submission and world.wrong("request late", told):
            world.late.append(message)
            raise NoAnswer("timed out")
        answer = world.deliver(*message)
        if not submission and world.wrong("request twice", told):
            world.late.append(message)
        if world.wrong("answer lost", told):
            raise NoAnswer("connection reset")
        world.may_kill()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """Nothing is kept."""


@dataclass
class Client:
    """Somebody who wants one task to run, and may want it back."""

    name: str
    wire: Wire
    fickle: bool
    tried: bool = False
    task: int | None = None
    state: str = ""
    taken_back: int | None = None
    """When the agent confirmed that the task is cancelled."""

    def step(self) -> None:
        world = WORLD[-1]
        with suppress(HeadwayError):
            if self.task is None:
                known = self.wire.ask("queue", count=1000)["tasks"] if self.tried else []
                self.task = next((each["task"] for each in known if each["name"] == self.name), None)
            if self.task is None:
                self.tried = True
                task = Task(("run", self.name), 1, 60 * SECOND, name=self.name)
                self.task = self.wire.ask("submit", task=task.as_json())["task"]
                world.note(f"{self.name} is task {self.task}")
                return
            request = "cancel" if self.fickle and world.draw.random() < 0.2 else "status"
            told = self.wire.ask(request, task=self.task)["state"]
            if told != self.state:
                world.note(f"{self.name} hears {told}")
            if told == "cancelled" and self.taken_back is None:
                self.taken_back = world.t
            self.state = told


@dataclass
class World:
    """Everything, and what happened in it."""

    seed: int
    only: set[int] | None = None
    """The faults that happen, by number; None: all."""
    mutant: str = ""
    t: int = BEGIN
    history: list[str] = field(default_factory=list)
    faults: int = 0
    calm: bool = False
    starts: list[tuple[str, int]] = field(default_factory=list)
    ends: list[tuple[str, int]] = field(default_factory=list)
    late: list[tuple[str, str, str]] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    """The processes in whose midst we are, the innermost last."""
    written: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Processes killed at a write, by its place, before and after."""
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draw, self.chance, self.words = (random.Random(f"{self.seed} {n}") for n in range(3))
        self.processes: dict[str, Any] = {}

    # ---- what goes wrong ----------------------------------------------------------------------------------

    def wrong(self, kind: str, where: str) -> bool:
        """Whether something goes wrong here."""
        if self.calm or self.chance.random() >= CHANCE[kind]:
            return False
        self.faults += 1
        if self.only is not None and self.faults not in self.only:
            return False
        self.note(f"FAULT {self.faults}: {kind}: {where}")
        return True

    def may_kill(self) -> None:
        if self.running and self.wrong("killed", self.running[-1]):
            raise Killed

    def writes(self, site: str, when: str) -> None:
        self.seen.add(site)
        if self.wrong("killed at a write", f"{self.running[-1]} {when} {site}"):
            self.written[site, when] += 1
            raise Killed
        if when == "before" and self.wrong("disk full", site):
            raise sqlite3.OperationalError("database or disk is full")

    def note(self, sentence: str) -> None:
        self.history.append(f"{(self.t - BEGIN) / SECOND:8.1f} {sentence}")

    def touch(self, file: Path, text: str) -> None:
        file.write_text(text)
        for each in (file, file.parent):
            os.utime(each, ns=(self.t * 1000, self.t * 1000))

    # ---- processes ----------------------------------------------------------------------------------------

    def inside(self, name: str, act: Callable[[Any], Any]) -> Any:
        """Let a process do something; one that is killed meanwhile is gone."""
        process = self.processes.get(name)
        if process is None or name in self.running:
            raise NoAnswer("timed out")
        self.running.append(name)
        try:
            return act(process)
        except Killed:
            self.processes[name] = None
            if name == "agent":
                process.journal.close()
            raise NoAnswer("connection reset") from None
        finally:
            self.running.pop()

    def deliver(self, to: str, request: str, data: str) -> dict[str, Any] | HeadwayError:
        try:
            answer = self.inside(to, lambda process: process.handle(request, json.loads(data)))
            return dict(json.loads(json.dumps(answer)))
        except NoAnswer as error:
            return error
        except HeadwayError as error:
            return Refused(str(error))

    def bring_back(self, name: str) -> None:
        if self.processes.get(name) is None and name not in self.running:
            self.note(f"{name} begins")
            before, self.running = self.running, []
            if name == "agent":
                self.processes[name] = LiveAgent(self.grid, True, lambda _: None, reach=Wire)  # type: ignore[arg-type]
            else:
                self.processes[name] = Server(self.grid, self.grid.site(name), self.controllers[name])
            self.running = before

    def wander(self) -> None:
        """The rest of the world goes on for a little while somebody waits."""
        if self.draw.random() < 0.3:
            self.something()

    def something(self) -> None:
        self.t += self.draw.randint(0, 3 * SECOND)
        which = self.draw.randint(0, 5)
        controller = self.draw.choice(list(self.controllers.values()))
        if which == 0 and self.late:
            self.deliver(*self.late.pop(self.draw.randrange(len(self.late))))
        elif which == 1:
            self.bring_back(self.draw.choice(["agent", *self.controllers]))
        elif which == 2 and not controller.up:
            controller.come_back(self.wrong("controller loses its last moments", controller.name))
        elif which == 2 and self.wrong("controller down", controller.name):
            controller.up = False
        elif which == 3 and self.wrong("clock jumps", ""):
            self.t += self.draw.randint(0, 60) * SECOND
        else:
            controller.step()

    # ---- all of it ----------------------------------------------------------------------------------------

    def run(self, path: Path) -> str:
        """What is wrong in the end; empty: nothing."""
        tables = "".join(cluster(name, 4, kind="slurm", policy="conservative") for name in "ab")
        self.grid = written(path, tables, "reallocation(period=20, threshold=5)")
        self.grid.fence.mkdir(parents=True)
        self.controllers = {name: Controller(self, name) for name in "ab"}
        count = self.draw.randint(1, 4)
        clients = [Client(f"t{n}", Wire("agent.sock"), self.draw.random() < 0.3) for n in range(count)]
        for name in ("a", "b", "agent"):
            self.bring_back(name)
        for _ in range(STEPS):
            self.one_step(clients)
        self.calm = True
        self.note("nothing goes wrong any more")
        for _ in range(CALM):
            if all(client.state in OVER for client in clients):
                break
            self.one_step(clients)
            for each in ("agent", *self.controllers):
                self.bring_back(each)
            for controller in self.controllers.values():
                if not controller.up:
                    controller.come_back(older=False)
            self.t += SECOND
        for controller in self.controllers.values():  # what was left somewhere would start now
            for _ in range(20):
                self.t += 10 * SECOND
                controller.step()
        if self.processes.get("agent") is not None:
            self.processes["agent"].stop()
        return "; ".join(judged(clients, self.starts, self.ends))

    def one_step(self, clients: list[Client]) -> None:
        which = self.draw.randint(0, 3)
        if which == 0:
            with suppress(HeadwayError):
                self.inside("agent", lambda agent: agent.tick())
        elif which == 1:
            self.draw.choice(clients).step()
        else:
            self.something()


Marks = list[tuple[str, int]]


def judged(clients: list[Client], starts: Marks, ends: Marks) -> Iterator[str]:
    """What clients were told against the marks that tasks left; nothing else is known here."""
    began, ended = Counter(name for name, _ in starts), Counter(name for name, _ in ends)
    for client in clients:
        name = client.name
        if client.state not in OVER:
            yield f"{name} has not ended: it is {client.state or 'not accepted'}"
        if began[name] > 1:
            yield f"{name} ran {began[name]} times"
        if client.state == "done" and ended[name] != 1:
            yield f"{name} is told done, and ended {ended[name]} times"
        if client.state in ("failed", "killed") and ended[name]:
            yield f"{name} is told {client.state}, and ran to its end"
        if client.state in ("failed", "refused"):
            yield f"{name} is told {client.state}, and nothing was wrong with it"
        if client.taken_back is not None:
            late = [at for each, at in starts if each == name and at > client.taken_back]
            if late:
                yield f"{name} started after its cancellation was confirmed"


# ---- faults that are planted on purpose --------------------------------------------------------------------


def _journal_after_act(self: Proxy, row: Any) -> tuple[int, int]:
    name = f"{row.fence}.{row.number}9{len(self.journal.attempts_of(row.number))}"
    answer = self.ask("submit", name=name, fence=row.fence, task=row.task.as_json())
    attempt = self.journal.add_attempt(row, self.name, self.now)
    self.journal.set_attempt(attempt.number, name=name)
    self.accepted(replace(attempt, name=name), answer)
    return answer["completion"], answer["procs"]


def _never_arrived(self: Accounts, attempt: Any) -> None:
    self.journal.set_attempt(attempt.number, state="gone")


def _released_at_once(self: Accounts, row: Any) -> bool:
    left = [each for each in self.journal.attempts_of(row.number) if each.state in ("held", "releasing")]
    for attempt in left:
        self._release(attempt)
    return not self.journal.attempts_of(row.number) and row.state not in OVER


def _silence_is_gone(self: Accounts, attempt: Any, kill: bool = False) -> None:
    self.journal.set_attempt(attempt.number, state="cancelling")
    with suppress(NoAnswer):
        self._ask(attempt, "kill" if kill else "cancel", name=attempt.name)
    self.journal.set_attempt(attempt.number, state="gone")


def _without_hold(self: SlurmServer, name: str) -> dict[str, Any]:
    for job in self.named(name):
        if job.is_waiting:
            self.slurm.run("scancel", job.number)
    return {"gone": True}


def _by_number(self: SlurmServer, name: str) -> list[Any]:
    numbers = self.__dict__.setdefault("by_number", {})
    found = [job for job in self.jobs(fresh=True) if job.name == name or job.number == numbers.get(name)]
    if found:
        numbers[name] = found[0].number
    return found


def _no_fence(*words: Any) -> str:
    return script.job_script(*words).replace("mkdir", "true")


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "journal after act": (Proxy, "submit", _journal_after_act),
    "what was being handed over never arrived": (Accounts, "_look_for", _never_arrived),
    "released before it is gone elsewhere": (Accounts, "_settled", _released_at_once),
    "silence is gone": (Accounts, "_take_back", _silence_is_gone),
    "cancelled without being held first": (SlurmServer, "cancel", _without_hold),
    "jobs known by number": (SlurmServer, "named", _by_number),
    "no fence": (slurm_server, "job_script", _no_fence),
    "strays are left": (Accounts, "_stray", lambda *_: None),
}


def tried(seed: int, only: set[int] | None = None, mutant: str = "") -> tuple[World, str]:
    """A world from its beginning to its end, and what is wrong with it."""
    world = World(seed, only, mutant)
    path = Path(tempfile.mkdtemp(prefix="hw", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    patches = {
        (outside, "now"): lambda: world.t,
        (outside, "steady"): lambda: world.t / SECOND,
        (outside, "sleep"): lambda seconds: setattr(world, "t", world.t + round(seconds * SECOND)),
        (outside, "word"): lambda count: world.words.randbytes(count).hex(),
        (outside, "connect"): lambda path, isolation: sqlite3.connect(
            path, isolation_level=isolation, check_same_thread=False, factory=Tables
        ),
        (Batch, "warm"): lambda *_: None,
    }
    if mutant:
        where, name, what = MUTANTS[mutant]
        patches[where, name] = what
    WORLD.append(world)
    try:
        with ExitStack() as stack:
            for (where, name), what in patches.items():
                stack.enter_context(mock.patch.object(where, name, what))
            return world, world.run(path)
    finally:
        WORLD.pop()
        shutil.rmtree(path)


def shrunk(seed: int, mutant: str = "") -> World:
    """The history of a seed that fails, with as few faults as it fails with."""
    world, _ = tried(seed, mutant=mutant)
    keep = set(range(1, world.faults + 1))
    while True:
        for fault in sorted(keep, reverse=True):
            less, wrong = tried(seed, keep - {fault}, mutant)
            if wrong:
                keep, world = keep - {fault}, less
                break
        else:
            return world


def main() -> None:
    parser = argparse.ArgumentParser(prog="live_world")
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=1, help="so many seeds from this one on")
    parser.add_argument("--mutant", choices=MUTANTS, default="")
    words = parser.parse_args()
    written_at, sites, faults, failed = Counter[tuple[str, str]](), set[str](), 0, 0
    for seed in range(words.seed, words.seed + words.count):
        world, wrong = tried(seed, mutant=words.mutant)
        written_at, sites, faults = written_at + world.written, sites | world.seen, faults + world.faults
        if wrong:
            failed += 1
            history = shrunk(seed, words.mutant).history
            sys.stdout.write("\n".join([f"seed {seed}: {wrong}", *history, ""]))
            sys.stdout.flush()
            if words.count > 1:
                break
    sides = [(site, when) for site in sorted(sites) for when in ("before", "after")]
    never = [f"{when} {site}" for site, when in sides if not written_at[site, when]]
    sys.stdout.write(
        f"{seed - words.seed + 1} seeds, {failed} failed, {faults} faults; the agent was killed at "
        f"{len(written_at)} of {2 * len(sites)} sides of {len(sites)} writes\n"
        + "".join(f"never {each}\n" for each in never)
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
