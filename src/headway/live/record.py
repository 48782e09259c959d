"""What happened on a grid as a schedule, for metrics, figures, reports and the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from headway.schedule import ENDED, STATES, Pieces
from headway.schedule.moves import Moves
from headway.units import SECOND
from headway.values import INSTANT, fits
from headway.workload import Ledger, LedgerEntry, Workload
from headway.workload.header import Header, Source

RAN = ("done", "failed", "killed")
IMMEDIATE, HEAD, MOVED = 0, 1, 10
"""Codes of why a task started."""


def recorded(grid: Grid, journal: Journal) -> Result:
    """The schedule of all tasks that ran to their end, on a clock that began with the journal."""
    every = journal.all_tasks()
    rows = [row for row in every if row.state in RAN and None not in (row.started, row.ended)]
    if not rows:
        raise HeadwayError(f"no task of {grid.folder} has run to its end yet")
    last = {row.number: _last(journal, row) for row in rows}
    # Where the clock was set back, a task may have started before it was submitted, and before all began.
    rows = [replace(row, submitted=min(row.submitted, row.started or 0)) for row in rows]
    epoch = min(journal.epoch, *(row.submitted for row in rows)) // SECOND * SECOND
    spans = {row.number: _spans(journal, row, last[row.number]) for row in rows}
    molded = all(site.kind != "slurm" for site in grid.sites) and not any(
        row.task.forms or row.task.stage_time or _is_uneven(row, last[row.number], spans[row.number])
        for row in rows
    )
    tables = [_columns(grid, row, last[row.number], spans[row.number], epoch, molded) for row in rows]
    table = {name: np.array([each[name] for each in tables]) for name in tables[0]}
    asked: dict[str, Any] = {
        name.removeprefix("asked_"): values for name, values in table.items() if name.startswith("asked_")
    }
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
    names = [site.name for site in grid.sites]
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
        cluster=np.array([names.index(last[row.number].server) for row in rows]),
        labels={"cluster": names},
        pieces=_pieces(grid, rows, last, spans, epoch),
        moves=_moves(journal, rows, names, epoch),
        provenance={"live": str(grid.file), "seed": 0},
    )


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


def _last(journal: Journal, row: TaskRow) -> Attempt:
    """The attempt that ran."""
    over = [each for each in journal.attempts_of(row.number) if each.state == "over"]
    if not over or (row.ended or 0) < (row.started or 0) or over[-1].procs < 1:
        raise journal.damaged(f"what it says of task {row.number} does not agree")
    return over[-1]


def _spans(journal: Journal, row: TaskRow, attempt: Attempt) -> list[Span]:
    """When a task that is over was suspended in its last run, and the runs that were given up before it."""
    assert row.started is not None and row.ended is not None
    found = closed(journal.spans(attempt.number), row.ended)
    final = final_run(found)
    return [span if span.run < final else _within(span, row.started, row.ended) for span in found]


def _within(span: Span, start: int, end: int) -> Span:
    assert span.end is not None
    return span._replace(start=min(max(span.start, start), end), end=min(max(span.end, start), end))


def _length(row: TaskRow, spans: list[Span]) -> int:
    """How long the last run of a task was running (µs)."""
    assert row.started is not None and row.ended is not None
    return row.ended - row.started - time_suspended(spans, final_run(spans))


def _is_uneven(row: TaskRow, attempt: Attempt, spans: list[Span]) -> bool:
    """Whether a task had another time than its walltime: Slurm looks at limits every 30 s only, and the clock
    of a cluster whose server was paused stood still. What it was let have was its walltime then."""
    length, walltime = _length(row, spans), attempt.walltime or row.task.walltime
    return length != walltime if row.state == "killed" else length > walltime


def _columns(
    grid: Grid, row: TaskRow, attempt: Attempt, spans: list[Span], epoch: int, molded: bool
) -> dict[str, Any]:
    """One job of the schedule; times in µs on the grid's clock."""
    assert row.started is not None and row.ended is not None
    task, site = row.task, grid.site(attempt.server)
    length, killed = _length(row, spans), row.state == "killed"
    walltime = length if _is_uneven(row, attempt, spans) else attempt.walltime or task.walltime
    runtime = 2 * walltime if killed else length
    found = {
        "asked_submit": row.submitted - epoch,
        "start": row.started - epoch,
        "end": row.ended - epoch,
        "procs": attempt.procs,
        "walltime": walltime,
        "killed": killed,
        "why": MOVED if row.moves else HEAD if row.started - row.submitted > SECOND else IMMEDIATE,
    }
    if not molded:
        asked_for = {"asked_procs": attempt.procs, "asked_walltime": walltime, "asked_runtime": runtime}
        return found | asked_for | {"runtime": runtime}
    shape = Shapes(grid.policy, site.cluster, site.cluster.procs, 0).shape(task, attempt.procs)
    asked = 2 * task.walltime if killed else runtime * shape.over // shape.by
    return found | {
        "asked_procs": task.procs,
        "asked_walltime": task.walltime,
        "asked_runtime": asked,
        "runtime": shape.time(asked),
        "parallel_fraction": np.nan if task.parallel_fraction is None else task.parallel_fraction,
        "max_procs": task.max_procs or -1,
    }


def _pieces(
    grid: Grid, rows: list[TaskRow], last: dict[int, Attempt], spans: dict[int, list[Span]], epoch: int
) -> Pieces | None:
    """What each task that was suspended or stopped did from one instant to the next."""
    names, table = [site.name for site in grid.sites], list[tuple[int, ...]]()
    for place, row in enumerate(rows):
        attempt, mine = last[row.number], spans[row.number]
        stopped = "redirected" if grid.site(attempt.server).policy.name == "redirection" else "preempted"
        ran = [(*span, stopped) for span in mine if span.state == GIVEN_UP]
        final = Span(final_run(mine), "", row.started or 0, row.ended)
        ran.append((*final, "walltime" if row.state == "killed" else "done"))
        for run, _, start, end, how in ran if mine else ():
            away = [span for span in mine if span.state == SUSPENDED and span.run == run]
            for state, begin, until, ended in _cut(start, end or start, away, how):
                codes = STATES.index(state), ENDED.index(ended), names.index(attempt.server)
                table.append((place, run, begin - epoch, until - epoch, attempt.procs, *codes))
    if not table:
        return None
    job, run, begins, ends, procs, states, how, cluster = np.array(table, np.int64).T
    return Pieces(job, run, states, begins, ends, procs, how, cluster)


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
