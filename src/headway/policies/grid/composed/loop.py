"""One clock over the clusters of a grid, compiled: each is opened at the instant that is chosen for all.

next instant   the first of: something happens on a cluster, a job is submitted, a reallocation event
in it          what is due ends; local jobs go to their cluster, the others to the agent; the event;
               then the policy of each cluster in which something happened has its turn, and starts jobs
"""

from __future__ import annotations

from typing import Any

from headway.engine.side_by_side import following_event
from headway.engine.tables import BROKEN, FAULT, FINISH, LAST_NEW, NONE, TICK, WAITS
from headway.jit import calling, entry, kernel, routine, woven
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
    ARRIVED,
    FOLLOWING,
    INSTANT,
    INSTANTS_SEEN,
    IS_OPEN,
    L_HOME,
    L_PROCS,
    L_SUBMIT,
    LAST_EVENT,
    MAIN,
    MOST_WAITED,
    NOT_TAKEN,
    OPENED,
    PERIOD,
    TIDIER,
    VERSION,
    WAITED,
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
from headway.policies.grid.notes import SERVERS, TASKS
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
        requests[name] = woven(calling(getattr(agent, name), **requests))
    requests["all_cancellation"] = woven(calling(agent.all_cancellation, **requests))
    arrive, reallocate = agent.arrive, agent.reallocate
    return routine(calling(arrive, **requests)), routine(calling(reallocate, **requests))


arrive, reallocate = _agent()


@kernel
def is_watchful(grid: Tables) -> bool:
    """Whether there are events, and the agent has tasks that may wait."""
    return bool(grid.facts[PERIOD] > 0 and grid.notes[TASKS] > 0)


@kernel
def next_instant(grid: Tables) -> int:
    """When something happens next; NEVER if nothing is to come."""
    facts, t = grid.facts, NEVER
    if facts[ARRIVED] < grid.log.shape[0]:
        t = grid.log[facts[ARRIVED], L_SUBMIT]
    if is_watchful(grid):
        t = min(t, (facts[INSTANT] // facts[PERIOD] + 1) * facts[PERIOD])
    for k in range(grid.notes[SERVERS]):
        t = min(t, register_of(grid, k).facts[FOLLOWING])
    return t


@kernel
def welcome(grid: Tables, job: int) -> None:
    """A local job goes to its cluster, any other to the agent."""
    home = grid.log[job, L_HOME]
    if home != AT_THE_AGENT:
        place(grid, home, job, grid.log[job, L_PROCS])
    elif arrive(grid.notes, grid, job) < 0:
        grid.facts[NOT_TAKEN] += 1


@kernel
def close_cluster(grid: Tables, k: int) -> None:
    """The policy's turn, and a look at what comes next."""
    settle(grid, k)
    facts, state = register_of(grid, k).facts, state_of(grid, k, MAIN)
    turn(grid, k, MAIN, facts[OPENED])
    if state.clock[FAULT] != NONE:
        go_wrong(grid, k, MAIN)
    facts[IS_OPEN] = 0
    facts[VERSION] += 1
    facts[FOLLOWING] = following_event(state, world_of(grid, k, MAIN))
    if is_untidy(facts, state.clock[LAST_NEW]):
        ask_for(grid, k, TIDIER)


@kernel
def one_instant(grid: Tables, t: int) -> None:
    """All that happens at an instant."""
    facts, count = grid.facts, grid.notes[SERVERS]
    facts[INSTANT] = t
    for k in range(count):
        if register_of(grid, k).facts[FOLLOWING] == t:
            open_cluster(grid, k, t)
    while facts[ARRIVED] < grid.log.shape[0] and grid.log[facts[ARRIVED], L_SUBMIT] == t:
        welcome(grid, facts[ARRIVED])
        facts[ARRIVED] += 1
    if is_watchful(grid) and t % facts[PERIOD] == 0 and t > facts[LAST_EVENT]:
        facts[LAST_EVENT] = t
        reallocate(grid.notes, grid, t)
    waiting = 0
    for k in range(count):
        waiting += state_of(grid, k, MAIN).clock[WAITS]
    facts[INSTANTS_SEEN] += 1
    facts[WAITED] += waiting
    facts[MOST_WAITED] = max(facts[MOST_WAITED], waiting)
    for k in range(count):
        if register_of(grid, k).facts[IS_OPEN] and not is_wrong(grid):
            close_cluster(grid, k)


@entry
def run_grid(grid: Tables, instants: int) -> int:
    """Run the grid for at most so many instants; FINISH when nothing more happens, BROKEN if it is wrong."""
    for _ in range(instants):
        t = next_instant(grid)
        if t == NEVER:
            return FINISH
        one_instant(grid, t)
        if is_wrong(grid):
            return BROKEN
    return TICK
