"""A compiled policy is given no run time, and one that looks at jobs yet to come is caught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import own_compiled
from headway.check import check_policy
from headway.engine.setup import Jobs, make_state
from headway.jit.rows import array_of
from headway.policies.own.words import compiled
from headway.policies.prepare import Arrivals

FILE = Path(own_compiled.__file__)


@pytest.mark.long
@pytest.mark.parametrize(("way", "name"), list(enumerate(own_compiled.WAYS)))
def test_a_compiled_policy_that_looks_ahead_is_caught_however_it_does(way: int, name: str) -> None:
    check = check_policy(f"{FILE}:peeks(way={way})", workloads=4, skip=["idle", "renaming", "shift"])
    assert [breach.law for breach in check.breaches] == ([] if name == "nothing" else ["peeking"])


def test_no_table_that_a_compiled_policy_is_given_holds_a_run_time() -> None:
    jobs = 40
    runtime = 7_000_001 + 13 * np.arange(jobs)  # numbers that are nothing else
    submit, procs, walltime = np.arange(jobs) * 1_000_000, np.ones(jobs, np.int64), np.full(jobs, 60_000_000)

    @compiled
    def mine(t, state):  # type: ignore[no-untyped-def]
        pass

    setup = mine.setup(Arrivals(submit, procs, walltime, runtime, {}), 4)
    state, world = make_state(Jobs(submit, procs, walltime, runtime, walltime), setup)
    assert np.isin(runtime, world.runtime).all()  # which is the engine's alone
    seen = [np.ravel(array_of(table)) for table in (*state, *state.profile) if not isinstance(table, tuple)]
    assert len(seen) > 8 and any(np.isin(walltime, table).all() for table in seen)
    assert not np.isin(np.concatenate(seen), runtime).any()
