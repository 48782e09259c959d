"""``headway datasets``: public logs by name, and the local copies of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from headway.cli import options
from headway.cli.application import command, group
from headway.cli.display import Display, output, print_json, table_of
from headway.documents import digest_of
from headway.errors import UsageError
from headway.plain import close

if TYPE_CHECKING:
    from headway.workload.datasets.registry import Dataset

LOOKED_INTO = 64 << 20
"""Bytes of text of a log that are read when it is registered: about half a million jobs, a second or two."""

datasets = group("datasets", "List public logs, download one, register a copy of your own.", default="show")
Name: TypeAlias = Annotated[str, options.argument("NAME", "The log's name.")]
Sum: TypeAlias = Annotated[
    str,
    options.value(
        "--sha256", "SUM", "Checksum that the file must have; none accepts any file.", show_default=False
    ),
]


@command("show", "headway datasets show kth-sp2", of=datasets)
def show(
    name: Annotated[str | None, options.argument("[NAME]", "Describe this log.")] = None,
    json: options.Json = False,
) -> None:
    """List public logs and your copies, or describe one.

    A registered name can be given to every command in place of a file. `headway datasets` alone lists all.
    """
    if name is None:
        _list(json)
    else:
        _tell(name, json)


@command("add", "headway datasets add KTH-SP2-1996-2.1-cln.swf.gz kth-sp2", of=datasets)
def add(
    file: Annotated[str, options.argument("FILE", "A log on this machine.")], name: Name, sha256: Sum = ""
) -> None:
    """Register a log on this machine under a name."""
    if _wanted(sha256) and Path(file).is_file() and (found := digest_of(Path(file))) != sha256.lower():
        raise UsageError(f"{file}: the checksum is {found}, not {sha256}; copy the file again")
    _register(file, name.lower())


@command("remove", "headway datasets remove kth-sp2", of=datasets)
def remove(name: Name) -> None:
    """Forget a registered name; the file stays where it is."""
    from headway.workload.datasets import registry

    registry.remove(name)
    _say(f"{name} is no longer registered; the file was left where it is")


def _say(sentence: str) -> None:
    output().print(sentence)


def _document(entry: Dataset) -> dict[str, Any]:
    from headway.workload.datasets.registry import copies

    copy = copies().get(entry.name)
    return asdict(entry) | {"url": entry.url or None, "copy": None if copy is None else asdict(copy)}


def _list(json: bool) -> None:
    from headway.workload.datasets.registry import ARCHIVE, DATASETS, copies

    if json:
        print_json([_document(entry) for entry in DATASETS.values()])
        return
    console, known = output(), copies()
    table = table_of("name", "log", ">processors", ">jobs", "period", "copy")
    for entry in DATASETS.values():
        if entry.archived:
            numbers = (
                "" if value is None else f"{value:,}" for value in (entry.procs, entry.jobs or entry.whole)
            )
            here = "yes" if entry.name in known else ""
            table.add_row(entry.name, entry.title, *numbers, entry.period, here)
    console.print(f"Parallel Workloads Archive, {ARCHIVE}", style="bold")
    console.print(table)
    console.print("\nOther public data", style="bold")
    others = table_of("", "~", "~", show_header=False, fold=True)
    for entry in DATASETS.values():
        if not entry.archived:
            others.add_row(entry.name, entry.title, entry.page)
    console.print(others)
    mine = {name: copy for name, copy in known.items() if name not in DATASETS}
    if mine:
        console.print("\nYour own", style="bold")
        for name, copy in mine.items():
            console.print(f"{name}  {copy.path}")
    console.print("\nMore on one: headway datasets NAME. Register a copy: headway datasets add FILE NAME")


def _tell(name: str, json: bool) -> None:
    from headway.workload.datasets.registry import DATASETS, copies

    entry, copy = DATASETS.get(name.lower()), copies().get(name.lower())
    if entry is None and copy is None:
        known = [*DATASETS, *copies()]
        raise UsageError(f"there is no dataset {name}{close(name, known)}; the names are {', '.join(known)}")
    if json:
        print_json(
            _document(entry) if entry else {"name": name.lower(), "copy": asdict(copy) if copy else None}
        )
        return
    if entry is not None:
        _say(f"{entry.name}: {entry.title}")
        facts = {
            "processors": entry.procs, "jobs": entry.jobs, "jobs before cleaning": entry.whole,
            "period": entry.period, "file": f"{entry.file}.swf.gz" if entry.file else "",
            "contains": entry.contains, "traps": entry.traps, "page": entry.page,
            "format": "" if entry.readable else "of its own; convert it first",
        }  # fmt: skip
        for title, value in facts.items():
            if value:
                _say(f"  {title}: {value:,}" if isinstance(value, int) else f"  {title}: {value}")
    _say(f"  copy: {copy.path}, sha256 {copy.sha256}" if copy else "  copy: none registered")


def _register(file: str, name: str) -> None:
    from headway.workload.datasets.registry import add

    tell = _looked_into(file) if Path(file).is_file() else None
    copy = add(file, name)
    _say(f"{name} is {copy.path}, {copy.bytes:,} bytes, sha256 {copy.sha256}")
    if tell is not None:
        tell()


def _looked_into(file: str) -> Callable[[], None]:
    """Read a log, or the beginning of a large one; what tells its ledger. No log is refused."""
    from headway.workload.read import read_beginning

    with Display().working(f"reading {file}"):
        workload, whole = read_beginning(file, LOOKED_INTO)
    size = f"{LOOKED_INTO >> 20} MiB"
    if workload is None:
        return lambda: _say(f"It is larger than {size}: what it holds was not read; headway inspect does")

    def tell() -> None:
        from headway.cli.tables import ledger_table

        if not whole:
            _say(f"Its first {size} of text were read; headway inspect reads all of it")
        ledger_table(output(), workload.ledger)

    return tell


def _wanted(sha256: str) -> str:
    """The checksum that is asked for; nothing where what comes is taken."""
    if sha256 and sha256 != "none" and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise UsageError(f"--sha256 takes 64 digits from 0 to f, or none, not {sha256!r}")
    return "" if sha256 == "none" else sha256


@command("download", "headway datasets download kth-sp2", of=datasets)
def download(
    name: Name,
    url: Annotated[
        str | None, options.value("--url", "URL", "Address to download from; by default the archive.")
    ] = None,
    sha256: Sum = "",
    allow_http: Annotated[bool, options.flag("--allow-http", "Allow a download without encryption.")] = False,
) -> None:
    """Download a public log and register it."""
    from headway.workload.datasets import download as of
    from headway.workload.datasets.registry import DATASETS, checked, place_of

    key = checked(name)
    entry = DATASETS.get(key)
    address = url or (entry.url if entry else "")
    if not address:
        page = f"; its page is {entry.page}" if entry else ""
        raise UsageError(f"where {name} lies is not known{page}; give --url URL, or copy it and use 'add'")
    known = entry.sha256 if entry is not None and url is None else ""
    if not sha256 and not known:
        raise UsageError(
            f"the checksum of {address} is not known; give the one on its page with --sha256, or "
            "--sha256 none to take what comes"
        )
    with Display().working(f"downloading {address}") as progress:
        target = place_of(key, address)
        of.download(address, target, _wanted(sha256 or known), progress, unencrypted=allow_http)
    _register(str(target), key)
