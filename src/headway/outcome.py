"""From the engine's log of runs to the columns of a schedule, and the pieces of jobs that ran more than once.

A job that is stopped and starts again has several runs in the log. If its work was lost, each is a run of its
own and the last one counts. If it was suspended, the next goes on with it::

    log            stopped, work lost      started again        suspended      resumed
    pieces    run 0 |running|          run 1 |running....|   run 0 |running|suspended|running|
    schedule                                 start      end        start                    end
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.driver import counts
from headway.engine.outages import ChangingMachine
from headway.engine.setup import Jobs
from headway.engine.submissions import Submissions
from headway.engine.tables import Ended, Phase, Runs, ShareTable, State
from headway.platform import Platform, processor_sets
from headway.policies.policy import Policy
from headway.policies.prepare import BOOTING, UNBOUNDED, OnNodes, Prepared, Sets, Sites
from headway.result import Result
from headway.schedule import ENDED, STATES, Pieces, Shares
from headway.schedule.moves import Moves
from headway.workload import LedgerEntry, Workload

Column = npt.NDArray[np.int64]

LOADING, SWAP_IN, SWAP_OUT = "loading", "swap_in", "swap_out"
GIVEN_UP = (Ended.BY_FAILURE, Ended.BY_PREEMPTION)
"""Ends of runs whose job runs again, or is lost."""
LOST = {
    Ended.BY_FAILURE: ("on_failure=lost", "its processors failed while it ran: ended then, not run again"),
    Ended.BY_PREEMPTION: ("preempted", "another job took its place: ended then, not run again"),
}
"""Rule and action of the ledger for jobs that were lost, by the end of their last run."""
DONE, RESUMED = ENDED.index("done"), ENDED.index("resumed")


@dataclass(frozen=True)
class Ran:
    """A simulation that has ended: what was run, and the engine's tables."""

    policy: Policy
    prepared: Prepared
    state: State
    platform: Platform
    workload: Workload
    jobs: Jobs
    order: Column
    """The file place of each of the engine's jobs."""
    submissions: Submissions | None
    changing: ChangingMachine | None
    """The machine as the engine had it, where its processors come and go."""
    timing: dict[str, float]
    """Seconds that it took, of the simulation alone and with its preparation."""

    @property
    def provenance(self) -> dict[str, Any]:
        """How it was run: the digest of a policy of the user's own, counts, seconds."""
        source = {"policy_source": self.prepared.source} if self.prepared.source else {}
        return {**source, **counts(self.state), "timing": self.timing}

    @property
    def is_plain(self) -> bool:
        """Whether the engine's log of runs alone tells what happened, on one pool of counted processors."""
        of = self.prepared
        more = (self.submissions, self.changing, of.own, of.sets, of.nodes, of.moves, of.sites, of.on_nodes)
        named = of.groups or of.lead or self.policy.is_grid or len(self.platform.clusters) > 1
        return not named and all(each is None for each in more)

    @property
    def capacity(self) -> int:
        """Processors that the policy has in all."""
        return sum(pool.procs for pool in self.policy.pools(self.platform))


def result_of(ran: Ran, provenance: dict[str, Any]) -> Result:
    """The schedule with what it is of; ``provenance`` says how it came about."""
    prepared, state, platform, kept, order = ran.prepared, ran.state, ran.platform, ran.workload, ran.order
    if ran.submissions is not None:
        order = order[ran.submissions.jobs_by_column()]
        kept = as_submitted(kept, ran.submissions, order)
    sets = None if prepared.sets is None else prepared.sets(state)
    columns = outcome(state, order, tuple(prepared.groups), prepared.lead, prepared.nodes, sets)
    columns |= as_run(state, order, kept)
    if ran.changing is not None:
        platform = platform.with_outages(ran.changing.happened(state))
    if ran.changing is not None or prepared.on_nodes is not None:
        kept = with_lost(columns, kept, state, order)
    if prepared.on_nodes is not None:
        take_nodes(columns, state, order, prepared.on_nodes(state))
    columns.pop("entries", None)
    has_run, notes = np.ones(len(order), np.bool_), {}
    has_run[order] = state.jobs.run >= 0
    if prepared.left_out is not None:
        has_run[order] &= ~prepared.left_out(state)
    if prepared.notes is not None:
        place_of = np.argsort(order, kind="stable")
        noted = prepared.notes(state, kept.columns["job"][order])
        notes = {name: column[place_of][has_run] for name, column in noted.items()}
    if not has_run.all():
        gone = np.flatnonzero(~has_run[order]).tolist()
        kept = without_refused(kept, {int(order[job]): reason(ran, job) for job in gone})
        columns = select_jobs(columns, has_run)
    pieces: Pieces | None = columns.get("pieces")
    if pieces is not None and pieces.is_held_up:
        running = pieces.running_time(columns["start"], columns["end"])
        columns["waiting"] = columns["end"] - kept.submit - running
    is_grid = ran.policy.is_grid
    take_places(columns, [cluster.name for cluster in platform.clusters], prepared.sites, is_grid)
    if prepared.moves is not None:
        made = prepared.moves(state)
        columns["moves"] = Moves(**{**made, "job": (np.cumsum(has_run) - 1)[order[made["job"]]]})
    groups = {} if is_grid else prepared.groups
    return Result(
        workload=kept,
        platform=platform,
        policy=str(ran.policy.spec),
        **columns,
        promise_kind=prepared.promise_kind,
        capacity=ran.capacity,
        groups=groups if prepared.sites is None else prepared.sites.groups,
        own={} if prepared.own is None else prepared.own(state),
        notes=notes,
        provenance=provenance,
    )


def as_submitted(workload: Workload, submissions: Submissions, order: Column) -> Workload:
    """The workload as its jobs were submitted in the simulation, beside the times of the log."""
    submit = workload.submit.copy()
    submit[order[: len(submissions.times)]] = submissions.times
    logged = workload.get("trace_submit")
    return workload.with_columns(submit=submit, trace_submit=workload.submit if logged is None else logged)


def reason(ran: Ran, job: int) -> tuple[str, str]:
    """Rule and action of the ledger for a job that never ran, or is left out."""
    if ran.submissions is not None and ran.state.jobs.phase[job] == Phase.FUTURE:
        return "feedback", "the job that its user waited for never ended: not submitted"
    return ran.prepared.refused(ran.state, job)


def without_refused(workload: Workload, reasons: dict[int, tuple[str, str]]) -> Workload:
    """The workload without some jobs (by place), with an entry of the ledger for each rule and action."""
    place = np.arange(len(workload))
    for rule, action in sorted(set(reasons.values())):
        rows = [row for row, reason in reasons.items() if reason == (rule, action)]
        stays = ~np.isin(place, rows)
        workload, place = workload.select(stays, rule=rule, action=action), place[stays]
    return workload


def outcome(
    state: State,
    order: Column,
    pools: Sequence[str] = (),
    lead: str = "",
    nodes: Column | None = None,
    sets: Sets | None = None,
) -> dict[str, Any]:
    """The columns of a schedule in file order; ``order`` is the file place of each of the engine's jobs.

    Where the pools have names, the schedule says which group each job ended in. ``lead`` is what runs do
    before their program begins. Where the pools are nodes, ``nodes`` has the number of each. ``sets`` are the
    processors of runs, where they are known. What stands at a job that was refused means nothing.
    """
    log = Runs(state.runs[:, : max(state.clock.runs, min(len(order), 1))])
    last = in_file_order(state.jobs.run, order)
    columns: dict[str, Any] = {
        "start": log.start[last],
        "end": log.end[last],
        "why": log.why[last].astype(np.uint8),
        "killed": log.ended[last] == Ended.AT_WALLTIME,
        "promise": in_file_order(state.jobs.promise, order),
    }
    if pools:
        columns |= {"group": log.pool[last], "labels": {"group": tuple(pools)}}
    if lead in (SWAP_IN, BOOTING):
        columns["start"] = np.minimum(columns["start"] + log.lead[last], columns["end"])
    started = np.count_nonzero(state.jobs.run >= 0)
    several = state.clock.runs > started or given_up(log.ended).any()
    if several or (lead == LOADING and log.lead.any()) or (sets and sets.of_run):
        add_pieces(columns, state, order, bool(pools) or nodes is not None, lead, sets)
    if nodes is not None:
        columns["node"] = nodes[log.pool[last]]
        pieces = columns.get("pieces")
        if pieces is not None:
            pieces.node, pieces.group = nodes[pieces.group], None
    return columns


def in_file_order(values: npt.NDArray[Any], order: Column) -> npt.NDArray[Any]:
    """A row of the engine's jobs, each at its place in the file."""
    column = np.empty_like(values)
    column[order] = values
    return column


def given_up(ended: Column) -> npt.NDArray[np.bool_]:
    """Which runs ended in a way after which their job runs again, or is lost."""
    failed, preempted = GIVEN_UP
    return np.asarray((ended == failed) | (ended == preempted))  # np.isin takes longer than small simulations


def add_pieces(
    columns: dict[str, Any], state: State, order: Column, grouped: bool, lead: str, sets: Sets | None
) -> None:
    """The pieces of every job that has several, or whose processors are known.

    A run that was resumed began with its first piece.
    """
    log = Runs(state.runs[:, : state.clock.runs])
    some = np.bincount(log.job, minlength=len(order))[log.job] > 1
    some |= given_up(log.ended)
    if lead == LOADING:
        some |= log.lead > 0
    if sets is not None:
        some[list(sets.of_run)] = True
    chosen = np.flatnonzero(some)
    chosen = chosen[np.argsort(log.job[chosen], kind="stable")]
    job, start, end, ended, pool, ahead = (
        log[row, chosen]
        for row in (Runs["job"], Runs["start"], Runs["end"], Runs["ended"], Runs["pool"], Runs["lead"])
    )
    suspended = np.append(job[1:] == job[:-1], False) & (ended == Ended.BY_SUSPENSION)
    resumed = np.append(False, suspended[:-1]) if len(job) else suspended
    begun, back = np.minimum(start + ahead, end), np.append(start[1:], 0)
    if lead in (SWAP_IN, BOOTING):
        start = np.where(resumed, start, begun)  # a delay by preemption is not the job's own
    out = np.append(ahead[1:], 0)
    if sets is not None:
        out = np.array([sets.swap_out.get(run, 0) for run in chosen.tolist()], np.int64)
    away = np.where(suspended, np.minimum(end + out, back), end)
    loads = (begun > start) & (lead == LOADING)
    swaps_in = (begun > start) & resumed
    aside = resumed & (end == start) & (ended != DONE) & (lead == BOOTING)  # ended while it was suspended
    unseen = aside | (suspended & (end == start) & (lead == BOOTING))  # suspended as soon as it started
    # For each entry of the log, what it does one after the other, and which of it is real.
    states = np.array([STATES.index(name) for name in (LOADING, SWAP_IN, "running", SWAP_OUT, "suspended")])
    begins = np.stack([start, start, begun, end, away], axis=1)
    ends = np.stack([begun, begun, end, away, back], axis=1)
    real = np.stack(
        [loads, swaps_in, ((end > begun) | ~(loads | swaps_in)) & ~unseen, away > end, suspended], axis=1
    )
    entry, part = np.nonzero(real)
    how = np.broadcast_to(ended[:, None], real.shape).copy()
    how[:, :2] = np.where(real[:, 2:3], DONE, how[:, :2])
    how[:, 3], how[:, 4] = DONE, np.where(np.append(aside[1:], False), np.append(ended[1:], 0), RESUMED)
    run, row = runs_within(job, suspended), order[job]
    pieces = Pieces(
        job=row[entry],
        run=run[entry],
        state=states[part],
        start=begins[entry, part],
        end=ends[entry, part],
        procs=state.jobs.procs[job][entry],
        ended=how[entry, part],
        group=pool[entry] if grouped else None,
    )
    if sets is not None:
        name_processors(pieces, chosen[entry], log.job, sets)
    columns["pieces"], columns["entries"] = pieces, chosen[entry]
    highest = np.full(len(order), -1, np.int64)
    np.maximum.at(highest, row, run)
    gap = np.flatnonzero(suspended & (run == highest[row]))
    for place in gap[::-1]:  # of several the first one comes last, and stays
        columns["start"][row[place]] = start[place]
        if lead != SWAP_IN:  # where jobs resume on their processors, that they did is what is told
            columns["why"][row[place]] = log.why[chosen[place]]


def name_processors(pieces: Pieces, runs: Column, job_of: Column, sets: Sets) -> None:
    """Write down which processors the pieces had; ``runs`` has the run of the log of each piece.

    While a job is swapped out it holds only those that the job it makes room for has taken.
    """
    texts: list[str] = []
    latest: dict[int, list[tuple[int, int]]] = {}
    swap_out = STATES.index(SWAP_OUT)
    for place, run in enumerate(runs.tolist()):
        job = int(job_of[run])
        if run in sets.of_run:
            latest[job] = sets.of_run[run]
        held = latest.get(job, [])
        if pieces.state[place] == swap_out and run in sets.borrower:
            held = common(held, sets.of_run[sets.borrower[run]])
            pieces.procs[place] = sum(high - low for low, high in held)
        texts.append(processor_sets.text(held))
    pieces.processors = texts


def common(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What two sets of ranges in ascending order share.

    >>> common([(0, 4), (7, 9)], [(2, 8)])
    [(2, 4), (7, 8)]
    """
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


def take_places(columns: dict[str, Any], clusters: Sequence[str], sites: Sites | None, is_grid: bool) -> None:
    """Turn the pools of jobs and pieces into clusters and groups.

    Where nothing else is said, the pools are the clusters of a grid, or those on which groups are.
    """
    if sites is None and len(clusters) == 1 and not is_grid:
        return
    labels = columns["labels"]
    pieces = columns.get("pieces")
    parts: list[dict[str, Any]] = [columns] if pieces is None else [columns, {"group": pieces.group}]
    for part in parts:
        pool = part["group"]
        if len(clusters) > 1:
            part["cluster"] = pool if sites is None else sites.cluster[pool]
        if sites is not None and sites.groups:
            part["group"] = sites.group[pool]
        elif is_grid:
            part["group"] = None
    if pieces is not None:
        pieces.cluster, pieces.group = parts[1].get("cluster"), parts[1]["group"]
    if len(clusters) > 1:
        labels["cluster"] = tuple(clusters)
    if sites is not None and sites.groups:
        labels["group"] = tuple(sites.groups)
    elif is_grid:
        del labels["group"]


def take_nodes(columns: dict[str, Any], state: State, order: Column, where: OnNodes) -> None:
    """Add partitions, shares of named nodes and the CPUs that jobs got, which whole nodes make more."""
    run = in_file_order(state.jobs.run, order)
    columns["shares"] = shares_of_runs(state, run, where.nodes)
    pieces = columns.get("pieces")
    if pieces is not None:
        pieces.shares = shares_of_runs(state, columns["entries"], where.nodes)
        pieces.procs = pieces.shares.totals(len(pieces))
    columns["partition"] = in_file_order(where.partition, order)
    columns["procs"] = in_file_order(state.jobs.procs, order)
    columns["walltime"] = as_limited(columns, order, run, where.walltime)
    columns["labels"] = {**columns.get("labels", {}), "partition": tuple(where.partitions), **where.labels}


def shares_of_runs(state: State, run: Column, nodes: Sequence[str]) -> Shares:
    """What some runs of the log (-1: none) had of named nodes."""
    first = np.append(state.runs.share[: state.clock.runs], state.clock.shares)
    count = np.where(run >= 0, first[run + 1] - first[run], 0)
    row = np.repeat(np.arange(len(run)), count)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first[run], count)
    node, cpus, memory, alone = (
        state.shares[kind, entry]
        for kind in (ShareTable["node"], ShareTable["cpus"], ShareTable["memory_mb"], ShareTable["alone"])
    )
    return Shares(row, node, cpus, memory, alone > 0, tuple(nodes))


def as_limited(columns: dict[str, Any], order: Column, run: Column, limit: Column) -> Column:
    """The walltimes that jobs ran with; a job that was ended for its time, late or early, had what it got."""
    walltime = in_file_order(limit, order)
    took = columns["end"] - columns["start"] - suspended_time(columns)
    return np.where(run < 0, walltime, np.where(columns["killed"], took, np.maximum(walltime, took)))


def suspended_time(columns: dict[str, Any]) -> Column:
    """How long each job was suspended in its final run (µs)."""
    spent, pieces = np.zeros(len(columns["end"]), np.int64), columns.get("pieces")
    if pieces is not None:
        away = pieces.final(len(spent)) & (pieces.state == STATES.index("suspended"))
        np.add.at(spent, pieces.job[away], (pieces.end - pieces.start)[away])
    return spent


def select_jobs(columns: dict[str, Any], ran: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """The columns of the jobs that ran; what became of the others has no place in a schedule."""
    pieces = columns.get("pieces")
    if pieces is not None:
        columns["pieces"] = pieces = pieces if ran[pieces.job].all() else pieces.select(ran[pieces.job])
        pieces.job = (np.cumsum(ran) - 1)[pieces.job]
    if columns.get("shares") is not None:
        columns["shares"] = columns["shares"].select(ran)
    return {
        name: values[ran] if isinstance(values, np.ndarray) else values for name, values in columns.items()
    }


def as_run(state: State, order: Column, workload: Workload) -> dict[str, Column]:
    """Size, walltime and run time of each job in file order where the policy chose them; else nothing."""
    over, runtime = state.jobs.stretch_over, workload.runtime
    if not (over > 0).any() and (state.jobs.procs == workload.procs[order]).all():
        return _outlived(state, order, runtime)
    took = [
        -(-int(time) * int(by) // int(divisor)) if divisor > 0 else int(time)
        for time, by, divisor in zip(runtime[order], state.jobs.stretch_by, over, strict=True)
    ]
    rows = {"procs": state.jobs.procs, "walltime": state.jobs.wall, "runtime": np.array(took)}
    return {name: in_file_order(row, order) for name, row in rows.items()}


def _outlived(state: State, order: Column, runtime: Column) -> dict[str, Column]:
    """Walltimes in file order where the policy let some jobs go on: what these took; else nothing."""
    if not len(order) or state.jobs.wall.max() < UNBOUNDED:
        return {}
    wall = in_file_order(state.jobs.wall, order)
    free = wall >= UNBOUNDED
    walltime = np.where(free, in_file_order(state.jobs.plan, order), wall)
    if not (free & (runtime > walltime)).any():
        return {}
    return {"walltime": np.where(free, np.maximum(walltime, runtime), walltime)}


def with_lost(columns: dict[str, Any], workload: Workload, state: State, order: Column) -> Workload:
    """Let jobs that were lost have run as long as they did; the ledger has them."""
    last = in_file_order(state.jobs.run, order)
    ended = np.where(last < 0, -1, state.runs.ended[last])
    if not given_up(ended).any():
        return workload
    runtime = columns.get("runtime", workload.runtime).copy()
    lost = given_up(ended)
    runtime[lost] = (columns["end"] - columns["start"] - suspended_time(columns))[lost]
    columns["runtime"] = runtime
    entries = [
        LedgerEntry.of(rule, action, workload.job[ended == how], dropped=False)
        for how, (rule, action) in LOST.items()
        if (ended == how).any()
    ]
    return workload.with_entries(*entries)


def runs_within(job: Column, suspended: npt.NDArray[np.bool_]) -> Column:
    """The number of each entry's run within its job, from 0; a suspended one continues with the next."""
    begins = np.append(True, job[1:] != job[:-1]) if len(job) else np.zeros(0, np.bool_)
    new_run = np.append(False, ~suspended[:-1]) & ~begins if len(job) else begins
    total = np.cumsum(new_run)
    return np.asarray(total - np.maximum.accumulate(np.where(begins, total, 0)), np.int64)
