"""What the paper's campaign measures of each schedule besides the metrics of every summary."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.metrics.own_numbers import redirected
from headway.metrics.sample import Sample
from headway.schedule import Schedule
from headway.schedule.pieces import TO_REDIRECTION
from headway.units import SECOND

TAU = 60
"""Seconds, the paper's bound of the bounded slowdown."""


def numbers(sample: Sample) -> dict[str, Any]:
    """The largest response time (s), what redirection did, and how long redirected jobs queued again (s)."""
    schedule = sample.schedule
    found: dict[str, Any] = {
        "max_response": float(schedule.response.max()) / SECOND if len(schedule) else None,
        **redirected(sample),
    }
    if schedule.pieces is not None:
        again = queued_again(schedule)
        found["mean_queued_again"] = float(again.mean()) / SECOND if len(again) else None
    return found


def queued_again(schedule: Schedule) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How long each redirected job waited between its stop and its next start (µs)."""
    pieces = schedule.pieces
    if pieces is None:
        return np.zeros(0, np.int64)
    stops = np.flatnonzero(np.isin(pieces.ended, TO_REDIRECTION))
    last_start = np.full(len(schedule), np.iinfo(np.int64).min)
    running = pieces.state == 0
    np.maximum.at(last_start, pieces.job[running], pieces.start[running])
    return np.asarray(last_start[pieces.job[stops]] - pieces.end[stops])
