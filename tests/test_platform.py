from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from headway import InputError, Platform, UsageError, simulate
from headway.platform import Cluster, NodeGroup, named_platforms
from headway.workload import Workload

NODES = """\
[[cluster]]
name = "small"
speed = 1.5

[[cluster.nodes]]
count = 3
cores = 8
memory_gb = 64
bandwidth_gb_s = 0.5

[[cluster.nodes]]
count = 1
cores = 16

[[cluster]]
name = "plain"
procs = 10
"""


def test_one_number_is_a_platform() -> None:
    platform = Platform.procs(240)
    assert platform.total_procs == 240
    assert len(platform.clusters) == 1
    assert platform.clusters[0].speed == 1.0
    assert not platform.has_nodes
    assert str(platform) == "240 processors"
    assert Platform.procs(np.int64(240)) == platform  # type: ignore[arg-type]


def test_file_with_nodes_and_plain_cluster(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(NODES)
    platform = Platform.load(file)
    small, plain = platform.clusters
    assert small == Cluster("small", speed=1.5, nodes=(NodeGroup(3, 8, 64, 0.5), NodeGroup(1, 16)))
    assert small.procs == 3 * 8 + 16
    assert small.nodes[1].memory_gb == math.inf
    assert plain == Cluster("plain", procs=10)
    assert platform.total_procs == 50
    assert platform.has_nodes


@pytest.mark.parametrize(
    ("name", "procs"),
    [
        ("rackham", [(450 + 32 + 4) * 20]),
        ("rackham-small", [(95 + 4 + 1) * 20]),
        ("grid5000", [640, 270, 434]),
        ("pwa-g5k", [640, 430, 128]),
    ],
)
def test_named_platforms(name: str, procs: list[int]) -> None:
    platform = Platform.load(name)
    assert [cluster.procs for cluster in platform.clusters] == procs
    assert name in named_platforms()


def test_rackham_has_three_memory_sizes_and_a_slow_file_system() -> None:
    groups = Platform.load("rackham").clusters[0].nodes
    assert [(g.count, g.cores, g.memory_gb, g.bandwidth_gb_s) for g in groups] == [
        (450, 20, 128, 0.1),
        (32, 20, 256, 0.1),
        (4, 20, 1024, 0.1),
    ]


def test_grid_speeds() -> None:
    for name in ("grid5000", "pwa-g5k"):
        assert [cluster.speed for cluster in Platform.load(name).clusters] == [1.0, 1.2, 1.4]


def test_a_file_goes_before_the_named_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rackham").write_text('[[cluster]]\nname = "mine"\nprocs = 7\n')
    monkeypatch.chdir(tmp_path)
    assert Platform.load("rackham").total_procs == 7


@pytest.mark.parametrize("name", ["rackham", "grid5000"])
def test_description_is_enough_to_rebuild(name: str) -> None:
    platform = Platform.load(name)
    assert Platform.from_description(platform.describe()) == platform


@pytest.mark.parametrize("procs", [0, -3, 2.0, True, "12", 2**31])
def test_processor_counts_out_of_range(procs: object) -> None:
    with pytest.raises(UsageError, match="procs must be"):
        Platform.procs(procs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[[cluster]]\nname = "a"\nprocs = 0\n', 3, "cluster 1: procs must be from 1"),
        (
            '[[cluster]]\nname = "a"\nprocs = "many"\n',
            3,
            "cluster 1: procs must be a whole number, not 'many'",
        ),
        ('[[cluster]]\nname = "a"\nprocs = 4\nspeed = -1\n', 4, "cluster 1: speed must be greater than 0"),
        ('[[cluster]]\nname = "a"\nprocs = 4\nspeed = nan\n', 4, "speed must be greater than 0"),
        ('[[cluster]]\nname = "a"\nprocs = 4\nspeed = inf\n', 4, "speed must be finite"),
        ('[[cluster]]\nname = "a"\n', 1, "needs either procs or"),
        ("[[cluster]]\nprocs = 4\n", 1, "name is missing"),
        ("[[cluster]]\nname = 5\nprocs = 4\n", 2, "name of a cluster must be a text"),
        ('[[cluster]]\nname = "a"\nprocs = 4\ncolour = 1\n', 4, "colour: unknown key; known are name, speed"),
        ('title = "x"\n[[cluster]]\nname = "a"\nprocs = 4\n', 1, "title: unknown key"),
        ('[cluster]\nname = "a"\nprocs = 4\n', 1, "cluster: must be written as a list of tables"),
        ('[[cluster]]\nname = "a"\nprocs = \n', 3, "is not valid TOML"),
        (
            '[[cluster]]\nname = "a"\nprocs = 4\n[[cluster]]\nname = "a"\nprocs = 4\n',
            None,
            "two clusters are called 'a'",
        ),
        ("", None, "has no cluster"),
        (NODES.replace("cores = 16", "cores = 0"), 13, "cluster 1 nodes 2: cores must be from 1"),
        (NODES.replace("cores = 16", ""), 11, "cluster 1 nodes 2: cores is missing"),
        (NODES.replace("bandwidth_gb_s = 0.5", "bandwidth = 0.5"), 9, "nodes 1: bandwidth: unknown key"),
        (
            NODES.replace("speed = 1.5", "procs = 40"),
            1,
            "needs either procs or [[cluster.nodes]], and not both",
        ),
        ('[[cluster]]\nname = "a"\nnodes = []\n', 3, "nodes: is empty"),
    ],
)
def test_mistakes_in_a_file_name_the_line_and_the_key(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        Platform.load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: "), message
    assert words in message
    assert "\n" not in message


def test_no_such_platform_lists_the_named_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such platform file.*grid5000.*rackham"):
        Platform.load("rakham")
    with pytest.raises(InputError, match="is a folder"):
        Platform.load(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text in UTF-8"):
        Platform.load(tmp_path / "binary.toml")


def test_procs_and_nodes_must_agree() -> None:
    group = NodeGroup(2, 4)
    assert Cluster("a", procs=8, nodes=(group,)).procs == 8
    with pytest.raises(UsageError, match="procs = 9 and nodes with 8 cores"):
        Cluster("a", procs=9, nodes=(group,))


def test_a_speed_that_a_policy_does_not_go_by_is_refused() -> None:
    log = Workload.from_arrays(unit="s", submit=[0], procs=[2], runtime=[90])
    fast = Platform((Cluster("fast", procs=4, speed=1.5),))
    for policy in ("easy", "dbf", "redirection", "fcfs"):
        with pytest.raises(UsageError, match=r"'fast' has speed 1\.5; leave the speed out, or give realloc"):
            simulate(log, fast, policy)
    assert simulate(log, fast, "reallocation").end.tolist() == [60_000_000]
    assert simulate(log, Platform((Cluster("plain", procs=4),)), "easy").end.tolist() == [90_000_000]
