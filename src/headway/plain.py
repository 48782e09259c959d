"""What people are told: no control characters, nothing endless, one job and two jobs; how far a run is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

Progress = Callable[[int, int], None]
"""Is told how much is done, and of how much."""
Notify = Callable[[str], None]
"""Is told a sentence now and then."""

LONGEST = 800
"""Characters of a sentence that are shown; what is in the middle of a longer one is left out."""

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str, escape: str = "\\x{:02x}") -> str:
    """Control characters, marks that turn the direction of writing, and halves of characters as escapes.

    A byte that is no UTF-8, which Python keeps as half a character, is shown as the byte.

    >>> plain("a\\x1b[31mb"), plain(b"Caf\\xe9".decode("utf-8", "surrogateescape"))
    ('a\\\\x1b[31mb', 'Caf\\\\xe9')
    """
    return _CONTROL.sub(lambda found: escape.format(_value(ord(found[0]))), text)


def _value(character: int) -> int:
    return character - 0xDC00 if 0xDC80 <= character <= 0xDCFF else character


def one_line(text: str, most: int = LONGEST) -> str:
    """A text on one line, without control characters and cut in its middle where it is too long.

    >>> one_line("a  sentence\\nof two lines")
    'a sentence of two lines'
    """
    line = plain(" ".join(text[: 100 * most].split()))
    return line if len(line) <= most else f"{line[: most // 2]} ... {line[-most // 2 :]}"


def cut(text: str, most: int = 40) -> str:
    """The beginning of a text, quoted, for a sentence that is about it."""
    return repr(text if len(text) <= most else f"{text[:most]}...")


def close(word: str, known: Iterable[str]) -> str:
    """The known word that may have been meant, to stand behind one that is not known.

    >>> close("esay", ["easy", "fcfs"]), close("lem", ["easy", "fcfs"])
    (" (did you mean 'easy'?)", '')
    """
    from difflib import get_close_matches

    known = list(known)
    begun = [each for each in known if len(word) > 2 and each.startswith(word.lower())]
    found = begun or get_close_matches(word.lower(), known, n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def number_text(value: float | None, none: str) -> str:
    """A number for people: thousands apart, four significant digits of small ones; ``none`` for none.

    >>> number_text(12345.6, "-"), number_text(0.123456, "-"), number_text(None, "-")
    ('12,346', '0.1235', '-')
    """
    if value is None:
        return none
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def counted(count: int, what: str) -> str:
    """So many of something, in the singular or the plural.

    >>> counted(1, "week"), counted(12345, "job"), counted(2, "policy")
    ('1 week', '12,345 jobs', '2 policies')
    """
    many = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{count:,} {what if count == 1 else many}"


def listed(items: Sequence[str]) -> str:
    """Items as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def signed_percent(share: float, decimals: int = 0) -> str:
    """A relative change with its sign; a zero has none.

    >>> signed_percent(-0.34), signed_percent(-0.004), signed_percent(-0.004, 1), signed_percent(12.34)
    ('-34%', '0%', '-0.4%', '+1,234%')
    """
    return re.sub(r"^[+-](?=0(\.0+)?%$)", "", f"{share:+,.{decimals}%}")
