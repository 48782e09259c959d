"""explain: every statement about a job holds when it is worked out again from the schedule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway as package
from commands import SWF, Headway
from headway import Schedule
from headway.explain import Explanation, explain
from headway.platform import Cluster
from headway.schedule import WHY
from headway.workload.models import generate
from small_schedules import Job, pieces, schedule, workload
from traces import trace

MODEL = "lublin(jobs=1200, procs=64, load=0.9, estimates=tsafrir, seed=11)"


@pytest.fixture(scope="module", params=["easy", "conservative", "sjf", "easy(order=saf)"])
def simulated(request: pytest.FixtureRequest) -> Schedule:
    log = generate(MODEL)
    # Some jobs need longer than they asked for, so that they are killed.
    log = log.with_columns(runtime=np.where(log.job % 9 == 0, log.walltime + 30_000_000, log.runtime))
    return package.simulate(log, 64, str(request.param))


def fates(schedule: Schedule, each: int = 2) -> list[int]:
    """Rows of different fates: every reason to start, killed and not, long waits and short ones."""
    chosen: list[int] = []
    for why in np.unique(schedule.why):
        for killed in (False, True):
            rows = np.flatnonzero((schedule.why == why) & (schedule.killed == killed))
            rows = rows[np.argsort(schedule.wait[rows], kind="stable")]
            if len(rows):
                chosen += rows[np.linspace(0, len(rows) - 1, each).astype(int)].tolist()
    return sorted(set(chosen))


def said(explanation: Explanation) -> str:
    return " ".join(sentence for sentences in explanation.sections.values() for sentence in sentences)


def number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else None


Rows = list[dict[str, Any]]


def job_by_job(result: Schedule) -> Rows:
    """A schedule without arrays."""
    columns = (result.workload.job, result.submit, result.start, result.end, result.procs)
    return [
        {"row": r, "id": i, "submit": s, "start": b, "end": e, "procs": q}
        for r, (i, s, b, e, q) in enumerate(zip(*(column.tolist() for column in columns), strict=True))
    ]


def check_by_hand(result: Schedule, jobs: Rows, row: int, text: str) -> None:
    """Work the statements out again, job by job, without arrays."""
    me = jobs[row]
    before = [j for j in jobs if (j["submit"], j["row"]) < (me["submit"], row)]
    after = [j for j in jobs if (j["submit"], j["row"]) > (me["submit"], row)]
    busy = sum(j["procs"] for j in jobs if j["start"] < me["submit"] < j["end"])
    assert (
        f"{result.capacity - busy} of the {result.capacity} processors were free, and it needed {me['procs']}"
        in text
    )
    waiting = [j for j in before if j["start"] > me["submit"]]
    assert (number(r"(\d+) jobs? submitted before it waited already", text) or 0) == len(waiting)
    if waiting:
        wanted = number(r"waited already, for (\d+) processors? in all", text)
        assert wanted == sum(j["procs"] for j in waiting)
    if me["start"] > me["submit"]:
        started = [j for j in waiting if j["start"] <= me["start"]]
        assert (number(r"While it waited, (\d+) jobs? submitted before it started", text) or 0) == len(
            started
        )
        if started:
            last = max(started, key=lambda j: (j["start"], j["row"]))
            assert f"the last was job {last['id']}, which took {last['procs']} processor" in text
        past = [j for j in after if j["start"] < me["start"]]
        assert (number(r"(\d+) jobs? that came later started before it", text) or 0) == len(past)
        assert ("No job that came later started before it" in text) == (not past)
    ended = [j["id"] for j in jobs if j["end"] == me["start"] and j["start"] < j["end"]]
    if ended and WHY[result.why[row]] in ("head", "backfill", "reservation"):
        clause = text[text.index("At that instant") :]
        assert str(ended[0]) in clause[: clause.index("freed")]
    assert ("It was killed at its walltime" in text) == bool(result.runtime[row] > result.walltime[row])


def test_what_is_said_of_jobs_of_every_fate_is_true(simulated: Schedule) -> None:
    rows, jobs = fates(simulated), job_by_job(simulated)
    assert len(rows) >= 6
    for row in rows:
        text = said(explain(simulated, int(simulated.workload.job[row]), simulate_again=False))
        check_by_hand(simulated, jobs, row, text)


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_ten_jobs_of_a_real_log(policy: str) -> None:
    result = package.simulate(package.read(trace("SDSC-SP2")), 128, policy)
    rows, jobs = fates(result, each=2)[:10], job_by_job(result)
    assert len(rows) == 10
    for row in rows:
        text = said(explain(result, int(result.workload.job[row]), simulate_again=False))
        check_by_hand(result, jobs, row, text)


EARLIER = re.compile(
    r"With (a request of )?(.+?) instead of .+? it would have started (.+?) earlier, at (once|\d+)"
)


def told(jobs: list[Job], procs: int, policy: str, job: int, **columns: Any) -> str:
    result = package.simulate(workload(jobs, **columns), procs, policy)
    return said(explain(result, job, simulate_again=False))


def test_who_starts_at_once_may_leave_earlier_jobs_waiting() -> None:
    """Shortest first on 2 processors: job 2 wants both and waits for job 1; job 3 is shorter and fits."""
    text = told([(0, 1, 9, 9), (1, 2, 9, 9), (2, 1, 1, 1)], 2, "sjf", 3)
    assert "enough processors were free when it came. 1 job submitted before it still waited: job 2." in text
    assert "still waited" not in told([(0, 1, 9, 9)], 2, "sjf", 1)


def test_others_took_processors_only_where_they_did() -> None:
    """Six jobs of one processor end one by one; job 7 wants all six, job 8 passes it on the first."""
    six: list[Job] = [(0, 1, 10 + second, 10 + second) for second in range(6)]
    text = told([*six, (1, 6, 9, 9)], 6, "easy", 7)
    assert "2 jobs ended and freed 2 processors and at last job 3 with 1 processor after 11 s;" in text
    text = told([*six, (1, 6, 9, 9), (2, 1, 1, 1)], 6, "easy", 7)
    assert "3 jobs ended and freed 3 processors, some of which others took, and at last job 3" in text


def test_a_job_that_was_suspended_has_not_ended_and_does_not_run() -> None:
    """The urgent job 1 ends 20 s early: job 3, which passed the urgent job 2, is suspended for that."""
    jobs: list[Job] = [(0, 1, 30, 50), (5, 2, 9, 9), (6, 1, 44, 44)]
    text = told(jobs, 2, "ujfb(swap=3)", 2, urgent=[True, True, False])
    assert "What ended or were stopped and freed processors, counted from its submission: job 1 " in text
    assert "1 job that came later started before it, in a run that was stopped later (job 3); none" in text


def test_processors_of_suspended_jobs_are_not_free_for_regular_ones() -> None:
    """Job 2, urgent, takes 2 of job 1's 4 processors from 11 to 61; job 1 is swapped in then and runs on."""
    jobs: list[Job] = [(0, 4, 100, 100), (10, 2, 50, 50), (12, 1, 20, 20)]
    text = told(jobs, 4, "ujfb(swap=1)", 3, urgent=[False, True, False])
    assert "0 of the 4 processors were free, and it needed 1." in text
    assert "0 of the 1 processors it needed were free; it waited another 2 min 20 s for others to end" in text
    ends = "job 2 with 2 processors after 49 s; job 1 with 4 processors after 2 min 20 s."
    assert f"What ended and freed processors, counted from its submission: {ends}" in text
    assert "kept for jobs" not in text
    second = [*jobs[:2], (12, 2, 20, 20)]
    marked = told(second, 4, "ujfb(swap=1)", 3, urgent=[False, True, True])
    assert "2 of the 4 processors were free, and it needed 2." in marked


def test_who_took_the_place_of_a_redirected_job_is_named_also_if_it_was_redirected_later() -> None:
    """theta 0: job 2 makes job 1 go and starts in its place; job 3 makes job 2 go."""
    jobs: list[Job] = [(0, 2, 50, 50), (1, 2, 50, 50), (2, 2, 50, 50)]
    policy = "redirection(theta=0, alpha=0.7)"
    text = told(jobs, 3, policy, 1)
    assert "It was redirected at 1 s" in text
    assert "It left 2 processors; job 2 started at that instant." in text
    assert "It was redirected at 2 s" in told(jobs, 3, policy, 2)


def test_who_was_promised_nothing_was_told_a_start() -> None:
    jobs: list[Job] = [(0, 1, 5, 9), (1, 1, 5, 9)]
    assert "It was promised to start by 9 s (8 s after it was submitted); it started 4 s earlier." in told(
        jobs, 1, "conservative", 2
    )
    assert "It was given a start of 9 s (8 s after it was submitted); it started 4 s earlier." in told(
        jobs, 1, "conservative(compress=scratch)", 2
    )


def test_what_would_have_helped_is_what_the_whole_simulation_says() -> None:
    log = generate(MODEL)
    result = package.simulate(log, 64, "easy")
    waited = np.flatnonzero(result.wait > 0)
    helped = 0
    for row in waited[:: len(waited) // 8]:
        text = said(explain(result, int(log.job[row])))
        for change in EARLIER.finditer(text):
            if change[1]:
                continue
            procs = log.procs.copy()
            procs[row] = int(change[2].split()[0])
            again = package.simulate(log.with_columns(procs=procs), 64, "easy")
            start = int(again.start[row])
            assert start < result.start[row]
            assert change[4] == ("once" if start == log.submit[row] else str(start // 1_000_000))
            helped += 1
    assert helped >= 3


def test_a_shorter_request_that_helps_is_found() -> None:
    # 4 processors: job 1 holds 3 until 100; job 2 wants all; job 3 wants 1 for 200, but runs only 50.
    log = workload([(0, 3, 100, 100), (1, 4, 10, 10), (2, 1, 50, 200)])
    result = package.simulate(log, 4, "easy")
    text = said(explain(result, 3))
    assert (
        "With a request of 50 s instead of 3 min 20 s it would have started 108 s earlier, at once." in text
    )
    assert "It started at once, so a smaller or shorter request would have changed nothing" in said(
        explain(result, 1)
    )


def test_what_did_not_help_is_said_with_what_was_tried() -> None:
    log = workload([(0, 4, 100, 100), (1, 2, 10, 10)])
    assert "With fewer processors (1) it would not have started earlier" in said(
        explain(package.simulate(log, 4, "easy"), 2)
    )


# ---- fates that take pieces ------------------------------------------------------------------------


def fated(rows: Any, why: str, columns: Any = None, **more: Any) -> str:
    result = schedule(
        [(0, 2, 10, 20), (1, 2, 10, 10)],
        [10, 1],
        4,
        columns=columns,
        pieces=pieces(rows, **more.pop("codes", {})),
        **more,
    )
    result.why[0] = WHY.index(why)
    return said(explain(result, 1, simulate_again=False))


def test_a_preempted_job_is_told_who_started_instead() -> None:
    text = fated([(0, 0, "running", 0, 1, 2, "preempted"), (0, 1, "running", 10, 20, 2, "done")], "head")
    assert "was stopped to make room, and had to start again: 1 s on 2 processors were lost at 1 s" in text
    assert "Job 2 started at that instant." in text


def test_a_suspended_job_is_told_for_whom_and_how_long() -> None:
    rows = [
        (0, 0, "running", 10, 12, 2, "suspended"),
        (0, 0, "swap_out", 12, 13, 2, "done"),
        (0, 0, "suspended", 13, 18, 2, "resumed"),
        (0, 0, "swap_in", 18, 19, 2, "done"),
        (0, 0, "running", 19, 27, 2, "done"),
    ]
    text = fated(rows, "head")
    assert "It was suspended at 13 s (13 s after it was submitted), for 5 s." in text
    assert "Swapping it out and in took 2 s; nothing of its work was lost." in text


def test_deadlines_are_told() -> None:
    rows = [(0, 0, "running", 10, 20, 2, "done")]
    assert "missed its deadline by 5 s" in fated(rows, "head", {"deadline": [15, -1]})
    text = fated(rows, "promoted", {"deadline": [25, -1]})
    assert "met its deadline with 5 s to spare. It was promoted for it." in text


def test_a_moved_job_is_told_where_to() -> None:
    log = workload([(0, 2, 10, 20)])
    result = Schedule(
        log, package.Platform.procs(4), "", np.array([0]), np.array([10_000_000]),
        np.array([WHY.index("moved")]), np.array([False]), cluster=np.array([1]),
        labels={"cluster": ["lyon", "nancy"]},
    )  # fmt: skip
    assert "moved to the cluster nancy" in said(explain(result, 1, simulate_again=False))


def test_who_moved_away_had_waited_before_a_job_that_stayed() -> None:
    """Job 1 ends early at 30, so job 3 moves from b to a at 60. Job 4 is then the first on b."""
    grid = package.Platform((Cluster("a", procs=2), Cluster("b", procs=2)))
    log = workload([(0, 2, 30, 1000), (0, 2, 100, 100), (1, 2, 50, 50), (2, 2, 50, 50)])
    result = package.simulate(log, grid, "reallocation(period=60, threshold=1)")
    assert (result.start // 1_000_000).tolist() == [0, 0, 60, 100]
    text = said(explain(result, 4))
    assert "1 job submitted before it waited already: job 3." in text
    assert "submitted before it started; the last" not in text
    assert "Then it was the first in order of submission, and 0 of the 2 processors" in text
    assert "it waited another 40 s" in text


# ---- the command -----------------------------------------------------------------------------------


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


def test_the_command_explains_a_saved_run(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "easy", "--out", "result", "--quiet")
    result = headway("explain", "result", "4")
    assert result.status == 0
    assert result.out.startswith("Job 4 under easy\n")
    sections = json.loads(headway("explain", "result", "4", "--json").out)["sections"]
    assert any("What would have helped" in name for name in sections)
    short = headway("explain", "result", "4", "--no-what-if").out
    assert "What would have helped" not in short


def test_a_job_that_is_not_there_is_told_why(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "easy", "--procs", "3", "--out", "result", "--quiet")
    gone = headway("explain", "result", "2")
    assert gone.status == 2
    assert "job 2 was not scheduled: too_large" in gone.err
    assert (
        "there is no job 77 in this schedule; there are 3, from 1 to 4"
        in headway("explain", "result", "77").err
    )
    assert headway("explain", "nowhere", "2").status == 2


def test_a_changed_policy_file_is_not_simulated_again(headway: Headway) -> None:
    text = (Path(__file__).parent / "own_policies.py").read_text("utf-8")
    headway.write("mine.py", text)
    headway("simulate", "log.swf", "--policy", "./mine.py:Limited(most=1)", "--out", "result", "--quiet")
    assert "would not have started earlier" in headway("explain", "result", "3").out
    headway.write("mine.py", text + "\n# another thought\n")
    assert "mine.py has changed since the run was made" in " ".join(
        headway("explain", "result", "3").out.split()
    )


def test_the_command_finds_the_longest_wait_and_takes_a_comparison(headway: Headway) -> None:
    headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--out", "both", "--quiet")
    longest = headway("explain", "both", "--longest", "--no-what-if").out
    assert longest.startswith("Job ") and "under fcfs\n" in longest
    assert "In the other runs of this comparison" in longest and "headway explain both/sjf" in longest
    first = headway("explain", "both/fcfs", "--user", "1", "--no-what-if").out
    assert "by user 1" in first
    assert "no user 'nobody'" in headway("explain", "both", "--user", "nobody").err
    for wrong in ((), ("3", "--longest")):
        refused = headway("explain", "both", *wrong)
        assert refused.status == 2 and "give one job" in refused.err


def test_instants_are_dates_where_the_log_has_them(headway: Headway) -> None:
    dated = SWF.replace("; MaxProcs", "; UnixStartTime: 893466664\n; MaxProcs", 1)
    headway.write("dated.swf", dated)
    headway("simulate", "dated.swf", "--policy", "easy", "--out", "dated", "--quiet")
    assert "Submitted at 1998-04-25 01:11:04 UTC" in headway("explain", "dated", "1", "--no-what-if").out
