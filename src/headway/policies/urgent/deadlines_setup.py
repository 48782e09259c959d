"""Prepares UJFB over DBF: what the plain policy has, with deadlines of regular jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import State
from headway.errors import UsageError
from headway.policies.deadline import tables as dbf_rows
from headway.policies.prepare import Prepared, Table
from headway.policies.queueing.ordering import STRIDE
from headway.policies.spec import Spec
from headway.policies.urgent import tables as rows
from headway.policies.urgent.deadlines import ujfb_deadlines


def over_dbf(spec: Spec, plain: Prepared, some_have_deadlines: bool) -> Prepared:
    """UJFB, prepared already, with the lists of DBF for its regular jobs."""
    if spec.params["requeue"] == "end":
        raise UsageError(
            "ujfb: requeue=end does not go with regular=dbf, whose lists are in order of submission; give "
            "requeue=arrival"
        )

    def over(setup: Setup) -> Setup:
        """With a third profile, the base of DBF."""
        options = np.zeros(STRIDE, np.int64)
        options[dbf_rows.Rule.BASE] = rows.DEFINITIVE_BASE
        return replace(setup, pools=(*setup.pools, setup.pools[0]), hook=ujfb_deadlines, options=options)

    def again(state: State) -> Setup | None:
        setup = None if plain.again is None else plain.again(state)
        return None if setup is None else over(setup)

    def own(state: State) -> dict[str, object]:
        assert plain.own is not None
        names = {
            "accepted_deadlines": rows.Note.ACCEPTED_JOBS,
            "late_on_arrival": rows.Note.LATE_ON_ARRIVAL,
            "promotions": rows.Note.PROMOTIONS,
            "displacements": rows.Note.DISPLACEMENTS,
            "safety_net": rows.Note.SAFETY_NET,
            "deadlines_broken": rows.Note.BROKEN,
        }
        return plain.own(state) | {name: int(state.memory.notes[note]) for name, note in names.items()}

    def notes(state: State, ids: Table) -> dict[str, Table]:
        assert plain.notes is not None
        by = state.jobs[rows.UjfbJob.BROKEN_BY]
        return plain.notes(state, ids) | {
            "first_given": state.jobs[dbf_rows.DbfJob.FIRST_GIVEN],
            "definitive_at": state.jobs[dbf_rows.DbfJob.DEFINITIVE_AT],
            "displaced_times": state.jobs[dbf_rows.DbfJob.DISPLACED_TIMES],
            "broken_by": np.where(by >= 0, ids[by], -1),
        }

    remark = plain.remark
    if not some_have_deadlines:
        remark = "no regular job has a deadline, so regular=dbf changes nothing"
    elif plain.sets is None:
        remark = "no job is urgent, so ujfb is dbf(compress=scratch)"
    return replace(
        plain,
        setup=over(plain.setup),
        promise_kind="end",
        own=own,
        notes=notes,
        again=again,
        remark=remark,
    )
