"""``select/linear`` on sites worked out by hand: whole nodes, kinds of nodes, plans with one end at a time.

A recorded run of real Slurm has each of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.site import Site
from headway.site.model import Node
from slurm_by_hand import MINUTE, log, simulated, site, starts

LINEAR = {"SelectType": "select/linear"}


def nodes_of(on: Site, *jobs: tuple[int, int], least: int = 0) -> list[str]:
    """Where jobs of so many (nodes, CPUs) run that come one after the other."""
    made = simulated(
        log(
            *[(60 * k, nodes, 60, 60) for k, (nodes, _) in enumerate(jobs)],
            cpus=[cpus for _, cpus in jobs], tasks=[cpus for _, cpus in jobs], exclusive=[0] * len(jobs),
            min_nodes=[least or nodes for nodes, _ in jobs],
        ),
        on,
    )  # fmt: skip
    assert made.shares is not None
    return [made.shares.nodes_of(job) for job in range(len(jobs))]


@pytest.mark.parametrize("linear", [True, False])
def test_each_end_is_tried_by_itself(linear: bool) -> None:
    """n1, n2 and n3 are busy for 10, 60 and 70 minutes. The fourth job, for three nodes, is planned after an
    hour then, with n4; not after the last end of a group, which leaves n4 to the job behind it."""
    jobs = log((0, 1, 10, 10), (1, 1, 60, 60), (2, 1, 70, 70), (60, 3, 60, 10), (90, 1, 65, 10))
    *_, wide, behind = starts(jobs, site(LINEAR if linear else {}))
    assert wide // MINUTE == 60
    assert behind > wide if linear else behind < 4 * MINUTE


def test_light_kinds_of_nodes_are_tried_alone() -> None:
    """A start takes light nodes if they are enough, and others only where they are not: then by their place,
    whatever they weigh. Nodes of one weight and different features are different kinds."""
    on = site(LINEAR)
    heavy = replace(on, nodes=(replace(on.nodes[0], weight=9), *on.nodes[1:]))
    assert nodes_of(heavy, (2, 8), (1, 4), (1, 4)) == ["n[2-3]", "n4", "n1"]
    assert nodes_of(heavy, (4, 16), least=2) == ["n[1-4]"]
    assert nodes_of(heavy, (3, 12), least=3) == ["n[2-4]"]
    others = replace(on, nodes=(on.nodes[0], replace(on.nodes[1], features=("x",)), *on.nodes[2:]))
    assert nodes_of(others, (2, 8), (1, 4), (1, 4)) == ["n[3-4]", "n1", "n2"]


def test_plans_do_not_weigh_nodes() -> None:
    """n1 is heavy, and all nodes are busy for an hour. The second job is planned on n1 and n2 all the same;
    the third, long, is then planned on n3 and starts there, and the second on light nodes that are left."""
    on = site(LINEAR)
    on = replace(on, nodes=(replace(on.nodes[0], weight=9), *on.nodes[1:]))
    jobs = log((0, 3, 60, 60), (10, 2, 60, 60), (20, 1, 61, 10))
    _, second, third = starts(jobs, on)
    assert second // MINUTE == 60  # n1, idle meanwhile, is planned for it
    assert third >= second


def test_large_nodes_are_taken_where_small_ones_would_not_do() -> None:
    """Of the largest the last; a job that the smallest would do for takes the run that fits best."""
    cpus = (4, 8, 4, 8)
    on = site(LINEAR, nodes=tuple(Node(f"n{k}", count) for k, count in enumerate(cpus, 1)))
    assert nodes_of(on, (1, 6), (1, 6)) == ["n4", "n2"]
    assert nodes_of(on, (1, 3), (2, 10)) == ["n1", "n[2,4]"]


def test_nodes_side_by_side_are_of_one_run() -> None:
    """n2 is busy: a job that accepts two to four nodes in a row has n3 and n4, and not n1 as well."""
    jobs = log(
        (0, 1, 60, 60), (1, 4, 10, 10), required_nodes=["n2", ""], contiguous=[0, 1], min_nodes=[1, 2],
        cpus=[4, 8], tasks=[4, 8],
    )  # fmt: skip
    made = simulated(jobs, site(LINEAR))
    assert made.shares is not None and made.shares.nodes_of(1) == "n[3-4]"


def test_the_bound_on_cpus_of_a_node_does_not_count(tmp_path: Path) -> None:
    """MaxCPUsPerNode is of the other plugins."""
    text = "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES MaxCPUsPerNode=2\n"
    for plugin, bound in (("linear", None), ("cons_tres", 2)):
        (tmp_path / "slurm.conf").write_text(f"ClusterName=c\nSelectType=select/{plugin}\n{text}")
        assert Site.load(tmp_path).partitions[0].max_cpus_per_node == bound


def test_nor_does_one_that_a_change_of_the_site_sets() -> None:
    on = site(LINEAR)
    bounded = replace(on, partitions=(replace(on.partitions[0], max_cpus_per_node=2),))
    assert starts(log((0, 1, 60, 60)), bounded) == starts(log((0, 1, 60, 60)), on)


def test_its_choice_by_switches_is_named(tmp_path: Path) -> None:
    text = "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\nTopologyPlugin=topology/tree\n"
    (tmp_path / "slurm.conf").write_text(f"ClusterName=c\nSelectType=select/linear\n{text}")
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-4]\n")
    assert [one.name for one in Site.load(tmp_path).not_modelled] == ["TopologyPlugin with select/linear"]
