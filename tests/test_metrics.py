"""Metrics against hand-worked schedules and a naive computation in plain Python."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway import Schedule
from headway.errors import PolicyError, UsageError
from headway.metrics import METRICS, busy_processors, compare, queue_length, summarise
from headway.metrics.catalogue import BY_NAME, STRETCH, meaning_of, unit_of
from headway.metrics.statistics import BLOCK, exact_sum, mean_time, quantile, total
from headway.platform import Cluster, NodeGroup, Platform
from headway.workload.divisions import size_class
from small_schedules import Job, fcfs_starts, preempted, schedule, workload

# Three jobs on 4 processors:
#   job 1  submit 0   2 procs  runs 0-10                                wait 0   response 10
#   job 2  submit 0   4 procs  runs 10-30, killed (needs 50, walltime 20)  wait 10  response 30
#   job 3  submit 5   1 proc   zero length at 30                        wait 25  response 25
GOLDEN: list[Job] = [(0, 2, 10, 40), (0, 4, 50, 20), (5, 1, 0, 10)]


def golden(**more: Any) -> Schedule:
    return schedule(GOLDEN, [0, 10, 30], 4, columns={"user": [7, 8, 7], "queue": [1, 1, 2]}, **more)


def test_every_number_of_a_schedule_worked_by_hand() -> None:
    summary = golden().summary(tau=10)
    assert summary["jobs"] == 3
    assert summary["dropped"] == 0
    assert summary["makespan"] == 30
    assert summary["utilization"] == (2 * 10 + 4 * 20 + 0) / (4 * 30)
    assert summary["wasted_area"] == summary["swap_area"] == summary["load_area"] == 0
    assert summary["mean_wait"] == 35 / 3
    assert summary["median_wait"] == 10
    assert summary["p95_wait"] == 10 + 0.9 * 15  # place 0.95 * 2 = 1.9 among 0, 10, 25
    assert summary["max_wait"] == 25
    assert summary["mean_response"] == 65 / 3
    # 10/10 and 30/20, the killed job with its walltime; job 3 has no slowdown.
    assert summary["mean_slowdown"] == 1.25
    assert summary["slowdown_excluded"] == 1
    # Bounded at 10 s: 1, 1.5, 25/10.
    assert summary["mean_bsld"] == 5 / 3
    assert summary["median_bsld"] == 1.5
    assert summary["max_bsld"] == 2.5
    # Per processor: max(10/20, 1), max(30/80, 1), max(25/10, 1).
    assert summary["mean_pp_bsld"] == 1.5
    # (0 + 40)/40, (10 + 20)/20, (25 + 10)/10.
    assert summary["mean_walltime_slowdown"] == 2
    assert summary["tau"] == 10
    assert summary["killed"] == 1
    # 0-5 job 2 waits, 5-10 jobs 2 and 3, 10-30 job 3: (5 + 10 + 20)/30.
    assert summary["mean_queue"] == 35 / 30
    assert summary["max_queue"] == 2


def test_tau_is_a_choice() -> None:
    # Bounded at 60 s nobody exceeds 1; at 1 s job 3 has 25/1.
    assert golden().summary(tau=60)["max_bsld"] == 1
    assert golden().summary(tau=1)["max_bsld"] == 25
    assert golden().summary(tau=0.5)["tau"] == 0.5
    assert math.isfinite(golden().summary(tau=0)["max_bsld"])


def test_classes_of_jobs_worked_by_hand() -> None:
    summary = golden().summary()
    assert [(row["size"], row["jobs"]) for row in summary["by_size"]] == [("1", 1), ("2", 1), ("3-4", 1)]
    assert summary["by_user"] == [
        {
            **{"user": 7, "jobs": 2, "mean_wait": 12.5, "mean_response": 17.5, "mean_bsld": 1.75},
            **{"max_bsld": 2.5, "area": 20.0, "killed": 0},
        },
        {
            **{"user": 8, "jobs": 1, "mean_wait": 10.0, "mean_response": 30.0, "mean_bsld": 1.5},
            **{"max_bsld": 1.5, "area": 80.0, "killed": 1},
        },
    ]
    assert [(row["queue"], row["jobs"], row["killed"]) for row in summary["by_queue"]] == [
        (1, 2, 1),
        (2, 1, 0),
    ]


def test_fairness_is_the_spread_of_the_users_means() -> None:
    # Users' means 1.75 and 1.5: mean 1.625, each 0.125 away; the worst against the median 1.625.
    fairness = golden().summary()["fairness"]
    assert fairness == {
        "users": 2,
        "mean": 1.625,
        "std": 0.125,
        "cv": pytest.approx(0.125 / 1.625),
        "max_over_median": pytest.approx(1.75 / 1.625),
    }


def test_unknown_users_are_no_user() -> None:
    unknown = schedule(GOLDEN, [0, 10, 30], 4, columns={"user": [7, -1, -1]}).summary()
    assert unknown["fairness"]["users"] == 1
    assert [row["user"] for row in unknown["by_user"]] == [-1, 7]
    assert schedule(GOLDEN, [0, 10, 30], 4).summary()["fairness"]["std"] is None


def test_users_with_names_are_told_by_name_in_alphabetical_order() -> None:
    columns = {"user": [1, 0, -1], "labels": {"user": ["zoe", "adam"]}}
    rows = schedule(GOLDEN, [0, 10, 30], 4, columns=columns).summary()["by_user"]
    assert [row["user"] for row in rows] == [None, "adam", "zoe"]


@pytest.mark.parametrize(("power", "name"), [(0, "1"), (1, "2"), (2, "3-4"), (3, "5-8"), (10, "513-1024")])
def test_size_classes(power: int, name: str) -> None:
    assert size_class(power) == name


@pytest.mark.parametrize(
    ("size", "name"),
    [(1, "1"), (2, "2"), (3, "3-4"), (4, "3-4"), (5, "5-8"), (1024, "513-1024"), (1025, "1025-2048")],
)
def test_sizes_fall_into_their_class(size: int, name: str) -> None:
    assert schedule([(0, size, 1, 1)], [0], 2048).summary()["by_size"][0]["size"] == name


def test_no_jobs_give_nulls_and_no_crash() -> None:
    summary = schedule([], [], 4).summary()
    assert (summary["jobs"], summary["killed"], summary["max_queue"]) == (0, 0, 0)
    nulls = {name for name, value in summary.items() if value is None}
    assert nulls == {
        *("makespan", "utilization", "mean_wait", "median_wait", "p95_wait", "max_wait", "mean_response"),
        *("mean_slowdown", "mean_bsld", "median_bsld", "max_bsld", "mean_pp_bsld"),
        *("mean_walltime_slowdown", "mean_queue"),
    }
    assert summary["by_size"] == summary["by_user"] == summary["by_queue"] == []
    json.dumps(summary, allow_nan=False)


def test_a_makespan_of_zero_has_no_utilization() -> None:
    summary = schedule([(3, 1, 0, 5)], [3], 4).summary()
    assert summary["makespan"] == 0
    assert summary["utilization"] is None
    assert summary["mean_slowdown"] is None
    json.dumps(summary, allow_nan=False)


def test_the_policy_s_own_numbers_are_added_and_may_not_hide_a_metric() -> None:
    assert golden(own={"redirections": 3}).summary()["redirections"] == 3
    with pytest.raises(PolicyError, match="'jobs'"):
        golden(own={"jobs": 3}).summary()


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(UsageError, match="tau"):
        golden().summary(tau=-1)
    with pytest.raises(UsageError, match=r"tau must be a number of seconds from 0 to [0-9,]+, not 'x'"):
        golden().summary(tau="x")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="trim"):
        golden().summary(trim=50)


def test_trimming_leaves_out_the_first_and_last_by_submission() -> None:
    jobs: list[Job] = [
        (10 * place, 1, 5, 5) for place in (9, 0, 1, 2, 3, 4, 5, 6, 7, 8)
    ]  # file order differs
    starts = [job[0] + place for place, job in enumerate(jobs)]
    whole = schedule(jobs, starts, 4)
    trimmed = whole.summary(trim=10)
    # Left out: the first of the file (submitted last, waited 0), the second (submitted first, waited 1).
    assert trimmed["jobs"] == 8
    assert trimmed["mean_wait"] == sum(range(2, 10)) / 8
    assert trimmed["trim"] == 10
    assert trimmed["makespan"] == whole.summary()["makespan"]
    assert whole.summary()["mean_wait"] == 4.5


def test_areas_of_suspended_and_restarted_jobs() -> None:
    summary = preempted().summary()
    assert summary["wasted_area"] == 1 * 2
    assert summary["swap_area"] == 2 * (1 + 1)
    assert summary["load_area"] == 1 * 2
    assert summary["utilization"] == (2 * 10 + 1 * 3 + 1 * (2 + 6)) / (2 * 26)
    # Waiting: job 3 from 0 to 15 and again from 17 to 18; the suspended job 1 does not wait in the queue.
    assert summary["mean_queue"] == 16 / 26


def test_utilization_of_each_group() -> None:
    made = golden(
        group=np.array([0, 0, 1]),
        groups={"principal": 4, "redirection": 2},
        labels={"group": ["principal", "redirection"]},
    )
    rows = {row["group"]: row for row in made.summary()["by_group"]}
    assert rows["principal"]["utilization"] == 100 / (4 * 30)
    assert rows["redirection"]["utilization"] == 0
    assert rows["redirection"]["processors"] == 2
    assert made.summary()["utilization"] == 100 / (6 * 30)


def test_the_stretch_counts_the_load_of_the_file_alone() -> None:
    platform = Platform((Cluster("c", nodes=(NodeGroup(1, 4), NodeGroup(1, 4, 128.0, 0.5))),))
    base = schedule([(0, 1, 10, 99), (0, 1, 10, 99)], [0, 10], 4, columns={"file_gb": [3.0, 5.0]})
    made = Schedule(
        *(base.workload, platform, "", base.start, base.end, base.why, base.killed), node=np.array([0, 1])
    )
    # Node 0 loads in no time: 10/10. Node 1 has 0.5 GB/s: 20/(10 + 5/0.5).
    assert made.summary()["mean_stretch"] == 1.0
    assert "mean_stretch" not in golden().summary()


def test_queue_and_busy_processors_over_time() -> None:
    busy = busy_processors(golden())
    assert (busy.times / 1e6).tolist() == [0, 10, 30]
    assert busy.values.tolist() == [2, 4, 0]
    queue = queue_length(golden())
    assert (queue.times / 1e6).tolist() == [0, 5, 10, 30]
    assert queue.values.tolist() == [1, 2, 1, 0]
    assert [queue.at(round(t * 1e6)) for t in (-1, 0, 5, 9.5, 29, 30, 99)] == [0, 1, 2, 2, 1, 0, 0]
    assert busy_processors(preempted()).at(6_000_000) == 1  # job 2 alone: the suspended job holds nothing


def test_means_on_a_regular_grid() -> None:
    begin, values = busy_processors(golden()).on_grid(step=20_000_000)
    assert (begin / 1e6).tolist() == [0, 20]
    assert values.tolist() == [(2 * 10 + 4 * 10) / 20, 4 * 10 / 20]
    begin, values = queue_length(golden()).on_grid()  # hourly
    assert begin.tolist() == [0]
    assert values.tolist() == [pytest.approx(35 / 3600)]
    assert queue_length(schedule([], [], 4)).on_grid()[0].tolist() == []


def test_the_catalogue_describes_every_number() -> None:
    summary = golden().summary()
    numbers = [name for name, value in summary.items() if isinstance(value, int | float)]
    assert numbers == [metric.name for metric in METRICS]
    assert all(metric.formula and metric.unit for metric in (*METRICS, STRETCH))
    assert len(BY_NAME) == len(METRICS) + 1


def test_sums_do_not_overflow() -> None:
    century = 100 * 365 * 86400 * 1_000_000
    waits = np.full(10_000, century, dtype=np.int64)
    assert total(waits) == 10_000 * century > 2**63
    assert mean_time(waits) == century / 1_000_000


JOBS = st.lists(
    st.tuples(
        st.integers(0, 50).map(float),
        st.integers(1, 4),
        st.sampled_from([0.0, 0.25, 1.0, 7.0, 30.0]),
        st.sampled_from([0.0, 1.0, 7.0, 40.0]),
    ),
    min_size=1,
    max_size=12,
)


@given(jobs=JOBS, tau=st.sampled_from([1.0, 10.0, 60.0]))
def test_summaries_equal_a_naive_computation(jobs: list[Job], tau: float) -> None:
    starts = fcfs_starts(jobs, 4)
    summary = summarise(schedule(jobs, starts, 4), tau=tau)
    runs = [min(runtime, walltime) for _, _, runtime, walltime in jobs]
    waits = [start - job[0] for start, job in zip(starts, jobs, strict=True)]
    flows = [wait + run for wait, run in zip(waits, runs, strict=True)]
    span = max(start + run for start, run in zip(starts, runs, strict=True)) - min(job[0] for job in jobs)
    bounded = [max(flow / max(run, tau), 1) for flow, run in zip(flows, runs, strict=True)]
    slow = [flow / run for flow, run in zip(flows, runs, strict=True) if run > 0]
    area = sum(job[1] * run for job, run in zip(jobs, runs, strict=True))
    assert summary["makespan"] == span
    assert summary["utilization"] == (area / (4 * span) if span else None)
    assert summary["mean_wait"] == pytest.approx(statistics.mean(waits))
    assert summary["median_wait"] == pytest.approx(statistics.median(waits))
    assert summary["max_wait"] == max(waits)
    assert summary["mean_response"] == pytest.approx(statistics.mean(flows))
    assert summary["mean_slowdown"] == (pytest.approx(statistics.mean(slow)) if slow else None)
    assert summary["mean_bsld"] == math.fsum(bounded) / len(bounded)  # in whatever order
    assert summary["median_bsld"] == pytest.approx(statistics.median(bounded))
    assert summary["max_bsld"] == max(bounded)
    assert summary["killed"] == sum(job[2] > job[3] for job in jobs)
    assert sum(row["jobs"] for row in summary["by_size"]) == len(jobs)
    assert sum(row["area"] for row in summary["by_size"]) == pytest.approx(area)
    instants = {t for job, start in zip(jobs, starts, strict=True) for t in (job[0], start)}
    queued = [sum(job[0] <= t < start for job, start in zip(jobs, starts, strict=True)) for t in instants]
    assert summary["max_queue"] == max(queued)
    json.dumps(summary, allow_nan=False)


@given(jobs=JOBS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_file_changes_no_number(jobs: list[Job], order: random.Random) -> None:
    starts = fcfs_starts(jobs, 4)
    pairs = list(zip(jobs, starts, strict=True))
    order.shuffle(pairs)
    mixed = schedule([job for job, _ in pairs], [start for _, start in pairs], 4).summary()
    for name in BY_NAME:
        if name in mixed:
            assert mixed[name] == schedule(jobs, starts, 4).summary()[name], name


def test_comparisons_measure_against_the_first() -> None:
    fast = schedule(GOLDEN, [0, 10, 30], 4, policy="easy(order=fcfs)")
    slow = schedule(GOLDEN, [0, 20, 40], 4, policy="mine(k=3)")
    comparison = compare([fast, slow])
    assert comparison.names == ("easy", "mine(k=3)")
    rows = {row.metric: row for row in comparison.rows()}
    assert rows["max_wait"].values == (25, 35)
    assert rows["max_wait"].change == (None, 0.4)
    assert rows["max_wait"].verdict == ("", "worse")
    assert rows["utilization"].verdict == ("", "worse")  # higher is better
    assert rows["killed"].verdict == ("", "")
    assert rows["wasted_area"].verdict == ("", "same")
    assert rows["wasted_area"].change == (None, None)
    assert rows["mean_wait"].unit == "s"
    assert comparison.same_jobs
    assert comparison.frame()["max_wait"].to_list() == [25, 35]


def test_a_run_with_a_job_twice_is_not_compared() -> None:
    sound, doubled = (
        schedule([(0, 1, 2, 5)] * 2, [0, 0], 2, policy="fcfs", columns={"job": [7, b]}) for b in (8, 7)
    )
    for schedules in ([doubled], [sound, doubled], [doubled, sound]):
        with pytest.raises(UsageError, match=r"has job 7 more than once; .* 'headway audit'"):
            compare(schedules)


def test_comparisons_of_different_jobs_say_so() -> None:
    fewer = schedule(GOLDEN[:2], [0, 10], 4, policy="easy", own={"moves": 2})
    comparison = compare([fewer, schedule(GOLDEN, [0, 10, 30], 8, policy="easy")])
    assert not comparison.same_jobs
    assert comparison.names == ("easy on 4", "easy on 8")
    rows = {row.metric: row for row in comparison.rows()}
    assert rows["moves"].values == (2, None)
    assert rows["moves"].unit == "times"
    with pytest.raises(UsageError, match="nothing to compare"):
        compare([])


def test_comparison_files(tmp_path: Path) -> None:
    compare([golden(own={"moves": 2}), golden()]).write(tmp_path)
    header, first, second = (tmp_path / "comparison.csv").read_text().splitlines()
    assert header.startswith("policy,processors,jobs,dropped,makespan,")
    assert header.endswith(",moves")
    assert first.startswith(",4,3,0,30,")
    assert (first[-2:], second[-1:]) == (",2", ",")
    document = json.loads((tmp_path / "comparison.json").read_text())
    assert [entry["processors"] for entry in document["schedules"]] == [4, 4]
    assert document["schedules"][0]["summary"]["max_wait"] == 25


@pytest.mark.parametrize("jobs", [0, 1, 999, 1000, 20_000, BLOCK + 1500])
@pytest.mark.parametrize("digits", [0, 3, 20, 300])
def test_sums_are_those_of_unlimited_digits(jobs: int, digits: int) -> None:
    draw = np.random.default_rng([jobs, digits])
    values = draw.normal(0, 1, jobs) * 10.0 ** draw.integers(-digits, digits + 1, jobs)
    for terms in (values, np.abs(values), np.concatenate([values, -values[::-1], values[:1]])):
        assert exact_sum(terms) == math.fsum(terms.tolist())


@given(
    st.lists(st.integers(0, 2**62), min_size=1, max_size=30),
    st.sampled_from([0, 5, 33.3, 50, 95, 99.9, 100]),
)
def test_quantiles_are_numpys(values: list[int], percent: float) -> None:
    for array in (np.array(values, np.int64), np.array(values, np.float64) / 3):
        assert quantile(array, percent) == float(np.percentile(array, percent))


def test_every_number_that_a_policy_or_kind_of_job_adds_has_a_unit_and_a_meaning() -> None:
    due = {"deadline": [10, 21, 24, -1], "urgent": [0, 1, 0, 1]}
    jobs = [(0.0, 2, 10.0, 12.0), (1.0, 4, 10.0, 10.0), (2.0, 2, 5.0, 8.0), (3.0, 1, 20.0, 20.0)]
    summary = summarise(schedule(jobs, [0.0, 10.0, 20.0, 20.0], 4, "easy", due))
    log = workload(jobs, **due)
    for policy in ("dbf", "ujfb(swap=1)", "redirection(theta=1)"):
        summary |= headway.simulate(log, 4, policy).summary()
    numbers = [name for name, value in summary.items() if value is None or isinstance(value, int | float)]
    assert [name for name in numbers if not (unit_of(name) and meaning_of(name))] == []
    assert {"safety_net", "swap_assumed", "redirections", "urgent_margin_mean"} <= set(numbers)


ADDED = """
import sys
from importlib.machinery import SourceFileLoader
from types import SimpleNamespace

LINE = b'''    Metric("mean_run", "s", "mean of run", lambda s: s.run, by=MEAN_TIME),\\n'''
HEAD = b"METRICS: tuple[Metric, ...] = (\\n"
read, stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

def edited(self, path):
    data = read(self, path)
    if path.endswith("metrics/catalogue.py"):
        assert data.count(HEAD) == 1
        data = data.replace(HEAD, HEAD + LINE)
    return data

def not_cached(self, path):
    if path.endswith("metrics/catalogue.py"):
        raise OSError
    return stats(self, path)

SourceFileLoader.get_data, SourceFileLoader.path_stats = edited, not_cached
import headway
from headway.campaign import measure
from headway.streams import simulate_stream

log = headway.read("log.swf")
expected = log.runtime.mean() / 1e6
measure.kernels = SimpleNamespace(INTERPRETED=False)  # plain simulations are measured by one pass
rows = headway.Campaign("log.swf", "fcfs", platforms=8).run("out", workers=1, processes=False).frame
found = [
    headway.simulate(log, 8, "fcfs").summary()["mean_run"],
    simulate_stream("log.swf", 8, "fcfs").summary["mean_run"],
    rows["mean_run"][0],
]
assert found == [expected] * 3, (found, expected)
assert rows["mean_wait"][0] == headway.simulate(log, 8, "fcfs").summary()["mean_wait"]
"""


def test_a_metric_that_is_added_is_in_runs_streams_and_campaigns(tmp_path: Path) -> None:
    """As the page for contributors says: one more line in the list."""
    submits = "".join(
        f"{job} {job * 7} -1 {job * 5} 2 -1 -1 2 99 -1 1 1 1 -1 1 -1 -1 -1\n" for job in range(1, 9)
    )
    (tmp_path / "log.swf").write_text("; MaxProcs: 8\n" + submits)
    done = subprocess.run(
        [sys.executable, "-c", ADDED], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
