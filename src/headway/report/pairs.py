"""Cells of a campaign against their baselines, pair by pair; blocks, such as weeks, are what is counted."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from headway.metrics.catalogue import BY_NAME

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Paired:
    """One policy against the baseline in one metric.

    `change` is the median over the blocks of the relative difference; `better` and `worse` count blocks.
    """

    change: float
    better: int
    worse: int
    blocks: int

    @property
    def clear(self) -> bool:
        """Whether chance alone would hardly do this: a sign test, two-sided, below 5 %."""
        decided = self.better + self.worse
        fewer = min(self.better, self.worse)
        tail = sum(comb(decided, count) for count in range(fewer + 1)) / 2**decided
        return bool(2 * tail < 0.05)

    @property
    def verdict(self) -> str:
        """better or worse where that is clear, else empty."""
        if not self.clear:
            return ""
        return "better" if self.better > self.worse else "worse"


def paired(frame: pl.DataFrame, rows: pl.DataFrame, metric: str) -> Paired | None:
    """`rows` against the cells of `frame` that are their baselines; None where there is nothing to pair."""
    import polars as pl

    base = frame.select(pl.col("cell").alias("baseline"), pl.col(metric).alias("of_baseline"))
    both = rows.filter(pl.col("cell") != pl.col("baseline")).join(base, on="baseline", how="inner")
    ratio = (pl.col(metric) / pl.col("of_baseline") - 1).alias("change")
    both = both.filter(pl.col("of_baseline") != 0).select("block", ratio).drop_nulls()
    if not both.height:
        return None
    # Several versions of one block (shaken inputs, seeds) are one witness, not many.
    blocks = both.group_by("block", maintain_order=True).agg(pl.col("change").median())["change"]
    lower = int((blocks < 0).sum())
    higher = int((blocks > 0).sum())
    sign = BY_NAME[metric].better if metric in BY_NAME else "lower"
    better, worse = (higher, lower) if sign == "higher" else (lower, higher)
    median = blocks.median()
    return Paired(float(median) if isinstance(median, int | float) else 0.0, better, worse, len(blocks))
