"""Offered load: measuring it, and changing it by stretching the gaps between arrivals."""

from __future__ import annotations

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.table import Workload
from headway.workload.transform.rebuild import executed_area, machine_size, moved, on_grid
from headway.workload.transform.registry import transformation


def offered_load(workload: Workload, procs: int) -> float:
    """sum(procs x run) / (machine x span of the submissions), the run cut at the walltime."""
    if len(workload) < 2:
        return 0.0
    span = float(workload.submit.max() - workload.submit.min()) / SECOND
    return float(executed_area(workload).sum()) / (procs * span) if span > 0 else float("inf")


@transformation
def load(
    workload: Workload, target: float | None = None, factor: float | None = None, procs: int | None = None
) -> Workload:
    """Change the load by multiplying every gap between arrivals; jobs and work stay as they are.

    target: offered load wanted, sum(procs x run) / (machine x span of the submissions); of a run beyond its
        request only what is left when it is killed there.
    factor: instead of a target, the number the load is multiplied by.
    procs: processors of the machine, for a target; by default as the log says.
    """
    if (target is None) == (factor is None):
        raise UsageError("load: give either target or factor")
    if target is not None:
        now = offered_load(workload, machine_size(workload, procs, "load"))
        if not 0 < now < float("inf"):
            raise UsageError("load: the log's own load is not defined (no work, or no span of time)")
        factor = target / now
    assert factor is not None
    if factor <= 0:
        raise UsageError("load: target and factor must be above 0")
    if not len(workload):
        return workload
    start = int(workload.submit.min())
    submit = start + on_grid((workload.submit - start) / factor, workload.submit)
    return workload.replaced(changed=moved(workload, submit))
