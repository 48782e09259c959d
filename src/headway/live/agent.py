"""The agent: gives tasks to clusters, moves waiting ones now and then, and loses none.

Decisions are those of :class:`headway.policies.grid.middleware.Agent`, made again at each event from what the
journal and the servers say. Around them: the journal, polls, and the settling of what was left half done.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from headway.errors import HeadwayError
from headway.live import outside
from headway.live.accounts import Accounts
from headway.live.grid_file import Grid, Site
from headway.live.journal import OVER, RUNNING, SUSPENDED, Journal, JournalError, TaskRow
from headway.live.proxy import Proxy
from headway.live.script import remove_fence
from headway.live.server import NAME, widest
from headway.live.spans import final_run, time_suspended
from headway.live.task import Task
from headway.live.tended import Tended
from headway.live.wire import NoAnswer, Refused, Remote
from headway.plain import Notify, counted
from headway.policies.grid.middleware import Agent, Move
from headway.policies.grid.notes import NO_ANSWER
from headway.policies.grid.setup import microseconds_of
from headway.units import SECOND

SHOWN_TASKS, SHOWN_DECISIONS = 300, 60
"""Of the page."""
LONGEST_NAME = 100
"""Characters of a client's own name of a submission."""
RESTS = 3
"""A server that hangs is asked again after so many times ``timeout``; clients get answers meanwhile."""

Clock = Callable[[], int]


class LiveAgent(Tended):
    """The agent's process, but for the socket."""

    requests = ("submit", "estimate", "status", "queue", "cancel", "explain", "state", "ready")
    prefix = "on_"

    def __init__(
        self,
        grid: Grid,
        control: bool,
        say: Notify,
        dry_run: bool = False,
        clock: Clock | None = None,
        reach: Callable[..., Remote] = Remote,
    ) -> None:
        super().__init__(grid, control)
        self.say, self.dry_run = say, dry_run
        self.journal = Journal(grid.folder / "journal.db", epoch=0 if grid.is_simulated else None)
        self.clock = clock or outside.now
        secret = grid.secret()
        self.proxies = [
            Proxy(
                site.name,
                reach(
                    site.listen, token=secret, ca=grid.tls_ca, timeout=grid.timeout, rest=RESTS * grid.timeout
                ),
                self.journal,
                acts=control and not dry_run,
            )
            for site in grid.sites
        ]
        self.accounts = Accounts(self.journal, self.proxies, say, None if grid.is_simulated else grid.fence)
        mode = str(grid.policy.params["mode"])
        self.period = 0 if mode == "none" else microseconds_of(grid.policy, "period")
        self.event = self.journal.number("event")
        """The number of the last reallocation event."""

    # ---- time ---------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return self.clock()

    def tick(self) -> float:
        """Look at the clusters, settle, and reallocate if it is time."""
        with self.lock:
            begun = outside.steady()
            self.accounts.poll(self.now)
            if self.guard.control and not self.guard.stopped:
                self.settle()
                self._reallocate_if_due()
                self.forget()
            return max(0.0, self.grid.poll - (outside.steady() - begun)) or 0.01

    def _reallocate_if_due(self) -> None:
        if not self.period:
            return
        number = (self.now - self.journal.epoch) // self.period
        if self.event is None or number < self.event:
            self.event = number  # the first event is the next one, also after a clock that was ahead
        elif number > self.event:
            self.event = number
            self.journal.set_fact("event", number)
            self.reallocate(self.journal.epoch + number * self.period)

    def settle(self) -> None:
        """Bring everything that was left half done to its end, and give homeless tasks a cluster."""
        for row in self.accounts.settle(self.now):
            try:
                self.arrive(row)
            except (NoAnswer, Refused) as error:
                self.accounts.complain(str(error))
                if isinstance(error, Refused):
                    return

    def forget(self) -> None:
        for fence in self.journal.forget(self.grid.keep):
            remove_fence(self.grid.fence / fence)

    def stop(self) -> None:
        with self.lock:
            for proxy in self.proxies:
                proxy.remote.close()
            self.journal.close()

    # ---- decisions ----------------------------------------------------------------------------------------

    def _agent(self, now: int) -> Agent:
        """The agent of simulations over the servers as they are now."""
        params = self.grid.policy.params
        attempts = self.journal.live_attempts()
        until = math.inf if self.grid.is_simulated else outside.steady() + self.grid.timeout / 2
        for proxy in self.proxies:
            proxy.begin(now, attempts, until)
        return Agent(
            self.proxies,
            str(params["heuristic"]),
            str(params["mode"]),
            microseconds_of(self.grid.policy, "threshold"),
            int(str(params["oldest"])),
        )

    def arrive(self, row: TaskRow) -> str:
        """Give a task to the cluster that completes it first; its name, or empty if that must wait."""
        now, place = self.now, self._taken(row)
        answers = self._answers(row.number)
        if place is None:
            if why := self._why_not_now(row.number):
                raise NoAnswer(why)
            self.journal.set_task(row.number, state="refused", ended=now)
            self.journal.decide(now, "refused", row.number, answers=answers)
            return ""
        name = self.proxies[place].name
        self.journal.decide(now, "mapped", row.number, cluster=name, answers=answers)
        self.accounts.settle(self.now)
        return name

    def _taken(self, row: TaskRow) -> int | None:
        """The number of the cluster that takes a task; where one refuses it, the others are asked."""
        agent, refused = self._agent(self.now), None
        while True:
            try:
                place = agent.arrive(row)
            except Refused as error:  # who said it is silent now
                refused = error
                continue
            if place is None and refused is not None:
                raise refused
            return place

    def _why_not_now(self, task: int) -> str:
        """Why a task that no cluster takes may be taken later: one is silent, or lacks nodes; else empty."""
        said = (proxy.silent or proxy.answers.get(task, {}).get("for_now", "") for proxy in self.proxies)
        return next((str(why) for why in said if why), "")

    def _answers(self, task: int) -> dict[str, Any]:
        """What each server said of a task."""
        return {
            proxy.name: {"silent": proxy.silent} if proxy.silent else proxy.answers.get(task, {})
            for proxy in self.proxies
        }

    def reallocate(self, now: int) -> list[Move]:
        """A reallocation event: the moves that were made."""
        agent = self._agent(now)
        places = {
            task: number
            for number, proxy in enumerate(self.proxies)
            for task, attempt in proxy.here.items()
            if attempt.state == "released"
        }
        rows = [row for row in self.journal.live_tasks() if row.state == "waiting" and not row.wanted]
        for row in rows:
            stays = row.task.cluster or row.number in self.accounts.staying
            if row.number in places and not stays and row.submitted <= now:
                agent.adopt(row, places[row.number])
        try:
            agent.reallocate(now)
        except (NoAnswer, Refused) as error:
            self.accounts.complain(f"a reallocation event was broken off: {error}")
        for move in agent.moves:
            self._remember(move, now)
        self.settle()
        return agent.moves

    def _remember(self, move: Move, now: int) -> None:
        row: TaskRow = move.task
        with self.journal.together():
            self.journal.set_task(row.number, moves=self.journal.task(row.number).moves + 1)
            self.journal.decide(
                now,
                "moved",
                row.number,
                source=self.proxies[move.source].name,
                target=self.proxies[move.target].name,
                before=move.before,
                after=self.proxies[move.target].estimated.get(row.number, move.after),
                told=move.after,
                procs_before=move.procs_before,
                procs_after=move.procs_after,
            )

    # ---- requests of clients ------------------------------------------------------------------------------

    def on_submit(self, task: dict[str, Any], submission: str = "") -> dict[str, Any]:
        """A new task: where it goes, and when it should start and end.

        Under one name of the client's, ``submission``, there is one task, however often it is submitted. What
        fails once the task is in the journal does not undo it: then it waits for a cluster.
        """
        asked = Task.from_json(task)
        if self.dry_run:
            return self.on_estimate(task)
        if submission and not (NAME.fullmatch(submission) and len(submission) <= LONGEST_NAME):
            raise Refused(f"submit: 'submission' must be up to {LONGEST_NAME} letters, digits, and . + - _")
        if submission and (known := self.journal.submitted_as(submission)) is not None:
            return self._again(known, asked, submission)
        self.guard.permit("submit")
        row = self.journal.add_task(asked, self.now, submission)
        try:
            cluster = self.arrive(row)
        except (NoAnswer, Refused, JournalError) as error:
            return {"task": row.number, "key": row.key, "waits_for": str(error)}
        if not cluster:
            raise Refused(f"task {row.number}: {self._why_nowhere(asked)}")
        [proxy] = [proxy for proxy in self.proxies if proxy.name == cluster]
        answer = proxy.answers.get(row.number, {})
        told: dict[str, Any] = {name: answer[name] for name in ("ignored", "late") if name in answer}
        return {"key": row.key, **self.on_status(row.number), **told}

    def _again(self, row: TaskRow, asked: Task, submission: str) -> dict[str, Any]:
        """What a client hears that has submitted a task before; the deadline counts from the first time."""
        if replace(asked, deadline=row.task.deadline) != row.task:
            raise Refused(f"the submission {submission} is task {row.number}, and that is another one")
        status = {"key": row.key, **self.on_status(row.number)}
        return status if "cluster" in status else status | {"waits_for": "a cluster that takes it"}

    def _why_nowhere(self, task: Task) -> str:
        sizes = ", ".join(f"{site.name} {widest(site.policy, site.cluster)}" for site in self.grid.sites)
        least = min((n for n, _ in task.forms), default=1 if task.is_moldable else task.procs)
        if task.cluster and task.cluster not in [site.name for site in self.grid.sites]:
            return f"there is no cluster {task.cluster}; the processors of those there are: {sizes}"
        return f"no cluster can run it: it needs {counted(least, 'processor')}, and there are {sizes}"

    def on_estimate(self, task: dict[str, Any]) -> dict[str, Any]:
        """Where a task would go; nothing is submitted."""
        asked = Task.from_json(task)
        row = TaskRow(0, "", asked, self.now, "waiting", 0, None, None, None, None, 0, "")
        self._agent(self.now)
        found = [(proxy.estimate(row), number) for number, proxy in enumerate(self.proxies)]
        (completion, _), best = min(found, key=lambda each: (each[0][0], each[1]))
        if completion == NO_ANSWER:
            raise Refused(self._why_not_now(0) or self._why_nowhere(asked))
        answer = self.proxies[best].answers[0]
        return {"cluster": self.proxies[best].name, "answers": self._answers(0), **answer}

    def on_status(self, task: int) -> dict[str, Any]:
        """What is known of a task."""
        row = self.journal.task(task)
        found: dict[str, Any] = {
            "task": row.number,
            "name": row.task.title(),
            "state": row.state,
            "submitted": row.submitted,
            "started": row.started,
            "ended": row.ended,
            "code": row.code,
            "latest_end": row.latest_end,
            "moves": row.moves,
            "wanted": row.wanted,
        }
        attempts = [each for each in self.journal.attempts_of(task) if each.state != "gone"]
        if attempts:
            last = attempts[-1]
            found |= {"cluster": last.server, "procs": last.procs, "batch_name": last.name}
            found |= {"start": last.start, "completion": last.completion, "walltime": last.walltime}
            found["spans"] = spans = self.journal.spans(last.number)
            if row.state == RUNNING and row.started is not None and last.walltime is not None:
                found["completion"] = row.started + last.walltime + time_suspended(spans, final_run(spans))
        return found

    def on_queue(self, count: int = 100) -> dict[str, Any]:
        """The last tasks, and how many there are in each state."""
        rows = self.journal.last_tasks(count)
        return {"tasks": [self.on_status(row.number) for row in rows], "counts": self.journal.counts()}

    def on_cancel(self, task: int) -> dict[str, Any]:
        """Take a task back, or kill it if it runs."""
        self.accounts.poll(self.now)
        row = self.journal.task(task)
        if row.state not in OVER:
            self.guard.permit("kill" if row.state in (RUNNING, SUSPENDED) else "cancel")
            self.journal.set_task(task, wanted="cancelled")
            try:
                self.accounts.settle(self.now)
            except JournalError as error:  # it is wanted, and done as soon as that can be written
                self.accounts.complain(str(error))
        return self.on_status(task)

    def on_explain(self, task: int | None = None, count: int = 50) -> dict[str, Any]:
        """The last decisions with their reasons."""
        return {"decisions": self.journal.decisions(count, task)}

    def on_ready(self) -> dict[str, Any]:
        """Whether each cluster's server answers now: nothing, or why not."""
        return {"clusters": {proxy.name: proxy.asked() for proxy in self.proxies}}

    def on_state(self) -> dict[str, Any]:
        """All that the page shows, as plain data; times in µs."""
        with self.lock:
            return {
                "now": self.now,
                "policy": str(self.grid.policy.brief),
                "control": self.guard.control,
                "stopped": self.guard.stopped,
                "clusters": list(map(self._picture, self.proxies, self.grid.sites)),
                "tasks": [self.on_status(row.number) for row in self.journal.last_tasks(SHOWN_TASKS)],
                "counts": self.journal.counts(),
                "decisions": self.journal.decisions(SHOWN_DECISIONS),
                "estimates": judged(self.journal),
                "prefix": f"hw-{self.journal.grid}-",
            }

    def _picture(self, proxy: Proxy, site: Site) -> dict[str, Any]:
        """What the page shows of a cluster."""
        found = {
            "name": site.name, "kind": site.kind, "procs": site.cluster.procs, "policy": site.policy.brief,
        }  # fmt: skip
        try:
            return found | proxy.ask("picture")
        except HeadwayError as error:
            return found | {"silent": str(error)}


def judged(journal: Journal) -> list[dict[str, Any]]:
    """For each cluster: tasks, median errors of start and end, and how many ended by the estimate (seconds).

    A positive error means later than was estimated. Estimates take every task to last its whole walltime, so
    that most tasks end earlier than was said.
    """
    by_server: dict[str, list[tuple[int, int]]] = {}
    for server, _, start, completion, started, ended in journal.estimates():
        if started is not None:
            by_server.setdefault(server, []).append((started - start, ended - completion))
    return [
        {
            "cluster": server,
            "tasks": len(errors),
            "start_error": median(start for start, _ in errors) / SECOND,
            "end_error": median(end for _, end in errors) / SECOND,
            "worst_end_error": max(end for _, end in errors) / SECOND,
            "ended_in_time": sum(end <= SECOND for _, end in errors) / len(errors),
        }
        for server, errors in sorted(by_server.items())
    ]
