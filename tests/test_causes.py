"""Rules switched off one by one: which there are, and what they say of a simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import Headway
from headway import Schedule
from headway.changes import Case, changed, with_parameter
from headway.platform import Platform
from headway.replay import Fidelity, fidelity
from headway.site import Site
from headway.units import SECOND
from headway.what_if.answer import simulate_all, with_seeds
from headway.what_if.causes import causes, possible, rules_off, told
from slurm_files import slurm_file
from test_site import site_folder
from test_what_if import workload


def test_a_site_has_the_rules_it_has(tmp_path: Path) -> None:
    site = Site.load(site_folder(tmp_path))
    case = changed(Case(workload(), site.platform(), "slurm"), "PriorityWeightFairshare=100")
    off = rules_off(case)
    assert {"fair share", "limits of QOS and accounts", "separate partitions", "backfill"} <= set(off)
    merged = off["separate partitions"].site
    assert merged is not None and len(merged.partitions) == 1
    builtin = off["backfill"].site
    assert builtin is not None and builtin.config.get("SchedulerType") == "sched/builtin"
    assert off["epilog latency"].policy == "slurm(epilog=0)"
    weighed = off["fair share"].site
    assert weighed is not None and weighed.config.number("PriorityWeightFairshare") == 0


def test_a_rule_that_is_not_there_is_not_switched_off(tmp_path: Path) -> None:
    site = Site.load(site_folder(tmp_path))
    one = replace(site, partitions=site.partitions[:1], qos=(), associations=())
    off = rules_off(Case(workload(), one.platform(), "slurm(epilog=0)"))
    assert not {"separate partitions", "epilog latency", "limits of QOS and accounts"} & set(off)


def test_plain_policies_have_rules_too() -> None:
    case = Case(workload(), Platform.procs(16), "easy(order=sjf)")
    off = rules_off(case)
    assert off["backfilling"].policy == "fcfs"
    assert off["requested times in planning"].policy == "easy(order=sjf, estimate=exact)"
    assert possible(off) == off and rules_off(replace(case, policy="fcfs")) == {}


def test_seeds() -> None:
    case = Case(workload(), Platform.procs(16), "slurm(late=0)")
    assert [one.policy for one in with_seeds(case, 2)] == ["slurm(late=0, seed=1)", "slurm(late=0, seed=2)"]
    assert with_seeds(replace(case, policy="slurm(seed=7)"), 3)[0].policy == "slurm(seed=7)"
    assert len(with_seeds(replace(case, policy="easy"), 3)) == 1
    assert with_parameter("slurm", "epilog", 0) == "slurm(epilog=0)"


def recorded_as(schedule: Schedule, *, off: int) -> Schedule:
    """The schedule with a log that recorded its own waits, every second job's `off` seconds more."""
    more = np.arange(len(schedule)) % 2 * off * SECOND
    return replace(schedule, workload=schedule.workload.with_columns(wait=schedule.wait + more))


def scored(case: Case, true: Schedule) -> Fidelity:
    [run] = simulate_all([case])
    return fidelity(replace(run, workload=true.workload))


def test_a_wrong_rule_is_found() -> None:
    """The log was made by FCFS and is replayed by EASY: without backfilling the error is gone."""
    base = Case(workload(200), Platform.procs(12), "easy")
    [true] = simulate_all([replace(base, policy="fcfs")])
    true = recorded_as(true, off=0)
    found = scored(base, true)
    ranked = causes(found, {rule: scored(case, true) for rule, case in rules_off(base).items()})
    assert found.error > 0
    assert (ranked[0].rule, ranked[0].error, ranked[0].verdict) == ("backfilling", 0, "closer without it")
    assert ranked[0].change == -found.error
    first = told(found, ranked)[0]
    assert "first, because the simulation is closer to the log without it: backfilling" in first


def test_a_right_rule_is_needed() -> None:
    base = Case(workload(200), Platform.procs(12), "easy")
    [true] = simulate_all([base])
    true = recorded_as(true, off=5)
    found = scored(base, true)
    ranked = causes(found, {rule: scored(case, true) for rule, case in rules_off(base).items()})
    assert (ranked[-1].rule, ranked[-1].verdict) == ("backfilling", "needed")
    assert "No rule clearly makes it worse" in " ".join(told(found, ranked))


def test_with_few_seeds_a_large_change_is_not_called_no_effect() -> None:
    # Two seeds: Student's quantile is 12.7, so a change of +600 +- 200 s is not sure, and not nothing either.
    base = Case(workload(200), Platform.procs(12), "easy")
    [true] = simulate_all([base])
    found = scored(base, recorded_as(true, off=5))

    def with_errors(*errors: float) -> Fidelity:
        return replace(found, seeds=[{**found.seeds[0], "mean_absolute_error": one} for one in errors])

    [cause] = causes(with_errors(400, 400), {"limits": with_errors(800, 1200)})
    assert (cause.change, cause.verdict) == (600, "indistinguishable")
    said = " ".join(told(with_errors(400, 400), [cause]))
    assert "cannot be distinguished from chance" in said and "no effect" not in said
    [cause] = causes(with_errors(400, 400), {"limits": with_errors(999, 1001)})
    assert cause.verdict == "needed"


def test_workers_do_not_change_schedules() -> None:
    case = Case(workload(200), Platform.procs(12), "easy")
    cases = [case, replace(case, policy="conservative"), replace(case, policy="fcfs"), case]
    seen: list[tuple[int, int]] = []
    many = simulate_all(cases, lambda done, total: seen.append((done, total)), workers=2)
    for one, two in zip(simulate_all(cases, workers=1), many, strict=True):
        assert np.array_equal(one.start, two.start)
    assert seen[-1] == (800, 800)


def test_a_failing_run_stops_the_others() -> None:
    case = Case(workload(200), Platform.procs(12), "easy")
    with pytest.raises(Exception, match="slurm needs a site"):
        simulate_all([replace(case, policy="slurm"), *[case] * 20], workers=2)


def test_replay_of_a_recorded_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """KTH's recorded day: nearly every start is found again, and backfill is what cannot be left out."""
    site = slurm_file("truth/kth-a/site")
    headway = Headway(tmp_path, capsys, monkeypatch)
    done = headway("replay", site, "--seeds", 2, "--out", "score.json")
    assert done.status == 0, done.err
    score = json.loads((tmp_path / "score.json").read_text())
    assert score["overall"]["jobs"] == 300 and len(score["seeds"]) == 2
    assert score["overall"]["within_600"] > 0.8 and abs(score["overall"]["bias"]) < 300
    assert {"by_partition", "by_week", "by_size", "by_user"} <= set(score)
    assert score["causes"][-1]["rule"] == "backfill" and score["causes"][-1]["verdict"] == "needed"
    assert "starts:" in done.out and "within ten minutes" in done.out
    assert "Where the remaining error comes from" in done.out and "Chance: two phases" in done.out
    assert "\nTrust it for" in done.out
    plain = headway("replay", site, "--policy", "easy", "--no-causes", "--json")
    assert json.loads(plain.out)["causes"] == []
