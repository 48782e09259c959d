"""The engine's clock and a policy, compiled for a GPU.

What a kernel may do here is what it may do anywhere: no allocation, no exception, tables of a fixed size,
rows by their names. Of NumPy's functions it may use those of one number that numba-cuda has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from numba import cuda as numba_cuda

from headway.cuda import SIMULATED
from headway.engine import clock as clockwork
from headway.engine.tables import Fault, JobTable, State, Step, World
from headway.jit import kernels
from headway.jit.rows import Named, array_of, same

Hook = Callable[[int, State], None]

cuda: Any = numba_cuda  # untyped, as numba is


def arrays_in(tables: Any) -> Iterator[Any]:
    """The arrays of a tuple of tables, those of the tuples inside it too."""
    for each in tables:
        if isinstance(each, tuple):
            yield from arrays_in(each)
        else:
            yield array_of(each)


def with_arrays(tables: Any, arrays: Iterator[Any]) -> Any:
    """A tuple like another one, of other arrays."""
    return type(tables)(
        *(with_arrays(each, arrays) if isinstance(each, tuple) else next(arrays) for each in tables)
    )


def viewed(example: Any, tables: Any, t: int, jobs: int) -> Any:
    """The tables of simulation ``t``, in Python, where a GPU is only played."""
    if isinstance(example, tuple):
        parts = zip(example, tables, strict=True)
        return type(example)(*(viewed(one, each, t, jobs) for one, each in parts))
    part = tables[..., t]
    part = part[:, :jobs] if isinstance(example, JobTable) else part
    return same(example, part) if isinstance(example, Named) else part


def simulation_like(example: Any) -> Any:
    """A function of (tables, t, jobs) for kernels: the tables of one simulation, like an example."""
    if SIMULATED:
        return lambda tables, t, jobs: viewed(example, tables, t, jobs)
    from headway.cuda.row_types import simulation_of

    return simulation_of(example)


def compiled_for(hook: Hook, state: State, world: World) -> Any:
    """The loop over a policy, to be launched with one thread for each simulation.

    Its arguments are the tables of all simulations, like a ``state`` and a ``world`` with one axis more; how
    many jobs each has, for how many instants to go on, and where to put what the engine's step said last.
    """
    memory = type(state.memory)
    known = _compiled.get((hook, memory))
    if known is None:
        known = _compiled[hook, memory] = _loop(hook, simulation_like(state), simulation_like(world))
    return known


_compiled: dict[Any, Any] = {}


def _loop(hook: Hook, state_of: Any, world_of: Any) -> Any:
    step: Any = clockwork.step
    turn: Any = cuda.jit(device=True)(kernels.as_written(hook))
    go_on, tick, broken, fine = int(Step.PASS), int(Step.TICK), int(Step.BROKEN), int(Fault.NONE)

    @cuda.jit
    def simulations(tables, inner, counts, instants, codes):  # type: ignore[no-untyped-def]
        t = cuda.grid(1)
        if t >= counts.shape[0] or codes[t] != tick:
            return
        state, world = state_of(tables, t, counts[t]), world_of(inner, t, counts[t])
        code, left = go_on, instants
        while code == go_on and left > 0:
            code = step(state, world)
            if code == go_on:
                turn(state.clock.now, state)
                left -= 1
                if state.clock.fault != fine:
                    code = broken
        codes[t] = tick if code == go_on else code

    return simulations


@cache
def copying() -> tuple[Any, Any]:
    """Two kernels that lay tables for all simulations: from a first one and what is other in each; and back,
    a table after the other."""

    @cuda.jit
    def lay(first, others, tables):  # type: ignore[no-untyped-def]
        t, place = cuda.grid(2)
        if t < tables.shape[2] and place < first.shape[1]:
            for row in range(first.shape[0]):
                other = place < others.shape[2]
                tables[row, place, t] = others[t, row, place] if other else first[row, place]

    @cuda.jit
    def take(tables, out):  # type: ignore[no-untyped-def]
        t, place = cuda.grid(2)
        if t < tables.shape[2] and place < tables.shape[1]:
            for row in range(tables.shape[0]):
                out[t, row, place] = tables[row, place, t]

    return lay, take
