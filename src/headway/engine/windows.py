"""A log that comes in windows: between two of them the jobs that have ended make room for the next arrivals.

    driver.run_until(t)                      every job submitted before t is in the table
    live = still_here(driver.state)          those that wait or run; the others have ended
    next_window(driver, live, jobs, setup)   tables for the live jobs, then those of the next window

Numbers of jobs and runs change, their order does not; so whatever is decided by a number, such as who of two
came first, is decided as if all jobs of the log were in one table.
"""

from __future__ import annotations

import numpy as np

from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Setup, make_state
from headway.engine.tables import (
    GONE,
    OPEN,
    POOL_LISTS,
    Q_FIELDS,
    RUN_ROWS,
    JobTable,
    Lists,
    Phase,
    Pools,
    Queues,
    Runs,
    State,
    Table,
)

NO_MORE = -1
"""The new number of a job or run that is in the tables no more."""


def still_here(state: State) -> Table:
    """The jobs that wait or run, in order of arrival."""
    return np.flatnonzero(state.jobs.phase[: state.clock.last_new] != Phase.DONE)


def next_window(driver: Driver, live: Table, jobs: Jobs, setup: Setup) -> None:
    """Let the tables hold the ``live`` jobs, which are the first of ``jobs``, and those that come next."""
    old = driver.state
    table = make_state(jobs, setup, 1)[0].jobs
    count, clock = len(live), old.clock
    open_runs = np.flatnonzero(old.runs.end[: clock.runs] == OPEN)
    job_now, run_now = renumbered(live, old.jobs.shape[1]), renumbered(open_runs, old.runs.shape[1])
    keys = table[[JobTable["key"], JobTable["backfill_key"]], :count]
    grown_old = old.jobs.priority_class[live] != table.priority_class[:count]
    table[:, :count] = old.jobs[:, live]
    table.run[:count] = np.where(table.run[:count] >= 0, run_now[table.run[:count]], NO_MORE)
    keys[:, grown_old] = table[[JobTable["key"], JobTable["backfill_key"]], :count][:, grown_old]
    runs = Runs(np.zeros((RUN_ROWS, len(jobs) + int(clock.live_room) + 1), np.int64))
    runs[:, : len(open_runs)] = old.runs[:, open_runs]
    runs.job[: len(open_runs)] = job_now[runs.job[: len(open_runs)]]
    clock.first_new = clock.last_new = count
    clock.runs = clock.fresh = len(open_runs)
    clock.aged = int(np.searchsorted(live, clock.aged))
    clock.ended = 0
    driver.state = old._replace(jobs=table, runs=runs)
    driver.jobs, driver.setup = jobs, setup
    take_over_ends(driver, run_now)
    runtime = np.ascontiguousarray(jobs.runtime)
    driver.world = driver.world._replace(runtime=runtime)
    for q in range(old.queue.shape[0] // Q_FIELDS):
        take_over_queue(driver.state, q, keys[q % 2], job_now)
    for k in range(old.queue.shape[0] // (2 * Q_FIELDS)):
        for row, size in ((Lists["due_job"], Pools["due_count"]), (Lists["pins"], Pools["pin_count"])):
            named = old.lists[row + POOL_LISTS * k, : old.pools[size, k]]
            named[:] = job_now[named]


def renumbered(kept: Table, length: int) -> Table:
    """The new number of each of ``length`` old ones."""
    new = np.full(length, NO_MORE, np.int64)
    new[kept] = np.arange(len(kept))
    return new


def take_over_ends(driver: Driver, run_now: Table) -> None:
    """Real ends, and estimates that may be outlived, of the runs that go on."""
    clock, world = driver.state.clock, driver.world
    world.size[0] = take_over_heap(world.ends, 0, 1, int(world.size[0]), run_now)
    outlives = int(clock.outlives)
    clock.outlives = take_over_heap(
        driver.state.lists.table, Lists["outlive_time"], Lists["outlive_run"], outlives, run_now
    )


def take_over_heap(heap: Table, time_row: int, run_row: int, size: int, run_now: Table) -> int:
    """A heap of (time, run) without the runs that are over; its new size. What is sorted is a heap."""
    time, run = heap[time_row, :size], run_now[heap[run_row, :size]]
    goes_on = run != NO_MORE
    time, run = time[goes_on], run[goes_on]
    order = np.lexsort((run, time))
    heap[time_row, : len(run)], heap[run_row, : len(run)] = time[order], run[order]
    return len(run)


def take_over_queue(state: State, q: int, keys: Table, job_now: Table) -> None:
    """Close the gaps of a queue and let its entries name the jobs by their new numbers.

    Keys that are ranks among the jobs in the table are ranks among others now. Where the queue does not stand
    in the order of these, it is sorted at each pass, and keeps its keys until the next.
    """
    rows = slice(Q_FIELDS * q, Q_FIELDS * (q + 1))
    places = slice(int(state.pools.head[q]), int(state.pools.tail[q]))
    entries = state.queue[rows, places]
    entries = entries[:, entries[Queues["procs"]] != GONE]
    jobs = job_now[entries[Queues["job"]]]
    entries[Queues["job"]] = jobs
    ranked = np.lexsort((jobs, keys[jobs]))
    if (np.diff(ranked) > 0).all():
        entries[Queues["key"]] = keys[jobs]
        state.jobs[JobTable["backfill_key"] if q % 2 else JobTable["key"], jobs] = keys[jobs]
    state.queue[rows, : entries.shape[1]] = entries
    state.pools.head[q] = state.pools.summed[q] = 0
    state.pools.tail[q] = entries.shape[1]
