"""Policies that installed packages offer through the entry point group ``headway.policies``."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

GROUP = "headway.policies"


def offered() -> dict[str, EntryPoint]:
    """Policies of installed packages by name; nothing of theirs is imported for it."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}
