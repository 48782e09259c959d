"""Finds the line of a compiled policy at which a pass went wrong.

Compiled code does not say where it is. A simulation is the same every time, so it is run again, compiled, up
to the pass in question, and that one pass is run as plain Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from headway.engine import clock, verbs
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Setup, grow
from headway.engine.tables import Clock, Job, Phase, Pool, State, Step, World
from headway.errors import PolicyError
from headway.policies.own import faults
from headway.policies.own.interpreted import Interpreter


class Refused(Exception):
    """A verb was refused."""


def refuse(state: State, fault: int, job: int) -> bool:
    """In the place of the verb that notes the first fault: stops at once."""
    raise Refused


def line_of(hook: Callable[..., Any], jobs: Jobs, setup: Setup, instant: int) -> str:
    """``file:line (code)`` of the user's where pass number ``instant`` fails; empty if not found."""
    found = before(jobs, setup, instant)
    if found is None:
        return ""
    state, world = found
    copies = Interpreter({verbs.refuse: refuse})
    step = copies.copy(clock.step)
    while (code := step(state, world)) == Step.GROW:
        state, world = grow(state, world)
    if code != Step.PASS:
        return ""
    # Compiled code raises where a number is divided by zero; so must this.
    with np.errstate(divide="raise", invalid="raise", over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            copies.copy(hook)(int(state.clock[Clock.NOW]), state)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return faults.users_line(error.__traceback__, hook)
    return ""


def before(jobs: Jobs, setup: Setup, instant: int) -> tuple[State, World] | None:
    """The simulation as it is when pass number ``instant`` comes next; nothing if it does not come so far."""
    driver = Driver(jobs, setup)
    while (left := instant - 1 - int(driver.state.clock[Clock.INSTANTS])) > 0:
        try:
            more = driver.advance(left)
        except PolicyError:
            return None
        if not more:
            return None
    return driver.state, driver.world


def raised(
    error: BaseException, hook: Callable[..., Any], line: str, state: State, jobs: Jobs
) -> PolicyError:
    """The user's hook raised an exception."""
    place = line or faults.users_line(error.__traceback__, hook) or faults.defined_at(hook)
    ids = jobs.ids[state.jobs[Job.PHASE] == Phase.WAITING].tolist() if jobs.ids is not None else []
    free, size = int(state.pools[Pool.FREE, 0]), int(state.pools[Pool.SIZE, 0])
    words = faults.situation_words(int(state.clock[Clock.NOW]), ids, free, size)
    return PolicyError(f"{place}: the policy raised {faults.error_words(error)}, {words}", law="answers")
