"""What sdiag tells of a controller: when it was asked, and how often backfill really ran.

A cycle begins bf_interval after the end of the last one, where something has changed since. What lies between
two cycles beyond that and the cycle's own length is delay (locks, yields), or time in which nothing changed.
If all of it were delay of the cycles that had something to do, that would be the longest delay there may be.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from headway.site.entries import text_of

FILE = "sdiag.txt"
LEAST_CYCLES = 100
"""With fewer cycles, as soon after midnight, when Slurm counts anew, nothing is made of them."""
LATEST = 20.0
"""Seconds by which a cycle is late, as in recorded runs, where nobody says that it is less: what is beyond
that in sdiag's figures is time in which nothing changed."""
CHANGES = ("submitted", "started", "completed", "canceled", "failed")
"""What is counted of jobs, and makes backfill look again."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What sdiag showed: times in seconds, those of clocks since 1970."""

    asked: int
    since: int
    cycles: int
    cycle: float
    """How long a cycle of backfill takes on average."""
    changes: int
    """Jobs that came, started and ended."""

    @property
    def period(self) -> float:
        """How long it is on average from the beginning of a cycle to that of the next."""
        return (self.asked - self.since) / self.cycles

    def delays(self, interval: int) -> dict[str, float]:
        """How long a cycle takes, and how late it is at most on average where something changed while
        backfill slept for ``interval``; nothing where too few were counted."""
        if self.cycles < LEAST_CYCLES or self.asked <= self.since or interval < 0:
            return {}
        beyond = max(self.period - interval - self.cycle, 0.0)
        changed = 1 - math.exp(-self.changes / (self.asked - self.since) * interval)
        return {"cycle": self.cycle, "late": min(beyond / changed, LATEST) if changed else LATEST}


def read_diagnosis(folder: Path) -> tuple[int | None, Diagnosis | None]:
    """When sdiag was asked, and what it showed; None for what the file does not say."""
    file = folder / FILE
    if not file.is_file():
        return None, None
    main, _, backfill = text_of(file, "sdiag").partition("\nBackfilling stats")

    def number(text: str, pattern: str) -> int | None:
        found = re.search(rf"^\s*{pattern}\s*$", text, re.MULTILINE)
        return int(found[1]) if found else None

    asked = number(main, r"sdiag output at .*\((\d{9,11})\)")
    given = (
        asked,
        number(main, r"Data since .*\((\d{9,11})\)"),
        number(backfill, r"Total cycles:\s*(\d{1,12})"),
        number(backfill, r"Mean cycle:\s*(\d{1,12})"),
        *(number(main, rf"Jobs {word}:\s*(\d{{1,12}})") for word in CHANGES),
    )
    known = [one for one in given if one is not None]
    if len(known) < len(given):
        return asked, None
    at, since, cycles, cycle, *changes = known
    return at, Diagnosis(at, since, cycles, cycle / 1e6, sum(changes))
