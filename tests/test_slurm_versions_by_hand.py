"""Rules of Slurm that changed between 22.05 and 26.05, each on a site worked out by hand, before and after.

Nodes n1 to n4 have four CPUs each; times are seconds after the first submission.
"""

from __future__ import annotations

import pytest

from headway.site.access import Asker, rule_against
from headway.site.model import Association, Node, NodeEvent, Partition, Qos, Reservation
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts

ENFORCED = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageEnforce": "limits"}


@pytest.mark.parametrize(("version", "fits"), [("25.05.0", True), ("25.05.1", False), ("26.05", False)])
def test_a_plan_begins_with_the_last_end_that_it_needs(version: str, fits: bool) -> None:
    """n2 to n4 come free after 10, 20 and 22 min. Job 4 wants three nodes, and the ends after 20 and 22 min
    are looked at together: it is planned on n1 to n3 from 22 min on, by the newer rule from 20 min on.
    Job 5 has 21 min: on n1 it fits before the older plan only."""
    jobs = log(
        (0, 1, 30, 1), (0, 1, 10, 10), (0, 1, 20, 20), (0, 1, 22, 22), (70, 3, 10, 10), (70, 1, 19, 19)
    )
    *_, last = starts(jobs, site().at_version(version))
    assert (last < 5 * MINUTE) == fits


@pytest.mark.parametrize(("version", "fits"), [("24.05", False), ("24.11", True), ("26.05", True)])
def test_plans_end_at_the_next_minute(version: str, fits: bool) -> None:
    """Job 2 is planned on n1 to n3 from 620 to 1220 s, in the table from 600 to 1200 s, or to 1260 s by the
    newer rule; job 3, which wants all nodes, after that. Job 4 has 19 min: on n4 it fits before the later
    plan of job 3 only."""
    jobs = log((20, 3, 10, 10), (21, 3, 10, 10), (22, 4, 10, 10), (70, 1, 19, 19))
    *_, last = starts(jobs, site().at_version(version))
    assert (last < 5 * MINUTE) == fits


@pytest.mark.parametrize(("version", "node"), [("25.11", "n3"), ("26.05", "n2")])
def test_a_job_on_one_node_takes_the_first_that_will_do(version: str, node: str) -> None:
    """Job 1 leaves one CPU of n1, job 2 three of n2, job 3 two of n3. Job 4 wants two CPUs: n3 fits best, n2
    is the first."""
    cpus = [3, 1, 2, 2]
    jobs = log(
        (0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60), (180, 1, 60, 60),
        cpus=cpus, tasks=cpus, exclusive=[0] * 4, required_nodes=["n1", "n2", "n3", ""],
    )  # fmt: skip
    shares = simulated(jobs, site().at_version(version)).shares
    assert shares is not None and shares.nodes_of(3) == node


@pytest.mark.parametrize(
    ("version", "nodes"), [("24.11.3", "n[1,4]"), ("24.11.4", "n[4,6]"), ("26.05", "n[4,6]")]
)
def test_small_nodes_are_left_out_one_after_the_other(version: str, nodes: str) -> None:
    """Of six nodes n2 is full, n3 and n5 have three CPUs left. Job 4 wants eight CPUs on two nodes: n3 to n6
    fit best by their number, but do not do. Without n3 and n5 n1 is the first node; without n3 alone n4 to n6
    still fit best, where n5 is too small for what is left."""
    six = tuple(Node(f"n{k}", 4) for k in range(1, 7))
    on = site(nodes=six, partitions=(Partition("main", tuple(range(6)), is_default=True),))
    cpus = [4, 1, 1, 8]
    jobs = log(
        (0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60), (180, 2, 60, 60),
        cpus=cpus, tasks=cpus, exclusive=[0] * 4, required_nodes=["n2", "n3", "n5", ""],
    )  # fmt: skip
    shares = simulated(jobs, on.at_version(version)).shares
    assert shares is not None and shares.nodes_of(3) == nodes


@pytest.mark.parametrize(("version", "fits"), [("23.02.3", True), ("23.02.4", False), ("24.11", False)])
def test_the_limit_of_an_array_bounds_its_plans(version: str, fits: bool) -> None:
    """Two of four tasks on three nodes may run, one does, for 30 min. The next is planned after it and, by
    the older rule, the last two as well: job 5, which wants all nodes, after two hours, else after one. Job 6
    has 100 min: on n4 it fits before the older plan only."""
    jobs = log(
        *[(0, 3, 30, 30)] * 4, (40, 4, 10, 10), (41, 1, 100, 100),
        array=[7, 7, 7, 7, -1, -1], array_task=[0, 1, 2, 3, -1, -1], array_limit=[2, 2, 2, 2, 0, 0],
    )  # fmt: skip
    *_, last = starts(jobs, site().at_version(version))
    assert (last < 5 * MINUTE) == fits


@pytest.mark.parametrize(("version", "fits"), [("24.05.3", False), ("24.05.4", True), ("26.05", True)])
def test_a_short_plan_takes_one_step_of_the_table(version: str, fits: bool) -> None:
    """The table has steps of ten minutes, the next ones at 1000 and 1600 s. Job 2 is planned on n1 to n3 from
    1200 s on for 2 min. Job 3, on all nodes for 2 min, was planned at the same time, since nothing is left of
    it after rounding; by the newer rule it comes at 1600 s, and job 4 has 22 min on n4 before it."""
    jobs = log((0, 3, 20, 20), (20, 3, 2, 2), (21, 4, 2, 2), (70, 1, 22, 22))
    on = site(scheduler={"bf_resolution": "600"})
    *_, last = starts(jobs, on.at_version(version))
    assert (last < 5 * MINUTE) == fits


@pytest.mark.parametrize(("version", "fits"), [("24.05.4", True), ("24.05.5", False), ("26.05", False)])
def test_a_shortened_job_is_planned_after_a_reservation_that_its_limit_meets(
    version: str, fits: bool
) -> None:
    """Job 2 is planned on n1 to n3 from 20 to 30 min. Job 3 accepts 10 min of its 60 and wants two nodes: at
    30 min, or, by the newer rule, after the maintenance that begins after an hour, since from 20 min on
    there were too few nodes. Job 4, on all nodes, comes after it or at 30 min; job 5 has 35 min on n4."""
    maintenance = Reservation("m", BEGAN + 60 * MINUTE, BEGAN + 90 * MINUTE, (0, 1, 2, 3), ("MAINT",))
    jobs = log(
        (0, 3, 20, 20), (20, 3, 10, 10), (21, 2, 60, 60), (22, 4, 10, 10), (70, 1, 35, 35),
        time_min=[-1, -1, 10 * MINUTE, -1, -1],
    )  # fmt: skip
    *_, last = starts(jobs, site(reservations=(maintenance,)).at_version(version))
    assert (last < 5 * MINUTE) == fits


@pytest.mark.parametrize(("version", "waits"), [("23.11.9", True), ("23.11.10", False), ("26.05", False)])
def test_who_does_not_ask_to_share_keeps_nobody_off(version: str, waits: bool) -> None:
    """Job 1 has one CPU of n1 in a partition with OverSubscribe=YES, job 2 wants one in another without."""
    parts = (
        Partition("main", (0,), oversubscribe="YES", oversubscribe_count=2, is_default=True),
        Partition("alone", (0,)),
    )
    jobs = log(
        (0, 1, 10, 10), (60, 1, 10, 10),
        partition=["main", "alone"], cpus=[1, 1], tasks=[1, 1], exclusive=[0, 0],
    )  # fmt: skip
    _, second = starts(jobs, site(partitions=parts).at_version(version))
    assert second >= 10 * MINUTE if waits else second < 3 * MINUTE


@pytest.mark.parametrize(("version", "waits"), [("22.05", False), ("23.02", True), ("26.05", True)])
def test_a_job_that_reserves_nothing_waits_for_a_maintenance(version: str, waits: bool) -> None:
    """A maintenance begins in 30 min, and the job may run for an hour. Its QOS is NoReserve and jobs may be
    preempted: backfill tested it with a minute, by the newer rule, against reservations, with its limit."""
    maintenance = Reservation("m", BEGAN + 30 * MINUTE, BEGAN + 60 * MINUTE, (0, 1, 2, 3), ("MAINT",))
    config = {"PriorityType": "priority/multifactor", "PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"}
    qos = (Qos("normal"), Qos("scav", flags=frozenset({"NoReserve"})))
    on = site(config | ENFORCED, qos=qos, associations=(Association("root"),), reservations=(maintenance,))
    (start,) = starts(log((0, 1, 60, 20), qos=["scav"]), on.at_version(version))
    assert start >= 60 * MINUTE if waits else start < 2 * MINUTE


@pytest.mark.parametrize(("version", "planned"), [("24.05.4", False), ("24.05.5", True), ("26.05", True)])
def test_jobs_are_planned_on_nodes_that_others_keep(version: str, planned: bool) -> None:
    """Of n1 ada's jobs have one CPU each, and bob wants it for him alone. By the newer rule he is planned for
    the end of her first job, and her second one does not start before him."""
    jobs = log(
        (0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60),
        user=["ada", "bob", "ada"], exclusive_user=[0, 1, 0], exclusive=[0] * 3, cpus=[1] * 3, tasks=[1] * 3,
    )  # fmt: skip
    one_node = site(partitions=(Partition("main", (0,), is_default=True),))
    first, bob, second = starts(jobs, one_node.at_version(version))
    assert (first + 60 * MINUTE <= bob < first + 62 * MINUTE and second >= bob + 60 * MINUTE) == planned
    assert (second < 4 * MINUTE) == (not planned)


@pytest.mark.parametrize(("version", "ends"), [("25.05.2", 12), ("25.05.3", 30), ("26.05", 30)])
def test_a_shortened_job_gets_what_plans_leave_of_its_limit(version: str, ends: int) -> None:
    """Job 2 wants all nodes and is planned for 30 min, when job 1 may end. Job 3 accepts 10 min of its 60: it
    starts on n4, and may run until that plan begins; a minute later it is stopped."""
    jobs = log((0, 3, 30, 30), (1, 4, 10, 10), (20, 1, 60, 60), time_min=[-1, -1, 10 * MINUTE])
    end = int(simulated(jobs, site().at_version(version)).end[2]) // 1_000_000
    assert abs(end - ends * MINUTE) <= MINUTE


@pytest.mark.parametrize(("version", "first"), [("24.05.4", True), ("24.05.5", False), ("26.05", False)])
def test_the_priority_of_a_job_that_comes_back(version: str, first: bool) -> None:
    """n1 is down from 5 min on, and job 1 comes back to the queue; job 2 has the other nodes for 20 min. Then
    job 1 goes before job 3, by the newer rule behind it: by the order of submission it is the last one."""
    away = NodeEvent("n1", BEGAN + 300, BEGAN + 36_000, "DOWN")
    jobs = log((0, 1, 30, 20), (1, 3, 30, 20), (2, 3, 30, 20))
    again, _, other = starts(jobs, site(events=(away,)).at_version(version))
    assert (again < other) == first


@pytest.mark.parametrize(("version", "rule"), [("22.05", "AllowAccounts"), ("23.02", "")])
def test_an_allowed_account_stands_for_those_below_it(version: str, rule: str) -> None:
    tree = (Association("root"), Association("phys", parent=0), Association("lab", parent=1))
    on = site(associations=tree).at_version(version)
    only, none = Partition("p", (0,), allow_accounts=("phys",)), Partition("p", (0,), deny_accounts=("phys",))
    asker = Asker("ann", "lab", "", None)
    assert rule_against(on, only, asker) == rule
    assert rule_against(on, none, asker) == ("" if rule else "DenyAccounts")


@pytest.mark.parametrize(("version", "points"), [("24.05.4", 100), ("24.05.5", 1000)])
def test_a_job_of_several_partitions_has_the_priority_of_the_highest_tier(version: str, points: int) -> None:
    """It names the partition of the lower tier first, whose factor is a tenth of the other's."""
    parts = (
        Partition("main", (0, 1, 2, 3), job_factor=1, is_default=True),
        Partition("fast", (0, 1, 2, 3), tier=3, job_factor=10),
    )
    config = {"PriorityType": "priority/multifactor", "PriorityWeightPartition": "1000"}
    jobs = log((0, 1, 10, 10), partition=["main,fast"])
    schedule = simulated(jobs, site(config, partitions=parts).at_version(version))
    assert schedule.notes is not None and schedule.notes["priority"].tolist() == [points]
