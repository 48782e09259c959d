"""A regular job with a deadline under DBF with urgent jobs: its reservations, who broke its deadline."""

from __future__ import annotations

from headway.errors import HeadwayError
from headway.explain.place import Case
from headway.explain.provisional import with_notes
from headway.explain.words import at, times
from headway.policies.spec import parse_spec
from headway.policies.urgent.policy import Ujfb


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
