"""Jobs of a partition that have the same cores take turns on them (gang scheduling).

The jobs of a partition stand in a list, in the order of their starts. A time slice puts those that it chose
the last time behind the others, and chooses from the front each job that shares no core with those chosen
before it. A job that starts or goes on in the midst of a slice, because its cores are free, keeps its place::

    slice          1            2            3            4
    cores 0-3   | A (fills)  | A (chosen) | B (chosen) | A (chosen)
    the list      A             A B          B A          A B

Here B started in slice 1 on the cores of A; it is suspended at once and runs from slice 3 on.
"""

from __future__ import annotations

from headway.engine.tables import Phase, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.cores import (
    add_going,
    have_same_core,
    meets_going,
)
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.life import Standing


@kernel
def nobody_goes(memory: Memory) -> None:
    """Let no core be in use by one who goes on."""
    for word in range(memory.going.shape[0]):
        for node in range(memory.going.shape[1]):
            memory.going[word, node] = 0


@kernel
def tier_in(memory: Memory, job: int) -> int:
    """The tier of a running or suspended job."""
    return int(memory.partitions.tier[memory.jobs.partition[job]])


@kernel
def stands_before(memory: Memory, job: int, other: int) -> bool:
    """Whether a job stands before another one: of a higher tier, or earlier in the order of turns."""
    tier, others = tier_in(memory, job), tier_in(memory, other)
    earlier = memory.jobs.turn[job] < memory.jobs.turn[other]
    return bool(tier > others or (tier == others and earlier))


@routine
def list_turns(memory: Memory) -> int:
    """Write all that run or are suspended into the list of victims, in the order of turns; how many."""
    listed, count = memory.victims, memory.clock.running
    for place in range(count):
        job, at = memory.running[1, place], place
        while at > 0 and stands_before(memory, job, listed.job[at - 1]):
            listed.job[at] = listed.job[at - 1]
            at -= 1
        listed.job[at] = job
    return int(count)


@kernel
def end_of_tier(memory: Memory, first: int, count: int) -> int:
    """Where the jobs of the tier that begins at a place of the list end."""
    tier, last = tier_in(memory, memory.victims.job[first]), first
    while last < count and tier_in(memory, memory.victims.job[last]) == tier:
        last += 1
    return last


@kernel
def let_go(state: State, job: int, standing: int) -> None:
    """Note whether a job goes on beside those of whom it is known; with this standing if it does."""
    memory = state.memory
    if meets_going(state, job):
        memory.jobs.goes_on[job] = 0
        memory.jobs.standing[job] = Standing.WAITS
    else:
        memory.jobs.goes_on[job] = 1
        memory.jobs.standing[job] = standing
        add_going(state, job)


@routine
def keep_turns(state: State) -> None:
    """Note who goes on in the midst of a slice: those whom it chose, who filled, then whoever fits."""
    memory = state.memory
    count, first = list_turns(memory), 0
    nobody_goes(memory)
    while first < count:
        last = end_of_tier(memory, first, count)
        for place in range(first, last):
            memory.jobs.goes_on[memory.victims.job[place]] = -1
        for standing in range(3):
            for place in range(first, last):
                job = memory.victims.job[place]
                if memory.jobs.standing[job] == standing and memory.jobs.goes_on[job] < 0:
                    let_go(state, job, Standing.CHOSEN if standing == Standing.CHOSEN else Standing.FILLS)
        first = last


@routine
def new_slice(state: State, first: int, last: int) -> None:
    """Choose who of a tier goes on in a new slice; those of the last one stand behind the others."""
    memory, clock = state.memory, state.memory.clock
    for place in range(first, last):
        job = memory.victims.job[place]
        if memory.jobs.standing[job] == Standing.CHOSEN:
            memory.jobs.turn[job] = clock.turns
            clock.turns += 1
    list_turns(memory)
    for place in range(first, last):
        let_go(state, memory.victims.job[place], Standing.CHOSEN)


@routine
def take_turns(state: State, now: int) -> bool:
    """Begin a time slice if it is time; whether who goes on was found out anew."""
    memory, clock = state.memory, state.memory.clock
    if now < clock.slice_next:
        return False
    past, length = now - clock.slice_next, memory.settings.slice
    clock.slice_next = now + length - past % length
    if state.clock.suspends == 0:
        return False
    count, first = list_turns(memory), 0
    nobody_goes(memory)
    while first < count:
        last, waits = end_of_tier(memory, first, count), False
        for place in range(first, last):
            waits = waits or state.jobs.phase[memory.victims.job[place]] == Phase.SUSPENDED
        if waits:
            new_slice(state, first, last)
        else:
            for place in range(first, last):
                job = memory.victims.job[place]
                let_go(state, job, memory.jobs.standing[job])
        first = last
    return True


@kernel
def is_below(state: State, job: int) -> bool:
    """Whether somebody of a higher tier than a job's goes on, wherever."""
    memory = state.memory
    for place in range(memory.clock.running):
        other = memory.running[1, place]
        if memory.jobs.goes_on[other] > 0 and tier_in(memory, other) > tier_in(memory, job):
            return True
    return False


@kernel
def note_who_goes(state: State, job: int) -> None:
    """Note for which job another one is suspended."""
    memory = state.memory
    for place in range(memory.clock.running):
        other = memory.running[1, place]
        if other != job and memory.jobs.goes_on[other] > 0 and have_same_core(state, job, other):
            memory.jobs.preempted_by[job] = other
            return


@kernel
def note_start(memory: Memory, job: int, waits: bool) -> None:
    """Put a job that starts at the end of the order of turns."""
    memory.jobs.turn[job] = memory.clock.turns
    memory.jobs.standing[job] = Standing.WAITS if waits else Standing.FILLS
    memory.clock.turns += 1
