"""The grid references (molding, mapping, reallocation) on hand-worked instances and against their laws."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_examples import examples
from reference.conservative import simulate_conservative
from reference.grid import Cluster, Grid, simulate_reallocation
from reference.instances import job_lists
from reference.jobs import Job
from reference.molding import moldable, speedup, time_on, tune
from reference.strict import simulate_strict

HEURISTICS = ("mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain")
SITES = (Cluster("a", 5), Cluster("b", 3, Fraction(6, 5)), Cluster("c", 4, Fraction(7, 5)))
PARALLEL = st.sampled_from([None, Fraction(8, 10), Fraction(99, 100)])
PAIR = (Cluster("a", 2), Cluster("b", 2))


def spans(outcome: Grid) -> list[tuple[int, int]]:
    return [(r.start, r.end) for r in outcome.results]


# ---- molding ---------------------------------------------------------------------------------------------


def test_amdahl_by_hand() -> None:
    # P = 0.8 on 4: 1 / (0.2 + 0.2) = 2.5; so 100 s on 4 are 250 s on 1; on 2: 1 / (0.2 + 0.4) = 5/3, 150 s;
    # on 8: 1 / (0.2 + 0.1) = 10/3, 75 s, and 75 / 1.4 = 53.57, rounded up, on a cluster of speed 1.4.
    p = Fraction(8, 10)
    job = Job(1, 0, 4, 100, 50, parallel_fraction=p, max_procs=32)
    assert speedup(p, 4) == Fraction(5, 2)
    assert [time_on(job, 100, n, Fraction(1)) for n in (1, 2, 4, 8)] == [250, 150, 100, 75]
    assert time_on(job, 100, 8, Fraction(14, 10)) == 54
    assert time_on(Job(1, 0, 4, 100, 50), 100, 4, Fraction(12, 10)) == 84  # rigid: 83.3
    assert not moldable(Job(1, 0, 1, 100, 50, parallel_fraction=p))


def test_the_papers_example_where_the_binary_search_misses_the_best() -> None:
    # Figure 2, in hundredths of a minute: 1 and 5 processors complete at 7.00 and 7.40, so the upper half
    # goes; 3: 7.33, again the upper half goes; 2: 6.50 is the best seen.  4 processors (1.75) are never
    # looked at.
    ects = {1: 700, 2: 650, 3: 733, 4: 175, 5: 740}
    asked: list[int] = []

    def ect(n: int) -> int:
        asked.append(n)
        return ects[n]

    assert tune(ect, 5, "binary") == (650, 2)
    assert asked == [1, 5, 3, 2]
    assert tune(ects.__getitem__, 5, "bounded") == (175, 4)


def test_number_of_evaluations_for_650_processors() -> None:
    # On an empty cluster more is always better: 650-1, 325, 163, 82, 41, 21, 11, 6, 3, 2, 1 apart: 10
    # halvings and 2 ends.
    asked = []

    def ect(n: int) -> int:
        asked.append(n)
        return 1_000_000 // n

    assert tune(ect, 650, "binary") == (1538, 650)
    assert len(asked) == 12


def test_ties_take_fewer_processors() -> None:
    assert tune(lambda n: 7, 9, "bounded") == (7, 1)
    assert tune(lambda n: 7, 9, "binary") == (7, 1)
    assert tune(lambda n: 7, 1, "binary") == (7, 1)


# ---- mapping and reallocation, by hand --------------------------------------------------------------------

# Two clusters of 2, all jobs 2 wide.  J1 (w 20) goes to a (a tie), 0-20.  J2 (w 30, runs 5): a gives 50, b
# 30: b. J3 (w 10) at 1: a 20 + 10 = 30, b 40: a, at 20.  J4 (w 10) at 2: a 30 + 10, b 30 + 10: a tie: a, at
# 30. b is idle from 5 on.
IDLE_B = [Job(1, 0, 2, 20, 20), Job(2, 0, 2, 30, 5), Job(3, 1, 2, 10, 10), Job(4, 2, 2, 10, 10)]


def test_no_reallocation() -> None:
    outcome = simulate_reallocation(IDLE_B, PAIR, mode="none")
    assert outcome.clusters == ["a", "b", "a", "a"]
    assert spans(outcome) == [(0, 20), (0, 5), (20, 30), (30, 40)]


@pytest.mark.parametrize("mode", ["regular", "cancel"])
@pytest.mark.parametrize("heuristic", ["mct", "minmin"])
def test_the_first_waiting_task_moves(mode: str, heuristic: str) -> None:
    # Event at 10.  J3: 30 here, 10 + 10 = 20 on b: it moves.  J4 is compressed to 20-30; on b, behind J3,
    # also 20-30: it stays.  All cancelled: J3 best on b (20), then J4: a 20 + 10, b 20 + 10: the tie goes to
    # a, where it was. MinMin: J3 20 and J4 min(40, 20) = 20 tie, J3 is older.
    outcome = simulate_reallocation(IDLE_B, PAIR, heuristic, mode, period=10, threshold=3)
    assert outcome.moves == [(2, 10, "a", "b")]
    assert spans(outcome) == [(0, 20), (0, 5), (10, 20), (20, 30)]
    assert [r.why for r in outcome.results] == ["immediate", "immediate", "moved", "reservation"]


@pytest.mark.parametrize(
    ("threshold", "moved"),
    [(10, 2), (11, 3)],  # J3 gains exactly 10: enough at 10; at 11 it stays and J4, which gains 40 - 20, goes
)
def test_the_threshold_is_inclusive(threshold: int, moved: int) -> None:
    outcome = simulate_reallocation(IDLE_B, PAIR, period=10, threshold=threshold)
    assert [move[0] for move in outcome.moves] == [moved]


@pytest.mark.parametrize(
    ("heuristic", "first"),
    [
        # At 10 (regular): J3 has 30 here and 20 on b, J4 has 40 here and 20 on b, if it is the first to ask.
        ("maxmin", 2),  # best 20 and 20: a tie, the older
        ("sufferage", 3),  # 30 - 20 against 40 - 20
        ("maxgain", 3),  # the same with two clusters
        ("maxrelgain", 3),  # 10 / 2 against 20 / 2
    ],
)
def test_other_selections(heuristic: str, first: int) -> None:
    outcome = simulate_reallocation(IDLE_B, PAIR, heuristic, period=10, threshold=3)
    assert outcome.moves[0] == (first, 10, "a", "b")


def test_the_window_is_the_oldest() -> None:
    # Only the oldest waiting task is looked at: MaxGain cannot see J4.
    outcome = simulate_reallocation(IDLE_B, PAIR, "maxgain", period=10, threshold=3, oldest=1)
    assert [move[0] for move in outcome.moves] == [2]


def test_local_tasks_overtake_cancelled_ones_and_stay() -> None:
    # One local task L (w 10, home a) sent at 3: reserved on a at 40.  All-cancellation at 10: J3 and J4
    # leave, L is compressed to 20.  J3: a 30 + 10, b 10 + 10: b.  J4: a 40, b 30: b, at 20.
    jobs = [*IDLE_B, Job(5, 3, 2, 10, 10, local=True, cluster="a")]
    outcome = simulate_reallocation(jobs, PAIR, mode="cancel", period=10, threshold=3)
    assert spans(outcome) == [(0, 20), (0, 5), (10, 20), (20, 30), (20, 30)]
    assert outcome.clusters == ["a", "b", "b", "b", "a"]


def test_a_task_due_now_can_still_be_moved() -> None:
    # J3 would start on a at 20; the first event is at 20, and b (speed 2) completes it at 25 instead of 30.
    # J4 stays.
    fast = (Cluster("a", 2), Cluster("b", 2, Fraction(2)))
    jobs = [Job(1, 0, 2, 20, 20, local=True, cluster="a"), Job(2, 0, 2, 60, 10, local=True, cluster="b")]
    jobs += [Job(3, 1, 2, 10, 10)]
    outcome = simulate_reallocation(jobs, fast, period=20, threshold=3)
    # At 1: a 20 + 10 = 30; b 30 + 5 = 35: a.  b ends its job (10 / 2) at 5.
    assert outcome.moves == [(2, 20, "a", "b")]
    assert spans(outcome)[2] == (20, 25)


def test_a_wide_task_goes_where_it_fits() -> None:
    clusters = (Cluster("a", 2), Cluster("b", 4))
    outcome = simulate_reallocation([Job(1, 0, 3, 5, 5)], clusters)
    assert outcome.clusters == ["b"]


def test_mapping_molds() -> None:
    # P = 0.8, 100 s on 4 in the trace.  Cluster a (8, speed 1): all 8: 75 s.  b (4, speed 1.2): 4: 83.3, so
    # 84.  a wins.
    job = Job(1, 0, 4, 100, 50, parallel_fraction=Fraction(8, 10), max_procs=32)
    clusters = (Cluster("a", 8), Cluster("b", 4, Fraction(12, 10)))
    outcome = simulate_reallocation([job], clusters)
    assert (outcome.clusters, outcome.procs, spans(outcome)) == (["a"], [8], [(0, 38)])  # 50 * 75/100 = 37.5


# ---- laws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("mode", ["regular", "cancel", "none"])
@examples(25)
@given(
    jobs=job_lists(
        3,
        horizon=30,
        longest=12,
        parallel_fraction=PARALLEL,
        max_procs=st.integers(1, 6),
        local=st.sampled_from([False, False, True]),
        cluster=st.sampled_from("abc"),
    ),
    compress=st.sampled_from(["early", "scratch"]),
    tuning=st.sampled_from(["binary", "bounded"]),
)
def test_laws(heuristic: str, mode: str, jobs: list[Job], compress: str, tuning: str) -> None:
    outcome = simulate_reallocation(jobs, SITES, heuristic, mode, 6, 2, 3, tuning, compress=compress)
    sizes = {cluster.name: cluster for cluster in SITES}
    for j, (job, result) in enumerate(zip(jobs, outcome.results, strict=True)):
        cluster, n = sizes[outcome.clusters[j]], outcome.procs[j]
        assert result.start >= job.submit
        length = min(time_on(job, time, n, cluster.speed) for time in (job.walltime, job.runtime))
        assert result.end - result.start == length
        if moldable(job):  # G7
            assert job.max_procs is not None and 1 <= n <= min(job.max_procs, cluster.procs)
        else:
            assert n == job.procs
        if job.local:
            assert cluster.name == job.cluster and all(move[0] != j for move in outcome.moves)
        moves = [move for move in outcome.moves if move[0] == j]
        assert all(job.submit <= t <= result.start and t % 6 == 0 for _, t, _, _ in moves)  # G2
        assert not moves or moves[-1][3] == outcome.clusters[j]  # G1
        if compress == "early":
            assert result.promise is not None and result.start <= result.promise
    for name, cluster in sizes.items():
        here = [
            (r.start, r.end, n)
            for r, c, n in zip(outcome.results, outcome.clusters, outcome.procs, strict=True)
            if c == name
        ]
        assert all(sum(n for s, e, n in here if s <= x < e) <= cluster.procs for x, _, _ in here)


@given(jobs=job_lists(4))
def test_one_cluster_of_rigid_tasks_is_conservative(jobs: list[Job]) -> None:
    for mode in ("none", "regular"):  # with one cluster there is nowhere to go
        outcome = simulate_reallocation(jobs, [Cluster("a", 4)], mode=mode, period=5, threshold=1)
        assert spans(outcome) == [(r.start, r.end) for r in simulate_conservative(jobs, 4)]


@given(jobs=job_lists(4, zero=False))
def test_reserving_fcfs_is_fcfs(jobs: list[Job]) -> None:
    outcome = simulate_reallocation(jobs, [Cluster("a", 4)], mode="none", local="fcfs")
    assert spans(outcome) == [(r.start, r.end) for r in simulate_strict(jobs, 4)]


@given(jobs=job_lists(3, parallel_fraction=PARALLEL, max_procs=st.integers(1, 6)))
def test_an_endless_period_is_no_reallocation(jobs: list[Job]) -> None:
    reference = simulate_reallocation(jobs, SITES, mode="none")
    for mode in ("regular", "cancel"):
        assert simulate_reallocation(jobs, SITES, mode=mode, period=10**9, threshold=1) == reference


@given(ects=st.lists(st.integers(0, 50), min_size=1, max_size=40))
def test_binary_is_never_better_than_bounded(ects: list[int]) -> None:
    top = len(ects)
    binary, bounded = tune(lambda n: ects[n - 1], top, "binary"), tune(lambda n: ects[n - 1], top, "bounded")
    assert binary >= bounded
    falling = sorted(ects, reverse=True)  # an empty cluster
    assert tune(lambda n: falling[n - 1], top, "binary")[0] == falling[-1]
