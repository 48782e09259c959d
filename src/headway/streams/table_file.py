"""schedule.csv in blocks of rows, with the bytes that it has if written at once; then schedule.parquet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.schedule.files import SCHEDULE, as_it_is, for_spreadsheets
from headway.schedule.seconds import seconds_text_column
from headway.schedule.table import schedule_frame

if TYPE_CHECKING:
    from headway.schedule import Schedule

ROW_GROUP = 1 << 18
PARTITION, BEFORE = "partition", "queue"
"""A column that a schedule has where the log has several partitions, and the one before it."""


class ScheduleFile:
    """The tables of a schedule while its rows come."""

    def __init__(self, folder: Path, spreadsheet: bool = False) -> None:
        self.folder = folder
        self._csv, self._parquet = folder / f"{SCHEDULE}.csv", folder / f"{SCHEDULE}.parquet"
        self._file = self._csv.open("wb")
        self._types: dict[str, Any] = {}
        self._partition: int | None = None
        """The one partition of all rows so far."""
        self._shown = for_spreadsheets if spreadsheet else as_it_is

    def add(self, schedule: Schedule, partitions: int) -> None:
        """Write the next rows; there are so many partitions in all rows so far."""
        import polars as pl

        table = schedule_frame(schedule, seconds_text_column)
        if partitions > 1:
            if PARTITION not in table.columns:
                partition = pl.Series(PARTITION, schedule.workload.columns[PARTITION])
                table.insert_column(table.columns.index(BEFORE) + 1, partition)
            if self._types and PARTITION not in self._types:
                self._add_partition()
        elif self._partition is None and len(schedule):
            self._partition = int(schedule.workload.columns[PARTITION][0])
        self._shown(table).write_csv(self._file, include_header=not self._types)
        for name, kind in table.schema.items():
            decimals = kind == pl.String and name != "why"
            if decimals or name not in self._types:
                self._types[name] = pl.Float64 if decimals else kind

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _add_partition(self) -> None:
        """Write the rows so far anew, with the partition that all of them had."""
        import polars as pl

        self._file.close()
        old = self._csv.with_suffix(".old")
        self._csv.rename(old)
        names = list(self._types)
        names.insert(names.index(BEFORE) + 1, PARTITION)
        rows = pl.scan_csv(old, infer_schema=False)
        rows.with_columns(pl.lit(self._partition).alias(PARTITION)).select(names).sink_csv(self._csv)
        old.unlink()
        self._types = {name: self._types.get(name, pl.Int64()) for name in names}
        self._file = self._csv.open("ab")

    def finish(self, empty: Schedule) -> bool:
        """Write the Parquet file; False if that was interrupted, and there is none.

        ``empty`` stands for the schedule where there was no row at all.
        """
        import polars as pl

        if not self._types:
            self.add(empty, 0)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        try:
            pl.scan_csv(self._csv, schema=self._types).sink_parquet(self._parquet, row_group_size=ROW_GROUP)
        except KeyboardInterrupt:
            self._parquet.unlink(missing_ok=True)
            return False
        return True
