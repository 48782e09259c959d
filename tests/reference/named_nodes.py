"""EASY and conservative backfilling on named nodes, in order of arrival.

Decisions.  At each event the waiting jobs are looked at in order of arrival.  A job that fits now, beside the
reservations made so far, starts.  Else, while fewer than ``depth`` jobs have one, it gets a reservation: the
first end of a running job (by its walltime) or of a reservation at which it fits.  It fits at s if at every
instant from s to s + walltime its nodes have what it takes, beside running jobs and reservations; which nodes
is Slurm's best fit on the most that is in use of each node in that time.  All reservations are made anew at
the next event.
"""

from __future__ import annotations

from collections.abc import Sequence

from .slurm.machine import Allocation, Job, Machine, node_set
from .slurm.select import plain_weight, select
from .slurm.state import memory_of
from .slurm.usage import Usage

Placed = dict[int, tuple[int, dict[int, int]]]
"""Start and CPUs of each node, by job."""


def most_in_use(machine: Machine, held: Sequence[Allocation], begin: int, end: int) -> Usage:
    """What is in use at the busiest instant of a time, of each node by itself."""
    instants = {begin} | {one.start for one in held if begin < one.start < end}
    most = Usage(machine)
    for t in instants:
        then = Usage(machine, [one for one in held if one.start <= t < one.end])
        for total, used in ((most.cpus, then.cpus), (most.memory, then.memory), (most.gpus, then.gpus)):
            total[:] = [max(pair) for pair in zip(total, used, strict=True)]
    return most


def simulate_on_nodes(machine: Machine, wishes: Sequence[tuple[Job, int]], depth: int) -> Placed:
    """Jobs with their run times, in order of arrival; limits of jobs are seconds here."""
    queue: list[Job] = []
    running: list[tuple[int, Allocation]] = []
    coming = list(wishes)
    runtime = {job.id: min(length, job.limit) for job, length in wishes}
    placed: Placed = {}

    def placed_at(job: Job, t: int, held: Sequence[Allocation]) -> Allocation | None:
        partition = machine.partitions[job.partitions[0]]
        candidates = partition.nodes & node_set(
            i for i, node in enumerate(machine.nodes) if job.features <= node.features
        )
        usage = most_in_use(machine, held, t, t + job.limit)
        weights = [plain_weight(machine, i) for i in range(len(machine.nodes))]
        cpus = select(machine, job, partition, candidates, usage, weights)
        if cpus is None:
            return None
        memory = memory_of(machine, job, cpus)
        return Allocation(job, partition.name, node_set(cpus), cpus, memory, t, t + job.limit)

    def schedule(t: int) -> None:
        reserved: list[Allocation] = []
        for job in list(queue):
            held = [one for _, one in running] + reserved
            now = placed_at(job, t, held)
            if now is not None:
                queue.remove(job)
                running.append((t + runtime[job.id], now))
                placed[job.id] = (t, now.cpus)
                continue
            if len(reserved) == depth:
                continue
            for end in sorted({one.end for one in held}):
                later = placed_at(job, end, held)
                if later is not None:
                    reserved.append(later)
                    break

    while coming or running:
        t = min([job.submit for job, _ in coming[:1]] + [end for end, _ in running])
        running = [(end, one) for end, one in running if end > t]
        while coming and coming[0][0].submit == t:
            queue.append(coming.pop(0)[0])
        schedule(t)
    assert not queue
    return placed
