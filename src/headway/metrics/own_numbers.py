"""Numbers that a policy or a kind of job adds to a summary: units and meanings; those of groups of jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.metrics.sample import Sample, file_load, makespan, slowdown, utilization, walltime_slowdown
from headway.metrics.statistics import (
    Ratios,
    Times,
    largest_ratio,
    largest_time,
    mean_ratio,
    mean_time,
    seconds,
    total,
)
from headway.platform.absences import away_area
from headway.schedule import ENDED, STATES, Schedule
from headway.schedule.pieces import FOR_URGENT
from headway.units import SECOND

_MEANS = {
    "jobs": ("jobs", "{}"),
    "mean_wait": ("s", "mean wait of {}"),
    "mean_response": ("s", "mean response of {}"),
    "mean_slowdown": ("1", "mean of response / run over {} with run > 0"),
    "mean_walltime_slowdown": ("1", "mean of (wait + walltime) / walltime over {}"),
}
_OF_DEADLINES = ("jobs", "mean_wait", "mean_walltime_slowdown", "mean_slowdown")
_OF_URGENT = ("jobs", "mean_wait", "mean_response", "mean_slowdown")
_GROUPS = {
    "priority": ("jobs submitted without a deadline", _OF_DEADLINES),
    "flexible": ("jobs submitted with a deadline", _OF_DEADLINES),
    "urgent": ("urgent jobs", _OF_URGENT),
    "regular": ("jobs that are not urgent", _OF_URGENT),
    "preempted": ("jobs that were stopped for urgent ones at least once", ("jobs", *_OF_URGENT[2:])),
}

OWN: dict[str, tuple[str, str]] = {
    # deadlines
    **{
        f"{group}_{name}": (_MEANS[name][0], _MEANS[name][1].format(whose))
        for group, (whose, names) in _GROUPS.items()
        for name in names
    },
    "deadlines": ("jobs", "jobs with a deadline"),
    "deadlines_met": ("jobs", "jobs that ended by their deadline"),
    "accepted_deadlines": ("jobs", "jobs that waited with their deadline, so that others could go first"),
    "late_on_arrival": ("jobs", "jobs that could not meet their deadline when they came"),
    "promotions": ("jobs", "jobs with a deadline that became priority jobs, to meet it"),
    "displacements": ("times", "how often a waiting job with a deadline was moved to a later start"),
    "safety_net": ("times", "how often a priority job went after all with deadlines, to keep these"),
    "promises_kept": ("1", "share of the jobs that ended by the latest end given on submission"),
    "mean_before_promise": ("s", "how long before that end they ended, on average"),
    "broken_promises": ("jobs", "jobs that ended later than the latest end given on submission"),
    "deadlines_broken": ("jobs", "accepted deadlines that were missed because of urgent jobs"),
    # urgent jobs
    "urgent_lateness": ("1", "U_L, the largest response / run of an urgent job"),
    "urgent_max_wait": ("s", "longest wait of an urgent job"),
    "urgent_margin_least": ("s", "least time from the end of an urgent job to its deadline; below 0: late"),
    "urgent_margin_mean": ("s", "mean time from the end of an urgent job to its deadline"),
    "urgent_deadlines_missed": ("jobs", "urgent jobs that ended after their deadline"),
    "suspensions": ("times", "how often a job was suspended for an urgent one"),
    "preempting_jobs": ("jobs", "urgent jobs that stopped others"),
    "kills_for_urgent": ("times", "how often a job was killed for an urgent one"),
    "urgent_waited": ("jobs", "urgent jobs that had to wait"),
    "mean_preemption_delay": ("s", "mean time that urgent jobs waited for those that they stopped"),
    "max_preemption_delay": ("s", "longest time that an urgent job waited for those that it stopped"),
    "swap_assumed": ("jobs", "jobs whose memory is not known; they count as the median of the others"),
    # redirection
    "redirections": ("times", "how often a job was stopped and restarted in the second group"),
    "redirected_mean_bsld": ("1", "mean bounded slowdown of the redirected jobs"),
    "others_mean_bsld": ("1", "mean bounded slowdown of the other jobs"),
    "redirected_among_worst": ("1", "share of redirected jobs among the 1 % that are slowed down most"),
    "worst_is_redirected": ("1", "1 if a job with the largest bounded slowdown was redirected, else 0"),
    "utilization_with_wasted": ("1", "utilization with the runs that were given up"),
    # input files
    "file_loads": ("times", "how often a job loaded its input file"),
    "file_reuses": ("times", "how often a job found its input file on its node"),
    "total_flow": ("s", "sum of the responses"),
    "mean_flow": ("s", "mean response"),
    "finished_mean_stretch": ("1", "mean of response / (run + load) over jobs that came to their end"),
    "killed_mean_stretch": ("1", "the same over jobs that were killed"),
    "mean_bounded_stretch": ("1", "the same over jobs that came to their end, the divisor at least 300 s"),
    "file_wait": ("s", "time that jobs held their cores waiting for files, their own loads included"),
    "sessions": ("sessions", "sessions: what a user submits with no more than five minutes in between"),
    "mean_session_stretch": ("1", "mean over the sessions of the summed stretches of their jobs"),
    # grids
    "grid_tasks": ("tasks", "jobs that the agent gives to clusters; the others are local"),
    "moves": ("times", "how often a waiting task was moved to another cluster"),
    "moved_tasks": ("tasks", "tasks that were moved at least once"),
    "most_moves_of_a_task": ("times", "how often one task was moved at most"),
    "reallocation_events": ("times", "how often the agent looked again at the waiting tasks"),
    "resubmissions": ("times", "how often a task was submitted after it had been cancelled (mode=cancel)"),
    "put_back_tasks": ("tasks", "tasks that were submitted again with a later completion than they had"),
    "most_put_back": ("times", "how often that happened to one task at most"),
    "starving_tasks": ("tasks", "tasks to which it happened five times or more"),
    "estimates": ("times", "how often a cluster was asked when it would complete a task"),
    "expected_gain": ("s", "mean gain in completion that a move was made for"),
    "kept_share": ("1", "share of the moves after which the task was completed no later than expected then"),
    "better_share": ("1", "share of the moves after which it was completed earlier than without one"),
    # outages, feedback, sites
    "failed_runs": ("times", "runs that ended because their processors were lost"),
    "lost_jobs": ("jobs", "jobs that were not run again after that"),
    "unavailable_area": ("processor-seconds", "processors x time that were down or under maintenance"),
    "following_jobs": ("jobs", "jobs that were submitted when the job that their user waited for was over"),
    "mean_submission_delay": ("s", "how much later than in the log these were submitted, on average"),
    "usage_warm_up_days": ("days", "time after which half of the usage that counts for fair share is known"),
}  # fmt: skip
"""Unit ("1" for a ratio) and meaning of each, by its name."""


def of_group(sample: Sample, group: str, jobs: NDArray[np.bool_]) -> dict[str, Any]:
    """The numbers of a group of jobs, those that ``jobs`` marks, by their names in a summary."""
    wait, flow, run, walltime = (
        column[jobs] for column in (sample.wait, sample.flow, sample.run, sample.walltime)
    )
    found = {
        "jobs": int(jobs.sum()),
        "mean_wait": mean_time(wait),
        "mean_response": mean_time(flow),
        "mean_slowdown": mean_ratio(slowdown(flow, run)),
        "mean_walltime_slowdown": mean_ratio(walltime_slowdown(wait, walltime)),
    }
    return {f"{group}_{name}": found[name] for name in _GROUPS[group][1]}


# What outages did: processor time that was not there, runs that failed, jobs that were lost.

FAILED = ENDED.index("failed")


def unavailable(schedule: Schedule) -> float:
    """Processor-seconds of the makespan that were down or under maintenance."""
    if schedule.platform.outages is None or makespan(schedule) is None:
        return 0.0
    return away_area(schedule.platform.outages, int(schedule.submit.min()), int(schedule.end.max()))


def lost(schedule: Schedule) -> NDArray[np.bool_]:
    """Which jobs were not run again after their processors were lost."""
    found = np.zeros(len(schedule), np.bool_)
    if schedule.pieces is not None:
        pieces = schedule.pieces
        found[pieces.job[(pieces.ended == FAILED) & pieces.final(len(schedule))]] = True
    return found


def outages(schedule: Schedule) -> dict[str, Any]:
    """Numbers of a machine whose processors come and go; empty for any other.

    failed_runs: runs that ended because their processors were lost.
    lost_jobs: jobs that were not run again after that (on_failure=lost).
    unavailable_area: processor-seconds of the makespan that were down or under maintenance; utilization does
        not count them.
    broken_promises: jobs that ended later than they had been told, under a policy that tells ends (dbf).
    """
    pieces = schedule.pieces
    if schedule.platform.outages is None:
        return {}
    found: dict[str, Any] = {
        "failed_runs": 0 if pieces is None else int((pieces.ended == FAILED).sum()),
        "lost_jobs": int(lost(schedule).sum()),
        "unavailable_area": unavailable(schedule),
    }
    if schedule.promise is not None and schedule.promise_kind == "end":
        found["broken_promises"] = int(((schedule.promise >= 0) & (schedule.end > schedule.promise)).sum())
    return found


# What deadlines cost and bring: jobs by the label they had on submission, deadlines met, what was told.


def deadlines(sample: Sample) -> dict[str, Any]:
    """Numbers of a run whose jobs have deadlines, under any policy; empty where none has.

    flexible_* are of the jobs that were submitted with a deadline, priority_* of the others, whatever the
    policy made of them later. Where only urgent jobs have deadlines, these numbers are left out.
    *_mean_wait: mean wait (s); *_mean_walltime_slowdown: mean of (wait + walltime) / walltime over jobs with
        walltime > 0; *_mean_slowdown: mean of response / run over jobs with run > 0.
    deadlines: jobs with a deadline; deadlines_met: those that ended by it.
    promises_kept: share of the jobs that ended by the latest end they were told, where a policy tells one;
        mean_before_promise: how long before it they ended on average (s).
    """
    due = sample.schedule.workload.get("deadline")
    if due is None or not (due >= 0).any():
        return {}
    due = sample.column(due)
    flexible = due >= 0
    end = sample.column(sample.schedule.end)
    urgent = sample.schedule.workload.get("urgent")
    numbers: dict[str, Any] = {}
    if urgent is None or (flexible & ~sample.column(urgent)).any():  # urgent jobs are not flexible
        numbers = of_group(sample, "priority", ~flexible) | of_group(sample, "flexible", flexible)
    numbers["deadlines"] = int(flexible.sum())
    numbers["deadlines_met"] = int((end[flexible] <= due[flexible]).sum())
    return numbers | _told(sample, end)


def _told(sample: Sample, end: NDArray[np.int64]) -> dict[str, Any]:
    promise = sample.schedule.promise
    if promise is None or sample.schedule.promise_kind != "end":
        return {}
    promise = sample.column(promise)
    told = promise >= 0
    kept = (end <= promise)[told]
    return {
        "promises_kept": float(kept.mean()) if len(kept) else None,
        "mean_before_promise": mean_time((promise - end)[told]),
    }


# What input files cost: stretch, loads, time spent waiting for files, and how users' sessions fare.
#
# The stretch of a job is its flow over the time it would take alone, its file read by itself. Jobs that were
# killed got less than they needed and can have a stretch below 1; they are reported apart. A session is what
# one user submits with no more than five minutes between a job and the next.

BOUND = 300 * SECOND
"""The least time alone in the bounded stretch (µs)."""
GAP = 300 * SECOND
"""The longest pause within a session (µs)."""


def files(sample: Sample) -> dict[str, Any]:
    """Numbers of a run inside nodes whose jobs have input files; empty for any other.

    total_flow: sum of end - submission (s); mean_flow: its mean.
    finished_mean_stretch, killed_mean_stretch: mean of flow / (run + load) over jobs that came to their end,
        and over those that were killed; mean_bounded_stretch: over the former, at least 300 s in the divisor.
    file_wait: time that jobs held their cores waiting for files, their own loads included (s).
    sessions, mean_session_stretch: how many, and the mean over them of the summed stretches of their jobs.
    """
    schedule = sample.schedule
    if schedule.node is None or schedule.workload.get("file_gb") is None:
        return {}
    killed = sample.column(schedule.killed)
    alone = (sample.run + sample.load).astype(np.float64)
    stretch = sample.flow / np.maximum(alone, 1)
    some = alone > 0
    session = sessions(schedule)[sample.rows]
    sums = np.asarray(np.bincount(session, weights=np.where(some, stretch, 0.0)), np.float64)
    sums = sums[np.unique(session)]
    return {
        "total_flow": total(sample.flow) / SECOND,
        "mean_flow": mean_time(sample.flow),
        "finished_mean_stretch": mean_ratio(stretch[some & ~killed]),
        "killed_mean_stretch": mean_ratio(stretch[some & killed]),
        "mean_bounded_stretch": mean_ratio((sample.flow / np.maximum(alone, BOUND))[~killed]),
        "file_wait": seconds(int(sample.column(file_waits(schedule)).sum())),
        "sessions": len(sums),
        "mean_session_stretch": mean_ratio(sums),
    }


def file_waits(schedule: Schedule) -> Times:
    """Time that each job held its cores before its program began (µs)."""
    waits = np.zeros(len(schedule), np.int64)
    pieces = schedule.pieces
    if pieces is not None:
        load = pieces.state == STATES.index("loading")
        np.add.at(waits, pieces.job[load], (pieces.end - pieces.start)[load])
    return waits


def stretches(schedule: Schedule) -> Ratios:
    """The stretch of every job; 1 for a job of no length and without a load."""
    alone = schedule.run + file_load(schedule)
    return np.where(alone > 0, schedule.response / np.maximum(alone, 1), 1.0)


def sessions(schedule: Schedule) -> Times:
    """A number for the session of each job, counted from 0."""
    user, submit = schedule.workload.user, schedule.submit
    order = np.lexsort((submit, user))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(user[order]) != 0) | (np.diff(submit[order]) > GAP)
    session = np.empty(len(order), np.int64)
    session[order] = np.cumsum(fresh) - 1
    return session


def improvements(reference: Schedule, other: Schedule, rows: NDArray[np.bool_] | None = None) -> Ratios:
    """Of each session, its summed stretch under the reference over that under the other: above 1 is better.

    Both schedules are of the same workload; with ``rows`` only sessions of those jobs count.
    """
    chosen = np.ones(len(reference), np.bool_) if rows is None else rows
    session = sessions(reference)[chosen]
    ours, theirs = (np.bincount(session, weights=stretches(s)[chosen]) for s in (reference, other))
    some = np.bincount(session) > 0
    return np.asarray(ours[some] / theirs[some])


# What reallocation did to the tasks of a grid, against the same grid without it.
#
# Y. Caniou, G. Charrier and F. Desprez, AusPDC 2011. A task is impacted if its completion is another than in
# the reference, a run of the same tasks without reallocation. Local jobs are not counted.


def grid_tasks(schedule: Schedule) -> NDArray[np.bool_]:
    """The jobs that the agent handles."""
    local = schedule.workload.get("local")
    return np.ones(len(schedule), np.bool_) if local is None else ~local


def impact(schedule: Schedule, reference: Schedule) -> dict[str, Any]:
    """Numbers of a run against its reference; None where no task was impacted.

    impacted: share of the tasks whose completion changed.
    reallocations: moves / tasks, which may exceed 1.
    early: share of the impacted tasks that were completed earlier.
    relative_response: mean response of the impacted tasks / the same in the reference.
    relative_response_of_all: the same over all tasks.
    local_relative_response: the same over the local jobs, which are not asked; None where there are none.
    """
    if not np.array_equal(schedule.workload.job, reference.workload.job):
        raise UsageError("the reference has other jobs; simulate the same workload with mode=none")
    tasks = grid_tasks(schedule)
    with_, without = schedule.end[tasks], reference.end[tasks]
    changed = with_ != without
    submit = schedule.submit[tasks]
    moves = 0 if schedule.moves is None else len(schedule.moves)
    numbers: dict[str, Any] = {
        "grid_tasks": int(tasks.sum()),
        "impacted": float(changed.mean()) if tasks.any() else None,
        "reallocations": moves / int(tasks.sum()) if tasks.any() else None,
        "early": float((with_ < without)[changed].mean()) if changed.any() else None,
        "relative_response": _ratio((with_ - submit)[changed], (without - submit)[changed]),
        "relative_response_of_all": _ratio(with_ - submit, without - submit),
    }
    apart = ~tasks
    numbers["local_relative_response"] = _ratio(schedule.response[apart], reference.response[apart])
    return numbers


def _ratio(with_: NDArray[np.int64], without: NDArray[np.int64]) -> float | None:
    """The ratio of the two means."""
    below = int(without.sum())
    return int(with_.sum()) / below if below else None


def came(schedule: Schedule) -> dict[str, Any]:
    """What was expected of the moves and what came; empty where none were made.

    expected_gain: mean of the gain in completion that a move was made for (s).
    kept_share: share of the moves after which the task was completed no later than was expected then.
    better_share: share of the moves after which it was completed earlier than it would have been expected to
        be without that move.
    """
    moves = schedule.moves
    if moves is None or len(moves) == 0:
        return {}
    end = schedule.end[moves.job]
    return {
        "expected_gain": float((moves.before - moves.after).mean()) / 1e6,
        "kept_share": float((end <= moves.after).mean()),
        "better_share": float((end < moves.before).mean()),
    }


# What redirection did: to the jobs that were redirected, to the others, and to the processors.

WORST = 0.01
"""The share of the jobs that counts as the worst."""


def redirected(sample: Sample) -> dict[str, Any]:
    """Numbers of a run with a redirection group; empty for any other.

    redirected_among_worst: share of redirected jobs among the hundredth (at least one) of the jobs with the
        largest bounded slowdowns; of equal ones the first in the log counts.
    worst_is_redirected: 1 if a job with the largest bounded slowdown was redirected, else 0.
    redirected_mean_bsld, others_mean_bsld: mean bounded slowdown of the redirected and of the other jobs.
    utilization_with_wasted: as utilization, runs that were given up included.
    """
    schedule = sample.schedule
    if schedule.group is None or "redirection" not in schedule.groups:
        return {}
    names = schedule.labels.get("group") or tuple(schedule.groups)
    moved = sample.column(schedule.group) == names.index("redirection")
    bounded = sample.bounded_slowdown
    held = sample.areas.useful + sample.areas.wasted
    numbers: dict[str, Any] = {
        "utilization_with_wasted": utilization(held, schedule.capacity, sample.span),
        "redirected_mean_bsld": mean_ratio(bounded[moved]),
        "others_mean_bsld": mean_ratio(bounded[~moved]),
        "redirected_among_worst": None,
        "worst_is_redirected": None,
    }
    if len(bounded):
        worst = moved[worst_rows(bounded)]
        numbers["redirected_among_worst"] = float(np.mean(worst))
        numbers["worst_is_redirected"] = int(moved[bounded == bounded.max()].any())
    return numbers


def worst_rows(slowdown: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the worst hundredth, at least one, worst first."""
    count = max(1, int(len(slowdown) * WORST))
    return np.argsort(-slowdown, kind="stable")[:count]


# What urgent jobs got, and what that cost the others.


def urgent(sample: Sample) -> dict[str, Any]:
    """Numbers of a run with urgent jobs, under any policy; empty where none is urgent.

    urgent_lateness: U_L, the largest slowdown (response / run) of an urgent job with run > 0.
    urgent_* and regular_*: jobs, mean wait and response (s), mean slowdown over jobs with run > 0; of urgent
        jobs also the largest wait (s). Suspensions and swaps are in the response, not in the run.
    preempted_jobs: jobs that were stopped at least once; preempted_mean_response, preempted_mean_slowdown.
    urgent_margin_least, urgent_margin_mean: time from the end to the deadline (s) of urgent jobs that have
        one, negative where it was missed; urgent_deadlines_missed: how many.
    """
    marked = sample.schedule.workload.get("urgent")
    if marked is None or not marked.any():
        return {}
    rush: NDArray[np.bool_] = sample.column(marked)
    numbers: dict[str, Any] = {
        "urgent_lateness": largest_ratio(slowdown(sample.flow[rush], sample.run[rush])),
        **of_group(sample, "urgent", rush),
        "urgent_max_wait": largest_time(sample.wait[rush]),
        **of_group(sample, "regular", ~rush),
    }
    numbers |= of_group(sample, "preempted", stopped_rows(sample))
    return numbers | _margins(sample, rush)


def stopped_rows(sample: Sample) -> NDArray[np.bool_]:
    """Which of the jobs measured were stopped for another at least once."""
    stopped = np.zeros(len(sample.schedule), np.bool_)
    pieces = sample.schedule.pieces
    if pieces is not None:
        stopped[pieces.job[np.isin(pieces.ended, FOR_URGENT)]] = True
    return np.asarray(sample.column(stopped), np.bool_)


def _margins(sample: Sample, rush: NDArray[np.bool_]) -> dict[str, Any]:
    due = sample.schedule.workload.get("deadline")
    if due is None:
        return {}
    due, end = sample.column(due), sample.column(sample.schedule.end)
    some = rush & (due >= 0)
    if not some.any():
        return {}
    margin = due[some] - end[some]
    return {
        "urgent_margin_least": seconds(int(margin.min())),
        "urgent_margin_mean": mean_time(margin),
        "urgent_deadlines_missed": int((margin < 0).sum()),
    }
