"""The slides' drawings: how a process is swapped (Figure 4), the three cases (5 to 8), time by size (9).

Then their figures 2, 3, 10 to 13 on our logs, and the rate of urgent jobs that a machine bears.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.figures import gantt
from headway.figures.style import (
    BLACK,
    BLUE,
    GREY,
    PALE,
    SERIES,
    VERMILLION,
    house_style,
    line,
    log_ticks,
    panels,
    read_log,
)
from headway.papers.log import Log
from headway.papers.urgent.logs import TSUNAMI
from headway.papers.urgent.runs import PERCENT, Run, Runs
from headway.papers.urgent.tables import LIMIT, POLICIES, RATES, SCALES, by_rate, scaled
from headway.simulate import simulate
from headway.workload import Workload
from headway.workload.transform.swap_model import SUSPICIOUS, SWAP_TABLE, fits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headway.schedule import Schedule

STEPS = (
    (3.25, "1 the regular job is stopped", VERMILLION, ""),
    (2.75, "2 part of its memory goes to the host", VERMILLION, "out"),
    (2.25, "3 the urgent job runs", VERMILLION, ""),
    (1.55, "4 the urgent job has ended", BLUE, ""),
    (1.05, "5 the memory comes back", BLUE, "in"),
    (0.55, "6 the regular job goes on", BLUE, ""),
)
"""Height, text and colour of each step of a swap, and which way memory goes."""
Row = tuple[int, int, int, int]
CASES: tuple[tuple[str, tuple[Row, ...]], ...] = (
    (
        "backfilling: job 3 ends before job 2 is to start, nobody is delayed",
        ((0, 3, 10, 0), (1, 4, 6, 0), (2, 1, 6, 1)),
    ),
    (
        "preceding: job 3 needs the free processor for longer, job 2 starts later",
        ((0, 3, 10, 0), (1, 4, 6, 0), (2, 1, 12, 1)),
    ),
    (
        "preempting: job 3 needs two, job 1 is swapped out and goes on when it has ended",
        ((0, 3, 10, 0), (1, 4, 6, 0), (2, 2, 6, 1)),
    ),
)
"""Submission, processors, time and urgency of jobs 1 to 3 on four processors; a swap takes 1 s."""


def case(rows: tuple[Row, ...]) -> Schedule:
    """What UJFB makes of one of the cases."""
    submit, procs, time, urgent = zip(*rows, strict=True)
    log = Workload.from_arrays(
        unit="s",
        job=range(1, len(rows) + 1),
        submit=list(submit),
        procs=list(procs),
        walltime=list(time),
        runtime=list(time),
        urgent=list(urgent),
    )
    return simulate(log, 4, "ujfb(swap=1)")


def cases() -> Figure:
    """The three ways in which an urgent job is executed, simulated."""
    return gantt(*(case(rows) for _, rows in CASES), names=[title for title, _ in CASES], height=1.7)


def flow() -> Figure:
    """Partial process swapping: the engine's memory goes to its host and comes back."""
    with house_style():
        figure, [[panel]] = panels(1, 1, 2.3)
        panel.set(xlim=(0, 10), ylim=(0, 4))
        panel.axis("off")
        _box(panel, 0.2, "vector host (VH)", "memory of processes\nthat were swapped out")
        kept = "memory of the process\nthat runs; what stays\nties it to this engine"
        _box(panel, 7.2, "vector engine (VE)", kept)
        for height, text, colour, way in STEPS:
            panel.text(5, height + 0.03, text, ha="center", va="bottom", fontsize=8, color=colour)
            if way:
                begin, end = (7.1, 2.9) if way == "out" else (2.9, 7.1)
                style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2}
                panel.annotate("", xy=(end, height), xytext=(begin, height), arrowprops=style)
    return figure


def _box(panel: Axes, x: float, title: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    y, width, height = 0.4, 2.6, 3.2
    panel.add_patch(Rectangle((x, y), width, height, facecolor=PALE, edgecolor=GREY, linewidth=0.8))
    panel.text(x + width / 2, y + height - 0.35, title, ha="center", va="center", weight="bold")
    panel.text(x + width / 2, y + height / 2 - 0.2, text, ha="center", va="center", fontsize=7)


def table_3() -> Figure:
    """Swap time against size: the 32 points of Table 3, and the line of those that are not suspicious."""
    line = fits()[1]
    with house_style():
        figure, [[panel]] = panels(1, 1, 2.8)
        for place, label in enumerate(sorted({point[0] for point in SWAP_TABLE})):
            own = [point for point in SWAP_TABLE if point[0] == label]
            panel.plot(
                [point[2] for point in own], [point[3] for point in own], "osD^"[place], markersize=3.5,
                color=SERIES[place], label=f"class {label}",
            )  # fmt: skip
        for label, name, size, time in SWAP_TABLE:
            if (label, name) in SUSPICIOUS:
                panel.annotate(
                    f"{name} in class {label}: a misprint?", (size, time), textcoords="offset points",
                    xytext=(4, 40 if label == "A" else 4), fontsize=7,
                    arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5},
                )  # fmt: skip
        ends = (0.0, max(point[2] for point in SWAP_TABLE))
        panel.plot(
            ends, [line.intercept + size / line.bandwidth for size in ends], color=BLACK, linewidth=0.8,
            label=f"{line.intercept:.4f} s + size / {line.bandwidth:.0f} MB/s",
        )  # fmt: skip
        panel.set(
            xlabel="swapped out of a process (MB)", ylabel="swap time (s)", xlim=(0, None), ylim=(0, None)
        )
        panel.legend(loc="lower right")
    return figure


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
