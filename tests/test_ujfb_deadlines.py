"""UJFB over DBF: by hand, against its reference, and what is left without deadlines or urgent jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway import Schedule
from headway.audit import audit
from headway.errors import UsageError
from headway.explain import explain
from headway.metrics.summary import summarise
from instances import busy
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job
from ujfb_by_hand import Row, run, times
from ujfb_reference import check_deadlines, made

M = 6
OVER_DBF = "ujfb(swap=1, regular=dbf)"
SPECS = st.builds(
    "ujfb(regular=dbf, preempt={}, victims={}, swap={}, overtake={}, reserve={}, host_memory={}, idle={}, "
    "leftover={}, borrow={}, overrun={}, swap_in={})".format,
    st.sampled_from(["suspend", "suspend", "kill", "degree"]),
    st.sampled_from(["latest", "smallest", "largest"]),
    st.sampled_from(["column", "column", "0", "0.000003"]),
    st.sampled_from(["yes", "no"]),
    st.sampled_from(["preempting", "preempting", "beside", "none"]),
    st.sampled_from(["unlimited", "unlimited", "2"]),
    st.sampled_from(["kept", "kept", "lent"]),
    st.sampled_from(["free", "swapped"]),
    st.sampled_from(["last", "first"]),
    st.sampled_from(["kill", "finish"]),
    st.sampled_from(["1", "0.5"]),
)


def broken_promise() -> Schedule:
    """1 runs until 10. 2 and 3 have deadlines, 30 and 20, and places at 10 and 15; 4 has none.

    Behind 4 (10 to 12) and 2, 3 would end at 22: it is promoted, to 10, before 4, and 2 moves to 17. At 5 an
    urgent job stops 1, runs from 6 to 12, and 1 goes on from 13 to 18. So 3 cannot begin before 18, and its
    deadline is broken; 4 follows at 23, and 2 at 25 just keeps its own.
    """
    rows: Sequence[Row] = (
        (0, 4, 10, 10, 0),
        (1, 4, 5, 5, 0),
        (2, 4, 5, 5, 0),
        (3, 4, 2, 2, 0),
        (5, 4, 6, 6, 1),
    )
    return run(*rows, spec=OVER_DBF, deadline=[-1, 30, 20, -1, -1])


def test_a_promotion_and_a_deadline_that_is_broken() -> None:
    made = broken_promise()
    assert times(made) == [
        (0, 18, "resumed"),
        (25, 30, "reservation"),
        (18, 23, "promoted"),
        (23, 25, "reservation"),
        (6, 12, "urgent_preempt"),
    ]
    own = made.own
    assert (own["accepted_deadlines"], own["promotions"], own["deadlines_broken"]) == (2, 1, 1)
    assert made.notes["broken_by"].tolist() == [-1, -1, 5, -1, -1]
    found = summarise(made)
    assert (found["deadlines"], found["deadlines_met"], found["deadlines_broken"]) == (2, 1, 1)
    assert found["urgent_lateness"] == 7 / 6 and found["promises_kept"] == 1 / 4


def test_explained(tmp_path: Path) -> None:
    """Also from a saved run, which is simulated again for what the policy noted."""
    made = broken_promise()
    made.save(tmp_path / "run")
    for schedule in (made, Schedule.load(tmp_path / "run")):
        text = explain(schedule, 3, simulate_again=False).text(1000)
        assert "It was accepted with a provisional reservation at 15 s" in text
        assert "Its reservation became definitive at 3 s" in text
        assert "Urgent job 5 broke its deadline" in text and "missed its deadline by 3 s" in text
        assert audit(schedule).ok
    assert "did not count" not in text


def test_the_strict_rule_when_an_urgent_job_comes() -> None:
    """2 and 3 wait behind 1 with deadlines 60 and 25. 1 is stopped for 6 + 2 s: behind 2, 3 would be late."""
    rows: Sequence[Row] = ((0, 4, 10, 10, 0), (1, 4, 5, 5, 0), (2, 4, 5, 5, 0), (5, 4, 6, 6, 1))
    made = run(*rows, spec=OVER_DBF, deadline=[-1, 60, 25, -1])
    assert [row[:2] for row in times(made)] == [(0, 18), (23, 28), (18, 23), (6, 12)]
    assert (made.own["promotions"], made.own["deadlines_broken"]) == (1, 0)


def test_a_running_job_that_is_suspended_beyond_its_deadline() -> None:
    rows: Sequence[Row] = ((0, 4, 10, 10, 0), (5, 4, 6, 6, 1))
    made = run(*rows, spec=OVER_DBF, deadline=[12, -1])
    assert times(made)[0] == (0, 18, "resumed") and made.notes["broken_by"].tolist() == [2, -1]
    in_time = run(*rows, spec=OVER_DBF, deadline=[18, -1])
    assert in_time.own["deadlines_broken"] == 0


def test_a_job_whose_deadline_was_given_up_waits_as_a_definitive_one_once_killed() -> None:
    """2 stops 1 beyond its deadline. Back at work at 6, 1 is killed at 7, for the swap would make 3 late.
    Then it goes before 4, which came at 3: its place is definitive, like that of 4."""
    rows: Sequence[Row] = ((0, 4, 10, 10, 0), (2, 4, 2, 2, 1), (7, 4, 3, 3, 1), (3, 4, 5, 5, 0))
    made = run(*rows, spec="ujfb(swap=1, preempt=degree, regular=dbf)", deadline=[11, -1, 10, -1])
    assert [row[:2] for row in times(made)] == [(10, 20), (3, 5), (7, 10), (20, 25)]
    assert made.notes["broken_by"].tolist() == [2, -1, -1, -1]


def test_what_does_not_go_together() -> None:
    with pytest.raises(UsageError, match="requeue=end does not go with regular=dbf"):
        run((0, 4, 10, 10, 0), (5, 4, 6, 6, 1), spec="ujfb(swap=1, regular=dbf, requeue=end)")


def test_it_says_what_is_missing() -> None:
    for urgent, deadline, remark in (
        (1, -1, "no regular job has a deadline, so regular=dbf changes nothing"),
        (0, 40, "no job is urgent, so ujfb is dbf(compress=scratch)"),
    ):
        said: list[str] = []
        log = headway.workload.Workload.from_arrays(
            unit="s",
            submit=[0, 1],
            procs=[2, 2],
            walltime=[5, 5],
            runtime=[5, 5],
            urgent=[0, urgent],
            deadline=[deadline, -1],
        )
        headway.simulate(log, 4, OVER_DBF, notify=said.append)
        assert remark in said


def flexible_jobs(m: int, jobs: int = 14, horizon: int = 20) -> st.SearchStrategy[list[Job]]:
    """Small instances in which a third is urgent, and most of the others have deadlines."""
    return job_lists(
        m,
        max_jobs=jobs,
        horizon=horizon,
        urgent=st.sampled_from([True, False, False]),
        swap=st.integers(0, 4),
        memory_gb=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1)]),
        deadline=st.one_of(st.none(), st.integers(0, 60), st.integers(0, 40)),
    )


@examples(120)
@given(jobs=flexible_jobs(M), spec=SPECS)
def test_small_instances(jobs: list[Job], spec: str) -> None:
    schedule, _ = check_deadlines(jobs, M, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults


def busy_jobs(seed: int) -> list[Job]:
    """Queues deep enough for promotions: a third has deadlines, one of fifteen is urgent."""
    wl, random = busy(120, 16, 1.6, seed), np.random.default_rng(seed)
    jobs = []
    for i in range(len(wl)):
        walltime = max(int(wl.walltime[i]), 60_000_000)
        slack = int(random.integers(1, 12)) * 3600_000_000
        jobs.append(
            Job(
                i + 1,
                int(wl.submit[i]),
                int(wl.procs[i]),
                walltime,
                int(wl.runtime[i]),
                urgent=bool(random.random() < 1 / 15),
                deadline=int(wl.submit[i]) + walltime + slack if random.random() < 1 / 3 else None,
                swap=30_000_000,
            )
        )
    return jobs


@pytest.mark.parametrize("more", ["", ", preempt=kill", ", idle=lent, overrun=finish"])
def test_a_busy_machine(more: str) -> None:
    schedule, expected = check_deadlines(busy_jobs(1), 16, f"ujfb(regular=dbf{more})")
    assert len(expected.policy.promoted) >= 3 and len(expected.policy.broken) >= 1
    assert expected.outcome.preempting >= 2 and schedule.provenance["max_queue"] >= 20


def same(a: Schedule, b: Schedule, *names: str) -> None:
    for name in names:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


@examples(100)
@given(jobs=flexible_jobs(M), spec=SPECS)
def test_without_deadlines_it_is_ujfb(jobs: list[Job], spec: str) -> None:
    jobs = [replace(job, deadline=job.deadline if job.urgent else None) for job in jobs]
    over, plain = made(jobs, M, spec), made(jobs, M, spec.replace("regular=dbf, ", ""))
    same(over, plain, "start", "end", "killed", "why")
    if plain.pieces is not None:
        assert over.pieces is not None
        same_pieces = [
            (p.job.tolist(), p.state.tolist(), p.start.tolist(), p.end.tolist(), list(p.processors or ()))
            for p in (over.pieces, plain.pieces)
        ]
        assert same_pieces[0] == same_pieces[1]


@examples(100)
@given(jobs=flexible_jobs(M, 18), spec=SPECS)
def test_without_urgent_jobs_it_is_dbf(jobs: list[Job], spec: str) -> None:
    jobs = [replace(job, urgent=False) for job in jobs]
    over, plain = made(jobs, M, spec), made(jobs, M, "dbf(compress=scratch)")
    same(over, plain, "start", "end", "killed", "why", "promise")
    for name in ("accepted_deadlines", "late_on_arrival", "promotions", "displacements", "safety_net"):
        assert over.own[name] == plain.own[name], name


def test_without_urgent_jobs_on_a_deep_queue() -> None:
    wl = busy(600, 32, 1.3, seed=2)
    due = wl.submit + wl.walltime + 6 * 3600_000_000
    none = np.zeros(len(wl), np.bool_)
    wl = wl.with_columns(deadline=np.where(np.arange(len(wl)) % 3 == 0, due, -1), urgent=none)
    over = headway.simulate(wl, 32, "ujfb(regular=dbf)")
    plain = headway.simulate(wl, 32, "dbf(compress=scratch)")
    same(over, plain, "start", "end", "why", "promise")
    assert plain.provenance["max_queue"] > 50 and int(str(plain.own["promotions"])) > 5
