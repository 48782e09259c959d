"""The columns of named nodes in a schedule.csv or a runs.csv, read back."""

from __future__ import annotations

from collections.abc import Sequence

from headway.errors import InputError
from headway.schedule.csv_table import CsvTable
from headway.schedule.shares import COLUMNS, Shares, read_shares


def shares_of(table: CsvTable, known: Sequence[str]) -> Shares | None:
    """The shares of each row; `known` are the names of the site's nodes, where it is still there."""
    if not all(name in table for name in COLUMNS):
        return None
    texts = [table.texts[name].to_list() for name in COLUMNS[:-1]]
    try:
        return read_shares(texts[0], texts[1], texts[2], table.flags(COLUMNS[-1]), known)
    except ValueError as error:
        message, row = error.args
        raise InputError(
            f"{message}; correct the cell", file=table.path, line=table.line(row), field=COLUMNS[0]
        ) from None
