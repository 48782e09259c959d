"""Caniou, Charrier, Desprez, "Evaluation of Reallocation Heuristics for Moldable Tasks", AusPDC 2011.

Seven scenarios (six months of three Grid'5000 sites, and six months of Bordeaux with CTC and
SDSC), dedicated and not, clusters of different and of equal speed, four couples of heuristic and algorithm,
ten seeds, each against a reference of its own; its figures and claims with ours beside them; then what it
does not ask: molding itself, the period, the number of clusters, estimates, other local policies.
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
    """Run everything on these logs (site -> file), generated ones for the other sites, and write it up.

    A run that was interrupted goes on where it stopped: what was measured is kept in `folder`.
    """
    from headway.papers.reallocation.work import work

    return work(traces, quick, folder, say)
