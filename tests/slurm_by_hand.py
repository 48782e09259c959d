"""Sites and logs small enough to be worked out by hand: four nodes of four CPUs, n1 to n4, and jobs that take
whole nodes. Nothing delays the controller. Times are seconds after the first submission.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import headway
from headway import Schedule
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Node, Partition
from headway.workload.header import Header

BEGAN = 1_700_000_000
UNDISTURBED = "slurm(epilog=0, cycle=0, late=0, drift=0)"
BASIC = {"SelectTypeParameters": "CR_Core", "PriorityType": "priority/basic", "JobRequeue": "1"}
MINUTE = 60


def site(config: dict[str, str] | None = None, **more: Any) -> Site:
    made = Site(
        "hand",
        tuple(Node(f"n{k}", 4) for k in range(1, 5)),
        (Partition("main", (0, 1, 2, 3), is_default=True),),
        config=Config.of(BASIC | (config or {})),
    )
    return replace(made, **more)


def log(*jobs: tuple[int, int, int, float], **columns: Any) -> headway.Workload:
    """Jobs (submit s, nodes, limit min, run min); further columns are numbers, or texts of each job."""
    submit, nodes, limit, run = (np.array(column) for column in zip(*jobs, strict=True))
    labels, numbers = {}, {}
    for name, given in columns.items():
        if any(isinstance(one, str) for one in given):
            labels[name] = [one for one in given if one]
            numbers[name] = np.array([labels[name].index(one) if one else -1 for one in given])
        else:
            numbers[name] = np.array(given)
    asked: dict[str, Any] = {
        "min_nodes": nodes, "max_nodes": nodes, "cpus": 4 * nodes, "tasks": 4 * nodes,
        "cpus_per_task": np.ones_like(nodes), "exclusive": np.ones_like(nodes),
    } | numbers  # fmt: skip
    return headway.Workload.from_arrays(
        unit="s",
        submit=submit,
        procs=numbers.get("cpus", 4 * nodes),
        runtime=run * MINUTE,
        walltime=limit * MINUTE,
        header=Header([f"; UnixStartTime: {BEGAN}"]),
        labels=labels,
        **asked,
    )


def simulated(jobs: headway.Workload, on: Site) -> Schedule:
    return headway.simulate(jobs, on.platform(), UNDISTURBED)


def starts(jobs: headway.Workload, on: Site) -> list[int]:
    return [int(one) // 1_000_000 for one in simulated(jobs, on).start]
