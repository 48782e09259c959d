"""How near a simulation comes to its log, in sentences: its score, and whether to trust it, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.plain import number_text, signed_percent
from headway.replay.errors_by_class import NEAR, Row

if TYPE_CHECKING:
    from headway.replay.fidelity import Fidelity

SPANS = dict(zip(NEAR, ("a minute", "ten minutes", "an hour"), strict=True))


def score(found: Fidelity) -> list[str]:
    """Mean and median wait, and how many starts are near, each with its band over the seeds."""
    said = []
    for words, name in (("mean wait", "mean"), ("median wait", "p50")):
        was, ours = found.overall[f"{name}_recorded"], found.overall[f"{name}_simulated"]
        if was is None:
            continue
        text = f"{words}: recorded {number_text(was, '-')} s, simulated {number_text(ours, '-')} s"
        text += f", {signed_percent(ours / was - 1)}" if was else ""
        offs = [seed[f"{name}_simulated"] / was - 1 for seed in found.seeds if was]
        band = f" ({signed_percent(min(offs))} to {signed_percent(max(offs))})" if len(offs) > 1 else ""
        said.append(text + band)
    near = []
    for seconds, words in SPANS.items():
        share, shares = found.overall[f"within_{seconds}"], [one[f"within_{seconds}"] for one in found.seeds]
        if share is not None:
            band = f" ({min(shares):.0%} to {max(shares):.0%})" if len(shares) > 1 else ""
            near.append(f"{share:.0%} within {words}{band}")
    return [*said, f"starts: {', '.join(near)}"] if near else said


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
            return "No job waits, in the log or in the simulation: this says little about waits."
        return "Do not trust its waits: jobs wait in the simulation, but none waited in the log."
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
