"""How a log divides its jobs besides by user: by queue, or by partition, account and QOS."""

from __future__ import annotations

import numpy as np

from headway.workload.table import Workload

SLURM = {"partition": "partition", "account": "group", "qos": "queue"}
"""What Slurm calls the columns of a workload."""


def divisions(workload: Workload) -> dict[str, str]:
    """The name of each division as the log's site calls it, and the column that holds it.

    Slurm's logs have partitions, accounts and QOS, where they are recorded. Other logs have queues, and
    partitions where there are several.
    """
    if is_slurms(workload):
        known = {name: column for name, column in SLURM.items() if (workload.columns[column] >= 0).any()}
        # Where QOS is not recorded, the reader puts the partition into the queue.
        if workload.labels.get("queue") == workload.labels.get("partition"):
            known.pop("qos", None)
        return known
    several = len(np.unique(workload.columns["partition"])) > 1
    return {"queue": "queue"} | ({"partition": "partition"} if several else {})


def is_slurms(workload: Workload) -> bool:
    """Whether the log is of Slurm's accounting."""
    return workload.source is not None and workload.source.format.startswith("sacct")


def column_of(workload: Workload, name: str) -> str:
    """The column of a division, or of a user; a name that is no division is a column itself."""
    return divisions(workload).get(name, name)
