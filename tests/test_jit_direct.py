"""Kernels that are translated from their source give what plain Python gives, beside those left to numba."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from headway import jit

pytestmark = pytest.mark.skipif(not jit.TUNED, reason="nothing is compiled, or numba is left as it is")
if jit.TUNED:
    from headway import jit_direct

LARGE = 1 << 60
NUMBERS = [-LARGE, -7, -2, -1, 0, 1, 2, 3, 8, 63, LARGE]


class Row(IntEnum):
    FIRST = 0
    SECOND = 1


def arithmetic(a: int, b: int) -> int:
    """Steps of whole numbers, and truth values among them."""
    c = a + 3 * b - (a > b) + (a & 12) - (b | 5) + (a ^ b)
    c -= -b
    return int(c + ~a + (a >> 3) + (b << 2) + a // 7 - a % 7 + b // -3 + b % -3 + min(a, b, 4) * max(a, b))


def conditions(a: int, b: int) -> int:
    """What need not be looked at is not: the division by zero comes last."""
    if b != 0 and a // b > 1:
        return 1
    if not (a < b or a == 3) and 0 <= b < a < 9:
        return 2
    both = a > 1 and b > 1
    either = a > 1 or bool(b)
    among = a in (1, 2, 8) or b not in (0, Row.SECOND)
    return (100 if both else 10) + int(either) * 5 + (1000 if among else 0) + (a == b) * 7 + bool(a and b)


def loops(a: int, b: int) -> int:
    """Loops of both kinds, left early and gone on with."""
    total, last = 0, -1
    for i in range(5):
        if i == 3:
            continue
        for j in range(i, -2, -2):
            total += i * j
            if total > 20:
                break
        last = i
    while True:
        total += 1
        if total % 5 == 0:
            break
    while a > 0 and total < 60:
        a -= 1
        total += 2
    return total * 10 + last + a + b


def pair(a: int, b: int) -> tuple[int, bool]:
    """Two things at once."""
    return (a, True) if a > b else (b, a == b)


def swapped(a: int, b: int) -> int:
    """All of the right is worked out before anything of the left changes."""
    a, b = b, a
    larger, known = pair(a, b)
    return larger + (1 if known else 2) + a - 2 * b


def fractions(a: int, b: int) -> float:
    """Numbers with a fraction, with whole ones among them."""
    x = 0.5 * a + b
    x += a
    y = float(b) - 1.5
    if x > b and x != y:
        x = x - y * 2
    return x + int(y) + (1.0 if x <= 3 else 0.25) + (a / 4)


def divided(a: int, b: int) -> int:
    """An error that numba raises."""
    return a // b + a % b


PLAIN = (arithmetic, conditions, loops, swapped, fractions)


def two_types(a: int, b: int) -> float:
    """A variable of two types is left to numba."""
    x: Any = 0
    if a > b:
        x = 0.5
    return float(x + a)


def numbers_by_or(a: int, b: int) -> int:
    """``or`` of numbers gives one of them, which is left to numba."""
    return a or b


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of this file are ours."""
    monkeypatch.setattr(jit_direct, "OURS", __name__)
    monkeypatch.setitem(globals(), "pair", jit.kernel(jit.as_written(pair)))


def compiled(function: Any, kind: Any = jit.kernel) -> tuple[Any, Any]:
    """A kernel, and what Python calls."""
    helper = kind(function)

    def whole(a: int, b: int) -> Any:
        return helper(a, b)

    return helper, jit.unkept(whole, nogil=True, _nrt=False)


def is_translated(helper: Any) -> bool:
    made = next(iter(helper.overloads.values()))
    return hasattr(made.library, "never_raises")


@pytest.mark.parametrize("function", PLAIN)
@pytest.mark.parametrize("kind", [jit.kernel, jit.routine])
def test_a_plain_kernel_gives_what_python_gives(function: Any, kind: Any, here: None) -> None:
    helper, whole = compiled(function, kind)
    small = [number for number in NUMBERS if abs(number) < 1000]
    for a in small:
        for b in small:
            assert whole(a, b) == function_in_python(function)(a, b), (function.__name__, a, b)
    assert is_translated(helper)


def function_in_python(function: Any) -> Any:
    return jit.calling(function, pair=jit.as_written(pair))


@pytest.mark.parametrize("function", [two_types, numbers_by_or])
def test_what_is_not_plain_is_left_to_numba(function: Any, here: None) -> None:
    helper, whole = compiled(function)
    assert all(whole(a, b) == function(a, b) for a in range(-2, 3) for b in range(-2, 3))
    assert not is_translated(helper)


def test_errors_go_up_through_translated_kernels(here: None) -> None:
    helper, whole = compiled(divided)
    assert whole(7, -2) == 7 // -2 + 7 % -2
    with pytest.raises(ZeroDivisionError):
        whole(7, 0)
    assert is_translated(helper)


def on_tables(numbers: Any, small: Any, some: Any, at: int) -> int:
    """Tables of three types: read, written, counted."""
    numbers[Row.SECOND, at] = numbers[0, at] = numbers[0, at] - 5
    numbers[1, at] += small[at, 0] - 300
    small[at, 1] = numbers[0, at]
    some[at] *= 1.5
    some[at] += numbers[1, at] > 0
    return int(numbers.shape[0] * 100 + numbers.shape[1] * 10 + len(small) + small[at, 1])


def test_tables(here: None) -> None:
    helper = jit.kernel(on_tables)

    def whole(numbers: Any, small: Any, some: Any, at: int) -> Any:
        return helper(numbers, small, some, at)

    def tables() -> tuple[Any, ...]:
        small = np.arange(250, 256, dtype=np.uint8).reshape(3, 2)
        return np.arange(900, 908).reshape(2, 4), small, np.linspace(0.0, 1.0, 3)

    ours = tables()
    on_ours: Any = jit.unkept(whole, nogil=True, _nrt=False)
    assert on_ours(*ours, 2) == 243 + (897 & 255)
    assert ours[0].tolist() == [[900, 901, 897, 903], [904, 905, 897 + 254 - 300, 907]]
    assert ours[1].tolist() == [[250, 251], [252, 253], [254, 897 & 255]]
    assert ours[2].tolist() == [0.0, 0.5, 2.5]
    assert is_translated(helper)
