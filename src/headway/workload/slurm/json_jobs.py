"""Jobs of `sacct --json`, one after the other, in the columns of the text export.

The layout differs between versions of Slurm: a number may be a number or an object that says whether it is
set, a state may be a word or a list of them. What is not there is unknown.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InputError
from headway.workload.slurm.text import Table
from headway.workload.stream import LogStream

if TYPE_CHECKING:
    import polars as pl

ROWS = 20_000
"""Jobs and steps put into one table."""

LARGEST_JOB = 1 << 26
"""Characters after which what should be one job is taken for damage."""

_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "ElapsedRaw", "TimelimitRaw", "ReqCPUS", "NNodes", "ReqMem", "ReqTRES", "AllocTRES",
    "Reservation", "Constraints", "Licenses", "Flags", "Suspended", "TotalCPU", "Restarts", "SubmitLine",
    "NodeList", "MaxRSS", "NTasks",
)  # fmt: skip


class SacctJson:
    """The jobs of a document; iterate to get them as tables of text."""

    def __init__(self, stream: LogStream) -> None:
        self._stream = stream
        self.name = stream.name

    def __iter__(self) -> Iterator[Table]:
        rows: list[dict[str, str]] = []
        places: list[int] = []
        for place, job in enumerate(self._jobs(), start=1):
            if not isinstance(job, dict):
                message = f"job {place} is not an object; export with sacct --json"
                raise InputError(message, file=self.name)
            found = [_record(job), *_steps(job)]
            rows += found
            places += [place] * len(found)
            if len(rows) >= ROWS:
                yield _table(rows, places)
                rows, places = [], []
        if rows:
            yield _table(rows, places)

    def _jobs(self) -> Iterator[Any]:
        decoder = json.JSONDecoder()
        text, count, inside = "", 0, False
        texts = self._texts()
        for more in texts:
            text += more
            if not inside:
                found = _JOBS.search(text)
                if found is None:
                    if len(text) > LARGEST_JOB:
                        break
                    continue
                text, inside = text[found.end() :], True
            place = 0
            while True:
                gap = _GAP.match(text, place)
                place = gap.end() if gap else place
                if text.startswith("]", place):
                    for _ in texts:
                        pass  # the checksum is of the whole file
                    return
                try:
                    job, place = decoder.raw_decode(text, place)
                except ValueError:
                    break  # not complete yet
                count += 1
                yield job
            text = text[place:]
            if len(text) > LARGEST_JOB:
                raise InputError(f"is not JSON after job {count}; export again", file=self.name)
        if inside:
            message = f"ends in the middle of job {count + 1}; copy or export it again"
            raise InputError(message, file=self.name)
        raise InputError('has no list "jobs"; export with sacct --json', file=self.name)

    def _texts(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for part in self._stream.parts():
            yield decoder.decode(part)


def _table(rows: list[dict[str, str]], places: list[int]) -> Table:
    import polars as pl

    columns = {name: [row.get(name, "") for row in rows] for name in COLUMNS}
    frame: pl.DataFrame = pl.DataFrame(columns, schema=dict.fromkeys(COLUMNS, pl.String))
    return Table(frame, np.array(places, np.int64), np.zeros(len(rows), np.bool_))


def number(value: Any) -> str:
    """A number as text, whichever way this version writes it; nothing where it is not set.

    >>> number(5), number({"set": True, "infinite": False, "number": 7}), number({"infinite": True})
    ('5', '7', 'UNLIMITED')
    """
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return "UNLIMITED"
        return number(value.get("number")) if value.get("set", True) else ""
    if isinstance(value, bool) or value is None:
        return ""
    return str(int(value)) if isinstance(value, int | float) else str(value)


def _inside(job: Mapping[str, Any], *path: str) -> Any:
    value: Any = job
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def _record(job: Mapping[str, Any]) -> dict[str, str]:
    total = _inside(job, "time", "total")
    record = {
        "JobID": _shown_id(job), "JobIDRaw": number(job.get("job_id")), "Cluster": _text(job.get("cluster")),
        "User": _text(job.get("user") or _inside(job, "association", "user")),
        "Account": _text(job.get("account")), "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")), "State": _state(job),
        "Submit": number(_inside(job, "time", "submission")),
        "Eligible": number(_inside(job, "time", "eligible")),
        "Start": number(_inside(job, "time", "start")), "End": number(_inside(job, "time", "end")),
        "ElapsedRaw": number(_inside(job, "time", "elapsed")),
        "TimelimitRaw": number(_inside(job, "time", "limit")),
        "ReqCPUS": number(_inside(job, "required", "CPUs")), "NNodes": number(job.get("allocation_nodes")),
        "ReqMem": _memory(job), "ReqTRES": _tres(_inside(job, "tres", "requested")),
        "AllocTRES": _tres(_inside(job, "tres", "allocated")),
        "Reservation": _text(_inside(job, "reservation", "name")),
        "Constraints": _text(job.get("constraints")),
        "Licenses": _text(job.get("licenses")), "Flags": _text(job.get("flags")),
        "Suspended": number(_inside(job, "time", "suspended")), "Restarts": number(job.get("restart_cnt")),
        "SubmitLine": _text(job.get("submit_line")), "NodeList": _text(job.get("nodes")),
        "TotalCPU": number(_inside(total, "seconds")) if isinstance(total, Mapping) else "",
    }  # fmt: skip
    return record


def _shown_id(job: Mapping[str, Any]) -> str:
    raw = number(job.get("job_id"))
    array, task = number(_inside(job, "array", "job_id")), number(_inside(job, "array", "task_id"))
    waiting = _text(_inside(job, "array", "task"))
    if array not in ("", "0"):
        if task:
            return f"{array}_{task}"
        if waiting:
            return f"{array}_[{waiting}]"
    leader = number(_inside(job, "het", "job_id"))
    if leader not in ("", "0"):
        return f"{leader}+{number(_inside(job, 'het', 'job_offset')) or 0}"
    return raw


def _state(job: Mapping[str, Any]) -> str:
    state = _inside(job, "state", "current") or job.get("state") or job.get("job_state")
    if isinstance(state, list):
        return str(state[0]) if state else ""
    return "" if isinstance(state, Mapping) else _text(state)


def _memory(job: Mapping[str, Any]) -> str:
    for name, suffix in (("memory_per_cpu", "Mc"), ("memory_per_node", "Mn")):
        value = number(_inside(job, "required", name))
        if value.isdigit() and value != "0":
            return value + suffix
    value = number(_inside(job, "required", "memory"))
    if not value.isdigit() or value == "0":
        return ""
    # Older versions mark memory per processor with the highest bit.
    per_processor = int(value) >> 63
    return f"{int(value) & ((1 << 63) - 1)}M{'c' if per_processor else 'n'}"


def _tres(items: Any) -> str:
    if not isinstance(items, list):
        return ""
    found = []
    for item in items:
        if isinstance(item, Mapping):
            kind = "/".join(part for part in (_text(item.get("type")), _text(item.get("name"))) if part)
            found.append(f"{kind}={number(item.get('count'))}")
    return ",".join(found)


def _steps(job: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    raw = number(job.get("job_id"))
    steps = job.get("steps")
    for place, step in enumerate(steps if isinstance(steps, list) else ()):
        largest = _inside(step, "tres", "requested", "max")
        memory = [
            number(item.get("count"))
            for item in (largest if isinstance(largest, list) else ())
            if isinstance(item, Mapping) and item.get("type") == "mem"
        ]
        yield {
            "JobID": f"{raw}.{place}",
            "JobIDRaw": f"{raw}.{place}",
            "Cluster": _text(job.get("cluster")),
            "MaxRSS": memory[0] if memory else "",
            "NTasks": number(_inside(step, "tasks", "count")),
        }
