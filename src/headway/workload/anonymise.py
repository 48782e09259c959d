"""A log that can be given away: people, accounts, names and paths replaced, times and sizes as they are.

What is kept is listed, and everything else goes: a column or comment nobody thought of cannot give anyone
away. The same name is replaced by the same one throughout a file, and with a key throughout several.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import InputError
from headway.workload.header import Header
from headway.workload.read import looked_at, recognised
from headway.workload.slurm.anonymous import Anonymous, Pseudonyms, Treatment
from headway.workload.slurm.json_jobs import COLUMNS as JSON_COLUMNS
from headway.workload.slurm.json_jobs import SacctJson
from headway.workload.slurm.text import SacctText
from headway.workload.stream import LogStream
from headway.workload.swf_partial import WHOLE_JOBS, WHOLE_JOBS_LINE
from headway.writing import write_lines

_HEADER_KEPT = (
    "version maxjobs maxrecords unixstarttime timezone timezonestring starttime endtime maxnodes maxprocs "
    "maxruntime maxmemory allowoveruse maxqueues maxpartitions preemption"
)
HEADER_KEPT = frozenset(_HEADER_KEPT.split())
"""Keys of SWF comments that say nothing of a person or a site."""

_HARMLESS = re.compile(
    r"-?[\d.,]+|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} [\d:]{8} (?:[A-Z]{3,5} )?\d{4}|[\d-]{10}[T ]?[\d:Z+]*|"
    r"[A-Z][A-Za-z_]+/[A-Z][A-Za-z_/]+|Yes|No|Double|TS|UTC|GMT"
)
"""Values that such a comment may have; anything else may name somebody."""

SWF_PEOPLE = {11: "user", 12: "group", 13: "executable"}
"""Fields of a job line (from 0) that are replaced."""

_NUMBERS = (
    "AllocCPUS AllocNodes AveCPU AveRSS AvePages AveVMSize CPUTime CPUTimeRAW ConsumedEnergy "
    "ConsumedEnergyRaw "
    "DerivedExitCode Elapsed ElapsedRaw Eligible End ExitCode MaxRSS MaxVMSize MinCPU NCPUS NNodes NTasks "
    "Priority QOSRAW Planned PlannedCPU PlannedCPURAW Reserved Restarts ReqCPUS ReqMem ReqNodes ResvCPU "
    "ResvCPURAW Start Submit Suspended SystemCPU Timelimit TimelimitRaw TotalCPU UserCPU ReservationId"
)
NUMBERS = frozenset(_NUMBERS.split())
"""Columns of sacct that hold numbers and times, which are kept."""

NAMED = {
    "User": "user", "Group": "group", "Account": "account", "Cluster": "cluster", "Reservation": "resv",
    "Partition": "partition", "QOS": "qos", "QOSREQ": "qos",
}  # fmt: skip
"""Columns of names, and their kind."""

TEXTS = {
    "JobName": "name", "WCKey": "wckey", "WorkDir": "/path", "StdIn": "/path", "StdOut": "/path",
    "StdErr": "/path", "Association": "assoc", "McsLabel": "label",
}  # fmt: skip
"""Columns of free text that are replaced as a whole, so that equal ones stay equal."""

TRES = frozenset(("ReqTRES", "AllocTRES"))

STEPS = frozenset(("batch", "extern", "interactive"))
"""Names of steps that Slurm gives, not people."""


@dataclass
class Anonymised:
    """What was done: lines written, names replaced by kind, what is kept and what is left out, and why."""

    lines: int = 0
    replaced: dict[str, int] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    """What is as it was -> why that gives nobody away."""
    left_out: list[str] = field(default_factory=list)
    blanked: dict[str, int] = field(default_factory=dict)
    """Kind of value -> how many were neither known nor a name, and are empty now."""


def anonymise(
    source: str | os.PathLike[str], target: str | os.PathLike[str], key: str | None = None
) -> Anonymised:
    """Write an anonymous copy of an SWF log or of sacct's output; JSON of sacct becomes text.

    "-" is standard output.
    """
    done, names = Anonymised(), Anonymous(Pseudonyms(key))
    anonymise_log(source, Path(target), names, done)
    done.replaced, done.blanked = names.names.counts(), names.blanked
    return done


def anonymise_log(source: str | os.PathLike[str], target: Path, names: Anonymous, done: Anonymised) -> None:
    """The same with names that other files have too."""
    name = os.fspath(source)
    with looked_at(source) as (first, begun):
        kind = recognised(first, name) or "swf"
        if kind == "batsim":
            raise InputError("only SWF and sacct's output are anonymised; convert it to SWF first", file=name)
        stream = LogStream(begun)
        if kind == "swf":
            lines = _swf(stream, names.names, done)
        elif kind == "sacct":
            text = SacctText(stream, partial=True)
            lines = _sacct(text.rows(), lambda: text.names, names, done)
        else:
            lines = _sacct(_json_rows(stream), lambda: list(JSON_COLUMNS), names, done)
        write_lines(target, _some(lines, done, name))


def _json_rows(stream: LogStream) -> Iterator[list[str]]:
    """The records of JSON in the columns of the text export."""
    for table in SacctJson(stream):
        yield from (list(row) for row in table.frame.select(JSON_COLUMNS).iter_rows())


def _some(lines: Iterator[bytes], done: Anonymised, name: str) -> Iterator[bytes]:
    """The lines; a log without jobs is an error, before anything is replaced."""
    before = done.lines
    yield from lines
    if done.lines == before:
        raise InputError("has no job lines; is it a complete log?", file=name)


def _swf(stream: LogStream, names: Pseudonyms, done: Anonymised) -> Iterator[bytes]:
    number = 0
    for chunk in stream:
        for line in chunk.splitlines():
            number += 1
            text = line.strip()
            if text.startswith(b";"):
                kept = _comment(text.decode("latin-1"))
                if kept != text.decode("latin-1"):
                    done.left_out.append("comments")
                if kept:
                    yield f"{kept}\n".encode("latin-1")
            elif text:
                yield _swf_line(text, names, stream.name, number)
                done.lines += 1


def _comment(text: str) -> str:
    """What is kept of a comment: all, or the number that readers take; nothing that may name somebody."""
    title, _, value = text.lstrip("; \t").partition(":")
    key = title.strip()
    if key.lower() in HEADER_KEPT and _HARMLESS.fullmatch(value.strip()):
        return text
    header = Header((text,))
    if WHOLE_JOBS in header:
        return WHOLE_JOBS_LINE
    number = header.number(key) if key.lower() in HEADER_KEPT else None
    return "" if number is None else f"; {key}: {number}"


def _swf_line(text: bytes, names: Pseudonyms, file: str, line: int) -> bytes:
    fields = text.split()[:18]
    if not all(part.lstrip(b"+-").replace(b".", b"", 1)[:1].isdigit() for part in fields):
        raise InputError("is not a line of numbers; is it a complete SWF log?", file=file, line=line)
    for place, kind in SWF_PEOPLE.items():
        if place < len(fields) and not fields[place].startswith(b"-"):
            fields[place] = b"%d" % names.number(kind, fields[place].decode("latin-1"))
    return b" ".join(fields) + b"\n"


def _sacct(
    rows: Iterator[list[str]], columns: Callable[[], list[str]], names: Anonymous, done: Anonymised
) -> Iterator[bytes]:
    treatments: list[Treatment | None] = []
    for cells in rows:
        if not treatments:
            titles = columns()
            treatments = [_treatment(title, names) for title in titles]
            kept = [title for title, how in zip(titles, treatments, strict=True) if how is not None]
            done.left_out += [title for title in titles if title not in kept]
            done.kept |= {title: "numbers and times" for title in kept if title in NUMBERS}
            done.kept |= {title: "words of Slurm's own" for title in kept if title in ("State", "Flags")}
            yield ("|".join(kept) + "\n").encode()
        pairs = zip(cells, treatments, strict=False)
        treated = [how(cell) for cell, how in pairs if how is not None]
        yield ("|".join(treated).replace("\n", " ") + "\n").encode()
        done.lines += 1


def _treatment(column: str, names: Anonymous) -> Treatment | None:
    """What is done to the cells of a column; None leaves the column out."""
    if column in NUMBERS:
        return names.number
    if column in NAMED:
        return names.name(NAMED[column])
    if column == "JobName":
        text = names.text("name")
        return lambda cell: cell if cell in STEPS else text(cell)
    if column in TEXTS:
        return names.text(TEXTS[column])
    if column in TRES:
        return names.tres
    others: dict[str, Treatment] = {
        "JobID": names.job, "JobIDRaw": names.job, "ArrayLimit": names.number, "State": names.state,
        "NodeList": names.hosts, "UID": names.uid, "GID": names.uid, "AssocID": names.uid,
        "Constraints": names.features, "Flags": names.words("flags"), "Reason": names.reason,
        "Licenses": names.licences, "ReqGRES": names.gres, "AllocGRES": names.gres,
        "SubmitLine": names.submit_line,
    }  # fmt: skip
    return others.get(column)
