"""Files that stay on a node until its memory overflows: those without a user go, longest unused first.

What is in a node's memory follows from the uses that began before this instant; the uses of this instant
and the planned ones are replayed on top of it whenever somebody asks. A file in memory is known by the use
that brought it in; files stand in the order in which they came. One of which no load was ever finished is no
longer there when its last user has ended.
"""

from __future__ import annotations

from headway.engine.tables import Clock, Run, State
from headway.jit import kernel, routine
from headway.policies.nodes.tables import FAR, NIL, File, Node, Note, Use


@kernel
def is_running(state: State, use: int) -> bool:
    """Whether a real use has not ended, or only at this instant, which is looked at later."""
    return bool(state.jobs[Use.ALIVE, use] == 1)


@kernel
def resident_of(state: State, head: int, following: int, file: int) -> int:
    """The use that brought a file into a chain of residents."""
    resident = head
    while resident != NIL and state.jobs[Use.FILE, resident] != file:
        resident = state.jobs[following, resident]
    return int(resident)


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
    m = state.memory
    jobs = state.jobs
    if jobs[Use.RESIDENT_GOOD, resident] == 1 or in_use(state, node, jobs[Use.FILE, resident]):
        return
    before = m.nodes[Node.RESIDENT, node]
    if before == resident:
        m.nodes[Node.RESIDENT, node] = jobs[Use.RESIDENT_NEXT, resident]
    else:
        while jobs[Use.RESIDENT_NEXT, before] != resident:
            before = jobs[Use.RESIDENT_NEXT, before]
        jobs[Use.RESIDENT_NEXT, before] = jobs[Use.RESIDENT_NEXT, resident]
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
    head = m.nodes[Node.RESIDENT, node]
    mine = resident_of(state, head, Use.RESIDENT_NEXT, file)
    if mine == NIL:
        mine = use
        jobs[Use.RESIDENT_LAST, use] = jobs[Use.BEGIN, use]
        jobs[Use.RESIDENT_GOOD, use] = 0
        jobs[Use.RESIDENT_NEXT, use] = NIL
        jobs[Use.RESIDENT_ELSEWHERE, use] = m.files[File.RESIDENT, file]
        m.files[File.RESIDENT, file] = use
        if head == NIL:
            m.nodes[Node.RESIDENT, node] = use
        else:
            while jobs[Use.RESIDENT_NEXT, head] != NIL:
                head = jobs[Use.RESIDENT_NEXT, head]
            jobs[Use.RESIDENT_NEXT, head] = use
    if not is_running(state, use):
        note_end(state, mine, use, Use.RESIDENT_LAST, Use.RESIDENT_GOOD)
    while True:
        total = 0
        before, oldest, before_oldest = NIL, NIL, NIL
        resident = m.nodes[Node.RESIDENT, node]
        while resident != NIL:
            other = jobs[Use.FILE, resident]
            total += m.files[File.SIZE, other]
            if (
                resident != mine
                and jobs[Use.RESIDENT_LAST, resident] <= jobs[Use.BEGIN, use]
                and (oldest == NIL or jobs[Use.RESIDENT_LAST, resident] < jobs[Use.RESIDENT_LAST, oldest])
                and not in_use(state, node, other)
            ):
                oldest, before_oldest = resident, before
            before = resident
            resident = jobs[Use.RESIDENT_NEXT, resident]
        if total <= m.nodes[Node.MEMORY, node] or oldest == NIL:
            break
        if before_oldest == NIL:
            m.nodes[Node.RESIDENT, node] = jobs[Use.RESIDENT_NEXT, oldest]
        else:
            jobs[Use.RESIDENT_NEXT, before_oldest] = jobs[Use.RESIDENT_NEXT, oldest]
        leave_file(state, oldest)
    if not is_running(state, use):
        forget_unread(state, node, mine)


@kernel
def end_use(state: State, t: int, use: int) -> None:
    """A use ends now; one of this very instant is settled later."""
    m = state.memory
    if state.jobs[Use.FILE, use] >= 0 and state.jobs[Use.SETTLED_USE, use] == 1:
        node = state.jobs[Use.ON, use]
        resident = resident_of(
            state, m.nodes[Node.RESIDENT, node], Use.RESIDENT_NEXT, state.jobs[Use.FILE, use]
        )
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


@routine
def replayed_wait(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job waits for its file there and then; FAR if it has to load it itself."""
    m = state.memory
    jobs = state.jobs
    wait = FAR
    total, head, tail = 0, NIL, NIL
    resident = m.nodes[Node.RESIDENT, node]
    while resident != NIL:
        jobs[Use.REPLAY_LAST, resident] = jobs[Use.RESIDENT_LAST, resident]
        jobs[Use.REPLAY_GOOD, resident] = jobs[Use.RESIDENT_GOOD, resident]
        jobs[Use.REPLAY_NEXT, resident] = NIL
        if head == NIL:
            head = resident
        else:
            jobs[Use.REPLAY_NEXT, tail] = resident
        tail = resident
        total += m.files[File.SIZE, jobs[Use.FILE, resident]]
        if jobs[Use.FILE, resident] == file and jobs[Use.RESIDENT_GOOD, resident] == 1:
            wait = 0
        resident = jobs[Use.RESIDENT_NEXT, resident]
    use = m.nodes[Node.USES, node]
    while use != NIL:
        if jobs[Use.FILE, use] >= 0 and jobs[Use.SETTLED_USE, use] == 1 and is_running(state, use):
            resident = resident_of(state, head, Use.REPLAY_NEXT, jobs[Use.FILE, use])
            note_end(state, resident, use, Use.REPLAY_LAST, Use.REPLAY_GOOD)
            if jobs[Use.FILE, use] == file:
                wait = min(wait, wait_by(state, use, at))
        use = jobs[Use.NODE_NEXT, use]
    run = m.notes[Note.SETTLED]
    plan = m.nodes[Node.FIRST_PLAN, node] if planned and m.nodes[Node.PLANS, node] != NIL else NIL
    while True:
        if run < state.clock[Clock.RUNS]:
            use = state.runs[Run.JOB, run]
            here = state.runs[Run.POOL, run] == node and jobs[Use.FILE, use] >= 0
            run += 1
            if not here:
                continue
        else:
            if plan == NIL or jobs[Use.BEGIN, plan] > at:
                break
            use = plan
            plan = jobs[Use.NODE_PREVIOUS, plan]
            if jobs[Use.FILE, use] < 0:
                continue
        # Files that were never read to the end go, the use comes in, and others may go.
        before, resident = NIL, head
        while resident != NIL:
            following = jobs[Use.REPLAY_NEXT, resident]
            if (
                jobs[Use.REPLAY_GOOD, resident] == 1
                or jobs[Use.REPLAY_LAST, resident] > jobs[Use.BEGIN, use]
            ):  # fmt: skip
                before = resident
            else:
                total -= m.files[File.SIZE, jobs[Use.FILE, resident]]
                if before == NIL:
                    head = following
                else:
                    jobs[Use.REPLAY_NEXT, before] = following
            resident = following
        mine = resident_of(state, head, Use.REPLAY_NEXT, jobs[Use.FILE, use])
        if mine == NIL:
            mine = use
            jobs[Use.REPLAY_NEXT, use] = NIL
            jobs[Use.REPLAY_LAST, use] = jobs[Use.REPLAY_GOOD, use] = 0
            if head == NIL:
                head = use
            else:
                tail = head
                while jobs[Use.REPLAY_NEXT, tail] != NIL:
                    tail = jobs[Use.REPLAY_NEXT, tail]
                jobs[Use.REPLAY_NEXT, tail] = use
            total += m.files[File.SIZE, jobs[Use.FILE, use]]
        note_end(state, mine, use, Use.REPLAY_LAST, Use.REPLAY_GOOD)
        if jobs[Use.FILE, use] == file:
            wait = min(wait, wait_by(state, use, at))
        while total > m.nodes[Node.MEMORY, node]:
            before, oldest, before_oldest = NIL, NIL, NIL
            resident = head
            while resident != NIL:
                last = jobs[Use.REPLAY_LAST, resident]
                if (
                    resident != mine
                    and last <= jobs[Use.BEGIN, use]
                    and (oldest == NIL or last < jobs[Use.REPLAY_LAST, oldest])
                ):
                    oldest, before_oldest = resident, before
                before = resident
                resident = jobs[Use.REPLAY_NEXT, resident]
            if oldest == NIL:
                break
            if before_oldest == NIL:
                head = jobs[Use.REPLAY_NEXT, oldest]
            else:
                jobs[Use.REPLAY_NEXT, before_oldest] = jobs[Use.REPLAY_NEXT, oldest]
            total -= m.files[File.SIZE, jobs[Use.FILE, oldest]]
            if jobs[Use.FILE, oldest] == file:
                wait = FAR
    return int(wait)
