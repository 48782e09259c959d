"""Small schedules for tests, made by plain Python that shares nothing with the package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway import Schedule
from headway.platform import Platform
from headway.schedule import ENDED, STATES, WHY, Pieces
from headway.units import SECOND
from headway.workload import Workload

Job = tuple[float, int, float, float]
"""submit, procs, runtime, walltime; times in seconds."""


def untied(folder: Path) -> None:
    """Let a saved run forget the digests of its files, as if it was of an older version."""
    record = json.loads((folder / "run.json").read_text())
    del record["files"]
    (folder / "run.json").write_text(json.dumps(record))


def workload(jobs: Sequence[Job], **columns: Any) -> Workload:
    submit, procs, runtime, walltime = (
        (list(column) for column in zip(*jobs, strict=True)) if jobs else ([],) * 4
    )
    return Workload.from_arrays(
        unit="s", submit=submit, procs=procs, runtime=runtime, walltime=walltime, **columns
    )


def schedule(
    jobs: Sequence[Job],
    starts: Sequence[float],
    procs: int,
    policy: str = "",
    columns: Any = None,
    **more: Any,
) -> Schedule:
    """Each job from its start for min(runtime, walltime), everything else as the laws want it."""
    log = workload(jobs, **(columns or {}))
    start = np.array([round(start * SECOND) for start in starts], dtype=np.int64)
    return Schedule(
        log,
        Platform.procs(procs),
        policy,
        start,
        start + np.minimum(log.runtime, log.walltime),
        np.full(len(log), WHY.index("head")),
        log.runtime > log.walltime,
        **more,
    )


Piece = tuple[int, int, str, float, float, int, str]
"""row of the job, run, state, start, end, procs, ended; times in seconds."""


def pieces(rows: Sequence[Piece], **more: Any) -> Pieces:
    job, run, state, start, end, procs, ended = zip(*rows, strict=True)
    return Pieces(
        job=np.array(job),
        run=np.array(run),
        state=np.array([STATES.index(name) for name in state]),
        start=np.array([round(t * SECOND) for t in start]),
        end=np.array([round(t * SECOND) for t in end]),
        procs=np.array(procs),
        ended=np.array([ENDED.index(name) for name in ended]),
        **more,
    )


def fcfs_starts(jobs: Sequence[Job], procs: int) -> list[float]:
    """First come, first served: each job at the first instant, not before its elders, at which it fits."""
    starts = [0.0] * len(jobs)
    running: list[tuple[float, int]] = []
    now = 0.0
    for place in sorted(range(len(jobs)), key=lambda place: (jobs[place][0], place)):
        submit, width, runtime, walltime = jobs[place]
        now = max(now, submit)
        running = [(end, held) for end, held in running if end > now]
        while sum(held for _, held in running) + width > procs:
            now = min(end for end, _ in running)
            running = [(end, held) for end, held in running if end > now]
        starts[place] = now
        running.append((now + min(runtime, walltime), width))
    return starts


def easy_starts(jobs: Sequence[Job], procs: int) -> list[float]:
    """EASY backfilling in FCFS order, the textbook scan at every event."""
    starts: list[float | None] = [None] * len(jobs)
    waiting: list[int] = []
    coming = sorted(range(len(jobs)), key=lambda place: (jobs[place][0], place))
    running: list[int] = []

    def end(place: int) -> float:
        begin = starts[place]
        assert begin is not None
        return begin + min(jobs[place][2], jobs[place][3])

    while coming or waiting:
        now = min([jobs[coming[0]][0]] if coming else [], default=float("inf"))
        now = min([now, *(end(place) for place in running)])
        running = [place for place in running if end(place) > now]
        while coming and jobs[coming[0]][0] == now:
            waiting.append(coming.pop(0))
        free = procs - sum(jobs[place][1] for place in running)
        while waiting and jobs[waiting[0]][1] <= free:
            free -= jobs[waiting[0]][1]
            starts[waiting[0]] = now
            running.append(waiting.pop(0))
        if not waiting:
            continue
        width, room, shadow = jobs[waiting[0]][1], free, now
        expected = {place: float(starts[place] or 0) + jobs[place][3] for place in running}
        for shadow in sorted(set(expected.values())):
            room = free + sum(jobs[place][1] for place in running if expected[place] <= shadow)
            if room >= width:
                break
        extra = room - width
        for place in waiting[1:]:
            _, wide, _, walltime = jobs[place]
            in_time = now + walltime <= shadow
            if wide <= free and (in_time or wide <= extra):
                free -= wide
                extra -= 0 if in_time else wide
                starts[place] = now
                running.append(place)
        waiting = [place for place in waiting if starts[place] is None]
    return [float(start or 0) for start in starts]


def preempted(**more: Any) -> Schedule:
    """On 2 processors. Job 1 (2 procs, 10 s): 0-4, swapped out 4-5, suspended 5-8, swapped in 8-9, 9-15.
    Job 2 (1 proc, 3 s): 5-8. Job 3 (1 proc, 6 s): 15-17, given up; loads 18-20, runs 20-26."""
    jobs: list[Job] = [(0, 2, 10, 10), (5, 1, 3, 3), (0, 1, 6, 20)]
    rows: list[Any] = [
        (0, 0, "running", 0, 4, 2, "preempted"),
        (0, 0, "swap_out", 4, 5, 2, "suspended"),
        (0, 0, "suspended", 5, 8, 2, "resumed"),
        (0, 0, "swap_in", 8, 9, 2, "resumed"),
        (0, 0, "running", 9, 15, 2, "done"),
        (2, 0, "running", 15, 17, 1, "redirected"),
        (2, 1, "loading", 18, 20, 1, "resumed"),
        (2, 1, "running", 20, 26, 1, "done"),
    ]
    rows = more.pop("edit", lambda rows: rows)(rows)
    made = schedule(jobs, [0, 5, 18], 2, pieces=pieces(rows, **more.pop("columns", {})), **more)
    made.end = np.array([15, 8, 26]) * SECOND
    return made
