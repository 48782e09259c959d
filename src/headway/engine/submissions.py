"""Jobs that are submitted when others have ended: users who wait for a result before they go on.

The log's jobs are kept aside, and each gets its column of the table when it is known when it is submitted::

    columns of the table     | submitted, in order | the next to be submitted | nobody: NEVER |
                                        Clock.LAST_NEW

At every instant the jobs that have ended for good let those that follow them be submitted, a think time
later; who thinks for no time arrives at that very instant. Who arrives at one instant stands in the log's
order. A job that is refused has ended for those who wait for it; if they think for no time, they come in a
second turn.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Protocol

import numpy as np

from headway.engine.side_by_side import is_crowded
from headway.engine.tables import JobTable, Phase, State, Table, World
from headway.units import NEVER


class Owner(Protocol):
    """The simulation to which jobs are submitted."""

    state: State
    world: World

    def grow(self) -> None: ...


class Submissions:
    """When each job is submitted, as far as that is known."""

    def __init__(self, follows: Table, think: Table, place: Table, not_of_jobs: tuple[int, ...] = ()) -> None:
        """``follows`` has the job (in the log's order of submission) whose end each waits for, -1 for none.

        ``place`` is where each stands in the log. ``not_of_jobs`` are rows of the table of jobs whose columns
        are lists, which stay where they are.
        """
        self.follows, self.think, self.place, self.not_of_jobs = follows, think, place, not_of_jobs
        self.followers: dict[int, list[int]] = defaultdict(list)
        for job in np.flatnonzero(follows >= 0).tolist():
            self.followers[int(follows[job])].append(job)
        self.order: list[int] = []
        """The jobs that have been submitted, by column."""
        self.times: list[int] = []
        """When they were submitted."""
        self.next: list[int] = []
        """Those in the columns behind them, who are submitted next, at ``next_at``."""
        self.next_at = NEVER

    def begin(self, owner: Owner) -> None:
        """Nobody has been submitted; who waits for nobody comes when the log says."""
        jobs = owner.state.jobs
        self.rows, self.runtime = JobTable(jobs.table.copy()), owner.world.runtime.copy()
        self.written = np.setdiff1d(np.arange(len(jobs)), self.not_of_jobs)
        self.due = [(int(self.rows.submit[job]), job) for job in np.flatnonzero(self.follows < 0).tolist()]
        heapq.heapify(self.due)
        self.order, self.times, self.next, self.next_at = [], [], [], NEVER
        jobs.submit[:] = NEVER
        self.submit_next(owner)

    def take_ends(self, owner: Owner) -> None:
        """At an open instant, before the policy's turn: who has ended lets others come, now or later."""
        state = owner.state
        now, new = int(state.clock.now), []
        if state.clock.last_new > len(self.order):
            new, self.next, self.next_at = self.next, [], NEVER
        over = [column for column in ended(state) if state.jobs.phase[column] == Phase.DONE]
        self.let_come(now, [self.order[column] for column in over])
        at_once = self.taken_until(now)
        if at_once:
            self.admit(owner, self.in_order(new + at_once), len(at_once))
        else:
            self.order += new
        self.times += [now] * (len(self.order) - len(self.times))
        self.submit_next(owner)

    def admit(self, owner: Owner, new: list[int], more: int) -> None:
        """Let ``more`` jobs arrive at the open instant; ``new`` are all that arrive at it."""
        while is_crowded(owner.state, owner.world, more):
            owner.grow()
        self.put_back(owner)
        first = len(self.order)
        self.write(owner, new, int(owner.state.clock.now))
        owner.state.jobs.phase[first : first + len(new)] = Phase.WAITING
        owner.state.clock.last_new += more
        owner.state.clock.waits += more
        self.order += new

    def take_refusals(self, owner: Owner) -> None:
        """After the policy's turn: who waits for a job that it refused waits no more."""
        state = owner.state
        new = range(int(state.clock.first_new), int(state.clock.last_new))
        refused = [self.order[column] for column in new if state.jobs.phase[column] == Phase.REFUSED]
        self.let_come(int(state.clock.now), refused)
        self.submit_next(owner)

    def let_come(self, now: int, over: list[int]) -> None:
        """Note when those are submitted who waited for these jobs."""
        for job in over:
            for follower in self.followers.get(job, ()):
                heapq.heappush(self.due, (now + int(self.think[follower]), follower))

    def submit_next(self, owner: Owner) -> None:
        """Write the jobs that are submitted next, all of one instant, into the next columns."""
        time = self.due[0][0] if self.due else NEVER
        if time > self.next_at or time == NEVER:
            return
        self.put_back(owner)
        self.next, self.next_at = self.taken_until(time), time
        self.write(owner, self.next, time)

    def taken_until(self, time: int) -> list[int]:
        """Take out those who are due by then, in the log's order."""
        taken = []
        while self.due and self.due[0][0] <= time:
            taken.append(heapq.heappop(self.due)[1])
        return self.in_order(taken)

    def in_order(self, jobs: list[int]) -> list[int]:
        """Jobs as they stand in the log."""
        return sorted(jobs, key=self.place.__getitem__)

    def put_back(self, owner: Owner) -> None:
        """Take the next ones out of their columns, because others come before them or with them."""
        owner.state.jobs.submit[len(self.order) : len(self.order) + len(self.next)] = NEVER
        for job in self.next:
            heapq.heappush(self.due, (self.next_at, job))
        self.next, self.next_at = [], NEVER

    def write(self, owner: Owner, chosen: list[int], time: int) -> None:
        """Write jobs into the first columns that nobody has."""
        jobs, columns = owner.state.jobs, slice(len(self.order), len(self.order) + len(chosen))
        jobs[self.written, columns] = self.rows[self.written[:, None], chosen]
        jobs.submit[columns] = time
        owner.world.runtime[columns] = self.runtime[chosen]

    def jobs_by_column(self) -> Table:
        """The job of each column; those that were never submitted come last."""
        rest = np.setdiff1d(np.arange(len(self.follows)), self.order)
        return np.concatenate([np.array(self.order, np.int64), rest])


class SubmissionsInPlace(Submissions):
    """The same for a policy that looks at jobs by their columns, and so at none of the order of submission.

    Every job has its column from the beginning; who is submitted stands in the list of jobs that return.
    """

    def begin(self, owner: Owner) -> None:
        """Nobody has been submitted."""
        state, count = owner.state, len(self.follows)
        submit = state.jobs.submit.tolist()
        self.due = [(submit[job], job) for job in np.flatnonzero(self.follows < 0).tolist()]
        heapq.heapify(self.due)
        self.order, self.times = list(range(count)), submit
        self.awaited = np.zeros(0, np.int64)
        """Jobs that have been submitted, whose ends others wait for."""
        state.jobs.submit[:] = NEVER
        state.clock.first_new = state.clock.last_new = count
        state.clock.wake = self.due[0][0] if self.due else NEVER

    def take_ends(self, owner: Owner) -> None:
        """At an open instant, before the policy's turn: who has ended lets others come, now or later."""
        now = int(owner.state.clock.now)
        self.see_who_is_over(owner.state, now)
        new = self.taken_until(now)
        while is_crowded(owner.state, owner.world, len(new)):
            owner.grow()
        state = owner.state
        state.jobs.submit[new], state.jobs.phase[new] = now, Phase.WAITING
        state.lists.returned[: len(new)] = new
        state.clock.returns = len(new)
        state.clock.waits += len(new)
        for job in new:
            self.times[job] = now
        leaders = [job for job in new if job in self.followers]
        self.awaited = np.concatenate([self.awaited, np.array(leaders, np.int64)])

    def take_refusals(self, owner: Owner) -> None:
        """After the policy's turn: the same for whom it refused or stopped for good."""
        clock = owner.state.clock
        clock.returns = 0
        self.see_who_is_over(owner.state, int(clock.now))
        if self.due:
            clock.wake = min(int(clock.wake), max(self.due[0][0], int(clock.now)))

    def see_who_is_over(self, state: State, now: int) -> None:
        """Let those come who wait for jobs that have ended for good, or never will run."""
        phase = state.jobs.phase[self.awaited]
        over = (phase == Phase.DONE) | (phase == Phase.REFUSED)
        if over.any():
            self.let_come(now, self.awaited[over].tolist())
            self.awaited = self.awaited[~over]


def ended(state: State) -> list[int]:
    """The columns of the jobs of which a run ended at the present instant."""
    runs = state.lists.ended_runs[: state.clock.ended]
    return [int(job) for job in state.runs.job[runs]]
