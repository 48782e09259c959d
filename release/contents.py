"""What a wheel and an sdist hold, and what they must not hold."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path, PurePosixPath

IN_THE_WHEEL = {".py", ".toml", ".html", ".js", ".css", ".sh", ".typed", ".kernel"}
"""Endings of files of the package; anything else is there by mistake."""

EXAMPLE = "headway/site/example/"
"""A small site that `headway site example` writes: its files are Slurm's."""

PAGES = "headway/papers/*/page.md"
"""What the write-up of each paper is filled into."""

DATA = {".swf", ".gz", ".bz2", ".xz", ".zip", ".csv", ".parquet", ".json", ".npy", ".npz", ".log", ".db"}
"""Endings of logs and results: none of them belongs to the sources."""

MUST_BE_THERE = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "Makefile")


def wheel_files(wheel: Path) -> list[str]:
    """Names in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def sdist_files(sdist: Path) -> list[str]:
    """Names in an sdist, without the folder that all of them are in."""
    with tarfile.open(sdist) as archive:
        return [member.name.partition("/")[2] for member in archive if member.isfile()]


def wheel_faults(names: list[str], version: str) -> list[str]:
    """What is wrong with a wheel's contents: the package, its notices, and nothing else."""
    faults = []
    notices = f"headway-{version}.dist-info"
    for name in names:
        path = PurePosixPath(name)
        if path.parts[0] not in ("headway", notices):
            faults.append(f"{name} is outside of the package")
        elif name.startswith(EXAMPLE) or path.name == "py.typed" or path.match(PAGES):
            continue
        elif path.parts[0] == "headway" and path.suffix not in IN_THE_WHEEL:
            faults.append(f"{name} is neither code nor a part of the report")
    for wanted in ("headway/py.typed", f"{notices}/licenses/LICENSE", f"{notices}/entry_points.txt"):
        if wanted not in names:
            faults.append(f"{wanted} is missing")
    return faults


def sdist_faults(names: list[str]) -> list[str]:
    """What is wrong with an sdist's contents: everything to build and to test, but no logs and no results."""
    sources = [name for name in names if not name.startswith(f"src/{EXAMPLE}")]
    faults = [f"{name} is data" for name in sources if PurePosixPath(name).suffix in DATA]
    faults += [f"{name} is missing" for name in MUST_BE_THERE if name not in names]
    for folder in ("src", "tests", "docs", "examples", "benchmarks"):
        if not any(name.startswith(f"{folder}/") for name in names):
            faults.append(f"the folder {folder} is missing")
    return faults
