"""What the agent tells its clients; an answer that says something else is no answer."""

from __future__ import annotations

from typing import Any

from headway.live.wire import NoAnswer, Remote

NUMBER, TEXT = (int, type(None)), (str, type(None))
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
HEARD = ({str: ANSWER}, type(None))
DECISIONS = (
    {"time": int, "kind": {"moved"}, "source": str, "target": str, "before": int, "after": int},
    {"time": int, "kind": {"mapped"}, "cluster": str, "answers": HEARD},
    {"time": int, "kind": {"refused", "lost", "fenced"}, "cluster": TEXT, "answers": HEARD},
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
"""By request: a table of names, a table of any names (str), a list of one shape, a type, some words, or a
choice of several of these."""


class TellingAgent(Remote):
    """The agent, of whom clients hear only what they can read."""

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        answer = super().ask(request, **data)
        if request in ANSWERS and not fits(answer, ANSWERS[request]):
            raise NoAnswer(f"{self.address} answers {request} with something else than was asked for")
        return answer


def fits(value: Any, shape: Any) -> bool:
    """Whether a value of a JSON document has a shape; a truth value is no number.

    >>> fits({"a": [1, 2], "b": "x"}, {"a": [int]}), fits({"a": [1, True]}, {"a": [int]})
    (True, False)
    """
    if isinstance(shape, tuple):
        return any(fits(value, each) for each in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, set):
        return isinstance(value, str) and value in shape
    if not isinstance(shape, dict):
        return type(value) is shape
    if not isinstance(value, dict):
        return False
    if str in shape:
        return all(fits(each, shape[str]) for each in value.values())
    return all(fits(value.get(name), each) for name, each in shape.items())
