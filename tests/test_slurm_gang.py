"""Jobs that are suspended for others (PreemptMode=SUSPEND,GANG), worked out by hand.

Nodes n1 to n4 have four CPUs and 16,000 MB each. Jobs of the partition ``low`` are suspended for those of
``mid`` and ``top``, jobs of ``mid`` go as each test says, jobs of ``top`` give way to nobody.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.schedule import ENDED, STATES
from headway.site import Site
from headway.site.model import Node, NodeEvent, Partition
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts

GANG = {
    "PreemptType": "preempt/partition_prio", "PreemptMode": "SUSPEND,GANG",
    "SelectTypeParameters": "CR_Core_Memory",
}  # fmt: skip
ALL = (0, 1, 2, 3)


def gang(mid: str = "SUSPEND", **more: Any) -> Site:
    partitions = (
        Partition("low", ALL, tier=1, is_default=True),
        Partition("mid", ALL, tier=2, preempt_mode=mid),
        Partition("top", ALL, tier=10, preempt_mode="OFF"),
    )
    nodes = tuple(Node(f"n{k}", 4, memory_mb=16_000) for k in range(1, 5))
    return site(GANG, partitions=partitions, nodes=nodes, **more)


def jobs(*given: tuple[int, int, int, int], partition: list[str], mb: int = 1000) -> headway.Workload:
    return log(*given, partition=partition, memory_node_mb=[mb] * len(given))


def pieces_of(schedule: Schedule, row: int) -> list[tuple[str, int, int, str]]:
    """State, start, end and how it ended, of each piece of a job, in seconds."""
    pieces = schedule.pieces
    assert pieces is not None
    order = [place for place in pieces.in_order() if pieces.job[place] == row]
    return [
        (
            STATES[pieces.state[k]],
            int(pieces.start[k]) // 10**6,
            int(pieces.end[k]) // 10**6,
            ENDED[pieces.ended[k]],
        )
        for k in order
    ]


def test_a_job_of_a_higher_tier_starts_on_top_and_the_suspended_one_loses_nothing() -> None:
    """The second job starts in the pass that sees it, on two of the first one's nodes; that goes on when it
    has ended, and its limit of 30 min is not reached although it ends 40 min after its start."""
    given = jobs((0, 4, 30, 30), (600, 2, 20, 10), partition=["low", "top"])
    schedule = simulated(given, gang())
    low, top = (int(one) // 10**6 for one in schedule.start)
    assert top < 600 + MINUTE
    assert pieces_of(schedule, 0) == [
        ("running", low, top, "suspended"),
        ("suspended", top, top + 600, "resumed"),
        ("running", top + 600, low + 2400, "done"),
    ]
    assert not schedule.killed.any()
    assert schedule.walltime[0] == 30 * MINUTE * 10**6  # its limit is what it asked for
    assert headway.audit(schedule).ok


def test_who_would_be_suspended_keeps_its_memory_in_plans() -> None:
    """The job of the high tier lacks memory on every node, and suspending the first one does not give it any:
    it has no plan, and backfill starts a short job of the low tier beside the first."""
    given = log(
        (0, 4, 60, 30), (60, 4, 20, 10), (70, 1, 10, 5), partition=["low", "top", "low"],
        exclusive=[0, 0, 0], cpus=[4, 16, 1], tasks=[4, 16, 1], memory_node_mb=[12_000, 5_000, 1_000],
    )  # fmt: skip
    schedule = simulated(given, gang())
    assert schedule.start[1] >= schedule.end[0]
    assert int(schedule.start[2]) // 10**6 < 70 + MINUTE
    assert headway.audit(schedule).ok


def test_what_is_idle_is_taken_first() -> None:
    given = jobs((0, 2, 30, 30), (600, 2, 20, 10), partition=["low", "top"])
    schedule = simulated(given, gang())
    assert schedule.pieces is None
    assert schedule.shares is not None and schedule.shares.nodes_of(1) == "n[3-4]"


def test_as_few_tiers_as_will_do_give_way() -> None:
    """The job of the top tier could have the nodes of either: it takes those of the lowest."""
    given = jobs((0, 2, 60, 30), (1, 2, 60, 30), (600, 2, 20, 10), partition=["low", "mid", "top"])
    schedule = simulated(given, gang())
    assert schedule.shares is not None
    assert schedule.shares.nodes_of(2) == schedule.shares.nodes_of(0)
    assert pieces_of(schedule, 1) == []


def test_memory_stays_with_the_suspended_job() -> None:
    """12,000 of 16,000 MB are taken: a job that wants 8,000 of them waits until the first one has ended."""
    given = log((0, 4, 30, 30), (600, 1, 20, 10), partition=["low", "top"], memory_node_mb=[12_000, 8_000])
    first, second = starts(given, gang())
    assert second >= first + 1800


def test_jobs_of_a_partition_with_cancel_go_at_once() -> None:
    """And without grace: the new job runs on their nodes in the same second."""
    given = jobs((0, 4, 60, 30), (600, 1, 20, 10), partition=["mid", "top"])
    schedule = simulated(given, gang("CANCEL"))
    first, second = (int(one) // 10**6 for one in schedule.start)
    assert second < 600 + MINUTE
    assert pieces_of(schedule, 0) == [("running", first, second, "preempted")]
    assert [entry.rule for entry in schedule.workload.ledger.entries][-1] == "preempted"
    assert headway.audit(schedule).ok


def test_who_goes_on_is_found_from_the_highest_tier_down() -> None:
    """Three jobs on one another on all nodes: when the top one ends the middle one goes on, the lowest one
    only when that has ended, too."""
    given = jobs((0, 4, 90, 30), (600, 4, 90, 30), (1200, 4, 20, 10), partition=["low", "mid", "top"])
    schedule = simulated(given, gang())
    low, mid, top = (int(one) // 10**6 for one in schedule.start)
    end = [int(one) // 10**6 for one in schedule.end]
    assert mid < 600 + MINUTE and top < 1200 + MINUTE
    assert end[2] == top + 600
    assert end[1] == mid + 1800 + 600  # it stood still for ten minutes
    assert end[0] == low + 1800 + end[1] - mid  # and the lowest one as long as it was on top
    assert headway.audit(schedule).ok


def test_a_job_under_a_suspended_one_goes_on_meanwhile() -> None:
    """The middle one has n1 to n3 from the lowest, which has n1; the top one takes n3 and n4: nobody uses n1
    then, so the lowest one goes on until the middle one does."""
    nodes = tuple(Node(f"n{k}", 4, memory_mb=16_000, features=("a",) if k == 1 else ()) for k in range(1, 5))
    given = log(
        (0, 1, 90, 60), (600, 3, 90, 30), (1200, 2, 20, 10), partition=["low", "mid", "top"],
        memory_node_mb=[1000] * 3, required_nodes=["n1", "n[1-3]", "n[3-4]"],
    )  # fmt: skip
    schedule = simulated(given, replace(gang(), nodes=nodes))
    states = [state for state, *_ in pieces_of(schedule, 0)]
    assert states == ["running", "suspended", "running", "suspended", "running"]
    mid = pieces_of(schedule, 1)
    assert [state for state, *_ in mid] == ["running", "suspended", "running"]
    away = pieces_of(schedule, 0)[2]  # it goes on a second after the middle one is suspended, until that does
    assert (away[1], away[2]) == (mid[1][1] + 1, mid[1][2])
    assert headway.audit(schedule).ok


def test_a_suspended_job_whose_node_is_lost_waits_again() -> None:
    lost = NodeEvent("n4", BEGAN + 900, BEGAN + 901, "DOWN")
    given = jobs((0, 4, 60, 30), (600, 2, 60, 20), partition=["low", "top"])
    schedule = simulated(given, gang(events=(lost,)))
    top = int(schedule.start[1]) // 10**6
    first = [one for one in pieces_of(schedule, 0) if one[1] < 1000]
    assert [(state, ended) for state, _, _, ended in first] == [
        ("running", "suspended"), ("suspended", "failed")
    ]  # fmt: skip
    assert first[-1][2] == 900
    assert int(schedule.end[0] - schedule.start[0]) == 1800 * 10**6  # from the beginning, and alone
    assert int(schedule.start[0]) // 10**6 >= top + 1200
    assert headway.audit(schedule).ok


def test_the_audit_counts_the_cpus_of_suspended_jobs_only_while_they_run() -> None:
    """Without its pieces the job seems to have run through."""
    given = jobs((0, 4, 30, 30), (600, 2, 20, 10), partition=["low", "top"])
    schedule = simulated(given, gang())
    wrong = replace(schedule, pieces=None)
    laws = {fault.law for fault in headway.audit(wrong).faults}
    assert "node CPUs" in laws and "exclusive nodes" in laws


def test_explain_names_who_was_on_top() -> None:
    given = jobs((0, 4, 30, 30), (600, 2, 20, 10), partition=["low", "top"])
    said = str(headway.explain(simulated(given, gang()), 1))
    assert "It was suspended for job 2" in said and "10 min" in said


def random_log(
    random: np.random.Generator,
    count: int,
    horizon: int,
    limits: tuple[int, int],
    lengths: tuple[int, int],
    partitions: list[str],
    megabytes: list[int],
) -> headway.Workload:
    """Jobs of one to three nodes, shared or not; limits and lengths in minutes."""
    nodes = random.integers(1, 4, count)
    cpus = nodes * random.integers(1, 5, count)
    submit = np.sort(random.integers(0, horizon, count))
    return log(
        *zip(submit, nodes, random.integers(*limits, count), random.integers(*lengths, count), strict=True),
        partition=random.choice(partitions, count).tolist(),
        memory_node_mb=random.choice(megabytes, count), exclusive=random.integers(0, 2, count),
        cpus=cpus, tasks=cpus,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_logs_keep_every_law(seed: int) -> None:
    """Shared nodes, memory, three tiers and lost nodes: no job is lost, and the audit finds nothing."""
    random = np.random.default_rng(seed)
    count = 60
    given = random_log(random, count, 20_000, (5, 120), (1, 100), ["low", "mid", "top"], [500, 4000, 9000])
    lost = tuple(
        NodeEvent(f"n{k}", BEGAN + int(t), BEGAN + int(t) + 600, "DOWN")
        for k, t in zip((1, 2, 3), random.integers(0, 20_000, 3), strict=True)
    )
    schedule = simulated(given, gang(random.choice(["SUSPEND", "CANCEL", "REQUEUE"]), events=lost))
    assert len(schedule) == count
    verdict = headway.audit(schedule)
    assert verdict.ok, verdict
    run = schedule.pieces
    assert run is not None and (run.state == STATES.index("suspended")).any()
