"""A Slurm site: its nodes, partitions, QOS, accounts and parameters, and the jobs that ran there."""

from __future__ import annotations

from headway.site.model import (
    PARENT,
    Association,
    Limits,
    Node,
    NodeEvent,
    NotModelled,
    Partition,
    Qos,
    Reservation,
)
from headway.site.site import Site

__all__ = [
    "PARENT",
    "Association",
    "Limits",
    "Node",
    "NodeEvent",
    "NotModelled",
    "Partition",
    "Qos",
    "Reservation",
    "Site",
]
