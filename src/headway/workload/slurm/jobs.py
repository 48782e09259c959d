"""From records to the fields that reading rules work on, with what was done on the way in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.units import SECOND
from headway.workload.ledger import LedgerEntry
from headway.workload.slurm import requests, states
from headway.workload.slurm.job_ids import COMPONENT, TASK, WAITING_TASKS
from headway.workload.slurm.not_modelled import BIT
from headway.workload.slurm.records import UNKNOWN
from headway.workload.slurm.runs import repeats

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Columns = dict[str, npt.NDArray[Any]]

_UNKNOWN_TIME = -SECOND
"""An unknown time as the rules expect it: -1 in seconds."""


class Jobs:
    """Records that stand for jobs, with entries for those that do not; `drop` keeps the two in step."""

    def __init__(self, records: Columns, rules: Mapping[str, str], file: str) -> None:
        self.records, self.rules, self.file = records, rules, file
        self.total = len(records["key"])
        self.entries: list[LedgerEntry] = []

    def __len__(self) -> int:
        return len(self.records["key"])

    def get(self, name: str, blank: int = UNKNOWN) -> npt.NDArray[Any]:
        """A column; `blank` throughout where the export has no such column."""
        column = self.records.get(name)
        return np.full(len(self), blank, np.int64) if column is None else column

    def note(self, rule: str, action: str, rows: Mask) -> None:
        """An entry about records that are kept."""
        if rows.any():
            self.entries.append(LedgerEntry.of(rule, action, self.records["number"][rows], dropped=False))

    def drop(self, rule: str, action: str, rows: Mask) -> None:
        """Leave records out, under an entry that says so."""
        if rows.any():
            self.entries.append(LedgerEntry.of(rule, action, self.records["number"][rows], dropped=True))
            kept = ~rows
            self.records = {name: values[kept] for name, values in self.records.items()}


def settle(jobs: Jobs, key: Ints) -> None:
    """Sort out what stands for a job: repeated records, earlier runs, jobs that have not ended."""
    records = jobs.records
    records["key"] = key
    seen = repeats(records, key)
    records["bits"] = records["bits"] | np.where(seen.requeued, BIT["requeues"], 0).astype(np.uint32)
    records["again"], records["earlier"] = seen.again, seen.earlier
    jobs.note("extra_fields", "a separator inside a text column: read as part of it", records["repaired"])
    jobs.drop("duplicates", "a record exported twice: the second left out", jobs.records["again"])
    earlier = jobs.records["earlier"]
    if jobs.rules["requeues"] == "last":
        action = "an earlier run of a job that was requeued or resized: left out, the last one stands for it"
        jobs.drop("requeues", action, earlier)
    else:
        action = "an earlier run of a job that was requeued or resized: a job of its own"
        jobs.note("requeues", action, earlier)
    state = jobs.records["state"]
    jobs.note("foreign_status", "a state Slurm does not have: status unknown", state == states.FOREIGN)
    waiting = jobs.records["kind"] == WAITING_TASKS
    jobs.drop("unfinished", "tasks of an array that never started, one record for all: dropped", waiting)
    never = jobs.records["state"] == states.PENDING
    jobs.drop("unfinished", "still waiting when the log was taken: dropped", never)
    running = jobs.records["state"] == states.RUNNING
    if jobs.rules["unfinished"] == "drop":
        jobs.drop("unfinished", "still running when the log was taken: dropped", running)
    else:
        jobs.note("unfinished", "still running when the log was taken: kept with its run so far", running)


def numbered(jobs: Jobs) -> Ints:
    """A number for each job: JobIDRaw where there is one, else JobID, else a new one."""
    number, shared = jobs.records["number"], jobs.records["shared"]
    if not shared.any():
        return number
    fresh = number.copy()
    start = int(number.max()) + 1
    fresh[shared] = start + np.arange(np.count_nonzero(shared))
    action = f"tasks of an array under one number (no JobIDRaw): given new numbers from {start} up"
    jobs.records["number"] = fresh
    jobs.note("array_tasks", action, shared)
    return fresh


def fields(jobs: Jobs, used: Ints, clock_times: int) -> tuple[Columns, int]:
    """The fields the reading rules want, times in µs on the log's clock, and where that clock starts."""
    submit, start = jobs.get("submit"), _start(jobs)
    if jobs.rules["submit"] == "eligible":
        eligible = jobs.get("eligible")
        later = (eligible > submit) & (submit != UNKNOWN)
        jobs.note("submit", "eligible after its submission: submitted then", later)
        submit = np.where(later, eligible, submit)
    _note_clock(jobs, clock_times)
    known = submit != UNKNOWN
    origin = int(submit[known].min()) if known.any() else 0
    origin -= origin % SECOND
    runtime = _runtime(jobs, start)
    ran = (start != UNKNOWN) & known & (runtime != _UNKNOWN_TIME)
    columns: Columns = {
        "job": numbered(jobs),
        "submit": np.where(known, submit - origin, _UNKNOWN_TIME),
        "wait": np.where(ran, start - submit, _UNKNOWN_TIME),
        "runtime": runtime,
        "allocated": _count(jobs.get("allocated")),
        "requested_procs": _count(jobs.get("requested")),
        "requested_time": _limit(jobs),
        "status": _status(jobs.records["state"]),
    }
    # A job that never started had no wait to be compared with.
    never = (runtime <= 0) & (jobs.records["state"] == states.CANCELLED)
    columns["wait"] = np.where(never, _UNKNOWN_TIME, columns["wait"])
    allocated, requested = columns["allocated"], columns["requested_procs"]
    procs = np.maximum(np.where(allocated > 0, allocated, requested), 1)
    cpu = jobs.get("cpu")
    columns["cpu_time"] = np.where(cpu == UNKNOWN, _UNKNOWN_TIME, cpu // procs)
    columns["requested_memory_kb"] = _memory(jobs, procs)
    columns["used_memory_kb"] = np.where(used > 0, -(-used // procs), -1)
    for name, kind in (("user", "user"), ("group", "account"), ("partition", "partition")):
        columns[name] = jobs.get(kind, -1).astype(np.int64)
    columns["queue"] = jobs.get("qos" if "qos" in jobs.records else "partition", -1).astype(np.int64)
    cluster = jobs.get("cluster", -1).astype(np.int64)
    if len(np.unique(cluster)) > 1:
        columns["cluster"] = cluster
    columns["bits"] = _bits(jobs, submit, columns, cluster)
    _requests(jobs, columns, origin, start)
    return columns, origin // SECOND


def _requests(jobs: Jobs, columns: Columns, origin: int, start: Ints) -> None:
    """What jobs asked for, beside the recorded times that belong to it."""
    asked = {name: values for name, values in jobs.records.items() if name.startswith("request:")}
    if not asked:
        return
    for name, values in asked.items():
        columns[name.removeprefix("request:")] = values.astype(np.int64)
    columns["qos"] = jobs.get("qos", -1).astype(np.int64)
    columns["account"] = columns["group"]
    eligible = jobs.get("eligible")
    columns["eligible"] = np.where(eligible == UNKNOWN, -1, eligible - origin)
    columns["recorded_start"] = np.where(columns["wait"] >= 0, start - origin, -1)


REQUESTS = (*requests.COLUMNS, "qos", "account", "eligible", "recorded_start")
"""Columns that a site's jobs have beside those of every log."""


def _start(jobs: Jobs) -> Ints:
    """Starts, moved to the second of two equal hours where the first would be before the submission."""
    start: Ints = jobs.get("start")
    late = jobs.records.get("late_start")
    if late is None:
        return start
    submit = jobs.get("submit")
    return np.where((start != UNKNOWN) & (start < submit) & (late >= submit), late, start)


def _runtime(jobs: Jobs, start: Ints) -> Ints:
    elapsed, end = jobs.get("elapsed"), jobs.get("end")
    between = np.where((start != UNKNOWN) & (end != UNKNOWN), end - start, _UNKNOWN_TIME)
    return np.where(elapsed != UNKNOWN, elapsed, np.maximum(between, _UNKNOWN_TIME))


def _limit(jobs: Jobs) -> Ints:
    limit, none = jobs.get("limit"), jobs.records["no_limit"]
    jobs.note("no_limit", "UNLIMITED or the partition's limit: no requested time", none)
    return np.where(limit == UNKNOWN, _UNKNOWN_TIME, limit)


def _count(values: Ints) -> Ints:
    return np.where(values > 0, values, -1)


def _status(state: npt.NDArray[np.uint8]) -> Ints:
    table = np.array([states.SWF_STATUS[kind] for kind in range(len(states.SWF_STATUS))], np.int64)
    return table[state]


def _memory(jobs: Jobs, procs: Ints) -> Ints:
    """KB per processor: 4Gc is that, 4Gn is per node, and 4G alone is the job's."""
    memory, per = jobs.get("memory"), jobs.get("per", 0)
    nodes = np.maximum(jobs.get("nodes", 1), 1)
    total = np.where(per == 2, memory * nodes, memory)
    return np.where(memory <= 0, -1, np.where(per == 1, memory, -(-total // procs)))


def _note_clock(jobs: Jobs, clock_times: int) -> None:
    zone = jobs.rules["zone"]
    if clock_times and zone == "UTC":
        action = "clock times without a zone: read as if the clock never changed (--rule zone=Europe/Berlin)"
        jobs.note("zone", action, np.ones(len(jobs), np.bool_))
    twice, skipped = jobs.records["twice"], jobs.records["skipped"]
    action = f"in an hour that the clock of {zone} shows twice: the first is taken, unless it cannot be"
    jobs.note("zone", action, twice)
    jobs.note("zone", f"in an hour that the clock of {zone} skips: taken an hour later", skipped)


def _bits(jobs: Jobs, submit: Ints, columns: Columns, cluster: Ints) -> npt.NDArray[np.uint32]:
    bits = jobs.records["bits"]
    kind, state, eligible = jobs.records["kind"], jobs.records["state"], jobs.get("eligible")
    requested, allocated = columns["requested_procs"], columns["allocated"]
    tests = {
        "held back": (eligible != UNKNOWN) & (eligible > submit + SECOND),
        "job arrays": kind == TASK,
        "heterogeneous jobs": kind == COMPONENT,
        "requeues": (state == states.ATTEMPT),
        "exclusive nodes": (requested > 0) & (allocated > requested),
        "federation": cluster > 0,
    }
    for name, rows in tests.items():
        bits = bits | np.where(rows, BIT[name], 0).astype(np.uint32)
    return bits
