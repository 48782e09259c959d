"""What was known of a site at an instant: not what became of its nodes later, nor what was used later.

A node or partition that is away at the instant is taken to stay away for as long again as it has been: when
it comes back is not known. Where no file tells usage, it is what the log's runs have added until then.
"""

from __future__ import annotations

from dataclasses import replace

from headway.platform import Platform
from headway.policies.slurm.record import misses_usage
from headway.site import Site
from headway.site.usage import usage_of_log


def known_at(platform: Platform, instant: int) -> Platform:
    """The machine as it was known at an instant (s since 1970)."""
    if platform.site is None:
        return platform
    return replace(platform, site=site_at(platform.site, instant))


def site_at(site: Site, instant: int) -> Site:
    """The site as it was known at an instant (s since 1970)."""
    if misses_usage(site):
        site = replace(site, usage=usage_of_log(site, instant), exported=None)
    if not site.events:
        return site
    nodes, partitions = ({getattr(event, name) for event in site.events} for name in ("node", "partition"))
    return replace(
        site,
        nodes=tuple(replace(one, state="IDLE") if one.name in nodes else one for one in site.nodes),
        partitions=tuple(
            replace(one, state="UP") if one.name in partitions else one for one in site.partitions
        ),
        events=tuple(
            replace(event, end=2 * instant - event.start + 1)
            for event in site.events
            if event.start <= instant and (event.end is None or event.end > instant)
        ),
    )
