"""Profiles of jobs: delays, and sequences of delays. What needs a network or a speed is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.errors import UsageError
from headway.units import LONGEST, SECOND, microseconds
from headway.values import NUMBER, fits

DEEPEST = 100
LASTING = ("delay", "composed", "sequence")
"""Types of profiles that say how long they last on any machine."""


def refuse_others(profiles: Mapping[str, Any], file: str) -> None:
    """Refuse a workload whose profiles are not delays, with the types that it has."""
    others: dict[str, str] = {}
    for name, profile in profiles.items():
        kind = str(profile.get("type")) if isinstance(profile, dict) else "nothing"
        if kind not in LASTING:
            others.setdefault(kind, name)
    if others:
        kinds = ", ".join(f"{kind} (as {name!r})" for kind, name in others.items())
        raise UsageError(
            f"{file} has profiles of the type {kinds}, which need a simulated network, storage or energy; "
            "Headway models delays, and sequences of them: give a workload of those"
        )


def lasting(
    name: str, profiles: Mapping[str, Any], depth: int = 0, known: dict[str, int] | None = None
) -> int:
    """How long a profile lasts (µs); `known` are those of its parts that were already asked for."""
    known = {} if known is None else known
    if name in known:
        return known[name]
    profile = profiles.get(name)
    if not isinstance(profile, dict):
        raise UsageError(f"the scheduler registered a job with the profile {name!r}, which there is not")
    kind = profile.get("type")
    if kind == "delay":
        delay: Any = profile.get("delay")
        if not fits(delay, NUMBER) or not 0 <= delay <= LONGEST // SECOND:
            raise UsageError(f"the profile {name!r} has the delay {delay!r}, which is not a time in seconds")
        known[name] = microseconds(delay)
        return known[name]
    if kind not in LASTING or not isinstance(profile.get("seq"), list) or depth > DEEPEST:
        raise UsageError(
            f"the scheduler registered the profile {name!r} of the type {kind}; Headway models delays, and "
            "sequences of them"
        )
    times = profile.get("repeat", profile.get("nb", 1))
    total = sum(lasting(str(part), profiles, depth + 1, known) for part in profile["seq"])
    if type(times) is not int or not 0 <= times * total <= LONGEST:
        raise UsageError(f"the profile {name!r} is repeated {times!r} times, which cannot be")
    known[name] = times * total
    return known[name]
