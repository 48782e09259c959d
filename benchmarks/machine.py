"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for wanted in ("model name", "Model", "CPU part"):
        for line in lines:
            if line.startswith(wanted):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory_gb() -> float:
    """Physical memory, GB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def describe() -> dict[str, object]:
    """The machine, the software, and how busy the machine was when the run began."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_gb(), 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        **{name: version(name) for name in ("headway", "numba", "numpy", "polars")},
    }
