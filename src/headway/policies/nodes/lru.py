"""Files that stay on a node until its memory overflows: those without a user go, longest unused first.

What is in a node's memory follows from the uses that began before this instant; the uses of this instant
and the planned ones are replayed on top of it whenever somebody asks. A file in memory is known by the use
that brought it in; files stand in the order in which they came. One of which no load was ever finished is no
longer there when its last user has ended.
"""

from __future__ import annotations

from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.tables import FAR, NIL, Nodes, Uses


@kernel
def is_running(state: State, use: int) -> bool:
    """Whether a real use has not ended, or only at this instant, which is looked at later."""
    return bool(Uses(state.jobs).alive[use] == 1)


@kernel
def resident_of(state: State, node: int, head: int, following: int, file: int) -> int:
    """The use that brought a file into a node's memory, real or replayed; NIL if it is not there."""
    resident = state.memory.nodes[head, node]
    while resident != NIL and Uses(state.jobs).file[resident] != file:
        resident = state.jobs[following, resident]
    return int(resident)


@kernel
def put_last(state: State, node: int, head: int, following: int, resident: int) -> None:
    """A file comes into a node's memory behind all others."""
    nodes, jobs = state.memory.nodes, state.jobs
    jobs[following, resident] = NIL
    other = nodes[head, node]
    if other == NIL:
        nodes[head, node] = resident
        return
    while jobs[following, other] != NIL:
        other = jobs[following, other]
    jobs[following, other] = resident


@kernel
def take_out(state: State, node: int, head: int, following: int, resident: int) -> None:
    """A file goes out of a node's memory."""
    nodes, jobs = state.memory.nodes, state.jobs
    before = nodes[head, node]
    if before == resident:
        nodes[head, node] = jobs[following, resident]
        return
    while jobs[following, before] != resident:
        before = jobs[following, before]
    jobs[following, before] = jobs[following, resident]


@kernel
def in_use(state: State, node: int, file: int) -> bool:
    """Whether some settled use of the file still runs on the node."""
    jobs = Uses(state.jobs)
    m = state.memory
    use = m.nodes.uses[node]
    while use != NIL:
        if jobs.file[use] == file and jobs.settled_use[use] == 1 and is_running(state, use):
            return True
        use = jobs.node_next[use]
    return False


@kernel
def overflowing(state: State, node: int, head: int, following: int, last: int, mine: int, at: int) -> int:
    """The file that a node's memory has no room for: the longest unused, not ``mine``; NIL if there is none.

    In the real memory the last use of a file that runs has no end yet; replayed, it has.
    """
    m, jobs = state.memory, state.jobs
    total, oldest = 0, NIL
    resident = m.nodes[head, node]
    while resident != NIL:
        file = Uses(jobs).file[resident]
        total += m.files.size[file]
        if (
            resident != mine
            and jobs[last, resident] <= at
            and (oldest == NIL or jobs[last, resident] < jobs[last, oldest])
            and (last == Uses["replay_last"] or not in_use(state, node, file))
        ):
            oldest = resident
        resident = jobs[following, resident]
    return int(oldest) if total > m.nodes.memory[node] else NIL


@kernel
def note_end(state: State, resident: int, use: int, last: int, good: int) -> None:
    """A use of a file in memory ends: rows for when the last one does, and whether a load was finished."""
    jobs = state.jobs
    jobs[last, resident] = max(jobs[last, resident], Uses(jobs).end[use])
    if Uses(jobs).loaded[use] <= Uses(jobs).end[use]:
        jobs[good, resident] = 1


@kernel
def leave_file(state: State, resident: int) -> None:
    """Take a resident that is evicted out of its file's chain."""
    m = state.memory
    jobs = state.jobs
    file = Uses(jobs).file[resident]
    other = m.files.resident[file]
    if other == resident:
        m.files.resident[file] = Uses(jobs).resident_elsewhere[resident]
        return
    while Uses(jobs).resident_elsewhere[other] != resident:
        other = Uses(jobs).resident_elsewhere[other]
    Uses(jobs).resident_elsewhere[other] = Uses(jobs).resident_elsewhere[resident]


@kernel
def forget_unread(state: State, node: int, resident: int) -> None:
    """A file that nobody uses any more leaves the memory if no load of it was ever finished."""
    jobs = state.jobs
    if Uses(jobs).resident_good[resident] == 1 or in_use(state, node, Uses(jobs).file[resident]):
        return
    take_out(state, node, Nodes["resident"], Uses["resident_next"], resident)
    leave_file(state, resident)


@routine
def settle_use(state: State, use: int) -> None:
    """Take a use of an earlier instant into the node's memory, and evict what no longer fits."""
    m = state.memory
    jobs = state.jobs
    Uses(jobs).settled_use[use] = 1
    node, file = Uses(jobs).on[use], Uses(jobs).file[use]
    if file < 0:
        return
    mine = resident_of(state, node, Nodes["resident"], Uses["resident_next"], file)
    if mine == NIL:
        mine = use
        Uses(jobs).resident_last[use] = Uses(jobs).begin[use]
        Uses(jobs).resident_good[use] = 0
        Uses(jobs).resident_elsewhere[use] = m.files.resident[file]
        m.files.resident[file] = use
        put_last(state, node, Nodes["resident"], Uses["resident_next"], use)
    if not is_running(state, use):
        note_end(state, mine, use, Uses["resident_last"], Uses["resident_good"])
    while True:
        gone = overflowing(
            state,
            node,
            Nodes["resident"],
            Uses["resident_next"],
            Uses["resident_last"],
            mine,
            Uses(jobs).begin[use],
        )
        if gone == NIL:
            break
        take_out(state, node, Nodes["resident"], Uses["resident_next"], gone)
        leave_file(state, gone)
    if not is_running(state, use):
        forget_unread(state, node, mine)


@kernel
def end_use(state: State, t: int, use: int) -> None:
    """A use ends now; one of this very instant is settled later."""
    jobs = Uses(state.jobs)
    if jobs.file[use] >= 0 and jobs.settled_use[use] == 1:
        node = jobs.on[use]
        resident = resident_of(state, node, Nodes["resident"], Uses["resident_next"], jobs.file[use])
        note_end(state, resident, use, Uses["resident_last"], Uses["resident_good"])
        forget_unread(state, node, resident)


@kernel
def wait_by(state: State, use: int, at: int) -> int:
    """The wait for a file that is in memory since this use or before; FAR if the use is no help."""
    jobs = Uses(state.jobs)
    end, loaded = jobs.end[use], jobs.loaded[use]
    if loaded <= min(at, end):
        return 0
    return int(loaded - at) if at < loaded and at < end else FAR


@kernel
def sort_plan(state: State, job: int, node: int) -> None:
    """Move a plan from the head of its node's chain to its place in time, the latest first."""
    m = state.memory
    jobs = state.jobs
    begin, before, after = Uses(jobs).begin[job], NIL, Uses(jobs).node_next[job]
    while after != NIL and (
        Uses(jobs).begin[after] > begin or (Uses(jobs).begin[after] == begin and after > job)
    ):  # fmt: skip
        before, after = after, Uses(jobs).node_next[after]
    if before != NIL:
        m.nodes.plans[node] = Uses(jobs).node_next[job]
        Uses(jobs).node_previous[Uses(jobs).node_next[job]] = NIL
        Uses(jobs).node_next[before] = job
        Uses(jobs).node_previous[job] = before
        Uses(jobs).node_next[job] = after
        if after != NIL:
            Uses(jobs).node_previous[after] = job
    if after == NIL:
        m.nodes.first_plan[node] = job


@kernel
def begin_replay(state: State, node: int, file: int, at: int) -> int:
    """Replay the uses that are settled, up to their ends; how long a job then waits for its file."""
    m, jobs = state.memory, state.jobs
    wait = FAR
    resident = m.nodes.resident[node]
    while resident != NIL:
        Uses(jobs).replay_last[resident] = Uses(jobs).resident_last[resident]
        Uses(jobs).replay_good[resident] = Uses(jobs).resident_good[resident]
        Uses(jobs).replay_next[resident] = Uses(jobs).resident_next[resident]
        if Uses(jobs).file[resident] == file and Uses(jobs).resident_good[resident] == 1:
            wait = 0
        resident = Uses(jobs).resident_next[resident]
    m.nodes.replay[node] = m.nodes.resident[node]
    use = m.nodes.uses[node]
    while use != NIL:
        if Uses(jobs).file[use] >= 0 and Uses(jobs).settled_use[use] == 1 and is_running(state, use):
            resident = resident_of(state, node, Nodes["replay"], Uses["replay_next"], Uses(jobs).file[use])
            note_end(state, resident, use, Uses["replay_last"], Uses["replay_good"])
            if Uses(jobs).file[use] == file:
                wait = min(wait, wait_by(state, use, at))
        use = Uses(jobs).node_next[use]
    return int(wait)


@kernel
def drop_unread(state: State, node: int, at: int) -> None:
    """Files of which no load was finished go out of the replayed memory when their last use is over."""
    jobs = state.jobs
    resident = state.memory.nodes.replay[node]
    while resident != NIL:
        if Uses(jobs).replay_good[resident] == 0 and Uses(jobs).replay_last[resident] <= at:
            take_out(state, node, Nodes["replay"], Uses["replay_next"], resident)
        resident = Uses(jobs).replay_next[resident]


@routine
def replay_use(state: State, node: int, use: int, file: int, at: int, wait: int) -> int:
    """Replay one more use; how long a job waits for its file behind it, where that was ``wait``."""
    jobs = state.jobs
    own, begin = Uses(jobs).file[use], Uses(jobs).begin[use]
    if own < 0:
        return wait
    drop_unread(state, node, begin)
    mine = resident_of(state, node, Nodes["replay"], Uses["replay_next"], own)
    if mine == NIL:
        mine = use
        Uses(jobs).replay_last[use] = Uses(jobs).replay_good[use] = 0
        put_last(state, node, Nodes["replay"], Uses["replay_next"], use)
    note_end(state, mine, use, Uses["replay_last"], Uses["replay_good"])
    if own == file:
        wait = min(wait, wait_by(state, use, at))
    while True:
        gone = overflowing(
            state, node, Nodes["replay"], Uses["replay_next"], Uses["replay_last"], mine, begin
        )
        if gone == NIL:
            return int(wait)
        take_out(state, node, Nodes["replay"], Uses["replay_next"], gone)
        if Uses(jobs).file[gone] == file:
            wait = FAR


@routine
def replayed_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    jobs = Uses(state.jobs)
    m = state.memory
    wait = begin_replay(state, node, file, at)
    for run in range(m.notes.settled, state.clock.runs):
        if state.runs.pool[run] == node:
            wait = replay_use(state, node, state.runs.job[run], file, at, wait)
    plan = m.nodes.first_plan[node] if planned and m.nodes.plans[node] != NIL else NIL
    while plan != NIL and jobs.begin[plan] <= at:
        wait = replay_use(state, node, plan, file, at, wait)
        plan = jobs.node_previous[plan]
    return int(wait)
