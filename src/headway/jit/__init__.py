"""How kernels are compiled and kept: the one room that knows numba. Importing it loads nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Share = Callable[[], tuple[int, int]]
"""How many of the kernels that one calls have been compiled, and how many it calls."""


def silently(kernel: str, share: Share) -> AbstractContextManager[object]:
    """Show nothing."""
    return nullcontext()


while_compiling = silently
"""What is open while a kernel is compiled that was kept nowhere; a command shows its progress there."""
