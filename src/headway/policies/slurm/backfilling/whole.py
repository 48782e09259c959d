"""Jobs on whole nodes of one kind: on which nodes they could start, by counting bits.

This is :func:`~headway.policies.slurm.nodes.selection.select` for the case that every idle node offers the
same. Then it is enough to count nodes, and a run of neighbours is as good as it is long.
"""

from __future__ import annotations

from headway.engine.shares import end_of_shares
from headway.engine.tables import State, Table
from headway.jit.kernels import kernel, lowest_bit, routine
from headway.policies.slurm.nodes.offers import (
    fewest_cpus,
    fewest_nodes,
    memory_per_cpu,
    memory_per_node,
    most_nodes,
    takes_first,
    wanted_nodes,
    whole_nodes,
)
from headway.policies.slurm.nodes.selection import flexible_reservation
from headway.policies.slurm.nodes.switches import whole_by_switches
from headway.policies.slurm.queue.preemption import takes_places
from headway.policies.slurm.tables.bits import BITS, common_nodes, empty, put, put_range
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch


@kernel
def counts_nodes(memory: Memory, job: int, part: int) -> bool:
    """Whether a job takes whole nodes that are all alike, and the sets of running jobs are at hand.

    Preemption, named or neighbouring nodes, a wish for few switches, choices of features, generic resources,
    limits on nodes and a flexible reservation make nodes unlike for a job.
    """
    return bool(
        memory.settings.plain == 0
        and memory.partitions.alike[part] > 0
        and not takes_places(memory, job, part)
        and memory.jobs.required[job] == 0
        and memory.jobs.contiguous[job] == 0
        and memory.jobs.switches[job] == 0
        and flexible_reservation(memory, job) == UNSET
        and memory.choices.parts[memory.jobs.features[job]] == 0
        and memory.gres_asked.shape[0] == 0
        and memory.settings.limits_nodes == 0
        and memory.clock.running <= memory.words_over.shape[0]
        and whole_nodes(memory, job, part)
    )


@kernel
def note_idle(state: State) -> None:
    """Lay the set of nodes on which nothing runs."""
    sets = state.memory.words_sets
    empty(sets, Scratch.IDLE)
    for node in range(state.nodes.shape[1]):
        if state.nodes.runs[node] == 0:
            put(sets, Scratch.IDLE, node)


@routine
def note_running_sets(state: State) -> None:
    """Lay the sets of nodes that running jobs hold, and those on which nothing runs when they are over."""
    memory = state.memory
    held, over, count = memory.words_held, memory.words_over, memory.clock.running
    note_idle(state)
    if count > over.shape[0]:
        return
    for place in range(count - 1, -1, -1):
        run = state.jobs.run[memory.running[1, place]]
        empty(held, place)
        for entry in range(state.runs.share[run], end_of_shares(state, run)):
            put(held, place, state.shares.node[entry])
        for word in range(over.shape[1]):  # all that no later job holds
            over[place, word] = -1 if place == count - 1 else over[place + 1, word] & ~held[place + 1, word]


@kernel
def over_by(memory: Memory, t: int) -> int:
    """The place of the last running job that is over by ``t``; -1 where none is."""
    low, high = 0, memory.clock.running
    while low < high:
        middle = (low + high) // 2
        if memory.running[0, middle] <= t:
            low = middle + 1
        else:
            high = middle
    return low - 1


@routine
def enough_over(memory: Memory, row: int, least: int) -> int:
    """The running job with whose end so many nodes of a set are idle: -1 if they are now, or behind all."""
    sets, low, high = memory.words_sets, 0, memory.clock.running
    if common_nodes(sets, Scratch.IDLE, sets, row) >= least:
        return -1
    while low < high:
        middle = (low + high) // 2
        if common_nodes(memory.words_over, middle, sets, row) < least:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def idle_after(memory: Memory, place: int) -> int:
    """How many nodes of WINDOW are idle when the running jobs up to a place are over; -1: now."""
    sets = memory.words_sets
    if place < 0:
        return common_nodes(sets, Scratch.IDLE, sets, Scratch.WINDOW)
    return common_nodes(memory.words_over, place, sets, Scratch.WINDOW)


@kernel
def whole_offer(state: State, job: int, part: int, node: int) -> int:
    """CPUs that a node on which nothing runs offers a job."""
    memory = state.memory
    cpus, bound = state.nodes.cpus[node], memory.partitions.max_cpus[part]
    if bound != UNSET and cpus > bound:
        return 0
    if memory.settings.memory > 0:
        have, by_cpu = state.nodes.memory_mb[node], memory_per_cpu(memory, job, part)
        if by_cpu > 0:
            if cpus * by_cpu > have:
                return 0
            threads = memory.nodes.threads[node]
            cpus = min(cpus, have // by_cpu // threads * threads)
        elif memory_per_node(memory, job, part, have) > have:
            return 0
    return int(cpus) if cpus >= fewest_cpus(memory, job) else 0


@kernel
def lay_lengths(memory: Memory, idle: Table, row: int) -> int:
    """Split the nodes of WINDOW that are idle, too, into runs of neighbours; how many there are."""
    work, count, behind = memory.work, 0, -1
    for word in range(idle.shape[1]):
        left = idle[row, word] & memory.words_sets[Scratch.WINDOW, word]
        while left != 0:
            low = lowest_bit(left)
            length = min(lowest_bit(~(left >> low)), BITS - low)
            first = BITS * word + low
            if first == behind:
                work.run_nodes[count - 1] += length
            else:
                work.first[count] = first
                work.run_nodes[count] = length
                count += 1
            behind = first + length
            if low + length == BITS:
                break
            left = left >> (low + length) << (low + length)
    return count


@kernel
def best_length(memory: Memory, count: int, need: int) -> int:
    """The shortest run that has ``need`` nodes, else the longest; -1 where none is left."""
    best, best_length = -1, 0
    for run in range(count):
        length = memory.work.run_nodes[run]
        if length == 0:
            continue
        closer = length < best_length if length >= need else length > best_length
        if best < 0 or closer or (length >= need > best_length):
            best, best_length = run, length
    return best


@routine
def select_whole(state: State, idle: Table, row: int, job: int, part: int) -> int:
    """Choose nodes of WINDOW that are in a set of idle ones, too, into TAKEN; how many, 0 if too few are."""
    memory = state.memory
    work, sets = memory.work, memory.words_sets
    least, most, cpus = (
        fewest_nodes(memory, job, part),
        most_nodes(memory, job, part),
        memory.jobs.cpus[job],
    )
    count = lay_lengths(memory, idle, row)
    if count == 0 or most < least:
        return 0
    offer = whole_offer(state, job, part, work.first[0])
    usable = common_nodes(idle, row, sets, Scratch.WINDOW)
    if offer == 0 or usable < memory.jobs.min_nodes[job] or usable * offer < cpus:
        return 0
    want = wanted_nodes(memory, job, part)
    nodes, spared, taken = max(least, want), max(want - least, 0), 0
    if takes_first(memory, job, part):
        count = 1
        work.run_nodes[0] = 1
    if memory.settings.by_switches == 1:
        for word in range(sets.shape[1]):
            sets[Scratch.LIGHT, word] = idle[row, word] & sets[Scratch.WINDOW, word]
        return int(whole_by_switches(memory, nodes, spared, most, cpus, offer))
    empty(sets, Scratch.TAKEN)
    while most > 0:
        still = -(-cpus // offer)  # nodes for the CPUs that are wanted
        run = best_length(memory, count, max(nodes - spared, still))
        if run < 0:
            break
        here = min(max(nodes, still), work.run_nodes[run], most)
        if here == most and here < still:
            here -= 1  # the last node that it may have must be enough
        put_range(sets, Scratch.TAKEN, work.first[run], here)
        taken += here
        nodes -= here
        cpus -= here * offer
        most -= here
        if nodes <= 0 and cpus <= 0:
            return taken
        work.run_nodes[run] = 0
    return taken if cpus <= 0 and nodes - spared <= 0 else 0
