"""UJFB over DBF: regular jobs wait in DBF's lists, definitive (LP) and provisional (LN), under urgent ones.

Decisions.
- The plan holds urgentQ, then LP, then LN, each by submission.  It is made anew when some processor is
  expected to come free at another time than when the plan was last looked at, when urgentQ has changed, and
  when an urgent job has started.  That is where ``ujfb`` makes it anew with effect, and where
  ``dbf(compress=scratch)`` compresses.
- Newcomers are then placed one by one as in DBF.
- If an urgent job has come (or outlived its request) in this instant, the strict rule is applied with no
  priority task to place: the urgent job has its processors.  Where the chosen tasks are late and nobody is
  left to join them, the deadlines of the late ones are given up, and they stay chosen.
- Then deadlines are given up of tasks in LP, and of suspended ones, that will be late.
- A deadline that is given up is broken by the last urgent job that came, unless the task was late before
  (which re-placing from scratch can bring about).
- A killed task goes back to the list it came from; to LP if its deadline was given up while it was suspended.
- ``promise`` and ``why`` as in DBF; a task that was suspended is resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .jobs import Job
from .loop import drive
from .urgent import Ujfb, Urgent


@dataclass
class UjfbDbf(Ujfb):
    lists: dict[int, str] = field(default_factory=dict)  # of every task that arrived: LP or LN
    newcomers: list[int] = field(default_factory=list)
    held_back: dict[int, int] = field(default_factory=dict)  # reservations of urgentQ
    known: tuple[Any, ...] = ()  # what the plan rests on
    made: int = 0  # when the plan was last made anew
    anew: bool = False
    accepted: set[int] = field(default_factory=set)
    given_up: set[int] = field(default_factory=set)
    promoted: list[int] = field(default_factory=list)
    late_on_arrival: list[int] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=dict)  # task: the urgent job that broke its deadline
    safety_net: int = 0

    def listed(self, name: str) -> list[int]:
        waiting = [j for j in self.regular_queue if self.lists[j] == name]
        return sorted(waiting, key=lambda j: (self.jobs[j].submit, j))

    def join(self, j: int) -> None:
        self.newcomers.append(j)

    def basis(self, t: int) -> tuple[Any, ...]:
        """When each processor is expected to be free, and who waits in urgentQ."""
        ends = [0] * self.m
        for held in [*self.regular.values(), *self.urgent.values()]:
            for p in held.processors:
                ends[p] = max(ends[p], self.expected_end(t, held))
        urgent = {j: self.expected_end(t, held) for j, held in self.urgent.items()}
        return ends, list(self.urgent_queue), urgent

    def has_changed(self, t: int) -> bool:
        if self.anew or self.came is not None or not self.known:
            return True
        before, after = self.known, self.basis(t)
        same = all(max(a, t) == max(b, t) for a, b in zip(before[0], after[0], strict=True))
        early = bool(before[1]) and any(end > t for j, end in before[2].items() if j not in after[2])
        overdue = self.reserve == "preempting" and any(s <= self.made for s in self.held_back.values())
        return not same or early or overdue or before[1] != after[1]

    def place(self, t: int, j: int) -> int:
        profile = self.profile(t)
        for k, s in [*self.reserved.items(), *self.held_back.items()]:
            if k != j:
                profile.add(s, s + self.jobs[k].walltime, self.jobs[k].procs)
        return profile.earliest(t, self.jobs[j].procs, self.jobs[j].walltime)

    def place_all(self, t: int, tasks: Sequence[int]) -> None:
        for j in sorted(tasks, key=lambda j: (self.jobs[j].submit, j)):
            self.reserved[j] = self.place(t, j)

    def late(self, j: int) -> bool:
        return j in self.accepted and j not in self.given_up and self.misses(j, self.reserved[j])

    def misses(self, j: int, start: int) -> bool:
        due = self.jobs[j].deadline
        assert due is not None
        return start + self.jobs[j].walltime > due

    def plan(self, t: int) -> None:
        if self.has_changed(t):
            self.make_anew(t)
        for j in self.newcomers:
            self.arrive(t, j)
        self.newcomers = []
        self.regular_queue = self.listed("LP") + self.listed("LN")

    def make_anew(self, t: int) -> None:
        urgent, self.came, self.anew = self.came, None, False
        before, self.reserved = self.reserved, {}
        self.held_back, self.made = self.urgent_places(t), t
        self.place_all(t, self.listed("LP"))
        if urgent is None:
            self.place_all(t, self.listed("LN"))
            return
        self.strict_rule(t, None, before, urgent)
        for j in self.listed("LP"):
            if self.late(j):
                self.give_up(j, j in before and self.misses(j, before[j]), urgent)
        for held in self.regular.values():
            due = self.jobs[held.job].deadline
            if held.suspended is not None and held.job in self.accepted - self.given_up:
                assert due is not None
                if self.expected_end(t, held) > due:
                    self.give_up(held.job, self.misses(held.job, held.first_start), urgent)
                    self.lists[held.job] = "LP"

    def give_up(self, j: int, was_late: bool, urgent: int) -> None:
        self.given_up.add(j)
        if not was_late:
            self.broken[j] = urgent

    def strict_rule(self, t: int, task: int | None, before: dict[int, int], urgent: int | None) -> bool:
        """Place the task, if there is one, and LN; False if there is no way."""
        tmp: list[int] = []
        provisional = self.listed("LN")

        def cancel() -> None:
            for j in [*provisional, *([] if task is None else [task])]:
                self.reserved.pop(j, None)

        while True:
            while True:
                cancel()
                self.place_all(t, tmp)
                late = [j for j in tmp if self.late(j)]
                if not late:
                    break
                latest = max(late, key=provisional.index)
                joining = [j for j in provisional[: provisional.index(latest)] if j not in tmp]
                if not joining and task is not None:
                    return False
                if not joining:
                    assert urgent is not None
                    for j in late:
                        self.give_up(j, j in before and self.misses(j, before[j]), urgent)
                tmp += joining
            if task is not None:
                self.place_all(t, [task])
            rest = [j for j in provisional if j not in tmp]
            self.place_all(t, rest)
            late = [j for j in rest if self.late(j)]
            if not late:
                self.promoted += tmp
                self.lists.update(dict.fromkeys(tmp, "LP"))
                return True
            tmp += late

    def arrive(self, t: int, j: int) -> None:
        job = self.jobs[j]
        if job.deadline is not None:
            start = self.place(t, j)
            if not self.misses(j, start):
                self.regular_queue.append(j)
                self.lists[j], self.reserved[j], self.promises[j] = "LN", start, job.deadline
                self.accepted.add(j)
                return
            self.late_on_arrival.append(j)
        before = dict(self.reserved)
        if not self.strict_rule(t, j, before, None):
            self.reserved = before
            self.place_all(t, [j])
            self.safety_net += 1
        self.regular_queue.append(j)
        self.lists[j] = "LP"
        self.promises[j] = self.reserved[j] + job.walltime

    def invite(self, t: int) -> bool:
        self.anew = super().invite(t)
        return self.anew

    def schedule(self, t: int) -> None:
        super().schedule(t)
        for j, held in [*self.regular.items(), *self.guests.items()]:
            if held.first_start == t and j in self.promoted and self.why[j] != "resumed":
                self.why[j] = "promoted"
        self.known = self.basis(t)


@dataclass
class UrgentDeadlines:
    outcome: Urgent
    policy: UjfbDbf


def simulate_ujfb_dbf(jobs: Sequence[Job], m: int, **readings: Any) -> UrgentDeadlines:
    state = UjfbDbf(jobs, m, **readings)
    drive(jobs, state.next_event, state.turn)
    assert not state.regular and not state.users() and len(state.results) == len(jobs)
    results = [state.results[j] for j in range(len(jobs))]
    outcome = Urgent(results, state.pieces, state.suspensions, state.preempting, state.waste, state.invited)
    return UrgentDeadlines(outcome, state)
