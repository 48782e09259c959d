"""Redirection: a running job that holds up many newcomers is stopped and restarted in a group of its own.

Faure, Lucarelli, Richard and Trystram, "Online Scheduling with Redirection for Parallel Jobs", IPDPSW 2020.

The machine has a principal group of m processors and a redirection group of m'. Each has its own queue and
its own policy. A job that runs in the principal group carries a counter, 0 when it starts.

    1. Arrivals, one after the other: a job that finds the principal queue empty and fits starts at once;
       any other waits there, and counts against every running job that the filter names (q_k >= q_j).
    2. Of the running jobs whose counter exceeds theta, and that fit into the redirection group, the conflict
       rule chooses one. It is stopped, joins the tail of the redirection queue, and all counters are 0
       again. At most one job is redirected in an instant.
    3. The principal group has its scheduling pass, then the redirection group.

A redirected job is a new job of its group, submitted when it was stopped; it is never redirected again. It
starts from the beginning, or with ``restart=checkpoint``, which is ours, goes on where it was stopped.

Only jobs that fit into the redirection group can ever be redirected, so only they have counters. Since one
of those above theta always goes, and then all counters are 0, none is above theta between two instants.
"""

from __future__ import annotations

from headway.engine.ends import (
    expect_later,
    forget_run,
    outlive_ends,
    settle_ended,
    start_and_expect,
)
from headway.engine.planning import (
    expect_request,
    next_outlived,
    release,
    settle_runs,
    start_and_book,
)
from headway.engine.tables import (
    BACKFILL_KEY,
    BY_REDIRECTION,
    BY_SUSPENSION,
    CLASS,
    ENDED,
    ENDED_RUNS,
    FIRST_NEW,
    FREE,
    FREED,
    IMMEDIATE,
    JOB_ROWS,
    KEPT,
    KEY,
    LAST_NEW,
    OUTLIVES,
    PLAN,
    PROCS,
    PROMISE,
    Q_COUNT,
    R_EXPECTED,
    R_JOB,
    R_POOL,
    R_START,
    R_WHY,
    REDIRECTED,
    RUNS,
    SIZE,
    SLOT,
    SUBMIT,
    WALL,
    State,
)
from headway.engine.verbs import kill, start
from headway.jit import kernel, routine
from headway.policies import conservative, depth, easy, strict
from headway.policies.ordering import CLASS_WEIGHT, STRIDE, join, sort_queues
from headway.units import NEVER

PRINCIPAL, REDIRECTION = 0, 1
"""The two pools."""

# Options after those of the two groups' policies: the parameters, and which policy each group has.
THETA, FILTER, CONFLICT, RESTART, KIND = (2 * STRIDE + i for i in range(5))
BY_PROCS, BY_WALLTIME, BY_SHORTER, BY_ALL = range(4)
LONGEST, HIGHEST, LARGEST, LATEST = range(4)
FROM_SCRATCH, FROM_CHECKPOINT = range(2)
STRICT, EASY, DEEP, CONSERVATIVE = range(4)
# Notes: how many jobs are watched, runs of the log already looked at, whether a counter exceeds theta,
# redirections so far; the highest counter, how many newcomers are not yet in the counters, their measures.
WATCHED, SEEN, EXCEEDED, REDIRECTIONS, HIGHEST_COUNTER, UNCOUNTED, UNCOUNTED_MEASURES = (
    KIND + 2 + i for i in range(7)
)
BATCH = 8
"""Newcomers that are counted together."""
OPTIONS = UNCOUNTED_MEASURES + BATCH
# Job rows behind the engine's: class and planned time in the redirection group, place in the file; then three
# lists of the watched jobs, not by job but in a row from the front: run, measure for the filter, counter.
CLASS_THERE, PLAN_THERE, FILE_PLACE, RUN_OF, MEASURE, COUNTER = (JOB_ROWS + i for i in range(6))
MORE_ROWS = 6
NO_PROMISE = -1
NEVER_EXCEEDED = 1 << 62
"""``THETA`` for infinity."""


@kernel
def measure(state: State, job: int) -> int:
    """What the filter looks at: a newcomer counts against running jobs whose measure is not smaller."""
    name = state.options[FILTER]
    if name == BY_PROCS:
        return int(state.jobs[PROCS, job])
    if name == BY_WALLTIME:
        return int(state.jobs[WALL, job])
    return -int(state.jobs[WALL, job]) if name == BY_SHORTER else 0


@kernel
def watch(state: State) -> None:
    """Look at the runs that started: those of the principal group get a counter, the others a reason."""
    for run in range(state.options[SEEN], state.clock[RUNS]):
        job = state.runs[R_JOB, run]
        if state.runs[R_POOL, run] == REDIRECTION:
            state.runs[R_WHY, run] = REDIRECTED
        elif state.jobs[PROCS, job] <= state.pools[SIZE, REDIRECTION]:
            place = state.options[WATCHED]
            state.jobs[RUN_OF, place] = run
            state.jobs[MEASURE, place] = measure(state, job)
            state.jobs[COUNTER, place] = -uncounted(state, state.jobs[MEASURE, place])
            state.jobs[SLOT, job] = place  # a running job is in no heap of reservations: the row is free
            state.options[WATCHED] = place + 1
    state.options[SEEN] = state.clock[RUNS]


@kernel
def unwatch(state: State, job: int) -> None:
    """Take a job off the lists; the last one takes its place."""
    place, last = state.jobs[SLOT, job], state.options[WATCHED] - 1
    for row in range(RUN_OF, COUNTER + 1):
        state.jobs[row, place] = state.jobs[row, last]
    state.jobs[SLOT, state.runs[R_JOB, state.jobs[RUN_OF, place]]] = place
    state.options[WATCHED] = last


@kernel
def unwatch_ended(state: State) -> None:
    """Forget the counters of the jobs that ended at this instant."""
    for i in range(state.clock[ENDED]):
        run = state.lists[ENDED_RUNS, i]
        job = state.runs[R_JOB, run]
        if state.runs[R_POOL, run] == PRINCIPAL and state.jobs[PROCS, job] <= state.pools[SIZE, REDIRECTION]:
            unwatch(state, job)


@kernel
def count(state: State, newcomer: int) -> None:
    """A newcomer that has to wait counts against the running jobs that the filter names.

    The counters are brought up to date for several newcomers at once, or when one might exceed theta.
    """
    new = state.options[UNCOUNTED]
    state.options[UNCOUNTED_MEASURES + new] = measure(state, newcomer)
    state.options[UNCOUNTED] = new + 1
    if new + 1 == BATCH or state.options[HIGHEST_COUNTER] + new + 1 > state.options[THETA]:
        tally(state)


@kernel
def uncounted(state: State, most: int) -> int:
    """How many of the newcomers not yet in the counters have at most this measure."""
    number = 0
    for i in range(state.options[UNCOUNTED]):
        number += state.options[UNCOUNTED_MEASURES + i] <= most
    return number


@routine
def tally(state: State) -> None:
    """Bring the counters up to date."""
    for i in range(state.options[UNCOUNTED], BATCH):
        state.options[UNCOUNTED_MEASURES + i] = NEVER
    first = UNCOUNTED_MEASURES
    a, b = state.options[first], state.options[first + 1]
    c, d = state.options[first + 2], state.options[first + 3]
    e, f = state.options[first + 4], state.options[first + 5]
    g, h = state.options[first + 6], state.options[first + 7]
    highest = 0
    for place in range(state.options[WATCHED]):  # written out, so that it runs in wide registers
        value = state.jobs[MEASURE, place]
        counter = state.jobs[COUNTER, place] + (value >= a) + (value >= b) + (value >= c) + (value >= d)
        counter += (value >= e) + (value >= f) + (value >= g) + (value >= h)
        state.jobs[COUNTER, place] = counter
        highest = max(highest, counter)
    state.options[UNCOUNTED], state.options[HIGHEST_COUNTER] = 0, highest
    if highest > state.options[THETA]:
        state.options[EXCEEDED] = 1


@kernel
def merit(state: State, place: int, run: int, job: int) -> int:
    """What the conflict rule looks at, largest first."""
    rule = state.options[CONFLICT]
    if rule == LONGEST:
        return int(state.jobs[WALL, job])
    if rule == HIGHEST:
        return int(state.jobs[COUNTER, place])
    if rule == LARGEST:
        return int(state.jobs[WALL, job] * state.jobs[PROCS, job])
    return int(state.runs[R_START, run])


@kernel
def goes_before(state: State, run: int, other: int) -> bool:
    """Which of two equal in merit goes: longer walltime, more processors, earlier start, file order."""
    a, b = state.runs[R_JOB, run], state.runs[R_JOB, other]
    if state.jobs[WALL, a] != state.jobs[WALL, b]:
        return bool(state.jobs[WALL, a] > state.jobs[WALL, b])
    if state.jobs[PROCS, a] != state.jobs[PROCS, b]:
        return bool(state.jobs[PROCS, a] > state.jobs[PROCS, b])
    if state.runs[R_START, run] != state.runs[R_START, other]:
        return bool(state.runs[R_START, run] < state.runs[R_START, other])
    return bool(state.jobs[FILE_PLACE, a] < state.jobs[FILE_PLACE, b])


@routine
def chosen(state: State) -> int:
    """The run to redirect among those whose counter exceeds theta, by the conflict rule."""
    best, most = -1, 0
    for place in range(state.options[WATCHED]):
        if state.jobs[COUNTER, place] > state.options[THETA]:
            run = state.jobs[RUN_OF, place]
            value = merit(state, place, run, state.runs[R_JOB, run])
            if best < 0 or value > most or (value == most and goes_before(state, run, best)):
                best, most = run, value
    return best


@routine
def take_out(t: int, state: State, run: int) -> int:
    """Stop a run, set all counters to 0, and make its job a new one of the redirection group; the job."""
    job = state.runs[R_JOB, run]
    kept = state.options[RESTART] == FROM_CHECKPOINT
    kill(state, job, BY_SUSPENSION if kept else BY_REDIRECTION)
    unwatch(state, job)
    for place in range(state.options[WATCHED]):
        state.jobs[COUNTER, place] = 0
    state.options[EXCEEDED] = state.options[UNCOUNTED] = state.options[HIGHEST_COUNTER] = 0
    state.options[REDIRECTIONS] += 1
    state.jobs[SUBMIT, job] = t
    state.jobs[CLASS, job] = state.jobs[CLASS_THERE, job]
    state.jobs[PLAN, job] = state.jobs[PLAN_THERE, job]
    if kept:
        done = t - state.runs[R_START, run]
        state.jobs[KEPT, job] += done
        state.jobs[WALL, job] -= done
        # A job that has outlived its estimate is expected to last as long as it may.
        left = state.jobs[PLAN, job] - done
        state.jobs[PLAN, job] = left if left > 0 else state.jobs[WALL, job]
    # Redirected jobs stand in the order in which they came here.
    state.jobs[KEY, job] = state.jobs[CLASS, job] * CLASS_WEIGHT + state.options[REDIRECTIONS]
    state.jobs[BACKFILL_KEY, job] = state.jobs[KEY, job]
    return int(job)


@kernel
def give_back(t: int, state: State, run: int) -> int:
    """What the principal group plans with no longer has a stopped run; 1 if it was expected to go on."""
    state.pools[FREED, PRINCIPAL] = 1
    if state.options[KIND] == EASY:
        forget_run(state, PRINCIPAL, run)
        return 0
    if state.runs[R_EXPECTED, run] <= t:
        return 0
    release(t, state, PRINCIPAL, run)
    return 1


@kernel
def starts_at_once(state: State, job: int) -> bool:
    """Whether a newcomer finds the principal queue empty and enough processors free."""
    return bool(
        state.pools[Q_COUNT, 2 * PRINCIPAL] == 0 and state.jobs[PROCS, job] <= state.pools[FREE, PRINCIPAL]
    )


@kernel
def welcome_easy(state: State) -> None:
    """Step 1 under EASY."""
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        if starts_at_once(state, job):
            start_and_expect(state, job, PRINCIPAL, IMMEDIATE)
            watch(state)
        else:
            join(state, PRINCIPAL, job)
            count(state, job)


def redirection_easy(t: int, state: State) -> None:
    """Redirection where both groups are under EASY with one reservation."""
    for k in range(PRINCIPAL, REDIRECTION + 1):
        settle_ended(state, k)
    if state.clock[OUTLIVES] > 0:
        outlive_ends(t, state)
    unwatch_ended(state)
    welcome_easy(state)
    if state.options[EXCEEDED]:
        run = chosen(state)
        state.pools[FREED, PRINCIPAL] = 1
        forget_run(state, PRINCIPAL, run)
        job = take_out(t, state, run)
        join(state, REDIRECTION, job)
        state.jobs[PROMISE, job] = NO_PROMISE
    for k in range(PRINCIPAL, REDIRECTION + 1):
        if state.pools[Q_COUNT, 2 * k] > 0:
            sort_queues(t, state, k)
            easy.easy_pass(t, state, k)
    if state.options[SEEN] < state.clock[RUNS]:
        watch(state)


# ---- any two policies -------------------------------------------------------------------------


@routine
def close_ended(t: int, state: State, k: int) -> None:
    """Take note of the runs that ended in group ``k``."""
    kind = state.options[KIND + k]
    if kind == STRICT:
        return
    if kind == EASY:
        settle_ended(state, k)
        return
    early = settle_runs(t, state, k)
    if kind == CONSERVATIVE:
        conservative.compress(t, state, k, early)


@routine
def outlive(t: int, state: State) -> None:
    """Runs that outlived their estimate are expected to last as long as was requested."""
    run = next_outlived(t, state)
    while run >= 0:
        if state.options[KIND + state.runs[R_POOL, run]] == EASY:
            expect_later(state, run)
        else:
            expect_request(t, state, run)
        run = next_outlived(t, state)


@routine
def arrive(t: int, state: State, k: int, job: int) -> None:
    """A job joins the queue of group ``k``."""
    if state.options[KIND + k] == CONSERVATIVE:
        conservative.arrive(t, state, k, job)
    else:
        join(state, k, job)


@routine
def schedule(t: int, state: State, k: int) -> None:
    """The scheduling pass of group ``k``."""
    kind = state.options[KIND + k]
    if kind == STRICT:
        strict.strict_pass(t, state, k)
    elif kind == EASY:
        sort_queues(t, state, k)
        easy.easy_pass(t, state, k)
    elif kind == DEEP:
        depth.deep_pass(t, state, k)
    else:
        conservative.start_due(t, state, k)


@routine
def welcome(t: int, state: State) -> None:
    """Step 1 under any policy."""
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        if starts_at_once(state, job):
            if state.options[KIND] == STRICT:
                start(state, job, PRINCIPAL, IMMEDIATE)
            elif state.options[KIND] == EASY:
                start_and_expect(state, job, PRINCIPAL, IMMEDIATE)
            else:
                start_and_book(state, job, PRINCIPAL, IMMEDIATE)
            watch(state)
        else:
            arrive(t, state, PRINCIPAL, job)
            count(state, job)


@routine
def redirect(t: int, state: State, run: int) -> None:
    """Step 2 under any policy: for one with reservations the stop is an early end."""
    if state.options[KIND] != STRICT:
        early = give_back(t, state, run)
        job = take_out(t, state, run)
        if state.options[KIND] == CONSERVATIVE:
            conservative.compress(t, state, PRINCIPAL, early)
    else:
        job = take_out(t, state, run)
    arrive(t, state, REDIRECTION, job)
    state.jobs[PROMISE, job] = NO_PROMISE  # what was promised, was promised for another run


def redirection(t: int, state: State) -> None:
    """Redirection with any two queue policies."""
    close_ended(t, state, PRINCIPAL)
    close_ended(t, state, REDIRECTION)
    outlive(t, state)
    unwatch_ended(state)
    welcome(t, state)
    if state.options[EXCEEDED]:
        redirect(t, state, chosen(state))
    schedule(t, state, PRINCIPAL)
    schedule(t, state, REDIRECTION)
    watch(state)
