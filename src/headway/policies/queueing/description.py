"""Strict orders: jobs start in the order of a key, and the first that does not fit holds all behind it.

Keys, smallest first: r submit time, w walltime (both s), q processors, t now. Ties go by submit time, then
by position in the log.
"""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.references import (
    AIDA_2000,
    CARASTAN_SANTOS_2017,
    FEITELSON_1998,
    LELONG_2017,
    MUALEM_2001,
    SRINIVASAN_2002,
    TANG_2009,
)

URGENT = Parameter(
    "urgent",
    "ignore treats urgent jobs like all others; first puts them before the others in the queue",
    default="ignore",
    choices=("ignore", "first"),
)


ON_NODES = (
    Parameter(
        "backfill",
        "on nodes: a job is planned on the first cores to come free (none), or in the first window of its "
        "length (conservative)",
        choices=("none", "conservative"),
        optional=True,
    ),
    Parameter(
        "presence",
        "on nodes: how long a file stays there",
        choices=("contiguous", "until-next-start", "lru"),
        optional=True,
    ),
    Parameter(
        "match",
        "on nodes: whether a job's nodes have at least the memory it needs (fits), the smallest size that "
        "will do (exact), or any",
        choices=("fits", "exact", "any"),
        optional=True,
    ),
)
"""What policies of counted processors take besides where jobs are put inside nodes."""


def _order(name: str, summary: str, key: str, *citation: str, more: tuple[Parameter, ...] = ()) -> PolicyInfo:
    return PolicyInfo(
        name,
        summary,
        citation,
        (URGENT, *more),
        details=f"Strict order without backfilling. Key, smallest first: {key}.",
        example=name,
        home=f"headway.policies.queueing.policy:{'Fcfs' if more else 'Strict'}",
    )


LOG_R = "log10(r), r at least 1 s on the log's clock"

ENTRIES: tuple[PolicyInfo, ...] = (
    _order("fcfs", "First come, first served", "r", FEITELSON_1998, MUALEM_2001, more=ON_NODES),
    _order("sjf", "Shortest job first, by walltime", "w", LELONG_2017),
    _order("ljf", "Longest job first, by walltime", "-w", LELONG_2017),
    _order("sqf", "Smallest job first, by processors", "q", AIDA_2000, LELONG_2017),
    _order("lqf", "Largest job first, by processors", "-q", AIDA_2000, LELONG_2017),
    _order("saf", "Smallest area first (walltime x processors)", "w q", LELONG_2017),
    _order("laf", "Largest area first (walltime x processors)", "-w q", LELONG_2017),
    _order(
        "lxf",
        "Largest expansion factor first: the longest wait for its walltime",
        "-(t - r + w) / w, w at least 1 s",
        SRINIVASAN_2002,
        LELONG_2017,
    ),
    _order("wfp3", "Cubed relative wait, weighted by size", "-((t - r) / w)^3 q, w at least 1 s", TANG_2009),
    _order(
        "unicef",
        "Relative wait, small jobs favoured",
        "-(t - r) / (max(log2 q, 1) w), w at least 1 s",
        TANG_2009,
    ),
    _order("f1", "Learned order F1", f"log10(max(w, 1)) q + 870 {LOG_R}", CARASTAN_SANTOS_2017),
    _order("f2", "Learned order F2", f"sqrt(w) q + 25600 {LOG_R}", CARASTAN_SANTOS_2017),
    _order("f3", "Learned order F3", f"w q + 6860000 {LOG_R}", CARASTAN_SANTOS_2017),
    _order("f4", "Learned order F4", f"w sqrt(q) + 530000 {LOG_R}", CARASTAN_SANTOS_2017),
)

ORDERS: tuple[str, ...] = tuple(entry.name for entry in ENTRIES)
"""Names of the orders, for policies that sort their queue by one of them."""

ENTRIES += (
    PolicyInfo(
        "strict",
        "Any order without backfilling, a key of your own too",
        (LELONG_2017,),
        (Parameter("order", "order of the queue", "fcfs", ORDERS, own_key=True), URGENT),
        details="strict(order=sjf) is sjf. A key is a function of a job, and perhaps of now; smallest first.",
        example="strict(order=./mine.py:key)",
        home="headway.policies.queueing.policy:Strict",
    ),
)
