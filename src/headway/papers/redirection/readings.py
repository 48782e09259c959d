"""Readings of what the paper leaves open, each judged on the same weeks with the same measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from headway.campaign import Campaign
from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Grid, best, campaign, over_weeks
from headway.papers.redirection.logs import Log
from headway.papers.verdicts import share_text
from headway.policies.spec import make_spec


@dataclass(frozen=True)
class Reading:
    """One way to read the paper: a parameter of the policy, or another choice of weeks."""

    question: str
    answer: str
    policy: dict[str, str] = field(default_factory=dict)
    weeks: dict[str, str] = field(default_factory=dict)
    whole_machine: bool = False
    user_estimates: bool = False

    @property
    def same_weeks(self) -> bool:
        """Whether it runs on the weeks of the paper's campaign."""
        return not (self.weeks or self.whole_machine or self.user_estimates)

    @property
    def key(self) -> str:
        """Its name among the workloads of a campaign."""
        return f"{self.question}: {self.answer}"


DEFAULT = Reading("as in the campaign", "filter procs, conflict walltime, m' = alpha m added")
CHECKPOINT = Reading("restart (ours)", "from a checkpoint", {"restart": "checkpoint"})
USER_ESTIMATES = Reading("estimates", "as the users gave them", user_estimates=True)

READINGS = (
    DEFAULT,
    Reading("conflict", "counter", {"conflict": "counter"}),
    Reading("conflict", "area", {"conflict": "area"}),
    Reading("conflict", "latest start", {"conflict": "latest"}),
    Reading("filter", "walltime (w_k >= w_j)", {"filter": "walltime"}),
    Reading("filter", "as printed (w_j >= w_k)", {"filter": "pseudo"}),
    Reading("filter", "none", {"filter": "none"}),
    Reading("group size", "alpha m / (1 - alpha) added", {"size": "share"}),
    Reading("group size", "alpha m of the machine's m", {"size": "split"}),
    Reading("machine size", "all processors of the header", whole_machine=True),
    Reading("utilization", "of the submitted work", weeks={"utilization": "submitted"}),
    Reading("weeks", "sliding by an hour", weeks={"placing": "sliding"}),
    USER_ESTIMATES,
    CHECKPOINT,
)


def applies(reading: Reading, log: Log) -> bool:
    """Whether a reading makes a difference for a log."""
    if reading.whole_machine:
        return log.cluster.whole_machine is not None
    if reading.user_estimates:
        return log.has_requests
    return reading.weeks.get("utilization") != log.utilization or not reading.weeks


def on_same_weeks(logs: Sequence[Log], grid: Grid) -> Campaign:
    """The readings that change the policy, at the paper's alpha."""
    sources = [log.source(log.name, log.weeks_spec(), "exact") for log in logs]
    policies = [
        {"policy": f"redirection(alpha={PAPER_ALPHA})", "points": [reading.policy], "grid": _thetas(grid)}
        for reading in READINGS
        if reading.same_weeks
    ]
    return campaign("redirection-readings", sources, policies)


def on_other_weeks(logs: Sequence[Log], grid: Grid) -> Campaign | None:
    """The readings that change the weeks or the estimates, at the paper's alpha."""
    sources = [
        _source(reading, log)
        for reading in READINGS
        for log in logs
        if not reading.same_weeks and applies(reading, log)
    ]
    policy = {"policy": f"redirection(alpha={PAPER_ALPHA})", "grid": _thetas(grid)}
    return campaign("redirection-weeks", sources, [policy]) if sources else None


def _thetas(grid: Grid) -> dict[str, Any]:
    return {"theta": list(grid.thetas)}


def _source(reading: Reading, log: Log) -> dict[str, Any]:
    procs = log.cluster.whole_machine if reading.whole_machine else None
    apply = [log.weeks_spec(procs, **reading.weeks)]
    if not reading.user_estimates:
        apply.append("exact")
    return log.source(f"{log.name} ({reading.key})", *apply, procs=procs)


def rows_of(reading: Reading, log: Log, same: pl.DataFrame, other: pl.DataFrame | None) -> pl.DataFrame:
    """The runs of one reading on one log."""
    if not reading.same_weeks:
        assert other is not None
        return other.filter(pl.col("workload") == f"{log.name} ({reading.key})")
    thetas = same["theta"].unique().drop_nulls()
    specs = [str(make_spec("redirection", alpha=PAPER_ALPHA, theta=t, **reading.policy)) for t in thetas]
    return same.filter((pl.col("workload") == log.name) & pl.col("policy").is_in(specs))


def table(logs: Sequence[Log], same: pl.DataFrame, other: pl.DataFrame | None) -> list[list[str]]:
    """The table of readings: the best theta at the paper's alpha, and the paper's theta."""
    rows = [
        ["open question", "reading", "log", "weeks", "best theta", "ratio there", f"ratio at {PAPER_THETA}",
         f"redirections at {PAPER_THETA}", "worst job redirected", "best theta in the paper's bracket"]
    ]  # fmt: skip
    for reading in READINGS:
        for log in logs:
            if not applies(reading, log):
                continue
            found = over_weeks(rows_of(reading, log, same, other), ["theta"])
            if not found.height:
                continue
            top = best(found)
            at_paper = found.filter(pl.col("theta") == PAPER_THETA).row(0, named=True)
            rows.append(
                [reading.question, reading.answer, log.cluster.title, str(top["weeks"]), str(top["theta"]),
                 _three(top["mean_bsld_ratio"]), _three(at_paper["mean_bsld_ratio"]),
                 f"{at_paper['redirections']:.1f}", share_text(at_paper["worst_is_redirected"]),
                 _inside(top["theta"], log.cluster.bracket)]
            )  # fmt: skip
    return rows


def _three(ratio: float | None) -> str:
    """A ratio with three decimals; a dash where no job was left to measure."""
    return "-" if ratio is None else f"{ratio:.3f}"


def _inside(theta: int, bracket: tuple[int, int] | None) -> str:
    if bracket is None:
        return "-"
    return "yes" if bracket[0] <= theta <= bracket[1] else f"no, {bracket[0]} to {bracket[1]}"
