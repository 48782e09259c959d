"""Figure 1 of the paper, and how gain and loss depend on the share of flexible tasks and on the deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headway.figures.style import GREY, house_style, line, log_ticks, panels_for
from headway.papers.deadline.logs import Log
from headway.papers.deadline.runs import Run, Runs
from headway.papers.deadline.tables import change, share_rows
from headway.papers.kept import Numbers
from headway.simulate import simulate
from headway.workload import Workload

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headway.schedule import Schedule

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


HOUR = 3600.0
ROWS = ((0.0, 2.0, -1), (0.2, 3.0, 8.0), (0.4, 2.0, -1), (0.6, 2.0, 20.0), (0.8, 2.0, -1))
"""Submission, length, deadline (-1: none), of a job that runs and of T1 to T4."""


def example(policy: str) -> Schedule:
    """Figure 1 as an instance that can be simulated: who makes room, and when no longer.

    One processor (times in hours). T1 and T3 are flexible. T1 is to run at 2. When T2 comes, with priority,
    it goes before T1, which still ends by its deadline, 8. When T4 comes, going before T1 as well would make
    it late: T1 is placed for good, T4 behind it, and T3 behind both.
    """
    submit, length, deadline = zip(*ROWS, strict=True)
    log = Workload.from_arrays(
        unit="s",
        job=range(len(ROWS)),
        submit=[HOUR * x for x in submit],
        procs=[1] * len(ROWS),
        walltime=[HOUR * x for x in length],
        runtime=[HOUR * x for x in length],
        deadline=[-1 if x < 0 else HOUR * x for x in deadline],
    )
    return simulate(log, 1, policy)


def figure_1() -> Figure:
    """The example under conservative backfilling and under DBF."""
    from headway.figures import gantt

    names = ["conservative backfilling: in order of submission", "DBF: 2 before 1, 1 before 4, 3 last"]
    return gantt(example("conservative"), example("dbf"), names=names, colour="job", height=0.9)
