"""Redirection with groups under DBF against the plain reference, job for job, and what follows from both."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from dbf_reference import COMPRESSIONS
from dbf_reference import made as by_dbf
from headway import Schedule
from headway.audit import audit
from headway.explain import explain
from headway.jit import kernels
from headway.platform import Cluster, Platform
from headway.units import SECOND
from instances import log_of
from random_examples import examples
from redirection_reference import GROUPS, by_reference, check, made, tried
from reference.instances import job_lists
from reference.jobs import Job
from reference.laws import stretched
from test_dbf_equal import DEADLINES, busy_jobs
from test_dbf_equal import SPECS as DBF
from test_redirection_equal import PARAMETERS, M, spec_of

PAIRS = st.one_of(
    st.tuples(DBF, DBF),
    st.tuples(DBF, st.sampled_from([each for each in GROUPS if tried("dbf", each)])),
    st.tuples(st.sampled_from([each for each in GROUPS if tried(each, "dbf")]), DBF),
)


@pytest.mark.long
@examples(250)
@given(
    jobs=job_lists(M, max_jobs=14, deadline=DEADLINES),
    parameters=PARAMETERS,
    group=st.integers(0, 4),
    pair=PAIRS,
)
def test_any_pair_with_dbf(
    jobs: list[Job], parameters: dict[str, str], group: int, pair: tuple[str, str]
) -> None:
    groups = {"group": str(group), "principal": pair[0], "redirected": pair[1]}
    check(stretched(jobs, SECOND), M, spec_of(parameters, groups))


@pytest.mark.long
@examples(100)
@given(
    jobs=job_lists(3, max_jobs=20, horizon=30, deadline=DEADLINES),
    theta=st.integers(0, 1),
    principal=st.sampled_from(["conservative", "dbf", "dbf(late=refuse)"]),
    redirected=DBF,
)
def test_a_busy_second_group(jobs: list[Job], theta: int, principal: str, redirected: str) -> None:
    """Many redirections, so that redirected jobs displace and promote each other."""
    groups = f"principal={principal}, redirected={redirected}"
    check(jobs, 3, f"redirection(theta={theta}, group=3, filter=none, {groups})")


@pytest.mark.parametrize(
    "pair", [("dbf", "dbf"), ("dbf(mode=literal)", "easy(depth=2)"), ("conservative", "dbf")]
)
def test_a_busy_machine(pair: tuple[str, str]) -> None:
    """Deeper queues than small instances reach: displacements, promotions and redirections together."""
    jobs = busy_jobs(150, 24, 2, seed=5, horizon=60_000)
    groups = f"principal={pair[0]}, redirected={pair[1]}"
    schedule, _ = check(jobs, 24, f"redirection(theta=0, alpha=0.7, conflict=latest, {groups})")
    assert all(int(str(schedule.own[name])) >= 3 for name in ("redirections", "accepted_deadlines"))
    noted = [schedule.notes["displacements"][row] for row in range(len(schedule))]
    assert [len(one) for one in noted] == schedule.notes["displaced_times"].tolist()
    assert sum(map(len, noted)) == schedule.own["displacements"]
    assert all([each.at for each in one] == sorted(each.at for each in one) for one in noted)


@pytest.mark.long
@examples(120)
@given(
    jobs=job_lists(M, max_jobs=14, deadline=DEADLINES), dbf=DBF, redirected=st.sampled_from(["easy", "dbf"])
)
def test_no_redirection_is_dbf(jobs: list[Job], dbf: str, redirected: str) -> None:
    """theta infinite, or no group: DBF on m, job for job; also what is told and refused."""
    alone = by_dbf(jobs, M, dbf)
    deadline = [-1 if job.deadline is None else job.deadline for job in jobs]
    for limits in ("theta=inf, group=4", "theta=0, group=0"):
        spec = f"redirection({limits}, principal={dbf}, redirected={redirected})"
        other = headway.simulate(log_of(jobs, deadline=deadline), M, spec)
        for name in ("start", "end", "killed", "promise"):
            assert np.array_equal(getattr(alone, name), getattr(other, name)), name
        assert np.array_equal(alone.workload.job, other.workload.job)


@examples(120)
@given(jobs=job_lists(M, max_jobs=16), theta=st.integers(0, 2), compress=st.sampled_from(COMPRESSIONS))
def test_without_deadlines_dbf_is_conservative(jobs: list[Job], theta: int, compress: str) -> None:
    one, other = (
        headway.simulate(
            log_of(jobs),
            M,
            f"redirection(theta={theta}, group=3, filter=none, principal={name}, redirected=dbf)",
        )
        for name in (f"dbf(compress={compress})", f"conservative(compress={compress})")
    )
    for name in ("start", "end", "killed", "group"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@examples(100)
@given(jobs=job_lists(3, max_jobs=20, horizon=30, deadline=DEADLINES), theta=st.integers(0, 2))
def test_what_was_told_is_kept(jobs: list[Job], theta: int) -> None:
    """D1 and D3 in both groups: an accepted deadline, or the end of a definitive place, is the latest end."""
    schedule, _ = made(jobs, 3, f"redirection(theta={theta}, group=3, principal=dbf, redirected=dbf)")
    assert schedule.promise is not None and schedule.promise_kind == "end"
    assert (schedule.promise >= 0).all()
    assert (schedule.start + schedule.walltime <= schedule.promise).all()
    names = {law.name for law in audit(schedule).laws}
    assert {"latest end", "redirections"} <= names


def test_a_redirected_job_cannot_be_refused() -> None:
    """Job 1 starts again at 2 and can then only end after its deadline; late=refuse lets it run."""
    jobs = [
        Job(1, 0, 2, 5, 5, deadline=6),
        Job(2, 1, 2, 3, 3),
        Job(3, 2, 2, 3, 3),
        Job(4, 2, 1, 9, 9, deadline=8),
    ]
    spec = "redirection(theta=1, group=2, principal=dbf(late=refuse), redirected=dbf(late=refuse))"
    schedule, expected = check(jobs, 2, spec)
    assert [move.job for move in expected.redirections] == [0]
    assert schedule.workload.job.tolist() == [1, 2, 3]  # job 4 was late on submission
    assert schedule.start.tolist() == [2, 2, 5] and schedule.end[0] == 7 > 6
    assert schedule.own["late_on_arrival"] == 2


def test_a_provisional_newcomer_can_still_be_displaced_at_its_instant() -> None:
    """Jobs 1 and 2 come together; the first could start at once, but only holds a provisional reservation."""
    jobs = [Job(1, 0, 2, 3, 3, deadline=9), Job(2, 0, 2, 3, 3)]
    schedule, _ = check(jobs, 2, "redirection(theta=0, group=2, principal=dbf, redirected=dbf)")
    assert schedule.start.tolist() == [3, 0] and schedule.own["redirections"] == 0


@examples(60)
@given(
    jobs=job_lists(3, max_jobs=16, horizon=30, deadline=DEADLINES),
    theta=st.integers(0, 1),
    speed=st.sampled_from([0.6, 1.4, 3]),
    pair=st.sampled_from(
        [("easy", "easy"), ("conservative", "dbf"), ("dbf", "dbf"), ("dbf", "easy(depth=2)")]
    ),
)
def test_another_cluster_of_another_speed(
    jobs: list[Job], theta: int, speed: float, pair: tuple[str, str]
) -> None:
    """In the second cluster times are the log's by the speed, rounded up; deadlines are judged with them."""
    two = Platform((Cluster("a", procs=3), Cluster("b", procs=2, speed=speed)))
    spec = f"redirection(theta={theta}, group=2, filter=none, principal={pair[0]}, redirected={pair[1]})"
    schedule, found = made(jobs, two, spec)
    expected = by_reference(jobs, 3, spec, 1 / Fraction(str(speed)))
    for one, other in zip(found.results, expected.results, strict=True):
        assert one is not None and other is not None
        assert (one.start, one.end, one.killed) == (other.start, other.end, other.killed)
        assert one.promise == other.promise
    assert found.redirections == expected.redirections
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults


@pytest.mark.parametrize("redirected", ["dbf", "easy(depth=2)"])
@pytest.mark.parametrize("seed", [6, 7, 10])
def test_from_a_checkpoint(seed: int, redirected: str) -> None:
    """What was saved counts: a job is in one run, and the audit finds no fault, promoted jobs included."""
    jobs = busy_jobs(100, 24, 2, seed=seed, horizon=30_000)
    spec = f"redirection(theta=1, alpha=0.5, restart=checkpoint, principal=dbf, redirected={redirected})"
    schedule, _ = made(jobs, 24, spec)
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert int(str(schedule.own["redirections"])) > 0 and schedule.summary()["wasted_area"] == 0


def redirected_at_2(deadline: int, principal: str, redirected: str) -> Schedule:
    """Job 1 holds up jobs 2 and 3 and starts again at 2 s, to end at 7 s; times in seconds."""
    jobs = [Job(1, 0, 2, 5, 5, deadline=deadline), Job(2, 1, 2, 3, 3), Job(3, 2, 2, 3, 3)]
    groups = f"principal={principal}, redirected={redirected}"
    return check(stretched(jobs, SECOND), 2, f"redirection(theta=1, group=2, {groups})")[0]


@pytest.mark.parametrize(
    ("deadline", "principal", "redirected", "words"),
    [
        (9, "dbf", "dbf", "accepted with a provisional reservation in the redirection group at 2 s"),
        (6, "dbf", "dbf", "When it came there the first reservation after all others was too late"),
        (9, "conservative", "dbf", "was given a reservation in the redirection group at 2 s"),
        (9, "dbf", "easy(depth=2)", "The redirection group does not look at deadlines"),
    ],
)
def test_explained(deadline: int, principal: str, redirected: str, words: str) -> None:
    schedule = redirected_at_2(deadline, principal, redirected)
    assert schedule.start.tolist() == [2 * SECOND, 2 * SECOND, 5 * SECOND]
    text = " ".join(str(explain(schedule, 1, simulate_again=False)).split())
    assert words in text and "It was redirected at 2 s" in text
    assert f"{'met' if deadline == 9 else 'missed'} its deadline" in text


def test_explained_from_a_saved_run(tmp_path: Path) -> None:
    redirected_at_2(9, "dbf", "dbf").save(tmp_path / "run")
    text = str(explain(Schedule.load(tmp_path / "run"), 1, simulate_again=False))
    assert "accepted with a provisional reservation in the redirection group at 2 s" in " ".join(text.split())


def test_numbers_of_both() -> None:
    """What redirection and what deadlines report stand side by side."""
    late, in_time = (redirected_at_2(deadline, "dbf", "dbf").summary() for deadline in (6, 9))
    for found, met in ((late, 0), (in_time, 1)):
        assert found["redirections"] == 1 and found["redirected_among_worst"] is not None
        assert found["deadlines"] == 1 and found["deadlines_met"] == met
        assert found["wasted_area"] == 2 * 2 and found["promises_kept"] == 1
    assert (late["late_on_arrival"], late["accepted_deadlines"]) == (1, 1)
    assert (in_time["late_on_arrival"], in_time["accepted_deadlines"]) == (0, 2)


@pytest.mark.long
def test_every_pair_interpreted() -> None:
    """The tests of pairs once more where nothing needs to be compiled, so that they have all pairs."""
    if kernels.INTERPRETED:
        pytest.skip("they have all pairs here already")
    here = Path(__file__)
    files = [here.name, "test_redirection_equal.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-k", "pair or policies", *files]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        command, cwd=here.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout[-2000:]
