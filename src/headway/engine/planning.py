"""Keeps the profile of a pool in step with what runs there, for policies that plan ahead."""

from __future__ import annotations

from headway.engine.heap import pop, push
from headway.engine.profile import change
from headway.engine.tables import OPEN, Lists, State
from headway.engine.verbs import start
from headway.jit.kernels import kernel, routine


@kernel
def settle(t: int, state: State, k: int) -> int:
    """Bring the profile of pool ``k`` up to now; how many runs ended early, or left before they began."""
    early = settle_runs(t, state, k)
    if state.clock.outlives > 0:
        outlive(t, state)
    return early


@kernel
def settle_runs(t: int, state: State, k: int) -> int:
    """Runs that ended in pool ``k`` give back what the profile still held; how many ended early, or left."""
    early = state.pools.left[k]
    if early > 0:
        state.pools.freed[k], state.pools.left[k] = 1, 0
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        if state.runs.pool[run] == k:
            state.pools.freed[k] = 1
            if state.runs.expected[run] > t:
                early += 1
                release(t, state, k, run)
    return int(early)


@kernel
def note_room(state: State, k: int, begin: int, end: int) -> None:
    """Remember that the profile of pool ``k`` has more free processors than before on [begin, end)."""
    state.pools.room_from[k] = min(state.pools.room_from[k], begin)
    state.pools.room_to[k] = max(state.pools.room_to[k], end)


@kernel
def release(t: int, state: State, k: int, run: int) -> None:
    """Give back the processors that the profile holds for a run from now on."""
    procs, expected = state.jobs.procs[state.runs.job[run]], state.runs.expected[run]
    change(state.profile, k, t, expected, procs, t)
    note_room(state, k, t, expected)


@routine
def outlive(t: int, state: State) -> None:
    """Runs that outlived their estimate are expected to last as long as was requested."""
    run = next_outlived(t, state)
    while run >= 0:
        expect_request(t, state, run)
        run = next_outlived(t, state)


@kernel
def next_outlived(t: int, state: State) -> int:
    """The next run that has outlived its estimate by now; -1 if there is none."""
    while state.clock.outlives > 0 and state.lists.outlive_time[0] <= t:
        run = state.lists.outlive_run[0]
        pop(state.lists.table, Lists["outlive_time"], state.clock.outlives)
        state.clock.outlives -= 1
        if state.runs.end[run] == OPEN:
            return int(run)
    return -1


@kernel
def expect_request(t: int, state: State, run: int) -> None:
    """Let the profile hold the processors of a run as long as was requested.

    It is planned already without those that drain, from the end that was expected before.
    """
    job = state.runs.job[run]
    expected = state.runs.start[run] + state.jobs.wall[job]
    state.runs.expected[run] = expected
    more = state.jobs.procs[job] - state.runs.draining[run]
    change(state.profile, state.runs.pool[run], t, expected, -more, t)


@kernel
def may_outlive(state: State, job: int) -> None:
    """Note a run whose estimate is shorter than the request."""
    if state.jobs.plan[job] < state.jobs.wall[job]:
        end = state.clock.now + state.jobs.plan[job]
        push(state.lists.table, Lists["outlive_time"], state.clock.outlives, end, state.jobs.run[job])
        state.clock.outlives += 1


@kernel
def start_and_book(state: State, job: int, k: int, why: int) -> bool:
    """Start a waiting job now; the profile holds its processors until its expected end."""
    if not start(state, job, k, why):
        return False
    now = state.clock.now
    change(state.profile, k, now, now + state.jobs.plan[job], -state.jobs.procs[job], now)
    may_outlive(state, job)
    return True
