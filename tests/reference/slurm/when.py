"""When and where a job could run, section 5.4: job ends imagined in groups that widen with time."""

from __future__ import annotations

from collections.abc import Sequence

from .machine import Allocation, Job, Machine, Partition
from .select import select
from .usage import Usage


def when_and_where(
    machine: Machine,
    job: Job,
    partition: Partition,
    candidates: int,
    running: Sequence[Allocation],
    usage: Usage,
    now: int,
    weights: list[int],
    *,
    now_only: bool = False,
    preemptable: Sequence[Allocation] = (),
) -> tuple[int, int] | None:
    """The start found and the nodes, or None.

    `running` is in the order of Slurm's list of jobs and uses `usage`.  The start is the limit of the last
    job of the group whose ends make room, though an earlier end of that group may have been enough.
    """
    found = select(machine, job, partition, candidates, usage, weights)
    if found is not None:
        return now, sum(1 << i for i in found)
    usage = usage.copy()
    staying = list(running)
    if preemptable:
        for held in preemptable:
            aside = machine.settings.gang and machine.partitions[held.partition].preempt_mode == "SUSPEND"
            usage.remove(held, keep_memory=aside)
        found = select(machine, job, partition, candidates, usage, weights)
        if found is not None:
            return now, sum(1 << i for i in found)
        staying = [held for held in running if all(held is not victim for victim in preemptable)]
    if now_only:
        return None
    return first_group(machine, job, partition, candidates, staying, usage, now, weights)


def first_group(
    machine: Machine,
    job: Job,
    partition: Partition,
    candidates: int,
    staying: Sequence[Allocation],
    usage: Usage,
    now: int,
    weights: list[int],
) -> tuple[int, int] | None:
    ends = sorted(staying, key=lambda held: held.end)
    width = 30
    anchor = 0
    position = 0
    while position < len(ends):
        last: Allocation | None = None
        following: Allocation | None = None
        taken = 0
        too_many = False
        while position < len(ends):
            held = ends[position]
            position += 1
            if not held.nodes & candidates:
                continue
            if not anchor:
                anchor = held.end + 30 - held.end % 30
            last = held
            usage.remove(held)
            following = ends[position] if position < len(ends) else None
            if following is None or following.end > anchor + width:
                break
            taken += 1
            if taken > 201:
                too_many = True
                break
        if last is None:
            return None
        if too_many:
            continue
        while True:
            width += machine.settings.bf_window_linear or width
            if following is None or following.end <= anchor + width:
                break
        found = select(machine, job, partition, candidates, usage, weights)
        if found is not None:
            return start_after(machine, last, now), sum(1 << i for i in found)
    return None


def start_after(machine: Machine, last: Allocation, now: int) -> int:
    """The end of the last job of the group; for one already past its limit, a guess."""
    if last.end > now:
        return last.end
    settings = machine.settings
    return max(last.end + settings.kill_wait + 60 * settings.over_time_limit, now + 1)
