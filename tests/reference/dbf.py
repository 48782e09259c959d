"""DBF: tasks with a deadline hold provisional places, and make room for priority tasks as long as they can.

LP holds the definitive reservations, LN the provisional ones, both by submission.

Decisions.
- Lateness is always judged with the walltime: s + w > deadline.
- Tasks late on arrival become priority tasks for good, or with ``late=refuse`` are not scheduled (result
  None).
- Sweeps and the re-placement of ``scratch`` take LP first, then LN, each by submission; they are triggered as
  in conservative backfilling.
- ``literal``: the tentative placement behind the priority task gives L_TMP; one correction; then whatever
  comes out.
- ``promise`` is a completion: reservation + walltime at arrival for a priority task, the deadline for a task
  accepted in LN (a later promotion leaves it).  It is a law except with ``scratch`` and, for deadlines, in
  ``literal`` mode.
- ``why``: promoted for a task that moved from LN to LP, else as in conservative backfilling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .conservative import Conservative
from .jobs import Job, Result
from .loop import Machine, run


class Dbf(Conservative):
    def __init__(
        self, machine: Machine, mode: str = "strict", late: str = "priority", compress: str = "early"
    ) -> None:
        assert mode in ("strict", "literal") and late in ("priority", "refuse")
        super().__init__(machine, compress)
        self.mode, self.late_rule = mode, late
        self.lp: list[int] = []
        self.ln: list[int] = []
        self.accepted: list[int] = []  # into LN
        self.promoted: list[int] = []  # from LN to LP
        self.late_on_arrival: list[int] = []
        self.refused: list[int] = []
        self.safety_net = 0

    def by_submission(self, tasks: Sequence[int]) -> list[int]:
        return sorted(tasks, key=lambda j: (self.machine.jobs[j].submit, j))

    def queue(self) -> list[int]:
        return self.by_submission(self.lp) + self.by_submission(self.ln)

    def late(self, j: int) -> bool:
        job = self.machine.jobs[j]
        assert job.deadline is not None
        return self.reserved[j] + job.walltime > job.deadline

    def place(self, t: int, tasks: Sequence[int]) -> None:
        for j in self.by_submission(tasks):
            self.reserved[j] = self.earliest(t, j)

    def cancel(self, tasks: Sequence[int]) -> None:
        for j in tasks:
            self.reserved.pop(j, None)

    def arrive(self, t: int, j: int) -> None:
        job = self.machine.jobs[j]
        if job.deadline is not None:
            self.place(t, [j])
            if not self.late(j):
                self.ln.append(j)
                self.waiting.append(j)
                self.accepted.append(j)
                self.promises[j] = job.deadline
                return
            self.cancel([j])
            if self.late_rule == "refuse":
                self.refused.append(j)
                return
            self.late_on_arrival.append(j)
        self.waiting.append(j)
        if self.mode == "strict":
            self.insert_strictly(t, j)
        else:
            self.insert_literally(t, j)
        self.lp.append(j)
        self.promises[j] = self.reserved[j] + job.walltime

    def insert_strictly(self, t: int, p: int) -> None:
        before = dict(self.reserved)
        tmp: list[int] = []
        while True:
            # 2. TMP on running + LP; while some of it is late, all that were submitted before the latest late
            # one join
            while True:
                self.cancel([*self.ln, p])
                self.place(t, tmp)
                late = [j for j in tmp if self.late(j)]
                if not late:
                    break
                latest = self.by_submission(late)[-1]
                order = self.by_submission(self.ln)
                joining = [j for j in order[: order.index(latest)] if j not in tmp]
                if not joining:
                    self.reserved = before
                    self.place(t, [p])  # the safety net: plain conservative backfilling
                    self.safety_net += 1
                    return
                tmp += joining
            # 3, 4. the priority task, then the others
            self.place(t, [p])
            rest = [j for j in self.ln if j not in tmp]
            self.place(t, rest)
            # 5. those that are late go before the priority task
            late = [j for j in rest if self.late(j)]
            if not late:
                self.promote(tmp)
                return
            tmp += late

    def insert_literally(self, t: int, p: int) -> None:
        self.cancel(self.ln)
        self.place(t, [p])
        self.place(t, self.ln)
        tmp = [j for j in self.ln if self.late(j)]
        self.cancel([*self.ln, p])
        self.place(t, tmp)
        late = [j for j in tmp if self.late(j)]
        if late:
            order = self.by_submission(self.ln)
            prefix = order[: order.index(self.by_submission(late)[-1])]
            tmp = [j for j in order if j in tmp or j in prefix]
            self.cancel(tmp)
            self.place(t, tmp)
        self.place(t, [p])
        self.promote(tmp)
        self.place(t, self.ln)

    def promote(self, tasks: list[int]) -> None:
        self.ln = [j for j in self.ln if j not in tasks]
        self.lp += tasks
        self.promoted += tasks

    def schedule(self, t: int) -> None:
        super().schedule(t)
        self.lp = [j for j in self.lp if j in self.waiting]
        self.ln = [j for j in self.ln if j in self.waiting]


@dataclass
class Deadlines:
    """Results in list order (None: refused) and places in the list of what happened to the tasks."""

    results: list[Result | None]
    accepted: list[int] = field(default_factory=list)
    promoted: list[int] = field(default_factory=list)
    late_on_arrival: list[int] = field(default_factory=list)
    safety_net: int = 0


def simulate_dbf(
    jobs: Sequence[Job], m: int, mode: str = "strict", late: str = "priority", compress: str = "early"
) -> Deadlines:
    machine = Machine(jobs, m)
    policy = Dbf(machine, mode, late, compress)
    run(machine, policy)
    results = [machine.results.get(j) for j in range(len(jobs))]
    assert [j for j, r in enumerate(results) if r is None] == sorted(policy.refused)
    for j in policy.promoted:
        result = results[j]
        assert result is not None
        result.why = "promoted"
    return Deadlines(results, policy.accepted, policy.promoted, policy.late_on_arrival, policy.safety_net)
