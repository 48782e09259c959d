"""Runs that are suspended and resumed, runs with a lead, and what the verbs refuse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from headway.engine.driver import run
from headway.engine.setup import Jobs, Setup
from headway.engine.tables import Ended, Phase, Runs, State, Why
from headway.engine.verbs import resume, start, start_late, suspend, wake
from headway.errors import PolicyError
from headway.jit.kernels import kernel
from headway.outcome import outcome
from headway.schedule import ENDED, STATES
from headway.units import SECOND


def jobs(*rows: tuple[int, int, int, int]) -> Jobs:
    """Rows of submit, procs, walltime, runtime in seconds."""
    submit, procs, walltime, runtime = np.array(rows, np.int64).T
    return Jobs(submit * SECOND, procs.copy(), walltime * SECOND, runtime * SECOND, walltime * SECOND)


@kernel
def start_newcomers(state: State) -> None:
    for job in range(state.clock.first_new, state.clock.last_new):
        start(state, job, 0, Why.HEAD)


@kernel
def aside_and_back(t: int, state: State) -> None:
    """Job 0 stands still from 3 to 10 s, and needs 2 s to come back."""
    start_newcomers(state)
    if t == 3 * SECOND and state.jobs.phase[0] == Phase.RUNNING:
        suspend(state, 0)
    if t == 10 * SECOND and state.jobs.phase[0] == Phase.SUSPENDED:
        resume(state, 0, 2 * SECOND)
    if t < 3 * SECOND:
        wake(state, 3 * SECOND)
    elif t < 10 * SECOND:
        wake(state, 10 * SECOND)


def aside_at_3_back_at_10(t: int, state: State) -> None:
    aside_and_back(t, state)


def twice(t: int, state: State) -> None:
    """As above, and stopped again at 11 s, while it comes back; then 20 to 22 s to come back."""
    aside_and_back(t, state)
    if t == 11 * SECOND and state.jobs.phase[0] == Phase.RUNNING:
        suspend(state, 0)
    if t == 20 * SECOND and state.jobs.phase[0] == Phase.SUSPENDED:
        resume(state, 0, 2 * SECOND)
    if 10 * SECOND <= t < 11 * SECOND:
        wake(state, 11 * SECOND)
    elif 11 * SECOND <= t < 20 * SECOND:
        wake(state, 20 * SECOND)


def log(state: State, *rows: int) -> list[list[int]]:
    """The log of runs in order, times in seconds."""
    times = (Runs["start"], Runs["end"], Runs["expected"], Runs["lead"])
    found = [state.runs[row, : state.clock.runs] // (SECOND if row in times else 1) for row in rows]
    return np.array(found).T.tolist()  # type: ignore[no-any-return]


def test_what_was_done_is_kept() -> None:
    # 3 s of 8 are done; back at 10, going on at 12, the other 5 s end at 17, as the walltime allows 19.
    state = run(jobs((0, 2, 10, 8)), Setup((4,), aside_at_3_back_at_10))
    assert log(state, Runs["start"], Runs["end"], Runs["ended"], Runs["lead"], Runs["expected"]) == [
        [0, 3, Ended.BY_SUSPENSION, 0, 10],
        [10, 17, Ended.BY_ITSELF, 2, 19],
    ]
    assert state.jobs.kept[0] == 3 * SECOND


def test_standing_still_does_not_count_in_the_walltime() -> None:
    # It may run for 6 s in all: 3 before, and 3 from 12 s on; the lead does not count either.
    state = run(jobs((0, 2, 6, 8)), Setup((4,), aside_at_3_back_at_10))
    assert log(state, Runs["start"], Runs["end"], Runs["ended"]) == [
        [0, 3, Ended.BY_SUSPENSION],
        [10, 15, Ended.AT_WALLTIME],
    ]


def test_stopped_while_it_comes_back_it_has_done_nothing_more() -> None:
    state = run(jobs((0, 2, 10, 8)), Setup((4,), twice))
    assert log(state, Runs["start"], Runs["end"]) == [[0, 3], [10, 11], [20, 27]]
    assert state.jobs.kept[0] == 3 * SECOND


def test_processors_are_free_for_others_meanwhile() -> None:
    state = run(jobs((0, 4, 10, 8), (4, 4, 5, 5)), Setup((4,), aside_at_3_back_at_10))
    assert log(state, Runs["job"], Runs["start"], Runs["end"]) == [[0, 0, 3], [1, 4, 9], [0, 10, 17]]
    assert state.pools.free[0] == 4


def lead_of_three(t: int, state: State) -> None:
    for job in range(state.clock.first_new, state.clock.last_new):
        start_late(state, job, 0, Why.URGENT_PREEMPT, 3 * SECOND, 3 * SECOND + 6 * SECOND)


@pytest.mark.parametrize(("runtime", "end", "ended"), [(4, 8, Ended.BY_ITSELF), (7, 10, Ended.AT_WALLTIME)])
def test_a_lead_comes_before_the_program(runtime: int, end: int, ended: int) -> None:
    state = run(jobs((1, 1, 6, runtime)), Setup((4,), lead_of_three))
    assert log(state, Runs["start"], Runs["end"], Runs["ended"]) == [[1, end, ended]]
    columns = outcome(state, np.array([0]), lead="swap_in")
    assert columns["start"].tolist() == [4 * SECOND] and "pieces" not in columns


def test_pieces_of_a_job_stopped_twice() -> None:
    """Swapping out takes as long as coming back; the second time it never got to run in between."""
    state = run(jobs((0, 2, 10, 8)), Setup((4,), twice))
    columns = outcome(state, np.array([0]), lead="swap_in")
    pieces = columns["pieces"]
    found = [
        (STATES[s], a // SECOND, b // SECOND, ENDED[e])
        for s, a, b, e in zip(pieces.state, pieces.start, pieces.end, pieces.ended, strict=True)
    ]
    assert found == [
        ("running", 0, 3, "suspended"),
        ("swap_out", 3, 5, "done"),
        ("suspended", 5, 10, "resumed"),
        ("swap_in", 10, 11, "suspended"),
        ("swap_out", 11, 13, "done"),
        ("suspended", 13, 20, "resumed"),
        ("swap_in", 20, 22, "done"),
        ("running", 22, 27, "done"),
    ]
    assert set(pieces.run.tolist()) == {0}
    assert (columns["start"][0], columns["end"][0]) == (0, 27 * SECOND)


def resumes_what_runs(t: int, state: State) -> None:
    start_newcomers(state)
    resume(state, 0, 0)


def suspends_twice(t: int, state: State) -> None:
    start_newcomers(state)
    suspend(state, 0)
    suspend(state, 0)


def resumes_without_room(t: int, state: State) -> None:
    if state.clock.first_new == 0 and state.clock.last_new == 1:
        start(state, 0, 0, Why.HEAD)
        suspend(state, 0)
    elif state.clock.first_new == 1:
        start(state, 1, 0, Why.HEAD)
        resume(state, 0, 0)


def never_resumes(t: int, state: State) -> None:
    start_newcomers(state)
    if state.jobs.phase[0] == Phase.RUNNING:
        suspend(state, 0)


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (resumes_what_runs, ["is running already", "only suspended jobs can be resumed"]),
        (suspends_twice, ["is suspended", "only running jobs can be stopped"]),
        (resumes_without_room, ["wants 3 processors", "only 1"]),
        (never_resumes, ["1 of 2 jobs waiting for ever"]),
    ],
)
def test_faults(hook: Callable[[int, State], None], words: list[str]) -> None:
    with pytest.raises(PolicyError) as fault:
        run(jobs((0, 3, 10, 10), (1, 1 if hook is never_resumes else 3, 10, 10)), Setup((4,), hook))
    for word in words:
        assert word in str(fault.value)
