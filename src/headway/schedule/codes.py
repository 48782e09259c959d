"""The small vocabularies of a schedule: each is stored as a code, the position in its tuple."""

from __future__ import annotations

NONE = -1
"""The code for "not given" in every optional column."""

WHY = (
    "immediate",
    "head",
    "backfill",
    "reservation",
    "resumed",
    "redirected",
    "urgent",
    "urgent_backfill",
    "urgent_preempt",
    "promoted",
    "moved",
    "recorded",
)
"""Why a job started; of a recorded start nobody knows. Names are added at the end and never renamed."""

STATES = ("running", "loading", "swap_out", "suspended", "swap_in")
"""What a job does during one piece of a run."""

HOLDING = ("running", "loading", "swap_out", "swap_in")
"""The states in which a job keeps its processors from everybody else."""

ENDED = ("done", "walltime", "redirected", "preempted", "suspended", "resumed", "failed")
"""How a piece came to its end."""
TO_REDIRECTION = ENDED.index("redirected"), ENDED.index("suspended")
FOR_URGENT = ENDED.index("suspended"), ENDED.index("preempted")
"""Codes of pieces that ended because their job was redirected, and because it made room for an urgent one."""
