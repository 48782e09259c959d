"""Agung et al., "Preemptive parallel job scheduling for heterogeneous systems supporting urgent computing".

IEEE Access 9, 2021, as slides tell it: urgent tsunami jobs among the regular jobs of a machine. Its table
of lateness by scheduler, the regular jobs' response and slowdown, longer swaps; then what suspending, killing
and dedicated nodes cost the regular users, and how many urgent jobs an hour a machine bears.
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
    sizes: str = "table",
) -> Reproduction:
    """Run everything on these logs (name -> file), or on a generated one, and write it up in `folder`.

    A run that was interrupted goes on where it stopped: what was measured is kept in `folder`. ``sizes`` says
    what is swapped: sizes drawn from the slides' Table 3, or of the ``log`` itself where it has them.
    """
    from headway.papers.urgent.work import work

    return work(traces, quick, folder, say, sizes)
