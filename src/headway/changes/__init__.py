"""Changes of a site, a machine, a policy or the jobs as short texts; `what-if` and campaigns make them."""

from __future__ import annotations

from headway.changes.changed import (
    CHANGES,
    Case,
    changed,
    changes_of,
    counts_processors,
    named,
    with_parameter,
)

__all__ = ["CHANGES", "Case", "changed", "changes_of", "counts_processors", "named", "with_parameter"]
