"""Policies of the user's own, and policies of the catalogue with a function of the user's in a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.policies.policy import Policy, Seen
from headway.policies.redirection.group import Group

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.own.live import Hook, Known
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.spec import Spec
    from headway.workload import Workload


class Own(Policy):
    """A whole policy of the user's: in Python or compiled."""

    takes_outages = takes_feedback = True
    looks_at = ("deadline", "urgent")
    """Its function is told both."""

    def refuse_feedback(self, workload: Workload) -> None:
        if "follows" in workload:
            from headway.policies.own.compiled import Compiled
            from headway.policies.own.forms import resolve

            policy = resolve(self.spec).policy
            if isinstance(policy, Compiled) and policy.tables is not None:
                raise UsageError(
                    f"{self.spec.name} lays its tables out by the log's order of submission, and with "
                    "--feedback another comes about; leave out the tables or --feedback"
                )
        super().refuse_feedback(workload)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.own.forms import prepare_own

        return prepare_own(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.policies.own.live import no_request

        return Local(no_request)

    def live_hook(self, prepared: Prepared, known: Known, may_stop: bool) -> Hook:
        from headway.policies.own.live import own_hook

        return own_hook(self.spec, prepared, known, may_stop)


class Keyed(Policy):
    """A policy of the catalogue that a user's key orders, or whose estimates a user's function gives."""

    def __init__(self, spec: Spec, plain: Policy) -> None:
        super().__init__(spec)
        self.plain, self.takes_outages = plain, plain.takes_outages

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.own.keys import prepare_keyed

        return prepare_keyed(self.spec, arrivals, procs)

    def prepare_joining(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.own.live import prepare_joining_keys

        return prepare_joining_keys(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        return self.plain.as_local()

    def live_hook(self, prepared: Prepared, known: Known, may_stop: bool) -> Hook:
        from headway.policies.own.live import keyed_hook

        return keyed_hook(self.spec, prepared, self.plain.as_local(), known)

    def as_group(self) -> Group:
        return self.plain.as_group()

    def without_a_rule(self) -> dict[str, str]:
        return self.plain.without_a_rule()

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return self.plain.laws(seen)
