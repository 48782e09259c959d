"""What happened on a grid as a schedule, for metrics, figures, reports and the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.live.grid_file import Grid
from headway.live.journal import Attempt, Journal, TaskRow
from headway.live.shapes import Shapes
from headway.live.spans import GIVEN_UP, SUSPENDED, Span, closed, final_run, time_suspended
from headway.platform import Cluster, Platform
from headway.policies.spec import make_spec
from headway.result import Result
from headway.schedule import ENDED, STATES, WHY, Pieces
from headway.schedule.csv_table import NONE
from headway.schedule.moves import Moves
from headway.units import SECOND
from headway.values import INSTANT, fits
from headway.workload import Ledger, LedgerEntry, Workload
from headway.workload.header import Header, Source

RAN = ("done", "failed", "killed")
IMMEDIATE, HEAD, MOVED = (WHY.index(why) for why in ("immediate", "head", "moved"))


@dataclass(frozen=True)
class Ran:
    """A task that ran to its end, by the last attempt; times in µs since 1970."""

    row: TaskRow
    attempt: Attempt
    submitted: int
    started: int
    ended: int
    spans: list[Span]
    """When it was suspended in its last run, and the runs that were given up before that."""
    why: int
    pool: int
    """The pool of its policy in which it ran last."""

    @classmethod
    def of(cls, journal: Journal, row: TaskRow) -> Ran:
        """A task as the journal has it."""
        started, ended = row.started or 0, row.ended or 0
        over = [each for each in journal.attempts_of(row.number) if each.state == "over"]
        if not over or ended < started or over[-1].procs < 1:
            raise journal.damaged(f"what it says of task {row.number} does not agree")
        spans = closed(journal.spans(over[-1].number), ended)
        final = final_run(spans)
        spans = [span if span.run < final else _within(span, started, ended) for span in spans]
        # Where the clock was set back, a task may have started before it was submitted, and before all began.
        submitted = min(row.submitted, started)
        why, pool = journal.start_of(over[-1].number) or (IMMEDIATE, 0)
        if row.moves:
            why = MOVED
        elif why in (IMMEDIATE, HEAD):  # a server heard of it some moments after the agent
            why = HEAD if started - submitted > SECOND else IMMEDIATE
        return cls(row, over[-1], submitted, started, ended, spans, why, pool)

    @property
    def killed(self) -> bool:
        return self.row.state == "killed"

    @property
    def length(self) -> int:
        """How long its last run was running (µs)."""
        return self.ended - self.started - time_suspended(self.spans, final_run(self.spans))

    @property
    def is_uneven(self) -> bool:
        """Whether it had another time than its walltime: Slurm looks at limits every 30 s only, and the clock
        of a cluster whose server was paused stood still. What it was let have was its walltime then."""
        walltime = self.attempt.walltime or self.row.task.walltime
        return self.length != walltime if self.killed else self.length > walltime


def recorded(grid: Grid, journal: Journal) -> Result:
    """The schedule of all tasks that ran to their end, on a clock that began with the journal."""
    every = journal.all_tasks()
    rows = [row for row in every if row.state in RAN and None not in (row.started, row.ended)]
    if not rows:
        raise HeadwayError(f"no task of {grid.folder} has run to its end yet")
    tasks = [Ran.of(journal, row) for row in rows]
    epoch = min(journal.epoch, *(ran.submitted for ran in tasks)) // SECOND * SECOND
    molded = all(site.kind != "slurm" for site in grid.sites) and not any(
        ran.row.task.forms or ran.row.task.stage_time or ran.is_uneven for ran in tasks
    )
    tables = [_columns(grid, ran, epoch, molded) for ran in tasks]
    table = {name: np.array([each[name] for each in tables]) for name in tables[0]}
    asked: dict[str, Any] = {
        name.removeprefix("asked_"): values for name, values in table.items() if name.startswith("asked_")
    }
    for name, none in (("urgent", False), ("deadline", NONE)):
        if (asked[name] == none).all():  # there are no such tasks
            del asked[name]
    if molded:
        asked |= {name: table[name] for name in ("parallel_fraction", "max_procs")}
    workload = Workload.from_arrays(
        unit="us",
        **asked,
        job=np.array([row.number for row in rows]),
        header=Header([f"; UnixStartTime: {epoch // SECOND}"]),
        source=Source(str(journal.path)),
    ).with_ledger(_ledger(every, {row.number for row in rows}))
    clusters = tuple(
        Cluster(site.name, site.cluster.speed if molded else 1, site.cluster.procs) for site in grid.sites
    )
    names, groups = [site.name for site in grid.sites], _groups(grid)
    return Result(
        workload=workload,
        platform=Platform(clusters, str(grid.file)),
        policy=str(_audited_policy(grid)),
        start=table["start"],
        end=table["end"],
        why=table["why"].astype(np.uint8),
        killed=table["killed"].astype(np.bool_),
        procs=table["procs"],
        walltime=table["walltime"],
        runtime=table["runtime"],
        cluster=np.array([names.index(ran.attempt.server) for ran in tasks]),
        capacity=sum(site.cluster.procs for site in grid.sites),
        group=table["group"] if groups else None,
        groups=groups,
        labels={"cluster": names} | ({"group": list(groups)} if groups else {}),
        pieces=_pieces(grid, tasks, epoch),
        moves=_moves(journal, rows, names, epoch),
        provenance={"live": str(grid.file), "seed": 0},
    )


def _groups(grid: Grid) -> dict[str, int]:
    """The groups into which policies divide clusters, with the processors of each in all of these."""
    found: dict[str, int] = {}
    for site in grid.sites:
        if site.policy.policy.has_groups:
            for pool in site.policy.policy.pools(Platform((site.cluster,))):
                found[pool.group] = found.get(pool.group, 0) + pool.procs
    return found


def _ledger(every: list[TaskRow], kept: set[int]) -> Ledger:
    """What became of the tasks that did not run to their end."""
    left: dict[str, list[int]] = {}
    for row in every:
        if row.number not in kept:
            left.setdefault(row.state, []).append(row.number)
    entries = [LedgerEntry.of("ran", f"{word}: left out", jobs, dropped=True) for word, jobs in left.items()]
    return Ledger(len(every), tuple(entries))


def _audited_policy(grid: Grid) -> Any:
    """The agent's policy; what the clusters promise is theirs, and not in the journal."""
    params = {name: value for name, value in grid.policy.params.items() if name != "local"}
    return make_spec("reallocation", **params)


def _within(span: Span, start: int, end: int) -> Span:
    assert span.end is not None
    return span._replace(start=min(max(span.start, start), end), end=min(max(span.end, start), end))


def _columns(grid: Grid, ran: Ran, epoch: int, molded: bool) -> dict[str, Any]:
    """One job of the schedule; times in µs on the grid's clock."""
    task, attempt, site = ran.row.task, ran.attempt, grid.site(ran.attempt.server)
    walltime = ran.length if ran.is_uneven else attempt.walltime or task.walltime
    runtime = 2 * walltime if ran.killed else ran.length
    found = {
        "asked_submit": ran.submitted - epoch,
        "start": ran.started - epoch,
        "end": ran.ended - epoch,
        "procs": attempt.procs,
        "walltime": walltime,
        "killed": ran.killed,
        "why": ran.why,
        "group": ran.pool if site.policy.policy.has_groups else NONE,
        "asked_urgent": task.urgent,
        "asked_deadline": NONE if task.deadline is None else max(task.deadline - epoch, 0),
    }
    if not molded:
        asked_for = {"asked_procs": attempt.procs, "asked_walltime": walltime, "asked_runtime": runtime}
        return found | asked_for | {"runtime": runtime}
    shape = Shapes(grid.policy, site.cluster, site.cluster.procs, 0).shape(task, attempt.procs)
    asked = 2 * task.walltime if ran.killed else runtime * shape.over // shape.by
    return found | {
        "asked_procs": task.procs,
        "asked_walltime": task.walltime,
        "asked_runtime": asked,
        "runtime": shape.time(asked),
        "parallel_fraction": np.nan if task.parallel_fraction is None else task.parallel_fraction,
        "max_procs": task.max_procs or -1,
    }


def _pieces(grid: Grid, tasks: list[Ran], epoch: int) -> Pieces | None:
    """What each task that was suspended or stopped did from one instant to the next."""
    names, table = [site.name for site in grid.sites], list[tuple[int, ...]]()
    for place, task in enumerate(tasks):
        attempt, mine = task.attempt, task.spans
        divided = grid.site(attempt.server).policy.policy.has_groups
        stopped = "redirected" if divided else "preempted"
        ran = [(*span, stopped) for span in mine if span.state == GIVEN_UP]
        final = Span(final_run(mine), "", task.started, task.ended)
        ran.append((*final, "walltime" if task.killed else "done"))
        for run, _, start, end, how in ran if mine else ():
            away = [span for span in mine if span.state == SUSPENDED and span.run == run]
            for state, begin, until, ended in _cut(start, end or start, away, how):
                codes = STATES.index(state), ENDED.index(ended), names.index(attempt.server)
                group = NONE if not divided else task.pool if run == final.run else 0
                table.append((place, run, begin - epoch, until - epoch, attempt.procs, *codes, group))
    if not table:
        return None
    job, run, begins, ends, procs, states, how, cluster, group = np.array(table, np.int64).T
    return Pieces(job, run, states, begins, ends, procs, how, cluster, group if (group >= 0).any() else None)


def _cut(start: int, end: int, away: list[Span], how: str) -> Iterator[tuple[str, int, int, str]]:
    """(state, start, end, how it ended) of the pieces of a run that was suspended now and then."""
    for span in away:
        assert span.end is not None
        yield "running", start, span.start, "suspended"
        yield "suspended", span.start, span.end, "resumed"
        start = span.end
    yield "running", start, end, how


def _moves(journal: Journal, rows: list[TaskRow], names: list[str], epoch: int) -> Moves:
    """The moves of the tasks of a schedule, in the order in which they were made."""
    place = {row.number: number for number, row in enumerate(rows)}
    every = journal.decisions(1 << 30)[::-1]
    made = [each for each in every if each["kind"] == "moved" and each["task"] in place]
    numbers = ("time", "before", "after", "procs_before", "procs_after")
    move = dict.fromkeys(numbers, INSTANT) | dict.fromkeys(("source", "target"), tuple(names))
    for each in made:
        if not fits(each, move):
            raise journal.damaged(f"a move of task {each['task']} is none between clusters of this grid")

    def column(name: str, minus: int = 0) -> Any:
        return np.array([int(each[name]) - minus for each in made], np.int64)

    return Moves(
        job=np.array([place[each["task"]] for each in made], np.int64),
        time=column("time", epoch),
        source=np.array([names.index(each["source"]) for each in made], np.int64),
        target=np.array([names.index(each["target"]) for each in made], np.int64),
        before=column("before", epoch),
        after=column("after", epoch),
        procs_before=column("procs_before"),
        procs_after=column("procs_after"),
    )
