"""The small vocabularies of a schedule: each is stored as a code, the position in its tuple."""

from __future__ import annotations

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
)
"""Why a job started. Names are added at the end and never renamed."""

STATES = ("running", "loading", "swap_out", "suspended", "swap_in")
"""What a job does during one piece of a run."""

HOLDING = ("running", "loading", "swap_out", "swap_in")
"""The states in which a job keeps its processors from everybody else."""

ENDED = ("done", "walltime", "redirected", "preempted", "suspended", "resumed", "failed")
"""How a piece came to its end."""
