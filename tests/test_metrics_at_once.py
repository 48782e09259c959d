"""The metrics of a plain simulation by one compiled pass, held to the catalogue's to the last bit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.tables import Ended
from headway.errors import UsageError
from headway.metrics.at_once import MOST_PARTS, exact_parts, metrics_at_once
from headway.metrics.catalogue import METRICS
from headway.metrics.sample import Sample
from headway.metrics.statistics import HUGE
from headway.outcome import Ran, result_of
from headway.simulate import run_policy
from headway.workload import Workload
from random_examples import examples

SECONDS = st.integers(0, 200_000)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Up to thirty jobs in any order of submission, of no length and killed ones among them."""
    jobs = draw(st.lists(st.tuples(SECONDS, st.integers(1, 8), SECONDS, SECONDS), min_size=1, max_size=30))
    scale = draw(st.sampled_from([1, 1_000_000, 999_983]))  # µs, seconds, and what is neither
    submit, procs, runtime, walltime = np.array(jobs).T
    return Workload.from_arrays(
        unit="us", procs=procs, submit=submit * scale, runtime=runtime * scale, walltime=walltime * scale
    )


def both(ran: Ran, tau: float, trim: float) -> tuple[object, dict[str, object]]:
    sample = Sample(result_of(ran, {}), tau, trim)
    found = metrics_at_once(ran.state, ran.jobs, ran.capacity, ran.workload.ledger.dropped, tau, trim)
    return found, {metric.name: metric.compute(sample) for metric in METRICS}


@examples(200)
@given(
    workloads(),
    st.sampled_from(["fcfs", "easy"]),
    st.sampled_from([0, 10, 60, 2.5]),
    st.sampled_from([0, 5, 33.3, 49.9]),
)
def test_every_metric_is_the_catalogues_to_the_last_bit(
    workload: Workload, policy: str, tau: float, trim: float
) -> None:
    ran = run_policy(workload, 8, policy)
    assert ran.is_plain
    found, expected = both(ran, tau, trim)
    assert found == expected
    assert isinstance(found, dict) and list(found) == list(expected)


def test_what_is_not_plain_is_left_to_the_catalogue() -> None:
    nobody = Workload.from_arrays(unit="s", submit=[], procs=[], runtime=[])
    assert both(run_policy(nobody, 8, "fcfs"), 10, 0)[0] is None
    two = Workload.from_arrays(unit="s", submit=[0, 0], procs=[8, 8], runtime=[50, 50])
    stopped = run_policy(two, 8, "fcfs")
    more: dict[str, Any]
    for more in ({"groups": {"a": 4, "b": 4}}, {"lead": "loading"}, {"own": lambda state: {}}):
        assert not replace(stopped, prepared=replace(stopped.prepared, **more)).is_plain
    stopped.state.runs.ended[0] = Ended.BY_SUSPENSION
    assert metrics_at_once(stopped.state, stopped.jobs, 8, 0, 10, 0) is None


@pytest.mark.parametrize(("tau", "trim"), [(-1, 0), (math.inf, 0), (10, 50)])
def test_bounds_are_refused_as_everywhere(tau: float, trim: float) -> None:
    ran = run_policy(Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[5]), 8, "fcfs")
    with pytest.raises(UsageError):
        metrics_at_once(ran.state, ran.jobs, 8, 0, tau, trim)


@examples(200)
@given(st.lists(st.floats(-1e280, 1e280), max_size=60), st.integers(0, 60))
def test_the_parts_of_a_sum_have_that_sum(values: list[float], count: int) -> None:
    array, parts = np.array(values), np.zeros(200)
    plain = getattr(exact_parts, "py_func", exact_parts)
    some = min(count, len(values))
    assert plain(array, some, parts)
    assert math.fsum(parts) == math.fsum(values[:some])
    assert not array[:some].any()


def test_sums_that_take_too_many_parts_are_left_to_the_catalogue() -> None:
    plain = getattr(exact_parts, "py_func", exact_parts)
    far_apart = np.array([10.0**power for power in range(-280, 280, 8)])
    assert not plain(far_apart, len(far_apart), np.zeros(MOST_PARTS))
    assert not plain(np.array([HUGE]), 1, np.zeros(MOST_PARTS))
