"""A job with a deadline under DBF: the places it was given, who displaced it, when it became definitive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import HeadwayError
from headway.explain.place import Case
from headway.explain.words import at, duration
from headway.policies.spec import parse_spec
from headway.schedule import Schedule
from headway.units import seconds_text

if TYPE_CHECKING:
    from headway.policies.dbf_notes import Displacement


def provisional(case: Case) -> list[str]:
    """Sentences from the notes of the policy; a run that was saved is repeated for them."""
    due = case.schedule.workload.get("deadline")
    if due is None or due[case.row] < 0 or not _is_dbf(case.schedule.policy):
        return []
    promise = case.schedule.promise
    if promise is not None and promise[case.row] != due[case.row]:
        return [
            "On submission the first place behind all others was too late for its deadline, so it was "
            "handled like a job without one: its place was definitive."
        ]
    schedule, row = _with_notes(case)
    if schedule is None:
        return []
    displacements = schedule.notes["displacements"][row]
    note = {name: int(column[row]) for name, column in schedule.notes.items() if name != "displacements"}
    said = [f"It was accepted with a provisional place {at(note['first_given'], case.submit)}."]
    said.append(_displaced(displacements, note["displaced_times"]))
    if note["definitive_at"] >= 0:
        left = int(due[case.row]) - note["definitive_at"]
        said.append(
            f"Its place became definitive {at(note['definitive_at'], case.submit)}, {duration(left)} before "
            "its deadline, which one more job before it would have broken."
        )
    else:
        said.append("Its place stayed provisional until it started.")
    return said


def _displaced(known: Sequence[Displacement], times: int) -> str:
    """Every displacement: the job that came, when, and the place that was left."""
    if not times:
        return "No job displaced it."
    often = "once" if times == 1 else f"{times} times"
    which = "" if len(known) == times else f" (the last {len(known)} are known)"
    each = [f"job {one.by} at {seconds_text(one.at)} s to {seconds_text(one.start)} s" for one in known]
    later = "to a later start" if times == 1 else "each time to a later start"
    return f"Jobs without a deadline displaced it {often}{which}, {later}: {', '.join(each)}."


def _is_dbf(policy: str) -> bool:
    try:
        return parse_spec(policy).name == "dbf"
    except HeadwayError:
        return False


def _with_notes(case: Case) -> tuple[Schedule | None, int]:
    """The schedule with the policy's notes and the job's row there, from a second run where need be."""
    if case.schedule.notes:
        return case.schedule, case.row
    from headway.simulate import simulate

    known = np.flatnonzero(case.schedule.submit <= case.start)
    workload = case.schedule.workload.select(known, rule="window", action="after the start of the job")
    again = simulate(workload, case.schedule.platform, case.schedule.policy)
    row = int(np.flatnonzero(again.workload.job == case.id)[0])
    return (again, row) if int(again.start[row]) == case.start else (None, row)
