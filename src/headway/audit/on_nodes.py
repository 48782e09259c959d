"""Jobs on the named nodes of a site: what they held and when, in which partition, QOS and account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from headway.audit.verdict import Column
from headway.errors import UsageError
from headway.policies.spec import parse_spec
from headway.schedule import STATES, Schedule, Shares
from headway.schedule.pieces import rows_among
from headway.schedule.shares import joined
from headway.workload import Workload
from headway.workload.divisions import column_of

if TYPE_CHECKING:
    from headway.audit.record import Record
    from headway.site import Site


@dataclass(frozen=True)
class OnNodes:
    """One entry per job of a record; names are empty where the log does not have them."""

    shares: Shares
    """Of the record's rows, by row."""
    site: Site | None
    """None where the site's folder is no longer there; then only the nodes' own invariants can be judged."""
    partition: Sequence[str]
    qos: Sequence[str]
    account: Sequence[str]
    user: Sequence[str]
    constraint: Sequence[str]
    reservation: Sequence[str] | None
    """None where the record does not say who asked for one."""
    dependency: Sequence[str]
    cpus_per_task: Column | None = None
    tasks_per_node: Column | None = None
    array: Column | None = None
    array_limit: Column | None = None

    def sum_of(self, column: Column) -> Column:
        """A column of the shares, summed for each job."""
        return np.bincount(self.shares.job, weights=column, minlength=len(self.user)).astype(np.int64)


def on_nodes_of(schedule: Schedule, log: Workload, chosen: Column, rows: Column) -> OnNodes | None:
    """What a schedule says of named nodes; `chosen` are the record's jobs in it, `rows` in the log."""
    given = schedule.shares
    if given is None:
        return None
    back = rows_among(chosen, len(schedule))
    kept = np.flatnonzero(back[given.job] >= 0)
    kept = kept[np.argsort(back[given.job[kept]], kind="stable")]
    shares = given.taken(kept, back)
    codes, labels = schedule.partition, schedule.labels.get("partition", ())
    asked = _names(log, "partition", rows)
    ran = asked if codes is None else [labels[c] if c >= 0 else "" for c in codes[chosen].tolist()]
    site = schedule.platform.site
    said = OnNodes(
        shares,
        site,
        partition=ran,
        qos=_names(log, "qos", rows),
        account=_names(log, "account", rows),
        user=_names(log, "user", rows),
        constraint=_names(log, "constraint", rows),
        reservation=None if log.get("reservation") is None else _names(log, "reservation", rows),
        dependency=_names(log, "dependency", rows),
        cpus_per_task=_numbers(log, "cpus_per_task", rows),
        tasks_per_node=_numbers(log, "tasks_per_node", rows),
        array=_numbers(log, "array", rows),
        array_limit=_numbers(log, "array_limit", rows),
    )
    if keeps_rules(schedule.policy):
        return said
    free = None if site is None else replace(site, qos=(), associations=(), events=(), reservations=())
    none = [""] * len(rows)
    unnamed = replace(said, qos=none, account=none, user=none, dependency=none, reservation=None)
    return replace(unnamed, site=free, array=None, array_limit=None)


def keeps_rules(policy: str) -> bool:
    """Whether a policy keeps to the rules of a site beside its nodes and partitions: limits, reservations.

    EASY and conservative backfilling on its nodes do not look at them.
    """
    try:
        return "nodes" not in parse_spec(policy).params
    except UsageError:
        return True


def _numbers(log: Workload, name: str, rows: Column) -> Column | None:
    """A column of whole numbers; None where the log has none."""
    column = log.get(name)
    return None if column is None else np.asarray(column[rows], np.int64)


def _names(log: Workload, name: str, rows: Column) -> list[str]:
    """A column's values as the log calls them."""
    column = column_of(log, name)
    if column not in log:
        return [""] * len(rows)
    return [log.name_of(column, code, "") for code in log.columns[column][rows].tolist()]


@dataclass(frozen=True)
class Held:
    """From when to when shares of nodes were held, stretch by stretch.

    `job` is the row of the record, `shares.job` the number of the stretch.
    """

    job: Column
    start: Column
    end: Column
    shares: Shares


def runs(record: Record) -> Held:
    """Every run from its start to its end, suspensions within: a suspended run keeps its memory.

    Final ones alone where the nodes of the others are not known.
    """
    pieces, shares = record.pieces, _shares(record)
    if pieces is None or pieces.shares is None:
        return Held(np.arange(len(record)), record.start, record.end, shares)
    order = np.lexsort((pieces.start, pieces.run, pieces.job))
    job, run = pieces.job[order], pieces.run[order]
    first = np.flatnonzero(np.append(True, (job[1:] != job[:-1]) | (run[1:] != run[:-1]))[: len(job)])
    end = np.maximum.reduceat(pieces.end[order], first) if len(first) else pieces.end[:0]
    chosen = order[first]
    several = Held(pieces.job[chosen], pieces.start[chosen], end, pieces.shares.in_rows(chosen, len(pieces)))
    return _with_others(record, several, shares)


def busy(record: Record) -> Held:
    """The same without the time in which a run was suspended, when others may have its CPUs."""
    pieces, shares = record.pieces, _shares(record)
    if pieces is None:
        return Held(np.arange(len(record)), record.start, record.end, shares)
    if pieces.shares is None:
        return _of_final_runs(record, shares)
    chosen = np.flatnonzero(pieces.holding)
    several = Held(
        pieces.job[chosen],
        pieces.start[chosen],
        pieces.end[chosen],
        pieces.shares.in_rows(chosen, len(pieces)),
    )
    return _with_others(record, several, shares)


def _shares(record: Record) -> Shares:
    assert record.on_nodes is not None
    return record.on_nodes.shares


def _with_others(record: Record, several: Held, shares: Shares) -> Held:
    """And the jobs that ran in one piece."""
    once = np.flatnonzero(~record.in_pieces)
    return Held(
        np.concatenate([several.job, once]),
        np.concatenate([several.start, record.start[once]]),
        np.concatenate([several.end, record.end[once]]),
        joined(several.shares, shares.in_rows(once, len(record)), len(several.job)),
    )


def _of_final_runs(record: Record, shares: Shares) -> Held:
    """Final runs, with the shares of their jobs."""
    pieces = record.pieces
    assert pieces is not None
    suspended = np.zeros(len(record), np.bool_)
    suspended[pieces.job[pieces.state == STATES.index("suspended")]] = True
    mine = np.flatnonzero(pieces.final(len(record)) & pieces.holding & suspended[pieces.job])
    once = np.flatnonzero(~suspended)
    job = np.concatenate([pieces.job[mine], once])
    return Held(
        job,
        np.concatenate([pieces.start[mine], record.start[once]]),
        np.concatenate([pieces.end[mine], record.end[once]]),
        shares.in_rows(job, len(record)),
    )
