"""Numbers that a policy or a kind of job adds to a summary: units and meanings; those of groups of jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.metrics import ratios
from headway.metrics.sample import Sample
from headway.metrics.statistics import mean_ratio, mean_time

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
        "mean_slowdown": mean_ratio(ratios.slowdown(flow, run)),
        "mean_walltime_slowdown": mean_ratio(ratios.walltime_slowdown(wait, walltime)),
    }
    return {f"{group}_{name}": found[name] for name in _GROUPS[group][1]}
