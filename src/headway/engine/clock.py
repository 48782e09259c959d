"""Time moves here and nowhere else.

One instant: what is due ends, then processors come and go (:mod:`headway.engine.outages`), then arrivals join
in file order, then the policy has its turn. A job of zero length ends in a second turn at the same time.
"""

from __future__ import annotations

from headway.engine.heap import pop, push
from headway.engine.shares import shares_crowded
from headway.engine.stretch import stretched
from headway.engine.tables import (
    ASK,
    AT_WALLTIME,
    BROKEN,
    BY_ITSELF,
    CHANGES,
    DONE,
    ENDED,
    ENDED_RUNS,
    EVENT,
    FAULT,
    FINISH,
    FINISHED,
    FIRST_NEW,
    FRESH,
    GROW,
    HELD,
    HORIZON,
    INSTANTS,
    KEPT,
    KNOWN_UNTIL,
    LAST_NEW,
    LIVE_ROOM,
    NONE,
    NOW,
    OPEN,
    OUTLIVES,
    PASS,
    PAUSE,
    PHASE,
    R_END,
    R_JOB,
    R_LEAD,
    R_LIMIT,
    R_START,
    RETURNS,
    RUNS,
    RUNS_NOW,
    STRETCH_BY,
    STRETCH_OVER,
    SUBMIT,
    SUSPENDS,
    TICK,
    WAITING,
    WAITS,
    WAITS_MAX,
    WAITS_SUM,
    WAKE,
    State,
    World,
)
from headway.engine.verbs import stop
from headway.jit import entry, kernel
from headway.units import NEVER


@kernel
def needed(state: State, world: World, run: int) -> int:
    """How long a run would hold its processors if nothing stopped it: its lead, then what is left to do."""
    job = state.runs[R_JOB, run]
    runtime = world.runtime[job]
    over = state.jobs[STRETCH_OVER, job]
    if over > 0:
        runtime = stretched(runtime, state.jobs[STRETCH_BY, job], over)
    return int(state.runs[R_LEAD, run] + runtime - state.jobs[KEPT, job])


@kernel
def foresee(state: State, world: World) -> None:
    """Note the real ends of the runs that the last turn started."""
    for run in range(state.clock[FRESH], state.clock[RUNS]):
        if state.runs[R_END, run] != OPEN:
            continue
        length = min(needed(state, world, run), state.runs[R_LIMIT, run])
        push(world.ends, 0, world.size[0], state.runs[R_START, run] + length, run)
        world.size[0] += 1
    state.clock[FRESH] = state.clock[RUNS]


@kernel
def next_end(state: State, world: World) -> int:
    """When the next run ends; entries of runs that were stopped before are dropped."""
    while world.size[0] > 0:
        if state.runs[R_END, world.ends[1, 0]] == OPEN:
            return int(world.ends[0, 0])
        pop(world.ends, 0, world.size[0])
        world.size[0] -= 1
    return NEVER


@kernel
def end_due(state: State, world: World, t: int) -> None:
    """End every run that is due at ``t``, at its natural end or at its walltime."""
    count = 0
    while next_end(state, world) == t:
        run = world.ends[1, 0]
        cut = needed(state, world, run) > state.runs[R_LIMIT, run]
        ended(state, run, AT_WALLTIME if cut else BY_ITSELF, count)
        count += 1
    state.clock[ENDED] = count


@kernel
def ended(state: State, run: int, how: int, place: int) -> None:
    """A run has ended, by itself or at its walltime: its job is done, and stands among those that ended."""
    stop(state, run, how)
    state.jobs[PHASE, state.runs[R_JOB, run]] = DONE
    state.clock[FINISHED] += 1
    state.lists[ENDED_RUNS, place] = run


@kernel
def admit(state: State, t: int) -> None:
    """Let the jobs submitted at ``t`` arrive, all of them as one batch."""
    job = state.clock[LAST_NEW]
    state.clock[FIRST_NEW] = job
    jobs = state.jobs.shape[1]
    while job < jobs and state.jobs[SUBMIT, job] == t:
        state.jobs[PHASE, job] = WAITING
        job += 1
    state.clock[LAST_NEW] = job
    state.clock[WAITS] += job - state.clock[FIRST_NEW]


@kernel
def arrivals_at(state: State, t: int) -> int:
    """How many jobs will arrive at ``t``."""
    first = state.clock[LAST_NEW]
    job = first
    while job < state.jobs.shape[1] and state.jobs[SUBMIT, job] == t:
        job += 1
    return int(job - first)


@kernel
def crowded(state: State, world: World, arriving: int) -> bool:
    """Whether the tables may be too small for what an instant with so many arrivals can do."""
    clock = state.clock
    # One more: a job may start, be stopped and start again in one instant.
    live = clock[WAITS] + clock[RUNS_NOW] + clock[SUSPENDS] + arriving + 1
    return bool(
        live > clock[LIVE_ROOM]
        or clock[RUNS] + live > state.runs.shape[1]
        or world.size[0] + live > world.ends.shape[1]
        or clock[OUTLIVES] + live > state.lists.shape[1]
        or shares_crowded(state)
    )


@kernel
def open_instant(state: State, world: World, t: int) -> int:
    """Let it be ``t``, which is no later than what happens next: ends, then arrivals."""
    if crowded(state, world, arrivals_at(state, t)):
        return GROW
    clock = state.clock
    clock[NOW] = t
    clock[WAKE] = NEVER
    end_due(state, world, t)
    admit(state, t)
    clock[INSTANTS] += 1
    clock[WAITS_SUM] += clock[WAITS]
    clock[WAITS_MAX] = max(clock[WAITS_MAX], clock[WAITS])
    return PASS


@kernel
def step(state: State, world: World) -> int:
    """Close the present instant and open the next: ends, then arrivals; then it is the policy's turn.

    Where the world has something to tell at that instant, EVENT is returned first: the instant is open, and
    the next call is the policy's turn. PAUSE is returned before an instant at which jobs may arrive that are
    not in the table yet.
    """
    clock = state.clock
    if clock[HELD] > 0:
        clock[HELD] -= 1
        if clock[HELD] == 1:
            return PASS
        clock[CHANGES] = clock[RETURNS] = 0
    foresee(state, world)
    t = min(next_end(state, world), clock[WAKE])
    if clock[LAST_NEW] < state.jobs.shape[1]:
        t = min(t, state.jobs[SUBMIT, clock[LAST_NEW]])
    if t >= clock[KNOWN_UNTIL]:
        return PAUSE
    tells = t >= clock[HORIZON]
    if tells:
        if t == NEVER and (clock[HORIZON] == NEVER or clock[WAITS] == 0):
            return FINISH
        t = clock[HORIZON]
    code = open_instant(state, world, t)
    if tells and code == PASS:
        clock[HELD] = 2
        return EVENT
    return code


@entry
def one_step(state: State, world: World) -> int:
    """:func:`step` for callers in Python: policies written in Python, learners, live clusters."""
    return step(state, world)


def loop(hook, state, world, instants):  # type: ignore[no-untyped-def]
    """Run the compiled policy ``hook`` for a number of instants; compiled with its types by the driver.

    ASK is returned where the policy asks its owner something: its turn goes on with the next call.
    """
    for _ in range(instants):
        code = step(state, world)
        if code != PASS:
            return code
        hook(state.clock[NOW], state)
        if state.clock[FAULT] != NONE:
            return BROKEN
        if state.clock[HELD] == 2:
            return ASK
    return TICK


def keyed_loop(rekey, hook, state, world, instants):  # type: ignore[no-untyped-def]
    """:func:`loop` with a turn for the keys of the waiting jobs before each turn of the policy."""
    for _ in range(instants):
        code = step(state, world)
        if code != PASS:
            return code
        rekey(state.clock[NOW], state)
        if state.clock[FAULT] == NONE:
            hook(state.clock[NOW], state)
        if state.clock[FAULT] != NONE:
            return BROKEN
    return TICK
