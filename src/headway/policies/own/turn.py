"""What a policy written in Python decided in one pass: checked, and written down for the engine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import index
from typing import Any

from headway.engine.python_steps import KILL, OBJECT, REASON, START, VERB, WAKE_AT
from headway.engine.tables import Table, Why
from headway.plain import counted
from headway.policies.own import faults
from headway.policies.own.view import Decision, Job, View, started
from headway.units import LONGEST, seconds_text


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
