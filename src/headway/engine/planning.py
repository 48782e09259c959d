"""Keeps the profile of a pool in step with what runs there, for policies that plan ahead."""

from __future__ import annotations

from headway.engine.heap import pop, push
from headway.engine.profile import change
from headway.engine.tables import OPEN, Clock, Job, List, Pool, Run, State
from headway.engine.verbs import start
from headway.jit.kernels import kernel, routine


@kernel
def settle(t: int, state: State, k: int) -> int:
    """Bring the profile of pool ``k`` up to now; how many runs ended early, or left before they began."""
    early = settle_runs(t, state, k)
    if state.clock[Clock.OUTLIVES] > 0:
        outlive(t, state)
    return early


@kernel
def settle_runs(t: int, state: State, k: int) -> int:
    """Runs that ended in pool ``k`` give back what the profile still held; how many ended early, or left."""
    early = state.pools[Pool.LEFT, k]
    if early > 0:
        state.pools[Pool.FREED, k], state.pools[Pool.LEFT, k] = 1, 0
    for i in range(state.clock[Clock.ENDED]):
        run = state.lists[List.ENDED_RUNS, i]
        if state.runs[Run.POOL, run] == k:
            state.pools[Pool.FREED, k] = 1
            if state.runs[Run.EXPECTED, run] > t:
                early += 1
                release(t, state, k, run)
    return int(early)


@kernel
def note_room(state: State, k: int, begin: int, end: int) -> None:
    """Remember that the profile of pool ``k`` has more free processors than before on [begin, end)."""
    state.pools[Pool.ROOM_FROM, k] = min(state.pools[Pool.ROOM_FROM, k], begin)
    state.pools[Pool.ROOM_TO, k] = max(state.pools[Pool.ROOM_TO, k], end)


@kernel
def release(t: int, state: State, k: int, run: int) -> None:
    """Give back the processors that the profile holds for a run from now on."""
    procs, expected = state.jobs[Job.PROCS, state.runs[Run.JOB, run]], state.runs[Run.EXPECTED, run]
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
    while state.clock[Clock.OUTLIVES] > 0 and state.lists[List.OUTLIVE_TIME, 0] <= t:
        run = state.lists[List.OUTLIVE_RUN, 0]
        pop(state.lists, List.OUTLIVE_TIME, state.clock[Clock.OUTLIVES])
        state.clock[Clock.OUTLIVES] -= 1
        if state.runs[Run.END, run] == OPEN:
            return int(run)
    return -1


@kernel
def expect_request(t: int, state: State, run: int) -> None:
    """Let the profile hold the processors of a run as long as was requested.

    It is planned already without those that drain, from the end that was expected before.
    """
    job = state.runs[Run.JOB, run]
    expected = state.runs[Run.START, run] + state.jobs[Job.WALL, job]
    state.runs[Run.EXPECTED, run] = expected
    more = state.jobs[Job.PROCS, job] - state.runs[Run.DRAINING, run]
    change(state.profile, state.runs[Run.POOL, run], t, expected, -more, t)


@kernel
def may_outlive(state: State, job: int) -> None:
    """Note a run whose estimate is shorter than the request."""
    if state.jobs[Job.PLAN, job] < state.jobs[Job.WALL, job]:
        end = state.clock[Clock.NOW] + state.jobs[Job.PLAN, job]
        push(state.lists, List.OUTLIVE_TIME, state.clock[Clock.OUTLIVES], end, state.jobs[Job.RUN, job])
        state.clock[Clock.OUTLIVES] += 1


@kernel
def start_and_book(state: State, job: int, k: int, why: int) -> bool:
    """Start a waiting job now; the profile holds its processors until its expected end."""
    if not start(state, job, k, why):
        return False
    now = state.clock[Clock.NOW]
    change(state.profile, k, now, now + state.jobs[Job.PLAN, job], -state.jobs[Job.PROCS, job], now)
    may_outlive(state, job)
    return True
