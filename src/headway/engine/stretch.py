"""Times on other processors than the log's: exact fractions, rounded up to the next microsecond once."""

from __future__ import annotations

from headway.jit.kernels import routine

DIGIT = 20
"""Bits of the factor that are multiplied at a time."""
MOST = 1 << 42
"""Factors and divisors stay below this, so that no step leaves 63 bits."""


@routine
def stretched(time: int, by: int, over: int) -> int:
    """ceil(time * by / over), exactly, although the product may not fit into 64 bits."""
    whole, rest = time // over, time % over
    quotient = remainder = 0
    for shift in range(2 * DIGIT, -1, -DIGIT):
        digit = (by >> shift) & ((1 << DIGIT) - 1)
        remainder = (remainder << DIGIT) + rest * digit
        quotient = (quotient << DIGIT) + remainder // over
        remainder %= over
    return int(whole * by + quotient + (remainder > 0))
