"""Batsim's workloads: JSON with jobs and the profiles they run.

Only profiles that say how long they last become run times: `delay`, and compositions of delays. What a job
of floating-point operations and messages takes depends on a simulated platform, so such jobs are left out,
in the ledger.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from headway.errors import InputError, UsageError
from headway.units import LONGEST, SECOND, microseconds, seconds_text
from headway.workload.cancelled import not_started
from headway.workload.header import Header, Source
from headway.workload.ledger import Ledger, LedgerEntry
from headway.workload.rules import choose
from headway.workload.stream import LogStream
from headway.workload.swf_rules import apply_rules
from headway.workload.table import Workload
from headway.writing import replacing

PEOPLE = ("user", "group", "queue", "partition")
"""Fields of ours that Batsim carries along without reading them."""

DEEPEST = 400


def read_batsim(
    path: str | os.PathLike[str] | BinaryIO,
    rules: Mapping[str, str] | None = None,
    *,
    compiled: bool | None = None,
) -> Workload:
    """Read a Batsim workload; resources are processors, `nb_res` is the machine's size."""
    stream = LogStream(path)
    chosen = choose(rules or {})
    try:
        document = json.loads(b"".join(stream.parts()), parse_float=str)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, json.JSONDecodeError) else "not text, or nested too deeply"
        raise InputError(f"is not JSON ({reason}); is the file whole?", file=stream.name) from None
    log = _Log(document, stream.name)
    columns, ledger = log.columns(chosen)
    lines = ["; Version: 2.2"]
    if text := document.get("description"):
        lines.append(f"; Note: {' '.join(str(text).split())}")
    lines.append(f"; MaxJobs: {len(columns['job'])}")
    if log.machine:
        lines.append(f"; MaxProcs: {log.machine}")
    source = Source(stream.name, stream.sha256, "batsim")
    return Workload(columns, header=Header(lines), ledger=ledger, source=source, rules=chosen)


class _Log:
    """A document, checked as far as its jobs and profiles are read."""

    def __init__(self, document: Any, file: str) -> None:
        self.file = file
        if not isinstance(document, dict) or not isinstance(document.get("jobs"), list):
            raise InputError('has no list "jobs"; is it a Batsim workload?', file=file)
        profiles = document.get("profiles")
        if not isinstance(profiles, dict):
            raise InputError('has no "profiles"; is it a Batsim workload?', file=file)
        self._jobs: list[Any] = document["jobs"]
        self._profiles: dict[str, Any] = profiles
        self._lasts: dict[str, int] = {}
        self._open: set[str] = set()
        size = document.get("nb_res")
        self.machine = self._whole(size, "nb_res", "the workload", 1) if size is not None else 0
        if not self._jobs:
            raise InputError("has no jobs", file=file)

    def columns(self, rules: Mapping[str, str]) -> tuple[dict[str, Any], Ledger]:
        rows = len(self._jobs)
        names = ("job", "submit", "requested_procs", "requested_time", "runtime", *PEOPLE)
        table = {name: np.full(rows, -1, np.int64) for name in names}
        renamed = np.zeros(rows, np.bool_)
        for row, job in enumerate(self._jobs):
            if not isinstance(job, dict):
                raise InputError(f"job {row + 1} is not an object", file=self.file)
            number = str(job.get("id", "")).rpartition("!")[2]
            where = f"job {job.get('id', row + 1)}"
            renamed[row] = not (number.isdecimal() and len(number) < 19)
            table["job"][row] = -1 if renamed[row] else int(number)
            table["submit"][row] = self._time(job.get("subtime"), "subtime", where)
            table["requested_procs"][row] = self._whole(job.get("res"), "res", where, 0)
            walltime = job.get("walltime", -1)
            table["requested_time"][row] = self._time(walltime, "walltime", where, or_none=True)
            table["runtime"][row] = self._lasting(str(job.get("profile")), where)
            for name in PEOPLE:
                if isinstance(job.get(name), int):
                    table[name][row] = job[name]
        first = int(table["job"].max(initial=0)) + 1
        table["job"][renamed] = first + np.arange(np.count_nonzero(renamed))
        entries = []
        if renamed.any():
            action = f"an id that is not a number: numbered from {first} up, in the order of the file"
            entries.append(LedgerEntry.of("no_number", action, table["job"][renamed], dropped=False))
        line = np.arange(1, rows + 1)
        kept, ledger = apply_rules(table, line, np.zeros(rows, np.uint8), rules, self.file)
        return kept, Ledger(ledger.total, (*entries, *ledger.entries))

    def _lasting(self, name: str, where: str, depth: int = 0) -> int:
        """µs that a profile lasts on any platform; -1 s where that depends on the platform."""
        if name in self._lasts:
            return self._lasts[name]
        profile = self._profiles.get(name)
        if not isinstance(profile, dict):
            raise InputError(f"{where} runs the profile {name!r}, which is not defined", file=self.file)
        lasts = -SECOND
        if profile.get("type") == "delay":
            lasts = self._time(profile.get("delay"), "delay", f"profile {name}")
        elif isinstance(profile.get("seq"), list):
            if name in self._open or depth > DEEPEST:
                wrong = "is made of itself" if name in self._open else "is nested too deeply"
                raise InputError(f"profile {name} {wrong}", file=self.file)
            self._open.add(name)
            times = self._whole(profile.get("repeat", profile.get("nb", 1)), "repeat", f"profile {name}", 0)
            parts = [self._lasting(str(part), where, depth + 1) for part in profile["seq"]]
            self._open.discard(name)
            lasts = -SECOND if min(parts, default=0) < 0 else times * sum(parts)
            if lasts > LONGEST:
                raise InputError(f"profile {name} lasts too long for Headway; correct it", file=self.file)
        self._lasts[name] = lasts
        return lasts

    def _time(self, value: Any, field: str, where: str, or_none: bool = False) -> int:
        number = self._number(value, field, where)
        if number < 0 and or_none:
            return -SECOND
        if not 0 <= number <= LONGEST // SECOND:
            raise InputError(
                f"{where}: {value} is not a time in seconds; correct it", file=self.file, field=field
            )
        return microseconds(str(value) if isinstance(value, str) else value)

    def _whole(self, value: Any, field: str, where: str, least: int) -> int:
        number = self._number(value, field, where)
        if number != int(number) or not least <= number < 2**31:
            message = f"{where}: {value} must be a whole number from {least}"
            raise InputError(message, file=self.file, field=field)
        return int(number)

    def _number(self, value: Any, field: str, where: str) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            shown = "missing" if value is None else f"{str(value)[:20]!r}, which is not a number"
            raise InputError(f"{where}: {field} is {shown}; correct it", file=self.file)
        return number


def write_batsim(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload as Batsim's JSON, one delay profile for each run time."""
    if not_started(workload).any():
        raise UsageError(
            "Batsim's jobs all have a run time, and those that still waited when the log was taken have "
            "none; leave them out with --rule unfinished=keep or drop, or write SWF"
        )
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        _write(workload, file)


def _write(workload: Workload, file: io.TextIOBase | Any) -> None:
    size = workload.header.max_procs or int(workload.procs.max(initial=1))
    file.write(f'{{\n"nb_res": {size},\n"description": {json.dumps(_description(workload))},\n"jobs": [\n')
    people = [name for name in PEOPLE if (workload.columns[name] >= 0).any()]
    columns = [workload.columns[name].tolist() for name in ("job", "submit", "walltime", "runtime", "procs")]
    others = zip(*(workload.columns[name].tolist() for name in people), strict=True) if people else None
    for row, (job, submit, walltime, runtime, procs) in enumerate(zip(*columns, strict=True)):
        more = "" if others is None else "".join(
            f', "{name}": {value}' for name, value in zip(people, next(others), strict=True) if value >= 0
        )  # fmt: skip
        file.write(
            f'{"," if row else " "}{{"id": "{job}", "subtime": {seconds_text(submit)}, '
            f'"walltime": {seconds_text(walltime)}, "res": {procs}, '
            f'"profile": "{seconds_text(runtime)}"{more}}}\n'
        )
    file.write('],\n"profiles": {\n')
    for row, runtime in enumerate(np.unique(workload.runtime).tolist()):
        text = seconds_text(runtime)
        file.write(f'{"," if row else " "}"{text}": {{"type": "delay", "delay": {text}}}\n')
    file.write("}\n}\n")


def _description(workload: Workload) -> str:
    name = Path(workload.source.name).name
    return "; ".join([f"from {name}", *workload.transformations])
