"""Moldable tasks: how long one takes on n processors of a cluster.

    time on n processors of a cluster of speed v  =  time in the log x S(n_log) / S(n) / v

S is Amdahl's law, 1 / ((1 - P) + P / n), or Downey's with the average parallelism A = 1 / (1 - P), so that
both have the same limit. P and v count as the decimals they were written as: each factor is a fraction of
whole numbers, and a time is rounded up to the next microsecond once.
"""

from __future__ import annotations

from headway.engine.stretch import stretched
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.grid.tables import AMDAHL, Tasks


@kernel
def amdahl(of: int, out_of: int, n: int) -> tuple[int, int]:
    """Speedup on n processors of a task of which of / out_of is parallel, as a fraction."""
    return out_of * n, (out_of - of) * n + of


@kernel
def downey(of: int, out_of: int, n: int, s: int, over: int) -> tuple[int, int]:
    """Downey's speedup with A = out_of / (out_of - of) and sigma = s / over, as a fraction."""
    rest = out_of - of  # A = out_of / rest
    if s <= over:
        if n * rest <= out_of:
            return 2 * over * out_of * n, 2 * over * out_of + s * rest * (n - 1)
        if n * rest <= 2 * out_of - rest:
            return 2 * over * out_of * n, s * (2 * out_of - rest) + n * rest * (2 * over - s)
    elif n * rest * over <= out_of * (over + s) - s * rest:
        return n * out_of * (s + over), s * (rest * n + out_of - rest) + over * out_of
    return out_of, rest


@kernel
def speedup(state: State, task: int, n: int) -> tuple[int, int]:
    """How many times faster than on one processor a task is on n, as a fraction."""
    jobs = Tasks(state.jobs)
    of, out_of = jobs.of[task], jobs.out_of[task]
    if state.memory.rules.law == AMDAHL:
        return amdahl(of, out_of, n)
    sigma, over = state.memory.rules.sigma, state.memory.rules.sigma_over
    return downey(of, out_of, n, sigma, over)


@kernel
def stretch(logged: int, out_of: int, here: int, parts: int, speed: int, over: int) -> tuple[int, int]:
    """Speedup in the log / speedup here / speed, as one fraction.

    The three are logged / out_of, here / parts and speed / over.
    """
    return logged * parts * over, out_of * here * speed


@kernel
def factor(state: State, k: int, task: int, n: int) -> tuple[int, int]:
    """By what the log's times are multiplied on n processors of cluster ``k``, as a fraction."""
    jobs = Tasks(state.jobs)
    speed, over = state.memory.servers.speed[k], state.memory.servers.speed_over[k]
    if jobs.out_of[task] == 0:
        return over, speed
    here, parts = speedup(state, task, n)
    return stretch(jobs.speedup[task], jobs.speedup_over[task], here, parts, speed, over)


@routine
def walltime_on(state: State, k: int, task: int, n: int) -> int:
    """The walltime of a task on n processors of cluster ``k`` (µs)."""
    by, over = factor(state, k, task, n)
    return int(stretched(Tasks(state.jobs).trace_wall[task], by, over))


@kernel
def sizes(state: State, k: int, task: int) -> tuple[int, int]:
    """The fewest and the most processors of cluster ``k`` that a task may have; (1, 0) if it cannot run."""
    jobs = Tasks(state.jobs)
    if jobs.out_of[task] == 0:
        n = jobs.trace_procs[task]
        return (n, n) if n <= state.pools.size[k] else (1, 0)
    limit = jobs.limit[task]
    return 1, min(limit, state.pools.size[k]) if limit > 0 else state.pools.size[k]
