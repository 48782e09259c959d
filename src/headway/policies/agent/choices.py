"""What an agent may do now, what it sees then, and how its choice is carried out.

The same for a network that was trained and for one that learns (:mod:`headway.gym`): either has the tables of
an agent in its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.ends import settle_ends, when_enough
from headway.engine.tables import GONE, Q_FIELDS, JobTable, Queues, State, Table, Why
from headway.jit.kernels import by_address, kernel, routine
from headway.jit.rows import Entries, Row
from headway.policies.agent import features as see
from headway.policies.backfilling.easy import begin
from headway.policies.queueing.ordering import AS_ORDER, FIXED, NO_AGE, join
from headway.policies.queueing.strict import MACHINE, head_fits, reason
from headway.units import SECOND

QUEUE = 2 * MACHINE
OF_JOB, OF_PLAN, OF_PROCS = (
    Q_FIELDS * QUEUE + field for field in (Queues["job"], Queues["plan"], Queues["procs"])
)
"""Rows of the queue."""
QUEUE_OPTIONS = (FIXED, AS_ORDER, NO_AGE)
"""Jobs stand in order of arrival."""

CHOOSE, BACKFILLS, WEIGHTS = range(3)


class AgentJobs(JobTable):
    """Job rows behind the engine's."""

    decided_by: Row  # What decided, plus 1 (0 where there was no choice).
    requested: Row  # The bits of the request as it is seen.


MORE_ROWS = len(AgentJobs)


class Settings(Entries):
    """What an agent is for, and the oldest job's reservation."""

    task: int  # CHOOSE, BACKFILLS or WEIGHTS.
    window: int  # How many slots.
    origin: int  # The unix time (s) at 0.
    period: int  # Time (µs) between two choices of weights, and when they are due next.
    due: int
    may_wait: int  # Whether the agent may wait.
    shadow_at: int  # When the oldest job can start, and what it leaves over then.
    extra: int


@by_address
class AgentTables(NamedTuple):
    """What every agent knows."""

    settings: Settings
    places: Table
    """[slot] where in the queue its job stands; -1 where there is none"""
    open: npt.NDArray[np.int8]
    """[action] whether it may be taken now: a slot, or at last to wait"""
    seen: npt.NDArray[np.float32]
    """What is seen (:mod:`headway.policies.agent.features`)"""
    weights: npt.NDArray[np.float64]
    """Of a priority, where the agent sets them"""


def settings_of(task: int, window: int, origin: int, period: float, may_wait: bool) -> list[int]:
    """The settings of an agent before its first decision; weights are due when the first job waits."""
    return [task, window, origin, round(period * SECOND), -1, int(may_wait), 0, 0]


def agent_tables(settings: Sequence[int], window: int, seen: int) -> AgentTables:
    """The tables of an agent before its first decision."""
    return AgentTables(
        settings=Settings(np.array(settings, np.int64)),
        places=np.zeros(window, np.int64),
        open=np.zeros(window + 1, np.int8),
        seen=np.zeros(seen, np.float32),
        weights=np.zeros(see.WEIGHED),
    )


@kernel
def setting(state: State, name: int) -> int:
    return int(state.memory.agent.settings[name])


@kernel
def request_of(state: State, job: int) -> float:
    """A job's request as it is seen."""
    return float(np.int64(AgentJobs(state.jobs).requested[job]).view(np.float64))


@kernel
def take_note(t: int, state: State) -> None:
    """What ended and who came at this instant."""
    settle_ends(t, state, MACHINE)
    for job in range(state.clock.first_new, state.clock.last_new):
        join(state, MACHINE, job)
        request = see.as_seen(see.on_scale(state.jobs.plan[job]))
        AgentJobs(state.jobs).requested[job] = np.float64(request).view(np.int64)


@kernel
def reserve(t: int, state: State) -> None:
    """When the oldest waiting job can start at the latest, and what it leaves over then."""
    procs = state.queue[OF_PROCS, state.pools.head[QUEUE]]
    shadow, free_then = when_enough(state.profile, MACHINE, t, state.pools.free[MACHINE], procs)
    settings = state.memory.agent.settings
    settings.shadow_at, settings.extra = shadow, free_then - procs


@kernel
def passes(t: int, state: State, place: int) -> bool:
    """Whether a waiting job is over by the shadow time or leaves the oldest its processors."""
    over = t + state.queue[OF_PLAN, place] <= setting(state, Settings["shadow_at"])
    return bool(over or state.queue[OF_PROCS, place] <= setting(state, Settings["extra"]))


@kernel
def fill_slots(t: int, state: State, place: int) -> bool:
    """Give slots to the waiting jobs from a place on, and say which of them may start; whether any may."""
    m, slot, some = state.memory.agent, 0, False
    window, free = setting(state, Settings["window"]), state.pools.free[MACHINE]
    while slot < window and place < state.pools.tail[QUEUE]:
        procs = state.queue[OF_PROCS, place]
        if procs != GONE:
            may = procs <= free and (setting(state, Settings["task"]) == CHOOSE or passes(t, state, place))
            m.places[slot], m.open[slot] = place, int(may)
            some = some or may
            slot += 1
        place += 1
    for i in range(slot, window):
        m.places[i], m.open[i] = -1, 0
    # Without anything that runs, nobody may wait: it might be for ever.
    may = setting(state, Settings["task"]) == BACKFILLS or state.clock.runs_now > 0
    m.open[window] = int(may and (setting(state, Settings["may_wait"]) > 0 or not some))
    return some


@kernel
def has_choice(t: int, state: State) -> bool:
    """Let the heads start that have no choice; whether some job may start then, and which (``open``)."""
    backfills = setting(state, Settings["task"]) == BACKFILLS
    while backfills and head_fits(state, MACHINE):
        head = state.pools.head[QUEUE]
        begin(state, MACHINE, QUEUE, head, reason(t, state, state.queue[OF_JOB, head]))
    if state.pools.count[QUEUE] == 0 or state.pools.free[MACHINE] == 0:
        return False
    reserve(t, state)
    return fill_slots(t, state, state.pools.head[QUEUE] + int(backfills))


@kernel
def is_due(t: int, state: State) -> bool:
    """Whether weights are to be set: the period is over and some job waits; which, and what may pass."""
    if state.pools.count[QUEUE] == 0 or t < setting(state, Settings["due"]):
        return False
    reserve(t, state)
    fill_slots(t, state, state.pools.head[QUEUE])
    return True


@routine
def look(t: int, state: State) -> None:
    """Write down what is seen of the slots and of the machine."""
    m, window, k = state.memory.agent, setting(state, Settings["window"]), MACHINE
    size, free = state.pools.size[k], state.pools.free[k]
    for slot in range(window):
        place, at = m.places[slot], slot * see.OF_SLOT
        if place < 0:
            for f in range(see.OF_SLOT):
                m.seen[at + f] = 0.0
            continue
        job, procs = state.queue[OF_JOB, place], state.queue[OF_PROCS, place]
        m.seen[at + see.PRESENT] = 1.0
        m.seen[at + see.SIZE] = procs / size
        m.seen[at + see.REQUEST] = request_of(state, job)
        m.seen[at + see.WAITED] = see.on_scale(t - state.jobs.submit[job])
        m.seen[at + see.FITS] = 1.0 if procs <= free else 0.0
        m.seen[at + see.PASSES] = 1.0 if passes(t, state, place) else 0.0
    at = window * see.OF_SLOT
    m.seen[at + see.FREE_SHARE] = free / size
    m.seen[at + see.QUEUED] = see.count_on_scale(state.pools.count[QUEUE])
    m.seen[at + see.RUNNING_NOW] = see.count_on_scale(state.clock.runs_now)
    m.seen[at + see.SHADOW] = see.on_scale(setting(state, Settings["shadow_at"]) - t)
    m.seen[at + see.DAY_X] = see.around_the_day(t, setting(state, Settings["origin"]), 0.0)
    m.seen[at + see.DAY_Y] = see.around_the_day(t, setting(state, Settings["origin"]), 0.25)


@kernel
def start_slot(t: int, state: State, slot: int) -> bool:
    """Start the job of a slot; False where that is not open: a wish to wait."""
    if not 0 <= slot < setting(state, Settings["window"]) or not state.memory.agent.open[slot]:
        return False
    place = state.memory.agent.places[slot]
    head = place == state.pools.head[QUEUE]
    why = reason(t, state, state.queue[OF_JOB, place]) if head else Why.BACKFILL
    return begin(state, MACHINE, QUEUE, place, why) >= 0


@kernel
def size_of(state: State, job: int) -> float:
    """A job's size as it is seen."""
    return see.as_seen(state.jobs.procs[job] / state.pools.size[MACHINE])


@kernel
def waited_by(t: int, state: State, job: int) -> float:
    """How long a job has waited, as it is seen."""
    return see.as_seen(see.on_scale(t - state.jobs.submit[job]))
