"""Processors over time: each job a rectangle, on the processors it had or on ones painted for it."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.engine.ranges import Ranges, give, remove, take_lowest
from headway.figures.bands import WORKING, Bands, Ints, bands, draw_outages
from headway.figures.colouring import Colouring, colouring
from headway.figures.curves import Clock, Window, clock, short_name
from headway.figures.style import BLACK, GREY, PALE, house_style, literal, raster, sheet
from headway.plain import counted
from headway.platform.processor_sets import ranges
from headway.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

AROUND = 20_000
"""Pieces up to which those without numbers are painted around those with numbers."""

Strips = tuple[Ints, Ints, Ints]
"""Piece, lowest processor and number of processors of each strip."""


def strips(bands: Bands) -> Strips:
    """Where every piece lies, as strips of neighbouring processors within its band."""
    sets = bands.processors
    if sets is not None and all(sets):
        found = _named(sets, range(len(sets)))
    elif sets is not None and len(bands) <= AROUND:
        found = [
            strip
            for band in np.unique(bands.band).tolist()
            for strip in _paint_around(bands, sets, np.flatnonzero(bands.band == band))
        ]
    else:
        found = [
            strip for band in np.unique(bands.band).tolist() for strip in _paint(bands, bands.band == band)
        ]
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _paint(bands: Bands, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int, int]]:
    """The strips of one band. What a schedule holds beyond the band's size lies above it, for all to see."""
    rows = np.flatnonzero(here)
    # A job of no length is over before another starts on its processors at the same instant.
    rows = rows[np.lexsort((bands.job[rows], bands.end[rows] > bands.start[rows], bands.start[rows]))]
    free: Ranges = [(0, 2**62)]
    held: list[tuple[int, int, Ranges]] = []
    painted: list[tuple[int, int, int]] = []
    for piece, start, end, procs in zip(
        rows.tolist(),
        bands.start[rows].tolist(),
        bands.end[rows].tolist(),
        bands.procs[rows].tolist(),
        strict=True,
    ):
        while held and held[0][0] <= start:
            give(free, heapq.heappop(held)[2])
        size = int(bands.sizes[bands.band[piece]])
        taken = _take(free, procs, size)
        if end > start:
            heapq.heappush(held, (end, piece, taken))
        else:
            give(free, taken)
        painted.extend((piece, low, high - low) for low, high in taken)
    return painted


def _named(sets: Sequence[str], pieces: Iterable[int]) -> list[tuple[int, int, int]]:
    """The strips of pieces whose processors have numbers."""
    return [(piece, low, high - low) for piece in pieces for low, high in ranges(sets[piece])]


def _paint_around(bands: Bands, sets: Sequence[str], rows: Ints) -> list[tuple[int, int, int]]:
    """The strips of a band in which some pieces have numbers: the others go where these never are meanwhile.

    A job with numbers keeps its processors from its first piece to its last, in the gaps between them too.
    """
    known = [row for row in rows.tolist() if sets[row]]
    painted = _named(sets, known)
    spans: dict[tuple[int, str], list[int]] = {}
    for row in known:
        span = spans.setdefault((int(bands.job[row]), sets[row]), [int(bands.start[row]), 0])
        span[0], span[1] = min(span[0], int(bands.start[row])), max(span[1], int(bands.end[row]))
    kept = sorted((begin, end, ranges(text)) for (_, text), (begin, end) in spans.items())
    begins, longest = [begin for begin, _, _ in kept], max((end - begin for begin, end, _ in kept), default=0)
    free: Ranges = [(0, 2**62)]
    held: list[tuple[int, int, Ranges]] = []
    others = np.array([row for row in rows.tolist() if not sets[row] and bands.procs[row]], np.int64)
    others = others[
        np.lexsort((bands.job[others], bands.end[others] > bands.start[others], bands.start[others]))
    ]
    for row in others.tolist():
        start, end = int(bands.start[row]), int(bands.end[row])
        while held and held[0][0] <= start:
            give(free, heapq.heappop(held)[2])
        near = kept[bisect_left(begins, start - longest) : bisect_left(begins, max(end, start + 1))]
        open_to_it = list(free)
        for _, stop, parts in near:
            if stop > start:
                remove(open_to_it, parts)
        taken = take_lowest(open_to_it, int(bands.procs[row]))
        remove(free, taken)
        heapq.heappush(held, (end, row, taken))
        painted.extend((row, low, high - low) for low, high in taken)
    return painted


def _take(free: Ranges, procs: int, size: int) -> Ranges:
    """Remove and return `procs` processors, in one strip below `size` if there is a gap for it."""
    for place, (low, high) in enumerate(free):
        if min(high, size) - low >= procs:
            free[place : place + 1] = [(low + procs, high)] if low + procs < high else []
            return [(low, low + procs)]
    # What lies above the size comes last; it is taken only where a schedule holds more than there is.
    order = sorted(range(len(free)), key=lambda place: free[place][0] - min(free[place][1], size))
    taken: Ranges = []
    for place in order:
        low, high = free[place]
        room = high - low if low >= size else min(high, size) - low
        taken.append((low, low + min(procs, room)))
        free[place] = (taken[-1][1], high)
        procs -= min(procs, room)
        if not procs:
            break
    if procs:  # the gap that begins below the size goes on above it
        low, high = free[-1]
        taken.append((low, low + procs))
        free[-1] = (low + procs, high)
    free[:] = [gap for gap in free if gap[0] < gap[1]]
    return sorted(taken)


MOST_RECTANGLES = 4000
"""Pieces that are drawn one by one; more than that overlap on paper, so shares are drawn instead."""

MOST_NUMBERED = 80
"""Pieces that carry the number of their job, where it fits in."""

MOST_NAMED = 16
"""Bands that are named and, when dense, drawn as curves; more of them become the rows of a map."""

FEW_PROCS = 4
"""Machines of so few processors have a mark on the axis for each."""

MOST_RULED = 100
"""Bands with a line between them; more lines than that would be all one sees."""

COLUMNS = 700
"""Intervals of a dense chart; about a third of a millimetre each in print."""


LINE = 90
"""Letters of a title and a legend that stand side by side."""


def gantt(
    *schedules: Schedule,
    colour: str = "why",
    window: Window | None = None,
    names: Sequence[str] | None = None,
    height: float = 2.4,
    dense: bool | None = None,
) -> Figure:
    """Processors over time, one panel per schedule above one time axis.

    Up to 4,000 pieces each is a rectangle; where the schedule only counted processors they are painted on
    the lowest free ones. Beyond that (or with `dense`) each column of time shows the shares of its classes.
    Groups, clusters and nodes are stacked. Lost runs are hatched and pale; loading and swapping are hatched;
    a dotted line joins the pieces of a suspended job; an arrow shows a job that was moved to another cluster
    while it waited. Maintenance, and processors that are down or drain, are drawn behind the jobs.

    `colour` is why, size, user, queue or job. `window` is (from, to) in seconds since the first submission.
    `names` are the titles, the policies by default; `height` of a panel is in inches.
    """
    axis = clock(schedules, window)
    with house_style():
        figure, panels = sheet(len(schedules), height)
        titles = names if names is not None else [short_name(schedule) for schedule in schedules]
        for axes, schedule, title in zip(panels, schedules, titles, strict=True):
            _panel(axes, schedule, axis, colour, dense)
            _set_title(axes, title)
        axis.label(panels[-1])
    return figure


def _panel(axes: Axes, schedule: Schedule, axis: Clock, colour: str, dense: bool | None) -> None:
    shown = bands(schedule).within(axis.begin, axis.end)
    classes = colouring(schedule, colour, (axis.begin, axis.end))
    many = len(shown) > MOST_RECTANGLES if dense is None else dense
    if not many:
        _rectangles(axes, schedule, shown, classes, axis)
    elif len(shown.names) <= MOST_NAMED:
        _shares(axes, shown, classes, axis)
    else:
        _map(axes, shown, axis)
    _add_keys(axes, draw_outages(axes, schedule, shown, axis, many))
    _frame(axes, shown)


def _frame(axes: Axes, shown: Bands) -> None:
    """Borders and names of the bands, and the machine's limit."""
    axes.set_ylabel("processors")
    # A schedule that holds more than there is shows it above the limit.
    axes.set_ylim(0, max(shown.height * 1.002, axes.dataLim.y1))
    axes.axhline(shown.height, color=BLACK, linewidth=0.6)
    if len(shown.names) == 1:
        if shown.height <= FEW_PROCS:
            axes.set_yticks(range(int(shown.height) + 1))
        return
    if len(shown.names) <= MOST_RULED:
        for offset in shown.offsets[1:].tolist():
            axes.axhline(offset, color=BLACK, linewidth=0.6 if len(shown.names) <= MOST_NAMED else 0.1)
    if len(shown.names) <= MOST_NAMED:
        axes.set_yticks((shown.offsets + shown.sizes / 2).tolist(), [literal(name) for name in shown.names])
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel("")
    else:
        axes.set_ylabel(f"processors of {counted(len(shown.names), 'node')}")


def _rectangles(axes: Axes, schedule: Schedule, shown: Bands, classes: Colouring, axis: Clock) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    piece, low, count = strips(shown)
    bottom = low + shown.offsets[shown.band[piece]]
    top = bottom + count
    left, right = axis.scaled(shown.start[piece]), axis.scaled(shown.end[piece])
    corners = np.stack([np.stack([left, left, right, right], 1), np.stack([bottom, top, top, bottom], 1)], 2)
    paint = np.array(classes.colours, object)[classes.codes[shown.job[piece]]]
    border = 0.5 if len(shown) <= 150 else 0.2 if len(shown) <= 1000 else 0.0
    looks: tuple[tuple[NDArray[np.bool_], dict[str, Any]], ...] = (
        (~shown.lost & (shown.state == WORKING), {}),
        (~shown.lost & (shown.state != WORKING), {"hatch": "//////", "alpha": 0.6}),
        (shown.lost, {"hatch": "xxxx", "alpha": 0.3}),
    )
    for mask, look in looks:
        here = mask[piece] & (right > left)
        if here.any():
            edge = "white" if not look else GREY
            axes.add_collection(
                PolyCollection(
                    list(corners[here]), facecolors=list(paint[here]), edgecolors=edge,
                    linewidths=border, **look,
                )
            )  # fmt: skip
    instant = right == left
    if instant.any():
        # A job of no length is a line, as high as it is wide.
        axes.add_collection(
            LineCollection(list(corners[instant][:, :2]), colors=list(paint[instant]), linewidths=0.8)
        )
    _suspensions(axes, schedule, shown, piece, bottom + count / 2, axis)
    draw_moves(axes, schedule, shown, piece, bottom + count / 2, axis)
    if len(shown) <= MOST_NUMBERED:
        _numbers(axes, schedule, shown, classes, piece, corners, axis)
    axes.autoscale_view()
    _legend(axes, classes, shown)


def _suspensions(
    axes: Axes, schedule: Schedule, shown: Bands, piece: NDArray[np.int64], middle: NDArray[Any], axis: Clock
) -> None:
    """Dotted lines from where a job was suspended to where it was resumed."""
    from matplotlib.collections import LineCollection

    if schedule.pieces is None:
        return
    first = np.unique(piece, return_index=True)[1]  # the first strip of each piece
    key = piece[first]
    order = key[np.lexsort((shown.start[key], shown.band[key], shown.job[key]))]
    height = dict(zip(key.tolist(), middle[first].tolist(), strict=True))
    lines = []
    for one, other in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        same = shown.job[one] == shown.job[other] and shown.band[one] == shown.band[other]
        if same and shown.end[one] < shown.start[other] and not shown.lost[one]:
            times = axis.scaled(np.array([shown.end[one], shown.start[other]]))
            lines.append([(times[0], height[one]), (times[1], height[other])])
    axes.add_collection(LineCollection(lines, colors=BLACK, linewidths=0.8, linestyles=":"))


def _numbers(
    axes: Axes,
    schedule: Schedule,
    shown: Bands,
    classes: Colouring,
    piece: NDArray[np.int64],
    corners: NDArray[np.float64],
    axis: Clock,
) -> None:
    """The number of the job in every rectangle that has room for it."""
    from matplotlib.colors import to_rgb

    span = (axis.end - axis.begin) / axis.length
    inches, tall = axes.figure.get_size_inches() * 0.85  # type: ignore[union-attr]
    panels = len(axes.figure.axes)
    dark = np.array([sum(to_rgb(colour)) < 1.3 for colour in classes.colours])[classes.codes[shown.job]]
    dark &= ~shown.lost & (shown.state == WORKING)
    for strip in range(len(piece)):
        (left, bottom), (right, top) = corners[strip][0], corners[strip][2]
        text = str(schedule.workload.columns["job"][shown.job[piece[strip]]])
        wide = (right - left) / span * inches * 72
        high = (top - bottom) / max(shown.height, 1) * tall / panels * 72
        if wide > 4.5 * len(text) and high > 7:
            axes.text(
                (left + right) / 2, (bottom + top) / 2, text,
                ha="center", va="center", fontsize=6, clip_on=True,
                color="white" if dark[piece[strip]] else BLACK,
            )  # fmt: skip


def _shares(axes: Axes, shown: Bands, classes: Colouring, axis: Clock) -> None:
    """Stacked in each band and column: the mean processors of every class, lost and other work on top."""
    edges = axis.edges(COLUMNS)
    kinds = len(classes.colours) + 1
    kind = np.where(shown.lost | (shown.state != WORKING), kinds - 1, classes.codes[shown.job])
    cells = raster(
        shown.band * kinds + kind, shown.start, shown.end, shown.procs, edges, len(shown.names) * kinds
    ).reshape(len(shown.names), kinds, -1)
    times = axis.scaled(edges)
    for band, offset in enumerate(shown.offsets.tolist()):
        tops = offset + np.cumsum(cells[band], axis=0)
        floor = np.full(cells.shape[2], float(offset))
        for number, colour in enumerate((*classes.colours, GREY)):
            if (tops[number] > floor).any():
                axes.stairs(tops[number], times, baseline=floor, fill=True, color=colour, linewidth=0)
            floor = tops[number]
    _legend(axes, classes, shown, dense=True)


def _map(axes: Axes, shown: Bands, axis: Clock) -> None:
    """Many nodes: one row each, the darker the busier."""
    edges = axis.edges(COLUMNS)
    cells = raster(shown.band, shown.start, shown.end, shown.procs, edges, len(shown.names))
    busy = cells / shown.sizes[:, None]
    borders = np.concatenate([shown.offsets, [shown.height]])
    mesh = axes.pcolormesh(axis.scaled(edges), borders, busy, cmap="Blues", vmin=0, vmax=1, rasterized=True)
    figure = axes.figure
    figure.colorbar(mesh, ax=axes, label="busy share of a node", aspect=30, pad=0.01)


def _set_title(axes: Axes, title: str) -> None:
    """The title above the legend, which has lines of its own where both do not fit beside each other."""
    legend = axes.get_legend()
    words = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    lines = _lines(words)
    crowded = lines > 1 or len(words) > 4 or (len(words) > 0 and len(title) + _letters(words) > LINE)
    axes.set_title(literal(title), pad=5 + 11 * lines if crowded else 5)


def _letters(words: list[str]) -> int:
    """How much of a line a legend takes, its colour patches included."""
    return sum(len(word) + 6 for word in words)


def _lines(words: list[str]) -> int:
    """How many lines a legend takes."""
    return 1 if _letters(words) <= LINE else 2


def _add_keys(axes: Axes, keys: list[Patch]) -> None:
    """More keys in the legend, or one of them alone."""
    legend = axes.get_legend()
    if keys:
        _keys(axes, [*(legend.legend_handles if legend is not None else ()), *keys])


def _keys(axes: Axes, keys: list[Any]) -> None:
    columns = -(-len(keys) // _lines([str(key.get_label()) for key in keys]))
    axes.legend(
        handles=keys, loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, borderaxespad=0,
        handlelength=1.2, columnspacing=1.2,
    )  # fmt: skip


def _legend(axes: Axes, classes: Colouring, shown: Bands, dense: bool = False) -> None:
    from matplotlib.patches import Patch

    seen = np.unique(classes.codes[shown.job]).tolist() if classes.names else []
    keys = [Patch(color=classes.colours[code], label=classes.names[code]) for code in seen]
    lost, other = shown.lost.any(), (~shown.lost & (shown.state != WORKING)).any()
    if dense and (lost or other):
        keys.append(Patch(color=GREY, label="lost runs, loading or swapping"))
    elif other:
        keys.append(Patch(facecolor=PALE, edgecolor=GREY, hatch="//////", label="loading or swapping"))
    if lost and not dense:
        keys.append(Patch(facecolor=PALE, edgecolor=GREY, hatch="xxxx", label="lost run"))
    if keys:
        _keys(axes, keys)


MOST_DRAWN = 60
"""Moves that are drawn; more of them would hide the jobs."""


def draw_moves(
    axes: Axes, schedule: Schedule, shown: Bands, piece: NDArray[np.int64], middle: NDArray[Any], axis: Clock
) -> None:
    """An arrow for each move, at its instant, from the cluster that the job left; the last one of a job
    goes to where it ran::

        b  |        ┌──────┐          the job was moved from a to b while it waited,
           |      ↗ │ job  │          and ran there
        a  |     ╱  └──────┘
    """
    moves = schedule.moves
    if moves is None or not 0 < len(moves) <= MOST_DRAWN or len(shown.names) < 2:
        return
    centre = shown.offsets + shown.sizes / 2
    first = np.unique(piece, return_index=True)[1]  # the first strip of each piece
    place = {int(shown.job[piece[i]]): (int(shown.start[piece[i]]), float(middle[i])) for i in first.tolist()}
    last = {int(row): move for move, row in enumerate(moves.job.tolist())}
    for move, row in enumerate(moves.job.tolist()):
        if not axis.begin <= moves.time[move] <= axis.end:
            continue
        source, target = int(moves.source[move]), int(moves.target[move])
        end = (int(moves.time[move]), float(centre[target]))
        if last[row] == move and row in place:
            end = place[row]
        times = axis.scaled(np.array([moves.time[move], end[0]]))
        axes.annotate(
            "",
            xy=(float(times[1]), end[1]),
            xytext=(float(times[0]), float(centre[source])),
            arrowprops={"arrowstyle": "->", "linewidth": 0.7, "color": BLACK, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=True,
        )
