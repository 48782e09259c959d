"""Redirection: a running job that holds up many newcomers is stopped and restarted in a group of its own.

Faure, Lucarelli, Richard and Trystram, "Online Scheduling with Redirection for Parallel Jobs", IPDPSW 2020.

The machine has a principal group of m processors and a redirection group of m'. Each has its own queue and
its own policy. A job that runs in the principal group carries a counter, 0 when it starts.

    1. Arrivals, one after the other: a job that finds the principal queue empty and fits starts at once;
       any other waits there, and counts against every running job that the filter names (q_k >= q_j).
    2. Of the running jobs whose counter exceeds theta, and that fit into the redirection group, the conflict
       rule chooses one. It is stopped, joins the tail of the redirection queue, and all counters are 0
       again. At most one job is redirected in an instant, also where users who waited for a job of no
       length submit in a further turn of it.
    3. The principal group has its scheduling pass, then the redirection group.

A redirected job is a new job of its group, submitted when it was stopped; it is never redirected again. It
starts from the beginning, or with ``restart=checkpoint``, which is ours, goes on where it was stopped. Where
the redirection group is a faster or slower cluster, its walltime and run time change by that factor.

Under DBF a redirected job keeps its deadline and comes to its new group like any other: its place there is
provisional if that is in time, else definitive.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from headway.engine.tables import Ended, State
from headway.engine.verbs import keep_work, kill, resubmit, stretch
from headway.jit.kernels import routine
from headway.policies.queueing.ordering import CLASS_WEIGHT
from headway.policies.redirection.counters import (
    chosen,
    count,
    may_redirect,
    reset,
    unwatch,
    unwatch_ended,
    watch,
)
from headway.policies.redirection.groups import (
    DBF,
    KINDS,
    arrive,
    close_ended,
    give_back,
    is_held_up,
    outlive,
    schedule,
)
from headway.policies.redirection.tables import (
    FROM_CHECKPOINT,
    NOBODY,
    PRINCIPAL,
    REDIRECTION,
    RedirectionJobs,
)

NO_PROMISE = -1


@routine
def take_out(t: int, state: State, run: int) -> int:
    """Stop a run, set all counters to 0, and make its job a new one of the redirection group; the job."""
    jobs = RedirectionJobs(state.jobs)
    job = state.runs.job[run]
    kept = state.memory.rules.restart == FROM_CHECKPOINT
    kill(state, job, Ended.BY_SUSPENSION if kept else Ended.BY_REDIRECTION)
    unwatch(state, job)
    reset(state)
    state.memory.notes.redirections += 1
    state.memory.notes.last_at = t
    jobs.priority_class[job] = jobs.class_there[job]
    walltime, plan = jobs.wall_there[job], jobs.plan_there[job]
    if kept:
        done = t - state.runs.start[run]
        keep_work(state, job, done)
        walltime -= done
        # A job that has outlived its estimate is expected to last as long as it may.
        plan = plan - done if plan > done else walltime
    resubmit(state, job, walltime, plan)
    stretch(state, job, state.memory.rules.by, state.memory.rules.over)
    # Redirected jobs stand in the order in which they came here.
    jobs.key[job] = jobs.priority_class[job] * CLASS_WEIGHT + state.memory.notes.redirections
    jobs.backfill_key[job] = jobs.key[job]
    return int(job)


@cache
def hook_of(here: int, there: int) -> Callable[[int, State], None]:
    """The hook of redirection for the kinds of policies of the principal and the redirection group."""

    def redirection(t: int, state: State) -> None:
        close_ended(t, state, PRINCIPAL, here)
        close_ended(t, state, REDIRECTION, there)
        outlive(t, state, here, there)
        unwatch_ended(state)
        for job in range(state.clock.first_new, state.clock.last_new):  # step 1
            if is_held_up(t, state, PRINCIPAL, here, job):
                count(state, job)
            elif state.memory.notes.seen < state.clock.runs:
                watch(state)
        run = chosen(state) if may_redirect(t, state) else NOBODY  # step 2
        if run != NOBODY:
            give_back(t, state, PRINCIPAL, here, run)
            moved = take_out(t, state, run)
            arrive(t, state, REDIRECTION, there, moved)
            if here != DBF or there != DBF:
                state.jobs.promise[moved] = NO_PROMISE  # it was made for another run, or is of another kind
        schedule(t, state, PRINCIPAL, here)  # step 3
        schedule(t, state, REDIRECTION, there)
        if state.memory.notes.seen < state.clock.runs:
            watch(state)

    # Compiled code is kept under this name.
    redirection.__qualname__ = f"redirection_{KINDS[here]}_{KINDS[there]}"
    return redirection
