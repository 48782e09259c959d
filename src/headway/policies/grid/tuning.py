"""On how many processors a task is completed first, by asking for its completion on some numbers of them.

    bounded      every number from the fewest to the most that the task may have there
    exhaustive   the same: beyond the most no time is defined
    binary       both ends, then again and again the middle, keeping the end that completes earlier

            1                3                 5      7.0 at 1 and 7.4 at 5: the upper half goes
            1       2        3                        7.0 at 1 and 7.33 at 3: the upper half goes
    answer          2                                 6.5, the best of all that were asked

Of numbers with equal completions the smallest is the answer. ``completion(grid, server, task, n)`` is what
the searches ask, and all that they know of a cluster.
"""

from __future__ import annotations

from typing import Any

from headway.jit.kernels import routine
from headway.policies.grid.plan import completion
from headway.policies.grid.tables import BINARY


@routine
def tune(grid: Any, server: int, task: int, fewest: int, most: int, method: int) -> tuple[int, int]:
    """The earliest completion among the numbers that the method asks for, and the processors it takes."""
    best, procs = completion(grid, server, task, fewest), fewest
    if method != BINARY:
        for n in range(fewest + 1, most + 1):
            other = completion(grid, server, task, n)
            if other < best:
                best, procs = other, n
        return best, procs
    if most == fewest:
        return best, procs
    low, high, at_low, at_high = fewest, most, best, completion(grid, server, task, most)
    if at_high < best:
        best, procs = at_high, most
    while high - low > 1:
        middle = (low + high) // 2
        other = completion(grid, server, task, middle)
        if other < best or (other == best and middle < procs):
            best, procs = other, middle
        if at_low <= at_high:
            high, at_high = middle, other
        else:
            low, at_low = middle, other
    return best, procs
