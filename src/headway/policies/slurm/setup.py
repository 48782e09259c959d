"""From a site and its jobs to the tables of Slurm's controller."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from headway.engine.drive import Setup
from headway.engine.tables import (
    N_CPUS,
    N_FREE_CPUS,
    N_FREE_MEMORY,
    N_MEMORY,
    NODE_ROWS,
    Table,
)
from headway.policies.prepare import BOOTING, Arrivals, Prepared
from headway.policies.slurm.bits import packed, words_for
from headway.policies.slurm.constraints import Constraint, Features
from headway.policies.slurm.fairshare import PARENT
from headway.policies.slurm.levels import (
    core_words,
    further_total,
    level_of,
    level_table,
    mode_of,
    rows_of,
    suspends,
    time_slice,
)
from headway.policies.slurm.life import (
    Life,
    bounded,
    gres_asked,
    gres_names,
    happenings,
    licence_tables,
    reservation_tables,
)
from headway.policies.slurm.memory_bounds import Asked, bounds, by_place
from headway.policies.slurm.plan_table import KINDS
from headway.policies.slurm.priority import BASIC
from headway.policies.slurm.record import notes, on_nodes, warm_up_days, warm_up_remark, why_refused
from headway.policies.slurm.selection import LIGHTER
from headway.policies.slurm.tables import (
    UNSET,
    Adapted,
    Cap,
    Choice,
    Clock,
    Count,
    Factor,
    Holder,
    Job,
    Memory,
    Node,
    Partition,
    Plan,
    Preemption,
    Rank,
    Reason,
    Record,
    Scratch,
    Setting,
    Slot,
    Usage,
    Victim,
    Waiver,
    Weight,
    Work,
)
from headway.site import Site
from headway.site.access import DOORS, Asker, askers, enforces, restricts, rule_against
from headway.site.model import Limits
from headway.units import SECOND

NAMED = ("cpu", "mem", "node", "billing")
"""Resources that have numbers of their own (:class:`Tres`)."""

NOTICED_LATE = 60
"""Seconds that may pass before a job beyond its limit is gone: a check every 30, and KillWait."""

HORIZON = 30 * 24 * 3600
"""How long after the last submission reservations recur, in seconds."""

WAIVERS = {
    "PARTITIONMINNODES": Waiver.MIN_NODES,
    "PARTITIONMAXNODES": Waiver.MAX_NODES,
    "PARTITIONTIMELIMIT": Waiver.TIME,
}
"""Flags of a QOS whose jobs a bound of partitions does not bind."""

CRED_EXPIRE = 120
"""Seconds that a job's credential lasts; so long a job waits at least that comes back to the queue."""


def slurm(params: Mapping[str, object], arrivals: Arrivals, site: Site) -> Prepared:
    """Slurm's rules for a site, ready to run."""
    from headway.policies.slurm.slurm import slurm as hook

    memory = controller(site, arrivals, int(str(params["seed"])))
    for setting, name in (
        (Setting.EPILOG, "epilog"), (Setting.CYCLE_TAKES, "cycle"), (Setting.FULL_LATE, "drift"),
        (Setting.LATE, "late"),
    ):  # fmt: skip
        memory.settings[setting] = round(1000 * float(str(params[name])))
    if params.get("submit_limits") == "enforced":
        memory.jobs[Job.ACCEPTED] = 0
    levels = memory.levels.shape[1]
    setup = Setup((site.cpus,), hook, memory=memory, nodes=node_table(site), shares_of_cpu=2 * levels + 1)
    resources = [*NAMED, *other_resources(site)]
    return Prepared(
        setup,
        arrivals.walltime,
        lead=BOOTING,
        notes=lambda state, numbers: notes(state, resources, numbers),
        on_nodes=lambda state: on_nodes(state, site, resources),
        refused=why_refused,
        own=lambda state: {"usage_warm_up_days": days} if (days := warm_up_days(site)) else {},
        remark=warm_up_remark(site),
    )


def node_table(site: Site) -> Table:
    """The engine's table of nodes; their generic resources are the further rows."""
    further = further_total(site)
    table = np.zeros((NODE_ROWS + len(further), len(site.nodes)), np.int64)
    table[NODE_ROWS:] = further
    table[N_CPUS] = table[N_FREE_CPUS] = [node.cpus for node in site.nodes]
    table[N_MEMORY] = table[N_FREE_MEMORY] = [node.memory_mb - node.memory_spec_mb for node in site.nodes]
    return table


def controller(site: Site, arrivals: Arrivals, seed: int) -> Memory:
    """The controller's tables before the first job comes."""
    requests = Requests(site, arrivals)
    jobs, nodes, users, accounts = requests.table(), len(site.nodes), requests.users, requests.accounts
    resources = [*NAMED, *other_resources(site)]
    jobs = np.vstack([jobs, np.zeros((len(resources), jobs.shape[1]), np.int64)])
    settings, holders = settings_of(site), len(site.qos) + len(site.associations)
    settings[Setting.USERS], settings[Setting.ACCOUNTS] = users, accounts
    settings[Setting.ORIGIN] = arrivals.origin
    settings[Setting.RESTRICTS] = any(any(row) for row in requests.standings)
    counted = max(users * len(site.partitions), holders, 1)
    slots = int(settings[Setting.BF_TABLE] + 2 * settings[Setting.BF_MAX_TEST] + 8)
    plans = int(2 * settings[Setting.BF_MAX_TEST] + 8)
    longest = max((len(row) for row in requests.partition_lists), default=1)
    queue = jobs.shape[1] * longest + 2
    first = int(arrivals.submit[0]) // SECOND + arrivals.origin if len(arrivals.submit) else 0
    last = int(arrivals.submit[-1]) // SECOND + arrivals.origin if len(arrivals.submit) else 0
    reservations, reserved = reservation_tables(site, last + HORIZON)
    licences, licences_asked = licence_tables(site, requests.count, requests.life)
    jobs[Job.LICENCES] = licences_asked.any(axis=0)
    limited = [f"gres/{name}" for name in gres_names(site)] + [""] * len(bounded(site))
    words, in_partition = words_for(nodes), members(site)
    room, levels = min(jobs.shape[1], nodes) + 1, level_table(site)
    most = min(jobs.shape[1], site.cpus * max(levels.shape[1], 1)) + 1  # jobs that run or are suspended
    return Memory(
        clock=clocks(settings, first, seed),
        settings=settings,
        weights=weights_of(site),
        jobs=jobs,
        nodes=node_rows(site, first),
        partitions=partition_rows(site),
        members=in_partition,
        lists=padded(requests.partition_lists, UNSET),
        standing=padded(requests.standings, Reason.NONE),
        adapted=requests.adapted,
        features=requests.features,
        choices=requests.choices,
        factors=factors(site, holders),
        holders=holder_rows(site),
        caps=caps(site, resources),
        held=np.zeros((max(holders, 1), len(resources)), np.int64),
        users=np.zeros((max(len(site.qos), 1) * max(users, 1), len(resources) + 1), np.int64),
        accounts=np.zeros((max(len(site.qos), 1) * max(accounts, 1), len(resources) + 1), np.int64),
        submitted_by_user=np.zeros(max(len(site.qos), 1) * max(users, 1), np.int64),
        submitted_by_account=np.zeros(max(len(site.qos), 1) * max(accounts, 1), np.int64),
        usage=usage_rows(site),
        used=np.zeros((max(holders, 1), len(resources)), np.float64),
        queue=np.zeros((len(Record), queue), np.int64),
        running=np.zeros((2, most), np.int64),
        epilogs=np.zeros((2, jobs.shape[1] + nodes + 1), np.int64),
        trial=node_table(site),
        work=np.zeros((len(Work), nodes), np.int64),
        sets=np.zeros((len(Scratch), nodes), np.uint8),
        slots=np.zeros((len(Slot), slots), np.int64),
        least=np.zeros((1, 1), np.int64),
        instant=np.zeros((1, 1), np.int64),
        claims=np.zeros((1, 1), np.int64),
        surveys=np.zeros((slots, min(len(in_partition) * len(requests.features), KINDS) + 1), np.int64),
        plans=np.zeros((len(Plan), plans), np.int64),
        counts=np.zeros((len(Count), counted), np.int64),
        billing=billing(site, resources),
        ranks=ranks(site),
        arrays=requests.life.arrays,
        dependencies=requests.life.dependencies,
        happenings=happenings(site, reservations, requests.life.releases),
        reservations=reservations,
        reserved=reserved,
        gres_total=further_total(site),
        gres_asked=gres_asked(site, requests.count, requests.life),
        gres_tres=np.array([resources.index(n) if n in resources else UNSET for n in limited], np.int64),
        licences=licences,
        licences_asked=licences_asked,
        required=np.vstack([requests.life.required, np.zeros_like(requests.life.required[:1])]),
        levels=levels,
        imagined=node_table(site),
        going=np.zeros((core_words(site), nodes), np.int64),
        may_preempt=may_preempt(site),
        victims=np.zeros((len(Victim), most), np.int64),
        graces=np.zeros((2, most), np.int64),
        returned=np.zeros(most, np.int64),
        words_members=packed(in_partition, nodes),
        words_features=packed(requests.features, nodes),
        words_sets=np.zeros((len(Scratch), words), np.int64),
        words_free=np.zeros((slots, words), np.int64),
        words_folded=np.zeros((slots, words), np.int64),
        words_planned=np.zeros((plans, words), np.int64),
        words_held=np.zeros((room, words), np.int64),
        words_over=np.zeros((room, words), np.int64),
    )


def may_preempt(site: Site) -> Table:
    """Whether jobs of one QOS may preempt those of another."""
    count = len(site.qos)
    table = np.zeros((max(count, 1), max(count, 1)), np.int64)
    for place, one in enumerate(site.qos):
        for name in one.preempt:
            if name in site.qos_place:
                table[place, site.qos_place[name]] = 1
    return table


def clocks(settings: Table, first: int, seed: int) -> Table:
    """When what happened last, before the first submission: phases by the seed."""
    draw = np.random.default_rng(seed)
    clock = np.zeros(len(Clock), np.int64)
    full = 1000 * int(settings[Setting.SCHED_INTERVAL])
    clock[Clock.FULL_NEXT] = 1000 * first + draw.integers(0, full)
    clock[Clock.PASS] = (clock[Clock.FULL_NEXT] - full) // 1000
    interval = 1000 * max(int(settings[Setting.BF_INTERVAL]), 1)
    clock[Clock.CYCLE_NEXT] = 1000 * first + draw.integers(0, interval)
    clock[Clock.CYCLE_END] = (clock[Clock.CYCLE_NEXT] - interval) // 1000
    clock[Clock.STAMP] = clock[Clock.CYCLE_END] - 1
    period = int(settings[Setting.CALC_PERIOD])
    clock[Clock.PRIORITY_NEXT] = first - draw.integers(0, period)
    clock[Clock.PRIORITY_LAST] = clock[Clock.PRIORITY_NEXT] - period
    clock[Clock.BASIC] = BASIC
    clock[Clock.DRAWN] = draw.integers(1, (1 << 31) - 1)
    clock[Clock.SLICE_NEXT] = first + draw.integers(0, max(int(settings[Setting.SLICE]), 1))
    return clock


def settings_of(site: Site) -> Table:
    """The controller's parameters that are whole numbers."""
    number, config = site.scheduling_number, site.config
    row = np.zeros(len(Setting), np.int64)
    for setting, name in (
        (Setting.SCHED_INTERVAL, "sched_interval"), (Setting.BATCH_DELAY, "batch_sched_delay"),
        (Setting.QUEUE_DEPTH, "default_queue_depth"), (Setting.PARTITION_DEPTH, "partition_job_depth"),
        (Setting.MAX_STARTS, "sched_max_job_start"), (Setting.BF_INTERVAL, "bf_interval"),
        (Setting.BF_RESOLUTION, "bf_resolution"), (Setting.BF_MAX_TEST, "bf_max_job_test"),
        (Setting.BF_MAX_START, "bf_max_job_start"), (Setting.BF_MAX_USER, "bf_max_job_user"),
        (Setting.BF_MAX_PART, "bf_max_job_part"), (Setting.BF_MAX_USER_PART, "bf_max_job_user_part"),
        (Setting.BF_MAX_ASSOC, "bf_max_job_assoc"), (Setting.BF_MIN_PRIORITY, "bf_min_prio_reserve"),
        (Setting.BF_MIN_AGE, "bf_min_age_reserve"), (Setting.BF_PART_RESERVE, "bf_job_part_count_reserve"),
        (Setting.BF_WINDOW_LINEAR, "bf_window_linear"),
    ):  # fmt: skip
        row[setting] = number(name)
    for setting, name in (
        (Setting.BF_ONE_RESERVATION, "bf_one_resv_per_job"), (Setting.DEFER, "defer"),
        (Setting.LIMIT_STOPS, "assoc_limit_stop"),
    ):  # fmt: skip
        row[setting] = name in site.scheduler
    row[Setting.BF_WINDOW] = 60 * number("bf_window")
    table = "bf_node_space_size" if "bf_node_space_size" in site.scheduler else "bf_max_job_test"
    row[Setting.BF_TABLE] = number(table)
    if config.get("SchedulerType").lower().endswith("builtin"):
        row[Setting.BF_INTERVAL] = -1
    row[Setting.COMPLETE_WAIT] = config.number("CompleteWait")
    row[Setting.KILL_WAIT] = config.number("KillWait")
    over = config.seconds("OverTimeLimit")
    row[Setting.OVER_TIME_LIMIT] = 0 if over is None else over
    row[Setting.OVER_TIME] = (1 << 32 if over is None else over) + NOTICED_LATE
    row[Setting.MULTIFACTOR] = "multifactor" in config.get("PriorityType").lower()
    row[Setting.CALC_PERIOD] = max(config.seconds("PriorityCalcPeriod") or 300, 1)
    row[Setting.MAX_AGE] = max(config.seconds("PriorityMaxAge") or 1, 1)
    flags = config.list("PriorityFlags")
    row[Setting.FAVOR_SMALL] = config.get("PriorityFavorSmall").upper() == "YES"
    row[Setting.SIZE_BY_TIME] = "SMALL_RELATIVE_TO_TIME" in flags
    row[Setting.FAIR_TREE] = "NO_FAIR_TREE" not in flags
    row[Setting.CLUSTER_NODES], row[Setting.CLUSTER_CPUS] = len(site.nodes), site.cpus
    enforced = config.list("AccountingStorageEnforce")
    row[Setting.ENFORCE] = bool({"LIMITS", "SAFE", "ALL"} & set(enforced))
    row[Setting.SAFE] = "SAFE" in enforced
    row[Setting.MEMORY] = "MEMORY" in config.get("SelectTypeParameters").upper()
    row[Setting.MEMORY_CPU] = config.number("DefMemPerCPU") or UNSET
    row[Setting.MEMORY_NODE] = config.number("DefMemPerNode") or UNSET
    row[Setting.QOS] = len(site.qos)
    row[Setting.WAIVES] = any({flag.upper() for flag in one.flags} & set(WAIVERS) for one in site.qos)
    row[Setting.HAS_ACCOUNTING] = "slurmdbd" in config.get("AccountingStorageType").lower()
    row[Setting.BF_MAX_ARRAY] = number("bf_max_job_array_resv")
    expire = re.search(r"cred_expire=(\d+)", config.get("AuthInfo"))
    row[Setting.REQUEUE_WAIT] = 1 + (int(expire[1]) if expire else CRED_EXPIRE)
    kind = config.get("PreemptType").lower()
    given = [one.preempt_mode for one in site.partitions] + [one.preempt_mode for one in site.qos]
    if any(mode_of(site, text) for text in ("", *given)):
        row[Setting.PREEMPTION] = (
            Preemption.BY_QOS if "qos" in kind else Preemption.BY_TIER if "prio" in kind else Preemption.OFF
        )
    row[Setting.PREEMPT_EXEMPT] = max(config.seconds("PreemptExemptTime") or 0, 0)
    row[Setting.PREEMPT_PAUSE] = config.number("KillWait") + config.number("MessageTimeout")
    limits = [one.limits for one in site.qos] + [one.limits for one in site.associations]
    row[Setting.MINUTES_END_JOBS] = row[Setting.ENFORCE] and any(one.grp_tres_mins for one in limits)
    row[Setting.PREEMPT_REORDERS] = number("preempt_reorder_count")
    row[Setting.YOUNGEST_FIRST] = "preempt_youngest_first" in site.scheduler
    row[Setting.POWER_AFTER] = _or_unset(site.off_after)
    row[Setting.BOOT_TAKES] = config.seconds("ResumeTimeout") or 0
    row[Setting.CORE_WORDS] = core_words(site)
    row[Setting.SLICE] = time_slice(site)
    row[Setting.STRICT_ORDER] = "preempt_strict_order" in site.scheduler
    return row


def weights_of(site: Site) -> npt.NDArray[np.float64]:
    """Weights of priority and other numbers with fractions."""
    config = site.config
    row = np.zeros(len(Weight), np.float64)
    for weight, name in (
        (Weight.AGE, "Age"), (Weight.ASSOCIATION, "Assoc"), (Weight.FAIRSHARE, "Fairshare"),
        (Weight.SIZE, "JobSize"), (Weight.PARTITION, "Partition"), (Weight.QOS, "QOS"),
    ):  # fmt: skip
        row[weight] = config.number(f"PriorityWeight{name}")
    half_life = config.seconds("PriorityDecayHalfLife")
    row[Weight.DECAY] = 1 - 0.693 / half_life if half_life else 1.0
    row[Weight.DAMPENING] = max(config.number("FairShareDampeningFactor"), 1)
    names = {"CPU": Weight.TRES_CPU, "MEM": Weight.TRES_MEMORY, "NODE": Weight.TRES_NODE}
    for part in config.list("PriorityWeightTRES"):
        name, _, value = part.partition("=")
        if name in names and value:
            row[names[name]] = float(value)
    return row


def node_rows(site: Site, first: int) -> Table:
    """What nodes have beyond the engine's rows; all of them became idle at the ``first`` submission."""
    rows = np.zeros((len(Node), len(site.nodes)), np.int64)
    rows[Node.IDLE_SINCE], rows[Node.SAVES_POWER] = first, 1
    rows[Node.SAVES_POWER, sorted(site.always_on)] = 0
    rows[Node.WEIGHT] = [node.weight for node in site.nodes]
    rows[Node.SET_WEIGHT] = rows[Node.WEIGHT] * LIGHTER + LIGHTER - 1
    by_core = "CR_CPU" not in site.config.get("SelectTypeParameters").upper()
    rows[Node.THREADS] = [node.threads_per_core if by_core else 1 for node in site.nodes]
    away = ("DOWN", "DRAIN", "FAIL", "FUTURE")
    told = {event.node for event in site.events}  # better than the state at the time of the export
    rows[Node.USABLE] = [node.name in told or not node.state.upper().startswith(away) for node in site.nodes]
    return rows


def partition_rows(site: Site) -> Table:
    """The partitions."""
    rows = np.full((len(Partition), len(site.partitions)), UNSET, np.int64)
    linear = "linear" in site.config.get("SelectType").lower()
    for p, partition in enumerate(site.partitions):
        nodes = [site.nodes[node] for node in partition.nodes]
        rows[:, p] = [
            partition.tier,
            partition.job_factor,
            _or_unset(partition.max_minutes),
            _or_unset(partition.default_minutes),
            partition.min_nodes,
            _or_unset(partition.max_nodes),
            _or_unset(partition.max_cpus_per_node),
            _or_unset(partition.def_mem_per_cpu_mb),
            _or_unset(partition.def_mem_per_node_mb),
            linear or partition.oversubscribe == "EXCLUSIVE",
            site.qos_place.get(partition.qos, UNSET),
            partition.state.upper() == "UP",
            len(nodes),
            sum(node.cpus for node in nodes),
            sum(node.memory_mb for node in nodes),
            0,
            0,
            mode_of(site, partition.preempt_mode),
            partition.grace_seconds,
            len(
                {
                    (one.cpus, one.memory_mb - one.memory_spec_mb, one.threads_per_core, one.weight)
                    for one in nodes
                }
            )
            <= 1,
            level_of(site, partition) if suspends(site) else 0,
            *rows_of(site, partition),
            len(gres_names(site)) + bounded(site).index(partition) if partition in bounded(site) else UNSET,
        ]
    return rows


def _or_unset(value: int | None) -> int:
    return UNSET if value is None else value


def members(site: Site) -> npt.NDArray[np.uint8]:
    """Which node is in which partition."""
    table = np.zeros((len(site.partitions), len(site.nodes)), np.uint8)
    for p, partition in enumerate(site.partitions):
        table[p, list(partition.nodes)] = 1
    return table


def padded(lists: Sequence[Sequence[int]], behind: int) -> Table:
    """Lists as rows, ``behind`` after the last of each."""
    width = max((len(row) for row in lists), default=0) + 1
    table = np.full((max(len(lists), 1), width), behind, np.int64)
    for row, places in enumerate(lists):
        table[row, : len(places)] = places
    return table


def factors(site: Site, holders: int) -> npt.NDArray[np.float64]:
    """Factors of partitions, QOS and associations, of the largest there is."""
    table = np.zeros((len(Factor), max(holders, len(site.partitions), 1)), np.float64)

    def of_largest(row: int, first: int, given: Sequence[int]) -> None:
        largest = max(given, default=0)
        if largest > 0:
            table[row, first : first + len(given)] = [value / largest for value in given]

    of_largest(Factor.PARTITION, 0, [partition.job_factor for partition in site.partitions])
    of_largest(Factor.QOS, 0, [qos.priority for qos in site.qos])
    of_largest(Factor.ASSOCIATION, len(site.qos), [one.priority for one in site.associations])
    return table


def holder_rows(site: Site) -> Table:
    """QOS, then associations: shares, tree and limits that are no resources."""
    qos, count = len(site.qos), len(site.qos) + len(site.associations)
    rows = np.full((len(Holder), max(count, 1)), UNSET, np.int64)
    rows[
        [
            Holder.SUBMITTED,
            Holder.IS_USER,
            Holder.RUNNING,
            Holder.NO_DECAY,
            Holder.OVER_PARTITION,
            Holder.NO_RESERVE,
            Holder.WAIVES,
        ]
    ] = 0
    for h, one in enumerate(site.qos):
        flags = {flag.upper() for flag in one.flags}
        rows[Holder.NO_DECAY, h] = "NODECAY" in flags
        rows[Holder.OVER_PARTITION, h] = "OVERPARTQOS" in flags
        rows[Holder.NO_RESERVE, h] = "NORESERVE" in flags
        rows[Holder.WAIVES, h] = sum(bound for name, bound in WAIVERS.items() if name in flags)
        rows[Holder.MIN_PRIORITY, h] = _or_unset(one.min_prio_threshold)
        rows[Holder.PRIORITY, h] = one.priority
        rows[Holder.EXEMPT, h] = _or_unset(one.preempt_exempt_seconds)
        rows[Holder.PREEMPT, h] = mode_of(site, one.preempt_mode)
        rows[Holder.GRACE, h] = one.grace_seconds
        _limits(rows, h, one.limits)
    for h, association in enumerate(site.associations, start=qos):
        rows[Holder.PARENT, h] = UNSET if association.parent < 0 else qos + association.parent
        rows[Holder.SHARES, h] = association.shares
        rows[Holder.IS_USER, h] = bool(association.user)
        _limits(rows, h, association.limits)
    return rows


def _limits(rows: Table, h: int, limits: Limits) -> None:
    for row, value in (
        (Holder.GRP_JOBS, limits.grp_jobs),
        (Holder.GRP_WALL, limits.grp_wall_minutes),
        (Holder.MAX_JOBS, limits.max_jobs),
        (Holder.MAX_WALL, limits.max_wall_minutes),
        (Holder.MAX_JOBS_USER, limits.max_jobs_per_user),
        (Holder.MAX_JOBS_ACCOUNT, limits.max_jobs_per_account),
        (Holder.GRP_SUBMIT, limits.grp_submit),
        (Holder.MAX_SUBMIT, limits.max_submit),
        (Holder.MAX_SUBMIT_USER, limits.max_submit_per_user),
        (Holder.MAX_SUBMIT_ACCOUNT, limits.max_submit_per_account),
    ):
        rows[row, h] = _or_unset(value)


def caps(site: Site, resources: Sequence[str]) -> Table:
    """Limits that are counted by resource."""
    holders: list[Limits] = [one.limits for one in site.qos] + [one.limits for one in site.associations]
    count = max(len(holders), 1)
    table = np.full((len(Cap) * count, len(resources)), UNSET, np.int64)
    for h, limits in enumerate(holders):
        for cap, given in (
            (Cap.GRP, limits.grp_tres), (Cap.GRP_MINS, limits.grp_tres_mins),
            (Cap.GRP_RUN_MINS, limits.grp_tres_run_mins), (Cap.MAX_JOB, limits.max_tres),
            (Cap.MAX_NODE, limits.max_tres_per_node), (Cap.MAX_MINS_JOB, limits.max_tres_mins),
            (Cap.MIN_JOB, limits.min_tres), (Cap.MAX_USER, limits.max_tres_per_user),
            (Cap.MAX_ACCOUNT, limits.max_tres_per_account),
        ):  # fmt: skip
            for name, value in given.items():
                table[cap * count + h, resources.index(name)] = value
    return table


def other_resources(site: Site) -> list[str]:
    """Resources beyond the named ones that some limit counts."""
    names: dict[str, None] = {}
    for limits in [*(one.limits for one in site.qos), *(one.limits for one in site.associations)]:
        for value in (getattr(limits, name) for name in limits.__slots__):
            if isinstance(value, Mapping):
                names.update(dict.fromkeys(value))
    return [name for name in names if name not in NAMED]


def usage_rows(site: Site) -> npt.NDArray[np.float64]:
    """Usage before the log begins, shares of each level, usage factors."""
    qos, count = len(site.qos), len(site.qos) + len(site.associations)
    rows = np.zeros((len(Usage), max(count, 1)), np.float64)
    rows[Usage.FACTOR] = 1.0
    rows[Usage.FACTOR, :qos] = [one.usage_factor for one in site.qos]
    level: dict[int, int] = {}
    for one in site.associations:
        if one.shares != PARENT:
            level[one.parent] = level.get(one.parent, 0) + one.shares
    for h, one in enumerate(site.associations, start=qos):
        rows[Usage.RAW, h] = site.usage.get((one.account, one.user), 0.0)
        if one.parent < 0:
            rows[[Usage.SHARES_NORM, Usage.SHARES_PRODUCT], h] = 1.0
        elif one.shares != PARENT and level.get(one.parent):
            rows[Usage.SHARES_NORM, h] = one.shares / level[one.parent]
    return rows


def billing(site: Site, resources: Sequence[str]) -> npt.NDArray[np.float64]:
    """What a unit of a resource is billed in each partition."""
    table = np.zeros((len(site.partitions), len(resources)), np.float64)
    for p, partition in enumerate(site.partitions):
        for name, weight in partition.billing_weights.items():
            if name.lower() in resources:
                table[p, resources.index(name.lower())] = weight
    return table


def ranks(site: Site) -> Table:
    """Space to rank users in; the order begins as the associations are listed."""
    table = np.zeros((len(Rank), max(len(site.associations), 1)), np.int64)
    table[Rank.ORDER, : len(site.associations)] = len(site.qos) + np.arange(len(site.associations))
    return table


def standing(site: Site, part: int, asker: Asker) -> int:
    """Why a job may not use a partition (:class:`Reason`), if it was not refused at submission; 0: it may.

    Accounts and QOS are looked at when a job would start, unless EnforcePartLimits lets them be looked at
    each time the queue is built.
    """
    rule = rule_against(site, site.partitions[part], asker)
    if not rule:
        return Reason.NONE
    if rule in DOORS or enforces(site):
        return Reason.PARTITION_CONFIG
    return Reason.QOS_NOT_ALLOWED if rule.endswith("Qos") else Reason.ACCOUNT_NOT_ALLOWED


class Requests:
    """What the jobs of a log ask of a site."""

    def __init__(self, site: Site, arrivals: Arrivals) -> None:
        self.site, self.arrivals = site, arrivals
        self.count = len(arrivals.submit)
        self.partition_lists: list[list[int]] = []
        self.standings: list[list[int]] = []
        self.adapted = np.zeros((0, 0), np.int64)
        self.features = np.ones((1, len(site.nodes)), np.uint8)
        self.choices = np.zeros((len(Choice), 1), np.int64)
        self.users = int(self.column("user", 0).max(initial=-1)) + 1 or 1
        self.accounts = int(self.column("account", 0).max(initial=-1)) + 1 or 1
        self.life = Life(site, self.count, arrivals.origin, self.column, self.labels)

    def column(self, name: str, otherwise: int) -> Table:
        """A column of the log; a value for all where it has none."""
        given = self.arrivals.extra.get(name)
        return np.full(self.count, otherwise, np.int64) if given is None else given.astype(np.int64)

    def labels(self, name: str) -> list[str]:
        """The names of a column's codes."""
        return list(self.arrivals.labels.get(name, ()))

    def table(self) -> Table:
        """[Job, job] before the run."""
        rows = np.full((int(Job.HOLDS), self.count), UNSET, np.int64)
        asked = Asked.of(self.column, self.arrivals.procs)
        rows[Job.MIN_NODES] = np.maximum(self.column("min_nodes", 1), 1)
        rows[Job.CPUS], rows[Job.TASKS], rows[Job.MAX_NODES] = asked.cpus, asked.tasks, asked.max_nodes
        rows[Job.CPUS_PER_TASK], rows[Job.NODE_CPUS] = asked.cpus_per_task, 1
        rows[Job.MEMORY_NODE], rows[Job.MEMORY_CPU] = asked.memory_node, asked.memory_cpu
        rows[Job.EXCLUSIVE] = asked.exclusive
        rows[Job.FEATURES] = self.constraints()
        rows[Job.PARTITIONS] = self.partitions()
        rows[Job.MIN_NODES] = self.raised(rows)
        if any(any(bounds(self.site, one)) for one in self.site.partitions):
            self.adapt(rows, asked)
        rows[Job.SIZE] = rows[Job.CPUS]
        rows[Job.QOS] = self.qos()
        rows[Job.USER] = np.maximum(self.column("user", 0), 0)
        rows[Job.ACCOUNT] = np.maximum(self.column("account", 0), 0)
        rows[Job.ASSOCIATION] = self.associations()
        rows[Job.LIMIT] = -(-self.arrivals.walltime // (60 * SECOND))
        rows[Job.BEGIN] = self.arrivals.submit // SECOND + self.arrivals.origin
        rows[Job.NICE] = self.column("nice", 0)
        rows[[Job.REASON, Job.LIMITED, Job.LOOP, Job.TESTED, Job.ROW]] = 0
        self.life.fill(rows)
        rows[Job.SIZED] = self.sized(rows)
        return rows

    def raised(self, rows: Table) -> Table:
        """The fewest nodes of each job: those that each of its partitions wants, if it accepts so many."""
        bounds = [min(self.site.partitions[part].min_nodes for part in row) for row in self.partition_lists]
        bound = np.array(bounds, np.int64)[rows[Job.PARTITIONS]]
        accepts = (rows[Job.MAX_NODES] == UNSET) | (rows[Job.MAX_NODES] >= bound)
        return np.where(accepts, np.maximum(rows[Job.MIN_NODES], bound), rows[Job.MIN_NODES])

    def adapt(self, rows: Table, asked: Asked) -> None:
        """Let jobs ask for what their first partition makes of it; note where another differs."""
        lists = padded(self.partition_lists, UNSET)[rows[Job.PARTITIONS], :-1]
        every = by_place(self.site, lists, asked)
        first = every[: len(Adapted)]
        differs = (every != np.tile(first, (lists.shape[1], 1))).any(axis=0) | (first[Adapted.CPUS] < 0)
        kept = [Job.CPUS, Job.CPUS_PER_TASK, Job.MEMORY_CPU, Job.NODE_CPUS]
        rows[kept] = np.where(first[Adapted.CPUS] < 0, rows[kept], first)
        rows[Job.ADAPTED] = np.where(differs, np.cumsum(differs) - 1, UNSET)
        self.adapted = np.ascontiguousarray(every[:, differs])

    def sized(self, rows: Table) -> Table:
        """Whether a search may change the size of a job in its priority: 1 no, 0 the first, -1 each."""
        if self.site.config.number("PriorityWeightJobSize") == 0:
            return np.ones(self.count, np.int64)
        sizes = {(node.cpus, node.threads_per_core) for node in self.site.nodes}
        size, threads = max(sizes, default=(1, 1))
        in_some = [one.oversubscribe == "EXCLUSIVE" for one in self.site.partitions]
        linear = "linear" in self.site.config.get("SelectType").lower()
        whole = (rows[Job.EXCLUSIVE] > 0) | linear | all(in_some)
        one_width = (rows[Job.MAX_NODES] == rows[Job.MIN_NODES]) & (len(sizes) == 1)
        shared = ~whole & (threads == 1) & (not any(in_some))
        exact = whole & one_width & (rows[Job.CPUS] == rows[Job.MIN_NODES] * size)
        return np.where(shared | exact, 1, np.where(whole & one_width, 0, -1))

    def constraints(self) -> Table:
        """Which set of nodes each job's constraint and excluded nodes allow; the first is all of them."""
        names, excluded = self.labels("constraint"), self.labels("excluded_nodes")
        wanted, without = self.column("constraint", UNSET), self.column("excluded_nodes", UNSET)
        wanted = np.where(wanted < len(names), wanted, UNSET)
        without = np.where(without < len(excluded), without, UNSET)
        pairs, place = np.unique(np.stack([wanted, without], axis=1), axis=0, return_inverse=True)
        rows, choices = [self.features[0]], [(0, 0, 0)]
        parts: list[tuple[npt.NDArray[np.uint8], int]] = []
        for constraint, less in pairs.tolist():
            found = Constraint.of(names[constraint] if constraint >= 0 else "")
            barred = np.ones_like(self.features[0])
            if less >= 0:
                barred[self.life.node_places(excluded[less])] = 0
            rows.append(self.having(found.allowed) & barred)
            choices.append((1 + len(pairs) + len(parts), len(found.parts), 0))
            parts += [(self.having(words) & barred, count) for words, count in found.parts]
        self.features = np.vstack([*rows, *(row for row, _ in parts)])
        choices += [(0, 0, count) for _, count in parts]
        self.choices = np.array(choices, np.int64).T.copy()
        return np.asarray(place, np.int64).reshape(-1) + 1

    def having(self, words: Features) -> npt.NDArray[np.uint8]:
        """Nodes that have all features of one of several sets."""
        return np.array(
            [any(one <= set(node.features) for one in words) for node in self.site.nodes], np.uint8
        )

    def partitions(self) -> Table:
        """Which list of partitions each job has; lists that name none are the default partition."""
        default = [p for p, one in enumerate(self.site.partitions) if one.is_default][:1] or [0]
        place, names = self.site.partition_place, self.labels("partition")
        lists = [[place[name] for name in label.split(",") if name in place] for label in names]
        self.partition_lists = [*(row or default for row in lists), default]
        self.standings = [[Reason.NONE] * len(row) for row in self.partition_lists]
        codes = self.column("partition", UNSET)
        codes = np.where((codes >= 0) & (codes < len(names)), codes, len(names))
        return self.by_standing(codes) if any(map(restricts, self.site.partitions)) else codes

    def by_standing(self, codes: Table) -> Table:
        """Lists of partitions apart for jobs that some partition of a list keeps out."""
        who, place = askers(self.site, self.arrivals.extra.get, self.arrivals.labels)
        different, found = np.unique(np.stack([codes, place], axis=1), axis=0, return_inverse=True)
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        of_pair = np.empty(len(different), np.int64)
        plain, self.standings = self.partition_lists, []
        self.partition_lists = []
        for pair, (code, asker) in enumerate(different.tolist()):
            listed = plain[code]
            barred = tuple(standing(self.site, part, who[asker]) for part in listed)
            if (code, barred) not in rows:
                rows[code, barred] = len(self.standings)
                self.standings.append(list(barred))
                self.partition_lists.append(listed)
            of_pair[pair] = rows[code, barred]
        return of_pair[np.asarray(found).reshape(-1)]

    def qos(self) -> Table:
        """The QOS of each job: its own, else its association's or the site's normal one."""
        place = self.site.qos_place
        normal = place.get("normal", UNSET)
        of_label = np.array([place.get(name, normal) for name in self.labels("qos")] + [normal], np.int64)
        return of_label[self.column("qos", UNSET)]

    def associations(self) -> Table:
        """The association of each job; -1 where the site has none for its user."""
        first = len(self.site.qos)
        place: dict[tuple[str, str], int] = {}
        default: dict[str, int] = {}
        for h, one in enumerate(self.site.associations, start=first):
            if one.user and not one.partition:
                place[one.account, one.user] = h
                default.setdefault(one.user, h)
        users, accounts = [*self.labels("user"), ""], [*self.labels("account"), ""]
        pairs: dict[tuple[int, int], int] = {}
        found = np.full(self.count, UNSET, np.int64)
        of_user, of_account = (self.column(name, UNSET).tolist() for name in ("user", "account"))
        for job, pair in enumerate(zip(of_user, of_account, strict=True)):
            if pair not in pairs:
                user = users[pair[0]] if pair[0] < len(users) else ""
                account = accounts[pair[1]] if pair[1] < len(accounts) else ""
                pairs[pair] = place.get((account, user), default.get(user, UNSET) if not account else UNSET)
            found[job] = pairs[pair]
        return found
