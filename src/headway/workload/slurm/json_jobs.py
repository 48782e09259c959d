"""Jobs of `sacct --json`, one after the other, in the columns of the text export.

The layout differs between versions of Slurm: a number may be a number or an object that says whether it is
set, a state may be a word or a list of them. What is not there is unknown.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InputError
from headway.workload.slurm.cells import MOST_TASKS
from headway.workload.slurm.text import Table
from headway.workload.stream import LogStream

if TYPE_CHECKING:
    pass

Job = dict[str, Any]

ROWS = 20_000
"""Jobs and steps put into one table."""

LARGEST_JOB = 1 << 26
"""Characters after which what should be one job is taken for damage."""

DIGITS = 20
"""Characters of a whole number of 64 bits."""

NO_TIME = ("4294967294", "4294967295")
"""What newer versions write for a time that is not set."""

_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "ElapsedRaw", "TimelimitRaw", "ReqCPUS", "NNodes", "ReqMem", "ReqTRES", "AllocTRES",
    "Reservation", "ReservationId", "ArrayLimit", "Constraints", "Licenses", "Flags", "Suspended",
    "TotalCPU", "Restarts", "SubmitLine",
    "NodeList", "MaxRSS", "NTasks",
)  # fmt: skip


class SacctJson:
    """The jobs of a document; iterate to get them as tables of text."""

    unended = False

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
        decoder = json.JSONDecoder(parse_int=_whole)
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
                except RecursionError:
                    raise self._damaged(text[place:], count + 1) from None
                count += 1
                yield job
            text = text[place:]
            if len(text) > LARGEST_JOB:
                break
        if inside:
            raise self._damaged(text, count + 1)
        raise InputError('has no list "jobs"; export with sacct --json', file=self.name)

    def _damaged(self, text: str, job: int) -> InputError:
        """Whether a document is cut or wrong, from what is left of it."""
        message = f"ends in the middle of job {job}; copy or export it again"
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            if error.pos < len(text.rstrip()) - 1 and not error.msg.startswith("Unterminated"):
                message = f"is not JSON in job {job} ({error.msg}); export it again"
        except RecursionError:
            message = f"is nested too deeply in job {job}; export it again"
        except ValueError:
            message = f"has a number in job {job} that is out of range; export it again"
        return InputError(message, file=self.name)

    def _texts(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for part in self._stream.parts():
            yield decoder.decode(part)


def _whole(digits: str) -> int | str:
    """A whole number; one that no field can hold stays a text, which its field then refuses."""
    return int(digits) if len(digits) <= DIGITS else digits[:DIGITS]


def _table(rows: list[dict[str, str]], places: list[int]) -> Table:
    import polars as pl

    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    schema = dict.fromkeys(COLUMNS, pl.String)
    try:
        frame = pl.DataFrame(columns, schema=schema)
    except UnicodeEncodeError:  # JSON can name halves of characters, such as \ud800
        whole = {name: [_whole_characters(text) for text in texts] for name, texts in columns.items()}
        frame = pl.DataFrame(whole, schema=schema)
    return Table(frame, np.array(places, np.int64), np.zeros(len(rows), np.bool_))


def _whole_characters(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def number(value: Any) -> str:
    """A number as text, whichever way this version writes it; nothing where it is not set.

    >>> number(5), number({"set": True, "infinite": False, "number": 7}), number({"infinite": True})
    ('5', '7', 'UNLIMITED')
    """
    if type(value) is int:
        return str(value)
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        return number(value.get("number")) if value.get("set", True) else ""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value == value and abs(value) < 1e18 else ""
    return str(value)


def _moment(value: Any) -> str:
    """A time as text; nothing where it is one of the largest numbers, which stand for none."""
    text = number(value)
    return "" if text in NO_TIME else text


def _part(job: Job, name: str) -> Job:
    """An object inside another; an empty one where there is none."""
    value = job.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)


def _record(job: Job) -> dict[str, str]:
    time, required, tres = _part(job, "time"), _part(job, "required"), _part(job, "tres")
    return {
        "JobID": _shown_id(job), "JobIDRaw": number(job.get("job_id")), "Cluster": _text(job.get("cluster")),
        "User": _text(job.get("user") or _part(job, "association").get("user")),
        "Account": _text(job.get("account")), "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")), "State": _state(job),
        "Submit": _moment(time.get("submission")), "Eligible": _moment(time.get("eligible")),
        "Start": _moment(time.get("start")), "End": _moment(time.get("end")),
        "ElapsedRaw": number(time.get("elapsed")), "TimelimitRaw": number(time.get("limit")),
        "ReqCPUS": number(required.get("CPUs")), "NNodes": number(job.get("allocation_nodes")),
        "ReqMem": _memory(job, required), "ReqTRES": _tres(tres.get("requested")),
        "AllocTRES": _tres(tres.get("allocated")),
        "Reservation": _reservation(job)[0], "ReservationId": _reservation(job)[1],
        "ArrayLimit": _array_limit(job),
        "Constraints": _text(job.get("constraints")), "Licenses": _text(job.get("licenses")),
        "Flags": _text(job.get("flags")), "Suspended": number(time.get("suspended")),
        "Restarts": number(job.get("restart_cnt")), "SubmitLine": _text(job.get("submit_line")),
        "NodeList": _text(job.get("nodes")), "TotalCPU": number(_part(time, "total").get("seconds")),
        "MaxRSS": "", "NTasks": "",
    }  # fmt: skip


def _shown_id(job: Job) -> str:
    array = _part(job, "array")
    leader = number(array.get("job_id"))
    if leader not in ("", "0"):
        if task := number(array.get("task_id")):
            return f"{leader}_{task}"
        if waiting := _text(array.get("task")):
            return f"{leader}_[{_places(waiting)}]"
    parts = _part(job, "het")
    leader = number(parts.get("job_id"))
    if leader not in ("", "0"):
        return f"{leader}+{number(parts.get('job_offset')) or 0}"
    return number(job.get("job_id"))


def _places(tasks: str) -> str:
    """Tasks of an array as text shows them; JSON has the bits of a number.

    >>> _places("0xD"), _places("0-3%2")
    ('0,2,3', '0-3%2')
    """
    if not re.fullmatch(rf"0x[0-9A-Fa-f]{{1,{MOST_TASKS // 4}}}", tasks):
        return tasks
    bits = f"{int(tasks, 16):b}"
    return ",".join(str(place) for place, bit in enumerate(reversed(bits)) if bit == "1")


def _array_limit(job: Job) -> str:
    """How many tasks of its array may run at once; 0 where all may."""
    most = _part(_part(_part(job, "array"), "limits"), "max")
    return number(_part(most, "running").get("tasks"))


def _reservation(job: Job) -> tuple[str, str]:
    """Name and number of a reservation; some versions have only the number, and rubbish for a name."""
    given = _part(job, "reservation")
    name = given.get("name") or given.get("requested")
    return (name if isinstance(name, str) else ""), number(given.get("id"))


def _state(job: Job) -> str:
    state = job.get("state") or job.get("job_state")
    if isinstance(state, dict):
        state = state.get("current")
    if isinstance(state, list):
        # The first is what a job in the queue would be; a flag behind it says how this run ended.
        flags = [str(word) for word in state[1:] if str(word) in ("REQUEUED", "RESIZING")]
        return flags[0] if flags else str(state[0]) if state else ""
    return _text(state)


def _memory(job: Job, required: Job) -> str:
    """ReqMem with its suffix, c for each CPU and n for each node; 0n is all the memory of a node."""
    for name, suffix in (("memory_per_cpu", "c"), ("memory_per_node", "n")):
        value = number(required.get(name))
        if value.isdigit() and (value != "0" or suffix == "n"):
            return f"{value}M{suffix}" if value != "0" else "0n"
    value = number(required.get("memory"))
    if not value.isdigit():
        return ""
    if value == "0":
        return "0n" if _counted(job, "mem") else ""
    # Older versions mark memory per processor with the highest bit, or not at all; the total then tells.
    each = int(value) & ((1 << 63) - 1)
    cpus, nodes = number(required.get("CPUs")), _counted(job, "node") or number(job.get("allocation_nodes"))
    total = _counted(job, "mem")
    by_total = bool(total) and cpus.isdigit() and int(total) == each * int(cpus)
    by_total = by_total and not (nodes.isdigit() and int(total) == each * int(nodes))
    return f"{each}M{'c' if int(value) >> 63 or by_total else 'n'}"


def _counted(job: Job, kind: str) -> str:
    """The count of a resource in what was requested; nothing where it is not there."""
    items = _part(job, "tres").get("requested")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("type") == kind:
            count = number(item.get("count"))
            return count if count.isdigit() else ""
    return ""


def _tres(items: Any) -> str:
    """A list of resources as the text export writes it: cpu=4,gres/gpu=1."""
    found = []
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            kind = "/".join(str(part) for part in (item.get("type"), item.get("name")) if part)
            found.append(f"{kind}={number(item.get('count'))}")
    return ",".join(found)


_NOTHING = dict.fromkeys(COLUMNS, "")


def _steps(job: Job) -> Iterator[dict[str, str]]:
    steps = job.get("steps")
    for place, step in enumerate(steps if isinstance(steps, list) else ()):
        if not isinstance(step, dict):
            continue
        largest = _part(_part(step, "tres"), "requested").get("max")
        memory = [
            number(item.get("count"))
            for item in (largest if isinstance(largest, list) else ())
            if isinstance(item, dict) and item.get("type") == "mem"
        ]
        shown = f"{number(job.get('job_id'))}.{place}"
        yield _NOTHING | {
            "JobID": shown,
            "JobIDRaw": shown,
            "Cluster": _text(job.get("cluster")),
            "MaxRSS": memory[0] if memory else "",
            "NTasks": number(_part(step, "tasks").get("count")),
        }
