"""How a log divides its jobs besides by user: by queue, or by partition, account and QOS; and by size."""

from __future__ import annotations

import numpy as np

from headway.arrays import Ints
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


def size_classes(procs: Ints) -> Ints:
    """The class of each size, as `size_class` names it."""
    sizes = np.maximum(procs, 1)
    # frexp is exact: the exponent of q - 1 is the number of its binary digits.
    return np.where(sizes == 1, 0, np.frexp((sizes - 1).astype(np.float64))[1])


def size_class(power: int) -> str:
    """The name of the class of sizes above 2^(power-1) and up to 2^power."""
    low, high = 2 ** (power - 1) + 1 if power else 1, 2**power
    return str(high) if low >= high else f"{low}-{high}"
