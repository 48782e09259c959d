"""Memory of jobs, and the time it takes to swap them out."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.annotations import KB_PER_MB
from headway.workload.table import Workload
from headway.workload.transform.rebuild import Column, by_submission, generator
from headway.workload.transform.registry import transformation
from headway.workload.transform.swap_model import BANDWIDTH, SWAP_TABLE, swap_times


@transformation
def memory(
    workload: Workload,
    source: Literal["log", "table", "constant"] = "log",
    missing: Literal["unknown", "median", "table"] = "unknown",
    mb: float | None = None,
    seed: int = 0,
) -> Workload:
    """Set each job's memory per processor.

    source: log (what was requested, else what was used), table (drawn from the sizes of the NAS
        benchmarks, 76 to 5127 MB), or constant.
    missing: jobs of which the log says nothing stay unknown, or get the median of the others, or a size
        of the table.
    mb: MB per processor, for constant.
    seed: of the random numbers.
    """
    sizes, _ = _drawn(workload, seed)
    if source == "table":
        return workload.with_columns(memory_kb=sizes)
    if source == "constant":
        if mb is None or mb < 0:
            raise UsageError("memory: constant needs mb, a number of MB of at least 0")
        return workload.with_columns(memory_kb=np.full(len(workload), round(mb * KB_PER_MB)))
    known = _recorded(workload)
    have = known > 0
    if missing == "table":
        known = np.where(have, known, sizes)
    elif missing == "median":
        if not have.any():
            raise UsageError("memory: the log names no job's memory; use source=table or constant")
        known = np.where(have, known, int(np.median(known[have])))
    return workload.with_columns(memory_kb=known)


@transformation
def swap(
    workload: Workload,
    source: Literal["memory", "table", "constant"] = "memory",
    bandwidth: float = BANDWIDTH,
    seconds: float | None = None,
    seed: int = 0,
) -> Workload:
    """Set the time it takes to swap each job out, and as long to swap it in.

    source: memory (per processor, divided by the bandwidth), table (a measured time of the NAS benchmarks,
        drawn together with its size), or constant.
    bandwidth: MB/s, for memory.
    seconds: for constant.
    seed: of the random numbers.
    """
    if source == "constant":
        if seconds is None or seconds < 0:
            raise UsageError("swap: constant needs seconds, a number of at least 0")
        return workload.with_columns(swap=np.full(len(workload), round(seconds * SECOND)))
    if source == "table":
        sizes, times = _drawn(workload, seed)
        return workload.with_columns(swap=times, memory_kb=sizes)
    if bandwidth <= 0:
        raise UsageError(f"swap: bandwidth must be above 0, not {bandwidth:g}")
    size = workload.get("memory_kb")
    if size is None or not np.any(size >= 0):
        raise UsageError("swap: the log names no job's memory; apply memory(source=table) before")
    return workload.with_columns(swap=swap_times(size, bandwidth))


def _drawn(workload: Workload, seed: int) -> tuple[Column, Column]:
    """Size (kB) and swapping time (µs) of a row of the table for every job, drawn in submission order."""
    row = by_submission(workload, generator(seed).integers(0, len(SWAP_TABLE), len(workload)))
    sizes = np.rint([mb * KB_PER_MB for _, _, mb, _ in SWAP_TABLE]).astype(np.int64)
    times = np.rint([seconds * SECOND for _, _, _, seconds in SWAP_TABLE]).astype(np.int64)
    return sizes[row], times[row]


def _recorded(workload: Workload) -> Column:
    """Memory per processor in kB as the log has it: requested, else used, else -1."""
    known = np.full(len(workload), -1, np.int64)
    for name in ("used_memory_kb", "memory_kb"):
        column = workload.get(name)
        if column is not None:
            known = np.where(column > 0, column, known)
    return known
