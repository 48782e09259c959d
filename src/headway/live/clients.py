"""Clients of the agent: what it tells them, and how they wait until a grid answers or tasks have ended.

An answer that says something else is no answer. Who waits asks again and again, each time over one kept
connection; an agent that does not answer for a moment, as while it is started again, is waited for too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from headway.errors import HeadwayError
from headway.live import outside
from headway.live.journal import OVER
from headway.live.spans import told_spans
from headway.live.wire import BrokenOff, NoAnswer, Remote, TooSlow
from headway.plain import Progress, counted
from headway.values import fits

NUMBER, TEXT = (int, None), (str, None)
"""Where it is known."""
TASK = {
    **dict.fromkeys(("task", "submitted", "moves"), int),
    **dict.fromkeys(("name", "state"), str),
    **dict.fromkeys(("started", "ended", "code", "latest_end", "procs", "start", "completion"), NUMBER),
    **dict.fromkeys(("cluster", "batch_name"), TEXT),
    "spans": (None, lambda value: told_spans(value) is not None),
}
TIMES = {"start": NUMBER, "completion": NUMBER, "latest_end": NUMBER}
PLACE = {"cluster": str, "procs": int, "ignored": ([str], None), "late": NUMBER, **TIMES}
ANSWER = {"silent": TEXT, "completion": NUMBER, "procs": NUMBER}
HEARD = ({str: ANSWER}, None)
DECISIONS = (
    {"time": int, "kind": "moved", "source": str, "target": str, "before": int, "after": int},
    {"time": int, "kind": "mapped", "cluster": str, "answers": HEARD},
    {"time": int, "kind": ("refused", "lost", "fenced"), "cluster": TEXT, "answers": HEARD},
)
ANSWERS: dict[str, Any] = {
    "status": TASK,
    "cancel": TASK,
    "queue": {"tasks": [TASK], "counts": {str: int}},
    "submit": ({"task": int, "waits_for": str}, {"task": int, **PLACE}, PLACE),
    "estimate": PLACE,
    "explain": {"decisions": [DECISIONS]},
    "ready": {"clusters": {str: str}},
}
"""By request."""


class TellingAgent(Remote):
    """The agent, of whom clients hear only what they can read."""

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        answer = super().ask(request, **data)
        if request in ANSWERS and not fits(answer, ANSWERS[request]):
            raise NoAnswer(f"{self.address} answers {request} with something else than was asked for")
        return answer


EVERY = 0.2
"""Seconds between two questions at first."""
SELDOM = 2.0
"""Seconds between two questions when it takes long."""
LOST = 20.0
"""Seconds for which a request whose reply was lost is repeated."""
Found = TypeVar("Found")


class TooLong(HeadwayError):
    """The time to wait has passed."""


def until_ready(agent: Remote, seconds: float) -> list[str]:
    """The names of the clusters, as soon as the agent and the servers of all of them answer."""

    def look() -> tuple[bool, list[str], str]:
        silent = agent.ask("ready")["clusters"]
        return not any(silent.values()), list(silent), "; ".join(filter(None, silent.values()))

    return _until(look, seconds)


def until_over(
    agent: Remote, tasks: Sequence[int], seconds: float, progress: Progress
) -> list[dict[str, Any]]:
    """What became of tasks, as soon as all of them have ended; of all tasks of the grid if none is named."""

    def look() -> tuple[bool, list[dict[str, Any]], str]:
        if not tasks:
            counts = agent.ask("queue", count=1)["counts"]
            left = sum(number for state, number in counts.items() if state not in OVER)
            progress(sum(counts.values()) - left, sum(counts.values()))
            return not left, [], f"{counted(left, 'task')} {'has' if left == 1 else 'have'} not ended"
        found = [agent.ask("status", task=task) for task in tasks]
        open_ones = [each for each in found if each["state"] not in OVER]
        progress(len(found) - len(open_ones), len(found))
        told = ", ".join(f"task {each['task']} is {each['state']}" for each in open_ones)
        return not open_ones, found, told

    return _until(look, seconds)


def until_heard(agent: Remote, request: str, data: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that may be repeated, asked for again where its reply is lost."""
    begun, lost = outside.steady(), None
    while True:
        try:
            return agent.ask(request, **data)
        except NoAnswer as error:
            if lost is None and isinstance(error, TooSlow | BrokenOff):
                lost = error
            if lost is None or outside.steady() > begun + LOST:
                raise (lost or error) from None
        outside.sleep(EVERY)


def _until(look: Callable[[], tuple[bool, Found, str]], seconds: float) -> Found:
    """What a look finds, as soon as it says that it is good; times out with what it said last."""
    begun, pause = outside.steady(), EVERY
    while True:
        try:
            good, found, missing = look()
            if good:
                return found
        except NoAnswer as error:
            missing = f"the agent does not answer: {error}"
        left = begun + seconds - outside.steady()
        if left <= 0:
            raise TooLong(f"waited {seconds:g} s: {missing}")
        outside.sleep(min(pause, left))
        pause = min(pause * 1.2, SELDOM)
