"""How near a simulation comes to what happened: simulated against recorded waits."""

from __future__ import annotations

from headway.replay.fidelity import Fidelity, fidelity, recorded_waits
from headway.replay.recorded import recorded

__all__ = ["Fidelity", "fidelity", "recorded", "recorded_waits"]
