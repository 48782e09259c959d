"""Tables fit terminals of any width: numbers stay whole, and what does not fit comes in parts."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from headway.cli.display import WIDEST, fitted, table_of

ROWS = (
    ("mean_wait", "s", "448,742", "336,339 -25.0% better", "345,763 -22.9% better"),
    ("utilization", "ratio", "0.5128", "0.6842 +33.4% better", "0.6655 +29.8% better"),
)


def lines_of(table: Table, width: int, parts: bool = True) -> list[list[str]]:
    """The lines of each part, as they are printed."""
    shown = []
    for part in fitted(Console(width=width), table, width, parts):
        console = Console(file=StringIO(), width=WIDEST)
        console.print(part)
        shown.append([line.rstrip() for line in console.file.getvalue().splitlines()])  # type: ignore[attr-defined]
    return shown


def compared(*heads: str) -> Table:
    table = table_of("metric", "unit", *heads)
    for row in ROWS:
        table.add_row(*row)
    return table


@pytest.mark.parametrize("width", [45, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(width: int) -> None:
    parts = lines_of(compared(">fcfs", ">easy", ">conservative"), width)
    lines = [line for part in parts for line in part]
    assert max(map(len, lines)) <= width
    assert all(any(cell in line for line in lines) for row in ROWS for cell in row)


def test_each_part_says_what_its_lines_are_of() -> None:
    first, second = lines_of(compared(">fcfs", ">easy", ">conservative"), 60)
    assert first[0].split() == ["metric", "unit", "fcfs", "easy"]
    assert second[0].split() == ["metric", "unit", "conservative"]
    assert second[1].split() == ["mean_wait", "s", "345,763", "-22.9%", "better"]


def test_a_pipe_gets_the_table_whole() -> None:
    [lines] = lines_of(compared(">fcfs", ">easy", ">conservative"), 60, parts=False)
    assert lines[1].split() == " ".join(ROWS[0]).split()


def test_a_title_is_broken_before_the_table_is() -> None:
    table = table_of("job", ">wait before (s)")
    table.add_row("job 234", "154,417")
    [lines] = lines_of(table, 16)
    assert [line.split() for line in lines[:3]] == [["wait"], ["before"], ["job", "(s)"]]


def test_a_word_is_whole_while_other_columns_have_space() -> None:
    table = table_of("~policy", "~>median mean_wait (s)", fold=True)
    table.add_row("easy(backfill=sjf)", "5583")
    [lines] = lines_of(table, 30)
    assert any("easy(backfill=sjf)" in line for line in lines) and max(map(len, lines)) <= 30


def test_an_empty_column_is_no_trouble() -> None:
    table = table_of("", ">", show_header=False)
    table.add_row("jobs", "")
    assert lines_of(table, 20) == [["jobs"]]
