"""From the queue at an instant onward: the policy in force, run until a job has started.

Running jobs are submitted a moment (``LEAD``) before the instant, so that they all start, with what is left
of their requests and of their drawn run times, by Slurm's rules on the nodes that they have; then all who
wait arrive together at the instant, in the order of their true submissions, which is also what the policy is
told of them; then the arrivals that were drawn.

    now - LEAD    running jobs start again
    now           waiting jobs, oldest first; the policy's turn
    later         arrivals
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from headway.arrays import Ints
from headway.cores import cores, threads
from headway.engine.compiled import compiled_hook, compiled_loop
from headway.engine.driver import Driver
from headway.engine.setup import Jobs
from headway.engine.tables import Phase, State
from headway.errors import UsageError
from headway.forecast.instant import Instant
from headway.forecast.record import Record
from headway.jit import kernels
from headway.platform import Platform
from headway.policies.policy import Policy
from headway.policies.prepare import Arrivals, Prepared
from headway.policies.slurm.setup.record import misses_usage
from headway.policies.spec import Spec, parse_spec
from headway.site import Site
from headway.site.usage import usage_of_log
from headway.units import NEVER, SECOND

LEAD = 1
"""µs before the instant at which running jobs start again."""
LEAD_OF_SECONDS = SECOND
"""The same where the policy's clock has whole seconds, and it lets jobs go on by itself."""
STRIDES = 16, 256
"""Instants simulated before the first look at whether the job has started, and between two looks at most."""
AHEAD = 4
"""So many futures are drawn ahead for each core."""
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Future:
    """One way in which it may go on from an instant; times in µs."""

    run_time: Ints
    """Of the running and waiting jobs, whole."""
    arriving: Ints = field(default_factory=lambda: NOTHING)
    """Rows of the jobs that come."""
    when: Ints = field(default_factory=lambda: NOTHING)
    """They come then,"""
    lasting: Ints = field(default_factory=lambda: NOTHING)
    """and run as long."""


def known_at(platform: Platform, instant: int) -> Platform:
    """The machine as it was known at an instant (s since 1970)."""
    if platform.site is None:
        return platform
    return replace(platform, site=site_at(platform.site, instant))


def site_at(site: Site, instant: int) -> Site:
    """The site as it was known at an instant (s since 1970): not what became of its nodes or usage later.

    A node or partition that is away then is taken to stay away for as long again as it has been: when it
    comes back is not known. Where no file tells usage, it is what the log's runs have added until then.
    """
    if misses_usage(site):
        site = replace(site, usage=usage_of_log(site, instant), exported=None)
    if not site.events:
        return site
    nodes, partitions = ({getattr(event, name) for event in site.events} for name in ("node", "partition"))
    return replace(
        site,
        nodes=tuple(replace(one, state="IDLE") if one.name in nodes else one for one in site.nodes),
        partitions=tuple(
            replace(one, state="UP") if one.name in partitions else one for one in site.partitions
        ),
        events=tuple(
            replace(event, end=2 * instant - event.start + 1)
            for event in site.events
            if event.start <= instant and (event.end is None or event.end > instant)
        ),
    )


@dataclass(frozen=True, eq=False)
class Forward:
    """A policy on the machine of a record, ready to go on from any instant."""

    record: Record
    policy: Policy
    lead: int
    compiled: dict[Any, Any] = field(default_factory=dict)
    """The loop and the policy's hook as the engine calls them, found once."""

    @classmethod
    def of(cls, record: Record, policy: str | Spec | object) -> tuple[Forward, Record]:
        """The policy on the record's machine; also the record without jobs that can never run there."""
        spec = parse_spec(policy)
        placed = spec.policy.on(record.platform, record.workload)
        if placed.is_grid or placed.has_groups:
            raise UsageError(f"a forecast is for one machine with one queue, not for {spec.name}")
        if getattr(placed, "learns", False):
            raise UsageError(f"no forecast knows what {spec} has learned of users; give another estimate")
        numbered = record.workload.with_columns(row=np.arange(len(record)))
        rows = placed.fitting(numbered, record.platform).row
        if len(rows) < len(record):
            kept = placed.fitting(record.workload, record.platform)
            record = Record(kept, record.platform, record.start[rows], record.end[rows])
        return cls(record, placed, LEAD_OF_SECONDS if placed.goes_on else LEAD), record

    @property
    def plans_with_draws(self) -> bool:
        """Whether the policy plans with real run times, so that its turn at the instant depends on draws."""
        return self.policy.params.get("estimate") == "exact" or self.policy.spec.uses_own

    @property
    def side_by_side(self) -> int:
        """How many futures are simulated at once: compiled kernels leave Python to the others."""
        return 1 if kernels.INTERPRETED or self.policy.spec.uses_own else cores()

    def begin(self, instant: Instant) -> Beginning:
        """The queue of an instant as the engine wants it."""
        record = instant.record
        procs = record.workload.procs[instant.running]
        room = int(record.platform.clusters[0].procs)
        fits = np.cumsum(procs) <= room  # a log may have more running than its header has processors
        return Beginning(self, instant, instant.running[fits], instant.elapsed[fits])


@dataclass(frozen=True, eq=False)
class Beginning:
    """Running and waiting jobs of an instant, from which many futures are simulated."""

    forward: Forward
    instant: Instant
    running: Ints
    elapsed: Ints

    @cached_property
    def machine(self) -> Platform:
        """What was known of it at the instant."""
        record = self.instant.record
        begin = record.workload.header.unix_start or 0
        return known_at(record.platform, self.instant.now // SECOND + begin)

    @property
    def rows(self) -> Ints:
        """Running, then waiting jobs."""
        return np.concatenate([self.running, self.instant.waiting])

    def starts_of(self, row: int, futures: Iterable[Future], submit: int | None = None) -> Iterator[int]:
        """When the job of a row starts in each future, in their order; as :meth:`start_of`."""
        workers, ahead = self.forward.side_by_side, iter(futures)
        with threads(workers) as pool:
            while some := list(islice(ahead, AHEAD * workers)):
                yield from pool.map(lambda future: self.start_of(row, future, submit), some)

    def start_of(self, row: int, future: Future, submit: int | None = None) -> int:
        """When the job of a row starts (µs), submitted now or at ``submit``; NEVER if it never does."""
        record, now, lead = self.instant.record, self.instant.now, self.forward.lead
        work, count = record.workload, len(self.running)
        rows = np.concatenate([self.rows, future.arriving])
        true = np.concatenate(
            [np.full(count, now - lead), np.minimum(work.submit[self.instant.waiting], now), future.when]
        )
        comes = np.concatenate([true[:count], np.full(len(self.instant.waiting), now), future.when])
        lasts = np.concatenate([future.run_time, future.lasting])
        request = work.walltime[rows]
        limit = np.maximum(request, lasts)  # beyond the request only where the log shows such runs
        back = np.zeros(len(rows), np.int64)
        back[:count] = self.elapsed - lead
        request, limit, lasts = np.maximum(request - back, 1), np.maximum(limit - back, 1), lasts - back
        place = int(np.flatnonzero(rows == row)[0])
        if submit is not None and submit > now:
            true[place] = comes[place] = submit
        order = np.argsort(comes, kind="stable")
        place = int(np.flatnonzero(order == place)[0])
        rows, true, comes = rows[order], true[order], comes[order]
        prepared = self._prepare(rows, true, comes, request[order], lasts[order])
        jobs = Jobs(comes, work.procs[rows], limit[order], lasts[order], prepared.plan, work.job[rows])
        return self._run(jobs, prepared, place, true)

    def _prepare(self, rows: Ints, submit: Ints, comes: Ints, request: Ints, lasts: Ints) -> Prepared:
        """The policy's tables for these jobs."""
        record, policy = self.instant.record, self.forward.policy
        work, machine = record.workload, self.machine
        extra = {name: work.columns[name][rows] for name in policy.columns if name in work}
        if policy.in_file_order:
            extra["file_place"] = rows
        if policy.goes_on:
            now = self.instant.now
            extra |= {"ran": comes < now, "since": np.where(comes <= now, submit, -1)}
        if "held" in extra and "eligible" in extra:  # who waits and may run has been released
            may = (extra["eligible"] >= 0) & (extra["eligible"] <= self.instant.now)
            extra["held"] = np.where((comes == self.instant.now) & may, 0, extra["held"])
        if "cancelled_after" in extra:  # of those who wait nobody knows it yet
            known = (comes > self.instant.now) & (record.end[rows] <= self.instant.now)
            extra["cancelled_after"] = np.where(known, extra["cancelled_after"], -1)
        arrivals = Arrivals(
            submit, work.procs[rows], request, np.minimum(lasts, request), extra, machine,
            labels=work.labels, origin=work.header.unix_start or 0,
        )  # fmt: skip
        return policy.prepare(arrivals, machine.clusters[0].procs)

    def _run(self, jobs: Jobs, prepared: Prepared, place: int, true: Ints) -> int:
        if prepared.setup.drive is not None:
            return first_start(prepared.setup.drive(jobs, prepared.setup, None), place)
        loop, hook = compiled(self.forward.compiled, prepared)
        driver = Driver(jobs, replace(prepared.setup, hook=hook), room=len(jobs), loop=loop)
        more = True
        while more and driver.now < self.instant.now:
            more = driver.next()
            if more and driver.now == self.instant.now:
                driver.state.jobs.submit[:] = true  # they have waited since then
            if more:
                driver.decide()
        stride, longest = STRIDES
        while more and not has_started(driver.state, place):
            more = driver.advance(stride)
            stride = min(2 * stride, longest)
        return first_start(driver.state, place)


def compiled(known: dict[Any, Any], prepared: Prepared) -> tuple[Any, Any]:
    """The loop and the hook of a policy, compiled; to find their types costs more than a short run."""
    setup = prepared.setup
    if setup.hook not in known:
        known[setup.hook] = compiled_loop(setup.memory), compiled_hook(setup.hook, setup.memory)
    return known[setup.hook]  # type: ignore[no-any-return]


def has_started(state: State, place: int) -> bool:
    """Whether a job has had a run."""
    return bool(state.jobs.run[place] >= 0) and bool(state.jobs.phase[place] != Phase.WAITING)


def first_start(state: State, place: int) -> int:
    """When a job first started (µs); NEVER if it did not."""
    found = np.flatnonzero(np.asarray(state.runs.job)[: int(state.clock.runs)] == place)
    return int(state.runs.start[found[0]]) if len(found) else NEVER
