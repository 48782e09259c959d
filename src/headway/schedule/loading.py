"""A saved schedule read back: the CSV tables, with what run.json says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from headway.errors import InputError, UsageError
from headway.plain import one_line
from headway.platform import Outages, Platform
from headway.schedule.csv_table import NONE, CsvTable
from headway.schedule.files import AGAIN, EVENTS, read_record
from headway.schedule.moves import read_moves
from headway.schedule.pieces import WHY, Pieces, read_pieces
from headway.schedule.schedule import Schedule
from headway.schedule.shares import shares_of
from headway.schedule.table import EXTRA_NAMES, EXTRA_TIMES, EXTRAS, HOME, NOTE_TIMES
from headway.site import Site
from headway.site.described import digest
from headway.site.folder import is_site
from headway.workload import Header, Ledger, LedgerEntry, Source, Workload

S = TypeVar("S", bound=Schedule)

REQUIRED = ("job", "submit", "start", "end", "procs", "walltime", "runtime", "why", "killed", "user", "queue")

OF_THE_SCHEDULE = {
    *("policy", "platform", "processors", "groups", "promise", "labels", "own"),
    *("ledger", "jobs_in_log", "dropped", "transformations", "rules", "trace", "named", "unix_start"),
    "files",
}
"""Entries of run.json that come from the schedule's own fields; the rest is provenance."""


def load_schedule(folder: Path, made: type[S]) -> S:
    """The schedule in `folder`, `made` as this class, with what metrics and audit need of the workload."""
    if not (folder / "schedule.csv").is_file() or not (folder / "run.json").is_file():
        raise UsageError(
            f"{folder} holds no schedule.csv with its run.json; give a folder that 'simulate --out' wrote"
        )
    record = read_record(folder)
    try:
        return _schedule(folder, record, made)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError) as error:
        reason = one_line(f"{type(error).__name__}: {error}", 120)
        message = f"does not fit together with the other files of the folder ({reason}); {AGAIN}"
        raise InputError(message, file=folder / "run.json") from None


def _schedule(folder: Path, record: dict[str, Any], made: type[S]) -> S:
    table = CsvTable(folder / "schedule.csv", REQUIRED)
    labels = record.get("labels", {})
    workload = _workload(table, record)
    places: dict[str, Any] = {name: table.codes(name, labels[name]) for name in labels if name in table}
    places |= {
        name: table.integers(name, absent=NONE)
        for name in ("group", "cluster", "node")
        if name in table and name not in labels
    }
    platform = _with_outages(_platform(record, folder), record["platform"], folder)
    moves = folder / "moves.csv"
    names = [cluster.name for cluster in platform.clusters]
    known = () if platform.site is None else tuple(node.name for node in platform.site.nodes)
    shares = shares_of(table, known)
    named = known if shares is None else shares.names
    return made(
        workload=workload,
        platform=platform,
        policy=record["policy"],
        start=table.times("start"),
        end=table.times("end"),
        why=table.codes("why", WHY).astype(np.uint8),
        killed=table.flags("killed"),
        procs=table.integers("procs"),
        walltime=table.times("walltime"),
        runtime=table.times("runtime"),
        promise=table.times("promise", absent=NONE) if "promise" in table else None,
        promise_kind=record.get("promise", ""),
        waiting=table.times("waiting") if "waiting" in table else None,
        pieces=_pieces(folder / "runs.csv", workload, labels, named),
        shares=shares,
        notes=_notes(folder / "notes.csv", labels),
        moves=read_moves(moves, workload, names) if moves.is_file() else None,
        capacity=record["processors"],
        groups=record.get("groups", {}),
        labels=labels,
        own=record.get("own", {}),
        provenance={key: value for key, value in record.items() if key not in OF_THE_SCHEDULE},
        **places,
    )


def _platform(record: dict[str, Any], folder: Path) -> Platform:
    described, zone = record["platform"], record.get("rules", {}).get("zone", "UTC")
    try:
        platform = Platform.from_description(described)
        return replace(platform, site=_site(described.get("site"), zone))
    except (UsageError, KeyError, TypeError, AttributeError, ValueError):
        message = f"is not a description of a machine; {AGAIN}"
        raise InputError(message, file=folder / "run.json", field="platform") from None


def _site(described: Mapping[str, Any] | None, zone: str) -> Site | None:
    """The site of a platform, where its folder is still there and says what it said."""
    folder = described.get("folder") if described else None
    if described is None or not folder or not is_site(folder):
        return None
    try:
        site = Site.load(folder, zone)
    except InputError:  # it could be read when the run was made
        return None
    return site if described.get("sha256", digest(site)) == digest(site) else None


def _with_outages(platform: Platform, described: dict[str, Any], folder: Path) -> Platform:
    """The outages of a run, from the table beside it."""
    path = folder / EVENTS
    if not path.is_file():
        return platform
    told = described.get("outages", {})
    outages = Outages.load(path, on_failure=str(told.get("on_failure", "requeue")))
    return platform.with_outages(replace(outages, source=dict(told.get("source", outages.source))))


def _workload(table: CsvTable, record: dict[str, Any]) -> Workload:
    columns: dict[str, Any] = {"job": table.integers("job"), "submit": table.times("submit")}
    for name, read in (("procs", table.integers), ("walltime", table.times), ("runtime", table.times)):
        logged = f"trace_{name}"
        columns[name] = read(logged if logged in table else name)
    labels: dict[str, list[str]] = {}
    # In schedule.csv a group is one of processors; people's groups are Slurm's accounts.
    for name, title in (
        ("user", "user"),
        ("queue", "queue"),
        ("group", "account"),
        ("partition", "trace_partition" if "trace_partition" in table else "partition"),
    ):
        if title not in table:
            columns[name] = np.full(len(table), NONE, np.int64)
        elif name in record.get("named", ()):
            columns[name], labels[name] = table.labelled(title)
        else:
            columns[name] = table.integers(title)
    for name in EXTRAS:
        if name in EXTRA_NAMES and name in table:
            columns[name], labels[name] = table.labelled(name)
        elif name in table:
            columns[name] = _extra(table, name)
    if HOME in table:
        columns["cluster"], labels["cluster"] = table.labelled(HOME)
    start = record.get("unix_start")
    return Workload(
        columns,
        header=Header([f"; UnixStartTime: {start}"] if start else ()),
        ledger=_ledger(record, len(table)),
        source=_source(record["trace"]) if "trace" in record else None,
        transformations=tuple(record.get("transformations", ())),
        labels=labels,
        rules=record.get("rules"),
    )


def _source(described: dict[str, Any]) -> Source:
    known = {field.name for field in fields(Source)}
    return Source(**{name: value for name, value in described.items() if name in known})


def _extra(table: CsvTable, name: str) -> Any:
    if name in EXTRA_TIMES:
        return table.times(name, absent=NONE)
    if name in ("urgent", "local"):
        return table.flags(name)
    if name in ("parallel_fraction", "file_gb", "needs_node_gb"):
        return table.floats(name)
    return table.integers(name, absent=NONE)


def _ledger(record: dict[str, Any], jobs: int) -> Ledger:
    entries = tuple(
        LedgerEntry(row["rule"], row["action"], row["count"], tuple(row["jobs"]), bool(row.get("dropped")))
        for row in record.get("ledger", ())
    )
    ledger = Ledger(record.get("jobs_in_log", jobs), entries)
    # A table from which rows were taken is still loaded: it is for the audit to say so.
    return ledger if ledger.kept == jobs else Ledger(jobs)


def _notes(path: Path, labels: dict[str, list[str]]) -> dict[str, Any]:
    """What the policy noted, where it was saved."""
    if not path.is_file():
        return {}
    table = CsvTable(path, ("job",))
    notes: dict[str, Any] = {}
    for name in table.texts.columns:
        if name in labels:
            notes[name] = table.codes(name, labels[name])
        elif name in NOTE_TIMES:
            notes[name] = table.times(name, absent=NONE)
        elif name != "job":
            notes[name] = table.integers(name, absent=NONE)
    return notes


def _pieces(
    path: Path, workload: Workload, labels: dict[str, list[str]], nodes: Sequence[str]
) -> Pieces | None:
    """The pieces in a folder; places without names are numbers, as in the schedule itself."""
    if not path.is_file():
        return None
    pieces, names, _ = read_pieces(path, workload, labels, nodes)
    numbers = {
        name: np.array([*map(int, names[name]), NONE], np.int64)[getattr(pieces, name)]
        for name in ("group", "cluster", "node")
        if getattr(pieces, name) is not None and name not in labels
    }
    return replace(pieces, **numbers)
