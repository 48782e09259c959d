"""What is asked of the reproduction of a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.plain import Notify

if TYPE_CHECKING:
    from headway.campaign import Progress


@dataclass(frozen=True)
class Request:
    """Run everything of a paper and write it up.

    What was measured is kept in the folder: a run that was interrupted goes on where it stopped.
    """

    traces: Mapping[str, str]
    """The logs by name, name -> file; without any, generated ones stand in for them."""
    quick: bool
    """A small version, to have a look."""
    folder: Path
    """Where results are written."""
    say: Notify
    """Is told a sentence now and then."""
    progress: Callable[[Progress], None] | None = None
    """Is told how far a campaign has come."""
    sizes: str = "table"
    """Urgent jobs: what is swapped, sizes drawn from the slides' Table 3 or those of the ``log``."""
    seeds: int | None = None
    """Urgent jobs: how many draws of arrivals and sizes the intervals are over."""
