"""Each claim of the paper that can be tried, beside what the campaign gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Grid, best, over_weeks
from headway.papers.redirection.logs import AT_LEAST, CLUSTERS, WEEKS, Log
from headway.papers.verdicts import Claim, Verdict, change_text, share_text
from headway.simulate import simulate
from headway.workload.models import generate

POINTS = 0.05
"""Two improvements agree when they differ by no more than this (5 percentage points)."""


def claims(runs: pl.DataFrame, baselines: int, logs: Sequence[Log], grid: Grid) -> list[Claim]:
    """All of them, cluster by cluster; clusters whose log was not given are said to be not tested."""
    found = [*_setting(runs, baselines, logs, grid)]
    for log in logs:
        own = runs.filter(pl.col("workload") == log.name)
        found += [*_bracket(own, log), *_gain(own, log), *_paper_point(own, log), _worst(own, log)]
        found += [_thetas(own, log, grid), _response(own, log, grid)]
    found += [_too_small(), *_absent(logs)]
    return found


def _setting(runs: pl.DataFrame, baselines: int, logs: Sequence[Log], grid: Grid) -> list[Claim]:
    counts = f"{runs.height} runs with redirection, {baselines} without, on {len(logs)} logs"
    whole = (len(grid.thetas), len(grid.alphas)) == (9, 4) and {log.name for log in logs} == set(CLUSTERS)
    first = Claim(
        "size of the campaign", "9 thetas x 4 alphas x 20 weeks x 3 clusters = 2160; 240 baselines", counts,
        "agrees" if whole else "in part", "one baseline per alpha and week",
    )  # fmt: skip
    claims = [first]
    for log in logs:
        busy, used = log.busy_weeks(), runs.filter(pl.col("workload") == log.name)["part"].n_unique()
        enough = busy >= WEEKS
        remark = f"aligned to the log's start, {log.utilization} work, {log.procs:,} processors"
        claims.append(
            Claim(
                f"{log.cluster.title}: weeks used at {AT_LEAST:.0%} or more",
                "20",
                f"{busy} such weeks, {used} used",
                "agrees" if enough and used == WEEKS else "in part",
                f"{remark}; which weeks the paper took is not known",
            )
        )
    return claims


def _bracket(own: pl.DataFrame, log: Log) -> list[Claim]:
    if log.cluster.bracket is None:
        return []
    low, high = log.cluster.bracket
    by_alpha = over_weeks(own, ["alpha", "theta"])
    tops = {alpha: best(by_alpha.filter(pl.col("alpha") == alpha), "mean_bsld")["theta"]
            for alpha in by_alpha["alpha"].unique(maintain_order=True)}  # fmt: skip
    inside = sum(low <= theta <= high for theta in tops.values())
    verdict: Verdict = "agrees" if inside == len(tops) else "in part" if inside else "differs"
    ours = ", ".join(f"{theta} (alpha {alpha:g})" for alpha, theta in tops.items())
    return [
        Claim(
            f"{log.cluster.title}: best theta for the mean bounded slowdown",
            f"{low} to {high}",
            ours,
            verdict,
            "smallest median over the weeks; the paper's conflict rule and weeks are not known",
        )
    ]


def _gain(own: pl.DataFrame, log: Log) -> list[Claim]:
    top = best(over_weeks(own, ["theta", "alpha"]))
    ours = (
        f"median {change_text(top['mean_bsld_ratio'])}, mean over weeks "
        f"{change_text(top['mean_bsld_ratio_mean'])} (theta {top['theta']}, alpha {top['alpha']:g})"
    )
    if log.cluster.gain is None:
        return []
    gain = 1 - top["mean_bsld_ratio"]
    verdict: Verdict = "differs"
    remark = "no parameters of the grid improve it"
    if gain > 0:
        close = abs(gain - log.cluster.gain) <= POINTS
        verdict = "agrees" if close else "in part"
        remark = (
            "" if close else f"an improvement, but a {'larger' if gain > log.cluster.gain else 'smaller'} one"
        )
    return [
        Claim(
            f"{log.cluster.title}: mean bounded slowdown with well-chosen parameters",
            f"{log.cluster.gain:.0%} better",
            ours,
            verdict,
            remark,
        )
    ]


def _paper_point(own: pl.DataFrame, log: Log) -> list[Claim]:
    chosen = own.filter((pl.col("theta") == PAPER_THETA) & (pl.col("alpha") == PAPER_ALPHA))
    if log.name != "curie" or not chosen.height:
        return []
    point = over_weeks(chosen, ["theta"]).row(0, named=True)
    ours = "; ".join(
        f"{name}: median {change_text(point[f'{name}_bsld_ratio'])}, "
        f"average {change_text(point[f'{name}_bsld_ratio_mean'])}"
        for name in ("mean", "max")
    )
    both = [1 - point[f"{name}_bsld_ratio_mean"] for name in ("mean", "max")]
    close = all(abs(gain - 0.1) <= POINTS for gain in both)
    verdict: Verdict = "agrees" if close else "in part" if max(both) > 0 else "differs"
    return [
        Claim(
            f"Curie at alpha {PAPER_ALPHA:g}, theta {PAPER_THETA}: mean and max bounded slowdown",
            "both about 10 % better",
            ours,
            verdict,
            "the only point the paper gives with its parameters",
        )
    ]


def _worst(own: pl.DataFrame, log: Log) -> Claim:
    top = best(over_weeks(own, ["theta", "alpha"]))
    share = top["worst_is_redirected"]
    verdict: Verdict = "agrees" if share > 0.5 else "in part" if share > 0.2 else "differs"
    ours = (
        f"worst job redirected in {share_text(share)} of the weeks, "
        f"{share_text(top['redirected_among_worst'])} of the worst hundredth; "
        f"maximum {change_text(top['max_bsld_ratio'])} (median)"
    )
    return Claim(
        f"{log.cluster.title}: the maximum gains less, its job tends to be a redirected one", "tends to",
        ours, verdict, f"at the best point, theta {top['theta']}, alpha {top['alpha']:g}",
    )  # fmt: skip


def _thetas(own: pl.DataFrame, log: Log, grid: Grid) -> Claim:
    by_theta = over_weeks(own, ["theta"]).sort("theta")
    counts = by_theta["redirections"].to_list()
    falling = all(later <= earlier for earlier, later in pairwise(counts))
    small, large = by_theta.row(0, named=True), by_theta.row(-1, named=True)
    ours = (
        f"{small['redirections']:.1f} a week at theta {small['theta']}, {large['redirections']:.1f} at "
        f"{large['theta']} (none in {share_text(large['weeks_without'])} of the weeks); queued again for "
        f"{_hours(small)} and {_hours(large)}"
    )
    return Claim(
        f"{log.cluster.title}: small theta overloads the redirection group, large theta never redirects",
        "monotone", ours, "agrees" if falling and large["weeks_without"] > 0.5 else "in part",
        f"redirections {'fall' if falling else 'do not always fall'} with theta; all alphas together",
    )  # fmt: skip


def _hours(row: dict[str, Any]) -> str:
    return "-" if row["mean_queued_again"] is None else f"{row['mean_queued_again'] / 3600:.1f} h"


def _response(own: pl.DataFrame, log: Log, grid: Grid) -> Claim:
    by_alpha = over_weeks(own.filter(pl.col("theta") == PAPER_THETA), ["alpha"]).sort("alpha")
    first, last = by_alpha.row(0, named=True), by_alpha.row(-1, named=True)
    ours, without = (last[name] / first[name] for name in ("max_response", "max_response_without"))
    moved = abs(1 - ours)
    verdict: Verdict = "agrees" if moved >= 0.2 else "in part" if moved >= 0.05 else "differs"
    return Claim(
        f"{log.cluster.title}: alpha matters much for the largest response time", "very important",
        f"alpha {first['alpha']:g} to {last['alpha']:g}: {change_text(ours)} with redirection, "
        f"{change_text(without)} without", verdict,
        f"medians over the weeks, theta {PAPER_THETA}; never shown there",
    )  # fmt: skip


def _too_small() -> Claim:
    """Jobs of at least 256 processors and a group of 255, as on Intrepid: nobody can be redirected."""
    jobs = generate("lublin(jobs=2000, procs=256, load=0.95, seed=1)")
    wide = jobs.with_columns(procs=jobs.procs * 256)
    made = [simulate(wide, 256 * 256, f"redirection(theta=1, group={size})") for size in (255, 256)]
    counts = [int(str(each.own["redirections"])) for each in made]
    return Claim(
        "a group smaller than every job (Intrepid: 256) has no effect", "no effect",
        f"{counts[0]} redirections with m' = 255, {counts[1]} with 256",
        "agrees" if counts[0] == 0 else "differs", "2,000 generated jobs of multiples of 256 processors",
    )  # fmt: skip


def _absent(logs: Sequence[Log]) -> list[Claim]:
    given = {log.name for log in logs}
    return [
        Claim(
            f"{cluster.title}: best theta, mean bounded slowdown",
            f"{cluster.bracket[0]} to {cluster.bracket[1]}; {cluster.gain:.0%} better",
            "-",
            "not tested",
            f"the log is not at hand; give it with --trace {name}=FILE",
        )
        for name, cluster in CLUSTERS.items()
        if name not in given and cluster.bracket is not None and cluster.gain is not None
    ]
