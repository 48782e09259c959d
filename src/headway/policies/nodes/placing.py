"""Which jobs the nodes of a platform can hold, and what a workload says of files. Nothing compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.platform import Platform
from headway.platform.node_table import nodes_of
from headway.workload import Workload

HOW_TO_ADD = (
    "add the columns file and file_gb with --annotations, or make them with "
    "'headway convert LOG NEW --apply files'"
)


def has_files(workload: Workload) -> bool:
    """Whether the workload says which input file a job has, if any."""
    return workload.get("file") is not None and workload.get("file_gb") is not None


def needs(workload: Workload) -> NDArray[np.float64]:
    """Memory that each job needs of its node (GB); 0 where nothing is said."""
    column = workload.get("needs_node_gb")
    return np.zeros(len(workload)) if column is None else np.nan_to_num(column)


def fit_to_nodes(workload: Workload, platform: Platform, match: str) -> Workload:
    """Jobs that some allowed node can hold; the ledger has the others."""
    groups = sorted({(node.group.memory_gb, node.group.cores) for node in nodes_of(platform)})
    widest = max(cores for _, cores in groups)
    narrow = workload.procs <= widest
    action = f"more processors than the widest node's {widest} cores: dropped"
    remedy = f"and the widest node has {widest} cores; split such jobs with the transformation split"
    kept = workload.without_wide(narrow, action, remedy)
    memory = np.array([gb for gb, _ in groups])
    cores = np.array([width for _, width in groups])
    need = np.zeros(len(kept)) if match == "any" else needs(kept)
    allowed = memory[None, :] >= need[:, None]
    if match in ("exact", "now"):
        sizes = np.unique(memory)
        own = np.append(sizes, -1)[np.searchsorted(sizes, need)]
        allowed &= memory[None, :] == own[:, None]
    held = (allowed & (cores[None, :] >= kept.procs[:, None])).any(axis=1)
    return kept.select(
        held, rule="node_memory", action="no node of the size it needs has enough memory and cores: dropped"
    )
