"""The questions of an operator, each one change of a site under Slurm's rules; how sure the answers are."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from commands import Headway
from headway import Schedule
from headway.changes import Case, changed
from headway.site import Site
from headway.site.example import FILES, write_example
from headway.units import SECOND
from headway.what_if import Answer, answer, sentences, simulate_all
from headway.what_if.answer import Class
from headway.what_if.sentences import _over_weeks, findings

HOUR = 3600 * SECOND


@cache
def base() -> tuple[Case, Schedule]:
    """The example site as it is, under one phase of the clocks."""
    site = Site.load(str(files("headway.site.example")))
    case = Case(site.read_jobs(), site.platform(), "slurm(seed=1)")
    return case, simulate_all([case])[0]


@cache
def asked(change: str) -> Answer:
    case, before = base()
    return answer(change, [before], simulate_all([changed(case, change)]))


def wait(found: Answer, kind: str, name: str) -> float:
    """How much longer the jobs of a class wait (s)."""
    [one] = [one for one in (*found.classes, *found.users) if (one.kind, one.name) == (kind, name)]
    return one.difference


def test_ten_percent_more_nodes() -> None:
    found = asked("nodes=+10%")
    assert found.variant.capacity == 352 and found.overall.difference < -600
    assert all(wait(found, "partition", name) < 0 for name in ("short", "long", "debug"))


def test_a_walltime_cap() -> None:
    found = asked("partition.long.maxtime=24h")
    case, _ = base()
    longer = case.workload.runtime > 24 * HOUR
    assert found.ended_early == np.count_nonzero(longer) > 50
    assert int(found.variant.run.max()) == 24 * HOUR and found.overall.difference < 0
    shown = f"The shorter limit ends {found.ended_early} jobs before the work is done, "
    assert any(said.startswith(shown) for said in findings(found))


def test_two_partitions_merged() -> None:
    found = asked("merge=short,long")
    assert wait(found, "partition", "long") < 0 < wait(found, "partition", "short")


def test_another_weight_of_fair_share() -> None:
    """Without it the heavy user waits less and those who use little wait longer."""
    found = asked("PriorityWeightFairshare=0")
    assert wait(found, "user", "otto") < 0 < min(wait(found, "user", name) for name in ("ann", "bob", "cem"))


def test_deeper_backfill() -> None:
    assert asked("bf_max_job_test=500").overall.difference < -300


def test_a_limit_for_a_heavy_user() -> None:
    found = asked("user.otto.maxjobs=4")
    assert wait(found, "user", "otto") > 3600
    run, jobs = found.variant, found.variant.workload
    his = np.flatnonzero(jobs.user == jobs.labels["user"].index("otto"))
    # QOS high has a limit of its own, which stands in place of the user's; normal has none.
    normal = his[jobs.queue[his] == jobs.labels["queue"].index("normal")]
    at_once = [np.count_nonzero((run.start[his] <= t) & (t < run.end[his])) for t in run.start[normal]]
    assert max(at_once) == 4
    otto, others = found.named
    assert otto.waits.difference == pytest.approx(wait(found, "user", "otto"))
    assert otto.waits.pairs == len(his)
    assert others.waits.difference < 0 and otto.waits.pairs + others.waits.pairs == found.overall.pairs
    first = findings(found)[0]
    assert first.startswith("With user.otto.maxjobs=4 jobs of user otto wait ") and ", all others " in first


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_another_policy_counts_processors(policy: str) -> None:
    found = asked(f"policy={policy}")
    assert found.variant.policy.startswith(policy) and found.overall.difference != 0
    said = " ".join(sentences(found))
    assert f"{policy} sees the site as 320 interchangeable processors" in said


def test_a_fifth_more_jobs() -> None:
    found = asked("jobs=+20%")
    assert (len(found.variant), found.overall.pairs) == (7140, 5950) and found.overall.difference > 1800
    assert any("The base runs 5,950 jobs and the variant 7,140" in said for said in sentences(found))


def test_the_answer_says_how_true_the_base_is() -> None:
    said = " ".join(sentences(asked("nodes=+10%")))
    assert "95% interval over 26 weeks" in said
    assert "How close the base comes: its mean wait is" in said
    assert "of its starts are within ten minutes" in said
    assert said.endswith("and whatever is not modelled.") or "not modelled of the site" in said


def of(base: list[float], variant: list[float], **more: tuple[float, float] | None) -> Class:
    """A class with a mean wait for each seed."""
    differences = np.subtract(variant, base)
    return Class(
        "account", "chem", 9, float(np.mean(base)), float(np.mean(variant)), differences.min(),
        differences.max(), more.get("weeks"), len(base),
    )  # fmt: skip


def test_sure_means_that_seeds_and_weeks_agree() -> None:
    assert of([10, 10], [8, 5]).sure and of([10, 10], [12, 11]).sure
    assert not of([10, 10], [8, 11]).sure
    assert not of([10, 10], [8, 5], weeks=(-9.0, 1.0)).sure
    assert of([10, 10], [8, 5], weeks=(-9.0, -1.0)).sure
    one_run = of([10], [8])
    assert one_run.sure is None and one_run.bounds is None
    assert of([10], [8], weeks=(-9.0, -1.0)).sure


def test_seeds_are_compared_pair_by_pair() -> None:
    """The mean over the seeds, and the changes of each; a policy without clocks stands for all seeds."""
    case, one = base()
    two = simulate_all([Case(case.workload, case.platform, "slurm(seed=2)")])[0]
    easy = simulate_all([changed(case, "policy=easy")])
    found = answer("policy=easy", [one, two], easy)
    means = [run.wait.mean() / SECOND for run in (one, two, easy[0])]
    assert found.overall.base == pytest.approx((means[0] + means[1]) / 2)
    assert found.overall.value == pytest.approx(means[2])
    assert found.whole.changes == pytest.approx((means[2] / means[0] - 1, means[2] / means[1] - 1))
    size = found.classes[0]
    assert size.low <= size.difference <= size.high


def test_the_interval_over_weeks() -> None:
    """A wait falls by no more than all of it; without bounds of the change the difference has them."""
    found = asked("nodes=+10%").overall
    wide = replace(found, change_low=-1.57, change_high=-0.08, difference_low=-900.0, difference_high=-60.0)
    assert _over_weeks(wide) == " (95% interval over 26 weeks: -100% to -8%)"
    huge = replace(wide, change_low=2.5, change_high=3492.26)
    assert _over_weeks(huge) == _over_weeks(replace(huge, change_low=None))
    without = replace(wide, change_low=None, change_high=None)
    assert _over_weeks(without) == " (95% interval over 26 weeks: -15 min to -60 s)"
    unsure = replace(without, difference_high=60.0)
    assert _over_weeks(unsure) == " (95% interval over 26 weeks: -15 min to +60 s, so it may be chance)"
    assert _over_weeks(replace(wide, blocks=2)) == "; 2 weeks are too few for an interval"


def test_the_example_is_a_site_s_folder(tmp_path: Path) -> None:
    write_example(tmp_path / "fjord")
    assert sorted(path.name for path in (tmp_path / "fjord").iterdir()) == sorted(FILES)
    site = Site.load(tmp_path / "fjord")
    assert (site.cpus, len(site.partitions), len(site.read_jobs())) == (320, 3, 5950)


def test_the_command_and_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    assert headway("site", "example", "fjord").status == 0
    refused = headway("site", "example", "fjord")
    assert refused.status == 2 and "is not empty" in refused.err
    (tmp_path / "variants.txt").write_text("# what we think of\njobs=+20%\npolicy=easy\n")
    command = ("what-if", "fjord", "nodes=+10%", "--variants", "variants.txt", "--seeds", 1)
    done = headway(*command, "--report", "page.html", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [one["change"] for one in found] == ["nodes=+10%", "jobs=+20%", "policy=easy"]
    assert {one["kind"] for one in found[0]["classes"]} == {"size", "partition", "account", "qos", "user"}
    page = (tmp_path / "page.html").read_text()
    assert "What if: 22 nodes instead of 20, or jobs=+20%, or policy=easy" in page
    assert "With 22 nodes instead of 20 a job waits" in page
    order = [page.index(f'id="{part}"') for part in ("verdict", "difference", "who", "uncertain", "metrics")]
    assert order == sorted(order)
    assert "<th>whose jobs</th><th class=" in page, "heads become buttons, which need a name"
    assert "Who gains and who loses" in page and "How close the base comes" in page
    assert headway(*command, "--report", "page.html").status == 2
