"""A policy never sees a run time before the job ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.engine.tables import State, World
from headway.units import SECOND
from headway.workload import Workload
from instances import SPECS, busy, simulated
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import stretched

M = 6
BLIND = tuple(spec for spec in SPECS if "exact" not in spec)
"""With estimate=exact the planner is told the run times, on purpose."""


def other_futures(jobs: list[Job], results: list[Result], now: int, draw: st.DataObject) -> list[Job]:
    """The same jobs, but those that have not ended by ``now`` may need another time from then on."""
    changed = []
    for job, result in zip(jobs, results, strict=True):
        if result.end > now and job.walltime > 0:
            done = max(now - result.start + 1, 0) if result.start <= now else 0  # it has run this long so far
            job = replace(job, runtime=draw.draw(st.integers(done, done + 2 * job.walltime)))
        changed.append(job)
    return changed


@examples(50)
@given(jobs=job_lists(M, max_jobs=12, urgent=st.booleans()), now=st.integers(0, 40), data=st.data())
def test_decisions_do_not_depend_on_the_future(jobs: list[Job], now: int, data: st.DataObject) -> None:
    jobs, now = stretched(jobs, SECOND), now * SECOND
    for spec in BLIND:
        results = simulated(jobs, M, spec)
        others = simulated(other_futures(jobs, results, now, data), M, spec)
        for job, one, other in zip(jobs, results, others, strict=True):
            assert (one.start <= now) == (other.start <= now), spec
            if one.start <= now:
                assert (one.start, one.why, one.promise) == (other.start, other.why, other.promise), spec
            elif job.submit <= now and spec.startswith("conservative"):
                assert one.promise == other.promise, spec  # told on arrival


@pytest.mark.parametrize("spec", BLIND)
def test_on_a_busy_machine(spec: str) -> None:
    log = busy(300, 32, load=1.3, seed=9)
    made = headway.simulate(log, 32, spec)
    now = int(np.quantile(made.start, 0.4))
    random = np.random.default_rng(1)
    done = np.where(made.start <= now, now - made.start + 1, 0)
    other = np.where(
        (made.end > now) & (log.walltime > 0),
        done + random.integers(0, 5000 * SECOND, len(log)),
        log.runtime,
    )
    changed: Workload = log.with_columns(runtime=other)
    again = headway.simulate(changed, 32, spec)
    early = made.start <= now
    assert np.array_equal(early, again.start <= now)
    assert np.array_equal(made.start[early], again.start[early])
    assert np.array_equal(made.why[early], again.why[early])
    assert not np.array_equal(made.start, again.start), "the change was too small to see anything"


def test_the_state_has_no_place_for_run_times() -> None:
    assert "runtime" in World._fields
    assert not set(State._fields) & set(World._fields)
