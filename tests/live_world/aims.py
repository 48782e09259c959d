"""Which write a seed aims at."""

from typing import Any


def aimed(seed: int) -> dict[str, Any]:
    return {}
