"""A network decides: which of the first W waiting jobs starts next, or that nobody does until the next event.

The same decisions as in the environments of :mod:`headway.gym`, with the same features. Of each start it is
noted which feature decided: the one without whose differences between the jobs the lead of the chosen one
would have been smallest.
"""

from __future__ import annotations

import math

from headway.engine.ends import settle_ends, when_enough
from headway.engine.tables import (
    BACKFILL,
    FIRST_NEW,
    FREE,
    FREED,
    GONE,
    HEAD,
    IMMEDIATE,
    JOB_ROWS,
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
    RUNS_NOW,
    SIZE,
    SUBMIT,
    State,
)
from headway.jit import kernel, routine
from headway.policies.agent import features as see
from headway.policies.backfilling.easy import begin
from headway.policies.queueing.ordering import join
from headway.policies.queueing.strict import MACHINE, head_fits, reason

QUEUE = 2 * MACHINE
DECIDED_BY = JOB_ROWS
"""Job row: the feature that decided, plus 1; 0 where there was no choice."""
# Rows of state.memory.integers: settings, widths of the layers, places of the slots, which slots are open.
SETTINGS, WIDTHS, PLACES, OPEN = range(4)
TASK, WINDOW, KIND, ACTIVATION, LAYERS, ORIGIN, PERIOD, DUE, MAY_WAIT = range(9)
# Rows of state.memory.floats: all weights, what is seen, two rows for layers, scores.
WEIGHTS, SEEN, LAYER, SPARE, SCORES = range(5)
NO_CHOICE = -1


@kernel
def setting(state: State, name: int) -> int:
    return int(state.memory.integers[SETTINGS, name])


@routine
def run_layers(state: State) -> None:
    """From what stands in LAYER to the numbers of the last layer, there again."""
    m, at, source, target = state.memory, 0, LAYER, SPARE
    for layer in range(setting(state, LAYERS)):
        entering, leaving = m.integers[WIDTHS, layer], m.integers[WIDTHS, layer + 1]
        bias = at + entering * leaving
        for i in range(leaving):
            total = m.floats[WEIGHTS, bias + i]
            for k in range(entering):
                total += m.floats[WEIGHTS, at + i * entering + k] * m.floats[source, k]
            if layer < setting(state, LAYERS) - 1:
                total = math.tanh(total) if setting(state, ACTIVATION) == 0 else max(total, 0.0)
            m.floats[target, i] = total
        at = bias + leaving
        source, target = target, source
    if source != LAYER:
        for i in range(m.integers[WIDTHS, setting(state, LAYERS)]):
            m.floats[LAYER, i] = m.floats[source, i]


@kernel
def score_slot(state: State, slot: int) -> float:
    """What a shared network says of a slot; the last is to wait."""
    m, window = state.memory, setting(state, WINDOW)
    for f in range(see.OF_SLOT):
        m.floats[LAYER, f] = m.floats[SEEN, slot * see.OF_SLOT + f] if slot < window else 0.0
    m.floats[LAYER, see.OF_SLOT] = 1.0 if slot == window else 0.0
    for f in range(see.OF_MACHINE):
        m.floats[LAYER, see.OF_SLOT + 1 + f] = m.floats[SEEN, window * see.OF_SLOT + f]
    run_layers(state)
    return float(m.floats[LAYER, 0])


@routine
def score(state: State) -> int:
    """Scores of all that is open; the best, the first of equals."""
    m, window = state.memory, setting(state, WINDOW)
    if setting(state, KIND) == 1:
        for i in range(m.integers[WIDTHS, 0]):
            m.floats[LAYER, i] = m.floats[SEEN, i]
        run_layers(state)
        for slot in range(window + 1):
            m.floats[SCORES, slot] = m.floats[LAYER, slot]
    best = -1
    for slot in range(window + 1):
        if m.integers[OPEN, slot]:
            if setting(state, KIND) == 0:
                m.floats[SCORES, slot] = score_slot(state, slot)
            if best < 0 or m.floats[SCORES, slot] > m.floats[SCORES, best]:
                best = slot
    return best


@kernel
def lead(state: State, chosen: int) -> float:
    """How far the chosen one is ahead of the next."""
    m, most, others = state.memory, 0.0, False
    for slot in range(setting(state, WINDOW) + 1):
        if slot != chosen and m.integers[OPEN, slot] and (not others or m.floats[SCORES, slot] > most):
            most, others = m.floats[SCORES, slot], True
    return m.floats[SCORES, chosen] - most


@routine
def feature_that_decided(state: State, chosen: int) -> int:
    """The feature without whose differences the chosen job's lead would be smallest; -1 if none counts."""
    m, window, found, count = state.memory, setting(state, WINDOW), NO_CHOICE, 0
    for slot in range(window):
        count += m.integers[OPEN, slot]
    if count < 2:
        return NO_CHOICE
    least = lead(state, chosen)
    for f in range(see.SIZE, see.OF_SLOT):
        mine = m.floats[SEEN, chosen * see.OF_SLOT + f]
        for slot in range(window):  # SPARE and LAYER are the network's: the old values wait behind the scores
            at = slot * see.OF_SLOT + f
            m.floats[SCORES, window + 1 + slot] = m.floats[SEEN, at]
            m.floats[SEEN, at] = mine if m.floats[SEEN, slot * see.OF_SLOT + see.PRESENT] > 0 else 0.0
        score(state)
        ahead = lead(state, chosen)
        for slot in range(window):
            m.floats[SEEN, slot * see.OF_SLOT + f] = m.floats[SCORES, window + 1 + slot]
        if ahead < least:
            least, found = ahead, f
    return found


@routine
def look(t: int, state: State, behind: int, shadow: int, extra: int) -> bool:
    """Write down what is seen from the place ``behind`` on; whether some job may start."""
    m, window, k, slot, some = state.memory, setting(state, WINDOW), MACHINE, 0, False
    for i in range(window * see.OF_SLOT + see.OF_MACHINE):
        m.floats[SEEN, i] = 0.0
    for i in range(window):
        m.integers[OPEN, i] = 0
    place = behind
    while slot < window and place < state.pools[Q_TAIL, QUEUE]:
        if state.queue[Q_FIELDS * QUEUE + Q_PROCS, place] != GONE:
            job, at = state.queue[Q_FIELDS * QUEUE + Q_JOB, place], slot * see.OF_SLOT
            procs = state.jobs[PROCS, job]
            fits = procs <= state.pools[FREE, k]
            passes = t + state.jobs[PLAN, job] <= shadow or procs <= extra
            m.floats[SEEN, at + see.PRESENT] = 1.0
            m.floats[SEEN, at + see.SIZE] = see.as_seen(procs / state.pools[SIZE, k])
            m.floats[SEEN, at + see.REQUEST] = see.as_seen(see.on_scale(state.jobs[PLAN, job]))
            m.floats[SEEN, at + see.WAITED] = see.as_seen(see.on_scale(t - state.jobs[SUBMIT, job]))
            m.floats[SEEN, at + see.FITS] = 1.0 if fits else 0.0
            m.floats[SEEN, at + see.PASSES] = 1.0 if passes else 0.0
            m.integers[PLACES, slot] = place
            m.integers[OPEN, slot] = int(fits and (setting(state, TASK) == 0 or passes))
            some = some or m.integers[OPEN, slot] > 0
            slot += 1
        place += 1
    # Without anything that runs, nobody may wait: it might be for ever.
    may = setting(state, MAY_WAIT) > 0 and (setting(state, TASK) == 1 or state.clock[RUNS_NOW] > 0)
    m.integers[OPEN, window] = int(may)
    at = window * see.OF_SLOT
    m.floats[SEEN, at + see.FREE_SHARE] = see.as_seen(state.pools[FREE, k] / state.pools[SIZE, k])
    m.floats[SEEN, at + see.QUEUED] = see.as_seen(see.count_on_scale(state.pools[Q_COUNT, QUEUE]))
    m.floats[SEEN, at + see.RUNNING_NOW] = see.as_seen(see.count_on_scale(state.clock[RUNS_NOW]))
    m.floats[SEEN, at + see.SHADOW] = see.as_seen(see.on_scale(shadow - t))
    m.floats[SEEN, at + see.DAY_X] = see.as_seen(see.around_the_day(t, setting(state, ORIGIN), 0.0))
    m.floats[SEEN, at + see.DAY_Y] = see.as_seen(see.around_the_day(t, setting(state, ORIGIN), 0.25))
    return some


@kernel
def start_chosen(t: int, state: State, chosen: int) -> int:
    """Start the job of a slot and note what decided; the job, or -1."""
    place = state.memory.integers[PLACES, chosen]
    job = state.queue[Q_FIELDS * QUEUE + Q_JOB, place]
    state.jobs[DECIDED_BY, job] = feature_that_decided(state, chosen) + 1
    why = BACKFILL
    if place == state.pools[Q_HEAD, QUEUE]:
        why = IMMEDIATE if state.jobs[SUBMIT, job] == t else HEAD
    return begin(state, MACHINE, QUEUE, place, why)


def agent(t: int, state: State) -> None:
    """A network on the whole machine."""
    settle_ends(t, state, MACHINE)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    backfills = setting(state, TASK) == 1
    while backfills and head_fits(state, MACHINE):
        head = state.pools[Q_HEAD, QUEUE]
        begin(state, MACHINE, QUEUE, head, reason(t, state, state.queue[Q_FIELDS * QUEUE + Q_JOB, head]))
    while state.pools[Q_COUNT, QUEUE] > 0 and state.pools[FREE, MACHINE] > 0:
        head = state.pools[Q_HEAD, QUEUE]
        procs = state.queue[Q_FIELDS * QUEUE + Q_PROCS, head]
        shadow, free_then = when_enough(state.profile, MACHINE, t, state.pools[FREE, MACHINE], procs)
        if not look(t, state, head + int(backfills), shadow, free_then - procs):
            break
        chosen = score(state)
        if chosen < 0 or chosen >= setting(state, WINDOW) or start_chosen(t, state, chosen) < 0:
            break
    state.pools[NEWCOMERS, MACHINE] = state.pools[FREED, MACHINE] = 0
