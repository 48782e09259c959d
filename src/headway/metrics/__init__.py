"""Metrics of a schedule; each formula stands once, and `catalogue.METRICS` lists them with their units."""

from __future__ import annotations

from headway.metrics.catalogue import METRICS, Metric
from headway.metrics.comparison import Comparison, compare
from headway.metrics.over_time import Steps, busy_processors, queue_length
from headway.metrics.summary import summarise

__all__ = [
    "METRICS",
    "Comparison",
    "Metric",
    "Steps",
    "busy_processors",
    "compare",
    "queue_length",
    "summarise",
]
