"""Papers reproduced: each by one command, with what the paper says beside what we get.

A paper is a package with a function ``reproduce(asked: Request) -> Reproduction`` in its module ``work``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headway.papers.verdicts import Claim, Reproduction
from headway.plain import Notify

if TYPE_CHECKING:
    from headway.campaign import Progress

__all__ = ["PAPERS", "Claim", "Reproduction", "Request", "reproduce"]

PAPERS = ("redirection", "deadline", "urgent", "reallocation", "locality")
"""Names on the command line, and of the packages."""


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


def reproduce(paper: str, asked: Request) -> Reproduction:
    """Reproduce a paper; its modules are imported now."""
    from headway.papers.log import other_logs

    for sentence in other_logs(paper, asked.traces):
        asked.say(sentence)
    work = import_module(f"headway.papers.{paper}.work")
    result: Reproduction = work.reproduce(asked)
    return result
