"""The groups of redirection: what it must know of the policy of each, and their sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.platform import Platform

if TYPE_CHECKING:
    from headway.policies.spec import Spec

Options = tuple[int, ...]


class Kind(IntEnum):
    """The ways in which a group is run, which :mod:`headway.policies.redirection.groups` knows."""

    STRICT = 0
    EASY = 1
    DEEP = 2
    CONSERVATIVE = 3
    DBF = 4


@dataclass(frozen=True)
class Group:
    """The policy of a group."""

    kind: Kind
    in_turn: Callable[[Options], Options] = lambda options: options
    """The policy's options for the redirection group: jobs come there in the course of the run, so the ranks
    that fixed orders compute beforehand do not hold, and nothing that is promised there is kept."""
    has_base: bool = False
    """Whether it has deadlines, and a pool beside its own: the base of its definitive tasks."""


GROUPS = ("principal", "redirection")
FINEST = 1 << 42
"""Ratios of speeds have smaller numerators and denominators, so that times are computed exactly."""


def group_sizes(spec: Spec, procs: int) -> tuple[int, int]:
    """Processors of the principal and of the redirection group, for a machine given as `procs`.

    added: m and floor(alpha m). share: m and floor(alpha m / (1 - alpha)). split: m - floor(alpha m) and
    floor(alpha m). `group` gives the second number itself. alpha counts as the decimal that was written, so
    that 0.29 of 100 is 29.
    """
    size = spec.params.get("size", "added")
    if "group" in spec.params:
        redirected = spec.whole("group")
    else:
        alpha = Decimal(str(spec.params["alpha"]))
        part = alpha * procs / (1 - alpha) if size == "share" else alpha * procs
        redirected = int(part.to_integral_value(ROUND_FLOOR))
    if size != "split":
        return procs, redirected
    if redirected >= procs:
        raise UsageError(
            f"redirection: a group of {redirected} leaves nothing of {procs} processors to the other one; "
            "give a smaller group"
        )
    return procs - redirected, redirected


def speed_ratio(spec: Spec, platform: Platform | None) -> tuple[int, int]:
    """Run times in redirection's second group over those in the first, as a fraction.

    The log's times are taken for those of the first cluster; on one that is twice as fast they are half.
    """
    if platform is None or len(platform.clusters) != 2:
        return 1, 1
    first, second = platform.clusters
    ratio = Fraction(repr(float(first.speed))) / Fraction(repr(float(second.speed)))
    if ratio != 1 and spec.params["restart"] == "checkpoint":
        raise UsageError(
            f"redirection: cluster {first.name!r} has speed {first.speed:g} and {second.name!r} has "
            f"{second.speed:g}, and what a checkpoint saved on one is worth another time on the other; "
            "give both the same speed or restart=scratch"
        )
    if max(ratio.as_integer_ratio()) >= FINEST:
        raise UsageError("redirection: the clusters' speeds have too many decimals; round them")
    return ratio.as_integer_ratio()
