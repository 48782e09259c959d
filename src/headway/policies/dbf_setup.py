"""Prepares DBF: the machine and its base profile, the deadlines, the notes of the policy."""

from __future__ import annotations

import numpy as np

from headway.engine.drive import Setup
from headway.engine.tables import KEY, State
from headway.policies.prepare import Arrivals, Prepared, Table, conservative
from headway.policies.spec import Spec

MODES = ("strict", "literal")
LATE = ("priority", "refuse")


def dbf(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Deadline-based backfilling: the options and keys of conservative backfilling, and its own."""
    from headway.policies import dbf as hooks
    from headway.policies.ordering import STRIDE

    plain = conservative(spec, arrivals, procs).setup
    options = (*plain.options, MODES.index(str(spec.params["mode"])), LATE.index(str(spec.params["late"])), 1)
    deadline = arrivals.extra.get("deadline", np.full(len(arrivals.submit), hooks.NO_DEADLINE))

    def fill(state: State) -> None:
        assert plain.prepare is not None
        plain.prepare(state)
        assert (state.jobs[KEY] == hooks.DEFINITIVE).all()
        state.jobs[hooks.DEADLINE] = deadline
        for row in (hooks.IN_BASE, hooks.DEFINITIVE_AT, hooks.DISPLACED_BY, hooks.DISPLACED_AT):
            state.jobs[row] = -1

    def own(state: State) -> dict[str, object]:
        notes = {
            "accepted_deadlines": hooks.ACCEPTED,
            "late_on_arrival": hooks.LATE_ON_ARRIVAL,
            "promotions": hooks.PROMOTIONS,
            "displacements": hooks.DISPLACEMENTS,
            "safety_net": hooks.SAFETY_NET,
        }
        return {name: int(state.options[STRIDE + note]) for name, note in notes.items()}

    def notes(state: State, ids: Table) -> dict[str, Table]:
        rows = {
            "first_given": hooks.FIRST_GIVEN,
            "definitive_at": hooks.DEFINITIVE_AT,
            "displaced_at": hooks.DISPLACED_AT,
            "displaced_times": hooks.DISPLACED_TIMES,
        }
        by = state.jobs[hooks.DISPLACED_BY]
        told = {name: state.jobs[row] for name, row in rows.items()}
        return {**told, "displaced_by": np.where(by >= 0, ids[by], -1)}

    setup = Setup(
        (procs, procs), hooks.dbf, (*options, *(0,) * STRIDE), prepare=fill, more_rows=hooks.MORE_ROWS
    )
    remark = "" if (deadline >= 0).any() else "no job has a deadline, so dbf is conservative backfilling"
    return Prepared(setup, arrivals.walltime, "end", own=own, notes=notes, remark=remark)
