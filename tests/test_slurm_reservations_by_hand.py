"""Reservations by Slurm's rules, on sites small enough to be worked out by hand.

Each of these was first seen in a run of the real Slurm 22.05. Nodes n1 to n4 have four CPUs each, jobs take
whole nodes, and nothing delays the controller. Times are seconds after the first submission.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import headway
from headway.policies.slurm.setup.life import reservation_tables
from headway.site import Site
from headway.site.happenings import times_of
from headway.site.model import DAY, Node, Partition, Reservation
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts

HOUR = 3600


def reserved(name: str, start: int, end: int, nodes: tuple[int, ...], *flags: str) -> Reservation:
    return Reservation(name, BEGAN + start, BEGAN + end, nodes, flags)


def test_jobs_of_a_flexible_reservation_run_at_any_time_on_any_node() -> None:
    """The reservation has one node, and begins in an hour."""
    one = reserved("f", HOUR, 2 * HOUR, (0,), "FLEX")
    (mine,) = starts(log((0, 4, 30, 10), reservation=["f"]), site(reservations=(one,)))
    assert mine < MINUTE


def test_jobs_of_a_flexible_reservation_take_its_own_nodes_first() -> None:
    one = reserved("f", HOUR, 2 * HOUR, (2,), "FLEX")
    for each in (True, False):  # whole nodes, and single CPUs
        jobs = log((0, 1, 30, 10), reservation=["f"], exclusive=[int(each)], cpus=[4 if each else 1])
        schedule = simulated(jobs, site(reservations=(one,)))
        assert schedule.shares is not None
        assert schedule.shares.node.tolist() == [2]


def test_a_flexible_reservation_keeps_its_nodes_from_others_for_its_time_only() -> None:
    one = reserved("f", HOUR, 2 * HOUR, (0,), "FLEX")
    short, long = starts(log((0, 4, 50, 10), (1, 4, 55, 10)), site(reservations=(one,)))
    assert short < MINUTE
    assert 2 * HOUR <= long <= 2 * HOUR + MINUTE  # it would have run into it


def test_jobs_of_a_flexible_reservation_keep_off_nodes_of_another() -> None:
    given = reserved("f", HOUR, 2 * HOUR, (0,), "FLEX"), reserved("o", HOUR, 2 * HOUR, (1,))
    jobs = log((0, 3, 90, 10), (1, 4, 30, 10), reservation=["f", "f"])
    schedule = simulated(jobs, site(reservations=given))
    assert schedule.start[0] < MINUTE * 1_000_000
    assert schedule.shares is not None
    assert set(schedule.shares.node[schedule.shares.job == 0].tolist()) == {0, 2, 3}


def test_a_job_for_a_reservation_is_planned_at_the_end_of_one_that_hinders_it() -> None:
    """It has n1, which a flexible reservation keeps, and wants two more: n2 is taken for ten hours, n3 and n4
    are reserved for another hour, n5 is idle. It is planned when the hour is over, so the last job may not
    have n5 for two. The third, which wants four nodes, is there to hold up the partition."""
    nodes = tuple(Node(f"n{k}", 4) for k in range(1, 6))
    given = reserved("f", 0, 10 * HOUR, (0,), "FLEX"), reserved("o", 0, HOUR, (2, 3))
    main = Partition("main", (0, 1, 2, 3, 4), is_default=True)
    on = site(nodes=nodes, partitions=(main,), reservations=given)
    jobs = log(
        (0, 1, 600, 600), (60, 3, 30, 30), (61, 4, 30, 30), (62, 1, 120, 120),
        required_nodes=["n2", "", "", ""], reservation=["", "f", "", ""],
    )  # fmt: skip
    _, mine, _, last = starts(jobs, on)
    assert HOUR <= mine <= HOUR + 2 * MINUTE and last >= HOUR


@pytest.mark.parametrize(("flag", "both"), [("OVERLAP", False), ("MAINT", True)])
def test_who_may_use_nodes_of_a_maintenance(flag: str, both: bool) -> None:
    """Jobs of a reservation that may overlap others keep off a maintenance all the same; those of another
    maintenance do not.
    """
    given = reserved("v", 0, 4 * HOUR, (0, 1), flag), reserved("m", HOUR, 2 * HOUR, (0,), "MAINT")
    jobs = log((0, 1, 90, 20), (1, 1, 90, 20), reservation=["v", "v"])
    first, second = starts(jobs, site(reservations=given))
    assert first < MINUTE
    assert (second < MINUTE) == both


@pytest.mark.parametrize(("asked", "waits"), [("v", True), ("", False)])
def test_a_job_whose_reservation_others_take_keeps_its_nodes_from_the_main_loop(
    asked: str, waits: bool
) -> None:
    """A maintenance begins on all nodes of a reservation before its first job could end. The next job of the
    reservation could, and is left to backfill, which is off: recorded runs of real Slurm have that. The nodes
    of others are free."""
    given = reserved("v", 0, 4 * HOUR, (0, 1)), reserved("m", HOUR, 2 * HOUR, (0, 1), "MAINT")
    jobs = log((0, 1, 90, 20), (1, 1, 10, 10), reservation=["v", asked])
    on = site({"SchedulerType": "sched/builtin"}, reservations=given)
    first, second = starts(jobs, on)
    assert first >= 2 * HOUR and (second >= 2 * HOUR) == waits and (second < MINUTE) != waits


def test_a_reservation_of_a_partition_stops_its_jobs_and_not_those_of_another() -> None:
    """PART_NODES: nobody of the partition starts into it, whatever nodes are left."""
    one = reserved("p", HOUR, 2 * HOUR, (0, 1), "PART_NODES")
    parts = Partition("main", (0, 1), is_default=True), Partition("other", (0, 1, 2, 3))
    on = site(partitions=parts, reservations=(one,))
    jobs = log((0, 1, 90, 10), (1, 1, 90, 10), partition=["main", "other"])
    schedule = simulated(jobs, on)
    main, other = (int(one) // 1_000_000 for one in schedule.start)
    assert other < MINUTE and 2 * HOUR <= main <= 2 * HOUR + MINUTE


def test_a_job_for_a_reservation_that_is_over_waits_for_the_next_of_its_name() -> None:
    """Whether it recurs, or was made again."""
    daily = reserved("d", HOUR, 2 * HOUR, (0,), "DAILY")
    twice = reserved("d", HOUR, 2 * HOUR, (0,)), reserved("d", HOUR + DAY, 2 * HOUR + DAY, (0,))
    jobs = log((0, 1, 30, 10), (3 * HOUR, 1, 30, 10), reservation=["d", "d"])
    for given in ((daily,), twice):
        first, second = starts(jobs, site(reservations=given))
        assert HOUR <= first <= HOUR + MINUTE
        assert HOUR + DAY <= second <= HOUR + DAY + MINUTE


def test_a_job_runs_on_when_its_reservation_goes_on_to_the_next_day() -> None:
    """A job of one that ends for good is killed."""
    for flags, minutes in ((("DAILY",), 60), ((), 30)):
        one = reserved("d", 0, HOUR // 2, (0,), *flags)
        schedule = simulated(log((0, 1, 90, 60), reservation=["d"]), site(reservations=(one,)))
        length = int(schedule.end[0] - schedule.start[0]) // 1_000_000
        assert minutes * MINUTE - MINUTE <= length <= minutes * MINUTE + MINUTE


def test_a_job_may_run_beyond_its_reservation_where_the_site_allows_it() -> None:
    one = reserved("d", 0, HOUR // 2, (0,))
    on = site({"ResvOverRun": "20"}, reservations=(one,))
    schedule = simulated(log((0, 1, 90, 60), reservation=["d"]), on)
    assert 49 * MINUTE <= int(schedule.end[0]) // 1_000_000 <= 52 * MINUTE


def test_only_the_next_time_of_a_reservation_that_recurs_is_known() -> None:
    """The one after it is known when it is over: a plan may lie behind the next and reach into that one."""
    daily = reserved("d", HOUR, 2 * HOUR, (0,), "DAILY")
    table, _ = reservation_tables(site(reservations=(daily,)), BEGAN, 3 * DAY)
    assert table.known.tolist() == [0, *(BEGAN + 2 * HOUR + day * DAY for day in (0, 1))]
    assert table.next.tolist() == [1, 2, -1]


@pytest.mark.parametrize(("ends", "times"), [(HOUR, 5), (HOUR // 2, 2)])
def test_a_reservation_that_ended_before_its_time_does_not_recur(ends: int, times: int) -> None:
    """The accounting has an hour of the first day, and of the second all or half: then it was deleted, though
    the log ends before the third day."""
    first = replace(reserved("d", 0, HOUR, (0,), "DAILY"), number="1")
    second = replace(reserved("d", DAY, DAY + ends, (0,), "DAILY"), number="2")
    assert len(list(times_of((first, second), BEGAN + DAY + 2 * HOUR, 3 * DAY))) == times


def test_days_of_the_week() -> None:
    """From Friday, 2023-11-17: working days go on to Monday, weekends to Saturday and Sunday."""
    friday = 1_700_179_200
    one = Reservation("w", friday, friday + HOUR, (0,), ("WEEKDAY",))
    assert [(start - friday) // DAY for start, _ in one.instances(friday + 5 * DAY)] == [0, 3, 4, 5]
    one = Reservation("w", friday, friday + HOUR, (0,), ("WEEKEND",))
    assert [(start - friday) // DAY for start, _ in one.instances(friday + 9 * DAY)] == [0, 1, 2, 8, 9]


ROWS = f"""ID|Name|TimeStart|TimeEnd|NodeName|Flags
1|day|{BEGAN}|{BEGAN + HOUR}|n1|DAILY
5|day|{BEGAN + DAY}|{BEGAN + DAY + HOUR}|n1|DAILY
7|adm|{BEGAN}|{BEGAN + HOUR}|n2|
"""


def test_the_accounting_lists_each_time_of_a_reservation(tmp_path: Path) -> None:
    """Where the next is missing though the log goes on, it was deleted. Jobs of which only the number of
    their reservation is known get its name.
    """
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=c\nNodeName=n[1-2] CPUs=4\nPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n"
    )
    (tmp_path / "reservations.txt").write_text(ROWS)
    (tmp_path / "jobs.txt").write_text(
        "JobID|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|NNodes|Partition|Reservation|ReservationId\n"
        f"1|COMPLETED|{BEGAN}|{BEGAN}|{BEGAN + 60}|60|10|4|1|main||7\n"
    )
    given = Site.load(tmp_path)
    day = BEGAN, BEGAN + DAY
    assert [start for _, start, _ in times_of(given.reservations, BEGAN + 9 * DAY)] == [*day, BEGAN]
    assert given.reservations[1].announced == BEGAN + HOUR
    jobs = given.read_jobs()
    assert jobs.labels["reservation"] == ["adm"]
    assert headway.simulate(jobs, given.platform(), "slurm").start.tolist() == [0]


def test_a_job_in_a_reservation_of_licences_has_any_node_at_any_time() -> None:
    """Such a reservation has no nodes; what it does with licences is told as not modelled."""
    one = reserved("l", HOUR, 2 * HOUR, (), "ANY_NODES")
    schedule = simulated(log((0, 4, 30, 10), reservation=["l"]), site(reservations=(one,)))
    assert schedule.start[0] < MINUTE * 1_000_000
    told = [entry for entry in schedule.workload.ledger if entry.rule == "reservation"]
    assert [entry.action for entry in told] == ["in a reservation of licences: as if in none"]
