"""The moves of waiting jobs between clusters: what was expected of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]


@dataclass(eq=False)
class Moves:
    """One row for each move, in the order in which they were made; times in µs.

    `job` is the row of the workload (not the job's number). `source` and `target` are codes of clusters;
    `before` and `after` the completions that the two clusters expected when the job was moved, with
    `procs_before` and `procs_after` processors.
    """

    job: Column
    time: Column
    source: Column
    target: Column
    before: Column
    after: Column
    procs_before: Column
    procs_after: Column

    def __len__(self) -> int:
        return len(self.job)

    def of(self, row: int) -> Column:
        """The moves of one job, in order."""
        return np.flatnonzero(self.job == row)
