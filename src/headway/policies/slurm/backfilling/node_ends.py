"""The ends of running jobs node by node: what each leaves free, and from which on a node will do for a job.

One who shares nodes with others asks the same of every node. So it is enough to look once where it would fit
on each, rather than at all nodes after every end.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares, hold
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.cores import suspends
from headway.policies.slurm.nodes.ends import copy_nodes
from headway.policies.slurm.nodes.offers import Terms, asks_gres, offer, terms_of, whole_nodes
from headway.policies.slurm.queue.preemption import takes_places
from headway.policies.slurm.tables.bits import empty, has, put
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.passes import Scratch

NOW = -1
"""The place of a node, or of enough nodes, that will do as things are."""
NEVER_OPENS = 1 << 40
NO_ROOM = -1
"""In place of a row of openings; the ends are then imagined one by one."""


@kernel
def looks_by_node(memory: Memory, job: int, part: int) -> bool:
    """Whether a job fits on a node from some end on.

    Not where it takes the place of others, or jobs take turns on cores. Of those whose tests change weights
    of nodes only such as would test the same nodes after every end.
    """
    weighs, by_cpus = asks_gres(memory, job) > 0, memory.jobs.cpus_unit[job] > 0
    choices = memory.choices.parts[memory.jobs.features[job]]
    return bool(
        memory.settings.plain == 0
        and not suspends(memory)
        and not takes_places(memory, job, part)
        and not (weighs and (choices > 0 or by_cpus or whole_nodes(memory, job, part)))
    )


@kernel
def place_row(memory: Memory) -> int:
    """The row of the table AFTER with the place of the job that ends; those before it are as nodes have."""
    return memory.after.shape[0] - 1


@routine
def lay_ends(state: State) -> None:
    """Write down for each node, in the order of their ends, what jobs on it leave free, if there is room."""
    memory = state.memory
    work, after, trial = memory.work, memory.after, memory.trial
    for node in range(work.shape[1]):
        work.ends_to[node] = 0
    for place in range(memory.clock.running):
        run = state.jobs.run[memory.running[1, place]]
        for entry in range(state.runs.share[run], end_of_shares(state, run)):
            work.ends_to[state.shares.node[entry]] += 1
    total = 0
    for node in range(work.shape[1]):
        count = work.ends_to[node]
        work.ends_from[node] = work.ends_to[node] = total
        total += count
    memory.clock.openings = 0
    memory.clock.ends_laid = 1 if total <= after.shape[1] else NO_ROOM
    if total > after.shape[1]:
        return
    copy_nodes(state)
    for place in range(memory.clock.running):
        run = state.jobs.run[memory.running[1, place]]
        for entry in range(state.runs.share[run], end_of_shares(state, run)):
            node = hold(state, trial, entry, -1)
            column = work.ends_to[node]
            for row in range(trial.shape[0]):
                after[row, column] = trial[row, node]
            after[place_row(memory), column] = place
            work.ends_to[node] = column + 1


@kernel
def is_for(memory: Memory, row: int, job: int, part: int, terms: Terms) -> bool:
    """Whether the openings at a row are for jobs that ask for the same as a job in a partition."""
    asked, features = memory.opened_for, memory.jobs.features[job]
    same = asked[row, 0] == part and asked[row, 1] == features
    for place in range(len(terms)):
        same = same and asked[row, 2 + place] == terms[place]
    for resource in range(memory.gres_asked.shape[0]):
        same = same and asked[row, 2 + len(terms) + resource] == memory.gres_asked[resource, job]
    return bool(same)


@kernel
def let_be_for(memory: Memory, row: int, job: int, part: int, terms: Terms) -> None:
    """Note for whom the openings at a row are."""
    asked = memory.opened_for
    asked[row, 0], asked[row, 1] = part, memory.jobs.features[job]
    for place in range(len(terms)):
        asked[row, 2 + place] = terms[place]
    for resource in range(memory.gres_asked.shape[0]):
        asked[row, 2 + len(terms) + resource] = memory.gres_asked[resource, job]


@kernel
def openings_for(state: State, job: int, part: int) -> int:
    """The row of openings for a job, laid now or for one before it that asks for the same; -1: no room."""
    memory = state.memory
    clock, terms = memory.clock, terms_of(memory, job, part)
    if clock.ends_laid == 0:
        lay_ends(state)
    if clock.ends_laid == NO_ROOM:
        return NO_ROOM
    for row in range(clock.openings):
        if is_for(memory, row, job, part, terms):
            return row
    row = min(clock.openings, memory.openings.shape[0] - 1)
    clock.openings = row + 1
    let_be_for(memory, row, job, part, terms)
    lay_openings(state, row, job, part)
    return int(row)


@routine
def lay_openings(state: State, openings: int, job: int, part: int) -> None:
    """Find for each node of a partition the place of the end from which on it will do for a job."""
    memory = state.memory
    work, after, terms = memory.work, memory.after, terms_of(memory, job, part)
    features = memory.jobs.features[job]
    empty(memory.words_open, openings)
    for node in range(work.shape[1]):
        memory.openings[openings, node] = NEVER_OPENS
        if not (has(memory.words_members, part, node) and has(memory.words_features, features, node)):
            continue
        if offer(memory, state.nodes, node, node, job, terms, False) > 0:
            memory.openings[openings, node] = NOW
            put(memory.words_open, openings, node)
            continue
        for column in range(work.ends_from[node], work.ends_to[node]):
            if offer(memory, after, column, node, job, terms, False) > 0:
                memory.openings[openings, node] = after[place_row(memory), column]
                break


@kernel
def open_by(memory: Memory, openings: int, place: int) -> int:
    """How many nodes of WINDOW will do by the end of the running job at a place."""
    count = 0
    for node in range(memory.work.shape[1]):
        count += memory.sets[Scratch.WINDOW, node] & (memory.openings[openings, node] <= place)
    return count


@routine
def enough_open(memory: Memory, openings: int, least: int) -> int:
    """The place of the end from which on so many nodes of WINDOW will do: NOW, or NEVER_OPENS."""
    if least <= 1:
        first = NEVER_OPENS
        for node in range(memory.work.shape[1]):
            if memory.sets[Scratch.WINDOW, node] > 0:
                first = min(first, memory.openings[openings, node])
        return int(first)
    low, high = NOW, memory.clock.running
    while low < high:
        middle = (low + high) // 2
        if open_by(memory, openings, middle) < least:
            low = middle + 1
        else:
            high = middle
    return NEVER_OPENS if low == memory.clock.running else low


@kernel
def opens_after(memory: Memory, openings: int, least: int, t: int) -> bool:
    """Whether too few nodes of WINDOW will do by ``t``."""
    place = enough_open(memory, openings, least)
    return bool(place != NOW and (place == NEVER_OPENS or memory.running[0, place] > t))


@kernel
def lay_trial(state: State, openings: int, place: int, only_open: bool) -> None:
    """Let the trial table have free what nodes have after the end at a place; CANDIDATES are these nodes, all
    of WINDOW that will ever do for the job or only those that will by then."""
    memory = state.memory
    work, after, trial = memory.work, memory.after, memory.trial
    by = place if only_open else NEVER_OPENS - 1
    for node in range(work.shape[1]):
        will_do = memory.openings[openings, node] <= by
        memory.sets[Scratch.CANDIDATES, node] = memory.sets[Scratch.WINDOW, node] & will_do
        if memory.sets[Scratch.CANDIDATES, node] == 0:
            continue
        column = work.ends_to[node] - 1
        while column >= work.ends_from[node] and after[place_row(memory), column] > place:
            column -= 1
        now = column < work.ends_from[node]
        for row in range(trial.shape[0]):
            trial[row, node] = state.nodes[row, node] if now else after[row, column]
