"""A log that can be given away: people, accounts, names and paths replaced, times and sizes as they are.

What is kept is listed, and everything else goes: a column or comment nobody thought of cannot give anyone
away. The same name is replaced by the same one throughout a file, and with a key throughout several.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import InputError
from headway.workload.formats import looked_at, recognised
from headway.workload.pseudonyms import Pseudonyms
from headway.workload.slurm.export import FREE_TEXT, spelled
from headway.workload.stream import LogStream

_HEADER_KEPT = (
    "version maxjobs maxrecords unixstarttime timezone timezonestring starttime endtime maxnodes maxprocs "
    "maxruntime maxmemory allowoveruse maxqueues maxpartitions preemption"
)
HEADER_KEPT = frozenset(_HEADER_KEPT.split())
"""Keys of SWF comments that say nothing of a person or a site."""

SWF_PEOPLE = {11: "user", 12: "group", 13: "executable"}
"""Fields of a job line (from 0) that are replaced."""

_KEPT = (
    "AllocCPUS AllocNodes AveCPU AveRSS CPUTime CPUTimeRAW ConsumedEnergy DerivedExitCode Elapsed ElapsedRaw "
    "Eligible End ExitCode JobID JobIDRaw MaxRSS MaxVMSize NCPUS NNodes NTasks Partition Priority QOS QOSRAW "
    "Planned PlannedCPU Reserved Restarts ReqCPUS ReqMem ReqNodes ReqTRES AllocTRES ReqGRES AllocGRES "
    "ResvCPU Start Submit Suspended SystemCPU Timelimit TimelimitRaw TotalCPU UserCPU Flags Reason "
    "Constraints ReservationId"
)
KEPT = frozenset(_KEPT.split())
"""Columns of sacct that are left as they are."""

REPLACED = {
    "User": "user", "UID": "uid", "Group": "group", "GID": "gid", "Account": "account", "AssocID": "assoc",
    "WCKey": "wckey", "JobName": "name", "WorkDir": "/path", "Cluster": "cluster", "Reservation": "resv",
    "StdIn": "/path", "StdOut": "/path", "StdErr": "/path", "Association": "account", "Licenses": "licence",
}  # fmt: skip
"""Columns of sacct that get other names, and their kind."""

STEPS = frozenset(("batch", "extern", "interactive"))
"""Names of steps that Slurm gives, not people."""

_HOST = re.compile(r"([A-Za-z][A-Za-z_-]*)(?=[\d\[])")


@dataclass
class Anonymised:
    """What was done: lines written, names replaced by kind, columns or comments left out."""

    lines: int = 0
    replaced: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def anonymise(
    source: str | os.PathLike[str], target: str | os.PathLike[str], key: str | None = None
) -> Anonymised:
    """Write an anonymous copy of an SWF log or of the output of `sacct --parsable2`."""
    name = os.fspath(source)
    done, names = Anonymised(), Pseudonyms(key)
    with looked_at(source) as (first, begun):
        kind = recognised(first, name) or "swf"
        if kind not in ("swf", "sacct"):
            raise InputError("only SWF and sacct's text are anonymised; export text instead", file=name)
        stream = LogStream(begun)
        lines = _swf(stream, names, done) if kind == "swf" else _sacct(stream, names, done)
        _write(lines, Path(target))
    if not done.lines:
        Path(target).unlink(missing_ok=True)
        raise InputError("has no job lines; is it a complete log?", file=name)
    done.replaced = names.counts()
    return done


def _write(lines: Iterator[bytes], target: Path) -> None:
    unfinished = target.with_name(target.name + ".part")
    try:
        with unfinished.open("wb") as file:
            if target.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                    packed.writelines(lines)
            else:
                file.writelines(lines)
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        message = f"cannot be written: {error.strerror or error}; choose another place"
        raise InputError(message, file=target) from None
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _swf(stream: LogStream, names: Pseudonyms, done: Anonymised) -> Iterator[bytes]:
    number = 0
    for chunk in stream:
        for line in chunk.splitlines():
            number += 1
            text = line.strip()
            if text.startswith(b";"):
                title = text.lstrip(b"; \t").partition(b":")[0].decode("latin-1").strip()
                if title.lower() in HEADER_KEPT:
                    yield line + b"\n"
                else:
                    done.left_out.append("comments")
            elif text:
                yield _swf_line(text, names, stream.name, number)
                done.lines += 1


def _swf_line(text: bytes, names: Pseudonyms, file: str, line: int) -> bytes:
    fields = text.split()[:18]
    if not all(part.lstrip(b"+-").replace(b".", b"", 1)[:1].isdigit() for part in fields):
        raise InputError("is not a line of numbers; is it a complete SWF log?", file=file, line=line)
    for place, kind in SWF_PEOPLE.items():
        if place < len(fields) and not fields[place].startswith(b"-"):
            fields[place] = b"%d" % names.number(kind, fields[place].decode("latin-1"))
    return b" ".join(fields) + b"\n"


def _sacct(stream: LogStream, names: Pseudonyms, done: Anonymised) -> Iterator[bytes]:
    columns: list[str] = []
    treatments: list[Callable[[str], str] | None] = []
    free: list[int] = []
    header = ""
    number = 0
    for chunk in stream:
        for line in chunk.decode("utf-8", "replace").splitlines():
            number += 1
            if not line.strip() or line == header:
                continue
            if not columns:
                header = line
                columns = [spelled(name) for name in line.rstrip("|").split("|")]
                free = [place for place, name in enumerate(columns) if name in FREE_TEXT]
                treatments = [_treatment(name, names) for name in columns]
                done.left_out = [name for name, how in zip(columns, treatments, strict=True) if how is None]
                kept = [name for name, how in zip(columns, treatments, strict=True) if how is not None]
                if not {"JobID", "JobIDRaw"} & set(kept):
                    message = "the first line names no JobID; export it with sacct --parsable2"
                    raise InputError(message, file=stream.name, line=number)
                yield ("|".join(kept) + "\n").encode()
                continue
            cells = line.split("|")
            if header.endswith("|"):
                cells = cells[:-1]
            if len(cells) > len(columns) and len(free) == 1:
                [place], more = free, len(cells) - len(columns)
                cells[place : place + more + 1] = ["|".join(cells[place : place + more + 1])]
            if len(cells) != len(columns):
                message = (
                    f"has {len(cells)} fields and the first line names {len(columns)}; "
                    "export without JobName and other free text, or correct the line"
                )
                raise InputError(message, file=stream.name, line=number)
            pairs = zip(cells, treatments, strict=True)
            yield ("|".join(how(cell) for cell, how in pairs if how is not None) + "\n").encode()
            done.lines += 1


def _treatment(column: str, names: Pseudonyms) -> Callable[[str], str] | None:
    """What is done to the cells of a column; None leaves the column out."""
    if column == "State":
        return lambda cell: _state(cell, names)
    if column == "NodeList":
        return lambda cell: _HOST.sub(lambda host: names.name("host", host[1]) + "-", cell)
    if column in KEPT:
        return lambda cell: cell
    kind = REPLACED.get(column)
    if kind is None:
        return None
    if column == "JobName":
        return lambda cell: cell if not cell or cell in STEPS else names.name(kind, cell)
    if kind in ("uid", "gid", "assoc"):
        return lambda cell: str(names.number(kind, cell)) if cell.strip("0") else cell
    return lambda cell: names.name(kind, cell) if cell else cell


def _state(cell: str, names: Pseudonyms) -> str:
    """The state; who cancelled a job gets the number that the column UID has for that user."""
    state, by, uid = cell.partition(" by ")
    return f"{state}{by}{names.number('uid', uid) if uid.strip('0') else uid}" if by else cell
