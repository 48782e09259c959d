"""Faure, Lucarelli, Richard, Trystram, "Online Scheduling with Redirection for Parallel Jobs", IPDPSW 2020.

The paper's campaign (weeks, exact estimates, tau = 60 s, thetas, alphas, one baseline per alpha), its two
figures, the readings it leaves open, its claims with our numbers beside them, and what lies beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headway.papers.verdicts import Reproduction

if TYPE_CHECKING:
    from headway.campaign import Progress

TITLE = "Online Scheduling with Redirection for Parallel Jobs (IPDPSW 2020)"


def reproduce(
    traces: Mapping[str, str],
    quick: bool,
    folder: Path,
    say: Callable[[str], None],
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Run the campaign on these logs (name -> file), or on generated weeks, and write it up in `folder`.

    A run that was interrupted goes on where it stopped, as the campaigns are kept in `folder` too.
    """
    from headway.papers.redirection.work import Work

    return Work(traces, quick, folder, say, progress).done()
