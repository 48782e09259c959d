"""Slurm's rules as Headway asks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.policies.entry import Parameter
from headway.policies.policy import Policy

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.platform import Platform
    from headway.policies.prepare import Arrivals, Prepared
    from headway.site import Site
    from headway.workload import Workload


class Slurm(Policy):
    """Slurm's main loop and backfill, by a site's own configuration.

    Two loops with clocks of their own: the main one goes down the queue by priority and stops in each
    partition at the first job that does not fit, and backfill plans every job it reaches on named nodes,
    again in each cycle. Queue order, multifactor priority, fair tree, limits of QOS and accounts, and the
    choice of nodes are those of version 22.05, with what has changed up to 26.05 by the site's version.
    Needs a site: partitions, nodes, accounts and parameters as it has them. The schedule says on which
    nodes, in which partition and by which loop each job started; explain shows its priority and Slurm's
    reason. Real Slurm never gives the same schedule twice, so run several seeds. late=20 matches the
    recorded runs that the rules are tested against, whose virtual clock overshoots a sleeping backfill
    thread; late=0 is a controller without delays. Where the site has sdiag.txt, that says how long a
    cycle takes and how late it may be at most.
    """

    name = "slurm"
    citation = (
        "A. B. Yoo, M. A. Jette and M. Grondona, SLURM: simple Linux utility for resource management, "
        "JSSPP 2003, doi:10.1007/10968987_3",
    )
    needs = ("a site: its folder, or --site DIR",)
    example = "slurm(seed=1)"
    example_on = "cluster"

    seed = Parameter(
        "of the phases of the controller's clocks and of its delays", default=0, number=int, low=0
    )
    epilog = Parameter(
        "how long a node stays completing after a job's end, on average",
        default=1,
        number=float,
        low=0,
        unit="seconds",
    )
    cycle = Parameter(
        "how long a backfill cycle takes on average: it sleeps after it, so this moves the next one; "
        "by default as the site's sdiag.txt says, where it has one",
        default=0.2,
        number=float,
        low=0,
        unit="seconds",
        optional=True,
    )
    late = Parameter(
        "how late a backfill cycle is on average where something changed while it slept; by default "
        "as the site's sdiag.txt says, where it has one, and no more than this",
        default=20,
        number=float,
        low=0,
        unit="seconds",
        optional=True,
    )
    drift = Parameter(
        "how much longer than sched_interval the time between full passes is",
        default=0.5,
        number=float,
        low=0,
        unit="seconds",
    )
    submit_limits = Parameter(
        "whether MaxSubmitJobs and the like turn away a job that the log shows to have started: log "
        "(the site accepted it, so it is accepted) or enforced (the simulated queue decides)",
        default="log",
        choices=("log", "enforced"),
        optional=True,
    )
    version = Parameter(
        "version of Slurm whose rules and defaults apply, such as 24.11; by default the one that the "
        "site's config.txt or log in JSON names, else 22.05",
        default="site",
        choices=("site",),
        number=float,
        low=20.02,
        high=99.11,
        optional=True,
    )

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
        import numpy as np

        from headway.policies.slurm.setup.fitting import kept_out
        from headway.policies.slurm.setup.left_out import left_out
        from headway.workload.cancelled import ran_only

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
    import numpy as np

    from headway.workload.cancelled import ran_only

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
