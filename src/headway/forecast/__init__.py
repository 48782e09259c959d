"""When a job will start: a distribution, from the queue at an instant and the past alone.

instant      who runs and who waits
run_times    how long they will run, drawn from the runs that have ended
arrivals     who will come, drawn from the log's own past weeks
forward      the policy in force, simulated from the instant on
forecast     some hundred futures: quantiles of start and end
correction   what past forecasts got wrong, put right
check        a walk through a log that holds forecasts to what happened
"""

from __future__ import annotations

from headway.forecast.check import Sample, check
from headway.forecast.correction import Correction
from headway.forecast.forecast import Forecast, Outlook
from headway.forecast.instant import Instant
from headway.forecast.levels import LEVELS
from headway.forecast.present import Present, present
from headway.forecast.record import Record
from headway.forecast.scores import scores

__all__ = [
    "LEVELS",
    "Correction",
    "Forecast",
    "Instant",
    "Outlook",
    "Present",
    "Record",
    "Sample",
    "check",
    "present",
    "scores",
]
