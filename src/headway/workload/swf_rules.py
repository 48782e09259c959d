"""Reading rules applied to the columns of an SWF log: which lines become jobs, and what the ledger says.

The order matters: a line is dropped under the first rule that wants it, and a rule sees only what the ones
before it left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from headway.arrays import Ints, Mask
from headway.units import LATEST, SECOND
from headway.workload.ledger import Ledger
from headway.workload.swf_fields import EXTRA, FIELDS, INDEX, MISSING, ROUNDED, place
from headway.workload.swf_partial import join_partial, refuse_partial
from headway.workload.swf_reading import Before, Reading
from headway.workload.table import ALWAYS, OPTIONAL, Column

CANCELLED = 5
QUANTITIES = (
    "wait", "cpu_time", "think_time", "allocated", "used_memory_kb", "requested_procs", "requested_time",
    "requested_memory_kb",
)  # fmt: skip
"""Fields that say -1 where they say nothing, and nothing else below zero."""

_MADE_FROM = {"requested_procs": "procs", "requested_time": "walltime", "requested_memory_kb": "memory_kb"}
"""The log's own value, and the column that rules make of it."""


def apply_rules(
    columns: dict[str, Ints],
    line: Column,
    flags: Column,
    rules: Mapping[str, str],
    file: str,
    *,
    place: Callable[[int], str] = place,
    also: tuple[str, ...] = (),
    before: Before | None = None,
    whole_jobs: bool = False,
) -> tuple[dict[str, Ints], Ledger]:
    """Columns of the jobs to be scheduled, in file order, and the ledger of all job lines.

    `columns` are the log's fields, times in µs, and are changed in place. `place` names a field in errors;
    `also` names columns that no rule knows and that go with their jobs all the same. Of a log that is read in
    parts, `before` holds what the parts above have left, and is brought up to this one. With `whole_jobs` no
    line is a piece of a job, whatever its status.
    """
    log = Reading(columns, line, rules, file, place, before, whole_jobs)
    _as_written(log, flags)
    if before is None:
        join_partial(log)
    else:
        refuse_partial(log)
    _no_job(log)
    columns["procs"] = _procs(log)
    _times(log)
    _ends(log)
    _unique_jobs(log)
    _memory(log)
    _submit_order(log)
    others = {name: log.columns.pop(name)[log.alive] for name in also}
    return _kept(log) | others, Ledger(len(line), tuple(log.entries))


def _as_written(log: Reading, flags: Column) -> None:
    """Rules about how the lines are written; times below zero become -1 whatever their unit."""
    log.act(
        "missing_fields",
        flags & MISSING > 0,
        None,
        "fewer than 18 fields",
        unknown="the missing ones are unknown",
    )
    log.act("extra_fields", flags & EXTRA > 0, None, "more than 18 fields", ignore="the others are ignored")
    rounded = flags >= ROUNDED
    if rounded.any():
        first = int(flags[np.argmax(rounded)]) // ROUNDED - 1
        problem = "a fraction where a whole number belongs, or of a microsecond"
        log.act("fraction", rounded, first, problem, round="rounded")
    status = log.columns.get("status")
    if status is not None:
        foreign = (status < -1) | (status > CANCELLED)
        log.act("foreign_status", foreign, INDEX["status"], "a status outside -1 to 5", keep="kept as it is")
    negative = np.zeros(len(log.line), dtype=np.bool_)
    first = -1
    for name in QUANTITIES:
        column = log.columns.get(name)
        if column is None:
            continue
        below = column < 0
        wrong = below & (column != (-SECOND if FIELDS[INDEX[name]].is_time else -1))
        if wrong.any() and (first < 0 or np.argmax(wrong) < np.argmax(negative)):
            first = INDEX[name]
        negative |= wrong
        column[below] = -1
    log.act("negative", negative, first, "a negative number other than -1", unknown="read as unknown")


def waiting(log: Reading) -> Mask:
    """Jobs that wait until they were cancelled: only some logs say when that was."""
    after = log.columns.get("cancelled_after")
    if after is None or log.rules["cancelled"] != "wait":
        return np.zeros(len(log.line), np.bool_)
    return after >= 0


def _no_job(log: Reading) -> None:
    """Drop lines that no job can be made of for want of a submit or a run time."""
    submit, runtime, status = log.get("submit"), log.get("runtime"), log.get("status")
    log.act("no_submit", submit < 0, INDEX["submit"], "submit time unknown", drop="dropped")
    cancelled, waits = status == CANCELLED, waiting(log)
    # Kept or not, a cancelled job whose run time is unknown cannot be run: that is the next rule's.
    cancelled &= runtime == 0 if log.rules["cancelled"] == "keep" else runtime <= 0
    done = "waits until then (by Slurm's rules; others drop it)"
    log.act("cancelled", waits, INDEX["status"], "cancelled while it waited", wait=done)
    log.act(
        "cancelled",
        cancelled & ~waits,
        INDEX["status"],
        "cancelled before it ran",
        value="keep" if log.rules["cancelled"] == "keep" else "drop",
        drop="dropped",
        keep="kept as a job",
    )
    log.act("unknown_runtime", runtime < 0, INDEX["runtime"], "run time unknown", drop="dropped")


def _procs(log: Reading) -> Ints:
    """Processors by the rule `procs`; lines without any are dropped."""
    names = {"requested": log.get("requested_procs"), "allocated": log.get("allocated")}
    wanted = log.rules["procs"]
    other = "allocated" if wanted == "requested" else "requested"
    first, second = names[wanted], names[other]
    procs = np.where(first > 0, first, second)
    field = INDEX["requested_procs"]
    log.act("no_procs", procs <= 0, field, "neither requested nor allocated processors", drop="dropped")
    taken = f"the {other} ones taken"
    log.act("procs", first <= 0, None, f"{wanted} processors missing", requested=taken, allocated=taken)
    differ = (first > 0) & (second > 0) & (first != second)
    taken = f"the {wanted} ones taken"
    problem = "requested and allocated processors differ"
    log.act("procs", differ, None, problem, requested=taken, allocated=taken)
    return procs


def _times(log: Reading) -> None:
    """Run times of zero, requested times that are missing, runs beyond the request."""
    runtime = log.get("runtime")
    zero = log.act(
        "zero_runtime", (runtime == 0) & ~waiting(log), INDEX["runtime"], "run time 0",
        keep="kept as a job of no length", drop="dropped", **{"raise": "raised to 1 s"},
    )  # fmt: skip
    if log.rules["zero_runtime"] == "raise":
        runtime[zero] = SECOND
    walltime = log.get("requested_time").copy()
    missing = walltime <= 0
    whole = " in the whole log" if log.before is None and missing[log.alive].all() else ""
    done = "the run time is taken"
    missing = log.act(
        "no_estimate", missing, INDEX["requested_time"], f"no requested time{whole}", runtime=done
    )
    walltime[missing] = runtime[missing]
    over = log.act(
        "overrun", runtime > walltime, INDEX["runtime"], "a run beyond the requested time",
        kill="killed at the requested time", trust="the request raised to the run",
        late="killed late, as recorded",
    )  # fmt: skip
    if log.rules["overrun"] == "trust":
        walltime[over] = runtime[over]
    log.columns["walltime"] = walltime


def _ends(log: Reading) -> None:
    """Refuse a log whose jobs, run one after the other, would end beyond the range of times."""
    kept = np.flatnonzero(log.alive)
    if not len(kept):
        return
    before = log.before or Before()
    ends = before.runtime + np.cumsum(log.get("runtime")[kept], dtype=np.float64)
    before.runtime = float(ends[-1])
    ends += max(int(log.get("submit")[kept].max()), before.submit)
    if ends[-1] > LATEST:
        problem = "the run times up to this job add up to more than can be kept; correct them"
        raise log.error(problem, kept[np.argmax(ends > LATEST)], INDEX["runtime"])


def _unique_jobs(log: Reading) -> None:
    """Give every job a number of its own; numbers of dropped lines do not count as used."""
    job = log.get("job")
    kept = np.flatnonzero(log.alive)
    ids = job[kept]
    if not len(ids):
        return
    above = -1 if log.before is None else log.before.job
    rises = np.diff(ids, prepend=above) > 0
    if log.before is not None:
        log.before.job = int(ids[-1])
        if not rises.all():
            raise log.error(
                f"job {ids[np.argmin(rises)]} comes after a job with the same or a larger number, so it may "
                "be there twice; a log that is read in parts needs rising numbers: write it again with "
                "'headway convert', or simulate it without --stream",
                kept[np.argmin(rises)],
                INDEX["job"],
            )
    if rises.all():
        return
    again = np.ones(len(ids), dtype=np.bool_)
    again[np.unique(ids, return_index=True)[1]] = False
    again |= ids < 0
    lines = np.zeros(len(job), dtype=np.bool_)
    lines[kept[again]] = True
    if not again.any():
        return
    fresh = max(int(job.max()), 0) + 1 + np.arange(np.count_nonzero(again))
    old, new = ids[again][0], fresh[0]
    done = f"given new numbers from {new} up, in file order (the first was {old})"
    problem = "a job number missing or used above"
    if log.rules["duplicates"] == "renumber":
        job[lines] = fresh  # before the entry is made, which lists the jobs by the numbers they now have
    log.act("duplicates", lines, INDEX["job"], problem, renumber=done, drop="dropped")


def _memory(log: Reading) -> None:
    """Memory per processor: requested, else used, else unknown."""
    requested, used = log.columns.get("requested_memory_kb"), log.columns.get("used_memory_kb")
    if requested is not None or used is not None:
        requested, used = log.get("requested_memory_kb"), log.get("used_memory_kb")
        log.columns["memory_kb"] = np.where(requested > 0, requested, np.where(used > 0, used, -1))


def _submit_order(log: Reading) -> None:
    """Mention jobs submitted before one that stands above them; rows stay in file order."""
    submit = log.get("submit")
    kept = submit[log.alive]
    above = 0 if log.before is None else log.before.submit
    if log.before is not None and len(kept):
        log.before.submit = max(above, int(kept.max()))
    if len(kept) and (np.diff(kept, prepend=above) < 0).any():
        early = np.zeros(len(submit), dtype=np.bool_)
        early[log.alive] = kept < np.maximum(np.maximum.accumulate(kept), above)
        done = "scheduled in order of submit"
        log.act("out_of_order", early, INDEX["submit"], "submitted before a job above it", sort=done)


def _kept(log: Reading) -> dict[str, Ints]:
    """The columns of a workload from those of the log, for the lines that stand for a job."""
    for name in (*ALWAYS, *_MADE_FROM):
        log.get(name)
    everything = bool(log.alive.all())
    columns: dict[str, Ints] = {}
    for name in (*ALWAYS, *OPTIONAL):
        if name in log.columns:
            values = log.columns.pop(name)
            columns[name] = values if everything else values[log.alive]
    return {
        name: values for name, values in columns.items() if name in ALWAYS or _says_something(name, columns)
    }


def _says_something(name: str, columns: Mapping[str, Ints]) -> bool:
    """Whether an optional column holds more than the unknown, or more than the column made from it."""
    if name in _MADE_FROM:
        made = columns.get(_MADE_FROM[name])
        return made is not None and not np.array_equal(columns[name], made)
    return bool((columns[name] != -1).any())
