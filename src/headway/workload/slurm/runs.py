"""Records of one job: the same one twice, earlier runs of a requeued job, numbers used again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints, Mask
from headway.workload.slurm import states

_OPEN = (states.PENDING, states.RUNNING)


class Repeats(NamedTuple):
    """Which records repeat another, which are earlier runs of a job, and which jobs ran more than once."""

    again: Mask
    stale: Mask
    """Records of a job that waited or ran then, and of which a later export has the rest."""
    earlier: Mask
    requeued: Mask
    part: Mask
    """Parts of a run before its job was resized; a later record has the whole run."""
    began: Ints
    """The first record of a job that was resized or requeued; its own place for all others."""


def repeats(records: dict[str, npt.NDArray[Any]], key: Ints) -> Repeats:
    """Sort out records that have a key in common.

    A record equal to another in all its times is the same one, exported twice. One of a job that waits or
    runs is stale if another has the same run, or the same submission, in whatever order they stand. A record
    whose run was taken back (requeued, preempted, its node lost), or that has the submit time of a later one,
    is an earlier run of the same job. One that ended because the job was resized is a part of the run that a
    later one has from its start. Any others are different jobs: Slurm starts counting again after a reset.
    """
    rows = len(key)
    again, stale, earlier, requeued, part = (np.zeros(rows, np.bool_) for _ in range(5))
    found = Repeats(again, stale, earlier, requeued, part, np.arange(rows, dtype=np.int64))
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    if not same.any():
        return found
    shared = np.zeros(rows, np.bool_)
    shared[order[1:][same]] = True
    shared[order[:-1][same]] = True
    chosen = np.flatnonzero(shared)
    submit, start, end, state, user, elapsed = (
        _column(records, name, chosen) for name in ("submit", "start", "end", "state", "user", "elapsed")
    )
    # In the order of time within each job, what was over behind what was not, of this the longest run so far
    # first; then by place in the file.
    over = ~np.isin(state, _OPEN)
    order = np.lexsort((np.arange(len(chosen)), -elapsed, over, start, submit, key[chosen]))
    table = zip(
        key[chosen][order].tolist(), submit[order].tolist(), start[order].tolist(), end[order].tolist(),
        state[order].tolist(), user[order].tolist(), chosen[order].tolist(), strict=True,
    )  # fmt: skip
    last: tuple[int, ...] | None = None
    for record in table:
        if last is not None and record[0] == last[0]:
            if record[1:6] == last[1:6]:
                found.again[record[6]] = True
                continue
            if record[1] == last[1] and record[5] == last[5] and _goes_on(last, record):
                found.stale[last[6]] = True
                if found.requeued[last[6]]:
                    found.began[record[6]] = found.began[last[6]]
                    found.requeued[record[6]] = True
            elif record[5] == last[5] and last[4] == states.RESIZED:
                found.part[last[6]] = True
                found.began[record[6]] = found.began[last[6]]
            elif record[5] == last[5] and (last[4] == states.ATTEMPT or record[1] == last[1]):
                found.began[record[6]] = found.began[last[6]]
                found.earlier[last[6]] = True
                found.requeued[record[6]] = True
        last = record
    return found


def _goes_on(last: tuple[int, ...], record: tuple[int, ...]) -> bool:
    """Whether a record of the same submission tells of the same job at a later time."""
    return last[4] == states.PENDING or (last[4] == states.RUNNING and record[2] == last[2])


def _column(records: dict[str, npt.NDArray[Any]], name: str, rows: Ints) -> npt.NDArray[Any]:
    return records[name][rows] if name in records else np.zeros(len(rows), np.int64)
