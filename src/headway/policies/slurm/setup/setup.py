"""From a site and its jobs to the tables of Slurm's controller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.engine.setup import Setup
from headway.engine.tables import Table
from headway.policies.prepare import BOOTING, Arrivals, Prepared
from headway.policies.slurm.backfilling.plan_table import KINDS
from headway.policies.slurm.limits.priority import BASIC
from headway.policies.slurm.nodes.offers import Terms
from headway.policies.slurm.setup.holders import (
    NAMED,
    WAIVERS,
    billing,
    bounds_nodes,
    caps,
    factors,
    holder_rows,
    limits_age,
    limits_nodes,
    other_resources,
    ranks,
    tres_weights,
    tres_whole,
    usage_rows,
)
from headway.policies.slurm.setup.levels import (
    core_words,
    further_total,
    level_table,
    mode_of,
    time_slice,
)
from headway.policies.slurm.setup.life import (
    count_rows,
    gres_asked,
    gres_names,
    gres_of,
    happenings,
    licence_tables,
    reservation_tables,
)
from headway.policies.slurm.setup.record import notes, on_nodes, warm_up_days, warm_up_remark, why_refused
from headway.policies.slurm.setup.requests import Requests, padded
from headway.policies.slurm.setup.site_tables import (
    may_preempt,
    may_run_in_circles,
    members,
    network,
    node_rows,
    node_table,
    partition_rows,
)
from headway.policies.slurm.setup.versions import lay_rules, version_remark
from headway.policies.slurm.tables.bits import packed, words_for
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJob
from headway.policies.slurm.tables.life import Victim
from headway.policies.slurm.tables.passes import Count, Plan, Record, Scratch, Slot, SlurmClock, Work
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import NOTICED_LATE, Preemption, Setting, Weight
from headway.policies.slurm.tables.sites import SlurmNode
from headway.site import Site
from headway.site.access import enforces, limits_are_safe, limits_bind
from headway.site.diagnosis import LATEST
from headway.site.model import UNLIMITED
from headway.site.once import once
from headway.site.topology import is_optional
from headway.units import SECOND, WEEK

Tables = dict[str, Any]
"""Tables of the memory by name."""

MOST_HELD = 1 << 17
"""Ends of running jobs on nodes that there is room for; with more, the search imagines them one by one."""
MOST_OPENINGS = 32
"""Kinds of requests for which it is kept when nodes will do."""
HORIZON = 30 * 24 * 3600
"""How long after the last submission reservations recur, in seconds."""

DELAYS = {"cycle": 0.2, "late": LATEST}
"""How long a cycle takes and how late it is, in seconds, where nobody says."""
CRED_EXPIRE = 120
"""Seconds that a job's credential lasts; so long a job waits at least that comes back to the queue."""


def slurm(params: Mapping[str, object], arrivals: Arrivals, site: Site) -> Prepared:
    """Slurm's rules for a site, ready to run."""
    from headway.policies.slurm.slurm import slurm as hook

    memory, params = controller(site, arrivals, int(str(params["seed"]))), {**DELAYS, **site.delays, **params}
    for setting, name in (
        (Setting.EPILOG, "epilog"), (Setting.CYCLE_TAKES, "cycle"), (Setting.FULL_LATE, "drift"),
        (Setting.LATE, "late"),
    ):  # fmt: skip
        memory.settings[setting] = round(1000 * float(str(params[name])))
    if params.get("submit_limits") == "enforced":
        memory.jobs[SlurmJob.ACCEPTED] = 0
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
        left_out=lambda state: state.memory.jobs[SlurmJob.CANCELLED] > 0,
        own=lambda state: {"usage_warm_up_days": days} if (days := warm_up_days(site)) else {},
        remark="; ".join(filter(None, (warm_up_remark(site), version_remark(site)))),
    )


def controller(site: Site, arrivals: Arrivals, seed: int) -> Memory:
    """The controller's tables before the first job comes."""
    requests = Requests(site, arrivals)
    resources = [*NAMED, *other_resources(site)]
    licences, licences_asked = licence_tables(site, requests.count, requests.life)
    jobs = np.vstack([requests.table(), np.zeros((len(resources), requests.count), np.int64)])
    jobs[SlurmJob.LICENCES] = licences_asked.any(axis=0)
    first, last = _first_and_last(arrivals)
    reservations, reserved = reservation_tables(site, last, HORIZON)
    settings = _settings(site, arrivals, requests, jobs)
    return Memory(
        clock=clocks(settings, first, seed),
        settings=settings,
        weights=weights_of(site),
        jobs=jobs,
        lists=padded(requests.partition_lists, UNSET),
        standing=padded(requests.standings, Reason.NONE),
        adapted=requests.adapted,
        features=requests.features,
        choices=requests.choices,
        required=np.vstack([requests.life.required, np.zeros_like(requests.life.required[:1])]),
        arrays=requests.life.arrays,
        dependencies=requests.life.dependencies,
        happenings=happenings(site, reservations, requests.life.by_users, first, last),
        reservations=reservations,
        reserved=reserved,
        gres_asked=gres_asked(site, requests.count, requests.life),
        licences=licences,
        licences_asked=licences_asked,
        **_of_the_site(site, requests, first),
        **_of_limits(site, requests, resources, first),
        **_of_running_jobs(site, requests.count),
        **_of_a_pass(site, requests, settings, licences.shape[1]),
    )


def _first_and_last(arrivals: Arrivals) -> tuple[int, int]:
    """Seconds of the first and the last submission; 0 where there is none."""
    if not len(arrivals.submit):
        return 0, 0
    first, last = (int(us) // SECOND + arrivals.origin for us in arrivals.submit[[0, -1]])
    return first, last


def _settings(site: Site, arrivals: Arrivals, requests: Requests, jobs: Table) -> Table:
    """The parameters, and what need not be looked at because no job and no limit asks for it."""
    settings = settings_of(site)
    settings[Setting.LIMITS_NODES] = settings[Setting.ENFORCE] and limits_nodes(site)
    settings[Setting.BOUNDS_NODES] = settings[Setting.ENFORCE] and bounds_nodes(site)
    by_user = any(partition.exclusive_user for partition in site.partitions)
    settings[Setting.KEEPS_NODES] = by_user or bool((jobs[SlurmJob.KEEPS_NODES] > 0).any())
    settings[Setting.USERS], settings[Setting.ACCOUNTS] = requests.users, requests.accounts
    settings[Setting.ORIGIN] = arrivals.origin
    settings[Setting.CIRCLES] = may_run_in_circles(site, settings[Setting.PREEMPTION], jobs)
    settings[Setting.RESTRICTS] = any(any(row) for row in requests.standings)
    return settings


def _of_the_site(site: Site, requests: Requests, first: int) -> Tables:
    """Nodes, partitions, switches, generic resources."""
    nodes, in_partition = node_rows(site), members(site)
    nodes[SlurmNode.IDLE_SINCE] = first
    return {
        "nodes": nodes,
        "partitions": partition_rows(site),
        "members": in_partition,
        "words_members": packed(in_partition, len(site.nodes)),
        "words_features": packed(requests.features, len(site.nodes)),
        "gres_total": further_total(site),
        "gres_of": gres_of(site),
        "levels": level_table(site),
        "may_preempt": may_preempt(site),
        **network(site),
    }


def _of_limits(site: Site, requests: Requests, resources: list[str], first: int) -> Tables:
    """What QOS and associations may hold, hold, and have used; and what goes by resources."""
    holders = len(site.qos) + len(site.associations)
    rows, weights = max(holders, 1), tres_weights(site)
    by_user, by_account = (max(len(site.qos), 1) * max(of, 1) for of in (requests.users, requests.accounts))
    limited = [f"gres/{name}" for name in gres_names(site)] + [""] * count_rows(site)
    return {
        "factors": factors(site, holders),
        "holders": holder_rows(site),
        "caps": caps(site, resources),
        "held": np.zeros((rows, len(resources)), np.int64),
        "users": np.zeros((by_user, len(resources) + 1), np.int64),
        "accounts": np.zeros((by_account, len(resources) + 1), np.int64),
        "submitted_by_user": np.zeros(by_user, np.int64),
        "submitted_by_account": np.zeros(by_account, np.int64),
        "ageing_by_user": np.zeros(by_user, np.int64),
        "ageing_by_account": np.zeros(by_account, np.int64),
        "usage": usage_rows(site, first),
        "used": np.zeros((rows, len(resources)), np.float64),
        "billing": billing(site, resources),
        "ranks": ranks(site),
        "gres_tres": np.array([resources.index(n) if n in resources else UNSET for n in limited], np.int64),
        "tres_weights": np.array([weights.get(name, 0.0) for name in resources]),
        "tres_whole": tres_whole(site, resources),
    }


def _of_running_jobs(site: Site, jobs: int) -> Tables:
    """Room for the jobs that run or are suspended, their ends, and what is free after them."""
    nodes, words = len(site.nodes), words_for(len(site.nodes))
    most = min(jobs, site.cpus * max(level_table(site).shape[1], 1)) + 1
    room = min(jobs, nodes) + 1
    return {
        "running": np.zeros((2, most), np.int64),
        "epilogs": np.zeros((2, jobs + nodes + 1), np.int64),
        "victims": np.zeros((len(Victim), most), np.int64),
        "returned": np.zeros(most, np.int64),
        "words_held": np.zeros((room, words), np.int64),
        "words_over": np.zeros((room, words), np.int64),
        "after": np.zeros((len(node_table(site)) + 1, min(site.cpus, MOST_HELD)), np.int64),
    }


def _of_a_pass(site: Site, requests: Requests, settings: Table, licences: int) -> Tables:
    """Room for what one pass of a loop works on: the queue, sets of nodes, slots of time, plans."""
    nodes, words = len(site.nodes), words_for(len(site.nodes))
    slots = int(settings[Setting.BF_TABLE] + 2 * settings[Setting.BF_MAX_TEST] + 8)
    plans = int(2 * settings[Setting.BF_MAX_TEST] + 8)
    longest = max((len(row) for row in requests.partition_lists), default=1)
    queue = requests.count * longest + len(site.associations) + 2
    sorted_anew = queue if settings[Setting.CIRCLES] else 0
    counted = max(requests.users * len(site.partitions), len(site.qos) + len(site.associations), 1)
    kinds = min(len(site.partitions) * len(requests.features), KINDS)
    return {
        "queue": np.zeros((len(Record), queue), np.int64),
        "order": np.zeros((2, sorted_anew), np.int64),
        "listed": np.zeros((len(Record), sorted_anew), np.int64),
        "counts": np.zeros((len(Count), counted), np.int64),
        "trial": node_table(site),
        "imagined": node_table(site),
        "least": np.zeros((1, 1), np.int64),
        "instant": np.zeros((1, 1), np.int64),
        "claims": np.zeros((1, 1), np.int64),
        "work": np.zeros((len(Work), nodes), np.int64),
        "going": np.zeros((core_words(site), nodes), np.int64),
        "sets": np.zeros((len(Scratch), nodes), np.uint8),
        "words_sets": np.zeros((len(Scratch), words), np.int64),
        "slots": np.zeros((len(Slot), slots), np.int64),
        "surveys": np.zeros((slots, kinds + 1), np.int64),
        "words_free": np.zeros((slots, words), np.int64),
        "words_folded": np.zeros((slots, words), np.int64),
        "licences_left": np.zeros((slots, licences), np.int64),
        "plans": np.zeros((len(Plan), plans), np.int64),
        "words_planned": np.zeros((plans, words), np.int64),
        "openings": np.zeros((MOST_OPENINGS, nodes), np.int64),
        "words_open": np.zeros((MOST_OPENINGS, words), np.int64),
        "opened_for": np.zeros((MOST_OPENINGS, 2 + len(Terms._fields) + len(further_total(site))), np.int64),
    }


def clocks(settings: Table, first: int, seed: int) -> Table:
    """When what happened last, before the first submission: phases by the seed."""
    draw = np.random.default_rng(seed)
    clock = np.zeros(len(SlurmClock), np.int64)
    full = 1000 * max(int(settings[Setting.SCHED_INTERVAL]), 1)
    clock[SlurmClock.FULL_NEXT] = 1000 * first + draw.integers(0, full)
    clock[SlurmClock.PASS] = (clock[SlurmClock.FULL_NEXT] - full) // 1000
    interval = 1000 * max(int(settings[Setting.BF_INTERVAL]), 1)
    clock[SlurmClock.CYCLE_NEXT] = 1000 * first + draw.integers(0, interval)
    clock[SlurmClock.CYCLE_END] = (clock[SlurmClock.CYCLE_NEXT] - interval) // 1000
    clock[SlurmClock.STAMP] = clock[SlurmClock.CYCLE_END] - 1
    period = int(settings[Setting.CALC_PERIOD])
    clock[SlurmClock.PRIORITY_NEXT] = first - draw.integers(0, period)
    clock[SlurmClock.PRIORITY_LAST] = clock[SlurmClock.PRIORITY_NEXT] - period
    clock[SlurmClock.BASIC] = BASIC
    clock[SlurmClock.DRAWN] = draw.integers(1, (1 << 31) - 1)
    clock[SlurmClock.SLICE_NEXT] = first + draw.integers(0, max(int(settings[Setting.SLICE]), 1))
    return clock


NUMBERS = (
    (Setting.SCHED_INTERVAL, "sched_interval"), (Setting.BATCH_DELAY, "batch_sched_delay"),
    (Setting.QUEUE_DEPTH, "default_queue_depth"), (Setting.PARTITION_DEPTH, "partition_job_depth"),
    (Setting.MAX_STARTS, "sched_max_job_start"), (Setting.BF_INTERVAL, "bf_interval"),
    (Setting.BF_RESOLUTION, "bf_resolution"), (Setting.BF_MAX_TEST, "bf_max_job_test"),
    (Setting.BF_MAX_START, "bf_max_job_start"), (Setting.BF_MAX_USER, "bf_max_job_user"),
    (Setting.BF_MAX_PART, "bf_max_job_part"), (Setting.BF_MAX_USER_PART, "bf_max_job_user_part"),
    (Setting.BF_MAX_ASSOC, "bf_max_job_assoc"), (Setting.BF_MIN_PRIORITY, "bf_min_prio_reserve"),
    (Setting.BF_MIN_AGE, "bf_min_age_reserve"), (Setting.BF_PART_RESERVE, "bf_job_part_count_reserve"),
    (Setting.BF_WINDOW_LINEAR, "bf_window_linear"), (Setting.BF_MAX_ARRAY, "bf_max_job_array_resv"),
    (Setting.PREEMPT_REORDERS, "preempt_reorder_count"),
)  # fmt: skip
"""Parameters of the scheduler that are numbers."""
FLAGS = (
    (Setting.BF_ONE_RESERVATION, "bf_one_resv_per_job"), (Setting.DEFER, "defer"),
    (Setting.LIMIT_STOPS, "assoc_limit_stop"), (Setting.BUSY_FIRST, "bf_busy_nodes"),
    (Setting.SERIAL_LAST, "pack_serial_at_end"), (Setting.RESERVE_RUNNING, "bf_running_job_reserve"),
    (Setting.BF_LICENCES, "bf_licenses"), (Setting.YOUNGEST_FIRST, "preempt_youngest_first"),
    (Setting.STRICT_ORDER, "preempt_strict_order"),
)  # fmt: skip
"""Those that are there or not."""


@once
def settings_of(site: Site) -> Table:
    """The controller's parameters that are whole numbers."""
    config, row = site.config, np.zeros(len(Setting), np.int64)
    for setting, name in NUMBERS:
        row[setting] = site.scheduling_number(name)
    for setting, name in FLAGS:
        row[setting] = name in site.scheduler
    row[Setting.SCHED_INTERVAL] = row[Setting.SCHED_INTERVAL] or 1
    row[Setting.MIN_INTERVAL] = site.scheduling_number("sched_min_interval") // SECOND
    row[Setting.DEFER] |= "defer_batch" in site.scheduler
    row[Setting.RESERVE_RUNNING] |= row[Setting.BF_LICENCES]
    row[Setting.BF_WINDOW] = 60 * site.scheduling_number("bf_window")
    table = "bf_node_space_size" if "bf_node_space_size" in site.scheduler else "bf_max_job_test"
    row[Setting.BF_TABLE] = site.scheduling_number(table)
    if config.get("SchedulerType").lower().endswith("builtin"):
        row[Setting.BF_INTERVAL] = -1
    row[Setting.CLUSTER_NODES], row[Setting.CLUSTER_CPUS] = len(site.nodes), site.cpus
    row[Setting.CORE_WORDS], row[Setting.SLICE] = core_words(site), time_slice(site)
    if site.switches and not site.is_linear:
        row[Setting.BY_SWITCHES] = 2 if is_optional(config) else 1
    row[Setting.LINEAR] = site.is_linear
    row[Setting.MEMORY] = "MEMORY" in config.get("SelectTypeParameters").upper()
    row[Setting.MEMORY_CPU] = config.number("DefMemPerCPU") or UNSET
    row[Setting.MEMORY_NODE] = config.number("DefMemPerNode") or UNSET
    for write in (_times, _priorities, _accounting, _preemption, lay_rules):
        write(site, row)
    return row


def _times(site: Site, row: Table) -> None:
    """How long the controller waits, and lets jobs run on."""
    config = site.config
    row[Setting.COMPLETE_WAIT] = config.number("CompleteWait")
    row[Setting.KILL_WAIT] = config.number("KillWait")
    row[Setting.IDLE_AT_MOST] = WEEK // SECOND
    row[Setting.MIN_JOB_AGE] = config.number("MinJobAge")
    beyond = config.seconds("ResvOverRun")
    row[Setting.RESERVATION_OVER] = (1 << 32 if beyond is None else beyond) + NOTICED_LATE
    expire = re.search(r"cred_expire=(\d+)", config.get("AuthInfo"))
    row[Setting.REQUEUE_WAIT] = 1 + (int(expire[1]) if expire else CRED_EXPIRE)
    if "requeue_delay" in site.scheduler:
        row[Setting.REQUEUE_WAIT] = 1 + site.scheduling_number("requeue_delay")
    row[Setting.SAVES_POWER] = any(after != UNLIMITED for after, _ in site.power())


def _priorities(site: Site, row: Table) -> None:
    """How priorities are reckoned, and how often."""
    config, flags = site.config, site.config.list("PriorityFlags")
    row[Setting.MULTIFACTOR] = "multifactor" in config.get("PriorityType").lower()
    row[Setting.CALC_PERIOD] = max(config.seconds("PriorityCalcPeriod") or 300, 1)
    row[Setting.MAX_AGE] = max(config.seconds("PriorityMaxAge") or 1, 1)
    row[Setting.FAVOR_SMALL] = config.get("PriorityFavorSmall").upper() == "YES"
    row[Setting.SIZE_BY_TIME] = "SMALL_RELATIVE_TO_TIME" in flags
    row[Setting.MAX_TRES] = "MAX_TRES" in flags
    row[Setting.ACCRUE_ALWAYS] = "ACCRUE_ALWAYS" in flags
    row[Setting.DEPTH_OBLIVIOUS] = "DEPTH_OBLIVIOUS" in flags
    row[Setting.INCREASES_ONLY] = "INCR_ONLY" in flags
    row[Setting.WEIGHS_TRES] = bool(tres_weights(site))
    row[Setting.FAIR_TREE] = not {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"} & set(flags)


def _accounting(site: Site, row: Table) -> None:
    """Which limits are enforced."""
    config = site.config
    row[Setting.HAS_ACCOUNTING] = "slurmdbd" in config.get("AccountingStorageType").lower()
    row[Setting.ENFORCE], row[Setting.SAFE] = limits_bind(site), limits_are_safe(site)
    row[Setting.TESTS_ALL] = enforces(site) == "ALL"
    row[Setting.QOS] = len(site.qos)
    row[Setting.WAIVES] = any({flag.upper() for flag in one.flags} & set(WAIVERS) for one in site.qos)
    limits = [one.limits for one in site.qos] + [one.limits for one in site.associations]
    ends = any(one.grp_tres_mins or one.grp_wall_minutes is not None for one in limits)
    always = "ACCRUE_ALWAYS" in config.list("PriorityFlags")
    row[Setting.LIMITS_AGE] = row[Setting.ENFORCE] and not always and any(map(limits_age, limits))
    row[Setting.MINUTES_END_JOBS] = row[Setting.ENFORCE] and not row[Setting.SAFE] and ends


def _preemption(site: Site, row: Table) -> None:
    """Who may preempt whom, and when."""
    config, kind = site.config, site.config.get("PreemptType").lower()
    given = [one.preempt_mode for one in site.partitions] + [one.preempt_mode for one in site.qos]
    if any(mode_of(site, text) for text in ("", *given)):
        row[Setting.PREEMPTION] = (
            Preemption.BY_QOS if "qos" in kind else Preemption.BY_TIER if "prio" in kind else Preemption.OFF
        )
    row[Setting.PREEMPT_EXEMPT] = max(config.seconds("PreemptExemptTime") or 0, 0)
    row[Setting.PREEMPT_PAUSE] = config.number("KillWait") + config.number("MessageTimeout")


@once
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
    return row
