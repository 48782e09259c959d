"""What a paper says, what we get, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Verdict = Literal["agrees", "in part", "differs", "not tested"]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper against our numbers. `remark` says why a verdict is what it is."""

    claim: str
    paper: str
    ours: str
    verdict: Verdict
    remark: str = ""


@dataclass
class Reproduction:
    """What came of reproducing a paper: claims with verdicts, tables by title, files written."""

    title: str
    claims: list[Claim] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    """Title -> rows of texts, the first row the names of the columns."""
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def claims_table(claims: Sequence[Claim]) -> list[list[str]]:
    """Rows of texts, the first row the names of the columns."""
    rows = [["claim", "paper says", "we get", "verdict", "remark"]]
    return rows + [[c.claim, c.paper, c.ours, c.verdict, c.remark] for c in claims]


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


def share_text(value: float | None) -> str:
    """0.123 as "12 %"; a dash for nothing.

    >>> share_text(0.123), share_text(None)
    ('12 %', '-')
    """
    return "-" if value is None else f"{100 * value:.0f} %"


def change_text(ratio: float | None) -> str:
    """A ratio with / without as what it is worth: 0.9 is "10 % better".

    >>> change_text(0.9), change_text(1.25), change_text(1.0)
    ('10 % better', '25 % worse', 'equal')
    """
    if ratio is None:
        return "-"
    percent = round(100 * abs(1 - ratio))
    return "equal" if percent == 0 else f"{percent} % {'better' if ratio < 1 else 'worse'}"


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
