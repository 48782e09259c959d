"""Redirection: a running job that holds up too many newcomers is killed and restarted in a second group.

Decisions.
- Sizes: ``added`` m' = floor(alpha m) beside m; ``share`` m' = floor(alpha m / (1 - alpha)) beside m;
  ``split`` m' = floor(alpha m) taken out of m.  ``group`` gives m' itself.  alpha is read as the decimal it
  is written as.
- Under ``split`` jobs wider than the principal group are refused: their result is None.
- Conflicts: each rule's own criterion first (largest walltime, largest counter, largest w * q, latest start),
  then the chain largest walltime, most processors, earliest start, file order.
- In the redirection group the job is a new one, submitted at the instant of the kill (so orders that look at
  the submission look at that); its final result keeps no promise and is ``redirected``.
- For a base policy with reservations the kill is an early end.
- A job that starts in the instant of its arrival runs before the next arrival of that instant is looked at.
- DBF in the principal group: what starts at once is first given its place by DBF, so that ``late=refuse``
  refuses what it would refuse alone. A definitive task then starts before the next arrival; a provisional one
  starts in the pass, for the next arrival may displace it. Neither counts, nor does a refused one.
- DBF in the redirection group: a redirected job keeps its deadline and arrives there like any other; one
  that has run cannot be refused, so ``late`` is always priority there. What it is told there is kept as its
  promise only where the principal group is under DBF too, for then all promises are latest ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from .dbf import Dbf
from .easy import Easy
from .jobs import Job, Result
from .loop import Machine, Policy, Run, drive, soonest

FILTERS: dict[str, Callable[[Job, Job], bool]] = {  # whether the newcomer counts against the running job
    "procs": lambda running, newcomer: running.procs >= newcomer.procs,
    "walltime": lambda running, newcomer: running.walltime >= newcomer.walltime,
    "pseudo": lambda running, newcomer: newcomer.walltime >= running.walltime,
    "none": lambda running, newcomer: True,
}
CONFLICTS: dict[str, Callable[[Job, Run, int], int]] = {  # largest first
    "walltime": lambda job, run, counter: job.walltime,
    "counter": lambda job, run, counter: counter,
    "area": lambda job, run, counter: job.walltime * job.procs,
    "latest": lambda job, run, counter: run.start,
}


@dataclass(frozen=True)
class Redirection:
    """One kill: the job's place in the list, when its lost run began, and when it was killed."""

    job: int
    start: int
    killed: int


@dataclass
class Redirected:
    results: list[Result | None]  # None: refused
    redirections: list[Redirection]
    sizes: tuple[int, int]
    deadlines: list[Dbf] = field(default_factory=list)  # the groups under DBF as they were at the end


def group_sizes(m: int, alpha: float, group: int | None, size: str) -> tuple[int, int]:
    """Processors of the principal and of the redirection group."""
    share = Fraction(str(alpha))
    if group is not None:
        second = group
    elif size == "share":
        second = math.floor(share * m / (1 - share))
    else:
        second = math.floor(share * m)
    return (m - second if size == "split" else m), second


def simulate_redirection(
    jobs: Sequence[Job],
    m: int,
    theta: float = 10,
    alpha: float = 0.15,
    group: int | None = None,
    filter: str = "procs",
    conflict: str = "walltime",
    size: str = "added",
    principal: Callable[[Machine], Policy] = Easy,
    redirected: Callable[[Machine], Policy] = Easy,
    slower: Fraction = Fraction(1),  # times in the redirection group over those of the log
) -> Redirected:
    sizes = group_sizes(m, alpha, group, size)
    kept = [j for j in range(len(jobs)) if jobs[j].procs <= sizes[0]]
    first = Machine(jobs, sizes[0])
    resubmitted = list(jobs)  # as the second group sees them
    second = Machine(resubmitted, sizes[1])
    policies = principal(first), redirected(second)
    if isinstance(policies[1], Dbf):
        policies[1].late_rule = "priority"
    counters: dict[int, int] = {}
    redirections: list[Redirection] = []

    def precedence(run: Run) -> tuple[int, int, int, int, int]:
        job = jobs[run.job]
        own = CONFLICTS[conflict](job, run, counters[run.job])
        if conflict == "area":  # the general rule: by submission, then by place in the file
            return (-own, job.submit, run.job, 0, 0)
        return (-own, -job.walltime, -job.procs, run.start, run.job)

    def turn(t: int, arrivals: list[int]) -> None:
        nonlocal counters
        for policy, machine in zip(policies, (first, second), strict=True):
            policy.ended(t, machine.complete(t))
        # 1. arrivals: start at once, or wait and count against the running jobs
        for j in arrivals:
            if not is_held_up(policies[0], first, t, j):
                counters |= {run.job: counters.get(run.job, 0) for run in first.running}
            else:
                for run in first.running:
                    if FILTERS[filter](jobs[run.job], jobs[j]):
                        counters[run.job] += 1
        # 2. at most one redirection
        over = [r for r in first.running if counters[r.job] > theta and r.procs <= second.m]
        if arrivals and over:
            run = min(over, key=precedence)
            first.stop(run)
            policies[0].ended(t, [replace(run, end=t)])
            redirections.append(Redirection(run.job, run.start, t))
            job = jobs[run.job]
            resubmitted[run.job] = replace(
                job,
                submit=t,
                walltime=math.ceil(job.walltime * slower),
                runtime=math.ceil(job.runtime * slower),
            )
            policies[1].arrive(t, run.job)
            for k in counters:
                counters[k] = 0
        # 3, 4. the two passes
        policies[0].schedule(t)
        for run in first.running:
            counters.setdefault(run.job, 0)
        policies[1].schedule(t)

    here = [jobs[j] for j in kept]
    drive(
        here,
        lambda: soonest(first.next_end(), second.next_end(), policies[0].wake(), policies[1].wake()),
        lambda t, arrivals: turn(t, [kept[i] for i in arrivals]),
    )
    assert not first.running and not second.running
    results: list[Result | None] = [None] * len(jobs)
    for j, result in first.results.items():
        results[j] = result
    both = all(isinstance(policy, Dbf) for policy in policies)
    for j, result in second.results.items():
        results[j] = replace(result, why="redirected", promise=result.promise if both else None)
    deadlines = [policy for policy in policies if isinstance(policy, Dbf)]
    if isinstance(policies[0], Dbf):
        for j in policies[0].promoted:
            if j in first.results:
                first.results[j].why = "promoted"
    return Redirected(results, redirections, sizes, deadlines)


def is_held_up(policy: Policy, machine: Machine, t: int, j: int) -> bool:
    """Step 1 for one arrival: it starts at once, or it has to wait and counts."""
    at_once = not policy.waiting and machine.jobs[j].procs <= machine.free
    if isinstance(policy, Dbf):
        policy.arrive(t, j)
        if at_once and j in policy.lp:
            policy.schedule(t)
        return not at_once and j not in policy.refused
    if at_once:
        machine.start(t, j, "immediate")
    else:
        policy.arrive(t, j)
    return not at_once
