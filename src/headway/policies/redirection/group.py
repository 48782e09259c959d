"""What redirection must know of the policy of one of its groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

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
