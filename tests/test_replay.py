"""Simulated against recorded waits, by hand and on a real log."""

from __future__ import annotations

import io
from dataclasses import replace
from html import escape

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.errors import InputError
from headway.replay import fidelity, recorded
from headway.replay.reasons import reasons
from headway.replay.sentences import trust
from headway.report.answers import replay_page
from headway.site.model import Association
from headway.what_if.causes import Cause
from headway.workload import Workload, read
from slurm_by_hand import log, simulated, site
from traces import trace

# Two processors. FCFS starts jobs 1 and 2 at once (0 and 0) and job 3, which needs both, when they end, at
# 10, and job 4 after it at 15. The log had waits of 0, 4, 12 and 9.
LOG = """\
; MaxProcs: 2
1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 1 -1 -1
2 0 4 10 1 -1 -1 1 10 -1 1 2 1 -1 1 1 -1 -1
3 2 12 5 2 -1 -1 2 10 -1 1 1 1 -1 2 2 -1 -1
4 3 9 5 1 -1 -1 1 3 -1 1 1 1 -1 2 1 -1 -1
5 4 -1 5 1 -1 -1 1 5 -1 1 1 1 -1 2 1 -1 -1
6 4 -1 5 9 -1 -1 9 5 -1 1 1 1 -1 2 1 -1 -1
"""


def replayed(text: str, policy: str = "fcfs") -> tuple[Schedule, Workload]:
    work = read(io.BytesIO(text.encode()))
    return headway.simulate(work, 2, policy), work


def test_errors_by_hand() -> None:
    schedule, _ = replayed(LOG)
    assert (schedule.wait // 10**6).tolist()[:4] == [0, 0, 8, 12]
    found = fidelity(schedule)
    # Errors 0, -4, -4, +3 over four jobs; the fifth has no recorded wait and the sixth does not fit.
    assert found.error == 11 / 4 and found.relative == pytest.approx(11 / 25)
    assert found.overall["jobs"] == 4 and found.overall["bias"] == -5 / 4
    assert found.overall["mean_recorded"] == 25 / 4 and found.overall["mean_simulated"] == 20 / 4
    assert found.overall["p50_recorded"] == 6.5 and found.overall["p50_simulated"] == 4
    assert found.overall["p50_error"] == -2.5
    assert [(row["size"], row["jobs"], row["bias"]) for row in found.by_size] == [
        ("1", 3, pytest.approx(-1 / 3)),
        ("2", 1, -4),
    ]
    assert [(row["queue"], row["mean_absolute_error"]) for row in found.by_queue] == [(1, 2), (2, 3.5)]
    assert [(row["user"], row["jobs"]) for row in found.by_user] == [(1, 3), (2, 1)]


def test_the_reasons_are_those_of_this_log() -> None:
    schedule, _ = replayed(LOG)
    reasons = " / ".join(fidelity(schedule).reasons)
    assert "1 of 6 jobs of the log are not simulated" in reasons
    assert "1 simulated jobs have no recorded wait" in reasons
    assert "the log's 2 queues are simulated as one" in reasons
    assert "1 job ran past the request" in reasons
    assert "up to 3 processors in use at once, the simulated machine 2" in reasons
    assert "25.0% of the jobs started within a second in the log, 50.0% in the simulation" in reasons


def test_the_log_is_a_schedule_of_the_jobs_whose_waits_it_has() -> None:
    schedule, _ = replayed(LOG)
    log_has = recorded(schedule)
    # Job 5 has no recorded wait, job 6 does not fit; job 4 ran for 5 s though it asked for 3.
    assert log_has.workload.job.tolist() == [1, 2, 3, 4]
    assert (log_has.start // 10**6).tolist() == [0, 4, 14, 12]
    assert (log_has.end // 10**6).tolist() == [10, 14, 19, 17]
    assert log_has.frame()["why"].to_list() == ["recorded"] * 4 and not log_has.killed.any()
    assert log_has.capacity == schedule.capacity


def test_the_log_has_the_processors_that_jobs_were_given() -> None:
    schedule, work = replayed(LOG)
    given = work.fit_to(2).with_columns(allocated=[2, -1, 2, 1, 1])
    assert recorded(replace(schedule, workload=given)).procs.tolist() == [2, 1, 2, 1]


def test_the_page_says_how_near_it_comes_and_shows_the_log_beside_it() -> None:
    one, _ = replayed(LOG)
    later = replace(one, start=one.start + np.array([0, 0, 10, 10, 0]) * 10**6)
    found = fidelity(one, later)
    cause = Cause("<rule>", 3, 1, 0.5, 5, 1, "needed")
    page = replay_page(found, [cause], one).replace("\N{NO-BREAK SPACE}", " ")
    assert escape(found.verdict).split(",")[0] in page and "How near fcfs comes to" in page
    assert "simulated 7.5 s, +20% (−20% to +60%)." in page
    assert "&lt;rule&gt;" in page and "<rule>" not in page and ">least<" in page
    assert all(escape(reason) in page for reason in found.reasons)
    alone = replay_page(fidelity(one), [], one)
    assert "Where the rest comes from" not in alone and ">least<" not in alone


def test_a_log_replayed_against_itself_has_no_error() -> None:
    schedule, work = replayed(LOG.replace("; MaxProcs: 2", "; MaxProcs: 20"), "easy")
    itself = work.fit_to(2).with_columns(wait=schedule.wait)
    again = fidelity(headway.simulate(itself, 2, "easy"))
    assert again.error == 0 and again.overall["bias"] == 0
    assert all(row["p99_error"] == 0 for row in again.by_size)


def test_not_modelled_features_are_reasons() -> None:
    head = "JobID|QOS|State|Submit|Start|Elapsed|Timelimit|AllocCPUS"
    text = f"{head}\n7|urgent|COMPLETED|100|110|00:01:00|00:02:00|1\n"
    schedule = headway.simulate(read(io.BytesIO(text.encode())), 2, "fcfs")
    found = fidelity(schedule)
    assert found.error == 10 and "the site's QOS are not simulated: 1 job" in found.reasons


def test_a_log_without_waits_is_refused() -> None:
    text = "\n".join(
        " ".join([*line.split()[:2], "-1", *line.split()[3:]]) if not line.startswith(";") else line
        for line in LOG.splitlines()
    )
    schedule, _ = replayed(text)
    with pytest.raises(InputError, match="records no waits"):
        fidelity(schedule)


def test_a_real_log() -> None:
    work = read(trace("KTH-SP2"))
    found = fidelity(headway.simulate(work, 100, "easy"))
    assert found.overall["jobs"] == 28_475
    assert sum(row["jobs"] for row in found.by_size) == sum(row["jobs"] for row in found.by_user) == 28_475
    weighted = sum(row["mean_absolute_error"] * row["jobs"] for row in found.by_user) / 28_475
    assert weighted == pytest.approx(found.error)
    assert abs(found.overall["bias"]) <= found.error
    document = found.describe()
    assert document["mean_absolute_error"] == found.error and document["reasons"]


@pytest.mark.parametrize(
    ("recorded", "bias", "error", "begins"),
    [
        (100.0, 10.0, 20.0, "Trust it for single jobs and for means: the mean wait is 10% too long"),
        (100.0, -10.0, 80.0, "Trust it for means, not for single jobs: the mean wait is 10% too short"),
        (100.0, 0.0, 80.0, "Trust it for means, not for single jobs: the mean wait is right"),
        (100.0, 90.0, 95.0, "Do not trust its waits: the mean wait is 90% too long"),
        (0.0, 0.0, 0.0, "No job waits, in the log or in the simulation"),
        (0.0, 5.0, 5.0, "Do not trust its waits: jobs wait in the simulation"),
    ],
)
def test_one_sentence_says_whether_to_trust_it(
    recorded: float, bias: float, error: float, begins: str
) -> None:
    said = trust({"jobs": 5, "mean_recorded": recorded, "bias": bias, "mean_absolute_error": error})
    assert said.startswith(begins) and said.endswith(".")


def test_several_seeds_are_one_score_with_a_band() -> None:
    """Two schedules of the jobs of LOG: FCFS waits 0, 0, 8, 12; the other 10 s more for jobs 3 and 4."""
    one, _ = replayed(LOG)
    later = replace(one, start=one.start + np.array([0, 0, 10, 10, 0]) * 10**6)
    found = fidelity(one, later)
    # Errors 0, -4, -4, +3 and 0, -4, +6, +13.
    assert found.error == (11 + 23) / 8 and found.overall["bias"] == (-5 + 15) / 8
    assert [row["mean_absolute_error"] for row in found.seeds] == [11 / 4, 23 / 4]
    assert (found.overall["least_simulated"], found.overall["most_simulated"]) == (5, 10)
    assert found.chance == 20 / 4 and fidelity(one).chance is None
    assert found.overall["within_60"] == 1
    assert found.by_size[0]["jobs"] == 3
    # The mean of 25/4 is 1/5 too long, over both; the first alone is 1/5 too short, the second 3/5 too long.
    assert "(-20% to +60% over 2 phases of the controller's clocks)" in found.verdict


def test_starts_within_minutes() -> None:
    one, _ = replayed(LOG)
    off = np.array([30, 60, 61, 601, 0]) * 10**6
    moved = replace(one, workload=one.workload.with_columns(wait=one.wait + off))
    shares = fidelity(moved).overall
    assert [shares[f"within_{near}"] for near in (60, 600, 3600)] == [3 / 5, 4 / 5, 1]


def test_weeks_are_those_of_submission() -> None:
    week = 7 * 86_400
    lines = [f"{job} {job * week} 5 10 1 -1 -1 1 10 -1 1 1 1 -1 1 1 -1 -1" for job in range(3)]
    text = "; MaxProcs: 2\n; UnixStartTime: 1717200000\n" + "\n".join(lines) + "\n"
    schedule, _ = replayed(text)
    rows = fidelity(schedule).by_week
    assert [(row["week"], row["jobs"], row["bias"]) for row in rows] == [
        ("2024-06-01", 1, -5),
        ("2024-06-08", 1, -5),
        ("2024-06-15", 1, -5),
    ]


def test_jobs_that_only_one_seed_ran_are_left_out() -> None:
    one, work = replayed(LOG)
    fewer = headway.simulate(
        work.fit_to(2).select(work.fit_to(2).job != 2, rule="test", action="left out"), 2, "fcfs"
    )
    found = fidelity(one, fewer)
    assert found.overall["jobs"] == 3 and [row["jobs"] for row in found.seeds] == [3, 3]


def test_usage_before_the_log_is_missed_only_where_it_counts() -> None:
    """Nothing is said of it where priority does not go by fair share."""
    config = {
        "PriorityType": "priority/multifactor", "AccountingStorageType": "accounting_storage/slurmdbd",
        "PriorityWeightFairshare": "1000",
    }  # fmt: skip
    jobs, accounts = log((0, 4, 10, 10), (1, 4, 10, 10)), (Association("root"), Association("a", parent=0))
    for weight, said in (("1000", True), ("0", False)):
        on = site(config | {"PriorityWeightFairshare": weight}, associations=accounts)
        schedule = simulated(jobs, on)
        found = reasons(schedule, np.arange(2), np.zeros(2, np.int64))
        assert any("usage before the log" in one for one in found) == said
