"""The results of a campaign: a table with one row per cell, and what is asked of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.campaign.running import Progress
from headway.campaign.store import CAMPAIGN, DONE, FAILED, RESULTS, Store, frame_of, write_whole
from headway.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from headway.campaign.cells import Cell


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
        return cls(Path(folder), pl.read_parquet(path), progress)

    @staticmethod
    def write(store: Store, plan: Sequence[Cell]) -> None:
        """results.parquet: the plan's cells that are finished, in the plan's order."""
        import polars as pl

        kept = store.load()
        described = _plan_table(plan)
        measured = kept.drop([name for name in described.columns if name != "cell"], strict=False)
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
            described = json.loads((self.folder / CAMPAIGN).read_text(encoding="utf-8"))
            return float(described["settings"]["tau"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def failed(self) -> pl.DataFrame:
        """The cells that failed, with their errors."""
        import polars as pl

        return self.table.filter(pl.col("status") == FAILED)

    def schedule(self, cell: str) -> pl.DataFrame:
        """The schedule of a cell, one row per job, where the campaign kept schedules."""
        import polars as pl

        path = Store(self.folder).schedules / f"{cell}.parquet"
        if not path.is_file():
            raise InputError("no schedule of this cell; run the campaign with schedules", file=str(path))
        return pl.read_parquet(path)

    def classes(self) -> pl.DataFrame:
        """Means by size, user and queue of every cell, where the campaign kept classes."""
        import polars as pl

        files = sorted(Store(self.folder).classes.glob("*.parquet"))
        if not files:
            raise InputError("no classes here; run the campaign with classes", file=str(self.folder))
        table = pl.concat([pl.read_parquet(path) for path in files], how="diagonal_relaxed")
        return table.unique(["cell", "by", "class"], keep="last", maintain_order=True)

    def pairs(self, metric: str) -> pl.DataFrame:
        """Every cell beside its baseline; see `headway.campaign.judging.pairs`."""
        from headway.campaign.judging import pairs

        return pairs(self, metric)

    def against_baseline(
        self, metric: str, by: Sequence[str] = ("workload", "label"), **options: Any
    ) -> pl.DataFrame:
        """Paired differences with intervals; see `headway.campaign.judging.against_baseline`."""
        from headway.campaign.judging import against_baseline

        return against_baseline(self, metric, by, **options)

    def winners(self, by: str = "size", metric: str = "mean_bsld", **options: Any) -> pl.DataFrame:
        """Who gains and who loses, by size, user or queue; see `headway.campaign.judging.winners`."""
        from headway.campaign.judging import winners

        return winners(self, by, metric, **options)

    def __len__(self) -> int:
        return self.table.height

    def __repr__(self) -> str:
        return f"<Results of {self.table.height} cells in {self.folder}>"


def _plan_table(plan: Sequence[Cell]) -> pl.DataFrame:
    """Where each cell stands and its parameters, one type per column."""
    import polars as pl

    cells = list({cell.id: cell for cell in plan}.values())
    table = frame_of([{"cell": cell.id, **cell.columns} for cell in cells])
    if "baseline" not in table.columns:
        table = table.with_columns(pl.lit(None, pl.String).alias("baseline"))
    names = dict.fromkeys(name for cell in cells for name in cell.parameters)
    return table.with_columns(
        parameter_column(name, table.columns, [cell.parameters.get(name) for cell in cells]) for name in names
    )


def parameter_column(name: str, taken: Sequence[str], values: Sequence[Any]) -> pl.Series:
    """Numbers where all are numbers, else texts; a name that is taken gets `policy_` before it."""
    import polars as pl

    from headway.campaign.measure import WHOLE
    from headway.grammar import value_text
    from headway.metrics.catalogue import BY_NAME

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
