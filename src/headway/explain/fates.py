"""What became of a job besides waiting and running: one small function for each kind of fate.

A function takes the case and gives sentences, none where its fate does not apply. To add a fate, write one
and name it in FATES.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.explain.moves import moved
from headway.explain.place import Case
from headway.explain.provisional import over_deadlines, provisional
from headway.explain.redirection import redirected
from headway.explain.urgent import guest, suspended, urgent
from headway.explain.words import at, jobs, processors
from headway.schedule.codes import ENDED, STATES, WHY
from headway.units import duration


def killed(case: Case) -> list[str]:
    """It needed more time than it had asked for."""
    schedule = case.schedule
    if not schedule.killed[case.row]:
        return []
    needs, asked = int(schedule.runtime[case.row]), int(schedule.walltime[case.row])
    if any(case.pieces.state[piece] == STATES.index("loading") for piece in case.own):
        return [f"It was killed at its walltime of {duration(asked)}, in which waiting for its file counts."]
    return [
        f"It was killed at its walltime: its program needs {duration(needs - asked)} more than the "
        f"{duration(asked)} it had asked for."
    ]


def ended_early(case: Case) -> list[str]:
    """It ended long before it had to, which planners cannot know."""
    schedule = case.schedule
    got, asked = int(schedule.run[case.row]), int(schedule.walltime[case.row])
    if schedule.killed[case.row] or asked <= 2 * got or asked - got < 60_000_000:
        return []
    return [f"It used {duration(got)} of the {duration(asked)} it had asked for."]


def preempted(case: Case) -> list[str]:
    """A run was stopped for another job and its work was lost."""
    said = _stopped(case, "preempted", "stopped to make room, and had to start again")
    for piece in _ended(case, "preempted"):
        t = int(case.pieces.end[piece])
        others = np.flatnonzero((case.schedule.start == t) & (np.arange(len(case.schedule)) != case.row))
        if len(others):
            said.append(f"{jobs(case.ids(others)).capitalize()} started at that instant.")
    return said


def failed(case: Case) -> list[str]:
    """Its processors failed, or maintenance took them while it ran."""
    said = _stopped(case, "failed", "stopped because its processors were lost")
    if said and case.pieces.ended[case.own[-1]] == ENDED.index("failed"):
        said.append("It was not run again.")
    elif said:
        again = int(case.pieces.start[case.own[-1]])
        said.append(f"It waited again where it had been in the queue, and began anew {at(again, case)}.")
    return said


def _ended(case: Case, how: str) -> list[int]:
    return [int(p) for p in case.own if case.pieces.ended[p] == ENDED.index(how)]


def _stopped(case: Case, how: str, words: str) -> list[str]:
    said = []
    for piece in _ended(case, how):
        begin, end = int(case.pieces.start[piece]), int(case.pieces.end[piece])
        said.append(
            f"Its run from {at(begin, case)[3:]} was {words}: {duration(end - begin)} on "
            f"{processors(int(case.pieces.procs[piece]))} were lost {at(end, case)}."
        )
    return said


def loading(case: Case) -> list[str]:
    """It waited on its node for its input file."""
    load = [int(p) for p in case.own if case.pieces.state[p] == STATES.index("loading")]
    if not load:
        return []
    spent = sum(int(case.pieces.end[p] - case.pieces.start[p]) for p in load)
    return [f"It held its cores for {duration(spent)} until its input file was there."]


def deadline(case: Case) -> list[str]:
    """Whether it met its deadline, and by how much."""
    due = case.schedule.workload.get("deadline")
    if due is None or due[case.row] < 0:
        return []
    left = int(due[case.row]) - int(case.schedule.end[case.row])
    how = (
        f"met its deadline with {duration(left)} to spare"
        if left >= 0
        else f"missed its deadline by {duration(-left)}"
    )
    put_first = " It was promoted for it." if WHY[case.schedule.why[case.row]] == "promoted" else ""
    return [f"It {how}.{put_first}"]


def changed_request(case: Case) -> list[str]:
    """The policy gave it another size or time than the log says."""
    schedule, row = case.schedule, case.row
    logged = schedule.workload
    if schedule.procs[row] == logged.procs[row] and schedule.walltime[row] == logged.walltime[row]:
        return []
    return [
        f"The log asks for {processors(int(logged.procs[row]))} and "
        f"{duration(int(logged.walltime[row]))}; the policy ran it on {int(schedule.procs[row])} "
        f"with {duration(int(schedule.walltime[row]))}."
    ]


FATES: tuple[Callable[[Case], list[str]], ...] = (
    changed_request,
    moved,
    redirected,
    preempted,
    failed,
    suspended,
    guest,
    urgent,
    loading,
    killed,
    ended_early,
    provisional,
    over_deadlines,
    deadline,
)
