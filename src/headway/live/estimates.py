"""How good the servers' estimates were: what they said when a task was handed over, beside what happened."""

from __future__ import annotations

from statistics import median
from typing import Any

from headway.live.journal import Journal
from headway.units import SECOND


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
