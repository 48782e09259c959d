"""What a job waited for, in order: who was before it, whose end freed processors, who went past it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError
from headway.explain.place import NOT_AGAIN, Case, Rows, at, count_jobs, jobs, processors, times
from headway.plain import listed
from headway.platform.node_table import nodes_of
from headway.policies.nodes.baseline import Baseline
from headway.policies.nodes.policy import OnNodes, Scored
from headway.policies.nodes.watching import Terms, watched
from headway.policies.spec import parse_spec
from headway.policies.urgent.policy import Ujfb
from headway.schedule import Schedule
from headway.schedule.pieces import ENDED, STATES, WHY
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


# Why a job ran on its node: what the others had to offer.

SHOWN = 3
"""Other nodes that are told of."""


def why_this_node(case: Case) -> list[str]:
    """Sentences on the choice of the node; where the policy scores nodes the run is made again for it."""
    schedule = case.schedule
    if schedule.node is None:
        return []
    try:
        policy = parse_spec(schedule.policy).policy
        if isinstance(policy, Baseline):
            policy = policy.inside()
    except HeadwayError:
        return []
    node = int(schedule.node[case.row])
    if isinstance(policy, Scored):
        return _by_score(case, policy, node)
    if isinstance(policy, OnNodes) and policy.by_size:
        return _by_size(case, node)
    if isinstance(policy, OnNodes):
        return [f"Node {node} was the first one allowed that had {processors(case.procs)} for it."]
    return []


def _by_size(case: Case, node: int) -> list[str]:
    memory = [one.group.memory_gb for one in nodes_of(case.schedule.platform)]
    column = case.schedule.workload.get("needs_node_gb")
    need = 0.0 if column is None else float(np.nan_to_num(column[case.row]))
    own = min(size for size in memory if size >= need)
    if memory[node] == own:
        return [f"It ran on node {node}, of the smallest memory size that holds it ({own:g} GB)."]
    return [
        f"It ran on node {node} of {memory[node]:g} GB, larger than the {own:g} GB it needed: there it could "
        "start earlier, and the policy left room for it."
    ]


def _by_score(case: Case, policy: Scored, node: int) -> list[str]:
    # Nobody can see the future, so jobs that came after its start change nothing about it.
    known = np.flatnonzero(case.schedule.submit <= case.start)
    workload = case.schedule.workload.select(known, rule="window", action="after the start of the job")
    terms = watched(workload, case.schedule.platform, policy, int(np.searchsorted(known, case.row)))
    if not terms or terms[0].node != node:
        return [f"Why it ran on that node is not known: {NOT_AGAIN}."]
    best, others = terms[0], terms[1:]
    said = [f"Node {node} had the lowest score of {len(terms)}: {_offer(case, best)}."]
    equal = sum(one.score == best.score for one in others)
    if equal:
        said.append(f"{equal} more had the same score; of equal ones the first in order of memory is taken.")
    for one in [one for one in others if one.score > best.score][:SHOWN]:
        said.append(
            f"Node {one.node} was worse by {duration(int(one.score - best.score))}: {_offer(case, one)}."
        )
    return said


def _offer(case: Case, terms: Terms) -> str:
    start = "a start then" if terms.start == case.start else f"a start {at(terms.start, case)}"
    workload = case.schedule.workload
    if workload.columns["file"][case.row] < 0:
        return start
    if terms.loads:
        file = f"{duration(terms.wait)} to load its file"
    elif terms.wait:
        file = f"{duration(terms.wait)} of waiting for a load of its file by another job"
    else:
        file = "its file already there"
    others = f", files worth {duration(int(terms.evicted))} of loading pushed out" if terms.evicted else ""
    copies = f", {terms.copies} other cop{'y' if terms.copies == 1 else 'ies'} of it" if terms.copies else ""
    return f"{start}, {file}{others}{copies}"


# What a job waited for, in order: who was before it, whose end freed processors, who went past it.

MANY = 4
"""Ends of jobs, and outages, told one by one; more are summed up."""


def at_submission(case: Case) -> list[str]:
    """What the machine looked like when the job came."""
    where = f" of {case.pool}" if case.pool else ""
    free = f"{case.free(case.submit)} of the {processors(case.capacity)}{where} were free"
    said = [f"{free}, and it needed {case.procs}{' on one node' if case.inside_nodes else ''}."]
    still, (starting, _, started) = case.waiting(case.submit), _left(case, case.submit, case.submit)
    if len(still):
        wanted = f", for {processors(int(case.schedule.procs[still].sum()))} in all"
        told = "" if case.schedule.moves is not None else wanted  # tasks may be moulded anew
        said.append(
            f"{count_jobs(len(still))} submitted before it waited already{told}: {jobs(case.ids(still))}."
        )
    elif started.any():
        told = jobs(case.ids(np.unique(starting[started]))).capitalize()
        said.append(f"{told}, submitted before it, started at that instant.")
    else:
        said.append("No job submitted before it was waiting.")
    return said


def while_waiting(case: Case) -> list[str]:
    """The stages of the wait, in order."""
    if case.start == case.submit:
        return []
    ahead, left, started = _left(case, case.submit + 1, case.start)
    behind = len(case.waiting(case.start)) > 0
    said: list[str] = []
    turn = int(left[-1]) if len(left) else case.submit
    if started.any():
        ahead, left = ahead[started], left[started]
        last, then = ahead[-1], int(left[-1])
        said.append(
            f"While it waited, {count_jobs(len(np.unique(ahead)))} submitted before it started; the last was "
            f"job {case.ids(last)}, which took {processors(int(case.schedule.procs[last]))} {at(then, case)}."
        )
    if not behind:
        said += _for_processors(case, turn)
    said += met(case)
    said += _kept_for_others(case)
    said += _overtaken(case)
    return said


def _left(case: Case, begin: int, end: int) -> tuple[Rows, Rows, npt.NDArray[np.bool_]]:
    """Jobs submitted before this one that had waited until some time in [begin, end], in order.

    With that time, and whether they started then.
    """
    job, _, until, started = case.waits
    chosen = np.flatnonzero(case.before()[job] & (until >= begin) & (until <= end))
    chosen = chosen[np.lexsort((job[chosen], until[chosen]))]
    return job[chosen], until[chosen], started[chosen]


def _for_processors(case: Case, turn: int) -> list[str]:
    """From the moment when no job submitted earlier was waiting: whose end freed processors."""
    if turn >= case.start:
        return []
    free, there = case.room(turn), " on one node" if case.inside_nodes else ""
    whom = "From the beginning" if turn == case.submit else "Then"
    longer = duration(case.start - turn)
    if free >= case.procs:
        but = ", but perhaps not on nodes as it asked for them" if case.schedule.shares is not None else ""
        return [
            f"{whom} it was the first in order of submission and enough processors were free{there}{but}; "
            f"the policy started it {longer} later."
        ]
    said = [
        f"{whom} it was the first in order of submission, and {free} of the {case.procs} processors "
        f"it needed were free{there}; it waited another {longer} for others to end."
    ]
    ends = case.freed(turn, case.start)
    ends = ends[np.lexsort((case.held.job[ends], case.held.end[ends]))]
    if not len(ends):
        return said
    told = [
        f"job {case.ids(case.held.job[end])} with {processors(int(case.held.procs[end]))} "
        f"after {duration(int(case.held.end[end]) - case.submit)}"
        for end in ends[-MANY:]
    ]
    if len(ends) > MANY:
        rest = ends[:-MANY]
        others = (case.held.start > turn) & (case.held.start <= case.start) & (case.held.job != case.row)
        took = ", some of which others took," if others.any() else ""
        said.append(
            f"{count_jobs(len(np.unique(case.held.job[rest])))} {_ended(case, ends)} "
            f"{processors(int(case.held.procs[rest].sum()))}{took} and at last {'; '.join(told)}."
        )
    else:
        said.append(f"What {_ended(case, ends)} processors, counted from its submission: {'; '.join(told)}.")
    return said


def _ended(case: Case, pieces: Rows) -> str:
    """What these pieces did with their processors; those of a stopped run may be gone with it."""
    ways, swapped = case.held.ended[pieces], case.held.state[pieces] == STATES.index("swap_out")
    if (np.isin(ways, [ENDED.index("done"), ENDED.index("walltime")]) & ~swapped).all():
        return "ended and freed"
    left = "left" if (ways == ENDED.index("failed")).any() else "freed"
    return f"was stopped and {left}" if len(pieces) == 1 else f"ended or were stopped and {left}"


def _kept_for_others(case: Case) -> list[str]:
    """How long enough processors stood free while it was not its turn."""
    gone, back = case.away
    none = np.zeros(len(gone), np.int64)
    starts, ends = np.concatenate([case.held.start, gone]), np.concatenate([case.held.end, back])
    procs, nodes = np.concatenate([case.held.procs, none + 1]), np.concatenate([case.places, none])
    others = np.concatenate([case.held.job != case.row, none == 0])
    inside = (starts < case.start) & (ends > case.submit) & others
    every = np.arange(len(case.rooms))
    times = [np.maximum(starts[inside], case.submit), np.minimum(ends[inside], case.start)]
    moments = np.concatenate([every * 0 + case.submit, *times, every * 0 + case.start])
    change = np.concatenate([case.rooms, -procs[inside], procs[inside], -case.rooms])
    node = np.concatenate([every, nodes[inside], nodes[inside], every])
    order = np.lexsort((moments, node))
    moments, left = moments[order], np.cumsum(change[order])
    fits = np.flatnonzero((left[:-1] >= case.procs) & (moments[1:] > moments[:-1]))
    kept = _covered(moments[fits], moments[fits + 1])
    if not kept:
        return []
    there = " on one node" if case.inside_nodes else ""
    or_not = ", or not on nodes as it asked for them" if case.schedule.shares is not None else ""
    were = "was" if case.procs == 1 else "were"
    return [
        f"For {duration(kept)} of its wait at least {processors(case.procs)} {were} free{there}, but kept "
        f"for jobs that the policy puts first{or_not}."
    ]


def _covered(begins: Rows, ends: Rows) -> int:
    """How long at least one of these times lasts."""
    times, steps = np.concatenate([begins, ends]), np.repeat([1, -1], len(begins))
    order = np.argsort(times, kind="stable")
    return int(np.diff(times[order])[np.cumsum(steps[order])[:-1] > 0].sum())


def _overtaken(case: Case) -> list[str]:
    """Jobs that came later and started earlier."""
    first = case.schedule.first_start
    past = np.flatnonzero(case.after() & (first < case.start) & (first >= case.submit))
    if not len(past):
        return ["No job that came later started before it."]
    again = (case.schedule.start[past] > first[past]) | (case.schedule.why[past] == WHY.index("resumed"))
    backfilled = ~again & (case.schedule.why[past] == WHY.index("backfill"))
    _, gone, back = case.closed
    there = [case.capacity - np.count_nonzero((gone <= t) & (t < back)) for t in first[past].tolist()]
    too_wide = ~again & ~backfilled & (case.procs > np.array(there))
    ways = {
        "by backfilling": int(backfilled.sum()),
        "by the order of the queue": int((~again & ~backfilled & ~too_wide).sum()),
        "while fewer processors were there than it asked for": int(too_wide.sum()),
        "in a run that was stopped later": int(again.sum()),
    }
    counts = {way: count for way, count in ways.items() if count}
    told = [f"{count} {way}" for way, count in counts.items()] if len(counts) > 1 else [*counts]
    widest = past[np.argsort(-case.schedule.procs[past], kind="stable")]
    runs = np.isin(case.held.job, past) & (case.held.start <= case.start) & (case.held.end > case.start)
    left = int(runs.sum())
    ended = (
        f"{left} of them still ran when it started" if left else "none of them ran any more when it started"
    )
    return [
        f"{count_jobs(len(past))} that came later started before it, {listed(told)} "
        f"({'the widest: ' if len(past) > 1 else ''}{jobs(case.ids(widest))}); {ended}."
    ]


def promise(case: Case) -> list[str]:
    """What it was told, and whether that was kept."""
    schedule = case.schedule
    if schedule.promise is None or not schedule.promise_kind or schedule.promise[case.row] < 0:
        return []
    promised = int(schedule.promise[case.row])
    if schedule.promise_kind == "end":
        kept, word = int(schedule.end[case.row]), "end"
    else:
        kept, word = case.start, "start"
    late = kept - promised
    outcome = f"{duration(abs(late))} {'later' if late > 0 else 'earlier'}" if late else "exactly then"
    name = f"promised to {word} by" if schedule.promise_kind != "told" else f"given a {word} of"
    return [f"It was {name} {at(promised, case)[3:]}; it {word}ed {outcome}."]


REASONS = {
    "immediate": "enough processors were free when it came",
    "head": "its turn had come and enough processors were free",
    "backfill": "it fitted into free processors without delaying those that were to go first (backfilling)",
    "reservation": "the time reserved for it had come",
    "resumed": "its turn had come; later it was suspended and taken up again",
    "redirected": "it was started again in another group after it had been stopped",
    "urgent": "it is urgent and goes before the others",
    "urgent_backfill": "it is urgent and fitted into free processors",
    "urgent_preempt": "it is urgent and others were stopped for it",
    "promoted": "it was put first because its deadline came near",
    "moved": "it was moved to another cluster",
}


def reason(case: Case) -> list[str]:
    """Why it started when it did."""
    why = WHY[case.schedule.why[case.row]]
    begun = int(case.schedule.start[case.row])
    ended = case.freed(begun - 1, begun)
    freed = ""
    if len(ended) and why in ("head", "backfill", "reservation"):
        total = int(case.held.procs[ended].sum())
        whose = jobs(case.ids(case.held.job[ended]))
        freed = f" At that instant {whose} {_ended(case, ended)} {processors(total)}."
    text = REASONS.get(why, f"the policy says: {why}")
    waits = case.waiting(begun)
    still = ""
    if len(waits):
        still = f" {count_jobs(len(waits))} submitted before it still waited: {jobs(case.ids(waits))}."
    return [f"It started {at(begun, case)} because {text}.{freed}{still}"]


def met(case: Case) -> list[str]:
    """Outages while the job waited, and maintenance that it would have run into."""
    outages = case.schedule.platform.outages
    if outages is None or case.start == case.submit:
        return []
    said = []
    walltime = int(case.schedule.walltime[case.row])
    for outage in outages.outages:
        known = outage.announced is None or outage.announced <= case.submit
        near = case.submit < outage.start < case.submit + walltime and case.start >= outage.start
        if outage.kind == "maintenance" and known and near:
            left = duration(outage.start - case.submit)
            said.append(
                f"When it was submitted, maintenance of {processors(outage.procs)} was {left} away, and it "
                f"asked for {duration(walltime)}: started before that, it could have run into it."
            )
    during = [o for o in outages.outages if o.start < case.start and o.over > case.submit]
    for outage in during[:MANY]:
        until = "the end" if outage.end is None else at(outage.end, case)[3:]
        words = {
            "maintenance": f"{processors(outage.procs)} were under maintenance",
            "down": f"{processors(outage.procs)} were down",
            "drain": f"{processors(outage.procs)} took no new jobs",
        }
        said.append(f"From {at(outage.start, case)[3:]} to {until} {words[outage.kind]}.")
    if len(during) > MANY:
        said.append(f"So it was with {len(during) - MANY} more outages while it waited.")
    return said
