"""Deadline-based backfilling as Headway asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.backfilling.policy import Conservative
from headway.policies.entry import Parameter
from headway.policies.policy import Policy, Seen, before_maintenance, one_queue
from headway.policies.redirection.group import Group, Kind
from headway.policies.references import NTAKPE_2016

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.engine.tables import State
    from headway.policies.prepare import Arrivals, Prepared

MODES = ("strict", "literal")
LATE = ("priority", "refuse")


class Dbf(Policy):
    """DBF: jobs that only have a deadline make room for the others as long as they can still meet it.

    The promise is the latest end that the user was given on submission: the deadline of a job that was
    accepted with one, else the end of its reservation. Without deadlines this is conservative backfilling.
    """

    name = "dbf"
    citation = (NTAKPE_2016,)
    needs = ("the column deadline: an annotation, or the transformation deadlines",)
    example = "dbf(late=refuse)"
    example_on = "log.swf.gz --annotations deadlines.csv"

    mode = Parameter(
        "strict: a deadline that was accepted is kept; literal: the algorithm as the paper prints "
        "it, which misses some",
        "strict",
        ("strict", "literal"),
    )
    late = Parameter(
        "a job that cannot meet its deadline on arrival is handled like one without a deadline "
        "(priority), or never runs and is listed in the ledger (refuse)",
        "priority",
        ("priority", "refuse"),
    )
    compress = Parameter(
        "how waiting jobs move forward, as in conservative backfilling; scratch may break deadlines",
        "early",
        ("early", "every", "fixpoint", "none", "scratch"),
    )
    hole = Conservative.hole

    laws_of_the_queue = False
    takes_outages = takes_feedback = True

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        """The options and keys of conservative backfilling, and its own."""
        import numpy as np

        from headway.engine.setup import Setup
        from headway.policies.backfilling.setup import conservative
        from headway.policies.deadline import notes, tables
        from headway.policies.prepare import Prepared

        if arrivals.is_changing:
            from headway.policies.deadline.changing import dbf_changing as hook
        else:
            from headway.policies.deadline.dbf import dbf as hook
        plain = conservative(self.spec, arrivals, procs).setup
        own = MODES.index(self.mode), LATE.index(self.late)
        deadline = arrivals.extra.get("deadline", np.full(len(arrivals.submit), tables.NO_DEADLINE))

        def fill(state: State) -> None:
            assert plain.prepare is not None
            plain.prepare(state)
            assert (state.jobs.key == tables.DEFINITIVE).all()
            tables.fill_rows(state, deadline)

        memory = notes.new_memory(notes.log_room(len(arrivals.submit)))
        options = (*plain.options, *own, 1)
        setup = Setup((procs, procs), hook, options, fill, more_rows=tables.MORE_ROWS, memory=memory)
        remark = "" if (deadline >= 0).any() else "no job has a deadline, so dbf is conservative backfilling"
        return Prepared(
            setup, arrivals.walltime, "end", own=notes.counts, notes=notes.notes_of, remark=remark
        )

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.engine.tables import Why
        from headway.policies.deadline.dbf import of_dbf
        from headway.policies.deadline.notes import renumber, without_log

        return Local(
            of_dbf, catches_up=True, in_turn=Why.RESERVATION, renumber=renumber, trial_memory=without_log
        )

    @property
    def looks_at(self) -> tuple[str, ...]:
        return ("deadline",)

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
