"""Jobs that were cancelled while they waited: Slurm plans around them until then, and so does a simulation.

Sites and logs are small enough to be worked out by hand: nodes n1 to n4 have four CPUs each, jobs take whole
nodes, and nothing delays the controller. Times are seconds after the first submission.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import headway
from headway.changes import jobs_changes
from headway.site.model import Association, Limits
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.read import read_requests
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts

HOUR = 3600
WAITED, SOONER = "waited until its user cancelled it", "started sooner"


def after(*seconds: int) -> list[int]:
    """When jobs were cancelled, in seconds after their submission; 0: they were not."""
    return [one or -1 for one in seconds]


def dropped(workload: Workload, text: str) -> int:
    return sum(entry.count for entry in workload.ledger if entry.dropped and text in entry.action)


def test_a_wide_job_keeps_others_back_until_it_is_cancelled() -> None:
    """Job 2 wants all nodes when job 1 has ended by its limit; job 3 would be in its way."""
    jobs = [(0, 2, 60, 50), (10, 4, 600, 0), (20, 2, 120, 10)]
    first, last = starts(log(*jobs, cancelled_after=after(0, 1200, 0)), site())
    assert first < MINUTE and 1210 <= last <= 1210 + MINUTE
    assert starts(log(jobs[0], jobs[2]), site())[1] < 20 + MINUTE


def test_what_never_ran_is_in_no_schedule() -> None:
    jobs = log((0, 4, 60, 50), (10, 4, 600, 0), (20, 4, 120, 10), cancelled_after=after(0, 1200, 0))
    schedule = simulated(jobs, site())
    assert schedule.workload.job.tolist() == [1, 3]
    assert dropped(schedule.workload, WAITED) == 1
    assert headway.audit(schedule).ok


def test_a_job_that_starts_sooner_than_it_was_cancelled_ends_then_and_is_in_no_number() -> None:
    """Job 1 found no nodes back then. Here it takes all of them until its user cancels it."""
    jobs = log((0, 4, 60, 0), (10, 4, 30, 10), cancelled_after=after(1200, 0))
    schedule = simulated(jobs, site())
    assert schedule.workload.job.tolist() == [2] and dropped(schedule.workload, SOONER) == 1
    assert 1200 <= schedule.start[0] // SECOND <= 1200 + MINUTE
    assert headway.audit(schedule).ok


@pytest.mark.parametrize("policy", ["easy(nodes=shared)", "conservative(nodes=whole)", "easy"])
def test_other_policies_leave_out_who_was_cancelled(policy: str) -> None:
    """Job 1 never ran; it takes no node from job 2."""
    jobs = log((0, 4, 60, 0), (10, 4, 30, 10), cancelled_after=after(1200, 0))
    schedule = headway.simulate(jobs, site().platform(), policy)
    assert schedule.workload.job.tolist() == [2] and schedule.start.tolist() == [10 * SECOND]
    assert dropped(schedule.workload, "cancelled before it ran") == 1


def test_a_job_that_starts_sooner_ends_at_its_limit() -> None:
    jobs = log((0, 4, 10, 0), (10, 4, 30, 10), cancelled_after=after(HOUR, 0))
    (second,) = starts(jobs, site())
    assert 600 <= second <= 600 + 2 * MINUTE


def test_cancelling_asks_for_no_pass() -> None:
    """Where backfill sleeps, the next full pass sees that a job is gone, whenever in its minute that was."""
    quiet = site(scheduler={"bf_interval": "36000"})
    found = {
        starts(
            log((0, 2, 60, 50), (10, 4, 600, 0), (20, 2, 120, 10), cancelled_after=after(0, at, 0)), quiet
        )[1]
        for at in range(1200, 1250, 10)
    }
    assert len(found) <= 2


@pytest.mark.parametrize(
    ("kind", "runs"), [("after", True), ("afterany", True), ("afterok", False), ("afternotok", True)]
)
def test_a_cancelled_job_is_over_for_those_who_wait_for_it(kind: str, runs: bool) -> None:
    jobs = log(
        (0, 4, 30, 30), (10, 4, 60, 0), (20, 1, 30, 10),
        cancelled_after=after(0, 900, 0), dependency=["", "", f"{kind}:2"], status=[1, 5, 1],
    )  # fmt: skip
    schedule = simulated(jobs, site())
    assert schedule.workload.job.tolist() == ([1, 3] if runs else [1])
    if runs:
        assert 1800 <= schedule.start[1] // SECOND <= 1800 + MINUTE  # when the nodes are free


@pytest.mark.parametrize("held", [0, 1])
def test_a_job_that_was_never_eligible_keeps_nobody_back(held: int) -> None:
    """Held, or waiting for something that the log does not tell."""
    jobs = log(
        (0, 2, 60, 50), (10, 4, 600, 0), (20, 2, 120, 10),
        cancelled_after=after(0, 1200, 0), eligible=[0, -1, 20], held=[0, held, 0],
    )  # fmt: skip
    assert starts(jobs, site())[1] < 20 + MINUTE


def test_a_waiting_job_counts_as_submitted_until_it_is_cancelled() -> None:
    """MaxSubmitJobs=1: job 3 comes while job 2 waits, job 4 when that is gone."""
    users = Association("root"), Association("chem", "ann", parent=0, limits=Limits(max_submit=1))
    limited = site({"AccountingStorageEnforce": "limits"}, associations=users)
    jobs = log(
        (0, 4, 60, 50), (10, 4, 60, 0), (20, 1, 30, 10), (1300, 1, 30, 10),
        user=["bob", "ann", "ann", "ann"], account=["chem"] * 4, cancelled_after=after(0, 1200, 0, 0),
    )  # fmt: skip
    assert simulated(jobs, limited).workload.job.tolist() == [1, 4]


def test_other_policies_leave_them_out() -> None:
    jobs = log((0, 4, 60, 50), (10, 4, 600, 0), (20, 4, 120, 10), cancelled_after=after(0, 1200, 0))
    schedule = headway.simulate(jobs, 16, "fcfs")
    assert schedule.workload.job.tolist() == [1, 3]
    assert [(one.rule, one.count) for one in schedule.workload.ledger if one.dropped] == [("cancelled", 1)]


RECORDED = [
    (0, 2, 60, 3300, 0, 1), (10, 4, 600, 0, 1802, -1), (20, 2, 120, 1200, 0, 2440), (30, 1, 10, 480, 0, 40),
    (40, 1, 50, 2400, 0, 40), (50, 3, 90, 1500, 0, 3640), (60, 2, 30, 0, 602, -1),
    (70, 1, 240, 3000, 0, 3640), (80, 1, 20, 600, 0, 684), (9000, 3, 120, 5400, 0, 9001),
    (9010, 4, 300, 0, 3620, -1),
    (9020, 4, 300, 0, 2420, -1), (9030, 1, 150, 1200, 0, 12644), (9040, 1, 100, 1800, 0, 9040),
    (9050, 2, 30, 1500, 0, 14401), (9060, 1, 300, 37, 0, 13844), (9070, 4, 60, 900, 0, 15901),
    (9082, 2, 200, 2000, 0, 16801), (20000, 2, 60, 3000, 0, 20000), (20010, 3, 240, 0, 902, -1),
    (20020, 4, 240, 0, 2012, -1), (20030, 2, 180, 700, 0, 22052), (20040, 1, 20, 1100, 0, 20040),
    (20050, 1, 200, 1100, 0, 20070),
]  # fmt: skip
"""A run of the real Slurm 22.05: submission, nodes, limit (min), run, cancelled after, start; -1: never.

Job 8 waits for the end of job 2, job 9 for a bad end of job 7; job 16 has a begin time.
"""


def recorded() -> Workload:
    dependency = [{7: "afterany:2", 8: "afternotok:7"}.get(row, "") for row in range(len(RECORDED))]
    return log(
        *[(submit, nodes, limit, run / MINUTE) for submit, nodes, limit, run, *_ in RECORDED],
        cancelled_after=after(*(row[4] for row in RECORDED)),
        eligible=[12000 if row[0] == 9060 else row[0] for row in RECORDED],
        dependency=dependency,
        status=[5 if row[4] else 1 for row in RECORDED],
    )


def test_starts_are_those_of_a_recorded_run() -> None:
    schedule = simulated(recorded(), site())
    true = np.array([row[5] for row in RECORDED if row[5] >= 0])
    assert np.abs(schedule.start // SECOND - true).max() <= MINUTE
    kept = recorded().select(recorded().columns["cancelled_after"] < 0, rule="test", action="left out")
    without = simulated(kept, site())
    assert np.count_nonzero(np.abs(without.start // SECOND - true) > 10 * MINUTE) >= 5


COLUMNS = "JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS"
LINES = [
    f"7|ann|chem|main|normal|COMPLETED|{BEGAN}|{BEGAN}|{BEGAN}|{BEGAN + 60}|60|10|4",
    f"8|ann|chem|main|normal|CANCELLED by 5|{BEGAN + 5}|{BEGAN + 5}|None|{BEGAN + 905}|0|10|4",
    f"9_[1,3]|ann|chem|main|normal|CANCELLED by 5|{BEGAN + 6}|Unknown|Unknown|{BEGAN + 66}|0|10|4",
    f"9_2|ann|chem|main|normal|COMPLETED|{BEGAN + 6}|{BEGAN + 6}|{BEGAN + 6}|{BEGAN + 8}|2|10|4",
    f"10|ann|chem|main|normal|CANCELLED by 5|{BEGAN + 7}|{BEGAN + 7}|{BEGAN + 9}|{BEGAN + 20}|11|10|4",
    f"11|ann|chem|main|normal|CANCELLED by 5|{BEGAN + 8}|{BEGAN + 8}|None|{BEGAN + 8}|0|10|4",
]
"""8 and two tasks of 9 were cancelled while they waited, 10 while it ran, 11 as soon as it was submitted."""


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    file = tmp_path / "jobs.txt"
    file.write_text("\n".join([COLUMNS, *LINES, ""]), "utf-8")
    return file


def test_the_log_says_when_jobs_were_cancelled(exported: Path) -> None:
    jobs = read_requests(str(exported), {"cancelled": "wait"})
    of = {name: jobs.columns[name].tolist() for name in ("array", "array_task", "cancelled_after", "runtime")}
    assert of["array"] == [-1, -1, 9, 9, 9, -1] and of["array_task"] == [-1, -1, 1, 2, 3, -1]
    assert of["cancelled_after"] == [-1, 900 * SECOND, 60 * SECOND, -1, 60 * SECOND, -1]
    assert of["runtime"] == [60 * SECOND, 0, 0, 2 * SECOND, 0, 11 * SECOND]
    assert len(set(jobs.job.tolist())) == 6 and (jobs.columns["wait"][[1, 2, 4]] == -1).all()
    assert jobs.ledger.dropped == 1


def test_a_job_whose_deadline_passed_waited_until_then(tmp_path: Path) -> None:
    """Slurm cancels it in the first pass that sees that it cannot end in time, and plans for it before."""
    file = tmp_path / "jobs.txt"
    late = f"8|ann|chem|main|normal|DEADLINE|{BEGAN + 5}|{BEGAN + 5}|{BEGAN + 905}|{BEGAN + 905}|0|10|4"
    file.write_text("\n".join([COLUMNS, LINES[0], late, ""]), "utf-8")
    jobs = read_requests(str(file), {"cancelled": "wait"})
    assert jobs.columns["cancelled_after"].tolist() == [-1, 900 * SECOND]
    assert "its deadline passed before it ran: it was cancelled then" in [one.action for one in jobs.ledger]
    for others in (read(file), read(file, cancelled="wait"), read_requests(str(file), {})):
        assert others.job.tolist() == [7] and others.ledger.dropped == 1


def test_other_logs_drop_them(exported: Path) -> None:
    for jobs in (read(exported), read(exported, cancelled="wait"), read_requests(str(exported), {})):
        assert np.count_nonzero(jobs.runtime == 0) == 0 and jobs.ledger.dropped == 4
    line = "1 0 500 0 4 -1 -1 4 600 -1 5 1 1 -1 1 1 -1 -1\n"
    exported.write_text("; UnixStartTime: 0\n" + line + line.replace("1 0 500 0", "2 9 0 30", 1))
    assert [len(read(exported, cancelled=rule)) for rule in ("drop", "wait", "keep")] == [1, 1, 2]


def test_newer_json_writes_a_large_number_for_no_start(tmp_path: Path) -> None:
    """Nodes are those that were asked for: none were given."""
    job = {
        "job_id": 8, "user": "ann", "account": "chem", "partition": "main", "qos": "normal", "cluster": "a",
        "state": {"current": ["CANCELLED"]}, "allocation_nodes": 0, "nodes": "None assigned",
        "time": {"submission": BEGAN, "eligible": BEGAN, "start": 4294967294, "end": BEGAN + 900,
                 "elapsed": 0, "limit": {"set": True, "infinite": False, "number": 10}},
        "required": {"CPUs": 8},
        "tres": {"requested": [{"type": "cpu", "count": 8}, {"type": "node", "count": 2}], "allocated": []},
    }  # fmt: skip
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": [job]}), "utf-8")
    jobs = read_requests(str(file), {"cancelled": "wait"})
    assert jobs.columns["cancelled_after"].tolist() == [900 * SECOND]
    assert (jobs.columns["min_nodes"].tolist(), jobs.procs.tolist()) == ([2], [8])


def test_jobs_that_never_ran_are_not_copied() -> None:
    """What if there were more jobs? Copies are of jobs that ran; where none did, that is said."""
    jobs = log((0, 1, 10, 10), (0, 1, 10, 0), cancelled_after=[-1, 60 * SECOND])
    assert (jobs_changes.jobs(jobs, 20).columns["cancelled_after"][2:] == -1).all()
    with pytest.raises(headway.UsageError, match="none to copy"):
        jobs_changes.jobs(log((0, 1, 10, 0), cancelled_after=[60 * SECOND]), 1)
