"""Nodes that a user's jobs have for themselves (--exclusive=user, ExclusiveUser), worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.site import Site
from headway.site.model import Partition
from headway.workload.slurm.asked import NUMBERS, Lines
from slurm_by_hand import log, site, starts

HOUR = 3600
SHARED: dict[str, Any] = {"exclusive": [0, 0, 0], "cpus": [1, 1, 1], "tasks": [1, 1, 1]}


def one_node(**rules: Any) -> Site:
    """A site whose partition has n1 only."""
    return replace(site(), partitions=(Partition("main", (0,), is_default=True, **rules),))


def two_partitions() -> Site:
    """Whole nodes by user in the one partition, and shared ones in the other, both of n1."""
    own = Partition("own", (0,), exclusive_user=True)
    return replace(site(), partitions=(Partition("main", (0,), is_default=True), own))


def test_in_a_partition_by_user_others_wait_for_the_node() -> None:
    """Of one CPU each: ada's second job shares n1 with her first, bob's comes when both are over."""
    jobs = log((0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60), user=["ada", "bob", "ada"], **SHARED)
    first, bob, second = starts(jobs, one_node(exclusive_user=True))
    assert first < 60 and second < 240
    assert bob >= second + HOUR
    assert max(starts(jobs, one_node())) < 240  # where users share nodes they all fit


def test_a_job_may_ask_for_it_itself() -> None:
    """bob's job wants a node without others. Nothing is planned for it on ada's, though her first job will
    end, so backfill lets her second one in before it; carl waits for bob."""
    jobs = log(
        (0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60), (2 * HOUR, 1, 60, 60),
        user=["ada", "bob", "ada", "carl"], exclusive_user=[0, 1, 0, 0],
        exclusive=[0] * 4, cpus=[1] * 4, tasks=[1] * 4,
    )  # fmt: skip
    first, bob, second, carl = starts(jobs, one_node())
    assert first < 60 and second < 240
    assert second + HOUR <= bob < second + HOUR + 120
    assert carl >= bob + HOUR


def test_who_keeps_a_node_keeps_it_from_other_partitions() -> None:
    """ada's first job has n1 for her alone until it ends; her second one, elsewhere, has not."""
    jobs = log(
        (0, 1, 60, 60), (60, 1, 60, 60), (120, 1, 60, 60),
        user=["ada", "bob", "ada"], partition=["own", "main", "main"], **SHARED,
    )  # fmt: skip
    first, bob, second = starts(jobs, two_partitions())
    assert first < 60 and second < 240
    assert first + HOUR <= bob < second + HOUR


@pytest.mark.parametrize(
    ("line", "sharing", "by_user", "named"),
    [
        ("ExclusiveUser=YES OverSubscribe=NO", "NO", True, False),
        ("Exclusive=USER OverSubscribe=NO", "NO", True, False),
        ("Exclusive=NODE OverSubscribe=NO", "EXCLUSIVE", False, False),
        ("Exclusive=TOPO OverSubscribe=NO", "EXCLUSIVE", False, True),
        ("Exclusive=NO OverSubscribe=YES:4", "YES", False, False),
    ],
)
def test_a_partition_says_so_in_old_and_new_words(
    tmp_path: Path, line: str, sharing: str, by_user: bool, named: bool
) -> None:
    """Slurm 26.05 shows Exclusive=NODE where older versions show OverSubscribe=EXCLUSIVE."""
    conf = f"ClusterName=c\nNodeName=n[1-2] CPUs=4\nPartitionName=main Nodes=ALL Default=YES {line}\n"
    (tmp_path / "slurm.conf").write_text(conf)
    found = Site.load(tmp_path)
    assert (found.partitions[0].oversubscribe, found.partitions[0].exclusive_user) == (sharing, by_user)
    assert any("Exclusive" in one.name for one in found.not_modelled) == named


def test_a_submit_line_asks_for_it() -> None:
    numbers, texts = Lines().rows(["sbatch --exclusive=user job.sh", "sbatch --exclusive job.sh"])
    both = [NUMBERS.index("exclusive"), NUMBERS.index("exclusive_user")]
    assert numbers[:, both].tolist() == [[0, 1], [1, 0]]
    assert texts[-1].to_list() == ["", ""]  # nothing of it is told as not modelled
