"""All metrics of a plain simulation by one compiled pass over the engine's tables.

Plain means that every job ran once, in one piece, with the size and times of the log, on one pool of counted
processors. The metrics of so many small simulations take longer than the simulations themselves, if each is
computed by itself over columns of a schedule; :mod:`headway.metrics.catalogue` does that, says what each of
them means, and gives the same bits.
"""

from __future__ import annotations

import math
from enum import IntEnum
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.engine.tables import Ended, State
from headway.jit.kernels import entry, kernel
from headway.metrics.catalogue import Value
from headway.metrics.sample import check_bounds, utilization
from headway.metrics.statistics import HUGE
from headway.policies.prepare import UNBOUNDED
from headway.units import SECOND, microseconds

if TYPE_CHECKING:
    from headway.engine.setup import Jobs


class Row(IntEnum):
    """What is kept of each job: ratios, of which the last is put in order, as the waits are."""

    AREA = 0
    SLOWDOWN = 1
    PER_PROCESSOR = 2
    OF_WALLTIME = 3
    BOUNDED = 4
    WAIT = 5


RATIOS = QUANTILES = 5
"""So many rows are ratios. In the table of their sums the row behind them is of quantiles."""
LAST_OF_ALL = (1 << 63) - 1
"""Where fewer jobs are measured than there are, this time stands at the other places, behind the others."""


class Whole(IntEnum):
    """Entries of the whole numbers; sums of times have two, of the upper and of the lower half of each."""

    WAIT_HIGH = 0
    WAIT_LOW = 1
    FLOW_HIGH = 2
    FLOW_LOW = 3
    QUEUE_HIGH = 4
    QUEUE_LOW = 5
    FIRST = 6
    LAST = 7
    KILLED = 8
    WITH_SLOWDOWN = 9
    WITH_WALLTIME = 10
    LONGEST_QUEUE = 11
    LONGEST_WAIT = 12


class Quantile(IntEnum):
    """Quantiles, and the largest bounded slowdown."""

    MEDIAN_WAIT = 0
    P95_WAIT = 1
    MEDIAN_BOUNDED = 2
    LARGEST_BOUNDED = 3


PERCENTS = MEDIAN, P95 = 50, 95
"""Of the quantiles."""
MOST_PARTS = 12
LOW_HALF = 0xFFFFFFFF


@kernel
def exact_parts(values: Any, count: int, parts: Any) -> bool:
    """A few numbers with exactly the same sum as the first ``count`` values, of which nothing is left.

    As :func:`headway.metrics.statistics.exact_parts`; False where these are too few, or values too large.
    """
    bits = 1
    while count + 1 >> bits > 0:
        bits += 1
    fours = count - count % 4  # four at a time, for the processor does them side by side; all sums are exact
    a = b = c = d = 0.0
    for place in range(count):
        a = max(a, abs(values[place]))
    for part in range(len(parts)):
        largest = max(max(a, b), max(c, d))
        if largest == 0.0:
            return True
        if not largest < HUGE:
            return False
        coarse = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        total_a = total_b = total_c = total_d = 0.0
        a = b = c = d = 0.0
        for place in range(0, fours, 4):
            high_a, high_b = (values[place] + coarse) - coarse, (values[place + 1] + coarse) - coarse
            high_c, high_d = (values[place + 2] + coarse) - coarse, (values[place + 3] + coarse) - coarse
            total_a, total_b, total_c, total_d = (
                total_a + high_a, total_b + high_b, total_c + high_c, total_d + high_d,
            )  # fmt: skip
            values[place] -= high_a
            values[place + 1] -= high_b
            values[place + 2] -= high_c
            values[place + 3] -= high_d
            a, b = max(a, abs(values[place])), max(b, abs(values[place + 1]))
            c, d = max(c, abs(values[place + 2])), max(d, abs(values[place + 3]))
        for place in range(fours, count):
            high = (values[place] + coarse) - coarse
            total_a += high
            values[place] -= high
            a = max(a, abs(values[place]))
        parts[part] = (total_a + total_b) + (total_c + total_d)
    return False


@lru_cache(1024)
def places_in_order(count: int) -> NDArray[np.int64]:
    """The places of ``count`` ascending values that quantiles and the largest are read from: the only ones
    that have to be in order."""
    below = [int((count - 1) * (percent / 100)) for percent in PERCENTS]
    return np.unique(np.minimum([*below, *(place + 1 for place in below), count], count - 1))


@kernel
def between(values: Any, count: int, percent: int) -> float:
    """The quantile of values in order, as :func:`headway.metrics.statistics.sorted_quantile`."""
    place = (count - 1) * (percent / 100)
    below = int(place)
    low, high, share = values[below], values[min(below + 1, count - 1)], place - below
    return float(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))


@entry
def measure(
    submit: Any, procs: Any, walltime: Any, runtime: Any, jobs: Any, runs: Any, cut: int, tau: int,
    ratios: Any, times: Any, whole: Any,
) -> bool:  # fmt: skip
    """Fill ratios, times and whole numbers; False where the simulation turns out not to be plain.

    Jobs are in order of submission. The first and the last ``cut`` of them are not measured. ``ratios`` and
    ``times`` are one table, read as floats and as whole numbers.
    """
    count = len(submit)
    whole[:] = 0
    whole[Whole.FIRST] = submit[0]
    whole[Whole.LAST] = submit[0]
    measured = slowdowns = walltimes = 0
    for job in range(count):
        run = jobs.run[job]
        if run < 0 or jobs.stretch_over[job] > 0 or jobs.wall[job] >= UNBOUNDED:
            return False
        how = runs.ended[run]
        if how != Ended.BY_ITSELF and how != Ended.AT_WALLTIME:
            return False
        start, end = runs.start[run], runs.end[run]
        wait, flow, held = start - submit[job], end - submit[job], end - start
        ratios[Row.AREA, job] = float(procs[job]) * float(held) / SECOND
        whole[Whole.LAST] = max(whole[Whole.LAST], end)
        whole[Whole.QUEUE_HIGH] += wait >> 32
        whole[Whole.QUEUE_LOW] += wait & LOW_HALF
        if job < cut or job >= count - cut:
            continue
        p = min(runtime[job], walltime[job])
        times[Row.WAIT, measured] = wait
        whole[Whole.WAIT_HIGH] += wait >> 32
        whole[Whole.WAIT_LOW] += wait & LOW_HALF
        whole[Whole.FLOW_HIGH] += flow >> 32
        whole[Whole.FLOW_LOW] += flow & LOW_HALF
        if how == Ended.AT_WALLTIME:
            whole[Whole.KILLED] += 1
        if p > 0:
            ratios[Row.SLOWDOWN, slowdowns] = flow / p
            slowdowns += 1
        bound = float(max(p, tau, 1))
        ratios[Row.BOUNDED, measured] = max(flow / bound, 1.0)
        ratios[Row.PER_PROCESSOR, measured] = max(flow / (procs[job] * bound), 1.0)
        if walltime[job] > 0:
            ratios[Row.OF_WALLTIME, walltimes] = (wait + walltime[job]) / walltime[job]
            walltimes += 1
        measured += 1
    for place in range(measured, count):
        times[Row.WAIT, place] = times[Row.BOUNDED, place] = LAST_OF_ALL
    whole[Whole.WITH_SLOWDOWN] = slowdowns
    whole[Whole.WITH_WALLTIME] = walltimes
    return True


@entry
def sum_up(submit: Any, runs: Any, ratios: Any, times: Any, measured: int, whole: Any, found: Any) -> bool:
    """Write down the parts of the sums of ratios, quantiles, and the longest queue; False where sums fail.

    Waits and bounded slowdowns are in ascending order where they are read (:func:`places_in_order`), and runs
    in that of their starts, as they began. The queue is longest when somebody has just joined: so many had
    come until then, and so many had left.
    """
    found[QUANTILES, Quantile.MEDIAN_WAIT] = between(times[Row.WAIT], measured, MEDIAN)
    found[QUANTILES, Quantile.P95_WAIT] = between(times[Row.WAIT], measured, P95)
    found[QUANTILES, Quantile.MEDIAN_BOUNDED] = between(ratios[Row.BOUNDED], measured, MEDIAN)
    found[QUANTILES, Quantile.LARGEST_BOUNDED] = ratios[Row.BOUNDED, measured - 1]
    whole[Whole.LONGEST_WAIT] = times[Row.WAIT, measured - 1]
    for row in range(RATIOS):
        count = measured
        if row == Row.AREA:
            count = len(submit)
        elif row == Row.SLOWDOWN:
            count = whole[Whole.WITH_SLOWDOWN]
        elif row == Row.OF_WALLTIME:
            count = whole[Whole.WITH_WALLTIME]
        if not exact_parts(ratios[row], count, found[row]):
            return False
    longest = left = 0
    for come in range(len(submit)):
        while left < len(submit) and runs.start[left] <= submit[come]:
            left += 1
        longest = max(longest, come + 1 - left)
    whole[Whole.LONGEST_QUEUE] = longest
    return True


def metrics_at_once(
    state: State, jobs: Jobs, capacity: int, dropped: int, tau: float, trim: float
) -> dict[str, Value] | None:
    """The metrics of the catalogue in its order, by name; None of no jobs, or where these are not plain.

    ``tau`` in seconds, ``trim`` in percent at either end, as of a `Sample`. Times are floats.
    """
    check_bounds(tau, trim)
    count = len(jobs.submit)
    if not count or state.clock.runs != count:
        return None
    cut, bound = int(count * trim / 100), microseconds(tau)
    measured = count - 2 * cut
    ratios = np.empty((len(Row), count))
    times = ratios.view(np.int64)
    whole, sums = np.empty(len(Whole), np.int64), np.zeros((RATIOS + 1, MOST_PARTS))
    if not measure(
        jobs.submit, jobs.procs, jobs.walltime, jobs.runtime, state.jobs, state.runs, cut, bound,
        ratios, times, whole,
    ):  # fmt: skip
        return None
    # Slowdowns, too: numbers above zero are in the order of their bits.
    times[Row.BOUNDED :].partition(places_in_order(measured))
    if not sum_up(jobs.submit, state.runs, ratios, times, measured, whole, sums):
        return None
    *parts, (median_wait, p95_wait, median, largest, *_) = sums.tolist()
    area, slowdown, per_processor, of_walltime, bounded = map(fsum, parts)
    (
        wait_high, wait_low, flow_high, flow_low, queue_high, queue_low, first, last, killed,
        with_slowdown, with_walltime, longest, longest_wait,
    ) = whole.tolist()  # fmt: skip
    span = last - first
    return {
        "jobs": measured,
        "dropped": dropped,
        "makespan": span / SECOND,
        "utilization": utilization(area, capacity, span),
        "wasted_area": 0.0,
        "swap_area": 0.0,
        "load_area": 0.0,
        "mean_wait": ((wait_high << 32) + wait_low) / (measured * SECOND),
        "median_wait": median_wait / SECOND,
        "p95_wait": p95_wait / SECOND,
        "max_wait": longest_wait / SECOND,
        "mean_response": ((flow_high << 32) + flow_low) / (measured * SECOND),
        "mean_slowdown": slowdown / with_slowdown if with_slowdown else None,
        "slowdown_excluded": measured - with_slowdown,
        "mean_bsld": bounded / measured,
        "median_bsld": median,
        "max_bsld": largest,
        "mean_pp_bsld": per_processor / measured,
        "mean_walltime_slowdown": of_walltime / with_walltime if with_walltime else None,
        "tau": bound / SECOND,
        "killed": killed,
        "mean_queue": ((queue_high << 32) + queue_low) / span if span else None,
        "max_queue": longest,
    }
