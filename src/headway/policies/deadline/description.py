"""Deadline-based backfilling."""

from __future__ import annotations

from headway.policies.backfilling.description import CONSERVATIVE
from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.references import NTAKPE_2016

ENTRIES = (
    PolicyInfo(
        "dbf",
        "DBF: jobs that only have a deadline make room for the others as long as they can still meet it",
        (NTAKPE_2016,),
        (
            Parameter(
                "mode",
                "strict: a deadline that was accepted is kept; literal: the algorithm as the paper prints "
                "it, which misses some",
                "strict",
                ("strict", "literal"),
            ),
            Parameter(
                "late",
                "a job that cannot meet its deadline on arrival is handled like one without a deadline "
                "(priority), or never runs and is listed in the ledger (refuse)",
                "priority",
                ("priority", "refuse"),
            ),
            Parameter(
                "compress",
                "how waiting jobs move forward, as in conservative backfilling; scratch may break deadlines",
                "early",
                ("early", "every", "fixpoint", "none", "scratch"),
            ),
            CONSERVATIVE.parameters[1],
        ),
        needs=("the column deadline: an annotation, or the transformation deadlines",),
        details=(
            "The promise is the latest end that the user was given on submission: the deadline of a job that "
            "was accepted with one, else the end of its reservation. Without deadlines this is conservative "
            "backfilling."
        ),
        example="dbf(late=refuse)",
        example_on="log.swf.gz --annotations deadlines.csv",
        home="headway.policies.deadline.policy:Dbf",
    ),
)
