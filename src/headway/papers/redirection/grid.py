"""The paper's grid as campaigns, and their results with each run beside its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from headway.campaign import Campaign, Results
from headway.papers.redirection.logs import Log
from headway.papers.redirection.numbers import TAU
from headway.papers.verdicts import Estimate, mean_of

THETAS = (1, 2, 5, 10, 15, 25, 50, 100, 125)
ALPHAS = (0.1, 0.15, 0.2, 0.25)
PAPER_THETA, PAPER_ALPHA = 10, 0.15
"""The only point the paper gives numbers for (Curie)."""

METRICS = (
    "jobs", "dropped", "mean_bsld", "max_bsld", "mean_wait", "mean_response", "utilization", "wasted_area",
    "makespan",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """Values of theta and alpha."""

    thetas: tuple[int, ...] = THETAS
    alphas: tuple[float, ...] = ALPHAS


QUICK = Grid((1, 2, 5, 10, 25, 125), (0.15, 0.25))


def campaign(name: str, sources: Sequence[dict[str, Any]], policies: Sequence[dict[str, Any]]) -> Campaign:
    """Runs on these weeks under these policies; each has EASY on as many processors as its baseline."""
    return Campaign(
        list(sources),
        [{"baseline": "easy", **policy} for policy in policies],
        tau=TAU,
        metrics=METRICS,
        measures=["headway.papers.redirection.numbers:numbers"],
        name=name,
    )


def paper_campaign(logs: Sequence[Log], grid: Grid) -> Campaign:
    """The campaign of the paper: all thetas and alphas on every week, exact estimates."""
    sources = [log.source(log.name, log.weeks_spec(), "exact") for log in logs]
    points = {"theta": list(grid.thetas), "alpha": list(grid.alphas)}
    return campaign("redirection", sources, [{"policy": "redirection", "grid": points}])


def paired(results: Results) -> pl.DataFrame:
    """Runs with redirection, one row each, with ratios with / without to the run of the baseline."""
    frame = results.frame
    wanted = ("mean_bsld", "max_bsld", "max_response", "mean_response", "mean_wait", "utilization")
    without = frame.select(pl.col("cell"), pl.col(wanted).name.suffix("_without"))
    joined = frame.filter(pl.col("baseline").is_not_null()).join(
        without, left_on="baseline", right_on="cell", maintain_order="left"
    )
    if "mean_queued_again" not in joined.columns:  # nobody was redirected in any run
        joined = joined.with_columns(mean_queued_again=pl.lit(None, pl.Float64))
    return joined.with_columns(_ratio(name).alias(f"{name}_ratio") for name in wanted)


def _ratio(name: str) -> pl.Expr:
    """With / without; 1 where both are 0, as waits are where nobody waits."""
    with_, without = pl.col(name), pl.col(f"{name}_without")
    return pl.when((with_ == 0) & (without == 0)).then(1.0).otherwise(with_ / without)


def over_weeks(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Medians and means over the weeks, one row for each value of the columns `by`."""
    medians = (
        "mean_bsld", "mean_bsld_without", "mean_bsld_ratio", "max_bsld_ratio", "max_response",
        "max_response_without", "mean_response_ratio", "mean_wait_ratio",
    )  # fmt: skip
    aggregates = [pl.col(name).median() for name in medians]
    aggregates += [
        pl.col(f"{name}_bsld_ratio").mean().alias(f"{name}_bsld_ratio_mean") for name in ("mean", "max")
    ]
    aggregates += [
        pl.len().alias("weeks"),
        pl.col("redirections").mean(),
        (pl.col("redirections") == 0).mean().alias("weeks_without"),
        pl.col("worst_is_redirected").cast(pl.Float64).mean(),
        pl.col("redirected_among_worst").mean(),
        (pl.col("mean_bsld_ratio") < 1).mean().alias("weeks_better"),
        (pl.col("wasted_area") / (pl.col("capacity") * pl.col("makespan"))).mean().alias("wasted_share"),
        pl.col("mean_queued_again").mean(),
    ]
    return frame.group_by(list(by), maintain_order=True).agg(aggregates)


def best(table: pl.DataFrame, by: str = "mean_bsld_ratio") -> dict[str, Any]:
    """The row with the smallest value (a median or a mean over the weeks); of equal ones the first.

    The best theta of a page is the one with the smallest median ratio of mean bounded slowdowns.
    """
    return table.row(int(table[by].arg_min() or 0), named=True)


POINT = ("theta", "alpha")
RESAMPLED = 500
"""Resampled sets of weeks, for the interval of a best parameter."""


def halves(runs: pl.DataFrame) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """Runs to choose on and runs to judge by: even weeks and odd ones, then the other way round.

    A single week is both.
    """
    parts = runs["part"].unique(maintain_order=True).sort().to_list()
    if len(parts) < 2:
        return [(runs, runs)]
    even = pl.col("part").is_in(parts[::2])
    return [(runs.filter(even), runs.filter(~even)), (runs.filter(~even), runs.filter(even))]


def best_resampled(runs: pl.DataFrame) -> list[int]:
    """The theta with the lowest average ratio over the weeks, then over sets of weeks drawn from them."""
    table = runs.pivot("theta", index="part", values="mean_bsld_ratio")
    thetas = [int(name) for name in table.columns if name != "part"]
    ratios = table.drop("part").to_numpy()
    rows = np.random.Generator(np.random.PCG64(0)).integers(0, len(ratios), (RESAMPLED, len(ratios)))
    chosen = [ratios.mean(axis=0).argmin(), *(ratios[drawn].mean(axis=0).argmin() for drawn in rows)]
    return [thetas[int(place)] for place in chosen]


@dataclass(frozen=True)
class Found:
    """The runs on the weeks of a log."""

    log: Log
    runs: pl.DataFrame

    @classmethod
    def on(cls, log: Log, runs: pl.DataFrame) -> Found:
        """Those of the log among all runs of a campaign."""
        return cls(log, runs.filter(pl.col("workload") == log.name))

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each theta and alpha."""
        return over_weeks(self.runs, ["theta", "alpha"])

    @cached_property
    def top(self) -> dict[str, Any]:
        """The best point, by the median ratio of mean bounded slowdowns."""
        return best(self.table)

    @cached_property
    def alphas(self) -> list[float]:
        return sorted(self.runs["alpha"].unique())

    @cached_property
    def chosen(self) -> list[dict[str, Any]]:
        """The point with the lowest average ratio of mean bounded slowdowns on either half of the weeks."""
        return [best(over_weeks(here, POINT), "mean_bsld_ratio_mean") for here, _ in halves(self.runs)]

    @cached_property
    def judged(self) -> pl.DataFrame:
        """Each week at the point chosen on the half that it is not in."""
        both = zip(self.chosen, halves(self.runs), strict=True)
        return pl.concat([there.filter(at_point(point)) for point, (_, there) in both]).sort("part")

    @property
    def at(self) -> str:
        """The points of both halves in words."""
        points = dict.fromkeys(f"theta {point['theta']}, alpha {point['alpha']:g}" for point in self.chosen)
        return " and ".join(points)

    def change(self, name: str) -> Estimate:
        """The average change (%) with redirection over the weeks, at points chosen on other weeks."""
        return mean_of(self.judged[f"{name}_ratio"].to_numpy()).scaled(100, -100)

    def both_improved(self) -> dict[str, Estimate] | None:
        """Mean and maximum at the couple that improves both averages most on other weeks, if any does."""
        rows = []
        for here, there in halves(self.runs):
            larger = pl.max_horizontal("mean_bsld_ratio_mean", "max_bsld_ratio_mean").alias("larger")
            top = best(over_weeks(here, POINT).with_columns(larger), "larger")
            if top["larger"] >= 1:
                return None
            rows.append(there.filter(at_point(top)))
        both = pl.concat(rows)
        return {
            name: mean_of(both[f"{name}_bsld_ratio"].to_numpy()).scaled(100, -100) for name in ("mean", "max")
        }

    def related(self) -> list[float]:
        """For each week, the rank correlation of theta and the alpha with the lowest ratio at that theta.

        0 where the best alpha is the same for every theta.
        """
        tops = self.runs.sort("mean_bsld_ratio", "alpha").group_by("part", "theta", maintain_order=True)
        pairs = tops.agg(pl.col("alpha").first()).group_by("part", maintain_order=True)
        found = pairs.agg(pl.corr("theta", "alpha", method="spearman").alias("related"))
        return [value if value == value else 0.0 for value in found.sort("part")["related"].fill_null(0.0)]

    def title(self, what: str) -> str:
        """What a claim says of the log."""
        return f"{self.log.cluster.title}: {what}"


def at_point(point: dict[str, Any]) -> pl.Expr:
    """Whether a row has the theta and alpha of another."""
    return pl.all_horizontal(pl.col(name) == point[name] for name in ("theta", "alpha"))
