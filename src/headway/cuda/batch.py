"""Many simulations in one go: their tables lie side by side on the GPU until all are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import cuda as numba_cuda

from headway.cuda.device import arrays_in, compiled_for, copying, with_arrays
from headway.engine.faults import check_finished
from headway.engine.setup import Jobs, Setup, make_state
from headway.engine.tables import Clock, JobTable, Pools, Runs, State, Step

cuda: Any = numba_cuda  # untyped, as numba is
Array = npt.NDArray[Any]
Progress = Callable[[int, int], None]
Case = tuple[Jobs, Setup]

ROOM = 256
"""Live jobs for which there is space; one with more of them runs on the CPU, where tables grow."""
THREADS = 64
"""Threads of a block."""
INSTANTS = 100_000
"""Instants between two looks at whether all are done, and at Ctrl-C."""
PART_OF_MEMORY = 0.7
"""Of what is free on the GPU, for the tables."""


def refusal(setup: Setup) -> str:
    """Why a simulation cannot run on a GPU, in a few words; empty where it can."""
    reasons = {
        "the policy runs in Python": setup.drive is not None,
        "its nodes have names": setup.nodes is not None,
        "its processors come and go": setup.machine is not None,
        "submissions follow the ends of jobs": setup.submissions is not None,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def run_side_by_side(cases: Sequence[Case], progress: Progress | None = None) -> list[State | None]:
    """The states at the end, in the order of the cases; None of one that has to run on the CPU.

    Those of like length and policy are neighbours, so that the threads of a warp do like work. ``progress``
    is called with the simulations that are done, and all.
    """
    found: list[State | None] = [None] * len(cases)
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, (jobs, setup) in enumerate(cases):
        if len(jobs) and not refusal(setup):
            memory = [array.shape[:-1] for array in arrays_in(setup.memory)]
            shape = len(setup.pools), setup.queues, setup.more_rows, len(setup.options), str(memory)
            groups[setup.hook, type(setup.memory), *shape].append(place)
    done = 0
    for members in groups.values():
        members.sort(key=lambda place: (len(cases[place][0]), tuple(cases[place][1].options)))
        for part in parts_of(cases, members):
            for place, state in zip(part, run_part([cases[place] for place in part]), strict=True):
                found[place] = state
            done += len(part)
            if progress is not None:
                progress(done, len(cases))
    return found


def parts_of(cases: Sequence[Case], members: Sequence[int]) -> list[list[int]]:
    """Members of a group as parts that fit into the memory of the GPU; the last member is the largest."""
    free, _ = cuda.current_context().get_memory_info()
    jobs, setup = cases[members[-1]]
    each = sum(table.nbytes for tables in make_state(jobs, setup, ROOM) for table in arrays_in(tables))
    size = max(int(min(PART_OF_MEMORY * free / each, len(members))), THREADS)
    return [list(members[first : first + size]) for first in range(0, len(members), size)]


def widened(table: Array, shape: tuple[int, int]) -> Array:
    """A table with more columns, all zero."""
    if table.shape == shape:
        return table
    larger = np.zeros(shape, table.dtype)
    larger[: table.shape[0], : table.shape[1]] = table
    return larger


def like_and_other(tables: Sequence[Array]) -> tuple[Array, Array]:
    """The first table, and the columns up to the last in which another one differs: [which, row, column]."""
    shape = tables[0].shape[0], max(table.shape[1] for table in tables)
    same = [widened(table, shape) for table in tables]
    first, columns = same[0], 0
    for table in same[1:]:
        if not np.array_equal(table[:, columns:], first[:, columns:]):
            columns = 1 + int(np.flatnonzero((table != first).any(axis=0))[-1])
    return np.ascontiguousarray(first), np.stack([table[:, :columns] for table in same])


def blocks_for(simulations: int, columns: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """How to launch one thread for each column of each simulation's table."""
    return (-(-simulations // THREADS), columns), (THREADS, 1)


def laid(tables: Sequence[Array]) -> Any:
    """The like tables of all simulations on the GPU, with the simulation as the last axis."""
    lay, _ = copying()
    first, others = like_and_other([np.atleast_2d(table) for table in tables])
    shape = (*(first.shape if tables[0].ndim == 2 else first.shape[1:]), len(tables))
    if first.size == 0:
        return cuda.to_device(np.zeros(shape, first.dtype))
    made = cuda.device_array((*first.shape, len(tables)), first.dtype)
    lay[blocks_for(len(tables), first.shape[1])](cuda.to_device(first), cuda.to_device(others), made)
    return made.reshape(shape)


def taken(tables: Any) -> Array:
    """Tables of all simulations, back on the CPU, one after the other; a list as a table of one row."""
    _, take = copying()
    tables = tables if tables.ndim == 3 else tables.reshape(1, *tables.shape)
    out = cuda.device_array((tables.shape[2], *tables.shape[:2]), tables.dtype)
    if out.size:
        take[blocks_for(tables.shape[2], tables.shape[1])](tables, out)
    return out.copy_to_host()  # type: ignore[no-any-return]


def run_part(cases: Sequence[Case]) -> list[State | None]:
    """Run simulations of one hook side by side."""
    made = [make_state(jobs, setup, ROOM) for jobs, setup in cases]
    state, world = made[0]
    states = [list(arrays_in(each)) for each, _ in made]
    worlds = [list(arrays_in(each)) for _, each in made]
    tables = with_arrays(state, iter([laid(like) for like in zip(*states, strict=True)]))
    inner = with_arrays(world, iter([laid(like) for like in zip(*worlds, strict=True)]))
    counts = cuda.to_device(np.array([len(jobs) for jobs, _ in cases]))
    codes = np.full(len(cases), int(Step.TICK))
    on_device = cuda.to_device(codes)
    simulations = compiled_for(cases[0][1].hook, state, world)
    while (codes == Step.TICK).any():
        simulations[-(-len(cases) // THREADS), THREADS](tables, inner, counts, INSTANTS, on_device)
        codes = on_device.copy_to_host()
    back = {name: taken(getattr(tables, name)) for name in ("clock", "jobs", "runs", "pools")}
    memory = [taken(array) for array in arrays_in(tables.memory)]
    ended = codes == Step.FINISH
    return [
        finished(made[place][0], jobs, back, memory, place) if ended[place] else None
        for place, (jobs, _) in enumerate(cases)
    ]


def finished(begun: State, jobs: Jobs, back: dict[str, Array], memory: list[Array], place: int) -> State:
    """The state of one simulation at the end; queues, lists and profile are as at the beginning."""
    state = begun._replace(
        clock=Clock(back["clock"][place, 0]),
        jobs=JobTable(back["jobs"][place][:, : len(jobs)]),
        runs=Runs(back["runs"][place]),
        pools=Pools(back["pools"][place]),
    )
    for array, all_of_them in zip(arrays_in(begun.memory), memory, strict=True):
        table = all_of_them[place]
        array[...] = table[: array.shape[0], : array.shape[1]] if array.ndim == 2 else table[0, : len(array)]
    check_finished(state, jobs.ids)
    return state
