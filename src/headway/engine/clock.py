"""Time moves here and nowhere else.

At one instant, due runs end, then processors come and go (:mod:`headway.engine.outages`), then arrivals join
in file order, then the policy has its turn. A job of zero run time ends in a second turn at the same instant.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from headway.engine.heap import pop, push
from headway.engine.shares import shares_crowded
from headway.engine.stretch import stretched
from headway.engine.tables import (
    NO_MEMORY,
    OPEN,
    Ended,
    Fault,
    Phase,
    State,
    Step,
    World,
)
from headway.engine.verbs import stop
from headway.jit.kernels import Function, entry, kernel
from headway.units import NEVER


@kernel
def needed(state: State, world: World, run: int) -> int:
    """How long a run holds its processors if nothing stops it: its lead plus the remaining work."""
    job = state.runs.job[run]
    runtime = world.runtime[job]
    over = state.jobs.stretch_over[job]
    if over > 0:
        runtime = stretched(runtime, state.jobs.stretch_by[job], over)
    return int(state.runs.lead[run] + runtime - state.jobs.kept[job])


@kernel
def foresee(state: State, world: World) -> None:
    """Record the real ends of the runs that the last turn started."""
    for run in range(state.clock.fresh, state.clock.runs):
        if state.runs.end[run] != OPEN:
            continue
        length = min(needed(state, world, run), state.runs.limit[run])
        push(world.ends, 0, world.size[0], state.runs.start[run] + length, run)
        world.size[0] += 1
    state.clock.fresh = state.clock.runs


@kernel
def next_end(state: State, world: World) -> int:
    """When the next run ends; entries of runs that were stopped before are dropped."""
    while world.size[0] > 0:
        if state.runs.end[world.ends[1, 0]] == OPEN:
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
        cut = needed(state, world, run) > state.runs.limit[run]
        ended(state, run, Ended.AT_WALLTIME if cut else Ended.BY_ITSELF, count)
        count += 1
    state.clock.ended = count


@kernel
def ended(state: State, run: int, how: int, place: int) -> None:
    """Record that a run has ended, by itself or at its walltime: its job is done and is listed as ended."""
    stop(state, run, how)
    state.jobs.phase[state.runs.job[run]] = Phase.DONE
    state.clock.finished += 1
    state.lists.ended_runs[place] = run


@kernel
def admit(state: State, t: int) -> None:
    """Let the jobs submitted at ``t`` arrive, all of them as one batch."""
    job = state.clock.last_new
    state.clock.first_new = job
    jobs = state.jobs.shape[1]
    while job < jobs and state.jobs.submit[job] == t:
        state.jobs.phase[job] = Phase.WAITING
        job += 1
    state.clock.last_new = job
    state.clock.waits += job - state.clock.first_new


@kernel
def arrivals_at(state: State, t: int) -> int:
    """How many jobs will arrive at ``t``."""
    first = state.clock.last_new
    job = first
    while job < state.jobs.shape[1] and state.jobs.submit[job] == t:
        job += 1
    return int(job - first)


@kernel
def crowded(state: State, world: World, arriving: int) -> bool:
    """Whether the tables may be too small for what an instant with so many arrivals can do."""
    clock = state.clock
    # One more: a job may start, be stopped and start again in one instant.
    live = clock.waits + clock.runs_now + clock.suspends + arriving + 1
    return bool(
        live > clock.live_room
        or clock.runs + live > state.runs.shape[1]
        or world.size[0] + live > world.ends.shape[1]
        or clock.outlives + live > state.lists.shape[1]
        or shares_crowded(state)
    )


@kernel
def open_instant(state: State, world: World, t: int) -> int:
    """Move the clock to ``t``, which is no later than the next event: ends, then arrivals."""
    if crowded(state, world, arrivals_at(state, t)):
        return Step.GROW
    clock = state.clock
    clock.now = t
    clock.wake = NEVER
    end_due(state, world, t)
    admit(state, t)
    clock.instants += 1
    clock.waits_sum += clock.waits
    clock.waits_max = max(clock.waits_max, clock.waits)
    return Step.PASS


@kernel
def step(state: State, world: World) -> int:
    """Close the present instant and open the next: ends, then arrivals; then it is the policy's turn.

    If something outside the engine happens at that instant, EVENT is returned first: the instant is open, and
    the next call is the policy's turn. PAUSE is returned before an instant at which jobs may arrive that are
    not in the table yet.
    """
    clock = state.clock
    if clock.held > 0:
        clock.held -= 1
        if clock.held == 1:
            return Step.PASS
        clock.changes = clock.returns = 0
    foresee(state, world)
    t = min(next_end(state, world), clock.wake)
    if clock.last_new < state.jobs.shape[1]:
        t = min(t, state.jobs.submit[clock.last_new])
    if t >= clock.known_until:
        return Step.PAUSE
    tells = t >= clock.horizon
    if tells:
        if t == NEVER and (clock.horizon == NEVER or clock.waits == 0):
            return Step.FINISH
        t = clock.horizon
    code = open_instant(state, world, t)
    if tells and code == Step.PASS:
        clock.held = 2
        return Step.EVENT
    return code


def entry_for_all(function: Function) -> Function:
    """Compile a kernel that Python calls and that looks at no policy's memory: once, for all policies."""
    compiled: Any = entry(function)

    @wraps(function)
    def call(state: State, *others: Any) -> Any:
        return compiled(state._replace(memory=NO_MEMORY), *others)

    return call  # type: ignore[return-value]


@entry_for_all
def one_step(state: State, world: World) -> int:
    """:func:`step` for callers in Python: policies written in Python, learners, live clusters."""
    return step(state, world)


def loop(hook, state, world, instants):  # type: ignore[no-untyped-def]
    """Run the compiled policy ``hook`` for a number of instants; compiled with its types by the driver.

    ASK is returned if the policy asks its owner something: its turn continues with the next call.
    """
    for _ in range(instants):
        code = step(state, world)
        if code != Step.PASS:
            return code
        hook(state.clock.now, state)
        if state.clock.fault != Fault.NONE:
            return Step.BROKEN
        if state.clock.held == 2:
            return Step.ASK
    return Step.TICK


def keyed_loop(rekey, hook, state, world, instants):  # type: ignore[no-untyped-def]
    """:func:`loop` with a turn for the keys of the waiting jobs before each turn of the policy."""
    for _ in range(instants):
        code = step(state, world)
        if code != Step.PASS:
            return code
        rekey(state.clock.now, state)
        if state.clock.fault == Fault.NONE:
            hook(state.clock.now, state)
        if state.clock.fault != Fault.NONE:
            return Step.BROKEN
    return Step.TICK
