"""The agent's page: one HTML file that asks the agent for its state every second."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

EMBEDDED = "/*EMBEDDED*/null"


def page(state: dict[str, Any] | None = None) -> bytes:
    """The page; with a state it is a record that opens without an agent."""
    text = (files("headway.live") / "assets" / "live.html").read_text("utf-8")
    if state is not None:
        text = text.replace(EMBEDDED, json.dumps(state).replace("<", "\\u003c"))
    return text.encode()


def pages_of(state: Callable[[], dict[str, Any]]) -> Callable[[str], tuple[str, bytes] | None]:
    """What an agent whose state this tells answers to a browser."""

    def answer(path: str) -> tuple[str, bytes] | None:
        if path == "/":
            return "text/html; charset=utf-8", page()
        if path == "/state.json":
            return "application/json", json.dumps(state()).encode()
        return None

    return answer
