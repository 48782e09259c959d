"""Fair share: usage that decays, and how it ranks the users.

Usage is billed seconds, of which a second leaves a little less: ``1 - 0.693 / half-life``. It moves at each
calculation of priorities and when a job ends.
"""

from __future__ import annotations

import math

from headway.engine.tables import Table
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.passes import Rank, Record, SlurmClock
from headway.policies.slurm.tables.settings import Setting, Weight
from headway.policies.slurm.tables.sites import Holder, Partition, Usage

OPEN = -1.0
"""A fair share factor that is found when somebody asks for it."""
SMALLEST = 2.2250738585072014e-308
PARENT = (1 << 31) - 1
"""Shares of an association that has FairShare=parent."""


@kernel
def billed_each_second(memory: Memory, job: int) -> float:
    """What a running job is billed for a second, with fractions: limits count whole numbers of it."""
    part, total, most = memory.jobs[SlurmJob.PARTITION, job], 0.0, 0.0
    for tres in range(memory.billing.shape[1]):
        share = memory.billing[part, tres] * memory.jobs[SlurmJob.HOLDS + tres, job]
        total += share
        most = max(most, share)
    return most if memory.settings[Setting.MAX_TRES] > 0 else total


@kernel
def add_usage(memory: Memory, holder: int, job: int, seconds: float, rate: float) -> None:
    """Charge a holder with so many seconds of a job, billed at a rate."""
    memory.usage[Usage.RAW, holder] += seconds * rate
    memory.usage[Usage.WALL, holder] += seconds
    for tres in range(memory.used.shape[1]):
        memory.used[holder, tres] += seconds * memory.jobs[SlurmJob.HOLDS + tres, job]


@routine
def use(memory: Memory, job: int, until: int) -> None:
    """Charge what a job has run since the last calculation to its association, those above, and its QOS."""
    since = max(memory.jobs[SlurmJob.STARTED, job], memory.jobs[SlurmJob.RESUMED_AT, job])
    seconds = until - max(since, memory.clock[SlurmClock.PRIORITY_LAST])
    if seconds <= 0 or memory.jobs[SlurmJob.SUSPENDED_AT, job] != UNSET:
        return
    decayed = seconds * memory.weights[Weight.DECAY] ** seconds
    of_job = memory.jobs[SlurmJob.QOS, job]
    of_part = memory.partitions[Partition.QOS, memory.jobs[SlurmJob.PARTITION, job]]
    factor = 1.0 if of_job == UNSET else memory.usage[Usage.FACTOR, of_job]
    rate = billed_each_second(memory, job)
    for turn in range(2):
        qos = of_job if turn == 0 else of_part
        if qos != UNSET and (turn == 0 or of_part != of_job):
            kept = memory.holders[Holder.NO_DECAY, qos] > 0
            add_usage(memory, qos, job, (seconds if kept else decayed) * factor, rate)
    holder = memory.jobs[SlurmJob.ASSOCIATION, job]
    while holder != UNSET:
        add_usage(memory, holder, job, decayed * factor, rate)
        holder = memory.holders[Holder.PARENT, holder]


@routine
def decay(memory: Memory, seconds: int) -> None:
    """Let so many seconds pass over all usage."""
    left = max(memory.weights[Weight.DECAY] ** seconds, SMALLEST)
    for holder in range(memory.holders.shape[1]):
        if memory.holders[Holder.NO_DECAY, holder] > 0:
            continue
        memory.usage[Usage.RAW, holder] *= left
        memory.usage[Usage.WALL, holder] *= left
        for tres in range(memory.used.shape[1]):
            memory.used[holder, tres] *= left


@kernel
def forget(memory: Memory) -> None:
    """Let nobody have used anything."""
    for holder in range(memory.holders.shape[1]):
        memory.usage[Usage.RAW, holder] = memory.usage[Usage.WALL, holder] = 0.0
        for tres in range(memory.used.shape[1]):
            memory.used[holder, tres] = 0.0


@kernel
def level_value(memory: Memory, holder: int) -> float:
    """How well an association is served among its siblings: its part of shares over its part of usage."""
    is_user = memory.holders[Holder.IS_USER, holder] > 0
    if memory.holders[Holder.SHARES, holder] == PARENT:
        return math.inf if is_user else -1.0
    share = memory.usage[Usage.SHARES_NORM, holder]
    if share == 0:
        return 0.0
    above = memory.usage[Usage.RAW, memory.holders[Holder.PARENT, holder]]
    used = memory.usage[Usage.RAW, holder] / above if above > 0 else 0.0
    return share / used if used > 0 else math.inf


@kernel
def served_before(memory: Memory, a: int, b: int) -> bool:
    """Whether association ``a`` stands before ``b``: by parent, by level value, users first, as listed."""
    holders, level = memory.holders, memory.usage
    if holders[Holder.PARENT, a] != holders[Holder.PARENT, b]:
        return bool(holders[Holder.PARENT, a] < holders[Holder.PARENT, b])
    if level[Usage.LEVEL, a] != level[Usage.LEVEL, b]:
        return bool(level[Usage.LEVEL, a] > level[Usage.LEVEL, b])
    if holders[Holder.IS_USER, a] != holders[Holder.IS_USER, b]:
        return bool(holders[Holder.IS_USER, a] > holders[Holder.IS_USER, b])
    return a < b


@routine
def sort_children(memory: Memory) -> None:
    """Order the associations within each parent; most stand as they did before."""
    first, ranks = memory.settings[Setting.QOS], memory.ranks
    count = memory.holders.shape[1] - first
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            mine, place = ranks[Rank.ORDER, at], at
            while place >= gap and served_before(memory, mine, ranks[Rank.ORDER, place - gap]):
                ranks[Rank.ORDER, place] = ranks[Rank.ORDER, place - gap]
                place -= gap
            ranks[Rank.ORDER, place] = mine
        gap //= 3
    for holder in range(count):
        ranks[Rank.COUNT, holder] = 0
    for at in range(count):
        parent = memory.holders[Holder.PARENT, ranks[Rank.ORDER, at]] - first
        if parent >= 0:
            if ranks[Rank.COUNT, parent] == 0:
                ranks[Rank.FIRST, parent] = at
            ranks[Rank.COUNT, parent] += 1


@routine
def fair_tree(memory: Memory) -> None:
    """Rank all users from the root down; the factor of a user is the rank over the number of users.

    An account that is tied with the one before it passes that on to its first child, as Slurm's code does.
    """
    first, ranks, holders = memory.settings[Setting.QOS], memory.ranks, memory.holders
    users = 0
    for holder in range(first, holders.shape[1]):
        users += holders[Holder.IS_USER, holder]
        if holders[Holder.PARENT, holder] != UNSET:
            memory.usage[Usage.LEVEL, holder] = level_value(memory, holder)
    if users == 0:
        return
    sort_children(memory)
    rank = left = users
    here, ranks[Rank.NEXT, 0], ranks[Rank.TIED, 0] = 0, 0, 0
    while here >= 0:
        k = ranks[Rank.NEXT, here]
        if k == ranks[Rank.COUNT, here]:
            above = holders[Holder.PARENT, first + here]
            here = -1 if above == UNSET else above - first
            continue
        ranks[Rank.NEXT, here] = k + 1
        at = ranks[Rank.FIRST, here] + k
        child = ranks[Rank.ORDER, at]
        if k == 0:
            tied = ranks[Rank.TIED, here] > 0
        else:
            tied = memory.usage[Usage.LEVEL, child] == memory.usage[Usage.LEVEL, ranks[Rank.ORDER, at - 1]]
        if holders[Holder.IS_USER, child] > 0:
            if not tied:
                rank = left
            memory.usage[Usage.FAIRSHARE, child] = rank / users
            left -= 1
        else:
            here = child - first
            ranks[Rank.NEXT, here] = 0
            ranks[Rank.TIED, here] = int(tied)


@routine
def classic(memory: Memory) -> None:
    """Two to the minus effective usage over shares; accounts pass usage down by shares.

    Accounts stand as they did before this calculation. What users have is left open until somebody asks for
    it (:func:`fair_share`): then their own usage of that moment counts.
    """
    first, holders = memory.settings[Setting.QOS], memory.holders
    for holder in range(first + 1, holders.shape[1]):
        if holders[Holder.IS_USER, holder] > 0 and holders[Holder.SHARES, holder] != PARENT:
            memory.usage[Usage.FAIRSHARE, holder] = OPEN
        else:
            weigh(memory, holder)


@kernel
def sort_part(table: Table, row: int, begin: int, end: int) -> None:
    """Put the numbers at some places of a row in ascending order."""
    gap = 1
    while gap < (end - begin) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(begin + gap, end):
            mine, place = table[row, at], at
            while place >= begin + gap and table[row, place - gap] > mine:
                table[row, place] = table[row, place - gap]
                place -= gap
            table[row, place] = mine
        gap //= 3


@kernel
def note_first_waiting(memory: Memory) -> None:
    """Lay the first job that waits of each association into the row FIRST."""
    first, ranks = memory.settings[Setting.QOS], memory.ranks
    for association in range(ranks.shape[1]):
        ranks[Rank.FIRST, association] = UNSET
    for place in range(memory.clock[SlurmClock.QUEUED]):
        job = memory.queue[Record.JOB, place]
        user = memory.jobs[SlurmJob.ASSOCIATION, job] - first
        if user >= 0 and (ranks[Rank.FIRST, user] == UNSET or job < ranks[Rank.FIRST, user]):
            ranks[Rank.FIRST, user] = job


@routine
def use_in_order(memory: Memory, until: int) -> None:
    """Charge running jobs with what they used, in the order of submission, with those who wait among them.

    A user's factor is found when the first of their jobs that wait comes up: what jobs behind it have used
    since the last calculation counts in the next one. The free end of the queue's table has the order, of
    each job its number twice, one more where it runs.
    """
    queue, begin, end = memory.queue, memory.clock[SlurmClock.QUEUED], memory.clock[SlurmClock.QUEUED]
    note_first_waiting(memory)
    for association in range(memory.ranks.shape[1]):
        if memory.ranks[Rank.FIRST, association] != UNSET:
            queue[Record.JOB, end] = 2 * memory.ranks[Rank.FIRST, association]
            end += 1
    for place in range(memory.clock[SlurmClock.RUNNING]):
        queue[Record.JOB, end] = 2 * memory.running[1, place] + 1
        end += 1
    sort_part(queue, Record.JOB, begin, end)
    for place in range(begin, end):
        job = queue[Record.JOB, place] // 2
        if queue[Record.JOB, place] % 2 > 0:
            use(memory, job, until)
        else:
            fair_share(memory, memory.jobs[SlurmJob.ASSOCIATION, job])


@kernel
def fair_share(memory: Memory, user: int) -> float:
    """The fair share factor of a user."""
    if memory.usage[Usage.FAIRSHARE, user] == OPEN:
        weigh(memory, user)
    return float(memory.usage[Usage.FAIRSHARE, user])


@routine
def weigh(memory: Memory, holder: int) -> None:
    """Set the effective usage and the fair share factor of an association by those of its parent."""
    first, usage, parent = memory.settings[Setting.QOS], memory.usage, memory.holders[Holder.PARENT, holder]
    used, above = used_of_all(memory, holder), usage[Usage.SHARES_PRODUCT, parent]
    if memory.holders[Holder.SHARES, holder] == PARENT:
        shares, effective = above, usage[Usage.EFFECTIVE, parent]
    else:
        share = usage[Usage.SHARES_NORM, holder]
        shares, effective = above * share, used
        if parent != first and memory.settings[Setting.DEPTH_OBLIVIOUS] > 0:
            effective = oblivious(memory, holder, used, shares)
        elif parent != first:
            effective = used + (usage[Usage.EFFECTIVE, parent] - used) * share
    usage[Usage.SHARES_PRODUCT, holder], usage[Usage.EFFECTIVE, holder] = shares, effective
    ratio = effective / shares if shares > 0 else 0.0
    usage[Usage.FAIRSHARE, holder] = 2.0 ** -(ratio / memory.weights[Weight.DAMPENING]) if shares > 0 else 0.0


@kernel
def used_of_all(memory: Memory, holder: int) -> float:
    """The usage of an association, of that of the whole tree."""
    total = memory.usage[Usage.RAW, memory.settings[Setting.QOS]]
    return float(min(memory.usage[Usage.RAW, holder] / total, 1.0)) if total > 0 else 0.0


@routine
def oblivious(memory: Memory, holder: int, used: float, shares: float) -> float:
    """Effective usage with PriorityFlags=DEPTH_OBLIVIOUS: how well the parent is served, times how well the
    association is among its siblings; that counts less where it would make up for the parent."""
    parent, siblings = memory.holders[Holder.PARENT, holder], 0.0
    above, effective = memory.usage[Usage.SHARES_PRODUCT, parent], memory.usage[Usage.EFFECTIVE, parent]
    if shares == 0 or above == 0 or effective == 0 or used == 0:
        return used
    for other in range(memory.settings[Setting.QOS], memory.holders.shape[1]):
        if memory.holders[Holder.PARENT, other] == parent and memory.holders[Holder.SHARES, other] != PARENT:
            siblings += used_of_all(memory, other)
    of_parent, of_level = effective / above, (used / shares) / (siblings / above)
    counts = 1.0
    if math.log(of_parent) * math.log(of_level) < 0:
        counts = 1 / (1 + (5 * math.log(of_parent)) ** 2)
    return float(of_parent * of_level**counts * shares)
