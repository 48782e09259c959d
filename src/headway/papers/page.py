"""The write-up of a paper: its page of Markdown, filled with what came of the reproduction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Formatter

from headway.papers.verdicts import Claim, Reproduction
from headway.writing import write_text

RULE = (
    'What "agrees" means, and how a claim is tested, is said '
    "[once for all five papers](index.md#what-agrees-means)."
)
"""For the pages, which stand beside the one that says it."""


def write_page(
    paper: str, result: Reproduction, folder: Path, values: Mapping[str, str | None] | None = None
) -> Path:
    """Fill ``page.md`` of a paper's package; the page names the figures that are in the same folder.

    ``{name}`` stands there for one of the values, a table of the result, its ``claims`` or ``notes``, or the
    ``rule`` of all papers. A section that names a value of None is left out, and so is an empty paragraph.
    A paragraph is written over several lines there and on one here.
    """
    known: dict[str, str | None] = {
        **{name: markdown_table(rows) for name, rows in result.tables.items()},
        "claims": markdown_table(claims_table(result.claims), 9),
        "notes": "\n".join(f"- {note}" for note in result.notes),
        "rule": RULE,
        **(values or {}),
    }
    text = (files("headway.papers") / paper / "page.md").read_text("utf-8").strip()
    parts = []
    for section in re.split("\n\n(?=#)", text):
        if all(known[name] is not None for _, name, _, _ in Formatter().parse(section) if name):
            parts += [_one_line(paragraph).format_map(known) for paragraph in section.split("\n\n")]
    path = folder / f"{paper}.md"
    write_text(path, "\n\n".join(part for part in parts if part) + "\n")
    return path


def _one_line(paragraph: str) -> str:
    """A paragraph on one line; a table as it is."""
    return paragraph if paragraph.startswith("|") else " ".join(paragraph.split())


def claims_table(claims: Sequence[Claim]) -> list[list[str]]:
    """Rows of texts, the first row the names of the columns."""
    rows = [["claim", "source", "paper says", "we get", "tested", "verdict", "remark"]]
    return rows + [[c.claim, c.source, c.paper, c.ours, c.tested, c.verdict, c.remark] for c in claims]


def rows_of(lines: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Lines of at least one, each with its cells by the names of the columns, as rows of texts."""
    return [list(lines[0]), *(list(line.values()) for line in lines)]


def markdown_table(rows: Sequence[Sequence[str]], numbers_from: int = 1) -> str:
    """A table in Markdown; columns from `numbers_from` on whose cells are numbers are set right."""
    head, body = rows[0], rows[1:]
    marks = []
    for place in range(len(head)):
        cells = [row[place] for row in body]
        right = place >= numbers_from and bool(cells) and all(_is_number(cell) for cell in cells)
        marks.append("--:" if right else ":--")
    lines = [_line(head), _line(marks)] + [_line(row) for row in body]
    return "\n".join(lines)


def _is_number(text: str) -> bool:
    if text in ("", "-"):
        return True
    try:
        float(text.replace(",", "").replace("%", ""))
    except ValueError:
        return False
    return True


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
