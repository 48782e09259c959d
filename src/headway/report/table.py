"""Tables as HTML that stand in the page without any script, and sort with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from headway.report.words import Number


@dataclass(frozen=True)
class Column:
    """The head of a column; `about` is shown when the pointer rests on it."""

    title: str
    number: bool = False
    about: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Cell:
    """What is read, what is sorted by, and a remark beside it that may be better or worse."""

    text: str
    value: Number | str = None
    remark: str = ""
    verdict: str = ""
    wrap: bool = False


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, brief: bool = False, whole: bool = False
) -> str:
    """`brief` tables print their first rows only; `whole` ones show every row without scrolling."""
    heads = "".join(
        f"<th{_class('number' if column.number else '')}{_title(column.about)}>"
        f"{colour_dot(column.colour)}{breakable(column.title)}</th>"
        for column in columns
    )
    body = "".join(
        "<tr>" + "".join(_cell(cell, column) for cell, column in zip(row, columns, strict=True)) + "</tr>\n"
        for row in rows
    )
    kind = "grid sort brief" if brief else "grid sort"
    frame = "scroll whole" if whole else "scroll"
    return (
        f'<div class="{frame}"><table class="{kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{body}</tbody></table></div>"
    )


def breakable(text: str) -> str:
    """Text whose long words, such as a policy in a file, may go on in the next line after a part of them."""
    return re.sub(r"\S{20,}", lambda word: re.sub(r"([/:(,=])(?=.)", r"\1<wbr>", word[0]), escape(text))


def colour_dot(colour: str) -> str:
    """The mark by which a schedule is known in all charts; nothing for no colour."""
    return f'<i style="background:{colour}"></i>' if colour else ""


def _cell(cell: Cell, column: Column) -> str:
    classes = " ".join(name for name, on in (("number", column.number), ("wrap", cell.wrap)) if on)
    raw = "" if cell.value is None else f"{cell.value}"
    value = "" if cell.value is None and not column.number else f' data-value="{escape(raw)}"'
    remark = f" <small{_class(cell.verdict)}>{escape(cell.remark)}</small>" if cell.remark else ""
    # On a narrow screen a row is a card, and each cell says what it is.
    label = f' data-label="{escape(column.title)}"'
    return f"<td{_class(classes)}{label}{value}><span>{escape(cell.text)}{remark}</span></td>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _title(text: str) -> str:
    return f' title="{escape(text)}"' if text else ""
