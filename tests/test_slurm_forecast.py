"""A forecast by Slurm's rules begins with the machine as it is: who runs has his nodes, who waits his age."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
from headway.forecast import Outlook, Present, Record, present
from headway.forecast.answer import Question, answer
from headway.forecast.arrivals import Arrivals
from headway.forecast.forward import site_at
from headway.live.engine import Job
from headway.live.slurm.queue import SlurmJob
from headway.live.slurm.rules import RulesPlan
from headway.policies.grid.composed.cluster import Shape
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, NodeEvent, Partition, Qos
from headway.units import MINUTE, NEVER, SECOND
from headway.workload import Header
from slurm_by_hand import BASIC, BEGAN, UNDISTURBED, log, site

NOW = 40
"""Seconds after the first submission."""


def record(jobs: headway.Workload, on: Site, *starts: int | None) -> Record:
    """Jobs that started at these seconds, or wait; none is over."""
    begun = np.array([NEVER if start is None else start * SECOND for start in starts])
    return Record(jobs, on.platform(), begun, np.full(len(jobs), NEVER))


def planned(known: Record, row: int, now: int = NOW) -> int:
    """Seconds after the first submission at which a job starts if all use their requests and nobody comes."""
    return Outlook(known, UNDISTURBED).of_row(row, now * SECOND, draws=1).plan // SECOND


def short() -> Site:
    """The site with jobs of an hour at most."""
    main = Partition("main", (0, 1, 2, 3), is_default=True, max_minutes=60)
    return replace(site(), partitions=(main,))


def test_who_runs_has_the_nodes_that_it_has() -> None:
    """It runs on n3 since second 30, with the longest limit there is, and was not eligible long before."""
    asked: dict[str, Any] = {
        "node_list": ["n3", "", "", ""], "required_nodes": ["", "n3", "n1", ""], "eligible": [20, 35, 36, 37],
    }  # fmt: skip
    jobs = log((20, 1, 60, 60), (35, 1, 10, 10), (36, 1, 10, 10), (37, 4, 10, 10), **asked)
    known = record(jobs, short(), 30, None, None, None)
    assert 30 + 3600 <= planned(known, 1) <= 30 + 3600 + 60  # behind it
    assert planned(known, 2) == NOW  # and no pass was made for who runs, that it would have to wait after
    assert planned(known, 3) >= 30 + 3600  # the whole machine


def test_where_the_log_has_no_nodes_all_who_run_find_some() -> None:
    """The job of the large partition may not take the only node of the small one."""
    small = Partition("small", (0,), max_minutes=60)
    on = short()
    on = replace(on, partitions=(*on.partitions, small))
    jobs = log((0, 3, 60, 60), (1, 1, 60, 60), (2, 1, 10, 10), partition=["main", "small", "main"])
    assert planned(record(jobs, on, 10, 11, None), 2) >= 10 + 3600


def test_who_waits_has_waited_since_its_submission() -> None:
    """Half a day of age outweighs the larger size of a job that has just come; they do not fit together."""
    weights = {
        "PriorityType": "priority/multifactor", "PriorityWeightAge": "1000", "PriorityMaxAge": "1-0",
        "PriorityWeightJobSize": "100", "AccountingStorageType": "accounting_storage/slurmdbd",
    }  # fmt: skip
    half_a_day = 12 * 3600
    late = half_a_day - 60
    jobs = log((0, 4, 720, 720), (10, 3, 60, 60), (late, 4, 60, 60), eligible=[0, 10, late])
    known = record(jobs, site(weights), 0, None, None)
    old, new = (planned(known, row, half_a_day - 30) for row in (1, 2))
    assert half_a_day <= old < half_a_day + 300
    assert new >= old + 60 * MINUTE // SECOND


def test_who_was_submitted_held_and_released_runs_or_waits_as_others_do() -> None:
    """Its hold is over: who runs is not let into the queue once more, and who waits has been let in."""
    jobs = log((0, 4, 2, 2), (10, 4, 1, 1), (12, 4, 1, 1), held=[1, 1, 0], eligible=[1, 11, 12])
    known = record(jobs, short(), 2, None, None)
    assert [planned(known, row) // 60 for row in (1, 2)] == [2, 3]


def test_a_live_cluster_is_foreseen_with_who_runs_where() -> None:
    """A job runs since ten seconds with the longest limit there is: who wants all nodes waits for its end."""
    now = BEGAN * SECOND
    start, submitted = now - 10 * SECOND, now - 20 * SECOND
    runs = SlurmJob("1", "running", 4, start, None, 60 * MINUTE, 0, submitted, "main", "ada", "a", "n3")
    plan = RulesPlan(parse_spec(UNDISTURBED), short(), [runs], [], now)
    completion = plan.tried(Job(10 * MINUTE, Shape(16, 1, 1)))
    assert 69 * MINUTE <= completion - now <= 72 * MINUTE
    assert plan.tried(Job(10 * MINUTE, Shape(12, 1, 1))) - now <= 12 * MINUTE  # the other nodes


def test_a_queue_that_is_watched_has_its_partitions_and_nodes() -> None:
    """Behind a past of the site, a job runs on n3 since ten seconds with the longest limit there is."""
    jobs = log((0, 1, 60, 60), node_list=["n1"], partition=["main"])
    past = Record(jobs, short().platform(), np.array([0]), np.array([60 * MINUTE]))
    now = (BEGAN + 7200) * SECOND
    runs = Present(
        procs=4, walltime=60 * MINUTE, submit=now - 20 * SECOND, start=now - 10 * SECOND,
        user="ada", number=2, partition="main", nodes="n3",
    )  # fmt: skip
    known, at = present([runs], now, short().platform(), past)
    assert known.workload.labels["node_list"] == ["n1", "n3"]

    def plan(procs: int) -> int:
        asked = Question(procs, 10 * MINUTE, {"partition": 0})
        found = answer(Outlook(known, UNDISTURBED), at, asked, draws=1, teachers=0).main.forecast
        return (found.plan - at) // SECOND

    assert plan(12) < 60 and 3590 <= plan(16) <= 3660


def test_new_names_do_not_take_the_numbers_of_a_past_without_names() -> None:
    past = Record(
        headway.Workload.from_arrays(
            unit="s", submit=[0], procs=[1], runtime=[9], walltime=[9], user=[0],
            header=Header([f"; UnixStartTime: {BEGAN}"]),
        ),
        headway.Platform.procs(4), np.array([0]), np.array([9 * SECOND]),
    )  # fmt: skip
    now = (BEGAN + 60) * SECOND
    known, _ = present([Present(1, MINUTE, now, user="ada")], now, headway.Platform.procs(4), past)
    assert known.workload.user.tolist() == [0, 1]


def with_a_cancelled_job() -> headway.Workload:
    """The whole machine runs for ten minutes; who wants all of it for an hour waits and is cancelled after
    five minutes; a job of one node comes behind both."""
    jobs = log((0, 4, 10, 10), (10, 4, 60, 60), (20, 1, 10, 10), eligible=[0, 10, 20])
    return jobs.with_columns(
        wait=np.array([0, -1, 580]) * SECOND,
        cancelled_after=np.array([-1, 300 * SECOND, -1]),
        runtime=np.array([600, 0, 600]) * SECOND,
    )


def test_who_was_cancelled_while_it_waited_is_in_the_queue_until_then() -> None:
    """Nobody knows in the first minute that it will be cancelled: the job behind it is planned behind it."""
    known = Record.recorded(with_a_cancelled_job(), site().platform())
    assert len(known) == 3 and known.cancelled.tolist() == [False, True, False]
    outlook = Outlook(known, UNDISTURBED)
    found = outlook.of_row(2, 60 * SECOND, draws=1)
    assert (found.running, found.waiting) == (1, 1)
    assert found.plan >= 70 * MINUTE
    later = outlook.of_row(2, 400 * SECOND, draws=1)
    assert (later.running, later.waiting) == (1, 0)
    assert later.plan <= 11 * MINUTE


def test_who_was_cancelled_comes_again_only_where_the_policy_knows_such_jobs() -> None:
    known = Record.recorded(with_a_cancelled_job(), site().platform())
    now, rng = 86_405 * SECOND, np.random.default_rng(1)  # who came ten seconds after the first comes again
    day = {flag: Arrivals(known, now, 2, flag).draw(rng)[0].tolist() for flag in (False, True)}
    assert 1 in day[True] and 1 not in day[False]
    assert Arrivals(known, now, 2, True).run_times(np.array([1])).tolist() == [300 * SECOND]
    assert Outlook(known, UNDISTURBED).forward.policy.takes_cancelled


def test_no_run_time_is_learned_from_who_never_ran() -> None:
    known = Record.recorded(with_a_cancelled_job(), site().platform())
    assert known.by_end.tolist() == [0, 2]
    never = with_a_cancelled_job().with_columns(eligible=np.array([0, -1, 20 * SECOND]))
    assert len(Record.recorded(never, site().platform())) == 2  # held until it was cancelled: in nobody's way


def one_at_a_time() -> Site:
    """A site whose QOS *small* lets each user run one job."""
    database = "accounting_storage/slurmdbd"
    enforced = {"AccountingStorageEnforce": "limits,qos", "AccountingStorageType": database}
    qos = (Qos("normal"), Qos("small", limits=Limits(max_jobs_per_user=1)))
    tree = (Association("root"), Association("phys", parent=0), Association("phys", "ada", parent=1))
    return replace(short(), config=Config.of(BASIC | enforced), qos=qos, associations=tree)


def test_a_live_cluster_is_foreseen_with_accounts_and_qos() -> None:
    """Both jobs would fit now; of their QOS one runs at a time."""
    now = BEGAN * SECOND
    first, second = (
        SlurmJob(
            str(k), "waiting", 4, None, None, 10 * MINUTE, 1, now, "main", "ada", "a", "", "phys", "small"
        )
        for k in (1, 2)
    )  # fmt: skip
    plan = RulesPlan(parse_spec(UNDISTURBED), one_at_a_time(), [], [first, second], now)
    begin, end = plan.planned(0)
    assert begin - now < MINUTE
    assert plan.planned(1)[0] >= end


def test_a_queue_that_is_watched_has_its_accounts_and_qos() -> None:
    """ada's job of QOS *small* runs for ten minutes more: her next one of that QOS waits for it."""
    jobs = log((0, 1, 60, 60), partition=["main"], user=["ada"], account=["phys"], qos=["normal"])
    on = one_at_a_time()
    past = Record(jobs, on.platform(), np.array([0]), np.array([60 * MINUTE]))
    now = (BEGAN + 7200) * SECOND
    runs = Present(
        procs=4, walltime=11 * MINUTE, submit=now - MINUTE, start=now - MINUTE, user="ada", number=2,
        partition="main", nodes="n3", account="phys", qos="small",
    )  # fmt: skip
    known, at = present([runs], now, on.platform(), past)
    assert known.workload.labels["qos"] == ["normal", "small"]

    def plan(qos: int) -> int:
        asked = Question(4, 10 * MINUTE, {"partition": 0, "user": 0, "account": 0, "qos": qos})
        found = answer(Outlook(known, UNDISTURBED), at, asked, draws=1, teachers=0).main.forecast
        return (found.plan - at) // SECOND

    assert plan(0) < 60 and 590 <= plan(1) <= 700


@pytest.mark.parametrize(
    ("went", "back", "expected"),
    [
        (1010, None, 1030),  # nobody knows yet
        (600, 3000, 1401),  # for 400 s; that it will be longer nobody knows
        (600, None, 1401),
        (600, 999, 1030),
    ],
)
def test_of_nodes_only_what_has_happened_is_known(went: int, back: int | None, expected: int) -> None:
    """A job of the whole machine at 1000, where another one runs until 1030 at most.

    A node that is away stays away for as long again as it has been.
    """
    event = NodeEvent("n2", BEGAN + went, None if back is None else BEGAN + back, "DOWN")
    shown = tuple(replace(node, state="DOWN") if node.name == "n2" else node for node in short().nodes)
    on = replace(short(), nodes=shown, events=(event,))  # the state of the export, which is later
    jobs = log((970, 1, 1, 1), (1000, 4, 10, 10), node_list=["n1", ""])
    assert expected <= planned(record(jobs, on, 970, None), 1, 1000) <= expected + 60


def test_usage_is_what_the_log_has_until_then(tmp_path: Path) -> None:
    """No file tells usage: Ada ran for 100 s on two CPUs, Bob 50 of his 100 s until then."""
    jobs = tmp_path / "jobs.txt"
    jobs.write_text(
        "JobIDRaw|User|Account|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS\n"
        f"1|ada|lab|COMPLETED|{BEGAN}|{BEGAN}|{BEGAN + 100}|100|10|2|2\n"
        f"2|bob|lab|COMPLETED|{BEGAN}|{BEGAN + 50}|{BEGAN + 150}|100|10|1|1\n"
    )
    weights = {
        "PriorityType": "priority/multifactor", "PriorityWeightFairshare": "1000",
        "PriorityDecayHalfLife": "0", "AccountingStorageType": "accounting_storage/slurmdbd",
    }  # fmt: skip
    tree = (
        Association("root"),
        Association("lab", parent=0),
        Association("lab", "ada", parent=1),
        Association("lab", "bob", parent=1),
    )
    on = replace(site(weights), associations=tree, jobs=jobs)
    then = site_at(on, BEGAN + 100)
    assert then.usage == {("root", ""): 250, ("lab", ""): 250, ("lab", "ada"): 200, ("lab", "bob"): 50}
    assert site_at(replace(on, usage={("lab", "ada"): 7.0}), BEGAN + 100).usage == {("lab", "ada"): 7.0}


def test_runs_on_the_same_site_leave_what_is_known_of_it_as_it_was() -> None:
    """Tables that follow from the site alone are made once; a run that changed them would change the next."""
    jobs = log(*((k, 1 + k % 3, 40, 60) for k in range(30)))
    again = short()
    starts = [headway.simulate(jobs, again.platform(), UNDISTURBED).start for _ in range(2)]
    np.testing.assert_array_equal(starts[0], starts[1])
    fresh = short()
    np.testing.assert_array_equal(headway.simulate(jobs, fresh.platform(), UNDISTURBED).start, starts[0])
    assert len(again.made_of_it) > 10
    for name, made in again.made_of_it.items():
        if isinstance(made, np.ndarray):
            np.testing.assert_array_equal(made, fresh.made_of_it[name], name)
