"""The world outside of agent, servers and clients: time, chance, and files of tables.

With :mod:`~headway.live.wire` (what comes and goes over connections), :mod:`~headway.live.processes` and
:mod:`~headway.live.launch` (processes) and :mod:`~headway.live.slurm.commands` (a batch system) this is all
that reaches beyond them. Tests put another world in its place; nothing else here knows which one it has.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from pathlib import Path
from typing import Literal


def now() -> int:
    """µs since 1970, by a clock that may be set."""
    return int(time.time() * 1_000_000)


def steady() -> float:
    """Seconds, by a clock that nobody can set."""
    return time.monotonic()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def word(count: int) -> str:
    """A word of so many bytes that nobody can know."""
    return secrets.token_hex(count)


def connect(path: Path, isolation: Literal["IMMEDIATE"] | None) -> sqlite3.Connection:
    """A file of tables."""
    return sqlite3.connect(path, isolation_level=isolation, check_same_thread=False)
