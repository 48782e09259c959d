"""The batch systems of the clusters as the simulator has them: every waiting job has a planned start.

Conservative backfilling keeps a reservation for each job. FCFS as a plan does so too, and no job starts
before the one ahead of it. EASY has no plan of its own, only an estimator's.

A task starts on a cluster when its data are there: at once on the cluster to which it was submitted first,
and on another one a transfer after it was moved.
"""

from __future__ import annotations

from headway.engine.holes import earliest
from headway.engine.planning import settle
from headway.engine.reservations import (
    NO_JOB,
    NOT_RESERVED,
    earliest_start,
    first_pin_in_the_way,
    give_up,
    reserve,
)
from headway.engine.tables import GONE, State
from headway.jit.kernels import kernel, routine
from headway.policies.backfilling.conservative import Compress, Rule, place_anew, sweep
from headway.policies.grid.estimator import earliest_planned, plan_again
from headway.policies.grid.molding import walltime_on
from headway.policies.grid.tables import ESTIMATED_EASY, NOWHERE, RESERVING_FCFS, Tasks
from headway.policies.queueing.ordering import option
from headway.units import NEVER


@kernel
def kind(state: State, k: int) -> int:
    """What the batch system of cluster ``k`` is."""
    return int(state.memory.servers.kind[k])


@kernel
def data_there(state: State, k: int, task: int) -> int:
    """When the data of a task are on cluster ``k``, if it is submitted there now."""
    jobs = Tasks(state.jobs)
    if jobs.data_at[task] == k:
        return int(max(jobs.ready[task], state.clock.now))
    wait = 0 if jobs.data_at[task] == NOWHERE else jobs.transfer[task]
    return int(state.clock.now + wait)


@routine
def last_start(state: State, k: int) -> int:
    """The reserved start of the last job in the queue of cluster ``k``, or 0."""
    q = 2 * k
    for place in range(state.pools.tail[2 * k] - 1, state.pools.head[2 * k] - 1, -1):
        if state.queue.procs[q, place] != GONE:
            return int(state.jobs.reserved[state.queue.job[q, place]])
    return 0


@kernel
def first_start(state: State, k: int, after: int, procs: int, length: int) -> int:
    """The earliest start from ``after`` on of a job that has no reservation in cluster ``k`` yet."""
    wanted = length + option(state, k, Rule.HOLE) if length > 0 else length
    begin = earliest(state.profile, k, after, procs, wanted)
    while state.pools.pin_count[k] > 0:
        after = first_pin_in_the_way(state, k, NO_JOB, procs, begin, length)
        if after == NEVER:
            break
        begin = earliest(state.profile, k, after, procs, wanted)
    return int(begin)


@routine
def completion(state: State, k: int, task: int, n: int) -> int:
    """When a task would be completed if it were submitted to cluster ``k`` now, on n processors."""
    state.memory.notes.estimates += 1
    length = walltime_on(state, k, task, n)
    if kind(state, k) == ESTIMATED_EASY:
        return earliest_planned(state, k, n, length) + length
    after = data_there(state, k, task)
    if kind(state, k) == RESERVING_FCFS:
        after = max(after, last_start(state, k))
    return first_start(state, k, after, n, length) + length


@routine
def line_up(state: State, k: int) -> None:
    """Place all waiting jobs of cluster ``k`` anew, each no earlier than the one ahead of it."""
    q = 2 * k
    after = state.clock.now
    for turn in range(2):
        for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
            if state.queue.procs[q, place] == GONE:
                continue
            job = state.queue.job[q, place]
            if turn == 0:
                give_up(state, k, job)
            else:
                after = max(after, data_there(state, k, job))
                after = first_start(state, k, after, state.jobs.procs[job], state.jobs.plan[job])
                reserve(state, k, job, after)


@routine
def move_up(state: State, k: int, anew: bool) -> bool:
    """Move each waiting job of cluster ``k``, in queue order, to its earliest start with its data there.

    Each alone, and only forward; or ``anew``, when all have given up their reservations first. Whether any
    moved. Without transfers ``conservative`` has quicker ways to the same.
    """
    q, moved = 2 * k, False
    for turn in range(2):
        for place in range(state.pools.head[2 * k], state.pools.tail[2 * k]):
            if state.queue.procs[q, place] == GONE:
                continue
            job = state.queue.job[q, place]
            if turn == 0:
                if anew:
                    give_up(state, k, job)
                continue
            limit = NEVER if anew else state.jobs.reserved[job]
            after, more = data_there(state, k, job), option(state, k, Rule.HOLE)
            begin = earliest_start(state, k, job, after, limit, more)
            if begin < limit:
                if state.jobs.reserved[job] != NOT_RESERVED:
                    give_up(state, k, job)
                reserve(state, k, job, begin)
                moved = True
    return moved


@routine
def put_in_order(state: State, k: int) -> None:
    """Let waiting jobs of cluster ``k`` use what has come free, as its batch system does."""
    mode = option(state, k, Rule.COMPRESS)
    if kind(state, k) == RESERVING_FCFS:
        line_up(state, k)
    elif mode == Compress.NONE:
        return
    elif state.memory.rules.transfers:
        while move_up(state, k, mode == Compress.SCRATCH) and mode == Compress.FIXPOINT:
            pass
    elif mode == Compress.SCRATCH:
        place_anew(state.clock.now, state, k)
    else:
        while sweep(state.clock.now, state, k) and mode == Compress.FIXPOINT:
            pass


@kernel
def settle_disturbance(state: State, k: int) -> None:
    """Put a plan in order from which tasks were cancelled; nobody looked at it in between."""
    if kind(state, k) == ESTIMATED_EASY:
        plan_again(state, k)
    elif state.memory.servers.disturbed[k]:
        state.memory.servers.disturbed[k] = 0
        put_in_order(state, k)


@routine
def take_note_of_ends(t: int, state: State) -> None:
    """Runs that ended free their processors, and where one ended early waiting jobs may move forward."""
    for k in range(state.memory.servers.shape[1]):
        early = settle(t, state, k)
        if kind(state, k) == ESTIMATED_EASY:
            continue
        if early > 0 or (option(state, k, Rule.COMPRESS) == Compress.EVERY and state.pools.freed[k]):
            put_in_order(state, k)
