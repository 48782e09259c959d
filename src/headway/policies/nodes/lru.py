"""Files that stay on a node until its memory overflows: those without a user go, longest unused first.

What is in a node's memory follows from the uses that began before this instant; the uses of this instant
and the planned ones are replayed on top of it whenever somebody asks. A file in memory is known by the use
that brought it in; files stand in the order in which they came. One of which no load was ever finished is no
longer there when its last user has ended.
"""

from __future__ import annotations

from headway.engine.tables import Clock, Run, State
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.tables import FAR, NIL, File, Node, Note, Use


@kernel
def is_running(state: State, use: int) -> bool:
    """Whether a real use has not ended, or only at this instant, which is looked at later."""
    return bool(state.jobs[Use.ALIVE, use] == 1)


@kernel
def resident_of(state: State, node: int, head: int, following: int, file: int) -> int:
    """The use that brought a file into a node's memory, real or replayed; NIL if it is not there."""
    resident = state.memory.nodes[head, node]
    while resident != NIL and state.jobs[Use.FILE, resident] != file:
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
    m = state.memory
    use = m.nodes[Node.USES, node]
    while use != NIL:
        if (
            state.jobs[Use.FILE, use] == file
            and state.jobs[Use.SETTLED_USE, use] == 1
            and is_running(state, use)
        ):
            return True
        use = state.jobs[Use.NODE_NEXT, use]
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
        file = jobs[Use.FILE, resident]
        total += m.files[File.SIZE, file]
        if (
            resident != mine
            and jobs[last, resident] <= at
            and (oldest == NIL or jobs[last, resident] < jobs[last, oldest])
            and (last == Use.REPLAY_LAST or not in_use(state, node, file))
        ):
            oldest = resident
        resident = jobs[following, resident]
    return int(oldest) if total > m.nodes[Node.MEMORY, node] else NIL


@kernel
def note_end(state: State, resident: int, use: int, last: int, good: int) -> None:
    """A use of a file in memory ends: rows for when the last one does, and whether a load was finished."""
    jobs = state.jobs
    jobs[last, resident] = max(jobs[last, resident], jobs[Use.END, use])
    if jobs[Use.LOADED, use] <= jobs[Use.END, use]:
        jobs[good, resident] = 1


@kernel
def leave_file(state: State, resident: int) -> None:
    """Take a resident that is evicted out of its file's chain."""
    m = state.memory
    jobs = state.jobs
    file = jobs[Use.FILE, resident]
    other = m.files[File.RESIDENT, file]
    if other == resident:
        m.files[File.RESIDENT, file] = jobs[Use.RESIDENT_ELSEWHERE, resident]
        return
    while jobs[Use.RESIDENT_ELSEWHERE, other] != resident:
        other = jobs[Use.RESIDENT_ELSEWHERE, other]
    jobs[Use.RESIDENT_ELSEWHERE, other] = jobs[Use.RESIDENT_ELSEWHERE, resident]


@kernel
def forget_unread(state: State, node: int, resident: int) -> None:
    """A file that nobody uses any more leaves the memory if no load of it was ever finished."""
    jobs = state.jobs
    if jobs[Use.RESIDENT_GOOD, resident] == 1 or in_use(state, node, jobs[Use.FILE, resident]):
        return
    take_out(state, node, Node.RESIDENT, Use.RESIDENT_NEXT, resident)
    leave_file(state, resident)


@routine
def settle_use(state: State, use: int) -> None:
    """Take a use of an earlier instant into the node's memory, and evict what no longer fits."""
    m = state.memory
    jobs = state.jobs
    jobs[Use.SETTLED_USE, use] = 1
    node, file = jobs[Use.ON, use], jobs[Use.FILE, use]
    if file < 0:
        return
    mine = resident_of(state, node, Node.RESIDENT, Use.RESIDENT_NEXT, file)
    if mine == NIL:
        mine = use
        jobs[Use.RESIDENT_LAST, use] = jobs[Use.BEGIN, use]
        jobs[Use.RESIDENT_GOOD, use] = 0
        jobs[Use.RESIDENT_ELSEWHERE, use] = m.files[File.RESIDENT, file]
        m.files[File.RESIDENT, file] = use
        put_last(state, node, Node.RESIDENT, Use.RESIDENT_NEXT, use)
    if not is_running(state, use):
        note_end(state, mine, use, Use.RESIDENT_LAST, Use.RESIDENT_GOOD)
    while True:
        gone = overflowing(
            state, node, Node.RESIDENT, Use.RESIDENT_NEXT, Use.RESIDENT_LAST, mine, jobs[Use.BEGIN, use]
        )
        if gone == NIL:
            break
        take_out(state, node, Node.RESIDENT, Use.RESIDENT_NEXT, gone)
        leave_file(state, gone)
    if not is_running(state, use):
        forget_unread(state, node, mine)


@kernel
def end_use(state: State, t: int, use: int) -> None:
    """A use ends now; one of this very instant is settled later."""
    if state.jobs[Use.FILE, use] >= 0 and state.jobs[Use.SETTLED_USE, use] == 1:
        node = state.jobs[Use.ON, use]
        resident = resident_of(state, node, Node.RESIDENT, Use.RESIDENT_NEXT, state.jobs[Use.FILE, use])
        note_end(state, resident, use, Use.RESIDENT_LAST, Use.RESIDENT_GOOD)
        forget_unread(state, node, resident)


@kernel
def wait_by(state: State, use: int, at: int) -> int:
    """The wait for a file that is in memory since this use or before; FAR if the use is no help."""
    end, loaded = state.jobs[Use.END, use], state.jobs[Use.LOADED, use]
    if loaded <= min(at, end):
        return 0
    return int(loaded - at) if at < loaded and at < end else FAR


@kernel
def sort_plan(state: State, job: int, node: int) -> None:
    """Move a plan from the head of its node's chain to its place in time, the latest first."""
    m = state.memory
    jobs = state.jobs
    begin, before, after = jobs[Use.BEGIN, job], NIL, jobs[Use.NODE_NEXT, job]
    while after != NIL and (
        jobs[Use.BEGIN, after] > begin or (jobs[Use.BEGIN, after] == begin and after > job)
    ):  # fmt: skip
        before, after = after, jobs[Use.NODE_NEXT, after]
    if before != NIL:
        m.nodes[Node.PLANS, node] = jobs[Use.NODE_NEXT, job]
        jobs[Use.NODE_PREVIOUS, jobs[Use.NODE_NEXT, job]] = NIL
        jobs[Use.NODE_NEXT, before] = job
        jobs[Use.NODE_PREVIOUS, job] = before
        jobs[Use.NODE_NEXT, job] = after
        if after != NIL:
            jobs[Use.NODE_PREVIOUS, after] = job
    if after == NIL:
        m.nodes[Node.FIRST_PLAN, node] = job


@kernel
def begin_replay(state: State, node: int, file: int, at: int) -> int:
    """Replay the uses that are settled, up to their ends; how long a job then waits for its file."""
    m, jobs = state.memory, state.jobs
    wait = FAR
    resident = m.nodes[Node.RESIDENT, node]
    while resident != NIL:
        jobs[Use.REPLAY_LAST, resident] = jobs[Use.RESIDENT_LAST, resident]
        jobs[Use.REPLAY_GOOD, resident] = jobs[Use.RESIDENT_GOOD, resident]
        jobs[Use.REPLAY_NEXT, resident] = jobs[Use.RESIDENT_NEXT, resident]
        if jobs[Use.FILE, resident] == file and jobs[Use.RESIDENT_GOOD, resident] == 1:
            wait = 0
        resident = jobs[Use.RESIDENT_NEXT, resident]
    m.nodes[Node.REPLAY, node] = m.nodes[Node.RESIDENT, node]
    use = m.nodes[Node.USES, node]
    while use != NIL:
        if jobs[Use.FILE, use] >= 0 and jobs[Use.SETTLED_USE, use] == 1 and is_running(state, use):
            resident = resident_of(state, node, Node.REPLAY, Use.REPLAY_NEXT, jobs[Use.FILE, use])
            note_end(state, resident, use, Use.REPLAY_LAST, Use.REPLAY_GOOD)
            if jobs[Use.FILE, use] == file:
                wait = min(wait, wait_by(state, use, at))
        use = jobs[Use.NODE_NEXT, use]
    return int(wait)


@kernel
def drop_unread(state: State, node: int, at: int) -> None:
    """Files of which no load was finished go out of the replayed memory when their last use is over."""
    jobs = state.jobs
    resident = state.memory.nodes[Node.REPLAY, node]
    while resident != NIL:
        if jobs[Use.REPLAY_GOOD, resident] == 0 and jobs[Use.REPLAY_LAST, resident] <= at:
            take_out(state, node, Node.REPLAY, Use.REPLAY_NEXT, resident)
        resident = jobs[Use.REPLAY_NEXT, resident]


@routine
def replay_use(state: State, node: int, use: int, file: int, at: int, wait: int) -> int:
    """Replay one more use; how long a job waits for its file behind it, where that was ``wait``."""
    jobs = state.jobs
    own, begin = jobs[Use.FILE, use], jobs[Use.BEGIN, use]
    if own < 0:
        return wait
    drop_unread(state, node, begin)
    mine = resident_of(state, node, Node.REPLAY, Use.REPLAY_NEXT, own)
    if mine == NIL:
        mine = use
        jobs[Use.REPLAY_LAST, use] = jobs[Use.REPLAY_GOOD, use] = 0
        put_last(state, node, Node.REPLAY, Use.REPLAY_NEXT, use)
    note_end(state, mine, use, Use.REPLAY_LAST, Use.REPLAY_GOOD)
    if own == file:
        wait = min(wait, wait_by(state, use, at))
    while True:
        gone = overflowing(state, node, Node.REPLAY, Use.REPLAY_NEXT, Use.REPLAY_LAST, mine, begin)
        if gone == NIL:
            return int(wait)
        take_out(state, node, Node.REPLAY, Use.REPLAY_NEXT, gone)
        if jobs[Use.FILE, gone] == file:
            wait = FAR


@routine
def replayed_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    m = state.memory
    wait = begin_replay(state, node, file, at)
    for run in range(m.notes[Note.SETTLED], state.clock[Clock.RUNS]):
        if state.runs[Run.POOL, run] == node:
            wait = replay_use(state, node, state.runs[Run.JOB, run], file, at, wait)
    plan = m.nodes[Node.FIRST_PLAN, node] if planned and m.nodes[Node.PLANS, node] != NIL else NIL
    while plan != NIL and state.jobs[Use.BEGIN, plan] <= at:
        wait = replay_use(state, node, plan, file, at, wait)
        plan = state.jobs[Use.NODE_PREVIOUS, plan]
    return int(wait)
