"""One clock over the clusters of a grid, compiled: each is opened at the instant that is chosen for all.

next instant   the first of: something happens on a cluster, a job is submitted, a reallocation event
in it          what is due ends; local jobs go to their cluster, the others to the agent; the event;
               then the policy of each cluster in which something happened has its turn, and starts jobs
"""

from __future__ import annotations

from typing import Any

from headway.engine.side_by_side import following_event
from headway.engine.tables import Fault, Step
from headway.jit.kernels import calling, entry, kernel, routine
from headway.policies.grid import agent
from headway.policies.grid.composed.requests import (
    best_server,
    cancel,
    estimate,
    open_cluster,
    place,
    settle,
    submit,
)
from headway.policies.grid.composed.sites import (
    MAIN,
    TIDIER,
    Fact,
    Logged,
    Tables,
    ask_for,
    go_wrong,
    is_untidy,
    is_wrong,
    register_of,
    state_of,
    turn,
    world_of,
)
from headway.policies.grid.notes import servers_of
from headway.units import NEVER

AT_THE_AGENT = -1
"""The home of a job that goes through the agent."""


def _agent() -> tuple[Any, Any]:
    """The agent's two procedures as they are written, over the requests of composed grids."""
    requests: dict[str, Any] = {
        "estimate": estimate,
        "submit": submit,
        "cancel": cancel,
        "best_server": best_server,
    }
    for name in ("ask_all", "refresh", "improve", "regular", "submit_again", "cancel_everything"):
        requests[name] = kernel(calling(getattr(agent, name), **requests))
    requests["all_cancellation"] = kernel(calling(agent.all_cancellation, **requests))
    arrive, reallocate = agent.arrive, agent.reallocate
    return routine(calling(arrive, **requests)), routine(calling(reallocate, **requests))


arrive, reallocate = _agent()


@kernel
def is_watchful(grid: Tables) -> bool:
    """Whether there are events, and the agent has tasks that may wait."""
    return bool(grid.facts.period > 0 and grid.notes.counts.tasks > 0)


@kernel
def next_instant(grid: Tables) -> int:
    """When something happens next; NEVER if nothing is to come."""
    facts, t = grid.facts, NEVER
    if facts.arrived < grid.log.shape[0]:
        t = grid.log[facts.arrived, Logged.SUBMIT]
    if is_watchful(grid):
        t = min(t, (facts.instant // facts.period + 1) * facts.period)
    for k in range(servers_of(grid.notes)):
        t = min(t, register_of(grid, k).facts[Fact.FOLLOWING])
    return t


@kernel
def welcome(grid: Tables, job: int) -> None:
    """A local job goes to its cluster, any other to the agent."""
    home = grid.log[job, Logged.HOME]
    if home != AT_THE_AGENT:
        place(grid, home, job, grid.log[job, Logged.PROCS])
    elif arrive(grid.notes, grid, job) < 0:
        grid.facts.not_taken += 1


@kernel
def close_cluster(grid: Tables, k: int) -> None:
    """The policy's turn, and a look at what comes next."""
    settle(grid, k)
    facts, state = register_of(grid, k).facts, state_of(grid, k, MAIN)
    turn(grid, k, MAIN, facts[Fact.OPENED])
    if state.clock.fault != Fault.NONE:
        go_wrong(grid, k, MAIN)
    facts[Fact.IS_OPEN] = 0
    facts[Fact.VERSION] += 1
    facts[Fact.FOLLOWING] = following_event(state, world_of(grid, k, MAIN))
    if is_untidy(facts, state.clock.last_new):
        ask_for(grid, k, TIDIER)


@kernel
def one_instant(grid: Tables, t: int) -> None:
    """All that happens at an instant."""
    facts, count = grid.facts, servers_of(grid.notes)
    facts.instant = t
    for k in range(count):
        if register_of(grid, k).facts[Fact.FOLLOWING] == t:
            open_cluster(grid, k, t)
    while facts.arrived < grid.log.shape[0] and grid.log[facts.arrived, Logged.SUBMIT] == t:
        welcome(grid, facts.arrived)
        facts.arrived += 1
    if is_watchful(grid) and t % facts.period == 0 and t > facts.last_event:
        facts.last_event = t
        reallocate(grid.notes, grid, t)
    waiting = 0
    for k in range(count):
        waiting += state_of(grid, k, MAIN).clock.waits
    facts.instants_seen += 1
    facts.waited += waiting
    facts.most_waited = max(facts.most_waited, waiting)
    for k in range(count):
        if register_of(grid, k).facts[Fact.IS_OPEN] and not is_wrong(grid):
            close_cluster(grid, k)


@entry
def run_grid(grid: Tables, instants: int) -> int:
    """Run the grid for at most so many instants; FINISH when nothing more happens, BROKEN if it is wrong."""
    for _ in range(instants):
        t = next_instant(grid)
        if t == NEVER:
            return Step.FINISH
        one_instant(grid, t)
        if is_wrong(grid):
            return Step.BROKEN
    return Step.TICK
