"""Real output of Slurm for tests: found beside the checkout, and where it is absent the test skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("HEADWAY_SLURM", Path(__file__).parents[2] / "shared" / "slurm"))


def slurm_file(name: str) -> Path:
    """A file or folder of recorded Slurm, such as sacct/22.05/doc.txt or truth/mix-a/site."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not in {FOLDER}; put it there or set HEADWAY_SLURM to its folder")
    return path
