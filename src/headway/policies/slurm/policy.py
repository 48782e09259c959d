"""Slurm's rules as Headway asks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import UsageError
from headway.policies.policy import Policy
from headway.workload.cancelled import ran_only

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.platform import Platform
    from headway.policies.prepare import Arrivals, Prepared
    from headway.site import Site
    from headway.workload import Workload


class Slurm(Policy):
    """Slurm's main loop and backfill on a site's nodes."""

    takes_feedback = in_place = takes_cancelled = goes_on = True
    by_site_rules = True

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if platform.site is None:
            raise UsageError(
                "slurm needs a site, its nodes, partitions and parameters: give the site's folder in place "
                "of the log, or the log and --site DIR, without --procs and --platform"
            )
        return super().on(platform, workload)

    @property
    def columns(self) -> tuple[str, ...]:
        from headway.workload.slurm.requests import COLUMNS

        return (
            *COLUMNS,
            *("job", "user", "partition", "qos", "account", "eligible", "status", "recorded_start"),
            "cancelled_after",
        )

    def fitting(self, workload: Workload, platform: Platform) -> Workload:
        """The jobs that some partition of theirs can ever run; with those cancelled while they waited.

        With feedback jobs come at other times than in the log, at which nobody cancelled them.
        """
        from headway.policies.slurm.setup.fitting import kept_out
        from headway.policies.slurm.setup.left_out import left_out

        assert platform.site is not None
        workload = ran_only(workload) if "follows" in workload else with_longest_runs(workload)
        site = at_version(platform.site, self.params)
        out = kept_out(workload, site)
        workload = workload.with_ledger(workload.ledger.with_entries(*left_out(workload, site)))
        left = np.ones(len(workload), np.bool_)
        for one in out:
            workload = workload.select(~one.rows[left], rule=one.rule, action=one.action)
            left &= ~one.rows
        return workload

    def as_local(self) -> Local:
        raise UsageError(
            "slurm needs a site, its nodes, partitions and parameters; who asks here has only a number of "
            "processors: take another policy, such as easy or conservative"
        )

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.slurm.setup.setup import slurm

        return slurm(self.params, arrivals, at_version(site_of(arrivals), self.params))


def at_version(site: Site, params: Mapping[str, object]) -> Site:
    """The site as it is, or under the version that is asked for."""
    version = params.get("version", "site")
    return site if version == "site" else site.at_version(f"{version:05.2f}")


def with_longest_runs(workload: Workload) -> Workload:
    """Let jobs that were cancelled while they waited run until then, should they start sooner.

    Where a transformation has made their walltime of their run time, nothing can be planned for them.
    """
    after = workload.get("cancelled_after")
    if after is None or not (after >= 0).any():
        return workload
    if ((after >= 0) & (workload.walltime <= 0)).any():
        return ran_only(workload)
    return workload.with_columns(runtime=np.where(after >= 0, after, workload.runtime))


def site_of(arrivals: Arrivals) -> Site:
    """The site of the machine, which :meth:`Slurm.on` has asked for."""
    assert arrivals.platform is not None and arrivals.platform.site is not None
    return arrivals.platform.site
