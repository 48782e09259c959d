"""What a run shows while it works: one-line messages, and progress once it takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any, TextIO

import headway.jit
from headway.jit import Share
from headway.plain import Progress, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PATIENCE = 1.0
"""Seconds without a display: what takes no longer needs none."""

SHOWN_EACH = 0.2
"""Seconds between two looks at how far the compiler is."""

PIPED_WIDTH = 120
"""Columns of a table that goes to a file or a pipe."""


def output() -> Console:
    """Standard output for tables and text."""
    from rich.console import Console
    from rich.segment import Segment
    from rich.table import Table

    from headway.cli.fitting import WIDEST, fitted

    class Output(Console):
        def print(self, *what: Any, **options: Any) -> None:
            if len(what) != 1 or not isinstance(what[0], Table):
                super().print(*what, **options)
                return
            before, width, wide = self._width, self.width, self.options.update(width=WIDEST)
            for place, part in enumerate(fitted(self, what[0], width, parts=self.is_terminal)):
                if place:
                    super().print()
                try:
                    self.width = max(width, self.measure(part, options=wide).maximum)
                    super().print(part, **options)
                finally:
                    self._width = before

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # what that means is decided in one place, around every command

        def render(self, *what: Any, **options: Any) -> Iterable[Segment]:
            for text, style, control in super().render(*what, **options):
                yield Segment(text if control else plain(text), style, control)

    width = None if sys.stdout.isatty() else PIPED_WIDTH
    # Names of jobs, labels and files are shown as they are: [/] is no markup, and :key: no picture.
    return Output(width=width, highlight=False, markup=False, emoji=False)


def table_of(*heads: str, title: str | None = None, fold: bool = False, **settings: Any) -> Table:
    """A table without lines, with a column for each head.

    A head that begins with > is of numbers, which stand to the right; one with ~, perhaps before that, is of
    text that may be broken between words, and with ``fold`` inside of them.
    """
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=None, pad_edge=False, **settings)
    for head in heads:
        words, breaks = head.removeprefix("~"), head.startswith("~")
        made.add_column(
            words.removeprefix(">"),
            justify="right" if words.startswith(">") else "left",
            no_wrap=not breaks,
            overflow="fold" if fold and breaks else "ellipsis",
        )
    return made


class Display:
    """Messages and progress on standard error; nothing at all when quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        headway.jit.while_compiling = self.compiling

    def say(self, sentence: str) -> None:
        """One line, at once."""
        if not self.quiet:
            sys.stderr.write(f"{plain(sentence)}\n")
            sys.stderr.flush()

    @contextmanager
    def working(self, what: str) -> Iterator[Progress]:
        """Show `what` with a bar from the first second on; the callback takes (done, total)."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task(what, total=None)
        timer = Timer(PATIENCE, bar.start)
        timer.daemon = True
        timer.start()
        try:
            yield lambda done, total: bar.update(task, completed=done, total=total)
        finally:
            timer.cancel()
            timer.join()
            bar.stop()

    @contextmanager
    def compiling(self, kernel: str, share: Share) -> Iterator[None]:
        """Say that a kernel is compiled which was kept nowhere, and how far that is once it takes long."""
        over = Event()

        def show() -> None:
            if over.wait(PATIENCE):
                return
            self.say(f"compiling {kernel}, once for this machine ...")
            with self.working(f"compiling {kernel}") as progress:
                while not over.wait(SHOWN_EACH):
                    progress(*share())

        shower = Thread(target=show, daemon=True)
        shower.start()
        try:
            yield
        finally:
            over.set()
            shower.join()


def print_json(document: object) -> None:
    """One JSON document on standard output."""
    import json

    from headway.schedule.files import plain as as_plain

    text = json.dumps(as_plain(document), indent=2, ensure_ascii=False, allow_nan=False)
    # What would turn a terminal's text about is written as JSON writes such characters.
    (_documents or [sys.stdout])[-1].write(plain(text, "\\u{:04x}") + "\n")


_documents: list[TextIO] = []
"""Where JSON documents go while what else is printed goes elsewhere."""


@contextmanager
def documents_alone() -> Iterator[None]:
    """Leave standard output to :func:`print_json`; what a user's own policy prints goes to standard error."""
    _documents.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _documents.pop()
