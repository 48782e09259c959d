"""Papers reproduced: each by one command, with what the paper says beside what we get.

A paper is a package with a function ``reproduce(asked: Request) -> Reproduction`` in its module ``work``.
"""

from __future__ import annotations

from importlib import import_module

from headway.papers.request import Request
from headway.papers.verdicts import Claim, Reproduction

__all__ = ["PAPERS", "Claim", "Reproduction", "Request", "reproduce"]

PAPERS = ("redirection", "deadline", "urgent", "reallocation", "locality")
"""Names on the command line, and of the packages."""


def reproduce(paper: str, asked: Request) -> Reproduction:
    """Reproduce a paper; its modules are imported now."""
    from headway.papers.log import other_logs

    for sentence in other_logs(paper, asked.traces):
        asked.say(sentence)
    work = import_module(f"headway.papers.{paper}.work")
    result: Reproduction = work.reproduce(asked)
    return result
