"""The reproduction of the paper on reallocation: its scenarios, what it judges and writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headway.errors import UsageError
from headway.papers import Request
from headway.papers.reallocation import beyond, runs, scenarios, work
from headway.papers.reallocation.claims import dedicated_claims, exact_claims, shared_claims
from headway.papers.reallocation.runs import COUPLES, Campaign, Runs, Setting
from headway.papers.reallocation.scenarios import (
    GRID5000,
    PWA,
    ROW_SUMS,
    SCENARIOS,
    Scenario,
    drawn,
    jobs_of,
    platform_of,
    shortened,
)
from headway.platform import Cluster, Platform
from headway.workload import Workload, write_swf
from headway.workload.models import generate
from headway.workload.transform import offered_load, walltimes

SMALL = Scenario("Small", "pwa-g5k", {"bordeaux": 60, "ctc": 40, "sdsc": 30}, 1)


def test_counts_of_the_paper() -> None:
    assert tuple(scenario.total for scenario in GRID5000) == ROW_SUMS
    assert PWA.total == 133_135 and len(SCENARIOS) == 7
    assert [scenario.begin for scenario in GRID5000] == [0, 31, 60, 91, 121, 152]
    assert [(c.procs, c.speed) for c in platform_of(PWA, True).clusters] == [(640, 1), (430, 1.2), (128, 1.4)]
    assert {c.speed for c in platform_of(PWA, False).clusters} == {1.0}


def test_generated_jobs_have_the_counts_the_days_and_the_load() -> None:
    scenario = shortened(GRID5000[2], 0.2)
    jobs = jobs_of(scenario, {}, load=0.8)
    assert len(jobs) == scenario.total
    homes = [jobs.labels["cluster"][code] for code in jobs.cluster]
    assert {name: homes.count(name) for name in scenario.jobs} == scenario.jobs
    assert int(jobs.submit.max()) <= scenario.days * 86_400 * 1_000_000
    bordeaux = jobs.select(jobs.cluster == 0)
    assert offered_load(bordeaux, 640) == pytest.approx(0.8, rel=0.05)
    assert (jobs.walltime >= jobs.runtime).all() and (jobs.runtime % 1_000_000 == 0).all()


def test_a_given_log_takes_the_place_of_a_generated_one(tmp_path: Path) -> None:
    path = tmp_path / "sdsc.swf"
    log = generate("lublin(jobs=500, procs=128, seed=5)")
    write_swf(log, path)
    jobs = jobs_of(SMALL, {"sdsc": str(path)})
    there = jobs.select(jobs.cluster == 2)
    first_day = log.submit - log.submit.min() < 86_400 * 1_000_000
    assert len(there) == int(first_day.sum()) and len(jobs) == 100 + len(there)
    assert np.array_equal(np.sort(there.procs), np.sort(log.procs[first_day]))


def test_draws_depend_on_the_seed_alone() -> None:
    jobs = jobs_of(SMALL, {})
    one, other = drawn(jobs, False, 1), drawn(jobs, False, 2)
    assert np.array_equal(one.local, drawn(jobs, False, 1).local) and not np.array_equal(
        one.local, other.local
    )
    assert "local" not in drawn(jobs, True, 1).columns
    assert np.isnan(one.parallel_fraction[one.local]).all()


def test_what_was_measured_is_not_simulated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(SMALL, seed=3)
    found = Runs(tmp_path, {}, lambda text: None).get(setting)
    assert set(found) == set(COUPLES) and found["MCT-reg"]["jobs"] == 130

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(runs, "simulate", forbidden)
    assert Runs(tmp_path, {}, lambda text: None).get(setting) == found
    with pytest.raises(AssertionError, match="simulated again"):
        Runs(tmp_path, {}, lambda text: None).get(Setting(SMALL, seed=4))


def made_up(shift: float = 0.001, **values: float) -> Campaign:
    """Four scenarios of two seeds that differ a little, the same numbers but for what is given."""
    base = {
        "impacted": 0.5, "early": 0.6, "relative_response": 0.8, "reallocations": 0.05, "starving_tasks": 0,
        "most_put_back": 2, "reallocation_events": 9, "seconds": 0.1,
    }  # fmt: skip
    numbers = {}
    for place, name in enumerate(("May", "June", "July", "August")):
        for couple in COUPLES:
            own = {k.split("__")[1]: v for k, v in values.items() if k.startswith(couple.replace("-", "_"))}
            for seed in (0, 1):
                found = {**base, **own}
                found["relative_response"] += shift * place
                numbers[name, couple, seed] = found
    return Campaign([SMALL], numbers)


def verdict(found: Campaign, begin: str, shared: bool = False) -> str:
    claims = shared_claims(found, made_up()) if shared else dedicated_claims(found)
    (claim,) = [claim for claim in claims if claim.claim.startswith(begin)]
    return claim.verdict


def test_verdicts_follow_the_numbers() -> None:
    more = {"MCT_can__reallocations": 0.3, "MinMin_can__reallocations": 0.5}
    assert verdict(made_up(**more), "reallocations of all-cancellation") == "agrees"
    assert verdict(made_up(MinMin_can__reallocations=0.09), "reallocations of all-cancellation") == "differs"
    assert verdict(made_up(**more), "all-cancellation always reallocates") == "agrees"
    assert verdict(made_up(), "reallocations of the regular") == "agrees"
    assert verdict(made_up(MCT_reg__reallocations=0.2), "reallocations of the regular") == "in part"
    assert verdict(made_up(MCT_can__relative_response=0.7), "the couple with the best") == "agrees"
    assert verdict(made_up(MCT_reg__relative_response=0.7), "the couple with the best") == "differs"
    assert verdict(made_up(), "the couple with the best") == "undecided"
    assert verdict(made_up(MCT_reg__relative_response=1.2), "no run has a worse") == "agrees"
    assert verdict(made_up(MCT_can__relative_response=1.2), "no run has a worse") == "in part"
    assert verdict(made_up(), "most gains in response") == "agrees"
    low = {f"{c.replace('-', '_')}__relative_response": 0.95 for c in COUPLES}
    assert verdict(made_up(**low), "most gains in response") == "differs"


def test_verdicts_on_shared_clusters() -> None:
    more = {"MCT_can__impacted": 0.54, "MinMin_can__impacted": 0.53}
    assert verdict(made_up(**more), "all-cancellation impacts more", True) == "agrees"
    assert verdict(made_up(MCT_can__impacted=0.7), "all-cancellation impacts more", True) == "in part"
    assert verdict(made_up(MCT_can__relative_response=0.84), "the couples are close", True) == "agrees"
    assert verdict(made_up(MCT_can__relative_response=1.04), "the couples are close", True) == "in part"
    assert verdict(made_up(), "no task is delayed", True) == "could not fail"
    assert verdict(made_up(MCT_can__most_put_back=9), "no task is delayed", True) == "in part"


def test_scenarios_are_the_blocks_and_seeds_are_not() -> None:
    """Eight runs of four scenarios: the interval is over four means, paired by scenario."""
    found = made_up(shift=0.1, MCT_can__relative_response=0.7)
    estimate = found.estimate("relative_response", "MCT-reg")
    assert estimate.blocks == 4 and estimate.value == pytest.approx(0.95) and estimate.side(of=0.9) == 0
    gain = found.difference("relative_response", "MCT-reg", "MCT-can")
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.1, 0.1, 0.1))


def test_mapping_by_load() -> None:
    """Work goes where least is left of it for what a cluster can do, and only where a job fits."""
    jobs = Workload.from_arrays(
        unit="s", submit=[0, 0, 0, 50], procs=[4, 4, 6, 4], walltime=[100] * 4, runtime=[10] * 4
    )
    machine = Platform((Cluster("a", 1.0, 8), Cluster("b", 1.0, 4)))
    # a: 400 / 8 = 50 s of work; then b, 0; the wide job fits a alone: 125 s; at 50 s b has 50 s left, a 75 s.
    assert beyond.mapped(jobs, machine, "load", 0).tolist() == [0, 1, 0, 1]
    drawn = [beyond.mapped(jobs, machine, "drawn", seed) for seed in range(60)]
    assert {int(one[2]) for one in drawn} == {0} and {int(one[0]) for one in drawn} == {0, 1}


def test_claims_that_need_no_runs() -> None:
    found = {claim.source: claim for claim in exact_claims(12, 8, 2)}
    worked = found["section 3.2.1, Figure 2"]
    assert worked.verdict == "arithmetic" and "7, 7.4, 7.333, 6.5; 1.75" in worked.ours
    assert found["Figure 4"].ours == "4.44, 9.14, 72.1, 394"
    assert found["Table 1"].verdict == "arithmetic"
    assert found["sections 4.5 and 6"].ours.startswith("8 runs and 2 references")


def test_both_searches_are_asked_in_the_same_state() -> None:
    """The tasks before the one that chooses are where they were, so the binary search gives it the same."""
    jobs, machine = drawn(jobs_of(SMALL, {}, load=1.5), True, 1), platform_of(SMALL, False)
    found = beyond.both_searches(jobs, machine, 6)
    assert found["tasks"] == 6 and found["faithful"] == 1
    assert 0 <= found["same"] <= found["as_good"] <= 1


def test_walltimes_of_a_middleware() -> None:
    jobs = drawn(jobs_of(SMALL, {}), False, 1)
    made = walltimes(jobs, margin=1.5)
    assert np.array_equal(made.walltime[jobs.local], jobs.walltime[jobs.local])
    assert np.array_equal(made.walltime[~jobs.local], np.ceil(1.5 * jobs.runtime[~jobs.local]).astype(int))
    with pytest.raises(UsageError, match="at least 1"):
        walltimes(jobs, margin=0.5)


def test_logs_of_other_papers_are_named_and_left_out() -> None:
    said: list[str] = []
    assert work.of_sites({"kth": "k.swf", "sdsc-sp2": "s.swf"}, said.append) == {"sdsc": "s.swf"}
    (line,) = said
    assert line.startswith("kth is not a site of this paper (bordeaux, lyon, toulouse, ctc, sdsc)")


@pytest.mark.long
def test_the_page_and_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = (SMALL, shortened(GRID5000[4], 0.03))
    monkeypatch.setattr(work, "QUICK", two)
    monkeypatch.setattr(scenarios, "LOAD", 1.2)
    result = work.reproduce(Request({}, True, tmp_path, lambda text: None))
    page = (tmp_path / "reallocation.md").read_text("utf-8")
    for path in result.files:
        assert path.is_file() and path.stat().st_size > 500
        assert path.name == "reallocation.md" or f"({path.name})" in page
    for number in range(1, 14):
        assert f"Figure {number}" in page
    assert len(result.claims) > 25 and {claim.verdict for claim in result.claims} > {"differs", "not tested"}
    assert len(result.tables["Means"]) == 17  # four kinds of grid, four couples
    for name in (
        "Loads",
        "Molding",
        "Mappings",
        "Period",
        "Transfers",
        "Threshold",
        "Automatic",
        "Reserved",
        "Clusters",
        "Load",
    ):
        assert len(result.tables[name]) >= 3, name
