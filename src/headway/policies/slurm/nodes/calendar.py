"""Reservations: what they take from jobs without one, and give to those that are for one.

A job without a reservation may not run into one on its nodes; that is how a machine drains before a
maintenance. Intervals that only touch do not overlap.
"""

from __future__ import annotations

from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.passes import Scratch

NOT_NOW = -1
"""The start of a window that a job does not have."""
MOVES = 11
"""How often a window is moved behind a reservation before it is given up."""


@kernel
def is_known(memory: Memory, which: int, now: int) -> bool:
    """Whether a reservation has been made and is not over."""
    known = memory.reservations.known[which] <= now
    return bool(known and memory.reservations.end[which] > now)


@kernel
def overlaps(memory: Memory, which: int, start: int, end: int) -> bool:
    """Whether a reservation overlaps a stretch of time."""
    begins = memory.reservations.start[which]
    return bool(start < memory.reservations.end[which] and end > begins)


@kernel
def covers(memory: Memory, which: int, part: int) -> bool:
    """Whether every node of a partition is in a reservation."""
    for node in range(memory.nodes.shape[1]):
        if memory.members[part, node] > 0 and memory.reserved[which, node] == 0:
            return False
    return True


@kernel
def own_reservation(memory: Memory, job: int, now: int) -> int:
    """The reservation that a job is for: the first of the name it gives that is not over; UNSET: none."""
    which = memory.jobs.reservation[job]
    while which != UNSET and memory.reservations.end[which] <= now:
        following = memory.reservations.next[which]
        if following == UNSET:
            break
        which = following
    return int(which)


@kernel
def takes_partition(memory: Memory, which: int, part: int) -> bool:
    """Whether nobody of a partition without a reservation may start before this one ends."""
    return bool(
        memory.reservations.all_nodes[which] > 0
        or memory.reservations.partition[which] == part
        or (memory.reservations.maintenance[which] > 0 and covers(memory, which, part))
    )


@kernel
def touches_partition(memory: Memory, which: int, part: int) -> bool:
    """Whether a node of a partition is in a reservation."""
    for node in range(memory.nodes.shape[1]):
        if memory.members[part, node] & memory.reserved[which, node]:
            return True
    return False


@kernel
def leave_out(memory: Memory, which: int) -> None:
    """Take a reservation's nodes from the set ALLOWED."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.ALLOWED, node] &= 1 - memory.reserved[which, node]


@kernel
def allow_all(memory: Memory) -> None:
    """Every node into the set ALLOWED."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.ALLOWED, node] = 1


@routine
def lay_allowed(memory: Memory, job: int, part: int, start: int, minutes: int, now: int) -> int:
    """The nodes that reservations leave to a job from ``start`` on into the set ALLOWED; its first start.

    -1 where it may not be looked at. The start is moved behind a maintenance of the whole partition.
    """
    allow_all(memory)
    mine = own_reservation(memory, job, now)
    if mine != UNSET:
        return lay_reserved(memory, mine, start, minutes, now)
    for _ in range(MOVES):
        behind = 0
        for which in range(memory.reservations.shape[1]):
            if not is_known(memory, which, now) or not overlaps(memory, which, start, start + 60 * minutes):
                continue
            if takes_partition(memory, which, part):
                behind = memory.reservations.end[which]
                break
            leave_out(memory, which)
        if behind == 0:
            return start
        start = behind
        allow_all(memory)
    return NOT_NOW


@kernel
def hinders(memory: Memory, which: int, mine: int) -> bool:
    """Whether a reservation takes nodes from the jobs of another one, ``mine``.

    It does not where that is a maintenance, or may overlap and this is none.
    """
    if which == mine or memory.reservations.maintenance[mine] > 0:
        return False
    maintains = memory.reservations.maintenance[which] > 0
    if memory.reservations.overlaps[mine] > 0 and not maintains:
        return False
    flexible = memory.reservations.flexible[mine] > 0
    for node in range(memory.nodes.shape[1]):
        if memory.reserved[which, node] > 0 and (flexible or memory.reserved[mine, node] > 0):
            return True
    return False


@kernel
def lay_reserved(memory: Memory, mine: int, start: int, minutes: int, now: int) -> int:
    """The nodes of a job's own reservation into the set ALLOWED; -1 outside its time.

    A flexible one lets its jobs run at any time, on any node. What another reservation takes at the time of
    the job is left out.
    """
    if not is_known(memory, mine, now):
        return NOT_NOW
    flexible = memory.reservations.flexible[mine] > 0
    if not flexible:
        begins, ends = (
            memory.reservations.start[mine],
            memory.reservations.end[mine],
        )
        if now < begins or start >= ends:
            return NOT_NOW
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.ALLOWED, node] = 1 if flexible else memory.reserved[mine, node]
    for which in range(memory.reservations.shape[1]):
        if not is_known(memory, which, now) or not overlaps(memory, which, start, start + 60 * minutes):
            continue
        if hinders(memory, which, mine):
            leave_out(memory, which)
    return start


@kernel
def is_taken_from(memory: Memory, job: int, part: int, mine: int) -> bool:
    """Whether others take so much of a job's own reservation, by the set ALLOWED, that it is too small."""
    left, of_all = 0, 0
    for node in range(memory.nodes.shape[1]):
        of_all += memory.members[part, node] & memory.reserved[mine, node]
        left += memory.members[part, node] & memory.sets[Scratch.ALLOWED, node]
    return bool(left < of_all and left < memory.jobs.min_nodes[job])


@routine
def next_reservation_end(memory: Memory, job: int, part: int, start: int, minutes: int, now: int) -> int:
    """When a reservation that takes nodes of the partition, or of the job's own one, may be over, rounded up.

    It is the first end of any reservation; 0 where none takes nodes.
    """
    mine = own_reservation(memory, job, now)
    step, touched, first = memory.settings.bf_resolution, False, 0
    for which in range(memory.reservations.shape[1]):
        if not is_known(memory, which, now):
            continue
        end = memory.reservations.end[which]
        if start <= end and (first == 0 or end < first):
            first = end
        if overlaps(memory, which, start, start + 60 * minutes):
            takes = touches_partition(memory, which, part) if mine == UNSET else hinders(memory, which, mine)
            touched = touched or takes
    return int(-(-first // step) * step) if touched and first > 0 else 0


@kernel
def seconds_left(memory: Memory, job: int, now: int) -> int:
    """Until when a job's reservation lets it run, in seconds from now; a very long time without one.

    Jobs of a flexible reservation, and of one that goes on to its next time, run on when it ends.
    """
    mine = own_reservation(memory, job, now)
    if mine == UNSET or memory.reservations.flexible[mine] > 0:
        return 1 << 40
    if memory.reservations.recurs[mine] > 0:
        return 1 << 40
    over = memory.settings.reservation_over
    return int(max(memory.reservations.end[mine] + over - now, 0))
