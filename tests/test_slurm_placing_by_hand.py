"""Parameters that change on which nodes Slurm puts jobs, or plans them, on sites worked out by hand.

Recorded runs of real Slurm have each of them; nodes n1 to n4 have four CPUs each. Times are seconds after
the first submission.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headway.site import Site
from headway.site.model import Association, Limits, Partition, Qos
from headway.units import SECOND
from slurm_by_hand import MINUTE, log, simulated, site, starts
from test_slurm_accounting_by_hand import ACCOUNTING


def nodes_of(cpus: list[int], on: Site) -> list[str]:
    """Where jobs of so many CPUs run that share nodes."""
    jobs = log(
        *[(60 * k, 1, 60, 60) for k in range(len(cpus))], cpus=cpus, tasks=cpus, exclusive=[0] * len(cpus)
    )  # fmt: skip
    schedule = simulated(jobs, on)
    assert schedule.shares is not None
    return [schedule.shares.nodes_of(job) for job in range(len(cpus))]


def test_serial_jobs_are_packed_at_the_end() -> None:
    """Jobs of one CPU take the last node that has one, others the tightest as ever."""
    on = site(scheduler={"pack_serial_at_end": ""})
    assert nodes_of([1, 2, 1, 1, 1, 1], on) == ["n4", "n4", "n4", "n3", "n3", "n3"]
    assert nodes_of([1, 2, 1, 1, 1, 1], site()) == ["n1", "n1", "n1", "n2", "n2", "n2"]


@pytest.mark.parametrize("everywhere", [True, False])
def test_the_least_loaded_nodes_first(everywhere: bool) -> None:
    """By the part of its CPUs that is free: n1, smaller than the others, is full sooner; the first among
    equals. Light nodes still come before heavy ones."""
    if everywhere:
        on = site({"SelectTypeParameters": "CR_Core,CR_LLN"})
    else:
        on = site(partitions=(Partition("main", (0, 1, 2, 3), is_default=True, lln=True),))
    assert nodes_of([1, 1, 1, 1, 1], on) == ["n1", "n2", "n3", "n4", "n1"]
    small = replace(on, nodes=(replace(on.nodes[0], cpus=2), *on.nodes[1:]))
    assert nodes_of([1, 1, 1, 1, 1], small) == ["n1", "n2", "n3", "n4", "n2"]
    heavy = replace(on, nodes=(replace(on.nodes[0], weight=5), *on.nodes[1:]))
    assert nodes_of([2] * 7, heavy) == ["n2", "n3", "n4", "n2", "n3", "n4", "n1"]


def test_nodes_to_come_are_left_a_cpu_each() -> None:
    """Five tasks on three nodes of four CPUs."""
    for kind in ("CR_Core", "CR_Core,CR_LLN"):
        made = simulated(
            log((0, 3, 10, 10), cpus=[5], tasks=[5], exclusive=[0]), site({"SelectTypeParameters": kind})
        )
        assert made.shares is not None and made.shares.cpus.tolist() == [3, 1, 1]


def test_a_named_node_that_is_enough_need_not_wait_for_more() -> None:
    """Job 2 asks for one to four nodes and names n3, which has all its CPUs; the others are busy."""
    jobs = log(
        (0, 3, 60, 60), (10, 1, 10, 10), cpus=[12, 4], tasks=[12, 4], max_nodes=[3, 4], exclusive=[1, 0],
        required_nodes=["n[1-2,4]", "n3"],
    )  # fmt: skip
    schedule = simulated(jobs, site({"SelectTypeParameters": "CR_Core,CR_LLN"}))
    assert schedule.shares is not None and schedule.shares.nodes_of(1) == "n3"
    assert schedule.start[1] < 2 * MINUTE * SECOND


@pytest.mark.parametrize("busy", [True, False])
def test_plans_take_nodes_in_use_first(busy: bool) -> None:
    """Job 2 has n3 and n4 for an hour. Job 3 is planned on three nodes then: on these two and n1, so that n2
    is left to the long job behind it; else on n1 to n3."""
    jobs = log((0, 2, 5, 1), (1, 2, 60, 60), (120, 3, 60, 10), (130, 1, 120, 10))
    *_, third, fourth = starts(jobs, site(scheduler={"bf_busy_nodes": ""} if busy else {}))
    assert third >= 3600
    assert fourth < 4 * MINUTE if busy else fourth >= 3600


def test_plans_on_nodes_in_use_take_an_idle_one_more() -> None:
    """Where nodes in use are enough, Slurm goes through the idle ones all the same, and plans one of them.

    Job 2 has n1 to n3. Job 3, on three nodes in an hour, holds n4 too: the long job behind it waits.
    """
    jobs = log((0, 3, 60, 60), (10, 3, 60, 10), (20, 1, 120, 10))
    *_, alone = starts(jobs, site())
    *_, held = starts(jobs, site(scheduler={"bf_busy_nodes": ""}))
    assert alone < 2 * MINUTE and held >= 3600


@pytest.mark.parametrize("reserved", [True, False])
def test_running_jobs_in_the_table_make_plans_exact(reserved: bool) -> None:
    """Job 4 needs three nodes: the idle n4, and two of those that are free by limit in 10, 40 and 42 minutes.

    The last two ends are in one group, so it is planned for the 42nd minute and job 5 fits in before it; with
    bf_running_job_reserve for the 40th, and job 5 does not.
    """
    jobs = log((0, 1, 10, 10), (0, 1, 40, 40), (0, 1, 42, 42), (60, 3, 30, 10), (70, 1, 39, 10))
    *_, fourth, fifth = starts(jobs, site(scheduler={"bf_running_job_reserve": ""} if reserved else {}))
    assert fourth >= 2400
    assert fifth > fourth if reserved else fifth < 4 * MINUTE


@pytest.mark.parametrize(
    ("limits", "node"),
    [
        ({"grp_tres": {"node": 3}}, "n2"),
        ({"max_tres_per_user": {"node": 3}}, "n2"),
        ({"max_tres_per_account": {"node": 3}}, "n2"),
        ({"grp_tres": {"cpu": 12}}, "n1"),
    ],
)
def test_under_a_limit_on_nodes_a_job_prefers_those_that_count_already(
    limits: dict[str, Any], node: str
) -> None:
    """As real Slurm did. The group's first job has n2, others three CPUs of n1 and of n3. The next job of one
    CPU would fit most tightly on n1; on n2 it adds no node to its group's."""
    qos = Qos("normal"), Qos("few", limits=Limits(**limits))
    on = site(ACCOUNTING, qos=qos, associations=(Association("root"),))
    cpus, names = [3, 2, 3, 1], ["normal", "few", "normal", "few"]
    jobs = log(*[(60 * k, 1, 60, 60) for k in range(4)], cpus=cpus, tasks=cpus, exclusive=[0] * 4, qos=names,
               user=[1, 0, 1, 0], group=[1, 0, 1, 0])  # fmt: skip
    schedule = simulated(jobs, on)
    assert schedule.shares is not None
    assert [schedule.shares.nodes_of(job) for job in range(4)] == ["n1", "n2", "n3", node]


def test_the_classic_formula_counts_own_usage_at_once() -> None:
    """One calculation of priorities has passed when the first job ends. The account is taken as it was before
    it, what Ann has used counts: Bob of the same account goes first, whose job came later."""
    on = site(
        ACCOUNTING | {"PriorityFlags": "NO_FAIR_TREE", "PriorityWeightFairshare": "1000"},
        associations=(
            Association("root"),
            Association("a", parent=0),
            *(Association("a", who, parent=1) for who in ("ann", "bob")),
        ),
    )
    jobs = log((0, 4, 30, 5), (10, 4, 30, 5), (20, 4, 30, 5), user=["ann", "ann", "bob"], account=["a"] * 3)
    _, anns, bobs = starts(jobs, on)
    assert 300 <= bobs <= 360 < anns


def is_planned_on_n4(on: Site, *asked: dict[str, Any]) -> bool:
    """Whether a job of two nodes is planned on n4, in a cycle of backfill just after others were submitted.

    The large nodes are in use for an hour, and then by job 2 for another, which keeps the main loop from the
    jobs behind it. Job 3 is planned after that, and job 4, which is longer and could have n4 at once, waits
    if it has to.
    """
    first = [(0, 3, 60, 60), (60, 3, 60, 60), (100, 2, 60, 60), (123, 1, 130, 130)]
    needs = ["large", "large", "", ""]
    cycle = starts(log(*first, constraint=needs), on)[3]
    columns = {
        "gres": ["", "", "", "", *(one.get("gres", "") for one in asked)],
        "constraint": [*needs, *(one.get("constraint", "") for one in asked)],
        "memory_node_mb": [10, 10, 10, 10, *(one.get("memory", 10) for one in asked)],
    }
    start = starts(log(*first, *((cycle, 1, 130, 130) for _ in asked), **columns), on)[3]
    assert cycle < 5 * MINUTE
    return start > cycle


def test_a_submission_changes_the_weights_of_nodes() -> None:
    """Each is tested, whether the job could ever run: n4 becomes the lightest if the last one wants its GPU;
    all are alike again after one that could have all nodes, and n4 stays as it is if that could not have it.
    """
    on = site()
    nodes = [replace(node, features=("large",), memory_mb=8000) for node in on.nodes[:3]]
    on = replace(on, nodes=(*nodes, replace(on.nodes[3], gres={"gpu": 1}, memory_mb=1000)))
    gpu: dict[str, Any] = {"gres": "gpu:1"}
    alike: list[tuple[dict[str, Any], ...]] = [(), ({},), (gpu, {})]
    for last in alike:
        assert not is_planned_on_n4(on, *last)
    for last in ((gpu,), ({}, gpu), (gpu, {"constraint": "large"}), (gpu, {"memory": 2000})):
        assert is_planned_on_n4(on, *last)


@pytest.mark.parametrize(("memory", "waits"), [(5000, True), (100, False)])
def test_ends_on_nodes_that_are_too_small_do_not_count_in_a_search(memory: int, waits: bool) -> None:
    """Ends are looked at in groups that become longer: 5 minutes, then 10 and 13 together. Job 4 wants n1, of
    which another has 10 minutes left, and n4. Where it has too much memory for n2 and n3, only that end
    counts, and the job behind it, of 11 minutes, is too long for n4; else the plan begins after 13."""
    on = site()
    sizes = (8000, 1000, 1000, 8000)
    on = replace(on, nodes=tuple(replace(n, memory_mb=mb) for n, mb in zip(on.nodes, sizes, strict=True)))
    jobs = log(
        (0, 1, 10, 10), (1, 1, 5, 5), (2, 1, 13, 13), (3, 2, 30, 10), (4, 1, 11, 11),
        required_nodes=["n1", "n2", "n3", "n1", "n4"], memory_node_mb=[100, 100, 100, memory, 100],
    )  # fmt: skip
    *_, fourth, last = starts(jobs, on)
    assert fourth >= 10 * MINUTE and (last > fourth) is waits
