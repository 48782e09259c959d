"""The processors that a policy has on a platform, and who schedules them. Nothing compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headway.errors import InputError, UsageError

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.spec import Spec

GRID, LOCAL = "grid", "local"
"""Groups of a cluster of which a share is reserved: of the grid's tasks, and of local jobs."""


class Pool(NamedTuple):
    """Processors that are counted together: all of a cluster, or those of one of its groups."""

    cluster: int
    group: str
    procs: int


def policy_at(policy: str, platform: Platform, cluster: int) -> Spec:
    """The policy that schedules the jobs of a cluster; of one that is no grid's, the policy itself."""
    from headway.policies.spec import parse_spec

    return parse_spec(policy).policy.policy_of_cluster(platform, cluster).spec


def cluster_pools(policy: str, platform: Platform) -> list[Pool]:
    """The pools of any policy's platform by cluster; but for a grid, the clusters as they are."""
    from headway.policies.spec import parse_spec

    try:
        asked = parse_spec(policy).policy
        if asked.is_grid:
            return list(asked.pools(platform))
    except (UsageError, InputError):
        pass
    return [Pool(number, "", cluster.procs) for number, cluster in enumerate(platform.clusters)]
