"""The report: one HTML file that opens offline, of a schedule, a comparison or a campaign."""

from __future__ import annotations

from headway.report.campaigns import campaign_page
from headway.report.page import write
from headway.report.schedules import schedules_page
from headway.report.side_by_side import side_by_side_page

__all__ = ["campaign_page", "schedules_page", "side_by_side_page", "write"]
