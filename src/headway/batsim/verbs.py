"""The engine's side: what a scheduler behind a socket may do to its tables."""

from __future__ import annotations

from headway.engine.tables import Fault, State
from headway.engine.verbs import start, turn_away
from headway.jit.kernels import entry

MACHINE = 0


def nothing(t: int, state: State) -> None:
    """A policy that decides nothing: whoever is asked decides."""


@entry
def start_now(state: State, job: int, why: int) -> bool:
    """Start a waiting job at the open instant; False if it does not wait or does not fit."""
    started = start(state, job, MACHINE, why)
    state.clock.fault = Fault.NONE
    return started


@entry
def reject_now(state: State, job: int) -> bool:
    """Turn a waiting job away; False if it does not wait."""
    rejected = turn_away(state, job)
    state.clock.fault = Fault.NONE
    return rejected
