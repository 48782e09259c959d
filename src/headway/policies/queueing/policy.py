"""Strict orders: jobs start in the order of a key, and the first that does not fit holds all after it.

Ties go by submit time, then by position in the log. FCFS may also be on nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headway.policies.entry import Parameter
from headway.policies.nodes.baseline import OF_NODES, Baseline
from headway.policies.policy import Policy, Seen, all_alike, before_maintenance, never_idle, one_queue
from headway.policies.redirection.group import Group, Kind
from headway.policies.references import (
    AIDA_2000,
    CARASTAN_SANTOS_2017,
    FEITELSON_1998,
    LELONG_2017,
    MUALEM_2001,
    SRINIVASAN_2002,
    TANG_2009,
)

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared


URGENT = Parameter(
    "ignore treats urgent jobs like all others; first puts them before the others in the queue",
    default="ignore",
    choices=("ignore", "first"),
)

BACKFILL = Parameter(
    "on nodes: a job is planned on the first cores to come free (none), or in the first window of its "
    "length (conservative)",
    choices=("none", "conservative"),
    optional=True,
)


class Queue(Policy):
    """A queue in some order whose waiting jobs hold nothing."""

    takes_feedback = True

    def prepare_joining(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.queueing.setup import with_present_keys

        return with_present_keys(self.spec, self.prepare(arrivals, procs))

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.policies.queueing.strict import of_queue

        return Local(of_queue)


class Order(Queue):
    """FCFS, SJF and the other orders without backfilling."""

    urgent = URGENT

    takes_outages = True

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.queueing.setup import strict

        return strict(self.spec, arrivals, procs)

    def refuse_stream(self) -> None:
        pass

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return (*never_idle(seen), *before_maintenance(seen))

    def as_group(self) -> Group:
        from headway.policies.queueing.setup import sorted_at_each_pass

        return Group(Kind.STRICT, lambda options: sorted_at_each_pass(self.spec, options))


class Fcfs(Baseline, Order):
    """First come, first served.

    Strict order without backfilling. Key, smallest first: r.
    """

    name = example = "fcfs"
    citation = FEITELSON_1998, MUALEM_2001

    urgent = URGENT
    backfill = BACKFILL

    form_inside = "FcfsInside"
    of_nodes: ClassVar[dict[str, str]] = {"backfill": "none", **OF_NODES}

    def params_inside(self) -> dict[str, object]:
        return {"urgent": "ignore", **super().params_inside()}

    def laws(self, seen: Seen) -> tuple[str, ...]:
        plain = one_queue(seen) and all_alike(self, seen) and seen.outages is None
        return ("fcfs order", "fcfs head") if plain else super().laws(seen)


def _order(name: str, summary: str, key: str, *citation: str) -> type[Order]:
    """A strict order; in its key r is the submit time, w the walltime (both s), q the processors, t now."""
    doc = f"{summary}.\n\nStrict order without backfilling. Key, smallest first: {key}."
    told = {"name": name, "example": name, "citation": citation, "__doc__": doc}
    return type(name.capitalize(), (Order,), {**told, "__module__": __name__})


LOG_R = "log10(r), r at least 1 s on the log's clock"

ORDERED: tuple[type[Policy], ...] = (
    Fcfs,
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
ORDERS: tuple[str, ...] = tuple(policy.name for policy in ORDERED)
"""Names of the orders, for policies that sort their queue by one of them."""


class Strict(Order):
    """Any order without backfilling, a key of your own too.

    strict(order=sjf) is sjf. A key is a function of a job, and perhaps of now; smallest first.
    """

    name = "strict"
    citation = (LELONG_2017,)
    example = "strict(order=./mine.py:key)"

    order = Parameter("order of the queue", "fcfs", ORDERS, own_key=True)
