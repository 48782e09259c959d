"""Shadow: watch a Slurm cluster, ask a policy what it would do now, and write what Slurm did beside it.

Nothing is changed, and nothing is tested: `sbatch --test-only` would use up job numbers. Each look is a line
of JSON. A policy decides from the cluster as it is at that moment, not as it would be under that policy; but
jobs that Slurm started since the last look wait for it, so that both decide on the same queue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.errors import InputError
from headway.live import outside
from headway.live.batch import Batch
from headway.live.grid_file import Grid, Site
from headway.live.slurm.commands import Slurm
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import SlurmJob, in_order, look_at, parse_queue
from headway.live.slurm.rules import Rules
from headway.live.slurm.server import foreseen
from headway.live.spans import START
from headway.policies.spec import Spec
from headway.units import NEVER, SECOND
from headway.values import INSTANT, fits


class Shadow:
    """Looks at one cluster on behalf of some policies."""

    def __init__(self, grid: Grid, site: Site, policies: Sequence[Spec]) -> None:
        self.site, self.policies = site, [policy.policy.on_cluster().spec for policy in policies]
        self.slurm = Slurm(site.name, site.conf, grid.timeout)
        self.nodes = Nodes(self.slurm)
        self.rules: dict[str, Rules] = {}
        """Slurm's own rules, where they are asked for."""
        for policy in self.policies:
            if policy.name == "slurm":
                self.rules[policy.brief] = Rules(self.slurm, policy, grid.folder / site.name / "site")
                self.rules[policy.brief].warm()
            else:
                Batch.warm(site.cluster, policy)
        self.before: dict[str, str] | None = None
        """The state of each job at the last look."""

    def look(self) -> dict[str, Any]:
        """One line: what waits, what Slurm started since the last look, what policies would start."""
        now = outside.now()
        jobs = [job for job in parse_queue(look_at(self.slurm)) if job.is_in(self.site.partition)]
        fresh = [job for job in jobs if self.before is not None and self._is_new(job)]
        self.before = {job.number: job.state for job in jobs}
        waiting = [job for job in in_order(jobs) if job.may_start]
        running = [job for job in jobs if job.state == "running" and job.start is not None]
        queue = in_order([*waiting, *(replace(job, state="waiting", start=None, nodes="") for job in fresh)])
        known = {job.number for job in fresh}
        before = [job for job in running if job.number not in known]
        return {
            "time": now,
            "cluster": self.site.name,
            "procs": self.site.cluster.procs,
            "waiting": [
                {"job": job.number, "submitted": job.submitted, "procs": job.procs} for job in waiting
            ],
            "running": len(running),
            "slurm": [self._started(job) for job in fresh],
            "policies": {policy.brief: self.asked(policy, before, queue, now) for policy in self.policies},
        }

    def _is_new(self, job: SlurmJob) -> bool:
        """Whether Slurm started a job since the last look."""
        assert self.before is not None
        if job.is_waiting or job.state == "cancelled" or job.start is None:
            return False
        return self.before.get(job.number, "waiting") in ("waiting", "held")

    @staticmethod
    def _started(job: SlurmJob) -> dict[str, Any]:
        return {"job": job.number, "start": job.start, "submitted": job.submitted, "procs": job.procs}

    def asked(
        self, policy: Spec, running: list[SlurmJob], waiting: list[SlurmJob], now: int
    ) -> dict[str, Any]:
        """The jobs that a policy would start now, and when it plans those that wait."""
        if policy.brief in self.rules:
            return self._by_rules(self.rules[policy.brief], running, waiting, now)
        usable = self.nodes.usable(self.site.cluster.procs, self.site.partition)
        fits = [job for job in waiting if max(job.procs, 1) <= usable]
        batch = foreseen(self.site.cluster, policy, running, fits, usable, now)
        everybody = [*running, *fits]
        starts = [everybody[act.job].number for act in batch.acts() if act.kind == START]
        plans = {}
        for number, job in enumerate(fits[:PLANNED], len(running)):
            start, _ = batch.planned(number)
            plans[job.number] = start if start < NEVER else None
        return {"start": starts, "plans": plans}

    def _by_rules(
        self, rules: Rules, running: list[SlurmJob], waiting: list[SlurmJob], now: int
    ) -> dict[str, Any]:
        plan = rules.plan(running, waiting, now, self.site.partition)
        planned = {job.number: plan.planned(number)[0] for number, job in enumerate(waiting, len(running))}
        starts = [job for job, start in planned.items() if start < now + SECOND]
        told = {job: start if start < NEVER else None for job, start in list(planned.items())[:PLANNED]}
        return {"start": starts, "plans": told}


PLANNED = 200
"""Waiting jobs whose planned starts are written down."""


@dataclass
class Compared:
    """A policy against Slurm, over the jobs that Slurm started while somebody looked."""

    policy: str
    jobs: int = 0
    earlier: int = 0
    """Jobs that the policy would have started at a look more than a second before Slurm did."""
    same: int = 0
    later: int = 0
    """Jobs that it would not have started at the look at which they were seen to have started."""
    mean_lead: float = 0.0
    """How much earlier than Slurm it would have started those that it would have started (seconds)."""


LOOK = {
    "time": INSTANT,
    "slurm": [{"job": str, "start": INSTANT}],
    "policies": {str: {"start": [str]}},
}
"""What is compared of a look."""


def compare(lines: Iterable[str], file: Path) -> list[Compared]:
    """What a log of looks says of each policy."""
    first: dict[str, dict[str, int]] = {}
    started: dict[str, tuple[int, int]] = {}
    names: list[str] = []
    before = 0
    for number, line in enumerate(lines, 1):
        try:
            look = json.loads(line)
        except (ValueError, RecursionError):
            look = None
        if not fits(look, LOOK):
            raise InputError("is not a record that headway live shadow wrote", file=file, line=number)
        before = look["time"]
        for each in look["slurm"]:
            started.setdefault(each["job"], (each["start"], before))
        for name, said in look["policies"].items():
            for job in said["start"]:
                first.setdefault(name, {}).setdefault(job, before)
            names += [name] if name not in names else []
    if not before:
        raise InputError("holds no record of a cluster; headway live shadow writes them", file=file)
    return [_compared(name, first.get(name, {}), started) for name in names]


def _compared(name: str, first: dict[str, int], started: dict[str, tuple[int, int]]) -> Compared:
    """A policy by the look at which it would first start each job; Slurm's starts, each with its look."""
    found = Compared(name, len(started))
    leads = []
    for job, (start, look) in started.items():
        would = first.get(job)
        if would is None or would > look:
            found.later += 1
        elif would < start - SECOND:  # Slurm tells whole seconds
            found.earlier += 1
            leads.append((start - would) / SECOND)
        else:
            found.same += 1
    found.mean_lead = sum(leads) / len(leads) if leads else 0.0
    return found
