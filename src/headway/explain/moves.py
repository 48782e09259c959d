"""A task of a grid: where it was submitted, each move with what was expected of it, and what came."""

from __future__ import annotations

import numpy as np

from headway.explain.place import Case
from headway.explain.words import at, processors, times
from headway.plain import counted
from headway.schedule.codes import WHY
from headway.schedule.moves import Moves
from headway.units import duration

TOLD = 5
"""Moves told one by one; the first and the last of more."""
STARVED = 5
"""Submitted again so often with a later completion than before, a task is called starving."""


def moved(case: Case) -> list[str]:
    """Sentences for a task that changed its cluster; also for one that was put back again and again."""
    moves = case.schedule.moves
    said = [] if moves is None else _moves(case, moves)
    if not said and WHY[case.schedule.why[case.row]] == "moved" and case.schedule.cluster is not None:
        there = _name(case, case.schedule.cluster[case.row])
        said = [f"While it waited it was moved to the cluster {there}."]
    return [*said, *_put_back(case)]


def has_moved(case: Case) -> bool:
    """Whether it waited on more than one cluster."""
    return case.schedule.moves is not None and len(case.schedule.moves.of(case.row)) > 0


def first_cluster(case: Case) -> list[str]:
    """Where the agent put it when it came."""
    assert case.schedule.moves is not None
    origin = case.schedule.moves.source[case.schedule.moves.of(case.row)[0]]
    return [f"The agent gave it to {_name(case, origin)}, which promised to complete it first."]


def stages(case: Case) -> list[str]:
    """How long it waited on each cluster, in order."""
    moves = case.schedule.moves
    assert moves is not None
    own = moves.of(case.row)
    begins = [case.submit, *moves.time[own].tolist()]
    ends = [*moves.time[own].tolist(), case.start]
    where = [moves.source[own[0]], *moves.target[own]]
    told = [
        f"{duration(end - begin)} on {_name(case, code)}"
        for begin, end, code in zip(begins, ends, where, strict=True)
    ]
    if len(told) > TOLD:
        told = [*told[: TOLD - 1], f"{duration(case.start - begins[TOLD - 1])} on others after that"]
    return [f"It waited {', then '.join(told)}."]


def _name(case: Case, code: int) -> str:
    names = case.schedule.labels.get("cluster") or [c.name for c in case.schedule.platform.clusters]
    return names[int(code)] if int(code) < len(names) else str(code)


def _moves(case: Case, moves: Moves) -> list[str]:
    own = moves.of(case.row).tolist()
    if not own:
        return []
    origin = _name(case, moves.source[own[0]])
    said = [f"It was submitted to {origin} first, and moved {times(len(own))} while it waited."]
    told = own if len(own) <= TOLD else [*own[: TOLD - 1], own[-1]]
    for number, move in enumerate(told):
        if number and move != own[number]:
            said.append(f"({counted(len(own) - TOLD, 'move')} left out here.)")
        said.append(_move(case, moves, move))
    last, end = own[-1], int(case.schedule.end[case.row])
    told_last = _against(end, int(moves.after[last]))
    said.append(f"In the end it was completed {told_last} was expected after that.")
    first = int(moves.before[own[0]])
    said.append(f"Before the first move it was expected {at(first, case)}: {_balance(end, first)}.")
    return said


def _move(case: Case, moves: Moves, move: int) -> str:
    here, there = _name(case, moves.source[move]), _name(case, moves.target[move])
    before, after = int(moves.before[move]), int(moves.after[move])
    had, got = int(moves.procs_before[move]), int(moves.procs_after[move])
    size = "" if had == got else f", on {processors(got)} instead of {had}"
    gain = f"{duration(before - after)} earlier" if before >= after else f"{duration(after - before)} later"
    return (
        f"{at(int(moves.time[move]), case).capitalize()} it went from {here} to {there}{size}, where "
        f"it was expected to be completed {gain}."
    )


def _against(end: int, told: int) -> str:
    if end == told:
        return "when it"
    return f"{duration(told - end)} earlier than" if end < told else f"{duration(end - told)} later than"


def _balance(end: int, first: int) -> str:
    if end == first:
        return "nothing was won or lost"
    return f"{duration(first - end)} were won" if end < first else f"{duration(end - first)} were lost"


def _put_back(case: Case) -> list[str]:
    noted = case.schedule.notes.get("put_back")
    often = 0 if noted is None else int(np.asarray(noted)[case.row])
    if often == 0:
        return []
    words = f"It was cancelled and submitted again with a later completion {times(often)}"
    return [f"{words}: it was starving." if often >= STARVED else f"{words}."]
