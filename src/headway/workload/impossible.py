"""Jobs that no machine can run: logs with them are mended or refused as they are read, arrays are not."""

from __future__ import annotations

import numpy as np

from headway.errors import InputError
from headway.units import LATEST, LONGEST
from headway.workload.table import Workload

LEAST = {"submit": 0, "procs": 1, "walltime": 0, "runtime": 0}
"""The smallest value of each column that a job can have."""
NAMES = {
    "submit": "time of submission",
    "procs": "number of processors",
    "walltime": "walltime",
    "runtime": "run time",
}


def refuse_impossible(workload: Workload) -> None:
    """Refuse a workload whose jobs have unknown or endless times, no processors, or numbers used twice."""
    for field, least in LEAST.items():
        values = workload.columns[field]
        if values.min(initial=least) < least or values.max(initial=least) > LONGEST:
            row = int(np.argmax((values < least) | (values > LONGEST)))
            wrong = f"the {NAMES[field]} of job {workload.job[row]} is {_what(int(values[row]), least)}"
            raise _error(workload, field, f"{wrong}; correct it, or leave the job out")
    last = float(workload.submit.max(initial=0)) + float(workload.runtime.sum(dtype=np.float64))
    if last > LATEST:
        raise _error(workload, "runtime", "the run times of all jobs add up to more than can be kept")
    if (workload.job[1:] <= workload.job[:-1]).any():
        numbers, counts = np.unique(workload.job, return_counts=True)
        if len(numbers) < len(workload):
            number = numbers[np.argmax(counts > 1)]
            raise _error(workload, "job", f"two jobs have the number {number}; give each one of its own")


def _what(value: int, least: int) -> str:
    if value == -1:
        return "unknown"
    return f"below {least}" if value < least else "more than can be kept"


def _error(workload: Workload, field: str, problem: str) -> InputError:
    return InputError(problem, file=workload.source.name, field=field)
