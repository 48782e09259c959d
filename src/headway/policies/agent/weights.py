"""A network sets the weights of a priority, once a period at most; EASY runs in the order of the priorities.

Weights are due when a period is over and some job waits: after the ends and the arrivals of an instant,
before its pass, as in the environment for weights of :mod:`headway.gym`. Of each start it is noted which part
of the priority decided: the one by which the job was furthest ahead of the next that could have started.
"""

from __future__ import annotations

from headway.engine.ends import settle_ends, when_enough
from headway.engine.tables import (
    BACKFILL,
    FIRST_NEW,
    FREE,
    FREED,
    GONE,
    HEAD,
    IMMEDIATE,
    LAST_NEW,
    NEWCOMERS,
    PLAN,
    PROCS,
    Q_COUNT,
    Q_FIELDS,
    Q_HEAD,
    Q_JOB,
    Q_PROCS,
    Q_TAIL,
    SIZE,
    SUBMIT,
    State,
)
from headway.engine.verbs import wake
from headway.jit import kernel, routine
from headway.policies.agent import features as see
from headway.policies.agent.agent import (
    DECIDED_BY,
    DUE,
    LAYER,
    PERIOD,
    QUEUE,
    SCORES,
    SEEN,
    SETTINGS,
    WIDTHS,
    look,
    run_layers,
    setting,
)
from headway.policies.backfilling.easy import begin
from headway.policies.queueing.ordering import join
from headway.policies.queueing.strict import MACHINE


@kernel
def job_at(state: State, place: int) -> int:
    return int(state.queue[Q_FIELDS * QUEUE + Q_JOB, place])


@kernel
def part_of(t: int, state: State, job: int, part: int) -> float:
    """One part of a job's priority: the weight times what it weighs."""
    size = see.as_seen(state.jobs[PROCS, job] / state.pools[SIZE, MACHINE])
    request = see.as_seen(see.on_scale(state.jobs[PLAN, job]))
    waited = see.as_seen(see.on_scale(t - state.jobs[SUBMIT, job]))
    return state.memory.floats[SCORES, part] * see.weighed(part, waited, size, request)


@kernel
def priority(t: int, state: State, job: int) -> float:
    """A waiting job's priority."""
    total = 0.0
    for part in range(see.WEIGHED):
        total += part_of(t, state, job, part)
    return total


@routine
def set_weights(t: int, state: State) -> None:
    """Ask the network, if the time has come and some job waits."""
    if state.pools[Q_COUNT, QUEUE] == 0 or t < setting(state, DUE):
        return
    m, head = state.memory, state.pools[Q_HEAD, QUEUE]
    procs = state.queue[Q_FIELDS * QUEUE + Q_PROCS, head]
    shadow, free_then = when_enough(state.profile, MACHINE, t, state.pools[FREE, MACHINE], procs)
    look(t, state, head, shadow, free_then - procs)
    for i in range(m.integers[WIDTHS, 0]):
        m.floats[LAYER, i] = m.floats[SEEN, i]
    run_layers(state)
    for part in range(see.WEIGHED):
        m.floats[SCORES, part] = min(max(m.floats[LAYER, part], -1.0), 1.0)
    if setting(state, DUE) < 0:
        m.integers[SETTINGS, DUE] = t
    m.integers[SETTINGS, DUE] += (t - setting(state, DUE)) // setting(state, PERIOD) * setting(state, PERIOD)
    m.integers[SETTINGS, DUE] += setting(state, PERIOD)


@kernel
def note(t: int, state: State, job: int, next_job: int) -> None:
    """Which part put a job before the next."""
    found, most = -1, 0.0
    if next_job >= 0:
        for part in range(see.WEIGHED):
            ahead = part_of(t, state, job, part) - part_of(t, state, next_job, part)
            if ahead > most:
                found, most = part, ahead
    state.jobs[DECIDED_BY, job] = found + 1


@routine
def pass_by_priority(t: int, state: State) -> None:
    """EASY in the order of priorities; who came first among equals."""
    head, shadow, extra = -1, t, 0
    while state.pools[Q_COUNT, QUEUE] > 0:
        best, next_job, most, next_most = -1, -1, 0.0, 0.0
        for place in range(state.pools[Q_HEAD, QUEUE], state.pools[Q_TAIL, QUEUE]):
            procs = state.queue[Q_FIELDS * QUEUE + Q_PROCS, place]
            if procs == GONE:
                continue
            job = job_at(state, place)
            passes = t + state.jobs[PLAN, job] <= shadow or procs <= extra
            if head >= 0 and (job == head or procs > state.pools[FREE, MACHINE] or not passes):
                continue
            value = priority(t, state, job)
            if best < 0 or value > most:
                if best >= 0:
                    next_job, next_most = job_at(state, best), most
                best, most = place, value
            elif next_job < 0 or value > next_most:
                next_job, next_most = job, value
        if best < 0:
            return
        job, procs = job_at(state, best), state.queue[Q_FIELDS * QUEUE + Q_PROCS, best]
        if head < 0 and procs > state.pools[FREE, MACHINE]:
            head = job
            shadow, free_then = when_enough(state.profile, MACHINE, t, state.pools[FREE, MACHINE], procs)
            extra = free_then - procs
            continue
        why = BACKFILL
        if head < 0:
            why = IMMEDIATE if state.jobs[SUBMIT, job] == t else HEAD
        elif t + state.jobs[PLAN, job] > shadow:
            extra -= procs
        note(t, state, job, next_job)
        if begin(state, MACHINE, QUEUE, best, why) < 0:
            return


def agent_of_weights(t: int, state: State) -> None:
    """A network on the whole machine."""
    settle_ends(t, state, MACHINE)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    set_weights(t, state)
    pass_by_priority(t, state)
    if state.pools[Q_COUNT, QUEUE] > 0:
        wake(state, setting(state, DUE))
    state.pools[NEWCOMERS, MACHINE] = state.pools[FREED, MACHINE] = 0
