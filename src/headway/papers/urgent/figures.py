"""Figures 2, 3, 10 to 13 of the slides on our logs, and the rate of urgent jobs that a machine bears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.figures.style import GREY, house_style, line, log_ticks, panels, read_log
from headway.papers.log import Log
from headway.papers.urgent.logs import TSUNAMI
from headway.papers.urgent.runs import PERCENT, Run, Runs
from headway.papers.urgent.tables import LIMIT, POLICIES, RATES, SCALES, by_rate, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def without_treatment(runs: Runs, logs: Sequence[Log]) -> Figure:
    """When urgent jobs arrive (Figure 2), and slowdowns where nobody cares for them (Figure 3)."""
    with house_style():
        figure, axes = panels(len(logs), 2, 2.3 * len(logs) + 0.3)
        for log, (left, right) in zip(logs, axes, strict=True):
            found = runs.get(log, Run("conservative(compress=scratch)"))
            sizes = [procs for procs, _ in TSUNAMI]
            for place, size in enumerate(sizes):
                days = [point[0] for point in found["urgent_points"] if point[1] == size]
                left.plot(days, [size] * len(days), "|", color=line(place)["color"], markersize=9)
                if size > log.procs:
                    left.text(0.02, size, "wider than the machine", color=GREY, va="center",
                              transform=left.get_yaxis_transform())  # fmt: skip
            left.set_yscale("log", base=2)
            left.set_ylim(sizes[0] / 1.2, sizes[-1] * 1.2)
            left.set_yticks(sizes, [str(size) for size in sizes])
            left.minorticks_off()
            left.set_ylabel("processors")
            left.set_xlabel("arrival (days)")
            left.set_title(f"{log.title}: urgent jobs")
            for number, label in enumerate(("regular", "urgent")):
                right.plot(found[f"{label}_slowdowns"], PERCENT, label=label, **line(number))
            right.set_xscale("log")
            right.set_xlabel("slowdown")
            right.set_ylabel("jobs (%)")
            right.set_title(f"{log.title}: Backfill, all treated alike")
        axes[0, 1].legend()
    return figure


def regular_jobs(runs: Runs, logs: Sequence[Log]) -> Figure:
    """Response and slowdown of regular jobs under each scheduler (Figures 10 to 12)."""
    with house_style():
        figure, axes = panels(len(logs), 2, 2.3 * len(logs) + 0.3)
        titles = [title for title, _ in POLICIES]
        for log, (bars, dots) in zip(logs, axes, strict=True):
            found = [runs.get(log, Run(policy)) for _, policy in POLICIES]
            values = (
                [numbers["regular_mean_response"] / 3600 for numbers in found],
                [numbers["regular_mean_slowdown"] for numbers in found],
            )
            colours = [line(place)["color"] for place in range(len(titles))]
            bars.bar(titles, values[0], color=colours)
            # A bar on a logarithmic axis has no length: its foot is wherever the axis is cut.
            dots.scatter(titles, values[1], color=colours, s=24)
            dots.set_yscale("log")
            read_log(dots)
            for panel, name in zip((bars, dots), ("response (h)", "slowdown"), strict=True):
                panel.set_ylabel(f"mean {name}")
                panel.set_title(f"{log.title}, regular jobs")
    return figure


def longer_swaps(runs: Runs, logs: Sequence[Log]) -> Figure:
    """Lateness of urgent jobs and response of regular ones against the length of swaps (Figure 13)."""
    with house_style():
        figure, [[left, right]] = panels(1, 2, 2.9)
        for number, log in enumerate(logs):
            found = [runs.get(log, scaled(scale)) for scale in SCALES]
            left.plot(
                SCALES, [n["urgent_lateness"] for n in found], label=log.title, marker=".", **line(number)
            )
            base = found[0]["regular_mean_response"]
            changes = [100 * (n["regular_mean_response"] / base - 1) for n in found]
            right.plot(SCALES, changes, label=log.title, marker=".", **line(number))
        left.set_yscale("log")
        read_log(left)
        for panel in (left, right):
            log_ticks(panel, SCALES, "{:,}")
            panel.set_xlabel("swap times, multiple of the model")
        right.set_ylim(min(-5, right.get_ylim()[0]), max(5, right.get_ylim()[1]))
        left.set_ylabel("urgent lateness U_L")
        right.set_ylabel("change of regular response (%)")
        left.legend()
    return figure


def urgent_rates(runs: Runs, logs: Sequence[Log], jobs: int) -> Figure:
    """Lateness and regular response against the number of urgent jobs an hour."""
    with house_style():
        figure, [[left, right]] = panels(1, 2, 2.9)
        for number, log in enumerate(logs):
            tried = by_rate(runs, log, jobs)
            rates, late = [rate for rate, _ in tried], [found["urgent_lateness"] for _, found in tried]
            left.plot(rates, late, label=log.title, marker=".", **line(number))
            hours = [found["regular_mean_response"] / 3600 for _, found in tried]
            right.plot(rates, hours, label=log.title, marker=".", **line(number))
        left.axhline(LIMIT, color=GREY, linewidth=0.6)
        for panel in (left, right):
            panel.set_yscale("log")
            read_log(panel)
            log_ticks(panel, RATES)
            panel.set_xlabel("urgent jobs an hour")
        left.set_ylabel("urgent lateness U_L")
        right.set_ylabel("mean response of regular jobs (h)")
        left.legend()
    return figure
