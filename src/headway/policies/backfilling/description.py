"""EASY and conservative backfilling."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.queueing.description import ON_NODES, ORDERS, URGENT
from headway.policies.references import FEITELSON_1998, LIFKA_1995, MUALEM_2001, TSAFRIR_2007

NAMED_NODES = Parameter(
    "nodes",
    "on a Slurm site: processors are counted (count), or jobs get named nodes of their partition with their "
    "features, as Slurm would choose them, each node as a whole (whole) or CPUs and memory of it (shared); "
    "in order of arrival, reservations made again at each event, no priorities, limits or reservations of "
    "the site",
    "count",
    ("count", "whole", "shared"),
    optional=True,
)

EASY = PolicyInfo(
    "easy",
    "EASY (aggressive) backfilling: later jobs may go first if the head of the queue is not delayed",
    (LIFKA_1995, MUALEM_2001, TSAFRIR_2007),
    (
        Parameter(
            "order", "order of the queue; its first job gets the reservation", "fcfs", ORDERS, own_key=True
        ),
        Parameter(
            "backfill", "order in which the others are tried", choices=ORDERS, follows="order", own_key=True
        ),
        Parameter(
            "estimate",
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
        ),
        Parameter(
            "age",
            "a job that has waited longer than this goes first",
            "none",
            ("none",),
            float,
            low=0,
            unit="seconds",
        ),
        Parameter(
            "depth", "how many jobs at the head get a reservation in each pass", 1, ("all",), int, low=1
        ),
        Parameter(
            "dialect",
            "the textbook's EASY, or as another simulator runs it; cqsim looks at real run times",
            "textbook",
            ("textbook", "pyss", "batsched", "batsched-fast", "cqsim", "accasim"),
            optional=True,
        ),
        URGENT,
        NAMED_NODES,
        *ON_NODES[1:],
    ),
    details=(
        "With backfill=sjf this is EASY-SJBF, with estimate=average2 as well it is EASY++. Reservations are "
        "made again at each pass; with depth=all every waiting job has one, yet none is "
        "remembered. A dialect "
        "of another simulator goes with the defaults of the other parameters."
    ),
    example="easy(backfill=sjf)",
    home="headway.policies.backfilling.policy:Easy",
)

CONSERVATIVE = PolicyInfo(
    "conservative",
    "Conservative backfilling: every job is promised a start on arrival, and nothing may delay it",
    (FEITELSON_1998, MUALEM_2001),
    (
        Parameter(
            "compress",
            "how waiting jobs move forward: in one sweep when some job ended early (early), one sweep after "
            "every end (every), sweeps until nothing moves (fixpoint), all placed again, which may break "
            "promises (scratch), or never (none)",
            "early",
            ("early", "every", "fixpoint", "scratch", "none"),
        ),
        Parameter(
            "hole",
            "whether a gap exactly as long as the job is taken (closed) or refused (open)",
            "closed",
            ("closed", "open"),
        ),
        Parameter(
            "estimate",
            "the time the scheduler plans with: as requested, the real run time (exact), or the request "
            "times a factor of at least 1; estimates that a job may outlive would break promises",
            "requested",
            ("requested", "exact"),
            float,
            low=1,
            optional=True,
            because="a job that outlives its estimate would break the promises made to others; "
            "easy(estimate=...), which plans again at each instant, takes them",
        ),
        URGENT,
        NAMED_NODES,
        *ON_NODES[1:],
    ),
    aliases=("cbf",),
    details="Jobs are considered in order of arrival, at arrival and in each sweep.",
    example="conservative(compress=fixpoint)",
    home="headway.policies.backfilling.policy:Conservative",
)

ENTRIES = (EASY, CONSERVATIVE)
