"""Slurm's rules on a synthetic site: 1,000 whole nodes, fair share, and a queue some 500 jobs long.

Most of the time goes into backfill, which looks at the queue every half minute. So the time grows in
proportion to the jobs, which take as many days more, and faster than the queue.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.rates import Row, best, cpu_seconds
from headway import Workload
from headway.schedule import Schedule
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Node, Partition, Qos
from headway.workload.header import Header

NODES, CORES = 1000, 32
ACCOUNTS, USERS = 24, 240
JOBS, DAYS = 600_000, 122
"""Four months; fewer jobs take as many days less."""
LOAD = 0.97
"""The offered load at which some 500 jobs wait on average over a few days."""
LOAD_OF_MONTHS = 0.95
"""The same for four months, with weeks of fewer and weeks of more; at 0.96 it is some 1,000 on average."""

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
    yield run(JOBS, LOAD_OF_MONTHS, repeats=1)


def in_days(quick: bool) -> Iterator[Row]:
    """A few days: more jobs, and a longer queue."""
    sizes = ((3_000, 0.9),) if quick else ((30_000, 0.9), (30_000, LOAD), (60_000, LOAD))
    for count, load in sizes:
        yield run(count, load, repeats=3)


def run(count: int, load: float, repeats: int) -> Row:
    """One line: how long so many jobs take."""
    made = best(jobs(count, load=load), site().platform(), "slurm(seed=1)", repeats)
    seconds = cpu_seconds(made)
    return {
        "site": f"{NODES:,} nodes, offered load {load}",
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
