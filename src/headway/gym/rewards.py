"""Rewards by their names."""

from __future__ import annotations

WAIT, BSLD, UTILIZATION, WAIT_CHANGE, BSLD_CHANGE, UTILIZATION_CHANGE = range(6)
REWARDS = ("wait", "bsld", "utilization", "wait_change", "bsld_change", "utilization_change")
TAU = 10.0
"""Seconds: bounded slowdowns take shorter jobs to be as long."""
