"""Prepares DBF: the machine and its base profile, the deadlines, the tables of the policy."""

from __future__ import annotations

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import Job, State, Table
from headway.policies.backfilling.setup import conservative
from headway.policies.deadline import notes as dbf_notes
from headway.policies.deadline import tables
from headway.policies.prepare import Arrivals, Prepared
from headway.policies.spec import Spec

MODES = ("strict", "literal")
LATE = ("priority", "refuse")


def dbf(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Deadline-based backfilling: the options and keys of conservative backfilling, and its own."""
    if arrivals.is_changing:
        from headway.policies.deadline.changing import dbf_changing as hook
    else:
        from headway.policies.deadline.dbf import dbf as hook
    plain = conservative(spec, arrivals, procs).setup
    options = (*plain.options, MODES.index(spec.word("mode")), LATE.index(spec.word("late")), 1)
    deadline = arrivals.extra.get("deadline", np.full(len(arrivals.submit), tables.NO_DEADLINE))

    def fill(state: State) -> None:
        assert plain.prepare is not None
        plain.prepare(state)
        assert (state.jobs[Job.KEY] == tables.DEFINITIVE).all()
        fill_rows(state, deadline)

    memory = dbf_notes.new_memory(dbf_notes.log_room(len(arrivals.submit)))
    setup = Setup((procs, procs), hook, options, fill, more_rows=tables.MORE_ROWS, memory=memory)
    remark = "" if (deadline >= 0).any() else "no job has a deadline, so dbf is conservative backfilling"
    return Prepared(
        setup, arrivals.walltime, "end", own=dbf_notes.counts, notes=dbf_notes.notes_of, remark=remark
    )


def fill_rows(state: State, deadline: Table) -> None:
    """DBF's own job rows at the beginning."""
    state.jobs[tables.DbfJob.DEADLINE] = deadline
    for row in (tables.DbfJob.IN_BASE, tables.DbfJob.DEFINITIVE_AT):
        state.jobs[row] = -1
