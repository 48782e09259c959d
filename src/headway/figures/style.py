"""How figures look: sizes, fonts, colours and formats, and large pictures as pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.writing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SKY, ORANGE, GREEN, YELLOW = "#56B4E9", "#E69F00", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#000000"
GREY, PALE = "#999999", "#DDDDDD"

SERIES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, YELLOW)
"""Colours of curves, in order."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
"""Line styles of curves, in order; with the colours 40 different ones."""

WIDTH = 7.0
"""Inches: the text width of a printed page."""

LETTERS = 95
"""Letters of a legend that fit into this width."""

FORMATS = ("pdf", "png", "svg")

SETTINGS: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "svg.hashsalt": "headway",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and write within this; settings of the caller's own are as before afterwards."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        yield


def panels(rows: int, columns: int, inches: float, **settings: Any) -> tuple[Figure, Any]:
    """A figure as wide as a page, so many inches high, and the rows of its panels; no global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, inches), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def sheet(rows: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, one above the other, each `height` inches high, over one time."""
    figure, axes = panels(rows, 1, height * rows + 0.5, sharex=True)
    return figure, [axes[row, 0] for row in range(rows)]


def panels_for(count: int, most: int, height: float, above: float) -> tuple[Figure, list[Axes]]:
    """A figure of ``count`` panels, at most so many beside each other, with ``above`` inches for a legend."""
    columns = min(count, most)
    rows = -(-count // columns)
    figure, grid = panels(rows, columns, height * rows + above)
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def legend_above(figure: Figure, panel: Axes, columns: int = 2) -> None:
    """The legend of one panel above all of them."""
    handles, names = panel.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper right", ncols=columns)


def log_ticks(panel: Axes, values: Sequence[float], form: str = "{:g}") -> None:
    """A logarithmic x axis with these ticks and no others."""
    panel.set_xscale("log")
    panel.set_xticks(list(values), [form.format(value) for value in values])
    panel.minorticks_off()


TIMES = {
    "1 s": 1, "10 s": 10, "1 min": 60, "10 min": 600, "1 h": 3600, "6 h": 21600, "1 day": 86400,
    "1 week": 604800, "1 month": 2629746, "1 year": 31556952,
}  # fmt: skip
"""Marks of an axis of times, in seconds."""


def time_ticks(panel: Axes) -> None:
    """A logarithmic x axis of seconds with marks in the units that people use."""
    panel.set_xscale("log")
    first, last = panel.get_xlim()
    ticks = {name: time for name, time in TIMES.items() if first <= time <= last}
    panel.set_xticks(list(ticks.values()), list(ticks))
    panel.minorticks_off()


RUNS = ("#5C6B7A", "#8250DF", "#0F8B8D", "#B5179E", "#8C5E2A", "#6B8E23")
"""Colours of runs where a Gantt chart has those of reasons next to them: none of them is a reason's."""


def run_colour(place: int) -> str:
    """The colour of a run in a report; with many they come again."""
    return RUNS[place % len(RUNS)]


def colour_of(place: int) -> str:
    """The colour of a curve; with many they come again."""
    return SERIES[place % len(SERIES)]


def line(number: int) -> dict[str, Any]:
    """Colour and line style of the curve of that number."""
    return {"color": colour_of(number), "linestyle": DASHES[(number + number // len(SERIES)) % len(DASHES)]}


def read_log(panel: Axes) -> None:
    """A logarithmic upright axis with several labels, plain numbers, also where it spans less than a decade.

    To be called when the curves are drawn: how many labels there are depends on what the axis spans.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = panel.yaxis
    low, high = axis.get_view_interval()
    steps = (1, 1.5, 2, 3, 5, 7) if high < 20 * low else (1, 3) if high < 2000 * low else (1,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def literal(name: str) -> str:
    """A name as Matplotlib shows it letter by letter; what stands between two $ would be set as a formula."""
    return name.replace("$", r"\$")


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as its name says: .svg and .pdf for print, .png with 300 dots per inch."""
    target = Path(path)
    check_format(target)
    kind = target.suffix[1:].lower()
    # Without a date the same picture has the same bytes.
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with house_style(), replacing(target) as draft:
        figure.savefig(draft, format=kind, metadata=undated)
    return target


def check_format(path: Path) -> None:
    """Refuse a name whose ending is no format we write."""
    if path.suffix[1:].lower() not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise UsageError(f"{path}: a figure's name must end in one of {endings}")


def legend_columns(names: Sequence[str]) -> int:
    """Columns of a legend above a panel: as many as fit beside each other, at most four.

    >>> legend_columns(["fcfs", "easy"]), legend_columns(["redirection(theta=10, conflict=latest)"] * 3)
    (2, 2)
    """
    widest = max((len(name) for name in names), default=0) + 6
    return max(1, min(len(names), 4, LETTERS // widest))


Ints = NDArray[np.int64]


def raster(row: Ints, start: Ints, end: Ints, height: Ints, edges: Ints, rows: int) -> NDArray[np.float64]:
    """The time-weighted mean, in each row and column, of the heights of intervals [start, end).

    `edges` (µs, increasing) bound the columns. Every interval adds its height to whole columns by a step up
    and a step down, and its shares of the first and last column apart::

        edges    |        |        |        |
        interval      [------------------)
        adds        part     whole    part
    """
    columns = len(edges) - 1
    begin, stop = np.clip(start, edges[0], edges[-1]), np.clip(end, edges[0], edges[-1])
    seen = stop > begin
    row, begin, stop, weight = row[seen], begin[seen], stop[seen], height[seen].astype(np.float64)
    width = np.diff(edges).astype(np.float64)
    first = np.searchsorted(edges, begin, side="right") - 1
    last = np.searchsorted(edges, stop, side="left") - 1

    def spread(place: Ints, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = np.bincount(row * (columns + 1) + place, amounts, rows * (columns + 1))
        return np.asarray(cells.reshape(rows, columns + 1))

    # Everything from the first to the last column, less what lies before the begin and after the end.
    whole = np.cumsum(spread(first, weight) - spread(last + 1, weight), axis=1)[:, :columns]
    before = spread(first, weight * (begin - edges[first]) / width[first])[:, :columns]
    after = spread(last, weight * (edges[last + 1] - stop) / width[last])[:, :columns]
    # Sums that cancel leave tiny negative rests.
    return np.asarray(np.maximum(whole - before - after, 0.0))
