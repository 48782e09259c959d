"""The Pythons of this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

OLDEST, NEWEST = 11, 20
KEPT = (".pyenv/versions", ".local/share/uv/python")
"""Where pyenv and uv keep Pythons, below the user's folder; on PATH they may be switched off."""


def pythons() -> list[str]:
    """Every Python from 3.11 that runs: on PATH, or else kept by pyenv or uv."""
    found = []
    for minor in range(OLDEST, NEWEST):
        name, places = f"python3.{minor}", [f"{kept}/*3.{minor}.*/bin/python3.{minor}" for kept in KEPT]
        kept = sorted(str(path) for place in places for path in Path.home().glob(place))
        for path in (shutil.which(name), *reversed(kept)):
            if path is not None and runs(path, f"Python 3.{minor}."):
                found.append(path)
                break
    return found


def runs(python: str, version: str) -> bool:
    """Whether this is such a Python."""
    said = subprocess.run([python, "-V"], capture_output=True, text=True)
    return said.returncode == 0 and said.stdout.startswith(version)
