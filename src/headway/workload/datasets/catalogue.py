"""The catalogue: logs of the Parallel Workloads Archive, and other public data by name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

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
