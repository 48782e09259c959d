"""How near a simulation comes to what happened: simulated against recorded waits."""

from __future__ import annotations

from headway.replay.fidelity import Fidelity, fidelity, recorded, recorded_waits

__all__ = ["Fidelity", "fidelity", "recorded", "recorded_waits"]
