"""Who uses which file on which node: chains of uses by node and by file, and what follows from them.

Real uses (running, or ended and still of interest) are chained from the USES of
their node and file, those that a pass has planned from the PLANS.
"""

from __future__ import annotations

from headway.engine.tables import State, Table
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.tables import CONTIGUOUS, FAR, NIL, Files, Nodes, Uses, load_time


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
    jobs = Uses(state.jobs)
    m = state.memory
    jobs.on[job] = node
    put_in_front(state, job, Uses["node_previous"], Uses["node_next"], m.nodes, of_nodes, node)
    if jobs.file[job] >= 0:
        put_in_front(state, job, Uses["file_previous"], Uses["file_next"], m.files, of_files, jobs.file[job])


@kernel
def unlink(state: State, job: int) -> None:
    """Take a real use out of its chains."""
    jobs = Uses(state.jobs)
    m = state.memory
    take_out(state, job, Uses["node_previous"], Uses["node_next"], m.nodes, Nodes["uses"], jobs.on[job])
    if jobs.file[job] >= 0:
        take_out(state, job, Uses["file_previous"], Uses["file_next"], m.files, Files["uses"], jobs.file[job])


@kernel
def is_pushed_out(state: State, use: int, at: int) -> bool:
    """Whether a job without a use's file starts on the node after it, really or in the plan, before ``at``.

    Who starts later with the file is a use of its own that tells whether the file is there.
    """
    m, jobs = state.memory, state.jobs
    node, file, end = Uses(jobs).on[use], Uses(jobs).file[use], Uses(jobs).end[use]
    last, only = m.nodes.last_start[node], m.nodes.last_file[node]
    if last >= at:
        last, only = m.nodes.start_before[node], m.nodes.file_before[node]
    if last > end or (last == end and only != file):
        return True
    plan = m.nodes.plans[node]
    while plan != NIL:
        begin = Uses(jobs).begin[plan]
        if begin < at and (begin > end or (begin == end and Uses(jobs).file[plan] != file)):
            return True
        plan = Uses(jobs).node_next[plan]
    return False


@kernel
def wait_by_use(state: State, use: int, at: int) -> int:
    """How long a job that starts at ``at`` waits for the file of this use; FAR if the use is no help."""
    jobs = Uses(state.jobs)
    m = state.memory
    end, loaded = jobs.end[use], jobs.loaded[use]
    if jobs.begin[use] > at:
        return FAR
    if loaded <= min(at, end):
        if at <= end:
            return 0
        if m.rules.presence == CONTIGUOUS:
            return FAR
        return FAR if is_pushed_out(state, use, at) else 0
    return int(loaded - at) if at < loaded and at < end else FAR


@kernel
def wait_in_chain(state: State, head: int, node: int, at: int) -> int:
    """The shortest wait by the uses of a file's chain that are on the node."""
    jobs = Uses(state.jobs)
    shortest = FAR
    use = head
    while use != NIL:
        if jobs.on[use] == node:
            shortest = min(shortest, wait_by_use(state, use, at))
        use = jobs.file_next[use]
    return shortest


@kernel
def linked_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    m = state.memory
    wait = wait_in_chain(state, m.files.uses[file], node, at)
    if planned:
        wait = min(wait, wait_in_chain(state, m.files.plans[file], node, at))
    return int(wait)


@kernel
def note_last_uses(state: State, t: int, head: int, file: int, stamp: int) -> None:
    """The latest end of each other file in a node's chain, of the uses that are not over yet."""
    jobs = Uses(state.jobs)
    m = state.memory
    use = head
    while use != NIL:
        other = jobs.file[use]
        end = jobs.end[use]
        if other >= 0 and other != file and end >= t:
            if m.files.mark[other] != stamp:
                m.files.mark[other] = stamp
                m.files.last[other] = end
            elif m.files.last[other] < end:
                m.files.last[other] = end
        use = jobs.node_next[use]


@kernel
def sum_of_unused(state: State, t: int, node: int, head: int, at: int, stamp: int) -> int:
    """Load times of the marked files whose last use ends by ``at``, each counted once.

    A job that ends before its file is loaded leaves none.
    """
    jobs = Uses(state.jobs)
    m = state.memory
    total = 0
    use = head
    while use != NIL:
        other, end = jobs.file[use], jobs.end[use]
        if other >= 0 and m.files.mark[other] == stamp and end >= t and jobs.loaded[use] <= end:
            if m.files.last[other] <= at:
                total += load_time(state, node, other)
            m.files.mark[other] = 0
        use = jobs.node_next[use]
    return total


@routine
def evicted(state: State, t: int, node: int, file: int, at: int) -> int:
    """Load times of all other files that jobs leave on the node and none there uses any more at ``at``."""
    m = state.memory
    stamp = m.notes.stamp + 1
    m.notes.stamp = stamp
    real, planned = m.nodes.uses[node], m.nodes.plans[node]
    note_last_uses(state, t, real, file, stamp)
    note_last_uses(state, t, planned, file, stamp)
    left = sum_of_unused(state, t, node, real, at, stamp)
    return left + sum_of_unused(state, t, node, planned, at, stamp)
