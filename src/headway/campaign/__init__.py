"""Campaigns: many simulations, run once each, kept on disk, and judged together."""

from __future__ import annotations

from headway.campaign.campaign import Campaign
from headway.campaign.results import Results
from headway.campaign.running import Progress

__all__ = ["Campaign", "Progress", "Results"]
