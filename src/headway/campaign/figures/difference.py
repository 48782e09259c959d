"""The difference of two schedules of the same jobs: whose wait changed, by how much, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import UsageError
from headway.figures.style import BLUE, GREY, VERMILLION, house_style, literal, panels
from headway.policies.spec import parse_spec
from headway.schedule import Schedule

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

DAY = 86_400.0


def difference(
    first: Schedule | pl.DataFrame, second: Schedule | pl.DataFrame, names: tuple[str, str] | None = None
) -> Figure:
    """Change of every job's wait from the first schedule to the second.

    Left: over the time of submission, one dot a job, as large as its processors. Right: the jobs in the order
    of their change, with the shares that wait shorter, the same and longer. The axis is linear up to a minute
    and logarithmic beyond. Schedules may be tables too, as a campaign keeps them.
    """
    one, other = _jobs(first), _jobs(second)
    named = [literal(name) for name in names or (_policy(first, "first"), _policy(second, "second"))]
    both = one.select("job", "submit", "procs", "wait").join(
        other.select("job", "wait"), on="job", how="inner", suffix="_after", maintain_order="left"
    )
    if not both.height:
        raise UsageError("the two schedules have no job in common; there is nothing to compare")
    change = (both["wait_after"] - both["wait"]).to_numpy().astype(np.float64)
    submit = both["submit"].to_numpy().astype(np.float64)
    size = both["procs"].to_numpy().astype(np.float64)
    colour = np.where(change < 0, BLUE, np.where(change > 0, VERMILLION, GREY))
    with house_style():
        figure, [[left, right]] = panels(1, 2, 2.8, sharey=True, width_ratios=[3, 2])
        left.scatter(
            (submit - submit.min()) / DAY, change, s=2 + 10 * size / size.max(), c=colour, alpha=0.5,
            linewidths=0, rasterized=len(change) > 5000,
        )  # fmt: skip
        left.set_xlabel("submission (days)")
        left.set_ylabel(f"change of wait, {named[0]}\nto {named[1]}")
        order = np.sort(change)
        level = np.arange(1, len(order) + 1) / len(order)
        right.fill_between(level, order, 0, where=order < 0, color=BLUE, alpha=0.25, linewidth=0)
        right.fill_between(level, order, 0, where=order > 0, color=VERMILLION, alpha=0.25, linewidth=0)
        right.plot(level, order, color="black", linewidth=1.0)
        right.set_xlim(0, 1)
        right.set_xlabel("share of the jobs")
        shorter, longer = float(np.mean(change < 0)), float(np.mean(change > 0))
        right.set_title(
            f"shorter {shorter:.0%}, same {1 - shorter - longer:.0%}, longer {longer:.0%}",
            fontweight="normal",
        )
        reach = max(float(np.abs(change).max()), 60.0)
        marks = {"1 min": 60, "10 min": 600, "1 h": 3600, "6 h": 21600, "1 day": 86400, "1 week": 604800}
        shown = {name: time for name, time in marks.items() if time <= reach}
        for axes in (left, right):
            axes.set_yscale("symlog", linthresh=60)
            axes.set_ylim(-1.5 * reach, 1.5 * reach)
            axes.axhline(0, color=GREY, linewidth=0.6)
            axes.grid(True, axis="y", linewidth=0.3, alpha=0.6)
        ticks = [-time for time in reversed(shown.values())] + [0, *shown.values()]
        texts = [f"−{name}" for name in reversed(shown)] + ["0", *(f"+{name}" for name in shown)]
        left.set_yticks(ticks, texts)
        left.minorticks_off()
    return figure


def _jobs(schedule: Schedule | pl.DataFrame) -> pl.DataFrame:
    return schedule.frame() if isinstance(schedule, Schedule) else schedule


def _policy(schedule: Schedule | pl.DataFrame, otherwise: str) -> str:
    policy = getattr(schedule, "policy", None)
    try:
        return otherwise if policy is None else parse_spec(policy).brief
    except UsageError:
        return str(policy)  # a name that only its author knows
