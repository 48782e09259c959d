"""The nodes of a cluster one by one, and how long they take to load a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from headway.platform.cluster import NodeGroup
from headway.platform.machine import Platform
from headway.units import SECOND


@dataclass(frozen=True, slots=True)
class Node:
    """One node; ``number`` counts through the platform as it is written."""

    number: int
    group: NodeGroup


def nodes_of(platform: Platform) -> list[Node]:
    """Every node in the order of the platform."""
    groups = [group for cluster in platform.clusters for group in cluster.nodes for _ in range(group.count)]
    return [Node(number, group) for number, group in enumerate(groups)]


def in_tie_order(platform: Platform) -> list[Node]:
    """Every node by memory, then number: of equally good nodes the first one is taken."""
    return sorted(nodes_of(platform), key=lambda node: (node.group.memory_gb, node.number))


def load_time(gb: float, bandwidth_gb_s: float) -> int:
    """Time to load a file (µs): the quotient of the two decimals as they are written, rounded up.

    >>> load_time(19.2, 0.1)
    192000000
    """
    if math.isinf(bandwidth_gb_s) or gb == 0:
        return 0
    return math.ceil(Fraction(repr(float(gb))) / Fraction(repr(float(bandwidth_gb_s))) * SECOND)
