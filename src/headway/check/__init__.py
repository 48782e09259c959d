"""Checks anyone's policy against the invariants of scheduling, on small and awkward workloads."""

from __future__ import annotations

from headway.check.laws import LAWS
from headway.check.run import Breach, Check, check_policy

__all__ = ["LAWS", "Breach", "Check", "check_policy"]
