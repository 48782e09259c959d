"""Policies that work together: every pair of the table, and the reason of every pair that is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headway
from commands import SWF, Headway
from headway.audit import audit
from headway.errors import UsageError
from headway.platform import Cluster, Platform
from headway.policies.composition import PAIRS, REFUSALS, Pair, Refusal
from headway.workload import Workload
from instances import busy

PROCS = 24


def jobs(*without: str) -> Workload:
    """A machine with too much to do; two of five jobs have a deadline, some are urgent."""
    log, random = busy(150, PROCS, 2.5, seed=3), np.random.default_rng(7)
    late = log.submit + log.walltime + random.integers(0, 40_000, len(log)) * 1_000_000
    log = log.with_columns(deadline=np.where(random.random(len(log)) < 0.4, late, -1))
    absent = {name: np.zeros_like(log.columns[name]) for name in without}
    return log.with_columns(transformation=None, **absent)


def machine(clusters: int) -> Platform:
    """The machine, and beside it clusters of half its size."""
    sizes = [PROCS, *[PROCS // 2] * (clusters - 1)]
    return Platform(tuple(Cluster(f"c{i}", procs=size) for i, size in enumerate(sizes)))


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_mechanism_acts_and_every_law_holds(pair: Pair) -> None:
    schedule = headway.simulate(jobs(), machine(pair.clusters), pair.example)
    assert int(str(schedule.own[pair.acts])) > 0
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    places = schedule.cluster if pair.clusters > 1 else schedule.group
    assert pair.outer == "ujfb" or (places is not None and set(places.tolist()) == {0, 1})


SHORT = {
    *("redirection over easy", "ujfb over conservative(compress=scratch)"),
    "reallocation over dbf on 2 clusters",
}
"""Pairs that are tried each time; every other one means a kernel more to compile."""

OFF = [
    pytest.param(pair, id=pair.name, marks=() if pair.name in SHORT else pytest.mark.long)
    for pair in PAIRS
    if pair.off
]


@pytest.mark.parametrize("pair", OFF)
def test_with_nothing_to_do_the_policy_below_is_as_alone(pair: Pair) -> None:
    log = jobs(*([pair.without] if pair.without else []))
    off = headway.simulate(log, machine(pair.off_clusters or pair.clusters), pair.off)
    alone = headway.simulate(log, machine(1), pair.inner)
    for name in ("start", "end", "killed"):
        assert np.array_equal(getattr(off, name), getattr(alone, name)), name


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: f"{each.outer} over {each.inner}")
def test_what_does_not_go_together_is_refused_with_the_reason(refusal: Refusal) -> None:
    clusters = tuple(Cluster(f"c{i}", procs=PROCS, speed=v) for i, v in enumerate(refusal.speeds))
    with pytest.raises(UsageError) as caught:
        headway.simulate(jobs(), Platform(clusters), refusal.example)
    assert refusal.reason in str(caught.value) and "\n" not in str(caught.value)


def test_a_refusal_is_one_sentence_and_exit_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Headway(tmp_path, capsys, monkeypatch)
    log = cli.write("log.swf", SWF)
    done = cli("simulate", log, "--policy", "redirection(principal=ujfb)")
    assert done.status == 2 and done.out == ""
    assert done.err.count("\n") == 1 and REFUSALS[1].reason in done.err


def test_every_pair_and_refusal_stands_once() -> None:
    names = [pair.name + pair.example for pair in PAIRS] + [each.example + each.inner for each in REFUSALS]
    assert len(set(names)) == len(names)
