"""Which waiting jobs may be looked at: holds, dependencies, begin times, limits of arrays, licences.

A job's dependencies are looked at only in passes. When they are met it becomes eligible: its age counts from
then on, and it may wait for nodes like any other.
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.limits.accrual import begin_age
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.life import After, Outcome
from headway.policies.slurm.tables.reasons import Reason

MET, OPEN, NEVER = range(3)
"""What is to be said of a dependency: it is met, it may still be, or it cannot be any more."""


@kernel
def is_forgotten(memory: Memory, job: int, now: int) -> bool:
    """Whether the controller does not know a job any more, for it was over so long ago (MinJobAge)."""
    age, over = memory.settings.min_job_age, memory.jobs.outcome[job] >= Outcome.WELL
    return bool(over and age > 0 and now - memory.jobs.ends[job] >= age)


@kernel
def entry_state(memory: Memory, entry: int, now: int) -> int:
    """Whether one entry of the dependencies is met."""
    kind, job = memory.dependencies.kind[entry], memory.dependencies.job[entry]
    outcome = memory.jobs.outcome[job]
    if kind == After.STARTED:
        since = now - memory.jobs.started[job]
        begun = outcome != Outcome.PENDING and since >= 60 * memory.dependencies.minutes[entry]
        return MET if begun or is_forgotten(memory, job, now) else OPEN
    if kind == After.NOT_RUNNING:
        return OPEN if outcome == Outcome.RUNS else MET
    if outcome < Outcome.WELL:
        return OPEN
    if kind == After.OK and outcome == Outcome.BADLY:
        return NEVER
    return MET


@kernel
def group_state(memory: Memory, first: int, last: int, now: int) -> int:
    """Whether the entries from ``first`` to ``last``, one job or the tasks of one array, are met together."""
    state, failed = MET, False
    for entry in range(first, last):
        here = entry_state(memory, entry, now)
        if here == NEVER:
            return NEVER
        if here == OPEN:
            state = OPEN
        failed |= memory.jobs.outcome[memory.dependencies.job[entry]] == Outcome.BADLY
    if state == MET and memory.dependencies.kind[first] == After.NOT_OK and not failed:
        return NEVER
    return state


@routine
def dependencies_state(memory: Memory, job: int, now: int) -> int:
    """Whether all dependencies of a job are met, or one of them where that is enough."""
    first = memory.jobs.depends[job]
    last = first + memory.jobs.dependencies[job]
    one_is_enough = memory.jobs.depends_on_any[job] > 0
    any_open = any_met = False
    while first < last:
        end = first + 1
        while end < last and memory.dependencies.group[end] == memory.dependencies.group[first]:
            end += 1
        state = group_state(memory, first, end, now)
        if state == NEVER and not one_is_enough:
            return NEVER
        any_open |= state == OPEN
        any_met |= state == MET
        first = end
    if one_is_enough:
        return MET if any_met else (OPEN if any_open else NEVER)
    return OPEN if any_open else MET


@routine
def let_in(memory: Memory, job: int, now: int) -> bool:
    """Whether nothing but time keeps a job back any more; if so it is eligible from now on."""
    if memory.jobs.held[job] > 0:
        memory.jobs.reason[job] = Reason.HELD
        return False
    state = dependencies_state(memory, job, now)
    if state != MET:
        memory.jobs.reason[job] = Reason.DEPENDENCY if state == OPEN else Reason.NEVER_SATISFIED
        return False
    memory.jobs.kept_back[job] = 0
    memory.jobs.begin[job] = now
    begin_age(memory, job, now)
    return True


@kernel
def eligible(memory: Memory, job: int, now: int) -> bool:
    """Whether a pass may look at a waiting job."""
    if memory.jobs.begin[job] > now:
        return False
    return bool(memory.jobs.kept_back[job] == 0 or let_in(memory, job, now))


@kernel
def waits_for_a_start(memory: Memory, job: int) -> bool:
    """Whether the start of another job may let a job in, within one pass."""
    first = memory.jobs.depends[job]
    if memory.jobs.kept_back[job] == 0 or memory.jobs.held[job] > 0:
        return False
    for entry in range(first, first + memory.jobs.dependencies[job]):
        if memory.dependencies.kind[entry] == After.STARTED:
            return True
    return False


@kernel
def array_is_full(memory: Memory, job: int, planned: int) -> bool:
    """Whether as many tasks of the job's array run as may, with some more that are ``planned``."""
    array = memory.jobs.array[job]
    if array == UNSET:
        return False
    limit = memory.arrays.limit[array]
    return bool(limit != UNSET and memory.arrays.running[array] + planned >= limit)


@kernel
def refused_before(memory: Memory, job: int, part: int, row: int, number: int) -> bool:
    """Whether the pass or cycle of this number has refused another task of the job's array; row: which."""
    array = memory.jobs.array[job]
    return bool(
        array != UNSET
        and memory.arrays[row, array] == number
        and memory.arrays.refused_partition[array] == part
    )


@kernel
def refuse_array(memory: Memory, job: int, part: int, row: int, number: int) -> None:
    """Let the pass or cycle of this number look at no more tasks of the job's array in a partition."""
    array = memory.jobs.array[job]
    if array != UNSET:
        memory.arrays[row, array] = number
        memory.arrays.refused_partition[array] = part


@kernel
def begun_elsewhere(memory: Memory, job: int, part: int) -> bool:
    """Whether the present cycle has started a task of the job's array in another partition.

    The entry of the array in the list of jobs is that task's then, and it waits no more.
    """
    array = memory.jobs.array[job]
    return bool(
        array != UNSET
        and memory.jobs.listed[job] == UNSET
        and memory.arrays.begun_cycle[array] == memory.clock.cycles
        and memory.arrays.begun_partition[array] != part
    )


@kernel
def count_array_plan(memory: Memory, job: int) -> int:
    """Count a plan of a task with its array; how many the present cycle has made since it planned a task of
    another array."""
    array, clock = memory.jobs.array[job], memory.clock
    if memory.arrays.plans_cycle[array] != clock.cycles or (clock.last_array != array):
        memory.arrays.plans_cycle[array] = clock.cycles
        memory.arrays.plans[array] = 0
    clock.last_array = array
    memory.arrays.plans[array] += 1
    return int(memory.arrays.plans[array])


@routine
def tasks_in_queue(memory: Memory, job: int, part: int) -> int:
    """How many tasks of the job's array wait with a record of a partition."""
    count = 0
    for place in range(memory.clock.queued):
        other = memory.queue.job[place]
        if other >= 0 and memory.queue.partition[place] == part:
            count += memory.jobs.array[other] == memory.jobs.array[job]
    return count


@kernel
def licences_free(memory: Memory, job: int) -> bool:
    """Whether the licences that a job asks for are free now."""
    if memory.jobs.licences[job] == 0:
        return True
    for licence in range(memory.licences.shape[1]):
        left = memory.licences.total[licence] - memory.licences.used[licence]
        if memory.licences_asked[licence, job] > left:
            return False
    return True


@kernel
def take_licences(memory: Memory, job: int, sign: int) -> None:
    """Count a job's licences when it starts (1) or ends (-1)."""
    if memory.jobs.licences[job] > 0:
        for licence in range(memory.licences.shape[1]):
            memory.licences.used[licence] += sign * memory.licences_asked[licence, job]


@kernel
def count_task(memory: Memory, job: int, sign: int) -> None:
    """Count a task of an array that starts (1) or ends (-1)."""
    if memory.jobs.array[job] != UNSET:
        memory.arrays.running[memory.jobs.array[job]] += sign
