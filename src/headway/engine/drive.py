"""What a simulation is made of: jobs, what a policy needs, tables, compiled code, words for faults."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.engine import clock as clockwork
from headway.engine.profile import clear, copy_profile
from headway.engine.tables import (
    JOB_ROWS,
    NO_MEMORY,
    POOL_ROWS,
    Q_FIELDS,
    Clock,
    Fault,
    Job,
    Node,
    Phase,
    Pool,
    State,
    Table,
    World,
    copy_memory,
    new_state,
    new_world,
)
from headway.errors import PolicyError
from headway.jit import kernels
from headway.plain import counted
from headway.units import NEVER, seconds_text

if TYPE_CHECKING:
    from headway.engine.outages import ChangingMachine
    from headway.engine.submissions import Submissions

Progress = Callable[[int, int], None]

FIRST_ROOM, LEAST_ROOM = 4096, 256
"""Live jobs (waiting or running) the tables hold at first; they double when more come."""

BATCH = 200_000
"""At most so many instants between two reports of progress."""

QUEUES = ("headway.policies.queueing.", "headway.policies.backfilling.")
"""Policies that the first simulation on a machine may run interpreted."""

WORTH_REWRITING = 1000
"""Fewer jobs are simulated before the kernels are rewritten."""


@dataclass(frozen=True)
class Jobs:
    """What the engine simulates, in order of submit then file (times in µs)."""

    submit: Table
    procs: Table
    walltime: Table
    runtime: Table
    plan: Table
    """The time the scheduler plans with: the walltime, or an estimate."""
    ids: Table | None = None
    """The log's numbers of the jobs, for messages."""

    def __len__(self) -> int:
        return len(self.submit)


@dataclass(frozen=True)
class Setup:
    """What a policy needs of the engine."""

    pools: tuple[int, ...]
    """Processors of each pool."""
    hook: Callable[[int, State], None]
    """The compiled policy, called once per instant."""
    options: tuple[int, ...] | Table = ()
    """The policy's parameters."""
    prepare: Callable[[State], None] | None = None
    """Fills further job rows, such as keys, before the run."""
    drive: Callable[[Jobs, Setup, Progress | None], State] | None = None
    """Runs the simulation in place of the compiled loop, for policies written in Python."""
    more_rows: int = 0
    """Job rows of the policy's own, behind the engine's."""
    queues: int = 0
    """How many of the pools, the first ones, have queues and a profile; 0 means all of them."""
    nodes: Table | None = None
    """[row, node] where nodes have names (rows of :mod:`headway.engine.tables`); nothing of them is taken."""
    shares_of_cpu: int = 1
    """How many jobs may get the same CPU of a named node in one instant, one after the other."""
    memory: Any = NO_MEMORY
    """The policy's own tables: a named tuple of a class of its own, tables that the engine never looks at."""
    machine: ChangingMachine | None = None
    """The machine, where its processors come and go."""
    submissions: Submissions | None = None
    """When jobs are submitted, where that depends on the ends of others."""
    again: bool = True
    """Whether another run may begin with it; else the policy's own tables are not copied."""

    def with_submissions(self, submissions: Submissions | None, again: bool = True) -> Setup:
        """The setup for jobs that are submitted so; itself where nothing changes."""
        if submissions is None and self.submissions is None and (again or self.memory is NO_MEMORY):
            return self
        return replace(self, submissions=submissions, again=again)


def first_room(jobs: int) -> int:
    """Space for how many live jobs a simulation begins with: small tables stay in the processor's cache."""
    return min(max(jobs // 4, LEAST_ROOM), FIRST_ROOM)


def make_state(jobs: Jobs, setup: Setup, room: int = FIRST_ROOM) -> tuple[State, World]:
    """The tables at the beginning: every job in the future, every processor free."""
    table = np.zeros((JOB_ROWS + setup.more_rows, len(jobs)), np.int64)
    table[Job.SUBMIT], table[Job.PROCS], table[Job.WALL], table[Job.PLAN] = (
        jobs.submit,
        jobs.procs,
        jobs.walltime,
        jobs.plan,
    )
    table[Job.PROMISE] = -1
    table[Job.RUN] = -1
    queues = setup.queues or len(setup.pools)
    pools = np.zeros((POOL_ROWS, max(2 * queues, len(setup.pools))), np.int64)
    pools[Pool.SIZE, : len(setup.pools)] = pools[Pool.FREE, : len(setup.pools)] = setup.pools
    pools[Pool.ROOM_FROM] = NEVER
    room = max(1, min(room, len(jobs)))
    count = len(setup.options)
    options = np.zeros(max(1, count), np.int64)
    options[:count] = setup.options
    # Copies, so that every run begins with what was prepared.
    memory = copy_memory(setup.memory) if setup.again and setup.memory is not NO_MEMORY else setup.memory
    nodes = None if setup.nodes is None else setup.nodes.copy()
    state = new_state(table, pools, options, queues, room, len(jobs) + room, nodes, memory)
    state.clock[Clock.LIVE_ROOM] = room
    if nodes is not None:
        state.clock[Clock.NODE_CPUS] = nodes[Node.CPUS].sum() * setup.shares_of_cpu
    begin = int(jobs.submit[0]) if len(jobs) else 0
    for pool, size in enumerate(setup.pools[:queues]):
        clear(state.profile, pool, begin, size)
    state.clock[Clock.WAKE] = NEVER
    if setup.prepare is not None:
        setup.prepare(state)
    # Jobs that are submitted in another order than the log's move in this table, and it may be another run's.
    runtime = jobs.runtime if setup.submissions is None else jobs.runtime.copy()
    return state, new_world(np.ascontiguousarray(runtime), room)


def copy_into(larger: Table, table: Table) -> None:
    """Copy a table into the upper left of a larger one."""
    larger[tuple(slice(n) for n in table.shape)] = table


def grow(state: State, world: World) -> tuple[State, World]:
    """A larger table of shares where that is too small; else tables for twice as many live jobs."""
    used, most = int(state.clock[Clock.SHARES]), int(state.clock[Clock.NODE_CPUS])
    if used + most > state.shares.shape[1]:
        shares = np.zeros((len(state.shares), max(state.shares.shape[1] * 3 // 2, used + 2 * most)), np.int64)
        copy_into(shares[:, :used], state.shares[:, :used])
        return state._replace(shares=shares), world
    room = 2 * int(state.clock[Clock.LIVE_ROOM])
    state.clock[Clock.LIVE_ROOM] = room
    state.pools[Pool.SUMMED] = 0  # summaries are laid out by the size of the tables
    count = state.queue.shape[0] // (2 * Q_FIELDS)
    larger = new_state(state.jobs[:, :0], state.pools, state.options, count, room, 1)
    copy_into(larger.queue, state.queue)
    copy_into(larger.lists, state.lists)
    copy_profile(state.profile, larger.profile)
    runs, used = state.runs, int(state.clock[Clock.RUNS])
    if used + room > runs.shape[1]:  # by far the largest table, and seldom what is too small
        runs = np.zeros((runs.shape[0], max(runs.shape[1] * 5 // 4, used + room)), np.int64)
        copy_into(runs, state.runs[:, :used])
    larger_world = new_world(world.runtime, room)
    copy_into(larger_world.ends, world.ends)
    larger_world.size[:] = world.size
    names = ("clock", "jobs", "nodes", "shares", "changes", "memory")
    kept = {name: getattr(state, name) for name in names}
    return larger._replace(runs=runs, **kept), larger_world


Kind = tuple[type, tuple[Any, ...]]
"""Class of a memory, and the type and dimensions of each of its tables: all that compiled code depends on.
Of a tuple of tables inside it, the kind of that."""


def hook_signature(memory: Any = NO_MEMORY) -> Any:
    """The type of a compiled policy with such a memory: nothing from (instant, state)."""
    return None if kernels.INTERPRETED else _signature_over(_kind_of(memory))


def state_type(memory: Any = NO_MEMORY) -> Any:
    """The type of a state with such a memory."""
    return _state_over(_kind_of(memory))


def _kind_of(memory: Any) -> Kind:
    return NO_KIND if memory is NO_MEMORY else _kind_of_tables(memory)


def _kind_of_tables(memory: Any) -> Kind:
    return type(memory), tuple(
        _kind_of_tables(each) if isinstance(each, tuple) else (each.dtype.str, each.ndim) for each in memory
    )


NO_KIND = _kind_of_tables(NO_MEMORY)
"""That of most policies."""


@cache
def _state_over(kind: Kind) -> Any:
    """The type of a state with such a memory; asking the compiler takes longer than a small simulation."""
    return kernels.type_of(_prototype(_empty(kind))[0])


def _empty(kind: Any) -> Any:
    """A memory of such a kind with nothing in it; or a table."""
    made, inside = kind
    if isinstance(made, str):
        return np.zeros((0,) * inside, made)
    return made(*map(_empty, inside))


@cache
def _signature_over(kind: Kind) -> Any:
    return kernels.types.void(kernels.types.int64, _state_over(kind))


def _prototype(memory: Any) -> tuple[State, World]:
    """Tables of the types that a policy with such a memory works on."""
    return make_state(EMPTY, Setup(pools=(1,), hook=lambda t, s: None, memory=memory))


def compiled_loop(memory: Any = NO_MEMORY) -> Callable[..., int]:
    """The loop, compiled once for every kind of memory: policies are passed to it as values."""
    return interpreted_loop if kernels.INTERPRETED else _loop_over(_kind_of(memory))


def interpreted_loop(hook: Callable[[int, State], None], state: State, world: World, instants: int) -> int:
    """The loop as plain Python. Our policies read single numbers, and lists and views give them faster."""
    home, jobs = str(getattr(hook, "__module__", "")), state.jobs.shape[1]
    is_whole = instants > BATCH // 2 and state.clock[Clock.HORIZON] == NEVER
    if home.startswith(QUEUES) and is_whole and jobs >= WORTH_REWRITING:
        from headway.engine.plain_python import NotPlain, run_loop

        with suppress(NotPlain):
            return run_loop(hook, state, world, instants)
    if home.startswith("headway."):
        views: dict[str, Any] = {
            name: _view(table) for name, table in state._asdict().items() if isinstance(table, np.ndarray)
        }
        state = state._replace(profile=type(state.profile)(*map(_view, state.profile)), **views)
        world = World(*map(_view, world))
    code: int = clockwork.loop(hook, state, world, instants)  # type: ignore[no-untyped-call]
    return code


def _view(table: Any) -> Any:
    """A table whose single numbers are Python's own."""
    return memoryview(table)


@cache
def _loop_over(kind: Kind) -> Callable[..., int]:
    """The loop for a kind of memory."""
    world = kernels.type_of(_prototype(NO_MEMORY)[1])
    hook = kernels.function_type(_signature_over(kind))
    return kernels.with_signature(kernels.types.int64(hook, _state_over(kind), world, kernels.types.int64))(
        clockwork.loop
    )


@cache
def compiled_keyed_loop() -> Callable[..., int]:
    """The loop that lets a user's keys be computed before each pass."""
    if kernels.INTERPRETED:
        return clockwork.keyed_loop
    state, world = make_state(EMPTY, Setup(pools=(1,), hook=lambda t, s: None))
    hook = kernels.function_type(hook_signature())
    number = kernels.types.int64
    signature = number(hook, hook, kernels.type_of(state), kernels.type_of(world), number)
    return kernels.with_signature(signature)(clockwork.keyed_loop)


def compiled_hook(
    hook: Callable[[int, State], None], memory: Any = NO_MEMORY
) -> Callable[[int, State], None]:
    """A policy compiled for the loop."""
    done = kernels.INTERPRETED or hasattr(hook, "py_func")
    return hook if done else _compiled_as(hook, _kind_of(memory))


@cache
def _compiled_as(hook: Callable[[int, State], None], kind: Kind) -> Callable[[int, State], None]:
    signature = _signature_over(kind)
    return kernels.found_at_once(kernels.with_signature(signature)(hook), signature)


def hook_as_value(hook: Callable[[int, State], None], memory: Any = NO_MEMORY) -> Any:
    """A policy compiled for the loop, for those who call the loop many times for a few instants each.

    What it raises is lost, so it is for policies that raise nothing.
    """
    return hook if kernels.INTERPRETED else _addressed(hook, _kind_of(memory))


@cache
def _addressed(hook: Callable[[int, State], None], kind: Kind) -> Any:
    compiled = hook if hasattr(hook, "py_func") else _compiled_as(hook, kind)
    return kernels.Addressed(compiled, _signature_over(kind))


def is_cached(hook: Callable[[int, State], None], loop: Callable[..., int] = clockwork.loop) -> bool:
    """Whether the loop and a policy were compiled before on this machine."""
    if kernels.INTERPRETED:
        return True
    return all(kernels.in_cache(function) for function in (loop, hook))


EMPTY = Jobs(*(np.zeros(0, np.int64) for _ in range(5)))


def check_finished(state: State, ids: Table | None = None) -> None:
    """Every job must have had its run: a policy that forgets one is at fault."""
    phase = state.jobs[Job.PHASE]
    if np.count_nonzero(phase == Phase.DONE) == len(phase):
        return
    left = (phase == Phase.WAITING) | (phase == Phase.SUSPENDED)
    if left.any():
        waiting = np.flatnonzero(left)
        at = seconds_text(int(state.clock[Clock.NOW]))
        raise PolicyError(
            f"the policy left {len(waiting)} of {state.jobs.shape[1]} jobs waiting for ever: after {at} s"
            f" nothing runs and no job arrives any more; the first that waits,"
            f" {job_name(int(waiting[0]), ids)}, was submitted at"
            f" {seconds_text(int(state.jobs[Job.SUBMIT, waiting[0]]))} s and wants"
            f" {counted(state.jobs[Job.PROCS, waiting[0]], 'processor')}",
            law="complete",
        )


def job_name(job: int, ids: Table | None) -> str:
    """A job as the log calls it, or by its position among the arrivals."""
    return f"arrival {job}" if ids is None or not 0 <= job < len(ids) else f"job {ids[job]}"


def refusal(state: State, ids: Table | None) -> PolicyError:
    """The error for a refused verb, with the invariant that the policy would have broken."""
    laws: dict[int, str] = dict.fromkeys(
        (Fault.NOT_WAITING, Fault.NOT_RUNNING, Fault.NOT_SUSPENDED), "one run"
    )
    laws |= {Fault.TOO_WIDE: "capacity", Fault.NODE_FULL: "capacity", Fault.SLEPT: "time"}
    fault, job = int(state.clock[Clock.FAULT]), int(state.clock[Clock.FAULT_JOB])
    early = fault == Fault.NOT_WAITING and int(state.clock[Clock.LAST_NEW]) <= job < state.jobs.shape[1]
    return PolicyError(explain_fault(state, ids), law="submission" if early else laws.get(fault, ""))


def explain_fault(state: State, ids: Table | None = None) -> str:
    """One sentence on the verb that was refused."""
    job = int(state.clock[Clock.FAULT_JOB])
    at = f"at {seconds_text(int(state.clock[Clock.NOW]))} s"
    fault = int(state.clock[Clock.FAULT])
    if fault == Fault.SLEPT:
        return f"{at} the policy asked to be woken at a time that is not later than now"
    known = 0 <= job < state.jobs.shape[1]
    name = job_name(job, ids)
    if not known:
        return (
            f"{at} the policy named {name}, which does not exist among {counted(state.jobs.shape[1], 'job')}"
        )
    procs = int(state.jobs[Job.PROCS, job])
    if fault == Fault.TOO_WIDE:
        free = ", ".join(str(int(n)) for n, size in state.pools[[Pool.FREE, Pool.SIZE]].T if size > 0)
        wants = counted(procs, "processor")
        return f"{at} the policy started {name}, which wants {wants}, but only {free} are free"
    if fault == Fault.NODE_FULL:
        return f"{at} the policy started {name} on a node that has not as much free as it was to take"
    phase = int(state.jobs[Job.PHASE, job])
    words: dict[int, str] = {
        Phase.WAITING: "is waiting",
        Phase.RUNNING: "is running already",
        Phase.SUSPENDED: "is suspended",
    }
    doing = words.get(phase, "has not arrived yet" if job >= state.clock[Clock.LAST_NEW] else "has finished")
    if fault == Fault.NOT_WAITING:
        return f"{at} the policy started {name}, which {doing}; only waiting jobs can start"
    if fault == Fault.NOT_RUNNING:
        return f"{at} the policy stopped {name}, which {doing}; only running jobs can be stopped"
    if fault == Fault.NOT_SUSPENDED:
        return f"{at} the policy resumed {name}, which {doing}; only suspended jobs can be resumed"
    if fault == Fault.TOO_FAR:
        return f"{at} scores for {name} went beyond what can be compared exactly; give smaller weights"
    return f"{at} the policy broke rule {fault} with {name}"


def counts(state: State) -> dict[str, float]:
    """Instants, and the queue as passes found it: its mean over passes, not over time, and its maximum."""
    clock = state.clock.tolist()
    instants = clock[Clock.INSTANTS]
    return {
        "passes": instants,
        "events": clock[Clock.FINISHED] + clock[Clock.LAST_NEW],
        "runs": clock[Clock.RUNS],
        "mean_queue_per_pass": round(clock[Clock.WAITS_SUM] / max(instants, 1), 3),
        "max_queue": clock[Clock.WAITS_MAX],
    }
