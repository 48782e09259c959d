"""Nodes by a tree of switches (topology/tree), on sites worked out by hand; a recorded run of real Slurm with
twelve nodes, jobs that share them and --switches came out alike in each of its 3,051 plans.

Nodes n1 to n8 have four CPUs each, in leaves of 2, 4 and 2 nodes; the first two leaves have a switch above
them. Times are seconds after the first submission.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import headway
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Node, Partition, Switch
from headway.site.topology import read_switches, steps_between
from headway.units import SECOND
from headway.workload.slurm.asked import NUMBERS, Lines
from slurm_by_hand import MINUTE, log, simulated, site, starts

TREE = {"TopologyPlugin": "topology/tree"}
EIGHT = tuple(Node(f"n{k}", 4) for k in range(1, 9))
LEAVES = (0, 1), (2, 3, 4, 5), (6, 7)
SWITCHES = (
    Switch("s1", 0, 3, LEAVES[0]), Switch("s2", 0, 3, LEAVES[1]), Switch("s3", 0, 4, LEAVES[2]),
    Switch("t1", 1, 5, LEAVES[0] + LEAVES[1]), Switch("t2", 1, 5, LEAVES[2]),
    Switch("core", 2, 5, tuple(range(8))),
)  # fmt: skip


def network(config: dict[str, str] | None = None, **more: Any) -> Site:
    """Eight nodes below the tree."""
    main = Partition("main", tuple(range(8)), is_default=True)
    on = {"nodes": EIGHT, "partitions": (main,), "switches": SWITCHES} | more
    return site(TREE | (config or {}), **on)


def nodes_of(jobs: headway.Workload, on: Site) -> list[str]:
    """Where jobs run."""
    schedule = simulated(jobs, on)
    assert schedule.shares is not None
    return [schedule.shares.nodes_of(job) for job in range(len(jobs))]


def test_the_tightest_leaf_first() -> None:
    """One node: the first of the smallest leaves, so n1; two more nodes fit s3 most tightly, where best fit
    over neighbours would take n2 and n3; three are all in s2."""
    jobs = log((0, 1, 60, 60), (60, 2, 60, 60), (120, 3, 60, 60))
    assert nodes_of(jobs, network()) == ["n1", "n[7-8]", "n[3-5]"]
    assert nodes_of(jobs, network(switches=())) == ["n1", "n[2-3]", "n[4-6]"]


def test_the_largest_leaf_and_then_the_nearest() -> None:
    """Five nodes fit no leaf. Both s1 and s2 are below t1, which is large enough, and t2 is not: the larger
    of the two is s2. Then s1 is two steps away, s3 four."""
    assert nodes_of(log((0, 5, 60, 60)), network()) == ["n[1,3-6]"]


def test_light_nodes_before_near_ones() -> None:
    """n7 and n8 are light: a job on three nodes takes both, and one more on the nearest leaf; all others are
    as far from there, so the smallest that is large enough."""
    light = tuple(replace(node, weight=1 if k >= 6 else 5) for k, node in enumerate(EIGHT))
    assert nodes_of(log((0, 3, 60, 60)), network(nodes=light)) == ["n[1,7-8]"]


def test_a_job_starts_below_one_switch_only() -> None:
    """Without the switch above, the network falls apart: a job on seven nodes waits for ever, one on six does
    not, and one on two takes the part that comes last among equals."""
    islands = (*SWITCHES[:3], replace(SWITCHES[3], parent=3), replace(SWITCHES[4], parent=4))
    jobs = log((0, 7, 10, 10), (60, 6, 10, 10), (1200, 2, 10, 10))
    schedule = simulated(jobs, network(switches=islands))
    assert schedule.shares is not None
    assert [schedule.shares.nodes_of(job) for job in range(len(schedule.start))] == ["n[1-6]", "n[7-8]"]


@pytest.mark.parametrize(
    ("wait", "config", "second"),
    [
        (-1, {}, 5 * MINUTE),
        (60, {}, MINUTE),
        (3600, {}, 5 * MINUTE),
        (-1, {"SchedulerParameters": "max_switch_wait=1200"}, 20 * MINUTE),
        (3600, {"SchedulerParameters": "max_switch_wait=5000"}, 30 * MINUTE),
    ],
)
def test_a_job_waits_for_few_switches(wait: int, config: dict[str, str], second: int) -> None:
    """Job 1 has two nodes of s2 for half an hour, so three nodes on one switch are not to be had. The other
    job waits for that at most as long as it says, and as the site allows: five minutes by default."""
    jobs = log((0, 2, 60, 30), (1, 3, 10, 10), required_nodes=["n3,n4", ""], switches=[0, 1],
               switch_wait=[-1, wait * 1_000_000 if wait > 0 else -1])  # fmt: skip
    parameters = dict(pair.split("=") for pair in config.get("SchedulerParameters", "").split(",") if pair)
    on = network(config, scheduler=parameters)
    _, begun = starts(jobs, on)
    assert second <= begun <= second + 2 * MINUTE
    assert starts(jobs, network(config, switches=(), scheduler=parameters))[1] < MINUTE


def test_switches_that_count_only_where_asked_for() -> None:
    """TopoOptional: without --switches nodes are chosen as if there were no tree."""
    on = network({"TopologyParam": "TopoOptional"})
    assert nodes_of(log((0, 1, 60, 60), (60, 2, 60, 60)), on) == ["n1", "n[2-3]"]
    assert nodes_of(log((0, 1, 60, 60), (60, 2, 60, 60), switches=[0, 1]), on) == ["n1", "n[7-8]"]


@pytest.mark.parametrize("policy", ["easy(nodes=whole)", "conservative(nodes=shared)"])
def test_baselines_on_named_nodes_choose_them_by_switches(policy: str) -> None:
    """They leave out what is Slurm's own: nobody waits for few switches."""
    jobs = log((0, 1, 60, 60), (60, 2, 60, 60), (120, 4, 60, 60), (180, 3, 60, 60), switches=[0, 0, 0, 1])
    schedule = headway.simulate(jobs, network().platform(), policy)
    assert schedule.shares is not None
    assert [schedule.shares.nodes_of(job) for job in range(3)] == ["n1", "n[7-8]", "n[3-6]"]
    assert schedule.start[3] == 3660 * SECOND  # when the second job has left n7 and n8


CONF = """
SwitchName=s1 Nodes=n[1-2]
SwitchName=core Switches=t[1-2]   # before what is below it
SwitchName=s2 Nodes=n[3-6]
SwitchName=s3 Nodes=n[7-9] LinkSpeed=10
SwitchName=t1 Switches=s[1-2]
SwitchName=t2 Switches=s3
"""
SHOWN = """SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=core Level=2 LinkSpeed=1 Nodes=n[1-8] Switches=t[1-2]
SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[3-6]
SwitchName=s3 Level=0 LinkSpeed=10 Nodes=n[7-8]
SwitchName=t1 Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=s[1-2]
SwitchName=t2 Level=1 LinkSpeed=1 Nodes=n[7-8] Switches=s3
"""


@pytest.mark.parametrize("text", [CONF, SHOWN])
def test_a_tree_is_read(text: str, tmp_path: Path) -> None:
    """As Slurm reads it, or as scontrol shows it; nodes that the site does not have are left out."""
    (tmp_path / "topology.conf").write_text(text, "utf-8")
    found = read_switches(tmp_path, Config.of(TREE), EIGHT)
    assert [(one.name, one.level, found[one.parent].name) for one in found] == [
        ("s1", 0, "t1"), ("core", 2, "core"), ("s2", 0, "t1"), ("s3", 0, "t2"), ("t1", 1, "core"),
        ("t2", 1, "core"),
    ]  # fmt: skip
    assert [one.nodes for one in found if one.level == 0] == list(LEAVES)
    assert found[1].nodes == tuple(range(8))
    assert steps_between(found)[0] == [0, 2, 2, 4, 1, 3]
    assert read_switches(tmp_path, Config.of({}), EIGHT) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nothing\n", "topology.conf: defines no switch; write it again"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "topology.conf:2: .*a second time"),
        ("SwitchName=a Switches=b\n", "topology.conf:1: .*names b, which is not another switch"),
        ("SwitchName=a\n", "topology.conf:1: .*neither Nodes nor Switches"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "topology.conf:1: .*not a tree"),
        ("SwitchName=a Nodes=n[1-\n", "topology.conf:1: .*not a list of nodes"),
    ],
)
def test_what_is_no_tree_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(text, "utf-8")
    with pytest.raises(headway.InputError, match=message):
        read_switches(tmp_path, Config.of(TREE), EIGHT)


def test_a_submit_line_says_how_many_switches_and_how_long() -> None:
    options = "--switches=1@60", "--switches 2", "-N 2", "--switches=1@1:30"
    lines = [f"sbatch {one} job.sh" for one in options]
    asked = Lines().rows(lines)[0][:, [NUMBERS.index("switches"), NUMBERS.index("switch_wait")]].tolist()
    assert asked == [[1, 3600 * SECOND], [2, -1], [0, -1], [1, 90 * SECOND]]
