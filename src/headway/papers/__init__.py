"""Papers reproduced: each by one command, with what the paper says beside what we get.

A paper is a package with a function ``reproduce(traces, quick, folder, say, progress) -> Reproduction``.
"""

from __future__ import annotations

from headway.papers.verdicts import Claim, Reproduction

__all__ = ["PAPERS", "Claim", "Reproduction"]

PAPERS = {
    "redirection": "headway.papers.redirection:reproduce",
    "deadline": "headway.papers.deadline:reproduce",
    "urgent": "headway.papers.urgent:reproduce",
    "reallocation": "headway.papers.reallocation:reproduce",
    "locality": "headway.papers.locality:reproduce",
}
"""Name on the command line -> module and function, imported when it is asked for."""
