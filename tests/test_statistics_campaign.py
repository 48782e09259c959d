"""Statistics of campaigns: worked by hand, and on data whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import headway
from headway.campaign import Results, tables
from headway.campaign.intervals import MINIMUM, Paired, paired, quantile
from headway.campaign.judging import INDISTINGUISHABLE, TOO_FEW, verdict


def results_of(rows: list[dict[str, object]], folder: Path = Path(".")) -> Results:
    """Results from rows; what a row leaves out has a default."""
    common = {"workload": "log", "part": 0, "seed": 0, "label": "mine", "baseline": None, "status": "done"}
    return Results(folder, pl.DataFrame([common | row for row in rows], infer_schema_length=None))


def weeks(differences: list[float], base: float = 10.0) -> Results:
    """One pair a week with the given differences of mean_bsld."""
    rows: list[dict[str, object]] = []
    for number, difference in enumerate(differences):
        block = f"log part {number}"
        rows.append({"cell": f"b{number}", "block": block, "label": "easy", "mean_bsld": base})
        rows.append(
            {"cell": f"c{number}", "block": block, "baseline": f"b{number}", "mean_bsld": base + difference}
        )
    return results_of(rows)


def test_pairs_stand_beside_their_own_baseline() -> None:
    table = weeks([1.0, -2.0]).pairs("mean_bsld")
    assert table.select("cell", "base", "value", "difference", "ratio").rows() == [
        ("c0", 10.0, 11.0, 1.0, 1.1),
        ("c1", 10.0, 8.0, -2.0, 0.8),
    ]
    with pytest.raises(headway.UsageError, match="no column 'mean_joy'"):
        weeks([1.0]).pairs("mean_joy")
    alone = results_of([{"cell": "a", "block": "x", "mean_bsld": 1.0}])
    with pytest.raises(headway.UsageError, match="has a baseline"):
        alone.pairs("mean_bsld")


def test_a_cell_that_is_its_own_baseline_and_failed_ones_make_no_pair() -> None:
    rows: list[dict[str, object]] = [
        {"cell": "b", "block": "x", "baseline": "b", "mean_bsld": 2.0},
        {"cell": "c", "block": "x", "baseline": "b", "mean_bsld": 3.0},
        {"cell": "d", "block": "x", "baseline": "b", "mean_bsld": None, "status": "failed"},
    ]
    assert results_of(rows).pairs("mean_bsld")["cell"].to_list() == ["c"]


def test_a_metric_that_no_pair_has_is_not_taken_for_a_missing_baseline() -> None:
    """As with the mean slowdown where every job takes no time."""
    rows: list[dict[str, object]] = [
        {"cell": "b", "block": "x", "mean_slowdown": None},
        {"cell": "c", "block": "x", "baseline": "b", "mean_slowdown": None},
    ]
    with pytest.raises(headway.UsageError, match="no cell and its baseline both have mean_slowdown"):
        results_of(rows).pairs("mean_slowdown")


def test_means_by_hand_and_every_block_counts_the_same() -> None:
    # Block 0 has three pairs of difference 3, block 1 one of -1: their mean is 1, not 2.
    block = np.array([0, 0, 0, 1])
    base = np.full(4, 4.0)
    result = paired(block, base + np.array([3.0, 3.0, 3.0, -1.0]), base)
    assert (result.blocks, result.pairs) == (2, 4)
    assert (result.base, result.value, result.difference, result.change) == (4.0, 5.0, 1.0, 0.25)
    assert result.blocks_lower == 0.5
    assert result.noise == 0.0
    # Differences 3 and -1: mean 1, standard deviation 2.828, t(1) = 12.706: 1 ± 12.706 x 2.828 / 1.414.
    assert (result.difference_low, result.difference_high) == pytest.approx((-24.412, 26.412), abs=1e-3)
    weighted = paired(block, base + np.array([3.0, 3.0, 3.0, -1.0]), base, np.ones(4))
    assert weighted.difference == 2.0


def test_the_noise_is_the_spread_within_blocks() -> None:
    # Within block 0: 1 and 3, variance 2; within block 1: 5 and 5, variance 0; pooled over 2 degrees: 1.
    base = np.zeros(4)
    result = paired(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 5.0, 5.0]), base)
    assert result.noise == pytest.approx(1.0)
    assert result.change is None and result.change_low is None
    assert paired(np.array([0, 1]), np.ones(2), np.ones(2)).noise is None


def test_copies_of_a_block_do_not_make_the_interval_narrower() -> None:
    draw = np.random.Generator(np.random.PCG64(3))
    value, base = draw.normal(11, 1, 12), np.full(12, 10.0)
    once = paired(np.arange(12), value, base)
    often = paired(np.repeat(np.arange(12), 50), np.repeat(value, 50), np.repeat(base, 50))
    assert often.difference_low == pytest.approx(once.difference_low)
    assert often.difference_high == pytest.approx(once.difference_high)


BLOCKS = (2, 4, 10, 20, 50)
TRIALS = 1000


def simulated(blocks: int, shape: str, truth: float, weighted: bool) -> list[Paired]:
    """Campaigns whose true difference is known; value and base of a block share what is hard about it."""
    draw = np.random.Generator(np.random.PCG64(blocks))
    shapes: dict[str, Callable[[], Any]] = {
        "normal": lambda: draw.normal(0, 1, blocks),
        "heavy tails": lambda: draw.standard_t(3, blocks),
        "slowdowns": lambda: np.exp(draw.normal(0, 1, blocks)) - np.exp(draw.normal(0, 1, blocks)),
    }
    spread = shapes[shape]
    found = []
    for _ in range(TRIALS):
        base = 10 + draw.normal(0, 1, blocks)
        weight = draw.uniform(500, 1500, blocks) if weighted else None
        found.append(paired(np.arange(blocks), base + truth + spread(), base, weight))
    return found


@pytest.mark.parametrize("shape", ["normal", "heavy tails", "slowdowns"])
@pytest.mark.parametrize("blocks", BLOCKS)
def test_with_no_true_difference_few_verdicts_are_better_or_worse(blocks: int, shape: str) -> None:
    """At most 5 % of the intervals leave out 0, and 2.1 % more for the luck of 1,000 trials (3 sigma)."""
    found = simulated(blocks, shape, truth=0.0, weighted=False)
    intervals = np.array([(each.difference_low, each.difference_high) for each in found], np.float64)
    false = np.mean((intervals[:, 0] > 0) | (intervals[:, 1] < 0))
    assert false <= 0.071
    verdicts = [verdict(each, "mean_bsld") for each in found]
    if blocks < MINIMUM:
        assert set(verdicts) == {TOO_FEW}
    else:
        assert sum(words in ("better", "worse") for words in verdicts) == round(false * TRIALS)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("blocks", BLOCKS)
def test_the_interval_holds_the_true_difference_as_often_as_it_says(blocks: int, weighted: bool) -> None:
    found = simulated(blocks, "normal", truth=1.0, weighted=weighted)
    bounded = [each for each in found if each.difference_low is not None]
    inside = sum(each.difference_low <= 1.0 <= each.difference_high for each in bounded)  # type: ignore[operator]
    # An interval that the blocks do not bound holds everything.
    share = (inside + len(found) - len(bounded)) / len(found)
    if weighted and blocks == 2:
        assert share >= 0.95
    else:
        assert share == pytest.approx(0.95, abs=0.021)
        assert len(bounded) == len(found)


@pytest.mark.parametrize("blocks", [4, 10, 50])
def test_the_interval_of_the_change_holds_the_true_change(blocks: int) -> None:
    found = simulated(blocks, "normal", truth=1.0, weighted=False)
    inside = [
        each.change_low is None or each.change_high is None or each.change_low <= 0.1 <= each.change_high
        for each in found
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.021)
    for each in found:  # both intervals agree on whether there is a change
        if each.change_low is not None and each.change_high is not None:
            assert each.difference_low is not None and each.difference_high is not None
            assert (each.change_low > 0) == (each.difference_low > 0)
            assert (each.change_high < 0) == (each.difference_high < 0)


def test_student_is_scipys() -> None:
    special = pytest.importorskip("scipy.special")
    for freedom in (1, 2, 3, 4, 9, 19, 49, 100, 1001):
        for level in (0.5, 0.9, 0.95, 0.999):
            expected = special.stdtrit(freedom, (1 + level) / 2)
            assert quantile(level, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("differences", "metric", "words"),
    [
        ([-1.0, -2.0, -1.5, -0.5, -1.0, -2.0], "mean_bsld", "better"),
        ([1.0, 2.0, 1.5, 0.5, 1.0, 2.0], "mean_bsld", "worse"),
        ([1.0, 2.0, 1.5, 0.5, 1.0, 2.0], "utilization", "better"),
        ([1.0, 2.0, 1.5, 0.5, 1.0, 2.0], "redirections", "higher"),
        ([5.0, -4.0, 1.0, -2.0, 3.0, -3.0], "mean_bsld", INDISTINGUISHABLE),
        ([-1.0, -2.0, -1.5, -0.5, -1.0], "mean_bsld", TOO_FEW),
        ([-5.0], "mean_bsld", TOO_FEW),
    ],
)
def test_the_verdict_needs_an_interval_without_0(differences: list[float], metric: str, words: str) -> None:
    base = np.full(len(differences), 10.0)
    result = paired(np.arange(len(differences)), base + np.array(differences), base)
    assert verdict(result, metric) == words


def test_groups_are_judged_apart() -> None:
    table = weeks([-1.0, -2.0] * 3 + [3.0, 4.0] * 3).table.with_columns(
        pl.when(pl.col("block").is_in([f"log part {part}" for part in range(6)]))
        .then(1)
        .otherwise(2)
        .alias("alpha")
    )
    judged = Results(Path("."), table).against_baseline("mean_bsld", by=["alpha"])
    assert judged.select("alpha", "blocks", "difference", "verdict").rows() == [
        (1, 6, -1.5, "better"),
        (2, 6, 3.5, "worse"),
    ]


def test_winners_and_losers_weigh_their_jobs(tmp_path: Path) -> None:
    # Size 1, three times: 3 jobs gain 2 in one week, 1 job loses 2 in the next: (3 x -2 + 1 x 2) / 4 = -1.
    rows: list[dict[str, object]] = []
    classes: list[dict[str, object]] = []
    for week, (jobs, difference) in enumerate([(3, -2.0), (1, 2.0)] * 3):
        rows.append({"cell": f"b{week}", "block": f"w{week}", "mean_bsld": 5.0})
        rows.append({"cell": f"c{week}", "block": f"w{week}", "baseline": f"b{week}", "mean_bsld": 5.0})
        for cell, shift in ((f"b{week}", 0.0), (f"c{week}", 1.0)):
            for name, change in (("1", difference), ("2", 1.0)):
                line = {"cell": cell, "by": "size", "class": name, "jobs": jobs}
                classes.append(line | {"mean_bsld": 5.0 + shift * change})
    (tmp_path / "classes").mkdir()
    pl.DataFrame(classes).write_parquet(tmp_path / "classes" / "a.parquet")
    judged = results_of(rows, tmp_path).winners("size")
    assert judged.select("class", "jobs", "difference").rows() == [("1", 12, -1.0), ("2", 12, 1.0)]
    assert judged["verdict"].to_list() == [INDISTINGUISHABLE, "worse"]
    with pytest.raises(headway.UsageError, match="no classes by 'colour'"):
        results_of(rows, tmp_path).winners("colour")


# ---- tables -----------------------------------------------------------------------------------

TABLE = pl.DataFrame(
    {
        "label": ["easy", "a_b & c"],
        "blocks": [8, 8],
        "difference": [-1.23456, 1234.5],
        "change": [-0.123, None],
    }
)


def test_a_table_as_text() -> None:
    assert tables.text(TABLE) == (
        "label    blocks  difference   change\n"
        "-------  ------  ----------  -------\n"
        "easy          8      -1.235  -12.3 %\n"
        "a_b & c       8        1234\n"
    )


def test_a_table_as_csv_keeps_every_digit() -> None:
    assert tables.csv(TABLE).splitlines()[1] == "easy,8,-1.23456,-0.123"


def test_a_table_as_latex_prints_names_as_they_are() -> None:
    lines = tables.latex(TABLE, caption="50 % more", label="tab:x").splitlines()
    assert r"\caption{50 \% more}" in lines and r"\label{tab:x}" in lines
    assert r"\begin{tabular}{lrrr}" in lines
    assert r"label & blocks & difference & change \\" in lines
    assert r"easy & 8 & $-$1.235 & $-$12.3 \% \\" in lines
    assert r"a\_b \& c & 8 & 1234 &  \\" in lines
