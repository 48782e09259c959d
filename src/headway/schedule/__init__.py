"""The schedule: for each job its runs, where they were, why they started, and how all this was made."""

from __future__ import annotations

from headway.schedule.codes import ENDED, HOLDING, STATES, WHY
from headway.schedule.pieces import Pieces
from headway.schedule.schedule import Schedule
from headway.schedule.shares import Shares

__all__ = ["ENDED", "HOLDING", "STATES", "WHY", "Pieces", "Schedule", "Shares"]
