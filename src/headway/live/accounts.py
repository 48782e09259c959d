"""Settling accounts: what the servers say became of tasks, and what was left half done is brought to its end.

For each task, from what the journal knows and the servers answer:

    submitting            the server is asked: it has it (held), or never got it (gone)
    cancelling            asked again: gone, or it had started
    held, and released    a move that was broken off: the held one is taken back
    held, nothing else    released; again, if its batch system has lost that in a crash
    nothing at all        the task is homeless: the agent gives it a cluster

No answer changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.errors import UsageError
from headway.live.journal import CANCELLED, LIVE, OVER, RUNNING, SUSPENDED, Attempt, Journal, TaskRow
from headway.live.proxy import HERE, Proxy
from headway.live.script import take_fence
from headway.live.spans import Span, closed, told_spans
from headway.live.wire import NoAnswer, Refused
from headway.plain import Notify

REMEMBERED = 1000
"""Sentences that are not said again."""
ENDINGS = {"done": "done", "failed": "failed", "killed": "killed", "cancelled": CANCELLED}


class Accounts:
    """The journal against the servers."""

    def __init__(
        self, journal: Journal, proxies: Sequence[Proxy], say: Notify, fence: Path | None = None
    ) -> None:
        """``fence`` is where the fences are; None: no task really runs."""
        self.journal, self.proxies, self.say = journal, {proxy.name: proxy for proxy in proxies}, say
        self.fence = fence
        self.silent: dict[str, str] = {}
        """Servers that did not answer the last poll, and what was heard."""
        self.staying: set[int] = set()
        """Tasks that somebody holds where they wait, or lets wait there: not to be moved."""
        self._said: set[str] = set()

    def complain(self, sentence: str) -> None:
        """Say something once until it is over."""
        if sentence not in self._said:
            if len(self._said) == REMEMBERED:
                self._said.clear()
            self._said.add(sentence)
            self.say(sentence)

    # ---- what became of tasks -----------------------------------------------------------------------------

    def poll(self, now: int) -> None:
        """Ask every server about the tasks that are there."""
        attempts = self.journal.live_attempts()
        for attempt in attempts:
            if attempt.server not in self.proxies:
                self.complain(str(_no_longer(attempt)))
        for name, proxy in self.proxies.items():
            there = {each.name: each for each in attempts if each.server == name and each.state in HERE}
            try:
                answer = proxy.ask("poll", names=list(there), prefix=f"hw-{self.journal.grid}-")
            except (NoAnswer, Refused) as error:
                self.silent[name] = str(error)
                self.complain(str(error))
                continue
            if self.silent.pop(name, None):
                self._said.clear()
                self.say(f"{name} answers again")
            for job, found in answer["jobs"].items():
                self._heard(there[job], found, now)
            for job in answer["others"]:
                self._stray(proxy, job)

    def _heard(self, attempt: Attempt, found: dict[str, Any], now: int) -> None:
        """What a server says of an attempt."""
        state = found["state"]
        if state == "held" and attempt.state == "released":
            # A batch system that crashed has lost the release: it is made again when accounts are settled.
            self.journal.set_attempt(attempt.number, state="releasing")
        row = self.journal.task(attempt.task)
        (self.staying.add if found.get("stays") else self.staying.discard)(row.number)
        planned = {name: found[name] for name in ("start", "completion") if found.get(name) is not None}
        if planned.items() - {"start": attempt.start, "completion": attempt.completion}.items():
            self.journal.set_attempt(attempt.number, **planned)
        if state in ("held", "waiting"):
            if row.state in (RUNNING, SUSPENDED):  # stopped by the policy of its cluster, to be run again
                self.journal.set_task(row.number, state="waiting", started=None)
        elif state in (RUNNING, SUSPENDED):
            self._note_spans(attempt, found, now)
            if (row.state, row.started) != (state, found.get("started")):
                self._note_start(attempt, found)
                self.journal.set_task(row.number, state=state, started=found.get("started"))
        elif state in ENDINGS:
            self._over(attempt, row, ENDINGS[state], found, now)
        else:
            # fenced: it ran elsewhere, and this was a second copy; absent: its batch system has lost it.
            self.journal.set_attempt(attempt.number, state="gone", why=state)
            kind = "lost" if state == "absent" else state
            self.journal.decide(now, kind, row.number, cluster=attempt.server)

    def _over(self, attempt: Attempt, row: TaskRow, state: str, found: dict[str, Any], now: int) -> None:
        started, ended = found.get("started"), found.get("ended") or now
        with self.journal.together():
            self._note_spans(attempt, found, ended)
            self._note_start(attempt, found)
            self.journal.set_attempt(attempt.number, state="over", procs=found.get("procs") or attempt.procs)
            code = found.get("code")
            self.journal.set_task(row.number, state=state, started=started, ended=ended, code=code)
            if state in ("done", "failed"):
                self.journal.happened(attempt.number, started, ended)

    def _note_spans(self, attempt: Attempt, found: dict[str, Any], now: int) -> None:
        """When it was suspended: as its server says, or else by what is heard of it."""
        known = self.journal.spans(attempt.number)
        spans = told_spans(found["spans"]) if "spans" in found else None
        if spans is None:
            since, lasts = found.get("since") or now, any(span.end is None for span in known)
            if found["state"] == SUSPENDED:
                spans = known if lasts else [*known, Span(0, SUSPENDED, since, None)]
            else:
                spans = closed(known, min(since, now))
        if spans != known:
            self.journal.set_spans(attempt, spans)

    def _note_start(self, attempt: Attempt, found: dict[str, Any]) -> None:
        """Why it started, and in which pool, where its server says so."""
        if found.get("why") is not None:
            self.journal.set_start(attempt, found["why"], found.get("pool") or 0)

    def _stray(self, proxy: Proxy, name: str) -> None:
        """A job of ours that should not be there, as one that came after nobody answered: take it back."""
        attempt = self.journal.attempt_named(name)
        if attempt is not None and attempt.state in LIVE:
            return
        try:
            proxy.ask("cancel", name=name)
        except (NoAnswer, Refused) as error:
            self.complain(str(error))

    # ---- what was left half done --------------------------------------------------------------------------

    def settle(self, now: int) -> list[TaskRow]:
        """Bring it to its end; the tasks that have no cluster."""
        homeless = []
        for row in self.journal.unsettled():
            try:
                if self._settled(row):
                    homeless.append(row)
            except (NoAnswer, Refused) as error:
                self.complain(str(error))
        for row in [row for row in homeless if row.wanted == CANCELLED]:
            homeless.remove(row)
            try:
                if self.fence is not None:
                    take_fence(self.fence / row.fence)
                self.journal.set_task(row.number, state=CANCELLED, ended=now)
            except UsageError as error:
                self.complain(str(error))
        return homeless

    def _settled(self, row: TaskRow) -> bool:
        """Settle one task; whether it has no cluster now."""
        for attempt in self.journal.attempts_of(row.number):
            if attempt.state == "submitting":
                self._look_for(attempt)
            elif attempt.state == "cancelling":
                self._take_back(attempt)
        left = [each for each in self.journal.attempts_of(row.number) if each.state in LIVE]
        if row.wanted == CANCELLED:
            for attempt in left:
                self._take_back(attempt, kill=True)
            left = [each for each in self.journal.attempts_of(row.number) if each.state in LIVE]
            return not left and self.journal.task(row.number).state not in OVER
        out = [each for each in left if each.state in ("releasing", "released", "cancelling")]
        held = [each for each in left if each.state == "held"]
        if out:
            for attempt in held:
                self._take_back(attempt)
        elif held:
            for attempt in held[:-1]:
                self._take_back(attempt)
            self._release(held[-1])
        for attempt in out:
            if attempt.state == "releasing":
                self._release(attempt)
        return not left and row.state not in OVER

    def _ask(self, attempt: Attempt, request: str, **data: Any) -> dict[str, Any]:
        if attempt.server not in self.proxies:
            raise _no_longer(attempt)
        return self.proxies[attempt.server].ask(request, **data)

    def _look_for(self, attempt: Attempt) -> None:
        """Whether a task that was being handed over has arrived."""
        found = self._ask(attempt, "poll", names=[attempt.name])["jobs"][attempt.name]
        if found["state"] == "absent":
            self.journal.set_attempt(attempt.number, state="gone", why="never arrived")
        else:
            self.proxies[attempt.server].accepted(attempt, found)

    def _take_back(self, attempt: Attempt, kill: bool = False) -> None:
        self.journal.set_attempt(attempt.number, state="cancelling")
        try:
            gone = self._ask(attempt, "kill" if kill else "cancel", name=attempt.name)["gone"]
        except Refused:
            self.journal.set_attempt(attempt.number, state=attempt.state)
            raise
        self.journal.set_attempt(attempt.number, state="gone" if gone else "released")

    def _release(self, attempt: Attempt) -> None:
        self.journal.set_attempt(attempt.number, state="releasing")
        self._ask(attempt, "release", name=attempt.name)
        self.journal.set_attempt(attempt.number, state="released")


def _no_longer(attempt: Attempt) -> NoAnswer:
    return NoAnswer(
        f"cluster {attempt.server} is not in the grid file any more, and has tasks; put it back until they "
        "have ended"
    )
