"""The reference of UJFB beside the simulator, and small workloads with urgent jobs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import headway
from headway import Schedule
from headway.platform.processor_sets import numbers
from headway.policies.spec import parse_spec
from headway.schedule import STATES, WHY
from instances import log_of
from reference.jobs import SECOND, Job
from reference.urgent import Urgent, simulate_ujfb
from reference.urgent_deadlines import UrgentDeadlines, simulate_ujfb_dbf

KB_PER_GB = 1024 * 1024


def made(jobs: Sequence[Job], m: int, spec: str) -> Schedule:
    """What the simulator makes of the jobs."""
    columns: dict[str, Any] = {"swap": [job.swap for job in jobs]}
    columns["memory_kb"] = [max(int(job.memory_gb * KB_PER_GB), 1) for job in jobs]
    columns["deadline"] = [-1 if job.deadline is None else job.deadline for job in jobs]
    return headway.simulate(log_of(jobs, **columns), m, spec)


def readings(spec: str) -> dict[str, Any]:
    """The parameters of a spec as the references take them."""
    params = dict(parse_spec(spec).params)
    host, swap = params["host_memory"], params["swap"]
    words = ("preempt", "victims", "idle", "leftover", "borrow", "requeue", "overrun", "reserve")
    return {
        "swap": None if swap == "column" else round(float(str(swap)) * SECOND),
        "host_memory": None if host == "unlimited" else Fraction(str(host)),
        "host_size": int(str(params["host_size"])),
        "overtake": params["overtake"] == "yes",
        "swap_in": Fraction(str(params["swap_in"])),
        **{name: str(params[name]) for name in words},
    }


def by_reference(jobs: Sequence[Job], m: int, spec: str) -> Urgent:
    """What the plain reference makes of them."""
    return simulate_ujfb(jobs, m, **readings(spec))


def check(jobs: Sequence[Job], m: int, spec: str) -> tuple[Schedule, Urgent]:
    """Compare job for job: starts, ends, kills, why, what was told; then the counts and every piece."""
    schedule, expected = made(jobs, m, spec), by_reference(jobs, m, spec)
    assert schedule.promise_kind == "told"
    compare(jobs, spec, schedule, expected)
    return schedule, expected


def check_deadlines(jobs: Sequence[Job], m: int, spec: str) -> tuple[Schedule, UrgentDeadlines]:
    """The same for UJFB over DBF, and what became of the deadlines."""
    schedule, expected = made(jobs, m, spec), simulate_ujfb_dbf(jobs, m, **readings(spec))
    assert schedule.promise_kind == "end"
    compare(jobs, spec, schedule, expected.outcome)
    reference, own = expected.policy, schedule.own
    assert own["accepted_deadlines"] == len(reference.accepted)
    assert own["late_on_arrival"] == len(reference.late_on_arrival)
    assert own["promotions"] == len(reference.promoted)
    assert own["safety_net"] == reference.safety_net
    assert own["deadlines_broken"] == len(reference.broken)
    broken = {row: int(by) - 1 for row, by in enumerate(schedule.notes["broken_by"]) if by >= 0}
    assert broken == reference.broken
    return schedule, expected


def compare(jobs: Sequence[Job], spec: str, schedule: Schedule, expected: Urgent) -> None:
    """Job for job, then counts and pieces."""
    assert schedule.promise is not None
    for row, (job, result) in enumerate(zip(jobs, expected.results, strict=True)):
        found = [
            int(column[row]) for column in (schedule.start, schedule.end, schedule.killed, schedule.promise)
        ]
        told = -1 if result.promise is None else result.promise
        assert found == [result.start, result.end, result.killed, told], (job, spec)
        why = WHY[schedule.why[row]]
        assert ("reservation" if why == "backfill" else why) == result.why or (
            why == "backfill" and result.why == "immediate"
        ), (job, why, result.why)
    own = schedule.own
    assert int(str(own["suspensions"])) + int(str(own["kills_for_urgent"])) == expected.suspensions
    assert own["preempting_jobs"] == expected.preempting
    compare_pieces(schedule, expected)


def compare_pieces(schedule: Schedule, expected: Urgent) -> None:
    """Every piece of the jobs that were stopped, with its processors; and the processors of urgent jobs."""
    stopped = {piece.job for piece in expected.pieces if piece.state != "running"} | expected.invited
    urgent = schedule.workload.urgent
    wanted = {
        (
            piece.job,
            "running" if piece.state == "lost" else piece.state,
            piece.start,
            piece.end,
            () if piece.state == "swap_out" else tuple(sorted(piece.processors)),
        )
        for piece in expected.pieces
        if (piece.job in stopped or urgent[piece.job]) and piece.end > piece.start
    }
    pieces = schedule.pieces
    if pieces is None:
        assert not wanted
        return
    assert pieces.processors is not None
    found = set()
    for j, s, a, b, q, text in zip(
        pieces.job, pieces.state, pieces.start, pieces.end, pieces.procs, pieces.processors, strict=True
    ):
        members = tuple(numbers(text))
        part = STATES[s] == "swap_out" and "leftover=free" in schedule.policy
        assert len(members) == q and (q == schedule.procs[j] or part)
        if b > a:
            known = () if STATES[s] == "swap_out" else members
            found.add((int(j), STATES[s], int(a), int(b), known))
    assert found == wanted
