"""The folder of a comparison: one folder per policy, and the tables that hold them side by side."""

from __future__ import annotations

from pathlib import Path

from headway.cli.saved import compared_folders, folder_names
from headway.errors import InputError
from headway.metrics import Comparison
from headway.schedule.files import write_files
from headway.schedule.folder import whole_folder


def save_comparison(comparison: Comparison, folder: Path, force: bool, spreadsheet: bool = False) -> None:
    """Write everything into `folder`, which appears whole or not at all; an earlier comparison is gone."""
    with whole_folder(folder, force, stale=earlier_runs(folder)) as draft:
        names = folder_names(comparison.names)
        for name, schedule, summary in zip(names, comparison.schedules, comparison.summaries, strict=True):
            (draft / name).mkdir()
            write_files(schedule, draft / name, summary, spreadsheet=spreadsheet)
        comparison.write(draft)


def earlier_runs(folder: Path) -> list[str]:
    """The names of the folders of a comparison that is there already."""
    try:
        return [run.name for run in compared_folders(folder)]
    except InputError:
        return []
