"""What may be done to a cluster: nothing without --control, only what the file allows, not too much at once.

A file named STOP in the grid's folder stops every act at once and leaves each job where it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from headway.live import outside
from headway.live.grid_file import Grid
from headway.live.wire import Refused

MINUTE = 60.0
STOP = "STOP"


class Guard:
    """Asked before each act."""

    def __init__(self, grid: Grid, control: bool, clock: Callable[[], float] = outside.steady) -> None:
        self.grid, self.control, self.clock = grid, control, clock
        self.done: deque[float] = deque()

    @property
    def stopped(self) -> bool:
        return switch(self.grid).exists()

    def permit(self, act: str) -> None:
        """Let an act pass, or say why not."""
        if not self.control:
            raise Refused(f"{act} is refused: this process only watches; start it with --control")
        if self.stopped:
            remedy = f"headway live start {self.grid.file} lets it continue"
            raise Refused(f"{act} is refused: the grid is stopped; {remedy}")
        if act not in self.grid.allow:
            allowed = ", ".join(self.grid.allow) or "nothing"
            raise Refused(f"{act} is refused: {self.grid.file} allows {allowed}; add it to [control] allow")
        now = self.clock()
        while self.done and self.done[0] <= now - MINUTE:
            self.done.popleft()
        if len(self.done) >= self.grid.acts_per_minute:
            raise Refused(
                f"{act} is refused for now: {len(self.done)} acts in the last minute are the limit "
                "(acts_per_minute)"
            )
        self.done.append(now)


def switch(grid: Grid) -> Path:
    """The file that stops the grid."""
    return grid.folder / STOP
