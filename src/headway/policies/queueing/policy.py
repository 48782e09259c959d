"""Strict orders as Headway asks them; FCFS may also be on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headway.policies.nodes.baseline import OF_NODES, Baseline
from headway.policies.policy import Policy, Seen, all_alike, before_maintenance, never_idle, one_queue
from headway.policies.redirection.group import Group, Kind

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared


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


class Strict(Queue):
    """FCFS, SJF and the other orders without backfilling."""

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


class Fcfs(Baseline, Strict):
    """First come, first served: on counted processors, or inside nodes."""

    form_inside = "FcfsInside"
    of_nodes: ClassVar[dict[str, str]] = {"backfill": "none", **OF_NODES}

    def params_inside(self) -> dict[str, object]:
        return {"urgent": "ignore", **super().params_inside()}

    def laws(self, seen: Seen) -> tuple[str, ...]:
        plain = one_queue(seen) and all_alike(self, seen) and seen.outages is None
        return ("fcfs order", "fcfs head") if plain else super().laws(seen)
