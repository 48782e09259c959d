"""When and where a job could run, section 5.4: job ends imagined in groups that widen with time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .machine import Allocation, Job, Machine, Partition, members
from .select import COMPLETING, plain_weight, select
from .usage import Usage


@dataclass(frozen=True)
class Window:
    """From when on a start is looked for, and when the next window begins (0: there is none)."""

    start: int
    later: int


def when_and_where(
    machine: Machine,
    job: Job,
    partition: Partition,
    candidates: int,
    running: Sequence[Allocation],
    usage: Usage,
    now: int,
    weights: list[int],
    window: Window,
    *,
    completing: int = 0,
    now_only: bool = False,
    preemptable: Sequence[Allocation] = (),
) -> tuple[int, int] | None:
    """The start found and the nodes, or None.

    `running` is in the order of Slurm's list of jobs and uses `usage`.  The start is the limit of the last
    job of the group whose ends make room, though an earlier end of that group may have been enough.

    Since 24.11 "now" is tried in the window that begins now only, jobs that end before a window are gone in
    it, and no end after the next window's begin is looked at.
    """
    by_window = machine.settings.since(24, 11)
    if not by_window or window.start <= now:
        weigh(machine, weights, completing)
        found = select(machine, job, partition, candidates, usage, weights)
        if found is not None:
            return now, sum(1 << i for i in found)
        if by_window and now_only and not preemptable:
            return None
    elif now_only:
        return None
    weigh(machine, weights, 0)
    usage = usage.copy()
    staying = list(running)
    if by_window:
        reached = window.start if machine.settings.since(25, 5) else window.start - 1
        for held in [held for held in staying if held.end <= reached]:
            usage.remove(held)
            staying.remove(held)
    preemptable = [held for held in preemptable if any(held is other for other in staying)]
    if preemptable or by_window:
        for held in preemptable:
            aside = machine.settings.gang and machine.partitions[held.partition].preempt_mode == "SUSPEND"
            usage.remove(held, keep_memory=aside)
        found = select(machine, job, partition, candidates, usage, weights)
        if found is not None:
            return now, sum(1 << i for i in found)
        staying = [held for held in staying if all(held is not victim for victim in preemptable)]
    if now_only:
        return None
    if by_window and window.later:
        staying = [held for held in staying if held.end <= window.later]
    return first_group(machine, job, partition, candidates, staying, usage, now, weights)


def weigh(machine: Machine, weights: list[int], completing: int) -> None:
    """Every test sets the weights of nodes anew (since 23.11)."""
    if machine.settings.since(23, 11):
        weights[:] = [plain_weight(machine, i) & ~0xFF for i in range(len(machine.nodes))]
        for i in members(completing):
            weights[i] |= COMPLETING


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
            nodes = sum(1 << i for i in found)
            if machine.settings.since(25, 5, 1):
                last = next((held for held in reversed(ends[:position]) if held.nodes & nodes), last)
            return start_after(machine, last, now), nodes
    return None


def start_after(machine: Machine, last: Allocation, now: int) -> int:
    """The end of the last job of the group, since 25.05.1 of the last with a chosen node; for one already
    past its limit, a guess."""
    if last.end > now:
        return last.end
    settings = machine.settings
    return max(last.end + settings.kill_wait + 60 * settings.over_time_limit, now + 1)
