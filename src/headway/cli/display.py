"""What people see: messages, progress, JSON, tables that fit a terminal, charts made of characters."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from copy import copy
from itertools import takewhile
from textwrap import wrap
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any, TextIO

import headway.jit
from headway.jit import Share
from headway.plain import Progress, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

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


_EIGHTHS = " ▁▂▃▄▅▆▇█"
_BLOCKS = " ▏▎▍▌▋▊▉█"


def curve(values: Sequence[float], top: float, height: int = 1) -> list[str]:
    """One column per value, in lines from top to bottom; `top` fills all of them.

    >>> curve([0, 4, 8], top=8)
    [' ▄█']
    """
    levels = [0 if top <= 0 else round(max(min(value / top, 1), 0) * 8 * height) for value in values]
    # A value that is not nothing is always seen.
    levels = [max(level, 1) if value > 0 else level for level, value in zip(levels, values, strict=True)]
    return [
        "".join(_EIGHTHS[max(0, min(8, level - 8 * row))] for level in levels)
        for row in range(height - 1, -1, -1)
    ]


def bar(value: float, top: float, width: int = 30) -> str:
    """A horizontal bar; `top` fills the width.

    >>> bar(1, top=2, width=4)
    '██'
    """
    eighths = 0 if top <= 0 else round(max(min(value / top, 1), 0) * 8 * width)
    full, rest = divmod(max(eighths, 1) if value > 0 else eighths, 8)
    return "█" * full + _BLOCKS[rest].strip()


def labelled(label: str, line: str, note: str = "", width: int = 20) -> Text:
    """A line of a chart between its label and a note."""
    from rich.text import Text

    text = Text(f"{label:<{width}.{width}} ")
    text.append(line, style="cyan")
    return text.append(f" {note}", style="dim")


WIDEST = 10_000
"""Columns that no table has."""
WORD = 40
"""Characters of a word, such as a list of nodes, from which on it may be cut."""


def fitted(console: Console, table: Table, width: int, parts: bool) -> list[Table]:
    """The table with its columns in a width; where its words do not fit, wider, or in parts.

    Numbers are neither cut nor broken into two. Each part repeats the columns that say what a line is of.
    """
    least, most = _extents(console, table)
    if sum(least) <= width or not parts:
        return [_narrowed(table, table.columns, shares(least, most, width))]
    titles = _leading(table.columns, least, width)
    found: list[Table] = []
    for places in _parts(least, titles, width):
        chosen = [*range(titles), *places]
        sizes = shares([least[i] for i in chosen], [most[i] for i in chosen], width)
        part = _narrowed(table, [table.columns[i] for i in chosen], sizes)
        part.title = None if found else table.title
        found.append(part)
    return found


def shares(least: Sequence[int], most: Sequence[int], width: int) -> list[int]:
    """A width for each column: none below its least or above its most, the widest narrowed first.

    >>> shares([4, 5, 5], [6, 30, 20], 40)
    [6, 17, 17]
    >>> shares([4, 50], [6, 90], 40)
    [4, 50]
    """
    level = max(most, default=0)
    while level and sum(_between(least, level, most)) > width:
        level -= 1
    return _between(least, level, most)


def _between(least: Sequence[int], level: int, most: Sequence[int]) -> list[int]:
    return [max(low, min(level, high)) for low, high in zip(least, most, strict=True)]


def _extents(console: Console, table: Table) -> tuple[list[int], list[int]]:
    """The least and the largest width of each column, with the space next to it."""
    wide = console.options.update(width=WIDEST)
    most = [table._measure_column(console, wide, column).maximum for column in table.columns]
    least = [
        table._get_padding_width(place) + min(_words(console, column), WORD)
        for place, column in enumerate(table.columns)
    ]
    return least, most


def _words(console: Console, column: Column) -> int:
    """The width that the words of a column need, or its longest cell where cells are not broken."""
    cells = [console.measure(cell) for cell in column.cells]
    from rich.cells import cell_len

    title = max(map(cell_len, str(column.header).split()), default=0)
    return max([title, *(one.maximum if column.no_wrap else one.minimum for one in cells)])


def _leading(columns: Sequence[Column], least: Sequence[int], width: int) -> int:
    """How many columns at the left say what a line is of: text before the first number."""
    count = len(list(takewhile(lambda column: column.justify == "left", columns)))
    return count if sum(least[:count]) <= width // 2 and count < len(columns) else 1


def _parts(least: Sequence[int], titles: int, width: int) -> Iterator[list[int]]:
    """The other columns, as many to a group as fit next to those titles."""
    room = width - sum(least[:titles])
    group: list[int] = []
    for place in range(titles, len(least)):
        if group and sum(least[i] for i in (*group, place)) > room:
            yield group
            group = []
        group.append(place)
    yield group


def _narrowed(table: Table, columns: Sequence[Column], sizes: Sequence[int]) -> Table:
    """The table with these of its columns, so wide."""
    made = copy(table)
    made.columns = [copy(column) for column in columns]
    for place, (column, size) in enumerate(zip(made.columns, sizes, strict=True)):
        column._index = place
        column.width = size - table._get_padding_width(columns[place]._index)
        if column.no_wrap:
            column.header = "\n".join(wrap(str(column.header), max(column.width, 1)))
    return made
