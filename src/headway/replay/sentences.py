"""How near a simulation comes to its log, in sentences."""

from __future__ import annotations

from headway.plain import number_text, signed_percent
from headway.replay.errors_by_class import NEAR
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
