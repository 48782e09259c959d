"""Input files shared by the jobs of a user's session.

After M. Gonthier, E. Larsson, L. Marchal, C. Nettelblad and S. Thibault, "Locality-aware batch scheduling of
jobs sharing input files": a job reads the file of the job before it if it is of the same user, of the same
width and submitted at most 800 s later; otherwise it brings a new one. Jobs whose users are unknown share
none. The file fills the job's part of a node's memory.

    submit     0   300  900       2000        one user, 5 cores each; gaps 300, 600, 1100 s
    file       a    a    a         b          the window moves along with the chain
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.arrays import Ints, Mask
from headway.errors import UsageError
from headway.units import microseconds
from headway.workload.table import Workload
from headway.workload.transform.rebuild import generator, probabilities
from headway.workload.transform.registry import transformation


@transformation
def files(
    workload: Workload,
    within: float = 800.0,
    memory: list[float] | None = None,
    shares: list[float] | None = None,
    cores: int = 20,
    least: int = 1,
    chain: Literal["log", "user"] = "log",
    seed: int = 0,
) -> Workload:
    """Give jobs input files shared along user sessions, with sizes by cores and memory class.

    within: longest gap in seconds between two jobs that share a file.
    memory: memory classes of the nodes in GB; one is drawn for each file (default [128]).
    shares: how often each class is drawn; by default equally.
    cores: cores of a node; the file has (job's cores / cores) x memory GB.
    least: jobs of fewer cores have no file.
    chain: a chain ends at the next job of anybody else (log, as in the authors' script), or only at the
        user's own next job that differs (user).
    seed: of the random numbers.
    """
    classes = np.array([128.0] if memory is None else memory)
    chances = probabilities([1.0] * len(classes) if shares is None else shares, "files")
    if len(chances) != len(classes) or np.any(classes <= 0) or cores < 1 or within < 0:
        raise UsageError("files: memory and shares go together; memory, cores and within are above 0")
    rows = workload.order
    rows = rows[workload.procs[rows] >= least]
    rows, fresh = _sessions(workload, rows, microseconds(within), chain)
    code = np.full(len(workload), -1, np.int64)
    code[rows] = np.cumsum(fresh) - 1
    drawn = classes[generator(seed).choice(len(classes), size=int(fresh.sum()), p=chances)]
    has = code >= 0
    size = np.full(len(workload), np.nan)
    size[has] = np.minimum(workload.procs[has], cores) / cores * drawn[code[has]]
    needs = np.full(len(workload), np.nan)
    needs[has] = drawn[code[has]]
    names = [f"f{number}" for number in range(1, len(drawn) + 1)]
    named = workload.with_columns(file=code, file_gb=size, needs_node_gb=needs)
    return named.with_labels(file=names)


def _sessions(workload: Workload, rows: Ints, within: int, chain: str) -> tuple[Ints, Mask]:
    """Rows so ordered that each one's predecessor stands right before it, and who brings a new file."""
    if chain == "user":
        rows = rows[np.argsort(workload.user[rows], kind="stable")]
    before, after = rows[:-1], rows[1:]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (
        (workload.user[before] != workload.user[after])
        | (workload.user[after] < 0)
        | (workload.procs[before] != workload.procs[after])
        | (workload.submit[after] - workload.submit[before] > within)
    )
    return rows, fresh
