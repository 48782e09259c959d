"""Who has which processor: owners are regular jobs, users urgent ones or guests; the lowest numbers go first.

    processor     0    1    2    3    4
    owner         a    a    a    -    -        a is suspended,
    user          u    u    -    u    -        u has borrowed two of its processors: 4 is free for regular
                                               jobs, 2 and 4 for urgent ones

A job's processors are a list from its FIRST_PROCESSOR on, in ascending order.
"""

from __future__ import annotations

from headway.engine.tables import Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.queueing.ordering import URGENT_CLASS
from headway.policies.urgent.tables import NO_JOB, NO_PROCESSOR, Processors, UjfbJobs

GROUP = 64
"""Processors are counted in groups of so many, so that a search skips those without a free one."""
SHIFT = 1 << 32


@kernel
def is_urgent(state: State, job: int) -> bool:
    return bool(state.jobs.priority_class[job] == URGENT_CLASS)


@kernel
def uses(state: State, job: int) -> bool:
    """Whether a job is the user of its processors, not their owner."""
    return bool(state.jobs.priority_class[job] == URGENT_CLASS or UjfbJobs(state.jobs).guest[job] != 0)


@kernel
def is_free(state: State, p: int) -> bool:
    """Whether a processor has neither owner nor user."""
    processors = state.memory.processors
    return bool(processors.owner[p] == NO_JOB and processors.user[p] == NO_JOB)


@kernel
def is_idle(state: State, p: int) -> bool:
    """Whether a processor is of a suspended job and nobody uses it."""
    processors = state.memory.processors
    owner = processors.owner[p]
    used = owner == NO_JOB or processors.user[p] != NO_JOB
    return bool(not used and state.jobs.phase[owner] == Phase.SUSPENDED)


@kernel
def set_free(state: State, p: int) -> None:
    """Count a processor as free that has just lost its owner or user."""
    state.memory.free_in_group[p // GROUP] += 1
    state.memory.notes.lowest_group = min(state.memory.notes.lowest_group, p // GROUP)


@kernel
def append(state: State, job: int, table: int, chain: int, last: int, p: int) -> None:
    """Give processor ``p`` to a job; ``last`` is the one it got before."""
    state.memory.processors[table, p] = job
    state.memory.processors[chain, p] = NO_PROCESSOR
    if last == NO_PROCESSOR:
        UjfbJobs(state.jobs).first_processor[job] = p
    else:
        state.memory.processors[chain, last] = p


@routine
def take_free(state: State, job: int, table: int, chain: int, last: int, procs: int) -> int:
    """Give a job the lowest free processors; the last of them."""
    group = state.memory.notes.lowest_group
    state.memory.notes.unowned -= procs
    while procs > 0:
        if state.memory.free_in_group[group] > 0:
            end = min((group + 1) * GROUP, state.memory.processors.shape[1])
            for p in range(group * GROUP, end):
                if is_free(state, p):
                    append(state, job, table, chain, last, p)
                    state.memory.free_in_group[group] -= 1
                    last = p
                    procs -= 1
                    if procs == 0:
                        break
        if procs > 0:
            group += 1
    state.memory.notes.lowest_group = group
    return last


@routine
def borrow_idle(state: State, job: int, last: int, procs: int) -> int:
    """Lend an urgent job the lowest idle processors of suspended jobs; the last of them."""
    for p in range(state.memory.processors.shape[1]):
        if procs == 0:
            break
        if is_idle(state, p):
            append(state, job, Processors["user"], Processors["next_used"], last, p)
            UjfbJobs(state.jobs).lent[state.memory.processors.owner[p]] += 1
            state.memory.notes.idle -= 1
            last = p
            procs -= 1
    return last


@kernel
def own(state: State, job: int) -> None:
    """Give a regular job its processors."""
    if state.memory.rules.named:
        take_free(
            state, job, Processors["owner"], Processors["next_owned"], NO_PROCESSOR, state.jobs.procs[job]
        )
    else:
        state.memory.notes.unowned -= state.jobs.procs[job]


@routine
def disown(state: State, job: int) -> None:
    """A regular job leaves its processors; nobody else uses them."""
    state.memory.notes.unowned += state.jobs.procs[job]
    if not state.memory.rules.named:
        return
    p = UjfbJobs(state.jobs).first_processor[job]
    while p != NO_PROCESSOR:
        state.memory.processors.owner[p] = NO_JOB
        set_free(state, p)
        p = state.memory.processors.next_owned[p]


@routine
def give_back(state: State, job: int) -> None:
    """An urgent job or a guest leaves its processors, to their owners where they have one."""
    jobs = UjfbJobs(state.jobs)
    p = jobs.first_processor[job]
    while p != NO_PROCESSOR:
        state.memory.processors.user[p] = NO_JOB
        owner = state.memory.processors.owner[p]
        if owner == NO_JOB:
            set_free(state, p)
        else:
            jobs.lent[owner] -= 1
            state.memory.notes.idle += 1
        p = state.memory.processors.next_used[p]
    state.memory.notes.unowned += jobs.own_alone[job]


@routine
def load_hosts(state: State, job: int, more: int, room: int) -> bool:
    """Add ``more`` x a job's memory to its hosts; if one would hold more than ``room``, nothing changes."""
    jobs = UjfbJobs(state.jobs)
    size, memory = state.memory.rules.host_size, jobs.memory[job]
    fits = True
    p = jobs.first_processor[job]
    while p != NO_PROCESSOR:
        state.memory.hosts[p // size] += more * memory
        if more > 0 and state.memory.hosts[p // size] > room:
            fits = False
        p = state.memory.processors.next_owned[p]
    if not fits:
        load_hosts_back(state, job, size, memory)
    return fits


@kernel
def load_hosts_back(state: State, job: int, size: int, memory: int) -> None:
    p = UjfbJobs(state.jobs).first_processor[job]
    while p != NO_PROCESSOR:
        state.memory.hosts[p // size] -= memory
        p = state.memory.processors.next_owned[p]


@routine
def record_processors(state: State, job: int, run: int) -> None:
    """Write down a job's processors as ranges: the run and how many ranges, then low x 2^32 + high of each.

    What does not fit is counted, not written.
    """
    jobs = UjfbJobs(state.jobs)
    chain = Processors["next_used"] if uses(state, job) else Processors["next_owned"]
    ranges, last = 0, NO_PROCESSOR - 1
    p = jobs.first_processor[job]
    while p != NO_PROCESSOR:
        ranges += p != last + 1
        last = p
        p = state.memory.processors[chain, p]
    here, record = state.memory.notes.recorded, state.memory.record
    if here + 2 + ranges > len(record):
        state.memory.notes.unrecorded += 1
        return
    record[here], record[here + 1] = run, ranges
    here += 1
    last = NO_PROCESSOR - 1
    p = jobs.first_processor[job]
    while p != NO_PROCESSOR:
        if p != last + 1:
            here += 1
            record[here] = p * SHIFT
        record[here] = record[here] // SHIFT * SHIFT + p
        last = p
        p = state.memory.processors[chain, p]
    state.memory.notes.recorded += 2 + ranges
    jobs.in_record[job] = 1


@kernel
def record_stop(state: State, run: int, by: int, swap: int) -> None:
    """Write down for which run another one was stopped (-1: whole), and how long swapping it out takes."""
    here, record = state.memory.notes.recorded, state.memory.record
    if here + 3 > len(record):
        state.memory.notes.unrecorded += 1
        return
    record[here], record[here + 1], record[here + 2] = -1 - run, by, swap
    state.memory.notes.recorded += 3
