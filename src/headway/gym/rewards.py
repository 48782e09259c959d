"""Rewards by their names, and the sums that they are made of."""

from __future__ import annotations

from enum import IntEnum

WAIT, BSLD, UTILIZATION, WAIT_CHANGE, BSLD_CHANGE, UTILIZATION_CHANGE = range(6)
REWARDS = ("wait", "bsld", "utilization", "wait_change", "bsld_change", "utilization_change")
TAU = 10.0
"""Seconds: bounded slowdowns take shorter jobs to be as long."""


class Sum(IntEnum):
    """What rewards are made of (seconds)."""

    WAITED_SUM = 0
    """Waiting time of all jobs, busy share x time, and by how much the expected slowdowns of those that wait
    grew, all three since the last decision; before the second one, since the episode began."""
    BUSY_AREA = 1
    GROWN = 2
    STARTED_WAITS = 3
    """Waits and bounded slowdowns of jobs that started."""
    STARTED_BSLD = 4
    RATE = 5
    """What the expected slowdowns grow by each second."""
    LAST_BUSY = 6
    """The busy share and the time at the last decision; at first those of the episode's beginning."""
    LAST_TIME = 7
    LAST_WAITS = 8
    """STARTED_WAITS and STARTED_BSLD at the last decision."""
    LAST_BSLD = 9
