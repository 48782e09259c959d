"""Limits of QOS and associations: what may hold a job back although enough nodes are free for it.

For each limit the partition's QOS decides if it sets it, then the job's QOS (the other way round where that
one says so); where neither does, the job's association, and for limits of a group every account above it.
"""

from __future__ import annotations

from enum import IntEnum

from headway.engine.shares import end_of_shares
from headway.engine.tables import State
from headway.jit.kernels import kernel, routine
from headway.policies.slurm.nodes.offers import memory_asked, whole_nodes
from headway.policies.slurm.queue.caps import cap_of, first_qos, qos_cap, qos_value, second_qos
from headway.policies.slurm.queue.queue import minutes_in
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.slurm.tables.reasons import RESOURCE, Reason
from headway.policies.slurm.tables.sites import Cap, Holders, Tres

MINUTE = 60
IN_TURN = tuple(
    int(kind)
    for kind in (
        Cap.GRP_MINS,
        Cap.GRP,
        Cap.GRP_RUN_MINS,
        Cap.MAX_MINS_JOB,
        Cap.MAX_JOB,
        Cap.MAX_NODE,
        Cap.MIN_JOB,
        Cap.MAX_ACCOUNT,
        Cap.MAX_USER,
    )
)
"""Limits in the order in which Slurm asks for them: the first that a job breaks is why it waits."""


@kernel
def user_row(memory: Memory, qos: int, job: int) -> int:
    """Where the table has what the job's user holds under a QOS."""
    return int(qos * memory.settings.users + memory.jobs.user[job])


@kernel
def account_row(memory: Memory, qos: int, job: int) -> int:
    """Where the table has what the job's account holds under a QOS."""
    return int(qos * memory.settings.accounts + memory.jobs.account[job])


@kernel
def wall_full(memory: Memory, holder: int, minutes: int) -> bool:
    """Whether a group has used up its wall time, or a job would use more than is left where that counts."""
    bound = memory.holders.grp_wall[holder]
    if bound == UNSET:
        return False
    used = int(memory.usage.wall[holder]) // MINUTE
    return bool(used >= bound or (memory.settings.safe > 0 and used + minutes > bound))


@kernel
def limited_minutes(memory: Memory, job: int, part: int) -> int:
    """The minutes of a job that limits count: by the factor of its QOS where that is UsageFactorSafe."""
    minutes, qos = minutes_in(memory, job, part), memory.jobs.qos[job]
    return minutes if qos == UNSET else int(minutes * memory.usage.limit_factor[qos])


@routine
def before_selection(memory: Memory, job: int, part: int) -> int:
    """The limit that keeps a job from being tried at all (:class:`Reason`), 0 where none does."""
    if memory.settings.enforce == 0:
        return Reason.NONE
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    holders, last = memory.holders, memory.users.shape[1] - 1
    minutes = limited_minutes(memory, job, part)
    qos = qos_value(memory, first, second, Holders["grp_jobs"])
    if qos != UNSET and holders.running[qos] >= holders.grp_jobs[qos]:
        return Reason.QOS_JOB_LIMIT
    group_jobs_set = qos != UNSET
    qos = qos_value(memory, first, second, Holders["grp_wall"])
    group_wall_set = qos != UNSET
    if group_wall_set and wall_full(memory, qos, minutes):
        return Reason.QOS_GRP_WALL
    qos = qos_value(memory, first, second, Holders["max_jobs_account"])
    jobs_set = qos != UNSET
    if jobs_set:
        bound = holders.max_jobs_account[qos]
        if memory.accounts[account_row(memory, qos, job), last] >= bound:
            return Reason.QOS_MAX_JOBS_ACCOUNT
    qos = qos_value(memory, first, second, Holders["max_jobs_user"])
    jobs_set = jobs_set or qos != UNSET
    if qos != UNSET and memory.users[user_row(memory, qos, job), last] >= holders.max_jobs_user[qos]:
        return Reason.QOS_MAX_JOBS_USER
    qos = qos_value(memory, first, second, Holders["max_wall"])
    wall_set = qos != UNSET
    if wall_set and minutes > holders.max_wall[qos]:
        return Reason.QOS_WALL
    user = memory.jobs.association[job]
    if user != UNSET:
        bound = holders.max_jobs[user]
        if not jobs_set and bound != UNSET and holders.running[user] >= bound:
            return Reason.ASSOC_MAX_JOBS
        bound = holders.max_wall[user]
        if not wall_set and bound != UNSET and minutes > bound:
            return Reason.ASSOC_MAX_WALL
    holder = user
    while holder != UNSET:
        bound = holders.grp_jobs[holder]
        if not group_jobs_set and bound != UNSET and holders.running[holder] >= bound:
            return Reason.ASSOC_GRP_JOBS
        if not group_wall_set and wall_full(memory, holder, minutes):
            return Reason.ASSOC_GRP_WALL
        holder = holders.parent[holder]
    return Reason.NONE


@kernel
def usage_factor(memory: Memory, job: int) -> float:
    """What a second of a job counts: the UsageFactor of its QOS."""
    qos = memory.jobs.qos[job]
    return 1.0 if qos == UNSET else memory.usage.factor[qos]


@routine
def reserved(memory: Memory, holder: int, tres: int) -> int:
    """Seconds of a resource that running jobs of a group may still take, as last calculated."""
    total, group = 0, Group.QOS if holder < memory.settings.qos else Group.ASSOCIATION
    for place in range(memory.clock.running):
        job = memory.running[1, place]
        if is_of(memory, group, holder, job, job):
            since = max(memory.clock.priority_last, memory.jobs.started[job])
            left = max(memory.jobs.ends[job] - since, 0) * usage_factor(memory, job)
            total += int(left) * count_of(memory, job, tres)
    return total


@kernel
def count_of(memory: Memory, job: int, tres: int) -> int:
    """How much of a resource a running job holds."""
    return int(memory.jobs[SlurmJobs["holds"] + tres, job])


class Group(IntEnum):
    """Whose running jobs are counted together."""

    QOS = 0
    USER = 1
    """Of a QOS."""
    ACCOUNT = 2
    """Of a QOS."""
    ASSOCIATION = 3


@kernel
def is_of(memory: Memory, group: int, holder: int, job: int, other: int) -> bool:
    """Whether another running job is counted with a job: under the QOS or association ``holder``."""
    if group == Group.ASSOCIATION:
        above = memory.jobs.association[other]
        while above != UNSET and above != holder:
            above = memory.holders.parent[above]
        return bool(above == holder)
    of_part = memory.partitions.qos[memory.jobs.partition[other]]
    if memory.jobs.qos[other] != holder and of_part != holder:
        return False
    if group == Group.USER:
        return bool(memory.jobs.user[other] == memory.jobs.user[job])
    if group == Group.ACCOUNT:
        return bool(memory.jobs.account[other] == memory.jobs.account[job])
    return True


@kernel
def hold_none(memory: Memory) -> None:
    """Empty the set HELD."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[Scratch.HELD, node] = 0


@kernel
def lay_held(state: State, group: int, holder: int, job: int) -> None:
    """The nodes that other running jobs counted with a job hold into the set HELD."""
    hold_none(state.memory)
    add_held(state, group, holder, job)


@kernel
def add_held(state: State, group: int, holder: int, job: int) -> None:
    """Add the nodes that other running jobs counted with a job hold to the set HELD."""
    memory = state.memory
    for place in range(memory.clock.running):
        other = memory.running[1, place]
        if other != job and is_of(memory, group, holder, job, other):
            run = state.jobs.run[other]
            for entry in range(state.runs.share[run], end_of_shares(state, run)):
                memory.sets[Scratch.HELD, state.shares.node[entry]] = 1


@routine
def lay_counted(state: State, job: int, part: int) -> None:
    """Lay the nodes that count for a job already, under limits on nodes that decide, into the set HELD."""
    memory = state.memory
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    hold_none(memory)
    for group in range(Group.ASSOCIATION):
        kind = Cap.MAX_USER if group == Group.USER else Cap.MAX_ACCOUNT if group == Group.ACCOUNT else Cap.GRP
        qos = qos_cap(memory, kind, first, second, Tres.NODE)
        if qos != UNSET:
            add_held(state, group, qos, job)
    holder = memory.jobs.association[job]
    if qos_cap(memory, Cap.GRP, first, second, Tres.NODE) != UNSET:
        return
    while holder != UNSET and cap_of(memory, Cap.GRP, holder, Tres.NODE) == UNSET:
        holder = memory.holders.parent[holder]
    if holder != UNSET:
        add_held(state, Group.ASSOCIATION, holder, job)


@kernel
def nodes_besides(state: State, group: int, holder: int, job: int) -> int:
    """Nodes of a running job that no other counted with it holds: a node counts once, whoever shares it."""
    if state.memory.settings.limits_nodes == 0:
        return count_of(state.memory, job, Tres.NODE)
    lay_held(state, group, holder, job)
    found, run = 0, state.jobs.run[job]
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        found += state.memory.sets[Scratch.HELD, state.shares.node[entry]] == 0
    return found


@kernel
def added(state: State, group: int, holder: int, job: int, tres: int, count: int, chosen: bool) -> int:
    """What a job of ``count`` adds to those counted with it, on the ``chosen`` nodes where they are."""
    memory = state.memory
    if tres != Tres.NODE or not chosen or memory.settings.limits_nodes == 0:
        return count
    lay_held(state, group, holder, job)
    for node in range(memory.nodes.shape[1]):
        if memory.work.taken[node] > 0 and memory.sets[Scratch.HELD, node] > 0:
            count -= 1
    return count


@kernel
def added_and_held(
    state: State, job: int, kind: int, holder: int, tres: int, count: int, chosen: bool
) -> tuple[int, int]:
    """What a job adds to the group that a limit is for, and what that holds already."""
    memory = state.memory
    if kind == Cap.MAX_USER:
        group, held = Group.USER, memory.users[user_row(memory, holder, job), tres]
    elif kind == Cap.MAX_ACCOUNT:
        group, held = Group.ACCOUNT, memory.accounts[account_row(memory, holder, job), tres]
    else:
        group = Group.QOS if holder < memory.settings.qos else Group.ASSOCIATION
        held = memory.held[holder, tres]
    return added(state, group, holder, job, tres, count, chosen), int(held)


@routine
def breaks(
    state: State,
    job: int,
    kind: int,
    holder: int,
    tres: int,
    count: int,
    nodes: int,
    minutes: int,
    chosen: bool,
) -> bool:
    """Whether a job would break the limit of a kind that a holder has; the rest as :func:`first_broken`.

    A group that holds more than it may keeps nobody back who adds nothing to that. To a job whose QOS has the
    UsageFactor 0 nobody has used anything.
    """
    memory = state.memory
    bound, spent = cap_of(memory, kind, holder, tres), count * minutes
    if kind == Cap.MAX_JOB:
        return bool(count > bound)
    if kind == Cap.MAX_NODE:
        return bool(count // max(nodes, 1) > bound)
    if kind == Cap.MIN_JOB:
        return bool(count < bound)
    if kind == Cap.MAX_MINS_JOB:
        return bool(spent > bound)
    if kind in (Cap.GRP, Cap.MAX_USER, Cap.MAX_ACCOUNT):
        more, held = added_and_held(state, job, kind, holder, tres, count, chosen)
        return bool(more > 0 and more + held > bound)
    counts = usage_factor(memory, job) > 0
    used = int(memory.used[holder, tres]) // MINUTE if counts else 0
    if kind == Cap.GRP_MINS and (used >= bound or memory.settings.safe == 0):
        return bool(used >= bound and spent > 0)
    pending = reserved(memory, holder, tres) // MINUTE if counts else 0
    if kind == Cap.GRP_RUN_MINS:
        return bool(spent > 0 and spent + pending > bound)
    return bool(spent > 0 and (spent > bound or spent + pending > bound - used))


@kernel
def decides(memory: Memory, job: int, kind: int, holder: int, first: int, second: int, tres: int) -> bool:
    """Whether the limit of a holder counts: of two QOS the first that sets it, else those of associations.

    Of the accounts above the job's own association only limits of groups do.
    """
    if cap_of(memory, kind, holder, tres) == UNSET:
        return False
    qos = qos_cap(memory, kind, first, second, tres)
    if holder < memory.settings.qos:
        return qos == holder
    is_own = holder == memory.jobs.association[job]
    return bool(qos == UNSET and (is_own or kind in (Cap.GRP, Cap.GRP_MINS, Cap.GRP_RUN_MINS)))


@kernel
def gres_of_taken(memory: Memory, resource: int) -> int:
    """How much of a generic resource the nodes in the row TAKEN have in all."""
    total = 0
    for node in range(memory.nodes.shape[1]):
        if memory.work.taken[node] > 0:
            total += memory.gres_total[resource, node]
    return int(total)


@kernel
def gres_count(memory: Memory, job: int, tres: int, nodes: int, whole: bool) -> int:
    """How much of a generic resource a job takes on so many nodes; on the fewest it asks for where 0.

    Of ``whole`` nodes, which are chosen, it has all, whatever it asks for.
    """
    for resource in range(memory.gres_asked.shape[0]):
        if memory.gres_tres[resource] == tres:
            if whole:
                return gres_of_taken(memory, resource)
            if memory.jobs.gres_found[job] != UNSET and memory.gres_asked[resource, job] > 0:
                return int(memory.jobs.gres_found[job])
            each, units = memory.gres_asked[resource, job], memory.jobs.units[job]
            on = nodes if nodes > 0 else memory.jobs.min_nodes[job]
            return int(each * (units if units > 0 else on))
    return 0


@kernel
def count_asked(memory: Memory, job: int, tres: int, cpus: int, mb: int, nodes: int, whole: bool) -> int:
    """How much of a resource a job of this size takes; what it is billed is told by :func:`billed`."""
    if tres == Tres.CPU:
        return cpus
    if tres == Tres.MEMORY:
        return mb
    return nodes if tres == Tres.NODE else gres_count(memory, job, tres, nodes, whole)


@routine
def first_broken(
    state: State, job: int, part: int, holder: int, cpus: int, mb: int, nodes: int, chosen: bool
) -> int:
    """The first limit of a holder that a job of this size would break: its kind and resource; -1: none.

    The job has ``nodes`` nodes (0: not known yet); whether they are ``chosen``.
    """
    memory = state.memory
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    minutes, whole = limited_minutes(memory, job, part), chosen and whole_nodes(memory, job, part)
    for kind in IN_TURN:
        for tres in range(memory.held.shape[1]):
            if not decides(memory, job, kind, holder, first, second, tres):
                continue
            if tres == Tres.BILLING:
                count = billed(memory, job, part, cpus, mb, nodes, whole)
            else:
                count = count_asked(memory, job, tres, cpus, mb, nodes, whole)
            if breaks(state, job, kind, holder, tres, count, nodes, minutes, chosen):
                return int(kind + RESOURCE * tres)
    return UNSET


@routine
def after_selection(state: State, job: int, part: int, cpus: int, mb: int, nodes: int, chosen: bool) -> int:
    """The limit that a job of this size would break (:class:`Reason`, resource), 0 where it breaks none.

    Where its nodes are ``chosen``, in the row TAKEN, those that a group holds already count once.
    """
    memory = state.memory
    if memory.settings.enforce == 0:
        return Reason.NONE
    for qos in (first_qos(memory, job, part), second_qos(memory, job, part)):
        if qos != UNSET:
            broken = first_broken(state, job, part, qos, cpus, mb, nodes, chosen)
            if broken != UNSET:
                return int(Reason.QOS_GRP + broken)
    holder = memory.jobs.association[job]
    while holder != UNSET:
        broken = first_broken(state, job, part, holder, cpus, mb, nodes, chosen)
        if broken != UNSET:
            return int(Reason.ASSOC_GRP + broken)
        holder = memory.holders.parent[holder]
    return Reason.NONE


@kernel
def limit_against(state: State, job: int, part: int, cpus: int, nodes: int) -> int:
    """The limit that a job would break on so many nodes that are not chosen, or not for now; 0: none."""
    mb = 0
    if state.memory.settings.memory > 0:
        mb = memory_asked(state.memory, job, part, cpus, nodes)
    return after_selection(state, job, part, cpus, mb, nodes, False)


@kernel
def is_of_limit(reason: int) -> bool:
    """Whether a job waits for a limit of a QOS or an association."""
    return bool(Reason.QOS_JOB_LIMIT <= reason % RESOURCE <= Reason.ASSOC_MIN_JOB)


@kernel
def hold_by_limit(memory: Memory, job: int, reason: int) -> None:
    """Note the limit that holds a job; nothing where none does."""
    if reason != Reason.NONE:
        memory.jobs.reason[job] = memory.jobs.limited[job] = reason


@kernel
def billed(memory: Memory, job: int, part: int, cpus: int, mb: int, nodes: int, whole: bool) -> int:
    """What a job of this size is billed for each second in a partition, without fractions.

    That is the sum over its resources, each by its weight; with MAX_TRES the most that one of them gives.
    """
    total, most = 0.0, 0.0
    for tres in range(memory.billing.shape[1]):
        share = memory.billing[part, tres] * count_asked(memory, job, tres, cpus, mb, nodes, whole)
        total += share
        most = max(most, share)
    return int(most if memory.settings.max_tres > 0 else total)


@kernel
def group_used_up(memory: Memory, holder: int, tres: int) -> bool:
    """Whether a group has used all the minutes of a resource that it may."""
    bound = cap_of(memory, Cap.GRP_MINS, holder, tres)
    return bool(bound != UNSET and int(memory.used[holder, tres]) // MINUTE >= bound)


@routine
def minutes_used_up(memory: Memory, job: int) -> bool:
    """Whether a group of a running job has used up its minutes or its wall time: a QOS, or an account.

    Limits of the root of all accounts end nobody.
    """
    part = memory.jobs.partition[job]
    first, second = first_qos(memory, job, part), second_qos(memory, job, part)
    qos = qos_value(memory, first, second, Holders["grp_wall"])
    wall_set = qos != UNSET
    if wall_set and wall_full(memory, qos, 0):
        return True
    for tres in range(memory.held.shape[1]):
        qos = qos_cap(memory, Cap.GRP_MINS, first, second, tres)
        if qos != UNSET and count_of(memory, job, tres) > 0 and group_used_up(memory, qos, tres):
            return True
    holder = memory.jobs.association[job]
    while holder != UNSET and memory.holders.parent[holder] != UNSET:
        if not wall_set and wall_full(memory, holder, 0):
            return True
        for tres in range(memory.held.shape[1]):
            decided = qos_cap(memory, Cap.GRP_MINS, first, second, tres) != UNSET
            if not decided and count_of(memory, job, tres) > 0 and group_used_up(memory, holder, tres):
                return True
        holder = memory.holders.parent[holder]
    return False


@routine
def charge(state: State, job: int, sign: int) -> None:
    """Count a job that starts (1) or ends (-1) with everyone whose limits it concerns."""
    memory = state.memory
    part = memory.jobs.partition[job]
    of_job, of_part = memory.jobs.qos[job], memory.partitions.qos[part]
    last = memory.users.shape[1] - 1
    for turn in range(2):
        qos = of_job if turn == 0 else of_part
        if qos == UNSET or (turn == 1 and of_part == of_job):
            continue
        user, account = user_row(memory, qos, job), account_row(memory, qos, job)
        for tres in range(memory.held.shape[1]):
            count = sign * count_of(memory, job, tres)
            if tres == Tres.NODE:
                memory.held[qos, tres] += sign * nodes_besides(state, Group.QOS, qos, job)
                memory.users[user, tres] += sign * nodes_besides(state, Group.USER, qos, job)
                memory.accounts[account, tres] += sign * nodes_besides(state, Group.ACCOUNT, qos, job)
                continue
            memory.held[qos, tres] += count
            memory.users[user, tres] += count
            memory.accounts[account, tres] += count
        memory.users[user, last] += sign
        memory.accounts[account, last] += sign
        memory.holders.running[qos] += sign
    holder = memory.jobs.association[job]
    while holder != UNSET:
        for tres in range(memory.held.shape[1]):
            count = count_of(memory, job, tres)
            if tres == Tres.NODE:
                count = nodes_besides(state, Group.ASSOCIATION, holder, job)
            memory.held[holder, tres] += sign * count
        memory.holders.running[holder] += sign
        holder = memory.holders.parent[holder]
