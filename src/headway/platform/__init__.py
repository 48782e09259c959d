"""The machine: clusters of nodes, or simply a number of processors."""

from __future__ import annotations

from headway.platform.cluster import Cluster, NodeGroup
from headway.platform.machine import Platform
from headway.platform.outage import Outage
from headway.platform.outages import Outages
from headway.platform.platform_file import named_platforms

__all__ = ["Cluster", "NodeGroup", "Outage", "Outages", "Platform", "named_platforms"]
