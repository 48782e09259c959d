"""What a simulation that is not true to its log leaves over: the rules of a site switched off one by one.

A rule whose absence brings the simulation nearer to the log is applied wrongly, or with inputs that are not
the site's. One whose absence takes it away from the log matters, and what is not known of it shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.campaign.intervals import quantile
from headway.changes import Case, changed, site_changes, with_parameter
from headway.errors import UsageError
from headway.policies.spec import parse_spec
from headway.replay import Fidelity
from headway.site import Site

SURE = 0.95
"""Level of Student's interval over the seeds outside of which a change is not chance."""
SMALL = 0.05
"""Changes of the error below this share of it do not count."""

_WEIGHTS = {
    "PriorityWeightFairshare": "fair share", "PriorityWeightAge": "priority by age",
    "PriorityWeightJobSize": "priority by size", "PriorityWeightQOS": "priority by QOS",
    "PriorityWeightPartition": "priority by partition", "PriorityWeightAssoc": "priority by association",
}  # fmt: skip


@dataclass(frozen=True)
class Cause:
    """A rule, and what switching it off does; times in seconds, means over the seeds."""

    rule: str
    error: float
    """Mean absolute error of the waits without the rule."""
    change: float
    """How much larger that is than with the rule; below 0 the simulation is closer without it."""
    spread: float | None
    """Standard error of the change over the seeds; None with a single seed."""
    mean_wait: float
    minutes: float
    """Share of the starts within ten minutes of the recorded ones, without the rule."""
    verdict: str

    def describe(self) -> dict[str, Any]:
        """Everything as plain data."""
        return vars(self)


def rules_off(case: Case) -> dict[str, Case]:
    """The rules that the case has, each with the case without it."""
    return _of_site(case) if parse_spec(case.policy).policy.by_site_rules else _plain(case)


def _of_site(case: Case) -> dict[str, Case]:
    site = case.site
    assert site is not None
    config, found = site.config, {}
    if "multifactor" in config.get("PriorityType").lower():
        for name, words in _WEIGHTS.items():
            if config.number(name):
                found[words] = changed(case, f"{name}=0")
    if site_changes.without_limits(site) != site:
        found["limits of QOS and accounts"] = changed(case, "limits=none")
    if len(site.partitions) > 1:
        found["separate partitions"] = changed(case, f"merge={','.join(one.name for one in site.partitions)}")
    if len({one.tier for one in site.partitions}) > 1:
        found["partition tiers"] = case.with_site(_one_tier, "tiers")
    if "memory" in config.get("SelectTypeParameters").lower():
        found["memory as a resource"] = changed(case, "SelectTypeParameters=CR_Core")
    if not config.get("SchedulerType").lower().endswith("builtin"):
        found["backfill"] = changed(case, "SchedulerType=sched/builtin")
    if "none" not in config.get("PreemptType").lower():
        found["preemption"] = changed(case, "PreemptType=preempt/none")
    if site.reservations:
        found["reservations"] = case.with_site(lambda one: replace(one, reservations=()), "reservations")
    if site.events:
        found["down and drained nodes"] = case.with_site(lambda one: replace(one, events=()), "events")
    parameters = parse_spec(case.policy).params
    for name, words in (("epilog", "epilog latency"), ("late", "late backfill cycles")):
        if parameters.get(name, site.delays.get(name, 1)):
            found[words] = replace(case, policy=with_parameter(case.policy, name, 0))
    return found


def _one_tier(site: Site) -> Site:
    return replace(site, partitions=tuple(replace(one, tier=1) for one in site.partitions))


def _plain(case: Case) -> dict[str, Case]:
    """For policies that count processors: rules of theirs, and planning with the times that users ask for."""
    spec = parse_spec(case.policy)
    found = {rule: replace(case, policy=other) for rule, other in spec.policy.without_a_rule().items()}
    if spec.params.get("estimate") == "requested":
        found["requested times in planning"] = replace(
            case, policy=with_parameter(case.policy, "estimate", "exact")
        )
    return found


def possible(cases: dict[str, Case]) -> dict[str, Case]:
    """The cases whose policies the machine can run."""
    found = {}
    for name, case in cases.items():
        try:
            parse_spec(case.policy).policy.on(case.platform, case.workload)
        except UsageError:
            continue
        found[name] = case
    return found


def causes(base: Fidelity, without: dict[str, Fidelity]) -> list[Cause]:
    """The rules ranked: first those without which the simulation is nearest to the log."""
    return sorted((_cause(base, rule, found) for rule, found in without.items()), key=lambda one: one.change)


def _cause(base: Fidelity, rule: str, found: Fidelity) -> Cause:
    pairs = zip(base.seeds, found.seeds, strict=True)
    changes = [after["mean_absolute_error"] - before["mean_absolute_error"] for before, after in pairs]
    mean = float(np.mean(changes))
    spread = float(np.std(changes, ddof=1)) / math.sqrt(len(changes)) if len(changes) > 1 else None
    bound = 0.0 if spread is None else quantile(SURE, len(changes) - 1) * spread
    return Cause(
        rule=rule,
        error=found.error,
        change=mean,
        spread=spread,
        mean_wait=found.overall["mean_simulated"],
        minutes=found.overall["within_600"],
        verdict=_verdict(mean, bound, SMALL * base.error),
    )


def _verdict(mean: float, bound: float, small: float) -> str:
    """What a change of the error says, the true one being within ``bound`` of the mean.

    >>> _verdict(2, 1, small=5), _verdict(500, 1600, small=20), _verdict(500, 100, small=20)
    ('no effect here', 'indistinguishable', 'needed')
    """
    if abs(mean) + bound <= small:
        return "no effect here"
    if abs(mean) <= max(bound, small):
        return "indistinguishable"
    return "closer without it" if mean < 0 else "needed"


def told(base: Fidelity, ranked: Sequence[Cause]) -> list[str]:
    """What is left and where it comes from, in sentences; the largest part first."""
    said = []
    if base.chance is not None and base.error:
        share = min(base.chance / base.error, 1.0)
        said.append(
            f"Chance: two phases of the controller's clocks differ from each other by {base.chance:,.0f} s a "
            f"job, {share:.0%} of the error of {base.error:,.0f} s; no simulation can predict them."
        )
    nearer = [one.rule for one in ranked if one.verdict == "closer without it"]
    needed = [one.rule for one in reversed(ranked) if one.verdict == "needed"]
    idle = [one.rule for one in ranked if one.verdict == "no effect here"]
    unknown = [one.rule for one in ranked if one.verdict == "indistinguishable"]
    if nearer:
        said.append(
            f"Look here first, because the simulation is closer to the log without it: {', '.join(nearer)}."
        )
    elif ranked:
        said.append("No rule clearly makes it worse.")
    if needed:
        said.append(f"The log needs these rules, the most important first: {', '.join(needed)}.")
    if idle:
        said.append(f"These rules have no effect on this log: {', '.join(idle)}.")
    if unknown:
        said.append(
            "The effect of these cannot be distinguished from chance (more --seeds may help): "
            f"{', '.join(unknown)}."
        )
    return said
