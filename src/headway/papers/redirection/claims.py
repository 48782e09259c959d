"""Each claim of the paper that can be tried, a row each, next to what the campaign gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Found, best_resampled
from headway.papers.redirection.logs import AT_LEAST, CLUSTERS, WEEKS, Log
from headway.papers.verdicts import (
    Claim,
    Estimate,
    always,
    arithmetic,
    bracket,
    direction,
    mean_of,
    not_claimed,
    number,
    order,
    share_text,
    untested,
)
from headway.simulate import simulate
from headway.workload.models import generate

NOT_SHOWN = "not in the paper"
HARM = 5.0
"""Percent worse up to which a number counts as not harmed."""


def claims(runs: pl.DataFrame, baselines: int, logs: Sequence[Log]) -> list[Claim]:
    """All of them, cluster by cluster; clusters whose log was not given are said to be not tested."""
    found = [
        arithmetic(
            "size of the campaign", "section IV.C; the product is ours",
            "9 thetas x 4 alphas x 20 weeks x 3 clusters = 2160; 240 baselines",
            f"{runs.height} runs with redirection, {baselines} without, on {len(logs)} "
            f"log{'s' * (len(logs) != 1)}", True, "one baseline per alpha and week",
        )
    ]  # fmt: skip
    for log in logs:
        own = Found.on(log, runs)
        found += [*_weeks(own), *_best(own), *_maximum(own), *_parameters(own), *_response(own)]
    return [*found, _too_small(), *_absent(logs)]


def _weeks(own: Found) -> Iterator[Claim]:
    log, used = own.log, own.runs["part"].n_unique()
    yield not_claimed(
        own.title(f"weeks used at {AT_LEAST:.0%} or more"),
        str(WEEKS) if log.cluster.bracket else "-",
        f"{log.busy_weeks()} such weeks, the first {used} used",
        f"aligned to the log's start, {log.utilization} work, {log.procs:,} processors; which weeks "
        "the paper took is not known",
        "section IV.B" if log.cluster.bracket else "a log that the paper did not use",
    )


def _best(own: Found) -> Iterator[Claim]:
    """The best parameters, and what they are worth on weeks that did not choose them."""
    cluster = own.log.cluster
    if cluster.bracket is not None:
        by_alpha = {alpha: best_resampled(own.runs.filter(pl.col("alpha") == alpha)) for alpha in own.alphas}
        yield bracket(
            own.title("best theta for the mean bounded slowdown"), "section V.A, Figure 1", cluster.bracket,
            ", ".join(f"{drawn[0]} (alpha {alpha:g})" for alpha, drawn in by_alpha.items()),
            [theta for drawn in by_alpha.values() for theta in drawn[1:]],
            "by the average ratio, all alphas; the paper's conflict rule and weeks are not known",
        )  # fmt: skip
    title = own.title("mean bounded slowdown with well-chosen parameters, average change")
    where = f"parameters chosen on the other half of the weeks: {own.at}"
    if cluster.gain is None:
        yield direction(
            title, "section V.B", "better: 10, 20 and 40 % on the paper's logs", own.change("mean_bsld"), -1,
            where, digits=0,
        )  # fmt: skip
    else:
        yield number(
            title, "section V.B, Figure 2", -100 * cluster.gain, own.change("mean_bsld"), where, digits=0,
            sign=True,
        )  # fmt: skip
    point = own.runs.filter((pl.col("theta") == PAPER_THETA) & (pl.col("alpha") == PAPER_ALPHA))
    if own.log.name == "curie" and point.height:
        for name in ("mean", "max"):
            yield number(
                f"Curie at theta {PAPER_THETA}, alpha {PAPER_ALPHA:g}: {name} BSLD, average change",
                "section V.B", -10, _change(point, f"{name}_bsld"), "the only point with its parameters",
                digits=0, sign=True, paper="around -10 %",
            )  # fmt: skip


def _change(rows: pl.DataFrame, name: str) -> Estimate:
    """The average over weeks of a ratio with / without, as a change in percent."""
    return mean_of(rows[f"{name}_ratio"].drop_nulls().to_numpy()).scaled(100, -100)


def _maximum(own: Found) -> Iterator[Claim]:
    rows, where = own.judged, f"at points chosen on the other half of the weeks: {own.at}"
    largest = own.change("max_bsld")
    yield direction(
        own.title("the maximal bounded slowdown is not harmed, average change"), "section VI", "not harmed",
        largest, -1, f"harmed: more than {HARM:g} %; {where}", than=HARM, digits=0,
    )  # fmt: skip
    title, both = own.title("a couple of parameters improves both mean and maximum"), own.both_improved()
    if both is None:
        none = "no couple does so on one of the halves of the weeks"
        yield always(title, "section V.B", "always", none, [False], "averages, as in the paper's example")
    else:
        yield order(
            title, "section V.B", "always",
            "; ".join(f"{name} {change.text(' %', 0, True)}" for name, change in both.items()),
            [change.negative() for change in both.values()],
            "averages, as in the paper's example; chosen on one half of the weeks and judged on the other",
        )  # fmt: skip
    less = mean_of((rows["max_bsld_ratio"] - rows["mean_bsld_ratio"]).to_numpy()).scaled(100)
    yield direction(
        own.title("the maximum gains less than the mean"), "section V.B", "less beneficial", less, 1,
        f"percentage points between the average ratios; {where}", unit=" points", digits=0,
    )  # fmt: skip
    worst = mean_of(rows["worst_is_redirected"].cast(pl.Float64).to_numpy()).scaled(100)
    yield direction(
        own.title("the worst job tends to be a redirected one"), "section V.B", "tends to", worst, 1,
        f"share of the weeks, against one half; of the worst hundredth "
        f"{share_text(rows['redirected_among_worst'].mean())} are redirected", than=50, digits=0,  # type: ignore[arg-type]
    )  # fmt: skip


def _parameters(own: Found) -> Iterator[Claim]:
    """What theta and alpha do; each week is a block, its alphas together."""
    weekly = own.runs.group_by("part", "theta", maintain_order=True).agg(pl.col("redirections").mean())
    counts = {
        theta: weekly.filter(pl.col("theta") == theta).sort("part")["redirections"].to_numpy()
        for theta in sorted(weekly["theta"].unique())
    }
    small, large = counts[min(counts)], counts[max(counts)]
    yield order(
        own.title("small theta overloads the redirection group"), "section V.A", "many",
        ", ".join(f"theta {theta}: {values.mean():.1f} a week" for theta, values in counts.items()),
        [mean_of(more - less) for more, less in pairwise(counts.values())],
        "all alphas together; a larger theta asks for more newcomers, so this is nearly the rule itself",
        possible=False,
    )  # fmt: skip
    never = [bool(value) for value in large == 0]
    yield always(
        own.title("large theta never redirects"), "section V.A", "never",
        f"{large.mean():.1f} redirections a week at theta {max(counts)}, {small.mean():.1f} at "
        f"{min(counts)}; none in {share_text(float(np.mean(never)))} of the weeks", never, "week by week",
    )  # fmt: skip
    yield direction(
        own.title("theta and alpha are related: a small theta wants a large group"), "section V.A",
        "strongly related", mean_of(own.related()), -1,
        "Spearman's correlation of theta and the alpha that is best for it, week by week", unit="", digits=2,
    )  # fmt: skip


def _response(own: Found) -> Iterator[Claim]:
    """The largest response time, and what the paper measures nowhere: the mean response and the mean wait."""
    at_theta = own.runs.filter(pl.col("theta") == PAPER_THETA).sort("part")
    first, last = (at_theta.filter(pl.col("alpha") == alpha) for alpha in (min(own.alphas), max(own.alphas)))
    shorter = [
        np.log((last[name] / first[name]).to_numpy()) for name in ("max_response", "max_response_without")
    ]
    yield direction(
        own.title("alpha is very important for the largest response time"), "section V.A",
        "very important: the group grows", mean_of(100 * (shorter[0] - shorter[1])), -1,
        f"change from alpha {min(own.alphas):g} to {max(own.alphas):g} with redirection beyond that of EASY "
        f"on as many processors, logarithms x 100, theta {PAPER_THETA}; never shown there", unit="", digits=0,
    )  # fmt: skip
    for column, name in (("mean_response", "mean response time"), ("mean_wait", "mean wait")):
        rows = own.judged.filter(pl.col(f"{column}_ratio").is_finite())
        worse = int((rows[f"{column}_ratio"] > 1).sum())
        yield not_claimed(
            own.title(f"{name} with redirection, average change"), "-",
            f"{_change(rows, column).text(' %', 0, True)}; longer in {worse} of {own.judged.height} weeks",
            f"parameters chosen for the bounded slowdown on the other half of the weeks: {own.at}", NOT_SHOWN,
        )  # fmt: skip


def _too_small() -> Claim:
    """Jobs of at least 256 processors and a group of 255, as on Intrepid: nobody can be redirected."""
    jobs = generate("lublin(jobs=2000, procs=256, load=0.95, seed=1)")
    wide = jobs.with_columns(procs=jobs.procs * 256)
    made = [simulate(wide, 256 * 256, f"redirection(theta=1, group={size})") for size in (255, 256)]
    counts = [int(str(each.own["redirections"])) for each in made]
    return always(
        "a group smaller than every job (Intrepid: 256) has no effect", "section IV.C", "no positive effect",
        f"{counts[0]} redirections with m' = 255, {counts[1]} with 256", [counts[0] == 0],
        "no job fits into the group; 2,000 generated jobs of multiples of 256 processors", possible=False,
    )  # fmt: skip


def _absent(logs: Sequence[Log]) -> list[Claim]:
    given = {log.name for log in logs}
    return [
        untested(
            f"{cluster.title}: best theta, mean bounded slowdown",
            f"{cluster.bracket[0]} to {cluster.bracket[1]}; {cluster.gain:.0%} better",
            f"the log was not given: --trace {name}=FILE",
            "section V",
        )
        for name, cluster in CLUSTERS.items()
        if name not in given and cluster.bracket is not None and cluster.gain is not None
    ]
