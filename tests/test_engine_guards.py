"""The engine refuses what cannot be, changes nothing, and explains it in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from headway.engine.driver import run
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import Ended, State, Why
from headway.engine.verbs import has_room, kill, start, wake
from headway.errors import PolicyError
from headway.units import SECOND


def starts_everything(t: int, state: State) -> None:
    for job in range(state.clock.first_new, state.clock.last_new):
        start(state, job, 0, Why.HEAD)


def starts_twice(t: int, state: State) -> None:
    for job in range(state.clock.first_new, state.clock.last_new):
        start(state, job, 0, Why.HEAD)
        start(state, job, 0, Why.BACKFILL)


def starts_the_next_arrival(t: int, state: State) -> None:
    start(state, state.clock.last_new, 0, Why.HEAD)


def kills_what_waits(t: int, state: State) -> None:
    kill(state, state.clock.first_new, Ended.BY_PREEMPTION)


def wakes_in_the_past(t: int, state: State) -> None:
    wake(state, state.clock.now - 1)


def notes_too_much(t: int, state: State) -> None:
    width = state.lists.shape[1]
    if has_room(state, width - 1, state.lists.table):
        has_room(state, width, state.lists.table)


def forgets(t: int, state: State) -> None:
    pass


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (starts_everything, ["at 1 s", "wants 3 processors", "only 1", "free"]),
        (starts_twice, ["at 0 s", "is running already", "only waiting jobs can start"]),
        (starts_the_next_arrival, ["at 0 s", "has not arrived yet"]),
        (kills_what_waits, ["at 0 s", "is waiting", "only running jobs can be stopped"]),
        (wakes_in_the_past, ["at 0 s", "woken", "not later than now"]),
        (notes_too_much, ["at 0 s", "more to note than its tables have room for"]),
        (forgets, ["2 of 2 jobs waiting for ever", "submitted at 0 s"]),
    ],
)
def test_faults_are_explained(hook: Callable[[int, State], None], words: list[str]) -> None:
    submit = np.array([0, SECOND])
    procs, length = np.array([3, 3]), np.array([10 * SECOND, 10 * SECOND])
    with pytest.raises(PolicyError) as fault:
        run(Jobs(submit, procs, length, length, length), Setup((4,), hook))
    sentence = str(fault.value)
    assert "\n" not in sentence
    for word in words:
        assert word in sentence
