"""The schedule object and its tables."""

from __future__ import annotations

import numpy as np
import pytest

from headway import Schedule
from headway.platform import Platform
from headway.schedule import ENDED, STATES, WHY
from headway.schedule.csv_table import microseconds_column, seconds_column, seconds_text_column
from small_schedules import pieces, schedule

JOBS = [(0, 2, 10, 20), (5, 1, 30, 25), (5.5, 3, 0, 7)]
"""Job 2 needs more than its walltime and is killed at it; job 3 has no length."""


def test_derived_columns_follow_the_definitions() -> None:
    made = schedule(JOBS, [0, 7, 32], procs=3)
    assert made.wait.tolist() == [0, 2_000_000, 26_500_000]
    assert made.run.tolist() == [10_000_000, 25_000_000, 0]  # min(runtime, walltime)
    assert made.response.tolist() == [10_000_000, 27_000_000, 26_500_000]  # end - submit
    assert made.killed.tolist() == [False, True, False]
    assert made.capacity == 3


def test_capacity_is_the_sum_of_the_groups_where_there_are_several() -> None:
    assert schedule(JOBS, [0, 7, 32], procs=3, groups={"principal": 3, "redirection": 2}).capacity == 5


def test_columns_of_another_length_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="promise"):
        schedule(JOBS, [0, 7, 32], procs=3, promise=np.zeros(2))
    with pytest.raises(ValueError, match="promise_kind"):
        schedule(JOBS, [0, 7, 32], procs=3, promise_kind="perhaps")


def test_the_reasons_keep_their_order_because_they_are_stored_as_codes() -> None:
    assert WHY[:4] == ("immediate", "head", "backfill", "reservation")
    assert WHY[4:] == (
        *("resumed", "redirected", "urgent", "urgent_backfill", "urgent_preempt", "promoted", "moved"),
        "recorded",
    )
    assert STATES == ("running", "loading", "swap_out", "suspended", "swap_in")
    assert ENDED == ("done", "walltime", "redirected", "preempted", "suspended", "resumed", "failed")


def test_the_frame_has_the_columns_of_the_file_in_seconds() -> None:
    frame = schedule(JOBS, [0, 7, 32], procs=3, columns={"user": [4, 4, 9]}).frame()
    assert frame.columns == [
        *("job", "submit", "start", "end", "procs", "walltime", "runtime"),
        *("wait", "why", "killed", "user", "queue"),
    ]
    assert frame["submit"].to_list() == [0, 5, 5.5]  # one fraction makes the column Float64
    assert str(frame["submit"].dtype) == "Float64"
    assert str(frame["start"].dtype) == "Int64"
    assert frame["end"].to_list() == [10, 32, 32]
    assert frame["killed"].to_list() == [0, 1, 0]
    assert frame["user"].to_list() == [4, 4, 9]
    assert frame["why"].to_list() == ["head"] * 3


def test_optional_columns_appear_where_they_exist() -> None:
    made = schedule(
        JOBS,
        [0, 7, 32],
        procs=3,
        group=np.array([0, 1, -1]),
        labels={"group": ["principal", "redirection"]},
        promise=np.array([0, -1, 40_000_000]),
        columns={"deadline": [100, -1, 50], "urgent": [True, False, False]},
    )
    frame = made.frame()
    assert frame["group"].to_list() == ["principal", "redirection", None]
    assert frame["promise"].to_list() == [0, None, 40]
    assert frame["deadline"].to_list() == [100, None, 50]
    assert frame["urgent"].to_list() == [1, 0, 0]
    assert "cluster" not in frame.columns
    assert "trace_procs" not in frame.columns


def test_the_log_s_values_are_told_where_the_run_had_others() -> None:
    base = schedule(JOBS, [0, 7, 32], procs=3)
    molded = Schedule(
        base.workload,
        Platform.procs(3),
        "",
        base.start,
        base.end,
        base.why,
        base.killed,
        procs=np.array([1, 1, 3]),
    )
    frame = molded.frame()
    assert frame["procs"].to_list() == [1, 1, 3]
    assert frame["trace_procs"].to_list() == [2, 1, 3]
    assert "trace_walltime" not in frame.columns


def redirected() -> Schedule:
    """Job 1 runs 0-4, is killed for redirection, waits, and runs 6-16 elsewhere; job 2 runs in one piece."""
    return schedule(
        [(0, 2, 10, 20), (0, 1, 5, 5)],
        [6, 0],
        procs=3,
        pieces=pieces(
            [(0, 0, "running", 0, 4, 2, "redirected"), (0, 1, "running", 6, 16, 2, "done")],
            processors=["0-1", "3,5"],
        ),
    )


def test_runs_lists_every_piece_and_jobs_of_one_piece_too() -> None:
    runs = redirected().runs()
    assert runs.columns == [
        *("job", "run", "state", "start", "end", "procs", "cluster", "group", "node", "processors", "ended"),
    ]
    assert runs["job"].to_list() == [1, 1, 2]
    assert runs["run"].to_list() == [0, 1, 0]
    assert runs["start"].to_list() == [0, 6, 0]
    assert runs["end"].to_list() == [4, 16, 5]
    assert runs["ended"].to_list() == ["redirected", "done", "done"]
    assert runs["processors"].to_list() == ["0-1", "3,5", None]
    assert runs["node"].to_list() == [None] * 3


def test_the_final_run_is_the_highest_and_suspended_pieces_hold_nothing() -> None:
    table = pieces(
        [
            (0, 0, "running", 0, 5, 1, "redirected"),
            (1, 0, "suspended", 0, 5, 1, "resumed"),
            (0, 1, "swap_in", 5, 9, 1, "done"),
        ]
    )
    assert table.final(3).tolist() == [False, True, True]
    assert table.holding.tolist() == [True, False, True]
    assert table.several


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0"),
        (12_000_000, "12"),
        (12_500_000, "12.5"),
        (1, "0.000001"),
        (-2_500_000, "-2.5"),
        (9_007_199_254_740_993, "9007199254.740993"),  # more than a double holds exactly
    ],
)
def test_seconds_are_written_and_read_exactly(us: int, text: str) -> None:
    both = np.array([us, 500_000], dtype=np.int64)  # the second forces decimal text
    column = seconds_text_column("t", both)
    assert column.to_list() == [text, "0.5"]
    values, bad = microseconds_column(column)
    assert bad is None
    assert values.tolist() == both.tolist()


def test_whole_columns_stay_integers_and_absent_times_become_null() -> None:
    us = np.array([3_000_000, -1, 4_000_000])
    assert seconds_text_column("t", us, absent=-1).to_list() == [3, None, 4]
    assert seconds_column("t", us, absent=-1).to_list() == [3, None, 4]
    assert seconds_text_column("t", np.array([1, -1]), absent=-1).to_list() == ["0.000001", None]


@pytest.mark.parametrize(("text", "us"), [("1e3", 10**9), ("1.23456789", 1_234_568), (" +7. ", 7_000_000)])
def test_other_ways_to_write_seconds_are_read_too(text: str, us: int) -> None:
    import polars as pl

    values, bad = microseconds_column(pl.Series([text, ".5"]))
    assert bad is None
    assert values.tolist() == [us, 500_000]


@pytest.mark.parametrize("text", ["", "x", "1:30", "nan", "inf", "1e30", None])
def test_what_is_no_number_of_seconds_is_told_by_its_row(text: str | None) -> None:
    import polars as pl

    assert microseconds_column(pl.Series(["1", "2.5", text], dtype=pl.String))[1] == 2
