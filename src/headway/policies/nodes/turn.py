"""What the node policies do in every turn: note what ended, start jobs with their files, plan others."""

from __future__ import annotations

from headway.engine.queue import enter
from headway.engine.tables import (
    ENDED,
    ENDED_RUNS,
    FIRST_NEW,
    KEY,
    LAST_NEW,
    PROCS,
    R_EXPECTED,
    R_JOB,
    R_POOL,
    R_START,
    RUNS,
    SUBMIT,
    WALL,
    State,
)
from headway.engine.verbs import start_late
from headway.jit import kernel, routine
from headway.policies.nodes.cores import free_cores, hold_cores, plan_cores, put_back
from headway.policies.nodes.lru import end_use, replayed_wait, settle_use, sort_plan
from headway.policies.nodes.tables import (
    ALIVE,
    BEGIN,
    END,
    ENDED_NEXT,
    FAR,
    FILE,
    LOADED,
    LRU,
    NIL,
    NODE_NEXT,
    ON,
    OWN_LOAD,
    PASS_NEXT,
    UNTIL_NEXT_START,
    File,
    Node,
    Note,
    Rule,
    load_time,
)
from headway.policies.nodes.uses import link, linked_wait, unlink
from headway.policies.nodes.windows import book


@kernel
def wait_for_file(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job that starts at ``at`` waits for its file; FAR if it has to load it itself."""
    m = state.memory
    if m.rules[Rule.PRESENCE] == LRU:
        return replayed_wait(state, node, file, at, planned)
    return linked_wait(state, node, file, at, planned)


@kernel
def forget_before(state: State, node: int, start: int) -> None:
    """A start on the node makes the files that nobody uses any more invalid."""
    m = state.memory
    use = m.nodes[Node.USES, node]
    while use != NIL:
        following = state.jobs[NODE_NEXT, use]
        if state.jobs[END, use] <= start:
            unlink(state, use)
        use = following


@kernel
def new_instant(state: State, t: int) -> None:
    """Time has moved: settle what the last instant left open."""
    m = state.memory
    presence = m.rules[Rule.PRESENCE]
    for run in range(m.notes[Note.SETTLED], state.clock[RUNS]):
        if presence == LRU:
            settle_use(state, state.runs[R_JOB, run])
        elif presence == UNTIL_NEXT_START:
            forget_before(state, state.runs[R_POOL, run], state.runs[R_START, run])
    m.notes[Note.SETTLED] = state.clock[RUNS]
    if presence != UNTIL_NEXT_START:
        use = m.notes[Note.ENDED_NOW]
        while use != NIL:
            unlink(state, use)
            use = state.jobs[ENDED_NEXT, use]
    m.notes[Note.ENDED_NOW] = NIL
    m.notes[Note.INSTANT] = t


@kernel
def count_busy(state: State, node: int, change: int) -> None:
    """One running job more or less on a node."""
    m = state.memory
    before = m.nodes[Node.BUSY, node]
    m.nodes[Node.BUSY, node] = before + change
    if before == 0:
        m.notes[Note.BUSY_NODES] += 1
    elif before + change == 0:
        m.notes[Note.BUSY_NODES] -= 1


@routine
def open_turn(state: State, t: int) -> None:
    """Jobs that ended leave their cores, and newcomers join the queue."""
    m = state.memory
    if m.notes[Note.INSTANT] != t:
        new_instant(state, t)
    for place in range(state.clock[ENDED]):
        run = state.lists[ENDED_RUNS, place]
        job, node = state.runs[R_JOB, run], state.runs[R_POOL, run]
        free_cores(state, node, state.jobs[PROCS, job], state.runs[R_EXPECTED, run])
        put_back(state, t, node)
        count_busy(state, node, -1)
        state.jobs[END, job] = t
        state.jobs[ALIVE, job] = 0
        state.jobs[ENDED_NEXT, job] = m.notes[Note.ENDED_NOW]
        m.notes[Note.ENDED_NOW] = job
        if m.rules[Rule.PRESENCE] == LRU:
            end_use(state, t, job)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        enter(state, 0, job, state.jobs[KEY, job])


@routine
def start_on(state: State, t: int, node: int, job: int, why: int) -> None:
    """Start a job on a node that has the cores; it loads its file unless that is there or coming."""
    m = state.memory
    jobs = state.jobs
    file, procs = jobs[FILE, job], jobs[PROCS, job]
    wait = 0
    if file >= 0:
        wait = wait_for_file(state, node, file, t, False)
        jobs[OWN_LOAD, job] = wait == FAR
        if wait == FAR:
            wait = load_time(state, node, file)
            m.notes[Note.LOADS] += 1
        else:
            m.notes[Note.REUSES] += 1
    m.notes[Note.WAIT_SUM] += t - jobs[SUBMIT, job]
    m.notes[Note.WAIT_COUNT] += 1
    end = t + jobs[WALL, job]
    if not start_late(state, job, node, why, wait, jobs[WALL, job]):
        return
    jobs[BEGIN, job], jobs[LOADED, job], jobs[END, job] = t, t + wait, end
    jobs[ALIVE, job] = 1
    link(state, job, node, Node.USES, File.USES)
    hold_cores(state, node, procs, end)
    count_busy(state, node, 1)
    if m.nodes[Node.LAST_START, node] < t:
        m.nodes[Node.START_BEFORE, node] = m.nodes[Node.LAST_START, node]
        m.nodes[Node.LAST_START, node] = t
    take(state, t, node, job, t, False)


@kernel
def take(state: State, t: int, node: int, job: int, at: int, planned: bool) -> None:
    """Hold the job's cores in the plan of this pass."""
    m = state.memory
    procs, end = state.jobs[PROCS, job], at + state.jobs[WALL, job]
    if m.rules[Rule.BACKFILL] == 0 or not (planned or m.nodes[Node.POINTS, node] != NIL):
        plan_cores(state, t, node, procs, end)
    else:
        book(state, t, node, job, procs, at, end)


@kernel
def plan_on(state: State, t: int, node: int, job: int, at: int, wait: int) -> None:
    """Remember for the rest of this pass that the job is to run there."""
    m = state.memory
    jobs = state.jobs
    jobs[BEGIN, job], jobs[LOADED, job], jobs[END, job] = at, at + wait, at + jobs[WALL, job]
    link(state, job, node, Node.PLANS, File.PLANS)
    if m.rules[Rule.PRESENCE] == LRU:
        sort_plan(state, job, node)
    jobs[PASS_NEXT, job] = m.notes[Note.PLANS]
    m.notes[Note.PLANS] = job
    take(state, t, node, job, at, True)


@kernel
def close_pass(state: State, t: int) -> None:
    """Forget the plans of this pass."""
    m = state.memory
    job = m.notes[Note.PLANS]
    while job != NIL:
        node = state.jobs[ON, job]
        if m.nodes[Node.PLANS, node] != NIL:
            m.nodes[Node.PLANS, node] = NIL
            m.nodes[Node.POINTS, node] = NIL
            put_back(state, t, node)
        if state.jobs[FILE, job] >= 0:
            m.files[File.PLANS, state.jobs[FILE, job]] = NIL
        job = state.jobs[PASS_NEXT, job]
    m.notes[Note.PLANS] = NIL
