"""A network decides: which of the first W waiting jobs starts next, or that nobody does until the next event.

The same decisions as in the environments of :mod:`headway.gym`, with the same features. Of each start it is
noted which feature decided: the one without whose differences between the jobs the lead of the chosen one
would have been smallest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import State, Table
from headway.jit.kernels import by_address, kernel, routine
from headway.jit.rows import Entries
from headway.policies.agent import features as see
from headway.policies.agent.choices import (
    OF_JOB,
    AgentJobs,
    AgentTables,
    Settings,
    has_choice,
    look,
    setting,
    start_slot,
    take_note,
)
from headway.policies.queueing.strict import MACHINE

LAYER, SPARE = range(2)
"""Rows of layers: what goes into one, and what comes out of it."""
NO_CHOICE = -1


class Shape(Entries):
    """The shape of a network: numbers of its kind and activation, and how many layers it has."""

    kind: int
    activation: int
    layers: int


@by_address
class NetworkTables(NamedTuple):
    """The memory of a network: that of every agent, and its own."""

    agent: AgentTables
    shape: Shape
    widths: Table
    """[layer] numbers that go in, and out of the last"""
    network: npt.NDArray[np.float64]
    """The weights of all layers, one after the other"""
    layers: npt.NDArray[np.float64]
    """[LAYER | SPARE, place]"""
    scores: npt.NDArray[np.float64]
    """[action], then space for one feature of all slots"""


@routine
def run_layers(state: State) -> None:
    """From what stands in LAYER to the numbers of the last layer, there again."""
    m, at, source, target = state.memory, 0, LAYER, SPARE
    for layer in range(m.shape.layers):
        entering, leaving = m.widths[layer], m.widths[layer + 1]
        bias = at + entering * leaving
        for i in range(leaving):
            total = m.network[bias + i]
            for k in range(entering):
                total += m.network[at + i * entering + k] * m.layers[source, k]
            if layer < m.shape.layers - 1:
                total = math.tanh(total) if m.shape.activation == 0 else max(total, 0.0)
            m.layers[target, i] = total
        at = bias + leaving
        source, target = target, source
    if source != LAYER:
        for i in range(m.widths[m.shape.layers]):
            m.layers[LAYER, i] = m.layers[source, i]


@kernel
def run_on_all(state: State) -> None:
    """What a dense network says of all that is seen, in LAYER."""
    for i in range(state.memory.widths[0]):
        state.memory.layers[LAYER, i] = state.memory.agent.seen[i]
    run_layers(state)


@kernel
def score_slot(state: State, slot: int) -> float:
    """What a shared network says of a slot; the last is to wait."""
    m, window = state.memory, setting(state, Settings["window"])
    for f in range(see.OF_SLOT):
        m.layers[LAYER, f] = m.agent.seen[slot * see.OF_SLOT + f] if slot < window else 0.0
    m.layers[LAYER, see.OF_SLOT] = 1.0 if slot == window else 0.0
    for f in range(see.OF_MACHINE):
        m.layers[LAYER, see.OF_SLOT + 1 + f] = m.agent.seen[window * see.OF_SLOT + f]
    run_layers(state)
    return float(m.layers[LAYER, 0])


@routine
def score(state: State) -> int:
    """Scores of all that is open; the best, the first of equals."""
    m, window = state.memory, setting(state, Settings["window"])
    if m.shape.kind == 1:
        run_on_all(state)
        for slot in range(window + 1):
            m.scores[slot] = m.layers[LAYER, slot]
    best = -1
    for slot in range(window + 1):
        if m.agent.open[slot]:
            if m.shape.kind == 0:
                m.scores[slot] = score_slot(state, slot)
            if best < 0 or m.scores[slot] > m.scores[best]:
                best = slot
    return best


@kernel
def lead(state: State, chosen: int) -> float:
    """How far the chosen one is ahead of the next."""
    m, most, others = state.memory, 0.0, False
    for slot in range(setting(state, Settings["window"]) + 1):
        if slot != chosen and m.agent.open[slot] and (not others or m.scores[slot] > most):
            most, others = m.scores[slot], True
    return m.scores[chosen] - most


@routine
def feature_that_decided(state: State, chosen: int) -> int:
    """The feature without whose differences the chosen job's lead would be smallest; -1 if none counts."""
    m, window, found, count = state.memory, setting(state, Settings["window"]), NO_CHOICE, 0
    for slot in range(window):
        count += m.agent.open[slot]
    if count < 2:
        return NO_CHOICE
    least = lead(state, chosen)
    for f in range(see.SIZE, see.OF_SLOT):
        mine = m.agent.seen[chosen * see.OF_SLOT + f]
        for slot in range(window):  # the layers are the network's: the old values wait behind the scores
            at = slot * see.OF_SLOT + f
            m.scores[window + 1 + slot] = m.agent.seen[at]
            m.agent.seen[at] = mine if m.agent.seen[slot * see.OF_SLOT + see.PRESENT] > 0 else 0.0
        score(state)
        ahead = lead(state, chosen)
        for slot in range(window):
            m.agent.seen[slot * see.OF_SLOT + f] = m.scores[window + 1 + slot]
        if ahead < least:
            least, found = ahead, f
    return found


def agent(t: int, state: State) -> None:
    """A network on the whole machine."""
    take_note(t, state)
    while has_choice(t, state):
        look(t, state)
        chosen = score(state)
        if 0 <= chosen < setting(state, Settings["window"]):
            job = state.queue[OF_JOB, state.memory.agent.places[chosen]]
            AgentJobs(state.jobs).decided_by[job] = feature_that_decided(state, chosen) + 1
        if not start_slot(t, state, chosen):
            break
    state.pools.newcomers[MACHINE] = state.pools.freed[MACHINE] = 0
