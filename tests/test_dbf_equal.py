"""DBF against its plain reference, job for job, in every mode; and against conservative backfilling."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from dbf_instances import judged
from dbf_reference import COMPRESSIONS, check, made
from headway.audit import audit
from headway.policies.deadline import notes as dbf_notes
from instances import busy, log_of
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job

M = 4
DEADLINES = st.one_of(st.none(), st.integers(0, 50))
SPECS = st.builds(
    "dbf(mode={}, late={}, compress={})".format,
    st.sampled_from(["strict", "literal"]),
    st.sampled_from(["priority", "refuse"]),
    st.sampled_from(COMPRESSIONS),
)


@examples(300)
@given(jobs=job_lists(M, max_jobs=14, deadline=DEADLINES), spec=SPECS)
def test_small_instances(jobs: list[Job], spec: str) -> None:
    check(jobs, M, spec)


@examples(150)
@given(jobs=job_lists(6, max_jobs=25, horizon=40, deadline=DEADLINES, exact=True), spec=SPECS)
def test_exact_times(jobs: list[Job], spec: str) -> None:
    """Nothing ends early, so that the provisional list stays as it was placed: the quick way is taken."""
    check(jobs, 6, spec)


def busy_jobs(count: int, m: int, load: float, seed: int, horizon: int = 20_000) -> list[Job]:
    """Deeper queues than small instances reach; two of five jobs have a deadline."""
    wl, random = busy(count, m, load, seed), np.random.default_rng(seed + 1)  # not the draws of the sizes
    due = np.where(random.random(count) < 0.4, random.integers(0, horizon, count) * 1_000_000, -1)
    columns = zip(wl.job, wl.submit, wl.procs, wl.walltime, wl.runtime, due, strict=True)
    return [
        Job(int(i), int(r), int(q), int(w), int(p), deadline=None if d < 0 else int(r + w + d))
        for i, r, q, w, p, d in columns
    ]


@pytest.mark.parametrize("compress", COMPRESSIONS)
@pytest.mark.parametrize("mode", ["strict", "literal"])
def test_a_busy_machine(mode: str, compress: str) -> None:
    jobs = busy_jobs(120, 24, 3, seed=3)
    schedule, expected = check(jobs, 24, f"dbf(mode={mode}, compress={compress})")
    assert len(expected.promoted) >= 3 and int(str(schedule.own["displacements"])) >= 80


@pytest.mark.parametrize("mode", ["strict", "literal"])
def test_every_displacement_is_noted_in_order(mode: str) -> None:
    jobs = busy_jobs(120, 24, 3, seed=3)
    schedule = made(jobs, 24, f"dbf(mode={mode})")
    known = {job.id: job for job in jobs}
    lists = [schedule.notes["displacements"][row] for row in range(len(schedule))]
    assert [len(one) for one in lists] == schedule.notes["displaced_times"].tolist()
    assert sum(map(len, lists)) == schedule.own["displacements"] and max(map(len, lists)) > 3
    for row, one in enumerate(lists):
        # A priority task came at that instant; what it left is later than the place on acceptance or before.
        assert all(known[each.by].submit == each.at for each in one)
        assert [each.at for each in one] == sorted(each.at for each in one)
        assert all(each.at >= schedule.submit[row] and each.start > schedule.submit[row] for each in one)
        if one:
            assert one[0].start > schedule.submit[row] and one[-1].start >= schedule.start[row]


def test_the_oldest_displacements_are_forgotten_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = made(busy_jobs(120, 24, 3, seed=3), 24, "dbf")
    monkeypatch.setattr(dbf_notes, "log_room", lambda jobs: 20)
    part = made(busy_jobs(120, 24, 3, seed=3), 24, "dbf")
    assert np.array_equal(part.start, whole.start)
    ends = [[part.notes["displacements"][row] for row in range(120)] for part in (whole, part)]
    assert sum(map(len, ends[1])) == 20
    for every, last in zip(*ends, strict=True):
        assert every[len(every) - len(last) :] == last


@pytest.mark.parametrize("compress", COMPRESSIONS)
@examples(40)
@given(jobs=job_lists(M, max_jobs=14))
def test_without_deadlines_it_is_conservative(compress: str, jobs: list[Job]) -> None:
    plain = headway.simulate(log_of(jobs), M, f"conservative(compress={compress})")
    for text in (f"dbf(compress={compress})", f"dbf(mode=literal, compress={compress})"):
        other = made(jobs, M, text)
        for name in ("start", "end", "killed", "why"):
            assert np.array_equal(getattr(plain, name), getattr(other, name)), name
        assert plain.promise is not None and other.promise is not None
        assert np.array_equal(plain.promise + plain.walltime, other.promise)


@examples(200)
@given(
    jobs=job_lists(M, max_jobs=20, horizon=30, deadline=DEADLINES),
    compress=st.sampled_from(["early", "every", "fixpoint", "none"]),
    hole=st.sampled_from(["closed", "open"]),
)
def test_strict_keeps_what_was_told(jobs: list[Job], compress: str, hole: str) -> None:
    """D1, D3, D4, D5, straight from the schedule and by the audit."""
    schedule = made(jobs, M, f"dbf(compress={compress}, hole={hole})")
    assert schedule.promise is not None
    assert (schedule.start + schedule.walltime <= schedule.promise).all()
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert "latest end" in {law.name for law in verdict.laws}
    for row in np.flatnonzero(schedule.notes["definitive_at"] >= 0):
        assert schedule.promise[row] == jobs[row].deadline


def test_strict_keeps_every_deadline_on_many_instances() -> None:
    """As `python tests/dbf_instances.py` does, a fifth of them."""
    tally = judged(20_000, seed=1)
    assert tally.missed == [] and tally.instances == 20_000
    for seen in ("accepted_deadlines", "promotions", "displacements", "literal_misses", "safety_net"):
        assert tally.counts[seen] > 10, seen


def test_definitive_tasks_go_first_where_a_task_of_no_length_is_in_the_way() -> None:
    """Job 1 holds a processor for no time, so four of the five others due at 0 start: 6 before 4."""
    task = partial(Job, submit=0)
    jobs = [
        task(id=1, procs=1, walltime=0, runtime=0),
        task(id=2, procs=1, walltime=1, runtime=1),
        task(id=3, procs=1, walltime=1, runtime=0),
        task(id=4, procs=1, walltime=1, runtime=0, deadline=1),
        task(id=5, procs=1, walltime=1, runtime=1, deadline=2),
        task(id=6, procs=1, walltime=1, runtime=1),
        task(id=7, procs=2, walltime=0, runtime=0),
    ]
    schedule, _ = check(jobs, 4, "dbf")
    assert schedule.start.tolist() == [0, 0, 0, 0, 0, 0, 1]
