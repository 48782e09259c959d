"""Input shaking: many runs on slightly different inputs tell an effect from an accident.

D. Tsafrir, K. Ouaknine and D. G. Feitelson, "Reducing performance evaluation sensitivity and variability by
input shaking", 15th Symposium on Modeling, Analysis, and Simulation of Computer and Telecommunication
Systems (MASCOTS), 2007.
"""

from __future__ import annotations

import numpy as np

from headway.errors import UsageError
from headway.units import SECOND, microseconds
from headway.workload.table import Workload
from headway.workload.transform.rebuild import generator, moved, on_grid, step_of
from headway.workload.transform.registry import transformation


@transformation
def shake(workload: Workload, arrivals: float = 60.0, runtimes: float = 0.0, seed: int = 0) -> Workload:
    """Move every arrival, and if wanted every run time, a little at random.

    arrivals: each submit moves by up to this many seconds either way, never below 0.
    runtimes: each run time is multiplied by 1 plus or minus up to this share. A run that stayed within
        its walltime still does, and one that did not still does not.
    seed: of the random numbers.
    """
    if arrivals < 0 or not 0 <= runtimes < 1:
        raise UsageError("shake: arrivals must be at least 0 seconds and runtimes a share of 0..1")
    rng = generator(seed)
    rows = len(workload)
    shift = rng.uniform(-1.0, 1.0, rows) * microseconds(arrivals)
    submit = np.maximum(on_grid(workload.submit + shift, workload.submit), np.minimum(workload.submit, 0))
    columns = moved(workload, submit)
    if runtimes:
        stretched = workload.runtime * (1.0 + rng.uniform(-1.0, 1.0, rows) * runtimes)
        run = on_grid(stretched, workload.runtime)
        # Keep what the log says about the walltime: within it, or beyond it.
        within = workload.runtime <= workload.walltime
        beyond = workload.walltime + step_of(workload.runtime)
        run = np.where(within, np.minimum(run, workload.walltime), np.maximum(run, beyond))
        run = np.where(workload.runtime > 0, np.maximum(run, np.minimum(workload.runtime, SECOND)), 0)
        columns["runtime"] = run
    return workload.replaced(changed=columns)
