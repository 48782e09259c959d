"""The progress of a campaign on standard error: cells, rate, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.campaign import Progress

Tell = Callable[["Progress"], None]

LINE_EVERY = 30.0
"""Seconds between two lines where standard error is a file."""


@contextmanager
def shown(quiet: bool) -> Iterator[Tell]:
    """A bar on a terminal, a line now and then in a file, nothing when quiet."""
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        last = time.monotonic()

        def line(progress: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= LINE_EVERY:
                last = time.monotonic()
                sys.stderr.write(words(progress) + "\n")
                sys.stderr.flush()

        yield line


def words(progress: Progress) -> str:
    """How far it is, in one line."""
    about = "" if progress.exact else "about "
    finished = progress.done + progress.skipped
    text = f"{finished} of {about}{progress.total} cells, {pace(progress.rate)}"
    left = progress.total - finished
    if progress.rate and left > 0:
        text += f", {clock(left / progress.rate)} left"
    return text + (f", {progress.failed} failed" if progress.failed else "")


def pace(rate: float) -> str:
    """Cells a second, or a minute where they are few.

    >>> pace(12.34), pace(0.02)
    ('12.3 a second', '1.2 a minute')
    """
    return f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute"


def clock(seconds: float) -> str:
    """A duration as hours, minutes and seconds.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        SpinnerColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("opening the workloads", total=None)

    def update(progress: Progress) -> None:
        if progress.total:
            finished = progress.done + progress.skipped
            bar.update(task, total=progress.total, completed=finished, description=words(progress))

    with bar:
        yield update
