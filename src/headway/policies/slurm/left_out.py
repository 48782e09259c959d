"""What jobs asked for and Slurm's rules here do not model, counted in the ledger by job."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.policies.slurm.constraints import Constraint
from headway.site import Site
from headway.site.modelled import takes_part
from headway.workload import LedgerEntry, Workload

CONSTRAINT = "parentheses or counts in --constraint that are not modelled: may use every node"
SHARING = "asked to share its CPUs (--oversubscribe) where the partition lets jobs: has its own, not modelled"
FURTHER = "asked for --{}, which is not modelled: waits and runs as if it had not"
PART = "in a reservation of some cores of its nodes: the whole nodes are reserved"
CORES = "in a reservation of cores on no nodes by name: it has no nodes to run on"


def left_out(workload: Workload, site: Site) -> Iterator[LedgerEntry]:
    """An entry for each kind of request that is not modelled, with the jobs that made it."""
    names = workload.labels.get("constraint", ())
    odd = [text for text in names if not Constraint.of(text).understood]
    yield from _named(workload, "constraint", odd, CONSTRAINT)
    reserved = [one for one in site.reservations if one.cores is not None]
    part = [one.name for one in reserved if takes_part(site, one)]
    yield from _named(workload, "reservation", part, PART)
    yield from _named(workload, "reservation", [one.name for one in reserved if not one.nodes], CORES)
    yield from _sharing(workload, site)
    asked = {option for label in workload.labels.get("further", ()) for option in label.split(",")}
    for option in sorted(asked):
        names = [label for label in workload.labels["further"] if option in label.split(",")]
        yield from _named(workload, "further", names, FURTHER.format(option))


def _named(workload: Workload, column: str, names: list[str], action: str) -> Iterator[LedgerEntry]:
    """The jobs that have one of these names in a column."""
    labels, codes = workload.labels.get(column, ()), workload.get(column)
    wanted = [place for place, name in enumerate(labels) if name in names]
    if codes is not None and np.isin(codes, wanted).any():
        yield LedgerEntry.of(column, action, workload.job[np.isin(codes, wanted)], dropped=False)


def _sharing(workload: Workload, site: Site) -> Iterator[LedgerEntry]:
    """The jobs that asked to share CPUs, and a partition that they name has OverSubscribe=YES."""
    asked = workload.get("oversubscribe")
    lets = {one.name for one in site.partitions if one.oversubscribe == "YES" and one.oversubscribe_count > 1}
    if asked is None or not lets:
        return
    default = site.default_partition or site.partitions[0]
    names = [*workload.labels.get("partition", ()), default.name]
    shared = np.array([bool(lets & set(name.split(","))) for name in names])
    rows = (asked > 0) & shared[np.where(workload.partition < 0, len(names) - 1, workload.partition)]
    if rows.any():
        yield LedgerEntry.of("oversubscribe", SHARING, workload.job[rows], dropped=False)
