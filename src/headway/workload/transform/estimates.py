"""Changing what users asked for: exact estimates, or those of a model."""

from __future__ import annotations

from typing import Literal

import numpy as np

from headway.errors import UsageError
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
