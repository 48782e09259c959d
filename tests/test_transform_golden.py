"""Transformations on workloads small enough to work out by hand."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.header import Header
from headway.workload.table import Workload
from headway.workload.transform import apply, merge, offered_load
from headway.workload.transform.swap_model import BANDWIDTH, SWAP_TABLE


def jobs(**columns: Any) -> Workload:
    """A workload of seconds on a machine of 8 whose clock started at Unix time 1000."""
    header = Header(["; MaxProcs: 8", "; UnixStartTime: 1000", "; Note: small"])
    rows = len(columns["submit"])
    defaults: dict[str, Any] = {"procs": [1] * rows, "runtime": [10] * rows}
    return Workload.from_arrays(unit="s", header=header, **defaults | columns)


def seconds(column: np.ndarray) -> list[float]:
    return [value / SECOND if value >= 0 else -1 for value in column.tolist()]


def test_window_keeps_the_half_open_interval_and_moves_the_clock() -> None:
    work = jobs(submit=[0, 5, 10, 19, 20], deadline=[-1, 50, -1, 30, -1])
    cut = apply(work, "window(from=5, to=20)")
    assert cut.job.tolist() == [2, 3, 4]
    assert seconds(cut.submit) == [0, 5, 14] and seconds(cut.deadline) == [45, -1, 25]
    assert cut.header.get("UnixStartTime") == "1005" and cut.header.get("Note") == "small"
    assert cut.ledger.rows() == [
        {"rule": "window", "action": "submitted outside the window: left out", "count": 2, "jobs": [1, 5]}
    ]
    assert seconds(apply(work, "window(from=5, to=20, shift=false)").submit) == [5, 10, 19]


def test_the_parts_for_training_and_testing_meet_at_a_line_in_time() -> None:
    work = jobs(submit=[0, 5, 69, 70, 100])  # the line is at 70 of 100
    assert seconds(apply(work, "part(which=train)").submit) == [0, 5, 69]
    assert seconds(apply(work, "part").submit) == [70, 100]
    assert seconds(apply(work, "part(which=test, train=0.5)").submit) == [69, 70, 100]
    with pytest.raises(UsageError, match="above 0 and below 1"):
        apply(work, "part(train=1)")


def test_first_goes_by_submission_then_by_position() -> None:
    work = jobs(submit=[7, 3, 3, 9])
    assert apply(work, "first(2)").job.tolist() == [2, 3]
    with pytest.raises(UsageError, match="jobs must be 0 or more, not -1"):
        apply(work, "first(-1)")
    assert seconds(apply(work, "from_zero").submit) == [4, 0, 0, 6]


def test_load_stretches_the_gaps() -> None:
    # 4 jobs of 2 processors for 10 s over a span of 20 s on 8 processors: 80 / 160 = 0.5.
    work = jobs(submit=[100, 105, 110, 120], procs=[2] * 4, deadline=[-1, 130, -1, -1])
    assert offered_load(work, 8) == 0.5
    halved = apply(work, "load(target=0.25)")
    assert seconds(halved.submit) == [100, 110, 120, 140]
    assert seconds(halved.deadline) == [-1, 135, -1, -1]  # 25 s after the submission, as before
    assert offered_load(halved, 8) == 0.25
    assert seconds(apply(work, "load(factor=2)").submit) == [100, 102, 105, 110]  # whole seconds stay whole


def test_the_load_counts_what_runs_until_the_walltime() -> None:
    work = jobs(submit=[0, 10], runtime=[40, 40], walltime=[20, 60])
    assert offered_load(work, 3) == pytest.approx((20 + 40) / (3 * 10))


def test_another_machine_scales_sizes_and_keeps_the_too_wide_ones_too_wide() -> None:
    work = jobs(submit=[0] * 5, procs=[1, 3, 4, 8, 9], allocated=[1, 4, -1, 8, 9])
    half = apply(work, "machine(4)")
    # 0.5 -> 1, 1.5 -> 2, 2, 4; the job of 9 on 8 must not fit on 4 either.
    assert half.procs.tolist() == [1, 2, 2, 4, 5] and half.header.max_procs == 4
    assert half.allocated.tolist() == [1, 2, -1, 4, 5]
    assert apply(work, "machine(4, rounding=down)").procs.tolist() == [1, 1, 2, 4, 5]
    assert apply(work, "machine(24)").procs.tolist() == [3, 9, 12, 24, 27]
    assert len(half.fit_to(4)) == 4


def test_split_makes_parts_of_one_node() -> None:
    work = jobs(submit=[0, 1], procs=[45, 20], user=[7, 8], deadline=[-1, 90])
    parts = apply(work, "split(cores=20)")
    assert parts.job.tolist() == [1, 3, 4, 2] and parts.procs.tolist() == [20, 20, 5, 20]
    assert parts.user.tolist() == [7, 7, 7, 8] and seconds(parts.submit) == [0, 0, 0, 1]
    assert parts.ledger.total == 4 and parts.ledger.kept == 4
    [row] = parts.ledger.rows()
    assert row["action"] == "wider than a node of 20: split, 2 parts added" and row["jobs"] == [1]


def test_filters() -> None:
    work = jobs(
        submit=[0, 1, 2, 3, 4], user=[21, 21, 7, 21, 9], queue=[0, 1, 1, 0, 1], job=[10, 20, 30, 40, 50]
    )
    assert apply(work, "without(flurries=[[21, 15, 45]])").job.tolist() == [10, 30, 50]
    assert apply(work, "without(users=[21])").job.tolist() == [30, 50]
    assert apply(work, "without(flurries=[[7]], queues=[0], first_jobs=1)").job.tolist() == [20, 50]
    assert apply(work, "only(users=[21, 9], queues=[1])").job.tolist() == [20, 50]


def test_filters_know_names_where_the_log_has_names() -> None:
    work = jobs(submit=[0, 1, 2], user=[1, 0, 1]).with_labels(user=["ann", "bob"])
    assert apply(work, "only(users=[bob])").job.tolist() == [1, 3]
    assert apply(work, 'without(users=["ann"])').job.tolist() == [1, 3]


@pytest.mark.parametrize("keep", ["only", "without"])
def test_a_name_that_the_log_does_not_have_is_told_with_those_that_it_has(keep: str) -> None:
    numbers = jobs(submit=[0, 1, 2], queue=[2, 0, 2], user=[1, 0, 1]).with_labels(user=["ann", "bob"])
    with pytest.raises(UsageError, match=r"^the log has no queue foo; it has numbers for them: 0, 2$"):
        apply(numbers, f"{keep}(queues=[foo])")
    with pytest.raises(UsageError, match=r"no user bop \(did you mean 'bob'\?\); there are ann, bob$"):
        apply(numbers, f"{keep}(users=[ann, bop])")
    assert len(apply(numbers, f"{keep}(queues=[7])")) == (0 if keep == "only" else 3)  # another part has it


def test_flurries_of_sdsc_sp2_by_name() -> None:
    work = jobs(submit=[0, 1, 2], user=[21, 21, 374], job=[13717, 16208, 28552])
    assert apply(work, "without(flurries=sdsc-sp2)").job.tolist() == [16208]


def test_exact_says_what_becomes_of_jobs_that_ran_past_their_request() -> None:
    work = Workload.from_arrays(unit="s", submit=[0, 0], procs=[1, 1], walltime=[9, 20], runtime=[5, 50])
    after, before = apply(work, "exact"), apply(work, "exact(kills=before)")
    assert (seconds(after.walltime), seconds(after.runtime)) == ([5, 50], [5, 50])
    assert (seconds(before.walltime), seconds(before.runtime)) == ([5, 20], [5, 20])
    for made, said in ((after, "none is killed"), (before, "killed there")):
        [entry] = [entry for entry in made.ledger if entry.rule == "exact"]
        assert entry.count == 1 and said in entry.action


def at(text: str, zone: str) -> int:
    """Seconds since 1970."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp())


@pytest.mark.parametrize(
    ("until", "expected"),
    # Friday 18:00, an hour of walltime; Friday 18:00, ten hours, so that Saturday 8:00 comes too early with
    # factor 2; the Saturday before the clocks go forward; Monday 8:00 less the two hours that are needed.
    [
        ("morning", ["2011-03-26T08:00", "2011-03-27T08:00", "2011-03-27T08:00", "2011-03-28T08:00"]),
        ("workday", ["2011-03-28T08:00"] * 4),
        ("monday", ["2011-03-28T08:00"] * 4),
    ],
)
def test_deadlines_of_the_calendar(until: str, expected: list[str]) -> None:
    zone = "Europe/Paris"
    submits = ["2011-03-25T18:00", "2011-03-25T18:00", "2011-03-26T18:00", "2011-03-28T06:00"]
    begin = at("2011-03-21T00:00", zone)
    work = Workload.from_arrays(
        unit="s",
        submit=[at(text, zone) - begin for text in submits],
        procs=[1] * 4,
        walltime=[3600, 36_000, 3600, 3600],
        runtime=[60] * 4,
    )
    dated = apply(work, f"deadlines(every=1, until={until}, start={begin}, zone={zone})")
    assert seconds(dated.deadline) == [at(text, zone) - begin for text in expected]
    evening = apply(work, f"deadlines(every=1, until=morning, hour=18.5, start={begin}, zone={zone})")
    assert seconds(evening.deadline)[3] == at("2011-03-28T18:30", zone) - begin
    night = apply(work, f"deadlines(every=1, until=morning, hour=23.999, start={begin}, zone={zone})")
    assert seconds(night.deadline)[3] == at("2011-03-28T23:59", zone) - begin
    with pytest.raises(UsageError, match="UnixStartTime"):
        apply(work, "deadlines(until=morning)")
    with pytest.raises(UsageError, match="zone=Europe/Paris"):
        apply(work, f"deadlines(until=morning, start={begin}, zone=Mars/Base)")
    with pytest.raises(UsageError, match="no time zone 'Europe'"):  # a folder of the zones' data
        apply(work, f"deadlines(until=morning, start={begin}, zone=Europe)")


def test_exact_sets_the_walltime_even_beyond_the_request() -> None:
    work = jobs(submit=[0, 0], runtime=[5, 50], walltime=[30, 30])
    assert seconds(apply(work, "exact").walltime) == [5, 50]


def test_every_third_job_gets_a_deadline() -> None:
    # Submission order is b, a, c, d, e, f: the third is c, the sixth f.
    work = jobs(submit=[2, 1, 3, 4, 5, 6], walltime=[10, 10, 10, 10, 10, 500], runtime=[10] * 6)
    dated = apply(work, "deadlines(horizon=100, factor=2)")
    assert seconds(dated.deadline) == [-1, -1, 103, -1, -1, 1006]
    assert np.all(apply(work, "deadlines(share=1)").deadline >= 0)
    assert np.all(apply(work, "deadlines(share=0)").deadline == -1)


def test_factors_count_as_they_are_written() -> None:
    # 3 x 1.1 is more than 3.3 in binary numbers; no microsecond may come of that.
    work = jobs(submit=[0, 0], runtime=[3, 0.000001], walltime=[3, 30])
    assert seconds(apply(work, "walltimes(margin=1.1)").walltime) == [3.3, 0.000002]
    assert seconds(apply(work, "deadlines(every=1, horizon=0, factor=1.1)").deadline) == [3.3, 33]
    added = apply(work, "inject(jobs=[[1, 3]], arrivals=[7], stretch=1.1)")
    assert seconds(added.walltime)[2:] == [3.3]


def test_a_log_without_a_date_has_none_after_its_clock_moved() -> None:
    work = jobs(submit=[86_400]).with_header(Header(["; UnixStartTime: 0"]))
    assert work.header.unix_start is None
    assert apply(work, "from_zero").header.unix_start is None
    with pytest.raises(UsageError, match="align=clock needs a UnixStartTime"):
        merge(work, with_=[jobs(submit=[1])], align="clock")


def test_tsunami_jobs_are_injected_in_turn() -> None:
    work = jobs(submit=[50, 90], procs=[2, 2], user=[3, 4])
    more = apply(work, "inject(arrivals=[60, 70.5, 80, 95], procs=1000)")
    assert more.procs.tolist() == [2, 2, 128, 256, 512, 128]
    assert seconds(more.runtime) == [10, 10, 600, 390, 240, 600]
    assert seconds(more.submit) == [50, 90, 60, 70.5, 80, 95]
    assert more.urgent.tolist() == [False, False, True, True, True, True]
    assert more.job.tolist() == [1, 2, 3, 4, 5, 6] and more.user.tolist() == [3, 4, -1, -1, -1, -1]
    assert more.ledger.total == 6
    # On a machine of 300 the widest is left out; all at once repeats the arrival.
    few = apply(work, "inject(arrivals=[60], procs=300, choose=all, stretch=2)")
    assert few.procs[2:].tolist() == [128, 256] and seconds(few.walltime[2:]) == [1200, 780]


def test_nobody_is_injected_before_the_clock_begins() -> None:
    with pytest.raises(UsageError, match=r"before 0.*-5"):
        apply(jobs(submit=[50]), "inject(arrivals=[7, -5], procs=1000)")


def test_injected_jobs_get_numbers_no_dropped_job_had() -> None:
    work = apply(jobs(submit=[0, 1, 2]), "first(1)")
    assert apply(work, "inject(jobs=[[1, 5]], arrivals=[3])").job.tolist() == [1, 4]


def test_urgent_by_queue_and_user_adds_up() -> None:
    work = jobs(submit=[0, 1, 2, 3], queue=[5, 6, 6, 6], user=[1, 1, 2, 3])
    marked = apply(work, "urgent(queues=[5])", "urgent(users=[2])")
    assert marked.urgent.tolist() == [True, False, True, False]


def test_a_file_is_shared_along_a_session() -> None:
    # Same user and width; gaps 300, 600, 1100 s: the window moves along, the last job is too late.
    work = jobs(submit=[0, 300, 900, 2000], procs=[5] * 4, user=[1] * 4)
    given = apply(work, "files")
    assert given.file.tolist() == [0, 0, 0, 1] and given.labels["file"] == ["f1", "f2"]
    assert given.file_gb.tolist() == [32.0] * 4  # 5 of 20 cores of a node of 128 GB
    assert given.needs_node_gb.tolist() == [128.0] * 4


def test_whose_next_job_ends_a_chain() -> None:
    # User 1, then user 2, then user 1 again, all within 800 s; then user 1 with another width.
    work = jobs(submit=[0, 10, 20, 30], procs=[4, 4, 4, 8], user=[1, 2, 1, 1])
    assert apply(work, "files(chain=log)").file.tolist() == [0, 1, 2, 3]
    assert apply(work, "files(chain=user)").file.tolist() == [0, 2, 0, 1]
    few = apply(work, "files(least=8)")
    assert few.file.tolist() == [-1, -1, -1, 0] and np.isnan(few.file_gb[0])


def test_files_draw_a_memory_class_each() -> None:
    work = jobs(submit=list(range(0, 3_000_000, 1000)), procs=[10] * 3000, user=[1] * 3000)
    given = apply(work, "files(memory=[128, 256, 1024], shares=[6, 3, 1], seed=2)")
    assert set(given.file_gb.tolist()) == {64.0, 128.0, 512.0}
    assert np.mean(given.needs_node_gb == 128) == pytest.approx(0.6, abs=0.05)
    assert np.mean(given.needs_node_gb == 1024) == pytest.approx(0.1, abs=0.03)


def test_the_swap_table_is_the_published_one() -> None:
    assert len(SWAP_TABLE) == 32 and {row[0] for row in SWAP_TABLE} == set("ABCD")
    good = [row for row in SWAP_TABLE if (row[0], row[1]) not in (("A", "LU"), ("C", "FT"))]
    size, time = np.array([row[2] for row in good]), np.array([row[3] for row in good])
    slope, offset = np.polyfit(size, time, 1)
    assert 1 / slope == pytest.approx(6071, abs=1) and offset == pytest.approx(0.0039, abs=1e-4)
    assert np.corrcoef(size, time)[0, 1] ** 2 == pytest.approx(0.997, abs=5e-4)
    assert (size.min(), size.max()) == (76.02, 5127.443)


def test_memory_from_the_log_and_its_swap_time() -> None:
    work = jobs(submit=[0, 1, 2, 3], memory_kb=[6144, -1, -1, 0], used_memory_kb=[1, 2048, -1, 10240])
    known = apply(work, "memory")
    assert known.memory_kb.tolist() == [6144, 2048, -1, 10240]
    assert apply(work, "memory(missing=median)").memory_kb.tolist() == [6144, 2048, 6144, 10240]
    # 6 MB at 6000 MB/s is 1 ms; 2 MB is 333.3 µs, rounded up.
    swapped = apply(known, "swap")
    assert swapped.swap.tolist() == [1000, 334, -1, 1667] and BANDWIDTH == 6000


def test_swaps_drawn_from_the_table_keep_size_and_time_together() -> None:
    work = apply(jobs(submit=list(range(500))), "swap(table, seed=3)")
    pairs = {(round(row[2] * 1024), round(row[3] * SECOND)) for row in SWAP_TABLE}
    assert set(zip(work.memory_kb.tolist(), work.swap.tolist(), strict=True)) <= pairs
    assert len(np.unique(work.swap)) > 20


def test_moldable_types_and_their_shares() -> None:
    work = jobs(submit=list(range(20_000)), procs=[4] * 19_999 + [1])
    shaped = apply(work, "moldable(seed=1)")
    for fraction, limit, share in ((0.8, 32, 0.5), (0.9, 96, 0.3), (0.99, 256, 0.15), (0.999, 650, 0.05)):
        chosen = shaped.parallel_fraction == fraction
        assert np.all(shaped.max_procs[chosen] == limit)
        assert chosen.mean() == pytest.approx(share, abs=0.02)
    assert np.isnan(shaped.parallel_fraction[-1]) and shaped.max_procs[-1] == -1


def test_local_jobs_stay_rigid() -> None:
    work = apply(
        jobs(submit=list(range(100)), procs=[4] * 100), "home([a, b])", "local(share=0.5)", "moldable"
    )
    assert np.array_equal(np.isnan(work.parallel_fraction), work.local)


def test_homes_are_where_jobs_fit() -> None:
    work = jobs(submit=list(range(2000)), procs=[200] * 1000 + [10] * 999 + [900])
    placed = apply(work, "home([small, large], sizes=[128, 640], seed=4)")
    assert np.all(placed.cluster[:1000] == 1) and placed.cluster[-1] == 1
    assert np.mean(placed.cluster[1000:1999] == 0) == pytest.approx(128 / 768, abs=0.05)
    assert placed.labels["cluster"] == ["small", "large"]


def test_merging_two_logs() -> None:
    one = jobs(submit=[100, 110], user=[5, -1], job=[1, 3])
    other = jobs(submit=[7, 12, 20], user=[5, 6, 5], deadline=[-1, 40, -1])
    both = merge(one, [apply(other, "first(2)")], names=["kth", "ctc"])
    # Each log starts at 0: submits 0, 10 and 0, 5; equal ones in the order of the logs.
    assert seconds(both.submit) == [0, 0, 5, 10] and both.cluster.tolist() == [0, 1, 1, 0]
    assert both.job.tolist() == [1, 4, 5, 3] and both.user.tolist() == [5, 6, 7, -1]
    assert seconds(both.deadline) == [-1, -1, 33, -1]
    assert both.labels["cluster"] == ["kth", "ctc"] and both.header.max_procs == 16
    assert both.ledger.total == 5 and both.ledger.dropped_jobs().tolist() == [6]
    assert both.ledger.rows()[0]["action"] == "ctc: after the first 2 jobs: left out"


def test_who_follows_a_job_follows_it_in_a_merged_log() -> None:
    """Job 3 of the second log comes 5 s after its job 2, which is job 10 of both; nobody waits for job 2."""
    one = jobs(submit=[0, 50], job=[2, 9])
    other = jobs(submit=[0, 20], job=[2, 3], preceding=[-1, 2], think_time=[-1, 5])
    for log in (other, apply(other, "feedback(by=fields)")):
        both = merge(one, [log], names=["x", "y"])
        assert both.job.tolist() == [2, 10, 11, 9] and both.preceding.tolist() == [-1, -1, 10, -1]
    assert both.follows.tolist() == [-1, -1, 10, -1]
    assert apply(merge(one, [other], names=["x", "y"]), "feedback(by=fields)").follows.tolist() == [
        -1,
        -1,
        10,
        -1,
    ]


@pytest.mark.parametrize(
    ("change", "submit", "eligible"),
    [
        ("window(from=100)", [0, 50], [0, 80]),
        ("window(from=150)", [0], [30]),
        ("from_zero", [0, 50], [0, 80]),
        ("load(factor=2)", [100, 125], [100, 155]),
    ],
)
def test_when_a_job_may_start_moves_with_its_submission(
    change: str, submit: list[int], eligible: list[int]
) -> None:
    """Columns of Slurm's logs: the second job was held for 30 s after its submission."""
    log = jobs(submit=[100, 150]).with_columns(
        eligible=np.array([100, 180]) * SECOND, recorded_start=np.array([-1, 190]) * SECOND
    )
    changed = apply(log, change)
    assert seconds(changed.submit) == submit and seconds(changed.eligible) == eligible
    ran = changed.recorded_start >= 0
    assert ((changed.recorded_start - changed.submit)[ran] == 40 * SECOND).all() and ran.sum() == 1


def test_merging_by_the_clock() -> None:
    one, other = jobs(submit=[0, 10]), jobs(submit=[0])
    later = Workload(
        other.columns, header=Header(["; UnixStartTime: 1004"]), ledger=other.ledger, source=other.source
    )
    both = merge(later, [one], names=["b", "a"], align="clock")
    assert seconds(both.submit) == [0, 4, 10] and both.header.get("UnixStartTime") == "1000"
    assert both.cluster.tolist() == [1, 0, 1] and both.header.max_procs is None
    nowhere = Workload.from_arrays(unit="s", submit=[1], procs=[1], runtime=[1])
    with pytest.raises(UsageError, match="UnixStartTime in every log"):
        merge(one, [nowhere], names=["a", "b"], align="clock")


def test_merging_logs_with_names() -> None:
    one = jobs(submit=[0, 1], user=[0, 1]).with_labels(user=["ann", "bob"])
    other = jobs(submit=[2], user=[12])
    both = merge(one, [other], names=["x", "y"])
    assert [both.labels["user"][code] for code in both.user.tolist()] == ["x/ann", "y/12", "x/bob"]


@pytest.mark.parametrize("chain", ["log", "user"])
def test_jobs_of_unknown_users_share_no_files(chain: str) -> None:
    """Nobody knows that they are of one user."""
    log = Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3], procs=[5] * 4, runtime=[9] * 4, user=[-1, -1, 7, 7]
    )
    assert apply(log, f"files(chain={chain})").file.tolist() == [0, 1, 2, 2]


def test_merging_reads_files(tmp_path: Path) -> None:
    log = tmp_path / "ctc.swf"
    log.write_text("; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1\n")
    both = apply(jobs(submit=[5]), f'merge(with=["{log}"])')
    assert both.labels["cluster"] == ["log1", "ctc"] and both.procs.tolist() == [1, 2]


def test_shaking_keeps_whole_seconds_order_of_lines_and_kills() -> None:
    work = jobs(submit=[0, 100, 200], runtime=[100, 200, 0], walltime=[100, 50, 10])
    shaken = apply(work, "shake(arrivals=20, runtimes=0.5, seed=1)")
    assert shaken.job.tolist() == [1, 2, 3] and np.all(shaken.submit % SECOND == 0)
    assert np.all(np.abs(shaken.submit - work.submit) <= 20 * SECOND) and shaken.submit.min() >= 0
    # Within the walltime before, and within it now; beyond it before, and beyond it now; zero stays zero.
    assert shaken.runtime[0] <= shaken.walltime[0] and shaken.runtime[1] > shaken.walltime[1]
    assert shaken.runtime[2] == 0
    assert np.any(shaken.submit != work.submit)
    many = jobs(submit=[0] * 50, runtime=[101] * 50, walltime=[100] * 50)
    past = apply(many, "shake(runtimes=0.5)").runtime
    assert past.min() == 101 * SECOND and np.all(past % SECOND == 0)


def test_a_limit_shortens_requests_and_says_who_is_killed() -> None:
    work = Workload.from_arrays(
        unit="s", submit=[0, 0, 0], procs=[1, 1, 1], runtime=[5, 50, 200], walltime=[10, 100, 300]
    )
    limited = apply(work, "limit(walltime=1min)")
    assert seconds(limited.walltime) == [10, 60, 60] and seconds(limited.runtime) == [5, 50, 200]
    told = {entry.action: entry.jobs for entry in limited.ledger if entry.rule == "limit"}
    assert told == {
        "asks for more than 60 s: asks for that": (2,),
        "runs longer than 60 s: is killed there": (3,),
    }
    left = apply(work, "limit(walltime=60, longer=drop)")
    assert left.job.tolist() == [1, 2] and left.ledger.dropped == 1
    # A job that is killed at its own shorter request never comes to the limit.
    beyond = Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[90], walltime=[50])
    for longer in ("kill", "drop"):
        same = apply(beyond, f"limit(walltime=60, longer={longer})")
        assert seconds(same.walltime) == [50] and not list(same.ledger)
    with pytest.raises(UsageError, match="walltime must be above 0"):
        apply(work, "limit(walltime=0)")


def test_a_merge_keeps_what_slurm_knew_of_jobs_under_their_new_numbers() -> None:
    """Dependencies and arrays name jobs by number; QOS and accounts are those of their site."""

    def slurm(submit: list[int], depends: str, qos: str) -> Workload:
        asked = {"dependency": [-1, 0], "array": [-1, 2], "constraint": [0, -1], "qos": [0, 0]}
        columns: dict[str, Any] = {name: np.array(values) for name, values in asked.items()}
        columns |= {"procs": np.ones(2, int), "runtime": np.full(2, 5), "walltime": np.full(2, 9)}
        made = Workload.from_arrays(unit="s", submit=submit, **columns)
        return made.with_labels(dependency=[depends], constraint=["rome"], qos=[qos])

    one, other = slurm([0, 2], "afterok:1", "high"), slurm([1, 3], "afterany:1+5?singleton", "low")
    both = merge(one, [other], names=["x", "y"])
    assert both.job.tolist() == [1, 3, 2, 4] and both.columns["array"].tolist() == [-1, -1, 2, 4]

    def names(column: str) -> list[str]:
        return [both.name_of(column, code, unknown="") for code in both.columns[column].tolist()]

    assert names("dependency") == ["", "", "afterok:1", "afterany:3+5?singleton"]
    assert names("constraint") == ["rome", "rome", "", ""] and both.labels["constraint"] == ["rome"]
    assert names("qos") == ["x/high", "y/low", "x/high", "y/low"]
