"""The life of a Slurm job beyond queue and backfill, on sites small enough to be worked out by hand.

Nodes n1 to n4 have four CPUs each, jobs take whole nodes, and nothing delays the controller. Times are
seconds after the first submission; what a pass decides happens within a minute of what allows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headway
from headway.schedule import ENDED
from headway.site import Site
from headway.site.model import Association, Limits, Node, NodeEvent, Partition, Qos, Reservation
from headway.units import SECOND
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts


def test_two_tasks_of_an_array_at_a_time() -> None:
    """--array=0-3%2: the third starts when the first has ended, though two nodes stay idle."""
    tasks = log(*[(0, 1, 20, 10)] * 4, array=[7] * 4, array_task=[0, 1, 2, 3], array_limit=[2] * 4)
    first, second, third, fourth = starts(tasks, site())
    assert first == second < MINUTE
    assert third == fourth == first + 600


def test_a_task_is_recorded_as_eligible_when_the_limit_of_its_array_lets_it_in() -> None:
    """That is the recorded schedule's doing: with other run times it is another moment. A begin time that all
    tasks have is kept.
    """
    tasks = {"array": [7] * 3, "array_task": [0, 1, 2], "array_limit": [1] * 3}
    waits = [0, 1200, 2400]
    for begin in (0, 900):
        jobs = log(*[(0, 1, 20, 10)] * 3, **tasks, eligible=[begin + one for one in waits])
        first, second, third = starts(jobs, site())
        assert begin <= first <= begin + MINUTE
        assert first + 600 <= second <= first + 660 and second + 600 <= third <= second + 660


def test_a_job_is_recorded_as_eligible_when_its_reservation_begins() -> None:
    one = Reservation("r", BEGAN, BEGAN + 7200, (0, 1))
    jobs = log((0, 1, 20, 10), eligible=[3600], reservation=["r"])
    assert starts(jobs, site(reservations=(one,))) < [MINUTE]


def test_an_array_is_one_entry_of_the_queue() -> None:
    """Its tasks share one priority: all of them come before a job that was submitted later."""
    jobs = log((0, 4, 10, 10), (1, 2, 10, 10), (1, 2, 10, 10), (2, 2, 10, 10), array=[-1, 7, 7, -1],
               array_task=[-1, 0, 1, -1])  # fmt: skip
    head, *tasks, last = starts(jobs, site())
    assert all(head + 600 <= one < head + 660 for one in tasks)
    assert last >= tasks[0] + 600


@pytest.mark.parametrize(
    ("kind", "status", "after"),
    [("after", 1, "start"), ("afterany", 0, "end"), ("afterok", 1, "end"), ("afternotok", 0, "end")],
)
def test_a_dependency_is_on_the_simulated_job(kind: str, status: int, after: str) -> None:
    """Job 2 has idle nodes from the beginning; job 1 waits 30 min for its own, and runs for ten."""
    jobs = log((0, 4, 30, 30), (1, 4, 10, 10), (2, 1, 5, 5), dependency=["", "", f"{kind}:2"],
               status=[1, status, 1])  # fmt: skip
    _, target, dependent = starts(jobs, site())
    allowed = target if after == "start" else target + 600
    assert allowed <= dependent <= target + 600 + MINUTE


def test_a_dependency_that_cannot_be_met_any_more_keeps_the_job_for_ever() -> None:
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), dependency=["", "afterok:1"], status=[0, 1])
    schedule = simulated(jobs, site())
    assert schedule.workload.job.tolist() == [1]
    entry = schedule.workload.ledger.entries[-1]
    assert (entry.rule, entry.jobs) == ("dependency", (2,))


def test_a_singleton_waits_for_the_earlier_one_of_its_name() -> None:
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), dependency=["singleton"] * 3,
               name=["s", "s", "t"],
               user=[0, 0, 0])  # fmt: skip
    first, second, other = starts(jobs, site())
    assert other < MINUTE and first + 600 <= second <= first + 660


def test_a_singleton_waits_for_jobs_of_its_name_that_did_not_ask_to_be_alone() -> None:
    """As real Slurm did it: for those that came before, also when the later of them ends first, and for one
    that came later and runs. One that came later and waits is no reason to wait.
    """
    jobs = log((0, 1, 30, 20), (1, 1, 30, 10), (2, 1, 30, 5), (3, 1, 30, 5), (1300, 1, 60, 35),
               dependency=["", "", "singleton", "singleton", ""], name=["s"] * 5, user=[0] * 5)  # fmt: skip
    *_, third, fourth, fifth = starts(jobs, site())
    assert 1200 <= third <= 1260
    assert 1300 <= fifth <= 1360
    assert fifth + 2100 <= fourth <= fifth + 2160


def test_tasks_of_a_singleton_array_run_together_and_others_wait_for_all_of_them() -> None:
    """As real Slurm did it: the array becomes independent once, as a whole."""
    array = {"array": [-1, 7, 7, -1], "array_task": [-1, 0, 1, -1]}
    jobs = log((0, 1, 30, 10), (1, 1, 30, 10), (1, 1, 30, 20), (2, 1, 30, 5), **array, name=["s"] * 4,
               user=[0] * 4, dependency=["", *["singleton"] * 3])  # fmt: skip
    _, *tasks, last = starts(jobs, site())
    assert all(600 <= one <= 660 for one in tasks)
    assert tasks[1] + 1200 <= last <= tasks[1] + 1260


def test_who_waits_for_a_job_that_the_log_lacks_is_eligible_when_the_log_says_so() -> None:
    """Such as one that was cancelled while it waited."""
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), dependency=["", "afterany:99"], eligible=[0, 900])
    assert starts(jobs, site())[1] in range(900, 961)


def test_a_begin_time_keeps_a_job_back_and_nobody_else() -> None:
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), begin=[f"{BEGAN + 1800}", ""])
    later, other = starts(jobs, site())
    assert 1800 <= later <= 1860 and other < MINUTE


def test_a_released_job_goes_to_the_end_of_the_queue() -> None:
    """Held from the beginning, released after 5 min, when two others wait: they come first."""
    jobs = log((0, 4, 10, 10), (1, 4, 10, 10), (2, 4, 10, 10), (3, 4, 10, 10), held=[0, 1, 0, 0],
               eligible=[0, 300, 2, 3])  # fmt: skip
    _, held, second, third = starts(jobs, site())
    assert second < third < held


def test_nobody_starts_into_a_maintenance() -> None:
    """All nodes from 30 to 60 min: a job of 40 min waits for its end, one of 20 min goes before."""
    one = Reservation("m", BEGAN + 1800, BEGAN + 3600, (0, 1, 2, 3), ("MAINT", "ALL_NODES"))
    long, short = starts(log((0, 1, 40, 5), (1, 1, 20, 5)), site(reservations=(one,)))
    assert short < MINUTE
    assert 3600 <= long <= 3660


def test_a_reservation_keeps_its_nodes_for_those_who_name_it() -> None:
    """Two of four nodes are reserved for the first hour: a job for three nodes waits."""
    one = Reservation("r", BEGAN, BEGAN + 3600, (0, 1), users=("u",))
    jobs = log((0, 3, 30, 10), (1, 2, 30, 10), (2, 2, 30, 10), reservation=["", "r", ""])
    three, mine, two = starts(jobs, site(reservations=(one,)))
    assert mine < MINUTE and two < MINUTE
    assert three >= 3600


def test_a_reservation_that_recurs_daily() -> None:
    one = Reservation("d", BEGAN - 82_800, BEGAN - 79_200, (0, 1, 2, 3), ("MAINT", "ALL_NODES", "DAILY"))
    (start,) = starts(log((0, 1, 90, 5)), site(reservations=(one,)))
    assert 7200 <= start <= 7260  # it would run into the next one, from 60 to 120 min


def test_a_node_that_goes_down_sends_its_jobs_back_to_the_queue() -> None:
    """n1 is down from 5 to 60 min: its job begins anew after the wait of two minutes, on other nodes."""
    away = NodeEvent("n1", BEGAN + 300, BEGAN + 3600, "DOWN")
    schedule = simulated(log((0, 1, 30, 20), (1, 3, 30, 20)), site(events=(away,)))
    assert schedule.pieces is not None
    again = int(schedule.start[0]) // 1_000_000
    assert 300 + 121 <= again <= 1260  # n2 to n4 are taken until 20 min
    assert ENDED[int(schedule.pieces.ended[0])] == "failed"
    assert int(schedule.end[0] - schedule.start[0]) == 1200 * 1_000_000


def test_a_job_that_may_not_be_requeued_is_lost_with_its_node() -> None:
    away = NodeEvent("n1", BEGAN + 300, BEGAN + 3600, "DOWN")
    schedule = simulated(log((0, 1, 30, 20), requeue=[0]), site(events=(away,)))
    assert int(schedule.end[0]) == 300 * 1_000_000


def test_a_draining_node_keeps_its_job_and_takes_no_other() -> None:
    drains = NodeEvent("n1", BEGAN + 300, BEGAN + 3600, "DRAIN")
    first, second, third = starts(
        log((0, 1, 30, 10), (1, 3, 120, 100), (400, 1, 30, 10)), site(events=(drains,))
    )
    assert first < MINUTE and second < MINUTE
    assert 3600 <= third <= 3660


@pytest.mark.parametrize(
    ("state", "is_used"),
    [
        ("IDLE+DRAIN", False), ("MIXED+DRAIN", False), ("ALLOCATED+DRAIN+MAINT", False), ("DRAINED*", False),
        ("DOWN*", False), ("DOWN+DRAIN", False), ("IDLE*", False), ("IDLE+NOT_RESPONDING", False),
        ("FUTURE", False), ("IDLE+FAIL", False), ("IDLE+CLOUD+POWERED_DOWN", True), ("MIXED+PLANNED", True),
        ("IDLE+MAINT", True), ("IDLE+CLOUD+NOT_RESPONDING+POWERING_UP", True), ("UNKNOWN", True),
    ],
)  # fmt: skip
def test_a_node_is_used_unless_its_state_says_otherwise(state: str, is_used: bool) -> None:
    """As `scontrol show node` writes states, with all their flags; the job needs all four nodes."""
    three = site().nodes[:3]
    schedule = simulated(log((0, 4, 10, 10)), site(nodes=(*three, replace(site().nodes[3], state=state))))
    assert (len(schedule.start) == 1 and int(schedule.start[0]) < MINUTE * SECOND) == is_used


def test_a_node_that_goes_down_while_it_drains_loses_its_job() -> None:
    down = NodeEvent("n1", BEGAN + 300, BEGAN + 3600, "DOWN+DRAIN")
    schedule = simulated(log((0, 1, 30, 20), requeue=[0]), site(events=(down,)))
    assert int(schedule.end[0]) == 300 * 1_000_000


BUILTIN = {"SchedulerType": "sched/builtin"}
HIGHEST = 4_294_967_294
"""A priority that no job has."""


def preempting(mode: str = "REQUEUE", exempt: str = "0") -> Site:
    config = {
        "PriorityType": "priority/multifactor", "PriorityWeightQOS": "1000", "PreemptType": "preempt/qos",
        "PreemptMode": mode, "PreemptExemptTime": exempt,
        "AccountingStorageType": "accounting_storage/slurmdbd",
    }  # fmt: skip
    qos = Qos("low", priority=1), Qos("high", priority=100, preempt=("low",))
    return site(config, qos=qos, associations=(Association("root"),))


def test_a_job_of_a_higher_qos_takes_the_place_of_the_smaller_one() -> None:
    """Both run on two nodes or one; the cheapest victim that makes enough room goes and runs again later."""
    jobs = log(
        (0, 2, 60, 30), (1, 1, 60, 30), (2, 1, 60, 30), (600, 1, 10, 10), qos=["low", "low", "low", "high"]
    )
    schedule = simulated(jobs, preempting())
    assert schedule.pieces is not None
    victims = np.unique(schedule.pieces.job[schedule.pieces.ended == ENDED.index("preempted")])
    assert victims.tolist() in ([1], [2])
    start = schedule.start // 1_000_000
    assert 600 <= start[3] <= 660
    assert start[victims[0]] >= 600 + 121


@pytest.mark.parametrize("exempt", ["00:10:00", "10", "10:00"])
def test_a_job_is_exempt_from_preemption_for_a_time(exempt: str) -> None:
    """A bare number is minutes."""
    jobs = log((0, 4, 60, 30), (60, 1, 10, 10), qos=["low", "high"])
    victim, urgent = starts(jobs, preempting(exempt=exempt))
    assert 600 <= urgent <= 700
    assert victim > urgent


@pytest.mark.parametrize(("flags", "minutes"), [((), 20), (("OverPartQOS",), 5)])
def test_the_qos_of_a_partition_exempts_before_that_of_the_job(flags: tuple[str, ...], minutes: int) -> None:
    """PreemptExemptTime: as with limits the partition's QOS comes first, unless the job's says otherwise."""
    on = preempting()
    low = replace(on.qos[0], preempt_exempt_seconds=300, flags=frozenset(flags))
    part = Qos("part", preempt_exempt_seconds=1200)
    on = replace(on, qos=(low, *on.qos[1:], part), partitions=(replace(on.partitions[0], qos="part"),))
    jobs = log((0, 4, 60, 30), (60, 1, 10, 10), qos=["low", "high"])
    assert minutes * MINUTE <= starts(jobs, on)[1] <= (minutes + 2) * MINUTE


@pytest.mark.parametrize(
    ("of_partition", "of_job", "of_site", "enforced", "waits"),
    [
        (None, HIGHEST, "0", "limits", False),
        (HIGHEST, None, "0", "limits", False),
        (1, HIGHEST, "0", "limits", True),
        (0, HIGHEST, "0", "limits", False),
        (None, 0, str(HIGHEST), "limits", False),
        (None, HIGHEST, "0", "", True),
    ],
)
def test_whose_priority_is_too_low_to_keep_nodes_from_others(
    of_partition: int | None, of_job: int | None, of_site: str, enforced: str, waits: bool
) -> None:
    """MinPrioThres of the partition's QOS, of the job's, bf_min_prio_reserve: the first that is not 0 counts,
    those of QOS where limits are enforced. A job of four nodes waits, one of a node passes it or does not."""
    qos = Qos("normal", min_prio_threshold=of_job), Qos("part", min_prio_threshold=of_partition)
    on = site(
        BUILTIN | {"AccountingStorageEnforce": enforced}, qos=qos, associations=(Association("root"),),
        partitions=(Partition("main", (0, 1, 2, 3), is_default=True, qos="part"),),
        scheduler={"bf_min_prio_reserve": of_site},
    )  # fmt: skip
    jobs = log((0, 1, 60, 60), (60, 4, 60, 60), (120, 1, 60, 60), qos=["normal"] * 3)
    assert (starts(jobs, on)[2] > 180) is waits


def test_a_cancelled_victim_does_not_run_again() -> None:
    jobs = log((0, 4, 60, 30), (600, 1, 10, 10), qos=["low", "high"])
    schedule = simulated(jobs, preempting("CANCEL"))
    assert 600 <= int(schedule.end[0]) // 1_000_000 <= 660


def test_who_takes_victims_in_one_partition_is_not_looked_at_in_its_others() -> None:
    """The third job lists `high`, whose nodes the first job holds, and `mid`, where one node is idle. In the
    pass in which it takes the first one's place its record in `mid` is left out, so it does not keep that
    node from the last job, which starts while the victim's nodes are completing."""
    config = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    low = Partition("low", (0, 1, 2, 3), is_default=True)
    on = site(config, partitions=(low, Partition("mid", (2, 3)), Partition("high", (0, 1), tier=2)))
    lists = ["low", "mid", "high,mid", "mid"]
    jobs = log((0, 2, 90, 30), (1, 1, 60, 60), (600, 2, 10, 10), (600, 1, 120, 90), partition=lists)
    schedule = headway.simulate(jobs, on.platform(), "slurm(epilog=50, cycle=0, late=0, drift=0)")
    assert schedule.pieces is not None
    assert schedule.pieces.job[schedule.pieces.ended == ENDED.index("preempted")].tolist() == [0]
    assert 600 * SECOND <= schedule.start[3] < schedule.start[2] < 1200 * SECOND


def test_accelerators_are_counted_on_each_node() -> None:
    """n1 has two GPUs: two jobs of one GPU share it, the third waits although CPUs are free."""
    nodes = (replace(site().nodes[0], gres={"gpu": 2}), *site().nodes[1:])
    jobs = log(*[(0, 1, 10, 10)] * 3, gres=["gpu:1"] * 3, exclusive=[0] * 3, cpus=[1] * 3, tasks=[1] * 3)
    first, second, third = starts(jobs, site(nodes=nodes))
    assert first == second and third == first + 600


def test_an_accelerator_of_no_type_is_of_the_first_type_that_is_free() -> None:
    """n1 has two GPUs of each of two types. Who asks for one of any type has one of the first: who wants both
    of the second type starts, too, who wants both of the first waits."""
    nodes = (replace(site().nodes[0], gres={"gpu": 4, "gpu:a": 2, "gpu:b": 2}), *site().nodes[1:])
    of_one_cpu: dict[str, Any] = {"exclusive": [0] * 3, "cpus": [1] * 3, "tasks": [1] * 3}
    jobs = log(*[(0, 1, 10, 10)] * 3, gres=["gpu:1", "gpu:b:2", "gpu:a:2"], **of_one_cpu)
    first, second, third = starts(jobs, site(nodes=nodes))
    assert first == second < 60
    assert third >= first + 600


def test_an_array_that_waits_is_one_job_of_a_pass() -> None:
    """A pass of the main loop tests three jobs here: the one that closes its partition, the array behind it,
    whatever tasks it has, and the job in the other partition, which starts at once. Nothing else would start
    it: there is no backfill, and a full pass only each hour."""
    parts = (Partition("main", (0, 1), is_default=True), Partition("other", (2, 3)))
    slow = {"sched_interval": "3600", "default_queue_depth": "2"}
    jobs = log(
        (0, 2, 120, 120), (1, 2, 10, 10), *[(2, 1, 10, 10)] * 4, (3, 1, 10, 10),
        array=[-1, -1, 7, 7, 7, 7, -1], array_task=[-1, -1, 0, 1, 2, 3, -1],
        partition=["main"] * 6 + ["other"],
    )  # fmt: skip
    builtin = {"SchedulerType": "sched/builtin"}
    assert starts(jobs, site(builtin, partitions=parts, scheduler=slow))[-1] < 60


def test_passes_keep_a_distance() -> None:
    """Three jobs have all nodes, end a second apart from each other, and three wait for them. Each end asks
    for a pass: the second one has to wait until ten seconds after the first, and is one with the third
    (sched_min_interval, in microseconds). There is no backfill, and a full pass only each hour."""
    jobs = log(*[(0, 1, 60, 20 + k / 60) for k in (0, 1, 2)], *[(k, 1, 60, 20) for k in (1, 2, 3)])
    builtin = {"SchedulerType": "sched/builtin"}
    for least, apart in (("2", [1, 2]), ("10000000", [10, 10])):
        rare = {"sched_interval": "3600", "batch_sched_delay": "1", "sched_min_interval": least}
        on = site(builtin, partitions=(Partition("main", (0, 1, 2), is_default=True),), scheduler=rare)
        *_, first, second, third = starts(jobs, on)
        assert first == starts(jobs, on)[0] + 1200
        assert [second - first, third - first] == apart


def test_two_passes_in_one_second() -> None:
    """Two jobs end in the same second, half a second apart, and two wait for them. By default
    (sched_min_interval, two microseconds) the pass that the second end asks for is not put off. There is no
    backfill, and a full pass only each hour."""
    jobs = log((0, 2, 60, 20 + 0.2 / 60), (0, 2, 60, 20 + 0.7 / 60), (1, 2, 60, 20), (2, 2, 60, 20))
    rare = {"sched_interval": "3600", "batch_sched_delay": "1"}
    before, _, first, second = starts(jobs, site({"SchedulerType": "sched/builtin"}, scheduler=rare))
    assert first == second == before + 1200


def test_without_a_main_loop_backfill_starts_every_job() -> None:
    """sched_interval=-1. The third job comes just before the first ends: backfill looks, and again after a
    minute. Only then the second starts. A main loop that makes a full pass each second starts it at once."""
    jobs = log((0, 4, 60, 10.5), (1, 4, 60, 10), (660, 4, 60, 10))
    first, second, _ = starts(jobs, site(scheduler={"sched_interval": "-1", "bf_interval": "60"}))
    assert first < MINUTE and second == 660 + MINUTE > first + 630
    first, second, _ = starts(jobs, site(scheduler={"sched_interval": "0", "bf_interval": "60"}))
    assert first <= 1 and second == first + 630


def test_without_a_main_loop_too_who_waits_for_ever_is_told() -> None:
    """sched_interval=-1. When the second job has ended nothing changes, and backfill does not look again.
    Where it looks at one job of a user only, it never comes to the second."""
    jobs = log((0, 1, 10, 10), (0, 1, 10, 10), licenses=["matlab:3", ""], user=["u", "u"])
    for most, told in ("2", {"licences": (1,)}), ("1", {"licences": (1,), "depth": (2,)}):
        on = site(scheduler={"sched_interval": "-1", "bf_max_job_user": most}, licenses={"matlab": 2})
        schedule = simulated(jobs, on)
        assert {entry.rule: entry.jobs for entry in schedule.workload.ledger.entries if entry.dropped} == told


def test_licences_are_counted_in_the_whole_cluster() -> None:
    jobs = log(*[(0, 1, 10, 10)] * 3, licenses=["matlab:1"] * 3)
    first, second, third = starts(jobs, site(licenses={"matlab": 2}))
    assert first == second and third == first + 600


@pytest.mark.parametrize("bound", [1, 2])
def test_a_job_that_lacks_a_licence_counts_among_those_of_its_user(bound: int) -> None:
    """The first job has the licence for an hour, the second waits for its nodes. Backfill looks at so many
    jobs of a user: the third one lacks the licence, so where the bound is one the fourth has to wait."""
    jobs = log(
        (0, 3, 60, 60), (1, 4, 60, 10), (2, 1, 30, 10), (3, 1, 30, 10),
        licenses=["m:1", "", "m:1", ""], user=["v", "v", "u", "u"],
    )  # fmt: skip
    on = site(scheduler={"bf_max_job_user": str(bound)}, licenses={"m": 1})
    last = starts(jobs, on)[3]
    assert last < 2 * MINUTE if bound == 2 else last >= 60 * MINUTE


@pytest.mark.parametrize("plans", [False, True])
def test_backfill_plans_licences_where_it_is_told_to(plans: bool) -> None:
    """The first job has the licence for an hour, the second wants it and all nodes, the third one node for
    two hours. Without a plan of the second the third starts at once; with one it would be in its way, and the
    main loop goes no further than the second (bf_licenses)."""
    jobs = log((0, 1, 60, 60), (1, 4, 10, 10), (2, 1, 120, 120), licenses=["m:1", "m:1", ""])
    scheduler = {"bf_licenses": ""} if plans else {}
    first, second, third = starts(jobs, site(scheduler=scheduler, licenses={"m": 1}))
    if plans:
        assert first + 3600 <= second < first + 3720 and third >= second + 600
    else:
        assert third < 2 * MINUTE and second >= third + 7200


def test_running_jobs_have_their_licences_in_the_plan() -> None:
    """Two of three licences are in use, one for an hour and one for two. Who wants two of them is planned in
    an hour, and a job of 30 minutes goes before it with the third; one of 90 does not (bf_licenses)."""
    jobs = log(
        (0, 1, 60, 60), (0, 1, 120, 120), (10, 1, 60, 60), (11, 1, 90, 90), (12, 1, 30, 30),
        licenses=["m:1", "m:1", "m:2", "m:1", "m:1"],
    )  # fmt: skip
    _, _, two, long, short = starts(jobs, site(scheduler={"bf_licenses": ""}, licenses={"m": 3}))
    assert short < 120
    assert 3600 <= two < 3720
    assert long >= 3600


def test_an_array_that_lacks_a_licence_counts_once_among_the_jobs_of_its_user() -> None:
    """As above, with an array of three tasks in the place of the third job, and a bound of two."""
    jobs = log(
        (0, 3, 60, 60), (1, 4, 60, 10), *[(2, 1, 30, 10)] * 3, (3, 1, 30, 10),
        licenses=["m:1", "", "m:1", "m:1", "m:1", ""], user=["v", "v", "u", "u", "u", "u"],
        array=[-1, -1, 7, 7, 7, -1], array_task=[-1, -1, 0, 1, 2, -1],
    )  # fmt: skip
    on = site(scheduler={"bf_max_job_user": "2"}, licenses={"m": 1})
    assert starts(jobs, on)[-1] < 2 * MINUTE


@pytest.mark.parametrize("known", [False, True])
def test_a_bound_by_association_is_for_jobs_that_have_one(known: bool) -> None:
    """The second job waits for all nodes, the third fits beside it. With bf_max_job_assoc=1 backfill looks at
    one of them for each association; where there are none, as without a database, it looks at all."""
    jobs = log((0, 3, 60, 60), (1, 4, 60, 10), (2, 1, 30, 10), user=["u"] * 3, account=["a"] * 3)
    tree = (Association("root"), Association("a", parent=0), Association("a", "u", parent=1))
    on = site(scheduler={"bf_max_job_assoc": "1"}, associations=tree if known else ())
    last = starts(jobs, on)[2]
    assert last >= 60 * MINUTE if known else last < 2 * MINUTE


def test_required_and_excluded_nodes() -> None:
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), (2, 3, 10, 10), required_nodes=["n3", "n3", ""],
               excluded_nodes=["", "", "n4"])  # fmt: skip
    first, second, third = starts(jobs, site())
    assert first < MINUTE
    assert second >= first + 600
    assert third >= first + 600  # n1 to n3 are what is left to it, and n3 is taken


@pytest.mark.parametrize(("state", "blocks"), [("DRAIN", True), ("", False)])
def test_a_young_job_holds_up_its_partition_only_if_nodes_are_lost(state: str, blocks: bool) -> None:
    """bf_min_age_reserve lets others pass a job of three nodes that has not waited so long, if nodes are busy
    until 30 min; not if they drain until then. That was seen in a run of Slurm 22.05."""
    away = tuple(NodeEvent(node, BEGAN, BEGAN + 1800, state) for node in ("n3", "n4") if state)
    jobs = log((0, 2, 60, 0.1 if state else 30), (60, 3, 60, 30), (120, 1, 60, 30))
    on = site(BUILTIN, events=away, scheduler={"bf_min_age_reserve": "7200"})
    assert (starts(jobs, on)[2] >= 1800) is blocks


@pytest.mark.parametrize(("wanted", "named"), [(4, "n[1-4]"), (2, "n4"), (1, "n4")])
def test_a_job_that_names_a_lost_node_holds_up_nobody(wanted: int, named: str) -> None:
    """n4 drains and n1 is busy; there is no backfill. The last job starts at once, as in Slurm 22.05."""
    away = NodeEvent("n4", BEGAN, BEGAN + 7200, "DRAIN")
    jobs = log((0, 1, 60, 60), (60, wanted, 60, 60), (120, 1, 60, 60), required_nodes=["n1", named, ""])
    _, second, third = starts(jobs, site(BUILTIN, events=(away,)))
    assert third < 180 and second >= 7200


def test_a_job_that_waits_for_a_node_by_name_keeps_it_from_the_others() -> None:
    """n1 is to be maintained, and a job too long to run there before that names it. A short one that names it
    waits, too, as in a run of Slurm 22.05; one that does not has another node. There is no backfill."""
    soon = Reservation("soon", BEGAN + 1800, BEGAN + 5400, (0,), ("MAINT",))
    jobs = log((0, 1, 60, 60), (60, 1, 5, 5), (60, 1, 60, 60), required_nodes=["n1", "n1", ""])
    first, second, third = starts(jobs, site(BUILTIN, reservations=(soon,)))
    assert third < 120 and 5400 <= first < second


def test_a_job_over_a_limit_keeps_the_node_that_it_names_from_the_others() -> None:
    """Ann may have four CPUs, which she has on n2; her second job and Bob's name n1. There is no backfill."""
    users = (
        Association("root"),
        Association("a", "ann", parent=0, limits=Limits(grp_tres={"cpu": 4})),
        Association("a", "bob", parent=0),
    )
    on = site(BUILTIN | {"AccountingStorageEnforce": "limits"}, associations=users)
    jobs = log(
        (0, 1, 60, 30), (60, 1, 60, 30), (120, 1, 60, 30), (120, 1, 60, 30),
        required_nodes=["n2", "n1", "n1", ""], user=["ann", "ann", "bob", "bob"], account=["a"] * 4,
    )  # fmt: skip
    first, second, third, fourth = starts(jobs, on)
    assert fourth < 180 and first + 1800 <= second and second + 1800 <= third


def test_backfill_shortens_a_job_that_accepts_it() -> None:
    """A plan for all nodes at 30 min; --time-min=20 lets a job of 60 min go before, for 20 min exactly."""
    jobs = log((0, 3, 30, 30), (1, 4, 30, 30), (2, 1, 60, 50), time_min=[-1, -1, 20 * MINUTE])
    schedule = simulated(jobs, site())
    assert int(schedule.start[2]) < 90 * 1_000_000
    assert int(schedule.end[2] - schedule.start[2]) <= 21 * MINUTE * 1_000_000


@pytest.mark.parametrize("state", ["DOWN", "INACTIVE"])
def test_a_closed_partition_starts_nothing(state: str) -> None:
    closed = NodeEvent("", BEGAN + 60, BEGAN + 1800, state, partition="main")
    first, second = starts(log((0, 1, 10, 5), (120, 1, 10, 5)), site(events=(closed,)))
    assert first < MINUTE and 1800 <= second <= 1860


def test_a_partition_that_drains_starts_what_it_has() -> None:
    """As real Slurm did it: a job, the tasks of an array and a job with a begin time that waited started one
    after the other while their partition was in state DRAIN. Submissions to it were refused.
    """
    drains = NodeEvent("", BEGAN + 60, BEGAN + 7200, "DRAIN", partition="main")
    first, second = starts(log((0, 4, 10, 5), (1, 4, 10, 5)), site(events=(drains,)))
    assert first + 300 <= second <= first + 360


def test_events_tell_more_of_a_partition_than_its_state_when_the_site_was_exported() -> None:
    """Exported while it was down: it was up before."""
    parts = (replace(site().partitions[0], state="DOWN"),)
    closed = NodeEvent("", BEGAN + 3600, None, "DOWN", partition="main")
    (first,) = starts(log((0, 1, 10, 5)), site(partitions=parts, events=(closed,)))
    assert first < MINUTE


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("limits", "users"),
    [
        (Limits(grp_tres={"node": 2}), [0, 1, 2, 0, 1]),
        (Limits(max_tres_per_user={"node": 2}), [0] * 5),
        (Limits(max_tres_per_account={"node": 2}), [0, 1, 2, 0, 1]),
    ],
)
def test_a_shared_node_counts_once_against_a_limit_on_nodes(limits: Limits, users: list[int]) -> None:
    """As real Slurm did it. Four jobs of two CPUs fill two nodes; the fifth would need a third node. It
    starts when a node's first job has ended, on that node: its other job keeps it.
    """
    config = {"AccountingStorageEnforce": "limits", "AccountingStorageType": "accounting_storage/slurmdbd"}
    jobs = log(*[(0, 1, 60, run) for run in (10, 20, 30, 40, 5)], cpus=[2] * 5, tasks=[2] * 5,
               exclusive=[0] * 5, user=users, group=[0] * 5)  # fmt: skip
    *four, fifth = starts(jobs, site(config, qos=(Qos("normal", limits=limits),)))
    assert all(one < MINUTE for one in four)
    assert 600 <= fifth <= 660


def test_a_limit_of_accelerators_of_a_user() -> None:
    nodes = tuple(replace(node, gres={"gpu": 4}) for node in site().nodes)
    config = {"AccountingStorageEnforce": "limits", "AccountingStorageType": "accounting_storage/slurmdbd"}
    limits = Qos("normal", limits=Limits(max_tres_per_user={"gres/gpu": 4}))
    jobs = log(*[(0, 1, 10, 10)] * 2, gres=["gpu:3"] * 2, user=[0, 0])
    first, second = starts(jobs, site(config, nodes=nodes, qos=(limits,)))
    assert second >= first + 600


def test_a_victim_may_go_on_for_its_grace_time() -> None:
    """GraceTime 120: it is killed after 120 to 150 s, and the job that takes its place starts then."""
    on = preempting()
    on = replace(on, qos=(replace(on.qos[0], grace_seconds=120), on.qos[1]))
    jobs = log((0, 4, 60, 30), (600, 1, 10, 10), qos=["low", "high"])
    schedule = simulated(jobs, on)
    assert schedule.pieces is not None
    stopped = int(schedule.pieces.end[schedule.pieces.ended == ENDED.index("preempted")][0]) // 1_000_000
    assert 720 <= stopped <= 700 + 120 + 30
    assert stopped <= int(schedule.start[1]) // 1_000_000 <= stopped + MINUTE


@pytest.mark.interpreted
def test_victims_that_end_by_themselves_leave_room_for_others() -> None:
    """GraceTime of two hours on one node: each of six victims ends ten minutes after it was told to go. The
    seventh runs on for longer and is killed."""
    on = preempting()
    on = replace(on, nodes=on.nodes[:1], partitions=(replace(on.partitions[0], nodes=(0,)),),
                 qos=(replace(on.qos[0], grace_seconds=7200), on.qos[1]))  # fmt: skip
    pairs = [((1200 * k, 1, 300, 15 if k < 6 else 290), (1200 * k + 300, 1, 10, 3)) for k in range(7)]
    schedule = simulated(log(*(job for pair in pairs for job in pair), qos=["low", "high"] * 7), on)
    assert schedule.pieces is not None
    assert schedule.pieces.job[schedule.pieces.ended == ENDED.index("preempted")].tolist() == [12]
    ran = (schedule.end - schedule.start) // SECOND
    assert ran[:12:2].tolist() == [900] * 6


def with_forty_minutes(enforced: str) -> Site:
    """User u of the account a, which may use 40 CPU minutes and no more."""
    config = {
        "AccountingStorageEnforce": enforced, "AccountingStorageType": "accounting_storage/slurmdbd",
        "PriorityType": "priority/multifactor", "PriorityDecayHalfLife": "0",
    }  # fmt: skip
    group = Association("a", parent=0, limits=Limits(grp_tres_mins={"cpu": 40}))
    return site(config, associations=(Association("root"), group, Association("a", "u", parent=1)))


@pytest.mark.parametrize("enforced", ["limits", "2"])
def test_a_group_that_has_used_up_its_minutes_loses_its_jobs(enforced: str) -> None:
    """GrpTRESMins cpu=40 on 4 CPUs: after ten minutes, at the next calculation of usage, its job is ended."""
    on = with_forty_minutes(enforced)
    jobs = log((0, 1, 60, 30), (0, 1, 60, 30), user=["u", ""], account=["a", ""])
    schedule = simulated(jobs, on)
    ran = (schedule.end - schedule.start) // 1_000_000
    assert 600 <= ran[0] <= 920
    assert ran[1] == 1800


@pytest.mark.parametrize("enforced", ["limits,safe", "all"])
@pytest.mark.parametrize(("minutes", "at_once"), [(5, True), (6, False)])
def test_safe_limits_count_what_running_jobs_may_still_take(
    minutes: int, at_once: bool, enforced: str
) -> None:
    """GrpTRESMins cpu=40, two jobs on 4 CPUs for 5 minutes at most: 20 + 20 is not more than 40. With 6 for
    the first they might take 44; it ends after one, and the second may take what is left."""
    on = with_forty_minutes(enforced)
    jobs = log((0, 1, minutes, 1), (0, 1, 5, 1), user=["u"] * 2, account=["a"] * 2)
    first, second = starts(jobs, on)
    assert (second == first) == at_once
    assert second <= first + 10 * MINUTE


def limited_site(stops: bool, **limits: Any) -> Site:
    """Two accounts; limits of the first may stop jobs behind those that they hold (assoc_limit_stop)."""
    group = Association("a", parent=0, limits=Limits(**limits))
    users = Association("root"), group, Association("a", "u", parent=1), Association("b", "v", parent=0)
    scheduler = {"assoc_limit_stop": ""} if stops else {}
    return site({"AccountingStorageEnforce": "limits"}, associations=users, scheduler=scheduler)


@pytest.mark.parametrize("stops", [True, False])
def test_a_limit_stops_those_behind_where_the_site_says_so(stops: bool) -> None:
    """GrpTRES=cpu=8 of account a: its second job is planned in 500 s, on two nodes that it could have now.

    Job 3 of another account wants one of these for longer; job 4 has the fourth node.
    """
    jobs = [(0, 1, 60, 50), (10, 2, 60, 10), (20, 2, 60, 10), (30, 1, 30, 10)]
    columns = {"user": ["u", "u", "v", "v"], "account": ["a", "a", "b", "b"]}
    first, second, third, fourth = starts(log(*jobs, **columns), limited_site(stops, grp_tres={"cpu": 8}))
    assert first < MINUTE and 3000 <= second <= 3000 + MINUTE and fourth < 2 * MINUTE
    assert third >= 3000 if stops else third < 2 * MINUTE


def test_a_limit_on_jobs_is_kept_by_backfill_also_where_limits_stop_others() -> None:
    """GrpJobs=1: the second job of account a waits for the end of the first."""
    jobs = log((0, 1, 60, 50), (10, 2, 60, 10), user=["u", "u"], account=["a", "a"])
    first, second = starts(jobs, limited_site(True, grp_jobs=1))
    assert first < MINUTE and 3000 <= second <= 3000 + MINUTE


def test_a_begin_time_stays_when_a_hold_is_lifted() -> None:
    jobs = log((0, 1, 10, 10), held=[1], begin=[f"{BEGAN + 1800}"])
    assert 1800 <= starts(jobs, site())[0] <= 1860


@pytest.mark.parametrize(("age", "first"), [("0", 1800), ("300", 600)])
def test_minutes_after_a_start_count_though_the_job_is_over(age: str, first: int) -> None:
    """after:1+30, and job 1 runs for five minutes: the controller forgets it after MinJobAge, and then
    nobody waits for it."""
    jobs = log((0, 1, 10, 5), (1, 1, 10, 5), dependency=["", "after:1+30"])
    before, after = starts(jobs, site({"MinJobAge": age}))
    assert before + first <= after <= before + first + MINUTE


def test_a_partition_says_how_far_beyond_their_limit_its_jobs_may_run() -> None:
    """OverTimeLimit=5 of one partition, 20 of the site, none at all in the third: a job of half an hour that
    asked for ten minutes. That it is too late is noticed within a minute."""
    on = site({"OverTimeLimit": "20"}, partitions=(
        Partition("main", (0, 1), is_default=True, over_time_limit=5), Partition("other", (2,)),
        Partition("free", (3,), over_time_limit=-1),
    ))  # fmt: skip
    schedule = simulated(log(*[(0, 1, 10, 60)] * 3, partition=["main", "other", "free"]), on)
    ran = (schedule.end - schedule.start) // SECOND
    assert 900 <= ran[0] <= 960 and 1800 <= ran[1] <= 1860 and ran[2] == 3600


@pytest.mark.parametrize(("minutes", "fills"), [(9, True), (11, False)])
def test_a_job_that_nobody_stops_is_expected_to_run_its_limit_once_more(minutes: int, fills: bool) -> None:
    """OverTimeLimit=UNLIMITED: job 1 is beyond its ten minutes. Job 2, of all nodes, is planned in ten more,
    so that a job of nine goes before it on the idle node, one of eleven does not."""
    jobs = log((0, 3, 10, 60), (1, 4, 60, 5), (700, 1, minutes, 5))
    _, second, third = starts(jobs, site({"OverTimeLimit": "UNLIMITED"}))
    assert second >= 3600
    assert third <= 700 + MINUTE if fills else third > second


@pytest.mark.parametrize(("wait", "at_once"), [("0", True), ("5", True), ("9000", False)])
def test_both_loops_wait_for_jobs_that_ended_a_short_while_ago(wait: str, at_once: bool) -> None:
    """The epilog takes more than twenty minutes: it stops everybody for CompleteWait and no longer."""
    policy = "slurm(epilog=10000, cycle=0, late=0, drift=0)"
    jobs = log((0, 1, 10, 10), (700, 1, 10, 1))
    schedule = headway.simulate(jobs, site({"CompleteWait": wait}).platform(), policy)
    assert (int(schedule.start[1]) // SECOND <= 700 + MINUTE) == at_once


def test_an_array_of_two_partitions_has_hardly_more_plans_than_tasks() -> None:
    """Two tasks wait for two nodes each, of eight of which seven are busy for an hour. They are planned in
    the first partition, and one of them in the second; another plan would hold the eighth node, on which the
    last job starts at once."""
    everywhere = tuple(range(8))
    on = site(
        nodes=tuple(Node(f"n{k}", 4) for k in range(1, 9)),
        partitions=(Partition("a", everywhere, is_default=True), Partition("b", everywhere)),
    )
    jobs = log(
        (0, 7, 60, 60), (60, 2, 30, 30), (60, 2, 30, 30), (61, 1, 100, 10),
        partition=["a", "a,b", "a,b", "a"], array=[-1, 7, 7, -1], array_task=[-1, 0, 1, -1],
    )  # fmt: skip
    assert starts(jobs, on)[3] < 4 * MINUTE
