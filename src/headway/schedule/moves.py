"""The moves of waiting jobs between clusters, what was expected of each, and their table, moves.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import InputError
from headway.schedule.csv_table import CsvTable, seconds_column

if TYPE_CHECKING:
    import polars as pl

    from headway.schedule.schedule import Schedule
    from headway.schedule.table import Times
    from headway.workload import Workload

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


NEEDED = ("job", "time", "from", "to", "procs_before", "procs_after", "expected_before", "expected_after")


def moves_frame(schedule: Schedule, times: Times = seconds_column) -> pl.DataFrame:
    """One row for each move, in the order in which they were made, with what was expected and what came."""
    import polars as pl

    moves = schedule.moves
    assert moves is not None
    names = pl.Series(list(schedule.labels.get("cluster", ())), dtype=pl.String)
    if len(names) == 0:
        names = pl.Series([cluster.name for cluster in schedule.platform.clusters], dtype=pl.String)
    return pl.DataFrame(
        [
            pl.Series("job", schedule.workload.columns["job"][moves.job]),
            times("time", moves.time),
            names.gather(moves.source).alias("from"),
            names.gather(moves.target).alias("to"),
            pl.Series("procs_before", moves.procs_before),
            pl.Series("procs_after", moves.procs_after),
            times("expected_before", moves.before),
            times("expected_after", moves.after),
            times("end", schedule.end[moves.job]),
        ]
    )


def read_moves(path: Path, workload: Workload, clusters: Sequence[str]) -> Moves:
    """A moves.csv read back."""
    table = CsvTable(path, NEEDED)
    known, rows = workload.rows_of(table.integers("job"))
    if not known.all():
        line = int(np.argmin(known)) + 2
        raise InputError("the schedule has no such job; run the simulation again", file=path, line=line)
    return Moves(
        job=rows,
        time=table.times("time"),
        source=table.codes("from", clusters),
        target=table.codes("to", clusters),
        before=table.times("expected_before"),
        after=table.times("expected_after"),
        procs_before=table.integers("procs_before"),
        procs_after=table.integers("procs_after"),
    )
