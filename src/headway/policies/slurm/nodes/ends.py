"""The running jobs by their ends, and what would be free if some of them were over."""

from __future__ import annotations

from headway.engine.shares import end_of_shares, hold
from headway.engine.tables import NODE_ROWS, Nodes, State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.cores import cores_of_share, level_in, row_of
from headway.policies.slurm.queue.preemption import is_preemptable, shares_partition, victim_mode
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.settings import Mode, Preemption

NEVER = -1
FREE_ENOUGH = 1 << 40
"""A count of idle nodes for jobs that need none: they share nodes."""
MANY = 201
"""Job ends that one group may have before it is given up."""


@kernel
def is_listed_before(memory: Memory, job: int, other: int) -> bool:
    """Whether a job stands before another one in Slurm's list of jobs."""
    mine, others = memory.jobs.listed[job], memory.jobs.listed[other]
    return bool(mine < others or (mine == others and job < other))


@routine
def note_running(memory: Memory, job: int, end: int) -> None:
    """Add a job to those that run, in the order of their limits, then of Slurm's list of jobs."""
    place = memory.clock.running
    running = memory.running
    while place > 0 and (
        running[0, place - 1] > end
        or (running[0, place - 1] == end and is_listed_before(memory, job, running[1, place - 1]))
    ):
        running[0, place], running[1, place] = running[0, place - 1], running[1, place - 1]
        place -= 1
    running[0, place], running[1, place] = end, job
    memory.clock.running += 1


@routine
def forget_running(memory: Memory, job: int) -> None:
    """Take a job from those that run."""
    running, count, place = memory.running, memory.clock.running, 0
    while place < count and running[1, place] != job:
        place += 1
    for at in range(place, count - 1):
        running[0, at], running[1, at] = running[0, at + 1], running[1, at + 1]
    memory.clock.running = count - 1


@kernel
def touches(state: State, run: int) -> bool:
    """Whether a run has a node among those free of plans."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        if state.memory.sets[Scratch.WINDOW, state.shares.node[entry]] > 0:
            return True
    return False


@kernel
def imagine_ended(state: State, run: int) -> int:
    """Let a run have given back what it holds, in the trial table; nodes free of plans that become idle."""
    trial, idle = state.memory.trial, 0
    state.memory.jobs.gone[state.runs.job[run]] = 1
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        node = hold(state, trial, entry, -1)
        if trial.runs[node] == 0:
            idle += int(state.memory.sets[Scratch.WINDOW, node])  # not a byte, which overflows
    return idle


@kernel
def idle_in_window(state: State) -> int:
    """Nodes free of plans on which nothing runs."""
    idle = 0
    for node in range(state.nodes.shape[1]):
        if state.nodes.runs[node] == 0:
            idle += int(state.memory.sets[Scratch.WINDOW, node])  # not a byte, which overflows
    return idle


@kernel
def copy_nodes(state: State) -> None:
    """Let the trial table be as things are; what nodes have in all it has already."""
    if state.memory.settings.slice > 0:
        for place in range(state.memory.clock.running):
            state.memory.jobs.gone[state.memory.running[1, place]] = 0
    for row in range(Nodes["free_cpus"], state.nodes.shape[0]):
        for node in range(state.nodes.shape[1]):
            state.memory.trial[row, node] = state.nodes[row, node]


@kernel
def start_after(memory: Memory, place: int, now: int) -> int:
    """When a job starts that waits for the end of the running one at a place of the list.

    Where that one is beyond its limit it is guessed.
    """
    end, running = memory.running[0, place], memory.running[1, place]
    if end > now:
        return int(end)
    if memory.settings.linear > 0:
        return int(now + 1)
    over = memory.partitions.over_time[memory.jobs.partition[running]]
    if over == UNSET:
        return int(now + 60 * memory.jobs.length[running])
    return int(max(end + memory.settings.kill_wait + over, now + 1))


@kernel
def imagine_aside(state: State, job: int) -> None:
    """Let a job have given back its cores in the trial table; what else it holds it keeps."""
    memory, run, level = state.memory, state.jobs.run[job], level_in(state.memory, job)
    memory.jobs.gone[job] = 1
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        for word in range(memory.settings.core_words):
            row = NODE_ROWS + row_of(memory, level, word)
            memory.trial[row, state.shares.node[entry]] += cores_of_share(state, entry, level, word)


@routine
def imagine_preempted(state: State, job: int, part: int, now: int, first: int) -> tuple[int, bool]:
    """Let every running job from a place on that a job may preempt be over in the trial table, or suspended:
    these keep their memory. How many nodes become idle, and whether one would be suspended."""
    memory, idle, aside = state.memory, 0, False
    for place in range(first, memory.clock.running):
        running = memory.running[1, place]
        if is_preemptable(memory, job, part, running, now) and shares_partition(state, running, part):
            if victim_mode(memory, running) == Mode.SUSPEND:
                imagine_aside(state, running)
                aside = True
            else:
                idle += imagine_ended(state, state.jobs.run[running])
    return idle, aside


@kernel
def next_staying(state: State, job: int, part: int, now: int, place: int) -> int:
    """The next place of the list of running jobs whose job is not one that the job may preempt."""
    memory = state.memory
    if memory.settings.preemption != Preemption.OFF:
        while place < memory.clock.running:
            running = memory.running[1, place]
            preemptable = is_preemptable(memory, job, part, running, now)
            if not preemptable or not shares_partition(state, running, part):
                break
            place += 1
    return place
