"""Figures of campaigns for print: distributions over cells, parameter grids, heat maps, two schedules.

Each takes the results of a campaign and returns a Matplotlib figure; `save` writes it as SVG, PDF or PNG.
"""

from __future__ import annotations

from headway.campaign.figures.difference import difference
from headway.campaign.figures.distributions import box, ecdf, violin
from headway.campaign.figures.grids import heat_map, parameter_grid
from headway.figures.style import save

__all__ = ["box", "difference", "ecdf", "heat_map", "parameter_grid", "save", "violin"]
