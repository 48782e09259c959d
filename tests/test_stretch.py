"""Stretched times are exact fractions, rounded up once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.engine.stretch import MOST, stretched
from headway.jit.kernels import INTERPRETED, entry

if INTERPRETED:
    stretch = stretched
else:

    @entry
    def stretch(time: int, by: int, over: int) -> int:
        return stretched(time, by, over)


factors = st.integers(1, MOST - 1)


@given(time=st.integers(0, 10**14), by=factors, over=factors)
def test_stretched_is_the_ceiling_of_the_exact_quotient(time: int, by: int, over: int) -> None:
    exact = -(-time * by // over)
    if exact < 1 << 62:
        assert stretch(time, by, over) == exact
