"""The invariants of a grid under reallocation, as its parameters make them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from headway.audit.laws import grid_molding, grid_moves
from headway.audit.verdict import Law
from headway.policies.spec import Spec
from headway.units import microseconds


def grid_laws(spec: Spec) -> tuple[Law, ...]:
    """A task is in one place, has a size it may have, moves at events only, and only for a gain."""
    period = float(str(spec.params["period"]))
    still = spec.params["mode"] == "none" or math.isinf(period)
    every = 0 if still else microseconds(str(spec.params["period"]))
    speedup: grid_molding.Speedup = grid_molding.amdahl
    if spec.params["law"] == "downey":
        speedup = grid_molding.downey(Fraction(str(spec.params["sigma"])))
    when = "no task is moved" if still else "tasks are moved at multiples of the period only"
    laws = [
        Law("one place", "a task is in one place and moves only while it waits", grid_moves.check),
        Law("events", when, partial(grid_moves.check_times, period=every)),
        Law(
            "molding",
            "sizes are allowed, times follow from them",
            partial(grid_molding.check, speedup=speedup),
        ),
    ]
    if spec.params["mode"] == "regular":
        least = microseconds(str(spec.params["threshold"]))
        laws.append(
            Law(
                "gain",
                "each move was expected to gain the threshold",
                partial(grid_moves.check_gain, threshold=least),
            ),
        )
    transfer, link = microseconds(str(spec.params["transfer"])), float(str(spec.params["link"]))
    if transfer or math.isfinite(link):
        bandwidth = Fraction(str(spec.params["link"])) if math.isfinite(link) else None
        check = partial(grid_moves.check_data, transfer=transfer, link=bandwidth)
        laws.append(Law("data", "a task that moved starts when its data have come", check))
    if spec.params["reserved"]:
        demands = "tasks of the grid have the reserved processors, local jobs the others"
        laws.append(Law("reserved", demands, grid_moves.parts))
    return tuple(laws)
