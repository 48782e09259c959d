"""Judging a campaign: paired differences against the baseline, and who gains and who loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from headway.campaign.intervals import LEVEL, Paired, paired
from headway.errors import UsageError
from headway.metrics.catalogue import BY_NAME

if TYPE_CHECKING:
    import polars as pl

INDISTINGUISHABLE = "indistinguishable"
TOO_FEW = "too few blocks to tell"
OTHER_JOBS = "not the same jobs"
NO_BASELINE = "no cell of this campaign has a baseline; give it one, as in baseline = 'easy'"
CLASS_METRICS = ("mean_wait", "mean_response", "mean_bsld", "max_bsld", "area", "killed")
"""What is kept of each class of jobs."""


def refuse_texts(frame: pl.DataFrame, metric: str) -> None:
    """Complain of a metric that is not there, or that is no number."""
    import polars as pl

    if metric not in frame.columns:
        raise UsageError(f"the results have no column {metric!r}; they have {', '.join(frame.columns)}")
    if not (frame[metric].dtype.is_numeric() or frame[metric].dtype in (pl.Boolean, pl.Null)):
        raise UsageError(f"{metric} is not a number in every cell; choose a column of numbers")


def pairs(frame: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Every cell beside its baseline: the columns of the results, and value, base, difference, ratio.

    A cell that is its own baseline is left out, and so are pairs of which one failed or has no value.
    `same_jobs` is whether both ran as many jobs, where the campaign measures `jobs`.
    """
    import polars as pl

    # Where no cell has a baseline the column has no type of its own.
    frame = frame.with_columns(pl.col("baseline").cast(pl.String))
    refuse_texts(frame, metric)
    value = pl.col(metric).cast(pl.Float64)
    counted = [pl.col("jobs").alias("base_jobs")] if "jobs" in frame.columns else []
    base = frame.select(pl.col("cell").alias("baseline"), value.alias("base"), *counted)
    joined = (
        frame.filter(pl.col("baseline").is_not_null() & (pl.col("baseline") != pl.col("cell")))
        .join(base, on="baseline", how="inner", maintain_order="left")
        .with_columns(
            value.alias("value"),
            same_jobs=pl.col("jobs") == pl.col("base_jobs") if counted else pl.lit(True),
        )
        .drop("base_jobs", strict=False)
    )
    if not joined.height:
        raise UsageError(NO_BASELINE)
    known = joined.drop_nulls(["value", "base"])
    if not known.height:
        raise UsageError(f"no cell and its baseline both have {metric}: cells failed, or no job has one")
    return known.with_columns(
        (pl.col("value") - pl.col("base")).alias("difference"),
        pl.when(pl.col("base") != 0).then(pl.col("value") / pl.col("base")).alias("ratio"),
    )


def against_baseline(
    frame: pl.DataFrame,
    metric: str,
    by: Sequence[str] | str = ("workload", "label"),
    *,
    level: float = LEVEL,
) -> pl.DataFrame:
    """One line per group: means with and without, paired difference and change with intervals, verdict.

    The block, such as a week, is the unit of observation, never the job; see `headway.campaign.intervals`.
    The verdict is better or worse only where there are blocks enough, the interval leaves out 0, and both ran
    the same jobs.
    """
    grouped = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    return _judged(pairs(frame, metric), grouped, metric, None, level=level)


def winners(
    frame: pl.DataFrame,
    classes: pl.DataFrame,
    by: str = "size",
    metric: str = "mean_bsld",
    labels: Sequence[str] | str | None = None,
    *,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Who gains and who loses against the baseline, by size, user or queue; jobs are the weights.

    The campaign must have kept its classes. Classes stand in the order of their gain, the best first.
    """
    import polars as pl

    classes = classes.filter(pl.col("by") == by)
    if not classes.height:
        raise UsageError(f"the campaign has no classes by {by!r}; it has size, user and queue")
    if metric not in CLASS_METRICS:
        raise UsageError(f"classes have no column {metric!r}; they have {', '.join(CLASS_METRICS)}")
    frame = frame.filter(pl.col("baseline").is_not_null() & (pl.col("baseline") != pl.col("cell")))
    if not frame.height:
        raise UsageError(NO_BASELINE)
    if labels is not None:
        known = frame["label"].unique(maintain_order=True).to_list()
        wanted = [labels] if isinstance(labels, str) else list(labels)
        frame = frame.filter(pl.col("label").is_in(wanted))
        if not frame.height:
            raise UsageError(f"no policy of {wanted} has a baseline; there are {', '.join(known)}")
    own = classes.select("cell", "class", "jobs", pl.col(metric).alias("value"))
    other = classes.select(
        pl.col("cell").alias("baseline"),
        "class",
        pl.col(metric).alias("base"),
        pl.col("jobs").alias("base_jobs"),
    )
    table = (
        frame.select("cell", "baseline", "workload", "block", "label")
        .join(own, on="cell")
        .join(other, on=["baseline", "class"])
        .with_columns(same_jobs=pl.col("jobs") == pl.col("base_jobs"))
    )
    judged = _judged(table, ("workload", "label", "class"), metric, "jobs", level=level)
    return judged.sort("workload", "label", "difference", maintain_order=True)


def _judged(
    table: pl.DataFrame,
    by: Sequence[str],
    metric: str,
    weight: str | None,
    *,
    level: float,
) -> pl.DataFrame:
    import polars as pl

    missing = [name for name in by if name not in table.columns]
    if missing:
        raise UsageError(f"the results have no column {missing[0]!r} to group by")
    lines = []
    for key, group in table.group_by(list(by), maintain_order=True):
        codes = np.unique(group["block"].to_numpy(), return_inverse=True)[1].astype(np.int64)
        weights = None if weight is None else group[weight].cast(pl.Float64).to_numpy()
        result = paired(codes, group["value"].to_numpy(), group["base"].to_numpy(), weights, level=level)
        line = dict(zip(by, key, strict=True))
        if weight is not None:
            line[weight] = int(group[weight].sum())
        said = verdict(result, metric, same_jobs=bool(group["same_jobs"].all()))
        lines.append(line | asdict(result) | {"verdict": said})
    return pl.DataFrame(lines, infer_schema_length=None)


def verdict(result: Paired, metric: str, *, same_jobs: bool = True) -> str:
    """better, worse, lower or higher where the interval leaves out 0; else why there is no verdict."""
    known = BY_NAME.get(metric)
    if known is not None and known.better and not same_jobs:
        return OTHER_JOBS
    if not result.enough:
        return TOO_FEW
    if not result.significant:
        return INDISTINGUISHABLE
    lower = result.difference < 0
    if known is None or not known.better:
        return "lower" if lower else "higher"
    return "better" if lower == (known.better == "lower") else "worse"
