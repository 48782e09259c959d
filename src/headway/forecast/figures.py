"""Figures of a check: reliability, sharpness, error by lead time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.arrays import Ints
from headway.figures.style import BLACK, BLUE, GREY, ORANGE, VERMILLION, house_style, sheet, time_ticks
from headway.forecast.check import Sample
from headway.forecast.levels import LEVELS
from headway.forecast.scores import at, intervals
from headway.units import HOUR, MINUTE, NEVER, SECOND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEADS = ("under 10 min", "10 min to 1 h", "1 h to 6 h", "6 h to 1 day", "over 1 day")
BORDERS = np.array([HOUR // 6, HOUR, 6 * HOUR, 24 * HOUR])


def reliability(sample: Sample) -> Figure:
    """How often a job had started by a time, against the probability that the forecast gave for that."""
    with house_style():
        figure, (panel,) = sheet(1, 3.2)
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, label="ideal")
        for told, name, colour, style in (
            (sample.simulated, "as simulated", ORANGE, "--"),
            (sample.corrected, "corrected", BLUE, "-"),
        ):
            kept = np.mean(sample.wait[:, None] <= told, axis=0)
            panel.plot(LEVELS, kept, color=colour, linestyle=style, marker="o", markersize=3, label=name)
        panel.set_xlabel("forecast probability of a start by a time")
        panel.set_ylabel("share of jobs that had started by then")
        panel.set_xlim(0, 1)
        panel.set_ylim(0, 1.02)
        panel.legend(loc="lower right")
    return figure


def sharpness(sample: Sample) -> Figure:
    """How wide the intervals are, and QBETS' bounds beside them: shares of jobs up to a width."""
    with house_style():
        figure, (panel,) = sheet(1, 2.8)
        widths = {}
        for level, colour in ((0.5, "50 % interval"), (0.9, "90 % interval")):
            low, high = intervals(sample.corrected, level)
            widths[colour] = high - low
        widths["95 % bound"] = at(sample.corrected, 0.95)
        widths["QBETS' 95 % bound"] = sample.bound[sample.bound < NEVER]
        looks = ((BLUE, "-"), (ORANGE, "--"), (VERMILLION, "-."), (BLACK, ":"))
        for (name, width), (colour, style) in zip(widths.items(), looks, strict=True):
            if len(width):
                ordered = np.maximum(np.sort(width), MINUTE) / SECOND
                share = np.arange(1, len(ordered) + 1) / len(ordered)
                panel.step(ordered, share, where="post", color=colour, linestyle=style, label=name)
        time_ticks(panel)
        panel.set_xlabel("width; less than a minute is drawn as a minute")
        panel.set_ylabel("share of jobs up to this width")
        panel.set_ylim(0, 1.02)
        panel.legend(loc="lower right")
    return figure


def by_lead(sample: Sample) -> list[dict[str, object]]:
    """Jobs by the median of their forecast wait, and the median errors of each forecast (seconds)."""
    group = np.searchsorted(BORDERS, at(sample.corrected, 0.5), side="right")
    rows: list[dict[str, object]] = []
    for number, name in enumerate(LEADS):
        here = sample.of(group == number)
        if len(here.wait):
            rows.append(
                {
                    "lead": name,
                    "jobs": len(here.wait),
                    "forecast": _median(at(here.corrected, 0.5), here.wait),
                    "plan": _median(here.plan, here.wait),
                    "recent": _median(here.recent, here.wait),
                }
            )
    return rows


def _median(told: Ints, wait: Ints) -> float:
    return float(np.median(abs(told - wait)) / SECOND)


def error_by_lead(sample: Sample) -> Figure:
    """Median errors of forecast, plan and recent median, by the median of the forecast wait."""
    rows = by_lead(sample)
    with house_style():
        figure, (panel,) = sheet(1, 2.6)
        for number, (name, title, colour) in enumerate(
            (
                ("forecast", "forecast", BLUE),
                ("plan", "policy's plan", ORANGE),
                ("recent", "recent median", GREY),
            )
        ):
            places = np.arange(len(rows)) + (number - 1) * 0.27
            heights = [float(str(row[name])) / 3600 for row in rows]
            panel.bar(places, heights, 0.25, color=colour, label=title)
        panel.set_xticks(range(len(rows)), [f"{row['lead']}\n{row['jobs']} jobs" for row in rows])
        panel.set_xlabel("median of the forecast wait")
        panel.set_ylabel("median error (hours)")
        panel.legend(loc="upper left")
    return figure


FIGURES = {"reliability": reliability, "sharpness": sharpness, "error-by-lead": error_by_lead}
