"""Whether to trust a simulation of a log, and for what: one sentence from its errors."""

from __future__ import annotations

from collections.abc import Sequence

from headway.plain import signed_percent
from headway.replay.errors_by_class import Row

CLOSE = 0.25
"""A mean absolute error of at most this share of the mean wait: single jobs are near their recorded waits."""
FAIR = 0.2
"""A bias of at most this share of the mean wait: the mean is near the recorded one."""


def trust(overall: Row, seeds: Sequence[Row] = ()) -> str:
    """The sentence; `overall` has the errors of all jobs compared, `seeds` the same for each seed (s)."""
    mean, bias, error = overall["mean_recorded"], overall["bias"], overall["mean_absolute_error"]
    if not overall["jobs"] or mean is None:
        return "Nothing can be said: no job has a recorded wait."
    if not mean:
        if not error:
            return "Trust it as far as it goes: nobody waited in the log, and nobody waits in the simulation."
        return "Do not trust its waits: nobody waited in the log, but jobs wait in the simulation."
    off, each = abs(bias) / mean, error / mean
    way = "too long" if bias > 0 else "too short"
    mean_words = f"the mean wait is {off:.0%} {way}" if off >= 0.005 else "the mean wait is right"
    mean_words += _band(mean, seeds)
    each_words = f"a job's wait is off by {each:.0%} of the mean"
    if each <= CLOSE:
        return f"Trust it for single jobs and for means: {mean_words}, and {each_words}."
    if off <= FAIR:
        return f"Trust it for means, not for single jobs: {mean_words}, but {each_words}."
    return (
        f"Do not trust its waits: {mean_words}. Use it only to compare policies with each other, and only "
        f"where they differ by much more than {off:.0%}."
    )


def _band(mean: float, seeds: Sequence[Row]) -> str:
    """What the phases of the clocks make of the mean."""
    if len(seeds) < 2:
        return ""
    offs = [row["bias"] / mean for row in seeds]
    low, high = signed_percent(min(offs)), signed_percent(max(offs))
    return f" ({low} to {high} over {len(seeds)} phases of the controller's clocks)"
