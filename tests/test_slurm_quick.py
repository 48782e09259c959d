"""What backfill leaves out changes nothing: random sites with and without every short cut, nodes included.

``Setting.PLAIN`` goes through the whole queue and every window, imagines the ends of running jobs one by one
and looks at nodes one by one. Without it cycles stop early, windows are skipped, it is known when each node
will do for a kind of job, and jobs on whole nodes of one kind are placed by counting bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.policies.slurm.setup import setup
from headway.policies.slurm.tables.settings import Settings
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, Node, Partition, Qos, Reservation, Switch
from headway.workload.header import Header

USERS = 4
CONFIG = {
    "SelectTypeParameters": "CR_Core",
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "5000",
    "PriorityWeightJobSize": "700",
    "PriorityWeightPartition": "500",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "limits",
}
PARAMETERS: list[dict[str, str]] = [
    {},
    {"bf_window": "120"},
    {"bf_resolution": "600", "bf_window_linear": "90"},
    {"bf_max_job_test": "7"},
    {"bf_node_space_size": "6"},
    {"bf_max_job_user": "2", "bf_max_job_start": "2"},
    {"bf_max_job_part": "5", "bf_max_job_assoc": "3"},
    {"bf_min_age_reserve": "900", "bf_one_resv_per_job": ""},
    {"bf_job_part_count_reserve": "2"},
    {"bf_min_prio_reserve": "3000", "default_queue_depth": "3"},
    {"assoc_limit_stop": ""},
    {"partition_job_depth": "4", "sched_max_job_start": "1"},
]


PREEMPTION = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}


def random_site(seed: int, parameters: dict[str, str], alike: bool, nodes: int) -> Site:
    """Overlapping partitions; nodes of one kind, or of several with features; limits of a QOS."""
    draw = np.random.default_rng(seed)
    kinds = [Node("", 4, memory_mb=8000), Node("", 8, memory_mb=16000, weight=2, features=("large",))]
    chosen = np.zeros(nodes, int) if alike else np.sort(draw.integers(0, 2, nodes))
    third = nodes // 3
    partitions = (
        Partition("batch", tuple(range(nodes)), max_minutes=600, is_default=True),
        Partition("long", tuple(range(2 * third)), min_nodes=2, max_nodes=third + 1, max_cpus_per_node=4),
        Partition("short", tuple(range(third, nodes)), max_minutes=60, tier=3, job_factor=5),
    )
    if seed % 3 == 0:
        partitions = (replace(partitions[0], oversubscribe="EXCLUSIVE"), *partitions[1:])
    users = tuple(Association("a", f"u{user}", parent=1, shares=1 + user) for user in range(USERS))
    return Site(
        "random",
        tuple(replace(kinds[kind], name=f"n{k}") for k, kind in enumerate(chosen.tolist())),
        partitions,
        qos=(Qos("normal", limits=Limits(max_tres_per_user={"cpu": 3 * nodes})), Qos("free", priority=5)),
        associations=(Association("root"), Association("a", parent=0), *users),
        config=Config.of(CONFIG | ({"SelectTypeParameters": "CR_Core_Memory"} if seed % 2 else {})),
        scheduler=parameters,
    )


def random_jobs(seed: int, nodes: int, count: int = 70) -> headway.Workload:
    """Jobs that keep a queue for hours: wide and narrow, whole nodes or some CPUs."""
    draw = np.random.default_rng(seed + 1000)
    wide = np.minimum(2 ** draw.integers(0, 1 + int(np.log2(nodes // 2)), count), nodes // 3)
    limit = draw.choice([5, 10, 30, 60, 120, 300], count)
    each = draw.integers(1, 5, count)
    whole = draw.random(count) < (0.5, 0.9, 1.0)[seed % 3]
    return headway.Workload.from_arrays(
        unit="s",
        submit=np.sort(draw.integers(0, 7200, count)),
        procs=wide * each,
        runtime=np.maximum(limit * 60 * draw.random(count), 1).astype(int),
        walltime=limit * 60,
        user=draw.integers(0, USERS, count),
        account=np.zeros(count, np.int64),
        qos=draw.integers(0, 2, count),
        partition=np.where(limit <= 60, draw.integers(0, 4, count), draw.integers(0, 2, count)),
        min_nodes=wide,
        max_nodes=np.where(draw.random(count) < 0.3, wide + draw.integers(0, 3, count), wide),
        cpus=wide * each,
        tasks=wide * each,
        cpus_per_task=np.ones(count, np.int64),
        memory_node_mb=np.where(draw.random(count) < 0.5, 3000, -1),
        exclusive=whole.astype(np.int64),
        constraint=np.where(draw.random(count) < 0.1, 0, -1),
        header=Header(["; UnixStartTime: 1700000000"]),
        labels={
            "partition": ["batch", "long", "short", "short,batch"],
            "user": [f"u{user}" for user in range(USERS)],
            "account": ["a"],
            "qos": ["normal", "free"],
            "constraint": ["large"],
        },
    )


def simulated(log: headway.Workload, site: Site, seed: int, plain: bool) -> Schedule:
    """Jobs that nothing lets start are turned away when the machine was idle for an hour, not for a week."""
    original = setup.settings_of

    def settings_of(site: Site) -> Settings:
        row = original(site)
        row.plain, row.idle_at_most = plain, 3600
        return row

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "settings_of", settings_of)
        return headway.simulate(log, site.platform(), f"slurm(seed={seed})")


def assert_the_same(quick: Schedule, plain: Schedule) -> None:
    assert quick.start.tolist() == plain.start.tolist()
    assert quick.shares is not None and plain.shares is not None
    assert quick.shares.node.tolist() == plain.shares.node.tolist()
    assert quick.shares.cpus.tolist() == plain.shares.cpus.tolist()


@pytest.mark.parametrize("alike", [True, False], ids=["alike", "unlike"])
@pytest.mark.parametrize("place", range(len(PARAMETERS)), ids=lambda place: " ".join(PARAMETERS[place]))
def test_short_cuts_change_nothing(place: int, alike: bool) -> None:
    """Two sites for each parameter; one has more nodes than a word has bits."""
    for seed, nodes in ((place, 12), (place + 50, 140)):
        site, log = random_site(seed, PARAMETERS[place], alike, nodes), random_jobs(seed, nodes)
        if alike:
            log = log.with_columns(constraint=np.full(len(log), -1))
        quick, plain = (simulated(log, site, seed, short) for short in (False, True))
        assert (quick.start > quick.workload.submit + 60_000_000).mean() > 0.2  # there is a queue
        assert_the_same(quick, plain)


def random_tree(seed: int, nodes: int) -> tuple[Switch, ...]:
    """Leaves of a few nodes each, some of which two leaves have; switches above two to four others up to one
    root, or two trees."""
    draw = np.random.default_rng(seed + 2000)
    ends = np.unique(np.append(draw.integers(1, nodes, max(nodes // 5, 2)), nodes)).tolist()
    leaves = [tuple(range(first, last)) for first, last in zip([0, *ends], ends, strict=False)]
    if seed % 4 == 1:
        leaves[0] = (*leaves[0], *leaves[1][:1])
    made = [Switch(f"s{k}", 0, k, below) for k, below in enumerate(leaves)]
    level, roots = list(range(len(made))), 2 if seed % 4 == 3 else 1
    while len(level) > roots:
        width, above = int(draw.integers(2, 5)), []
        for first in range(0, len(level), width):
            below = level[first : first + width]
            for child in below:
                made[child] = replace(made[child], parent=len(made))
            nodes_below = sorted({node for child in below for node in made[child].nodes})
            above.append(len(made))
            highest = 1 + max(made[child].level for child in below)
            made.append(Switch(f"s{len(made)}", highest, len(made), tuple(nodes_below)))
        level = above
    return tuple(made)


@pytest.mark.parametrize("seed", range(8))
def test_short_cuts_change_nothing_below_a_tree_of_switches(seed: int) -> None:
    """Nodes are alike; with seeds 3 and 7 there may be two trees, so that counting nodes is not enough."""
    nodes = 12 if seed % 2 else 140
    site, log = random_site(seed, {}, True, nodes), random_jobs(seed, nodes)
    site = replace(site, switches=random_tree(seed, nodes))
    log = log.with_columns(constraint=np.full(len(log), -1), switches=np.where(log.job % 9 == 0, 1, 0))
    quick, plain = (simulated(log, site, seed, short) for short in (False, True))
    assert_the_same(quick, plain)
    without = simulated(log, replace(site, switches=()), seed, False)
    assert without.shares is not None and quick.shares is not None
    assert without.shares.node.tolist() != quick.shares.node.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_short_cuts_change_nothing_where_jobs_preempt_others(seed: int) -> None:
    site, log = random_site(seed, {}, True, 12), random_jobs(seed, 12)
    site = replace(site, config=Config.of(CONFIG | PREEMPTION))
    log = log.with_columns(constraint=np.full(len(log), -1))
    assert_the_same(*(simulated(log, site, seed, plain) for plain in (False, True)))


def shared_site(seed: int, nodes: int) -> Site:
    """Unlike nodes that jobs share: features, weights, GPUs, switches, a reservation, preemption."""
    scheduler = PARAMETERS[0], {"bf_busy_nodes": ""}, PARAMETERS[3]
    draw = np.random.default_rng(seed + 3000)
    site, features = random_site(seed, scheduler[seed % 3], False, nodes), ((), ("a",), ("b",), ("a", "b"))
    kinds = draw.integers(0, 4, nodes).tolist()
    config = CONFIG | {"SelectTypeParameters": "CR_Core_Memory", "GresTypes": "gpu"}
    some = tuple(sorted(draw.choice(nodes, nodes // 4, replace=False).tolist()))
    return replace(
        site,
        nodes=tuple(
            replace(
                node, features=node.features + features[kind], weight=1 + kind % 2, gres={"gpu": kind // 2}
            )
            for node, kind in zip(site.nodes, kinds, strict=True)
        ),
        switches=random_tree(seed, nodes) if seed % 2 else (),
        config=Config.of(config | (PREEMPTION if seed % 3 == 1 else {})),
        reservations=(Reservation("m", 1_700_003_600, 1_700_009_000, some),) if seed % 4 == 2 else (),
    )


def shared_jobs(seed: int, nodes: int, count: int = 120) -> headway.Workload:
    """Small jobs, most of one node, with constraints, memory and GPUs; of few kinds, as users send them."""
    draw, log = np.random.default_rng(seed + 4000), random_jobs(seed, nodes, count)
    wide, each = draw.choice([1, 1, 1, 2, 4], count), draw.choice([1, 3, 6], count)
    tasks = np.where(draw.random(count) < 0.5, wide, wide * each)
    return log.with_columns(
        exclusive=(draw.random(count) < 0.1).astype(np.int64),
        min_nodes=wide,
        max_nodes=np.where(draw.random(count) < 0.7, wide, -1),
        cpus=wide * each,
        tasks=tasks,
        cpus_per_task=wide * each // tasks,
        memory_node_mb=draw.choice([-1, 500, 3000, 7000], count),
        constraint=np.where(draw.random(count) < 0.3, draw.integers(0, 4, count), -1),
        gres=np.where(draw.random(count) < 0.1, 0, -1),
    ).with_labels(constraint=["large", "a|b", "[a|b]", "a&b"], gres=["gpu:1"])


@pytest.mark.parametrize("seed", range(8))
def test_short_cuts_change_nothing_where_jobs_share_unlike_nodes(seed: int) -> None:
    nodes = 12 if seed % 2 else 70
    site, log = shared_site(seed, nodes), shared_jobs(seed, nodes, 120 if seed % 2 else 400)
    quick, plain = (simulated(log, site, seed, short) for short in (False, True))
    assert (quick.start > quick.workload.submit + 60_000_000).mean() > 0.2  # there is a queue
    assert_the_same(quick, plain)


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_change_nothing_with_gpus_for_whole_jobs(seed: int) -> None:
    """Half of the jobs want GPUs on all of their nodes together, some with CPUs or memory for each."""
    site, log = shared_site(seed, 12), shared_jobs(seed, 12)
    draw, none = np.random.default_rng(seed + 5000), np.zeros(len(log), np.int64)
    gpus = tuple(replace(node, gres={"gpu": 2 * node.gres["gpu"]}) for node in site.nodes)
    wants, by_task = draw.random(len(log)) < 0.5, draw.random(len(log)) < 0.3
    tasks = np.where(wants, np.minimum(log.columns["tasks"], 3), log.columns["tasks"])
    log = log.with_columns(
        tasks=tasks,
        gres=np.where(wants, 0, -1),
        gres_units=np.where(wants, np.where(by_task, tasks, draw.integers(1, 5, len(log))), 0),
        gres_by_task=np.where(wants & by_task, 1, none),
        cpus_per_gpu=np.where(wants & ~by_task, draw.integers(0, 3, len(log)), 0),
        memory_gpu_mb=np.where(wants & (draw.random(len(log)) < 0.3), 500, none),
        any_tasks=np.where(wants & ~by_task, draw.integers(0, 2, len(log)), 0),
    )
    site = replace(site, nodes=gpus)
    assert_the_same(*(simulated(log, site, seed, short) for short in (False, True)))


@pytest.mark.parametrize("seed", [0, 1, 114])
def test_short_cuts_change_nothing_where_jobs_leave_threads_idle(seed: int) -> None:
    """A job that uses one thread of each core holds all of them, and has another size in its priority once it
    is planned."""
    nodes = 12 if seed % 2 else 140
    site, log = random_site(seed, {}, True, nodes), random_jobs(seed, nodes)
    site = replace(site, nodes=tuple(replace(one, threads_per_core=2) for one in site.nodes))
    draw, none = np.random.default_rng(seed), np.full(len(log), -1)
    thread, core = ((draw.random(len(log)) < 0.3) + 0 for _ in range(2))
    exclusive = np.ones_like(none)
    log = log.with_columns(constraint=none, exclusive=exclusive, one_thread=thread, one_task_core=core)
    assert_the_same(*(simulated(log, site, seed, short) for short in (False, True)))


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_change_nothing_under_select_linear(seed: int) -> None:
    nodes = 12 if seed % 2 else 40
    site, log = random_site(seed, {}, seed % 2 > 0, nodes), random_jobs(seed, nodes)
    site = replace(site, config=Config.of(CONFIG | {"SelectType": "select/linear"}))
    assert_the_same(*(simulated(log, site, seed, short) for short in (False, True)))


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_change_nothing_where_nodes_are_switched_off(seed: int) -> None:
    """Jobs come three times as slowly, so that nodes are idle for long; every other site is shared."""
    site, log = shared_site(seed, 12), shared_jobs(seed, 12)
    if seed % 2 == 0:
        site, log = random_site(seed, {}, True, 12), random_jobs(seed, 12)
        log = log.with_columns(constraint=np.full(len(log), -1))
    config, log = dict(site.config.items()), log.with_columns(submit=3 * log.submit)
    saves = replace(site, config=Config.of(config | {"SuspendTime": "60", "ResumeTimeout": "300"}))
    quick, plain = (simulated(log, saves, seed, short) for short in (False, True))
    assert_the_same(quick, plain)
    assert quick.start.tolist() != simulated(log, site, seed, False).start.tolist()


@pytest.mark.parametrize(("seed", "place"), [(29, 5), (39, 8)])
def test_cycles_reach_jobs_whose_size_every_plan_may_change(seed: int, place: int) -> None:
    """With several CPUs a task on several nodes: the CPUs that their priority goes by depend on the nodes."""
    site, log = shared_site(seed, 12), shared_jobs(seed, 12)
    shared = tuple(replace(one, oversubscribe="NO") for one in site.partitions)
    site = replace(site, scheduler=PARAMETERS[place], partitions=shared)
    assert_the_same(*(simulated(log, site, seed, plain) for plain in (False, True)))


def test_too_many_ends_on_nodes_are_imagined_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    site, log = shared_site(0, 12), shared_jobs(0, 12)
    whole = simulated(log, site, 0, False)
    monkeypatch.setattr(setup, "MOST_HELD", 5)
    assert_the_same(simulated(log, site, 0, False), whole)


@pytest.mark.parametrize("scheduler", [{}, {"bf_licenses": ""}], ids=["counted", "planned"])
@pytest.mark.parametrize("seed", range(3))
def test_short_cuts_change_nothing_with_licences_and_nodes_of_one_user(
    seed: int, scheduler: dict[str, str]
) -> None:
    """Nor are more licences in use than there are, and users meet on no node that one of them keeps."""
    draw, log = np.random.default_rng(seed), random_jobs(seed, 12)
    site = random_site(seed, scheduler, True, 12)
    first, *others = site.partitions
    own = replace(first, exclusive_user=seed == 1)
    site = replace(site, licenses={"m": 3, "f": 2}, partitions=(own, *others))
    log = log.with_columns(
        constraint=np.full(len(log), -1),
        licenses=draw.integers(-1, 3, len(log)),
        exclusive_user=(draw.random(len(log)) < 0.2 * seed).astype(np.int64),
    ).with_labels(licenses=["m:1", "m:2,f:1", "f:2"])
    quick, plain = (simulated(log, site, seed, short) for short in (False, True))
    assert_the_same(quick, plain)
    asked = quick.workload.columns["licenses"] + 1
    for t in quick.start.tolist():
        runs = (quick.start <= t) & (quick.end > t)
        assert np.array([0, 1, 2, 0])[asked[runs]].sum() <= 3
        assert np.array([0, 0, 1, 2])[asked[runs]].sum() <= 2
    assert_users_keep_apart(quick, site)


def assert_users_keep_apart(schedule: Schedule, site: Site) -> None:
    """Jobs of two users are on one node at once only if neither of them has it for its user alone."""
    assert schedule.shares is not None and schedule.partition is not None
    by_user = np.array([one.exclusive_user for one in site.partitions])[schedule.partition]
    keeps = by_user | (schedule.workload.columns["exclusive_user"] > 0)
    user, on = schedule.workload.user, np.zeros((len(keeps), len(site.nodes)), np.bool_)
    on[schedule.shares.job, schedule.shares.node] = True
    for job in np.flatnonzero(keeps).tolist():
        at_once = (schedule.start < schedule.end[job]) & (schedule.end > schedule.start[job])
        assert not (on[at_once & (user != user[job])] & on[job]).any()
