"""How near a simulation comes to what happened: simulated against recorded waits."""

from __future__ import annotations

from headway.replay.fidelity import Fidelity, fidelity

__all__ = ["Fidelity", "fidelity"]
