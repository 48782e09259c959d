"""Redirection's counters: how many newcomers each running job of the principal group has held up.

Only jobs that fit into the redirection group can ever be redirected, so only they have counters. One of those
above theta goes, and then all counters are 0; only in a further turn of an instant that has had its
redirection may counters exceed theta, and wait for the next newcomer.
"""

from __future__ import annotations

from headway.engine.tables import State, Table, Why
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
    RedirectionJobs,
)
from headway.units import NEVER


@kernel
def measure(state: State, job: int) -> int:
    """What the filter looks at: a newcomer counts against running jobs whose measure is not smaller."""
    name = state.memory.rules.filter
    if name == BY_PROCS:
        return int(state.jobs.procs[job])
    if name == BY_WALLTIME:
        return int(state.jobs.wall[job])
    return -int(state.jobs.wall[job]) if name == BY_SHORTER else 0


@kernel
def merit(state: State, run: int, job: int) -> int:
    """What the conflict rule looks at, largest first; where that is the counter, 0.

    Areas end at NEVER (some 100,000 years of a processor), so that none overflows.
    """
    rule = state.memory.rules.conflict
    if rule == LONGEST:
        return int(state.jobs.wall[job])
    if rule == LARGEST:
        procs = int(state.jobs.procs[job])
        return min(int(state.jobs.wall[job]), NEVER // procs) * procs
    return int(state.runs.start[run]) if rule == LATEST else 0


@kernel
def watch(state: State) -> None:
    """Look at the runs that started: those of the principal group get a counter, the others a reason."""
    jobs = RedirectionJobs(state.jobs)
    notes = state.memory.notes
    for run in range(notes.seen, state.clock.runs):
        job = state.runs.job[run]
        if state.runs.pool[run] == REDIRECTION:
            relabel(state, run, Why.REDIRECTED)
        elif jobs.procs[job] <= state.pools.size[REDIRECTION]:
            place = notes.watched
            jobs.run_of[place] = run
            jobs.measure[place] = measure(state, job)
            jobs.merit[place] = merit(state, run, job)
            jobs.counter[place] = -uncounted(state, jobs.measure[place])
            jobs.slot[job] = place  # a running job is in no heap of reservations: the row is free
            notes.watched = place + 1
    notes.seen = state.clock.runs


def renumber_runs(state: State, new: Table) -> None:
    """Runs have other numbers; those of watched jobs go on."""
    notes = state.memory.notes
    watched = RedirectionJobs(state.jobs).run_of[: notes.watched]
    watched[:] = new[watched]
    notes.seen = (new[: notes.seen] >= 0).sum()


@kernel
def unwatch(state: State, job: int) -> None:
    """Take a job off the lists; the last one takes its place."""
    notes = state.memory.notes
    place, last = state.jobs.slot[job], notes.watched - 1
    for row in LISTS:
        state.jobs[row, place] = state.jobs[row, last]
    state.jobs.slot[state.runs.job[RedirectionJobs(state.jobs).run_of[place]]] = place
    notes.watched = last


@kernel
def unwatch_ended(state: State) -> None:
    """Forget the counters of the jobs that ended at this instant."""
    for i in range(state.clock.ended):
        run = state.lists.ended_runs[i]
        job = state.runs.job[run]
        if state.runs.pool[run] == PRINCIPAL and state.jobs.procs[job] <= state.pools.size[REDIRECTION]:
            unwatch(state, job)


@kernel
def count(state: State, newcomer: int) -> None:
    """A newcomer that has to wait counts against the running jobs that the filter names.

    The counters are brought up to date for several newcomers at once, or when one might exceed theta.
    """
    notes, newcomers = state.memory.notes, state.memory.newcomers
    value, last = measure(state, newcomer), notes.groups - 1
    if last >= 0 and newcomers.measure[last] == value:
        newcomers.number[last] += 1
    else:
        if last + 1 == BATCH:
            tally(state)
        last = notes.groups
        newcomers.measure[last], newcomers.number[last] = value, 1
        notes.groups = last + 1
    notes.uncounted += 1
    if notes.highest_counter + notes.uncounted > state.memory.rules.theta:
        tally(state)


@kernel
def uncounted(state: State, most: int) -> int:
    """How many of the newcomers not yet in the counters have at most this measure."""
    number, newcomers = 0, state.memory.newcomers
    for i in range(state.memory.notes.groups):
        number += newcomers.number[i] * (newcomers.measure[i] <= most)
    return number


@kernel
def group(state: State, i: int) -> tuple[int, int]:
    """The measure of a group of newcomers, and how many they are."""
    return state.memory.newcomers.measure[i], state.memory.newcomers.number[i]


@kernel
def tally_one(state: State) -> int:
    """Count one group of newcomers; the highest counter."""
    jobs = RedirectionJobs(state.jobs)
    least, more = group(state, 0)
    highest = 0
    for place in range(state.memory.notes.watched):
        counter = jobs.counter[place] + more * (jobs.measure[place] >= least)
        jobs.counter[place] = counter
        highest = max(highest, counter)
    return highest


@kernel
def tally_batch(state: State) -> int:
    """Count a batch of groups, or fewer; the highest counter."""
    jobs = RedirectionJobs(state.jobs)
    notes, newcomers = state.memory.notes, state.memory.newcomers
    for i in range(notes.groups, BATCH):
        newcomers.measure[i], newcomers.number[i] = NEVER, 0
    a, b, c, d = group(state, 0), group(state, 1), group(state, 2), group(state, 3)
    e, f, g, h = group(state, 4), group(state, 5), group(state, 6), group(state, 7)
    highest = 0
    for place in range(notes.watched):  # written out, so that it runs in wide registers
        value = jobs.measure[place]
        more = a[1] * (value >= a[0]) + b[1] * (value >= b[0]) + c[1] * (value >= c[0])
        more += d[1] * (value >= d[0]) + e[1] * (value >= e[0]) + f[1] * (value >= f[0])
        more += g[1] * (value >= g[0]) + h[1] * (value >= h[0])
        counter = jobs.counter[place] + more
        jobs.counter[place] = counter
        highest = max(highest, counter)
    return highest


@routine
def tally(state: State) -> None:
    """Bring the counters up to date."""
    notes = state.memory.notes
    highest = tally_one(state) if notes.groups == 1 else tally_batch(state)
    notes.uncounted = notes.groups = 0
    notes.highest_counter = highest
    if highest > state.memory.rules.theta:
        notes.exceeded = 1


@kernel
def goes_before(state: State, run: int, other: int) -> bool:
    """Which of two equal in merit goes: longer walltime, more processors, earlier start, file order.

    Of equal areas the one submitted first goes: a longer walltime is fewer processors there.
    """
    jobs = RedirectionJobs(state.jobs)
    a, b = state.runs.job[run], state.runs.job[other]
    if state.memory.rules.conflict == LARGEST:
        return bool(a < b)
    if jobs.wall[a] != jobs.wall[b]:
        return bool(jobs.wall[a] > jobs.wall[b])
    if jobs.procs[a] != jobs.procs[b]:
        return bool(jobs.procs[a] > jobs.procs[b])
    if state.runs.start[run] != state.runs.start[other]:
        return bool(state.runs.start[run] < state.runs.start[other])
    return bool(jobs.file_place[a] < jobs.file_place[b])


@kernel
def may_redirect(t: int, state: State) -> bool:
    """Whether someone may go: a counter was above theta, a job has come, and none went at this instant."""
    notes, came = state.memory.notes, state.clock.first_new < state.clock.last_new
    return bool(notes.exceeded and came and notes.last_at < t)


@routine
def chosen(state: State) -> int:
    """The run to redirect among those whose counter exceeds theta, by the conflict rule, or NOBODY."""
    jobs = RedirectionJobs(state.jobs)
    best, most, theta = NOBODY, -NEVER, state.memory.rules.theta
    row = RedirectionJobs["counter"] if state.memory.rules.conflict == HIGHEST else RedirectionJobs["merit"]
    for place in range(state.memory.notes.watched):
        value = state.jobs[row, place]
        if (jobs.counter[place] > theta) & (value >= most):
            run = jobs.run_of[place]
            if value > most or goes_before(state, run, best):
                best, most = run, value
    return best


@kernel
def reset(state: State) -> None:
    """All counters are 0, and no newcomer is left to be counted."""
    notes = state.memory.notes
    for place in range(notes.watched):
        RedirectionJobs(state.jobs).counter[place] = 0
    notes.exceeded = notes.highest_counter = notes.uncounted = notes.groups = 0
