"""Several simulations under one clock, which somebody in Python moves: each tells when something happens next
in it, and is opened at the instant that was chosen for all.

    t = min(next_event(state, world) for each)
    open_at(state, world, t)                 for those in which something happens at t
    ...                                      newcomers, cancellations
    hook(t, state)                           the policy's turn

A job arrives when somebody puts it into the next column of the table; until then the column says NEVER.
"""

from __future__ import annotations

from headway.engine.clock import crowded, ended, entry_for_all, foresee, next_end, open_instant
from headway.engine.tables import Ended, Phase, State, World
from headway.engine.verbs import kill
from headway.jit.kernels import kernel, routine
from headway.units import NEVER


@kernel
def arrive_now(state: State, procs: int) -> None:
    """Let the job whose rows stand in the next column arrive at the present instant."""
    column = state.clock.last_new
    state.jobs.procs[column] = procs
    state.jobs.submit[column], state.jobs.phase[column] = state.clock.now, Phase.WAITING
    state.clock.last_new = column + 1
    state.clock.waits += 1


@kernel
def nobody_follows(state: State) -> None:
    """Let nobody arrive behind the newcomers."""
    if state.clock.last_new < state.jobs.shape[1]:
        state.jobs.submit[state.clock.last_new] = NEVER


@kernel
def last_never_came(state: State) -> None:
    """Take out the last of the newcomers, whom the policy has not seen."""
    last = state.clock.last_new - 1
    state.jobs.submit[last], state.jobs.phase[last] = NEVER, 0
    state.clock.last_new = last
    state.clock.waits -= 1


@kernel
def following_event(state: State, world: World) -> int:
    """When the next run ends, or the policy wants a pass; NEVER if nothing is to come."""
    foresee(state, world)
    return min(next_end(state, world), state.clock.wake)


@routine
def open_chosen(state: State, world: World, t: int) -> int:
    """Close the present instant and open ``t``, no later than the next event; PASS, or GROW before it."""
    foresee(state, world)
    return open_instant(state, world, t)


@entry_for_all
def next_event(state: State, world: World) -> int:
    """:func:`following_event` for callers in Python."""
    return following_event(state, world)


@entry_for_all
def open_at(state: State, world: World, t: int) -> int:
    """:func:`open_chosen` for callers in Python."""
    return open_chosen(state, world, t)


@entry_for_all
def end_now(state: State, run: int, how: int) -> None:
    """End a run at the present instant, because the world says so; the policy sees it in its turn."""
    ended(state, run, how, state.clock.ended)
    state.clock.ended += 1


@entry_for_all
def lose_now(state: State, run: int) -> None:
    """A run loses its processors at the present instant; its job waits again as if it had never started.

    The policy sees the run among those that ended, and the job among those that have returned.
    """
    clock, job = state.clock, state.runs.job[run]
    kill(state, job, Ended.BY_FAILURE)
    state.jobs.run[job] = -1
    state.lists.ended_runs[clock.ended] = run
    clock.ended += 1
    state.lists.returned[clock.returns] = job
    clock.returns += 1


@entry_for_all
def is_crowded(state: State, world: World, arriving: int) -> bool:
    """Whether the tables must grow before so many more jobs arrive."""
    return crowded(state, world, arriving)
