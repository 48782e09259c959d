"""Gonthier et al.: locality-aware batch scheduling of jobs sharing input files.

The slides of June 2022 and the drafts after them: scores of files on nodes and policies for memory sizes, on
generated weeks (light and saturated) or on weeks of logs, with what the authors say beside what we get; then
a search over the weights of the score, a faster file system, and files kept until the memory is full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headway.papers.verdicts import Reproduction

if TYPE_CHECKING:
    from headway.campaign import Progress


def reproduce(
    traces: Mapping[str, str],
    quick: bool,
    folder: Path,
    say: Callable[[str], None],
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Run everything on these logs (name -> file), or on generated weeks, and write it up in `folder`.

    A run that was interrupted goes on where it stopped: what was measured is kept in `folder`.
    """
    from headway.papers.locality.work import work

    return work(traces, quick, folder, progress)
