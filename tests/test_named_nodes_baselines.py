"""EASY and conservative backfilling on the named nodes of a site equal a plain reference, node for node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headway
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, Node, Partition, Qos
from headway.units import SECOND
from headway.workload.header import Header
from headway.workload.transform import apply
from reference.named_nodes import Placed, simulate_on_nodes
from reference.slurm import machine as plain

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))]
KINDS = (Node("", 4, memory_mb=8000), Node("", 8, memory_mb=16000, weight=2, features=("large",)))


def random_site(seed: int) -> Site:
    """Two kinds of nodes, two partitions that overlap, and a limit that these policies do not look at."""
    draw = np.random.default_rng(seed)
    kinds = np.sort(draw.integers(0, 2, 9))
    kinds[-1] = 1
    return Site(
        "random",
        tuple(replace(KINDS[kind], name=f"n{k}") for k, kind in enumerate(kinds.tolist())),
        (
            Partition("batch", tuple(range(9)), is_default=True),
            Partition("part", tuple(range(3, 9)), max_minutes=120),
        ),
        qos=(Qos("normal", limits=Limits(max_tres_per_user={"cpu": 4})),),
        associations=(Association("root"), Association("a", "u0", parent=0)),
        config=Config.of({
            "SelectTypeParameters": "CR_CPU_Memory" if seed % 2 else "CR_CPU",
            "AccountingStorageEnforce": "limits",
        }),
    )  # fmt: skip


def random_jobs(seed: int, count: int = 40) -> headway.Workload:
    draw = np.random.default_rng(seed + 100)
    wide = draw.choice([1, 1, 1, 2, 3, 4], count)
    each = draw.integers(1, 5, count)
    walltime = draw.choice([60, 300, 1800, 3600, 7200], count)
    large = (draw.random(count) < 0.15) & (wide == 1)
    return headway.Workload.from_arrays(
        unit="s",
        submit=np.sort(draw.integers(0, 3600, count)),
        procs=wide * each,
        runtime=(walltime * draw.random(count)).astype(int) + 1,
        walltime=walltime,
        user=np.zeros(count, np.int64),
        account=np.zeros(count, np.int64),
        qos=np.zeros(count, np.int64),
        partition=draw.integers(0, 2, count),
        min_nodes=wide,
        max_nodes=wide,
        cpus=wide * each,
        tasks=wide * each,
        cpus_per_task=np.ones(count, np.int64),
        memory_node_mb=draw.choice([500, 3000, 7000], count),
        exclusive=(draw.random(count) < 0.2).astype(np.int64),
        constraint=np.where(large, 0, -1),
        header=Header(["; UnixStartTime: 1700000000"]),
        labels={
            "partition": ["batch", "part"], "user": ["u0"], "account": ["a"], "qos": ["normal"],
            "constraint": ["large"],
        },
    )  # fmt: skip


def reference_of(site: Site, log: headway.Workload, whole: bool, depth: int) -> Placed:
    """The same site and jobs as the reference knows them."""
    machine = plain.Machine(
        tuple(
            plain.Node(one.name, one.cpus, one.memory_mb, one.weight, frozenset(one.features))
            for one in site.nodes
        ),
        {one.name: plain.Partition(one.name, plain.node_set(one.nodes)) for one in site.partitions},
        plain.Settings(counts_memory="MEMORY" in site.config.get("SelectTypeParameters").upper()),
    )
    wishes = [
        (
            plain.Job(
                row,
                int(log.submit[row]) // 10**6,
                int(log.columns["min_nodes"][row]),
                int(log.columns["cpus"][row]),
                int(log.walltime[row]) // 10**6,
                (log.labels["partition"][int(log.partition[row])],),
                whole=whole or bool(log.columns["exclusive"][row]),
                memory=int(log.columns["memory_node_mb"][row]),
                features=frozenset(["large"] if log.columns["constraint"][row] == 0 else []),
            ),
            int(log.runtime[row]) // 10**6,
        )
        for row in range(len(log))
    ]
    return simulate_on_nodes(machine, wishes, depth)


@pytest.mark.parametrize("nodes", ["whole", "shared"])
@pytest.mark.parametrize(("policy", "depth"), [("easy", 1), ("easy(depth=3)", 3), ("conservative", 500)])
@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_and_starts_are_those_of_the_reference(seed: int, policy: str, depth: int, nodes: str) -> None:
    site, log = random_site(seed), random_jobs(seed)
    spec = policy[:-1] + f", nodes={nodes})" if policy.endswith(")") else f"{policy}(nodes={nodes})"
    made = headway.simulate(log, site.platform(), spec)
    assert made.shares is not None
    assert len(made) == len(log), "every job fits on an idle machine, so none is turned away"
    expected = reference_of(site, log, nodes == "whole", depth)
    for row in range(len(made)):
        start, cpus = expected[row]
        here = made.shares.of(row)
        found = dict(zip(made.shares.node[here].tolist(), made.shares.cpus[here].tolist(), strict=True))
        assert (int(made.start[row]) // 10**6, found) == (start, cpus), f"job {row}"
    audit = headway.audit(made)
    assert audit.ok, audit
    assert {"node CPUs", "exclusive nodes", "partition nodes"} <= {one.name for one in audit.laws}


@pytest.mark.parametrize("policy", ["easy(nodes=whole)", "conservative(nodes=shared)", "slurm"])
def test_whole_nodes_are_looked_for_again_without_the_smallest(policy: str) -> None:
    # Two nodes of its own with 8 CPUs of nodes with 2, 4 and 4: the run of all three is large enough, but the
    # first of them leaves 6 to the second. Without the nodes of 2 CPUs it gets the other two.
    site = replace(
        random_site(0),
        nodes=(Node("n0", 2), Node("n1", 4), Node("n2", 4)),
        partitions=(Partition("batch", (0, 1, 2), is_default=True),),
    )
    eight, two, none = np.array([8]), np.array([2]), np.array([0])
    log = random_jobs(0, 1).with_columns(
        cpus=eight, tasks=eight, min_nodes=two, max_nodes=two, exclusive=np.array([1]), partition=none
    )
    made = headway.simulate(log, replace(site, qos=(Qos("normal"),)).platform(), policy)
    assert made.shares is not None
    assert made.shares.node[made.shares.of(0)].tolist() == [1, 2]


@pytest.mark.parametrize("policy", ["easy(nodes=shared)", "conservative(nodes=shared)", "slurm"])
def test_the_last_task_makes_do_with_what_is_left(policy: str) -> None:
    # Three tasks of two CPUs each on two nodes of three: each has room for one, and the third has one CPU.
    site = replace(
        random_site(0),
        nodes=(Node("n0", 3), Node("n1", 3)),
        partitions=(Partition("batch", (0, 1), is_default=True),),
        qos=(Qos("normal"),),
    )
    six, two, none = np.array([6]), np.array([2]), np.array([0])
    log = random_jobs(0, 1).with_columns(
        procs=six, cpus=six, tasks=np.array([3]), cpus_per_task=two, min_nodes=two, max_nodes=two,
        exclusive=none, partition=none,
    )  # fmt: skip
    made = headway.simulate(log, site.platform(), policy)
    assert made.shares is not None
    assert made.shares.cpus.tolist() == [3, 2]
    assert headway.audit(made).ok
    made.shares.cpus[:] = [2, 1]
    made.procs = np.array([3])
    assert [fault.message for fault in headway.audit(made).faults] == [
        "job 1 asked for 6 processors and has 3 on its nodes"
    ]


def test_a_machine_without_nodes_is_refused_with_the_reason() -> None:
    log = random_jobs(0)
    with pytest.raises(headway.UsageError, match="nodes=whole needs a site"):
        headway.simulate(log, headway.Platform.procs(64), "easy(nodes=whole)")
    with pytest.raises(headway.UsageError, match="for order=fcfs only"):
        headway.simulate(log, random_site(0).platform(), "easy(order=sjf, nodes=whole)")


def test_without_the_parameter_processors_are_counted() -> None:
    made = headway.simulate(random_jobs(0), random_site(0).platform(), "easy")
    assert made.shares is None


def test_explain_counts_the_processors_of_the_partition() -> None:
    # Each of two jobs wants the 4 CPUs of the one node of its partition; another node is free all the time.
    nodes = tuple(replace(KINDS[0], name=f"n{k}") for k in range(2))
    partitions = (Partition("all", (0, 1)), Partition("part", (1,)))
    machine = replace(random_site(0), nodes=nodes, partitions=partitions).platform()
    one = dict.fromkeys(("min_nodes", "max_nodes", "partition"), 1)
    wish = one | dict.fromkeys(("procs", "cpus", "tasks"), 4) | {"memory_node_mb": 500, "exclusive": 0}
    wish |= {"runtime": 60 * SECOND, "walltime": 60 * SECOND, "constraint": -1}
    columns = {name: np.full(2, value) for name, value in wish.items()}
    columns["submit"] = np.array([0, 10 * SECOND])
    made = headway.simulate(random_jobs(0, 2).replaced(changed=columns), machine, "easy(nodes=shared)")
    told = str(headway.explain(made, int(made.workload.job[1]))).replace("\n    ", " ")
    assert "0 of the 4 processors of partition part were free, and it needed 4." in told
    assert "processors it needed were free; it waited another 50 s for others to end." in told
    assert "What ended and freed processors, counted from its submission: job 1 with 4 processors" in told
    assert "kept for jobs" not in told


@pytest.mark.parametrize("transformation", ["split(cores=3)", "machine(procs=18, of=36)"])
def test_jobs_of_another_size_ask_for_other_nodes(transformation: str) -> None:
    """What Slurm knows of a request follows the size; jobs on nodes had the size and shape of the log."""
    site, log = random_site(0), random_jobs(0)
    log = log.with_columns(cpus=log.procs, max_nodes=log.columns["min_nodes"], tasks=log.procs // 2)
    jobs = apply(log, transformation)
    other = jobs.procs != log.procs[rows_before(log, jobs)]
    assert other.any() and (jobs.columns["cpus"] == jobs.procs).all()
    assert (jobs.columns["max_nodes"] == jobs.columns["min_nodes"]).all()
    assert (jobs.columns["min_nodes"] <= jobs.procs).all() and (jobs.columns["tasks"][other] == -1).all()
    made = headway.simulate(jobs, site.platform(), "easy(nodes=shared)")
    assert made.shares is not None and headway.audit(made).ok
    held = np.bincount(made.shares.job, weights=made.shares.cpus, minlength=len(made))
    alone = np.bincount(made.shares.job, weights=made.shares.alone, minlength=len(made)) > 0
    assert (held[~alone] == made.workload.procs[~alone]).all() and (~alone).any()


def rows_before(log: headway.Workload, jobs: headway.Workload) -> list[int]:
    """The row in a log of the job that each one was, the parts of a split one behind each other."""
    found: list[int] = []
    for job in jobs.job.tolist():
        found.append(job - 1 if job <= len(log) else found[-1])
    return found
