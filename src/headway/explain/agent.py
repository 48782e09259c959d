"""What decided, where a trained agent started the job."""

from __future__ import annotations

from headway.explain.place import Case
from headway.explain.provisional import with_notes

WORDS = {
    2: "its size",
    3: "its request",
    4: "how long it had waited",
    5: "that it fitted",
    6: "that it might pass the job that had waited longest",
}
WEIGHED = {
    1: "how long it had waited",
    2: "its size",
    3: "its request",
    4: "its area (size times request)",
}
"""The same where the agent sets weights."""


def what_decided(case: Case) -> list[str]:
    """A sentence on the feature that decided; none for other policies."""
    if not case.schedule.policy.startswith("agent"):
        return []
    schedule, row = with_notes(case)
    if schedule is not None and "weighed_by" in schedule.notes:
        return [_by_weights(int(schedule.notes["weighed_by"][row]))]
    if schedule is None or "decided_by" not in schedule.notes:
        return []
    code = int(schedule.notes["decided_by"][row])
    if code not in WORDS:
        return ["The agent had no other job to start then, or none that it could distinguish from this one."]
    return [
        f"What decided for the agent was {WORDS[code]}: with that alike for all jobs that could start, this "
        "one's lead over the next would have been smallest."
    ]


def _by_weights(code: int) -> str:
    if code not in WEIGHED:
        return "The agent's weights put no other job beside it then, or told none apart."
    return (
        f"What decided was the weight of {WEIGHED[code]}, as the agent had set it: by that it was furthest "
        "ahead of the next job that could have started."
    )
