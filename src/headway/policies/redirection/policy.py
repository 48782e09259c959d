"""Redirection as Headway asks it: two groups, each under a policy of its own, and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.deadline.policy import told_ends
from headway.policies.entry import Parameter
from headway.policies.policy import Policy, Seen
from headway.policies.pools import Pool
from headway.policies.queueing.policy import ORDERS
from headway.policies.redirection.group import GROUPS, group_sizes, speed_ratio
from headway.policies.references import FAURE_2020

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload


QUEUE_POLICIES = ("easy", "conservative", "dbf", *ORDERS)


class Redirection(Policy):
    """A running job that holds up many newcomers is stopped and restarted in a group of its own.

    The number of processors given is m, the principal group; the run uses the redirection group besides
    (except with size=split), and `compare` gives other policies as many in all. On two clusters the second
    one is the redirection group, whatever alpha, group and size say. A cluster of a grid, a live one and
    Batsim's machine have no other processors: there `size` is split.
    """

    name = "redirection"
    citation = (FAURE_2020,)
    example = "redirection(theta=10, alpha=0.15)"

    theta = Parameter(
        "a job is redirected once more than so many newcomers were held up by it; inf: never",
        10,
        ("inf",),
        int,
        low=0,
    )
    alpha = Parameter(
        "size of the redirection group as a share of the machine",
        0.15,
        number=float,
        low=0,
        high=1,
        open_high=True,
    )
    group = Parameter(
        "size of the redirection group", number=int, low=0, unit="processors", instead_of="alpha"
    )
    filter = Parameter(
        "running jobs that a newcomer counts against: those with at least its processors (procs), "
        "at least its walltime (walltime), at most its walltime, as the paper's pseudo-code "
        "prints it (pseudo), or all of them (none)",
        "procs",
        ("procs", "walltime", "pseudo", "none"),
    )
    conflict = Parameter(
        "which goes where several could: longest walltime, highest counter, largest area (walltime x "
        "processors) or latest start",
        "walltime",
        ("walltime", "counter", "area", "latest"),
    )
    size = Parameter(
        "added: alpha m processors on top of the machine's m; share: alpha m / (1 - alpha) on top; "
        "split: alpha m of the m, and the principal group has the rest, the only one, and so the "
        "default, on a cluster that exists: live, and in a grid",
        "added",
        ("added", "share", "split"),
        optional=True,
    )
    restart = Parameter(
        "a redirected job starts from the beginning (scratch, as in the paper) or continues where it "
        "was stopped (checkpoint, ours: what saved memory would be worth)",
        "scratch",
        ("scratch", "checkpoint"),
    )
    principal = Parameter("policy of the principal group", "easy", policies=QUEUE_POLICIES)
    redirected = Parameter("policy of the redirection group", "easy", policies=QUEUE_POLICIES)

    has_groups = True
    nests = True
    in_file_order = True
    laws_of_the_queue = False
    takes_feedback = True
    why_no_outages = "it has two groups of processors, and an event does not say in which of them"

    @property
    def not_of_jobs(self) -> tuple[int, ...]:
        from headway.policies.redirection.tables import LISTS

        return LISTS

    def on(self, platform: Platform, workload: Workload) -> Policy:
        """On two clusters the second one is the redirection group; the spec then names that size."""
        self.refuse_local_policies(platform)
        clusters = platform.clusters
        if len(clusters) == 1:
            return self
        if len(clusters) > 2:
            raise UsageError(
                f"redirection has two groups and this platform has {len(clusters)} clusters; give one, "
                "or two: the principal group and the redirection group"
            )
        speed_ratio(self.spec, platform)
        params = {key: value for key, value in self.params.items() if key != "alpha"}
        from headway.policies.spec import make_spec

        return make_spec("redirection", **params | {"group": clusters[1].procs, "size": "added"}).policy

    def on_cluster(self) -> Policy:
        size = self.params.get("size", "split")
        if size != "split":
            raise UsageError(
                f"redirection: size={size} adds processors to those of a cluster, which has no others; leave "
                "size out, or give size=split"
            )
        from headway.policies.spec import make_spec

        return make_spec("redirection", **{**self.params, "size": size}).policy

    def pools(self, platform: Platform) -> tuple[Pool, ...]:
        if len(platform.clusters) == 2:
            sizes = tuple(cluster.procs for cluster in platform.clusters)
        else:
            sizes = group_sizes(self.spec, platform.total_procs)
        return tuple(Pool(0, group, procs) for group, procs in zip(GROUPS, sizes, strict=True))

    def widest(self, platform: Platform) -> int:
        return self.pools(platform)[0].procs

    def added_procs(self, procs: int) -> int:
        return sum(group_sizes(self.spec, procs)) - procs

    @property
    def looks_at(self) -> tuple[str, ...]:
        return self.principal.looks_at

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.redirection.setup import redirection

        return redirection(self.spec, arrivals, procs)

    def prepare_joining(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.redirection.setup import joining

        return joining(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.policies.redirection.setup import local

        groups = (self.principal.as_group(), self.redirected.as_group())
        return local(self.principal.as_local(), [k for k in range(2) if groups[k].has_base])

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("redirections", *told_ends(self.principal, self.redirected))

    def keeps_deadlines(self, redirected: bool) -> tuple[bool, bool]:
        last = self.redirected if redirected else self.principal
        return self.principal.keeps_deadlines(False)[0], last.keeps_deadlines(False)[0]
