"""The folder of a comparison: one folder per policy, and the tables that hold them side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from headway.metrics import Comparison
from headway.schedule.files import write_files
from headway.schedule.folder import whole_folder


def save_comparison(comparison: Comparison, folder: Path, force: bool, spreadsheet: bool = False) -> None:
    """Write everything into `folder`, which appears whole or not at all."""
    with whole_folder(folder, force) as draft:
        names = folder_names(comparison.names)
        for name, schedule, summary in zip(names, comparison.schedules, comparison.summaries, strict=True):
            (draft / name).mkdir()
            write_files(schedule, draft / name, summary, spreadsheet=spreadsheet)
        comparison.write(draft)


def folder_names(policies: Sequence[str]) -> list[str]:
    """A folder name for each policy that every file system takes and a shell needs no quotes for.

    >>> folder_names(["easy", "easy(backfill=sjf)", "./mine.py:Mine(k=3)"])
    ['easy', 'easy-backfill=sjf', 'mine.py-Mine-k=3']
    """
    names: list[str] = []
    for policy in policies:
        name = re.sub(r"[^\w.=+]+", "-", policy).strip("-.") or "policy"
        number, unique = 2, name[:100]
        while unique in names or unique in ("comparison.csv", "comparison.json"):
            unique, number = f"{name[:100]}-{number}", number + 1
        names.append(unique)
    return names
