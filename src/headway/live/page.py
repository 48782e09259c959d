"""The agent's page: one HTML file that asks the agent for its state every second."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from headway.errors import HeadwayError
from headway.live.estimates import judged

if TYPE_CHECKING:
    from headway.live.agent import LiveAgent

SHOWN_TASKS, SHOWN_DECISIONS = 300, 60
EMBEDDED = "/*EMBEDDED*/null"


def state_of(agent: LiveAgent) -> dict[str, Any]:
    """All that the page shows, as plain data; times in µs."""
    clusters = []
    for proxy, site in zip(agent.proxies, agent.grid.sites, strict=True):
        found: dict[str, Any] = {"name": site.name, "kind": site.kind, "procs": site.cluster.procs}
        found["policy"] = site.policy.brief
        try:
            found |= proxy.remote.ask("picture")
        except HeadwayError as error:
            found["silent"] = str(error)
        clusters.append(found)
    rows = agent.journal.last_tasks(SHOWN_TASKS)
    return {
        "now": agent.now,
        "policy": str(agent.grid.policy.brief),
        "control": agent.guard.control,
        "stopped": agent.guard.stopped,
        "clusters": clusters,
        "tasks": [agent.on_status(row.number) for row in rows],
        "counts": agent.journal.counts(),
        "decisions": agent.journal.decisions(SHOWN_DECISIONS),
        "estimates": judged(agent.journal),
        "prefix": f"hw-{agent.journal.grid}-",
    }


def page(state: dict[str, Any] | None = None) -> bytes:
    """The page; with a state it is a record that opens without an agent."""
    text = (files("headway.live") / "assets" / "live.html").read_text("utf-8")
    if state is not None:
        text = text.replace(EMBEDDED, json.dumps(state).replace("</", "<\\/"))
    return text.encode()


def pages_of(agent: LiveAgent) -> Any:
    """What the agent answers to a browser."""

    def answer(path: str) -> tuple[str, bytes] | None:
        if path == "/":
            return "text/html; charset=utf-8", page()
        if path == "/state.json":
            with agent.lock:
                return "application/json", json.dumps(state_of(agent)).encode()
        return None

    return answer
