"""One instant of a grid: ends, arrivals, the reallocation event, starts.

tasks of the grid ──▶ agent ──▶ servers          every PERIOD: agent.reallocate
local jobs ─────────────────▶ their own cluster   never moved, but they move up like any other
"""

from __future__ import annotations

from headway.engine.tables import Fault, State, Why
from headway.engine.verbs import refuse, relabel, wake
from headway.jit.kernels import kernel
from headway.policies.backfilling import conservative
from headway.policies.backfilling.depth import deep_pass
from headway.policies.grid.agent import arrive, reallocate
from headway.policies.grid.notes import NO_REALLOCATION
from headway.policies.grid.plan import kind, settle_disturbance, take_note_of_ends
from headway.policies.grid.server import submit
from headway.policies.grid.tables import ESTIMATED_EASY, NOWHERE, Tasks


@kernel
def welcome(state: State) -> None:
    """Local jobs go to their cluster, the others to the agent."""
    for job in range(state.clock.first_new, state.clock.last_new):
        home = Tasks(state.jobs).home[job]
        if home != NOWHERE:
            submit(state, home, job)
        elif arrive(state.memory.agent, state, job) == NOWHERE:
            refuse(state, Fault.NOT_WAITING, job)


@kernel
def start_what_is_due(t: int, state: State) -> None:
    """Each batch system starts its jobs; a task that changed the cluster says so."""
    seen = state.clock.runs
    for k in range(state.memory.servers.shape[1]):
        if kind(state, k) == ESTIMATED_EASY:
            deep_pass(t, state, k)
        else:
            settle_disturbance(state, k)
            conservative.start_due(t, state, k)
    for run in range(seen, state.clock.runs):
        if state.memory.agent.tasks.times_moved[state.runs.job[run]] > 0:
            relabel(state, run, Why.MOVED)


def reallocation(t: int, state: State) -> None:
    """A grid under one agent."""
    if state.clock.ended > 0:
        take_note_of_ends(t, state)
    if state.clock.first_new < state.clock.last_new:
        welcome(state)
    m, agent = state.memory, state.memory.agent
    period = m.rules.period
    active = period > 0 and agent.settings.mode != NO_REALLOCATION
    if active and t % period == 0 and t > m.notes.last_event and agent.counts.tasks > 0:
        m.notes.last_event = t
        reallocate(agent, state, t)
    start_what_is_due(t, state)
    if active and agent.counts.tasks > 0:
        wake(state, (t // period + 1) * period)
