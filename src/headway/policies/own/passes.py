"""Runs a policy written in Python: one compiled call and one call of the policy at each pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from operator import index
from types import FrameType
from typing import TYPE_CHECKING, Any

from headway.engine.python_steps import KILL, OBJECT, REASON, START, VERB, WAKE_AT, Stepper
from headway.engine.setup import Jobs as EngineJobs
from headway.engine.setup import Progress, Setup
from headway.engine.tables import State, Table, Why
from headway.errors import PolicyError
from headway.plain import counted
from headway.platform.outages import ends
from headway.policies.own import faults
from headway.policies.own.view import Column, Decision, Job, Maintenance, View, arriving, following, started
from headway.units import LONGEST, seconds_text

if TYPE_CHECKING:
    from headway.engine.outages import ChangingMachine


class Turn:
    """Checks what a policy decided and writes it down for the engine."""

    __slots__ = ("free", "gaps", "ids", "orders", "policy", "view")

    def __init__(self, policy: Any, view: View, orders: Table, ids: Table) -> None:
        self.policy, self.view, self.orders, self.free = policy, view, orders, view.capacity
        self.ids = ids  # of all jobs, for messages
        self.gaps = 0

    def obey(self, answer: Any) -> int:
        """Write the orders of one pass; how many there are."""
        count, begin = 0, answer
        if type(answer) is Decision:
            begin = answer.start
            for job in self.listed(answer.kill, answer):
                count = self.stop(job, count)
            if count:
                self.view._waiting = dict(sorted(self.view._waiting.items()))
        count = self.begin(self.listed(begin, answer), count)
        if type(answer) is Decision and answer.wake is not None:
            count = self.wake(answer.wake, count)
        return count

    def listed(self, jobs: Iterable[Job | int], answer: Any) -> list[Job | int]:
        if isinstance(jobs, Job | str | bytes):
            raise faults.wrong_answer(answer, self.view, self.policy)
        try:
            # One more than can be meant: a generator without an end would fill the memory.
            return list(islice(jobs, len(self.view._waiting) + len(self.view._running) + 1))
        except TypeError:
            raise faults.wrong_answer(answer, self.view, self.policy) from None
        except BaseException as error:  # a generator runs the user's code here
            raise faults.raised(error, self.view, self.policy) from error

    def number(self, job: Job | int) -> int:
        if type(job) is Job:
            return job.number
        try:
            if isinstance(job, bool):
                raise TypeError
            return index(job)  # type: ignore[arg-type]
        except TypeError:
            raise faults.wrong_answer([job], self.view, self.policy) from None

    def begin(self, jobs: list[Job | int], count: int) -> int:
        """Start these jobs, in order."""
        view = self.view
        waiting, running, now = view._waiting, view._running, view.now
        first = count
        for entry in jobs:
            number = self.number(entry)
            job = waiting.pop(number, None)
            if job is None:
                raise self.not_waiting(number, type(entry) is not Job)
            if job.procs > self.free:
                raise faults.refused(
                    self.policy,
                    view,
                    f"started job {job.id}, which needs {counted(job.procs, 'processor')}, when {self.free} "
                    f"of {view.capacity} were free",
                    "capacity",
                )
            self.free -= job.procs
            running[number] = started(job, now)
            self.orders[OBJECT, count] = number
            count += 1
        if count > first:
            self.close_gaps(count - first)
            eldest = next(iter(waiting), None)
            for place in range(first, count):
                number = int(self.orders[OBJECT, place])
                behind = eldest is not None and eldest < number
                at_once = running[number].submit == now
                self.orders[VERB, place] = START
                self.orders[REASON, place] = (
                    Why.BACKFILL if behind else Why.IMMEDIATE if at_once else Why.HEAD
                )
        return count

    def close_gaps(self, left: int) -> None:
        """A dictionary from which many have left is slow to look into: make it anew now and then."""
        self.gaps += left
        if self.gaps > 2 * len(self.view._waiting) + 64:
            self.view._waiting = dict(self.view._waiting.items())
            self.gaps = 0

    def stop(self, entry: Job | int, count: int) -> int:
        """Stop a running job; it waits again, behind the others until they are put in order."""
        number = self.number(entry)
        job = self.view._running.pop(number, None)
        if job is None:
            raise faults.refused(
                self.policy, self.view, f"stopped {self.doing(number)}, which does not run", "one run"
            )
        self.free += job.procs
        self.view._waiting[number] = Job._make((*job[:9], -1, -1))
        self.orders[VERB, count], self.orders[OBJECT, count] = KILL, number
        return count + 1

    def wake(self, time: int, count: int) -> int:
        """Ask for a pass later."""
        try:
            when = index(time)
        except TypeError:
            raise faults.refused(
                self.policy,
                self.view,
                f"asked to be woken at {time!r}, which is not a whole number of microseconds",
                "time",
            ) from None
        if not self.view.now < when <= LONGEST:
            wrong = "not later than now" if when <= self.view.now else "beyond all times; leave wake out"
            words = f"asked to be woken at {seconds_text(when)} s, which is {wrong}"
            raise faults.refused(self.policy, self.view, words, "time")
        self.orders[VERB, count], self.orders[OBJECT, count] = WAKE_AT, when
        return count + 1

    def not_waiting(self, number: int, bare: bool) -> Exception:
        """The error for a job that cannot start; ``bare`` where the policy gave a number, not the job."""
        view, law = self.view, "one run"
        if number in view._running:
            what = "which runs already; a job starts once"
        elif 0 <= number < len(view._arrived):
            what = "which has ended"
        elif 0 <= number < len(self.ids):
            what, law = "which has not been submitted yet", "submission"
        else:
            what, law = f"and there are only the numbers 0 to {len(view._arrived) - 1}", "submission"
        meant = f" ({number} counts arrivals from 0 and is no id; return the job itself)" if bare else ""
        return faults.refused(self.policy, view, f"started {self.doing(number)}, {what}{meant}", law)

    def doing(self, number: int) -> str:
        return f"job {self.ids[number]}" if 0 <= number < len(self.ids) else f"job number {number}"


# Runs a policy written in Python: one compiled call and one call of the policy at each pass.

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
    turn.free = int(state.pools.free[0])
    view.away = int(machine.gone.sum())
    known = sorted((o.start, ends(o), o.procs) for o in machine.known.values())
    view.maintenance = [Maintenance(*window) for window in known]
    numbers = set(state.lists.returned[: state.clock.returns].tolist())
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
        over = driver.orders[OBJECT, : clock.ended].tolist()
        if submissions is not None:
            submissions.take_ends(driver)
        count, turn.orders = 0, driver.orders
        view.now = int(clock.now)
        now, running = view.now, view._running
        view.ended = [running.pop(number) for number in over]
        for job in view.ended:
            turn.free += job.procs
        if setup.machine is not None:
            take_outages(view, turn, driver, setup.machine)
        view.new = []
        while len(view._arrived) < clock.last_new:
            job, known = next(stream)
            view._arrived.add(known)
            view._waiting[job.number] = job
            view.new.append(job)
            turn.ids[job.number] = job.id  # another one where jobs are submitted when others have ended
        view.free = turn.free
        try:
            answer = decide(view)
        except BaseException as error:
            view.now, view.free, view.capacity = now, turn.free, capacity
            raise faults.raised(error, view, policy) from error
        # A policy may have counted in the view itself; what it decided is judged by what is true.
        view.now, view.free, view.capacity = now, turn.free, capacity
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
