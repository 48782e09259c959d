"""Outages in a Gantt chart: maintenance, processors that are down, processors that drain; on a site with
named nodes likewise, and what was reserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.figures.bands import Bands
from headway.figures.clock import Clock
from headway.figures.style import BLACK, GREY
from headway.metrics.over_time import steps
from headway.platform.absences import absences
from headway.schedule import Schedule
from headway.site.happenings import times_of
from headway.units import LONGEST, SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from headway.site import Site

LOOKS: dict[str, dict[str, Any]] = {
    "maintenance": {"facecolor": "#E8E8E8", "edgecolor": GREY, "hatch": "\\\\\\\\", "linewidth": 0.3},
    "down": {"facecolor": BLACK, "edgecolor": BLACK, "linewidth": 0.2, "alpha": 0.75},
    "reserved": {"facecolor": "#F3E6C8", "edgecolor": GREY, "hatch": "////", "linewidth": 0.3},
    "drain": {"facecolor": "none", "edgecolor": GREY, "hatch": "....", "linewidth": 0.3},
}


@dataclass(frozen=True)
class Away:
    """Processors of the chart that somebody took away for a time (µs)."""

    kind: str
    low: int
    high: int
    start: int
    end: int


def all_away(schedule: Schedule, shown: Bands) -> list[Away]:
    """Every outage of the machine, or of the nodes of a site, where the chart has its processors."""
    outages, site = schedule.platform.outages, schedule.platform.site
    if schedule.shares is not None and site is not None:
        return list(_of_site(site, shown, schedule.workload.header.unix_start or 0))
    if outages is None or len(shown.names) != 1:
        return []
    return [Away(o.kind, low, high, o.start, o.over) for o in outages.outages for low, high in o.processors]


def _of_site(site: Site, shown: Bands, origin: int) -> Iterator[Away]:
    """What was reserved, and nodes that were down or drained."""
    band = {name: place for place, name in enumerate(shown.names)}

    def stretches(names: list[str], kind: str, start: int, end: int) -> Iterator[Away]:
        places = sorted(band[name] for name in names if name in band)
        first = 0
        for at in range(1, len(places) + 1):
            if at == len(places) or places[at] != places[at - 1] + 1:
                low, last = int(shown.offsets[places[first]]), places[at - 1]
                high = int(shown.offsets[last] + shown.sizes[last])
                yield Away(kind, low, high, (start - origin) * SECOND, (end - origin) * SECOND)
                first = at

    latest = origin + (int(shown.end.max()) // SECOND if len(shown) else 0)
    for place, start, end in times_of(site.reservations, latest):
        one = site.reservations[place]
        kind = "maintenance" if one.has("MAINT") else "reserved"
        yield from stretches([site.nodes[node].name for node in one.nodes], kind, start, end)
    for event in site.events:
        kind = "down" if event.ends_jobs else "drain"
        if event.node:
            end = LONGEST // SECOND if event.end is None else event.end
            yield from stretches([event.node], kind, event.start, end)


def draw_outages(axes: Axes, schedule: Schedule, shown: Bands, axis: Clock, dense: bool) -> list[Patch]:
    """Each outage on its processors; many of them by their number, from above. Keys for the legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    everything, keys = all_away(schedule, shown), []
    outages = schedule.platform.outages
    for kind, look in LOOKS.items():
        seen = [
            (away.low, away.high, max(away.start, axis.begin), min(away.end, axis.end))
            for away in everything
            if away.kind == kind and away.start < axis.end and away.end > axis.begin
        ]
        if not seen:
            continue
        keys.append(Patch(label=kind, **look))
        if dense and outages is not None:
            continue
        low, high, begin, end = np.array(seen, np.int64).T
        left, right = axis.scaled(begin), axis.scaled(end)
        corners = np.stack([np.stack([left, left, right, right], 1), np.stack([low, high, high, low], 1)], 2)
        several = ("facecolor", "edgecolor", "linewidth")
        style = {f"{key}s" if key in several else key: value for key, value in look.items()}
        axes.add_collection(PolyCollection(list(corners), zorder=0.5, **style))
    if dense and keys and outages is not None:
        _, start, end = absences(outages)
        away = steps(start, end, np.ones(len(start), np.int64))
        edges = axis.edges(350)
        means = away.means(edges)
        top = np.full(len(means), float(shown.height))
        axes.stairs(
            top, axis.scaled(edges), baseline=top - means, fill=True, facecolor="#D0D0D0", edgecolor=GREY,
            hatch="\\\\\\\\", linewidth=0.0,
        )  # fmt: skip
        keys = [Patch(label="down or maintenance", facecolor="#D0D0D0", edgecolor=GREY, hatch="\\\\\\\\")]
    return keys
