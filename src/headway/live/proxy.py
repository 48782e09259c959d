"""A server in another process, as the agent of simulations sees one: three requests and a journal.

``submit`` hands a task over held. Releasing it is for whoever settles accounts afterwards, when the task is
gone everywhere else.
"""

from __future__ import annotations

import math
from typing import Any

from headway.live import outside
from headway.live.journal import POOLS, WHYS, Attempt, Journal, TaskRow
from headway.live.spans import told_spans
from headway.live.wire import NoAnswer, Refused, Remote
from headway.plain import cut
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.values import INSTANT, is_text, misfits

HERE = ("held", "releasing", "released")
"""States of an attempt that is at its server."""

NUMBER = (INSTANT, NO_ANSWER)
"""One that can be counted with; no completion at all is one."""
NUMBERS = dict.fromkeys(
    ("started", "ended", "start", "completion", "walltime", "latest_end", "procs", "code", "since"),
    (NUMBER, None),
)
"""Of a job that a server is asked for, where they are known."""
PLAN = NUMBERS | {"completion": NUMBER, "procs": NUMBER, "late": (NUMBER, None), "ignored": ([is_text], None)}
WANTED: dict[str, dict[str, Any]] = {
    "estimate": PLAN,
    "submit": PLAN,
    "cancel": {"gone": bool},
    "kill": {"gone": bool},
    "poll": {"jobs": dict, "others": [is_text]},
    "close": {"following": int},
}
"""What the answer to a request must have; one that has not is no answer."""
STATES = (
    "held", "waiting", "running", "suspended", "done", "failed", "killed", "cancelled", "fenced", "absent",
)  # fmt: skip
"""Of a job that a server is polled for; what becomes of a job in another one is unknown."""
JOB = NUMBERS | {
    "state": STATES,
    "spans": (None, lambda value: told_spans(value) is not None),
    "why": (None, WHYS),
    "pool": (None, POOLS),
}


class Proxy:
    """The server of one cluster."""

    def __init__(self, name: str, remote: Remote, journal: Journal, acts: bool = True) -> None:
        self.name, self.remote, self.journal, self.acts = name, remote, journal, acts
        self.now = 0
        """The instant of the event for which it is asked (µs)."""
        self.silent = ""
        """Why it is not asked any more in this event."""
        self.answers: dict[int, dict[str, Any]] = {}
        """What it said of each task in this event."""
        self.estimated: dict[int, int] = {}
        """The completion that it expected of each task when it was last asked, before it was handed over."""
        self.here: dict[int, Attempt] = {}
        """The attempts that are at this server in this event, by task."""
        self.until = math.inf

    def begin(self, now: int, attempts: list[Attempt], until: float = math.inf) -> None:
        """An event: what is here, that nothing has been said yet, and how long estimates are asked for."""
        self.now, self.silent, self.until = now, "", until
        self.answers.clear()
        self.estimated.clear()
        self.here = {each.task: each for each in attempts if each.server == self.name and each.state in HERE}

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        """What the server answers; one whose answer says something else than was asked has not answered."""
        answer = self.remote.ask(request, **data)
        wrong = misfits(answer, WANTED.get(request, {}))
        if request == "poll" and not wrong:
            wrong = misfits(answer["jobs"], dict.fromkeys(data["names"], JOB))
            wrong += [name for name in answer["jobs"] if name not in data["names"]]
        if wrong:
            raise NoAnswer(f"cluster {self.name} does not answer {request} soundly: look at {cut(wrong[0])}")
        return answer

    def asked(self) -> str:
        """Nothing if the server answers, else what is heard in place of an answer."""
        try:
            self.ask("describe")
        except (NoAnswer, Refused) as error:
            return f"cluster {self.name}: {error}"
        return ""

    def estimate(self, row: TaskRow) -> tuple[int, int]:
        """Completion and processors; a server that gives no answer takes nothing and gives nothing away.

        So does one that only watches, where the agent acts.
        """
        attempt = self.here.get(row.number)
        unknown = (STARTED, 0) if attempt else (NO_ANSWER, 0)
        if outside.steady() > self.until:
            self.silent = f"cluster {self.name}: this event has taken too long, and continues without it"
        if self.silent:
            return unknown
        name = attempt.name if attempt else ""
        try:
            answer = self.ask("estimate", name=name, task=row.task.as_json())
        except (NoAnswer, Refused) as error:
            self.silent = f"cluster {self.name}: {error}" if isinstance(error, Refused) else str(error)
            return unknown
        if answer.pop("only_watches", False) and self.acts:
            self.silent = f"cluster {self.name}: its server only watches; start it with --control"
            return unknown
        self.answers[row.number] = answer
        self.estimated[row.number] = answer["completion"]
        return answer["completion"], answer["procs"]

    def submit(self, row: TaskRow) -> tuple[int, int]:
        """Hand a task over, held: first the journal, then the server, then the journal."""
        attempt = self.journal.add_attempt(row, self.name, self.now)
        try:
            answer = self.ask("submit", name=attempt.name, fence=row.fence, task=row.task.as_json())
        except Refused as error:
            self.journal.set_attempt(attempt.number, state="gone", why="refused")
            self.silent = f"cluster {self.name}: {error}"
            raise
        self.accepted(attempt, answer)
        return answer["completion"], answer["procs"]

    def accepted(self, attempt: Attempt, answer: dict[str, Any]) -> None:
        """A server has the task, held."""
        with self.journal.together():
            told = {name: _known(answer.get(name)) for name in ("start", "completion", "walltime")}
            self.journal.set_attempt(attempt.number, state="held", procs=answer.get("procs") or 0, **told)
            if told["start"] is not None and told["completion"] is not None:
                self.journal.estimated(attempt, told["start"], told["completion"])
            if (latest := _known(answer.get("latest_end"))) is not None:
                self.journal.set_task(attempt.task, latest_end=latest)
        self.here[attempt.task] = self.journal.attempt(attempt.number)
        self.answers[attempt.task] = answer

    def cancel(self, row: TaskRow) -> bool:
        """Take a waiting task back; False if it does not wait here any more, or if nobody knows."""
        attempt = self.here.get(row.number)
        if attempt is None or self.silent:
            return False
        self.journal.set_attempt(attempt.number, state="cancelling")
        try:
            gone: bool = self.ask("cancel", name=attempt.name)["gone"]
        except NoAnswer as error:
            self.silent = str(error)
            return False
        except Refused:
            self.journal.set_attempt(attempt.number, state=attempt.state)
            raise
        self.journal.set_attempt(attempt.number, state="gone" if gone else attempt.state)
        if gone:
            del self.here[row.number]
        return gone


def _known(time: int | None) -> int | None:
    """A time for the journal; what never comes is not known."""
    return None if time == NO_ANSWER else time
