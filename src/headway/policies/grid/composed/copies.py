"""A copy of a cluster that runs on alone: when is a job completed if nothing else comes?

In the copy every job lasts as long as was requested; how long it really runs only the engine knows. The
answer is a fact for policies whose jobs start as planned, and an estimate for all others.

Copies are made again and again, so each holds what it had, and only that is copied which may have changed in
the cluster or in the copy: the columns of jobs and runs that were not over at the last copy and those that
have come since, and of queues, heaps and profiles the part that is in use.

A copy is run on no further than it must: a job that runs is completed when its walltime says, unless the
policy may stop it, and where only a completion before ``cutoff`` matters, a job that has not started so late
that it cannot be completed before that is left alone.
"""

from __future__ import annotations

from headway.engine.clock import crowded, needed, step
from headway.engine.heap import push
from headway.engine.local import JOIN
from headway.engine.profile import BLOCK, BLOCK_ROWS, BLOCKS_USED, COUNTS, HALF, STEP_ROWS
from headway.engine.side_by_side import arrive_now, nobody_follows
from headway.engine.stretch import stretched
from headway.engine.tables import (
    OPEN,
    POOL_LISTS,
    Q_FIELDS,
    Fault,
    Lists,
    Phase,
    State,
    Step,
    Table,
    World,
)
from headway.jit.kernels import kernel, routine
from headway.policies.grid.composed.sites import (
    LARGER,
    MAIN,
    TRIAL,
    WORDS,
    Fact,
    Logged,
    Register,
    Tables,
    ask_for,
    copy_words,
    go_wrong,
    is_wrong,
    register_of,
    request,
    state_of,
    turn,
    world_of,
)
from headway.units import NEVER


@kernel
def times_of(logged: int, by: int, over: int) -> int:
    """A time of the log (µs) as it is on a cluster, rounded up to the next microsecond."""
    return logged if by == over else stretched(logged, by, over)


@kernel
def is_here(phase: int) -> bool:
    """Whether a job in a phase waits, runs or is suspended."""
    return bool(phase in (Phase.WAITING, Phase.RUNNING, Phase.SUSPENDED))


@routine
def join_column(
    grid: Tables,
    k: int,
    which: int,
    state: State,
    register: Register,
    job: int,
    procs: int,
    by: int,
    over: int,
) -> int:
    """Write a newcomer with its size and times here into the next column of a table of jobs; the column.

    ``state`` is the simulation of cluster ``k``, or the copy ``which``.
    """
    column = state.clock.last_new
    lists, rows = register.lists, state.jobs.shape[0]
    first = lists[0] if len(lists) > 0 else rows
    for row in range(first):
        state.jobs[row, column] = register.prepared[job, row]
    for row in range(first + len(lists), rows):
        state.jobs[row, column] = register.prepared[job, row]
    if by != over:
        for i in range(len(register.times)):
            row = register.times[i]
            state.jobs[row, column] = stretched(register.prepared[job, row], by, over)
    arrive_now(state, procs)
    if register.facts[Fact.LOOKS_AT_NEWCOMERS]:
        request(grid, k, which, state.clock.now, column, JOIN)
    return int(column)


# ---- copying --------------------------------------------------------------------------------------------


@kernel
def live_columns(source: State, register: Register, which: int) -> int:
    """Put the columns that may have changed since the last copy on the list of a copy; how many."""
    facts, live, row = register.facts, register.live, which - TRIAL
    last, count = source.clock.last_new, 0
    for i in range(facts[Fact.LIVE_COLUMNS + row]):
        column = live[row, i]
        if column < last:
            live[row, count] = column
            count += 1
    for column in range(facts[Fact.SEEN_COLUMNS + row], last):
        live[row, count] = column
        count += 1
    facts[Fact.SEEN_COLUMNS + row] = last
    return count


@kernel
def live_runs(source: State, register: Register, which: int) -> int:
    """The same for runs."""
    facts, live, row = register.facts, register.live, which - TRIAL
    count = facts[Fact.LIVE_RUNS + row]
    for run in range(facts[Fact.SEEN_RUNS + row], source.clock.runs):
        live[2 + row, count] = run
        count += 1
    facts[Fact.SEEN_RUNS + row] = source.clock.runs
    return int(count)


@kernel
def copy_columns(source: State, target: State, world: World, register: Register, which: int) -> None:
    """Copy the jobs that may have changed, and keep those on the list that are not over."""
    facts, live, row = register.facts, register.live, which - TRIAL
    count = live_columns(source, register, which)
    for line in range(source.jobs.shape[0]):
        for i in range(count):
            target.jobs[line, live[row, i]] = source.jobs[line, live[row, i]]
    kept = 0
    for i in range(count):
        column = live[row, i]
        world.runtime[column] = register.requested[column]
        if is_here(source.jobs.phase[column]):
            live[row, kept] = column
            kept += 1
    facts[Fact.LIVE_COLUMNS + row] = kept
    last = source.clock.last_new
    if last < target.jobs.shape[1]:
        target.jobs.submit[last] = NEVER
    length = (
        facts[Fact.LISTED]
        if facts[Fact.NUMBERED_BY] >= 0
        else source.clock.runs_now + source.clock.suspends + source.clock.ended
    )  # what has just ended is on the lists until the policy's turn
    for i in range(len(register.lists)):
        line = register.lists[i]
        for place in range(length):
            target.jobs[line, place] = source.jobs[line, place]


@kernel
def copy_runs(source: State, target: State, register: Register, which: int) -> None:
    """Copy the runs that may have changed, and keep those on the list that are not over."""
    facts, live, row = register.facts, register.live, which - TRIAL + 2
    count = live_runs(source, register, which)
    for line in range(source.runs.shape[0]):
        for i in range(count):
            target.runs[line, live[row, i]] = source.runs[line, live[row, i]]
    kept = 0
    for i in range(count):
        if source.runs.end[live[row, i]] == OPEN:
            live[row, kept] = live[row, i]
            kept += 1
    facts[Fact.LIVE_RUNS + row - 2] = kept


@kernel
def copy_row(source: Table, target: Table, row: int, begin: int, end: int) -> None:
    """Copy a part of a row."""
    for place in range(begin, end):
        target[row, place] = source[row, place]


@kernel
def copy_queues(source: State, target: State) -> None:
    """Copy the queues and lists of each pool as far as they are in use; summaries are made again."""
    pools = source.queue.shape[0] // (2 * Q_FIELDS)
    upto = 0
    for q in range(2 * pools):
        target.pools.summed[q] = 0
        upto = max(upto, source.pools.tail[q])
        head, tail = source.pools.head[q], source.pools.tail[q]
        for row in range(Q_FIELDS * q, Q_FIELDS * (q + 1)):
            copy_row(source.queue.table, target.queue.table, row, head, tail)
    for place in range(upto):
        target.keys[place] = source.keys[place]
    copy_row(source.lists.table, target.lists.table, Lists["ended_runs"], 0, source.clock.ended)
    copy_row(source.lists.table, target.lists.table, Lists["outlive_time"], 0, source.clock.outlives)
    copy_row(source.lists.table, target.lists.table, Lists["outlive_run"], 0, source.clock.outlives)
    for k in range(pools):
        copy_row(
            source.lists.table,
            target.lists.table,
            Lists["due"] + POOL_LISTS * k,
            0,
            source.pools.due_count[k],
        )
        copy_row(
            source.lists.table,
            target.lists.table,
            Lists["due_job"] + POOL_LISTS * k,
            0,
            source.pools.due_count[k],
        )
        copy_row(
            source.lists.table,
            target.lists.table,
            Lists["pins"] + POOL_LISTS * k,
            0,
            source.pools.pin_count[k],
        )


@kernel
def copy_profiles(source: State, target: State) -> None:
    """Copy the blocks that are in use of each pool."""
    old, new = source.profile, target.profile
    for k in range(source.queue.shape[0] // (2 * Q_FIELDS)):
        counts = BLOCK_ROWS * k + COUNTS
        used, half = old.blocks[counts, BLOCKS_USED], old.blocks[counts, HALF]
        for field in range(COUNTS):
            copy_row(old.blocks, new.blocks, BLOCK_ROWS * k + field, 0, used)
        new.blocks[counts, BLOCKS_USED], new.blocks[counts, HALF] = used, half
        here, there = half * (old.steps.shape[1] >> 1), half * (new.steps.shape[1] >> 1)
        for row in range(STEP_ROWS * k, STEP_ROWS * (k + 1)):
            for place in range(used * BLOCK):
                new.steps[row, there + place] = old.steps[row, here + place]


@routine
def copy_cluster(source: State, target: State, world: World, register: Register, which: int) -> None:
    """Let a copy be the cluster as it is."""
    room = target.clock.live_room
    for place in range(source.clock.shape[0]):
        target.clock[place] = source.clock[place]
    target.clock.live_room = room
    for row in range(source.pools.shape[0]):
        copy_row(source.pools.table, target.pools.table, row, 0, source.pools.shape[1])
    copy_queues(source, target)
    copy_profiles(source, target)
    for place in range(len(target.options)):
        target.options[place] = source.options[place]
    for i in range(register.memory.shape[0]):
        copy_words(register.memory[i, MAIN], register.memory[i, which], register.memory[i, WORDS])
    copy_columns(source, target, world, register, which)
    copy_runs(source, target, register, which)
    target.clock.fresh = source.clock.runs
    register.facts[Fact.HAS_ENDS + which - TRIAL] = 0


@kernel
def renew(grid: Tables, k: int, which: int, t: int) -> bool:
    """Let a copy be cluster ``k`` at ``t``, before the policy's turn, with space for one more job."""
    register = register_of(grid, k)
    register.facts[Fact.ESTIMATES] += 1
    copy_cluster(state_of(grid, k, MAIN), state_of(grid, k, which), world_of(grid, k, which), register, which)
    clock = state_of(grid, k, which).clock
    if not register.facts[Fact.IS_OPEN]:  # then nothing ends at t, or it would be open
        clock.now, clock.wake, clock.ended, clock.first_new = (
            t,
            NEVER,
            0,
            clock.last_new,
        )
    while crowded(state_of(grid, k, which), world_of(grid, k, which), 1):
        if not ask_for(grid, k, LARGER + which):
            return False
    return True


# ---- running on -----------------------------------------------------------------------------------------


@kernel
def know_ends(state: State, world: World, register: Register, which: int) -> None:
    """Foresee the ends of the runs that were there before the copy had its first turn."""
    facts, row, count = register.facts, which - TRIAL, 0
    for i in range(facts[Fact.LIVE_RUNS + row]):
        run = register.live[2 + row, i]
        if state.runs.end[run] == OPEN:
            job = state.runs.job[run]
            left = state.runs.lead[run] + register.requested[job] - state.jobs.kept[job]
            push(world.ends, 0, count, state.runs.start[run] + min(left, state.runs.limit[run]), run)
            count += 1
    world.size[0] = count
    facts[Fact.HAS_ENDS + row] = 1


@kernel
def take_turn(grid: Tables, k: int, which: int) -> bool:
    """The policy's turn in a copy; False if it did what it may not."""
    state = state_of(grid, k, which)
    turn(grid, k, which, state.clock.now)
    if state.clock.fault != Fault.NONE:
        go_wrong(grid, k, which)
    return not is_wrong(grid)


@routine
def completion_in(grid: Tables, k: int, which: int, column: int, cutoff: int) -> int:
    """When the job of a column is completed in a copy, at least ``cutoff`` if not before that.

    NEVER if the policy does not run it.
    """
    register = register_of(grid, k)
    facts = register.facts
    state, world = state_of(grid, k, which), world_of(grid, k, which)
    least = 0 if facts[Fact.MAY_STOP] else min(world.runtime[column], state.jobs.wall[column])
    while True:
        phase = state.jobs.phase[column]
        if phase == Phase.DONE:
            return int(state.runs.end[state.jobs.run[column]])
        if phase == Phase.RUNNING and not facts[Fact.MAY_STOP]:
            run = state.jobs.run[column]
            return int(state.runs.start[run] + min(needed(state, world, run), state.runs.limit[run]))
        if phase == Phase.REFUSED or is_wrong(grid) or (which != TRIAL and facts[Fact.IS_OVER]):
            return NEVER
        if cutoff < NEVER and state.clock.now + least >= cutoff:
            return cutoff
        if not facts[Fact.HAS_ENDS + which - TRIAL]:
            know_ends(state, world, register, which)
        code = step(state, world)
        if code == Step.GROW:
            ask_for(grid, k, LARGER + which)
            state, world = state_of(grid, k, which), world_of(grid, k, which)
        elif code == Step.FINISH:
            if which == TRIAL:
                return NEVER
            facts[Fact.IS_OVER] = 1
        else:
            take_turn(grid, k, which)


@routine
def tried(grid: Tables, k: int, t: int, job: int, procs: int, by: int, over: int, cutoff: int) -> int:
    """When a job that is not on cluster ``k`` would be completed there if it were submitted now, at ``t``.

    On ``procs`` processors its times are the log's x ``by`` / ``over``. A completion from ``cutoff`` on need
    not be exact.
    """
    if not renew(grid, k, TRIAL, t):
        return NEVER
    register, state, world = register_of(grid, k), state_of(grid, k, TRIAL), world_of(grid, k, TRIAL)
    column = join_column(grid, k, TRIAL, state, register, job, procs, by, over)
    world.runtime[column] = times_of(grid.log[job, Logged.WALL], by, over)
    nobody_follows(state)
    if not take_turn(grid, k, TRIAL):
        return NEVER
    return completion_in(grid, k, TRIAL, column, cutoff)
