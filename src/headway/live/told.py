"""What the agent tells its clients; an answer that says something else is no answer."""

from __future__ import annotations

from typing import Any

from headway.live.wire import NoAnswer, Remote
from headway.values import fits

NUMBER, TEXT = (int, None), (str, None)
"""Where it is known."""
TASK = {
    **dict.fromkeys(("task", "submitted", "moves"), int),
    **dict.fromkeys(("name", "state"), str),
    **dict.fromkeys(("started", "ended", "code", "latest_end", "procs", "start", "completion"), NUMBER),
    **dict.fromkeys(("cluster", "batch_name"), TEXT),
}
TIMES = {"start": NUMBER, "completion": NUMBER, "latest_end": NUMBER}
PLACE = {"cluster": str, "procs": int, **TIMES}
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
