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
from headway.policies.nodes.layout import (
    ALIVE,
    BACKFILL,
    BEGIN,
    BUSY_NODES,
    END,
    ENDED_NEXT,
    ENDED_NOW,
    FAR,
    FILE,
    INSTANT,
    LOADED,
    LOADS,
    LRU,
    NIL,
    NODE_NEXT,
    ON,
    OWN_LOAD,
    PASS_NEXT,
    PLANS,
    PRESENCE,
    REUSES,
    SETTLED,
    T_BUSY,
    T_FILE_PLANS,
    T_FILE_USES,
    T_LAST_START,
    T_PLANS,
    T_POINT_HEAD,
    T_START_BEFORE,
    T_USES,
    UNTIL_NEXT_START,
    WAIT_COUNT,
    WAIT_SUM,
    cell,
    load_time,
    note,
    put,
)
from headway.policies.nodes.lru import end_use, replayed_wait, settle_use, sort_plan
from headway.policies.nodes.uses import link, linked_wait, unlink
from headway.policies.nodes.windows import book


@kernel
def wait_for_file(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job that starts at ``at`` waits for its file; FAR if it has to load it itself."""
    if note(state, PRESENCE) == LRU:
        return replayed_wait(state, node, file, at, planned)
    return linked_wait(state, node, file, at, planned)


@kernel
def forget_before(state: State, node: int, start: int) -> None:
    """A start on the node makes the files that nobody uses any more invalid."""
    use = cell(state, T_USES, node)
    while use != NIL:
        following = state.jobs[NODE_NEXT, use]
        if state.jobs[END, use] <= start:
            unlink(state, use)
        use = following


@kernel
def new_instant(state: State, t: int) -> None:
    """Time has moved: settle what the last instant left open."""
    presence = note(state, PRESENCE)
    for run in range(note(state, SETTLED), state.clock[RUNS]):
        if presence == LRU:
            settle_use(state, state.runs[R_JOB, run])
        elif presence == UNTIL_NEXT_START:
            forget_before(state, state.runs[R_POOL, run], state.runs[R_START, run])
    state.options[SETTLED] = state.clock[RUNS]
    if presence != UNTIL_NEXT_START:
        use = note(state, ENDED_NOW)
        while use != NIL:
            unlink(state, use)
            use = state.jobs[ENDED_NEXT, use]
    state.options[ENDED_NOW] = NIL
    state.options[INSTANT] = t


@kernel
def count_busy(state: State, node: int, change: int) -> None:
    """One running job more or less on a node."""
    before = cell(state, T_BUSY, node)
    put(state, T_BUSY, node, before + change)
    if before == 0:
        state.options[BUSY_NODES] += 1
    elif before + change == 0:
        state.options[BUSY_NODES] -= 1


@routine
def open_turn(state: State, t: int) -> None:
    """Jobs that ended leave their cores, and newcomers join the queue."""
    if note(state, INSTANT) != t:
        new_instant(state, t)
    for place in range(state.clock[ENDED]):
        run = state.lists[ENDED_RUNS, place]
        job, node = state.runs[R_JOB, run], state.runs[R_POOL, run]
        free_cores(state, node, state.jobs[PROCS, job], state.runs[R_EXPECTED, run])
        put_back(state, t, node)
        count_busy(state, node, -1)
        state.jobs[END, job] = t
        state.jobs[ALIVE, job] = 0
        state.jobs[ENDED_NEXT, job] = note(state, ENDED_NOW)
        state.options[ENDED_NOW] = job
        if note(state, PRESENCE) == LRU:
            end_use(state, t, job)
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        enter(state, 0, job, state.jobs[KEY, job])


@routine
def start_on(state: State, t: int, node: int, job: int, why: int) -> None:
    """Start a job on a node that has the cores; it loads its file unless that is there or coming."""
    jobs = state.jobs
    file, procs = jobs[FILE, job], jobs[PROCS, job]
    wait = 0
    if file >= 0:
        wait = wait_for_file(state, node, file, t, False)
        jobs[OWN_LOAD, job] = wait == FAR
        if wait == FAR:
            wait = load_time(state, node, file)
            state.options[LOADS] += 1
        else:
            state.options[REUSES] += 1
    state.options[WAIT_SUM] += t - jobs[SUBMIT, job]
    state.options[WAIT_COUNT] += 1
    end = t + jobs[WALL, job]
    if not start_late(state, job, node, why, wait, jobs[WALL, job]):
        return
    jobs[BEGIN, job], jobs[LOADED, job], jobs[END, job] = t, t + wait, end
    jobs[ALIVE, job] = 1
    link(state, job, node, T_USES, T_FILE_USES)
    hold_cores(state, node, procs, end)
    count_busy(state, node, 1)
    if cell(state, T_LAST_START, node) < t:
        put(state, T_START_BEFORE, node, cell(state, T_LAST_START, node))
        put(state, T_LAST_START, node, t)
    take(state, t, node, job, t, False)


@kernel
def take(state: State, t: int, node: int, job: int, at: int, planned: bool) -> None:
    """Hold the job's cores in the plan of this pass."""
    procs, end = state.jobs[PROCS, job], at + state.jobs[WALL, job]
    if note(state, BACKFILL) == 0 or not (planned or cell(state, T_POINT_HEAD, node) != NIL):
        plan_cores(state, t, node, procs, end)
    else:
        book(state, t, node, job, procs, at, end)


@kernel
def plan_on(state: State, t: int, node: int, job: int, at: int, wait: int) -> None:
    """Remember for the rest of this pass that the job is to run there."""
    jobs = state.jobs
    jobs[BEGIN, job], jobs[LOADED, job], jobs[END, job] = at, at + wait, at + jobs[WALL, job]
    link(state, job, node, T_PLANS, T_FILE_PLANS)
    if note(state, PRESENCE) == LRU:
        sort_plan(state, job, node)
    jobs[PASS_NEXT, job] = note(state, PLANS)
    state.options[PLANS] = job
    take(state, t, node, job, at, True)


@kernel
def close_pass(state: State, t: int) -> None:
    """Forget the plans of this pass."""
    job = note(state, PLANS)
    while job != NIL:
        node = state.jobs[ON, job]
        if cell(state, T_PLANS, node) != NIL:
            put(state, T_PLANS, node, NIL)
            put(state, T_POINT_HEAD, node, NIL)
            put_back(state, t, node)
        if state.jobs[FILE, job] >= 0:
            put(state, T_FILE_PLANS, state.jobs[FILE, job], NIL)
        job = state.jobs[PASS_NEXT, job]
    state.options[PLANS] = NIL
