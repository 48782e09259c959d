"""One who learns, as a policy: it asks its owner wherever a decision is wanted; and the rewards of answers.

An episode is a stretch of a log on an empty machine, over when its last job has started. The engine runs it,
and stops where the policy asks (:func:`headway.engine.verbs.ask`):

    CHOOSE     any of the first W waiting jobs that fit, or wait for the next event (while something runs)
    BACKFILL   jobs start in order of arrival; of those behind the head that EASY lets pass, any, or none
    WEIGHTS    weights of a priority, for EASY in that order, once a period at most: when it is over and a
               job waits, after the arrivals of that instant

What may be decided and what is seen is in :mod:`headway.policies.agent.choices`. Times are µs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine import clock
from headway.engine.setup import EMPTY, Jobs, Setup, make_state
from headway.engine.tables import State, Step, Table, World
from headway.engine.verbs import ask
from headway.gym.episodes import Task
from headway.gym.rewards import Sum, add_started, add_time, clear_sums, growth, reward_of
from headway.jit import kernels
from headway.jit.kernels import by_address, entry, kernel, routine, woven
from headway.policies.agent.choices import (
    MORE_ROWS,
    QUEUE_OPTIONS,
    WEIGHTS,
    AgentTables,
    Settings,
    agent_tables,
    fill_slots,
    has_choice,
    is_due,
    look,
    setting,
    settings_of,
    start_slot,
    take_note,
)
from headway.policies.agent.weights import pass_by_priority, set_due
from headway.policies.queueing.strict import MACHINE
from headway.units import SECOND

TO_THE_END = 1 << 62
"""Instants: more than any episode has."""


class Turn(IntEnum):
    """What it knows of its turns."""

    ASKED = 0
    """Whether it was asked."""
    LEFT_FREE = 1
    """Free processors after its last turn, and when that was."""
    LEFT_AT = 2
    COUNTED = 3
    """Runs up to the last decision."""
    STEPS = 4
    """Decisions so far."""
    REWARD = 5
    """The kind of reward."""


@by_address
class LearnerTables(NamedTuple):
    """The memory of one who learns: that of every agent, what it answered, and the sums for rewards."""

    agent: AgentTables
    answer: Table
    """[1] the action that was chosen"""
    turn: Table
    """[Turn]"""
    sums: npt.NDArray[np.float64]
    """[Sum]"""


def blank(window: int, seen: int) -> LearnerTables:
    """The memory of one who has not begun."""
    return LearnerTables(
        agent_tables([0] * len(Settings), window, seen),
        answer=np.zeros(1, np.int64),
        turn=np.zeros(len(Turn), np.int64),
        sums=np.zeros(len(Sum)),
    )


def episode(task: Task, first: int) -> tuple[Jobs, Setup]:
    """The jobs of the stretch that begins with ``first``, and one who learns from it."""
    memory = blank(task.window, task.features)
    shown = settings_of(task.mode, task.window, task.origin, task.period, task.may_wait)
    memory.agent.settings[:], memory.turn[Turn.REWARD] = shown, task.reward
    submit, procs, walltime, runtime = task.jobs[:, first : first + task.episodes.jobs]
    memory.turn[[Turn.LEFT_AT, Turn.LEFT_FREE, Turn.STEPS]] = submit[0], task.machine, -1
    memory.sums[Sum.LAST_TIME] = submit[0] / SECOND
    setup = Setup((task.machine,), learner, QUEUE_OPTIONS, more_rows=MORE_ROWS, memory=memory, again=False)
    return Jobs(submit, procs, walltime, runtime, walltime), setup


@kernel
def busy(state: State, free: int) -> float:
    """The share of processors that are busy."""
    return 1.0 - free / state.pools.size[MACHINE]


@kernel
def all_came(state: State) -> bool:
    """Whether every job of the episode has arrived."""
    return bool(state.clock.last_new == state.jobs.shape[1])


@kernel
def is_over(state: State) -> bool:
    """Whether every job of the episode has started."""
    return bool(state.clock.waits == 0 and all_came(state))


@kernel
def open_turn(t: int, state: State) -> bool:
    """What happened since the last turn and at this instant; False where the turn only goes on."""
    m = state.memory
    if m.turn[Turn.ASKED]:
        m.turn[Turn.ASKED] = 0
        return False
    first, last = state.clock.first_new, state.clock.last_new
    waiting, share = state.clock.waits - (last - first), busy(state, m.turn[Turn.LEFT_FREE])
    add_time(m.sums, t - m.turn[Turn.LEFT_AT], waiting, share)
    for job in range(first, last):
        m.sums[Sum.RATE] += growth(state.jobs.wall[job])
    take_note(t, state)
    return True


@kernel
def close_turn(t: int, state: State, asks: bool, begun: int) -> None:
    """Ask if there is something to ask, or nothing more. ``begun`` runs were there before the turn."""
    m = state.memory
    for run in range(begun, state.clock.runs):
        m.sums[Sum.RATE] -= growth(state.jobs.wall[state.runs.job[run]])
    m.turn[Turn.LEFT_AT], m.turn[Turn.LEFT_FREE] = t, state.pools.free[MACHINE]
    if is_over(state):
        m.agent.settings.shadow_at = m.agent.settings.extra = 0
        fill_slots(t, state, 0)
    elif not asks:
        return
    look(t, state)
    m.turn[Turn.ASKED] = 1
    ask(state)


@routine
def choose(t: int, state: State) -> None:
    """Ask which job starts next."""
    begun, waits = state.clock.runs, False
    if not open_turn(t, state):
        waits = not start_slot(t, state, state.memory.answer[0])
    # Who waits where nothing runs and nobody comes would wait for ever: asked again.
    waits = waits and not (all_came(state) and state.clock.runs_now == 0)
    close_turn(t, state, has_choice(t, state) and not waits, begun)


@routine
def weigh(t: int, state: State) -> None:
    """Ask for the weights of priorities."""
    begun, asks = state.clock.runs, False
    if open_turn(t, state):
        asks = is_due(t, state)
    else:
        set_due(t, state)
    if not asks:
        pass_by_priority(t, state)
    close_turn(t, state, asks, begun)


@kernel
def learner(t: int, state: State) -> None:
    """The policy that asks."""
    if setting(state, Settings["task"]) == WEIGHTS:
        weigh(t, state)
    else:
        choose(t, state)


# ---- from question to question -----------------------------------------------------------------------------

if kernels.INTERPRETED:

    def _itself(given: Any) -> Any:
        return given

    state_at: Any = _itself
    world_at: Any = _itself
    laid_down: Any = _itself
else:
    from headway.jit.addresses import laid_down as laid_down
    from headway.jit.addresses import reader

    _state, _world = make_state(EMPTY, Setup(pools=(1,), hook=learner, memory=blank(0, 0)))
    state_at = reader(kernels.type_of(_state))
    world_at = reader(kernels.type_of(_world))

loop: Any = woven(clock.loop)


@kernel
def add_all_started(state: State, world: World) -> None:
    """Add the waits and slowdowns of jobs that have started since the last decision."""
    for run in range(state.memory.turn[Turn.COUNTED], state.clock.runs):
        job = state.runs.job[run]
        length = min(world.runtime[job], state.jobs.wall[job])
        add_started(state.memory.sums, state.runs.start[run] - state.jobs.submit[job], length)


@entry
def go_on(state_there: Any, world_there: Any) -> tuple[int, float, bool]:
    """Go on to the next question: the code of the loop, the reward of the last answer, whether it is over.

    The tables are given by their addresses: to hand them over takes longer than most decisions.
    """
    state, world, code = state_at(state_there), world_at(world_there), Step.ASK
    if not is_over(state):
        code = loop(learner, state, world, TO_THE_END)
    if code != Step.ASK:
        return code, 0.0, False
    add_all_started(state, world)
    turn, sums = state.memory.turn, state.memory.sums
    now, share = state.clock.now, busy(state, state.pools.free[MACHINE])
    reward = reward_of(sums, turn[Turn.REWARD], now, share)
    if turn[Turn.STEPS] >= 0:  # else nothing was decided yet
        clear_sums(sums, now, share)
    turn[Turn.COUNTED] = state.clock.runs
    turn[Turn.STEPS] += 1
    return code, reward, is_over(state)
