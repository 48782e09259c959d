"""Who uses which file on which node: chains of uses by node and by file, and what follows from them.

Real uses (running, or ended and still of interest) are chained from the USES of
their node and file, those that a pass has planned from the PLANS.
"""

from __future__ import annotations

from headway.engine.tables import State, Table
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.tables import CONTIGUOUS, FAR, NIL, File, Node, Note, Rule, Use, load_time


@kernel
def put_in_front(
    state: State, job: int, previous: int, following: int, heads: Table, row: int, chain: int
) -> None:
    """Put a use in front of a chain, whose head is there; its neighbours are in these two job rows."""
    head = heads[row, chain]
    state.jobs[previous, job], state.jobs[following, job] = NIL, head
    if head != NIL:
        state.jobs[previous, head] = job
    heads[row, chain] = job


@kernel
def take_out(
    state: State, job: int, previous: int, following: int, heads: Table, row: int, chain: int
) -> None:
    """Take a use out of a chain, whose head is there; its neighbours are in these two job rows."""
    before, after = state.jobs[previous, job], state.jobs[following, job]
    if after != NIL:
        state.jobs[previous, after] = before
    if before != NIL:
        state.jobs[following, before] = after
    else:
        heads[row, chain] = after


@kernel
def link(state: State, job: int, node: int, of_nodes: int, of_files: int) -> None:
    """Put a use in front of its two chains, whose heads are in these rows of nodes and files."""
    m = state.memory
    state.jobs[Use.ON, job] = node
    put_in_front(state, job, Use.NODE_PREVIOUS, Use.NODE_NEXT, m.nodes, of_nodes, node)
    if state.jobs[Use.FILE, job] >= 0:
        put_in_front(
            state, job, Use.FILE_PREVIOUS, Use.FILE_NEXT, m.files, of_files, state.jobs[Use.FILE, job]
        )


@kernel
def unlink(state: State, job: int) -> None:
    """Take a real use out of its chains."""
    m = state.memory
    take_out(state, job, Use.NODE_PREVIOUS, Use.NODE_NEXT, m.nodes, Node.USES, state.jobs[Use.ON, job])
    if state.jobs[Use.FILE, job] >= 0:
        take_out(state, job, Use.FILE_PREVIOUS, Use.FILE_NEXT, m.files, File.USES, state.jobs[Use.FILE, job])


@kernel
def is_pushed_out(state: State, use: int, at: int) -> bool:
    """Whether a job without a use's file starts on the node after it, really or in the plan, before ``at``.

    Who starts later with the file is a use of its own that tells whether the file is there.
    """
    m, jobs = state.memory, state.jobs
    node, file, end = jobs[Use.ON, use], jobs[Use.FILE, use], jobs[Use.END, use]
    last, only = m.nodes[Node.LAST_START, node], m.nodes[Node.LAST_FILE, node]
    if last >= at:
        last, only = m.nodes[Node.START_BEFORE, node], m.nodes[Node.FILE_BEFORE, node]
    if last > end or (last == end and only != file):
        return True
    plan = m.nodes[Node.PLANS, node]
    while plan != NIL:
        begin = jobs[Use.BEGIN, plan]
        if begin < at and (begin > end or (begin == end and jobs[Use.FILE, plan] != file)):
            return True
        plan = jobs[Use.NODE_NEXT, plan]
    return False


@kernel
def wait_by_use(state: State, use: int, at: int) -> int:
    """How long a job that starts at ``at`` waits for the file of this use; FAR if the use is no help."""
    m = state.memory
    end, loaded = state.jobs[Use.END, use], state.jobs[Use.LOADED, use]
    if state.jobs[Use.BEGIN, use] > at:
        return FAR
    if loaded <= min(at, end):
        if at <= end:
            return 0
        if m.rules[Rule.PRESENCE] == CONTIGUOUS:
            return FAR
        return FAR if is_pushed_out(state, use, at) else 0
    return int(loaded - at) if at < loaded and at < end else FAR


@kernel
def wait_in_chain(state: State, head: int, node: int, at: int) -> int:
    """The shortest wait by the uses of a file's chain that are on the node."""
    shortest = FAR
    use = head
    while use != NIL:
        if state.jobs[Use.ON, use] == node:
            shortest = min(shortest, wait_by_use(state, use, at))
        use = state.jobs[Use.FILE_NEXT, use]
    return shortest


@kernel
def linked_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    m = state.memory
    wait = wait_in_chain(state, m.files[File.USES, file], node, at)
    if planned:
        wait = min(wait, wait_in_chain(state, m.files[File.PLANS, file], node, at))
    return int(wait)


@kernel
def note_last_uses(state: State, t: int, head: int, file: int, stamp: int) -> None:
    """The latest end of each other file in a node's chain, of the uses that are not over yet."""
    m = state.memory
    use = head
    while use != NIL:
        other = state.jobs[Use.FILE, use]
        end = state.jobs[Use.END, use]
        if other >= 0 and other != file and end >= t:
            if m.files[File.MARK, other] != stamp:
                m.files[File.MARK, other] = stamp
                m.files[File.LAST, other] = end
            elif m.files[File.LAST, other] < end:
                m.files[File.LAST, other] = end
        use = state.jobs[Use.NODE_NEXT, use]


@kernel
def sum_of_unused(state: State, t: int, node: int, head: int, at: int, stamp: int) -> int:
    """Load times of the marked files whose last use ends by ``at``, each counted once.

    A job that ends before its file is loaded leaves none.
    """
    m = state.memory
    total = 0
    use = head
    while use != NIL:
        other, end = state.jobs[Use.FILE, use], state.jobs[Use.END, use]
        if (
            other >= 0
            and m.files[File.MARK, other] == stamp
            and end >= t
            and state.jobs[Use.LOADED, use] <= end
        ):
            if m.files[File.LAST, other] <= at:
                total += load_time(state, node, other)
            m.files[File.MARK, other] = 0
        use = state.jobs[Use.NODE_NEXT, use]
    return total


@routine
def evicted(state: State, t: int, node: int, file: int, at: int) -> int:
    """Load times of all other files that jobs leave on the node and none there uses any more at ``at``."""
    m = state.memory
    stamp = m.notes[Note.STAMP] + 1
    m.notes[Note.STAMP] = stamp
    real, planned = m.nodes[Node.USES, node], m.nodes[Node.PLANS, node]
    note_last_uses(state, t, real, file, stamp)
    note_last_uses(state, t, planned, file, stamp)
    left = sum_of_unused(state, t, node, real, at, stamp)
    return left + sum_of_unused(state, t, node, planned, at, stamp)
