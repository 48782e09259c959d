"""Numbers and times for people."""

from __future__ import annotations

from html import escape

from headway.plain import number_text
from headway.units import span_text

Number = int | float | None


def number(value: Number) -> str:
    """Thousands apart, four significant digits of small ones, a dash for none.

    >>> number(12345.6), number(0.123456), number(-7), number(None)
    ('12,346', '0.1235', '−7', '–')
    """
    return _minus(number_text(value, "–"))


def span(seconds: Number) -> str:
    """A time in its two largest units, a dash for none.

    >>> span(4000), span(-90), span(None)
    ('1 h 6 min', '−90 s', '–')
    """
    return "–" if seconds is None else _minus(span_text(seconds))


def _minus(text: str) -> str:
    """A number with the sign that printers set."""
    return f"−{text[1:]}" if text.startswith("-") else text


def percent(share: Number, places: int = 1) -> str:
    """A share of 1 in percent."""
    return "–" if share is None else f"{100 * share:.{places}f} %"


def change(share: Number) -> str:
    """A relative change with its sign, to a tenth of a percent.

    >>> change(-0.1234), change(0.004), change(3.2), change(-0.0001), change(-0.99999)
    ('−12.3 %', '+0.4 %', '+320 %', '≈ 0 %', '−100 %')
    """
    if share is None:
        return ""
    if abs(share) < 0.0005:
        return "≈ 0 %"
    text = f"{100 * abs(share):.0f}" if abs(share) >= 0.9995 else f"{100 * abs(share):.1f}"
    return f"{'−' if share < 0 else '+'}{text} %"


def quantity(value: Number, unit: str) -> str:
    """A number in the way that suits its unit."""
    return span(value) if unit == "s" else number(value)


def strong(text: str) -> str:
    """HTML: the text in bold."""
    return f"<b>{escape(text)}</b>"
