"""How many random examples a test tries: all in `make test-all`, a part of them in `make test`."""

from __future__ import annotations

from hypothesis import settings

ALL = 100
"""What a test tries at night that asks for no number of its own."""


def examples(many: int) -> settings:
    """So many examples at night, and by day as large a part of them as of every other test."""
    return settings(max_examples=many * settings().max_examples // ALL)
