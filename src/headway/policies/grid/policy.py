"""A grid under reallocation as Headway asks it: clusters, each under a policy of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.grid.local_policies import locals_of, pools_of, run_together, widest, widest_of_locals
from headway.policies.policy import Policy, Seen
from headway.policies.pools import Pool

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload


class Reallocation(Policy):
    """An agent places tasks on clusters and moves waiting ones."""

    is_grid = True
    why_no_outages = "it has several clusters, and an event does not say in which of them"
    nests = True
    in_file_order = True

    def on(self, platform: Platform, workload: Workload) -> Policy:
        locals_of(self.spec, platform)
        return self

    def pools(self, platform: Platform) -> tuple[Pool, ...]:
        return tuple(pools_of(self.spec, platform))

    def fitting(self, workload: Workload, platform: Platform) -> Workload:
        from headway.policies.grid.fitting import fit_to_grid

        return fit_to_grid(
            workload, platform, widest(self.spec, platform), widest_of_locals(self.spec, platform)
        )

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        assert arrivals.platform is not None
        local = locals_of(self.spec, arrivals.platform)
        if run_together(local):
            from headway.policies.grid.setup import together

            return together(self.spec, arrivals, local[0])
        from headway.policies.grid.composed.setup import composed

        return composed(self.spec, arrivals, local)

    def policy_of_cluster(self, platform: Platform, cluster: int) -> Policy:
        return locals_of(self.spec, platform)[cluster].policy

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("grid", "clusters")
