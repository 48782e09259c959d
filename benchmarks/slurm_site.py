"""Slurm's rules on synthetic sites, with fair share and a queue some 500 jobs long.

On one of them jobs take some of 1,000 nodes as a whole; on the other they share 200 nodes of several kinds.

Most of the time goes into backfill, which looks at the queue every half minute. So the time grows in
proportion to the jobs, which take as many days more, and faster than the queue.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.rates import Row, best, cpu_seconds
from headway import Workload
from headway.schedule import Schedule
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Node, Partition, Qos, Switch
from headway.units import SECOND
from headway.workload.header import Header

NODES, CORES = 1000, 32
UNLIKE = 200
ACCOUNTS, USERS = 24, 240
JOBS, DAYS = 600_000, 122
"""Four months; fewer jobs take as many days less."""
LOAD = 0.97
"""The offered load at which some 500 jobs wait on average over a few days."""
LOAD_OF_MONTHS = 0.95
"""The same for four months, with weeks of fewer and weeks of more; at 0.96 it is some 1,000 on average."""
SHARED_LOAD = 1.0
"""The offered load of CPUs where jobs share nodes: memory runs out first on some."""

PARAMETERS = {
    "ClusterName": "synthetic",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core",
    "SchedulerType": "sched/backfill",
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "10000",
    "PriorityWeightJobSize": "500",
    "PriorityWeightPartition": "1000",
    "PriorityWeightQOS": "2000",
    "PriorityDecayHalfLife": "7-0",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "associations,limits,qos",
}


def in_months() -> Iterator[Row]:
    """All four months: some minutes."""
    yield on_whole_nodes(JOBS, LOAD_OF_MONTHS, repeats=1)


def in_days(quick: bool) -> Iterator[Row]:
    """A few days: more jobs, and a longer queue."""
    sizes = ((3_000, 0.9),) if quick else ((30_000, 0.9), (30_000, LOAD), (60_000, LOAD))
    for count, load in sizes:
        yield on_whole_nodes(count, load, repeats=3)
    for count in (2_000,) if quick else (10_000, 20_000):
        made = best(shared_jobs(count), shared_site().platform(), "slurm(seed=1)", 3)
        yield line(f"{UNLIKE} unlike nodes, shared", made)


def on_whole_nodes(count: int, load: float, repeats: int) -> Row:
    """How long so many jobs on whole nodes take."""
    made = best(jobs(count, load=load), site().platform(), "slurm(seed=1)", repeats)
    return line(f"{NODES:,} nodes, offered load {load}", made)


def line(name: str, made: Schedule) -> Row:
    """How long a run took on a site."""
    seconds = cpu_seconds(made)
    return {
        "site": name,
        "jobs": len(made.start),
        "mean queue": round(mean_queue(made)),
        "CPU s": round(seconds, 2),
        "jobs/CPU s": round(len(made.start) / max(seconds, 1e-9)),
    }


def mean_queue(made: Schedule) -> float:
    """How many jobs wait on average from the first submission to the last."""
    submit, last = made.workload.submit, int(made.workload.submit.max())
    waited = np.minimum(made.start, last) - submit
    return float(waited.sum() / (last - int(submit.min())))


def site(size: int = NODES) -> Site:
    """The site: three partitions that overlap, two QOS, users in accounts."""
    nodes = tuple(Node(f"n{k}", CORES, 2, CORES // 2, 1, 192_000) for k in range(1, size + 1))
    partitions = (
        Partition("batch", tuple(range(size)), max_minutes=24 * 60, job_factor=10, is_default=True),
        Partition("long", tuple(range(size // 2)), max_minutes=7 * 24 * 60, job_factor=5),
        Partition("debug", tuple(range(size - size // 20, size)), max_minutes=60, job_factor=20, tier=5),
    )
    associations = [Association("root"), Association("root", "root", parent=0)]
    for account in range(ACCOUNTS):
        associations.append(Association(f"a{account}", parent=0, shares=1 + account % 7))
    for user in range(USERS):
        account = user % ACCOUNTS
        associations.append(Association(f"a{account}", f"u{user}", parent=2 + account))
    return Site(
        "synthetic",
        nodes,
        partitions,
        qos=(Qos("normal", priority=10), Qos("high", priority=1000)),
        associations=tuple(associations),
        config=Config.of(PARAMETERS),
    )


def jobs(
    count: int = JOBS,
    seed: int = 1,
    load: float = LOAD,
    *,
    size: int = NODES,
    days: float | None = None,
    widest: int = 256,
) -> Workload:
    """Jobs on whole nodes, up to ``widest`` of ``size``: a daily cycle, generous time limits.

    They come over ``days``, by default over ``count / JOBS`` of four months.
    """
    draw = np.random.default_rng(seed)
    span = (DAYS * count / JOBS if days is None else days) * 86_400
    at = np.sort(draw.random(count) * span)
    submit = np.sort(at + 9_000 * np.sin(2 * np.pi * at / 86_400)).clip(0).round()
    nodes = np.minimum(2 ** draw.integers(0, 8, count) * (draw.random(count) < 0.6) + 1, widest)
    limit = draw.choice([30, 60, 120, 240, 480, 1440], count, p=[0.25, 0.2, 0.2, 0.15, 0.12, 0.08])
    runtime = np.maximum(limit * 60 * draw.beta(0.7, 1.6, count), 10)
    area = (nodes * runtime).sum()
    runtime = np.minimum(runtime * load * size * span / area, limit * 60).round().clip(1)
    user = (draw.zipf(1.4, count) - 1) % USERS
    partition = np.where(draw.random(count) < 0.2, 1, 0)
    partition = np.where((limit <= 60) & (nodes <= 8) & (draw.random(count) < 0.2), 2, partition)
    return Workload.from_arrays(
        unit="s",
        submit=submit,
        procs=nodes * CORES,
        runtime=runtime,
        walltime=limit * 60,
        user=user,
        partition=partition,
        min_nodes=nodes,
        max_nodes=nodes,
        cpus=nodes * CORES,
        tasks=nodes,
        cpus_per_task=np.full(count, CORES),
        exclusive=np.ones(count, np.int64),
        qos=(draw.random(count) < 0.05).astype(np.int64),
        account=user % ACCOUNTS,
        header=Header(["; UnixStartTime: 1700000000"]),
        labels={
            "partition": ["batch", "long", "debug"],
            "qos": ["normal", "high"],
            "user": [f"u{k}" for k in range(USERS)],
            "account": [f"a{k}" for k in range(ACCOUNTS)],
        },
    )


def shared_site() -> Site:
    """Nodes of four kinds below a tree of switches; CPUs, memory and GPUs are shared."""
    kinds = (
        Node("n", 32, 2, 16, 1, 187_000, weight=60, features=("older",)),
        Node("m", 40, 2, 20, 1, 187_000, weight=70, features=("newer",)),
        Node("b", 40, 2, 20, 1, 754_000, weight=160, features=("newer",)),
        Node("g", 40, 2, 20, 1, 187_000, weight=190, features=("newer",), gres={"gpu": 2}),
    )
    ends = (UNLIKE * 2 // 5, UNLIKE * 17 // 20, UNLIKE * 19 // 20, UNLIKE)
    nodes = [replace(kinds[bisect(ends, k)], name=f"n{k}") for k in range(UNLIKE)]
    leaves = [Switch(f"s{k}", 0, 4, tuple(range(k * UNLIKE // 4, (k + 1) * UNLIKE // 4))) for k in range(4)]
    return replace(
        site(UNLIKE),
        nodes=tuple(nodes),
        switches=(*leaves, Switch("top", 1, 4, tuple(range(UNLIKE)))),
        config=Config.of(PARAMETERS | {"SelectTypeParameters": "CR_Core_Memory", "GresTypes": "gpu"}),
        scheduler={"bf_max_job_test": "2500", "bf_max_job_user": "100"},
    )


def shared_jobs(count: int, seed: int = 1) -> Workload:
    """Small jobs of few kinds, most of some CPUs of a node; a few want several nodes, or a GPU.

    They come over as many days as make for the offered load.
    """
    draw, log = np.random.default_rng(seed), jobs(count, seed, size=UNLIKE, days=1, widest=4)
    kind = draw.choice(6, count, p=[0.665, 0.1, 0.1, 0.1, 0.03, 0.005])
    nodes = np.where(kind == 4, log.columns["min_nodes"], 1)
    each = np.array([6, 40, 1, 16, 32, 4])[kind]
    runtime = np.maximum(log.walltime * draw.beta(0.7, 1.6, count), 10 * SECOND).astype(np.int64)
    span = (nodes * each * runtime).sum() / (SHARED_LOAD * sum(node.cpus for node in shared_site().nodes))
    return log.with_columns(
        submit=np.sort(draw.random(count) * span).astype(np.int64) // SECOND * SECOND,
        runtime=runtime // SECOND * SECOND,
        procs=nodes * each,
        min_nodes=nodes,
        max_nodes=nodes,
        cpus=nodes * each,
        tasks=nodes,
        cpus_per_task=each,
        exclusive=np.zeros(count, np.int64),
        memory_node_mb=np.array([32_000, 180_000, 1_000, 60_000, 80_000, 8_000])[kind],
        constraint=np.where(kind == 1, 0, -1),
        gres=np.where(kind == 5, 0, -1),
    ).with_labels(constraint=["newer"], gres=["gpu:1"])
