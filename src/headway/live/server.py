"""What every server has: the requests of the agent, and the sizes of tasks on its cluster.

    describe                                 the cluster, its policy, what may be done to it
    estimate  name, task                     completion and processors: as planned if it waits here
    submit    name, fence, task              handed to the batch system, held
    release   name                           it may start
    cancel    name                           whether it still waited and is gone now
    kill      name                           whether it waits or runs no more
    poll      names                          what became of these jobs, and of others under the same journal
    picture                                  what waits and runs, and when it is planned to

Names are those of the journal's attempts. Every request may be repeated: what was done is not done again.
Times are µs since 1970, or on the clock of a simulation.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime
from typing import Any

from headway.live import outside
from headway.live.grid_file import Grid, Site
from headway.live.shapes import Shapes
from headway.live.task import Task
from headway.live.tended import Tended
from headway.live.wire import Refused
from headway.plain import counted
from headway.platform import Cluster, Platform
from headway.policies.grid.local_policies import TUNINGS
from headway.policies.grid.notes import NO_ANSWER
from headway.policies.spec import Spec
from headway.units import SECOND

RETRY = 1.0
"""Seconds before something is tried again that went wrong."""
SEARCH = 2.0
"""Seconds for which further sizes of a task are tried."""
NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
"""What jobs and their fences are called."""
REQUESTS = ("describe", "estimate", "submit", "release", "cancel", "kill", "poll", "picture")


class ClusterServer(Tended):
    """The front of one cluster; subclasses know the batch system, and have a method for each request."""

    requests: tuple[str, ...] = REQUESTS

    def __init__(self, grid: Grid, site: Site, control: bool) -> None:
        super().__init__(grid, control)
        self.site = site
        method = TUNINGS.index(str(grid.policy.params["tuning"]))
        self.shapes = Shapes(grid.policy, site.cluster, widest(site.policy, site.cluster), method)

    def handle(self, request: str, data: dict[str, Any]) -> Any:
        """Answer a request, and let whoever waits for the next event look again."""
        for key in ("name", "fence"):  # both become names of files
            if request == "submit" and not NAME.fullmatch(str(data.get(key))):
                raise Refused(f"submit: {key!r} must be letters, digits, and . + - _")
        answer = super().handle(request, data)
        if request in ("estimate", "submit"):
            answer |= self.shortcomings(data["task"], answer)
        if request == "estimate" and not self.guard.control:
            answer["only_watches"] = True
        self.bell.ring()
        return answer

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Which of ``deadline`` and ``urgent`` of a task its scheduler looks at."""
        return self.site.policy.policy.looks_at

    def shortcomings(self, task: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """What was asked for and is not looked at here, and by how much a deadline will be passed (µs) if
        the task has its whole walltime: by what its policy promises, or else by what it plans."""
        asked = [name for name in ("deadline", "urgent") if task.get(name) not in (None, False)]
        found: dict[str, Any] = {"ignored": [name for name in asked if name not in self.looks_at]}
        end = answer.get("latest_end", answer["completion"])
        if "deadline" in asked and answer["procs"] and end < NO_ANSWER:
            found["late"] = max(end - task["deadline"], 0)
        return {name: value for name, value in found.items() if value}

    def describe(self) -> dict[str, Any]:
        """The cluster, its policy, what may be done to it."""
        return {
            "name": self.site.name,
            "kind": self.site.kind,
            "procs": self.site.cluster.procs,
            "speed": self.site.cluster.speed,
            "policy": self.site.policy.brief,
            "control": self.guard.control,
            "allow": list(self.grid.allow),
        }

    def cannot_run(self, task: Task) -> Refused:
        """A task that was to be submitted, and is too large."""
        return Refused(f"{self.site.name} cannot run a task of {counted(task.procs, 'processor')}")


def widest(policy: Spec, cluster: Cluster) -> int:
    """The most processors that a task can have: those of the pool that tasks are submitted to."""
    return policy.policy.pools(Platform((cluster,)))[0].procs


def check_acts(grid: Grid, site: Site) -> None:
    """Refuse a policy that would do what the file does not allow."""
    needs = {"redirection": "requeue", "ujfb": "suspend"}
    if site.policy.name == "ujfb" and site.policy.params.get("preempt") == "kill":
        needs["ujfb"] = "requeue"
    if site.policy.is_user:
        from headway.policies.own.live import stops_jobs

        needs |= {site.policy.name: "requeue"} if stops_jobs(site.policy) else {}
    act = needs.get(site.policy.name)
    if act is not None and act not in grid.allow:
        raise Refused(
            f"cluster {site.name}: {site.policy.name} needs the act {act}, which {grid.file} does not allow; "
            f'add "{act}" to [control] allow, or give the cluster another policy'
        )


def log(sentence: str) -> None:
    """A line with the time, on standard error."""
    stamp = datetime.fromtimestamp(outside.now() / SECOND)
    sys.stderr.write(f"{stamp:%Y-%m-%d %H:%M:%S} {sentence}\n")
    sys.stderr.flush()
