"""What the colours of a Gantt chart mean: why a job started, how wide it is, whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import UsageError
from headway.figures import style
from headway.figures.bands import Ints
from headway.plain import counted
from headway.schedule import WHY, Schedule
from headway.units import SECOND
from headway.workload.divisions import column_of, divisions, size_class, size_classes

COLOURINGS = ("why", "size", "user", "queue", "job")

OF_REASON = {
    "immediate": style.SKY,
    "head": style.BLUE,
    "backfill": style.ORANGE,
    "reservation": style.GREEN,
    "resumed": style.YELLOW,
    "redirected": style.VERMILLION,
    "urgent": style.PURPLE,
    "urgent_backfill": "#E3B8CF",
    "urgent_preempt": "#8A3A66",
    "promoted": style.BLACK,
    "moved": "#7F6000",
    "recorded": style.GREY,
}
"""A colour for each reason, grey where it is not known; those of urgent jobs are three lightnesses of one."""

WIDTHS = ("#FFE945", "#BCAF6F", "#7D7C78", "#414D6B", "#00224E")
"""From cividis, whose lightness alone tells the classes apart."""

OWNERS = (style.SKY, style.ORANGE, style.GREEN, style.BLUE, style.VERMILLION, style.PURPLE)
"""Colours of the users or queues with the most work; the others share grey."""
NAMED = len(OWNERS)


@dataclass(frozen=True)
class Colouring:
    """A class per job of the schedule, and name and colour of each class; no names, no legend."""

    codes: Ints
    names: Sequence[str]
    colours: Sequence[str]


def colouring(schedule: Schedule, key: str, window: tuple[int, int] | None = None) -> Colouring:
    """The classes of all jobs under one of COLOURINGS.

    Users and queues with a colour of their own are those with the most work in the window (µs).
    """
    if key == "why":
        names = [name for code, name in enumerate(WHY) if (schedule.why == code).any()]
        place = np.zeros(len(WHY), np.int64)
        place[[WHY.index(name) for name in names]] = np.arange(len(names))
        colours = [OF_REASON[name] for name in names]
        return Colouring(place[schedule.why], [name.replace("_", " ") for name in names], colours)
    if key == "size":
        return _by_width(schedule)
    if key in ("user", "queue", *divisions(schedule.workload)):
        return _by_owner(schedule, column_of(schedule.workload, key), window)
    if key == "job":
        return Colouring(np.arange(len(schedule)) % len(style.SERIES), (), style.SERIES)
    known = dict.fromkeys((*COLOURINGS, *divisions(schedule.workload)))
    raise UsageError(f"colour cannot be {key!r}; it is one of {', '.join(known)}")


def _by_width(schedule: Schedule) -> Colouring:
    """Classes up to powers of two, neighbours joined so that each holds about as much of the work."""
    power = size_classes(schedule.procs)
    work = np.bincount(power, weights=schedule.procs * (schedule.run / SECOND))
    # The class of a power is where the middle of its work lies among all work, the narrower jobs first.
    middle = (np.cumsum(work) - work / 2) / (work.sum() or 1.0)
    joined = np.minimum((middle * len(WIDTHS)).astype(np.int64), len(WIDTHS) - 1)[power]
    held = np.unique(joined).tolist()
    place = np.zeros(len(WIDTHS), np.int64)
    place[held] = np.arange(len(held))
    names = []
    for group in held:
        narrowest, widest = int(power[joined == group].min()), int(power[joined == group].max())
        low, high = size_class(narrowest).split("-")[0], size_class(widest).split("-")[-1]
        names.append(low if low == high else f"{low}-{high}")
    # Few classes are as far apart as they can be; the widest jobs are always the darkest.
    shades = np.linspace(len(WIDTHS) - 1, 0, len(held)).round().astype(np.int64)[::-1]
    colours = [WIDTHS[shade] for shade in shades.tolist()]
    return Colouring(place[joined], names, colours)


def _by_owner(schedule: Schedule, column: str, window: tuple[int, int] | None) -> Colouring:
    """The users or queues with the largest areas by colour, the others in grey."""
    owners, place = np.unique(schedule.workload.columns[column], return_inverse=True)
    ran = schedule.run
    if window is not None:
        inside = np.minimum(schedule.end, window[1]) - np.maximum(schedule.start, window[0])
        ran = np.minimum(np.maximum(inside, 0), ran)
    area = np.bincount(place, weights=schedule.procs * (ran / SECOND), minlength=len(owners))
    ranked = np.argsort(-area, kind="stable")
    code = np.full(len(owners), NAMED, np.int64)
    code[ranked[:NAMED]] = np.arange(len(ranked[:NAMED]))
    named = owners[ranked[:NAMED]].tolist()
    names = [style.literal(schedule.workload.name_of(column, owner, str(owner))) for owner in named]
    others = len(owners) - len(names)
    colours = list(OWNERS[: len(names)])
    if others:
        names, colours = [*names, counted(others, "other")], [*colours, style.GREY]
    return Colouring(code[place], names, colours)
