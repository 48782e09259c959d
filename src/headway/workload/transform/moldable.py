"""Moldable jobs: how each would run on another number of processors."""

from __future__ import annotations

import numpy as np

from headway.errors import UsageError
from headway.workload.table import Workload
from headway.workload.transform.rebuild import by_submission, generator, probabilities
from headway.workload.transform.registry import transformation

TYPES_OF_JOBS = ((0.8, 32, 0.5), (0.9, 96, 0.3), (0.99, 256, 0.15), (0.999, 650, 0.05))
"""Parallel fraction (Amdahl), largest number of processors, and share of the jobs, of types t1 to t4.

Y. Caniou, G. Charrier and F. Desprez, "Evaluation of reallocation heuristics for moldable tasks in
computational grids", 9th Australasian Symposium on Parallel and Distributed Computing (AusPDC), 2011.
"""


@transformation
def moldable(
    workload: Workload,
    fractions: list[float] | None = None,
    limits: list[int] | None = None,
    shares: list[float] | None = None,
    seed: int = 0,
) -> Workload:
    """Draw a speedup type for every job of more than one processor; serial and local jobs stay rigid.

    fractions: parallel fraction of each type (default 0.8, 0.9, 0.99, 0.999: types t1 to t4).
    limits: largest number of processors of each type (default 32, 96, 256, 650).
    shares: how often each type is drawn (default 0.5, 0.3, 0.15, 0.05).
    seed: of the random numbers.
    """
    default_fractions, default_limits, default_shares = zip(*TYPES_OF_JOBS, strict=True)
    fraction = np.array(default_fractions if fractions is None else fractions)
    limit = np.array(default_limits if limits is None else limits)
    chances = probabilities(list(default_shares) if shares is None else shares, "moldable")
    if not len(fraction) == len(limit) == len(chances):
        raise UsageError("moldable: fractions, limits and shares must be lists of one length")
    if np.any((fraction < 0) | (fraction > 1)) or np.any(limit < 1):
        raise UsageError("moldable: fractions must be in 0..1 and limits at least 1")
    kind = by_submission(workload, generator(seed).choice(len(chances), len(workload), p=chances))
    rigid = workload.procs <= 1
    if "local" in workload:
        rigid |= workload.local
    return workload.with_columns(
        parallel_fraction=np.where(rigid, np.nan, fraction[kind]),
        max_procs=np.where(rigid, -1, limit[kind]),
    )
