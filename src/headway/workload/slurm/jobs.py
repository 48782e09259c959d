"""From records to the fields that reading rules work on, with what was done on the way in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints, Mask
from headway.units import SECOND
from headway.workload.ledger import LedgerEntry
from headway.workload.slurm import requests, states
from headway.workload.slurm.cells import MOST_TASKS
from headway.workload.slurm.job_ids import COMPONENT, TASK, WAITING_TASKS
from headway.workload.slurm.not_modelled import BIT
from headway.workload.slurm.records import UNKNOWN
from headway.workload.slurm.runs import Repeats, repeats

Columns = dict[str, npt.NDArray[Any]]

_UNKNOWN_TIME = -SECOND
"""An unknown time as the rules expect it: -1 in seconds."""

STALE = "exported before it was over, and again later: the later record counts"


class Jobs:
    """Records that stand for jobs, with entries for those that do not; `drop` keeps the two in step."""

    def __init__(
        self,
        records: Columns,
        rules: Mapping[str, str],
        file: str,
        task_lists: Sequence[Sequence[int]] = (),
    ) -> None:
        self.records, self.rules, self.file, self.task_lists = records, rules, file, task_lists
        self.total = len(records["key"])
        self.highest = int(records["number"].max(initial=0))
        """The highest number of the log, also of jobs that are left out."""
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
    records["again"], records["stale"], records["earlier"] = seen.again, seen.stale, seen.earlier
    jobs.note("extra_fields", "a separator inside a text column: read as part of it", records["repaired"])
    records["part"] = seen.part
    _join_resized(jobs, seen)
    if jobs.rules["requeues"] == "first":
        _submitted_first(jobs, seen)
    jobs.drop("duplicates", "a record exported twice: the second left out", jobs.records["again"])
    jobs.drop("duplicates", STALE, jobs.records["stale"])
    action = "a part of a run before the job was resized: left out, the whole run has its time"
    jobs.drop("resized", action, jobs.records["part"])
    earlier = jobs.records["earlier"]
    if jobs.rules["requeues"] == "each":
        jobs.note("requeues", "an earlier run of a job that was requeued: a job of its own", earlier)
    else:
        action = "an earlier run of a job that was requeued: left out, the last one counts"
        jobs.drop("requeues", action, earlier)
    state = jobs.records["state"]
    jobs.note("foreign_status", "a state Slurm does not have: status unknown", state == states.FOREIGN)
    _spread_tasks(jobs)
    _settle_waiting(jobs)
    late = (jobs.records["state"] == states.DEADLINE) & (jobs.get("elapsed") <= 0)
    if jobs.rules["cancelled"] == "wait":
        # Slurm planned for it until then, as for one that its user cancels.
        waited = late & (jobs.get("submit") != UNKNOWN) & (jobs.get("end") > jobs.get("submit"))
        jobs.note("cancelled", "its deadline passed before it ran: it was cancelled then", waited)
        jobs.records["state"] = np.where(waited, states.CANCELLED, jobs.records["state"]).astype(np.uint8)
        late &= ~waited
    jobs.drop("cancelled", "its deadline passed before it ran: dropped", late)
    jobs.drop("cancelled", "refused when it was submitted: dropped", _refused(jobs))
    running = jobs.records["state"] == states.RUNNING
    if jobs.rules["unfinished"] == "drop":
        jobs.drop("unfinished", "still running when the log was taken: dropped", running)
    else:
        jobs.note("unfinished", "still running when the log was taken: kept with its run so far", running)
    if "request:array" in jobs.records:
        _order_seconds(jobs)


def _order_seconds(jobs: Jobs) -> None:
    """Jobs of one second stand in the order of their numbers, tasks by those of their array and their own.

    So they came. Slurm numbers each task anew when it starts, and sacct lists it by that number.
    """
    submit, array = jobs.get("submit"), jobs.records["request:array"]
    came = np.where(array >= 0, array, jobs.records["number"])
    order = np.empty(len(jobs), np.int64)
    order[np.argsort(submit, kind="stable")] = np.lexsort((jobs.records["request:array_task"], came, submit))
    jobs.records = {name: values[order] for name, values in jobs.records.items()}


def _settle_waiting(jobs: Jobs) -> None:
    """Jobs that still waited: dropped, or kept in the queue as far as they could start."""
    waits = jobs.records["state"] == states.PENDING
    if jobs.rules["unfinished"] != "open":
        jobs.drop("unfinished", "still waiting when the log was taken: dropped", waits)
        return
    held = waits & _held_back(jobs)
    jobs.drop("unfinished", "held, or waiting for its time or for other jobs: dropped", held)
    waits = jobs.records["state"] == states.PENDING
    jobs.note("unfinished", "still waiting when the log was taken: kept in the queue", waits)


def _held_back(jobs: Jobs) -> Mask:
    """Jobs that could not start yet: Slurm has no time for them, or a later one, at which they may.

    Where it is known what they asked for, those who wait for other jobs or for a time are kept: Slurm's rules
    know how to go on with them.
    """
    eligible = jobs.records.get("eligible")
    if eligible is None:
        return np.zeros(len(jobs), np.bool_)
    held = (eligible == UNKNOWN) | (eligible > _taken(jobs))
    for name in ("request:dependency", "request:begin"):
        if name in jobs.records:
            held &= jobs.records[name] < 0
    return np.asarray(held, np.bool_)


def _taken(jobs: Jobs) -> int:
    """The last instant that the records tell of: a job that runs has run until the log was taken."""
    start, elapsed = jobs.get("start"), jobs.get("elapsed")
    until = np.where((start == UNKNOWN) | (elapsed == UNKNOWN), start, start + np.maximum(elapsed, 0))
    return max(int(column.max(initial=UNKNOWN)) for column in (jobs.get("submit"), jobs.get("end"), until))


def _refused(jobs: Jobs) -> Mask:
    """Submissions that Slurm refused and recorded all the same: failed in that second, on no node."""
    failed = (jobs.records["state"] == states.FAILED) & (jobs.get("elapsed") == 0)
    at_once = (jobs.get("start") == jobs.get("submit")) & (jobs.get("end") == jobs.get("submit"))
    return np.asarray(failed & at_once & (jobs.get("no_nodes", 0) == 1), np.bool_)


def _join_resized(jobs: Jobs, seen: Repeats) -> None:
    """A resized job has its first submission and the processors it began with; `allocated` is the mean."""
    records = jobs.records
    whole = (seen.began != np.arange(len(jobs))) & ~seen.part
    whole &= seen.part[seen.began]
    for row in np.flatnonzero(whole).tolist():
        first = int(seen.began[row])
        chain = np.flatnonzero((seen.began == first) & (seen.part | (np.arange(len(jobs)) == row)))
        area = length = 0
        for place in chain.tolist():
            end = int(records["elapsed"][place]) if "elapsed" in records else 0
            width = int(records["allocated"][place]) if "allocated" in records else 0
            if width > 0 and end > length:
                area += width * (end - length)
                length = end
        if length:
            records["allocated"][row] = -(-area // length)
        for name in ("submit", "eligible", "requested"):
            if name in records:
                records[name][row] = records[name][first]
        for name in records:
            if name.startswith("request:"):
                records[name][row] = records[name][first]
    action = "resized while it ran: submitted when it first was, with the processors it began with"
    jobs.note("resized", action, whole)


def _submitted_first(jobs: Jobs, seen: Repeats) -> None:
    """The rule requeues=first: the last run of a job was submitted when the job was, and stands there.

    So jobs of one second stay in the order of their numbers.
    """
    moved = seen.began != np.arange(len(jobs))
    for name in ("submit", "eligible"):
        if name in jobs.records:
            jobs.records[name][moved] = jobs.records[name][seen.began[moved]]
    order = np.argsort(seen.began, kind="stable")
    jobs.records = {name: values[order] for name, values in jobs.records.items()}


def _spread_tasks(jobs: Jobs) -> None:
    """One record for all tasks of an array that never started becomes one for each."""
    action = "a list of tasks that sacct cut short: those it names (export with SLURM_BITSTR_LEN=0)"
    jobs.note("array_tasks", action, jobs.records["cut"])
    action = f"a list of more tasks than Slurm can have: the first {MOST_TASKS:,}"
    jobs.note("array_tasks", action, jobs.records["beyond"])
    tasks = jobs.records["tasks"]
    if (tasks > 1).any():
        jobs.records = {name: np.repeat(values, tasks) for name, values in jobs.records.items()}
        jobs.total += int((tasks - 1).sum())
        waiting = jobs.records["kind"] == WAITING_TASKS
        action = "tasks of an array that never started, in one record: as many jobs as tasks"
        jobs.note("array_tasks", action, waiting)
    _leave_out_started(jobs)
    if jobs.rules["cancelled"] == "wait" and "request:array" in jobs.records:
        _number_tasks(jobs)


def _leave_out_started(jobs: Jobs) -> None:
    """Tasks of a list that waited in one export, and have records of their own from a later one."""
    records = jobs.records
    waits = (records["kind"] == WAITING_TASKS) & (records["state"] == states.PENDING)
    if not waits.any():
        return
    _write_tasks(jobs, waits, "task")
    alone = (records["kind"] == TASK) & np.isin(records["array"], records["array"][waits])
    listed = waits & np.isin(records["array"], records["array"][alone])
    listed &= np.isin(records["task"], records["task"][alone])
    rows, submit = np.flatnonzero(alone | listed), jobs.get("submit")
    names = [
        column[rows] for column in (jobs.get("cluster"), jobs.get("user"), records["array"], records["task"])
    ]
    which, alone, submit = _combinations(names), alone[rows], submit[rows]
    last = np.full(len(rows), UNKNOWN)
    np.maximum.at(last, which[alone], submit[alone])
    stale = np.zeros(len(jobs), np.bool_)
    stale[rows] = ~alone & np.isin(which, which[alone]) & (last[which] >= submit)
    jobs.drop("duplicates", STALE, stale)


def _write_tasks(jobs: Jobs, rows: Mask, column: str) -> None:
    """Write the numbers of tasks that came from one record, which stand one behind the other."""
    listed = jobs.records["listed"]
    chosen = np.flatnonzero(np.isin(listed, np.unique(listed[rows])))
    place = listed[chosen]
    begins = np.append(True, place[1:] != place[:-1])
    numbers = [np.array(jobs.task_lists[one], np.int64) for one in place[begins].tolist()]
    jobs.records[column][chosen] = np.concatenate(numbers)


def _combinations(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """A number from 0 for each row, the same where the values of all columns are."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        found = np.unique(found * len(values) + place, return_inverse=True)[1]
    return found


def _number_tasks(jobs: Jobs) -> None:
    """Tasks that were cancelled before they started are tasks of their array."""
    records = jobs.records
    cancelled = (records["kind"] == WAITING_TASKS) & (records["state"] == states.CANCELLED)
    if not cancelled.any():
        return
    records["shared"] = records["shared"] | cancelled
    _write_tasks(jobs, cancelled, "request:array_task")


def numbered(jobs: Jobs) -> Ints:
    """A number for each job: JobIDRaw where there is one, else JobID, else a new one."""
    number, shared = jobs.records["number"], jobs.records["shared"]
    if not shared.any():
        return number
    fresh = number.copy()
    start = jobs.highest + 1
    fresh[shared] = start + np.arange(np.count_nonzero(shared))
    action = f"tasks of an array under one number: given new numbers from {start} up"
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
    limit = _limit(jobs)
    runtime = _runtime(jobs, start)
    waits = jobs.records["state"] == states.PENDING
    longest = max(int(limit.max(initial=0)), int(runtime.max(initial=0)))
    runtime = np.where(waits, np.where(limit > 0, limit, longest), runtime)
    after = _cancelled_after(jobs, submit, start, runtime)
    if jobs.rules["cancelled"] == "wait":
        runtime = np.where(after >= 0, 0, runtime)
    ran = (start != UNKNOWN) & known & (runtime != _UNKNOWN_TIME)
    columns: Columns = {
        "job": numbered(jobs),
        "submit": np.where(known, submit - origin, _UNKNOWN_TIME),
        "wait": np.where(ran, start - submit, _UNKNOWN_TIME),
        "runtime": runtime,
        "allocated": _count(jobs.get("allocated")),
        "requested_procs": _occupied(jobs),
        "requested_time": limit,
        "status": _status(jobs.records["state"]),
    }
    # A job that never started had no wait to be compared with.
    never = waits | ((runtime <= 0) & (jobs.records["state"] == states.CANCELLED))
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
    if jobs.rules["unfinished"] == "open":
        columns["open"] = (waits | (jobs.records["state"] == states.RUNNING)).astype(np.int64)
    _requests(jobs, columns, origin, start, after)
    return columns, origin // SECOND


def _requests(jobs: Jobs, columns: Columns, origin: int, start: Ints, after: Ints) -> None:
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
    columns["cancelled_after"] = after


REQUESTS = (*requests.COLUMNS, "qos", "account", "eligible", "recorded_start", "cancelled_after")
"""Columns that a site's jobs have beside those of every log."""


def _cancelled_after(jobs: Jobs, submit: Ints, start: Ints, runtime: Ints) -> Ints:
    """How long after its submission a job was cancelled that had not started by then; -1 for all others."""
    end, state = jobs.get("end"), jobs.records["state"]
    waited = (state == states.CANCELLED) & (runtime <= 0) & ((start == UNKNOWN) | (start == end))
    waited &= (submit != UNKNOWN) & (end != UNKNOWN) & (end > submit)
    return np.where(waited, end - submit, -1)


def _start(jobs: Jobs) -> Ints:
    """Starts, moved to the second of two equal hours where the first cannot be.

    It would be before the submission, or the run would be longer than it was.
    """
    start: Ints = jobs.get("start")
    late = jobs.records.get("late_start")
    if late is None:
        return start
    submit, end, run = jobs.get("submit"), jobs.get("end"), jobs.get("elapsed")
    paused = np.maximum(jobs.get("suspended", 0), 0)
    too_long = (end != UNKNOWN) & (run != UNKNOWN) & (late + run + paused == end)
    moved = (start != UNKNOWN) & (late >= submit) & ((start < submit) | too_long)
    return np.where(moved, late, start)


def _runtime(jobs: Jobs, start: Ints) -> Ints:
    elapsed, end = jobs.get("elapsed"), jobs.get("end")
    suspended = jobs.get("suspended", 0)
    suspended = np.where(suspended == UNKNOWN, 0, suspended)
    between = np.where((start != UNKNOWN) & (end != UNKNOWN), end - start - suspended, _UNKNOWN_TIME)
    jobs.note("suspended", "was suspended: its run is without that time", suspended > 0)
    return np.where(elapsed != UNKNOWN, elapsed, np.maximum(between, _UNKNOWN_TIME))


def _limit(jobs: Jobs) -> Ints:
    limit, none = jobs.get("limit"), jobs.records["no_limit"]
    action = "UNLIMITED, a year or the partition's limit: no requested time"
    jobs.note("no_limit", action, none)
    return np.where(none | (limit == UNKNOWN), _UNKNOWN_TIME, limit)


def _count(values: Ints) -> Ints:
    return np.where(values > 0, values, -1)


def _occupied(jobs: Jobs) -> Ints:
    """Processors asked for; all those it had where whole nodes or cores gave it more."""
    asked, had = _count(jobs.get("requested")), _count(jobs.get("allocated"))
    more = (asked > 0) & (had > asked)
    if jobs.rules["whole_nodes"] == "requested":
        return asked
    jobs.note("whole_nodes", "had whole nodes or cores, more than it asked for: all of them count", more)
    return np.where(more, had, asked)


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
    allocated = columns["allocated"]
    tests = {
        "held back": (eligible != UNKNOWN) & (eligible > submit + SECOND),
        "job arrays": kind == TASK,
        "heterogeneous jobs": kind == COMPONENT,
        "requeues": (state == states.ATTEMPT),
        "exclusive nodes": (jobs.get("requested") > 0) & (allocated > jobs.get("requested")),
        "federation": cluster > 0,
    }
    for name, rows in tests.items():
        bits = bits | np.where(rows, BIT[name], 0).astype(np.uint32)
    return bits
