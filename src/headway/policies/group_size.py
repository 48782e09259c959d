"""Sizes of redirection's two groups; pure arithmetic, nothing compiled."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

from headway.errors import UsageError
from headway.policies.spec import Spec


def group_sizes(spec: Spec, procs: int) -> tuple[int, int]:
    """Processors of the principal and of the redirection group, for a machine given as `procs`.

    added: m and floor(alpha m). share: m and floor(alpha m / (1 - alpha)). split: m - floor(alpha m) and
    floor(alpha m). `group` gives the second number itself. alpha counts as the decimal that was written, so
    that 0.29 of 100 is 29.
    """
    size = spec.params["size"]
    if "group" in spec.params:
        redirected = int(str(spec.params["group"]))
    else:
        alpha = Decimal(str(spec.params["alpha"]))
        part = alpha * procs / (1 - alpha) if size == "share" else alpha * procs
        redirected = int(part.to_integral_value(ROUND_FLOOR))
    if size != "split":
        return procs, redirected
    if redirected >= procs:
        raise UsageError(
            f"redirection: a group of {redirected} leaves nothing of {procs} processors to the other one; "
            "give a smaller group or size=added"
        )
    return procs - redirected, redirected


def added_procs(spec: Spec, procs: int) -> int:
    """Processors a policy uses besides the machine's: 0 for all but redirection."""
    return sum(group_sizes(spec, procs)) - procs if spec.name == "redirection" else 0
