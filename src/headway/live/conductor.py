"""Rehearsals: the live agent over simulated clusters, with tasks that come when a log says.

Simulated clusters have no time of their own. The agent goes from one instant to the next, as a simulation
does, and waits between them where time is scaled. In each instant: what is due ends, tasks arrive, the
reallocation event, then each cluster's policy has its turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from headway.live.agent import LiveAgent
from headway.live.task import Task
from headway.units import NEVER, SECOND


class Conductor:
    """Moves the clock of a simulated grid; ``arrivals`` are (submit, task) in order, times in µs."""

    def __init__(self, agent: LiveAgent, arrivals: Sequence[tuple[int, Task]]) -> None:
        self.agent, self.arrivals = agent, arrivals
        self.t, self.arrived, self.last_event = 0, 0, 0
        self.following = [NEVER] * len(agent.proxies)
        self.tasks: list[int] = []
        """The journal's numbers of the tasks that have arrived."""
        agent.clock = lambda: self.t

    def run(self, progress: Callable[[int, int], None] | None = None, until: int = NEVER) -> None:
        """Go on until nothing more happens, or to the last instant before ``until``."""
        begun, scale = time.monotonic(), self.agent.grid.scale
        first = self.arrivals[0][0] if self.arrivals else 0
        while (t := self._next()) < until:
            if scale:
                time.sleep(max(0.0, begun + (t - first) / SECOND / scale - time.monotonic()))
            self._instant(t)
            if progress is not None:
                progress(self.arrived, len(self.arrivals))

    def _next(self) -> int:
        submit = self.arrivals[self.arrived][0] if self.arrived < len(self.arrivals) else NEVER
        period = self.agent.period
        event = (self.t // period + 1) * period if period and self._anybody_waits() else NEVER
        return min(submit, event, *self.following)

    def _anybody_waits(self) -> bool:
        return any(row.state == "waiting" and not row.task.cluster for row in self.agent.journal.live_tasks())

    def _instant(self, t: int) -> None:
        agent, self.t = self.agent, t
        for proxy in agent.proxies:
            proxy.ask("open", now=t)
        while self.arrived < len(self.arrivals) and self.arrivals[self.arrived][0] == t:
            row = agent.journal.add_task(self.arrivals[self.arrived][1], t)
            self.tasks.append(row.number)
            agent.arrive(row)
            self.arrived += 1
        if agent.period and t % agent.period == 0 and t > self.last_event and self._anybody_waits():
            self.last_event = t
            agent.reallocate(t)
        self.following = [proxy.ask("close")["following"] for proxy in agent.proxies]
        agent.accounts.poll(t)
        if self.arrived % 100 == 0:
            agent.forget()
