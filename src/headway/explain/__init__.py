"""Why a job waited, and what would have let it start earlier, in sentences."""

from __future__ import annotations

from headway.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
