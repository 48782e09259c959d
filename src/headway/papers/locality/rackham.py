"""Days of Rackham in the format of the authors' simulator, which is public: a line of pairs for each job.

    { id: 3 subtime: 4643237 delay: 1362 walltime: 864000 cores: 1 user: scirpmqd data: 2 data_size: 6.400000
      workload: -1 start_time_from_history: 6347449 start_node_from_history: 338 }

Times are in seconds, ``delay`` is the run time, sizes are in GB, data 0 is no file. ``workload`` says which
part of the history a job is: -2 ran when the day before began, -1 waited then, 0 is of that day, 1 of the day
that is judged, 2 of the day after.

https://github.com/userdoubleblind/Locality-aware-batch-scheduling, inputs/workloads/converted
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from headway.errors import InputError
from headway.units import SECOND
from headway.workload import Workload

KEYS = (
    "id", "subtime", "delay", "walltime", "cores", "user", "data", "data_size", "workload",
    "start_time_from_history", "start_node_from_history",
)  # fmt: skip
RUNNING, QUEUED, BEFORE, JUDGED = -2, -1, 0, 1
MEMORY_A_CORE = {6.4: 128.0, 12.8: 256.0, 51.2: 1024.0}
"""The node that a file needs (GB), by its size for each core of its job."""


def is_day(path: str) -> bool:
    """Whether a file has this format, by its first bytes."""
    with Path(path).open("rb") as file:
        return file.read(5) == b"{ id:"


def read_day(path: str) -> tuple[Workload, tuple[int, int]]:
    """The jobs, on a clock that begins with the day before the judged one, and when that is (from, to: µs).

    A job that ran or waited at the beginning is submitted then, those that ran first, with the time that was
    left of them: where they ran is not taken over.
    """
    rows = [_row(path, number, line) for number, line in enumerate(Path(path).read_text().splitlines(), 1)]
    part = np.array([int(row["workload"]) for row in rows])
    for needed in (BEFORE, JUDGED):
        if not (part == needed).any():
            raise InputError(f"has no job of workload {needed}, the day before or the day judged", file=path)
    submit, run, walltime, start = (
        np.array([int(row[name]) for row in rows])
        for name in ("subtime", "delay", "walltime", "start_time_from_history")
    )
    begin = int(submit[part == BEFORE].min())
    done = np.where(part == RUNNING, np.maximum(begin - start, 0), 0)
    order = np.lexsort((submit, part))  # those that ran, then those that waited, then by submission
    cores = np.array([int(row["cores"]) for row in rows])
    names = sorted({row["data"] for row in rows} - {"0"}, key=int)
    place = {"0": -1, **{name: code for code, name in enumerate(names)}}
    users = sorted({row["user"] for row in rows})
    size = np.array([float(row["data_size"]) for row in rows])
    has = np.array([row["data"] != "0" for row in rows])
    needs = [MEMORY_A_CORE.get(round(float(x), 3), np.nan) for x in size / cores]
    made = Workload.from_arrays(
        unit="s",
        job=np.array([int(row["id"]) for row in rows])[order],
        submit=np.maximum(submit - begin, 0)[order],
        procs=cores[order],
        runtime=np.maximum(run - done, 1)[order],
        walltime=np.maximum(walltime - done, 1)[order],
        user=np.array([users.index(row["user"]) + 1 for row in rows])[order],
        file=np.array([place[row["data"]] for row in rows])[order],
        file_gb=np.where(has, size, np.nan)[order],
        needs_node_gb=np.where(has, needs, np.nan)[order],
        labels={"file": names},
    )
    judged = submit[part == JUDGED] - begin
    return made, (int(judged.min()) * SECOND, (int(judged.max()) + 1) * SECOND)


def _row(path: str, number: int, line: str) -> dict[str, str]:
    words = line.split()
    row = {key.removesuffix(":"): value for key, value in zip(words[1:-1:2], words[2:-1:2], strict=False)}
    if tuple(row) != KEYS:
        raise InputError(f"has no line of the authors' format: its keys are not {', '.join(KEYS)}", file=path,
                         line=number)  # fmt: skip
    return row
