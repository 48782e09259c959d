"""Runs that were saved: which folders hold them, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.display import Display
from headway.documents import read_json
from headway.errors import InputError, UsageError
from headway.plain import counted

if TYPE_CHECKING:
    from headway.result import Result


def run_folders(folders: list[Path]) -> list[Path]:
    """The folders of single runs; a comparison's folder stands for all of its runs, in their order."""
    runs: list[Path] = []
    for folder in folders:
        if (folder / "comparison.json").is_file():
            runs.extend(compared_folders(folder))
        elif folder.is_dir():
            runs.append(folder)
        else:
            if folder.exists():
                raise InputError("is a file; give a folder that simulate or compare wrote", file=folder)
            raise InputError(
                "there is no such folder; simulate and compare write one with --out", file=folder
            )
    return runs


def compared_folders(folder: Path) -> list[Path]:
    """The folders of a comparison's runs, in the order in which they were compared."""
    return [folder / name for name in folder_names(_compared_names(folder))]


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


def saved_schedules(folders: list[Path], quiet: bool) -> list[Result]:
    """The schedules of all runs in the folders; it is said where their site is not what it was."""
    from headway.result import Result

    runs = run_folders(folders)
    schedules = [Result.load(run) for run in runs]
    for lost in dict.fromkeys(map(lost_site, runs, schedules)):
        if lost:
            Display(quiet).say(lost)
    return schedules


def lost_site(run: Path, schedule: Result) -> str:
    """That the site of a saved run is not what it was, in a sentence; empty where it is, or there is none."""
    from headway.schedule.files import RUN
    from headway.schedule.record import AGAIN
    from headway.site.folder import is_site

    described = read_json(run / RUN, AGAIN)["platform"].get("site") or {}
    folder = described.get("folder")
    if schedule.platform.site is not None or not folder:
        return ""
    how = "has changed since the run was made" if is_site(folder) else "is not there any more"
    return f"{folder}: the site {how}, so nothing is known here of its nodes, partitions and limits"


def run_names(folders: list[Path], schedules: list[Result], given: list[str] | None) -> list[str]:
    """What each run is called: as `given`, as its comparison calls it, or by the user's folder.

    A folder that says nothing of its policy has the policy behind it, where policies differ.
    """
    if given:
        if len(given) != len(schedules):
            raise UsageError(
                f"--name is given {counted(len(given), 'time')} for {counted(len(schedules), 'run')}; "
                "give one for each"
            )
        if len(set(given)) < len(given):
            raise UsageError("--name is given twice with the same name; give each run its own")
        return given
    from headway.metrics.comparison import brief

    policies = [brief(schedule.policy) for schedule in schedules]
    names: list[str] = []
    for folder in folders:
        if (folder / "comparison.json").is_file():
            names.extend(_compared_names(folder))
            continue
        policy, name = policies[len(names)], folder.resolve().name
        told = len(set(policies)) == 1 or policy in name
        names.append(name if told else f"{name} ({policy})")
    doubled = len(set(names)) < len(names)
    return [f"{name}, run {place}" for place, name in enumerate(names, start=1)] if doubled else names


def _compared_names(folder: Path) -> list[str]:
    document = read_json(folder / "comparison.json", "compare the policies again")
    try:
        return [str(entry["name"]) for entry in document["schedules"]]
    except (KeyError, TypeError):
        raise InputError(
            "this is not a comparison that headway wrote", file=folder / "comparison.json"
        ) from None
