"""Whole columns of times: int64 microseconds inside, seconds in tables and files, exact both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.units import NEVER, SECOND, microseconds

if TYPE_CHECKING:
    import polars as pl

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
