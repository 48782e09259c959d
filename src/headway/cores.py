"""How many can work side by side on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


def cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """So many threads to work side by side; an interrupt does not wait for what they are doing."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="headway")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
