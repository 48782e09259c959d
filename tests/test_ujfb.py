"""UJFB by hand: every branch of Algorithm 1, jobs stopped twice, urgent jobs that meet, full hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.audit import audit
from headway.errors import UsageError
from headway.explain import explain
from headway.figures.bands import bands
from headway.figures.gantt import strips
from headway.metrics.summary import summarise
from headway.platform import Cluster, Platform
from headway.schedule import ENDED, WHY
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.models import generate
from headway.workload.transform import apply
from traces import opening
from ujfb_by_hand import Row, pieces, run, times


def test_backfill() -> None:
    """3 needs all four from 10 on; 4 is urgent, needs two until 8: it fits before that."""
    made = run((0, 2, 10, 10, 0), (0, 4, 5, 5, 0), (3, 2, 5, 5, 1))
    assert times(made) == [(0, 10, "immediate"), (10, 15, "reservation"), (3, 8, "urgent_backfill")]
    assert made.own["preempting_jobs"] == 0


def test_precede() -> None:
    """The same, but the urgent job needs until 13: the reservation at 10 is made anew, three later."""
    made = run((0, 2, 10, 10, 0), (0, 4, 5, 5, 0), (3, 2, 10, 10, 1))
    assert times(made) == [(0, 10, "immediate"), (13, 18, "reservation"), (3, 13, "urgent")]


def test_preempt() -> None:
    """Two jobs run; the later one, 2, is enough. It is swapped out for 1 s, and in again for 1 s.

    2 has run 3 of 8 s when 3 comes at 5. 3 runs from 6 to 10; 2 comes back at 10, runs on at 11 until 16.
    """
    made = run((0, 2, 20, 20, 0), (2, 2, 8, 8, 0), (5, 2, 4, 4, 1))
    assert times(made) == [(0, 20, "immediate"), (2, 16, "resumed"), (6, 10, "urgent_preempt")]
    assert pieces(made, 2) == [
        ("running", 2, 5, "2-3"),
        ("swap_out", 5, 6, "2-3"),
        ("suspended", 6, 10, "2-3"),
        ("swap_in", 10, 11, "2-3"),
        ("running", 11, 16, "2-3"),
    ]
    assert pieces(made, 3) == [("running", 6, 10, "2-3")]
    assert made.waiting is not None and made.waiting[1] == 6 * SECOND
    assert made.own["suspensions"] == made.own["preempting_jobs"] == 1
    assert made.own["max_preemption_delay"] == made.own["mean_preemption_delay"] == 1


def test_the_urgent_queue() -> None:
    """Urgent jobs hold three of four processors: one that needs two waits for the first of them to end."""
    made = run((0, 3, 10, 10, 1), (1, 2, 5, 5, 1), (2, 1, 20, 20, 0))
    assert times(made) == [
        (0, 10, "urgent_backfill"),
        (10, 15, "urgent_backfill"),
        (2, 22, "immediate"),
    ]
    assert made.own["urgent_waited"] == 1


def test_an_urgent_job_that_ends_early_leaves_its_processors_to_regular_ones() -> None:
    """1 asked for 20 s and ends at 5, as 2 learns then; 3 was to follow at 25, and follows at 10."""
    made = run((0, 4, 20, 5, 1), (1, 4, 5, 5, 0), (1, 4, 5, 5, 0))
    assert [row[:2] for row in times(made)] == [(0, 5), (5, 10), (10, 15)]


@pytest.mark.interpreted
def test_jobs_of_one_length_and_other_sizes_are_planned_apart_where_they_come_one_by_one() -> None:
    """Two clusters of four. 1 has two of a until 7, 2 all of b until 9; 3, of three, follows at 7 in a.

    4, of one, is as long as 3 but fits beside 1 at once, and beside 3 from 7 on.
    """
    log = Workload.from_arrays(
        unit="s", submit=[1, 5, 5, 6], procs=[2, 4, 3, 1], walltime=[6, 4, 10, 10], runtime=[6, 4, 10, 10]
    )
    grid = Platform((Cluster("a", procs=4), Cluster("b", procs=4)))
    made = headway.simulate(log, grid, "reallocation(period=3600, local=ujfb(swap=1))")
    assert (made.start // SECOND).tolist() == [1, 5, 7, 6]


def test_a_waiting_urgent_job_is_passed_or_not() -> None:
    """3 needs the one processor that 2 cannot use; if it must wait, regular 4 can have it."""
    rows: Sequence[Row] = ((0, 3, 10, 10, 1), (1, 2, 5, 5, 1), (2, 1, 3, 3, 1), (2, 1, 30, 30, 0))
    assert [row[:2] for row in times(run(*rows))] == [(0, 10), (10, 15), (2, 5), (5, 35)]
    behind = run(*rows, spec="ujfb(swap=1, overtake=no)")
    assert [row[:2] for row in times(behind)] == [(0, 10), (10, 15), (10, 13), (2, 32)]


def test_a_regular_job_does_not_stand_where_an_urgent_one_of_its_shape_must() -> None:
    """3 has to wait behind 2, which is at 10; regular 4, of the same size and length, has not."""
    rows: Sequence[Row] = ((0, 3, 10, 10, 1), (1, 2, 5, 5, 1), (2, 1, 3, 3, 1), (2, 1, 3, 3, 0))
    made = run(*rows, spec="ujfb(swap=1, overtake=no, reserve=beside)")
    assert [row[:2] for row in times(made)] == [(0, 10), (10, 15), (10, 13), (2, 5)]


def test_reservations_of_waiting_urgent_jobs() -> None:
    """3, urgent, waits for four processors until 10; 4 would be in its way unless it holds no reservation."""
    rows: Sequence[Row] = ((0, 3, 10, 10, 1), (1, 4, 5, 5, 1), (2, 1, 9, 9, 0))
    assert [row[:2] for row in times(run(*rows))] == [(0, 10), (10, 15), (15, 24)]
    # Without it the regular job starts, and is stopped at 10: 1 s out, back from 16 on, 1 s in, 1 s left.
    free = run(*rows, spec="ujfb(swap=1, reserve=none)")
    assert [row[:2] for row in times(free)] == [(0, 10), (11, 16), (2, 18)]


IN_THE_WAY: Sequence[Row] = ((0, 2, 3, 3, 1), (0, 1, 10, 10, 0), (1, 4, 1, 1, 1), (2, 1, 2, 2, 0))
"""1, urgent, has two of four processors until 3, and regular 2 one until 10. 3, urgent, comes at 1 and wants
all four; regular 4 comes at 2, wants the one that is free, and would have it until 4."""


def test_a_regular_job_does_not_start_in_the_way_of_an_urgent_one() -> None:
    """By stopping 2, 3 can have all four processors at 3: that is [3, 4), and 4 has to wait for it."""
    made = run(*IN_THE_WAY, spec="ujfb(swap=0)")
    assert [row[:2] for row in times(made)] == [(0, 3), (0, 11), (3, 4), (4, 6)]
    assert made.own["suspensions"] == 1


def test_a_reservation_beside_running_jobs() -> None:
    """Beside 2 there is no place for 3 before 10: 4 starts, and is stopped a second later with 2."""
    made = run(*IN_THE_WAY, spec="ujfb(swap=0, reserve=beside)")
    assert [row[:2] for row in times(made)] == [(0, 3), (0, 11), (3, 4), (2, 5)]
    assert made.own["suspensions"] == 2


def test_waiting_urgent_jobs_stand_one_behind_the_other() -> None:
    """1 and 2 have all four processors until 4. 3 is to have three of them in [4, 6), 4 two in [6, 8).

    5, of one processor, comes at 1 and fits beside both from 4 on; 6, of two, only beside 4: it waits for 6.
    """
    rows: Sequence[Row] = (
        (0, 2, 4, 4, 1),
        (0, 2, 4, 4, 1),
        (1, 3, 2, 2, 1),
        (1, 2, 2, 2, 1),
        (1, 1, 2, 2, 0),
        (1, 2, 2, 2, 0),
    )
    found = [row[:2] for row in times(run(*rows, spec="ujfb(swap=0)"))]
    assert found == [(0, 4), (0, 4), (4, 6), (6, 8), (4, 6), (6, 8)]


def test_an_urgent_job_that_ends_early_makes_room_earlier() -> None:
    """1 asks for 9 s and ends at 3, so 2 has [3, 4), not [9, 10); until then 3 was told 10."""
    rows: Sequence[Row] = ((0, 3, 9, 3, 1), (1, 4, 1, 1, 1), (2, 1, 8, 8, 0))
    made = run(*rows, spec="ujfb(swap=0)")
    assert [row[:2] for row in times(made)] == [(0, 3), (3, 4), (4, 12)]
    assert made.promise is not None and made.promise[2] == 10 * SECOND


def test_equal_victims_go_in_order_of_arrival() -> None:
    """All are equally wide, and two make room: 1 came first, and 2 stands before 3 in the file."""
    rows: Sequence[Row] = ((0, 1, 9, 9, 0), (1, 1, 9, 9, 0), (1, 1, 9, 9, 0), (2, 3, 1, 1, 1))
    for order in ("smallest", "largest"):
        made = run(*rows, spec=f"ujfb(swap=0, victims={order})")
        assert [int(by) for by in made.notes["preempted_by"]] == [4, 4, -1, -1]


def test_stopped_again_while_it_comes_back() -> None:
    """1 is stopped at 2 for job 2 (3 to 5), comes back at 5 and is stopped again at 6, before it could run.

    Swapping takes 3 s: out 2 to 5, job 2 runs from 5 to 7, 1 is back at 7; stopped at 8, out until 11, job 3
    runs from 11 to 13; back at 13, running at 16 with 8 s to go.
    """
    made = run((0, 4, 20, 10, 0), (2, 4, 2, 2, 1), (8, 4, 2, 2, 1), spec="ujfb(swap=3)")
    assert times(made) == [(0, 24, "resumed"), (5, 7, "urgent_preempt"), (11, 13, "urgent_preempt")]
    assert [piece[:3] for piece in pieces(made, 1)] == [
        ("running", 0, 2),
        ("swap_out", 2, 5),
        ("suspended", 5, 7),
        ("swap_in", 7, 8),
        ("swap_out", 8, 11),
        ("suspended", 11, 13),
        ("swap_in", 13, 16),
        ("running", 16, 24),
    ]
    assert made.own["suspensions"] == 2


def test_urgent_jobs_that_meet_share_a_suspended_job() -> None:
    """2 takes two of the four processors of 1, and 3 the other two, at once: nothing more is stopped.

    1 goes on when both have left, at 12, with 18 s to go; regular 4 may not use what stands idle from 7 on.
    """
    made = run((0, 4, 20, 20, 0), (2, 2, 4, 4, 1), (4, 2, 8, 8, 1), (5, 1, 3, 3, 0))
    assert times(made) == [
        (0, 31, "resumed"),
        (3, 7, "urgent_preempt"),
        (4, 12, "urgent"),
        (31, 34, "reservation"),
    ]
    assert pieces(made, 1)[:3] == [
        ("running", 0, 2, "0-3"),
        ("swap_out", 2, 3, "0-1"),
        ("suspended", 3, 12, "0-3"),
    ]
    assert pieces(made, 3) == [("running", 4, 12, "2-3")]


def test_one_that_is_not_needed_is_spared() -> None:
    """The latest, 3, is taken first, then 2, with whom alone there are enough: 3 is spared."""
    made = run((0, 1, 20, 20, 0), (1, 2, 20, 20, 0), (2, 1, 20, 20, 0), (5, 2, 3, 3, 1))
    assert [WHY[why] for why in made.why] == ["immediate", "resumed", "immediate", "urgent_preempt"]


@pytest.mark.parametrize(("victims", "stopped"), [("latest", 3), ("smallest", 2), ("largest", 1)])
def test_who_makes_room(victims: str, stopped: int) -> None:
    rows: Sequence[Row] = ((0, 3, 20, 20, 0), (1, 1, 20, 20, 0), (2, 2, 20, 20, 0), (5, 1, 3, 3, 1))
    made = run(*rows, m=6, spec=f"ujfb(swap=1, victims={victims})")
    assert [i + 1 for i, why in enumerate(made.why) if WHY[why] == "resumed"] == [stopped]


def test_kill() -> None:
    """2 loses the 3 s it has run and waits again: its processors are free at 9, when 3 ends."""
    made = run((0, 2, 20, 20, 0), (2, 2, 8, 8, 0), (5, 2, 4, 4, 1), spec="ujfb(preempt=kill)")
    assert times(made) == [(0, 20, "immediate"), (9, 17, "reservation"), (5, 9, "urgent_preempt")]
    assert pieces(made, 2) == [("running", 2, 5, "2-3"), ("running", 9, 17, "2-3")]
    assert made.pieces is not None and ENDED[made.pieces.ended[0]] == "preempted"
    assert summarise(made)["wasted_area"] == 6
    assert (made.own["kills_for_urgent"], made.own["suspensions"]) == (1, 0)
    assert "no suspension" in {law.name for law in audit(made).laws}


def test_by_degree_of_urgency() -> None:
    """The job due at 9 would come too late after the swap of 1 s, so it kills; due at 10 it waits for it."""
    rows: Sequence[Row] = ((0, 4, 8, 8, 0), (5, 4, 4, 4, 1))
    tight = run(*rows, spec="ujfb(preempt=degree, swap=1)", deadline=[-1, 9])
    assert times(tight) == [(9, 17, "reservation"), (5, 9, "urgent_preempt")]
    loose = run(*rows, spec="ujfb(preempt=degree, swap=1)", deadline=[-1, 10])
    assert times(loose) == [(0, 14, "resumed"), (6, 10, "urgent_preempt")]
    without = run(*rows, spec="ujfb(preempt=degree, swap=1)")
    assert times(without) == times(loose)


def test_by_degree_nobody_is_killed_where_the_swap_takes_no_time() -> None:
    """The job due at 8 is late however processors are made free; the work of job 1 is not lost for that."""
    rows: Sequence[Row] = ((0, 4, 8, 8, 0), (5, 4, 4, 4, 1))
    made = run(*rows, spec="ujfb(preempt=degree, swap=0)", deadline=[-1, 8])
    assert times(made) == [(0, 12, "resumed"), (5, 9, "urgent_preempt")]
    assert made.own["kills_for_urgent"] == 0


def test_a_full_host() -> None:
    """Hosts of two processors hold 1 GB: job 1 (2 x 1 GB) is not preemptible, job 2 (2 x 0.5 GB) is."""
    memory = [1024 * 1024, 512 * 1024, 1]
    rows: Sequence[Row] = ((0, 2, 20, 20, 0), (1, 2, 20, 20, 0), (5, 2, 4, 4, 1))
    spec = "ujfb(swap=1, host_memory=1, host_size=2, victims=largest)"
    made = run(*rows, spec=spec, memory_kb=memory)
    assert [WHY[why] for why in made.why] == ["immediate", "resumed", "urgent_preempt"]
    # One that needs all four has to wait until 1 has ended, and then stops 2; unless it may kill.
    rows = (*rows[:2], (5, 4, 4, 4, 1))
    assert times(run(*rows, spec=spec, memory_kb=memory))[2] == (21, 25, "urgent_preempt")
    deadline = [-1, -1, 100]
    killing = run(
        *rows, spec=spec.replace("swap=1", "swap=1, preempt=degree"), memory_kb=memory, deadline=deadline
    )
    assert times(killing)[2] == (5, 9, "urgent_preempt")


@pytest.mark.parametrize("regular", ["conservative", "dbf"])
def test_no_regular_job_starts_before_an_urgent_one_that_full_hosts_hold_up(regular: str) -> None:
    """Hosts hold nothing, so 1 (until 20) cannot make room. Urgent job 3 needs both processors, and is to
    have them from 5 on, when 2 has ended; as 1 stays, that moves on with time, and 4 is not placed before
    it."""
    memory = [1024 * 1024] * 4
    rows: Sequence[Row] = ((0, 1, 20, 20, 0), (0, 1, 5, 5, 1), (1, 2, 4, 4, 1), (2, 1, 30, 30, 0))
    spec = f"ujfb(swap=1, host_memory=0, regular={regular})"
    made = run(*rows, m=2, spec=spec, memory_kb=memory)
    assert [row[:2] for row in times(made)] == [(0, 20), (0, 5), (20, 24), (24, 54)]


@pytest.mark.parametrize("more", ["", ", regular=dbf", ", idle=lent", ", overrun=finish"])
def test_a_regular_job_starts_where_one_that_full_hosts_hold_up_has_moved_on(more: str) -> None:
    """Hosts hold nothing, so 1 cannot make room. 3 is to have all processors at 100. 4 could have two from 10
    to 50, then from 50 to 90; from 90 on it would be in the way of 3, and moves behind it. So 5 starts at 90,
    although nothing ends or arrives then."""
    rows: Sequence[Row] = (
        (0, 1, 200, 200, 0), (0, 1, 100, 100, 1), (5, 3, 10, 10, 1), (10, 2, 40, 40, 1), (10, 1, 10, 10, 0)
    )  # fmt: skip
    made = run(*rows, m=3, spec=f"ujfb(swap=1, host_memory=0{more})", memory_kb=[1024 * 1024] * 5)
    assert [row[:2] for row in times(made)] == [(0, 200), (0, 100), (200, 210), (100, 140), (90, 100)]


def test_memory_is_given_back() -> None:
    """While 1 is swapped out its host is full, so 4 cannot be; later, when 1 is back, it can."""
    memory = [1024 * 1024, 1024 * 1024, 1, 1, 1]
    rows = ((0, 1, 30, 30, 0), (0, 1, 30, 30, 0), (2, 1, 4, 4, 1), (4, 1, 2, 2, 1), (20, 1, 2, 2, 1))
    made = run(*rows, m=2, spec="ujfb(swap=0, host_memory=1, host_size=2)", memory_kb=memory)
    assert [row[:2] for row in times(made)[2:]] == [(2, 6), (6, 8), (20, 22)]


def test_swap_times_come_from_the_policy_the_column_or_the_memory() -> None:
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (5, 4, 4, 4, 1))
    memory = [6000 * 1024 * 2, -1]
    cases: list[tuple[str, dict[str, Any], int]] = [
        ("ujfb(swap=3)", {"swap": [5, -1], "memory_kb": memory}, 3),
        ("ujfb", {"swap": [5, -1], "memory_kb": memory}, 5),
        ("ujfb", {"swap": [-1, -1], "memory_kb": memory}, 2),
        ("ujfb(swap=memory)", {"swap": [5, -1], "memory_kb": memory}, 2),
        ("ujfb(bandwidth=3000)", {"memory_kb": memory}, 4),
    ]
    for spec, columns, delay in cases:
        assert run(*rows, spec=spec, **columns).start[1] == (5 + delay) * SECOND, spec


def test_a_missing_source_of_swap_times() -> None:
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (1, 2, 20, 20, 0), (5, 4, 4, 4, 1))
    with pytest.raises(UsageError, match=r"swap=SECONDS .* --annotations.* memory\(source=table\)"):
        run(*rows, spec="ujfb")
    said: list[str] = []
    log = Workload.from_arrays(
        unit="s", submit=[0, 1, 5], procs=[4, 2, 4], walltime=[20, 20, 4], runtime=[20, 20, 4],
        urgent=[0, 0, 1], memory_kb=[6000 * 1024, -1, -1],
    )  # fmt: skip
    made = headway.simulate(log, 4, "ujfb", notify=said.append)
    assert made.own["swap_assumed"] == 1 and any("median" in line for line in said)
    with pytest.raises(UsageError, match="1 job is known"):
        headway.simulate(log, 4, "ujfb(unknown=error)")
    assert headway.simulate(log, 4, "ujfb(preempt=kill)").own["swap_assumed"] == 0


def test_without_urgent_jobs_it_says_so() -> None:
    log = Workload.from_arrays(unit="s", submit=[0], procs=[2], walltime=[5], runtime=[5])
    for policy, other in (("ujfb", "conservative(compress=scratch)"), ("ujf", "fcfs")):
        said: list[str] = []
        headway.simulate(log, 4, policy, notify=said.append)
        assert f"no job is urgent, so {policy} is {other}" in said


def preempted() -> Schedule:
    """The instance of test_preempt, with deadlines for the urgent job."""
    rows: Sequence[Row] = ((0, 2, 20, 20, 0), (2, 2, 8, 8, 0), (5, 2, 4, 4, 1))
    return run(*rows, deadline=[-1, -1, 11])


def test_metrics() -> None:
    found = summarise(preempted())
    assert found["urgent_lateness"] == found["urgent_mean_slowdown"] == 5 / 4
    assert (found["urgent_jobs"], found["regular_jobs"], found["preempted_jobs"]) == (1, 2, 1)
    assert (found["urgent_mean_response"], found["regular_mean_response"]) == (5, (20 + 14) / 2)
    assert found["regular_mean_slowdown"] == (1 + 14 / 8) / 2
    assert (found["urgent_margin_least"], found["urgent_deadlines_missed"]) == (1, 0)
    assert found["swap_area"] == 4 and found["preempted_mean_slowdown"] == 14 / 8
    late = headway.simulate(preempted().workload, 4, "fcfs")
    assert summarise(late)["urgent_deadlines_missed"] == 1 and late.pieces is None


def broken(made: Schedule, **columns: Any) -> set[str]:
    """The laws that a schedule breaks when its pieces are changed: column=(piece, value)."""
    assert made.pieces is not None
    changed = replace(made.pieces)
    for name, (piece, value) in columns.items():
        column = getattr(changed, name)
        column = list(column) if name == "processors" else column.copy()
        column[piece] = value
        setattr(changed, name, column)
    return {fault.law for fault in audit(replace(made, pieces=changed)).faults}


def test_the_audit_finds_what_is_wrong() -> None:
    made = preempted()
    assert {"urgent untouched", "same processors", "no gaps", "urgent prompt"} <= {
        law.name for law in audit(made).laws
    }
    assert "same processors" in broken(made, processors=(4, "1-2"))
    assert "no gaps" in broken(made, end=(2, 9 * SECOND))
    assert "urgent untouched" in broken(made, ended=(5, ENDED.index("suspended")))
    assert "processor sets" in broken(made, processors=(5, "1-2"), start=(5, 4 * SECOND))
    late = replace(made, start=made.start.copy(), end=made.end.copy())
    late.start[2] += SECOND
    late.end[2] += SECOND
    assert "urgent prompt" in {fault.law for fault in audit(late).faults}
    other = replace(made, policy=made.policy.replace("preempt=suspend", "preempt=kill"))
    assert "no suspension" in {fault.law for fault in audit(other).faults}


def test_the_audit_schedules_again_where_nobody_is_urgent() -> None:
    """2 needs all four from 10 on, 3 fits before it; a start that is one second late is found."""
    rows: Sequence[Row] = ((0, 2, 10, 10, 0), (0, 4, 5, 5, 0), (3, 2, 5, 5, 0))
    for spec in ("ujfb", "ujfb(regular=dbf)"):
        made = run(*rows, spec=spec, deadline=[-1, -1, 30])
        assert "nobody urgent" in {law.name for law in audit(made).laws}
        late = replace(made, start=made.start.copy(), end=made.end.copy())
        late.start[2] += SECOND
        late.end[2] += SECOND
        faults = [fault for fault in audit(late).faults if fault.law == "nobody urgent"]
        assert len(faults) == 1 and "job 3 starts at 4, under" in faults[0].message
        assert faults[0].message.endswith("(compress=scratch) at 3")
    assert "nobody urgent" not in {law.name for law in audit(preempted()).laws}


def test_explained() -> None:
    made = preempted()
    text = explain(made, 2).text(1000)
    assert "It was suspended for job 3 at 6 s (4 s after it was submitted), for 4 s." in text
    assert "Swapping it out and in took 2 s; nothing of its work was lost." in text
    assert "It kept its processors (2-3)" in text
    urgent = explain(made, 3).text(1000)
    assert "1 job with 2 processors was suspended for it at 5 s: job 2." in urgent
    assert "It waited 1 s until they were swapped out." in urgent
    assert "a slowdown of 1.25" in urgent and "met its deadline with 1 s to spare" in urgent


def test_saved_and_loaded(tmp_path: Any) -> None:
    made = preempted()
    made.save(tmp_path / "run")
    again = Schedule.load(tmp_path / "run")
    assert again.pieces is not None and made.pieces is not None
    named = [text for text in again.pieces.processors or () if text]
    assert named == list(made.pieces.processors or ()) and len(named) == 6
    assert audit(again).ok
    text = (tmp_path / "run" / "runs.csv").read_text()
    assert text.splitlines()[0].split(",")[:6] == ["job", "run", "state", "start", "end", "procs"]
    assert "swap_out" in text and "2-3" in text


def test_the_gantt_chart_shows_the_same_processors() -> None:
    """Jobs with numbers lie where they were; job 1, which has none, lies where they never are."""
    shown = bands(preempted())
    strip = {(int(piece), int(low), int(count)) for piece, low, count in zip(*strips(shown), strict=True)}
    where = {(int(shown.job[piece]) + 1, low, count) for piece, low, count in strip}
    assert where == {(1, 0, 2), (2, 2, 2), (3, 2, 2)} and len(strip) == len(shown) == 6


def test_a_chart_with_many_jobs_has_no_two_on_one_processor() -> None:
    log = generate("lublin(jobs=250, procs=64, load=1.3, estimates=tsafrir, seed=4)")
    log = apply(log, "inject(jobs=[[16, 600], [40, 390]], count=25, procs=64, seed=1)")
    made = headway.simulate(log, 64, "ujfb(swap=5)")
    assert int(str(made.own["suspensions"])) >= 10
    shown = bands(made)
    piece, low, count = strips(shown)
    assert np.array_equal(np.bincount(piece, count), shown.procs) and (low + count).max() <= 64
    for processor in range(64):
        here = piece[(low <= processor) & (processor < low + count)]
        here = here[shown.end[here] > shown.start[here]]
        here = here[np.argsort(shown.start[here], kind="stable")]
        assert (shown.start[here][1:] >= shown.end[here][:-1]).all()


LOGS = ("LANL", "KTH-SP2", "HPC2N", "SDSC-BLUE", "SDSC-SP2", "SDSC-Par", "RICC", "CEA-Curie")


@pytest.mark.parametrize("name", LOGS)
def test_spaced_urgent_jobs_start_within_their_delay(name: str) -> None:
    """J2 on parts of real logs: a thousand urgent jobs at equal distances, each alone."""
    log = opening(name, 6000)
    log = log.select(np.argsort(log.submit, kind="stable")[:6000])
    procs = log.header.max_procs
    assert procs is not None
    first, last = int(log.submit.min()) // SECOND, int(log.submit.max()) // SECOND
    gap = max((last - first) // 1001, 700)
    arrivals = [first + gap * i for i in range(1, 1001)]
    jobs = "tsunami" if procs > 128 else "[[16, 600], [32, 390], [64, 240]]"
    log = apply(log, f"inject(jobs={jobs}, arrivals={arrivals})", "memory(source=table)")
    made = headway.simulate(log, procs, "ujfb")
    urgent = made.workload.urgent
    assert urgent.sum() == len(arrivals)
    wait = made.start[urgent] - made.submit[urgent]
    assert (wait == made.notes["preemption_delay"][urgent]).all() and wait.max() <= 0.855 * SECOND
    assert made.own["urgent_waited"] == 0
    if name != "CEA-Curie":  # its first jobs leave the machine nearly empty: nobody has to be stopped
        assert int(str(made.own["preempting_jobs"])) > 5
    verdict = audit(made)
    assert verdict.ok, verdict.faults
