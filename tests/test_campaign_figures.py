"""Figures of campaigns: what they show is what the results hold, and the same bytes come every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import headway
from headway.campaign import Results, figures


def heights(line: Any) -> Any:
    """The y values of a line as numbers."""
    return np.asarray(line.get_ydata(), dtype=float)


def widths(line: Any) -> Any:
    """The x values of a line as numbers."""
    return np.asarray(line.get_xdata(), dtype=float)


ALPHAS, THETAS, WEEKS = [0.1, 0.2], [1, 10, 100], 6


@pytest.fixture(scope="module")
def results() -> Results:
    """Ratios alpha x theta x (1 + week / 10) to a baseline of 2."""
    rows: list[dict[str, object]] = []
    for week in range(WEEKS):
        block = {"workload": "log", "block": f"week {week}", "part": week, "seed": 0, "status": "done"}
        rows.append(block | {"cell": f"b{week}", "label": "easy", "mean_bsld": 2.0, "baseline": None})
        for alpha in ALPHAS:
            for theta in THETAS:
                row = {
                    "cell": f"{week} {alpha} {theta}",
                    "label": f"a{alpha} t{theta}",
                    "baseline": f"b{week}",
                }
                value = 2.0 * alpha * theta * (1 + week / 10)
                rows.append(block | row | {"alpha": alpha, "theta": theta, "mean_bsld": value})
    return Results(Path("."), pl.DataFrame(rows, infer_schema_length=None))


def test_a_parameter_grid_has_a_panel_per_value_and_the_medians_of_the_cells(results: Results) -> None:
    figure = figures.parameter_grid(results, "mean_bsld", x="theta", panel="alpha")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["alpha = 0.1", "alpha = 0.2"]
    for axes, alpha in zip(figure.axes, ALPHAS, strict=True):
        medians = [heights(line)[0] for line in axes.lines if line.get_color() == "#000000"]
        assert np.allclose(medians, [alpha * theta * 1.25 for theta in THETAS])
        means = [heights(line)[0] for line in axes.lines if line.get_marker() == "D"]
        assert np.allclose(means, [alpha * theta * 1.25 for theta in THETAS])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["1", "10", "100"]


def test_a_heat_map_writes_the_means_into_its_fields(results: Results) -> None:
    figure = figures.heat_map(results, "mean_bsld", x="theta", y="alpha")
    texts = [float(text.get_text()) for text in figure.axes[0].texts]
    assert np.allclose(texts, [alpha * theta * 1.25 for alpha in ALPHAS for theta in THETAS], rtol=0.01)


def test_distributions_show_every_cell(results: Results) -> None:
    curve = figures.ecdf(results, "mean_bsld", by="theta")
    first = curve.axes[0].lines[0]
    expected = sorted(alpha * (1 + week / 10) for alpha in ALPHAS for week in range(WEEKS))
    assert np.allclose(widths(first)[1:], expected)
    assert heights(first)[-1] == 1.0
    violins = figures.violin(results, "mean_bsld", by="theta")
    dots = [line for line in violins.axes[0].lines if line.get_marker() == "."]
    assert [len(widths(line)) for line in dots] == [12, 12, 12]
    assert np.allclose(np.sort(widths(dots[0])), expected)


@pytest.mark.parametrize("draw", [figures.box, figures.violin])
def test_policies_stand_beside_their_boxes_and_are_read_without_turning_the_head(
    results: Results, draw: Any
) -> None:
    (axes,) = draw(results, "mean_bsld", relative=False).axes
    names = axes.get_yticklabels()
    assert [name.get_text() for name in names][:2] == ["easy", "a0.1 t1"] and len(names) == 7
    assert {name.get_rotation() for name in names} == {0.0}
    assert axes.get_ylim() == (7.6, 0.4)  # the first at the top
    means = [(*widths(line), *heights(line)) for line in axes.lines if line.get_marker() == "D"]
    assert np.allclose(sorted(means, key=lambda mean: mean[1])[:2], [(2.0, 1), (2.0 * 0.1 * 1.25, 2)])


def test_the_difference_of_two_schedules_shows_each_job_once() -> None:
    workload = headway.Workload.from_arrays(
        unit="s", submit=[0, 1, 2], procs=[2, 4, 2], runtime=[10, 10, 5], walltime=[12, 10, 8]
    )
    strict, easy = (headway.simulate(workload, 4, policy) for policy in ("fcfs", "easy"))
    figure = figures.difference(strict, easy)
    left, right = figure.axes
    changes = np.asarray(left.collections[0].get_offsets())[:, 1]
    assert changes.tolist() == ((easy.wait - strict.wait) / 1e6).tolist() == [0.0, 0.0, -18.0]
    assert right.get_title(loc="left") == "shorter 33%, same 67%, longer 0%"
    again = figures.difference(strict.frame(), easy.frame(), names=("fcfs", "easy"))
    assert np.asarray(again.axes[0].collections[0].get_offsets())[:, 1].tolist() == changes.tolist()


def test_figures_are_written_alike_every_time(results: Results, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        figures.save(figures.violin(results, "mean_bsld", by="theta"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.raises(headway.UsageError, match="must end in"):
        figures.save(figures.ecdf(results, "mean_bsld"), tmp_path / "a.gif")


def test_what_is_not_there_is_named(results: Results) -> None:
    with pytest.raises(headway.UsageError, match="no column 'gamma'"):
        figures.box(results, "mean_bsld", by="gamma")
    with pytest.raises(headway.UsageError, match="no column 'mean_joy'"):
        figures.box(results, "mean_joy", relative=False)
