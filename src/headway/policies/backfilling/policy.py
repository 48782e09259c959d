"""EASY and conservative backfilling as Headway asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headway.policies.nodes.baseline import ALLOWED, Baseline
from headway.policies.policy import Policy, Seen, all_alike, one_queue
from headway.policies.queueing.policy import Queue
from headway.policies.redirection.group import Group, Kind

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared

PLAIN = {"order": "fcfs", "estimate": "requested", "age": "none"}
"""Where the head is the first to have come, and is planned with its requested time."""


class Easy(Baseline, Queue):
    """EASY backfilling."""

    form_inside = "EasyInside"
    allowed_inside: ClassVar[dict[str, tuple[object, ...]]] = {**ALLOWED, "backfill": ("fcfs",)}

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.setup import easy

        return easy(self.spec, arrivals, procs)

    def as_group(self) -> Group:
        from headway.policies.backfilling.setup import easy_in_turn

        kind = Kind.EASY if self.params["depth"] == 1 else Kind.DEEP
        return Group(kind, lambda options: easy_in_turn(self.spec, options))

    def laws(self, seen: Seen) -> tuple[str, ...]:
        is_plain = all(str(self.params.get(name, value)) == value for name, value in PLAIN.items())
        return ("easy head",) if is_plain and one_queue(seen) and all_alike(self, seen) else ()


class Conservative(Baseline, Policy):
    """Conservative backfilling."""

    form_inside = "ConservativeInside"

    def params_inside(self) -> dict[str, object]:
        return {**super().params_inside(), "compress": "scratch"}  # plans are made anew at every event

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.setup import conservative

        return conservative(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.engine.tables import RESERVATION
        from headway.policies.backfilling.withdrawal import of_conservative

        return Local(of_conservative, catches_up=True, in_turn=RESERVATION)

    def as_group(self) -> Group:
        return Group(Kind.CONSERVATIVE)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("promise",) if one_queue(seen) and self.params.get("compress") != "scratch" else ()
