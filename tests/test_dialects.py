"""EASY in the dialects of other simulators: recorded from them, against plain references, and by hand."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import headway
from headway.errors import UsageError
from headway.platform import Cluster
from instances import busy, jobs_in, jobs_of, log_of, simulated
from random_examples import examples
from reference.dialects import DIALECTS, simulate_dialect
from reference.instances import job_lists
from reference.jobs import Job, Result
from reference.laws import stretched

M = 6
OTHERS = tuple(name for name in DIALECTS if name != "textbook")
RECORDED: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("dialects_recorded.toml").read_text("utf-8")
)["instances"]


def that_take_time(jobs: list[Job]) -> list[Job]:
    """Jobs that take some time, as dialects need them; their ids sort otherwise as strings."""
    return [replace(job, id=job.id + 95, runtime=max(job.runtime, 1)) for job in jobs]


def in_dialect(jobs: list[Job], m: int, dialect: str) -> list[Result]:
    made = simulated(jobs, m, f"easy(dialect={dialect})")
    return [replace(result, promise=None) for result in made]


def starts(dialect: str, *rows: tuple[int, int, int, int], m: int = 4) -> list[int]:
    """Starts in seconds of jobs given as submit, procs, walltime, runtime."""
    return [result.start // 1_000_000 for result in in_dialect(jobs_of(*rows), m, dialect)]


@pytest.mark.parametrize("dialect", OTHERS)
def test_every_start_is_the_one_that_the_simulator_itself_recorded(dialect: str) -> None:
    told = [instance for instance in RECORDED if dialect in instance["starts"]]
    assert len(told) >= 7
    for instance in told:
        jobs = [
            Job(id=id, submit=submit, procs=procs, walltime=request, runtime=run)
            for id, submit, procs, request, run in instance["jobs"]
        ]
        made = in_dialect(stretched(jobs, 1_000_000), instance["procs"], dialect)
        assert [result.start // 1_000_000 for result in made] == instance["starts"][dialect]


@examples(150)
@given(jobs=job_lists(M, max_jobs=14, zero=False).map(that_take_time))
def test_every_dialect_is_its_reference(jobs: list[Job]) -> None:
    jobs = stretched(jobs, 1_000_000)
    for dialect in DIALECTS:
        assert in_dialect(jobs, M, dialect) == simulate_dialect(jobs, M, dialect), dialect


@pytest.mark.parametrize("dialect", DIALECTS)
def test_longer_queues(dialect: str) -> None:
    log = busy(400, 64, 1.1, seed=3)
    jobs = [replace(job, runtime=max(job.runtime, 1)) for job in jobs_in(log) if job.walltime > 0]
    made = headway.simulate(log_of(jobs), 64, f"easy(dialect={dialect})")
    assert headway.audit(made).ok
    assert [int(start) for start in made.start] == [
        result.start for result in simulate_dialect(jobs, 64, dialect)
    ]


@pytest.mark.parametrize("dialect", OTHERS)
def test_jobs_of_no_length_do_not_break_a_dialect(dialect: str) -> None:
    made = headway.simulate(busy(400, 64, 1.1, seed=5), 64, f"easy(dialect={dialect})")
    assert len(made.start) == 400 and headway.audit(made).ok


def test_pyss_sees_submissions_before_the_ends_of_an_instant() -> None:
    # Job 1 (3 of 4) ends early at 10, as job 3 (1 processor for 90) comes. Its pass still counts job 1
    # until 20: the shadow of job 2 (4 wanted) is 20 and leaves nothing over, so job 3 runs past it and
    # must wait. With the textbook job 2 has its four processors at 10. With pyss too, a pass later, and
    # job 3 waits.
    early = ((0, 3, 20, 10), (1, 4, 10, 10), (10, 1, 90, 90))
    assert starts("textbook", *early) == starts("pyss", *early) == [0, 10, 20]
    # A job of 10 seconds at 10 is over by that shadow of 20: pyss lets it pass, and job 2 waits for it.
    passing = ((0, 3, 20, 10), (1, 4, 10, 10), (10, 1, 10, 10))
    assert starts("textbook", *passing) == [0, 10, 20]
    assert starts("pyss", *passing) == [0, 20, 10]


def test_pyss_takes_an_expired_request_for_free() -> None:
    # Job 1 ends at 10 exactly as requested: the pass of job 3's submission already has the room for job
    # 2.
    expired = ((0, 3, 10, 10), (1, 4, 10, 10), (10, 1, 10, 10))
    assert starts("pyss", *expired) == [0, 10, 20]


def test_pyss_passes_after_each_submission() -> None:
    # Two come at 0, the wide one second: the first has started when the second is seen. Then two that
    # both fit beside one another are seen one by one: the same as together.
    assert starts("pyss", (0, 3, 10, 10), (0, 4, 10, 10), (0, 1, 10, 10)) == [0, 10, 0]


def test_batsched_keeps_numbers_for_the_head() -> None:
    # Six processors. Job 1 has 0-1 until 30, job 2 has 2-4 until 10, and 5 is free. Job 3 wants 3 of
    # them: shadow 10, where 2-5 are free: it holds 2, 3 and 4. Job 4 (1 for 50) takes 5, which is
    # outside.
    assert starts("batsched", (0, 2, 30, 30), (0, 3, 10, 10), (1, 3, 20, 20), (2, 1, 50, 50), m=6) == [
        0,
        0,
        10,
        2,
    ]
    # Now 0 is the free one (job 1 has left it): the head holds 0, 3 and 4, so job 5 finds nothing outside
    # though one processor would be left over by count.
    rows = ((0, 1, 5, 5), (0, 2, 30, 30), (0, 3, 10, 10), (1, 3, 20, 20), (6, 1, 50, 50))
    assert starts("textbook", *rows, m=6) == [0, 0, 0, 10, 6]
    assert starts("batsched", *rows, m=6) == [0, 0, 0, 10, 10]


def test_batsched_lets_equal_submissions_in_by_their_ids_as_strings() -> None:
    jobs = [Job(9992, 0, 4, 10, 10), Job(10000, 0, 4, 10, 10)]
    for dialect in ("batsched", "batsched-fast"):
        assert [result.start for result in in_dialect(jobs, 4, dialect)] == [10, 0]
    assert [result.start for result in in_dialect(jobs, 4, "textbook")] == [0, 10]


def test_batsched_fast_never_improves_the_shadow_and_leaves_nothing_over() -> None:
    # The head, job 3, wants all four: its shadow is 40 by the request of job 1. That one ends at 5, so by
    # the textbook the shadow is 20, where job 2 ends, and job 4 (2 for 30, from 6 on) must wait. Here the
    # shadow stays at 40, job 4 passes, and the head waits for it.
    rows = ((0, 2, 40, 5), (0, 2, 20, 20), (1, 4, 10, 10), (6, 2, 30, 30))
    assert starts("textbook", *rows) == [0, 0, 20, 30]
    assert starts("batsched-fast", *rows) == [0, 0, 36, 6]
    # One processor is left over beside the head at its shadow of 10: job 3 may have it by the textbook.
    beside = ((0, 3, 10, 10), (1, 3, 10, 10), (2, 1, 50, 50))
    assert starts("textbook", *beside) == [0, 10, 2]
    assert starts("batsched-fast", *beside) == [0, 10, 10]


def test_cqsim_knows_how_long_candidates_run() -> None:
    # Job 3 asks for 50 and runs 5: it is over by the shadow of 10, which CQSim knows.
    rows = ((0, 3, 10, 10), (1, 4, 10, 10), (2, 1, 50, 5))
    assert starts("textbook", *rows) == [0, 10, 20]
    assert starts("cqsim", *rows) == [0, 10, 2]


def test_cqsim_passes_after_each_end() -> None:
    # Jobs 1 and 2 end at 10, job 1 first: in its pass job 2 still runs, its request is over at 15 and the
    # head cannot start; job 4 (2 for 5) is over by then and passes. The textbook sees both ends and
    # starts the head.
    rows = ((0, 2, 20, 10), (0, 2, 15, 10), (1, 4, 10, 10), (2, 2, 5, 5))
    assert starts("textbook", *rows) == [0, 0, 10, 20]
    assert starts("cqsim", *rows) == [0, 0, 15, 10]


def test_accasim_does_not_try_the_head_before_its_date() -> None:
    # Job 2's date is 20 by the request of job 1, which ends at 5. Nothing runs; it starts at 20 all the
    # same.
    assert starts("accasim", (0, 3, 20, 5), (1, 4, 10, 10)) == [0, 20]
    # Job 3 comes at 6, fits and starts, whatever that does to job 2: the date passes, and job 2 is tried
    # again when job 3 ends.
    rows = ((0, 3, 20, 5), (1, 4, 10, 10), (6, 1, 60, 60))
    assert starts("textbook", *rows) == [0, 5, 15]
    assert starts("accasim", *rows) == [0, 66, 6]
    # While jobs are to come the date alone brings no pass: job 2 starts with the next event, at 30.
    assert starts("accasim", (0, 3, 20, 5), (1, 4, 10, 10), (30, 4, 5, 5)) == [0, 30, 40]


def test_accasim_stops_a_second_early_where_its_clock_was_at_0() -> None:
    # The log begins at 1, so AccaSim begins at 0, where it reads the jobs of 50: it stops at 49, and tries
    # job 2, whose date was 21. With a log that begins at 2 nothing happens before 51.
    rows = ((1, 3, 20, 5), (1, 4, 10, 10), (50, 1, 5, 5), (90, 2, 20, 20))
    assert starts("accasim", *rows) == [1, 49, 59, 90]
    later = [(submit + 1, procs, request, run) for submit, procs, request, run in rows]
    assert starts("accasim", *later) == [2, 51, 61, 91]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("easy(dialect=pyss, order=sjf)", "goes with order=fcfs only, not sjf"),
        ("easy(dialect=pyss, backfill=sjf)", "goes with backfill=fcfs only, not sjf"),
        ("easy(dialect=accasim, depth=2)", "goes with depth=1 only, not 2"),
        ("easy(dialect=alea)", "dialect must be textbook, pyss, batsched, batsched-fast, cqsim or accasim"),
        ("redirection(principal=easy(dialect=pyss))", "cannot be in a group of redirection"),
    ],
)
def test_what_a_dialect_does_not_go_with_is_said(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        headway.simulate(log_of(jobs_of((0, 1, 1, 1))), 4, spec)


@pytest.mark.parametrize("dialect", OTHERS)
def test_no_dialect_is_in_a_cluster_of_a_grid(dialect: str) -> None:
    grid = headway.Platform((Cluster("a", procs=M), Cluster("b", procs=M)))
    with pytest.raises(UsageError, match=f"dialect={dialect} cannot be in a cluster that"):
        headway.simulate(busy(5, M, 1.0), grid, f"reallocation(local=easy(dialect={dialect}))")


def test_the_textbook_by_name_is_plain_easy() -> None:
    log = busy(300, 32, 1.0, seed=9)
    by_name = headway.simulate(log, 32, "easy(dialect=textbook)")
    assert (by_name.start == headway.simulate(log, 32, "easy").start).all()
