"""Orders and estimates by a function of the user's own: computed once or at each pass, one meaning."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import headway
import own_keys
from headway.jit import kernels
from headway.policies.own.keys import KeyedRun, KeyFunction, uses_second
from headway.policies.spec import Spec
from headway.workload.models import generate

FILE = Path(own_keys.__file__)
LOG = generate("lublin(jobs=900, procs=64, load=0.9, estimates=tsafrir, seed=7)")


@pytest.mark.long
@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ("easy(order={}:area)", "easy(order=saf)"),
        ("easy(order={}:expansion)", "easy(order=lxf)"),
        ("easy(order={}:expansion_in_python)", "easy(order=lxf)"),
        ("easy(backfill={}:area)", "easy(backfill=saf)"),
        ("easy(order={0}:expansion, backfill={0}:area)", "easy(order=lxf, backfill=saf)"),
        ("easy(order=sjf, backfill={}:expansion, age=20000)", "easy(order=sjf, backfill=lxf, age=20000)"),
        ("easy(order={}:length, estimate=0.5)", "easy(order=sjf, estimate=0.5)"),
        ("easy(order={}:expansion, depth=all)", "easy(order=lxf, depth=all)"),
        ("strict(order={}:expansion)", "lxf"),
        ("strict(order={}:area)", "saf"),
        ("easy(order={}:weighted_expansion(weight=2))", "easy(order=lxf)"),
        ("strict(order=sjf)", "sjf"),
        ("easy(estimate={}:times(factor=0.5))", "easy(estimate=0.5)"),
        ("easy(estimate={}:times, backfill=sjf)", "easy(estimate=2, backfill=sjf)"),
    ],
)
def test_a_key_of_ones_own_is_the_built_in_order(own: str, ours: str) -> None:
    theirs = headway.simulate(LOG, 64, own.format(FILE))
    built_in = headway.simulate(LOG, 64, ours)
    assert np.array_equal(theirs.start, built_in.start)
    if "{}" in own:
        assert theirs.provenance["policy_source"]["file"].endswith("own_keys.py")


def test_the_keys_of_these_tests_do_change_the_schedule() -> None:
    starts = [
        headway.simulate(LOG, 64, policy).start for policy in ("easy", "easy(order=saf)", "easy(order=lxf)")
    ]
    assert not any(np.array_equal(a, b) for a, b in pairwise(starts))


def test_a_function_is_given_from_python_by_itself() -> None:
    spec = headway.policy("easy", order=own_keys.area)
    assert np.array_equal(
        headway.simulate(LOG, 64, spec).start, headway.simulate(LOG, 64, "easy(order=saf)").start
    )
    assert "own_keys.py:area" in str(spec)


def test_a_key_sees_any_column_that_is_known_at_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    """This one makes an array of it; it is compiled nonetheless."""
    if not kernels.INTERPRETED:
        monkeypatch.delattr(KeyedRun, "_write")
    log = LOG.with_columns(queue=np.arange(len(LOG)) % 2)
    schedule = headway.simulate(log, 64, f"strict(order={FILE}:queue_first)")
    waits = [schedule.wait[log.queue == queue].mean() for queue in (0, 1)]
    assert waits[0] < waits[1]
    assert not np.array_equal(schedule.start, headway.simulate(log, 64, "fcfs").start)


def test_only_keys_that_look_at_now_are_computed_at_each_pass() -> None:
    assert KeyFunction(Spec("k", given=own_keys.expansion)).moves
    assert not KeyFunction(Spec("k", given=own_keys.arrival)).moves, "it takes now but does not look at it"
    assert not KeyFunction(Spec("k", given=own_keys.area)).moves
    assert not KeyFunction(Spec("k", given=own_keys.times)).takes_now, "its second parameter has a default"
    assert uses_second(lambda job, now: sum(now for _ in range(2)))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "by_hand",
            r"own_keys\.py:\d+ \(return float\(1 / .*ZeroDivisionError: division by zero, for job \d+ at",
        ),
        ("nothing", r"own_keys\.py:\d+: the key of job \d+ at \d+ s is nan; it must be a number"),
        ("runtime", r"own_keys\.py:\d+ .*a job has no 'runtime'; it has submit, procs, walltime"),
        ("three", r"own_keys\.py:\d+: a key is called with a job, or with a job and now"),
        ("missing", r"there is no 'missing'; it defines arrival, area"),
    ],
)
def test_a_mistake_in_a_key_is_told_by_its_line(name: str, says: str) -> None:
    with pytest.raises(headway.HeadwayError, match=says) as error:
        headway.simulate(LOG, 64, f"easy(order={FILE}:{name})")
    assert "numba" not in str(error.value)


def test_an_estimate_must_be_a_time() -> None:
    with pytest.raises(headway.PolicyError, match=r"the estimate of job 1 is -1 s; it must be"):
        headway.simulate(LOG, 64, f"easy(estimate={FILE}:negative)")


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ("principal=easy(order={}:area)", "principal=easy(order=saf)"),
        ("principal=easy(backfill={}:area)", "principal=easy(backfill=saf)"),
        ("principal=easy(order={0}:area, backfill=sjf)", "principal=easy(order=saf, backfill=sjf)"),
        ("principal=easy(estimate={}:times)", "principal=easy(estimate=2)"),
        ("redirected=easy(estimate={}:times)", "redirected=easy(estimate=2)"),
    ],
)
def test_a_key_of_ones_own_orders_the_principal_group_of_redirection(own: str, ours: str) -> None:
    of = "redirection(theta=2, alpha=0.5, {})"
    theirs = headway.simulate(LOG, 64, of.format(own.format(FILE)))
    built_in = headway.simulate(LOG, 64, of.format(ours))
    assert int(str(built_in.own["redirections"])) > 10
    assert np.array_equal(theirs.start, built_in.start)
    assert theirs.own == built_in.own
    assert theirs.provenance["policy_source"]["file"].endswith("own_keys.py")
    assert headway.audit(theirs).ok


@pytest.mark.interpreted
def test_keys_are_refused_where_they_have_no_meaning() -> None:
    with pytest.raises(headway.UsageError, match=r"a key that changes with time, order=.*:expansion; name"):
        headway.simulate(LOG, 64, f"redirection(principal=easy(order={FILE}:expansion))")
    with pytest.raises(headway.UsageError, match=r"redirected=easy\(.* has a key there, order=.*:area; name"):
        headway.simulate(LOG, 64, f"redirection(redirected=easy(order={FILE}:area))")
    with pytest.raises(headway.UsageError, match="depth must be"):
        headway.simulate(LOG, 64, f"easy(depth={FILE}:area)")
