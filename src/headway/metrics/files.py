"""What input files cost: stretch, loads, time spent waiting for files, and how users' sessions fare.

The stretch of a job is its flow over the time it would take alone, its file read by itself. Jobs that were
killed got less than they needed and can have a stretch below 1; they are reported apart. A session is what
one user submits with no more than five minutes between a job and the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics.sample import Sample, file_load
from headway.metrics.statistics import Ratios, Times, mean_ratio, mean_time, seconds, total
from headway.schedule import STATES, Schedule
from headway.units import SECOND

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
