"""N'takpé, Suter, "Prise en compte de tâches non-prioritaires dans l'ordonnancement batch", Compas 2016.

Its two tables (conservative backfilling, DBF with deadlines of 24 h and of 72 h), the readings it leaves
open, its claims with our numbers beside them; then the share of flexible tasks and the length of the
deadline, which it names as future work, who pays and who gains.
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
    """Run everything on these logs (name -> file), or on a generated one, and write it up in `folder`.

    A run that was interrupted goes on where it stopped: what was measured is kept in `folder`.
    """
    from headway.papers.deadline.work import work

    return work(traces, quick, folder, say)
