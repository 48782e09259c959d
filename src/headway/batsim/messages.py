"""What Batsim and a scheduler say to each other: JSON texts of events with times in seconds.

    {"now": 12.5, "events": [{"timestamp": 12.5, "type": "JOB_COMPLETED", "data": {...}}]}

Batsim asks and the scheduler answers, one message each. Times inside Headway are µs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headway.engine.ranges import ranges_of
from headway.errors import InputError
from headway.platform import processor_sets
from headway.policies.prepare import UNBOUNDED
from headway.units import LATEST, SECOND, microseconds
from headway.values import BITS64, NUMBER, fits


@dataclass(frozen=True)
class Event:
    """One event or request; ``at`` is its time in µs."""

    at: int
    type: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """Events of one side, and until when (µs) it says that time has gone on."""

    now: int
    events: tuple[Event, ...] = ()

    def text(self) -> str:
        """The message as it is sent."""
        events = [
            {"timestamp": seconds(event.at), "type": event.type, "data": event.data} for event in self.events
        ]
        return json.dumps({"now": seconds(self.now), "events": events})


def seconds(us: int) -> float | int:
    """A time as messages have it: whole seconds as whole numbers."""
    return us // SECOND if us % SECOND == 0 else us / SECOND


def parse(text: str | bytes, who: str) -> Message:
    """A message that was received from ``who``; what is wrong in it is said in a sentence."""
    try:
        document = json.loads(text)
        now = time_of(document["now"])
        events = tuple(
            Event(
                time_of(event["timestamp"]),
                _is(str, event["type"]),
                _is(dict, event.get("data", {})),
            )
            for event in document["events"]
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        shown = bytes(text)[:60] if isinstance(text, bytes) else text[:60]
        raise InputError(
            f"{who} sent {shown!r}, which is not a message of Batsim's protocol ({type(error).__name__}: "
            f"{error}); it needs now, and events with timestamp, type and data"
        ) from None
    return Message(now, events)


def time_of(value: Any) -> int:
    """A time (µs) as a message has it; ValueError where it is none, or cannot be counted with."""
    if not fits(value, NUMBER) or not 0 <= value <= LATEST // SECOND:
        raise ValueError(f"{value!r} is not a time in seconds")
    return microseconds(value)


def asked_by(job: dict[str, Any]) -> tuple[int, int]:
    """The processors and the walltime (µs) a job in a message asks for; ValueError where they are none."""
    procs, walltime = job["res"], job.get("walltime")
    if not fits(procs, BITS64):
        raise ValueError(f"{procs!r} is not a number of processors")
    if walltime is None or (fits(walltime, NUMBER) and walltime < 0):
        return procs, UNBOUNDED
    return procs, min(time_of(walltime), UNBOUNDED)


def queried(query: Event) -> str:
    """What a QUERY asks for."""
    asked = query.data.get("requests", {})
    return ", ".join(map(str, asked)) if isinstance(asked, dict | list) else str(asked)


def _is(kind: type[Any], value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is not what is expected there")
    return value


def processors(text: object) -> list[int]:
    """The numbers of an allocation such as "0-3 7", in order; ValueError where it is something else."""
    if not isinstance(text, str):
        raise ValueError(text)
    return processor_sets.numbers(re.sub("[ ,]+", " ", text.strip()))


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order as an allocation is written.

    >>> ranges([0, 1, 2, 3, 7])
    '0-3 7'
    """
    return processor_sets.text(ranges_of(np.array(numbers, np.int64)), " ")
