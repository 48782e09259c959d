"""The schedule: for each job its runs, where they were, why they started, and how all this was made."""

from __future__ import annotations

from headway.schedule.pieces import ENDED, HOLDING, STATES, WHY, Pieces
from headway.schedule.schedule import Schedule
from headway.schedule.shares import Shares

__all__ = ["ENDED", "HOLDING", "STATES", "WHY", "Pieces", "Schedule", "Shares"]
