"""What became of a job besides waiting and running: one small function for each kind of fate.

A function takes the case and gives sentences, none where its fate does not apply. To add a fate, write one
and name it in FATES.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.explain.place import Case, Rows, at, count_jobs, jobs, processors, times
from headway.explain.waiting import over_deadlines, provisional
from headway.plain import counted
from headway.platform.processor_sets import numbers
from headway.schedule.moves import Moves
from headway.schedule.pieces import ENDED, FOR_URGENT, STATES, TO_REDIRECTION, WHY
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


# A job that was put aside for urgent ones, and an urgent job that others made room for.

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


# What became of a job besides waiting and running: one small function for each kind of fate.
#
# A function takes the case and gives sentences, none where its fate does not apply. To add a fate, write
# one
# and name it in FATES.


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
