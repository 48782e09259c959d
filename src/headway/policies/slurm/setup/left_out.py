"""What jobs asked for and the site does not have, or Slurm's rules here do not model, counted by job."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from headway.policies.slurm.nodes.constraints import Constraint
from headway.site import Site
from headway.site.modelled import takes_part
from headway.workload import LedgerEntry, Workload

CONSTRAINT = "parentheses or counts in --constraint that are not modelled: may use every node"
SHARING = "asked to share its CPUs (--oversubscribe) where the partition lets jobs: has its own, not modelled"
FURTHER = "asked for --{}, which is not modelled: waits and runs as if it had not"
PART = "in a reservation of some cores of its nodes: the whole nodes are reserved"
CORES = "in a reservation of cores on no nodes by name: it has no nodes to run on"
LICENCES = "in a reservation of licences: as if in none"
DRAWN = "in a reservation that draws jobs in (MAGNETIC): as if it had asked for that one"
PARTITION = "its partition is not one of the site's: in the default one, {}"
QOS = "its QOS is not one of the site's: {}"
RESERVATION = "its reservation is not in the site's reservations.txt: as if it had asked for none"
LICENCE = "a licence that is not in the site's Licenses, such as one of the database: there are enough of it"
ASSOCIATION = "the site has no association of its user and account: no shares and no limits of it"


def left_out(workload: Workload, site: Site) -> Iterator[LedgerEntry]:
    """An entry for each kind of request that goes otherwise than it was made, with the jobs that made it."""
    yield from _strangers(workload, site)
    names = workload.labels.get("constraint", ())
    odd = [text for text in names if not Constraint.of(text).understood]
    yield from _named(workload, "constraint", odd, CONSTRAINT)
    reserved = [one for one in site.reservations if one.cores is not None]
    part = [one.name for one in reserved if takes_part(site, one)]
    yield from _named(workload, "reservation", part, PART)
    yield from _named(workload, "reservation", [one.name for one in reserved if not one.nodes], CORES)
    for flag, action in (("ANY_NODES", LICENCES), ("MAGNETIC", DRAWN)):
        names = [one.name for one in site.reservations if one.has(flag)]
        yield from _named(workload, "reservation", names, action)
    yield from _sharing(workload, site)
    asked = {option for label in workload.labels.get("further", ()) for option in label.split(",")}
    for option in sorted(asked):
        names = [label for label in workload.labels["further"] if option in label.split(",")]
        yield from _named(workload, "further", names, FURTHER.format(option))


def _strangers(workload: Workload, site: Site) -> Iterator[LedgerEntry]:
    """The jobs that name a partition, QOS or account that the site does not have (any more)."""
    default = site.default_partition or site.partitions[0]
    gone = [
        names
        for names in workload.labels.get("partition", ())
        if site.partition_place.keys().isdisjoint(names.split(","))
    ]
    yield from _named(workload, "partition", gone, PARTITION.format(default.name))
    if site.qos:
        gone = [name for name in workload.labels.get("qos", ()) if name not in site.qos_place]
        instead = "as normal" if "normal" in site.qos_place else "without one"
        yield from _named(workload, "qos", gone, QOS.format(instead))
    reserved = {one.name for one in site.reservations}
    gone = [name for name in workload.labels.get("reservation", ()) if name not in reserved]
    yield from _named(workload, "reservation", gone, RESERVATION)
    gone = [
        label
        for label in workload.labels.get("licenses", ())
        if not {part.replace("*", ":").split(":")[0] for part in re.split(r"[,;|]", label)}
        <= {*site.licenses, ""}
    ]
    yield from _named(workload, "licenses", gone, LICENCE)
    user, account = workload.get("user"), workload.get("account")
    users, accounts = (workload.labels.get(name, ()) for name in ("user", "account"))
    known = {(one.account, one.user) for one in site.associations if one.user and not one.partition}
    if not known or user is None or account is None or not users or not accounts:
        return
    many = int(account.max(initial=0)) + 2  # -1 is none
    pairs, place = np.unique(user.astype(np.int64) * many + account, return_inverse=True)
    strange = np.array([
        0 <= who < len(users) and 0 <= what < len(accounts) and (accounts[what], users[who]) not in known
        for who, what in zip((pairs + 1) // many, (pairs + 1) % many - 1, strict=True)
    ])  # fmt: skip
    rows = strange[place]
    if rows.any():
        yield LedgerEntry.of("association", ASSOCIATION, workload.job[rows], dropped=False)


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
