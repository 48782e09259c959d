"""Moldable tasks: how long one takes on n processors of a cluster.

    time on n processors of a cluster of speed v  =  time in the log x S(n_log) / S(n) / v

S is Amdahl's law, 1 / ((1 - P) + P / n), or Downey's with the average parallelism A = 1 / (1 - P), so that
both have the same limit. P and v count as the decimals they were written as: each factor is a fraction of
whole numbers, and a time is rounded up to the next microsecond once.
"""

from __future__ import annotations

from headway.engine.stretch import stretched
from headway.engine.tables import Pool, State
from headway.jit.kernels import kernel, routine
from headway.policies.grid.tables import AMDAHL, Rule, Server, Task


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
    of, out_of = state.jobs[Task.OF, task], state.jobs[Task.OUT_OF, task]
    if state.memory.rules[Rule.LAW] == AMDAHL:
        return amdahl(of, out_of, n)
    sigma, over = state.memory.rules[Rule.SIGMA], state.memory.rules[Rule.SIGMA_OVER]
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
    speed, over = state.memory.servers[Server.SPEED, k], state.memory.servers[Server.SPEED_OVER, k]
    if state.jobs[Task.OUT_OF, task] == 0:
        return over, speed
    here, parts = speedup(state, task, n)
    return stretch(
        state.jobs[Task.SPEEDUP, task], state.jobs[Task.SPEEDUP_OVER, task], here, parts, speed, over
    )


@routine
def walltime_on(state: State, k: int, task: int, n: int) -> int:
    """The walltime of a task on n processors of cluster ``k`` (µs)."""
    by, over = factor(state, k, task, n)
    return int(stretched(state.jobs[Task.TRACE_WALL, task], by, over))


@kernel
def sizes(state: State, k: int, task: int) -> tuple[int, int]:
    """The fewest and the most processors of cluster ``k`` that a task may have; (1, 0) if it cannot run."""
    if state.jobs[Task.OUT_OF, task] == 0:
        n = state.jobs[Task.TRACE_PROCS, task]
        return (n, n) if n <= state.pools[Pool.SIZE, k] else (1, 0)
    limit = state.jobs[Task.LIMIT, task]
    return 1, min(limit, state.pools[Pool.SIZE, k]) if limit > 0 else state.pools[Pool.SIZE, k]
