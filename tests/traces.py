"""Real logs for tests: found beside the checkout, and where they are absent the test skips and says so."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from headway.workload import Workload, read

FOLDER = Path(os.environ.get("HEADWAY_TRACES", Path(__file__).parents[2] / "shared" / "traces"))

KEPT = {
    "KTH-SP2-1996-2.1-cln": (28_476, 28_475),
    "SDSC-SP2-1998-4.2-cln": (59_715, 54_034),
    "HPC2N-2002-2.2-cln": (202_871, 202_871),
    "SDSC-BLUE-2000-4.2-cln": (243_306, 232_540),
    "CEA-Curie-2011-2.1-cln": (312_826, 298_092),
    "RICC-2010-2": (447_794, 447_786),
    "LANL-CM5-1994-4.1-cln": (122_060, 122_057),
    "SDSC-Par-1996-3.1-cln": (32_135, 32_135),
}
"""Log -> job lines, jobs kept under the default rules."""


def trace(name: str) -> Path:
    """The path of a log named by the beginning of its file name, such as "KTH-SP2"."""
    found = sorted(FOLDER.glob(f"{name}*.swf.gz")) if FOLDER.is_dir() else []
    if not found:
        pytest.skip(f"the log {name} is not in {FOLDER}; put it there or set HEADWAY_TRACES to its folder")
    return found[0]


def opening(name: str, jobs: int) -> Workload:
    """At least so many jobs from the beginning of a log, read as if no more lines followed: far quicker."""
    with gzip.open(trace(name)) as log, TemporaryDirectory() as folder:
        short = Path(folder) / "log.swf"
        short.write_bytes(b"".join(islice(log, 100 + 2 * jobs)))
        return read(short)
