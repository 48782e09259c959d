"""Figures for print, from schedules alone: Gantt charts, curves over time, distributions.

Each function takes one schedule or several and returns a Matplotlib figure; `save` writes it as SVG, PDF or
PNG.
"""

from __future__ import annotations

from headway.figures.curves import distribution, queue, utilization
from headway.figures.gantt import gantt
from headway.figures.style import save

__all__ = ["distribution", "gantt", "queue", "save", "utilization"]
