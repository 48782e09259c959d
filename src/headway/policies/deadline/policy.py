"""Deadline-based backfilling as Headway asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.policy import Policy, Seen, before_maintenance, one_queue
from headway.policies.redirection.group import Group, Kind

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared


class Dbf(Policy):
    """DBF: the promise is the latest end."""

    laws_of_the_queue = False
    takes_outages = takes_feedback = True

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.deadline.setup import dbf

        return dbf(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.engine.tables import Why
        from headway.policies.deadline.notes import renumber, without_log
        from headway.policies.deadline.withdrawal import of_dbf

        return Local(
            of_dbf, catches_up=True, in_turn=Why.RESERVATION, renumber=renumber, trial_memory=without_log
        )

    def as_group(self) -> Group:
        return Group(Kind.DBF, has_base=True)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        if seen.outages is not None:
            return before_maintenance(seen)  # what was told may be broken by a failure; the summary counts it
        return told_ends(self) if one_queue(seen) else ()

    def keeps_deadlines(self, redirected: bool) -> tuple[bool, bool]:
        return True, True


def told_ends(*groups: Policy) -> tuple[str, ...]:
    """What DBF tells is when jobs end at the latest; of two groups, where the first is under DBF."""
    under = [each for each in groups if isinstance(each, Dbf)]
    if not under or under[0] is not groups[0]:
        return ()
    if any(each.params["compress"] == "scratch" for each in under):
        return ()
    return ("latest end" if all(each.params["mode"] == "strict" for each in under) else "definitive end",)
