"""Each claim of the paper that can be tried, beside what the campaign gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Found, Grid, at_point, best, over_weeks
from headway.papers.redirection.logs import AT_LEAST, CLUSTERS, WEEKS, Log
from headway.papers.verdicts import (
    Claim,
    change_text,
    direction,
    not_claimed,
    number,
    share_text,
    unharmed,
    untested,
)
from headway.plain import counted
from headway.simulate import simulate
from headway.workload.models import generate

NOT_SHOWN = "not in the paper"
NOT_USED = "a log that the paper did not use"


def claims(runs: pl.DataFrame, baselines: int, logs: Sequence[Log], grid: Grid) -> list[Claim]:
    """All of them, cluster by cluster; clusters whose log was not given are said to be not tested."""
    found = [*_setting(runs, baselines, logs, grid)]
    for log in logs:
        own = Found.on(log, runs)
        found += [*_bracket(own), _gain(own), *_paper_point(own), _maximum(own), _couple(own), _worst(own)]
        found += [_thetas(own), _related(own), _response(own), *_mean_response(own)]
    found += [_too_small(), *_absent(logs)]
    return found


def _setting(runs: pl.DataFrame, baselines: int, logs: Sequence[Log], grid: Grid) -> list[Claim]:
    counts = f"{runs.height} runs with redirection, {baselines} without, on {counted(len(logs), 'log')}"
    whole = (len(grid.thetas), len(grid.alphas)) == (9, 4) and {log.name for log in logs} >= set(CLUSTERS)
    claims = [
        Claim(
            "size of the campaign", "9 thetas x 4 alphas x 20 weeks x 3 clusters = 2160; 240 baselines",
            counts, "agrees" if whole else "in part", "one baseline per alpha and week", "number",
            "section IV.C; the product is ours",
        )
    ]  # fmt: skip
    for log in logs:
        busy, used = log.busy_weeks(), runs.filter(pl.col("workload") == log.name)["part"].n_unique()
        remark = f"aligned to the log's start, {log.utilization} work, {log.procs:,} processors"
        title = f"{log.cluster.title}: weeks used at {AT_LEAST:.0%} or more"
        ours = f"{busy} such weeks, the first {used} used"
        if log.cluster.bracket is None:
            claims.append(not_claimed(title, "-", ours, remark, NOT_USED))
            continue
        claims.append(
            Claim(
                title, str(WEEKS), ours, "agrees" if used == WEEKS else "in part",
                f"{remark}; which weeks the paper took is not known", "number", "section IV.B",
            )
        )  # fmt: skip
    return claims


def _bracket(own: Found) -> list[Claim]:
    if own.log.cluster.bracket is None:
        return []
    low, high = own.log.cluster.bracket
    by_alpha = over_weeks(own.runs, ["alpha", "theta"])
    tops = {alpha: best(by_alpha.filter(pl.col("alpha") == alpha))["theta"]
            for alpha in by_alpha["alpha"].unique(maintain_order=True)}  # fmt: skip
    ours = ", ".join(f"{theta} (alpha {alpha:g})" for alpha, theta in tops.items())
    return [
        Claim(
            own.title("best theta for the mean bounded slowdown"),
            f"{low} to {high}",
            ours,
            direction([low <= theta <= high for theta in tops.values()]),
            "the paper's conflict rule and weeks are not known",
            "number",
            "section V.A, Figure 1",
        )
    ]


def _gain(own: Found) -> Claim:
    """The paper's gains are averages over the weeks, and so is ours; the point is the best by the median."""
    top, other = own.top, best(own.table, "mean_bsld_ratio_mean")
    average, median = top["mean_bsld_ratio_mean"], top["mean_bsld_ratio"]
    ours = f"average {change_text(average)}, median {change_text(median)}"
    remark = (
        f"at the best point, {own.at}; averages are compared, the lowest "
        f"of all points is {change_text(other['mean_bsld_ratio_mean'])} (theta {other['theta']}, alpha "
        f"{other['alpha']:g})"
    )
    title = own.title("mean bounded slowdown with well-chosen parameters")
    if own.log.cluster.gain is None:
        said = "better: 10, 20 and 40 % on the paper's logs"
        return Claim(title, said, ours, direction([average < 1]), remark, "direction", "section V.B")
    return Claim(
        title, f"{100 * own.log.cluster.gain:.0f} % better", ours,
        number(100 * own.log.cluster.gain, 100 * (1 - average)), remark, "number", "section V.B, Figure 2",
    )  # fmt: skip


def _paper_point(own: Found) -> list[Claim]:
    chosen = own.runs.filter((pl.col("theta") == PAPER_THETA) & (pl.col("alpha") == PAPER_ALPHA))
    if own.log.name != "curie" or not chosen.height:
        return []
    point = over_weeks(chosen, ["theta"]).row(0, named=True)
    return [
        Claim(
            f"Curie at alpha {PAPER_ALPHA:g}, theta {PAPER_THETA}: {name} bounded slowdown, average gain",
            "around 10 % better",
            change_text(point[f"{name}_bsld_ratio_mean"]),
            number(10, 100 * (1 - point[f"{name}_bsld_ratio_mean"])),
            f"median {change_text(point[f'{name}_bsld_ratio'])}; the only point with its parameters",
            "number",
            "section V.B",
        )
        for name in ("mean", "max")
    ]


def _maximum(own: Found) -> Claim:
    top = own.top
    both = top["max_bsld_ratio"], top["max_bsld_ratio_mean"]
    return Claim(
        own.title("the maximal bounded slowdown is not harmed"), "not harmed",
        f"x {both[0]:.1f} median, x {both[1]:.1f} average", direction([unharmed(ratio) for ratio in both]),
        f"at the best point, {own.at}", "direction", "section VI",
    )  # fmt: skip


def _couple(own: Found) -> Claim:
    table = own.table
    both = table.filter((pl.col("mean_bsld_ratio_mean") < 1) & (pl.col("max_bsld_ratio_mean") < 1))
    medians = table.filter((pl.col("mean_bsld_ratio") < 1) & (pl.col("max_bsld_ratio") < 1))
    example = ""
    if both.height:
        top = best(both, "max_bsld_ratio_mean")
        example = f" (as theta {top['theta']}, alpha {top['alpha']:g})"
    ours = f"{both.height} of {table.height} couples by averages{example}, {medians.height} by medians"
    return Claim(
        own.title("a couple of parameters improves both mean and maximum"), "always", ours,
        direction([both.height > 0]), "both ratios below 1; averages decide, as in the paper's example",
        "direction", "section V.B",
    )  # fmt: skip


def _worst(own: Found) -> Claim:
    top = own.top
    less = top["max_bsld_ratio"] > top["mean_bsld_ratio"]
    ours = (
        f"worst job redirected in {share_text(top['worst_is_redirected'])} of the weeks, "
        f"{share_text(top['redirected_among_worst'])} of the worst hundredth"
    )
    return Claim(
        own.title("the maximum gains less, its job tends to be a redirected one"), "tends to",
        ours, direction([bool(less), top["worst_is_redirected"] > 0.5]),
        f"at the best point, {own.at}", "direction", "section V.B",
    )  # fmt: skip


def _thetas(own: Found) -> Claim:
    by_theta = over_weeks(own.runs, ["theta"]).sort("theta")
    counts = by_theta["redirections"].to_list()
    falling = all(later <= earlier for earlier, later in pairwise(counts))
    small, large = by_theta.row(0, named=True), by_theta.row(-1, named=True)
    ours = (
        f"{small['redirections']:.1f} a week at theta {small['theta']}, {large['redirections']:.1f} at "
        f"{large['theta']} (none in {share_text(large['weeks_without'])} of the weeks); queued again for "
        f"{_hours(small)} and {_hours(large)}"
    )
    return Claim(
        own.title("small theta overloads the redirection group, large theta never redirects"),
        "many, never", ours, direction([falling, large["weeks_without"] > 0.5]),
        f"redirections {'fall' if falling else 'do not always fall'} with theta; all alphas together",
        "direction", "section V.A",
    )  # fmt: skip


def _hours(row: dict[str, Any]) -> str:
    return "-" if row["mean_queued_again"] is None else f"{row['mean_queued_again'] / 3600:.1f} h"


def _related(own: Found) -> Claim:
    table = own.table
    tops = [(theta, best(table.filter(pl.col("theta") == theta))["alpha"])
            for theta in sorted(table["theta"].unique())]  # fmt: skip
    small, large = ([alpha for _, alpha in part] for part in (tops[: len(tops) // 2], tops[len(tops) // 2 :]))
    means = sum(small) / len(small), sum(large) / len(large)
    return Claim(
        own.title("theta and alpha are related: a small theta wants a large group"),
        "strongly related", "; ".join(f"theta {theta}: alpha {alpha:g}" for theta, alpha in tops),
        direction([means[0] > means[1]]),
        f"the best alpha by the median ratio: on average {means[0]:.3f} for the smaller thetas, "
        f"{means[1]:.3f} for the larger", "direction", "section V.A",
    )  # fmt: skip


def _response(own: Found) -> Claim:
    by_alpha = over_weeks(own.runs.filter(pl.col("theta") == PAPER_THETA), ["alpha"]).sort("alpha")
    first, last = by_alpha.row(0, named=True), by_alpha.row(-1, named=True)
    ours, without = (last[name] / first[name] for name in ("max_response", "max_response_without"))
    return Claim(
        own.title("alpha is very important for the largest response time"),
        "very important: the group grows",
        f"alpha {first['alpha']:g} to {last['alpha']:g}: {change_text(ours)} with redirection, "
        f"{change_text(without)} without", direction([ours < 1, ours <= 0.8]),
        "shorter with a larger group, by a fifth or more; medians over the weeks, theta "
        f"{PAPER_THETA}; never shown there", "direction",
        "section V.A",
    )  # fmt: skip


def _mean_response(own: Found) -> list[Claim]:
    """What the paper measures nowhere: the mean response and the mean wait."""
    here = own.runs.filter(at_point(own.top))
    found = []
    for column, name in (("mean_response", "mean response time"), ("mean_wait", "mean wait")):
        ratios = here[f"{column}_ratio"].drop_nulls()
        finite = ratios.filter(ratios.is_finite())
        worse = int((ratios > 1).sum())
        median, average = finite.median(), finite.mean()
        times = "none without it"
        if isinstance(median, float) and isinstance(average, float):
            times = f"x {median:.2f} median, x {average:.2f} average"
        ours = f"{times}; longer in {worse} of {len(ratios)} weeks"
        found.append(
            not_claimed(
                own.title(f"{name} with redirection"),
                "-",
                ours,
                f"at the best point for the bounded slowdown, {own.at}",
                NOT_SHOWN,
            )
        )
    return found


def _too_small() -> Claim:
    """Jobs of at least 256 processors and a group of 255, as on Intrepid: nobody can be redirected."""
    jobs = generate("lublin(jobs=2000, procs=256, load=0.95, seed=1)")
    wide = jobs.with_columns(procs=jobs.procs * 256)
    made = [simulate(wide, 256 * 256, f"redirection(theta=1, group={size})") for size in (255, 256)]
    counts = [int(str(each.own["redirections"])) for each in made]
    return Claim(
        "a group smaller than every job (Intrepid: 256) has no effect", "no positive effect",
        f"{counts[0]} redirections with m' = 255, {counts[1]} with 256",
        "agrees" if counts[0] == 0 else "differs", "2,000 generated jobs of multiples of 256 processors",
        "number", "section IV.C",
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
