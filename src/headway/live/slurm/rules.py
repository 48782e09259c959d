"""What Slurm will do with its queue, by its own rules: the policy ``slurm`` on the site that scontrol shows.

Running jobs begin a moment before (``LEAD``) with what is left of their limits, on the nodes that they have;
then all who wait come in the order of the priorities that Slurm gives them now. Every job lasts as
long as its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from headway.arrays import Ints
from headway.engine.driver import Driver
from headway.engine.setup import Jobs
from headway.engine.tables import Runs
from headway.errors import HeadwayError
from headway.forecast.present import NAMED
from headway.live import outside
from headway.live.engine import Job
from headway.live.slurm.commands import Slurm
from headway.live.slurm.nodes import Nodes, all_up
from headway.live.slurm.queue import SlurmJob
from headway.live.wire import NoAnswer, Refused
from headway.policies.grid.composed.cluster import Shape
from headway.policies.prepare import Arrivals
from headway.policies.spec import Spec
from headway.site import Site
from headway.site.export import ASSOCIATIONS, QOS
from headway.units import MINUTE, NEVER, SECOND
from headway.writing import write_text

LEAD = SECOND
"""How long before the present (µs) running jobs begin."""
STRIDE = 2000
"""Instants simulated between two looks at whether anything still ends."""
MOST_PASSES = 500
"""Passes of backfill in all that is foreseen, about."""
FRESH = 600.0
"""Seconds for which a site is taken to be as it was, but for the states of its nodes and partitions."""


class Rules:
    """The site of a cluster, read now and then."""

    def __init__(self, slurm: Slurm, policy: Spec, folder: Path) -> None:
        self.slurm, self.policy, self.folder = slurm, policy, folder
        self.nodes = Nodes(slurm)
        self._read = -FRESH
        self._site: Site | None = None

    def site(self) -> Site:
        """The site with its nodes and partitions in the states of now."""
        return self.nodes.at(self._read_site())

    def _read_site(self) -> Site:
        """Nodes, partitions and parameters; who is asked for his place, priorities have settled already."""
        if self._site is None or outside.steady() - self._read > FRESH:
            self.folder.mkdir(parents=True, exist_ok=True)
            config = self.slurm.run("scontrol", "show", "config")
            write_text(self.folder / "config.txt", config)
            for name, file in (("partition", "partitions.txt"), ("node", "nodes.txt")):
                write_text(self.folder / file, self.slurm.run("scontrol", "show", name))
            if "accounting_storage/slurmdbd" in config:
                self._accounting()
            try:
                site = Site.load(self.folder)
            except HeadwayError as error:
                raise not_foreseen(error) from None
            self._site = replace(site, config=site.config.with_value("PriorityType", "priority/basic"))
            self._read = outside.steady()
        return self._site

    def _accounting(self) -> None:
        """QOS and associations, for their limits; without them where the database does not answer."""
        for what, columns in (("associations", ASSOCIATIONS), ("qos", QOS)):
            try:
                text = self.slurm.run("sacctmgr", "--parsable2", "show", what, f"format={','.join(columns)}")
            except (NoAnswer, Refused):
                continue
            write_text(self.folder / f"{what}.txt", text)

    def plan(
        self, running: Sequence[SlurmJob], waiting: Sequence[SlurmJob], now: int, partition: str
    ) -> RulesPlan:
        """What becomes of the queue; jobs are numbered as they stand, running ones first."""
        return RulesPlan(self.policy, self.site(), list(running), list(waiting), now, partition)

    def whole(self, now: int, partition: str) -> RulesPlan:
        """The site with nobody on it, and with nodes and partitions that are away for now."""
        return RulesPlan(self.policy, all_up(self._read_site()), [], [], now, partition)

    def warm(self) -> None:
        """Compile what is needed before anybody waits for it, if Slurm answers."""
        try:
            self.plan([], [], LEAD, "").tried(Job(MINUTE, Shape(1, 1, 1)))
        except (NoAnswer, Refused):
            return


@dataclass
class RulesPlan:
    """The queue at an instant, and what Slurm's rules make of it if nothing else comes."""

    policy: Spec
    site: Site
    running: list[SlurmJob]
    waiting: list[SlurmJob]
    now: int
    partition: str = ""
    """Where jobs go that are only tried; empty: the default one."""
    _starts: Ints | None = field(default=None, repr=False)
    _tried: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)
    """The start of a job of so many processors and such a limit that were submitted now."""

    def knows(self, number: int) -> bool:
        return 0 <= number < len(self.running) + len(self.waiting)

    def planned(self, number: int) -> tuple[int, int]:
        """(start, completion) of a job by its number."""
        if self._starts is None:
            self._starts = self._run(None)
        if number < len(self.running):
            job = self.running[number]
            return job.start or self.now, max((job.start or self.now) + job.limit, self.now)
        start, limit = int(self._starts[number]), self.waiting[number - len(self.running)].limit
        return (start, start + limit) if start < NEVER else (NEVER, NEVER)

    def tried(self, job: Job) -> int:
        """When a job would be completed that were submitted now, behind all who wait; NEVER: not at all."""
        if job.shape.procs > self.site.cpus:
            return NEVER
        asked = (job.shape.procs, job.shape.time(job.walltime))
        if asked not in self._tried:
            self._tried[asked] = int(self._run(job)[-1])
        start = self._tried[asked]
        return start + asked[1] if start < NEVER else NEVER

    def _run(self, trial: Job | None) -> Ints:
        """The start of every job (µs since 1970), the one that is tried last; NEVER for one that has none."""
        begin = (self.now - LEAD) // SECOND * SECOND
        present = self.now - begin
        left = [max((job.start or self.now) + job.limit - self.now, SECOND) for job in self.running]
        limits = [*(present + each for each in left), *(job.limit for job in self.waiting)]
        procs = [max(job.procs, 1) for job in (*self.running, *self.waiting)]
        names = {
            column: [str(getattr(job, name)) for job in (*self.running, *self.waiting)]
            for column, name in NAMED.items()
        }
        comes = [0] * len(self.running) + [present] * len(self.waiting)
        if trial is not None:
            limits.append(trial.shape.time(trial.walltime))
            procs.append(trial.shape.procs)
            for column, values in names.items():
                values.append(self.partition if column == "partition" else "")
            comes.append(present)
        try:
            starts = self._simulated(np.array(comes), np.array(procs), np.array(limits), names, begin)
        except HeadwayError as error:
            raise not_foreseen(error) from None
        return np.where(starts < NEVER, starts + begin, NEVER)

    def _coarser(self, limits: Ints, procs: Ints) -> Site:
        """The site with so long a time between two passes of backfill that there are not too many of them.

        Jobs that end are seen at once all the same; only what is backfilled may be foreseen a little late.
        """
        work = float((limits * procs).sum()) / max(self.site.cpus, 1)
        ahead = (int(limits.max(initial=0)) + int(work)) // SECOND
        own = self.site.scheduling_number("bf_interval")
        interval = max(own, ahead // MOST_PASSES)
        return replace(self.site, scheduler={**self.site.scheduler, "bf_interval": str(interval)})

    def _simulated(
        self, comes: Ints, procs: Ints, limits: Ints, names: dict[str, list[str]], begin: int
    ) -> Ints:
        columns, labels = {}, {}
        for name, values in names.items():
            labels[name] = sorted(set(values))
            places = {label: code for code, label in enumerate(labels[name])}
            columns[name] = np.array([places[value] for value in values], np.int64)
        columns["job"], columns["ran"] = np.arange(len(comes)), comes == 0
        platform = self._coarser(limits, procs).platform()
        arrivals = Arrivals(
            comes, procs, limits, limits, columns, platform, labels=labels, origin=begin // SECOND
        )
        prepared = self.policy.policy.prepare(arrivals, platform.clusters[0].procs)
        jobs = Jobs(comes, procs, limits, limits, prepared.plan, columns["job"])
        driver, seen = Driver(jobs, prepared.setup, room=len(jobs)), -1
        while driver.advance(STRIDE):
            runs, ended = int(driver.state.clock.runs), int(driver.state.clock.finished)
            if runs == seen == ended:
                break  # nothing runs, and nothing was started for long: what still waits can never run
            seen = runs
        return _first_starts(driver, len(comes))


def not_foreseen(error: HeadwayError) -> Refused:
    """What to say where Slurm's rules do not know what to make of a site."""
    return Refused(f'{error}; give the cluster policy = "conservative", which only counts processors')


def _first_starts(driver: Driver, count: int) -> Ints:
    starts = np.full(count, NEVER, np.int64)
    runs = Runs(driver.state.runs[:, : int(driver.state.clock.runs)])
    for job, start in zip(runs.job[::-1].tolist(), runs.start[::-1].tolist(), strict=True):
        starts[job] = start
    return starts
