"""Reallocation on hand-worked instances: mapping, threshold, order, cancellation, the paper's figures."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import headway
from grid_reference import grid_log, made
from headway import Schedule
from headway.audit import audit
from headway.errors import HeadwayError
from headway.explain import explain
from headway.metrics.own_numbers import impact
from headway.papers.reallocation.examples import (
    FIGURE_2_PAPER,
    FIGURE_3,
    FIGURE_3_SPEC,
    FIGURE_5,
    FIGURE_5_SPEC,
    figure_2_completions,
    figure_2_tuned,
)
from headway.papers.reallocation.work import estimations
from headway.platform import Cluster, Platform
from headway.schedule import WHY
from headway.units import MINUTE
from headway.workload import Workload
from instances import log_of
from random_examples import examples
from reference.grid import Cluster as Site
from reference.instances import job_lists
from reference.jobs import Job

PAIR = (Site("a", 2), Site("b", 2))


def minutes(*rows: tuple[int, int, int, int], **more: object) -> list[Job]:
    """Jobs from (submit, procs, walltime, run time) in minutes."""
    return [
        Job(i + 1, r * MINUTE, q, w * MINUTE, p * MINUTE, **more)  # type: ignore[arg-type]
        for i, (r, q, w, p) in enumerate(rows)
    ]


# Two clusters of 2, all jobs 2 wide. J1 (20) goes to a (a tie). J2 (30, runs 5): a gives 50, b 30: b. J3 (10)
# at 1: a 30, b 40: a, at 20. J4 (10) at 2: 40 on both, a tie: a, at 30. b is idle from 5 on.
IDLE_B = minutes((0, 2, 20, 20), (0, 2, 30, 5), (1, 2, 10, 10), (2, 2, 10, 10))


def spans(schedule: Schedule) -> list[tuple[int, int]]:
    return [(int(s) // MINUTE, int(e) // MINUTE) for s, e in zip(schedule.start, schedule.end, strict=True)]


def moves_of(schedule: Schedule) -> list[tuple[int, int, str, str]]:
    """Job, minute, from, to."""
    moves, names = schedule.moves, schedule.labels["cluster"]
    assert moves is not None
    return [
        (int(j) + 1, int(t) // MINUTE, names[a], names[b])
        for j, t, a, b in zip(moves.job, moves.time, moves.source, moves.target, strict=True)
    ]


def places(schedule: Schedule) -> str:
    assert schedule.cluster is not None
    return "".join(schedule.labels["cluster"][code] for code in schedule.cluster)


def test_without_reallocation_tasks_stay_where_they_were_mapped() -> None:
    schedule = made(IDLE_B, PAIR, "reallocation(mode=none)")
    assert places(schedule) == "abaa"
    assert spans(schedule) == [(0, 20), (0, 5), (20, 30), (30, 40)]


@pytest.mark.parametrize("mode", ["regular", "cancel"])
@pytest.mark.parametrize("heuristic", ["mct", "minmin"])
def test_the_first_waiting_task_moves(mode: str, heuristic: str) -> None:
    # Event at 10. J3: 30 here, 20 on b: it moves. J4 is compressed to 20-30; behind J3 on b also 20-30: it
    # stays. All cancelled: J3 best on b, then J4 30 on both: a, where it was. MinMin: 20 and 20, J3 is older.
    schedule = made(IDLE_B, PAIR, f"reallocation({heuristic=!s}, {mode=!s}, period=600, threshold=180)")
    assert moves_of(schedule) == [(3, 10, "a", "b")]
    assert spans(schedule) == [(0, 20), (0, 5), (10, 20), (20, 30)]
    assert [WHY[code] for code in schedule.why] == ["immediate", "immediate", "moved", "reservation"]


@pytest.mark.parametrize(("threshold", "moved"), [(600, 3), (600.000001, 4), (1201, None)])
def test_the_threshold_is_inclusive(threshold: float, moved: int | None) -> None:
    # J3 gains exactly 10 minutes, J4 40 - 20 = 20 minutes if J3 stays.
    schedule = made(IDLE_B, PAIR, f"reallocation(period=600, threshold={threshold})")
    assert [move[0] for move in moves_of(schedule)][:1] == ([] if moved is None else [moved])


@pytest.mark.parametrize(
    ("heuristic", "first"),
    [("maxmin", 3), ("sufferage", 4), ("maxgain", 4), ("maxrelgain", 4)],
)
def test_who_is_first(heuristic: str, first: int) -> None:
    # J3 has 30 here and 20 on b, J4 40 and 20: best 20 both (the older); differences and gains 10 and 20.
    schedule = made(IDLE_B, PAIR, f"reallocation(heuristic={heuristic}, period=600, threshold=180)")
    assert moves_of(schedule)[0][0] == first


def test_minmin_takes_the_task_that_is_done_first() -> None:
    # J3 takes 30 and J4 10 minutes. On b, idle at the event at 10, J4 would be done at 20, J3 at 40. MinMin
    # moves J4 (expected at 60) first; then J3 has 50 here, and 20 + 30 = 50 on b: it stays. MCT asks J3:
    # 50 here, 40 on b: it moves; J4 is then at 20-30 here, and 50 on b.
    jobs = minutes((0, 2, 20, 20), (0, 2, 60, 5), (1, 2, 30, 30), (2, 2, 10, 10))
    assert places(made(jobs, PAIR, "reallocation(mode=none)")) == "abaa"
    by_minmin = made(jobs, PAIR, "reallocation(heuristic=minmin, period=600)")
    by_mct = made(jobs, PAIR, "reallocation(heuristic=mct, period=600)")
    assert moves_of(by_minmin) == [(4, 10, "a", "b")]
    assert moves_of(by_mct) == [(3, 10, "a", "b")]


def test_the_window_is_the_oldest() -> None:
    schedule = made(IDLE_B, PAIR, "reallocation(heuristic=maxgain, period=600, threshold=180, oldest=1)")
    assert [move[0] for move in moves_of(schedule)] == [3]


def test_local_jobs_overtake_cancelled_tasks_and_stay() -> None:
    # A local job of a (10) sent at 3 is reserved at 40. When all is cancelled at 10 it moves up to 20; J3 is
    # sent to b at 10, J4 (a 30 + 10, b 20 + 10) too.
    jobs = [*IDLE_B, Job(5, 3 * MINUTE, 2, 10 * MINUTE, 10 * MINUTE, local=True, cluster="a")]
    schedule = made(jobs, PAIR, "reallocation(mode=cancel, period=600)")
    assert spans(schedule) == [(0, 20), (0, 5), (10, 20), (20, 30), (20, 30)]
    assert places(schedule) == "abbba"


def test_a_size_that_changes_no_time_is_told() -> None:
    # P = 0: as long on one processor as on four, so one is enough, and two such jobs run beside each other.
    log = grid_log(minutes((0, 4, 5, 5), (0, 4, 5, 5))).with_columns(
        parallel_fraction=np.zeros(2), max_procs=np.array([2, 2])
    )
    machine = Platform((Cluster("a", 1.0, 2), Cluster("b", 1.0, 2)))
    schedule = headway.simulate(log, machine, "reallocation(mode=none)")
    assert (schedule.procs.tolist(), spans(schedule)) == ([1, 1], [(0, 5), (0, 5)])
    assert schedule.frame()["trace_procs"].to_list() == [4, 4]
    assert audit(schedule).ok


def test_molding_and_speed() -> None:
    # P = 0.8: S(4) = 2.5, S(8) = 10/3, so 100 minutes on 4 are 75 on 8. Four processors of speed 1.2: 83.3.
    job = minutes((0, 4, 100, 50))[0]
    log = grid_log([job]).with_columns(parallel_fraction=np.array([0.8]), max_procs=np.array([32]))
    machine = Platform((Cluster("a", 1.0, 8), Cluster("b", 1.2, 4)))
    schedule = headway.simulate(log, machine, "reallocation")
    assert (int(schedule.procs[0]), int(schedule.walltime[0]), int(schedule.end[0])) == (
        8, 75 * MINUTE, 37.5 * MINUTE,
    )  # fmt: skip
    (row,) = schedule.frame().rows(named=True)
    assert (row["procs"], row["trace_procs"], row["trace_walltime"], row["cluster"]) == (8, 4, 6000, "a")


# ---- the paper's figures ---------------------------------------------------------------------------------


def test_figure_2_exactly() -> None:
    done = figure_2_completions()
    assert {n: round(minute, 2) for n, minute in done.items()} == FIGURE_2_PAPER
    assert done[3] == pytest.approx(22 / 3, abs=1e-7)
    assert figure_2_tuned("binary") == (2, 6.5)
    assert figure_2_tuned("bounded") == figure_2_tuned("exhaustive") == (4, 1.75)


def test_twelve_estimations_for_650_processors() -> None:
    assert estimations() == 12


def test_figure_3() -> None:
    schedule = FIGURE_3.run(FIGURE_3_SPEC)
    assert moves_of(schedule) == [(4, 30, "first", "second"), (5, 30, "first", "second")]
    assert spans(schedule) == [(0, 55), (0, 20), (20, 30), (30, 50), (50, 60)]
    assert spans(FIGURE_3.run("reallocation(mode=none)"))[3:] == [(55, 75), (75, 85)]


def test_figure_5() -> None:
    with_, without = FIGURE_5.run(FIGURE_5_SPEC), FIGURE_5.run("reallocation(mode=none)")
    assert moves_of(with_) == [(4, 60, "cluster 2", "cluster 1")]
    assert (int(without.procs[3]), int(with_.procs[3])) == (1, 2)
    assert spans(with_)[3:] == [(60, 64), (80, 85), (31, 62), (31, 60), (64, 74)]
    assert spans(without)[3:] == [(80, 88), (88, 93), (31, 62), (31, 60), (62, 72)]
    # One task of the grid: it was impacted and early, its response from 86 minutes to 62.
    numbers = impact(with_, without)
    assert (numbers["impacted"], numbers["reallocations"], numbers["early"]) == (1.0, 1.0, 1.0)
    assert numbers["relative_response"] == pytest.approx(62 / 86)


def test_metrics_of_the_four_jobs() -> None:
    # Without: ends 20, 5, 30, 40; with: 20, 5, 20, 30. Responses of J3 and J4: 29 and 38; 19 and 28.
    with_ = made(IDLE_B, PAIR, "reallocation(period=600)")
    numbers = impact(with_, made(IDLE_B, PAIR, "reallocation(mode=none)"))
    assert (numbers["impacted"], numbers["reallocations"], numbers["early"]) == (0.5, 0.25, 1.0)
    assert numbers["relative_response"] == pytest.approx(47 / 67)
    assert with_.summary()["kept_share"] == 1.0 and with_.summary()["expected_gain"] == 600.0


def test_a_moved_job_is_explained() -> None:
    said = str(explain(FIGURE_5.run(FIGURE_5_SPEC), 4, simulate_again=False))
    assert "It was submitted to cluster 2 first, and moved once while it waited." in said
    assert "from cluster 2 to cluster 1, on 2 processors instead of 1" in " ".join(said.split())
    assert "expected to be completed 24 min earlier" in " ".join(said.split())
    assert "It waited 58 min on cluster 2, then 0 s on cluster 1." in said


# ---- laws between policies -------------------------------------------------------------------------------


@examples(60)
@given(jobs=job_lists(4))
def test_one_cluster_of_rigid_jobs_is_conservative(jobs: list[Job]) -> None:
    plain = headway.simulate(log_of(jobs), 4, "conservative(compress=early)")
    for mode in ("none", "regular"):
        other = headway.simulate(log_of(jobs), 4, f"reallocation(mode={mode}, period=0.000005, threshold=0)")
        for name in ("start", "end", "killed", "promise", "why"):
            assert np.array_equal(getattr(plain, name), getattr(other, name)), name


def test_easy_on_the_clusters_is_labelled_and_promises_nothing() -> None:
    # a has 4, b 1. J1 holds 3 of a until 10, J2 (4 wide) waits for it. J3 (1 wide, 8) is over by 10 on both.
    # J4 (1 wide, 20) must not delay J2 on a: it would start at 15 there, and now on b.
    jobs = minutes((0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 8, 1), (4, 1, 20, 20))
    schedule = made(jobs, (Site("a", 4), Site("b", 1)), "reallocation(mode=none, local=easy)")
    assert places(schedule) == "aaab"
    assert spans(schedule) == [(0, 10), (10, 15), (2, 3), (4, 24)]
    assert schedule.own["completions"] == "estimated" and schedule.promise_kind == ""
    assert schedule.promise is not None and (schedule.promise == -1).all()
    assert made(jobs, PAIR, "reallocation").own["completions"] == "reserved"


def test_a_job_of_no_length_keeps_its_instant_in_the_estimates_of_easy() -> None:
    # J1 holds 1 of a's 2 until 10. J2 needs both at 10, for no time. So J3 (1 wide, 20) would run from 10 to
    # 30 on a, as EASY lets nothing delay J2; on b, which takes 25, it is completed at 27.
    jobs = minutes((0, 1, 10, 10), (1, 2, 0, 0), (2, 1, 20, 20))
    schedule = made(jobs, (Site("a", 2), Site("b", 1, Fraction(4, 5))), "reallocation(mode=none, local=easy)")
    assert places(schedule) == "aab" and spans(schedule) == [(0, 10), (10, 10), (2, 27)]


@examples(40)
@given(jobs=job_lists(4, zero=False))
def test_one_cluster_under_easy_is_easy(jobs: list[Job]) -> None:
    plain = headway.simulate(log_of(jobs), 4, "easy")
    other = headway.simulate(log_of(jobs), 4, "reallocation(local=easy, period=0.000005, threshold=0)")
    for name in ("start", "end", "killed", "why"):
        assert np.array_equal(getattr(plain, name), getattr(other, name)), name


def test_an_endless_period_is_the_reference() -> None:
    for mode in ("regular", "cancel"):
        schedule = made(IDLE_B, PAIR, f"reallocation(mode={mode}, period=inf)")
        reference = made(IDLE_B, PAIR, "reallocation(mode=none)")
        assert np.array_equal(schedule.start, reference.start)
        assert "no task is moved" in {law.demands for law in audit(schedule).laws}


# ---- what is refused, and what the audit finds -------------------------------------------------------------


def test_jobs_that_fit_no_cluster_are_in_the_ledger() -> None:
    jobs = minutes((0, 3, 5, 5), (0, 2, 5, 5), (0, 2, 5, 5))
    jobs[2] = Job(3, 0, 2, MINUTE, MINUTE, local=True, cluster="b")
    machine = Platform((Cluster("a", 1.0, 2), Cluster("b", 1.0, 1)))
    schedule = headway.simulate(grid_log(jobs, ["a", "b"]), machine, "reallocation")
    assert schedule.workload.job.tolist() == [2]  # 1 is too wide for both, 3 for its home
    (entry,) = [entry for entry in schedule.workload.ledger if entry.rule == "too_large"]
    assert entry.count == 2 and "any cluster it may run on" in entry.action
    moldable = grid_log(jobs[:1], ["a", "b"]).with_columns(parallel_fraction=np.array([0.9]))
    assert len(headway.simulate(moldable, machine, "reallocation")) == 1


def test_a_local_job_needs_a_home() -> None:
    log = grid_log([Job(7, 0, 1, MINUTE, MINUTE, local=True, cluster="c")])
    with pytest.raises(HeadwayError, match=r"job 7 is local, but its home is none of .*\(x, y\).*home\("):
        headway.simulate(log, Platform((Cluster("x", 1.0, 2), Cluster("y", 1.0, 2))), "reallocation")


def test_fractions_with_too_many_decimals_are_refused() -> None:
    log = grid_log(minutes((0, 2, 5, 5))).with_columns(parallel_fraction=np.array([math.pi / 4]))
    with pytest.raises(HeadwayError, match=r"too many decimals .* round them"):
        headway.simulate(log, Platform((Cluster("a", 1.0, 640),)), "reallocation")


def test_other_policies_are_refused_on_several_clusters() -> None:
    machine = Platform((Cluster("a", 1.0, 2), Cluster("b", 1.0, 2)))
    with pytest.raises(HeadwayError, match=r"easy schedules one cluster .* the policy reallocation"):
        headway.simulate(grid_log(IDLE_B), machine, "easy")


def test_a_longer_log_of_moves_is_made_where_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.policies.grid import setup

    whole = made(IDLE_B * 1, PAIR, "reallocation(period=600)")
    monkeypatch.setattr(setup, "MOVES_AT_FIRST", 0)
    monkeypatch.setattr(setup, "MOVES_PER_TASK", 0)
    again = made(IDLE_B, PAIR, "reallocation(period=600)")
    assert moves_of(again) == moves_of(whole) == [(3, 10, "a", "b")]


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"source": 1}, "one place"),  # from where it was not: the cluster it goes to
        ({"time": 30 * MINUTE}, "one place"),  # after its start
        ({"time": 9 * MINUTE}, "events"),
        ({"after": 31 * MINUTE}, "gain"),
    ],
)
def test_the_audit_sees_a_forged_move(change: dict[str, int], law: str) -> None:
    schedule = made(IDLE_B, PAIR, "reallocation(period=600)")
    assert audit(schedule).ok
    assert schedule.moves is not None
    for name, value in change.items():
        getattr(schedule.moves, name)[0] = value
    assert audit(schedule).counts[law] == 1


def test_the_audit_sees_a_wrong_size_or_time() -> None:
    log: Workload = grid_log(minutes((0, 4, 100, 50))).with_columns(
        parallel_fraction=np.array([0.8]), max_procs=np.array([3])
    )
    schedule = headway.simulate(log, Platform((Cluster("a", 1.0, 8), Cluster("b", 1.2, 4))), "reallocation")
    assert audit(schedule).ok and int(schedule.procs[0]) == 3
    schedule.procs[0] = 4
    assert audit(schedule).counts["molding"] == 2  # above its limit, and the times are those of 3
