"""What ``--constraint`` asks for: features that every node has, that nodes have alike, or that some have.

=================  ==========================================================================
``a&b``, ``a|b``   every node has both; every node has one or the other
``[a|b]``          all nodes have a, or all have b; the first that fits is taken
``x&[a|b]``        likewise, and all of them have x
``a*2&b*1``        two nodes have a and one has b; the others may be any
=================  ==========================================================================

Parentheses, and counts among alternatives, are not modelled: such a job may use every node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Features = tuple[frozenset[str], ...]
"""Sets of features; a node is to have all of one of them."""

EVERY: Features = (frozenset(),)
_PLAIN = r"[^\[\]()*|]+"
_ALTERNATIVES = re.compile(rf"(?:({_PLAIN})&)?\[([^\[\]()*]+)\](?:&({_PLAIN}))?")
_COUNTED = re.compile(r"\[?([^\[\]()|]+)\]?")


@dataclass(frozen=True)
class Constraint:
    """What a constraint allows, and the parts of it that are chosen one after the other."""

    allowed: Features = EVERY
    """Of every node."""
    parts: tuple[tuple[Features, int], ...] = ()
    """Alternatives with 0, of which all nodes are; or features with how many nodes are to have them."""
    understood: bool = True

    @classmethod
    def of(cls, text: str) -> Constraint:
        """Read a constraint.

        >>> Constraint.of("a&[b|c]").parts == (((frozenset("ab"),), 0), ((frozenset("ac"),), 0))
        True
        >>> Constraint.of("a*2&b*1").parts == (((frozenset("a"),), 2), ((frozenset("b"),), 1))
        True
        >>> Constraint.of("(a|b)&c").understood
        False
        """
        text = text.replace(" ", "")
        if not set(text) & set("[]()*"):
            return cls(_choices(text)) if text else cls()
        if match := _ALTERNATIVES.fullmatch(text):
            common = _all(match[1] or "") | _all(match[3] or "")
            found = tuple(frozenset(common | one) for one in _choices(match[2]))
            return cls(found, tuple(((one,), 0) for one in found) if len(found) > 1 else ())
        if match := _COUNTED.fullmatch(text):
            given = [part.partition("*") for part in match[1].replace(",", "&").split("&")]
            if all(re.fullmatch(r"\d{1,9}", count) or not star for _, star, count in given):
                common = frozenset(name for name, star, _ in given if not star)
                counted = [(name, int(count)) for name, star, count in given if star]
                return cls((common,), tuple(((common | {name},), count) for name, count in counted))
        return cls(understood=False)


def _all(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.replace(",", "&").split("&")))


def _choices(text: str) -> Features:
    return tuple(_all(choice) for choice in text.split("|"))
