"""Which cores of nodes jobs hold, where jobs are suspended for others; as bits, WORD of them to a word.

A level's free cores are further rows of the engine's nodes, and the cores of a run are the same rows of its
shares: what a job holds of a level nobody else of that level does, so taking it away is a subtraction.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares, exchange, propose_further
from headway.engine.tables import (
    NODE_ROWS,
    SHARE_ROWS,
    Nodes,
    State,
)
from headway.jit.kernels import count_bits, kernel
from headway.policies.slurm.tables.controller import Memory
from headway.policies.slurm.tables.settings import Preemption

WORD = 62
"""CPUs in a word: as many bits as are never a sign."""


@kernel
def suspends(memory: Memory) -> bool:
    """Whether jobs are suspended for others."""
    return memory.levels.shape[1] > 0


@kernel
def row_of(memory: Memory, level: int, word: int) -> int:
    """The place of a word of a level among the further rows of nodes and shares."""
    return int(memory.gres_asked.shape[0] + level * memory.settings.core_words + word)


@kernel
def level_in(memory: Memory, job: int) -> int:
    """The level of a running or suspended job."""
    first = memory.partitions.level[memory.jobs.partition[job]]
    return int(first + memory.jobs.row[job])


@kernel
def stays(memory: Memory, level: int, part: int, bound: int, row: int) -> bool:
    """Whether a job of a partition leaves the cores of a level alone: it cannot have them, or need not.

    With a ``row`` it may have those of jobs that it takes turns with: all but those of its own row. Only
    where jobs are preempted by tiers a higher tier keeps others from starting below it.
    """
    tier, mine = memory.levels.tier[level], memory.partitions.tier[part]
    by_tier = memory.settings.preemption == Preemption.BY_TIER
    if by_tier and (memory.levels.firm[level] > 0 or tier > mine):
        return True
    if row >= 0:
        return bool(tier == mine and memory.levels.row[level] == row)
    return bool(tier == mine or bound == 0 or bound <= tier < mine)


@kernel
def imagine_suspended(state: State, table: Nodes, part: int, bound: int, row: int) -> None:
    """Let the table IMAGINED have what a job of a partition could use if tiers under ``bound`` gave way.

    With a ``row`` (else -1) also what jobs of other rows use. The cores that are not to be used stand in its
    rows of the first level.
    """
    memory = state.memory
    for what in range(NODE_ROWS + memory.gres_asked.shape[0]):
        for node in range(state.nodes.shape[1]):
            memory.imagined[what, node] = table[what, node]
    for node in range(state.nodes.shape[1]):
        count = 0
        for word in range(memory.settings.core_words):
            used = 0
            for level in range(memory.levels.shape[1]):
                place = row_of(memory, level, word)
                if stays(memory, level, part, bound, row):
                    used |= memory.gres_total[place, node] - table[NODE_ROWS + place, node]
            memory.imagined[NODE_ROWS + row_of(memory, 0, word), node] = used
            count += count_bits(used)
        memory.imagined.free_cpus[node] = memory.imagined.cpus[node] - count
        memory.imagined.runs[node] = count
        memory.imagined.alone[node] = 0


@kernel
def propose_cores(state: State, place: int, node: int, cpus: int, part: int, row: int) -> None:
    """Let the share number ``place`` have the first cores of its node that are not to be left alone."""
    memory = state.memory
    level, left = memory.partitions.level[part] + row, cpus
    for word in range(memory.settings.core_words):
        used, bits = memory.imagined[NODE_ROWS + row_of(memory, 0, word), node], 0
        free = memory.gres_total[row_of(memory, level, word), node] & ~used
        for bit in range(WORD):
            if left > 0 and free >> bit & 1:
                bits |= 1 << bit
                left -= 1
        propose_further(state, place, row_of(memory, level, word), bits)


@kernel
def cores_of_share(state: State, entry: int, level: int, word: int) -> int:
    """The cores of a share, of one word."""
    return int(state.shares[SHARE_ROWS + row_of(state.memory, level, word), entry])


@kernel
def has_core_of(state: State, job: int, first: int, last: int, level: int) -> bool:
    """Whether a job has a core of the shares from ``first`` to before ``last``, which are of this level."""
    memory, run = state.memory, state.jobs.run[job]
    mine = level_in(memory, job)
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for other in range(first, last):
            if state.shares.node[other] != state.shares.node[entry]:
                continue
            for word in range(memory.settings.core_words):
                if cores_of_share(state, entry, mine, word) & cores_of_share(state, other, level, word):
                    return True
    return False


@kernel
def meets_proposed(state: State, job: int, count: int, mine: int) -> bool:
    """Whether a running job has a core that was proposed for the next one, on the level ``mine``."""
    first = state.clock.shares
    return has_core_of(state, job, first, first + count, mine)


@kernel
def meets_going(state: State, job: int) -> bool:
    """Whether a job has a core of one that goes on."""
    memory, run, level = state.memory, state.jobs.run[job], level_in(state.memory, job)
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for word in range(memory.settings.core_words):
            if cores_of_share(state, entry, level, word) & memory.going[word, state.shares.node[entry]]:
                return True
    return False


@kernel
def add_going(state: State, job: int) -> None:
    """Let a job go on."""
    memory, run, level = state.memory, state.jobs.run[job], level_in(state.memory, job)
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for word in range(memory.settings.core_words):
            memory.going[word, state.shares.node[entry]] |= cores_of_share(state, entry, level, word)


@kernel
def cores_in_row(state: State, part: int, row: int) -> int:
    """How many cores the jobs in a row of a partition's tier have."""
    memory, count = state.memory, 0
    for word in range(memory.settings.core_words):
        place = row_of(memory, memory.partitions.level[part] + row, word)
        for node in range(state.nodes.shape[1]):
            count += count_bits(memory.gres_total[place, node] - state.nodes[NODE_ROWS + place, node])
    return count


@kernel
def move_to_row(state: State, job: int, row: int) -> None:
    """Let a job have its cores in another row."""
    memory, run, level = state.memory, state.jobs.run[job], level_in(state.memory, job)
    memory.jobs.row[job] = row
    for word in range(memory.settings.core_words):
        exchange(state, run, row_of(memory, level, word), row_of(memory, level_in(memory, job), word))


@kernel
def have_same_core(state: State, job: int, other: int) -> bool:
    """Whether two jobs have a core in common."""
    run = state.jobs.run[other]
    first, last = state.runs.share[run], end_of_shares(state, run)
    return has_core_of(state, job, first, last, level_in(state.memory, other))
