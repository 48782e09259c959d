"""Every law: valid schedules pass, and each way of breaking a law is caught under its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import headway
from headway import Schedule
from headway.audit import UNIVERSAL, audit
from headway.audit.laws import conservative_starts
from headway.platform import Cluster, NodeGroup, Platform
from headway.platform.processor_sets import numbers
from instances import log_of
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job as LoggedJob
from small_schedules import Job, easy_starts, fcfs_starts, pieces, preempted, schedule, untied, workload

S = 1_000_000

# On 4 processors, with FCFS:
#   job 1  2 procs  0-10
#   job 2  2 procs  0-20   needs 30 s, killed at its walltime of 20
#   job 3  4 procs  20-25  waits for both
#   job 4  1 proc   25     no length
JOBS: list[Job] = [(0, 2, 10, 15), (0, 2, 30, 20), (3, 4, 5, 5), (4, 1, 0, 5)]
STARTS = [0, 0, 20, 25]


def valid(**more: Any) -> Schedule:
    return schedule(JOBS, STARTS, 4, **more)


def changed(made: Schedule, column: str, row: int, by: int) -> Schedule:
    values = getattr(made, column).copy()
    values[row] += by
    return replace(made, **{column: values})


def broken(made: Schedule, policy: str | None = None) -> set[str]:
    return {fault.law for fault in audit(made, policy=policy).faults}


def test_a_valid_schedule_passes_every_law_that_applies() -> None:
    verdict = audit(valid())
    assert verdict.ok
    assert verdict.faults == []
    assert [law.name for law in verdict.laws] == [
        *("complete", "submission", "pieces", "run length", "walltime", "killing", "request", "capacity"),
    ]
    assert verdict.table()[0] == {
        "law": "complete",
        "demands": "every job of the log is scheduled once, and nothing else is",
        "faults": 0,
    }
    assert str(verdict) == "8 invariants checked on 4 jobs: all hold"


def test_no_jobs_are_no_fault() -> None:
    assert audit(schedule([], [], 4, policy="easy")).ok
    assert audit(schedule([], [], 4, policy="fcfs")).ok


def test_a_start_before_submission() -> None:
    made = changed(changed(valid(), "start", 3, -22 * S), "end", 3, -22 * S)  # job 4 at 3, submitted at 4
    verdict = audit(made)
    fault = next(fault for fault in verdict.faults if fault.law == "submission")
    assert (fault.time, fault.jobs) == (3 * S, (4,))
    assert fault.message == "job 4 starts at 3, before its submission at 4"
    assert verdict.counts["submission"] == 1


@pytest.mark.parametrize("by", [-1, 1])
def test_a_run_too_short_or_too_long_by_a_microsecond(by: int) -> None:
    assert "run length" in broken(changed(valid(), "end", 0, by))


def test_a_run_beyond_the_walltime() -> None:
    verdict = audit(changed(valid(), "end", 1, 10 * S))  # job 2 runs its 30 s although it asked for 20
    assert verdict.counts == {
        **{"complete": 0, "submission": 0, "pieces": 0, "run length": 1, "walltime": 1},
        **{"killing": 0, "request": 0, "capacity": 1},  # at 20 beside job 3
    }
    assert verdict.faults[1].message == "job 2 runs for 30 s, its walltime is 20 s"


@pytest.mark.parametrize("row", [0, 1])
def test_a_wrong_mark_of_killing(row: int) -> None:
    made = valid()
    made.killed = made.killed.copy()
    made.killed[row] = not made.killed[row]
    assert broken(made) == {"killing"}


def test_more_processors_than_there_are() -> None:
    verdict = audit(changed(changed(valid(), "start", 2, -S), "end", 2, -S))  # job 3 at 19 beside job 2
    assert [fault.law for fault in verdict.faults] == ["capacity"]
    assert verdict.faults[0].time == 19 * S
    assert verdict.faults[0].jobs == (2, 3)
    assert verdict.faults[0].message == "at 19 jobs 2, 3 need 6 processors, the machine has 4"


def test_a_job_may_start_at_the_very_instant_another_ends_and_not_before() -> None:
    jobs: list[Job] = [(0, 4, 10, 10), (0, 4, 10, 10)]
    assert audit(schedule(jobs, [0, 10], 4)).ok
    assert broken(schedule(jobs, [0, 9.999999], 4)) == {"capacity"}


@pytest.mark.parametrize(
    ("starts", "fits"),
    [
        ([0, 5, 5], False),  # beside a job that runs across 5: 3 + 2 > 4
        ([0, 0, 0], True),  # before the long job starts, in an earlier turn of the same instant
        ([0, 10, 10], True),  # as soon as it ends; two of no length follow one another
        ([0, 10, 9], False),
    ],
)
def test_jobs_of_no_length_need_room_for_an_instant(starts: list[float], fits: bool) -> None:
    # Job 1 holds 3 of 4 processors from 0 to 10; jobs 2 and 3 need 2 for no time at all.
    made = schedule([(0, 3, 10, 10), (0, 2, 0, 5), (0, 2, 0, 0)], starts, 4)
    assert broken(made) == (set() if fits else {"capacity"})


def test_other_processors_or_times_than_the_log_s() -> None:
    assert broken(changed(valid(), "procs", 0, -1)) == {"request"}
    assert broken(changed(valid(), "walltime", 0, S)) == {"request"}
    fewer = changed(changed(valid(), "runtime", 0, -S), "end", 0, -S)
    assert broken(fewer) == {"request"}


def test_moldable_jobs_may_have_other_processors_and_times() -> None:
    columns = {"parallel_fraction": [0.9, np.nan, np.nan, np.nan]}
    assert audit(changed(valid(columns=columns), "procs", 0, -1)).ok
    assert broken(changed(valid(columns=columns), "procs", 1, -1)) == {"request"}


def test_jobs_missing_repeated_and_foreign() -> None:
    made = valid()
    # A job that was never started is missing, and nothing else is said of it.
    never = changed(changed(made, "start", 2, -20 * S - 1), "end", 2, -25 * S - 1)
    verdict = audit(never)
    assert [(fault.law, fault.jobs) for fault in verdict.faults] == [("complete", (3,))]
    # Against a log that has other jobs.
    other = workload([*JOBS[:3], (0, 1, 1, 1), (0, 1, 1, 1)], job=[1, 2, 3, 8, 9])
    messages = [fault.message for fault in audit(made, other).faults]
    assert messages == [
        "job 8 of the log is not in the schedule",
        "job 9 of the log is not in the schedule",
        "job 4 is in the schedule and not in the log",
    ]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: lines[:-1], "the table has 1 fewer jobs than the run"),
        (lambda lines: [*lines, lines[1]], "job 1 is in the schedule more than once"),
    ],
)
def test_lines_taken_from_or_added_to_a_saved_table(tmp_path: Path, edit: Any, message: str) -> None:
    valid().save(tmp_path / "out")
    untied(tmp_path / "out")
    table = tmp_path / "out" / "schedule.csv"
    table.write_text("\n".join(edit(table.read_text().splitlines())) + "\n")
    verdict = audit(Schedule.load(tmp_path / "out"))
    assert message in [fault.message for fault in verdict.faults if fault.law == "complete"]


def test_a_saved_and_loaded_schedule_passes(tmp_path: Path) -> None:
    preempted().save(tmp_path / "out")
    assert audit(Schedule.load(tmp_path / "out")).ok


def test_promises() -> None:
    told = np.array([0, 0, 20 * S, -1])
    assert audit(valid(promise=told, promise_kind="start")).ok
    late = valid(promise=told - np.array([0, 0, 1, 0]), promise_kind="start")
    assert [fault.message for fault in audit(late).faults] == [
        "job 3 starts at 20, it was promised 19.999999"
    ]
    assert audit(replace(late, promise_kind="told")).ok
    # Under conservative backfilling job 4, for which there is room at 10, would not wait either.
    both, scratch = {"promise", "conservative starts"}, "conservative(compress=scratch)"
    assert broken(replace(late, promise_kind="told"), policy="conservative") == both
    assert broken(late, policy=scratch) == both  # its own papers say it is a law
    assert broken(replace(late, promise_kind="told"), policy=scratch) == {"conservative starts"}


# ---- several pieces -----------------------------------------------------------------------------


def test_suspended_and_restarted_jobs_pass() -> None:
    verdict = audit(preempted())
    assert verdict.ok
    assert "one final run" in {law.name for law in verdict.laws}


def with_row(place: int, **cells: Any) -> Any:
    """An edit that changes some cells of one piece."""
    names = ("job", "run", "state", "start", "end", "procs", "ended")

    def edit(rows: list[Any]) -> list[Any]:
        row = dict(zip(names, rows[place], strict=True)) | cells
        return [*rows[:place], tuple(row.values()), *rows[place + 1 :]]

    return edit


@pytest.mark.parametrize(
    ("edit", "laws"),
    [
        (with_row(3, start=7), {"pieces", "capacity"}),  # swapped in while still suspended, beside job 2
        (with_row(4, start=10), {"run length"}),  # a second of the run is missing
        (with_row(4, end=16), {"pieces", "run length", "walltime", "capacity"}),
        (with_row(0, start=1), {"pieces", "run length"}),  # the first piece begins after the job's start
        (with_row(2, state="running"), {"run length", "walltime", "capacity"}),  # not suspended at all
        (with_row(6, start=16), {"pieces"}),  # overlaps the run that was given up
        (with_row(7, procs=2), {"request"}),
        (with_row(4, ended="preempted"), {"one final run"}),
        (with_row(5, ended="done"), {"one final run"}),  # a second end
        (with_row(0, ended="done"), {"one final run"}),  # goes on after its end
        (with_row(5, start=-1), {"submission", "capacity"}),
        (with_row(5, end=14), {"pieces"}),
        (lambda rows: rows[:4], {"pieces", "run length", "one final run"}),
    ],
)
def test_pieces_that_break_a_law(edit: Any, laws: set[str]) -> None:
    assert broken(preempted(edit=edit)) == laws


def test_swapping_holds_the_processors_and_suspension_does_not() -> None:
    # Job 2 two seconds earlier would use a processor that job 1 runs on or swaps out from.
    made = preempted()
    made.start = made.start - np.array([0, 1, 0]) * S
    made.end = made.end - np.array([0, 1, 0]) * S
    made.workload = workload([(0, 2, 10, 10), (4, 1, 3, 3), (0, 1, 6, 20)])
    fault = audit(made).faults[0]
    assert (fault.law, fault.time, fault.jobs) == ("capacity", 4 * S, (1, 2))


def test_loading_counts_in_the_walltime() -> None:
    jobs: list[Job] = [(0, 1, 6, 7)]

    def loaded(runs: float, killed: bool) -> Schedule:
        table = pieces([(0, 0, "loading", 0, 2, 1, "resumed"), (0, 0, "running", 2, 2 + runs, 1, "walltime")])
        made = schedule(jobs, [0], 2, pieces=table)
        made.end = np.array([round((2 + runs) * S)])
        made.killed = np.array([killed])
        return made

    assert audit(loaded(5, True)).ok  # 2 s of the 7 went into the load
    assert broken(loaded(6, True)) == {"run length", "walltime"}
    assert broken(loaded(5, False)) == {"killing"}


SETS = ["0-1", "0-1", "0-1", "0-1", "0-1", "0", "1", "1"]


def test_sets_of_processors() -> None:
    assert audit(preempted(columns={"processors": SETS})).ok
    assert "processor sets" in {law.name for law in audit(preempted(columns={"processors": SETS})).laws}


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        (6, "0-1", "job 3 holds 1 processor, its set 0-1 has 2"),
        (6, "2", "job 3 holds processor 2 of a machine of 2"),
        (6, "a", "job 3: 'a' is not a set of processors like 0-3,7"),
    ],
)
def test_wrong_sets_of_processors(place: int, text: str, message: str) -> None:
    sets = [*SETS[:place], text, *SETS[place + 1 :]]
    faults = audit(preempted(columns={"processors": sets})).faults
    assert [(fault.law, fault.message) for fault in faults] == [("processor sets", message)]


def test_two_jobs_on_one_processor() -> None:
    rows: list[Any] = [(0, 0, "running", 0, 5, 1, "done"), (1, 0, "running", 4, 6, 1, "done")]
    jobs: list[Job] = [(0, 1, 5, 5), (0, 1, 2, 2)]
    apart = schedule(jobs, [0, 4], 2, pieces=pieces(rows, processors=["0", "1"]))
    assert audit(apart).ok
    same = schedule(jobs, [0, 4], 2, pieces=pieces(rows, processors=["1", "1"]))
    fault = audit(same).faults[0]
    assert (fault.law, fault.time, fault.jobs) == ("processor sets", 4 * S, (1, 2))
    assert fault.message == "jobs 1 and 2 both hold processor 1 at 4"


def test_ranges_of_processors() -> None:
    assert numbers("0-3,7") == [0, 1, 2, 3, 7]
    assert numbers("5") == [5]
    assert numbers("7,0-3 2") == [0, 1, 2, 3, 7]  # a set: in order, each once
    with pytest.raises(ValueError, match="3-"):
        numbers("3-")


# ---- places -------------------------------------------------------------------------------------


def test_each_group_has_its_own_processors() -> None:
    both: dict[str, Any] = {
        "groups": {"principal": 2, "redirection": 2},
        "labels": {"group": ["principal", "redirection"]},
    }
    jobs: list[Job] = [(0, 2, 10, 10), (0, 2, 10, 10)]
    assert audit(schedule(jobs, [0, 0], 2, group=np.array([0, 1]), **both)).ok
    verdict = audit(schedule(jobs, [0, 0], 2, group=np.array([1, 1]), **both))
    assert [fault.law for fault in verdict.faults] == ["group capacity"]
    assert verdict.faults[0].message == "at 0 jobs 1, 2 need 4 processors, group redirection has 2"


def on(platform: Platform, **places: Any) -> Schedule:
    base = schedule([(0, 2, 10, 10), (0, 2, 10, 10)], [0, 0], 4)
    codes: dict[str, Any] = {name: np.array(column) for name, column in places.items()}
    return Schedule(base.workload, platform, "", base.start, base.end, base.why, base.killed, **codes)


def test_each_cluster_and_each_node_has_its_own_processors() -> None:
    grid = Platform((Cluster("a", procs=2), Cluster("b", procs=3)))
    assert audit(on(grid, cluster=[0, 1])).ok
    assert broken(on(grid, cluster=[0, 0])) == {"cluster capacity"}
    nodes = Platform((Cluster("c", nodes=(NodeGroup(1, 2), NodeGroup(2, 3))),))
    assert audit(on(nodes, node=[0, 2])).ok
    verdict = audit(on(nodes, node=[2, 2]))
    assert verdict.faults[0].message == "at 0 jobs 1, 2 need 4 processors, node 2 has 3"
    assert verdict.counts["node capacity"] == 1


def test_on_faster_clusters_times_may_differ_and_processors_may_not() -> None:
    fast = on(Platform((Cluster("a", speed=2.0, procs=4),)))
    half = replace(fast, runtime=fast.runtime // 2, walltime=fast.walltime // 2, end=fast.end // 2)
    assert audit(half).ok
    assert broken(changed(half, "procs", 0, 1)) >= {"request"}


# ---- policies -----------------------------------------------------------------------------------


def test_fcfs_starts_in_order_of_submission() -> None:
    assert audit(valid(policy="fcfs")).ok
    # Job 4 (1 processor, no length) slips in at 12, while job 3 waits.
    overtaking = changed(changed(valid(policy="fcfs"), "start", 3, -13 * S), "end", 3, -13 * S)
    assert broken(overtaking) == {"fcfs order"}
    assert audit(overtaking, policy="easy").ok
    fault = audit(overtaking).faults[0]
    assert fault.jobs == (3, 4)
    assert fault.message == "job 4 starts at 12, before job 3, which was ahead of it and starts at 20"


def test_equal_submissions_go_by_the_order_of_the_file() -> None:
    jobs: list[Job] = [(0, 4, 5, 5), (0, 4, 5, 5)]
    assert audit(schedule(jobs, [0, 5], 4, policy="fcfs")).ok
    assert broken(schedule(jobs, [5, 0], 4, policy="fcfs")) == {"fcfs order", "fcfs head"}


@pytest.mark.parametrize("policy", ["sjf", "easy(order=sjf)", "ujf", "conservative(compress=scratch)"])
def test_nobody_waits_while_nothing_runs(policy: str) -> None:
    jobs: list[Job] = [(1, 4, 5, 5), (2, 4, 5, 5), (20, 1, 1, 1)]
    columns = {"urgent": [False] * 3}
    assert audit(schedule(jobs, [1, 6, 20], 4, policy=policy, columns=columns)).ok
    late = schedule(jobs, [1, 8, 20], 4, policy=policy, columns=columns)
    (fault,) = (fault for fault in audit(late).faults if fault.law != "conservative starts")
    assert (fault.law, fault.time, fault.jobs) == ("idle machine", 6 * S, (2,))
    assert fault.message == "job 2 waits from 6 to 8 while nothing runs"
    later = audit(schedule(jobs, [13, 8, 20], 4, policy=policy, columns=columns)).faults
    (first,) = (fault for fault in later if fault.law != "conservative starts")
    assert (first.time, first.jobs) == (1 * S, (1,))


def test_an_fcfs_head_that_fits_starts() -> None:
    late = schedule(JOBS, [0, 0, 21, 26], 4, policy="fcfs")
    fault = audit(late).faults[0]
    assert (fault.law, fault.time, fault.jobs) == ("fcfs head", 20 * S, (3,))
    assert fault.message == "job 3 is the head and fits at 20, it starts at 21"


# EASY on 4 processors. Job 1 (3 procs, 10 s) runs; job 2 (4 procs) is the head with shadow 10. Job 3 (1 proc)
# may be backfilled with a walltime of up to 9 s (submitted at 1); with 12 s it would push the head to 13.
EASY: list[Job] = [(0, 3, 10, 10), (0, 4, 5, 5), (1, 1, 9, 9)]


def test_the_head_of_easy_starts_no_later_than_its_shadow() -> None:
    assert audit(schedule(EASY, [0, 10, 1], 4, policy="easy")).ok
    longer: list[Job] = [*EASY[:2], (1, 1, 12, 12)]
    pushed = schedule(longer, [0, 13, 1], 4, policy="easy(backfill=sjf)")
    fault = audit(pushed).faults[0]
    assert (fault.law, fault.jobs) == ("easy head", (2,))
    assert fault.message == "job 2 is the head at 0 with shadow time 10, it starts at 13"


@pytest.mark.parametrize(
    "policy", ["easy(order=sjf)", "easy(estimate=exact)", "easy(age=60)", "sjf", "./mine.py:M"]
)
def test_the_shadow_is_no_law_of_other_policies(policy: str) -> None:
    pushed = schedule([*EASY[:2], (1, 1, 12, 12)], [0, 13, 1], 4, policy=policy)
    assert audit(pushed).ok


def test_urgent_jobs_first_make_another_queue() -> None:
    columns = {"urgent": [False, False, True]}
    pushed = schedule(
        [*EASY[:2], (1, 1, 12, 12)], [0, 13, 1], 4, policy="easy(urgent=first)", columns=columns
    )
    assert audit(pushed).ok
    assert broken(pushed, policy="easy") == {"easy head"}


def test_an_early_end_brings_the_shadow_forward() -> None:
    # Job 1 asks for 10 s and ends after 4: the head must start at 4. At 6 it is late by what it learned at 4.
    jobs: list[Job] = [(0, 3, 4, 10), (0, 4, 5, 5)]
    assert audit(schedule(jobs, [0, 4], 4, policy="easy")).ok
    fault = audit(schedule(jobs, [0, 6], 4, policy="easy")).faults[0]
    assert (fault.law, fault.time) == ("easy head", 4 * S)


def test_backfilling_before_an_elder_s_turn_in_the_same_instant() -> None:
    # Job 1 has no length but asks for 10 s on the whole machine. In the first pass at 0 job 2 (2 procs) is
    # the head with shadow 10, nothing fits; job 1 ends, and in the second pass at 0 job 2 starts, job 3
    # (4 procs) becomes the head, and job 4 is backfilled.
    jobs: list[Job] = [(0, 4, 0, 10), (0, 2, 8, 8), (0, 4, 5, 5), (0, 2, 8, 8)]
    assert audit(schedule(jobs, [0, 0, 8, 0], 4, policy="easy")).ok


RANDOM_JOBS = st.lists(
    st.tuples(
        st.integers(0, 20).map(float),
        st.integers(1, 4),
        st.integers(0, 12).map(float),
        st.integers(0, 12).map(float),
    ),
    min_size=1,
    max_size=14,
)


@given(jobs=RANDOM_JOBS)
def test_random_fcfs_schedules_pass(jobs: list[Job]) -> None:
    verdict = audit(schedule(jobs, fcfs_starts(jobs, 4), 4, policy="fcfs"))
    assert verdict.ok, verdict.faults
    assert {"fcfs order", "fcfs head"} <= {law.name for law in verdict.laws}


@given(jobs=RANDOM_JOBS)
def test_random_easy_schedules_pass(jobs: list[Job]) -> None:
    verdict = audit(schedule(jobs, easy_starts(jobs, 4), 4, policy="easy"))
    assert verdict.ok, verdict.faults


@examples(40)
@given(
    jobs=job_lists(4),
    compress=st.sampled_from(["early", "every", "fixpoint", "scratch", "none"]),
    hole=st.sampled_from(["closed", "open"]),
)
def test_reservations_made_again_are_those_of_conservative_backfilling(
    jobs: list[LoggedJob], compress: str, hole: str
) -> None:
    made = headway.simulate(log_of(jobs), 4, f"conservative(compress={compress}, hole={hole})")
    verdict = audit(made)
    assert verdict.ok and "conservative starts" in verdict.counts, verdict.faults
    other = headway.simulate(log_of(jobs), 4, "easy")
    differs = not np.array_equal(other.start, made.start)
    assert ("conservative starts" in broken(other, made.policy)) == differs


def test_a_schedule_of_easy_is_none_of_conservative_backfilling() -> None:
    # Of 4: J1 has 3 until 10. J2 (4 wide) is reserved for 10, J3 (1 wide, 9) fits before it. J4 (2 wide, 10)
    # is reserved for 15, behind J2, as J5 (3 wide, 4) is for 25. Here J5 starts at 15, before J4.
    jobs: list[Job] = [(0, 3, 10, 10), (0, 4, 5, 5), (1, 1, 9, 9), (2, 2, 10, 10), (3, 3, 4, 4)]
    assert audit(schedule(jobs, [0, 10, 1, 15, 25], 4, policy="conservative")).ok
    easy = audit(schedule(jobs, [0, 10, 1, 19, 15], 4), policy="conservative")
    (fault,) = easy.faults
    assert (fault.law, fault.time, fault.jobs) == ("conservative starts", 15 * S, (4,))
    assert fault.message == "job 4 starts at 19, its reservation is for 15"
    assert [law.name for law in easy.not_judged] == ["promise"]


def test_what_cannot_be_followed_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    made = schedule(JOBS, [0, 0, 20, 10], 4, policy="conservative")
    assert audit(made).ok and [law.name for law in audit(made).not_judged] == ["promise"]
    monkeypatch.setattr(conservative_starts, "MOST_STEPS_INTERPRETED", 0)
    assert [law.name for law in audit(made).not_judged] == ["promise", "conservative starts"]
    overlong = replace(made, end=made.end + S)
    assert "conservative starts" not in audit(overlong).counts


@given(jobs=RANDOM_JOBS, data=st.data())
def test_a_head_delayed_by_a_backfilled_job_is_caught(jobs: list[Job], data: st.DataObject) -> None:
    """Everything from some blocked head on comes later by a second: the head misses its last shadow."""
    starts = easy_starts(jobs, 4)
    heads = [place for place, job in enumerate(jobs) if starts[place] > job[0]]
    assume(heads)
    head = min(heads, key=lambda place: (jobs[place][0], place))  # waits first, so it was the head
    moment = starts[head]
    delayed = [start + 1 if start >= moment else start for start in starts]
    verdict = audit(schedule(jobs, delayed, 4, policy="easy"))
    assert "easy head" in {fault.law for fault in verdict.faults}


@given(jobs=RANDOM_JOBS, data=st.data())
def test_random_over_allocation_is_caught(jobs: list[Job], data: st.DataObject) -> None:
    """A job that starts while too few processors are free breaks the capacity law, and only that."""
    starts = fcfs_starts(jobs, 4)
    lengths = [min(runtime, walltime) for _, _, runtime, walltime in jobs]
    row = data.draw(st.integers(0, len(jobs) - 1))
    start = data.draw(st.integers(int(jobs[row][0]), int(jobs[row][0]) + 30))
    moved = [*starts[:row], float(start), *starts[row + 1 :]]
    # Naive count at every second and half second, for jobs of some length; others may take turns.
    assume(all(lengths))
    instants = [place / 2 for place in range(2 * 200)]
    used = [
        sum(
            job[1]
            for job, begin, length in zip(jobs, moved, lengths, strict=True)
            if begin <= t < begin + length
        )
        for t in instants
    ]
    found = broken(schedule(jobs, moved, 4))
    assert found == ({"capacity"} if max(used) > 4 else set())


def test_all_faults_are_counted_and_the_first_are_told() -> None:
    jobs: list[Job] = [(10, 1, 1, 1)] * 25
    verdict = audit(schedule(jobs, [0] * 25, 100))
    assert verdict.counts["submission"] == 25
    assert len(verdict.faults) == 10
    assert str(verdict) == "8 invariants checked on 25 jobs: broken are submission (25)"


def test_laws_have_unique_names() -> None:
    assert len({law.name for law in UNIVERSAL}) == len(UNIVERSAL)


def test_large_and_small_schedules_are_judged_alike() -> None:
    """The compiled replay, used from some size on, against the plain one."""
    from headway.audit import record_of
    from headway.audit.laws import queue_order

    random = np.random.default_rng(5)
    jobs: list[Job] = [
        (float(submit), int(procs), float(run), float(run + more))
        for submit, procs, run, more in zip(
            np.cumsum(random.integers(0, 9, 400)),
            random.integers(1, 9, 400),
            random.integers(0, 20, 400),
            random.integers(0, 9, 400),
            strict=True,
        )
    ]
    starts = easy_starts(jobs, 8)
    for place in random.integers(0, 400, 20):
        starts[place] += 3
    made = schedule(jobs, starts, 8)
    record = record_of(made)
    plain = queue_order.late_heads(record, record.start + record.walltime)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue_order, "COMPILE_FROM", 0)
        compiled = queue_order.late_heads(record, record.start + record.walltime)
    assert len(plain[0]) > 0
    assert [column.tolist() for column in plain] == [column.tolist() for column in compiled]
