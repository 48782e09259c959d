"""Changing what users asked for: exact estimates, or those of a model."""

from __future__ import annotations

from headway.workload.models.generated import estimated
from headway.workload.table import Workload
from headway.workload.transform.registry import transformation


@transformation
def exact(workload: Workload) -> Workload:
    """Set every walltime to the run time: users who know."""
    return workload.with_columns(walltime=workload.runtime)


@transformation
def estimates(workload: Workload, model: str = "tsafrir", seed: int = 0) -> Workload:
    """Replace the walltimes by a model's estimates, none below the run time.

    model: exact, tsafrir, tsafrir(longest=..., distinct=linear|power|number) or f(2) (unrealistic).
    seed: of the random numbers.
    """
    return workload.with_columns(walltime=estimated(workload.runtime, model, seed))
