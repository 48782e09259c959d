"""The waiting lines against a sorted list, under random sequences of joining, leaving and searching."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.fitting import DEEP, next_fit
from headway.engine.queue import enter, find_job, leave
from headway.engine.setup import Jobs, Setup, make_state
from headway.engine.tables import GONE, JobTable, State
from headway.jit.kernels import entry
from random_examples import examples

ENTER, LEAVE, NEXT_FIT = range(3)


@entry
def move(state: State, q: int, what: int, job: int, free: int, limit: int, extra: int) -> int:
    """One move; the job found by a search from behind ``job`` on (from the front if it is -1), or -1."""
    if what == ENTER:
        enter(state, q, job, state.jobs.key[job])
        return job
    if what == LEAVE:
        return leave(state, q, find_job(state, q, JobTable["key"], job))
    place = state.pools.head[q]
    if job >= 0:
        place = find_job(state, q, JobTable["key"], job) + 1
    found = next_fit(state, q, place, free, limit, extra)
    return state.queue.job[q, found] if found >= 0 else -1


def standing(state: State, q: int) -> list[int]:
    """The jobs that stand in a line, front first."""
    places = range(int(state.pools.head[q]), int(state.pools.tail[q]))
    jobs, procs = state.queue.job[q], state.queue.procs[q]
    return [int(jobs[place]) for place in places if procs[place] != GONE]


def play(seed: int, keys: int, jobs: int, moves: int, join: float, q: int) -> None:
    """Random moves with queue ``q`` of two; the queue holds at most ``jobs`` jobs, as its tables do."""
    random = np.random.default_rng(seed)
    procs, plan = random.integers(1, 9, jobs), random.integers(0, 100, jobs)
    zero = np.zeros(jobs, np.int64)
    setup = Setup((8,), lambda t, s: None)  # a pool has two lines
    state, _ = make_state(Jobs(zero, procs, plan, plan, plan), setup)
    state.jobs.key[:] = random.integers(0, keys, jobs)
    line: list[int] = []
    outside = list(range(jobs))

    def position(job: int) -> tuple[int, int]:
        return int(state.jobs.key[job]), job

    for turn in range(moves):
        draw = random.random()
        if draw < join and outside:
            job = outside.pop(int(random.integers(len(outside))))
            line = sorted([*line, job], key=position)
            assert move(state, q, ENTER, job, 0, 0, 0) == job
        elif draw < 0.6 and line:
            job = line.pop(int(random.integers(len(line))) if random.random() < 0.5 else 0)
            outside.append(job)
            assert move(state, q, LEAVE, job, 0, 0, 0) == job
        else:
            free, limit = int(random.integers(0, 9)), int(random.integers(-1, 100))
            extra = int(random.integers(-1, free + 1))
            behind = int(random.choice([-1, *line]))
            candidates = line if behind < 0 else line[line.index(behind) + 1 :]
            fit = (j for j in candidates if procs[j] <= free and (plan[j] <= limit or procs[j] <= extra))
            assert move(state, q, NEXT_FIT, behind, free, limit, extra) == next(fit, -1)
        assert state.pools.count[q] == len(line)
        assert not line or state.queue.job[q, state.pools.head[q]] == line[0]
        if jobs < 100 or turn % 50 == 0:
            assert standing(state, q) == line
        assert state.pools.count[1 - q] == 0


@examples(100)
@given(
    seed=st.integers(0, 2**32),
    keys=st.sampled_from([1, 3, 1000]),
    jobs=st.sampled_from([1, 5, 40]),
    join=st.sampled_from([0.25, 0.35, 0.5]),
    q=st.integers(0, 1),
)
def test_a_line_is_a_sorted_list(seed: int, keys: int, jobs: int, join: float, q: int) -> None:
    play(seed, keys, jobs, 150, join, q)


@pytest.mark.parametrize("falling", [False, True])
def test_many_join_at_one_place(falling: bool) -> None:
    """Each before all others, or all between two: the line stays sorted, and no job moves far each time."""
    jobs = 3000
    zero = np.zeros(jobs, np.int64)
    state, _ = make_state(Jobs(zero, zero + 1, zero, zero, zero), Setup((1,), lambda t, s: None))
    state.jobs.key[:] = -np.arange(jobs) if falling else 1
    state.jobs.key[:1000] = np.arange(1000) // 500 * 2
    for job in range(jobs):
        move(state, 0, ENTER, job, 0, 0, 0)
    line = standing(state, 0)
    assert line == np.lexsort((np.arange(jobs), state.jobs.key)).tolist()
    for job in line[::2]:
        move(state, 0, LEAVE, job, 0, 0, 0)
    assert standing(state, 0) == line[1::2]


@pytest.mark.parametrize("keys", [1, 50, 10**6])
def test_a_long_line(keys: int) -> None:
    play(keys, keys, 600, 2500, 0.5, 0)


@pytest.mark.parametrize(
    ("widest", "room", "keys"),
    [
        *((8, 5000, 1), (1000, 5000, 1), (1 << 20, 5000, 1)),  # jobs join at the end
        *((1000, 5000, 3), (1 << 20, 5000, 10**6)),  # jobs join anywhere, many at the same few places
        *((30, 95, 1), (30, 100, 1), (30, 130, 1), (30, 130, 50)),  # these have little room
    ],
)
def test_a_search_in_a_deep_line(widest: int, room: int, keys: int) -> None:
    """Jobs join where their keys belong, leave anywhere; searches begin anywhere, for jobs of every size."""
    random = np.random.default_rng(widest)
    jobs = 5000 if room == 5000 else 1500
    procs = np.floor(2 ** random.uniform(0, np.log2(widest), jobs)).astype(np.int64)
    plan = random.integers(0, 10**6, jobs)
    zero = np.zeros(jobs, np.int64)
    state, _ = make_state(Jobs(zero, procs, plan, plan, plan), Setup((widest,), lambda t, s: None), room)
    state.jobs.key[:] = random.integers(0, keys, jobs)
    line = np.zeros(0, np.int64)
    came = deepest = found = deep = 0
    while came < jobs or len(line):
        batch = min(jobs - came, room - len(line), int(random.integers(1, room // 25)))
        for job in range(came, came + batch):
            move(state, 0, ENTER, job, 0, 0, 0)
        line = np.concatenate([line, np.arange(came, came + batch)])
        line = line[np.lexsort((line, state.jobs.key[line]))]
        if room == jobs:
            assert standing(state, 0) == line.tolist()
        came += batch
        deepest = max(deepest, len(line))
        for _ in range(10 if room == jobs else 2):
            free = int(widest * random.random() ** 4)
            limit = int(10**6 * random.random() ** 3)
            extra = int(free * random.random() ** 4) - 1
            after = int(random.integers(0, len(line) + 1)) if random.random() < 0.5 else 0
            rest = line[after:]
            if (procs[rest] <= free).any() and random.random() < 0.3:  # just enough for one, or not quite
                limit, extra = int(plan[rest][procs[rest] <= free].min() - random.integers(2)), 0
            fits = (procs[rest] <= free) & ((plan[rest] <= limit) | (procs[rest] <= extra))
            wanted = int(rest[np.argmax(fits)]) if fits.any() else -1
            behind = int(line[after - 1]) if after else -1
            deep += after == 0 and state.pools.tail[0] - state.pools.head[0] >= DEEP
            assert move(state, 0, NEXT_FIT, behind, free, limit, extra) == wanted
            found += wanted >= 0
            if wanted >= 0 and random.random() < 0.7:
                move(state, 0, LEAVE, wanted, 0, 0, 0)
                line = line[line != wanted]
        leaving = int(random.integers(0, room // 50 if came < jobs else 400))
        for job in random.choice(line, min(leaving, len(line)), replace=False):
            move(state, 0, LEAVE, int(job), 0, 0, 0)
            line = line[line != job]
    assert deepest > room * 0.4 and found > 100 and deep > 100
