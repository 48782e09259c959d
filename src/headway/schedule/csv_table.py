"""Tables as CSV: times in seconds, whole ones without decimals; reading them back, line by line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from headway.documents import read_bytes
from headway.errors import InputError
from headway.plain import cut
from headway.units import NEVER, SECOND, microseconds

if TYPE_CHECKING:
    import polars as pl

NONE = -1
"""The code for "not given" in every optional column."""


PLAIN = r"^\s*[+-]?([0-9]{1,12}(\.[0-9]{0,6})?|\.[0-9]{1,6})\s*$"
"""Decimal seconds that the fast path reads; the rest (exponents, more digits) goes one by one."""


SURE = float(1 << 50) / SECOND
"""Seconds (36 years) below which six decimals survive as a double, so that rounding finds them again."""


def seconds_column(name: str, us: NDArray[np.int64], *, absent: int | None = None) -> pl.Series:
    """Seconds as Int64 where every value is whole, else as Float64; `absent` becomes null."""
    import polars as pl

    present = None if absent is None else us != absent
    whole, rest = np.divmod(us, SECOND)
    fractional = rest != 0 if present is None else (rest != 0) & present
    values = pl.Series(name, us / SECOND if fractional.any() else whole)
    return with_nulls(values, present)


def seconds_text_column(name: str, us: NDArray[np.int64], *, absent: int | None = None) -> pl.Series:
    """Seconds as exact decimal text where some value is fractional, else as Int64.

    Written to CSV both look alike: whole seconds without decimals, others with those they need.
    """
    import polars as pl

    values = seconds_column(name, us, absent=absent)
    if values.dtype == pl.Int64:
        return values
    whole, rest = np.divmod(np.abs(us), SECOND)
    parts = pl.DataFrame({"sign": us < 0, "whole": whole, "rest": rest})
    fraction = pl.col("rest").cast(pl.String).str.zfill(6).str.strip_chars_end("0")
    text = pl.concat_str(
        pl.when("sign").then(pl.lit("-")).otherwise(pl.lit("")),
        pl.col("whole").cast(pl.String),
        pl.when(pl.col("rest") == 0).then(pl.lit("")).otherwise(pl.lit(".") + fraction),
    )
    present = None if absent is None else us != absent
    return with_nulls(parts.select(text.alias(name)).to_series(), present)


def microseconds_column(texts: pl.Series) -> tuple[NDArray[np.int64], int | None]:
    """Microseconds of a column of texts, and the first row that is no number of seconds.

    Nulls and blanks count as no number; the caller decides whether they are allowed and fills them.
    """
    import polars as pl

    whole = texts.cast(pl.Int64, strict=False)
    if not whole.null_count() and not (whole.abs() > NEVER // SECOND).any():
        return np.array(whole.to_numpy() * SECOND), None
    near = texts.cast(pl.Float64, strict=False)
    if not near.null_count() and (near.abs() < SURE).all():
        return np.rint(near.to_numpy() * SECOND).astype(np.int64), None
    plain = texts.str.contains(PLAIN).fill_null(False)
    if plain.all():
        return _decimal_microseconds(texts), None
    easy = pl.select(pl.when(plain).then(texts).otherwise(pl.lit("0"))).to_series()
    result = _decimal_microseconds(easy)
    for row in np.flatnonzero(~plain.to_numpy()).tolist():
        try:
            value = microseconds(str(texts[row]).strip())
        except ValueError:
            return result, row
        if abs(value) > NEVER:
            return result, row
        result[row] = value
    return result, None


def _decimal_microseconds(texts: pl.Series) -> NDArray[np.int64]:
    """Microseconds of texts that all match PLAIN."""
    import polars as pl

    trimmed = texts.str.strip_chars()
    if not trimmed.str.contains(".", literal=True).any():
        return np.array(trimmed.cast(pl.Int64).to_numpy() * SECOND)
    parts = trimmed.str.strip_chars_start("+-").str.split_exact(".", 1).struct.unnest()
    whole = parts.to_series(0).replace("", "0").cast(pl.Int64).to_numpy()
    rest = parts.to_series(1).fill_null("").str.pad_end(6, "0").cast(pl.Int64).to_numpy()
    magnitude = whole * SECOND + rest
    signed: NDArray[np.int64] = np.where(trimmed.str.starts_with("-").to_numpy(), -magnitude, magnitude)
    return signed


def with_nulls(values: pl.Series, present: NDArray[np.bool_] | None) -> pl.Series:
    """A column with null where a value is not present; None: all are."""
    import polars as pl

    if present is None or present.all():
        return values
    nulled = pl.select(pl.when(pl.Series(present)).then(values).otherwise(None)).to_series()
    return nulled.alias(values.name)


# A CSV file with a header, read as columns of numbers; a bad cell is told with file, line and field.

INTEGER = r"^\s*[+-]?[0-9]{1,18}(\.0*)?\s*$"
"""Whole numbers, also as other tools write them: 12.0."""
DUPLICATED = re.compile(r"_duplicated_[0-9]+$")
"""What polars puts behind a name that is there already."""
PARQUET = b"PAR1"
"""How Parquet files begin."""


class CsvTable:
    """Columns by name, in any order; names are compared without case and surrounding blanks."""

    def __init__(self, path: Path, needed: Sequence[str]) -> None:
        self.path = path
        self._source = _once(path)
        self.texts = _read(path, self._source)
        for name in needed:
            if name not in self.texts.columns:
                raise InputError(
                    f"there is no such column; the header must name {', '.join(needed)}",
                    file=path,
                    line=1,
                    field=name,
                )

    def __len__(self) -> int:
        return self.texts.height

    def __contains__(self, name: str) -> bool:
        return name in self.texts.columns

    def integers(self, name: str, *, absent: int | None = None) -> NDArray[np.int64]:
        """Whole numbers; `absent` stands for an empty cell, which is an error where it is None."""
        import polars as pl

        quick = self.texts[name].cast(pl.Int64, strict=False)
        if quick.null_count() == (0 if absent is None else self.texts[name].null_count()):
            return np.array((quick if absent is None else quick.fill_null(absent)).to_numpy())
        texts = self._filled(name, absent)
        whole = texts.str.contains(INTEGER)
        if not whole.all():
            self._complain(name, int(np.argmin(whole.to_numpy())), "a whole number")
        digits = texts.str.strip_chars().str.replace(r"\.0*$", "").str.strip_chars_start("+")
        return np.array(digits.cast(pl.Int64).to_numpy())

    def times(self, name: str, *, absent: int | None = None) -> NDArray[np.int64]:
        """Seconds as microseconds; `absent` (µs) stands for an empty cell."""
        values, bad = microseconds_column(self._filled(name, None if absent is None else 0))
        if bad is not None:
            self._complain(name, bad, "a number of seconds")
        return values if absent is None else np.where(self._blank(name), absent, values)

    def floats(self, name: str) -> NDArray[np.float64]:
        """Numbers; an empty cell is NaN."""
        import polars as pl

        numbers = self.texts[name].str.strip_chars().cast(pl.Float64, strict=False)
        bad = numbers.is_null().to_numpy() & ~self._blank(name)
        if bad.any():
            self._complain(name, int(np.argmax(bad)), "a number")
        return np.array(numbers.fill_null(float("nan")).to_numpy())

    def flags(self, name: str) -> NDArray[np.bool_]:
        """0 or 1."""
        values = self.integers(name, absent=0)
        bad = (values != 0) & (values != 1)
        if bad.any():
            self._complain(name, int(np.argmax(bad)), "0 or 1")
        return np.asarray(values == 1)

    def codes(self, name: str, names: Sequence[str]) -> NDArray[np.int64]:
        """The place of each text among `names`; -1 for an empty cell."""
        import polars as pl

        texts = self.texts[name].str.strip_chars()
        codes = texts.replace_strict(
            list(names), list(range(len(names))), default=None, return_dtype=pl.Int64
        )
        blank = self._blank(name)
        bad = codes.is_null().to_numpy() & ~blank
        if bad.any():
            self._complain(name, int(np.argmax(bad)), f"one of {', '.join(names)}")
        return np.array(codes.fill_null(NONE).to_numpy())

    def labelled(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        """Codes of a column of names, and the names in alphabetical order; -1 for an empty cell."""
        names = sorted(set(self.texts[name].drop_nulls().str.strip_chars()) - {""})
        return self.codes(name, names), names

    def line(self, row: int) -> int:
        """The line of the file on which a row ends, counted from 1."""
        with _opened(self._source) as file:
            reader = csv.reader(file)
            rows = (cells for cells in reader if any(cells))
            with suppress(csv.Error):  # a cell too long to be one
                for number, _ in enumerate(rows, start=-1):
                    if number == row:
                        return reader.line_num
        return row + 2

    def _blank(self, name: str) -> NDArray[np.bool_]:
        return np.asarray((self.texts[name].fill_null("").str.strip_chars() == "").to_numpy())

    def _filled(self, name: str, absent: int | None) -> pl.Series:
        texts = self.texts[name].fill_null("")
        return texts if absent is None else texts.str.replace(r"^\s*$", str(absent))

    def _complain(self, name: str, row: int, wanted: str) -> NoReturn:
        text = self.texts[name][row]
        found = "the cell is empty" if text is None or not text.strip() else f"{cut(text.strip())} was found"
        raise InputError(
            f"{found} where {wanted} is expected; correct the cell",
            file=self.path,
            line=self.line(row),
            field=name,
        )


LONGEST_PIPE = 4 << 30
"""Bytes of a table that comes through a pipe."""


def _once(path: Path) -> Path | bytes:
    """What to read the table from: a regular file, or the bytes of a pipe, which can be read only once."""
    try:
        is_pipe = path.exists() and not path.is_file() and not path.is_dir()
        return read_bytes(path, LONGEST_PIPE) if is_pipe else path
    except OSError as error:
        raise _unreadable(error, path) from None


def _unreadable(error: OSError, path: Path) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("there is no such file; check the name", file=path)
    if isinstance(error, IsADirectoryError):
        return InputError("is a folder; give the table in CSV", file=path)
    return InputError(f"cannot be read: {error.strerror}; check its permissions", file=path)


FIRST = 512
"""Bytes by which a file is known that is no table in CSV."""


def _begins(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:FIRST]
    with source.open("rb") as file:
        return file.read(FIRST)


def _opened(source: Path | bytes) -> TextIO:
    raw = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")


def _read(path: Path, source: Path | bytes) -> pl.DataFrame:
    import polars as pl

    try:
        begins = _begins(source)
        if begins.startswith(PARQUET):
            raise InputError("is a Parquet file; give the CSV file next to it", file=path)
        if begins.startswith(b"\x1f\x8b"):
            raise InputError("is packed with gzip; unpack it: a table in CSV is needed", file=path)
        if b"\0" in begins:
            raise InputError("is not text; a table in CSV is needed", file=path)
        frame = pl.read_csv(source, infer_schema=False)
    except OSError as error:
        raise _unreadable(error, path) from None
    except pl.exceptions.NoDataError:
        raise InputError("the file is empty; a header line is needed", file=path) from None
    except pl.exceptions.PolarsError:
        raise _ragged(path, source) from None
    blank = pl.all_horizontal(pl.all().is_null())
    # An apostrophe before what a spreadsheet would take for a formula is no part of the text.
    plain = frame.filter(~blank).with_columns(pl.all().str.replace(r"^'([=+@-])", "$1"))
    names = [DUPLICATED.sub("", name).strip().lower() for name in plain.columns]
    twice = next((name for name in names if name and names.count(name) > 1), "")
    if twice:
        raise InputError(f"the column {twice} is there twice; remove one", file=path, line=1)
    return plain.rename({old: new for old, new in zip(plain.columns, names, strict=True) if new})


def _ragged(path: Path, source: Path | bytes) -> InputError:
    """Say which line is not a row of the table."""
    try:
        with _opened(source) as file:
            reader = csv.reader(file)
            width = len(next(reader))
            for cells in reader:
                if len(cells) > width:
                    return InputError(
                        f"{len(cells)} fields were found where the header names {width}; correct the line",
                        file=path,
                        line=reader.line_num,
                    )
    except (UnicodeDecodeError, csv.Error, StopIteration):
        pass
    return InputError("this is not a CSV table in UTF-8; check that it is the right file", file=path)
