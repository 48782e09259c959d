"""Outages in a Gantt chart: maintenance, processors that are down, processors that drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headway.figures.bands import Bands
from headway.figures.clock import Clock
from headway.figures.style import BLACK, GREY
from headway.metrics.over_time import steps
from headway.platform.absences import absences
from headway.schedule import Schedule
from headway.units import LONGEST

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

LOOKS: dict[str, dict[str, Any]] = {
    "maintenance": {"facecolor": "#E8E8E8", "edgecolor": GREY, "hatch": "\\\\\\\\", "linewidth": 0.3},
    "down": {"facecolor": BLACK, "edgecolor": BLACK, "linewidth": 0.2, "alpha": 0.75},
    "drain": {"facecolor": "none", "edgecolor": GREY, "hatch": "....", "linewidth": 0.3},
}


def draw_outages(axes: Axes, schedule: Schedule, shown: Bands, axis: Clock, dense: bool) -> list[Patch]:
    """Each outage on its processors; many of them by their number, from above. Keys for the legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    outages = schedule.platform.outages
    if outages is None or len(shown.names) != 1:
        return []
    keys = []
    for kind, look in LOOKS.items():
        seen = [
            (low, high, max(o.start, axis.begin), min(LONGEST if o.end is None else o.end, axis.end))
            for o in outages.outages
            if o.kind == kind and o.start < axis.end and (o.end is None or o.end > axis.begin)
            for low, high in o.processors
        ]
        if not seen:
            continue
        keys.append(Patch(label=kind, **look))
        if dense:
            continue
        low, high, begin, end = np.array(seen, np.int64).T
        left, right = axis.scaled(begin), axis.scaled(end)
        corners = np.stack([np.stack([left, left, right, right], 1), np.stack([low, high, high, low], 1)], 2)
        several = ("facecolor", "edgecolor", "linewidth")
        style = {f"{key}s" if key in several else key: value for key, value in look.items()}
        axes.add_collection(PolyCollection(list(corners), zorder=0.5, **style))
    if dense and keys:
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
