"""How gain and loss depend on the share of flexible tasks and on the length of the deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headway.figures.style import GREY, house_style, line, log_ticks, panels_for
from headway.papers.deadline.logs import Log
from headway.papers.deadline.runs import Run, Runs
from headway.papers.deadline.tables import change, share_rows
from headway.papers.kept import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = (
    ("priority tasks", "priority_mean_wait"),
    ("flexible tasks", "flexible_mean_wait"),
    ("all tasks", "wait"),
)
Points = list[tuple[float, Numbers, Numbers]]


def by_share(runs: Runs, logs: Sequence[Log], shares: Sequence[float]) -> Figure:
    """The change of the mean wait against conservative backfilling, for each share of flexible tasks."""

    def points(log: Log) -> Points:
        return [(100 * share, plain, dbf) for share, plain, dbf in share_rows(runs, log, shares)]

    return _panels(logs, points, "flexible tasks (%)", None)


def by_length(runs: Runs, logs: Sequence[Log], hours: Sequence[float]) -> Figure:
    """The same for each length of the deadline, one third of the tasks flexible."""

    def points(log: Log) -> Points:
        plain = runs.get(log, Run("conservative"))
        return [(h, plain, runs.get(log, Run(hours=h))) for h in hours]

    return _panels(logs, points, "deadline (h)", hours)


def _panels(
    logs: Sequence[Log], points: Callable[[Log], Points], label: str, ticks: Sequence[float] | None
) -> Figure:
    with house_style():
        figure, axes = panels_for(len(logs), 2, 2.2, 0.6)
        for panel, log in zip(axes, logs, strict=True):
            _panel(panel, points(log), log.title)
            panel.set_xlabel(label)
            if ticks is not None:
                log_ticks(panel, ticks)
        axes[0].legend()
    return figure


def _panel(panel: Axes, points: Points, title: str) -> None:
    panel.set_title(title)
    panel.set_ylabel("change of the mean wait (%)")
    panel.axhline(0, color=GREY, linewidth=0.6)
    for number, (name, column) in enumerate(CURVES):
        changes = [(x, change(dbf[column], plain[column])) for x, plain, dbf in points]
        known = [(x, y) for x, y in changes if y is not None]
        panel.plot([x for x, _ in known], [y for _, y in known], label=name, marker=".", **line(number))
