"""Run-time estimates for given jobs: Tsafrir's model, and the f-model of older studies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headway.arrays import Ints
from headway.errors import UsageError
from headway.units import SECOND
from headway.workload.models.estimate_values import HOUR, Distinct, histogram


def tsafrir(
    runtime: Ints,
    seed: int,
    longest: int | None = None,
    distinct: Distinct = "linear",
    popular: Mapping[int, float] | None = None,
) -> Ints:
    """Estimates (µs) for jobs of these run times (µs), each at least the run.

    longest: the largest estimate allowed (s); by default the longest run, rounded up to a whole hour.
    Estimates are dealt at random among the jobs they cover. Where too few long ones were drawn for the
    long jobs, the shortest are raised to the longest, as few as possible.
    """
    if len(runtime) == 0:
        return runtime.copy()
    most = int(runtime.max())
    if longest is None:
        longest = max(-(-most // (HOUR * SECOND)), 1) * HOUR
    if longest * SECOND < most:
        raise UsageError(
            f"tsafrir: the longest estimate, {longest} s, is below the longest run, "
            f"{most / SECOND:g} s; raise it"
        )
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = histogram(len(runtime), longest, rng, distinct, popular)
    estimates = np.repeat(drawn.values, drawn.jobs)[::-1] * SECOND
    order = np.argsort(-runtime, kind="stable")
    return deal(runtime, order, raise_shortest(estimates, runtime[order], longest * SECOND), rng)


def raise_shortest(estimates: Ints, runs: Ints, longest: int) -> Ints:
    """Replace the fewest short estimates by the longest so that the k-th longest covers the k-th run.

    Both arrays descend. Raising r of them shifts the others down by r places.
    """
    low, high = 0, len(runs)
    while low < high:
        raised = (low + high) // 2
        if np.all(estimates[: len(runs) - raised] >= runs[raised:]):
            high = raised
        else:
            low = raised + 1
    return np.concatenate([np.full(low, longest, np.int64), estimates[: len(runs) - low]])


def deal(runtime: Ints, order: Ints, estimates: Ints, rng: np.random.Generator) -> Ints:
    """Give each job, longest first, one of the estimates left that cover it, all equally likely."""
    left = estimates.tolist()
    runs = runtime[order].tolist()
    chance = rng.random(len(runs)).tolist()
    last, end = 0, len(runs) - 1
    for k, run in enumerate(runs):
        while last < end and left[last + 1] >= run:
            last += 1
        pick = k + int(chance[k] * (last - k + 1))
        # What is passed over covers this job, hence every later, shorter one too: it may move on.
        left[k], left[pick] = left[pick], left[k]
    dealt = np.empty(len(runs), np.int64)
    dealt[order] = left
    return dealt


def f_model(runtime: Ints, f: float, seed: int) -> Ints:
    """Estimates (µs) run x (1 + U(0, f)), rounded up to whole seconds.

    Unrealistic, and known to be: real estimates are few round values (see `tsafrir`), and a multiple of
    the run leaks its length to the scheduler. Kept for comparison with older studies.
    """
    if f < 0:
        raise UsageError(f"f-model: f must be at least 0, not {f}")
    rng = np.random.Generator(np.random.PCG64(seed))
    estimate = runtime * (1.0 + f * rng.random(len(runtime)))
    whole = np.ceil(estimate / SECOND).astype(np.int64) * SECOND
    return np.maximum(whole, runtime)
