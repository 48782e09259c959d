"""UJF and UJFB as Headway asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.policy import Policy, Seen, before_maintenance, never_idle

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared


class Ujf(Policy):
    """First come, first served, urgent jobs before all others."""

    takes_outages = takes_feedback = True
    looks_at = ("urgent",)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.urgent.setup import ujf

        return ujf(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.policies.queueing.strict import of_queue

        return Local(of_queue)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        planned = before_maintenance(seen) if self.params["overrun"] == "kill" else ()
        return ("urgent overrun", *never_idle(seen), *planned)


class Ujfb(Policy):
    """Urgent jobs first with backfilling and preemption."""

    laws_of_the_queue = False
    takes_feedback = True
    why_no_outages = "a suspended job resumes where its memory was swapped out, and not elsewhere"

    @property
    def keeps_processors(self) -> bool:  # type: ignore[override]
        return self.params["idle"] != "lent"

    @property
    def not_of_jobs(self) -> tuple[int, ...]:
        from headway.policies.urgent.tables import LISTS

        return LISTS

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.urgent.setup import ujfb

        return ujfb(self.spec, arrivals, procs)

    @property
    def looks_at(self) -> tuple[str, ...]:
        due = self.params["preempt"] == "degree" or self.params["regular"] == "dbf"
        return ("deadline", "urgent") if due else ("urgent",)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.engine.tables import Why
        from headway.policies.urgent import withdrawal
        from headway.policies.urgent.tables import UjfbJob

        return Local(
            withdrawal.of_ujfb,
            in_turn=Why.RESERVATION,
            not_of_jobs=self.not_of_jobs,
            numbered_by=UjfbJob.SHAPE,
            looks_at_newcomers=True,
            may_stop=True,
            takes_other_numbers=False,
            trial_memory=withdrawal.without_record,
        )

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("urgent", "urgent overrun")

    @property
    def is_over_dbf(self) -> bool:
        """Whether its regular jobs have deadlines."""
        return self.params["regular"] == "dbf"
