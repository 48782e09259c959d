"""What the node policies do in every turn: note what ended, start jobs with their files, plan others."""

from __future__ import annotations

from headway.engine.queue import enter
from headway.engine.tables import Clock, Job, List, Run, State
from headway.engine.verbs import start_late
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import free_cores, hold_cores, plan_cores, put_back
from headway.policies.nodes.lru import end_use, replayed_wait, settle_use, sort_plan
from headway.policies.nodes.tables import (
    FAR,
    LRU,
    NIL,
    UNTIL_NEXT_START,
    File,
    Node,
    Note,
    Rule,
    Use,
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
    """A start on the node makes the files that nobody uses any more invalid, but for its own."""
    m = state.memory
    only = m.nodes[Node.LAST_FILE, node]
    use = m.nodes[Node.USES, node]
    while use != NIL:
        following = state.jobs[Use.NODE_NEXT, use]
        end, file = state.jobs[Use.END, use], state.jobs[Use.FILE, use]
        if end < start or (end == start and (file < 0 or file != only)):
            unlink(state, use)
        use = following


@kernel
def new_instant(state: State, t: int) -> None:
    """Time has moved: settle what the last instant left open."""
    m = state.memory
    presence = m.rules[Rule.PRESENCE]
    for run in range(m.notes[Note.SETTLED], state.clock[Clock.RUNS]):
        if presence == LRU:
            settle_use(state, state.runs[Run.JOB, run])
        elif presence == UNTIL_NEXT_START:
            forget_before(state, state.runs[Run.POOL, run], state.runs[Run.START, run])
    m.notes[Note.SETTLED] = state.clock[Clock.RUNS]
    if presence != UNTIL_NEXT_START:
        use = m.notes[Note.ENDED_NOW]
        while use != NIL:
            unlink(state, use)
            use = state.jobs[Use.ENDED_NEXT, use]
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
    for place in range(state.clock[Clock.ENDED]):
        run = state.lists[List.ENDED_RUNS, place]
        job, node = state.runs[Run.JOB, run], state.runs[Run.POOL, run]
        free_cores(state, node, state.jobs[Job.PROCS, job], state.runs[Run.EXPECTED, run])
        put_back(state, t, node)
        count_busy(state, node, -1)
        state.jobs[Use.END, job] = t
        state.jobs[Use.ALIVE, job] = 0
        state.jobs[Use.ENDED_NEXT, job] = m.notes[Note.ENDED_NOW]
        m.notes[Note.ENDED_NOW] = job
        if m.rules[Rule.PRESENCE] == LRU:
            end_use(state, t, job)
    for job in range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW]):
        enter(state, 0, job, state.jobs[Job.KEY, job])


@routine
def start_on(state: State, t: int, node: int, job: int, why: int) -> None:
    """Start a job on a node that has the cores; it loads its file unless that is there or coming."""
    m = state.memory
    jobs = state.jobs
    file, procs = jobs[Use.FILE, job], jobs[Job.PROCS, job]
    wait = 0
    if file >= 0:
        wait = wait_for_file(state, node, file, t, False)
        jobs[Use.OWN_LOAD, job] = wait == FAR
        if wait == FAR:
            wait = load_time(state, node, file)
            m.notes[Note.LOADS] += 1
        else:
            m.notes[Note.REUSES] += 1
    m.notes[Note.WAIT_SUM] += t - jobs[Job.SUBMIT, job]
    m.notes[Note.WAIT_COUNT] += 1
    end = t + jobs[Job.WALL, job]
    if not start_late(state, job, node, why, wait, jobs[Job.WALL, job]):
        return
    jobs[Use.BEGIN, job], jobs[Use.LOADED, job], jobs[Use.END, job] = t, t + wait, end
    jobs[Use.ALIVE, job] = 1
    link(state, job, node, Node.USES, File.USES)
    hold_cores(state, node, procs, end)
    count_busy(state, node, 1)
    if m.nodes[Node.LAST_START, node] < t:
        m.nodes[Node.START_BEFORE, node] = m.nodes[Node.LAST_START, node]
        m.nodes[Node.FILE_BEFORE, node] = m.nodes[Node.LAST_FILE, node]
        m.nodes[Node.LAST_START, node], m.nodes[Node.LAST_FILE, node] = t, file
    elif m.nodes[Node.LAST_FILE, node] != file:
        m.nodes[Node.LAST_FILE, node] = NIL
    take(state, t, node, job, t, False)


@kernel
def take(state: State, t: int, node: int, job: int, at: int, planned: bool) -> None:
    """Hold the job's cores in the plan of this pass."""
    m = state.memory
    procs, end = state.jobs[Job.PROCS, job], at + state.jobs[Job.WALL, job]
    if m.rules[Rule.BACKFILL] == 0 or not (planned or m.nodes[Node.POINTS, node] != NIL):
        plan_cores(state, t, node, procs, end)
    else:
        book(state, t, node, job, procs, at, end)


@kernel
def plan_on(state: State, t: int, node: int, job: int, at: int, wait: int) -> None:
    """Remember for the rest of this pass that the job is to run there."""
    m = state.memory
    jobs = state.jobs
    jobs[Use.BEGIN, job], jobs[Use.LOADED, job], jobs[Use.END, job] = at, at + wait, at + jobs[Job.WALL, job]
    link(state, job, node, Node.PLANS, File.PLANS)
    if m.rules[Rule.PRESENCE] == LRU:
        sort_plan(state, job, node)
    jobs[Use.PASS_NEXT, job] = m.notes[Note.PLANS]
    m.notes[Note.PLANS] = job
    take(state, t, node, job, at, True)


@kernel
def close_pass(state: State, t: int) -> None:
    """Forget the plans of this pass."""
    m = state.memory
    job = m.notes[Note.PLANS]
    while job != NIL:
        node = state.jobs[Use.ON, job]
        if m.nodes[Node.PLANS, node] != NIL:
            m.nodes[Node.PLANS, node] = NIL
            m.nodes[Node.POINTS, node] = NIL
            put_back(state, t, node)
        if state.jobs[Use.FILE, job] >= 0:
            m.files[File.PLANS, state.jobs[Use.FILE, job]] = NIL
        job = state.jobs[Use.PASS_NEXT, job]
    m.notes[Note.PLANS] = NIL
