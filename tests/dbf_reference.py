"""The reference of DBF beside the simulator, and small workloads with deadlines."""

from __future__ import annotations

from collections.abc import Sequence

import headway
from headway import Schedule
from headway.policies.spec import parse_spec
from headway.schedule import WHY
from instances import log_of
from reference.dbf import Deadlines, simulate_dbf
from reference.jobs import Job

COMPRESSIONS = ("early", "every", "fixpoint", "none", "scratch")


def made(jobs: Sequence[Job], m: int, spec: str) -> Schedule:
    """What the simulator makes of the jobs."""
    deadline = [-1 if job.deadline is None else job.deadline for job in jobs]
    return headway.simulate(log_of(jobs, deadline=deadline), m, spec)


def check(jobs: Sequence[Job], m: int, spec: str) -> tuple[Schedule, Deadlines]:
    """Compare job for job: starts, ends, kills, what was told, promotions, refusals, and the counts."""
    params = {name: str(value) for name, value in parse_spec(spec).params.items() if name != "hole"}
    schedule, expected = made(jobs, m, spec), simulate_dbf(jobs, m, **params)
    assert schedule.promise is not None and schedule.promise_kind == "end"
    rows = {int(number): row for row, number in enumerate(schedule.workload.job)}
    assert len(rows) == sum(result is not None for result in expected.results)
    for job, result in zip(jobs, expected.results, strict=True):
        if result is None:
            assert job.id not in rows
            continue
        row = rows[job.id]
        found = [
            int(column[row]) for column in (schedule.start, schedule.end, schedule.killed, schedule.promise)
        ]
        assert found == [result.start, result.end, result.killed, result.promise], (job, spec)
        assert (WHY[schedule.why[row]] == "promoted") == (result.why == "promoted"), (job, spec)
    own = schedule.own
    assert own["accepted_deadlines"] == len(expected.accepted)
    assert own["promotions"] == len(expected.promoted)
    assert own["safety_net"] == expected.safety_net
    return schedule, expected
