"""The machine of each policy of a comparison: all get as many processors in all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.platform import Platform
from headway.policies.redirection.group_size import added_procs, group_sizes
from headway.policies.spec import Spec


def machines(
    specs: Sequence[Spec], platform: Platform, equal: bool, say: Callable[[str], None]
) -> list[Platform]:
    """One platform per policy.

    Redirection takes the machine as its principal group and a second group besides. The other policies get
    as many more, unless `equal` is false; where several redirections differ, as many as the largest adds.
    """
    if len(platform.clusters) > 1:
        return [platform] * len(specs)  # redirection has the second cluster, and adds nothing
    added = [added_procs(spec, platform.total_procs) for spec in specs]
    most = max(added)
    others = [spec.brief for spec, more in zip(specs, added, strict=True) if not more]
    if not most or not others:
        return [platform] * len(specs)
    total, named = platform.total_procs, ", ".join(others)
    begin = f"redirection adds {most} processors to its {total};"
    if not equal:
        say(f"{begin} left at {total} by --unequal: {named}")
        return [platform] * len(specs)
    if platform.has_nodes:
        say(f"{begin} left at {total}, as the platform has its nodes: {named}")
        return [platform] * len(specs)
    say(f"{begin} given {total + most} too (--unequal leaves them at {total}): {named}")
    return [platform if more else Platform.procs(total + most) for more in added]


def widest(specs: Sequence[Spec], platform: Platform) -> int:
    """Processors of the widest job that every policy can run; all are compared on the same jobs."""
    if len(platform.clusters) > 1:
        return (
            platform.clusters[0].procs
            if any(s.name == "redirection" for s in specs)
            else platform.total_procs
        )
    total = platform.total_procs
    return min(group_sizes(spec, total)[0] if spec.name == "redirection" else total for spec in specs)
