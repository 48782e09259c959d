"""The machine: clusters of nodes, or simply a number of processors."""

from __future__ import annotations

from headway.platform.machine import Cluster, NodeGroup, Platform
from headway.platform.outages import Outage, Outages
from headway.platform.platform_file import named_platforms

__all__ = ["Cluster", "NodeGroup", "Outage", "Outages", "Platform", "named_platforms"]
