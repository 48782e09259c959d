"""Redirection's counters: how many newcomers each running job of the principal group has held up.

Only jobs that fit into the redirection group can ever be redirected, so only they have counters. Since one
of those above theta always goes, and then all counters are 0, none is above theta between two instants.
"""

from __future__ import annotations

from headway.engine.tables import (
    ENDED,
    ENDED_RUNS,
    JOB_ROWS,
    PROCS,
    R_JOB,
    R_POOL,
    R_START,
    REDIRECTED,
    RUNS,
    SIZE,
    SLOT,
    WALL,
    State,
    Table,
)
from headway.engine.verbs import relabel
from headway.jit import kernel, routine
from headway.policies.deadline import tables as dbf_tables
from headway.policies.queueing.ordering import STRIDE
from headway.units import NEVER

PRINCIPAL, REDIRECTION = 0, 1
"""The two pools; a group under DBF has a third one beside it, its base."""

# Options after those of the two pools: the parameters; run times in the redirection group as a fraction of
# the log's (over 0: the same).
THETA, FILTER, CONFLICT, RESTART, BY, OVER = (2 * STRIDE + i for i in range(6))
BY_PROCS, BY_WALLTIME, BY_SHORTER, BY_ALL = range(4)
LONGEST, HIGHEST, LARGEST, LATEST = range(4)
FROM_SCRATCH, FROM_CHECKPOINT = range(2)
# Notes: how many jobs are watched, runs of the log already looked at, whether a counter exceeds theta,
# redirections so far; the highest counter, how many newcomers are not yet in the counters; they are groups of
# one measure, as newcomers often are alike: how many groups, the measure of each, how many newcomers in each.
WATCHED, SEEN, EXCEEDED, REDIRECTIONS, HIGHEST_COUNTER, UNCOUNTED, GROUPS, GROUP_MEASURES = (
    OVER + 1 + i for i in range(8)
)
BATCH = 8
"""Groups that are counted together."""
GROUP_SIZES = GROUP_MEASURES + BATCH
OPTIONS = GROUP_SIZES + BATCH
# Job rows behind the engine's and DBF's: class, walltime and planned time in the redirection group, place in
# the file; then four lists of the watched jobs, not by job but in a row from the front: run, measure for the
# filter, merit for the conflict rule, counter.
FIRST_ROW = JOB_ROWS + dbf_tables.MORE_ROWS
CLASS_THERE, WALL_THERE, PLAN_THERE, FILE_PLACE = (FIRST_ROW + i for i in range(4))
RUN_OF, MEASURE, MERIT, COUNTER = LISTS = tuple(FIRST_ROW + 4 + i for i in range(4))
MORE_ROWS = dbf_tables.MORE_ROWS + 8
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
def merit(state: State, run: int, job: int) -> int:
    """What the conflict rule looks at, largest first; where that is the counter, 0."""
    rule = state.options[CONFLICT]
    if rule == LONGEST:
        return int(state.jobs[WALL, job])
    if rule == LARGEST:
        return int(state.jobs[WALL, job] * state.jobs[PROCS, job])
    return int(state.runs[R_START, run]) if rule == LATEST else 0


@kernel
def watch(state: State) -> None:
    """Look at the runs that started: those of the principal group get a counter, the others a reason."""
    for run in range(state.options[SEEN], state.clock[RUNS]):
        job = state.runs[R_JOB, run]
        if state.runs[R_POOL, run] == REDIRECTION:
            relabel(state, run, REDIRECTED)
        elif state.jobs[PROCS, job] <= state.pools[SIZE, REDIRECTION]:
            place = state.options[WATCHED]
            state.jobs[RUN_OF, place] = run
            state.jobs[MEASURE, place] = measure(state, job)
            state.jobs[MERIT, place] = merit(state, run, job)
            state.jobs[COUNTER, place] = -uncounted(state, state.jobs[MEASURE, place])
            state.jobs[SLOT, job] = place  # a running job is in no heap of reservations: the row is free
            state.options[WATCHED] = place + 1
    state.options[SEEN] = state.clock[RUNS]


def renumber_runs(state: State, new: Table) -> None:
    """Runs have other numbers; those of watched jobs go on."""
    watched = state.jobs[RUN_OF, : state.options[WATCHED]]
    watched[:] = new[watched]
    state.options[SEEN] = (new[: state.options[SEEN]] >= 0).sum()


@kernel
def unwatch(state: State, job: int) -> None:
    """Take a job off the lists; the last one takes its place."""
    place, last = state.jobs[SLOT, job], state.options[WATCHED] - 1
    for row in LISTS:
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
    value, last = measure(state, newcomer), state.options[GROUPS] - 1
    if last >= 0 and state.options[GROUP_MEASURES + last] == value:
        state.options[GROUP_SIZES + last] += 1
    else:
        if last + 1 == BATCH:
            tally(state)
        last = state.options[GROUPS]
        state.options[GROUP_MEASURES + last], state.options[GROUP_SIZES + last] = value, 1
        state.options[GROUPS] = last + 1
    state.options[UNCOUNTED] += 1
    if state.options[HIGHEST_COUNTER] + state.options[UNCOUNTED] > state.options[THETA]:
        tally(state)


@kernel
def uncounted(state: State, most: int) -> int:
    """How many of the newcomers not yet in the counters have at most this measure."""
    number = 0
    for i in range(state.options[GROUPS]):
        number += state.options[GROUP_SIZES + i] * (state.options[GROUP_MEASURES + i] <= most)
    return number


@kernel
def tally_one(state: State) -> int:
    """Count one group of newcomers; the highest counter."""
    least, more, highest = state.options[GROUP_MEASURES], state.options[GROUP_SIZES], 0
    for place in range(state.options[WATCHED]):
        counter = state.jobs[COUNTER, place] + more * (state.jobs[MEASURE, place] >= least)
        state.jobs[COUNTER, place] = counter
        highest = max(highest, counter)
    return highest


@kernel
def tally_batch(state: State) -> int:
    """Count a batch of groups, or fewer; the highest counter."""
    for i in range(state.options[GROUPS], BATCH):
        state.options[GROUP_MEASURES + i], state.options[GROUP_SIZES + i] = NEVER, 0
    a, b, c, d = group(state, 0), group(state, 1), group(state, 2), group(state, 3)
    e, f, g, h = group(state, 4), group(state, 5), group(state, 6), group(state, 7)
    highest = 0
    for place in range(state.options[WATCHED]):  # written out, so that it runs in wide registers
        value = state.jobs[MEASURE, place]
        more = a[1] * (value >= a[0]) + b[1] * (value >= b[0]) + c[1] * (value >= c[0])
        more += d[1] * (value >= d[0]) + e[1] * (value >= e[0]) + f[1] * (value >= f[0])
        more += g[1] * (value >= g[0]) + h[1] * (value >= h[0])
        counter = state.jobs[COUNTER, place] + more
        state.jobs[COUNTER, place] = counter
        highest = max(highest, counter)
    return highest


@kernel
def group(state: State, i: int) -> tuple[int, int]:
    """The measure of a group of newcomers, and how many they are."""
    return state.options[GROUP_MEASURES + i], state.options[GROUP_SIZES + i]


@routine
def tally(state: State) -> None:
    """Bring the counters up to date."""
    highest = tally_one(state) if state.options[GROUPS] == 1 else tally_batch(state)
    state.options[UNCOUNTED] = state.options[GROUPS] = 0
    state.options[HIGHEST_COUNTER] = highest
    if highest > state.options[THETA]:
        state.options[EXCEEDED] = 1


@kernel
def goes_before(state: State, run: int, other: int) -> bool:
    """Which of two equal in merit goes: longer walltime, more processors, earlier start, file order.

    Of equal areas the one submitted first goes: a longer walltime is fewer processors there.
    """
    a, b = state.runs[R_JOB, run], state.runs[R_JOB, other]
    if state.options[CONFLICT] == LARGEST:
        return bool(a < b)
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
    best, most, theta = -1, -NEVER, state.options[THETA]
    row = COUNTER if state.options[CONFLICT] == HIGHEST else MERIT
    for place in range(state.options[WATCHED]):
        value = state.jobs[row, place]
        if (state.jobs[COUNTER, place] > theta) & (value >= most):
            run = state.jobs[RUN_OF, place]
            if value > most or goes_before(state, run, best):
                best, most = run, value
    return best


@kernel
def reset(state: State) -> None:
    """All counters are 0, and no newcomer is left to be counted."""
    for place in range(state.options[WATCHED]):
        state.jobs[COUNTER, place] = 0
    state.options[EXCEEDED] = state.options[HIGHEST_COUNTER] = 0
    state.options[UNCOUNTED] = state.options[GROUPS] = 0
