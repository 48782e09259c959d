"""The slowdowns of jobs; each formula stands here and nowhere else.

F is the flow (response) time end - submit, p the run time the job got, min(runtime, walltime), so that
killed jobs count with their walltime; q its processors, w its walltime and tau the bound, all in µs.
"""

from __future__ import annotations

import numpy as np

from headway.metrics.statistics import Ratios, Times


def slowdown(flow: Times, run: Times) -> Ratios:
    """F / p of the jobs with p > 0; the others have none and are left out."""
    some = run > 0
    return np.asarray(flow[some] / run[some])


def bounded_slowdown(flow: Times, run: Times, tau: int) -> Ratios:
    """max(F / max(p, tau), 1): short jobs count as if they ran for tau."""
    return np.maximum(flow / _bounded(run, tau), 1.0)


def per_processor_bounded_slowdown(flow: Times, run: Times, procs: Times, tau: int) -> Ratios:
    """max(F / (q max(p, tau)), 1)."""
    return np.maximum(flow / (procs * _bounded(run, tau)), 1.0)


def walltime_slowdown(wait: Times, walltime: Times) -> Ratios:
    """(wait + w) / w of the jobs with w > 0: the slowdown as if each job used all it asked for."""
    some = walltime > 0
    return np.asarray((wait[some] + walltime[some]) / walltime[some])


def stretch(flow: Times, run: Times, load: Times) -> Ratios:
    """F / (p + load) where that is positive: against the run with the job's input file read alone."""
    alone = run + load
    some = alone > 0
    return np.asarray(flow[some] / alone[some])


def _bounded(run: Times, tau: int) -> Ratios:
    # A zero-length job under tau = 0 has no slowdown; one microsecond keeps the quotient finite.
    return np.maximum(run, max(tau, 1)).astype(np.float64)
