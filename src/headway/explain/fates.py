"""What became of a job besides waiting and running: one small function for each kind of fate.

A function takes the case and gives sentences, none where its fate does not apply. To add a fate, write one
and name it in FATES.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.explain.moves import moved
from headway.explain.place import Case, Rows
from headway.explain.provisional import over_deadlines, provisional
from headway.explain.urgent import guest, suspended, urgent
from headway.explain.words import at, count_jobs, jobs, processors
from headway.schedule.codes import ENDED, STATES, TO_REDIRECTION, WHY
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
        said.append(f"It waited again where it had been in the queue, and started again {at(again, case)}.")
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


def redirected(case: Case) -> list[str]:
    """A run in the principal group was stopped, and the job went on in the redirection group."""
    if "redirection" not in case.schedule.groups:
        return []
    if "theta" not in case.spec.params:  # the schedule does not say under which policy its clusters were
        return _stopped(case, "redirected", "stopped, and it started again in the redirection group")
    said = []
    for place, piece in enumerate(case.own[:-1]):
        if case.pieces.ended[piece] in TO_REDIRECTION:
            following = [p for p in case.own[place + 1 :] if case.pieces.state[p] == STATES.index("running")]
            said += [_why(case, int(piece)), _gained(case, int(piece)), _lost(case, int(piece), following[0])]
    return said


def _why(case: Case, piece: int) -> str:
    params = case.spec.params
    stop = int(case.pieces.end[piece])
    counted = newcomers(case, piece)
    theta = str(params["theta"]).removesuffix(".0")
    held_up = f" At least {count_jobs(len(counted))} did: {jobs(case.ids(counted))}." if len(counted) else ""
    return (
        f"It was redirected {at(stop, case)}: since it started, or since the redirection before, "
        f"more than theta = {theta} jobs had come that had to wait.{held_up}"
    )


def newcomers(case: Case, piece: int) -> Rows:
    """Jobs that surely counted against a run when it was stopped: they waited, or passed others to start."""
    schedule, params = case.schedule, case.spec.params
    begin, stop = int(case.pieces.start[piece]), int(case.pieces.end[piece])
    stops = case.pieces.end[np.isin(case.pieces.ended, TO_REDIRECTION) & case.nearby()]
    before = stops[stops < stop]
    since = int(before.max()) if len(before) else -1
    came = (schedule.submit >= begin) & (schedule.submit > since) & (schedule.submit <= stop)
    waited = (case.schedule.first_start > schedule.submit) | (schedule.why == WHY.index("backfill"))
    measures = {"procs": schedule.procs, "walltime": schedule.walltime, "pseudo": -schedule.walltime}
    measure = measures.get(str(params["filter"]), np.zeros(len(schedule), np.int64))
    here = np.zeros(len(schedule), np.bool_)
    here[case.pieces.job[case.nearby()]] = True
    counts = came & waited & here & (measure[case.row] >= measure)
    counts[case.row] = False
    return np.flatnonzero(counts)


def _gained(case: Case, piece: int) -> str:
    stop, freed = int(case.pieces.end[piece]), int(case.pieces.procs[piece])
    assert case.pieces.group is not None
    began = (case.pieces.start == stop) & (case.pieces.group == case.pieces.group[piece]) & case.nearby()
    started = np.unique(case.pieces.job[began])
    started = started[started != case.row]
    if not len(started):
        return f"No job started at that instant on the {processors(freed)} it left."
    return f"It left {processors(freed)}; {jobs(case.ids(started))} started at that instant."


def _lost(case: Case, piece: int, following: int) -> str:
    begin, stop = int(case.pieces.start[piece]), int(case.pieces.end[piece])
    again, end = int(case.pieces.start[following]), int(case.schedule.end[case.row])
    procs = int(case.pieces.procs[piece])
    log = case.schedule.workload
    stayed = begin + int(min(log.runtime[case.row], log.walltime[case.row]))
    kept = case.pieces.ended[piece] == ENDED.index("suspended")
    work = (
        "None of its work was lost" if kept else f"{duration(stop - begin)} on {processors(procs)} were lost"
    )
    queued = "started again at once" if again == stop else f"queued again for {duration(again - stop)}"
    later = "no later than" if end <= stayed else f"{duration(end - stayed)} later than"
    return f"{work}; it {queued} in the redirection group and ended {later} if it had been left alone."


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
