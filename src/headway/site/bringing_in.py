"""A site's folder made of an archive, a folder or single files, whatever people have and call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.errors import InputError, UsageError
from headway.site.archive import holds_files, is_archive, members, unpacked
from headway.writing import replacing_folder

NAMES = (
    "slurm.conf", "config.txt", "partitions.txt", "nodes.txt", "associations.cfg", "associations.txt",
    "qos.txt", "events.txt", "reservations.txt", "shares.txt", "groups.txt", "sdiag.txt", "jobs.txt",
    "jobs.json", "site.toml", "topology.conf", "topology.yaml",
)  # fmt: skip
"""Names that a site's folder has; a file of such a name is what it says."""

GZIP = b"\x1f\x8b"
"""What a file packed with gzip begins with."""

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


def kind_of(name: str, content: bytes) -> str | None:
    """The name that a file has in a site's folder, by its content; None where it is nothing of a site."""
    if content.startswith(GZIP):
        inside = unpacked(content, name, 1 << 20)
        if inside.startswith(GZIP):  # packed twice, or for ever
            return None
        inner = kind_of(name.removesuffix(".gz"), inside)
        return f"{inner}.gz" if inner and inner.startswith("jobs.") else inner
    if name in NAMES:
        return name
    first = content[: 1 << 20].decode("utf-8", "replace").lstrip("\ufeff \n\t")
    if first.startswith("{"):
        return "jobs.json" if '"jobs"' in first and '"association"' in first else None
    head = first.partition("\n")[0]
    if "|" in head:
        columns = {column.strip().lower().replace(" ", "") for column in head.split("|")}
        return next((target for target, marks in _TABLES if set(marks) <= columns), None)
    if name.endswith((".conf", ".toml")) and name != "slurm.conf":
        return name
    found = next((target for target, pattern in _LINES if re.search(pattern, first)), None)
    if found is None and (head.startswith(";") or re.match(r"[\d.-]+(?:\s+[\d.-]+){17}", head)):
        return "jobs.swf"
    return found


def bring_in(sources: Iterable[Path], target: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Make a site's folder; gives (name, what it became) of each file, and the names of what was no part."""
    if target.is_dir() and any(target.iterdir()):
        raise UsageError(f"{target} exists and is not empty; give another folder")
    taken: list[tuple[str, str]] = []
    passed: list[str] = []
    with replacing_folder(target) as folder:
        for name, content in _contents(sources):
            kind = kind_of(name, content)
            if kind is None:
                passed.append(name)
                continue
            if content.startswith(GZIP) and not kind.endswith(".gz"):
                content = unpacked(content, name)  # only logs are read as they were packed
            _put(folder / kind, content, name)
            taken.append((name, kind))
        if not taken:
            raise InputError("holds nothing of a site", file=next(iter(sources), target))
    return taken, passed


def _put(file: Path, content: bytes, name: str) -> None:
    """Write a file; several logs with the same columns go behind each other."""
    if not file.exists():
        file.write_bytes(content)
        return
    if file.name == "jobs.txt":
        header = content.split(b"\n", 1)[0]
        if header == file.read_bytes().split(b"\n", 1)[0]:
            with file.open("ab") as log:
                log.write(content)
            return
        raise InputError("has other columns than the log before it; import only one of them", file=name)
    if file.name == "reservations.txt" and content.lstrip().startswith(b"ReservationName"):
        file.write_bytes(content)  # scontrol names the nodes, which sacctmgr may not
        return
    if file.name == "reservations.txt":
        return
    raise InputError(f"would be a second {file.name} of the site; import only one of them", file=name)


def _contents(sources: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for source in sources:
        if source.is_dir():
            for file in sorted(path for path in source.iterdir() if path.is_file()):
                yield file.name, file.read_bytes()
        elif is_archive(source):
            yield from members(source)
        else:
            try:
                content = source.read_bytes()
            except OSError as error:
                raise InputError(f"cannot be read ({error.strerror})", file=source) from None
            first = unpacked(content, source, 512) if content.startswith(GZIP) else content
            if holds_files(first):  # whatever it is called: a pipe has no name of its own
                yield from members(source, content)
            else:
                yield source.name, content
