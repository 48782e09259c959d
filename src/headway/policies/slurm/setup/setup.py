"""From a site and its jobs to the tables of Slurm's controller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import Nodes
from headway.jit.rows import zeros
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
from headway.policies.slurm.tables.jobs import Adapted, SlurmJobs
from headway.policies.slurm.tables.life import Victims
from headway.policies.slurm.tables.passes import Counts, Plans, Records, Scratch, Slots, SlurmClock, Work
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.settings import NOTICED_LATE, Preemption, Settings, Weights
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
        (Settings["epilog"], "epilog"), (Settings["cycle_takes"], "cycle"), (Settings["full_late"], "drift"),
        (Settings["late"], "late"),
    ):  # fmt: skip
        memory.settings[setting] = round(1000 * float(str(params[name])))
    if params.get("submit_limits") == "enforced":
        memory.jobs.accepted[:] = 0
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
        left_out=lambda state: state.memory.jobs.cancelled > 0,
        own=lambda state: {"usage_warm_up_days": days} if (days := warm_up_days(site)) else {},
        remark="; ".join(filter(None, (warm_up_remark(site), version_remark(site)))),
    )


def controller(site: Site, arrivals: Arrivals, seed: int) -> Memory:
    """The controller's tables before the first job comes."""
    requests = Requests(site, arrivals)
    resources = [*NAMED, *other_resources(site)]
    licences, licences_asked = licence_tables(site, requests.count, requests.life)
    jobs = requests.table(len(resources))
    jobs.licences[:] = licences_asked.any(axis=0)
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
        adapted=Adapted(requests.adapted),
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


def _settings(site: Site, arrivals: Arrivals, requests: Requests, jobs: SlurmJobs) -> Settings:
    """The parameters, and what need not be looked at because no job and no limit asks for it."""
    settings = settings_of(site)
    settings.limits_nodes = settings.enforce and limits_nodes(site)
    settings.bounds_nodes = settings.enforce and bounds_nodes(site)
    by_user = any(partition.exclusive_user for partition in site.partitions)
    settings.keeps_nodes = by_user or bool((jobs.keeps_nodes > 0).any())
    settings.users, settings.accounts = requests.users, requests.accounts
    settings.origin = arrivals.origin
    settings.circles = may_run_in_circles(site, settings.preemption, jobs)
    settings.restricts = any(any(row) for row in requests.standings)
    return settings


def _of_the_site(site: Site, requests: Requests, first: int) -> Tables:
    """Nodes, partitions, switches, generic resources."""
    nodes, in_partition = node_rows(site), members(site)
    nodes.idle_since[:] = first
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
        "victims": zeros(Victims, most),
        "returned": np.zeros(most, np.int64),
        "words_held": np.zeros((room, words), np.int64),
        "words_over": np.zeros((room, words), np.int64),
        "after": Nodes(np.zeros((len(node_table(site)) + 1, min(site.cpus, MOST_HELD)), np.int64)),
    }


def _of_a_pass(site: Site, requests: Requests, settings: Settings, licences: int) -> Tables:
    """Room for what one pass of a loop works on: the queue, sets of nodes, slots of time, plans."""
    nodes, words = len(site.nodes), words_for(len(site.nodes))
    slots = int(settings.bf_table + 2 * settings.bf_max_test + 8)
    plans = int(2 * settings.bf_max_test + 8)
    longest = max((len(row) for row in requests.partition_lists), default=1)
    queue = requests.count * longest + len(site.associations) + 2
    sorted_anew = queue if settings.circles else 0
    counted = max(requests.users * len(site.partitions), len(site.qos) + len(site.associations), 1)
    kinds = min(len(site.partitions) * len(requests.features), KINDS)
    return {
        "queue": zeros(Records, queue),
        "order": np.zeros((2, sorted_anew), np.int64),
        "listed": zeros(Records, sorted_anew),
        "counts": zeros(Counts, counted),
        "trial": Nodes(node_table(site)),
        "imagined": Nodes(node_table(site)),
        "least": Nodes(np.zeros((1, 1), np.int64)),
        "instant": Nodes(np.zeros((1, 1), np.int64)),
        "claims": np.zeros((1, 1), np.int64),
        "work": zeros(Work, nodes),
        "going": np.zeros((core_words(site), nodes), np.int64),
        "sets": np.zeros((len(Scratch), nodes), np.uint8),
        "words_sets": np.zeros((len(Scratch), words), np.int64),
        "slots": zeros(Slots, slots),
        "surveys": np.zeros((slots, kinds + 1), np.int64),
        "words_free": np.zeros((slots, words), np.int64),
        "words_folded": np.zeros((slots, words), np.int64),
        "licences_left": np.zeros((slots, licences), np.int64),
        "plans": zeros(Plans, plans),
        "words_planned": np.zeros((plans, words), np.int64),
        "openings": np.zeros((MOST_OPENINGS, nodes), np.int64),
        "words_open": np.zeros((MOST_OPENINGS, words), np.int64),
        "opened_for": np.zeros((MOST_OPENINGS, 2 + len(Terms._fields) + len(further_total(site))), np.int64),
    }


def clocks(settings: Settings, first: int, seed: int) -> SlurmClock:
    """When what happened last, before the first submission: phases by the seed."""
    draw = np.random.default_rng(seed)
    clock = zeros(SlurmClock)
    full = 1000 * max(int(settings.sched_interval), 1)
    clock.full_next = 1000 * first + int(draw.integers(0, full))
    clock.last_pass = (clock.full_next - full) // 1000
    interval = 1000 * max(int(settings.bf_interval), 1)
    clock.cycle_next = 1000 * first + int(draw.integers(0, interval))
    clock.cycle_end = (clock.cycle_next - interval) // 1000
    clock.stamp = clock.cycle_end - 1
    period = int(settings.calc_period)
    clock.priority_next = first - int(draw.integers(0, period))
    clock.priority_last = clock.priority_next - period
    clock.basic = BASIC
    clock.drawn = int(draw.integers(1, (1 << 31) - 1))
    clock.slice_next = first + int(draw.integers(0, max(int(settings.slice), 1)))
    return clock


NUMBERS = (
    (Settings["sched_interval"], "sched_interval"), (Settings["batch_delay"], "batch_sched_delay"),
    (Settings["queue_depth"], "default_queue_depth"), (Settings["partition_depth"], "partition_job_depth"),
    (Settings["max_starts"], "sched_max_job_start"), (Settings["bf_interval"], "bf_interval"),
    (Settings["bf_resolution"], "bf_resolution"), (Settings["bf_max_test"], "bf_max_job_test"),
    (Settings["bf_max_start"], "bf_max_job_start"), (Settings["bf_max_user"], "bf_max_job_user"),
    (Settings["bf_max_part"], "bf_max_job_part"), (Settings["bf_max_user_part"], "bf_max_job_user_part"),
    (Settings["bf_max_assoc"], "bf_max_job_assoc"), (Settings["bf_min_priority"], "bf_min_prio_reserve"),
    (Settings["bf_min_age"], "bf_min_age_reserve"),
    (Settings["bf_part_reserve"], "bf_job_part_count_reserve"),
    (Settings["bf_window_linear"], "bf_window_linear"), (Settings["bf_max_array"], "bf_max_job_array_resv"),
    (Settings["preempt_reorders"], "preempt_reorder_count"),
)  # fmt: skip
"""Parameters of the scheduler that are numbers."""
FLAGS = (
    (Settings["bf_one_reservation"], "bf_one_resv_per_job"), (Settings["defer"], "defer"),
    (Settings["limit_stops"], "assoc_limit_stop"), (Settings["busy_first"], "bf_busy_nodes"),
    (Settings["serial_last"], "pack_serial_at_end"), (Settings["reserve_running"], "bf_running_job_reserve"),
    (Settings["bf_licences"], "bf_licenses"), (Settings["youngest_first"], "preempt_youngest_first"),
    (Settings["strict_order"], "preempt_strict_order"),
)  # fmt: skip
"""Those that are there or not."""


@once
def settings_of(site: Site) -> Settings:
    """The controller's parameters that are whole numbers."""
    config, row = site.config, zeros(Settings)
    for setting, name in NUMBERS:
        row[setting] = site.scheduling_number(name)
    for setting, name in FLAGS:
        row[setting] = name in site.scheduler
    row.sched_interval = row.sched_interval or 1
    row.min_interval = site.scheduling_number("sched_min_interval") // SECOND
    row.defer |= "defer_batch" in site.scheduler
    row.reserve_running |= row.bf_licences
    row.bf_window = 60 * site.scheduling_number("bf_window")
    table = "bf_node_space_size" if "bf_node_space_size" in site.scheduler else "bf_max_job_test"
    row.bf_table = site.scheduling_number(table)
    if config.get("SchedulerType").lower().endswith("builtin"):
        row.bf_interval = -1
    row.cluster_nodes, row.cluster_cpus = len(site.nodes), site.cpus
    row.core_words, row.slice = core_words(site), time_slice(site)
    if site.switches and not site.is_linear:
        row.by_switches = 2 if is_optional(config) else 1
    row.linear = site.is_linear
    row.memory = "MEMORY" in config.get("SelectTypeParameters").upper()
    row.memory_cpu = config.number("DefMemPerCPU") or UNSET
    row.memory_node = config.number("DefMemPerNode") or UNSET
    for write in (_times, _priorities, _accounting, _preemption, lay_rules):
        write(site, row)
    return row


def _times(site: Site, row: Settings) -> None:
    """How long the controller waits, and lets jobs run on."""
    config = site.config
    row.complete_wait = config.number("CompleteWait")
    row.kill_wait = config.number("KillWait")
    row.idle_at_most = WEEK // SECOND
    row.min_job_age = config.number("MinJobAge")
    beyond = config.seconds("ResvOverRun")
    row.reservation_over = (1 << 32 if beyond is None else beyond) + NOTICED_LATE
    expire = re.search(r"cred_expire=(\d+)", config.get("AuthInfo"))
    row.requeue_wait = 1 + (int(expire[1]) if expire else CRED_EXPIRE)
    if "requeue_delay" in site.scheduler:
        row.requeue_wait = 1 + site.scheduling_number("requeue_delay")
    row.saves_power = any(after != UNLIMITED for after, _ in site.power())


def _priorities(site: Site, row: Settings) -> None:
    """How priorities are reckoned, and how often."""
    config, flags = site.config, site.config.list("PriorityFlags")
    row.multifactor = "multifactor" in config.get("PriorityType").lower()
    row.calc_period = max(config.seconds("PriorityCalcPeriod") or 300, 1)
    row.max_age = max(config.seconds("PriorityMaxAge") or 1, 1)
    row.favor_small = config.get("PriorityFavorSmall").upper() == "YES"
    row.size_by_time = "SMALL_RELATIVE_TO_TIME" in flags
    row.max_tres = "MAX_TRES" in flags
    row.accrue_always = "ACCRUE_ALWAYS" in flags
    row.depth_oblivious = "DEPTH_OBLIVIOUS" in flags
    row.increases_only = "INCR_ONLY" in flags
    row.weighs_tres = bool(tres_weights(site))
    row.fair_tree = not {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"} & set(flags)


def _accounting(site: Site, row: Settings) -> None:
    """Which limits are enforced."""
    config = site.config
    row.has_accounting = "slurmdbd" in config.get("AccountingStorageType").lower()
    row.enforce, row.safe = limits_bind(site), limits_are_safe(site)
    row.tests_all = enforces(site) == "ALL"
    row.qos = len(site.qos)
    row.waives = any({flag.upper() for flag in one.flags} & set(WAIVERS) for one in site.qos)
    limits = [one.limits for one in site.qos] + [one.limits for one in site.associations]
    ends = any(one.grp_tres_mins or one.grp_wall_minutes is not None for one in limits)
    always = "ACCRUE_ALWAYS" in config.list("PriorityFlags")
    row.limits_age = row.enforce and not always and any(map(limits_age, limits))
    row.minutes_end_jobs = row.enforce and not row.safe and ends


def _preemption(site: Site, row: Settings) -> None:
    """Who may preempt whom, and when."""
    config, kind = site.config, site.config.get("PreemptType").lower()
    given = [one.preempt_mode for one in site.partitions] + [one.preempt_mode for one in site.qos]
    if any(mode_of(site, text) for text in ("", *given)):
        row.preemption = (
            Preemption.BY_QOS if "qos" in kind else Preemption.BY_TIER if "prio" in kind else Preemption.OFF
        )
    row.preempt_exempt = max(config.seconds("PreemptExemptTime") or 0, 0)
    row.preempt_pause = config.number("KillWait") + config.number("MessageTimeout")


@once
def weights_of(site: Site) -> Weights:
    """Weights of priority and other numbers with fractions."""
    config = site.config
    row = zeros(Weights)
    for weight, name in (
        (Weights["age"], "Age"), (Weights["association"], "Assoc"), (Weights["fairshare"], "Fairshare"),
        (Weights["size"], "JobSize"), (Weights["partition"], "Partition"), (Weights["qos"], "QOS"),
    ):  # fmt: skip
        row[weight] = config.number(f"PriorityWeight{name}")
    half_life = config.seconds("PriorityDecayHalfLife")
    row.decay = 1 - 0.693 / half_life if half_life else 1.0
    row.dampening = max(config.number("FairShareDampeningFactor"), 1)
    return row
