"""To which row of cores the jobs of a partition belong that take turns on them, and what is dealt anew.

A job that starts has the row that it was found to fit in. Whenever a job ends Slurm deals all that are left
anew: by the first of their cores, then by their CPUs, each to the first row in which nobody has its cores;
the row that has got most so far comes first. So a row is nobody's for good: who preempted may come to stand
in the first row, and the one below in the row of those who preempt. If somebody fits nowhere all stay where
they are. The ends that plans imagine are followed in the same way.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import NODE_ROWS, State
from headway.jit.kernels import count_bits, kernel, routine
from headway.policies.slurm.nodes.cores import WORD, cores_of_share, level_in, move_to_row, row_of
from headway.policies.slurm.tables.controller import Memory

MANY_CPUS = 1 << 20
MANY_ROWS = 1 << 8


@kernel
def rows_from(memory: Memory, first: int) -> int:
    """How many rows the tier has whose first level this is."""
    last = first + 1
    while last < memory.levels.shape[1] and memory.levels.row[last] > 0:
        last += 1
    return last - first


@kernel
def key_of(state: State, job: int) -> int:
    """The place of a job among those that are dealt to rows."""
    memory, run = state.memory, state.jobs.run[job]
    entry, level, core = state.runs.share[run], level_in(state.memory, job), 0
    words = memory.settings.core_words
    for word in range(words - 1, -1, -1):
        bits = cores_of_share(state, entry, level, word)
        if bits > 0:
            core = WORD * word + count_bits((bits & -bits) - 1)
    core += state.shares.node[entry] * WORD * words
    cpus = min(memory.jobs.cpus[job], MANY_CPUS - 1)
    return int((core * MANY_CPUS + cpus) * MANY_ROWS + memory.jobs.row[job])


@routine
def list_for_rows(state: State, first: int, rows: int, trial: bool) -> int:
    """Write down the jobs of a tier in the order in which they are dealt to its rows; how many."""
    memory, listed, count = state.memory, state.memory.victims, 0
    for place in range(memory.clock.running):
        job = memory.running[1, place]
        level = level_in(memory, job)
        if level < first or level >= first + rows or (trial and memory.jobs.gone[job] > 0):
            continue
        key, at = key_of(state, job), count
        while at > 0 and listed.key[at - 1] > key:
            listed.dealt[at] = listed.dealt[at - 1]
            listed.key[at] = listed.key[at - 1]
            at -= 1
        listed.dealt[at], listed.key[at] = job, key
        count += 1
    return count


@kernel
def fits_in_dealt(state: State, job: int, level: int) -> bool:
    """Whether nobody who was dealt to a row so far has a core of a job."""
    memory, run, mine = state.memory, state.jobs.run[job], level_in(state.memory, job)
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for word in range(memory.settings.core_words):
            used = memory.imagined[NODE_ROWS + row_of(memory, level, word), state.shares.node[entry]]
            if cores_of_share(state, entry, mine, word) & used:
                return False
    return True


@kernel
def put_into_dealt(state: State, job: int, level: int) -> None:
    """Deal a job to a row."""
    memory, run, mine = state.memory, state.jobs.run[job], level_in(state.memory, job)
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for word in range(memory.settings.core_words):
            bits, row = cores_of_share(state, entry, mine, word), NODE_ROWS + row_of(memory, level, word)
            memory.imagined[row, state.shares.node[entry]] |= bits
            memory.levels.cores[level] += count_bits(bits)


@kernel
def fullest_first(memory: Memory, first: int, rows: int) -> None:
    """Let rows that have got more cores stand before others."""
    dealt, cores = memory.levels.dealt, memory.levels.cores
    for place in range(first, first + rows):
        for later in range(place + 1, first + rows):
            if cores[first + dealt[later]] > cores[first + dealt[place]]:
                dealt[place], dealt[later] = dealt[later], dealt[place]


@routine
def deal(state: State, first: int, rows: int, trial: bool) -> int:
    """Deal the jobs of a tier to its rows anew, in the list and the table IMAGINED; how many, -1 if one fits
    nowhere."""
    memory = state.memory
    count = list_for_rows(state, first, rows, trial)
    for level in range(first, first + rows):
        memory.levels.dealt[level], memory.levels.cores[level] = level - first, 0
        for word in range(memory.settings.core_words):
            for node in range(state.nodes.shape[1]):
                memory.imagined[NODE_ROWS + row_of(memory, level, word), node] = 0
    for place in range(count):
        job, at = memory.victims.dealt[place], 0
        while at < rows and not fits_in_dealt(state, job, first + memory.levels.dealt[first + at]):
            at += 1
        if at == rows:
            return -1
        row = memory.levels.dealt[first + at]
        put_into_dealt(state, job, first + row)
        memory.victims.row[place] = row
        fullest_first(memory, first, rows)
    return count


@kernel
def stands_at(memory: Memory, first: int, row: int) -> int:
    """Where a row that was dealt stands among those of its tier."""
    at = 0
    while memory.levels.dealt[first + at] != row:
        at += 1
    return at


@routine
def deal_rows(state: State) -> None:
    """Deal all that take turns to rows anew, since somebody has ended."""
    memory, first = state.memory, 0
    while first < memory.levels.shape[1]:
        rows = rows_from(memory, first)
        count = deal(state, first, rows, False) if rows > 1 else 0
        for place in range(count):
            job = memory.victims.dealt[place]
            row = stands_at(memory, first, memory.victims.row[place])
            if row != memory.jobs.row[job]:
                move_to_row(state, job, row)
        first += rows


@routine
def deal_trial(state: State) -> None:
    """The same in the trial table, for those who are not gone in it."""
    memory, first = state.memory, 0
    while first < memory.levels.shape[1]:
        rows = rows_from(memory, first)
        if rows > 1 and deal(state, first, rows, True) >= 0:
            for at in range(rows):
                level = first + memory.levels.dealt[first + at]
                for word in range(memory.settings.core_words):
                    place, used = row_of(memory, first + at, word), row_of(memory, level, word)
                    for node in range(state.nodes.shape[1]):
                        memory.trial[NODE_ROWS + place, node] = (
                            memory.gres_total[place, node] - memory.imagined[NODE_ROWS + used, node]
                        )
        first += rows
