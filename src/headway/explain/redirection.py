"""Why a job was redirected, and what that gave to others and cost it."""

from __future__ import annotations

import numpy as np

from headway.explain.place import Case, Rows
from headway.explain.words import at, count_jobs, jobs, processors
from headway.schedule.codes import ENDED, STATES, TO_REDIRECTION, WHY
from headway.units import duration


def redirected(case: Case) -> list[str]:
    """A run in the principal group was stopped, and the job went on in the redirection group."""
    if "redirection" not in case.schedule.groups:
        return []
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
