"""Policies of the user's own where jobs come one by one, as on a live cluster: the same functions.

Each form is a hook ``(t, state)`` that runs in Python in the place of a compiled one. ``copied`` gives it to
a copy of the cluster that runs ahead, so that completion times can be foreseen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from headway.engine.local import WITHDRAW, Request
from headway.engine.python_steps import ORDER_ROWS, WITHDRAW_JOB, act
from headway.engine.tables import JOB_ROWS, Clock, List, Phase, Run, State
from headway.engine.tables import Job as JobRow
from headway.errors import HeadwayError, PolicyError
from headway.policies.own import faults
from headway.policies.own.arrived import Column
from headway.policies.own.keys import KeyFunction, Rows
from headway.policies.own.passes import decide_of
from headway.policies.own.turn import Turn
from headway.policies.own.view import Decision, Job, View, started
from headway.units import SECOND, microseconds_up

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
    found = {"submit": JobRow.SUBMIT, "procs": JobRow.PROCS, "walltime": JobRow.WALL}
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
        for run in state.lists[List.ENDED_RUNS, : state.clock[Clock.ENDED]].tolist():
            job = view._running.pop(int(state.runs[Run.JOB, run]), None)
            if job is not None:
                view.ended.append(job)
                turn.free += job.procs
        for number in range(len(self.ids), int(state.clock[Clock.LAST_NEW])):
            values = columns_of(state, number, self.known)
            self.ids.append(values["job"])
            view._arrived.add(tuple(values.values()))
            job = Job(number, *(values[name] for name in COLUMNS[:8]))
            if state.jobs[JobRow.PHASE, number] == Phase.WAITING:
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
            if state.jobs[JobRow.PHASE, number] == Phase.WAITING:
                view._waiting[number] = plain
            elif state.jobs[JobRow.PHASE, number] == Phase.RUNNING:
                begun = int(state.runs[Run.START, state.jobs[JobRow.RUN, number]])
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
        from headway.policies.own.withdrawal import leave_line

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
        last = int(state.clock[Clock.LAST_NEW])
        if self.estimate is not None:
            for number in range(int(state.clock[Clock.FIRST_NEW]), last):
                state.jobs[JobRow.PLAN, number] = self._planned(state, number, t)
        waits = np.flatnonzero(state.jobs[JobRow.PHASE, :last] == Phase.WAITING).tolist()
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
            values["estimate"] = int(state.jobs[JobRow.PLAN, number])
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
