"""Read Slurm's accounting: `sacct --parsable2` text or `sacct --json`, to a workload with its ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints, Mask
from headway.errors import InputError
from headway.units import SECOND
from headway.workload.header import Header, Source
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.rules import choose
from headway.workload.slurm.jobs import REQUESTS, Columns, Jobs, fields, settle
from headway.workload.slurm.json_jobs import SacctJson
from headway.workload.slurm.not_modelled import counted
from headway.workload.slurm.records import Records
from headway.workload.slurm.text import SacctText
from headway.workload.stream import LogStream
from headway.workload.swf_fields import FIELDS
from headway.workload.swf_rules import apply_rules
from headway.workload.table import Workload

_COLUMN = {
    "job number": "JobID", "submit time": "Submit", "run time": "Elapsed",
    "allocated processors": "AllocCPUS",
    "requested processors": "ReqCPUS", "requested time": "Timelimit", "requested memory": "ReqMem",
    "status": "State",
}  # fmt: skip
LISTED = 200
"""Names of queues and partitions written into the header; more would bury it."""


def read_sacct(
    path: str | os.PathLike[str] | BinaryIO,
    rules: Mapping[str, str] | None = None,
    *,
    compiled: bool | None = None,
    requests: bool = False,
) -> Workload:
    """Read the output of `sacct --parsable2`, plain or gzipped; "-" is standard input.

    With `requests` also what each job asked for, as Slurm's own rules want it.
    """
    stream = LogStream(path)
    return _workload(SacctText(stream), stream, choose(rules or {}), "sacct", requests)


def read_sacct_json(
    path: str | os.PathLike[str] | BinaryIO,
    rules: Mapping[str, str] | None = None,
    *,
    compiled: bool | None = None,
    requests: bool = False,
) -> Workload:
    """Read the output of `sacct --json`, plain or gzipped; "-" is standard input."""
    stream = LogStream(path)
    return _workload(SacctJson(stream), stream, choose(rules or {}), "sacct-json", requests)


def _workload(
    tables: SacctText | SacctJson, stream: LogStream, rules: dict[str, str], kind: str, requests: bool
) -> Workload:
    gathered = Records(stream.name, rules["zone"], requests=requests)
    for table in tables:
        gathered.add(table)
    records, steps = gathered.columns(), gathered.steps()
    if not records:
        raise InputError("has no records of jobs; does the export cover the right dates?", file=stream.name)
    jobs = Jobs(records, rules, stream.name, gathered.task_lists)
    key, step_key = _keys(records, steps)
    _steps_noted(jobs, np.isin(step_key, key), steps)
    if tables.unended:
        last = np.zeros(len(jobs), np.bool_)
        last[-1] = True
        action = "the last line has no end: read as it is, though the file may be cut short"
        jobs.note("line_end", action, last)
    settle(jobs, key)
    used = _used_memory(jobs.records["key"], step_key, steps)
    columns, origin = fields(jobs, used, gathered.clock_times)
    line = jobs.records["line"]
    columns["bits"] = columns["bits"].astype(np.int64)
    labels = {kind: list(names) for kind, names in gathered.labels.items()}
    jobs.records = {}
    also = ("bits", *(["open"] if "open" in columns else []), *(REQUESTS if requests else ()))
    kept, ledger = apply_rules(
        columns, line, np.zeros(len(line), np.uint8), rules, stream.name, place=_place, also=also
    )
    bits = kept.pop("bits").astype(np.uint32)
    names = _names(labels, "cluster" in kept)
    _keep_shared_names(kept, names)
    return Workload(
        kept,
        header=_header(kept, names, labels["cluster"], origin),
        ledger=Ledger(jobs.total, (*jobs.entries, *ledger.entries)),
        source=Source(stream.name, stream.sha256, kind, counted(bits)),
        labels=names,
        rules=rules,
    )


def _place(field: int) -> str:
    """A field as an error names it: by sacct's column."""
    return _COLUMN.get(FIELDS[field].title, FIELDS[field].title)


def _keys(records: Columns, steps: Columns) -> tuple[Ints, Ints]:
    """Keys of records and steps that differ between clusters too."""
    key, step_key = records["key"], steps.get("key", np.zeros(0, np.int64))
    cluster = records.get("cluster")
    if cluster is None or not (cluster > 0).any():
        return key, step_key
    both = np.concatenate([key, step_key])
    places = np.concatenate([cluster, steps.get("cluster", np.zeros(0, np.int32))]).astype(np.int64)
    code = np.unique(both, return_inverse=True)[1].astype(np.int64)
    merged = code * (len(np.unique(places)) + 1) + places
    return merged[: len(key)], merged[len(key) :]


def _steps_noted(jobs: Jobs, ours: Mask, steps: Columns) -> None:
    for rows, action in (
        (ours, "steps (.batch, .extern, .0): no jobs, read for the memory they used"),
        (~ours, "steps whose job has no record of its own: no jobs, left out"),
    ):
        if rows.any():
            jobs.entries.append(LedgerEntry.of("steps", action, steps["number"][rows], dropped=False))


def _used_memory(key: Ints, step_key: Ints, steps: Columns) -> Ints:
    """KB of the step that used most: the largest task times the tasks; 0 where nothing is known."""
    used: Ints = np.zeros(len(key), np.int64)
    rss = steps.get("max_rss")
    if rss is None or not (rss > 0).any():
        return used
    tasks = steps.get("tasks", np.ones(len(rss), np.int64))
    total = np.where(rss > 0, rss * np.where(tasks > 0, tasks, 1), 0)
    order = np.argsort(step_key, kind="stable")
    unique, first = np.unique(step_key[order], return_index=True)
    largest = np.maximum.reduceat(total[order], first)
    place = np.minimum(np.searchsorted(unique, key), len(unique) - 1)
    return np.where(unique[place] == key, largest[place], 0)


def _names(labels: dict[str, list[str]], clusters: bool) -> dict[str, list[str]]:
    names = {"user": labels["user"], "group": labels["account"], "partition": labels["partition"]}
    names["queue"] = labels["qos"] or labels["partition"]
    if clusters:
        names["cluster"] = labels["cluster"]
    names |= {kind: listed for kind, listed in labels.items() if kind in REQUESTS}
    if "node_list" in labels:
        names |= {"account": labels["account"], "qos": labels["qos"]}
    return {column: list(values) for column, values in names.items() if values}


def _keep_shared_names(columns: Columns, labels: dict[str, list[str]]) -> None:
    """Keep jobs' names where a job of the log wants to be the only one of its name; others mean nothing."""
    if "name" not in columns:
        return
    alone = [code for code, text in enumerate(labels.get("dependency", [])) if "singleton" in text]
    wanted = np.unique(columns["name"][np.isin(columns["dependency"], alone)])
    wanted = wanted[wanted >= 0]
    shared = np.isin(columns["name"], wanted)
    columns["name"] = np.where(shared, np.searchsorted(wanted, columns["name"]), -1)
    known = labels.pop("name", [])
    if len(wanted):
        labels["name"] = [known[code] for code in wanted.tolist()]


def _header(
    columns: Mapping[str, npt.NDArray[Any]], names: dict[str, list[str]], clusters: list[str], origin: int
) -> Header:
    """Comment lines as an SWF log has them; the machine's size is not among sacct's columns."""
    lines = ["; Version: 2.2"]
    if clusters:
        lines.append(f"; Computer: {', '.join(clusters[:10])}")
    lines += [f"; MaxJobs: {len(columns['job'])}", f"; UnixStartTime: {origin}"]
    for column, title in (("queue", "Queue"), ("partition", "Partition")):
        listed = names.get(column, [])[:LISTED]
        lines += [f"; {title}: {code} {name}" for code, name in enumerate(listed)]
    if peak := _peak(columns):
        lines.append(f"; Note: at most {peak} processors were in use at once")
    return Header(lines)


def _peak(columns: Mapping[str, npt.NDArray[Any]]) -> int:
    """The most processors that ran jobs at one time, by the recorded starts."""
    wait = columns.get("wait")
    if wait is None:
        return 0
    ran = (wait >= 0) & (columns["runtime"] >= SECOND)
    start = (columns["submit"] + wait)[ran]
    width = columns["procs"]
    if "allocated" in columns:
        width = np.where(columns["allocated"] > 0, columns["allocated"], width)
    times = np.concatenate([start, start + columns["runtime"][ran]])
    change = np.concatenate([width[ran], -width[ran]])
    # Ends before starts at the same instant.
    order = np.lexsort((change, times))
    return int(np.cumsum(change[order]).max(initial=0))
