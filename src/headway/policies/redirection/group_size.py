"""Sizes of redirection's two groups; pure arithmetic, nothing compiled."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.spec import Spec, make_spec

FINEST = 1 << 42
"""Ratios of speeds have smaller numerators and denominators, so that times are computed exactly."""


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


def place(spec: Spec, platform: Platform) -> tuple[Spec, tuple[int, ...]]:
    """The policy as it runs on a platform, and the processors of its pools.

    On two clusters redirection has the first as its principal group and the second as the other; the spec
    then names that size as its group.
    """
    clusters = platform.clusters
    if spec.name == "reallocation":
        from headway.policies.grid.local_policies import pools_of

        return spec, tuple(pool.procs for pool in pools_of(spec, platform))
    for cluster in clusters:
        if cluster.policy:
            raise UsageError(
                f"cluster {cluster.name!r} has a policy of its own, {cluster.policy}, which only the policy "
                f"reallocation looks at; give that one, or a platform without the key, not {spec.name}"
            )
    if spec.name != "redirection":
        if len(clusters) > 1:
            raise UsageError(
                f"{spec.name} schedules one cluster and this platform has {len(clusters)}; "
                "give a platform of one cluster, or the policy reallocation, which is for several"
            )
        return spec, (platform.total_procs,)
    if len(clusters) == 1:
        return spec, group_sizes(spec, platform.total_procs)
    if len(clusters) > 2:
        raise UsageError(
            f"redirection has two groups and this platform has {len(clusters)} clusters; give one, "
            "or two: the principal group and the redirection group"
        )
    first, second = clusters
    speed_ratio(spec, platform)
    params = {key: value for key, value in spec.params.items() if key != "alpha"}
    given = make_spec("redirection", **params | {"group": second.procs, "size": "added"})
    return given, (first.procs, second.procs)


def speed_ratio(spec: Spec, platform: Platform | None) -> tuple[int, int]:
    """Run times in redirection's second group over those in the first, as a fraction.

    The log's times are taken for those of the first cluster; on one that is twice as fast they are half.
    """
    if platform is None or len(platform.clusters) != 2:
        return 1, 1
    first, second = platform.clusters
    ratio = Fraction(repr(float(first.speed))) / Fraction(repr(float(second.speed)))
    if ratio != 1 and spec.params["restart"] == "checkpoint":
        raise UsageError(
            f"redirection: cluster {first.name!r} has speed {first.speed:g} and {second.name!r} has "
            f"{second.speed:g}, and what a checkpoint saved on one is worth another time on the other; "
            "give both the same speed or restart=scratch"
        )
    if max(ratio.as_integer_ratio()) >= FINEST:
        raise UsageError("redirection: the clusters' speeds have too many decimals; round them")
    return ratio.as_integer_ratio()
