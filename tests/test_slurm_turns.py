"""Jobs of a partition that take turns on the same cores (gang scheduling), worked out by hand.

Nodes n1 to n4 have four CPUs and 16,000 MB each; a time slice takes 30 s. A job that starts on the cores of
another one of its partition is suspended at once. The first slice leaves the one alone that ran before, the
second one lets the other run, and so on in turns.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import headway
from headway.schedule import STATES
from headway.site import Site
from headway.site.model import Node, Partition, Qos
from slurm_by_hand import MINUTE, log, simulated, site
from test_slurm_gang import ALL, pieces_of, random_log

NODES = tuple(Node(f"n{k}", 4, memory_mb=16_000) for k in range(1, 5))
MEMORY = {"SelectTypeParameters": "CR_Core_Memory"}
SLICES = MEMORY | {"PreemptMode": "GANG"}
BY_QOS = MEMORY | {"PreemptType": "preempt/qos", "PreemptMode": "SUSPEND,GANG"}


def turns(count: int = 2, **more: Any) -> Site:
    """A partition whose jobs take turns, and one of a higher tier whose jobs do not."""
    partitions = (
        Partition("main", ALL, is_default=True, oversubscribe="FORCE", oversubscribe_count=count),
        Partition("top", ALL, tier=5, oversubscribe="FORCE", oversubscribe_count=1),
    )
    return site(SLICES, partitions=partitions, nodes=NODES, **more)


def by_qos(**more: Any) -> Site:
    """Jobs of the QOS urgent preempt normal ones by suspension; nobody else has the cores of another."""
    partition = Partition("main", ALL, is_default=True, oversubscribe="FORCE", oversubscribe_count=1)
    qos = (Qos("normal", priority=10), Qos("urgent", priority=100, preempt=("normal",)))
    return site(BY_QOS, partitions=(partition,), nodes=NODES, qos=qos, **more)


def jobs(*given: tuple[int, int, int, int], mb: int = 1000, **columns: Any) -> headway.Workload:
    return log(*given, memory_node_mb=[mb] * len(given), **columns)


def running(schedule: headway.Schedule, row: int) -> list[tuple[int, int]]:
    """When a job ran, in seconds; pieces that follow each other are one."""
    found: list[tuple[int, int]] = []
    for state, start, end, _ in pieces_of(schedule, row):
        if state == "running" and end > start:
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
    return found


def test_two_jobs_take_turns_of_thirty_seconds() -> None:
    """The second one begins to run at the second slice after its start; then it is each one's turn."""
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5)), turns())
    first, second = running(schedule, 0), running(schedule, 1)
    start = int(schedule.start[1]) // 10**6
    assert start < 60 + MINUTE
    assert 30 < second[0][0] - start <= 60
    assert all(end - begin == 30 for begin, end in (*first[1:-1], *second[:-1]))
    both = sorted(first + second)
    assert all(a[1] == b[0] for a, b in pairwise(both))  # no time is lost between them
    assert [sum(end - begin for begin, end in one) for one in (first, second)] == [300, 300]
    assert headway.audit(schedule).ok


def test_a_third_job_waits_for_one_of_two_to_end() -> None:
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5), (90, 4, 30, 5)), turns())
    assert schedule.start[2] >= min(schedule.end[:2])
    assert headway.audit(schedule).ok


def test_idle_nodes_come_first_and_nobody_is_suspended() -> None:
    schedule = simulated(jobs((0, 2, 30, 5), (60, 2, 30, 5)), turns())
    assert schedule.pieces is None
    assert schedule.shares is not None and schedule.shares.nodes_of(1) == "n[3-4]"


def test_memory_is_not_shared() -> None:
    """9,000 of 16,000 MB are taken, so that the second job cannot be beside the first."""
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5), mb=9000), turns())
    assert schedule.pieces is None and schedule.start[1] >= schedule.end[0]


def test_a_higher_tier_runs_through() -> None:
    """It is on top of both, who take turns again when it has ended."""
    given = jobs((0, 4, 60, 5), (60, 4, 60, 5), (180, 4, 60, 5), partition=["main", "main", "top"])
    schedule = simulated(given, turns())
    top = int(schedule.start[2]) // 10**6
    assert int(schedule.end[2]) // 10**6 == top + 300
    meanwhile = [
        one for row in (0, 1) for one in running(schedule, row) if one[0] < top + 300 and one[1] > top
    ]
    assert meanwhile == []
    assert headway.audit(schedule).ok


def test_who_fills_does_not_lose_his_place() -> None:
    """A has n1 and n2; B both and n3, so it waits; C has n4 alone and never meets anybody."""
    given = jobs((0, 2, 60, 5), (60, 3, 60, 5), (70, 1, 60, 5), required_nodes=["n[1-2]", "n[1-3]", "n4"])
    schedule = simulated(given, turns())
    assert running(schedule, 2) == []  # it ran in one piece
    assert int(schedule.end[2] - schedule.start[2]) // 10**6 == 300
    assert sum(end - begin for begin, end in running(schedule, 1)) == 300
    assert headway.audit(schedule).ok


def test_without_gang_nobody_takes_turns() -> None:
    alone = replace(turns(), config=site(MEMORY).config)
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5)), alone)
    assert schedule.pieces is None and schedule.start[1] >= schedule.end[0]


def test_who_preempts_by_qos_takes_turns_with_the_one_below() -> None:
    """Slurm's documentation: in the same partition they share the resources by time slices."""
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5), qos=["normal", "urgent"]), by_qos())
    assert int(schedule.start[1]) // 10**6 < 60 + MINUTE
    first, second = running(schedule, 0), running(schedule, 1)
    assert len(first) > 2 and len(second) > 2
    assert [sum(end - begin for begin, end in one) for one in (first, second)] == [300, 300]
    assert headway.audit(schedule).ok


def test_who_may_not_preempt_waits() -> None:
    schedule = simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5), qos=["urgent", "normal"]), by_qos())
    assert schedule.pieces is None and schedule.start[1] >= schedule.end[0]


def test_a_job_starts_below_one_that_preempted() -> None:
    """Two of four cores were idle when the urgent job started on the other row with all of them. A job that
    may not preempt gets the two that nobody has in the first row, and takes turns with the urgent one."""
    given = jobs(
        (0, 1, 30, 10), (60, 1, 30, 5), (120, 1, 30, 5),
        qos=["normal", "urgent", "normal"], exclusive=[0, 0, 0], cpus=[2, 4, 2], tasks=[2, 4, 2],
        required_nodes=["n1", "n1", "n1"],
    )  # fmt: skip
    schedule = simulated(given, by_qos())
    assert int(schedule.start[1]) // 10**6 < 60 + MINUTE
    assert int(schedule.start[2]) // 10**6 < 120 + MINUTE
    assert len(running(schedule, 2)) > 2
    assert sum(end - begin for begin, end in running(schedule, 2)) == 300
    assert headway.audit(schedule).ok


def test_the_row_of_those_who_preempt_is_for_them_alone() -> None:
    """The urgent job is alone when the first has ended: its cores are in the first row then, so that a normal
    job waits for it, and another urgent one, who may preempt nobody, does, too."""
    given = jobs(
        (0, 4, 30, 1), (30, 4, 30, 10), (400, 4, 30, 5), (410, 4, 30, 5),
        qos=["normal", "urgent", "normal", "urgent"],
    )  # fmt: skip
    schedule = simulated(given, by_qos())
    assert schedule.start[1] < schedule.end[0]
    assert min(schedule.start[2:]) >= schedule.end[1]
    assert schedule.start[3] < schedule.start[2]  # by its priority among those who wait: it may preempt
    assert headway.audit(schedule).ok


def test_rows_are_dealt_anew_when_a_job_ends() -> None:
    """The first job has two cores of n1, the urgent one all four in the other row. When the job on n2 ends
    all are dealt anew: the first job comes first, but then the row of the urgent one has more cores and
    stands before the other. So a job for the two idle cores, which may not preempt, finds none there."""
    given = jobs(
        (0, 1, 30, 20), (0, 1, 30, 3), (60, 1, 30, 5), (240, 1, 30, 5),
        qos=["normal", "normal", "urgent", "normal"], required_nodes=["n1", "n2", "n1", "n1"],
        exclusive=[0] * 4, cpus=[2, 4, 4, 2], tasks=[2, 4, 4, 2],
    )  # fmt: skip
    schedule = simulated(given, by_qos())
    assert schedule.start[2] < schedule.end[1] < schedule.submit[3]
    assert schedule.start[3] >= schedule.end[2]
    assert headway.audit(schedule).ok


def test_backfill_looks_into_the_row_of_those_who_preempt() -> None:
    """An urgent job has n1 to n3, a normal one most of n4's memory, for want of which the third job stops the
    main loop. The fourth may preempt the normal one; so it may use the second row anywhere, and backfill
    starts it on top of the urgent job."""
    given = log(
        (0, 3, 60, 30), (0, 1, 60, 30), (60, 4, 30, 5), (70, 1, 30, 5),
        qos=["urgent", "normal", "urgent", "urgent"], required_nodes=["n[1-3]", "n4", "", "n1"],
        exclusive=[0] * 4, memory_node_mb=[1000, 9000, 9000, 1000],
    )  # fmt: skip
    schedule = simulated(given, by_qos())
    assert int(schedule.start[3]) // 10**6 < 70 + MINUTE
    assert schedule.start[2] >= schedule.end[1]
    assert headway.audit(schedule).ok


def test_explain_names_whose_turn_it_was() -> None:
    said = str(headway.explain(simulated(jobs((0, 4, 30, 5), (60, 4, 30, 5)), turns()), 1))
    assert "suspended for job 2" in said


@pytest.mark.parametrize("seed", range(4))
def test_random_logs_keep_every_law(seed: int) -> None:
    """Shared nodes, memory, two tiers and turns of up to three: each job runs as long as it should."""
    random = np.random.default_rng(seed)
    given = random_log(random, 40, 8_000, (30, 60), (1, 30), ["main", "main", "top"], [500, 4000])
    schedule = simulated(given, turns(int(random.integers(2, 4))))
    verdict = headway.audit(schedule)
    assert verdict.ok, verdict
    assert schedule.pieces is not None
    assert (schedule.pieces.state == STATES.index("suspended")).any()
