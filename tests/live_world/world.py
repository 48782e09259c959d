"""Everything in one process and one thread: what runs next, what goes wrong, and when, is drawn from a seed.

Whenever agent or server reaches beyond itself (a message, a command of Slurm's, a process, a write) the world
may go on, or something goes wrong there.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from headway.errors import HeadwayError
from headway.live import batch, outside, processes
from headway.live.agent import LiveAgent
from headway.live.batch import Batch
from headway.live.grid_file import Site
from headway.live.journal import Journal
from headway.live.local_server import LocalServer
from headway.live.slurm import server as slurm_server
from headway.live.slurm import steered
from headway.live.slurm.server import SlurmServer
from headway.live.slurm.steered import SteeredServer
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused
from headway.policies.spec import parse_spec
from headway.units import HOUR, SECOND
from live_grids import cluster, written
from live_world.checker import Asked, judged
from live_world.disk import Killed, Tables
from live_world.systems import Controller, LocalProcesses, Machine

BEGIN = 1_700_000_000 * SECOND
STEPS, CALM = 200, 900
"""Steps while things go wrong, and at most until all has ended afterwards."""
JUMP = 60 * SECOND
"""A machine's clock is wrong by so much at most."""
CHANCE = {
    "request lost": 0.03, "request late": 0.03, "request twice": 0.03, "answer lost": 0.03,
    "connection breaks": 0.02, "killed": 0.004, "killed at a write": 0.006, "torn write": 0.004,
    "power lost": 0.3, "killed while idle": 0.01, "another policy": 0.1, "machine restarts": 0.004,
    "command lost": 0.01, "command's answer lost": 0.02, "command late": 0.01, "answer in part": 0.01,
    "error, and a job": 0.05, "controller down": 0.02, "controller loses its last moments": 0.3,
    "controller loses everything": 0.05, "node dies": 0.004, "dies in its first moments": 0.01,
    "fence cannot be made": 0.005, "process cannot be started": 0.02, "disk full": 0.004, "clock jumps": 0.01,
}  # fmt: skip
"""How often what goes wrong, each time that it could."""
POLICIES = ("conservative", "easy", "dbf", "fcfs")
"""Of local and steered clusters."""
WORLD: list[World] = []


class Server(SlurmServer):
    """The server as it is, but that it guesses when tasks would end."""

    def _guess(self) -> int:
        return self.now + WORLD[-1].draw.randint(1, 200) * SECOND

    def _estimate(self, asked: Task) -> dict[str, Any]:
        start = self._guess()
        return {"completion": start + asked.walltime, "procs": 1, "start": start, "walltime": asked.walltime}

    def _planned(self, name: str) -> dict[str, Any] | None:
        start = self._guess()
        return {"start": start, "completion": start + 60 * SECOND}


class Local(LocalServer):
    def _processes(self) -> LocalProcesses:
        return LocalProcesses(WORLD[-1].machines[self.site.name])


class Wire:
    """Messages to a process of the world."""

    def __init__(self, address: str, **_: Any) -> None:
        self.to = Path(address).stem

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        world, message = WORLD[-1], (self.to, request, json.dumps(data))
        if world.is_forgetful and (self.to, request) == ("agent", "submit"):
            # Whoever submits again when its task is forgotten has two tasks, and may know that.
            before, world.calm = world.calm, True
            answer = world.deliver(*message)
            world.calm = before
            if isinstance(answer, Exception):
                raise answer
            return answer
        told = f"{request} to {self.to}"
        world.wander()
        world.may_kill()
        if world.wrong("request lost", told):
            raise NoAnswer("timed out")
        # Without a name of the client's a submission that comes late or twice is two tasks.
        repeats = request != "submit" or self.to != "agent" or "submission" in data
        if repeats and world.wrong("request late", told):
            world.late.append(message)
            raise NoAnswer("timed out")
        answer = world.deliver(*message)
        if repeats and world.wrong("connection breaks", told):
            answer = world.deliver(*message)
        if repeats and world.wrong("request twice", told):
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

    asked: Asked
    task: Task
    submission: str
    fickle: bool
    wire: Wire = field(default_factory=lambda: Wire("agent.sock"))
    tried: bool = False

    def step(self) -> None:
        world, asked = WORLD[-1], self.asked
        world.running.append("client")
        try:
            self.ask(world, asked)
        except HeadwayError as error:
            asked.forgotten |= "there is no task" in str(error)
        world.running.pop()

    def ask(self, world: World, asked: Asked) -> None:
        if asked.number is None and self.tried and not self.submission:
            known = self.wire.ask("queue", count=1000)["tasks"]
            asked.number = next((each["task"] for each in known if each["name"] == asked.name), None)
        if asked.number is None:
            self.tried = True
            named = {"submission": self.submission} if self.submission else {}
            told = self.wire.ask("submit", task=self.task.as_json(), **named)
            asked.number = told["task"]
            world.note(f"{asked.name} is task {asked.number}")
            return
        request = "cancel" if self.fickle and world.draw.random() < 0.2 else "status"
        told = self.wire.ask(request, task=asked.number)
        if told["state"] != asked.state:
            world.note(f"{asked.name} hears {told['state']}")
        asked.hears(told, world.t)


def client_of(world: World, number: int) -> Client:
    draw = world.draw
    length, walltime = draw.randint(1, 50), draw.choice((60, 60, 120))
    if draw.random() < 0.1:
        length = 3 * walltime + 300  # it is to be killed at its walltime
    status = 3 if draw.random() < 0.1 else 0
    name = f"t{number}"
    more: dict[str, Any] = {"deadline": BEGIN + draw.randint(60, 400) * SECOND} if draw.random() < 0.3 else {}
    if world.urgent:
        more |= {"urgent": draw.random() < 0.5, "memory_mb": 1}
    task = Task(
        ("run", name, str(length * SECOND), str(status)),
        draw.randint(1, 4),
        walltime * SECOND,
        name=name,
        **more,
    )
    asked = Asked(name, length * SECOND, walltime * SECOND, status)
    return Client(asked, task, draw.choice(("", f"mine-{number}")), draw.random() < 0.3)


@dataclass
class World:
    """Everything, and what happened in it."""

    seed: int
    only: set[int] | None = None
    """The faults that happen, by number; None: all."""
    aim: tuple[str, str] = ("", "")
    """A write at which a process is killed, and the side of it."""
    scene: str = ""
    """The kinds of its clusters, where they are not drawn."""
    t: int = BEGIN
    history: list[str] = field(default_factory=list)
    faults: int = 0
    calm: bool = False
    starts: list[tuple[str, str, int]] = field(default_factory=list)
    """(task, fence, instant) of each mark that a task left when it began."""
    ends: list[tuple[str, int]] = field(default_factory=list)
    harmed: set[str] = field(default_factory=set)
    """Tasks whose script was ended by a fault of node, machine or storage."""
    late: list[tuple[str, str, str]] = field(default_factory=list)
    late_commands: list[tuple[Controller, tuple[str, ...], str]] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    """The processes in whose midst we are, the innermost last."""
    written: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Processes killed at a write, by its name, before and after."""
    seen: Counter[str] = field(default_factory=Counter)
    """Writes, by name."""
    steps: set[tuple[str, str]] = field(default_factory=set)
    """(before, after) of the states of attempts."""
    unattended: Counter[str] = field(default_factory=Counter)
    """For how long a cluster's server, or its clock, was not what it should be (µs)."""

    def __post_init__(self) -> None:
        self.draw, self.chance, self.words = (random.Random(f"{self.seed} {n}") for n in range(3))
        self.processes: dict[str, Any] = {}
        self.files: dict[str, list[Tables]] = {}
        self.due: dict[str, int] = {}
        """When each process is to look after things again."""
        self.offset: Counter[str] = Counter()
        """By how much the clock of each process's machine is wrong (µs)."""
        self.away: dict[str, int] = {}
        """Since when each process is gone."""
        self.full: dict[str, int] = {}
        """Until when each one's disk is full."""
        self.passes = self.draw.choice((1, 1, 1, 1, 2, 3))
        """At which passing of the write that is aimed at a process is killed."""

    # ---- what goes wrong ----------------------------------------------------------------------------------

    def wrong(self, kind: str, where: str) -> bool:
        """Whether something goes wrong here."""
        return not self.calm and self.chance.random() < CHANCE[kind] and self._happens(kind, where)

    def _happens(self, kind: str, where: str) -> bool:
        self.faults += 1
        if self.only is not None and self.faults not in self.only:
            return False
        self.note(f"  fault {self.faults}: {kind} ({where})")
        return True

    def may_kill(self) -> None:
        if self.running[-1:] not in ([], ["client"]) and self.wrong("killed", self.running[-1]):
            raise Killed

    def writes(self, site: str, when: str) -> None:
        """A process is about to write, or has written."""
        self.seen[site] += when == "before"
        who = self.running[-1]
        aimed = False
        if (site, when) == self.aim and self.passes:
            self.passes -= 1
            aimed = (
                not self.calm
                and not self.passes
                and self._happens("killed at a write", f"{who} {when} {site}")
            )
        if aimed or self.wrong("killed at a write", f"{who} {when} {site}"):
            self.written[site, when] += 1
            raise Killed
        if when == "before":
            if self.wrong("disk full", f"{who} {site}"):
                self.full[who] = self.t + self.draw.randint(0, 30) * SECOND
            if not self.calm and self.t < self.full.get(who, 0):
                raise sqlite3.OperationalError("database or disk is full")

    def note(self, sentence: str) -> None:
        self.history.append(f"{(self.t - BEGIN) / SECOND:8.1f} {sentence}")

    def touch(self, file: Path, text: str = "", at: int = 0) -> None:
        """A file, or a folder that is there, on the storage of the fences, whose clock is right."""
        if text:
            file.write_text(text)
        for each in (file, file.parent) if text else (file,):
            os.utime(each, ns=((at or self.t) * 1000, (at or self.t) * 1000))

    # ---- time ---------------------------------------------------------------------------------------------

    def now(self) -> int:
        return self.t + self.offset[self.running[-1] if self.running else ""]

    def sleep(self, seconds: float) -> None:
        self.go_on(round(seconds * SECOND))
        self.something()

    def go_on(self, time: int) -> None:
        self.t += time
        systems: list[Controller | Machine] = [*self.controllers.values(), *self.machines.values()]
        for each in systems:
            each.go_on()

    # ---- processes ----------------------------------------------------------------------------------------

    def opened(self, tables: Tables) -> None:
        self.files.setdefault(self.running[-1], []).append(tables)

    def inside(self, name: str, act: Callable[[Any], Any]) -> Any:
        """Let a process do something; one that is killed meanwhile is gone."""
        process = self.processes.get(name)
        if process is None or name in self.running:
            raise NoAnswer("timed out")
        self.running.append(name)
        try:
            return act(process)
        except Killed as killed:
            self.end(name, killed.power)
            raise NoAnswer("connection reset") from None
        finally:
            self.running.pop()

    def end(self, name: str, power: bool = False) -> None:
        """A process is gone, and with the power of its machine all that it ran there."""
        self.processes[name] = None
        self.away.setdefault(name, self.t)
        power = power or self.wrong("power lost", name)
        for tables in self.files.pop(name, []):
            tables.end(power)
        if power and name in self.machines:
            self.machines[name].lose_power()

    def deliver(self, to: str, request: str, data: str) -> dict[str, Any] | HeadwayError:
        try:
            answer = self.inside(to, lambda process: process.handle(request, json.loads(data)))
            self.due[to] = min(self.due.get(to, 0), self.t)
            return dict(json.loads(json.dumps(answer)))
        except NoAnswer as error:
            return error
        except HeadwayError as error:
            return Refused(str(error))

    def bring_back(self, name: str) -> None:
        if self.processes.get(name) is not None or name in self.running:
            return
        self.note(f"{name} begins")
        self.running.append(name)
        try:
            self.processes[name] = self._process(name)
            self.due[name] = self.t
            self.unattended[name] += self.t - self.away.pop(name, self.t)
        except Killed as killed:
            self.end(name, killed.power)
        except HeadwayError as error:
            self.note(f"{name} does not begin: {error}")
            self.end(name)
        finally:
            self.running.pop()

    def _process(self, name: str) -> Any:
        if name == "agent":
            return LiveAgent(self.grid, True, lambda _: None, reach=Wire)  # type: ignore[arg-type]
        site = self.sites[name]
        if site.kind != "slurm" or site.steer:
            if not self.urgent and self.wrong("another policy", name):
                site = replace(site, policy=parse_spec(self.draw.choice(POLICIES)).policy.on_cluster().spec)
                self.unattended[name] += HOUR  # what one policy has promised another one does not keep
            self.sites[name] = site
            return (SteeredServer if site.steer else Local)(self.grid, site, True)
        return Server(self.grid, site, True)

    def tick(self, name: str) -> None:
        if name not in self.running and self.processes.get(name) is not None:
            self.unattended[name] += max(self.t - self.due.get(name, self.t), 0)
            self.due[name] = self.t + SECOND
            with suppress(HeadwayError):
                wait = self.inside(name, lambda process: process.tick())
                self.due[name] = self.t + round(wait * SECOND)

    def wander(self) -> None:
        """The rest of the world goes on for a little while somebody waits."""
        if self.draw.random() < 0.3:
            self.something()

    def something(self) -> None:
        draw = self.draw
        due = [name for name, at in self.due.items() if at <= self.t and name not in self.running]
        due = [name for name in due if self.processes.get(name) is not None]
        if due and draw.random() < 0.8:
            self.tick(draw.choice(due))
            return
        ahead = [at - self.t for name, at in self.due.items() if name not in self.running and at > self.t]
        self.go_on(min([draw.randint(0, 3 * SECOND), *ahead]))
        which, name = draw.randint(0, 5), draw.choice(self.names)
        controller = draw.choice(list(self.controllers.values())) if self.controllers else None
        if which == 0 and self.late:
            self.deliver(*self.late.pop(draw.randrange(len(self.late))))
        elif which == 0 and self.late_commands:
            late, words, text = self.late_commands.pop(0)
            with suppress(HeadwayError):
                late.obey(words, text)
        elif which == 1:
            self.bring_back(name)
        elif which == 2 and controller is not None:
            self._trouble(controller)
        elif which == 3:
            if self.wrong("clock jumps", name):
                before, self.offset[name] = self.offset[name], draw.randint(-JUMP, JUMP)
                self.unattended[name] += abs(self.offset[name] - before)
            elif name not in self.running and self.processes.get(name) is not None:
                power = self.wrong("machine restarts", name)
                if power or self.wrong("killed while idle", name):
                    self.end(name, power)
        else:
            for each in self.controllers.values():
                each.step()

    def _trouble(self, controller: Controller) -> None:
        name = controller.name
        if controller.up:
            controller.up = not self.wrong("controller down", name)
            if self.wrong("node dies", name):
                controller.node_dies()
        elif self.wrong("controller loses everything", name):
            controller.come_back("all")
        else:
            controller.come_back("moments" if self.wrong("controller loses its last moments", name) else "")

    # ---- all of it ----------------------------------------------------------------------------------------

    def begin(self, path: Path) -> None:
        """A grid of two clusters, and those who want something of it."""
        draw = self.draw
        kinds = self.scene.split() or [
            draw.choice(("slurm", "slurm", "local", "local", "steered")) for _ in "ab"
        ]
        self.urgent = any(kind.endswith("urgent") for kind in kinds)
        tables = ""
        for name, kind in zip("ab", kinds, strict=True):
            policy = "ujfb" if self.urgent else draw.choice(POLICIES)
            more = {"steer": True} if kind.startswith("steered") else {}
            what = "local" if kind.startswith("local") else "slurm"
            tables += cluster(
                name, 4, kind=what, policy=policy if what == "local" or more else "conservative", **more
            )
        keep = draw.choice((2, 1000, 1000))
        self.is_forgetful = keep < 1000
        tables = tables.replace("True", "true")
        grid = written(path, tables, "reallocation(period=20, threshold=5)", f"keep = {keep}")
        self.grid = replace(grid, poll=1.0)
        self.grid.fence.mkdir(parents=True)
        self.sites: dict[str, Site] = {site.name: site for site in self.grid.sites}
        self.names = ("agent", *self.sites)
        has_accounts = draw.random() < 0.6
        self.controllers = {
            name: Controller(self, name, has_accounts)
            for name, site in self.sites.items()
            if site.kind == "slurm"
        }
        self.machines = {
            name: Machine(self, name) for name, site in self.sites.items() if site.kind == "local"
        }
        self.clients = [client_of(self, number) for number in range(draw.randint(1, 6))]

    def run(self, path: Path) -> str:
        """What is wrong in the end; empty: nothing."""
        self.begin(path)
        for name in ("a", "b", "agent"):
            self.bring_back(name)
        for _ in range(STEPS):
            self.one_step()
        self.calm = True
        self.note("nothing goes wrong any more")
        for step in range(CALM):
            if all(client.asked.is_over for client in self.clients):
                break
            self.one_step()
            for name in self.names:
                self.bring_back(name)
            for controller in self.controllers.values():
                if not controller.up:
                    controller.come_back()
            self.go_on(26 * HOUR if step == CALM - 300 else 0)  # what has died without a word is given up
        for _ in range(20):  # what was left somewhere would start now
            self.go_on(10 * SECOND)
            for controller in self.controllers.values():
                controller.step()
        self.calm = True
        for name, process in self.processes.items():
            if process is not None:
                self.running.append(name)
                process.stop()
                self.running.pop()
        return "; ".join(judged([client.asked for client in self.clients], self))

    def one_step(self) -> None:
        if self.draw.random() < 0.25:
            self.draw.choice(self.clients).step()
        else:
            self.something()


def tried(
    seed: int,
    only: set[int] | None = None,
    patches: Sequence[tuple[Any, str, Any]] = (),
    aim: tuple[str, str] = ("", ""),
    scene: str = "",
) -> tuple[World, str]:
    """A world from its beginning to its end, and what is wrong with it."""
    world = World(seed, only, aim, scene)
    path = Path(tempfile.mkdtemp(prefix="hw", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    seams: list[tuple[Any, str, Any]] = [
        (outside, "now", world.now),
        (outside, "steady", lambda: world.t / SECOND),
        (outside, "sleep", world.sleep),
        (outside, "word", lambda count: world.words.randbytes(count).hex()),
        (outside, "connect", lambda path, isolation: Tables.opened(world, path, isolation)),
        (processes, "strays", lambda name: LocalProcesses(world.machines[world.running[-1]]).strays(name)),
        (slurm_server, "Slurm", lambda name, *_: world.controllers[name]),
        (steered, "Slurm", lambda name, *_: world.controllers[name]),
        (Batch, "warm", lambda *_: None),
        (batch, "FORGET_AFTER", 6),
    ]

    def set_attempt(journal: Journal, number: int, **columns: Any) -> None:
        before, after = journal.attempt(number).state, columns.get("state", "")
        journal.set_columns("attempts", "attempt", number, columns)
        world.steps |= {("none", "submitting")} if not after else {(before, after)} - {(after, after)}

    seams.append((Journal, "set_attempt", set_attempt))
    WORLD.append(world)
    try:
        with ExitStack() as stack:
            for where, name, what in (*seams, *patches):
                stack.enter_context(mock.patch.object(where, name, what))
            return world, world.run(path)
    finally:
        WORLD.pop()
        shutil.rmtree(path)
