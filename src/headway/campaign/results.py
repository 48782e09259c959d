"""The results of a campaign: a table with one row per cell, and what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.campaign.measure import WHOLE
from headway.campaign.running import Progress
from headway.campaign.store import (
    CAMPAIGN,
    DONE,
    FAILED,
    RESULTS,
    TURN,
    Store,
    frame_of,
    read_table,
    write_whole,
)
from headway.documents import check_entries, read_json
from headway.errors import InputError
from headway.grammar import value_text
from headway.metrics.catalogue import BY_NAME
from headway.plain import counted
from headway.values import COUNT

if TYPE_CHECKING:
    import polars as pl

    from headway.campaign.judging import Lead
    from headway.campaign.measure import Cell


AGAIN = "run the campaign again"

COLUMNS = {
    "cell": "String", "status": "String", "workload": "String", "block": "String", "label": "String",
    "policy": "String", "machine": "String", "baseline": "String", "seed": "Int64", "part": "Int64",
}  # fmt: skip
"""Columns that results.parquet always has, and their types."""

ENTRIES: dict[str, Any] = {
    "headway": str, "name": str, "workloads": [dict], "platforms": list, "policies": [{"policy": str}],
    "seeds": [COUNT], "settings": dict,
}  # fmt: skip
"""What the entries of campaign.json are."""


class Results:
    """One row per cell in the campaign's order: where it stands, its parameters, its metrics (seconds)."""

    def __init__(self, folder: Path, table: pl.DataFrame, progress: Progress | None = None) -> None:
        self.folder = folder
        self.table = table
        self.progress = progress

    @classmethod
    def open(cls, folder: str | Path, progress: Progress | None = None) -> Results:
        """The results in a campaign's folder."""
        import polars as pl

        path = Path(folder) / RESULTS
        if not path.is_file():
            raise InputError("there are no results here; run the campaign first", file=str(folder))
        table = read_table(path, COLUMNS, AGAIN)
        for name in table.columns:
            if name in BY_NAME and not (table[name].dtype.is_numeric() or table[name].dtype == pl.Null):
                raise InputError(f"its {name} is not a column of numbers; {AGAIN}", file=path)
        return cls(Path(folder), table, progress)

    @staticmethod
    def write(store: Store, plan: Sequence[Cell]) -> None:
        """results.parquet: the plan's cells that are finished, in the plan's order."""
        import polars as pl

        kept = store.load()
        described = _plan_table(plan, kept.columns)
        measured = kept.drop([TURN, *(name for name in described.columns if name != "cell")], strict=False)
        table = described.join(measured, on="cell", how="inner", maintain_order="left")
        last = [name for name in ("status", "error") if name in table.columns]
        table = table.select([pl.exclude(last), pl.col(last)])
        write_whole(store.folder / RESULTS, table.write_parquet)

    @property
    def frame(self) -> pl.DataFrame:
        """The cells that were done."""
        import polars as pl

        return self.table.filter(pl.col("status") == DONE)

    @property
    def tau(self) -> float | None:
        """The bound of the bounded slowdowns, seconds; None where the campaign does not say."""
        try:
            return float(self.described["settings"]["tau"])
        except (ValueError, KeyError, TypeError):
            return None

    @cached_property
    def described(self) -> dict[str, Any]:
        """How the campaign was made: its campaign.json; empty where it is not there."""
        path = self.folder / CAMPAIGN
        if not path.exists():
            return {}
        record = read_json(path, AGAIN)
        check_entries(record, ENTRIES, path, AGAIN)
        return dict(record)

    @property
    def failed(self) -> pl.DataFrame:
        """The cells that failed, with their errors."""
        import polars as pl

        return self.table.filter(pl.col("status") == FAILED)

    def schedule(self, cell: str) -> pl.DataFrame:
        """The schedule of a cell, one row per job, where the campaign kept schedules."""
        path = Store(self.folder).schedules / f"{cell}.parquet"
        if not path.is_file():
            raise InputError("no schedule of this cell; run the campaign with schedules", file=str(path))
        return read_table(path, {}, f"{AGAIN} with --fresh (in Python, run(fresh=True)): its cell is done")

    def classes(self) -> pl.DataFrame:
        """Means by size, user and queue of every cell, where the campaign kept classes."""
        table = Store(self.folder).load_classes()
        if table is None:
            raise InputError("no classes here; run the campaign with classes", file=str(self.folder))
        return table.drop(TURN)

    def pairs(self, metric: str) -> pl.DataFrame:
        """Every cell beside its baseline; see `headway.campaign.judging.pairs`."""
        from headway.campaign.judging import pairs

        return pairs(self.frame, metric)

    def against_baseline(
        self, metric: str, by: Sequence[str] | str = ("workload", "label"), **options: Any
    ) -> pl.DataFrame:
        """Paired differences with intervals; see `headway.campaign.judging.against_baseline`."""
        from headway.campaign.judging import against_baseline

        return against_baseline(self.frame, metric, by, **options)

    def verdicts(self, metric: str) -> pl.DataFrame:
        """Paired differences of each policy, on each workload where there are several."""
        from headway.campaign.judging import apart

        return self.against_baseline(metric, by=(*apart(self.frame), "label"))

    def leads(self, metric: str) -> dict[str, Lead | None]:
        """Who has the best mean of a metric, by workload; see `headway.campaign.judging.lead`."""
        from headway.campaign.judging import lead

        groups = self.frame.partition_by("workload", maintain_order=True)
        return {str(one["workload"][0]): lead(one, metric) for one in groups}

    def winners(self, by: str = "size", metric: str = "mean_bsld", **options: Any) -> pl.DataFrame:
        """Who gains and who loses, by size, user or queue; see `headway.campaign.judging.winners`."""
        from headway.campaign.judging import winners

        return winners(self.frame, self.classes(), by, metric, **options)

    def __len__(self) -> int:
        return self.table.height

    def __repr__(self) -> str:
        return f"<Results of {counted(self.table.height, 'cell')} in {self.folder}>"


def _plan_table(plan: Sequence[Cell], measured: Sequence[str]) -> pl.DataFrame:
    """Where each cell stands and its parameters, one type per column; `measured` are columns beside these."""
    import polars as pl

    table = frame_of([{"cell": cell.id, **cell.columns} for cell in plan])
    if "baseline" not in table.columns:
        table = table.with_columns(pl.lit(None, pl.String).alias("baseline"))
    names = dict.fromkeys(name for cell in plan for name in cell.parameters)
    taken = [*table.columns, *measured]
    return table.with_columns(
        parameter_column(name, taken, [cell.parameters.get(name) for cell in plan]) for name in names
    )


def parameter_column(name: str, taken: Sequence[str], values: Sequence[Any]) -> pl.Series:
    """Numbers where all are numbers, else texts; a name that is taken gets `policy_` before it."""
    import polars as pl

    own = name not in taken and name not in WHOLE and name not in BY_NAME and name != "status"
    shown = name if own else f"policy_{name}"
    some = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in some):
        return pl.Series(shown, values, dtype=pl.Boolean)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in some):
        return pl.Series(shown, values, dtype=pl.Int64)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in some):
        return pl.Series(shown, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    return pl.Series(shown, [None if v is None else value_text(v) for v in values], dtype=pl.String)
