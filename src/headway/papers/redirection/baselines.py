"""What a reviewer would ask next: other orders, estimates, compositions, and why redirection gains or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from headway.campaign import Campaign
from headway.papers.page import rows_of
from headway.papers.redirection.grid import PAPER_ALPHA, Found, campaign
from headway.papers.redirection.logs import Log
from headway.papers.verdicts import Estimate, mean_of
from headway.units import WEEK
from headway.workload import Workload
from headway.workload.transform import apply_each

IN_A_POOL = (
    "easy", "easy(backfill=sjf)", "easy(order=sjf)", "easy(order=saf)", "easy(order=f1)", "easy(order=f2)",
    "easy(order=f3)", "easy(order=f4)",
)  # fmt: skip
"""On all processors in one pool; the first is what the others are divided by."""
LEARNED = ("easy(backfill=sjf, estimate=average2)", "easy(order=saf, estimate=average2)")
"""EASY++, and the order by areas with its estimates: only where estimates are not exact."""
SOME = ("easy", "easy(backfill=sjf)", "easy(order=saf)", "easy(order=f1)")
"""Those that are tried with requested times too."""
NEVER = "redirection(theta=inf)"
"""EASY on m processors while the others stand idle."""
ON_TOP = ("redirection", "redirection(principal=easy(order=saf))")
"""At the paper's point, over EASY and over EASY by areas."""
EXACT, ASKED = "exact times", "requested times"
RATIOS = {"mean_bsld": "mean BSLD", "max_bsld": "max BSLD", "mean_response": "mean response"}
RESAMPLED = 1000


def pools(logs: Sequence[Log]) -> list[Campaign]:
    """Orders on m + alpha m processors, and redirection on m and alpha m, for the same jobs."""
    exact, asked = [(log, EXACT) for log in logs], [(log, ASKED) for log in logs if log.has_requests]
    found = [_pool("orders", exact, IN_A_POOL, False)]
    if asked:
        found.append(_pool("estimates", asked, [*SOME, *LEARNED], False))
    return [*found, _pool("compositions", [*exact, *asked], [NEVER, *ON_TOP], True)]


def _pool(name: str, cases: Sequence[tuple[Log, str]], policies: Sequence[str], apart: bool) -> Campaign:
    sources = [
        {
            "workload": log.workload.fit_to(log.procs), "name": f"{log.name}, {times}",
            "apply": [log.weeks_spec(), *(["exact"] if times == EXACT else [])],
            "procs": log.procs if apart else log.procs + int(PAPER_ALPHA * log.procs),
        }
        for log, times in cases
    ]  # fmt: skip
    return campaign(f"redirection-{name}", sources, [{"policy": policy} for policy in policies])


class Baselines:
    """The cells of both campaigns: a number of each policy, week by week."""

    def __init__(self, frames: Sequence[pl.DataFrame]) -> None:
        columns = ["workload", "part", "label", *RATIOS]
        self.frame = pl.concat([frame.select(columns) for frame in frames]).unique(maintain_order=True)

    def values(self, log: Log, times: str, policy: str, name: str) -> np.ndarray:
        """One value a week, in the order of the weeks."""
        rows = self.frame.filter(
            (pl.col("workload") == f"{log.name}, {times}") & (pl.col("label") == policy)
        ).unique("part").sort("part")  # fmt: skip
        return np.asarray(rows[name].to_numpy())

    def ratio(self, log: Log, times: str, policy: str, name: str, base: str = "easy") -> np.ndarray:
        """Week by week over EASY on as many processors."""
        ratios: np.ndarray = self.values(log, times, policy, name) / self.values(log, times, base, name)
        return ratios

    def table(self, logs: Sequence[Log], times: str) -> list[list[str]]:
        """Averages of ratios to EASY with their intervals."""
        policies = [*(IN_A_POOL[1:] if times == EXACT else [*SOME[1:], *LEARNED]), *ON_TOP]
        lines = []
        for log in logs:
            if times == ASKED and not log.has_requests:
                continue
            for policy in policies:
                found = {
                    title: mean_of(self.ratio(log, times, policy, name)) for name, title in RATIOS.items()
                }
                lines.append(
                    {"log": log.cluster.title, "policy": f"`{policy}`"}
                    | {title: estimate.text(digits=2) for title, estimate in found.items()}
                )
        return rows_of(lines) if lines else [["log", "policy", *RATIOS.values()]]


def best_in_pool(found: Baselines, logs: Sequence[Log], runs: pl.DataFrame) -> list[list[str]]:
    """Redirection at its best and the best order, each chosen on half of the weeks and judged on the others.

    And the paper's point on top of the order by areas, against that order alone.
    """
    lines = []
    for log in logs:
        own = Found.on(log, runs)
        ratios = {p: found.ratio(log, EXACT, p, "mean_bsld") for p in IN_A_POOL[1:]}
        weeks = np.arange(len(own.judged))
        order, names = np.empty(len(weeks)), []
        for half in (weeks % 2 == 0, weeks % 2 == 1):
            chooses = half if half.any() else ~half
            names.append(min(ratios, key=lambda p: float(ratios[p][chooses].mean())))
            order[~half] = ratios[names[-1]][~half]
        redirected = own.judged["mean_bsld_ratio"].to_numpy()
        on_top = found.ratio(log, EXACT, ON_TOP[1], "mean_bsld", "easy(order=saf)")
        lines.append(
            {
                "log": log.cluster.title,
                "redirection / EASY": mean_of(redirected).text(digits=2),
                "best order": " and ".join(f"`{name}`" for name in dict.fromkeys(names)),
                "best order / EASY": mean_of(order).text(digits=2),
                "difference": mean_of(redirected - order).text(digits=2, sign=True),
                "redirection on top of order=saf / order=saf": mean_of(on_top).text(digits=2),
            }
        )
    return rows_of(lines)


def parts_of_the_gain(found: Baselines, logs: Sequence[Log]) -> list[list[str]]:
    """The ratio with / without as two factors: processors set apart, and jobs redirected."""
    lines = []
    for log in logs:
        apart, moved, both = factors(found, log)
        lines.append(
            {
                "log": log.cluster.title,
                "both: redirection / EASY on m + m'": _factor(both),
                "processors apart: EASY on m / on m + m'": _factor(apart),
                "redirecting: redirection / EASY on m": _factor(moved),
            }
        )
    return rows_of(lines)


def factors(found: Baselines, log: Log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithms of the two factors and of their product, week by week, at the paper's point."""
    apart = np.log(found.ratio(log, EXACT, NEVER, "mean_bsld"))
    both = np.log(found.ratio(log, EXACT, ON_TOP[0], "mean_bsld"))
    return apart, both - apart, both


def _factor(logarithms: np.ndarray) -> str:
    """A geometric mean with the interval of the mean logarithm."""
    mean = mean_of(logarithms)
    ends = [None if end is None else float(np.exp(end)) for end in (mean.low, mean.high)]
    return Estimate(float(np.exp(mean.value)), ends[0], ends[1], mean.blocks).text(digits=2)


FEATURES = {
    "load": "offered load of the week (%)",
    "fits": "share of the work in jobs that fit the group (%)",
    "newcomers": "newcomers while such a job runs (per doubling)",
    "waits": "mean BSLD of EASY on m (per doubling)",
}


def features(week: Workload, log: Log) -> dict[str, float]:
    """What a week is like, from its jobs alone."""
    work = week.procs * week.runtime.astype(np.float64)
    fits = week.procs <= int(PAPER_ALPHA * log.procs)
    rate = len(week) / WEEK
    during = float((work * week.runtime)[fits].sum()) * rate / max(float(work[fits].sum()), 1.0)
    return {
        "load": 100 * float(work.sum()) / (WEEK * log.procs),
        "fits": 100 * float(work[fits].sum() / max(work.sum(), 1.0)),
        "newcomers": float(np.log2(max(during, 1.0))),
    }


def regression(found: Baselines, logs: Sequence[Log]) -> list[list[str]]:
    """The logarithm of the ratio and its two parts on features of the week, between weeks and within logs."""
    rows: list[Mapping[str, float]] = []
    parts: list[tuple[float, ...]] = []
    of: list[int] = []
    for place, log in enumerate(logs):
        weeks = [week.fit_to(log.procs) for week in apply_each(log.workload, log.weeks_spec(), "exact")]
        waits = np.log2(found.values(log, EXACT, NEVER, "mean_bsld"))
        rows += [features(week, log) | {"waits": wait} for week, wait in zip(weeks, waits, strict=True)]
        parts += zip(*factors(found, log), strict=True)
        of += [place] * len(weeks)
    x = np.array([[row[name] for name in FEATURES] for row in rows])
    y, log_of = np.array(parts), np.array(of)
    lines = []
    for title, within in (("between all weeks", False), ("within each log", True)):
        slopes = [slopes_of(x, y[:, column], log_of, within) for column in (2, 0, 1)]
        for place, name in enumerate(FEATURES.values()):
            lines.append(
                {
                    "weeks compared": title, "feature of the week": name,
                    "both (%)": slopes[0][place].text(sign=True),
                    "processors apart (%)": slopes[1][place].text(sign=True),
                    "redirecting (%)": slopes[2][place].text(sign=True),
                }
            )  # fmt: skip
    return rows_of(lines)


def slopes_of(x: np.ndarray, y: np.ndarray, group: np.ndarray, within: bool) -> list[Estimate]:
    """Slopes of a linear regression (x 100), with intervals by resampling weeks, and logs unless within."""
    random = np.random.Generator(np.random.PCG64(0))
    logs = [np.flatnonzero(group == place) for place in np.unique(group)]

    def slopes(rows: np.ndarray) -> np.ndarray:
        a, b = x[rows].copy(), y[rows].copy()
        for each in np.unique(group[rows]) if within else ():
            same = group[rows] == each
            a[same] -= a[same].mean(axis=0)
            b[same] -= b[same].mean()
        design = a if within else np.column_stack([a, np.ones(len(rows))])
        return np.asarray(np.linalg.lstsq(design, b, rcond=None)[0][: x.shape[1]])

    drawn = []
    for _ in range(RESAMPLED):
        chosen = logs if within else [logs[k] for k in random.integers(0, len(logs), len(logs))]
        drawn.append(slopes(np.concatenate([random.choice(rows, len(rows)) for rows in chosen])))
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    value = slopes(np.arange(len(y)))
    return [
        Estimate(100 * float(v), 100 * float(a), 100 * float(b), len(y))
        for v, a, b in zip(value, low, high, strict=True)
    ]
