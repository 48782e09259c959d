"""A network sets the weights of a priority, once a period at most; EASY runs in the order of the priorities.

Weights are due when a period is over and some job waits: after the ends and the arrivals of an instant,
before its pass, as in the environment for weights of :mod:`headway.gym`. Of each start it is noted which part
of the priority decided: the one by which the job was furthest ahead of the next that could have started.
"""

from __future__ import annotations

from headway.engine.ends import when_enough
from headway.engine.tables import GONE, State, Why
from headway.engine.verbs import wake
from headway.jit.kernels import kernel, routine
from headway.policies.agent import features as see
from headway.policies.agent.agent import LAYER, run_on_all
from headway.policies.agent.choices import (
    OF_JOB,
    OF_PLAN,
    OF_PROCS,
    QUEUE,
    AgentJobs,
    Settings,
    is_due,
    look,
    request_of,
    setting,
    size_of,
    take_note,
    waited_by,
)
from headway.policies.backfilling.easy import begin
from headway.policies.queueing.strict import MACHINE, reason


@kernel
def priority(t: int, state: State, job: int) -> float:
    """A waiting job's priority: weights of its wait, size, request and area, each from 0 to 1."""
    total, m = 0.0, state.memory.agent
    waited, size, request = waited_by(t, state, job), size_of(state, job), request_of(state, job)
    for part in range(see.WEIGHED):
        total += m.weights[part] * see.weighed(part, waited, size, request)
    return total


@kernel
def note(t: int, state: State, job: int, next_job: int) -> None:
    """Which part put a job before the next."""
    found, most, m = -1, 0.0, state.memory.agent
    if next_job >= 0:
        mine = waited_by(t, state, job), size_of(state, job), request_of(state, job)
        its = waited_by(t, state, next_job), size_of(state, next_job), request_of(state, next_job)
        for part in range(see.WEIGHED):
            ahead = m.weights[part] * see.weighed(part, mine[0], mine[1], mine[2])
            ahead -= m.weights[part] * see.weighed(part, its[0], its[1], its[2])
            if ahead > most:
                found, most = part, ahead
    AgentJobs(state.jobs).decided_by[job] = found + 1


@kernel
def set_due(t: int, state: State) -> None:
    """Weights were set now: the next are due when this period is over."""
    period, due = setting(state, Settings["period"]), setting(state, Settings["due"])
    first = t if due < 0 else due
    state.memory.agent.settings.due = first + ((t - first) // period + 1) * period


@routine
def pass_by_priority(t: int, state: State) -> None:
    """EASY in the order of priorities; who came first among equals. A pass when other weights are due."""
    head, shadow, extra = -1, t, 0
    while state.pools.count[QUEUE] > 0:
        best, next_job, most, next_most = -1, -1, 0.0, 0.0
        for place in range(state.pools.head[QUEUE], state.pools.tail[QUEUE]):
            procs = state.queue[OF_PROCS, place]
            if procs == GONE:
                continue
            job = state.queue[OF_JOB, place]
            passes = t + state.queue[OF_PLAN, place] <= shadow or procs <= extra
            if head >= 0 and (job == head or procs > state.pools.free[MACHINE] or not passes):
                continue
            value = priority(t, state, job)
            if best < 0 or value > most:
                if best >= 0:
                    next_job, next_most = state.queue[OF_JOB, best], most
                best, most = place, value
            elif next_job < 0 or value > next_most:
                next_job, next_most = job, value
        if best < 0:
            break
        job, procs = state.queue[OF_JOB, best], state.queue[OF_PROCS, best]
        if head < 0 and procs > state.pools.free[MACHINE]:
            head = job
            shadow, free_then = when_enough(state.profile, MACHINE, t, state.pools.free[MACHINE], procs)
            extra = free_then - procs
            continue
        if head >= 0 and t + state.queue[OF_PLAN, best] > shadow:
            extra -= procs
        note(t, state, job, next_job)
        if begin(state, MACHINE, QUEUE, best, reason(t, state, job) if head < 0 else Why.BACKFILL) < 0:
            break
    if state.pools.count[QUEUE] > 0:
        wake(state, setting(state, Settings["due"]))


def agent_of_weights(t: int, state: State) -> None:
    """A network on the whole machine."""
    take_note(t, state)
    if is_due(t, state):
        look(t, state)
        run_on_all(state)
        for part in range(see.WEIGHED):
            state.memory.agent.weights[part] = min(max(state.memory.layers[LAYER, part], -1.0), 1.0)
        set_due(t, state)
    pass_by_priority(t, state)
    state.pools.newcomers[MACHINE] = state.pools.freed[MACHINE] = 0
