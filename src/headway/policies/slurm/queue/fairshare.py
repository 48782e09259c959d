"""Fair share: usage that decays, and how it ranks the users.

Usage is billed seconds, of which a second leaves a little less: ``1 - 0.693 / half-life``. It moves at each
calculation of priorities and when a job ends.
"""

from __future__ import annotations

import math

from headway.engine.tables import Table
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.passes import Records

OPEN = -1.0
"""A fair share factor that is found when somebody asks for it."""
SMALLEST = 2.2250738585072014e-308
PARENT = (1 << 31) - 1
"""Shares of an association that has FairShare=parent."""


@kernel
def billed_each_second(memory: Memory, job: int) -> float:
    """What a running job is billed for a second, with fractions: limits count whole numbers of it."""
    part, total, most = memory.jobs.partition[job], 0.0, 0.0
    for tres in range(memory.billing.shape[1]):
        share = memory.billing[part, tres] * memory.jobs[SlurmJobs["holds"] + tres, job]
        total += share
        most = max(most, share)
    return most if memory.settings.max_tres > 0 else total


@kernel
def add_usage(memory: Memory, holder: int, job: int, seconds: float, rate: float) -> None:
    """Charge a holder with so many seconds of a job, billed at a rate."""
    memory.usage.raw[holder] += seconds * rate
    memory.usage.wall[holder] += seconds
    for tres in range(memory.used.shape[1]):
        memory.used[holder, tres] += seconds * memory.jobs[SlurmJobs["holds"] + tres, job]


@routine
def use(memory: Memory, job: int, until: int) -> None:
    """Charge what a job has run since the last calculation to its association, those above, and its QOS."""
    since = max(memory.jobs.started[job], memory.jobs.resumed_at[job])
    seconds = until - max(since, memory.clock.priority_last)
    if seconds <= 0 or memory.jobs.suspended_at[job] != UNSET:
        return
    decayed = seconds * memory.weights.decay**seconds
    of_job = memory.jobs.qos[job]
    of_part = memory.partitions.qos[memory.jobs.partition[job]]
    factor = 1.0 if of_job == UNSET else memory.usage.factor[of_job]
    rate = billed_each_second(memory, job)
    for turn in range(2):
        qos = of_job if turn == 0 else of_part
        if qos != UNSET and (turn == 0 or of_part != of_job):
            kept = memory.holders.no_decay[qos] > 0
            add_usage(memory, qos, job, (seconds if kept else decayed) * factor, rate)
    holder = memory.jobs.association[job]
    while holder != UNSET:
        add_usage(memory, holder, job, decayed * factor, rate)
        holder = memory.holders.parent[holder]


@routine
def decay(memory: Memory, seconds: int) -> None:
    """Let so many seconds pass over all usage."""
    left = max(memory.weights.decay**seconds, SMALLEST)
    for holder in range(memory.holders.shape[1]):
        if memory.holders.no_decay[holder] > 0:
            continue
        memory.usage.raw[holder] *= left
        memory.usage.wall[holder] *= left
        for tres in range(memory.used.shape[1]):
            memory.used[holder, tres] *= left


@kernel
def forget(memory: Memory) -> None:
    """Let nobody have used anything."""
    for holder in range(memory.holders.shape[1]):
        memory.usage.raw[holder] = memory.usage.wall[holder] = 0.0
        for tres in range(memory.used.shape[1]):
            memory.used[holder, tres] = 0.0


@kernel
def level_value(memory: Memory, holder: int) -> float:
    """How well an association is served among its siblings: its part of shares over its part of usage."""
    is_user = memory.holders.is_user[holder] > 0
    if memory.holders.shares[holder] == PARENT:
        return math.inf if is_user else -1.0
    share = memory.usage.shares_norm[holder]
    if share == 0:
        return 0.0
    above = memory.usage.raw[memory.holders.parent[holder]]
    used = memory.usage.raw[holder] / above if above > 0 else 0.0
    return share / used if used > 0 else math.inf


@kernel
def served_before(memory: Memory, a: int, b: int) -> bool:
    """Whether association ``a`` stands before ``b``: by parent, by level value, users first, as listed."""
    holders, level = memory.holders, memory.usage
    if holders.parent[a] != holders.parent[b]:
        return bool(holders.parent[a] < holders.parent[b])
    if level.level[a] != level.level[b]:
        return bool(level.level[a] > level.level[b])
    if holders.is_user[a] != holders.is_user[b]:
        return bool(holders.is_user[a] > holders.is_user[b])
    return a < b


@routine
def sort_children(memory: Memory) -> None:
    """Order the associations within each parent; most stand as they did before."""
    first, ranks = memory.settings.qos, memory.ranks
    count = memory.holders.shape[1] - first
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            mine, place = ranks.order[at], at
            while place >= gap and served_before(memory, mine, ranks.order[place - gap]):
                ranks.order[place] = ranks.order[place - gap]
                place -= gap
            ranks.order[place] = mine
        gap //= 3
    for holder in range(count):
        ranks.count[holder] = 0
    for at in range(count):
        parent = memory.holders.parent[ranks.order[at]] - first
        if parent >= 0:
            if ranks.count[parent] == 0:
                ranks.first[parent] = at
            ranks.count[parent] += 1


@routine
def fair_tree(memory: Memory) -> None:
    """Rank all users from the root down; the factor of a user is the rank over the number of users.

    An account that is tied with the one before it passes that on to its first child, as Slurm's code does.
    """
    first, ranks, holders = memory.settings.qos, memory.ranks, memory.holders
    users = 0
    for holder in range(first, holders.shape[1]):
        users += holders.is_user[holder]
        if holders.parent[holder] != UNSET:
            memory.usage.level[holder] = level_value(memory, holder)
    if users == 0:
        return
    sort_children(memory)
    rank = left = users
    here, ranks.next[0], ranks.tied[0] = 0, 0, 0
    while here >= 0:
        k = ranks.next[here]
        if k == ranks.count[here]:
            above = holders.parent[first + here]
            here = -1 if above == UNSET else above - first
            continue
        ranks.next[here] = k + 1
        at = ranks.first[here] + k
        child = ranks.order[at]
        if k == 0:
            tied = ranks.tied[here] > 0
        else:
            tied = memory.usage.level[child] == memory.usage.level[ranks.order[at - 1]]
        if holders.is_user[child] > 0:
            if not tied:
                rank = left
            memory.usage.fairshare[child] = rank / users
            left -= 1
        else:
            here = child - first
            ranks.next[here] = 0
            ranks.tied[here] = int(tied)


@routine
def classic(memory: Memory) -> None:
    """Two to the minus effective usage over shares; accounts pass usage down by shares.

    Accounts stand as they did before this calculation. What users have is left open until somebody asks for
    it (:func:`fair_share`): then their own usage of that moment counts.
    """
    first, holders = memory.settings.qos, memory.holders
    for holder in range(first + 1, holders.shape[1]):
        if holders.is_user[holder] > 0 and holders.shares[holder] != PARENT:
            memory.usage.fairshare[holder] = OPEN
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
    first, ranks = memory.settings.qos, memory.ranks
    for association in range(ranks.shape[1]):
        ranks.first[association] = UNSET
    for place in range(memory.clock.queued):
        job = memory.queue.job[place]
        user = memory.jobs.association[job] - first
        if user >= 0 and (ranks.first[user] == UNSET or job < ranks.first[user]):
            ranks.first[user] = job


@routine
def use_in_order(memory: Memory, until: int) -> None:
    """Charge running jobs with what they used, in the order of submission, with those who wait among them.

    A user's factor is found when the first of their jobs that wait comes up: what jobs behind it have used
    since the last calculation counts in the next one. The free end of the queue's table has the order, of
    each job its number twice, one more where it runs.
    """
    queue, begin, end = memory.queue, memory.clock.queued, memory.clock.queued
    note_first_waiting(memory)
    for association in range(memory.ranks.shape[1]):
        if memory.ranks.first[association] != UNSET:
            queue.job[end] = 2 * memory.ranks.first[association]
            end += 1
    for place in range(memory.clock.running):
        queue.job[end] = 2 * memory.running[1, place] + 1
        end += 1
    sort_part(queue.table, Records["job"], begin, end)
    for place in range(begin, end):
        job = queue.job[place] // 2
        if queue.job[place] % 2 > 0:
            use(memory, job, until)
        else:
            fair_share(memory, memory.jobs.association[job])


@kernel
def fair_share(memory: Memory, user: int) -> float:
    """The fair share factor of a user."""
    if memory.usage.fairshare[user] == OPEN:
        weigh(memory, user)
    return float(memory.usage.fairshare[user])


@routine
def weigh(memory: Memory, holder: int) -> None:
    """Set the effective usage and the fair share factor of an association by those of its parent."""
    first, usage, parent = memory.settings.qos, memory.usage, memory.holders.parent[holder]
    used, above = used_of_all(memory, holder), usage.shares_product[parent]
    if memory.holders.shares[holder] == PARENT:
        shares, effective = above, usage.effective[parent]
    else:
        share = usage.shares_norm[holder]
        shares, effective = above * share, used
        if parent != first and memory.settings.depth_oblivious > 0:
            effective = oblivious(memory, holder, used, shares)
        elif parent != first:
            effective = used + (usage.effective[parent] - used) * share
    usage.shares_product[holder], usage.effective[holder] = shares, effective
    ratio = effective / shares if shares > 0 else 0.0
    usage.fairshare[holder] = 2.0 ** -(ratio / memory.weights.dampening) if shares > 0 else 0.0


@kernel
def used_of_all(memory: Memory, holder: int) -> float:
    """The usage of an association, of that of the whole tree."""
    total = memory.usage.raw[memory.settings.qos]
    return float(min(memory.usage.raw[holder] / total, 1.0)) if total > 0 else 0.0


@routine
def oblivious(memory: Memory, holder: int, used: float, shares: float) -> float:
    """Effective usage with PriorityFlags=DEPTH_OBLIVIOUS: how well the parent is served, times how well the
    association is among its siblings; that counts less where it would make up for the parent."""
    parent, siblings = memory.holders.parent[holder], 0.0
    above, effective = memory.usage.shares_product[parent], memory.usage.effective[parent]
    if shares == 0 or above == 0 or effective == 0 or used == 0:
        return used
    for other in range(memory.settings.qos, memory.holders.shape[1]):
        if memory.holders.parent[other] == parent and memory.holders.shares[other] != PARENT:
            siblings += used_of_all(memory, other)
    of_parent, of_level = effective / above, (used / shares) / (siblings / above)
    counts = 1.0
    if math.log(of_parent) * math.log(of_level) < 0:
        counts = 1 / (1 + (5 * math.log(of_parent)) ** 2)
    return float(of_parent * of_level**counts * shares)
