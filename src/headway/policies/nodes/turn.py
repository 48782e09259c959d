"""What the node policies do in every turn: note what ended, start jobs with their files, plan others."""

from __future__ import annotations

from headway.engine.queue import enter
from headway.engine.tables import State
from headway.engine.verbs import start_late
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import free_cores, hold_cores, plan_cores, put_back
from headway.policies.nodes.lru import end_use, replayed_wait, settle_use, sort_plan
from headway.policies.nodes.tables import (
    FAR,
    LRU,
    NIL,
    UNTIL_NEXT_START,
    Files,
    Nodes,
    Uses,
    load_time,
)
from headway.policies.nodes.uses import link, linked_wait, unlink
from headway.policies.nodes.windows import book


@kernel
def wait_for_file(state: State, node: int, file: int, at: int, planned: bool) -> int:
    """How long a job that starts at ``at`` waits for its file; FAR if it has to load it itself."""
    m = state.memory
    if m.rules.presence == LRU:
        return replayed_wait(state, node, file, at, planned)
    return linked_wait(state, node, file, at, planned)


@kernel
def forget_before(state: State, node: int, start: int) -> None:
    """A start on the node makes the files that nobody uses any more invalid, but for its own."""
    jobs = Uses(state.jobs)
    m = state.memory
    only = m.nodes.last_file[node]
    use = m.nodes.uses[node]
    while use != NIL:
        following = jobs.node_next[use]
        end, file = jobs.end[use], jobs.file[use]
        if end < start or (end == start and (file < 0 or file != only)):
            unlink(state, use)
        use = following


@kernel
def new_instant(state: State, t: int) -> None:
    """Time has moved: settle what the last instant left open."""
    m = state.memory
    presence = m.rules.presence
    for run in range(m.notes.settled, state.clock.runs):
        if presence == LRU:
            settle_use(state, state.runs.job[run])
        elif presence == UNTIL_NEXT_START:
            forget_before(state, state.runs.pool[run], state.runs.start[run])
    m.notes.settled = state.clock.runs
    if presence != UNTIL_NEXT_START:
        use = m.notes.ended_now
        while use != NIL:
            unlink(state, use)
            use = Uses(state.jobs).ended_next[use]
    m.notes.ended_now = NIL
    m.notes.instant = t


@kernel
def count_busy(state: State, node: int, change: int) -> None:
    """One running job more or less on a node."""
    m = state.memory
    before = m.nodes.busy[node]
    m.nodes.busy[node] = before + change
    if before == 0:
        m.notes.busy_nodes += 1
    elif before + change == 0:
        m.notes.busy_nodes -= 1


@routine
def open_turn(state: State, t: int) -> None:
    """Jobs that ended leave their cores, and newcomers join the queue."""
    jobs = Uses(state.jobs)
    m = state.memory
    if m.notes.instant != t:
        new_instant(state, t)
    for place in range(state.clock.ended):
        run = state.lists.ended_runs[place]
        job, node = state.runs.job[run], state.runs.pool[run]
        free_cores(state, node, jobs.procs[job], state.runs.expected[run])
        put_back(state, t, node)
        count_busy(state, node, -1)
        jobs.end[job] = t
        jobs.alive[job] = 0
        jobs.ended_next[job] = m.notes.ended_now
        m.notes.ended_now = job
        if m.rules.presence == LRU:
            end_use(state, t, job)
    for job in range(state.clock.first_new, state.clock.last_new):
        enter(state, 0, job, jobs.key[job])


@routine
def start_on(state: State, t: int, node: int, job: int, why: int) -> None:
    """Start a job on a node that has the cores; it loads its file unless that is there or coming."""
    m = state.memory
    jobs = state.jobs
    file, procs = Uses(jobs).file[job], jobs.procs[job]
    wait = 0
    if file >= 0:
        wait = wait_for_file(state, node, file, t, False)
        Uses(jobs).own_load[job] = wait == FAR
        if wait == FAR:
            wait = load_time(state, node, file)
            m.notes.loads += 1
        else:
            m.notes.reuses += 1
    m.notes.wait_sum += t - jobs.submit[job]
    m.notes.wait_count += 1
    end = t + jobs.wall[job]
    if not start_late(state, job, node, why, wait, jobs.wall[job]):
        return
    Uses(jobs).begin[job], Uses(jobs).loaded[job], Uses(jobs).end[job] = t, t + wait, end
    Uses(jobs).alive[job] = 1
    link(state, job, node, Nodes["uses"], Files["uses"])
    hold_cores(state, node, procs, end)
    count_busy(state, node, 1)
    if m.nodes.last_start[node] < t:
        m.nodes.start_before[node] = m.nodes.last_start[node]
        m.nodes.file_before[node] = m.nodes.last_file[node]
        m.nodes.last_start[node], m.nodes.last_file[node] = t, file
    elif m.nodes.last_file[node] != file:
        m.nodes.last_file[node] = NIL
    take(state, t, node, job, t, False)


@kernel
def take(state: State, t: int, node: int, job: int, at: int, planned: bool) -> None:
    """Hold the job's cores in the plan of this pass."""
    m = state.memory
    procs, end = state.jobs.procs[job], at + state.jobs.wall[job]
    if m.rules.backfill == 0 or not (planned or m.nodes.points[node] != NIL):
        plan_cores(state, t, node, procs, end)
    else:
        book(state, t, node, job, procs, at, end)


@kernel
def plan_on(state: State, t: int, node: int, job: int, at: int, wait: int) -> None:
    """Remember for the rest of this pass that the job is to run there."""
    m = state.memory
    jobs = state.jobs
    Uses(jobs).begin[job], Uses(jobs).loaded[job], Uses(jobs).end[job] = at, at + wait, at + jobs.wall[job]
    link(state, job, node, Nodes["plans"], Files["plans"])
    if m.rules.presence == LRU:
        sort_plan(state, job, node)
    Uses(jobs).pass_next[job] = m.notes.plans
    m.notes.plans = job
    take(state, t, node, job, at, True)


@kernel
def close_pass(state: State, t: int) -> None:
    """Forget the plans of this pass."""
    jobs = Uses(state.jobs)
    m = state.memory
    job = m.notes.plans
    while job != NIL:
        node = jobs.on[job]
        if m.nodes.plans[node] != NIL:
            m.nodes.plans[node] = NIL
            m.nodes.points[node] = NIL
            put_back(state, t, node)
        if jobs.file[job] >= 0:
            m.files.plans[jobs.file[job]] = NIL
        job = jobs.pass_next[job]
    m.notes.plans = NIL
