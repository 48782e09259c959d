"""Tables of statistics as text, CSV and LaTeX; one layout for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

PERCENT = frozenset(("change", "change_low", "change_high", "blocks_lower"))
"""Columns that are shares, printed in percent."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def text(table: pl.DataFrame) -> str:
    """Aligned columns, numbers to four digits, shares in percent; for reading."""
    heads = [_head(name) for name in table.columns]
    rows = [
        [_shown(name, value) for name, value in zip(table.columns, row, strict=True)] for row in table.rows()
    ]
    numeric = _numeric(table)
    widths = [max(len(line[place]) for line in [heads, *rows]) for place in range(len(heads))]
    lines = [_line(heads, widths, numeric), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(row, widths, numeric) for row in rows)]) + "\n"


def csv(table: pl.DataFrame) -> str:
    """Every digit, names as they are; for other programs."""
    return str(table.write_csv())


def latex(table: pl.DataFrame, caption: str = "", label: str = "") -> str:
    """A booktabs table (\\usepackage{booktabs}), digits as in the text."""
    columns = "".join("r" if numeric else "l" for numeric in _numeric(table))
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{escaped(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(escaped(_head(name)) for name in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(cells) + r" \\" for cells in _latex_rows(table)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def escaped(words: str) -> str:
    """Text that LaTeX prints as it is.

    >>> escaped("50 % of a_b")
    '50 \\\\% of a\\\\_b'
    """
    return "".join(_SPECIAL.get(mark, mark) for mark in words)


def number(value: float) -> str:
    """Four digits, whole numbers in full.

    >>> number(1234567.0), number(0.123456), number(12.0), number(-0.00001234)
    ('1234567', '0.1235', '12', '-1.234e-05')
    """
    if math.isnan(value) or math.isinf(value):
        return str(value)
    if value == int(value) or abs(value) >= 1000:
        return str(round(value))
    return f"{value:.4g}"


def _latex_rows(table: pl.DataFrame) -> Iterator[list[str]]:
    for row in table.rows():
        cells = []
        for name, value in zip(table.columns, row, strict=True):
            shown = escaped(_shown(name, value))
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            cells.append(shown.replace("-", "$-$", 1) if is_number and shown.startswith("-") else shown)
        yield cells


def _shown(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if name in PERCENT:
        sign = "+" if name != "blocks_lower" and value > 0 else ""
        return f"{sign}{100 * value:.1f} %"
    return number(float(value)) if isinstance(value, float) else str(value)


def _head(name: str) -> str:
    return name.replace("_", " ")


def _numeric(table: pl.DataFrame) -> list[bool]:
    return [kind.is_numeric() for kind in table.dtypes]


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    parts = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    )
    return "  ".join(parts).rstrip()
