"""Users who wait for a result before they submit the next job: by hand, and against runs without feedback.

With feedback every job is submitted at some time. A run without feedback of the same jobs, submitted at
those times, must be the same schedule; and the times must be what the think times make of its ends. The two
together leave one schedule: who is submitted when depends on earlier ends alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
from commands import Headway
from headway.errors import UsageError
from headway.platform import Outage, Outages, Platform
from headway.policies.own.words import (
    FIRST_NEW,
    HEAD,
    LAST_NEW,
    MACHINE,
    Q_HEAD,
    QUEUE,
    State,
    compiled,
    head_fits,
    join,
    leave,
    start,
)
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.swf import write_swf
from headway.workload.transform import apply
from own_policies import fcfs


def log(rows: Sequence[tuple[int, ...]], **columns: Any) -> Workload:
    """submit, wait, procs, runtime, walltime and user of each job, in seconds."""
    names = ("submit", "wait", "procs", "runtime", "walltime", "user")
    given: dict[str, Any] = dict(
        zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True)
    )
    return Workload.from_arrays(unit="s", **given, **columns)


# User 1 has job 1 from 0 to 10, thinks for 20 s, submits jobs 3 and 4, and job 5 after the end of job 3 at 35
# (job 4 runs until 52). Job 6 comes 56 s after the end of job 4. Job 2 is another user's.
SESSION = [
    (0, 0, 2, 10, 10, 1),
    (0, 0, 2, 25, 25, 2),
    (30, 0, 2, 5, 5, 1),
    (31, 1, 1, 20, 20, 1),
    (40, 0, 2, 8, 8, 1),
    (108, 0, 2, 3, 3, 1),
]


def seconds(column: Any) -> list[float]:
    return [float(value) for value in np.asarray(column) / SECOND]


def test_who_waits_for_whom_in_a_session() -> None:
    found = apply(log(SESSION), "feedback(think=50)")
    assert found.follows.tolist() == [-1, -1, 1, 1, 3, -1]
    assert seconds(found.think[2:5]) == [20, 21, 5]
    # Of a user who thinks for 56 s, job 6 follows job 4, the last to end before it was submitted.
    assert apply(log(SESSION), "feedback(think=56)").follows.tolist() == [-1, -1, 1, 1, 3, 4]


def test_a_job_of_no_length_is_waited_for_by_nobody() -> None:
    found = apply(log([(0, 0, 1, 0, 1, 1), (0, 0, 1, 0, 1, 1), (5, 0, 1, 1, 1, 1)]), "feedback")
    assert found.follows.tolist() == [-1, -1, -1]


def test_fields_of_the_log() -> None:
    columns = {"preceding": [-1, 7, 1, 4, 1], "think_time": [-1, 5, 12, 5, -1]}
    rows = [
        (0, 3, 1, 10, 10, 1),
        (1, 0, 1, 1, 1, 1),
        (2, 0, 1, 1, 1, 1),
        (3, 0, 1, 1, 1, 1),
        (20, 0, 1, 1, 1, 1),
    ]
    found = apply(log(rows, **columns), "feedback(by=fields)")
    # There is no job 7, and job 4 does not precede itself. Job 5 came 7 s after job 1 had ended, at 13.
    assert found.follows.tolist() == [-1, -1, 1, -1, 1]
    assert seconds(found.think[[2, 4]]) == [12, 7]


def test_a_session_on_a_smaller_machine() -> None:
    # On 2 processors job 1 runs from 0 to 10, then job 2 until 35. Job 3 is submitted 20 s after the end of
    # job 1, at 30 as in the log, waits, and runs from 35 to 40; job 4, submitted at 31, from 40 to 60. Job 5
    # thinks for 5 s after job 3: 45 instead of 40.
    made = headway.simulate(apply(log(SESSION), "feedback(think=50)"), 2, "fcfs")
    assert seconds(made.submit) == [0, 0, 30, 31, 45, 108]
    assert seconds(made.start) == [0, 10, 35, 40, 60, 108]
    assert seconds(made.wait) == [0, 10, 5, 9, 15, 0]
    summary = made.summary()
    assert (summary["following_jobs"], summary["mean_submission_delay"]) == (3, 5 / 3)
    plain = headway.simulate(log(SESSION), 2, "fcfs")
    assert "following_jobs" not in plain.summary() and seconds(plain.submit)[4] == 40
    told = str(headway.explain(made, 5, simulate_again=False))
    assert "Its user submitted it 5 s after the end of job 3, 5 s later than in the log." in told


def test_who_does_not_think_arrives_at_the_end_itself_in_the_order_of_the_log() -> None:
    # Job 1 ends at 8 and job 2 follows it at once. In the second log job 1 ends at 10, when job 3 comes by
    # the log: both arrive at 10, and the one that stands first in the log goes first.
    rows = [(0, 2, 1, 8, 8, 1), (10, 0, 1, 5, 5, 1), (10, 0, 1, 5, 5, 2), (2, 0, 1, 2, 2, 3)]
    made = headway.simulate(apply(log(rows), "feedback"), 1, "fcfs")
    assert seconds(made.submit) == [0, 8, 10, 2]
    late = [(0, 0, 1, 10, 10, 1), (11, 0, 1, 5, 5, 1), (10, 0, 1, 5, 5, 2)]
    work = apply(log(late), "feedback").with_columns(think=np.array([-1, 0, -1]))
    made = headway.simulate(work, 1, "fcfs")
    assert seconds(made.start) == [0, 10, 15] and headway.audit(made).ok


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_who_waited_for_a_job_of_no_length_comes_in_the_next_turn(policy: str) -> None:
    # Job 1 ends at 5, when job 4 comes by the log and job 2 starts, which takes no time. Job 3 follows job 2:
    # it comes at 5 too, but job 4 was there before it.
    rows = [(0, 0, 1, 5, 5, 1), (0, 5, 1, 0, 1, 1), (5, 0, 1, 5, 5, 1), (5, 0, 1, 5, 5, 2)]
    work = log(rows, follows=[-1, -1, 2, -1], think=[-1, -1, 0, -1])
    made = headway.simulate(work, 1, policy)
    assert seconds(made.submit) == [0, 0, 5, 5]
    assert seconds(made.start) == [0, 5, 10, 5] and headway.audit(made).ok


def test_the_audit_lets_those_who_came_in_a_later_turn_stand_behind() -> None:
    # At 0 jobs 1 and 2 start, of which 2 takes no time; job 3 needs both processors, and job 4, which stands
    # before it in the log, follows job 2 behind it. Both start at 4 on a machine of three.
    rows = [(0, 0, 2, 4, 4, 1), (0, 0, 1, 0, 0, 2), (0, 0, 1, 3, 3, 2), (0, 0, 2, 3, 3, 3)]
    made = headway.simulate(log(rows, follows=[-1, -1, 2, -1], think=[-1, -1, 0, -1]), 3, "fcfs")
    assert seconds(made.start) == [0, 0, 4, 4]
    assert headway.audit(made).ok
    # Jobs 2 and 3 take no time and run one after the other: job 5, which follows job 2, comes before job 4.
    rows = [(0, 0, 2, 5, 5, 1), (0, 0, 1, 0, 0, 2), (0, 0, 1, 0, 0, 3)]
    rows += [(0, 0, 1, 3, 3, 3), (0, 0, 2, 3, 3, 2)]
    made = headway.simulate(log(rows, follows=[-1, -1, -1, 3, 2], think=[-1, -1, -1, 0, 0]), 3, "fcfs")
    assert seconds(made.start) == [0, 0, 0, 5, 5]
    assert headway.audit(made).ok


@pytest.mark.parametrize("policy", ["ujfb(swap=1)", "ujfb(swap=1, regular=dbf)"])
def test_the_audit_of_urgent_jobs_knows_who_came_in_a_later_turn(policy: str) -> None:
    # Job 1 takes no time, and job 2 follows it: it comes at 0 too, behind job 3, which starts first.
    rows = [(0, 0, 1, 0, 0, 1), (0, 0, 2, 5, 5, 1), (0, 0, 2, 5, 5, 2)]
    work = log(rows, follows=[-1, 1, -1], think=[-1, 0, -1], urgent=[False] * 3, deadline=[-1] * 3)
    made = headway.simulate(work, 3, policy)
    assert seconds(made.start) == [0, 5, 0]
    verdict = headway.audit(made)
    assert verdict.ok and {"nobody urgent"} <= {row["law"] for row in verdict.table()}


@pytest.mark.parametrize(("ran", "starts"), [(8, [1, 3, 3, 1, 8, 13]), (2, [1, 0, 11, 1, 3, 8])])
def test_an_instant_has_one_redirection_also_where_users_come_in_its_second_turn(
    ran: int, starts: list[int]
) -> None:
    # At 1 job 3 has to wait: job 1 is redirected, and job 4, which takes no time, is backfilled. Job 5
    # follows it in the second turn and counts against job 2, which stays: this instant has had its
    # redirection. It goes at 3, when the next job comes; or it has ended by then, and job 3, which runs
    # since, goes in its place.
    rows = [(0, 0, 1, 10, 10, 1), (0, 0, 1, ran, 8, 1), (1, 0, 2, 5, 5, 1), (1, 0, 1, 0, 0, 1)]
    rows += [(1, 0, 2, 5, 5, 1), (3, 0, 1, 1, 1, 1)]
    work = log(rows, follows=[-1, -1, -1, -1, 4, -1], think=[-1, -1, -1, -1, 0, -1])
    made = headway.simulate(work, 2, "redirection(theta=0, group=2, filter=none)")
    assert seconds(made.start) == starts
    assert made.own["redirections"] == 2 and headway.audit(made).ok


def instance(seed: int) -> tuple[Workload, int]:
    draw = random.Random(seed)
    size, t, rows = draw.randint(2, 6), 0, []
    for _ in range(draw.randint(3, 24)):
        t += draw.choice([0, 0, 1, 3, 8])
        wall = draw.randint(1, 15)
        rows.append((t, draw.choice([0, 0, 2, 9]), draw.randint(1, size), draw.randint(0, wall + 1), wall))
    users = [draw.randint(1, 4) for _ in rows]
    work = log([(*row, user) for row, user in zip(rows, users, strict=True)])
    urgent = np.array([draw.random() < 0.2 for _ in rows])
    deadline = [row[0] + draw.randint(5, 90) if draw.random() < 0.4 else -1 for row in rows]
    return work.with_columns(
        urgent=urgent,
        swap=np.where(urgent, -1, SECOND),
        deadline=np.array([d * SECOND if d >= 0 else -1 for d in deadline]),
    ), size


POLICIES = (
    *("fcfs", "sjf", "f1", "lxf", "easy", "easy(order=f3, backfill=sjf)", "easy(estimate=0.5, age=9)"),
    *(
        "easy(depth=2)",
        "easy(dialect=pyss)",
        "easy(dialect=cqsim)",
        "conservative",
        "conservative(compress=scratch)",
    ),
    *("dbf", "dbf(late=refuse)", "ujf", "ujfb", "ujfb(preempt=kill)"),
    *("redirection(theta=3, group=2)", "redirection(theta=3, group=2, principal=conservative)"),
)


def test_a_policy_of_ones_own_in_python() -> None:
    """The same schedules as first come, first served; jobs have numbers in the order of their submission."""
    seen: list[tuple[int, int]] = []

    def watched(view: Any) -> list[Any]:
        seen.extend((job.number, job.submit) for job in view.new)
        assert view.column("submit").tolist() == [submit for _, submit in seen]
        return fcfs(view)

    for seed in range(12):
        work, size = instance(seed)
        given = apply(work, "feedback(think=12)")
        seen.clear()
        made, plain = headway.simulate(given, size, watched), headway.simulate(given, size, "fcfs")
        np.testing.assert_array_equal(made.start, plain.start, str(seed))
        np.testing.assert_array_equal(made.submit, plain.submit, str(seed))
        assert [number for number, _ in seen] == list(range(len(work)))
        assert [submit for _, submit in seen] == sorted(made.submit.tolist())
        assert headway.audit(made).ok


@compiled
def first_come(t: int, state: State) -> None:
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
    while head_fits(state, MACHINE):
        start(state, leave(state, QUEUE, state.pools[Q_HEAD, QUEUE]), MACHINE, HEAD)


def test_a_compiled_policy_of_ones_own() -> None:
    """As `fcfs`; with tables, which stand in the log's order, it is refused."""
    for seed in range(6):
        work, size = instance(seed)
        given = apply(work, "feedback(think=12)")
        made, plain = headway.simulate(given, size, first_come), headway.simulate(given, size, "fcfs")
        np.testing.assert_array_equal(made.start, plain.start, str(seed))
    tables = replace(first_come, tables=lambda jobs, procs: (np.zeros((1, 1), np.int64), np.zeros((0, 0))))
    with pytest.raises(UsageError, match="lays its tables out by the log's order of submission"):
        headway.simulate(apply(log(SESSION), "feedback"), 2, tables)


def without_feedback(made: headway.Schedule, policy: str, platform: Platform) -> headway.Schedule:
    kept = {name: made.workload.columns[name] for name in made.workload.columns}
    for name in ("follows", "think", "trace_submit"):
        del kept[name]
    return headway.simulate(Workload(kept), platform, policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_schedule_is_that_of_the_same_submissions_without_feedback(policy: str) -> None:
    followed = 0
    for seed in range(12):
        work, size = instance(seed)
        platform = Platform.procs(size)
        made = headway.simulate(apply(work, "feedback(think=12)"), platform, policy)
        again = without_feedback(made, policy, platform)
        np.testing.assert_array_equal(made.start, again.start, str(seed))
        np.testing.assert_array_equal(made.end, again.end, str(seed))
        verdict = headway.audit(made)
        assert verdict.ok, (seed, verdict.faults)
        followed += int(made.summary()["following_jobs"])
    assert followed > 30


def test_with_processors_that_come_and_go() -> None:
    for seed in range(12):
        work, size = instance(seed)
        lost = Outages(
            (
                Outage("down", 9 * SECOND, 20 * SECOND, 1, ((0, 1),)),
                Outage("maintenance", 30 * SECOND, 40 * SECOND, 1),
            )
        )
        platform = Platform.procs(size).with_outages(lost)
        for policy in ("fcfs", "easy", "conservative"):
            made = headway.simulate(apply(work, "feedback(think=12)"), platform, policy)
            again = without_feedback(made, policy, platform)
            np.testing.assert_array_equal(made.start, again.start, str(seed))
            assert headway.audit(made).ok


def test_a_submission_at_another_time_breaks_the_law(tmp_path: Path) -> None:
    made = headway.simulate(apply(log(SESSION), "feedback(think=50)"), 2, "fcfs")
    made.save(tmp_path / "run")
    loaded = headway.Schedule.load(tmp_path / "run")
    assert headway.audit(loaded).ok
    submit = loaded.submit.copy()
    submit[4] -= SECOND
    loaded.workload = loaded.workload.with_columns(submit=submit)
    (fault,) = headway.audit(loaded).faults
    assert fault.law == "think time" and fault.jobs == (5, 3)
    assert "job 3 ended at 40 s and its user thought for 5 s" in fault.message


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = Headway(tmp_path, capsys, monkeypatch)
    path, out = tmp_path / "log.swf", tmp_path / "run"
    write_swf(log(SESSION), path)
    done = command(
        "simulate", path, "--procs", 2, "--policy", "fcfs", "--feedback", "sessions(think=50)", "--out", out
    )
    assert done.status == 0 and "following_jobs" in done.out
    assert command("audit", out, "--trace", path).status == 0
    written = tmp_path / "fields.swf"
    assert command("convert", path, written, "--apply", "feedback(think=50)").status == 0
    read = headway.read(written)
    assert read.preceding.tolist() == [-1, -1, 1, 1, 3, -1] and seconds(read.think_time[2:5]) == [20, 21, 5]
    by_fields = apply(read, "feedback(by=fields)")
    assert seconds(headway.simulate(by_fields, 2, "fcfs").submit) == [0, 0, 30, 31, 45, 108]
    wrong = command("simulate", path, "--procs", 2, "--policy", "fcfs", "--feedback", "patience")
    assert wrong.status == 2 and "--feedback must be sessions or fields" in wrong.err


def test_what_cannot_be_simulated_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="the log's order of submission"):
        ordered = headway.policy("easy", order=lambda job: job.procs)
        headway.simulate(apply(log(SESSION), "feedback"), 2, ordered)
    with pytest.raises(UsageError, match="no recorded waits"):
        apply(log(SESSION).with_columns(wait=np.full(6, -1)), "feedback")
    with pytest.raises(UsageError, match="field 17"):
        apply(log(SESSION), "feedback(by=fields)")
    # Job 1 is too wide for the machine: job 3, which would follow it, is submitted when the log says.
    wide = [(0, 0, 9, 10, 10, 1), *SESSION[1:]]
    made = headway.simulate(apply(log(wide), "feedback(think=50)"), 2, "fcfs")
    assert seconds(made.submit)[1] == 30
    assert any(
        "is not simulated: submitted when the log says" in entry.action for entry in made.workload.ledger
    )
