"""The agent over servers written in Python: simulated ones, or the front ends of real batch systems.

    from headway.policies.grid.middleware import Agent

    agent = Agent([bordeaux, lyon, toulouse], mode="cancel")     # each has estimate, submit and cancel
    agent.arrive(task)                                           # for each task, when a client sends it
    agent.reallocate(now)                                        # now and then, as every hour

The functions of :mod:`headway.policies.grid.agent` are taken as they are written and only get other requests:
what the simulator compiles and what runs here is one source. Nothing of the simulator is needed by a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, Protocol

from headway.errors import UsageError
from headway.jit.kernels import calling
from headway.policies.grid import agent, notes, tuning
from headway.policies.grid.local_policies import HEURISTICS, MODES
from headway.policies.grid.notes import NO_ANSWER, STARTED, Notes
from headway.policies.grid.server import cancel, estimate, submit
from headway.policies.own.last_pass import Interpreter

__all__ = ["NO_ANSWER", "STARTED", "Agent", "Move", "Server"]


class Server(Protocol):
    """What stands in front of a cluster. Times are integers, in one unit for all servers.

    Between the requests of one event no time passes for the agent; a server whose cluster went on in the
    meantime says so by what it answers.
    """

    def estimate(self, task: Any) -> tuple[int, int]:
        """(completion, processors) of a task: as planned if it waits here, else if it were submitted now.

        (NO_ANSWER, 0) if this cluster cannot run it, (STARTED, 0) if it was submitted here and waits no more.
        """
        ...

    def submit(self, task: Any) -> tuple[int, int]:
        """Hand a task to the batch system, tuned for its load; (completion, processors) as it is planned."""
        ...

    def cancel(self, task: Any) -> bool:
        """Take a waiting task back; False if it does not wait here (any more)."""
        ...


@dataclass(frozen=True)
class Move:
    """A task that went from one server to another, and the completions that were expected of it."""

    task: Any
    time: int
    source: int
    target: int
    before: int
    after: int
    procs_before: int
    procs_after: int


@cache
def over_python() -> SimpleNamespace:
    """The agent's functions with requests that go to the method of a Python object."""
    copies = Interpreter({
        estimate: lambda grid, server, task: grid.servers[server].estimate(grid.tasks[task]),
        submit: lambda grid, server, task: grid.servers[server].submit(grid.tasks[task]),
        cancel: lambda grid, server, task: grid.servers[server].cancel(grid.tasks[task]),
    })  # fmt: skip
    return SimpleNamespace(arrive=copies.copy(agent.arrive), reallocate=copies.copy(agent.reallocate))


@cache
def searched() -> Any:
    """The searches of :mod:`headway.policies.grid.tuning` over completions that a Python object tells."""

    return calling(tuning.tune, completion=lambda server, _, task, n: server.completion(task, n))


class Agent:
    """Maps arriving tasks and moves waiting ones; it knows its tasks and the three requests of its servers.

    ``threshold`` is in the servers' unit of time. Tasks may be any objects; they are handed to the servers.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        heuristic: str = "mct",
        mode: str = "regular",
        threshold: int = 60,
        oldest: int = 20,
    ) -> None:
        for name, value, known in (("heuristic", heuristic, HEURISTICS), ("mode", mode, MODES)):
            if value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        self.servers, self.tasks, self.moves = list(servers), list[Any](), list[Move]()
        self._rules = (HEURISTICS.index(heuristic), MODES.index(mode), threshold, oldest)
        self._notes = self._memory(64)

    @property
    def memory(self) -> Notes:
        """What it knows of its tasks, in the tables of :mod:`headway.policies.grid.notes`."""
        return self._notes

    def arrive(self, task: Any) -> int | None:
        """Submit a new task where it is completed first; the server's number, or None if none can run it."""
        self._make_room()
        self.tasks.append(task)
        server = int(over_python().arrive(self._notes, self, len(self.tasks) - 1))
        return server if server >= 0 else None

    def adopt(self, task: Any, server: int) -> None:
        """Look after a task that was submitted to a server before, as by an agent that was restarted."""
        self._make_room()
        known = self._notes
        known.tasks.server[len(self.tasks)] = server
        known.waiting.task[known.counts.tasks] = len(self.tasks)
        known.counts.tasks += 1
        self.tasks.append(task)

    def reallocate(self, now: int) -> list[Move]:
        """One event: look at all waiting tasks anew; the moves that were made."""
        before = len(self.moves)
        try:
            over_python().reallocate(self._notes, self, now)
        finally:  # moves that were made before a server failed are moves
            log = self._notes.moves[:, : self._notes.counts.moves].T.tolist()
            self._notes.counts.moves = 0
            self.moves += [Move(self.tasks[task], *rest) for task, *rest in log]
        return self.moves[before:]

    def _memory(self, capacity: int) -> Notes:
        return notes.new_notes(len(self.servers), *self._rules, capacity, capacity)

    def _make_room(self) -> None:
        """Space for twice as many tasks, where there is none for one more."""
        old, held = self._notes, self._notes.tasks.shape[1]
        if len(self.tasks) == held:
            self._notes = self._memory(2 * held)
            self._notes.counts[:] = old.counts
            self._notes.tasks[:, :held], self._notes.waiting[:, :held] = old.tasks, old.waiting
