"""The reproduction of the paper on redirection: its tables, verdicts and page, on a few small weeks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import headway
from headway.campaign import Progress, running
from headway.cli.sweep import parse_traces
from headway.errors import UsageError
from headway.papers import Reproduction, Request
from headway.papers.page import claims_table, markdown_table
from headway.papers.redirection import baselines, claims, grid, logs, readings, work
from headway.papers.redirection.logs import CLUSTERS, Cluster, Log
from headway.papers.verdicts import Claim
from headway.workload.models import generate
from headway.workload.transform import apply_each

MODEL = "lublin(jobs=2600, procs=64, load=1.1, estimates=tsafrir, seed=1)"
SMALL = grid.Grid((1, 10), (0.15, 0.25))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    folder = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "GENERATED", (MODEL, MODEL))
        patch.setattr(logs, "QUICK_WEEKS", 2)
        patch.setattr(work, "QUICK", SMALL)
        patch.setattr(work, "open_logs", lambda traces, quick: [small_log()])
        return work.reproduce(Request({}, True, folder, lambda sentence: None)), folder


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after five runs of twelve; the second time these are there and seven are left."""
    monkeypatch.setattr(work, "QUICK", SMALL)
    monkeypatch.setattr(work, "open_logs", lambda traces, quick: [small_log()])
    monkeypatch.setattr(running, "LARGEST_CHUNK", 1)

    def interrupt(progress: Progress) -> None:
        if progress.done >= 5 or progress.skipped:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work.reproduce(Request({}, True, tmp_path, lambda sentence: None, interrupt))
    kept = len(headway.campaign.Results.open(tmp_path / "campaigns" / "paper"))
    assert 5 <= kept < 12
    said: list[str] = []
    again = work.Work(Request({}, True, tmp_path, said.append))
    again._run(grid.paper_campaign(again.logs, again.grid), "paper")
    assert said[-1].startswith(f"campaign paper: {12 - kept} runs in ")
    assert said[-1].endswith(f" s, {kept} were there")


def small_log() -> Log:
    return Log("generated", Cluster("Generated weeks"), generate(MODEL), 64, 2, "submitted")


def test_the_campaign_is_what_it_says(made: tuple[Reproduction, Path]) -> None:
    """One cell of the results against a simulation made here."""
    results = headway.campaign.Results.open(made[1] / "campaigns" / "paper")
    runs = grid.paired(results)
    assert runs.height == 2 * 2 * 2 and results.frame.height == runs.height + 2 * 2
    week = apply_each(small_log().workload, small_log().weeks_spec(), "exact")[0]
    one = runs.filter((pl.col("theta") == 10) & (pl.col("alpha") == 0.25)).row(0, named=True)
    with_it = headway.simulate(week, 64, "redirection(theta=10, alpha=0.25)").summary(tau=60)
    without = headway.simulate(week, 64 + 16, "easy").summary(tau=60)
    assert one["mean_bsld"] == with_it["mean_bsld"] and one["redirections"] == with_it["redirections"]
    assert one["mean_bsld_ratio"] == with_it["mean_bsld"] / without["mean_bsld"]
    assert one["max_bsld_ratio"] == with_it["max_bsld"] / without["max_bsld"]


def test_the_page_and_its_figures(made: tuple[Reproduction, Path]) -> None:
    result, folder = made
    page = (folder / "redirection.md").read_text()
    for name in ("figure-1", "figure-2", "mean-response", "response", "beyond"):
        assert f"(redirection-{name}.svg)" in page
        assert (folder / f"redirection-{name}.svg").read_text().count("<path") > 10
    assert "The log of Intrepid was not given" in page
    assert {claim.verdict for claim in result.claims if "Intrepid: best" in claim.claim} == {"not tested"}
    assert [path.exists() for path in result.files] == [True] * 6


def test_readings(made: tuple[Reproduction, Path]) -> None:
    rows = made[0].tables["Readings"]
    answers = [row[1] for row in rows[1:]]
    expected = [r.answer for r in readings.READINGS if readings.applies(r, small_log())]
    assert answers == expected and "from a checkpoint" in answers
    assert all(float(row[5]) <= float(row[6]) for row in rows[1:])  # the best theta is no worse than 10


def test_every_claim_has_a_source_and_says_how_it_was_tested(made: tuple[Reproduction, Path]) -> None:
    for claim in made[0].claims:
        assert claim.source, claim
        untested = ("not tested", "not claimed", "arithmetic")
        assert (claim.tested == "-") == (claim.verdict in untested), claim
    shown = [claim for claim in made[0].claims if claim.verdict == "not claimed"]
    assert [claim.claim.partition(": ")[2] for claim in shown] == [
        "weeks used at 70% or more",
        "mean response time with redirection, average change",
        "mean wait with redirection, average change",
    ]


def test_which_weeks_and_which_logs(made: tuple[Reproduction, Path]) -> None:
    rows = made[0].tables["Which weeks"]
    assert [row[1:4] for row in rows[1:]][-1][2] == "all"
    [log] = made[0].tables["Which logs"][1:]
    assert log[1] == "64" and log[4].endswith("%")


def test_a_group_smaller_than_every_job(made: tuple[Reproduction, Path]) -> None:
    [claim] = [claim for claim in made[0].claims if "smaller than every job" in claim.claim]
    assert claim.verdict == "could not fail" and claim.ours.startswith("0 redirections with m' = 255")


def weekly(ratios: dict[tuple[int, float], list[float]]) -> grid.Found:
    """A campaign of a few weeks: the ratio of mean bounded slowdowns by theta and alpha, week by week."""
    rows = [
        {
            "workload": "ricc", "theta": theta, "alpha": alpha, "part": part, "mean_bsld_ratio": ratio,
            "max_bsld_ratio": 2 * ratio, "mean_response_ratio": 1.1, "mean_wait_ratio": 2.0,
            "redirections": 1,
            "mean_bsld": 2.0, "mean_bsld_without": 2.0, "max_response": 1.0, "max_response_without": 1.0,
            "worst_is_redirected": True, "redirected_among_worst": 0.5, "wasted_area": 1.0, "capacity": 10,
            "makespan": 100.0, "mean_queued_again": 0.0,
        }
        for (theta, alpha), found in ratios.items()
        for part, ratio in enumerate(found)
    ]  # fmt: skip
    log = Log("ricc", Cluster("RICC", gain=0.4), generate(MODEL), 64, 4)
    return grid.Found.on(log, pl.DataFrame(rows))


def test_a_point_is_judged_on_weeks_that_did_not_choose_it() -> None:
    """Theta 1 is best on the even weeks, theta 10 on the odd ones, and each is bad on the others."""
    found = weekly({(1, 0.15): [0.1, 2.0, 0.1, 2.2], (10, 0.15): [1.5, 0.2, 1.7, 0.2]})
    assert [point["theta"] for point in found.chosen] == [1, 10]
    assert found.judged["mean_bsld_ratio"].to_list() == [1.5, 2.0, 1.7, 2.2]
    claim = next(claim for claim in claims._best(found) if "well-chosen" in claim.claim)
    assert claim.verdict == "differs"  # in-sample it would be 85 % better


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.6, 0.62, 0.58, 0.6], "agrees"),
        ([0.9, 0.91, 0.89, 0.9], "in part"),
        ([1.2, 1.21, 1.19, 1.2], "differs"),
        ([0.1, 1.1, 0.1, 1.1], "undecided"),
    ],
)
def test_verdicts_on_an_improvement(ratios: list[float], verdict: str) -> None:
    claim = next(c for c in claims._best(weekly({(10, 0.15): ratios})) if "well-chosen" in c.claim)
    assert claim.verdict == verdict and claim.paper == "-40 %"


def test_the_best_theta_is_resampled_by_week() -> None:
    sure = weekly({(1, 0.15): [1.0] * 4, (10, 0.15): [0.5] * 4}).runs
    assert set(grid.best_resampled(sure)) == {10}
    torn = weekly({(1, 0.15): [1.0, 0.2, 1.0, 0.2], (10, 0.15): [0.2, 1.0, 0.2, 0.9]}).runs
    assert set(grid.best_resampled(torn)) == {1, 10}


def test_a_couple_improves_both_only_on_other_weeks() -> None:
    both = weekly({(1, 0.15): [0.4, 0.41, 0.4, 0.42]}).both_improved()
    assert both is not None and both["max"].value == pytest.approx(-18.5) and both["max"].side() == -1
    assert weekly({(1, 0.15): [0.4, 0.7, 0.4, 0.7]}).both_improved() is None  # 2 x 0.7 on one half


def test_theta_and_alpha_are_correlated_week_by_week() -> None:
    """Small theta, large alpha in the first week, the other way round in the second."""
    found = weekly({(1, 0.1): [2.0, 1.0], (1, 0.2): [1.0, 2.0], (9, 0.1): [1.0, 2.0], (9, 0.2): [2.0, 1.0]})
    assert found.related() == [pytest.approx(-1), pytest.approx(1)]
    assert weekly({(1, 0.1): [1.0], (1, 0.2): [2.0], (9, 0.1): [1.0], (9, 0.2): [2.0]}).related() == [0.0]


def test_parts_of_the_gain_multiply_to_the_whole(made: tuple[Reproduction, Path]) -> None:
    """EASY on m stands between: what setting processors apart costs x what redirecting gains."""
    [row] = made[0].tables["Parts of the gain"][1:]
    both, apart, moved = (float(cell.split()[0]) for cell in row[1:])
    assert apart * moved == pytest.approx(both, abs=0.02)


def test_slopes_of_features() -> None:
    """A ratio that grows by 2 % with each point of the first feature; logs differ in their level."""
    random = np.random.Generator(np.random.PCG64(3))
    x, group = random.normal(size=(80, 2)), np.repeat([0, 1, 2, 3], 20)
    y = 0.02 * x[:, 0] + group + 0.001 * random.normal(size=80)
    slopes = baselines.slopes_of(x, y, group, within=True)
    assert slopes[0].value == pytest.approx(2, abs=0.1) and slopes[0].side() == 1 and slopes[1].holds(0)
    assert not slopes[0].holds(0) and baselines.slopes_of(x, y, group, within=False)[0].holds(0)


def test_tables() -> None:
    rows = claims_table([Claim("a | b", "1", "2", "agrees")])
    assert markdown_table(rows, 9).splitlines()[2] == "| a \\| b |  | 1 | 2 | - | agrees |  |"
    assert markdown_table([["x", "n"], ["a", "1.5"]]).splitlines()[1] == "| :-- | --: |"


def test_clusters_of_the_paper() -> None:
    assert CLUSTERS["curie"].procs == 80_640
    assert {name: c.bracket for name, c in CLUSTERS.items()} == {
        "curie": (10, 50), "intrepid": (5, 15), "ricc": (5, 25),
    }  # fmt: skip
    assert len(grid.THETAS) * len(grid.ALPHAS) * 20 * 3 == 2160


def test_traces_by_name(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    log.write_text("")
    assert parse_traces([f"Curie={log}"]) == {"curie": str(log)}
    for given, says in (([str(log)], "NAME=FILE"), (["x=none"], "no such file"), ([f"x={log}"] * 2, "twice")):
        with pytest.raises(UsageError, match=says):
            parse_traces(given)
