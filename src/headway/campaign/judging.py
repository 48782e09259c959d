"""Judging a campaign: paired differences against the baseline, and who gains and who loses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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


def apart(frame: pl.DataFrame) -> list[str]:
    """The columns that are judged value by value: several workloads, such as two loads, are never pooled."""
    return ["workload"] if "workload" in frame.columns and frame["workload"].n_unique() > 1 else []


def means(frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    """Cells and means of each group: every block counts the same, as in verdicts, whatever its cells."""
    import polars as pl

    values = [pl.col(name).cast(pl.Float64).mean() for name in metrics]
    blocks = frame.group_by([*keys, "block"], maintain_order=True).agg(pl.len().alias("cells"), *values)
    return blocks.group_by(keys, maintain_order=True).agg(pl.col("cells").sum(), pl.col(metrics).mean())


@dataclass(frozen=True)
class Lead:
    """The policy with the best mean of a metric, and those that are not worse for sure."""

    labels: list[str]
    best: str
    """lowest or highest"""
    mean: float
    compared: int
    """Policies that ran the same jobs; others are not compared."""
    few: bool
    """Whether there are too few blocks to tell any apart."""

    def sentence(self, words: str, value: str, policies: int, mark: Callable[[str], str]) -> str:
        """The same for people; ``mark`` makes a name stand out."""
        among = (
            "" if self.compared == policies else f", of the {self.compared} policies that ran the same jobs"
        )
        names = " and ".join(filter(None, (", ".join(map(mark, self.labels[:-1])), mark(self.labels[-1]))))
        if self.compared == 1:
            return f"{names} has a {words} of {value} on average."
        if self.few:
            return f"Too few blocks to tell which policy has the {self.best} {words} on average{among}."
        if len(self.labels) == self.compared:
            return f"No policy has the {self.best} {words} for sure: {names} are {INDISTINGUISHABLE}{among}."
        if len(self.labels) > 1:
            names += f" have the {self.best} {words} on average"
            return f"{names}, {INDISTINGUISHABLE} from each other{among}."
        return f"{names} has the {self.best} {words} on average: {value}{among}."


def lead(frame: pl.DataFrame, metric: str) -> Lead | None:
    """Who has the best mean on one workload; None where no two of several policies ran the same jobs."""
    import polars as pl

    found = means(frame, ["label"], [metric]).drop_nulls()
    labels = _on_same_jobs(frame, found["label"].to_list())
    if not labels:
        return None
    value = dict(zip(found["label"].to_list(), found[metric].to_list(), strict=True))
    higher = metric in BY_NAME and BY_NAME[metric].better == "higher"
    labels.sort(key=lambda label: value[label], reverse=higher)
    cells = [name for name in ("block", "part", "seed") if name in frame.columns]

    def of(label: str) -> pl.DataFrame:
        mine = frame.filter(pl.col("label") == label).drop_nulls(metric)
        return mine.group_by(cells, maintain_order=True).agg(pl.col(metric).cast(pl.Float64).mean())

    first, ties, few = of(labels[0]), [], False
    for label in labels[1:]:
        both = first.join(of(label), on=cells, suffix="_other")
        codes = np.unique(both["block"].to_numpy(), return_inverse=True)[1].astype(np.int64)
        result = paired(codes, both[metric].to_numpy(), both[f"{metric}_other"].to_numpy())
        ties += [] if result.significant else [label]
        few = few or not result.enough
    best = "highest" if higher else "lowest"
    return Lead([labels[0], *ties], best, value[labels[0]], len(labels), few)


def _on_same_jobs(frame: pl.DataFrame, labels: Sequence[str]) -> list[str]:
    """The most policies that ran as many jobs on every block; none where no two of several did."""
    import polars as pl

    groups: dict[object, list[str]] = {}
    counted = [pl.col("jobs").mean()] if "jobs" in frame.columns else []
    for label in labels:
        blocks = frame.filter(pl.col("label") == label).group_by("block").agg(counted).sort("block")
        groups.setdefault(tuple(blocks.iter_rows()), []).append(label)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) > 1 or len(labels) == 1 else []


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
