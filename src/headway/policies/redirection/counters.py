"""Redirection's counters: how many newcomers each running job of the principal group has held up.

Only jobs that fit into the redirection group can ever be redirected, so only they have counters. One of those
above theta goes, and then all counters are 0; only in a further turn of an instant that has had its
redirection may counters exceed theta, and wait for the next newcomer.
"""

from __future__ import annotations

from headway.engine.tables import Clock, Job, List, Pool, Run, State, Table, Why
from headway.engine.verbs import relabel
from headway.jit.kernels import kernel, routine
from headway.policies.redirection.tables import (
    BATCH,
    BY_PROCS,
    BY_SHORTER,
    BY_WALLTIME,
    HIGHEST,
    LARGEST,
    LATEST,
    LISTS,
    LONGEST,
    NOBODY,
    PRINCIPAL,
    REDIRECTION,
    Newcomers,
    Note,
    RedirectionJob,
    Rule,
)
from headway.units import NEVER


@kernel
def measure(state: State, job: int) -> int:
    """What the filter looks at: a newcomer counts against running jobs whose measure is not smaller."""
    name = state.memory.rules[Rule.FILTER]
    if name == BY_PROCS:
        return int(state.jobs[Job.PROCS, job])
    if name == BY_WALLTIME:
        return int(state.jobs[Job.WALL, job])
    return -int(state.jobs[Job.WALL, job]) if name == BY_SHORTER else 0


@kernel
def merit(state: State, run: int, job: int) -> int:
    """What the conflict rule looks at, largest first; where that is the counter, 0.

    Areas end at NEVER (some 100,000 years of a processor), so that none overflows.
    """
    rule = state.memory.rules[Rule.CONFLICT]
    if rule == LONGEST:
        return int(state.jobs[Job.WALL, job])
    if rule == LARGEST:
        procs = int(state.jobs[Job.PROCS, job])
        return min(int(state.jobs[Job.WALL, job]), NEVER // procs) * procs
    return int(state.runs[Run.START, run]) if rule == LATEST else 0


@kernel
def watch(state: State) -> None:
    """Look at the runs that started: those of the principal group get a counter, the others a reason."""
    notes = state.memory.notes
    for run in range(notes[Note.SEEN], state.clock[Clock.RUNS]):
        job = state.runs[Run.JOB, run]
        if state.runs[Run.POOL, run] == REDIRECTION:
            relabel(state, run, Why.REDIRECTED)
        elif state.jobs[Job.PROCS, job] <= state.pools[Pool.SIZE, REDIRECTION]:
            place = notes[Note.WATCHED]
            state.jobs[RedirectionJob.RUN_OF, place] = run
            state.jobs[RedirectionJob.MEASURE, place] = measure(state, job)
            state.jobs[RedirectionJob.MERIT, place] = merit(state, run, job)
            state.jobs[RedirectionJob.COUNTER, place] = -uncounted(
                state, state.jobs[RedirectionJob.MEASURE, place]
            )
            state.jobs[Job.SLOT, job] = place  # a running job is in no heap of reservations: the row is free
            notes[Note.WATCHED] = place + 1
    notes[Note.SEEN] = state.clock[Clock.RUNS]


def renumber_runs(state: State, new: Table) -> None:
    """Runs have other numbers; those of watched jobs go on."""
    notes = state.memory.notes
    watched = state.jobs[RedirectionJob.RUN_OF, : notes[Note.WATCHED]]
    watched[:] = new[watched]
    notes[Note.SEEN] = (new[: notes[Note.SEEN]] >= 0).sum()


@kernel
def unwatch(state: State, job: int) -> None:
    """Take a job off the lists; the last one takes its place."""
    notes = state.memory.notes
    place, last = state.jobs[Job.SLOT, job], notes[Note.WATCHED] - 1
    for row in LISTS:
        state.jobs[row, place] = state.jobs[row, last]
    state.jobs[Job.SLOT, state.runs[Run.JOB, state.jobs[RedirectionJob.RUN_OF, place]]] = place
    notes[Note.WATCHED] = last


@kernel
def unwatch_ended(state: State) -> None:
    """Forget the counters of the jobs that ended at this instant."""
    for i in range(state.clock[Clock.ENDED]):
        run = state.lists[List.ENDED_RUNS, i]
        job = state.runs[Run.JOB, run]
        if (
            state.runs[Run.POOL, run] == PRINCIPAL
            and state.jobs[Job.PROCS, job] <= state.pools[Pool.SIZE, REDIRECTION]
        ):
            unwatch(state, job)


@kernel
def count(state: State, newcomer: int) -> None:
    """A newcomer that has to wait counts against the running jobs that the filter names.

    The counters are brought up to date for several newcomers at once, or when one might exceed theta.
    """
    notes, newcomers = state.memory.notes, state.memory.newcomers
    value, last = measure(state, newcomer), notes[Note.GROUPS] - 1
    if last >= 0 and newcomers[Newcomers.MEASURE, last] == value:
        newcomers[Newcomers.NUMBER, last] += 1
    else:
        if last + 1 == BATCH:
            tally(state)
        last = notes[Note.GROUPS]
        newcomers[Newcomers.MEASURE, last], newcomers[Newcomers.NUMBER, last] = value, 1
        notes[Note.GROUPS] = last + 1
    notes[Note.UNCOUNTED] += 1
    if notes[Note.HIGHEST_COUNTER] + notes[Note.UNCOUNTED] > state.memory.rules[Rule.THETA]:
        tally(state)


@kernel
def uncounted(state: State, most: int) -> int:
    """How many of the newcomers not yet in the counters have at most this measure."""
    number, newcomers = 0, state.memory.newcomers
    for i in range(state.memory.notes[Note.GROUPS]):
        number += newcomers[Newcomers.NUMBER, i] * (newcomers[Newcomers.MEASURE, i] <= most)
    return number


@kernel
def group(state: State, i: int) -> tuple[int, int]:
    """The measure of a group of newcomers, and how many they are."""
    return state.memory.newcomers[Newcomers.MEASURE, i], state.memory.newcomers[Newcomers.NUMBER, i]


@kernel
def tally_one(state: State) -> int:
    """Count one group of newcomers; the highest counter."""
    least, more = group(state, 0)
    highest = 0
    for place in range(state.memory.notes[Note.WATCHED]):
        counter = state.jobs[RedirectionJob.COUNTER, place] + more * (
            state.jobs[RedirectionJob.MEASURE, place] >= least
        )
        state.jobs[RedirectionJob.COUNTER, place] = counter
        highest = max(highest, counter)
    return highest


@kernel
def tally_batch(state: State) -> int:
    """Count a batch of groups, or fewer; the highest counter."""
    notes, newcomers = state.memory.notes, state.memory.newcomers
    for i in range(notes[Note.GROUPS], BATCH):
        newcomers[Newcomers.MEASURE, i], newcomers[Newcomers.NUMBER, i] = NEVER, 0
    a, b, c, d = group(state, 0), group(state, 1), group(state, 2), group(state, 3)
    e, f, g, h = group(state, 4), group(state, 5), group(state, 6), group(state, 7)
    highest = 0
    for place in range(notes[Note.WATCHED]):  # written out, so that it runs in wide registers
        value = state.jobs[RedirectionJob.MEASURE, place]
        more = a[1] * (value >= a[0]) + b[1] * (value >= b[0]) + c[1] * (value >= c[0])
        more += d[1] * (value >= d[0]) + e[1] * (value >= e[0]) + f[1] * (value >= f[0])
        more += g[1] * (value >= g[0]) + h[1] * (value >= h[0])
        counter = state.jobs[RedirectionJob.COUNTER, place] + more
        state.jobs[RedirectionJob.COUNTER, place] = counter
        highest = max(highest, counter)
    return highest


@routine
def tally(state: State) -> None:
    """Bring the counters up to date."""
    notes = state.memory.notes
    highest = tally_one(state) if notes[Note.GROUPS] == 1 else tally_batch(state)
    notes[Note.UNCOUNTED] = notes[Note.GROUPS] = 0
    notes[Note.HIGHEST_COUNTER] = highest
    if highest > state.memory.rules[Rule.THETA]:
        notes[Note.EXCEEDED] = 1


@kernel
def goes_before(state: State, run: int, other: int) -> bool:
    """Which of two equal in merit goes: longer walltime, more processors, earlier start, file order.

    Of equal areas the one submitted first goes: a longer walltime is fewer processors there.
    """
    a, b = state.runs[Run.JOB, run], state.runs[Run.JOB, other]
    if state.memory.rules[Rule.CONFLICT] == LARGEST:
        return bool(a < b)
    if state.jobs[Job.WALL, a] != state.jobs[Job.WALL, b]:
        return bool(state.jobs[Job.WALL, a] > state.jobs[Job.WALL, b])
    if state.jobs[Job.PROCS, a] != state.jobs[Job.PROCS, b]:
        return bool(state.jobs[Job.PROCS, a] > state.jobs[Job.PROCS, b])
    if state.runs[Run.START, run] != state.runs[Run.START, other]:
        return bool(state.runs[Run.START, run] < state.runs[Run.START, other])
    return bool(state.jobs[RedirectionJob.FILE_PLACE, a] < state.jobs[RedirectionJob.FILE_PLACE, b])


@kernel
def may_redirect(t: int, state: State) -> bool:
    """Whether someone may go: a counter was above theta, a job has come, and none went at this instant."""
    notes, came = state.memory.notes, state.clock[Clock.FIRST_NEW] < state.clock[Clock.LAST_NEW]
    return bool(notes[Note.EXCEEDED] and came and notes[Note.LAST_AT] < t)


@routine
def chosen(state: State) -> int:
    """The run to redirect among those whose counter exceeds theta, by the conflict rule, or NOBODY."""
    best, most, theta = NOBODY, -NEVER, state.memory.rules[Rule.THETA]
    row = RedirectionJob.COUNTER if state.memory.rules[Rule.CONFLICT] == HIGHEST else RedirectionJob.MERIT
    for place in range(state.memory.notes[Note.WATCHED]):
        value = state.jobs[row, place]
        if (state.jobs[RedirectionJob.COUNTER, place] > theta) & (value >= most):
            run = state.jobs[RedirectionJob.RUN_OF, place]
            if value > most or goes_before(state, run, best):
                best, most = run, value
    return best


@kernel
def reset(state: State) -> None:
    """All counters are 0, and no newcomer is left to be counted."""
    notes = state.memory.notes
    for place in range(notes[Note.WATCHED]):
        state.jobs[RedirectionJob.COUNTER, place] = 0
    notes[Note.EXCEEDED] = notes[Note.HIGHEST_COUNTER] = notes[Note.UNCOUNTED] = notes[Note.GROUPS] = 0
