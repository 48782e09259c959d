"""check_policy: every kind of wrong policy is caught by name, right ones pass, the instance is small."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway as package
import own_policies
from commands import Headway
from headway.check import check_policy
from headway.check.laws import Instance, Request, instances, shrunk
from headway.workload import Workload

FILE = Path(own_policies.__file__)
FEW = 8
"""Random workloads besides the awkward ones, enough for all that is wrong here."""


@pytest.mark.parametrize(("wrong", "law"), own_policies.WRONG.items())
def test_a_wrong_policy_is_caught_by_the_name_of_its_law(wrong: str, law: str) -> None:
    check = check_policy(f"{FILE}:{wrong}", workloads=FEW)
    assert not check.ok
    assert [breach.law for breach in check.breaches] == [law], str(check)
    [breach] = check.breaches
    assert len(breach.instance) <= 3, "the smallest workload found has few jobs"
    assert breach.message and "\n" not in breach.message
    assert f"{law}: {breach.message}" in str(check)


@pytest.mark.parametrize(
    "policy",
    ["fcfs", "easy", "easy(backfill=sjf)", "lxf", "conservative", "conservative(compress=none)"],
)
def test_our_policies_keep_every_law(policy: str) -> None:
    check = check_policy(policy, workloads=FEW)
    assert check.ok, str(check)
    assert "all hold" in str(check)


@pytest.mark.parametrize("more", ["alpha=0.3", "alpha=0.4, size=split", "alpha=0.3, restart=checkpoint"])
def test_a_policy_that_stops_jobs_and_has_a_group_besides_keeps_every_law(more: str) -> None:
    policy = f"redirection(theta=1, {more})"
    tried = [package.simulate(i.workload(), i.procs, policy) for i in instances(FEW) if len(i) > 8]
    assert any(schedule.own["redirections"] for schedule in tried), "nothing is redirected here"
    check = check_policy(policy, workloads=FEW)
    assert check.ok, str(check)


@pytest.mark.parametrize("name", own_policies.PEEKS)
def test_whoever_looks_at_the_future_is_caught_however_it_is_found(name: str) -> None:
    skip = ["idle", "renaming", "shift"]  # which some of them break besides
    gc.freeze()  # whoever looks at all objects of the process sees those that the check makes
    check = check_policy(own_policies.PEEKS[name], workloads=4, skip=skip)
    assert [breach.law for breach in check.breaches] == ["peeking"]


def test_nothing_that_a_policy_is_given_shares_memory_with_the_future() -> None:
    """Follow every reference from the view: all arrays are empty behind what has arrived."""
    jobs = 40
    seen: list[int] = []

    def reached(thing: Any, found: dict[int, Any]) -> None:
        if id(thing) in found or isinstance(thing, str | int | float | type | None):
            return
        found[id(thing)] = thing
        if isinstance(thing, np.ndarray):
            reached(thing.base, found)
        for slot in getattr(type(thing), "__slots__", ()):
            reached(getattr(thing, slot, None), found)
        if isinstance(thing, dict):
            reached(list(thing.values()), found)
        elif isinstance(thing, list | tuple):
            for part in thing:
                reached(part, found)

    def policy(view: Any) -> Any:
        columns = [view.column("submit"), view.column("walltime"), view.waiting.walltime, view.running.submit]
        found: dict[int, Any] = {}
        reached([view, view.waiting, view.running, columns], found)
        arrived = len(view.column("submit"))
        for array in found.values():
            if isinstance(array, np.ndarray):
                assert not array[arrived:].any()
        seen.append(arrived)
        return own_policies.in_order(view)

    ones = np.ones(jobs, int)
    submit = np.arange(jobs) + 1
    workload = Workload.from_arrays(unit="s", submit=submit, procs=ones, runtime=5 * ones, user=ones)
    package.simulate(workload, 4, policy)
    assert seen[0] == 1 and seen[-1] == jobs


def test_right_policies_of_ones_own_keep_every_law() -> None:
    for policy in (own_policies.fcfs, own_policies.Limited(most=3)):
        check = package.check_policy(policy, workloads=FEW)
        assert check.ok, str(check)


def test_plans_made_with_real_run_times_are_peeking() -> None:
    assert [breach.law for breach in check_policy("easy(estimate=exact)", workloads=FEW).breaches] == [
        "peeking"
    ]


def test_what_a_breach_says_is_true() -> None:
    [breach] = check_policy(own_policies.over_allocates, workloads=FEW).breaches
    with pytest.raises(package.PolicyError, match=r"which needs \d+ processors") as error:
        package.simulate(breach.instance.workload(), breach.instance.procs, own_policies.over_allocates)
    assert str(error.value) == breach.message
    [breach] = check_policy(own_policies.Sleeps(), workloads=FEW).breaches
    schedule = package.simulate(breach.instance.workload(), breach.instance.procs, own_policies.Sleeps())
    assert len(breach.instance) == 1
    assert breach.message == "from 0 s to 60 s nothing ran while job 1 waited"
    assert schedule.start.tolist() == [60_000_000]


def test_laws_can_be_left_out() -> None:
    assert check_policy(own_policies.Sleeps(), workloads=2, skip=["idle"]).ok
    with pytest.raises(package.UsageError, match="no invariant 'sleep'; there are answers, capacity"):
        check_policy("fcfs", skip=["sleep"])


def test_the_workloads_are_awkward_and_always_the_same() -> None:
    tried = list(instances(20))
    assert tried == list(instances(20))
    jobs = [job for instance in tried for job in instance.jobs]
    assert any(job.runtime == 0 for job in jobs)
    assert any(job.runtime > job.walltime for job in jobs)
    assert any(0 < job.runtime < job.walltime for job in jobs)
    assert any(job.procs == instance.procs for instance in tried for job in instance.jobs)
    assert all(job.procs <= instance.procs for instance in tried for job in instance.jobs)


def test_shrinking_keeps_what_goes_wrong_and_nothing_else() -> None:
    large = next(i for i in instances(40) if len(i) >= 40)

    def wide_after_ten(instance: Instance) -> str:
        return "wide" if any(job.procs >= 2 and job.submit >= 10 for job in instance.jobs) else ""

    assert wide_after_ten(large)
    small, message = shrunk(large, "wide", wide_after_ten)
    assert message == "wide"
    assert small == Instance(2, (Request(10, 2, 1, 0, 1),))


def test_the_command_says_what_broke_and_its_status_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    headway.write("mine.py", "def mine(view):\n    return view.waiting\n")
    result = headway("policies", "--check", "./mine.py:mine")
    assert result.status == 1
    assert "broken are capacity" in result.out
    line = "mine.py:2 (return view.waiting)"
    assert f"capacity: {line}: at 0 s the policy started job 2, which needs" in result.out
    good = headway("policies", "--check", "fcfs")
    assert good.status == 0
    assert "all hold" in good.out
    for words in (("fcfs", "--check", "fcfs"), ("--skip", "idle")):
        refused: Any = headway("policies", *words)
        assert refused.status == 2 and refused.out == ""


def test_the_command_shows_a_policy_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    shown = headway("policies", f"{FILE}:Limited").out
    assert "FCFS with at most `most` jobs at once" in shown
    assert "most: 'int' = 2" in shown or "most: int = 2" in shown
