"""A job with a deadline under DBF: its reservations, who displaced it, when it became definitive.

Where there are urgent jobs also which of them broke its deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import HeadwayError
from headway.explain.place import Case
from headway.explain.words import at, times
from headway.policies.spec import parse_spec
from headway.policies.urgent.policy import Ujfb
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import duration, seconds_text

if TYPE_CHECKING:
    from headway.policies.deadline.notes import Displacement


def provisional(case: Case) -> list[str]:
    """Sentences from the notes of the policy; a run that was saved is repeated for them."""
    due = case.schedule.workload.get("deadline")
    first, last = _looks_at_deadlines(case)
    if due is None or due[case.row] < 0 or not (first or last):
        return []
    if not last:
        return ["The redirection group does not look at deadlines: its own counted until it was redirected."]
    there = " in the redirection group" if len(case.own) > 1 else ""
    promise = case.schedule.promise
    told = -1 if promise is None else int(promise[case.row])
    if told >= 0 and told != due[case.row]:
        when = "When it came there" if there else "On submission"
        return [
            f"{when} the first reservation after all others was too late for its deadline, so it was "
            "handled like a job without one: its reservation was definitive."
        ]
    schedule, row = with_notes(case)
    if schedule is None:
        return []
    displacements = schedule.notes["displacements"][row]
    note = {name: int(column[row]) for name, column in schedule.notes.items() if name != "displacements"}
    accepted = "was accepted with a provisional reservation" if told >= 0 else "was given a reservation"
    said = [f"It {accepted}{there} {at(note['first_given'], case)}."]
    said.append(_displaced(displacements, note["displaced_times"]))
    if note["definitive_at"] >= 0:
        left = int(due[case.row]) - note["definitive_at"]
        said.append(
            f"Its reservation became definitive {at(note['definitive_at'], case)}, {duration(left)} before "
            "its deadline, which one more job before it would have broken."
        )
    elif told >= 0:
        said.append("Its reservation stayed provisional until it started.")
    return said


def _displaced(known: Sequence[Displacement], often: int) -> str:
    """Every displacement: the job that came, when, and the reservation that was left."""
    if not often:
        return "No job displaced it."
    which = "" if len(known) == often else f" (the last {len(known)} are known)"
    each = [f"job {one.by} at {seconds_text(one.at)} s to {seconds_text(one.start)} s" for one in known]
    later = "to a later start" if often == 1 else "each time to a later start"
    return f"Jobs without a deadline displaced it {times(often)}{which}, {later}: {', '.join(each)}."


def _looks_at_deadlines(case: Case) -> tuple[bool, bool]:
    """Whether the policy where the job came first is DBF, and whether that where it ended is."""
    try:
        return case.spec.policy.keeps_deadlines(redirected=len(case.own) > 1)
    except HeadwayError:
        return False, False


def with_notes(case: Case, until: int | None = None) -> tuple[Schedule | None, int]:
    """The schedule with the policy's notes and the job's row there, from a second run where need be.

    That run has the jobs that came by ``until`` (µs), by default the job's start; None where it is another.
    """
    if case.schedule.notes:
        return case.schedule, case.row
    start = int(case.schedule.start[case.row])
    known = np.flatnonzero(case.schedule.submit <= (start if until is None else until))
    workload = case.schedule.workload.select(known, rule="window", action="after what is explained")
    again = simulate(workload, case.schedule.platform, case.schedule.policy)
    row = int(np.flatnonzero(again.workload.job == case.id)[0])
    return (again, row) if int(again.start[row]) == start else (None, row)


def over_deadlines(case: Case) -> list[str]:
    """Sentences from the notes of the policy; a run that was saved is repeated for them."""
    due = case.schedule.workload.get("deadline")
    marked = case.schedule.workload.get("urgent")
    if due is None or due[case.row] < 0 or (marked is not None and marked[case.row]):
        return []
    if not over_dbf(case.schedule.policy):
        return []
    promise = case.schedule.promise
    if promise is not None and promise[case.row] != due[case.row]:
        return ["On submission its first reservation was too late for its deadline, so it did not count."]
    schedule, row = with_notes(case, until=int(case.schedule.end[case.row]))
    if schedule is None:
        return []
    note = {name: int(schedule.notes[name][row]) for name in ("first_given", "displaced_times", "broken_by")}
    definitive = int(schedule.notes["definitive_at"][row])
    said = [f"It was accepted with a provisional reservation {at(note['first_given'], case)}."]
    if note["displaced_times"]:
        said.append(f"Other jobs displaced it {times(note['displaced_times'])} to a later start.")
    if definitive >= 0:
        said.append(f"Its reservation became definitive {at(definitive, case)}.")
    if note["broken_by"] >= 0:
        said.append(
            f"Urgent job {note['broken_by']} broke its deadline: it took the processors, and by the times "
            "that were requested it could no longer be kept."
        )
    return said


def over_dbf(policy: str) -> bool:
    """Whether a policy is UJFB over DBF."""
    try:
        found = parse_spec(policy).policy
    except HeadwayError:
        return False
    return isinstance(found, Ujfb) and found.is_over_dbf
