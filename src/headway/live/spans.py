"""What became of a job beside its last run from start to end: when it was suspended, and runs given up.

    run 0   |running, given up|
    run 1                          |started ... |suspended| ... ended|

A server that suspends or stops jobs tells their spans; of the others the agent notes what it hears.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from headway.values import INSTANT, fits

START, RESUME, SUSPEND, STOP, KILL = "start", "resume", "suspend", "stop", "kill"
"""What the policy of a cluster wants to be done with a job."""
GIVEN_UP, SUSPENDED = "given up", "suspended"
SPAN = {"run": range(1 << 31), "state": (GIVEN_UP, SUSPENDED), "start": INSTANT, "end": (INSTANT, None)}
"""What a span may say."""


class Span(NamedTuple):
    """A part of a job's life; times in µs, ``end`` None while it lasts."""

    run: int
    state: str
    start: int
    end: int | None


def noted(spans: Sequence[Span], act: str, run: int, began: int, at: int) -> list[Span]:
    """The spans of a job after an act on the run that began at an instant.

    >>> noted(noted([], SUSPEND, 0, 5, 10), RESUME, 0, 5, 30)
    [Span(run=0, state='suspended', start=10, end=30)]
    >>> noted([], STOP, 0, 5, 10)
    [Span(run=0, state='given up', start=5, end=10)]
    """
    if act == SUSPEND:
        return [*spans, Span(run, SUSPENDED, max(at, began), None)]
    if act in (RESUME, STOP):
        spans = closed(spans, at)
    return [*spans, Span(run, GIVEN_UP, began, max(at, began))] if act == STOP else list(spans)


def closed(spans: Sequence[Span], at: int) -> list[Span]:
    """The spans when none lasts any more."""
    return [span if span.end is not None else span._replace(end=max(at, span.start)) for span in spans]


def moved(spans: Sequence[Span], step: int) -> list[Span]:
    """The spans by a clock that was set by so much."""
    ends = (None if span.end is None else span.end + step for span in spans)
    return [span._replace(start=span.start + step, end=end) for span, end in zip(spans, ends, strict=True)]


def final_run(spans: Sequence[Span]) -> int:
    """The number of the run after those that were given up."""
    return 1 + max((span.run for span in spans if span.state == GIVEN_UP), default=-1)


def time_suspended(spans: Sequence[Span], run: int) -> int:
    """How long a run was suspended, as far as that is over (µs)."""
    return sum(
        span.end - span.start
        for span in spans
        if span.state == SUSPENDED and span.run == run and span.end is not None
    )


def stored_spans(text: Any) -> list[Span] | None:
    """Spans from the text that a table keeps of them; None if it cannot be read."""
    try:
        return told_spans(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None


def told_spans(value: Any) -> list[Span] | None:
    """Spans from what a server or a file says; None if these are none."""
    if not fits(value, [list]):
        return None
    found = [Span(*each) for each in value if len(each) == len(Span._fields)]
    sound = all(fits(span._asdict(), SPAN) and (span.end is None or span.start <= span.end) for span in found)
    return found if sound and len(found) == len(value) else None
