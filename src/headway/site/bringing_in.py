"""A site's folder made of an archive, a folder or single files, whatever people have and call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.documents import MOST
from headway.errors import InputError, UsageError
from headway.site.archive import (
    GZIP,
    LARGEST,
    PIECE,
    Stream,
    beginning,
    holds_files,
    is_archive,
    members,
)
from headway.writing import replacing_folder

NAMES = (
    "slurm.conf", "config.txt", "partitions.txt", "nodes.txt", "associations.cfg", "associations.txt",
    "qos.txt", "events.txt", "reservations.txt", "shares.txt", "groups.txt", "sdiag.txt", "jobs.txt",
    "jobs.json", "site.toml", "topology.conf", "topology.yaml",
)  # fmt: skip
"""Names that a site's folder has; a file of such a name is what it says."""

_TABLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("jobs.txt", ("jobid",)),
    ("jobs.txt", ("jobidraw",)),
    ("shares.txt", ("rawusage",)),
    ("qos.txt", ("name", "usagefactor")),
    ("qos.txt", ("name", "preemptmode")),
    ("associations.txt", ("account", "user", "qos")),
    ("events.txt", ("nodename", "timestart", "state")),
    ("reservations.txt", ("name", "timestart", "timeend")),
)
"""What a table between | is, by columns that only it has."""

_LINES: tuple[tuple[str, str], ...] = (
    ("config.txt", r"(?m)^Configuration data as of "),
    ("associations.cfg", r"(?m)^Cluster - '"),
    ("reservations.txt", r"(?m)^ReservationName="),
    ("sdiag.txt", r"(?m)^sdiag output at "),
    ("groups.txt", r"(?m)\A[^\s:|]+:[^:|\n]*:\d+:[^:|\n]*$"),
    ("topology.conf", r"(?mi)^SwitchName="),
    ("partitions.txt", r"(?m)^PartitionName=\S+\s*\n\s*Allow"),
    ("nodes.txt", r"(?m)^NodeName=\S+ (?:Arch|CoresPerSocket)="),
    ("slurm.conf", r"(?mi)^\s*(?:ClusterName|NodeName|PartitionName|Include)\b"),
)
"""What a text is, by a line that only it has."""


def kind_of(name: str, first: bytes) -> str | None:
    """The name that a file has in a site's folder, by its beginning; None where it is nothing of a site."""
    if first.startswith(GZIP):
        inside = beginning(first, name)
        if inside.startswith(GZIP):  # packed twice, or for ever
            return None
        inner = kind_of(name.removesuffix(".gz"), inside)
        return f"{inner}.gz" if inner and inner.startswith("jobs.") else inner
    if name in NAMES:
        return name
    if b"\0" in first:  # no text: an archive inside the archive, say
        return None
    text = first.decode("utf-8", "replace").lstrip("\ufeff \n\t")
    if text.startswith("{"):
        return "jobs.json" if '"jobs"' in text and '"association"' in text else None
    head = text.partition("\n")[0]
    if "|" in head:
        columns = {column.strip().lower().replace(" ", "") for column in head.split("|")}
        return next((target for target, marks in _TABLES if set(marks) <= columns), None)
    if name.endswith((".conf", ".toml")) and name != "slurm.conf":
        return name
    found = next((target for target, pattern in _LINES if re.search(pattern, text)), None)
    if found is None and (head.startswith(";") or re.match(r"[\d.-]+(?:\s+[\d.-]+){17}", head)):
        return "jobs.swf"
    return found


def bring_in(sources: Iterable[Path], target: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Make a site's folder; gives (name, what it became) of each file, and the names of what was no part."""
    if target.is_dir() and any(target.iterdir()):
        raise UsageError(f"{target} exists and is not empty; give another folder")
    taken: list[tuple[str, str]] = []
    passed: list[str] = []
    left = LARGEST
    with replacing_folder(target) as folder:
        for stream in _streams(sources):
            name = str(stream.name)
            kind = kind_of(name, stream.peek())
            if kind is None:
                passed.append(name)
                continue
            if stream.peek(2) == GZIP and not kind.endswith(".gz"):
                stream = stream.unpacked()  # only logs are read as they were packed
            left -= _put(folder / kind, stream, left if kind.startswith("jobs.") else min(MOST, left))
            taken.append((name, kind))
        if not taken:
            raise InputError(
                "holds nothing of a site; headway site export writes a script that packs one",
                file=next(iter(sources), target),
            )
    return taken, passed


def _put(file: Path, stream: Stream, most: int) -> int:
    """Write a file of at most so many bytes; several logs with the same columns go behind each other."""
    if file.exists():
        if file.name == "jobs.txt":
            with file.open("rb") as log:
                same = log.readline().rstrip(b"\n") == stream.peek().partition(b"\n")[0]
            if not same:
                message = "has other columns than the log before it; import only one of them"
                raise InputError(message, file=stream.name)
        elif file.name == "reservations.txt":
            if not stream.peek().lstrip().startswith(b"ReservationName"):
                return 0
            file.unlink()  # scontrol names the nodes, which sacctmgr may not
        else:
            message = f"would be a second {file.name} of the site; import only one of them"
            raise InputError(message, file=stream.name)
    written = 0
    with file.open("ab") as copy:
        while part := stream.read(PIECE):
            written += len(part)
            if written > most:
                message = f"has more than {most >> 20} MiB, which is too much; is it a file of a site?"
                raise InputError(message, file=stream.name)
            copy.write(part)
    return written


def _streams(sources: Iterable[Path]) -> Iterator[Stream]:
    """Every file, by its name."""
    for source in sources:
        single = not source.is_dir()
        for path in [source] if single else sorted(path for path in source.iterdir() if path.is_file()):
            try:
                with path.open("rb") as file:
                    stream = Stream(file, path)
                    if single and (is_archive(path) or holds_files(stream)):  # a pipe has no name of its own
                        yield from members(stream)
                    else:
                        stream.name = path.name
                        yield stream
            except OSError as error:
                raise InputError(f"cannot be read ({error.strerror}); check the path", file=path) from None
