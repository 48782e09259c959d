"""GPUs for a whole job or for each task, and CPUs and memory for each GPU, on sites worked out by hand.

Recorded runs of real Slurm have each of these. Nodes have four CPUs where nothing else is said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headway
from headway.site import Site
from headway.site.model import Limits, Node, Partition, Qos
from slurm_by_hand import MINUTE, log, simulated, site, starts
from test_slurm_real import HEAD, asked, record


def with_gpus(*nodes: Node, memory: bool = False) -> Site:
    everywhere = (Partition("main", tuple(range(len(nodes))), is_default=True),)
    kind = "CR_Core_Memory" if memory else "CR_Core"
    return site({"SelectTypeParameters": kind}, nodes=nodes, partitions=everywhere)


def two_gpus(count: int) -> Site:
    return with_gpus(*(Node(f"n{k}", 4, gres={"gpu": 2}) for k in range(1, count + 1)))


def job(cpus: int, **asks: Any) -> headway.Workload:
    """One job that shares nodes and names no number of them."""
    given: dict[str, Any] = {"cpus": cpus, "tasks": cpus, "exclusive": 0, "min_nodes": 1, "max_nodes": 4}
    return log((0, 1, 10, 10), **{name: [value] for name, value in (given | asks).items()})


def placed(jobs: headway.Workload, on: Site) -> tuple[str, list[int]]:
    """Nodes of the first job, and its CPUs on each."""
    shares = simulated(jobs, on).shares
    assert shares is not None
    return shares.nodes_of(0), shares.cpus.tolist()


@pytest.mark.parametrize(
    ("line", "cpus", "gres", "found"),
    [
        ("--gpus=4 -n 8", 8, "gpu:1", {"gres_units": 4, "gres_by_task": 0, "max_nodes": 4, "any_tasks": 0}),
        ("--gpus=4", 1, "gpu:1", {"gres_units": 4, "max_nodes": 4, "any_tasks": 1}),
        ("-N 1 --gpus=a100:4 -n 2", 2, "gpu:a100:1", {"gres_units": 4, "max_nodes": 1}),
        ("--gpus-per-task=2 -n 6", 6, "gpu:2", {"gres_units": 6, "gres_by_task": 1, "max_nodes": 6}),
        ("--gpus=2 --cpus-per-gpu=4", 1, "gpu:1", {"cpus_with_gpus": 8, "cpus_per_gpu": 4}),
        ("--gpus-per-task=2 -n 3 --cpus-per-gpu=3", 3, "gpu:2", {"cpus_per_task": 6, "cpus_per_gpu": 6}),
        ("--gpus=2 --mem-per-gpu=1G", 1, "gpu:1", {"memory_gpu_mb": 1024, "memory_node_mb": -1}),
        ("-N 2 --gpus-per-node=2 --cpus-per-gpu=3", 2, "gpu:2", {"cpus_with_gpus": 12, "cpus_per_task": 6}),
        ("--gres=gpu:2 --mem-per-gpu=1000 -n 1", 1, "gpu:2", {"gres_units": 0, "memory_node_mb": 2000}),
    ],
)
def test_what_submit_lines_ask_for_with_gpus(
    tmp_path: Path, line: str, cpus: int, gres: str, found: dict[str, int]
) -> None:
    row = f"{record('7', ReqCPUS=cpus, AllocCPUS=cpus)}|sbatch {line} job.sh"
    workload = asked(tmp_path, row, head=f"{HEAD}|SubmitLine")
    assert workload.labels["gres"][int(workload.columns["gres"][0])] == gres
    assert {name: int(workload.columns[name][0]) for name in found} == found


@pytest.mark.parametrize(
    ("nodes", "had", "gres", "units"), [(2, 3, "gpu:1", 3), (2, 6, "gpu:3", 0), (1, 3, "gpu:3", 0)]
)
def test_gpus_of_a_job_script(tmp_path: Path, nodes: int, had: int, gres: str, units: int) -> None:
    """It asked for three on one node. If it had three on two, they were for the whole job; six: for each."""
    wanted, given = ("cpu=2,gres/gpu=3,node=1", f"cpu=2,gres/gpu={had},node={nodes}")
    row = record("7", ReqTRES=wanted, AllocTRES=given, NNodes=nodes) + "|1"
    workload = asked(tmp_path, row, head=f"{HEAD}|ReqNodes")
    assert workload.labels["gres"][int(workload.columns["gres"][0])] == gres
    assert int(workload.columns["gres_units"][0]) == units


def test_gpus_of_a_job_are_where_they_are_free() -> None:
    """Three on nodes that have two each: two of the first and one of the second, whose other one is free."""
    jobs = log(
        (0, 1, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), cpus=[1] * 3, tasks=[3, 1, 1], exclusive=[0] * 3,
        gres=["gpu:1"] * 3, gres_units=[3, 0, 0], max_nodes=[3, 1, 1], any_tasks=[1, 0, 0],
    )  # fmt: skip
    on = two_gpus(2)
    shares = simulated(jobs, on).shares
    assert shares is not None and [shares.nodes_of(k) for k in range(2)] == ["n[1-2]", "n2"]
    first, second, third = starts(jobs, on)
    assert first <= second < MINUTE < 10 * MINUTE <= third


def test_tasks_with_a_gpu_each_go_where_gpus_are() -> None:
    """Three tasks of one CPU fit on a node of four CPUs, but for its two GPUs."""
    assert placed(job(3, gres="gpu:1", gres_units=3, gres_by_task=1), two_gpus(3)) == ("n[1-2]", [2, 1])
    assert placed(job(3, gres="gpu:1", max_nodes=1), two_gpus(3)) == ("n1", [3])


def test_small_nodes_give_way_by_cpus_and_gpus() -> None:
    """Two nodes with six GPUs: the light ones have four together, so one of them goes for the heavy one."""
    on = with_gpus(
        Node("n1", 4, weight=10, gres={"gpu": 4}),
        *(Node(f"n{k}", 4, weight=5, gres={"gpu": 2}) for k in (2, 3)),
    )
    assert placed(job(2, min_nodes=2, max_nodes=2, gres="gpu:1", gres_units=6), on) == ("n[1,3]", [1, 1])


@pytest.mark.parametrize(("mb", "nodes"), [(400, "n1"), (600, "n[1-2]"), (0, "n1")])
def test_memory_for_each_gpu_bounds_the_gpus_of_a_node(mb: int, nodes: str) -> None:
    """Two GPUs, on nodes of two GPUs and 1,000 MB."""
    on = with_gpus(*(Node(f"n{k}", 4, memory_mb=1000, gres={"gpu": 2}) for k in (1, 2, 3)), memory=True)
    jobs = job(2, gres="gpu:1", gres_units=2, max_nodes=2, memory_gpu_mb=mb)
    shares = simulated(jobs, on).shares
    assert shares is not None and shares.nodes_of(0) == nodes
    assert shares.memory_mb.tolist() == ([2 * mb or 1000] if nodes == "n1" else [mb, mb])


def test_cpus_for_each_gpu_bound_the_gpus_of_a_node() -> None:
    """Two GPUs with three CPUs each do not find six CPUs on one node."""
    asks = {"gres": "gpu:1", "gres_units": 2, "max_nodes": 2, "cpus_per_gpu": 3, "tasks": 1, "any_tasks": 1}
    assert placed(job(6, **asks), two_gpus(2)) == ("n[1-2]", [3, 3])


def test_a_node_gives_cpus_for_all_gpus_that_it_gives() -> None:
    """Two tasks, on a node each, and four GPUs with three CPUs each: two of them, and six CPUs, on each."""
    on = with_gpus(*(Node(f"n{k}", 8, gres={"gpu": 4}) for k in (1, 2, 3)))
    asks = {"gres": "gpu:1", "gres_units": 4, "cpus_per_gpu": 3, "tasks": 2}
    assert placed(job(12, min_nodes=2, max_nodes=2, **asks), on) == ("n[1-2]", [6, 6])


def test_the_last_node_of_a_job_is_not_sought_by_the_cpus_of_its_gpus() -> None:
    """n2 has CPUs for a task, and for one GPU. It is taken, which is too few GPUs, and so left out next."""
    on = with_gpus(
        Node("n1", 8, gres={"gpu": 4}), Node("n2", 3, gres={"gpu": 4}), Node("n3", 8, gres={"gpu": 4})
    )
    asks = {"gres": "gpu:1", "gres_units": 4, "cpus_per_gpu": 3, "tasks": 2}
    assert placed(job(12, min_nodes=2, max_nodes=2, **asks), on) == ("n[1,3]", [6, 6])


def test_cpus_of_gpus_are_dealt_in_turn_and_gpus_by_the_cpus_of_a_node() -> None:
    """Four GPUs with two CPUs each: one on n1, two on n2, one on n3. The eight CPUs go to the nodes in turn.

    Three of them are enough for one GPU on n2, and its other one is dealt in the end.
    """
    heavier = (Node(f"n{k}", 8, weight=9, gres={"gpu": 2}) for k in (2, 3))
    on = with_gpus(Node("n1", 8, gres={"gpu": 1}), *heavier)
    first = {
        "cpus": [8, 1],
        "tasks": [1, 1],
        "exclusive": [0, 0],
        "max_nodes": [4, 1],
        "cpus_per_gpu": [2, 0],
    }
    jobs = log(
        (0, 1, 10, 10), (1, 1, 10, 10), gres=["gpu:1"] * 2, gres_units=[4, 0], any_tasks=[1, 0], **first
    )  # fmt: skip
    shares = simulated(jobs, on).shares
    assert shares is not None and [shares.nodes_of(k) for k in range(2)] == ["n[1-3]", "n3"]
    assert shares.cpus.tolist()[:3] == [3, 3, 2]


@pytest.mark.parametrize(
    ("units", "by_task", "each", "nodes"),
    [(4, 0, 0, "n[2-3]"), (4, 0, 3, "n[1-2]"), (2, 1, 0, "n[1-2]"), (2, 1, 3, "n[1-2]")],
)
def test_nodes_are_lighter_by_the_gpus_that_a_job_has_cpus_for(
    units: int, by_task: int, each: int, nodes: str
) -> None:
    """On n1 are two GPUs, on the others four: more of what a job wants, unless it has CPUs for two only."""
    on = with_gpus(*(Node(f"n{k}", 8, gres={"gpu": count}) for k, count in ((1, 2), (2, 4), (3, 4))))
    asks = {"gres": "gpu:1", "gres_units": units, "gres_by_task": by_task, "cpus_per_gpu": each, "tasks": 2}
    cpus = {"cpus_per_task": max(each, 1) if by_task else 1}
    assert placed(job(max(units * each, 2), min_nodes=2, max_nodes=2, **asks, **cpus), on)[0] == nodes


def test_nodes_are_lighter_by_the_gpus_that_a_job_has_free_cpus_for() -> None:
    """Three of the eight CPUs of n1 are in use, so it has five, which are enough for one GPU."""
    on = with_gpus(*(Node(f"n{k}", 8, gres={"gpu": 4}) for k in (1, 2, 3)))
    jobs = log(
        (0, 1, 10, 10), (1, 1, 10, 10), cpus=[3, 12], tasks=[3, 2], exclusive=[0, 0], min_nodes=[1, 2],
        max_nodes=[1, 2], gres=["", "gpu:1"], gres_units=[0, 4], cpus_per_gpu=[0, 3],
    )  # fmt: skip
    shares = simulated(jobs, on).shares
    assert shares is not None and [shares.nodes_of(k) for k in range(2)] == ["n1", "n[2-3]"]


@pytest.mark.parametrize(("exclusive", "node"), [(0, "n1"), (1, "n2")])
def test_a_job_on_whole_nodes_makes_them_lighter_by_all_of_their_gpus(exclusive: int, node: str) -> None:
    """It gets all of them, though it asks for one; n1 has two, n2 four."""
    on = with_gpus(Node("n1", 8, gres={"gpu": 2}), Node("n2", 8, gres={"gpu": 4}))
    assert placed(job(1, gres="gpu:1", max_nodes=1, exclusive=exclusive), on)[0] == node


@pytest.mark.parametrize(("open_", "node"), [(1, "n2"), (0, "n1")])
def test_a_job_that_does_not_say_how_many_tasks_it_has_takes_the_tightest_node(open_: int, node: str) -> None:
    """One that says so needs one CPU of each node, whatever the node has: the first will do."""
    on = with_gpus(Node("n1", 8, gres={"gpu": 2}), Node("n2", 4, gres={"gpu": 2}))
    assert placed(job(1, gres="gpu:1", max_nodes=1, any_tasks=open_), on)[0] == node


@pytest.mark.parametrize(("more", "waits"), [("", True), ("no_consume:", False)])
def test_a_resource_that_nobody_consumes_is_there_for_all(tmp_path: Path, more: str, waits: bool) -> None:
    """Two jobs want 300 of the 500 KB/s that n2 has; n1 has none. With no_consume they run side by side."""
    conf = f"NodeName=n1 CPUs=4\nNodeName=n2 CPUs=4 Gres=lustre:{more}500K\nSelectTypeParameters=CR_Core\n"
    (tmp_path / "slurm.conf").write_text(conf + "PartitionName=p Nodes=ALL Default=YES\n")
    asks = {"cpus": [1] * 2, "tasks": [1] * 2, "exclusive": [0] * 2, "max_nodes": [1] * 2}
    jobs = log(*((k, 1, 10, 10) for k in range(2)), gres=["lustre:300K", "lustre:300K"], **asks)
    schedule = simulated(jobs, Site.load(tmp_path))
    assert schedule.shares is not None
    assert [schedule.shares.nodes_of(job) for job in range(2)] == ["n2", "n2"]
    assert (int(schedule.start[1]) >= 600 * 10**6) == waits


@pytest.mark.parametrize(
    ("gres", "units", "alone", "passed"),
    [("gpu:2", 0, 0, False), ("gpu:1", 2, 0, True), ("gpu:2", 0, 1, True)],
)
def test_a_limit_counts_the_gpus_of_the_nodes_that_a_busy_job_would_get(
    gres: str, units: int, alone: int, passed: bool
) -> None:
    """The fourth job finds one of eight GPUs free, and its user may have four and has one.

    If it wants its two on a node, it is within the limit, and the fifth job waits behind it. Where it wants
    two on all of its nodes, or a whole node, Slurm counts all eight: so it is over the limit, and the fifth
    job starts.
    """
    limits = Qos("normal", limits=Limits(max_tres_per_user={"gres/gpu": 4}))
    config = {
        "AccountingStorageEnforce": "limits", "AccountingStorageType": "accounting_storage/slurmdbd",
        "SelectTypeParameters": "CR_Core", "SchedulerType": "sched/builtin",
    }  # fmt: skip
    on = site(
        config,
        nodes=(Node("n1", 8, gres={"gpu": 8}),),
        qos=(limits,),
        partitions=(Partition("main", (0,), is_default=True),),
    )
    jobs = log(
        *((second, 1, 60, 60) for second in range(5)), cpus=[1] * 5, tasks=[1] * 5,
        exclusive=[0, 0, 0, alone, 0], gres=["gpu:3", "gpu:3", "gpu:1", gres, ""],
        gres_units=[0, 0, 0, units, 0], user=["a", "b", "c", "c", "d"],
    )  # fmt: skip
    assert (starts(jobs, on)[-1] < MINUTE) == passed
