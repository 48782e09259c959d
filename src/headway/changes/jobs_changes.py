"""Changes of the jobs that a what-if makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from headway.arrays import Mask
from headway.errors import UsageError
from headway.site import Site
from headway.units import MINUTE, SECOND
from headway.workload import Workload
from headway.workload.divisions import SLURM
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.transform.rebuild import next_job

OF_THE_ORIGINAL = (
    "wait", "recorded_start", "array", "array_task", "array_limit", "dependency", "follows", "think",
    "preceding", "think_time",
)  # fmt: skip
"""Columns of a job that its copies do not have."""

APART = 1800 * SECOND
"""A drawn job comes at most so long before or after the one it is a copy of (µs)."""


def jobs(workload: Workload, more: int) -> Workload:
    """As many jobs more, copies of random ones at nearly their times; or so many random ones fewer."""
    draw = np.random.default_rng(1)
    count, cancelled = len(workload), workload.get("cancelled_after")
    ran = np.arange(count) if cancelled is None else np.flatnonzero(cancelled < 0)
    if more < 0:
        kept = np.ones(count, np.bool_)
        kept[draw.choice(ran, min(-more, max(len(ran) - 1, 0)), replace=False)] = False
        return workload.select(
            kept, rule="what_if", action="taken out by chance", transformation=f"jobs{more}"
        )
    if not len(ran):
        raise UsageError("no job of the log ran, so there is none to copy")
    rows = ran[draw.integers(0, len(ran), more)]
    columns = {name: np.concatenate([values, values[rows]]) for name, values in workload.columns.items()}
    moved = columns["submit"][count:] + draw.integers(-APART, APART + 1, more)
    columns["submit"][count:] = np.maximum(moved - moved % SECOND, 0)
    columns["job"][count:] = next_job(workload) + np.arange(more)
    # A copy has no past, is no task of the array and waits for nobody that the original waited for.
    for name in OF_THE_ORIGINAL:
        if name in columns:
            columns[name][count:] = -1
    if "eligible" in columns:
        columns["eligible"][count:] = columns["submit"][count:]
    entry = LedgerEntry.of(
        "what_if", "copies of jobs of the log: added", columns["job"][count:], dropped=False
    )
    ledger = Ledger(workload.ledger.total + more, workload.ledger.entries).with_entries(entry)
    return workload.replaced(columns=columns, ledger=ledger, transformation=f"jobs+{more}")


def moved(workload: Workload, names: Sequence[str]) -> Workload:
    """Jobs of any of some partitions in the first of them."""
    first, others = names[0].strip(), {name.strip() for name in names}
    labels = [
        ",".join(dict.fromkeys(first if part in others else part for part in label.split(",")))
        for label in workload.labels.get("partition", [])
    ]
    return workload.with_labels(partition=labels)


def cut(workload: Workload, site: Site, partition: str, minutes: int) -> Workload:
    """Requests of a partition cut to its new limit, and runs that are longer ended there."""
    here = _by_partition(workload, site, lambda names: names == {partition})
    most = minutes * MINUTE
    return workload.with_columns(
        walltime=np.where(here, np.minimum(workload.walltime, most), workload.walltime),
        runtime=np.where(here, np.minimum(workload.runtime, most), workload.runtime),
        transformation=f"partition.{partition}.maxtime={minutes}",
    )


def of_named(workload: Workload, site: Site, kind: str, names: Sequence[str]) -> Mask:
    """The jobs of some users, accounts (with those below them), partitions or QOS."""
    if kind == "partition":
        return _by_partition(workload, site, lambda listed: not listed.isdisjoint(names))
    meant = set(names)
    if kind == "account":
        for one in site.associations:  # each after its parent
            if not one.user and one.parent >= 0 and site.associations[one.parent].account in meant:
                meant.add(one.account)
    column = SLURM.get(kind, kind)
    codes = [code for code, label in enumerate(workload.labels.get(column, [])) if label in meant]
    return np.isin(workload.columns[column], codes)


def _by_partition(workload: Workload, site: Site, chosen: Callable[[set[str]], bool]) -> Mask:
    """The jobs whose partitions are chosen; those that name none of the site's are in its default one."""
    default = (site.default_partition or site.partitions[0]).name
    labels = [*workload.labels.get("partition", []), ""]
    listed = [{name for name in label.split(",") if name in site.partition_place} for label in labels]
    named = (workload.partition >= 0) & (workload.partition < len(labels) - 1)
    codes = np.where(named, workload.partition, len(labels) - 1)
    return np.array([chosen(names or {default}) for names in listed])[codes]
