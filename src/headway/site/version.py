"""Which version of Slurm a site runs: what it exported tells it, or whoever asks."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from headway.site.config import Config
from headway.site.entries import parameters_shown
from headway.site.parameters import VERSION, Version

OLDEST: Version = (22, 5, 99)
"""The version whose rules are taken where nothing tells it: the oldest that they were held to."""
TAKEN = (
    "rules and defaults are those of 22.05; give the version with config.txt (scontrol show config), "
    "SLURM_VERSION=24.11 among the parameters, or slurm(version=24.11)"
)
"""What is said where nothing tells the version."""
_RELEASE = re.compile(rb'"release"\s*:\s*"(\d\d\.\d\d[^"]*)"')
_END = 1 << 16
"""How much of both ends of a log in JSON is searched: it tells what wrote it before or after the jobs."""


def shown(version: Version) -> str:
    """A version as Slurm writes it; without the last number where the newest of its series is meant.

    >>> shown((24, 11, 5)), shown(OLDEST)
    ('24.11.5', '22.05')
    """
    major, minor, micro = version
    return f"{major}.{minor:02}" + (f".{micro}" if micro < OLDEST[2] else "")


def with_version(folder: Path, config: Config, jobs: Path | None) -> Config:
    """The parameters with the version, where a file of the folder tells it."""
    if VERSION in config:
        return config
    if (folder / "config.txt").is_file():
        for entry in parameters_shown(folder / "config.txt"):
            if found := entry.get(VERSION):
                return config.with_value(VERSION, found)
    found = "" if jobs is None or ".json" not in jobs.suffixes[-2:] else _release(jobs)
    return config.with_value(VERSION, found) if found else config


def _release(jobs: Path) -> str:
    """The version of the sacct that wrote a log in JSON; empty where it does not say."""
    with gzip.open(jobs) if jobs.suffix == ".gz" else jobs.open("rb") as file:
        head = last = file.read(_END)
        before = b""
        while block := file.read(_END):
            before, last = last, block
    found = _RELEASE.search(head) or _RELEASE.search(before + last)
    return "" if found is None else found[1].decode()
