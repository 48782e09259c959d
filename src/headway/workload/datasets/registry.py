"""Public logs by name, and local copies of them: a file and its checksum, kept in the user's data folder."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from headway.documents import digest_of, read_json
from headway.errors import InputError, UsageError
from headway.values import COUNT, fits
from headway.writing import write_text

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload/"
"""The Parallel Workloads Archive, maintained by Dror Feitelson."""


@dataclass(frozen=True)
class Dataset:
    """A public dataset. `jobs` counts the file named, `whole` the log before it was cleaned."""

    name: str
    title: str
    page: str
    contains: str
    traps: str = ""
    period: str = ""
    procs: int | None = None
    jobs: int | None = None
    whole: int | None = None
    file: str = ""
    sha256: str = ""
    """Of the file, where a copy was at hand."""
    readable: bool = True
    """Whether Headway reads its format."""
    counted: bool = False
    """Whether `jobs` was counted in a copy of the file, rather than taken from its page."""

    @property
    def archived(self) -> bool:
        """Whether it is a log of the Parallel Workloads Archive."""
        return self.page.startswith(ARCHIVE)

    @property
    def url(self) -> str:
        """Where the file lies, or nothing where that is not known."""
        return f"{self.page}{self.file}.swf.gz" if self.file and self.archived else ""


def _read() -> dict[str, Dataset]:
    text = files("headway.workload.datasets").joinpath("catalogue.toml").read_text("utf-8")
    entries = [Dataset(**entry) for entry in tomllib.loads(text)["dataset"]]
    return {entry.name: entry for entry in entries}


DATASETS = _read()
"""All by name, in the order of the catalogue."""


LONGEST_PATH = 4096
_NAME = re.compile(r"[a-z0-9][a-z0-9._+-]{0,63}")


@dataclass(frozen=True)
class Copy:
    """A registered file: its path, the SHA-256 of its bytes and how many they are."""

    path: str
    sha256: str
    bytes: int


def data_folder() -> Path:
    """HEADWAY_DATA_DIR, else headway in XDG_DATA_HOME (or the system's place for such data)."""
    if chosen := os.environ.get("HEADWAY_DATA_DIR"):
        return Path(os.path.expanduser(chosen))
    if home := os.environ.get("XDG_DATA_HOME"):
        return Path(home) / "headway"
    if os.name == "nt" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "headway"
    return Path(os.path.expanduser("~/.local/share/headway"))


def registry_file() -> Path:
    return data_folder() / "datasets.json"


def place_of(name: str, address: str) -> Path:
    """Where a download is kept: a name of ours in a folder of its own, whatever the address says.

    >>> place_of("mine", "https://example.org/../datasets.json").name
    'mine.json'
    """
    endings = (".swf.gz", ".txt.gz", ".json.gz", ".gz", ".swf", ".txt", ".json")
    ending = next((ending for ending in endings if address.lower().endswith(ending)), "")
    return data_folder() / "logs" / f"{name}{ending}"


def copies() -> dict[str, Copy]:
    """Every registered copy by name."""
    file = registry_file()
    if not file.exists():
        return {}
    remedy = "it is not a registry of datasets; remove it and register the files again"
    data = read_json(file, remedy)
    if not fits(data, {str: _is_copy}):
        raise InputError(f"is damaged: {remedy}", file=file)
    return {str(name): Copy(**entry) for name, entry in data.items()}


def _is_copy(entry: Any) -> bool:
    """Whether a value describes a copy; a path with a null byte names no file."""
    right = fits(entry, {"path": str, "sha256": str, "bytes": COUNT}) and len(entry) == 3
    return right and "\0" not in entry["path"] and len(entry["path"]) < LONGEST_PATH


def add(file: str | Path, name: str) -> Copy:
    """Register a file under a name; every command then takes the name."""
    name = checked(name)
    path = Path(file)
    if path.exists() and not path.is_file():
        raise InputError("is not a regular file; copy the log into one, which can be read again", file=file)
    try:
        digest, size = digest_of(path), path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}; check the path", file=file) from None
    copy = Copy(str(path.resolve()), digest, size)
    _store(copies() | {name: copy})
    return copy


def remove(name: str) -> None:
    """Forget a copy; the file stays."""
    known = copies()
    if name.lower() not in known:
        raise UsageError(f"no dataset {name} is registered; there are {', '.join(known) or 'none'}")
    _store({other: copy for other, copy in known.items() if other != name.lower()})


def find(name: str) -> Copy | None:
    """The copy a name stands for; None where the name is nothing we know.

    A dataset of the catalogue without a copy, and a copy that is gone, are errors that say what to do.
    """
    key = name.lower()
    if not _NAME.fullmatch(key):
        return None
    copy = copies().get(key)
    if copy is None:
        entry = DATASETS.get(key)
        if entry is None:
            return None
        raise UsageError(
            f"{name}: no local copy is registered; get it from {entry.page} and run "
            f"'headway datasets add FILE {key}'"
            + (f", or 'headway datasets download {key}' where there is a network" if entry.url else "")
        )
    if not Path(copy.path).is_file():
        raise InputError(f"the file of the dataset {key} is gone; register it again", file=copy.path)
    return copy


def checked(name: str) -> str:
    """A name in lower case, refused where it could be taken for a path or cannot be a name."""
    key = name.lower()
    if not _NAME.fullmatch(key):
        raise UsageError(f"{name!r} cannot name a dataset; use letters, digits, '.', '-', '_' and '+'")
    return key


def _store(known: dict[str, Copy]) -> None:
    file = registry_file()
    text = json.dumps({name: asdict(copy) for name, copy in sorted(known.items())}, indent=2)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text + "\n")
    except (OSError, UsageError) as error:
        raise UsageError(f"{error}; set HEADWAY_DATA_DIR to another folder") from None
