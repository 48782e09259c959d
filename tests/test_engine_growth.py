"""Tables that begin too small grow without changing anything; progress and batches change nothing either."""

from __future__ import annotations

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.engine import driver
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import State, Why
from headway.engine.verbs import start
from instances import SPECS, busy


def start_all(t: int, state: State) -> None:
    """Everyone starts on arrival."""
    for job in range(state.clock.first_new, state.clock.last_new):
        start(state, job, 0, Why.HEAD)


LOG = busy(200, 32, load=1.6, seed=5)


def same(one: Schedule, other: Schedule) -> bool:
    names = ("start", "end", "why", "killed", "promise")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("spec", SPECS)
def test_small_tables_give_the_same_schedule(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    roomy = headway.simulate(LOG, 32, spec)
    rooms: list[int] = []
    grow = driver.Driver.grow

    def counted(self: driver.Driver) -> None:
        grow(self)
        rooms.append(int(self.state.clock.live_room))

    monkeypatch.setattr(driver.Driver, "grow", counted)
    monkeypatch.setattr(driver.Driver.__init__, "__defaults__", (None, 1, None))
    assert same(headway.simulate(LOG, 32, spec), roomy)
    assert len(rooms) >= 5, "the tables did not begin small"


@pytest.mark.parametrize("spec", ["fcfs", "easy", "easy(depth=2)", "conservative"])
def test_batches_change_nothing(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = headway.simulate(LOG, 32, spec)
    reports: list[tuple[int, int]] = []
    monkeypatch.setattr(driver.Driver.run, "__defaults__", (None, 7))
    made = headway.simulate(LOG, 32, spec, progress=lambda done, jobs: reports.append((done, jobs)))
    assert same(made, whole)
    done = [finished for finished, _ in reports]
    assert len(reports) > 10 and done == sorted(done) and reports[-1] == (200, 200)


def test_no_more_instants_go_by_than_were_asked_for_while_tables_grow() -> None:
    procs = walltime = runtime = np.ones(200, np.int64)
    jobs = Jobs(np.arange(200), procs, walltime * 1000, runtime * 1000, walltime * 1000)
    moved = driver.Driver(jobs, Setup((200,), start_all), room=1)
    for passes in range(3, 200, 3):
        assert moved.advance(3) and moved.state.clock.instants == passes
    assert moved.state.clock.live_room >= 64
