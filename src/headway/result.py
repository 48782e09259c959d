"""A schedule with what people ask of it: a summary, a chart, files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.schedule import Schedule
from headway.schedule.files import IN_PYTHON, refuse_occupied, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(Schedule):
    """What a simulation gives, and what a folder of a run is read as; `headway.Schedule` for users.

    The schedule itself knows nothing of metrics and figures: whatever judges or draws it takes a `Schedule`.
    """

    def summary(self, tau: float = 10, trim: float = 0) -> dict[str, Any]:
        """The metrics as plain JSON data; `tau` in seconds, `trim` in percent at either end."""
        from headway.metrics import summarise

        return summarise(self, tau=tau, trim=trim)

    def gantt(self, **options: Any) -> Figure:
        """Processors over time as a Matplotlib figure; the options are those of `headway.figures.gantt`."""
        from headway.figures import gantt

        return gantt(self, **options)

    def save(
        self, folder: str | Path, force: bool = False, *, tau: float = 10, spreadsheet: bool = False
    ) -> Path:
        """Write the schedule's files into `folder`, all or none; see `headway.schedule.files`."""
        refuse_occupied(Path(folder), force, IN_PYTHON)
        summary = self.summary(tau=tau)
        return save(self, Path(folder), summary, force=force, spreadsheet=spreadsheet, remedy=IN_PYTHON)

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """The schedule saved in `folder`."""
        from headway.schedule.loading import load_schedule

        return load_schedule(Path(folder), cls)
