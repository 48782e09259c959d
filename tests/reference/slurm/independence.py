"""Which jobs may be tested at all, section 10: dependencies, array limits, begin times, holds."""

from __future__ import annotations

import re
from typing import Protocol

from .machine import Job


class Facts(Protocol):
    """What became of other jobs."""

    def states(self, number: int) -> list[str]:
        """Of the job, or of all tasks of an array: pending, running, or for good ok or failed."""

    def same_name(self, job: Job) -> list[Job]:
        """Other jobs of the same user and name that run, or wait and were submitted earlier."""


def independent(job: Job, now: int, facts: Facts) -> bool:
    """Whether dependencies and the begin time let the job be tested."""
    return job.begin <= now and (not job.dependency or satisfied(job, facts))


def satisfied(job: Job, facts: Facts) -> bool:
    """All parts joined by commas, or any of those joined by question marks."""
    together = all if "?" not in job.dependency else any
    return together(part_satisfied(job, part, facts) for part in re.split(r"[,?]", job.dependency))


def part_satisfied(job: Job, part: str, facts: Facts) -> bool:
    kind, _, rest = part.partition(":")
    if kind == "singleton":
        return not facts.same_name(job)
    numbers = [int(word.split("+")[0]) for word in rest.split(":")]
    states = [state for number in numbers for state in facts.states(number)]
    match kind:
        case "after":
            return "pending" not in states
        case "afterany":
            return all(state in ("ok", "failed") for state in states)
        case "afterok":
            return all(state == "ok" for state in states)
        case "afternotok":
            return all(state in ("ok", "failed") for state in states) and "failed" in states
    raise ValueError(f"dependency {part!r} is not known")
