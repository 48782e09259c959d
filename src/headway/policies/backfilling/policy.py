"""EASY and conservative backfilling as Headway asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headway.errors import UsageError
from headway.policies.entry import Parameter
from headway.policies.nodes.baseline import ALLOWED, Baseline
from headway.policies.policy import Policy, Seen, all_alike, before_maintenance, never_idle, one_queue
from headway.policies.queueing.policy import ORDERS, URGENT, Queue
from headway.policies.redirection.group import Group, Kind
from headway.policies.references import FEITELSON_1998, LIFKA_1995, MUALEM_2001, TSAFRIR_2007

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.platform import Platform
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload

PLAIN = {"order": "fcfs", "estimate": "requested", "age": "none", "dialect": "textbook"}
"""Where the head is the first to have come, and is planned with its requested time."""
OF_DIALECTS = {**PLAIN, "backfill": "fcfs", "depth": "1", "urgent": "ignore"}
"""What the parameters are in the dialects of other simulators."""

NAMED_NODES = Parameter(
    "on a Slurm site: processors are counted (count), or jobs get named nodes of their partition with their "
    "features, as Slurm would choose them, each node as a whole (whole) or CPUs and memory of it (shared); "
    "in order of arrival, reservations made again at each event, no priorities, limits or reservations of "
    "the site",
    "count",
    ("count", "whole", "shared"),
    optional=True,
)


def names_nodes(policy: Policy) -> bool:
    """Whether jobs get named nodes of a site, not counted processors."""
    return policy.params.get("nodes", "count") != "count"


def on_named_nodes(policy: Policy) -> Policy:
    """The policy as it gives jobs named nodes."""
    from headway.policies.backfilling.setup import OnNamedNodes

    return OnNamedNodes(policy.spec)


class Easy(Baseline, Queue):
    """EASY (aggressive) backfilling: later jobs may go first if the head of the queue is not delayed.

    With backfill=sjf this is EASY-SJBF, with estimate=average2 as well it is EASY++. Reservations are made
    again at each pass; with depth=all every waiting job has one, yet none is remembered. A dialect of another
    simulator goes with the defaults of the other parameters.
    """

    name = "easy"
    citation = (LIFKA_1995, MUALEM_2001, TSAFRIR_2007)
    example = "easy(backfill=sjf)"

    order = Parameter("order of the queue; its first job gets the reservation", "fcfs", ORDERS, own_key=True)
    backfill = Parameter("order in which the others are tried", choices=ORDERS, follows="order", own_key=True)
    estimate = Parameter(
        "the time the scheduler plans with: as requested, the real run time (exact), the mean or the "
        "longer of the user's last two runs (average2, last2), or the request times a factor; jobs are "
        "killed at the request whatever is planned, and one that outlives its estimate is planned to its "
        "request, or with average2 and last2 a little longer by steps",
        "requested",
        ("requested", "exact", "average2", "last2"),
        float,
        low=0,
        open_low=True,
        own_key=True,
    )
    age = Parameter(
        "a job that has waited longer than this goes first", "none", ("none",), float, low=0, unit="seconds"
    )
    depth = Parameter("how many jobs at the head get a reservation in each pass", 1, ("all",), int, low=1)
    dialect = Parameter(
        "the textbook's EASY, or as another simulator runs it; cqsim looks at real run times",
        "textbook",
        ("textbook", "pyss", "batsched", "batsched-fast", "cqsim", "accasim"),
        optional=True,
    )
    urgent = URGENT
    nodes = NAMED_NODES

    takes_outages = True
    form_inside = "EasyInside"
    allowed_inside: ClassVar[dict[str, tuple[object, ...]]] = {
        **ALLOWED,
        "backfill": ("fcfs",),
        "dialect": ("textbook",),
    }

    @property
    def learns(self) -> bool:
        """Whether it plans with the last runs of a job's user."""
        return self.estimate in ("average2", "last2")

    @property
    def columns(self) -> tuple[str, ...]:
        if self.learns:
            return ("user", *super().columns)
        return ("job", *super().columns) if self.dialect.startswith("batsched") else super().columns

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if names_nodes(self):
            return on_named_nodes(self).on(platform, workload)
        if self.dialect != "textbook":
            self.refuse_variants()
        return super().on(platform, workload)

    def refuse_outages(self, platform: Platform) -> None:
        if platform.outages is not None and self.dialect != "textbook":
            raise UsageError(
                f"easy: dialect={self.dialect} does not know processors that come and go, as the simulator "
                "does not whose rules it has; leave out the dialect or the events"
            )
        if platform.outages is not None and self.learns:
            raise UsageError(
                f"easy: estimate={self.estimate} cannot be on processors that come and go: what a "
                "user's runs took that failed says nothing; give another estimate"
            )
        super().refuse_outages(platform)

    def refuse_feedback(self, workload: Workload) -> None:
        if "follows" in workload and self.dialect not in ("textbook", "pyss", "cqsim"):
            raise UsageError(
                f"easy: dialect={self.dialect} looks beforehand at who is submitted together or last, and "
                "that is unknown with --feedback; leave out the dialect or --feedback"
            )
        super().refuse_feedback(workload)

    def refuse_variants(self) -> None:
        """A dialect is one rule changed, and nothing else."""
        for name, value in OF_DIALECTS.items():
            if name != "dialect" and str(self.params.get(name, value)) != value:
                raise UsageError(
                    f"easy: dialect={self.dialect} goes with {name}={value} only, not {self.params[name]}; "
                    f"leave out {name} or the dialect"
                )

    def refuse_stream(self) -> None:
        self.refuse_inside("on a stream (--stream)")

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.setup import easy, easy_in_dialect

        if self.dialect != "textbook":
            return easy_in_dialect(self.dialect, arrivals, procs)
        return easy(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        self.refuse_inside("in a cluster that jobs join one by one")
        return super().as_local()

    def refuse_inside(self, where: str) -> None:
        """Dialects and users' last runs are for whole machines and whole logs."""
        if self.dialect != "textbook":
            raise UsageError(f"easy: dialect={self.dialect} cannot be {where}; leave out the dialect")
        if self.learns:
            estimate = self.params["estimate"]
            raise UsageError(f"easy: estimate={estimate} cannot be {where}; give another estimate")

    def as_group(self) -> Group:
        self.refuse_inside("in a group of redirection")
        from headway.policies.backfilling.setup import easy_in_turn

        kind = Kind.EASY if self.depth == 1 else Kind.DEEP
        return Group(kind, lambda options: easy_in_turn(self.spec, options))

    def without_a_rule(self) -> dict[str, str]:
        return {"backfilling": "fcfs", "a reservation for the first job only": "conservative"}

    def seen_as(self, seen: Seen) -> Policy:
        return on_named_nodes(self) if names_nodes(self) else super().seen_as(seen)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        if seen.outages is not None:
            by_walltime = self.estimate == "requested"
            return before_maintenance(seen) if by_walltime else ()
        is_plain = all(str(self.params.get(name, value)) == value for name, value in PLAIN.items())
        if is_plain and one_queue(seen) and all_alike(self, seen):
            return ("easy head",)
        return never_idle(seen) if self.dialect == "textbook" else ()


class Conservative(Baseline, Policy):
    """Conservative backfilling: every job is promised a start on arrival, and nothing may delay it.

    Jobs are considered in order of arrival, at arrival and in each sweep.
    """

    name = "conservative"
    aliases = ("cbf",)
    citation = (FEITELSON_1998, MUALEM_2001)
    example = "conservative(compress=fixpoint)"

    compress = Parameter(
        "how waiting jobs move forward: in one sweep when some job ended early (early), one sweep after "
        "every end (every), sweeps until nothing moves (fixpoint), all placed again, which may break "
        "promises (scratch), or never (none)",
        "early",
        ("early", "every", "fixpoint", "scratch", "none"),
    )
    hole = Parameter(
        "whether a gap exactly as long as the job is taken (closed) or refused (open)",
        "closed",
        ("closed", "open"),
    )
    estimate = Parameter(
        "the time the scheduler plans with: as requested, the real run time (exact), or the request "
        "times a factor of at least 1; estimates that a job may outlive would break promises",
        "requested",
        ("requested", "exact"),
        float,
        low=1,
        optional=True,
        because="a job that outlives its estimate would break the promises made to others; "
        "easy(estimate=...), which plans again at each instant, takes them",
    )
    urgent = URGENT
    nodes = NAMED_NODES

    takes_outages = takes_feedback = True
    form_inside = "ConservativeInside"

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if names_nodes(self):
            self.refuse_estimate("on named nodes")
            return on_named_nodes(self).on(platform, workload)
        return super().on(platform, workload)

    def without_a_rule(self) -> dict[str, str]:
        return {"backfilling": "fcfs"}

    def seen_as(self, seen: Seen) -> Policy:
        return on_named_nodes(self) if names_nodes(self) else super().seen_as(seen)

    def refuse_estimate(self, where: str) -> None:
        """Other estimates than requests are for whole logs on machines that stay as they are."""
        if self.estimate != "requested":
            raise UsageError(
                f"conservative: estimate={self.estimate} cannot be {where}; leave out the estimate"
            )

    def refuse_outages(self, platform: Platform) -> None:
        if platform.outages is not None:
            self.refuse_estimate("on processors that come and go")
        super().refuse_outages(platform)

    def params_inside(self) -> dict[str, object]:
        return {**super().params_inside(), "compress": "scratch"}  # plans are made again at every event

    def refuse_stream(self) -> None:
        self.refuse_estimate("where a log is simulated as it is read")

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.setup import conservative

        return conservative(self.spec, arrivals, procs)

    def prepare_joining(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.setup import conservative

        return conservative(self.spec, arrivals, procs, may_leave=True)

    def as_local(self) -> Local:
        self.refuse_estimate("in a cluster that jobs join one by one")
        from headway.engine.local import Local
        from headway.engine.tables import Why
        from headway.policies.backfilling.conservative import of_conservative

        return Local(of_conservative, catches_up=True, in_turn=Why.RESERVATION)

    def as_group(self) -> Group:
        self.refuse_estimate("in a group of redirection")
        return Group(Kind.CONSERVATIVE)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        if seen.outages is not None:
            return before_maintenance(seen)
        if not one_queue(seen):
            return ()
        plain = self.estimate == "requested" and all_alike(self, seen)
        starts = ("conservative starts",) if plain else ()
        promises = never_idle(seen) if self.compress == "scratch" else ("promise",)
        return (*promises, *starts)
