"""Where a job waited: the processors it could get, who held them, and who else waited for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError, UsageError
from headway.plain import listed
from headway.platform.absences import CLOSED, absences, unheld
from headway.platform.node_table import nodes_of
from headway.platform.outages import Outages
from headway.platform.processor_sets import numbers
from headway.policies.nodes.baseline import Baseline
from headway.policies.pools import cluster_pools, policy_at
from headway.policies.spec import Spec
from headway.schedule import Schedule
from headway.schedule.moves import Moves
from headway.schedule.pieces import ENDED, STATES, Pieces
from headway.schedule.table import all_pieces
from headway.units import date_text, duration, seconds_text

Rows = npt.NDArray[np.int64]
NOWHERE = -1
STOPPED = (ENDED.index("failed"), ENDED.index("preempted"))
"""How a run ends whose job waits again where it waited before."""


@dataclass(frozen=True)
class Case:
    """One job of a schedule, and what a look at it needs. Times in µs, jobs by row."""

    schedule: Schedule
    row: int
    pieces: Pieces
    """Every piece of every job."""
    own: Rows
    """The job's own pieces, in order."""
    pool: str
    """The name of the group, cluster or partition it waited for, empty for the whole machine."""
    capacity: int
    held: Pieces
    """The pieces that held processors of that pool."""
    kept: Pieces
    """The pieces of it that were suspended."""
    of_pool: npt.NDArray[np.bool_]
    """The jobs that waited for the same processors."""

    @property
    def spec(self) -> Spec:
        """The policy that scheduled it: in a grid that of the cluster it ran on."""
        codes = self.schedule.cluster
        there = 0 if codes is None else int(codes[self.row])
        return policy_at(self.schedule.policy, self.schedule.platform, there)

    def nearby(self) -> npt.NDArray[np.bool_]:
        """The pieces on its own cluster; all where clusters are one machine, or there is one only."""
        codes = self.pieces.cluster
        if codes is None or self.schedule.moves is None:
            return np.ones(len(self.pieces), np.bool_)
        return np.asarray(codes == codes[self.own[0]])

    @property
    def id(self) -> int:
        return int(self.schedule.workload.job[self.row])

    @property
    def submit(self) -> int:
        return int(self.schedule.submit[self.row])

    @property
    def start(self) -> int:
        """When it started for the first time, also if that run was stopped later."""
        return int(self.pieces.start[self.own[0]])

    @property
    def procs(self) -> int:
        return int(self.pieces.procs[self.own[0]])

    def ids(self, rows: Rows) -> list[int]:
        found: list[int] = self.schedule.workload.job[rows].tolist()
        return found

    def before(self) -> npt.NDArray[np.bool_]:
        """Jobs that were submitted before this one (the order of the log decides ties)."""
        submit, rows = self.schedule.submit, np.arange(len(self.schedule))
        return np.asarray((submit < self.submit) | ((submit == self.submit) & (rows < self.row)))

    def after(self) -> npt.NDArray[np.bool_]:
        """Jobs that were submitted after this one."""
        others = self.of_pool & ~self.before()
        others[self.row] = False
        return others

    def free(self, t: int) -> int:
        """Processors that nobody holds and that are not closed, right before what starts at ``t``."""
        return self.capacity - int(self._used(self.held.start < t, t).sum())

    def room(self, t: int) -> int:
        """Those for this job, on one node where it has to be, when others have started at ``t``."""
        return int((self.rooms - self._used(self.held.start <= t, t)).max())

    def _used(self, began: npt.NDArray[np.bool_], t: int) -> Rows:
        """Processors that others hold, or that are closed or kept, by node, of the pieces that began."""
        holds = began & (self.held.end > t) & (self.held.job != self.row)
        used = np.zeros(len(self.rooms), np.int64)
        np.add.at(used, self.places[holds], self.held.procs[holds])
        processor, start, end = self.shut
        shut = processor[(start <= t) & (t < end)]
        if len(shut):
            used[0] += len(np.setdiff1d(shut, _by_processor(self.held.select(holds))[0]))
        return used

    def freed(self, after: int, until: int) -> Rows:
        """The pieces that let processors go in (after, until], by their job's end, a stop or a swap."""
        held = self.held
        order = held.in_order()
        last, following = order[:-1], order[1:]
        on = (held.job[last] == held.job[following]) & (held.end[last] == held.start[following])
        goes_on = np.zeros(len(held), np.bool_)
        goes_on[last[on & (held.procs[following] >= held.procs[last])]] = True
        lets_go = ~goes_on & (held.procs > 0) & (held.start < held.end)
        return np.flatnonzero(lets_go & (held.end > after) & (held.end <= until))

    @property
    def inside_nodes(self) -> bool:
        """Whether a job has to be on one node."""
        return self.schedule.node is not None

    @property
    def places(self) -> Rows:
        """The node of each piece that held processors; 0 where jobs may span nodes."""
        node = self.held.node if self.inside_nodes else None
        return np.zeros(len(self.held), np.int64) if node is None else node

    @cached_property
    def rooms(self) -> Rows:
        """The cores of each node, 0 where the job may not be; the whole pool where jobs may span nodes."""
        if not self.inside_nodes:
            return np.array([self.capacity])
        groups = [node.group for node in nodes_of(self.schedule.platform)]
        cores, memory = np.array([g.cores for g in groups]), np.array([float(g.memory_gb) for g in groups])
        column = self.schedule.workload.get("needs_node_gb")
        need = 0.0 if column is None else np.nan_to_num(column[self.row])
        own = memory[memory >= need].min(initial=np.inf)
        allowed = {"any": memory > 0, "exact": memory == own}.get(self._match, memory >= own)
        return np.where(allowed, cores, 0)

    @property
    def _match(self) -> str:
        """Which nodes a policy inside nodes allows."""
        try:
            policy = self.spec.policy
            inside = policy.inside() if isinstance(policy, Baseline) else policy
        except HeadwayError:
            return "any"
        return str(inside.params.get("match", "fits"))

    def waiting(self, t: int) -> Rows:
        """Jobs submitted before this one that still wait when all that starts at ``t`` has started."""
        job, since, until, _ = self.waits
        return np.unique(job[self.before()[job] & (since <= t) & (t < until)])

    @cached_property
    def waits(self) -> tuple[Rows, Rows, Rows, npt.NDArray[np.bool_]]:
        """Jobs, from when to when each waited in its pool, and whether it started then or moved away.

        One that was stopped may wait again.
        """
        if self.schedule.moves is not None:
            return self._waits_there(self.schedule.moves)
        rows, held = np.flatnonzero(self.of_pool), self.held
        order = held.in_order()
        last, following = order[:-1], order[1:]
        again = (held.job[last] == held.job[following]) & np.isin(held.ended[last], STOPPED)
        return (
            np.concatenate([rows, held.job[last[again]]]),
            np.concatenate([self.schedule.submit[rows], held.end[last[again]]]),
            np.concatenate([self.schedule.first_start[rows], held.start[following[again]]]),
            np.ones(len(rows) + np.count_nonzero(again), np.bool_),
        )

    def _waits_there(self, moves: Moves) -> tuple[Rows, Rows, Rows, npt.NDArray[np.bool_]]:
        """The same on a cluster between which tasks move while they wait."""
        first = np.array(self.schedule.cluster)
        first[moves.job[::-1]] = moves.source[::-1]
        job = np.concatenate([np.arange(len(self.schedule)), moves.job])
        order = np.argsort(job, kind="stable")
        job = job[order]
        since = np.concatenate([self.schedule.submit, moves.time])[order]
        where = np.concatenate([first, moves.target])[order]
        last = np.append(job[1:] != job[:-1], True)
        until = np.where(last, self.schedule.first_start[job], np.append(since[1:], 0))
        here = where == where[last][self.row]
        return job[here], since[here], until[here], last[here]

    @cached_property
    def closed(self) -> tuple[Rows, Rows, Rows]:
        """Processors, and from when to when nobody may start on them."""
        outages = self.schedule.platform.outages
        return absences(Outages(()) if outages is None else outages, CLOSED)

    @cached_property
    def away(self) -> tuple[Rows, Rows]:
        """From when to when a processor is closed or kept and nobody holds it, each by itself."""
        processor, start, end = self.shut
        if not len(processor) or self.held.processors is None:
            return start, end
        near = (self.held.end > start.min()) & (self.held.start < end.max())
        return unheld((processor, start, end), _by_processor(self.held.select(near)))

    @cached_property
    def shut(self) -> tuple[Rows, Rows, Rows]:
        """The same of processors that are closed or kept, whoever holds them."""
        kept = _by_processor(self.kept if self._is_kept_out else self.kept.select(self.kept.job < 0))
        processor, start, end = (np.concatenate(both) for both in zip(self.closed, kept, strict=True))
        return processor, start, end

    @property
    def _is_kept_out(self) -> bool:
        """Whether the processors of suspended jobs are kept from it: they are for urgent ones."""
        urgent = self.schedule.workload.get("urgent")
        if urgent is None or urgent[self.row]:
            return False
        try:
            return self.spec.policy.keeps_processors
        except HeadwayError:
            return False


def case_of(schedule: Schedule, job: int) -> Case:
    """The job with this number."""
    rows = np.flatnonzero(schedule.workload.job == job)
    if not len(rows):
        dropped = schedule.workload.ledger.why_dropped(job)
        if dropped is not None:
            raise UsageError(f"job {job} was not scheduled: {dropped.rule}, {dropped.action}")
        ids = schedule.workload.job
        span = f"; there are {len(ids)}, from {ids.min()} to {ids.max()}" if len(ids) else ""
        raise UsageError(f"there is no job {job} in this schedule{span}")
    row = int(rows[0])
    pieces = all_pieces(schedule)
    order = pieces.in_order()
    own = order[pieces.job[order] == row]
    pool, capacity, inside = "", schedule.capacity, np.ones(len(pieces), np.bool_)
    for name in ("cluster", "group"):
        codes = getattr(pieces, name)
        if codes is None or codes[own[0]] == NOWHERE:
            continue
        labels = schedule.labels.get(name, ())
        code = int(codes[own[0]])
        pool = f"{name} {labels[code] if code < len(labels) else code}"
        inside &= codes == code
        capacity = _size(schedule, pieces, int(own[0]), name, capacity)
    holding = inside & pieces.holding
    of_pool = np.zeros(len(schedule), np.bool_)
    of_pool[pieces.job[inside]] = True
    held = pieces.select(holding)
    if schedule.shares is not None:
        pool, capacity, held = _in_partition(schedule, row, held, (pool, capacity))
    return Case(schedule, row, pieces, own, pool, capacity, held, _kept(pieces.select(inside)), of_pool)


def _kept(pieces: Pieces) -> Pieces:
    """The pieces that were suspended, from the beginning of their swap on."""
    order = pieces.in_order()
    last, following = order[:-1], order[1:]
    swapped = (pieces.state[last] == STATES.index("swap_out")) & (pieces.end[last] == pieces.start[following])
    begun = pieces.start.copy()
    begun[following[swapped]] = pieces.start[last[swapped]]
    return replace(pieces, start=begun).select(pieces.state == STATES.index("suspended"))


def _by_processor(pieces: Pieces) -> tuple[Rows, Rows, Rows]:
    """Each processor of each piece with the piece's start and end, where they are known."""
    named = [numbers(text) if text else [] for text in pieces.processors or [""] * len(pieces)]
    rows = np.repeat(np.arange(len(pieces)), [len(of_piece) for of_piece in named])
    members = np.concatenate([np.zeros(0, np.int64), *named]).astype(np.int64)
    return members, pieces.start[rows], pieces.end[rows]


def _in_partition(
    schedule: Schedule, row: int, held: Pieces, unknown: tuple[str, int]
) -> tuple[str, int, Pieces]:
    """The partition of a job on named nodes, its processors, and what each piece holds of these."""
    site, shares, codes = schedule.platform.site, schedule.shares, schedule.partition
    if site is None or shares is None or codes is None:
        return *unknown, held
    partition = site.partitions[site.partition_place[schedule.labels["partition"][codes[row]]]]
    cpus = {site.nodes[place].name: site.nodes[place].cpus for place in partition.nodes}
    there = np.array([cpus.get(name, 0) for name in shares.names], np.int64)[shares.node]
    share = np.where(shares.alone | (there == 0), there, shares.cpus)
    of_job = np.bincount(shares.job, weights=share, minlength=len(schedule)).astype(np.int64)
    return f"partition {partition.name}", sum(cpus.values()), replace(held, procs=of_job[held.job])


def _size(schedule: Schedule, pieces: Pieces, piece: int, name: str, unknown: int) -> int:
    """Processors of the group or cluster that a piece was in."""
    labels, code = schedule.labels.get(name, ()), int(getattr(pieces, name)[piece])
    label = labels[code] if code < len(labels) else str(code)
    there = -1 if pieces.cluster is None else int(pieces.cluster[piece])
    if name == "group":
        pools = cluster_pools(schedule.policy, schedule.platform)
        of_cluster = [pool.procs for pool in pools if (pool.cluster, pool.group) == (max(there, 0), label)]
        return of_cluster[0] if of_cluster else schedule.groups.get(label, unknown)
    clusters = schedule.platform.clusters
    return clusters[there].procs if there < len(clusters) else unknown


# Instants and jobs in words.

SHOWN = 5
NOT_AGAIN = "the run cannot be repeated with this version and what is known of the jobs"


def at(us: int, case: Case) -> str:
    """An instant, as a date where the log has dates, and how long from the submission it is."""
    when = f"at {instant(us, case.schedule.unix_start)}"
    if us == case.submit:
        return when
    side = "after" if us > case.submit else "before"
    return f"{when} ({duration(abs(us - case.submit))} {side} it was submitted)"


def instant(us: int, unix_start: int | None) -> str:
    """An instant of the log's clock in words.

    >>> instant(61_000_000, None), instant(61_000_000, 893466664)
    ('61 s', '1998-04-25 01:12:05 UTC')
    """
    return f"{seconds_text(us)} s" if unix_start is None else date_text(us, unix_start)


def processors(count: int) -> str:
    return f"{count} processor{'s' * (count != 1)}"


def jobs(ids: Sequence[int], shown: int = SHOWN) -> str:
    """Jobs by number, the first few of them.

    >>> jobs([7]), jobs([1, 2, 3]), jobs(range(9))
    ('job 7', 'jobs 1, 2 and 3', 'jobs 0, 1, 2, 3, 4 and 4 more')
    """
    if len(ids) == 1:
        return f"job {ids[0]}"
    more = [f"{len(ids) - shown} more"] if len(ids) > shown else []
    return f"jobs {listed([*map(str, ids[:shown]), *more])}"


def count_jobs(count: int) -> str:
    return f"{count} job{'s' * (count != 1)}"


def times(count: int) -> str:
    """How often something happened.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return "once" if count == 1 else f"{count} times"
