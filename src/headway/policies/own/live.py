"""Policies of the user's own where jobs come one by one, as on a live cluster: the same functions.

Each form is a hook ``(t, state)`` that runs in Python in the place of a compiled one. ``copied`` gives it to
a copy of the cluster that runs ahead, so that completion times can be foreseen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from headway.engine.compiled import compiled_hook
from headway.engine.local import WITHDRAW, Local, Request
from headway.engine.python_steps import ORDER_ROWS, WITHDRAW_JOB, act
from headway.engine.queue import leave
from headway.engine.tables import (
    GONE,
    JOB_ROWS,
    JobTable,
    Phase,
    State,
)
from headway.engine.verbs import withdraw
from headway.errors import HeadwayError, PolicyError
from headway.jit.kernels import entry
from headway.policies.backfilling.easy import Rule, easy, easy_sorted
from headway.policies.own import faults
from headway.policies.own.compiled import Compiled
from headway.policies.own.forms import resolve
from headway.policies.own.keys import KEY_ROWS, PLACES, KeyFunction, Rows, key_functions, stand_ins
from headway.policies.own.passes import Turn, decide_of
from headway.policies.own.view import Column, Decision, Job, View, started
from headway.policies.queueing.ordering import AS_ORDER, BACKFILL_ORDER, GIVEN, ORDER, sorted_kind_of
from headway.policies.queueing.strict import MACHINE
from headway.units import SECOND, microseconds_up

if TYPE_CHECKING:
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.spec import Spec


@entry
def leave_line(state: State, job: int) -> bool:
    """Take a waiting job away; False if it does not stand in the line."""
    q = 2 * MACHINE
    for place in range(state.pools.head[q], state.pools.tail[q]):
        there = state.queue.job[q, place] == job
        if there and state.queue.procs[q, place] != GONE:
            leave(state, q, place)
            return withdraw(state, job)
    return False


# Policies of the user's own where jobs come one by one, as on a live cluster: the same functions.
#
# Each form is a hook ``(t, state)`` that runs in Python in the place of a compiled one. ``copied`` gives it
# to
# a copy of the cluster that runs ahead, so that completion times can be foreseen.

COLUMNS = (
    "job", "submit", "procs", "walltime", "user", "group", "queue", "partition", "deadline", "urgent",
    "requested_memory_kb",
)  # fmt: skip
"""What is known of a job that is submitted to a live cluster."""
Known = Callable[[int], Mapping[str, int]]
"""What is known of the job of a column beside its size and times; -1 stands for what is not known."""


class Hook(Protocol):
    """A policy in Python in the place of a compiled hook."""

    def __call__(self, t: int, state: State) -> None: ...
    def copied(self) -> Hook: ...
    def request(self, t: int, state: State, job: int, which: int) -> None: ...


def columns_of(state: State, job: int, known: Known) -> dict[str, int]:
    """All columns of a job."""
    found = {"submit": JobTable["submit"], "procs": JobTable["procs"], "walltime": JobTable["wall"]}
    values = {name: int(state.jobs[row, job]) for name, row in found.items()}
    about = known(job)
    return {name: values.get(name, about.get(name, -1)) for name in COLUMNS}


class PythonHook:
    """A function of the view, or an object with ``decide``; it works on a copy of the object."""

    def __init__(self, policy: Any, capacity: int, known: Known, may_stop: bool = True) -> None:
        self.policy = faults.copied(
            policy, "on a live cluster completion times are foreseen by a copy that runs ahead"
        )
        self.known, self.may_stop = known, may_stop
        kinds: dict[str, Column] = {
            name: np.zeros(0, np.bool_ if name == "urgent" else np.int64) for name in COLUMNS
        }
        self.view = View(kinds, capacity)
        self.ids: list[int] = []
        self.turn = self._turn()

    def _turn(self) -> Turn:
        return Turn(self.policy, self.view, np.zeros((ORDER_ROWS, 64), np.int64), self.ids)  # type: ignore[arg-type]

    def copied(self) -> Self:
        """The policy as it is now, for a copy of the cluster."""
        made = copy.copy(self)
        made.policy, made.ids, view = copy.deepcopy(self.policy), list(self.ids), self.view
        made.view = copy.copy(view)
        made.view._waiting, made.view._running = dict(view._waiting), dict(view._running)
        made.view._arrived = copy.deepcopy(view._arrived)
        made.turn = made._turn()
        made.turn.free = self.turn.free
        return made

    def request(self, t: int, state: State, job: int, which: int) -> None:
        """A waiting job is taken away."""
        if which == WITHDRAW:
            self.view._waiting.pop(job, None)
            _carry_out(np.array([[WITHDRAW_JOB], [job], [0]], np.int64), 1, state)

    def __call__(self, t: int, state: State) -> None:
        self._look(t, state)
        try:
            answer = decide_of(self.policy)(self.view)
        except HeadwayError:
            raise
        except BaseException as error:
            raise faults.raised(error, self.view, self.policy) from error
        if answer is None:
            return
        self._make_room()
        try:
            if not self.may_stop and isinstance(answer, Decision):
                answer = replace(answer, kill=self._none(answer))
            count = self.turn.obey(answer)
        except HeadwayError:
            self._resume_from(state)
            raise
        _carry_out(self.turn.orders, count, state)

    def _look(self, t: int, state: State) -> None:
        """Take note of what ended and who came; a second look at the same instant finds nothing new."""
        view, turn = self.view, self.turn
        view.now, view.ended, view.new = t, [], []
        for run in state.lists.ended_runs[: state.clock.ended].tolist():
            job = view._running.pop(int(state.runs.job[run]), None)
            if job is not None:
                view.ended.append(job)
                turn.free += job.procs
        for number in range(len(self.ids), int(state.clock.last_new)):
            values = columns_of(state, number, self.known)
            self.ids.append(values["job"])
            view._arrived.add(tuple(values.values()))
            job = Job(number, *(values[name] for name in COLUMNS[:8]))
            if state.jobs.phase[number] == Phase.WAITING:
                view._waiting[number] = job
                view.new.append(job)
        view.free = turn.free

    def _make_room(self) -> None:
        """Room for a start and a stop of every job, and a wake."""
        most = 2 * (len(self.view._waiting) + len(self.view._running)) + 1
        if most > self.turn.orders.shape[1]:
            self.turn.orders = np.zeros((ORDER_ROWS, 2 * most), np.int64)

    def _none(self, answer: Decision) -> tuple[()]:
        if list(answer.kill):
            raise faults.refused(
                self.policy, self.view, 'stopped a job, which needs "requeue" in [control] allow', "one run"
            )
        return ()

    def _resume_from(self, state: State) -> None:
        """Nothing of a refused answer is done: see the jobs as they are."""
        view, jobs = self.view, {**self.view._waiting, **self.view._running}
        view._waiting, view._running = {}, {}
        for number in sorted(jobs):
            plain = Job._make((*jobs[number][:9], -1, -1))
            if state.jobs.phase[number] == Phase.WAITING:
                view._waiting[number] = plain
            elif state.jobs.phase[number] == Phase.RUNNING:
                begun = int(state.runs.start[state.jobs.run[number]])
                view._running[number] = started(plain, begun)
        self.turn.free = view.capacity - sum(job.procs for job in view._running.values())


class CompiledHook:
    """A compiled policy; its waiting jobs stand in the line QUEUE."""

    def __init__(self, hook: Callable[[int, State], None], where: str) -> None:
        self.hook, self.where = hook, where

    def copied(self) -> Self:
        return self

    def request(self, t: int, state: State, job: int, which: int) -> None:
        """A waiting job is taken away."""
        if which == WITHDRAW and not leave_line(state, job):
            raise PolicyError(
                f"{self.where}: a waiting job is to be taken away, and it does not stand in QUEUE; a policy "
                "for a live cluster keeps all who wait there"
            )

    def __call__(self, t: int, state: State) -> None:
        try:
            self.hook(t, state)
        except HeadwayError:
            raise
        except BaseException as error:
            raise PolicyError(f"{self.where}: {faults.error_words(error)} at {t / SECOND:g} s") from error


class KeyedHook:
    """A policy of the catalogue with keys of the user's, which are written down for all who wait before it.

    ``keys`` are by their rows behind the engine's, ``request`` is how a job leaves the policy's queue.
    """

    def __init__(
        self,
        hook: Callable[[int, State], None],
        request: Request,
        keys: Mapping[int, KeyFunction],
        estimate: KeyFunction | None,
        known: Known,
    ) -> None:
        self.hook, self.request, self.keys = hook, request, keys
        self.estimate, self.known = estimate, known
        none = {name: np.zeros(0, np.int64) for name in COLUMNS}
        self.forms = {True: Rows(none, none["submit"]), False: Rows(none)}
        """Jobs as keys see them, with the time that is planned with and without."""

    def copied(self) -> Self:
        return self

    def __call__(self, t: int, state: State) -> None:
        last = int(state.clock.last_new)
        if self.estimate is not None:
            for number in range(int(state.clock.first_new), last):
                state.jobs.plan[number] = self._planned(state, number, t)
        waits = np.flatnonzero(state.jobs.phase[:last] == Phase.WAITING).tolist()
        for row, key in self.keys.items():
            found = [key.value(self._row(state, n), t / SECOND, self._id(n), t) for n in waits]
            state.jobs[JOB_ROWS + row, waits] = np.array(found, np.float64).view(np.int64)
        self.hook(t, state)

    def _id(self, number: int) -> int:
        return int(self.known(number).get("job", -1))

    def _row(self, state: State, number: int, plan: bool = True) -> Any:
        """A job as keys see it."""
        values: dict[str, float] = {**columns_of(state, number, self.known)}
        if plan:
            values["estimate"] = int(state.jobs.plan[number])
        form = self.forms[plan]
        for name in form.times:
            values[name] = values[name] / SECOND if values[name] >= 0 else -1.0
        return form.row_type(*(values[name] for name in form.columns))

    def _planned(self, state: State, number: int, t: int) -> int:
        assert self.estimate is not None
        value = self.estimate.value(self._row(state, number, plan=False), t / SECOND, self._id(number), t)
        if not 0 <= value < float("inf"):
            raise PolicyError(
                f"{faults.defined_at(self.estimate.function)}: the estimate of job {self._id(number)} is "
                f"{value:g} s; it must be a number of seconds from 0 on"
            )
        return microseconds_up(value)


def _carry_out(orders: Any, count: int, state: State) -> None:
    touched = (state.clock, state.jobs, state.runs, state.pools, state.lists, state.nodes, state.shares)
    act(orders, count, *touched)


# What a policy of the user's own needs to run where jobs come one by one, and what cannot be given there.


def no_request(t: int, state: State, job: int, which: int) -> None:
    """Requests to a policy of the user's own go to its hook."""


def reason_against(spec: Spec) -> str:
    """Why a policy of the user's own cannot have what it asks for on a live cluster; empty if it can."""
    if not spec.is_user:
        return ""
    policy = resolve(spec).policy
    if isinstance(policy, Compiled) and policy.tables is not None:
        return "lays its tables out by the jobs of a log, and here jobs are not known before they come"
    return ""


def stops_jobs(spec: Spec) -> bool:
    """Whether a compiled policy of the user's own may stop running jobs; one in Python is asked each time."""
    policy = resolve(spec).policy if spec.is_user else None
    code = faults.code_of(policy) if isinstance(policy, Compiled) else None
    return code is not None and "kill" in code.co_names


def own_hook(spec: Spec, prepared: Prepared, known: Known, may_stop: bool) -> Hook:
    """A whole policy of the user's."""
    policy = resolve(spec).policy
    if isinstance(policy, Compiled):
        hook = compiled_hook(prepared.setup.hook, prepared.setup.memory)
        return CompiledHook(hook, faults.defined_at(policy))
    return PythonHook(policy, prepared.setup.pools[0], known, may_stop)


def keyed_hook(spec: Spec, prepared: Prepared, local: Local, known: Known) -> Hook:
    """A policy of the catalogue that keys of the user's order."""
    found = key_functions(spec)
    rows = {list(PLACES).index(name): key for name, key in found.items() if name in PLACES}
    if spec.params.get("backfill") == spec.params.get("order"):
        rows.pop(1, None)  # one queue for both
    hook = compiled_hook(prepared.setup.hook, prepared.setup.memory)
    return KeyedHook(hook, local.request, rows, found.get("estimate"), known)


def prepare_joining_keys(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """The policy with orders that are sorted at each pass, by keys that are written down before it."""
    found = key_functions(spec)
    orders = {name: key for name, key in found.items() if name in PLACES}
    changed: dict[str, Any] = dict(stand_ins(spec, orders))
    if "estimate" in found:
        changed["estimate"] = "exact"  # the request, until the hook writes the estimate down
    plain = replace(spec, params={**spec.params, **changed})
    prepared = plain.policy.prepare(arrivals, procs)
    options = [int(option) for option in prepared.setup.options]
    names = {"order": ORDER, "backfill": BACKFILL_ORDER}
    for name, option in names.items():
        if name in orders:
            options[option] = GIVEN + list(PLACES).index(name)
        elif name in plain.params and options[option] != AS_ORDER:
            options[option] = sorted_kind_of(plain.word(name))
    if spec.params.get("backfill", "") == spec.params.get("order"):
        options[BACKFILL_ORDER] = AS_ORDER
    if "estimate" in found:
        options[Rule.NEWCOMERS_ONLY] = 0  # that shortcut needs estimates that no job outlives
    hook = easy_sorted if prepared.setup.hook is easy else prepared.setup.hook
    setup = replace(prepared.setup, options=tuple(options), hook=hook, more_rows=KEY_ROWS)
    return replace(prepared, setup=setup, promise_kind="")
