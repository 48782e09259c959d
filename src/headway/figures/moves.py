"""Moves of waiting jobs between clusters, drawn into a Gantt chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.figures.bands import Bands
from headway.figures.clock import Clock
from headway.figures.style import BLACK
from headway.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 60
"""Moves that are drawn; more of them would hide the jobs."""


def draw_moves(
    axes: Axes, schedule: Schedule, shown: Bands, piece: NDArray[np.int64], middle: NDArray[Any], axis: Clock
) -> None:
    """An arrow for each move, at its instant, from the cluster that the job left; the last one of a job
    goes to where it ran::

        b  |        ┌──────┐          the job was moved from a to b while it waited,
           |      ↗ │ job  │          and ran there
        a  |     ╱  └──────┘
    """
    moves = schedule.moves
    if moves is None or not 0 < len(moves) <= MOST_DRAWN or len(shown.names) < 2:
        return
    centre = shown.offsets + shown.sizes / 2
    first = np.unique(piece, return_index=True)[1]  # the first strip of each piece
    place = {int(shown.job[piece[i]]): (int(shown.start[piece[i]]), float(middle[i])) for i in first.tolist()}
    last = {int(row): move for move, row in enumerate(moves.job.tolist())}
    for move, row in enumerate(moves.job.tolist()):
        if not axis.begin <= moves.time[move] <= axis.end:
            continue
        source, target = int(moves.source[move]), int(moves.target[move])
        end = (int(moves.time[move]), float(centre[target]))
        if last[row] == move and row in place:
            end = place[row]
        times = axis.scaled(np.array([moves.time[move], end[0]]))
        axes.annotate(
            "",
            xy=(float(times[1]), end[1]),
            xytext=(float(times[0]), float(centre[source])),
            arrowprops={"arrowstyle": "->", "linewidth": 0.7, "color": BLACK, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=True,
        )
