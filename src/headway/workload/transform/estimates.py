"""Changing what users asked for: exact estimates, those of a model, or none beyond a site's limit."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.arrays import Mask
from headway.errors import UsageError
from headway.units import microseconds
from headway.workload.ledger import LedgerEntry
from headway.workload.models.generated import estimated
from headway.workload.table import Workload
from headway.workload.transform.rebuild import multiplied
from headway.workload.transform.registry import transformation


@transformation
def exact(workload: Workload, kills: Literal["after", "before"] = "after") -> Workload:
    """Set every walltime to the run time: users who know.

    kills: a job that ran past its request has its whole run time, and nothing is left to kill (after), or it
        is killed at its request first, and that is its run time (before).
    """
    past = workload.runtime > workload.walltime
    runtime, action = workload.runtime, "ran past the request: all of the run is asked for, none is killed"
    if kills == "before":
        runtime = np.minimum(workload.runtime, workload.walltime)
        action = "ran past the request: killed there, and that is the run time"
    entry = LedgerEntry.of("exact", action, workload.job[past], dropped=False)
    told = workload.with_entries(entry)
    return told.with_columns(walltime=runtime, runtime=runtime)


@transformation
def walltimes(workload: Workload, margin: float = 1.2) -> Workload:
    """Set walltimes as a middleware that knows its services does: the run time times a margin.

    margin: at least 1. Local jobs, which users submit themselves, keep theirs.
    """
    if not margin >= 1:
        raise UsageError(f"walltimes: margin must be at least 1, not {margin:g}; jobs would be killed")
    known = multiplied(workload.runtime, margin, "walltimes: margin")
    own = workload.get("local")
    return workload.with_columns(walltime=known if own is None else np.where(own, workload.walltime, known))


@transformation
def estimates(workload: Workload, model: str = "tsafrir", seed: int = 0) -> Workload:
    """Replace the walltimes by a model's estimates, none below the run time.

    model: exact, tsafrir, tsafrir(longest=..., distinct=linear|power|number) or f(2) (unrealistic).
    seed: of the random numbers.
    """
    return workload.with_columns(walltime=estimated(workload.runtime, model, seed))


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


def _runs_past(workload: Workload, most: int) -> Mask:
    """Which jobs would run longer than `most` µs; who runs beyond a shorter request is killed at that."""
    return np.minimum(workload.runtime, workload.walltime) > most
