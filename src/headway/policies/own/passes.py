"""Runs a policy written in Python: one compiled call and one call of the policy at each pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from headway.engine.python_steps import OBJECT, Stepper
from headway.engine.setup import Jobs as EngineJobs
from headway.engine.setup import Progress, Setup
from headway.engine.tables import Clock, List, Pool, State
from headway.errors import PolicyError
from headway.platform.outages import ends
from headway.policies.own import faults
from headway.policies.own.arrived import Column
from headway.policies.own.turn import Turn
from headway.policies.own.view import Job, Maintenance, View, arriving, following

if TYPE_CHECKING:
    from headway.engine.outages import ChangingMachine


BATCH = 2_000
"""Passes between two reports of progress."""

WORTH_REPEATING = 200_000
"""Passes that are run again, to find the line of the one that went wrong."""

Decide = Callable[[View], Any]


@dataclass(frozen=True)
class PythonPolicy:
    """A policy written in Python, as the engine's driver runs it."""

    policy: Any
    """A function of the view, or an object with a method ``decide``; every run works on a copy."""
    columns: dict[str, Column]
    """The public columns of the jobs in order of arrival."""

    def __call__(self, jobs: EngineJobs, setup: Setup, progress: Progress | None) -> State:
        try:
            return run_python(self._copied(), self.columns, jobs, setup, progress)
        except faults.Refusal as refusal:
            if refusal.number > WORTH_REPEATING:
                raise
            watched = Watched(self._copied(), refusal.number)
            try:
                run_python(watched, self.columns, jobs, setup, None)
            except faults.Refusal as again:
                if watched.line and again.sentence == refusal.sentence:
                    raise refusal.at(watched.line) from None
            except PolicyError:
                pass  # not the same every time
            raise

    def _copied(self) -> Any:
        return faults.copied(self.policy, "every simulation works on a copy")


def decide_of(policy: Any) -> Decide:
    """What is called at each pass."""
    decide: Decide = getattr(policy, "decide", policy)
    return decide


def take_outages(view: View, turn: Turn, driver: Stepper, machine: ChangingMachine) -> None:
    """What the policy sees of processors that come and go; jobs that return wait where they had waited."""
    state = driver.state
    turn.free = int(state.pools[Pool.FREE, 0])
    view.away = int(machine.gone.sum())
    known = sorted((o.start, ends(o), o.procs) for o in machine.known.values())
    view.maintenance = [Maintenance(*window) for window in known]
    numbers = set(state.lists[List.RETURNED, : state.clock[Clock.RETURNS]].tolist())
    view.returned = [Job._make((*job[:9], -1, -1)) for job in view.ended if job.number in numbers]
    if numbers:
        view._waiting.update((job.number, job) for job in view.returned)
        view._waiting = dict(sorted(view._waiting.items()))


def run_python(
    policy: Any, columns: dict[str, Column], jobs: EngineJobs, setup: Setup, progress: Progress | None
) -> State:
    """Simulate until every job has finished."""
    decide, capacity, total = decide_of(policy), setup.pools[0], len(jobs)
    driver = Stepper(jobs, setup)
    view = View(columns, capacity)
    stream = arriving(columns)
    clock = driver.state.clock
    submissions = setup.submissions
    if submissions is not None:
        stream = following(columns, submissions, clock)
    turn = Turn(policy, view, driver.orders, columns["job"].copy())
    count = passes = 0
    while driver.act_and_next(count):
        over = driver.orders[OBJECT, : clock[Clock.ENDED]].tolist()
        if submissions is not None:
            submissions.take_ends(driver)
        count, turn.orders = 0, driver.orders
        moment = clock.tolist()
        view.now = moment[Clock.NOW]
        running = view._running
        view.ended = [running.pop(number) for number in over]
        for job in view.ended:
            turn.free += job.procs
        if setup.machine is not None:
            take_outages(view, turn, driver, setup.machine)
        view.new = []
        while len(view._arrived) < moment[Clock.LAST_NEW]:
            job, known = next(stream)
            view._arrived.add(known)
            view._waiting[job.number] = job
            view.new.append(job)
            turn.ids[job.number] = job.id  # another one where jobs are submitted when others have ended
        view.free = turn.free
        try:
            answer = decide(view)
        except BaseException as error:
            view.now, view.free, view.capacity = moment[Clock.NOW], turn.free, capacity
            raise faults.raised(error, view, policy) from error
        # A policy may have counted in the view itself; what it decided is judged by what is true.
        view.now, view.free, view.capacity = moment[Clock.NOW], turn.free, capacity
        passes += 1
        if answer is not None:
            try:
                count = turn.obey(answer)
            except faults.Refusal as refusal:
                refusal.number = passes
                raise
        if passes % BATCH == 0:
            driver.report(progress)
    if view._waiting:
        raise faults.forgotten(policy, view.now, view._waiting.values(), capacity, total)
    return driver.state


class Watched:
    """A policy whose pass number ``number`` is watched; ``line`` is then where it returned."""

    def __init__(self, policy: Any, number: int) -> None:
        self.policy, self.left, self.line = policy, number, ""
        self._decide = getattr(policy, "decide", policy)

    def decide(self, view: View) -> Any:
        """The policy's answer."""
        self.left -= 1
        code, before = faults.code_of(self.policy), sys.gettrace()
        if self.left or code is None:
            return self._decide(view)

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            if frame.f_code is not code:
                return None
            if event == "return":
                self.line = faults.shown_line(code.co_filename, frame.f_lineno)
            return follow

        sys.settrace(follow)
        try:
            return self._decide(view)
        finally:
            sys.settrace(before)
