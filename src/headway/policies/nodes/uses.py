"""Who uses which file on which node: chains of uses by node and by file, and what follows from them.

Real uses (running, or ended and still of interest) stand in T_USES and T_FILE_USES, those that a pass has
planned in T_PLANS and T_FILE_PLANS.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit import kernel, routine
from headway.policies.nodes.layout import (
    BEGIN,
    CONTIGUOUS,
    END,
    FAR,
    FILE,
    FILE_NEXT,
    FILE_PREVIOUS,
    LOADED,
    NIL,
    NODE_NEXT,
    NODE_PREVIOUS,
    ON,
    PRESENCE,
    STAMP,
    T_FILE_LAST,
    T_FILE_MARK,
    T_FILE_PLANS,
    T_FILE_USES,
    T_LAST_START,
    T_PLANS,
    T_START_BEFORE,
    T_USES,
    cell,
    load_time,
    note,
    put,
)


@kernel
def put_in_front(state: State, job: int, previous: int, following: int, heads: int, chain: int) -> None:
    """Put a use in front of a chain, one of ``heads``; its neighbours are in these two job rows."""
    head = cell(state, heads, chain)
    state.jobs[previous, job], state.jobs[following, job] = NIL, head
    if head != NIL:
        state.jobs[previous, head] = job
    put(state, heads, chain, job)


@kernel
def take_out(state: State, job: int, previous: int, following: int, heads: int, chain: int) -> None:
    """Take a use out of a chain, one of ``heads``; its neighbours are in these two job rows."""
    before, after = state.jobs[previous, job], state.jobs[following, job]
    if after != NIL:
        state.jobs[previous, after] = before
    if before != NIL:
        state.jobs[following, before] = after
    else:
        put(state, heads, chain, after)


@kernel
def link(state: State, job: int, node: int, of_nodes: int, of_files: int) -> None:
    """Put a use in front of its two chains."""
    state.jobs[ON, job] = node
    put_in_front(state, job, NODE_PREVIOUS, NODE_NEXT, of_nodes, node)
    if state.jobs[FILE, job] >= 0:
        put_in_front(state, job, FILE_PREVIOUS, FILE_NEXT, of_files, state.jobs[FILE, job])


@kernel
def unlink(state: State, job: int) -> None:
    """Take a real use out of its chains."""
    take_out(state, job, NODE_PREVIOUS, NODE_NEXT, T_USES, state.jobs[ON, job])
    if state.jobs[FILE, job] >= 0:
        take_out(state, job, FILE_PREVIOUS, FILE_NEXT, T_FILE_USES, state.jobs[FILE, job])


@kernel
def last_start_before(state: State, node: int, at: int) -> int:
    """The last start on the node, real or planned, before an instant of its plan."""
    last = cell(state, T_LAST_START, node)
    if last >= at:
        last = cell(state, T_START_BEFORE, node)
    use = cell(state, T_PLANS, node)
    while use != NIL:
        begin = state.jobs[BEGIN, use]
        if begin < at:
            last = max(last, begin)
        use = state.jobs[NODE_NEXT, use]
    return int(last)


@kernel
def wait_by_use(state: State, use: int, at: int) -> int:
    """How long a job that starts at ``at`` waits for the file of this use; FAR if the use is no help."""
    end, loaded = state.jobs[END, use], state.jobs[LOADED, use]
    if state.jobs[BEGIN, use] > at:
        return FAR
    if loaded <= min(at, end):
        if at <= end:
            return 0
        if note(state, PRESENCE) == CONTIGUOUS:
            return FAR
        return 0 if last_start_before(state, state.jobs[ON, use], at) < end else FAR
    return int(loaded - at) if at < loaded and at < end else FAR


@kernel
def wait_in_chain(state: State, head: int, node: int, at: int) -> int:
    """The shortest wait by the uses of a file's chain that are on the node."""
    shortest = FAR
    use = head
    while use != NIL:
        if state.jobs[ON, use] == node:
            shortest = min(shortest, wait_by_use(state, use, at))
        use = state.jobs[FILE_NEXT, use]
    return shortest


@kernel
def linked_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    wait = wait_in_chain(state, cell(state, T_FILE_USES, file), node, at)
    if planned:
        wait = min(wait, wait_in_chain(state, cell(state, T_FILE_PLANS, file), node, at))
    return wait


@kernel
def note_last_uses(state: State, t: int, head: int, file: int, stamp: int) -> None:
    """The latest end of each other file in a node's chain, of the uses that are not over yet."""
    use = head
    while use != NIL:
        other = state.jobs[FILE, use]
        end = state.jobs[END, use]
        if other >= 0 and other != file and end >= t:
            if cell(state, T_FILE_MARK, other) != stamp:
                put(state, T_FILE_MARK, other, stamp)
                put(state, T_FILE_LAST, other, end)
            elif cell(state, T_FILE_LAST, other) < end:
                put(state, T_FILE_LAST, other, end)
        use = state.jobs[NODE_NEXT, use]


@kernel
def sum_of_unused(state: State, node: int, head: int, at: int, stamp: int) -> int:
    """Load times of the marked files whose last use ends by ``at``, each counted once."""
    total = 0
    use = head
    while use != NIL:
        other = state.jobs[FILE, use]
        if other >= 0 and cell(state, T_FILE_MARK, other) == stamp:
            if cell(state, T_FILE_LAST, other) <= at:
                total += load_time(state, node, other)
            put(state, T_FILE_MARK, other, 0)
        use = state.jobs[NODE_NEXT, use]
    return total


@routine
def evicted(state: State, t: int, node: int, file: int, at: int) -> int:
    """Load times of all other files on the node that nobody there uses any more at ``at``."""
    stamp = note(state, STAMP) + 1
    state.options[STAMP] = stamp
    real, planned = cell(state, T_USES, node), cell(state, T_PLANS, node)
    note_last_uses(state, t, real, file, stamp)
    note_last_uses(state, t, planned, file, stamp)
    return sum_of_unused(state, node, real, at, stamp) + sum_of_unused(state, node, planned, at, stamp)
