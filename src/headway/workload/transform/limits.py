"""Limits of a site: no request may be longer than so much time."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.units import microseconds
from headway.workload.ledger import LedgerEntry
from headway.workload.table import Workload
from headway.workload.transform.registry import transformation


@transformation
def limit(workload: Workload, walltime: float, longer: Literal["kill", "drop"] = "kill") -> Workload:
    """Allow no request longer than a limit; shorter requests stay as they are.

    walltime: the longest time that a job may ask for, in seconds, or with a unit as in 24h.
    longer: a job that runs past the limit is killed there (kill), or it is not submitted at all (drop).
    """
    if walltime <= 0:
        raise UsageError(f"limit: walltime must be above 0, not {walltime:g}")
    most = microseconds(walltime)
    if longer == "drop":
        action = f"runs longer than the limit of {walltime:g} s: left out"
        workload = workload.select(~_runs_past(workload, most), rule="limit", action=action)
    over, asked = _runs_past(workload, most), workload.walltime > most
    shorter = f"asks for more than {walltime:g} s: asks for that"
    killed = f"runs longer than {walltime:g} s: is killed there"
    entries = (
        LedgerEntry.of("limit", shorter, workload.job[asked & ~over], dropped=False),
        LedgerEntry.of("limit", killed, workload.job[over], dropped=False),
    )
    told = workload.with_entries(*entries)
    return told.with_columns(walltime=np.minimum(workload.walltime, most))


def _runs_past(workload: Workload, most: int) -> NDArray[np.bool_]:
    """Which jobs would run longer than `most` µs; who runs beyond a shorter request is killed at that."""
    return np.minimum(workload.runtime, workload.walltime) > most
