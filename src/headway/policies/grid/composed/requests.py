"""The servers in front of the clusters of a composed grid: the agent's three requests, compiled.

A task that is not here is estimated by a trial: it is submitted to a copy of the cluster, which runs on
alone. The size of a moldable task is tuned by such trials. A trial that cannot matter is left out, and one
that has shown that much is broken off: of several servers the agent only wants to know the best one, and of
those away from home only one that is better by the threshold.
"""

from __future__ import annotations

from typing import Any

from headway.engine.clock import crowded
from headway.engine.local import WITHDRAW, caught_up, is_behind, only_plan
from headway.engine.side_by_side import last_never_came, open_chosen
from headway.engine.tables import Phase, State, Step, World
from headway.jit.kernels import calling, kernel, routine
from headway.policies.grid import agent, molding, tuning
from headway.policies.grid.composed.copies import (
    completion_in,
    join_column,
    renew,
    take_turn,
    times_of,
    tried,
)
from headway.policies.grid.composed.sites import (
    FUTURE,
    LARGER,
    MAIN,
    WIDER,
    Fact,
    Kept,
    Logged,
    Register,
    Tables,
    ask_for,
    is_wrong,
    register_of,
    request,
    state_of,
    turn,
    world_of,
)
from headway.policies.grid.notes import NO_ANSWER, STARTED, Notes, servers_of
from headway.policies.grid.tables import AMDAHL
from headway.policies.queueing.strict import MACHINE
from headway.units import NEVER

# ---- a cluster ------------------------------------------------------------------------------------------


@routine
def open_cluster(grid: Tables, k: int, t: int) -> bool:
    """Let it be ``t`` on cluster ``k``: what is due ends. Nothing if an instant is open."""
    facts = register_of(grid, k).facts
    if facts[Fact.IS_OPEN]:
        return True
    while open_chosen(state_of(grid, k, MAIN), world_of(grid, k, MAIN), t) == Step.GROW:
        if not ask_for(grid, k, LARGER + MAIN):
            return False
    facts[Fact.OPENED], facts[Fact.IS_OPEN] = t, 1
    facts[Fact.VERSION] += 1
    return True


@routine
def plan(grid: Tables, k: int) -> None:
    """A turn of the policy of cluster ``k`` for its plans alone."""
    state = state_of(grid, k, MAIN)
    only_plan(state)
    turn(grid, k, MAIN, register_of(grid, k).facts[Fact.OPENED])
    caught_up(state)


@kernel
def settle(grid: Tables, k: int) -> None:
    """Put the plan in order from which jobs were taken away."""
    if state_of(grid, k, MAIN).pools.left[MACHINE] > 0 and register_of(grid, k).facts[Fact.CATCHES_UP]:
        plan(grid, k)


@kernel
def make_room(grid: Tables, k: int) -> bool:
    """Space for one more job at the open instant."""
    settle(grid, k)
    while crowded(state_of(grid, k, MAIN), world_of(grid, k, MAIN), 1):
        if not ask_for(grid, k, LARGER + MAIN):
            return False
    state = state_of(grid, k, MAIN)
    return bool(state.clock.last_new < state.jobs.shape[1] or ask_for(grid, k, WIDER))


@routine
def place(grid: Tables, k: int, job: int, procs: int) -> None:
    """Hand a job to cluster ``k`` on so many processors; the policy sees it in its turn."""
    if not open_cluster(grid, k, grid.facts.instant) or not make_room(grid, k):
        return
    state, world, register = state_of(grid, k, MAIN), world_of(grid, k, MAIN), register_of(grid, k)
    by, over = factor(grid, register, job, procs)
    column = join_column(grid, k, MAIN, state, register, job, procs, by, over)
    facts, kept = register.facts, register.of_job
    if facts[Fact.NUMBERED_BY] >= 0:
        facts[Fact.LISTED] = max(facts[Fact.LISTED], state.jobs[facts[Fact.NUMBERED_BY], column] + 1)
    kept[job, Kept.COLUMN], kept[job, Kept.SIZE], kept[job, Kept.BY], kept[job, Kept.OVER] = (
        column,
        procs,
        by,
        over,
    )
    register.of_column[column] = job
    world.runtime[column] = times_of(grid.log[job, Logged.RUNTIME], by, over)
    register.requested[column] = times_of(grid.log[job, Logged.WALL], by, over)
    facts[Fact.VERSION] += 1


@kernel
def forget_newcomer(state: State, world: World, register: Register, column: int) -> None:
    """Take out a job that the policy has not seen; those behind it move up."""
    last, rows, lists = state.clock.last_new - 1, state.jobs.shape[0], register.lists
    first = lists[0] if len(lists) > 0 else rows
    for there in range(column, last):
        for row in range(rows):
            if row < first or row >= first + len(lists):
                state.jobs[row, there] = state.jobs[row, there + 1]
        world.runtime[there] = world.runtime[there + 1]
        register.requested[there] = register.requested[there + 1]
        register.of_column[there] = register.of_column[there + 1]
        register.of_job[register.of_column[there], Kept.COLUMN] = there
    last_never_came(state)


@routine
def take_away(grid: Tables, k: int, job: int) -> None:
    """Take a waiting job away from cluster ``k``, where an instant is open."""
    state, register = state_of(grid, k, MAIN), register_of(grid, k)
    facts = register.facts
    if facts[Fact.CATCHES_UP] and is_behind(state):
        plan(grid, k)
    column = register.of_job[job, Kept.COLUMN]
    register.of_job[job, Kept.COLUMN] = -1
    if column < state.clock.first_new:
        request(grid, k, MAIN, facts[Fact.OPENED], column, WITHDRAW)
        facts[Fact.WITHDRAWN_HERE] += 1
    else:
        forget_newcomer(state, world_of(grid, k, MAIN), register, column)
    facts[Fact.VERSION] += 1


# ---- sizes and times ------------------------------------------------------------------------------------


@kernel
def factor(grid: Tables, register: Register, job: int, n: int) -> tuple[int, int]:
    """By what the log's times of a job are multiplied on n processors here, as a fraction."""
    speed, over, log = register.facts[Fact.SPEED], register.facts[Fact.SPEED_OVER], grid.log
    of, out_of = log[job, Logged.OF], log[job, Logged.OUT_OF]
    if out_of == 0:
        return over, speed
    if grid.facts.law == AMDAHL:
        here, parts = molding.amdahl(of, out_of, n)
    else:
        here, parts = molding.downey(of, out_of, n, grid.facts.sigma, grid.facts.sigma_over)
    return molding.stretch(log[job, Logged.SPEEDUP], log[job, Logged.SPEEDUP_OVER], here, parts, speed, over)


@kernel
def sizes(grid: Tables, register: Register, job: int) -> tuple[int, int]:
    """The fewest and the most processors that a job may have here; (1, 0) if it cannot run."""
    room, log = register.facts[Fact.WIDEST], grid.log
    if log[job, Logged.OUT_OF] == 0:
        procs = log[job, Logged.PROCS]
        return (procs, procs) if procs <= room else (1, 0)
    limit = log[job, Logged.LIMIT]
    return 1, min(limit, room) if limit > 0 else room


@kernel
def completed_at_first(grid: Tables, k: int, job: int) -> int:
    """No completion of a job on cluster ``k`` is earlier: it starts now, with the size that is quickest."""
    register = register_of(grid, k)
    fewest, most = sizes(grid, register, job)
    if fewest > most:
        return NO_ANSWER
    by, over = factor(grid, register, job, most)
    return int(grid.facts.instant + times_of(grid.log[job, Logged.WALL], by, over))


# ---- the requests ---------------------------------------------------------------------------------------


@routine
def completion(grid: Tables, k: int, job: int, n: int) -> int:
    """When a job that is not on cluster ``k`` would be completed on so many processors."""
    by, over = factor(grid, register_of(grid, k), job, n)
    return tried(grid, k, grid.facts.instant, job, n, by, over, NEVER)


tune: Any = routine(calling(tuning.tune, completion=completion))


@routine
def tuned(grid: Tables, k: int, task: int, cutoff: int) -> tuple[int, int]:
    """The earliest completion of a task that is not here, at least ``cutoff`` if not before; and its size."""
    settle(grid, k)
    register, now = register_of(grid, k), grid.facts.instant
    facts, kept = register.facts, register.of_job
    if facts[Fact.ASKED_VERSION] != facts[Fact.VERSION] or facts[Fact.ASKED_AT] != now:
        facts[Fact.ASKED_VERSION], facts[Fact.ASKED_AT] = facts[Fact.VERSION], now
        facts[Fact.STATE_ASKED] += 1
    if kept[task, Kept.ASKED] != facts[Fact.STATE_ASKED] or not (
        kept[task, Kept.IS_EXACT] or kept[task, Kept.COMPLETION] >= cutoff
    ):
        fewest, most = sizes(grid, register, task)
        found, procs, exact = NO_ANSWER, fewest, 1
        if fewest == most:
            by, over = factor(grid, register, task, fewest)
            found = tried(grid, k, now, task, fewest, by, over, cutoff)
            exact = int(found < cutoff or cutoff == NEVER)
        elif fewest < most:
            found, procs = tune(grid, k, task, fewest, most, grid.facts.tuning)
        if found == NEVER:
            procs = 0
        kept[task, Kept.ASKED], kept[task, Kept.IS_EXACT] = facts[Fact.STATE_ASKED], exact
        kept[task, Kept.COMPLETION], kept[task, Kept.TUNED] = found, procs
    return kept[task, Kept.COMPLETION], kept[task, Kept.TUNED]


@kernel
def waits(grid: Tables, k: int, task: int) -> bool:
    """Whether a job that was submitted to cluster ``k`` has not started; one that was stopped has."""
    column, jobs = register_of(grid, k).of_job[task, Kept.COLUMN], state_of(grid, k, MAIN).jobs
    return bool(column >= 0 and jobs.phase[column] == Phase.WAITING and jobs.run[column] < 0)


@routine
def estimate(grid: Tables, k: int, task: int) -> tuple[int, int]:
    """When the task is expected to be completed there, and on how many processors."""
    register = register_of(grid, k)
    column = register.of_job[task, Kept.COLUMN]
    if is_wrong(grid):
        return NO_ANSWER, 0
    if column < 0:
        return tuned(grid, k, task, NO_ANSWER)
    if not waits(grid, k, task):
        return STARTED, 0
    settle(grid, k)
    facts = register.facts
    if facts[Fact.FORESEEN] != facts[Fact.VERSION]:
        facts[Fact.FORESEEN], facts[Fact.IS_OVER] = facts[Fact.VERSION], 0
        if renew(grid, k, FUTURE, grid.facts.instant):
            take_turn(grid, k, FUTURE)
    return completion_in(grid, k, FUTURE, column, NEVER), register_of(grid, k).of_job[task, Kept.SIZE]


@routine
def submit(grid: Tables, k: int, task: int) -> tuple[int, int]:
    """Hand the task to the cluster, with the size with which it is completed first."""
    found, procs = tuned(grid, k, task, NO_ANSWER)
    if not is_wrong(grid):
        place(grid, k, task, procs)
    return found, procs


@routine
def cancel(grid: Tables, k: int, task: int) -> bool:
    """Take the task away, if it still waits."""
    if is_wrong(grid) or not waits(grid, k, task) or not open_cluster(grid, k, grid.facts.instant):
        return False
    take_away(grid, k, task)
    return True


@routine
def best_server(notes: Notes, grid: Tables, task: int, apart: int) -> tuple[int, int]:
    """The server, ``apart`` left out, that promises the earliest completion, and that; -1 if none can.

    Where the task waits ``apart``, only those count that complete it earlier by the threshold. The server
    that might be quickest is asked first: what it says often makes it needless to ask the others.
    """
    cutoff = NO_ANSWER
    if apart >= 0:
        held, _ = estimate(grid, apart, task)
        if held == STARTED:
            return agent.nobody(), NO_ANSWER
        cutoff = min(held - notes.settings.threshold + 1, NO_ANSWER)
    first, soonest = agent.nobody(), NO_ANSWER
    for server in range(servers_of(notes)):
        if server != apart:
            settle(grid, server)
            bound = completed_at_first(grid, server, task)
            if bound < soonest:
                first, soonest = server, bound
    best = agent.nobody()
    if first < 0 or soonest >= cutoff or is_wrong(grid):
        return best, NO_ANSWER
    found, _ = tuned(grid, first, task, cutoff)
    if found < cutoff:
        best, cutoff = first, found
    for server in range(servers_of(notes)):
        if server != apart and server != first:
            wanted = cutoff + 1 if server < best else cutoff
            if completed_at_first(grid, server, task) < wanted:
                found, _ = tuned(grid, server, task, wanted)
                if found < wanted:
                    best, cutoff = server, found
    return best, cutoff if best >= 0 else NO_ANSWER
