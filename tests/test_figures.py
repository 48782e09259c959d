"""Figures: what is drawn where, in numbers; pictures are looked at by people."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.dates import AutoDateLocator
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.text import Text

from headway import Schedule
from headway.errors import UsageError
from headway.figures import distribution, gantt, queue, save, utilization
from headway.figures.bands import bands
from headway.figures.colouring import OF_REASON, WIDTHS, colouring
from headway.figures.curves import dates, steps
from headway.figures.gantt import strips
from headway.figures.style import raster
from headway.metrics import busy_processors
from headway.platform import Cluster, NodeGroup, Platform
from headway.schedule import WHY
from headway.workload import Header, Workload
from small_schedules import easy_starts, pieces, schedule

JOBS = [(0.0, 2, 10.0, 12.0), (1.0, 4, 10.0, 10.0), (2.0, 2, 5.0, 8.0), (3.0, 1, 20.0, 20.0)]
"""On four processors under EASY: job 3 is backfilled next to job 1."""


def easy(**more: Any) -> Schedule:
    return schedule(JOBS, easy_starts(JOBS, 4), 4, "easy", **more)


def rectangles(figure: Figure, panel: int = 0) -> list[tuple[float, float, float, float]]:
    """left, bottom, right, top of everything drawn as a rectangle."""
    found = []
    for collection in figure.axes[panel].collections:
        if isinstance(collection, PolyCollection):
            for path in collection.get_paths():
                corners = np.asarray(path.vertices)[:4]
                found.append((*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()))
    return sorted(found)


def test_few_jobs_are_rectangles_on_the_lowest_free_processors() -> None:
    figure = easy().gantt()
    # Job 1 on 0-1 until 10; job 3 beside it from 2 to 7; job 2 on all from 10; job 4 after it.
    assert rectangles(figure) == [(0, 0, 10, 2), (2, 2, 7, 4), (10, 0, 20, 4), (20, 0, 40, 1)]
    assert figure.axes[0].get_xlabel() == "seconds since the first submission"
    assert {text.get_text() for text in figure.axes[0].texts} == {"1", "2", "3", "4"}


def test_the_axis_has_dates_where_the_log_says_when_it_began(tmp_path: Path) -> None:
    plain = easy()
    begun = 1_709_164_740  # 2024-02-28 23:59
    header = Header(["; Version: 2.2", f"; UnixStartTime: {begun}"])
    dated = replace(plain, workload=Workload(dict(plain.workload.columns), header=header))
    figure = Schedule.load(dated.save(tmp_path / "run")).gantt()
    [first, *_] = rectangles(figure)
    assert np.array(first[::2]) * 86400 == pytest.approx([begun, begun + 10], abs=1e-4)
    axes = figure.axes[0]
    figure.savefig(tmp_path / "gantt.png")
    assert axes.get_xlabel() == "UTC"
    assert axes.xaxis.get_offset_text().get_text() == "2024-Feb-28 23:59"
    assert [label.get_text() for label in axes.get_xticklabels()][:2] == ["23:59", "10"]
    both = gantt(dated, plain)
    assert both.axes[-1].get_xlabel() == "seconds since the first submission"


@pytest.mark.parametrize(
    ("begin", "end", "beside", "shown"),
    [
        ("1996-05-05", "1996-06-20", "1996", ["May-08", "15", "22", "Jun", "08", "15"]),
        ("1996-05-05", "1996-05-25", "1996-May", ["05", "09", "13", "17", "21", "25"]),
        ("1996-05-05T20", "1996-05-06T04", "1996-May", ["May-05\n20:00", "22:00", "May-06", "02:00"]),
        ("1996-05-05", "1998-05-25", "", ["1996-Sep", "1997", "May", "Sep", "1998", "May"]),
        ("1996-12-20", "1997-01-08", "1996 to 1997", ["Dec-21", "25", "29", "Jan", "05"]),
    ],
)
def test_the_first_date_says_what_stands_nowhere_else(
    begin: str, end: str, beside: str, shown: list[str]
) -> None:
    axes = Figure().add_subplot()
    places = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(places)
    axes.xaxis.set_major_formatter(dates(places))
    axes.set_xlim(*np.array([begin, end], "datetime64[s]").astype(np.int64) / 86400)
    assert [label.get_text() for label in axes.get_xticklabels()][: len(shown)] == shown
    assert axes.xaxis.get_major_formatter().get_offset() == beside


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 8), st.integers(0, 9)), min_size=1, max_size=25
    ).map(lambda rows: [(float(s), q, float(p), float(p)) for s, q, p in rows])
)
def test_painted_processors_are_enough_and_never_shared(jobs: list[tuple[float, int, float, float]]) -> None:
    shown = bands(schedule(jobs, easy_starts(jobs, 8), 8))
    piece, low, count = strips(shown)
    held = np.zeros(len(shown), np.int64)
    np.add.at(held, piece, count)
    assert held.tolist() == shown.procs.tolist()
    assert (low >= 0).all() and (low + count <= 8).all()
    for one in range(len(piece)):
        for other in range(one):
            apart_in_time = (
                shown.end[piece[one]] <= shown.start[piece[other]]
                or shown.end[piece[other]] <= shown.start[piece[one]]
                or shown.start[piece[one]] == shown.end[piece[one]]
                or shown.start[piece[other]] == shown.end[piece[other]]
            )
            assert (
                apart_in_time or low[one] >= low[other] + count[other] or low[other] >= low[one] + count[one]
            )


def test_too_many_processors_are_drawn_above_the_machine() -> None:
    broken = schedule([(0, 3, 10, 10), (0, 3, 10, 10)], [0, 0], 4)
    assert max(top for _, _, _, top in rectangles(broken.gantt())) == 6


def test_named_processors_are_drawn_as_named() -> None:
    table = pieces(
        [(0, 0, "running", 0, 5, 2, "suspended"), (0, 0, "running", 9, 14, 2, "done"),
         (1, 0, "running", 0, 5, 1, "done")], processors=["0,2", "0,2", "3"],
    )  # fmt: skip
    one = schedule([(0, 2, 10, 20), (0, 1, 5, 5)], [0, 0], 4, pieces=table)
    figure = one.gantt()
    assert rectangles(figure) == [(0, 0, 5, 1), (0, 2, 5, 3), (0, 3, 5, 4), (9, 0, 14, 1), (9, 2, 14, 3)]
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    assert [segment.tolist() for segment in lines[-1].get_segments()] == [[[5, 0.5], [9, 0.5]]]


def test_lost_and_swapping_pieces_look_different_and_are_named() -> None:
    table = pieces(
        [(0, 0, "running", 0, 5, 2, "redirected"), (0, 1, "running", 9, 19, 2, "done"),
         (1, 0, "swap_out", 0, 5, 1, "suspended"), (1, 0, "running", 5, 9, 1, "done")],
    )  # fmt: skip
    figure = schedule([(0, 2, 10, 20), (0, 1, 5, 5)], [9, 0], 4, pieces=table).gantt()
    looks = {
        (collection.get_hatch() or "", collection.get_alpha()): len(collection.get_paths())
        for collection in figure.axes[0].collections
        if isinstance(collection, PolyCollection)
    }
    assert looks == {("", None): 2, ("//////", 0.6): 1, ("xxxx", 0.3): 1}
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["head", "loading or swapping", "lost run"]


def test_a_job_of_no_length_is_a_line() -> None:
    figure = schedule([(0, 2, 0, 5), (0, 1, 5, 5)], [0, 0], 4).gantt()
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    assert [segment.tolist() for segment in lines[0].get_segments()] == [[[0, 0], [0, 2]]]


def test_groups_and_nodes_are_stacked() -> None:
    grouped = easy(group=np.array([0, 0, 1, 1]), groups={"principal": 4, "redirection": 2})
    figure = grouped.gantt()
    assert (2, 4, 7, 6) in rectangles(figure)  # job 3 in the second group, above the four of the first
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["principal", "redirection"]
    platform = Platform((Cluster("c", nodes=(NodeGroup(2, 4),)),))
    nodes = easy(node=np.array([0, 1, 0, 1]))
    nodes.platform = platform
    assert (10, 4, 20, 8) in rectangles(nodes.gantt())


def many(jobs: int, **more: Any) -> Schedule:
    rows = [(float(i), 1 + i % 3, 7.0, 9.0) for i in range(jobs)]
    return schedule(rows, [float(i) for i in range(jobs)], 24, **more)


def filled(figure: Figure) -> list[tuple[Any, ...]]:
    """Tops, edges and floors of everything stacked."""
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, StepPatch)]
    return [tuple(map(np.asarray, patch.get_data())) for patch in patches]


def test_many_jobs_are_shares_whose_area_is_the_work() -> None:
    dense = many(5000)
    dense.why = (np.arange(5000) % 3).astype(np.uint8)
    figure = dense.gantt()
    assert rectangles(figure) == []
    stacked = filled(figure)
    assert len(stacked) == 3
    area = sum(float(((top - floor) * np.diff(edges)).sum()) for top, edges, floor in stacked)
    unit = 60 if "minutes" in figure.axes[0].get_xlabel() else 3600
    assert area * unit == pytest.approx(float((dense.procs * dense.run).sum()) / 1e6, rel=1e-6)


def test_a_window_brings_the_rectangles_back() -> None:
    figure = many(5000).gantt(window=(100, 130))
    drawn = rectangles(figure)
    assert len(drawn) == 36  # 30 that start inside, and 6 that ran when it began
    assert figure.axes[0].get_xlim() == (100, 130)
    with pytest.raises(UsageError, match="nothing to draw from 9000 to 9100 s"):
        many(10).gantt(window=(9000, 9100))


def test_nodes_without_names_are_called_nodes() -> None:
    few = many(10, node=np.arange(10) % 2)
    few.platform = Platform((Cluster("c", nodes=(NodeGroup(2, 4),)),))
    assert list(bands(few).names) == ["node 0", "node 1"]


def test_many_nodes_become_a_map_of_their_busy_shares() -> None:
    platform = Platform((Cluster("c", nodes=(NodeGroup(20, 4),)),))
    dense = many(6000, node=np.arange(6000) % 20)
    dense.platform = platform
    figure = dense.gantt()
    [mesh] = [c for c in figure.axes[0].collections if type(c).__name__ == "QuadMesh"]
    busy = np.asarray(mesh.get_array())
    assert busy.shape[0] == 20
    assert busy.mean() == pytest.approx(busy_processors(dense).means(
        np.array([0, int(dense.end.max())]))[0] / 80, rel=0.01)  # fmt: skip


@given(
    st.lists(
        st.tuples(st.integers(-5, 50), st.integers(0, 30), st.integers(1, 9), st.integers(0, 2)), max_size=20
    ),
    st.lists(st.integers(0, 45), min_size=2, max_size=9, unique=True).map(sorted),
)
def test_raster_equals_the_sum_over_every_microsecond(
    rows: list[tuple[int, int, int, int]], edges: list[int]
) -> None:
    start, length, height, row = np.array(rows, np.int64).reshape(-1, 4).T
    cells = raster(row, start, start + length, height, np.array(edges), 3)
    for line in range(3):
        for column, (low, high) in enumerate(pairwise(edges)):
            total = sum(q for s, p, q, r in rows if r == line for t in range(s, s + p) if low <= t < high)
            assert cells[line, column] == pytest.approx(total / (high - low), abs=1e-9)


@pytest.mark.parametrize("key", ["why", "size", "user", "queue", "job"])
def test_every_job_has_a_colour_of_its_class(key: str) -> None:
    rows = [(float(i), 1 + i % 24, 7.0, 9.0) for i in range(60)]
    owners = {"user": np.arange(60) % 9, "queue": np.arange(60) % 2}
    one = schedule(rows, [float(i) for i in range(60)], 24, columns=owners)
    one.why = (np.arange(60) % len(WHY)).astype(np.uint8)
    classes = colouring(one, key)
    assert classes.codes.min() >= 0 and classes.codes.max() < len(classes.colours)
    expected = {"why": 12, "size": 3, "user": 7, "queue": 2, "job": 0}[key]
    assert len(classes.names) == expected


def test_sizes_are_joined_so_that_each_colour_has_its_share_of_the_work() -> None:
    # Work of 1, 2, 4, 8, 16 and 32 processors for 5 s: 5 + 5, 10, 20, 40, 80 and 160 of 320.
    rows = [(float(i), 2**i, 5.0, 9.0) for i in range(6)] + [(7.0, 1, 5.0, 5.0)]
    one = schedule(rows, [float(i) for i in range(6)] + [7.0], 32)
    classes = colouring(one, "size")
    # Middles of the work at 5, 15, 30, 60, 120 and 240: in fifths of 64 the first, the second, the fourth.
    assert classes.names == ["1-8", "9-16", "17-32"]
    assert classes.codes.tolist() == [0, 0, 0, 0, 1, 2, 0]
    assert classes.colours == [WIDTHS[0], WIDTHS[2], WIDTHS[4]]


def test_reasons_keep_their_colours_whatever_else_is_there() -> None:
    assert set(OF_REASON) >= set(WHY)
    one = easy()
    one.why = np.full(4, WHY.index("backfill"), np.uint8)
    assert colouring(one, "why").colours == [OF_REASON["backfill"]]


def test_curves_over_time_are_the_step_functions() -> None:
    one = easy()
    [(busy, edges, _), *_] = filled(utilization(one))
    assert edges.tolist() == [0, 2, 7, 10, 20, 40]
    assert busy.tolist() == [0.5, 1, 0.5, 1, 0.25]
    [(waiting, edges, _), *_] = filled(queue(one))
    assert dict(zip(edges.tolist(), waiting.tolist(), strict=False)) == {0: 0, 1: 1, 3: 2, 10: 1, 20: 0}
    several = queue(one, many(50), names=["one", "other"])
    legend = several.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]


def test_curves_of_one_chart_are_all_means_or_all_exact() -> None:
    figure = utilization(easy(), many(400), names=["few changes", "many"])
    (first, second) = (patch for patch in figure.axes[0].patches if isinstance(patch, StepPatch))
    assert first.get_data()[1].tolist() == second.get_data()[1].tolist()
    assert figure.axes[0].get_xlabel().endswith(" since the first submission; means over 4.5 seconds")
    assert ";" not in utilization(easy(), many(20)).axes[0].get_xlabel()


def test_distribution_is_the_share_of_jobs_at_or_below() -> None:
    figure = distribution(easy())  # waits 0, 9, 0, 17
    [curve] = figure.axes[0].lines
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert x.tolist() == [1, 1, 9, 17]
    assert y.tolist() == [0, 0.5, 0.75, 1]
    with pytest.raises(UsageError, match="one of wait, response, bsld, slowdown"):
        distribution(easy(), measure="luck")


def test_a_long_distribution_keeps_its_ends_and_its_shape() -> None:
    values = np.arange(1.0, 50_001.0)
    levels, shares = steps(values)
    assert len(levels) <= 2000
    assert (levels[0], levels[-1], shares[-1]) == (1, 50_000, 1)
    assert np.allclose(shares, levels / 50_000)


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_picture_has_the_same_bytes(tmp_path: Path, ending: str) -> None:
    files = [save(gantt(easy(), many(9)), tmp_path / f"{name}.{ending}") for name in "ab"]
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert len(first) > 2000
    assert first.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[ending])


def test_unknown_formats_and_empty_schedules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in one of \.pdf, \.png, \.svg"):
        save(gantt(easy()), tmp_path / "picture.bmp")
    with pytest.raises(UsageError, match="has no jobs"):
        schedule([], [], 4).gantt()


def test_drawing_leaves_the_callers_settings_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    gantt(easy())
    assert dict(matplotlib.rcParams) == before


NAMES = [r"$\frac{$", "$a_1$", r"a\$b$c", "plain"]
"""Names in which Matplotlib would look for formulas."""


def shown_as_written(figure: Figure, names: list[str], path: Path) -> None:
    save(figure, path)
    texts = [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]
    for name in names:
        (text,) = {text for text in texts if text.replace(r"\$", "$") == name}
        assert not is_math_text(text)


def test_names_with_dollars_are_shown_letter_by_letter(tmp_path: Path) -> None:
    rows = [(float(i), 1, 7.0, 9.0) for i in range(4)]
    one = schedule(rows, [float(i) for i in range(4)], 4, columns={"user": np.arange(4)})
    one.workload.labels["user"] = NAMES
    shown_as_written(gantt(one, colour="user"), NAMES, tmp_path / "gantt.svg")
    four = [one] * 4
    for name, figure in (
        ("queue", queue(*four, names=NAMES)),
        ("utilization", utilization(*four, names=NAMES)),
        ("distribution", distribution(*four, names=NAMES)),
        ("panels", gantt(*four, names=NAMES)),
    ):
        shown_as_written(figure, NAMES, tmp_path / f"{name}.svg")
