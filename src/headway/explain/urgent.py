"""A job that was put aside for urgent ones, and an urgent job that others made room for."""

from __future__ import annotations

import numpy as np

from headway.explain.place import Case
from headway.explain.words import at, count_jobs, jobs, processors
from headway.platform.processor_sets import numbers
from headway.schedule.codes import ENDED, FOR_URGENT, STATES, WHY
from headway.units import duration

RUNNING, SUSPENDED = STATES.index("running"), STATES.index("suspended")
SWAPS = (STATES.index("swap_out"), STATES.index("swap_in"))


def suspended(case: Case) -> list[str]:
    """It was put aside and taken up again, without losing work."""
    times = [int(p) for p in case.own if case.pieces.state[p] == SUSPENDED]
    if not times:
        return []
    said = []
    for piece in times:
        begin, end = int(case.pieces.start[piece]), int(case.pieces.end[piece])
        rivals = borrowers(case, piece)
        whom = f" for {jobs(case.ids(rivals))}" if len(rivals) else ""
        said.append(f"It was suspended{whom} {at(begin, case)}, for {duration(end - begin)}.")
    swaps = [int(p) for p in case.own if case.pieces.state[p] in SWAPS]
    total = sum(int(case.pieces.end[p] - case.pieces.start[p]) for p in times)
    if swaps:
        spent = sum(int(case.pieces.end[p] - case.pieces.start[p]) for p in swaps)
        said.append(f"Swapping it out and in took {duration(spent)}; nothing of its work was lost.")
        total += spent
    if len(times) > 1 or swaps:
        said.append(f"In all it was suspended for {duration(total)}.")
    sets = case.pieces.processors
    if sets is not None and sets[times[0]]:
        users = np.concatenate([sharing(case, piece, aside=False) for piece in times])
        guests = np.unique(users[~case.schedule.workload.columns["urgent"][users]])
        others = "only urgent jobs could use them meanwhile"
        if len(guests):
            were = "was a guest" if len(guests) == 1 else "were guests"
            others = f"{jobs(case.ids(guests))} {were} on some of them meanwhile"
        said.append(
            f"It kept its processors ({shortened(sets[times[0]])}): {others}, and it resumed there when none "
            "did."
        )
    return said


def guest(case: Case) -> list[str]:
    """A regular job that was lent processors of a suspended one."""
    marked, sets = case.schedule.workload.get("urgent"), case.pieces.processors
    if marked is None or marked[case.row] or sets is None:
        return []
    said = []
    for piece in case.own.tolist():
        if case.pieces.state[piece] != RUNNING or not sets[piece]:
            continue
        owners = sharing(case, piece, aside=True)
        if len(owners):
            were = "which was" if len(owners) == 1 else "which were"
            said.append(
                f"It was a guest on processors of {jobs(case.ids(owners))}, {were} suspended: by its request "
                "it would end before they were needed again."
            )
    return said


def sharing(case: Case, piece: int, aside: bool) -> np.ndarray:
    """Jobs with a piece on some of the same processors at the same time: suspended, or not."""
    pieces, sets = case.pieces, case.pieces.processors
    assert sets is not None
    same_time = (pieces.start < pieces.end[piece]) & (pieces.end > pieces.start[piece])
    wanted = same_time & ((pieces.state == SUSPENDED) == aside) & (pieces.job != case.row) & case.nearby()
    others = np.flatnonzero(wanted).tolist()
    mine = set(numbers(sets[piece]))
    found = [pieces.job[p] for p in others if sets[p] and not mine.isdisjoint(numbers(sets[p]))]
    return np.unique(np.array(found, np.int64))


def borrowers(case: Case, piece: int) -> np.ndarray:
    """Urgent jobs that used its processors while it was suspended; without sets all that started then."""
    urgent = case.schedule.workload.get("urgent")
    if case.schedule.shares is not None:
        return over_it(case, piece)
    if urgent is None:
        return np.zeros(0, np.int64)
    begin, end = int(case.pieces.start[piece]), int(case.pieces.end[piece])
    sets = case.pieces.processors
    if sets is None or not sets[piece]:
        began = (case.schedule.start >= begin - 1) & (case.schedule.start < end)
        if case.schedule.cluster is not None:
            began &= case.schedule.cluster == case.schedule.cluster[case.row]
        return np.flatnonzero(began & urgent)
    users = sharing(case, piece, aside=False)
    return np.asarray(users[urgent[users]])


def over_it(case: Case, piece: int) -> np.ndarray:
    """Jobs of higher tiers that began or went on, on its nodes, when it was suspended.

    Where there are none, those of its own tier, with whom it takes turns.
    """
    shares, pieces, site = case.schedule.shares, case.pieces, case.schedule.platform.site
    codes, names = case.schedule.partition, case.schedule.labels.get("partition", ())
    if shares is None or site is None or codes is None:
        return np.zeros(0, np.int64)
    mine = shares.node[shares.of(case.row)]
    near = np.unique(shares.job[np.isin(shares.node, mine)])
    begin = pieces.start[piece]
    began = pieces.job[(pieces.state == RUNNING) & (pieces.start == begin)]
    tier = np.array([site.partitions[site.partition_place[name]].tier for name in names], np.int64)[codes]
    higher = np.intersect1d(near[tier[near] > tier[case.row]], began)
    if len(higher):
        return np.asarray(higher)
    before = pieces.job[(pieces.state == RUNNING) & (pieces.start <= begin) & (pieces.end > begin)]
    return np.asarray(np.intersect1d(near[(tier[near] == tier[case.row]) & (near != case.row)], before))


def urgent(case: Case) -> list[str]:
    """How an urgent job got its processors, and how that went."""
    marked = case.schedule.workload.get("urgent")
    if marked is None or not marked[case.row]:
        return []
    why = WHY[case.schedule.why[case.row]]
    said = []
    if why == "urgent_preempt":
        said.append(_victims(case))
    elif why == "urgent_backfill":
        said.append("Enough processors were free until its end, so no reservation had to move for it.")
    elif why == "urgent":
        said.append("Enough processors were free, but they were reserved: it went before regular jobs.")
    flow, run = int(case.schedule.end[case.row]) - case.submit, int(case.schedule.run[case.row])
    if run > 0:
        said.append(f"Urgent, it had its result after {duration(flow)}: a slowdown of {flow / run:.4g}.")
    return said


def _victims(case: Case) -> str:
    """The jobs that were stopped for it: those that lost processors to it when they stopped."""
    pieces, row = case.pieces, case.row
    began = int(case.schedule.start[row])
    stops = np.flatnonzero(np.isin(pieces.ended, FOR_URGENT) & (pieces.end <= began) & case.nearby())
    sets = pieces.processors
    own = sets[int(case.own[0])] if sets is not None else ""
    if sets is not None and own:
        mine = set(numbers(own))
        stops = np.array(
            [p for p in stops.tolist() if sets[p] and not mine.isdisjoint(numbers(sets[p]))], int
        )
    stops = stops[pieces.end[stops] == pieces.end[stops].max(initial=0)]
    if not len(stops):
        return "Regular jobs were stopped for it."
    t = int(pieces.end[stops[0]])
    aside = pieces.ended[stops] == ENDED.index("suspended")
    freed = processors(int(pieces.procs[stops].sum()))
    how = "suspended" if aside.all() else "killed, to start again,"
    told = f"{count_jobs(len(stops))} with {freed} {'was' if len(stops) == 1 else 'were'} {how} for it "
    told += f"{at(t, case)}: {jobs(case.ids(pieces.job[stops]))}."
    if began > t:
        told += f" It waited {duration(began - t)} until they were swapped out."
    return told


def shortened(text: str, shown: int = 40) -> str:
    """A set of processors, the beginning of it where it is long.

    >>> shortened("0-3,7")
    '0-3,7'
    """
    if len(text) <= shown:
        return text
    return text[:shown].rpartition(",")[0] + ",..."
