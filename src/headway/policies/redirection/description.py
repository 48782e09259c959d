"""Redirection of the jobs that hold up many others."""

from __future__ import annotations

from headway.policies.backfilling.description import CONSERVATIVE, EASY
from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.queueing.description import ORDERS
from headway.policies.references import FAURE_2020

QUEUE_POLICIES = (EASY.name, CONSERVATIVE.name, "dbf", *ORDERS)

ENTRIES = (
    PolicyInfo(
        "redirection",
        "A running job that holds up many newcomers is stopped and restarted in a group of its own",
        (FAURE_2020,),
        (
            Parameter(
                "theta",
                "a job is redirected once more than so many newcomers were held up by it; inf: never",
                10,
                ("inf",),
                int,
                low=0,
            ),
            Parameter(
                "alpha",
                "size of the redirection group as a share of the machine",
                0.15,
                number=float,
                low=0,
                high=1,
                open_high=True,
            ),
            Parameter(
                "group",
                "size of the redirection group",
                number=int,
                low=0,
                unit="processors",
                instead_of="alpha",
            ),
            Parameter(
                "filter",
                "running jobs that a newcomer counts against: those with at least its processors (procs), "
                "at least its walltime (walltime), at most its walltime, as the paper's pseudo-code "
                "prints it (pseudo), or all of them (none)",
                "procs",
                ("procs", "walltime", "pseudo", "none"),
            ),
            Parameter(
                "conflict",
                "which goes where several could: longest walltime, highest counter, largest area (walltime x "
                "processors) or latest start",
                "walltime",
                ("walltime", "counter", "area", "latest"),
            ),
            Parameter(
                "size",
                "added: alpha m processors on top of the machine's m; share: alpha m / (1 - alpha) on top; "
                "split: alpha m of the m, and the principal group has the rest, the only one, and so the "
                "default, on a cluster that exists: live, and in a grid",
                "added",
                ("added", "share", "split"),
                optional=True,
            ),
            Parameter(
                "restart",
                "a redirected job starts from the beginning (scratch, as in the paper) or continues where it "
                "was stopped (checkpoint, ours: what saved memory would be worth)",
                "scratch",
                ("scratch", "checkpoint"),
            ),
            Parameter("principal", "policy of the principal group", "easy", policies=QUEUE_POLICIES),
            Parameter("redirected", "policy of the redirection group", "easy", policies=QUEUE_POLICIES),
        ),
        details=(
            "The number of processors given is m, the principal group; the run uses the redirection group "
            "besides (except with size=split), and `compare` gives other policies as many in all. On two "
            "clusters the second one is the redirection group, whatever alpha, group and size say. A cluster "
            "of a grid, a live one and Batsim's machine have no other processors: there `size` is split."
        ),
        example="redirection(theta=10, alpha=0.15)",
        home="headway.policies.redirection.policy:Redirection",
    ),
)
