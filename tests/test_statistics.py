from __future__ import annotations

import io

import pytest

from headway.workload import Workload, read
from headway.workload.statistics import describe
from headway.workload.transform import offered_load


def workload() -> Workload:
    return Workload.from_arrays(
        unit="s",
        submit=[0, 10, 10, 100],
        procs=[1, 2, 3, 8],
        runtime=[10, 20, 0, 50],
        walltime=[10, 100, 10, 40],
        user=[1, 1, 2, -1],
    )


def test_facts_by_hand() -> None:
    facts = describe(workload(), 8)["facts"]
    # 10*1 + 20*2 + 0*3 + 50*8 = 450 processor-seconds, offered in 100 s to 8 processors.
    assert facts["offered load"][0] == pytest.approx(450 / 800)
    assert facts["jobs"] == (4, "")
    assert facts["users"][0] == 2  # -1 is nobody
    assert facts["span of the submissions"] == (100.0, "s")
    assert facts["jobs per day"][0] == pytest.approx(4 * 864)
    assert facts["mean processors"][0] == 3.5
    assert facts["share of serial jobs"][0] == 0.25
    assert facts["median run time"][0] == 15.0
    assert facts["run time exactly as requested"][0] == 0.25
    assert facts["run time beyond the request"][0] == 0.25


def test_a_run_time_that_stands_for_a_missing_request_is_none() -> None:
    """Job 1 asked for 20 s and ran 10 s, job 2 asked for 10 s and took them; of job 3 nobody knows."""
    line = "{0} 0 -1 {1} 1 -1 -1 1 {2} -1 1 1 1 -1 1 -1 -1 -1\n"
    jobs = [(1, 10, 20), (2, 10, 10), (3, 70, -1)]
    described = describe(read(io.BytesIO("".join(line.format(*job) for job in jobs).encode())), 8)
    facts = described["facts"]
    assert facts["jobs without a request"][0] == 1 and facts["median request"] == (15.0, "s")
    assert facts["run time exactly as requested"][0] == 0.5
    assert sorted(described["requests"]) == [(10.0, 1), (20.0, 1)]
    assert sum(dict(described["accuracy"]).values()) == 2
    nobody = describe(read(io.BytesIO(line.format(3, 70, -1).encode())), 8)["facts"]
    assert nobody["median request"][0] is None and nobody["run time exactly as requested"][0] is None


def test_load_over_time_holds_all_the_work() -> None:
    load = describe(workload(), 8)["load_over_time"]
    assert sum(load["values"]) * load["step"] * 8 == pytest.approx(450)
    assert load["values"][-1] == pytest.approx(400 / (8 * load["step"]))


def test_sizes_are_classes_up_to_powers_of_two() -> None:
    assert describe(workload(), 8)["sizes"] == [("1", 1), ("2", 1), ("3-4", 1), ("5-8", 1)]


def test_every_job_with_a_request_is_in_one_class_of_accuracy() -> None:
    accuracy = dict(describe(workload(), 8)["accuracy"])
    assert accuracy["0% to 10%"] == 1
    assert accuracy["20% to 30%"] == 1
    assert accuracy["100%"] == 1
    assert accuracy["beyond"] == 1
    assert sum(accuracy.values()) == 4


def test_without_a_machine_or_without_jobs_there_is_no_load() -> None:
    assert describe(workload(), None)["facts"]["offered load"][0] is None
    nothing = Workload.from_arrays(unit="s", submit=[], procs=[], runtime=[])
    described = describe(nothing, 8)
    assert described["facts"]["jobs"] == (0, "")
    assert described["load_over_time"]["values"] == []
    assert described["sizes"] == []


def test_load_within_the_requests() -> None:
    """Runs of 40 and 30 s on 2 processors, asked for 20 and 60: 100 or 140 processor-seconds of 8 x 10."""
    log = Workload.from_arrays(unit="s", submit=[0, 10], procs=[2, 2], runtime=[40, 30], walltime=[20, 60])
    facts = describe(log, 8)["facts"]
    assert facts["offered load"][0] == pytest.approx(140 / 80)
    assert facts["of it within the requests"][0] == pytest.approx(100 / 80) == offered_load(log, 8)
    kept = log.with_columns(walltime=log.runtime)
    assert "of it within the requests" not in describe(kept, 8)["facts"]
