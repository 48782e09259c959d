"""Which jobs a site can ever run: a job that no partition of its allows would wait for ever."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.site import Site
from headway.units import SECOND
from headway.workload import Workload


def can_run(workload: Workload, site: Site) -> npt.NDArray[np.bool_]:
    """For each job whether one of its partitions has the nodes, CPUs, memory and time that it asks for.

    With EnforcePartLimits=ALL, or YES, every partition that it names must have them, else Slurm refuses it.
    """
    in_all = site.config.get("EnforcePartLimits").upper() in ("ALL", "YES")
    names = list(workload.labels.get("partition", ()))
    codes = np.where(workload.partition < 0, len(names), workload.partition)
    fits = np.zeros(len(workload), np.bool_)
    default = site.default_partition or site.partitions[0]
    for code in np.unique(codes).tolist():
        rows = codes == code
        wanted = names[code].split(",") if 0 <= code < len(names) else [default.name]
        known = [name for name in wanted if name in site.partition_place] or [default.name]
        each = [_fits(workload, site, site.partition_place[name])[rows] for name in known]
        fits[rows] = np.all(each, axis=0) if in_all else np.any(each, axis=0)
    return fits


def _fits(workload: Workload, site: Site, place: int) -> npt.NDArray[np.bool_]:
    """Which jobs a partition can run when it is empty."""
    partition = site.partitions[place]
    nodes = [site.nodes[node] for node in partition.nodes]
    most = len(nodes) if partition.max_nodes is None else min(partition.max_nodes, len(nodes))
    per_node = [node.cpus for node in nodes]
    if partition.max_cpus_per_node is not None:
        per_node = [min(cpus, partition.max_cpus_per_node) for cpus in per_node]
    at_best = np.concatenate([[0], np.cumsum(sorted(per_node, reverse=True)), [0]])
    asked = workload.get("min_nodes")
    least = np.ones(len(workload), np.int64) if asked is None else np.maximum(asked, 1)
    bound = workload.get("max_nodes")
    width = np.full(len(workload), most)
    if bound is not None:
        width = np.where(bound > 0, np.minimum(bound, most), most)
    cpus = workload.get("cpus")
    cpus = workload.procs if cpus is None else np.where(cpus > 0, cpus, workload.procs)
    fits = (least <= most) & (cpus <= at_best[np.clip(width, 0, len(nodes))])
    if partition.max_minutes is not None:
        fits &= workload.walltime <= partition.max_minutes * 60 * SECOND
    memory = workload.get("memory_node_mb")
    if memory is not None and "MEMORY" in site.config.get("SelectTypeParameters").upper():
        largest = max((node.memory_mb - node.memory_spec_mb for node in nodes), default=0)
        fits &= memory <= largest
    return np.asarray(fits & (partition.state.upper() == "UP"), np.bool_)
