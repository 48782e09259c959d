"""What Slurm bills jobs for, and limits that count it, on sites small enough to be worked out by hand.

Nodes n1 to n4 have four CPUs each; nothing delays the controller. Times are seconds after the first
submission.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headway.engine.setup import Jobs, make_state
from headway.engine.tables import Phase
from headway.jit.kernels import entry
from headway.policies.prepare import Arrivals
from headway.policies.slurm.life.starting import FILLING, MAIN, STARTED, try_start, weigh_at_submission
from headway.policies.slurm.nodes.offers import UNIT
from headway.policies.slurm.setup.life import usage_resets
from headway.policies.slurm.tables.passes import Scratch
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, Node, Partition, Qos
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site, starts

ACCOUNTING = {
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "limits",
    "PriorityType": "priority/multifactor",
    "PriorityDecayHalfLife": "0",
}
ALL = (0, 1, 2, 3)


def shared(config: dict[str, str], **of_partition: Any) -> Site:
    """Ann and Bob have equal shares; fair share decides who goes first."""
    made = site(
        ACCOUNTING | {"SelectTypeParameters": "CR_Core_Memory", "PriorityWeightFairshare": "1000"} | config,
        partitions=(Partition("main", ALL, is_default=True, def_mem_per_cpu_mb=1, **of_partition),),
        associations=(
            Association("root"),
            *(Association(who, parent=0) for who in ("a", "b")),
            Association("a", "ann", parent=1),
            Association("b", "bob", parent=2),
        ),
    )
    return replace(made, nodes=tuple(replace(one, gres={"gpu": 4}, memory_mb=1000) for one in made.nodes))


@pytest.mark.parametrize(
    ("weights", "flags", "ann", "bob", "first"),
    [
        ({"cpu": 1.0, "gres/gpu": 10.0}, "", (2, 2, ""), (2, 2, "gpu:1"), "ann"),
        ({"cpu": 0.4}, "", (1, 1, ""), (2, 2, ""), "ann"),
        ({"gres/gpu": 1.0}, "", (1, 1, "gpu:1"), (4, 4, ""), "bob"),
        ({"cpu": 1.0, "mem": 0.01}, "", (2, 300, ""), (4, 4, ""), "bob"),
        ({"cpu": 1.0, "mem": 0.01}, "MAX_TRES", (2, 300, ""), (4, 4, ""), "ann"),
    ],
)
def test_jobs_are_billed_by_the_weights_of_their_partition(
    weights: dict[str, float], flags: str, ann: tuple[int, int, str], bob: tuple[int, int, str], first: str
) -> None:
    """Each has run a job (CPUs, MB, GPUs) for 50 minutes. Then a job of all nodes ends, and two more of all
    nodes wait: the one of whoever was billed less starts, although the other user's was submitted before it.

    Accelerators count, and fractions of a unit; whom the weights give nothing for is billed nothing. With
    MAX_TRES the most of 2 for CPUs and 3 for memory counts, without it the sum.
    """
    other = "bob" if first == "ann" else "ann"
    users = ["ann", "bob", "", other, first]
    jobs = log(
        (0, 1, 60, 50), (0, 1, 60, 50), (3000, 4, 60, 30), (3600, 4, 60, 5), (3700, 4, 60, 5),
        cpus=[ann[0], bob[0], 16, 16, 16], tasks=[ann[0], bob[0], 16, 16, 16], exclusive=[0, 0, 1, 1, 1],
        memory_node_mb=[ann[1], bob[1], 100, 100, 100], gres=[ann[2], bob[2], "", "", ""],
        user=users, account=[one[:1] for one in users],
    )  # fmt: skip
    *_, third, before, after = starts(jobs, shared({"PriorityFlags": flags}, billing_weights=weights))
    assert third < 3060 and after < before


@pytest.mark.parametrize(
    ("flags", "ann", "bob", "first"),
    [
        ("", (1, 40), (3, 20), "bob"),
        ("DEPTH_OBLIVIOUS", (1, 40), (3, 20), "ann"),
        ("DEPTH_OBLIVIOUS", (1, 43), (3, 19), "bob"),
    ],
)
def test_a_well_served_user_of_an_ill_served_account(
    flags: str, ann: tuple[int, int], bob: tuple[int, int], first: str
) -> None:
    """Ann has half of account a and did all that a did (CPUs, minutes), Bob is alone in b; a and b are equal.

    Of 100 minutes Ann used 40: twice her part of a. Classic fair share holds 0.4 / 0.25 = 1.6 against her and
    0.6 / 0.5 = 1.2 against Bob. With DEPTH_OBLIVIOUS it is her account's 0.8 times 2 to the power
    1 / (1 + (5 ln 0.8)^2), which is 1.09. With 43 minutes it is 0.86 x 2^0.64 = 1.34 against Bob's 1.14.
    """
    tree = {"PriorityFlags": f"NO_FAIR_TREE,{flags}", "PriorityWeightFairshare": "1000"}
    on = site(
        ACCOUNTING | tree,
        associations=(
            Association("root"),
            *(Association(name, parent=0) for name in ("a", "b")),
            *(Association("a", who, parent=1) for who in ("ann", "ada")),
            Association("b", "bob", parent=2),
        ),
    )
    users = ["ann", "bob", "", "bob" if first == "ann" else "ann", first]
    cpus = [ann[0], bob[0], 16, 16, 16]
    jobs = log(
        (0, 1, 60, ann[1]), (0, 1, 60, bob[1]), (3000, 4, 60, 30), (3600, 4, 60, 5), (3700, 4, 60, 5),
        cpus=cpus, tasks=cpus, exclusive=[0, 0, 1, 1, 1], user=users, account=[one[:1] for one in users],
    )  # fmt: skip
    *_, third, before, after = starts(jobs, on)
    assert third < 3060 and after < before


def limited(**limits: Any) -> Site:
    """The partition's QOS has the limits; jobs have another one, of which `half` counts half."""
    return site(
        ACCOUNTING,
        qos=(
            Qos("normal"),
            Qos("half", usage_factor=0.5),
            Qos("free", usage_factor=0.0),
            Qos("part", limits=Limits(**limits)),
        ),
        partitions=(Partition("main", ALL, is_default=True, qos="part"),),
        associations=(Association("root"), Association("a", parent=0), Association("a", "u", parent=1)),
    )


@pytest.mark.parametrize(("qos", "at_once"), [("normal", False), ("half", True)])
def test_minutes_of_running_jobs_count_for_the_qos_of_their_partition(qos: str, at_once: bool) -> None:
    """GrpTRESRunMins cpu=60: a job of 4 CPUs may still take 40 minutes, half of them by its usage factor."""
    jobs = log((0, 1, 10, 9), (0, 1, 10, 1), user=["u"] * 2, account=["a"] * 2, qos=[qos, "normal"])
    first, second = starts(jobs, limited(grp_tres_run_mins={"cpu": 60}))
    assert (second == first) == at_once


@pytest.mark.parametrize(
    ("of_partition", "of_job", "of_account", "at_once"),
    [
        ({}, {}, {"grp_tres": 4}, 1),
        ({"grp_tres": 12}, {"grp_tres": 4}, {"grp_tres": 4}, 3),
        ({"grp_tres_mins": 10_000}, {}, {"grp_tres_mins": 0, "grp_tres": 8}, 2),
        ({"grp_tres": 16}, {"grp_tres": 4, "grp_tres_run_mins": 90}, {}, 2),
    ],
)
def test_each_limit_is_of_the_first_who_sets_it(
    of_partition: dict[str, int], of_job: dict[str, int], of_account: dict[str, int], at_once: int
) -> None:
    """The partition's QOS, the job's, the account: whatever another limit of theirs would say.

    Four jobs have 4 CPUs for 10 minutes each, and limits are on CPUs.
    """

    def on_cpus(bounds: dict[str, int]) -> dict[str, Any]:
        return {name: {"cpu": bound} for name, bound in bounds.items()}

    on = limited(**on_cpus(of_partition))
    root, account, user = on.associations
    on = replace(
        on,
        qos=(replace(on.qos[0], limits=Limits(**on_cpus(of_job))), *on.qos[1:]),
        associations=(root, replace(account, limits=Limits(**on_cpus(of_account))), user),
    )
    jobs = log(*[(0, 1, 10, 9)] * 4, user=["u"] * 4, account=["a"] * 4, qos=["normal"] * 4)
    begun = starts(jobs, on)
    assert [start < MINUTE for start in begun] == [place < at_once for place in range(4)]


def test_a_job_waits_for_the_first_limit_that_slurm_asks_for() -> None:
    """A user may have four CPUs, the QOS one node, the account four CPUs; each is used up. A QOS is asked
    before an account, and for what it may have in all, of whatever resource, before what a user may."""
    on = limited(grp_tres={"node": 1}, max_tres_per_user={"cpu": 4})
    root, account, user = on.associations
    on = replace(on, associations=(root, replace(account, limits=Limits(grp_tres={"cpu": 4})), user))
    schedule = simulated(log((0, 1, 10, 9), (0, 1, 10, 9), user=["u"] * 2, account=["a"] * 2), on)
    assert schedule.labels["limit"][schedule.notes["limit"][1]] == "QOSGrpNodeLimit"


def test_a_group_that_holds_too_much_keeps_nobody_back_who_adds_nothing() -> None:
    """Account a may have two GPUs, under the QOS more eight. A job of that QOS has four: now one with a GPU
    waits for its end, one without does not."""
    more = Qos("more", limits=Limits(grp_tres={"gres/gpu": 8}))
    users = (
        Association("root"),
        Association("a", parent=0, limits=Limits(grp_tres={"gres/gpu": 2})),
        Association("a", "u", parent=1),
    )
    on = site(ACCOUNTING, qos=(Qos("normal"), more), associations=users)
    on = replace(on, nodes=tuple(replace(one, gres={"gpu": 4}) for one in on.nodes))
    jobs = log(
        (0, 1, 60, 30), (60, 1, 60, 30), (60, 1, 60, 30), gres=["gpu:4", "gpu:1", ""], exclusive=[0] * 3,
        user=["u"] * 3, account=["a"] * 3, qos=["more", "normal", "normal"],
    )  # fmt: skip
    first, second, third = starts(jobs, on)
    assert first + 1800 <= second and third <= 60 + MINUTE


@pytest.mark.parametrize("limit", [{"grp_tres_mins": {"cpu": 40}}, {"grp_wall_minutes": 10}])
def test_the_qos_of_a_partition_ends_jobs_whose_minutes_are_used_up(limit: dict[str, Any]) -> None:
    """On minutes of a resource as on wall time; where limits are safe nobody is ended."""
    jobs = log((0, 1, 60, 30), user=["u"], account=["a"])
    on = limited(**limit)
    ran = int((simulated(jobs, on).end - simulated(jobs, on).start)[0]) // 1_000_000
    assert 600 <= ran <= 920
    of_user = replace(on, qos=(Qos("normal"), Qos("part")), associations=(
        *on.associations[:1], replace(on.associations[1], limits=Limits(**limit)), on.associations[2],
    ))  # fmt: skip
    ran = int((simulated(jobs, of_user).end - simulated(jobs, of_user).start)[0]) // 1_000_000
    assert 600 <= ran <= 920


def test_who_counts_nothing_runs_though_the_minutes_are_used_up() -> None:
    """UsageFactor=0: 40 minutes are used by the first job; the second waits for ever, the third does not."""
    jobs = log((0, 1, 10, 10), (1200, 1, 10, 1), (1200, 1, 10, 1), user=["u"] * 3, account=["a"] * 3,
               qos=["normal", "normal", "free"])  # fmt: skip
    schedule = simulated(jobs, limited(grp_tres_mins={"cpu": 40}))
    assert schedule.workload.job.tolist() == [1, 3]
    assert int(schedule.start[1]) // 1_000_000 <= 1200 + MINUTE


@pytest.mark.parametrize(("flags", "runs"), [((), False), (("UsageFactorSafe",), True)])
def test_a_factor_that_is_safe_counts_for_limits_before_the_start(flags: tuple[str, ...], runs: bool) -> None:
    """MaxWall of an hour: 100 minutes at a factor of 0.5 are 50."""
    half = Qos("half", usage_factor=0.5, flags=frozenset(flags), limits=Limits(max_wall_minutes=60))
    on = site(ACCOUNTING, qos=(Qos("normal"), half), associations=(Association("root"),))
    assert len(simulated(log((0, 1, 100, 10), qos=["half"]), on)) == runs


@pytest.mark.parametrize("preempts", [True, False])
def test_where_jobs_may_be_preempted_a_job_that_reserves_nothing_needs_a_minute_only(preempts: bool) -> None:
    """Job 2 is planned on all nodes in an hour. Job 3 on the idle one would run for two: it starts all the
    same if its QOS is NoReserve and there is preemption, and keeps its walltime."""
    config = {"PreemptType": "preempt/qos", "PreemptMode": "REQUEUE"} if preempts else {}
    scavenging = Qos("scav", flags=frozenset({"NoReserve"}))
    on = site(ACCOUNTING | {"PriorityWeightQOS": "1000"} | config,
              qos=(Qos("normal", priority=10), scavenging), associations=(Association("root"),))  # fmt: skip
    jobs = log((0, 3, 60, 60), (10, 4, 60, 10), (20, 1, 120, 100), qos=["normal", "normal", "scav"])
    first, second, third = starts(jobs, on)
    assert first < MINUTE
    assert third < 2 * MINUTE < second if preempts else second < third


@pytest.mark.parametrize(("period", "days"), [("NONE", 0), ("DAILY", 1), ("WEEKLY", 5)])
def test_usage_is_forgotten_at_midnight(period: str, days: int) -> None:
    """The first job began on a Tuesday at 22:13 UTC and used the 40 minutes that its group may use. There are
    40 again at midnight, or on Sunday."""
    on = limited(grp_tres_mins={"cpu": 40})
    on = replace(on, config=Config.of(dict(on.config) | {"PriorityUsageResetPeriod": period}))
    jobs = log((0, 1, 10, 10), (1200, 1, 10, 1), user=["u"] * 2, account=["a"] * 2)
    schedule = simulated(jobs, on)
    assert len(schedule) == (2 if days else 1)
    if days:
        midnight = days * 86400 - BEGAN % 86400
        assert midnight <= int(schedule.start[1]) // 1_000_000 <= midnight + 360


@pytest.mark.parametrize(
    ("period", "days"),
    [
        ("DAILY", 400),
        ("WEEKLY", 57),
        ("MONTHLY", 13),
        ("QUARTERLY", 4),
        ("YEARLY", 1),
        ("NONE", 0),
    ],
)
def test_when_usage_is_forgotten(period: str, days: int) -> None:
    """In the 400 days from the 14th of November 2023: on Sundays, or when a month or quarter begins."""
    found = list(usage_resets(site({"PriorityUsageResetPeriod": period}), BEGAN, BEGAN + 400 * 86400))
    assert len(found) == days and all(day % 86400 == 0 for day in found)
    if period == "WEEKLY":
        assert {datetime.fromtimestamp(day, UTC).strftime("%A") for day in found} == {"Sunday"}


@pytest.mark.parametrize("always", [True, False])
def test_age_may_count_from_the_submission_on(always: bool) -> None:
    """The second job came before the third but asked to begin 30 minutes later: until then it gains no age,
    unless PriorityFlags has ACCRUE_ALWAYS."""
    flags = {"PriorityFlags": "ACCRUE_ALWAYS"} if always else {}
    on = site(ACCOUNTING | {"PriorityWeightAge": "100000", "PriorityMaxAge": "1-0"} | flags,
              associations=(Association("root"),))  # fmt: skip
    jobs = log((0, 4, 90, 60), (60, 4, 30, 10), (600, 4, 30, 10), begin=["", f"{BEGAN + 1800}", ""])
    _, second, third = starts(jobs, on)
    assert (second < third) == always


@pytest.mark.parametrize(
    ("of_qos", "of_account", "of_user", "config", "order"),
    [
        ({}, {}, {}, {}, "234"),
        ({"max_jobs_accrue_per_user": 1}, {}, {}, {}, "243"),
        ({"max_jobs_accrue_per_user": 2}, {}, {}, {}, "234"),
        ({"max_jobs_accrue_per_account": 1}, {}, {}, {}, "243"),
        ({"grp_jobs_accrue": 1}, {}, {}, {}, "234"),  # of all; job 3 is the next in turn
        ({"grp_jobs_accrue": 3, "max_jobs_accrue_per_user": 1}, {}, {}, {}, "234"),  # the first one decides
        ({}, {"grp_jobs_accrue": 1}, {}, {}, "243"),
        ({}, {}, {"max_jobs_accrue": 1}, {}, "243"),
        ({"max_jobs_accrue_per_user": 1}, {}, {}, {"PriorityFlags": "ACCRUE_ALWAYS"}, "234"),
        ({"max_jobs_accrue_per_user": 1}, {}, {}, {"AccountingStorageEnforce": "associations"}, "234"),
    ],
)
def test_only_so_many_jobs_may_gain_age(
    of_qos: dict[str, Any], of_account: dict[str, Any], of_user: dict[str, Any], config: dict[str, str],
    order: str,
) -> None:  # fmt: skip
    """Job 1 has all nodes for an hour. Ann's jobs 2 and 3 wait since the first minutes, Bob's since the 10th.
    Where only one of hers may gain age, job 3 begins when job 2 starts, and Bob's is older then."""
    associations = (
        Association("root"),
        Association("a", parent=0, limits=Limits(**of_account)),
        Association("b", parent=0),
        Association("a", "ann", parent=1, limits=Limits(**of_user)),
        Association("b", "bob", parent=2),
    )
    ages = {"PriorityWeightAge": "100000", "PriorityMaxAge": "1-0"}
    on = site(
        ACCOUNTING | ages | config, qos=(Qos("normal", limits=Limits(**of_qos)),), associations=associations
    )
    jobs = log(
        (0, 4, 60, 60), (60, 4, 10, 10), (120, 4, 10, 10), (600, 4, 10, 10),
        user=["bob", "ann", "ann", "bob"], account=["b", "a", "a", "b"], qos=["normal"] * 4,
    )  # fmt: skip
    times = starts(jobs, on)
    assert "".join(str(job + 1) for job in sorted(range(1, 4), key=times.__getitem__)) == order


LOG = """JobID|JobIDRaw|User|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes
1|1|u|PREEMPTED|1000|1000|1010|1300|290|60|4|4|1
1|1|u|COMPLETED|1330|1451|5000|6800|1800|60|4|4|1
"""


@pytest.mark.parametrize(
    ("preemption", "events", "submit"),
    [
        ("PreemptType=preempt/qos\nPreemptMode=REQUEUE\n", "", 1000),
        ("PreemptType=preempt/qos\nPreemptMode=CANCEL\n", "", 1330),
        ("", "NodeName|TimeStart|TimeEnd|State\nn1|1300|1400|DOWN\n", 1000),
        ("", "", 1330),
    ],
)
def test_a_job_that_came_back_is_submitted_when_it_first_was(
    tmp_path: Path, preemption: str, events: str, submit: int
) -> None:
    """Where the simulation sends jobs back itself; it runs as long as the last time."""
    lines = "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n"
    (tmp_path / "slurm.conf").write_text(f"ClusterName=c\n{preemption}{lines}", "utf-8")
    (tmp_path / "jobs.txt").write_text(LOG, "utf-8")
    if events:
        (tmp_path / "events.txt").write_text(events, "utf-8")
    jobs = Site.load(tmp_path).read_jobs()
    assert jobs.header.unix_start == submit
    assert int(jobs.runtime[0]) // 1_000_000 == 1800
    assert int(jobs.columns["recorded_start"][0]) // 1_000_000 == 5000 - submit


def two_accounts(config: dict[str, str], **limits: Any) -> Site:
    """User u of the account a, which has the limits, and v of b."""
    made = site(config | {"AccountingStorageEnforce": "limits"}, associations=(
        Association("root"), Association("a", parent=0, limits=Limits(**limits)),
        Association("a", "u", parent=1), Association("b", "v", parent=0),
    ))  # fmt: skip
    return replace(made, nodes=tuple(replace(one, memory_mb=1000) for one in made.nodes))


@pytest.mark.parametrize("tres", [{"cpu": 12}, {"mem": 3000}, {"node": 3}])
def test_a_job_that_a_limit_will_hold_is_not_planned(tres: dict[str, int]) -> None:
    """Account a may have three nodes and has one. Its next job wants three, which are not free before 30 min;
    it has no plan, as it could not start then, and so keeps no other job from the idle node."""
    jobs = log(
        (0, 1, 60, 50), (0, 2, 30, 10), (10, 3, 60, 10), (20, 1, 60, 10),
        user=["u", "v", "u", "v"], account=["a", "b", "a", "b"], memory_node_mb=[1000] * 4,
    )  # fmt: skip
    on = two_accounts({"SelectTypeParameters": "CR_Core_Memory"}, grp_tres=tres)
    *_, third, fourth = starts(jobs, on)
    assert fourth <= 20 + MINUTE and third >= 3000


def test_a_bound_of_each_node_is_not_one_of_the_whole_job() -> None:
    """MaxTRESPerNode cpu=4: a job of 16 CPUs on four nodes keeps to it while it waits, too, and so holds up
    its partition: what comes after it and is no shorter waits."""
    on = two_accounts({})
    root, account, user, _ = on.associations
    bounded = replace(user, limits=Limits(max_tres_per_node={"cpu": 4}))
    on = replace(on, associations=(root, account, bounded))
    jobs = log((0, 3, 10, 10), (1, 4, 10, 10), (2, 1, 60, 10), user=["u"] * 3, account=["a"] * 3)
    first, second, third = starts(jobs, on)
    assert first + 600 <= second <= first + 660 and third >= second


@pytest.mark.parametrize(("cpus", "runs"), [(5, True), (6, False)])
def test_cpus_of_each_node_are_counted_without_fractions(cpus: int, runs: bool) -> None:
    """MaxTRESPerNode cpu=2: five CPUs on two nodes are two each, six are three, for which it waits for ever.
    There is no backfill, and a full pass only each hour."""
    on = two_accounts({"SchedulerType": "sched/builtin"})
    root, account, user, _ = on.associations
    bounded = replace(user, limits=Limits(max_tres_per_node={"cpu": 2}))
    on = replace(on, associations=(root, account, bounded), scheduler={"sched_interval": "3600"})
    jobs = log((0, 2, 10, 10), cpus=[cpus], tasks=[cpus], exclusive=[0], user=["u"], account=["a"])
    assert len(simulated(jobs, on)) == runs


def test_where_priority_is_the_order_of_submission_nobody_counts_minutes() -> None:
    """GrpTRESMins cpu=40: the first job takes 60, and the second may start and run all the same."""
    jobs = log((0, 1, 20, 15), (1800, 1, 20, 15), user=["u"] * 2, account=["a"] * 2)
    assert starts(jobs, two_accounts({}, grp_tres_mins={"cpu": 40}))[1] <= 1800 + MINUTE


FACTORS = {"PriorityType": "priority/multifactor", "AccountingStorageType": "accounting_storage/slurmdbd"}


@pytest.mark.parametrize(
    ("flag", "first"),
    [("", 2), ("NO_NORMAL_QOS", 3), ("NO_NORMAL_ALL", 3), ("NO_NORMAL_PART", 2), ("NO_NORMAL_ASSOC", 2)],
)
def test_the_priority_of_a_qos_may_count_as_it_is(flag: str, first: int) -> None:
    """QOS of 2 and 4 at a weight of 10 give 5 and 10 points of the largest, or 20 and 40; the better job's
    nice takes 10 of them."""
    on = site(FACTORS | {"PriorityWeightQOS": "10", "PriorityFlags": flag},
              qos=(Qos("low", priority=2), Qos("high", priority=4)))  # fmt: skip
    jobs = log((0, 4, 10, 10), (1, 4, 10, 10), (2, 4, 10, 10), qos=["low", "low", "high"], nice=[0, 0, 10])
    _, second, third = starts(jobs, on)
    assert (2 if second < third else 3) == first


@pytest.mark.parametrize(("flag", "first"), [("", 2), ("NO_NORMAL_TRES", 3)])
def test_resources_may_count_as_they_are(flag: str, first: int) -> None:
    """12 and 16 CPUs of 16 at a weight of 10 are 7.5 and 10 points, or 120 and 160; the wider job is nice."""
    on = site(FACTORS | {"PriorityWeightTRES": "CPU=10", "PriorityFlags": flag})
    _, second, third = starts(log((0, 4, 10, 10), (1, 3, 10, 10), (2, 4, 10, 10), nice=[0, 0, 30]), on)
    assert (2 if second < third else 3) == first


@pytest.mark.parametrize(
    ("weights", "flag", "first"),
    [
        ("GRES/gpu=30", "", 2),  # two of eight: 7.5 points, against eight of nice
        ("GRES/gpu=30", "NO_NORMAL_TRES", 3),
        ("GRES/gpu:fast=30", "", 3),  # two of four: 15
        ("GRES/gpu:slow=30", "", 2),
        ("Mem=.5,GRES/gpu=40", "", 3),
        ("CPU=100,GRES/gpu=4e1", "", 3),
        ("CPU=100,GRES/gpu=4e1,GRES/gpu:fast=-40", "", 2),
    ],
)
def test_gpus_may_weigh_in_the_priority(weights: str, flag: str, first: int) -> None:
    """A job on two of the nodes' eight GPUs, all four of whose type are half taken by it, against one on
    none that came before it."""
    kinds = [{"gpu": 2, "gpu:fast": 2}] * 2 + [{"gpu": 2, "gpu:slow": 2}] * 2
    nodes = tuple(Node(f"n{i}", 4, gres=kinds[i - 1]) for i in range(1, 5))
    on = site(FACTORS | {"PriorityWeightTRES": weights, "PriorityFlags": flag}, nodes=nodes)
    jobs = log((0, 4, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), gres=["", "", "gpu:fast:2"],
               required_nodes=["", "n1", "n1"], nice=[0, 0, 8])  # fmt: skip
    _, second, third = starts(jobs, on)
    assert (2 if second < third else 3) == first


@pytest.mark.parametrize(("flag", "first"), [("", "bob"), ("INCR_ONLY", "ann")])
def test_priorities_may_only_rise(flag: str, first: str) -> None:
    """Ann's job runs and lowers her share from the next calculation on; her other job came before Bob's."""
    jobs = log((0, 4, 60, 20), (1, 4, 10, 10), (2, 4, 10, 10), user=["ann", "ann", "bob"],
               account=["a", "a", "b"])  # fmt: skip
    _, of_ann, of_bob = starts(jobs, shared({"PriorityFlags": flag}))
    assert ("ann" if of_ann < of_bob else "bob") == first


@pytest.mark.parametrize("kind", ["max_tres", "grp_tres", "max_tres_per_user", "max_tres_per_account"])
def test_limits_on_nodes_bound_what_a_job_takes(kind: str) -> None:
    """A job that accepts two to four nodes has three where limits let it have three; with four it would wait
    for ever. One that wants four waits, and has no plan, not even with assoc_limit_stop: the long job behind
    it starts where it would have been planned."""
    limits: dict[str, Any] = {kind: {"node": 3}}
    bounded = Qos("normal", limits=Limits(**limits))
    on = site(ACCOUNTING, qos=(bounded, Qos("free")), scheduler={"assoc_limit_stop": ""})
    made = simulated(log((0, 4, 60, 10), min_nodes=[2], cpus=[8], tasks=[8]), on)
    assert made.shares is not None and made.shares.nodes_of(0) == "n[1-3]"
    jobs = log((0, 4, 60, 10), (1, 1, 600, 10), qos=["normal", "free"])
    assert starts(jobs, on)[-1] < 2 * MINUTE


def test_an_exclusive_job_over_a_limit_holds_up_nobody_while_nodes_are_busy() -> None:
    """Ann may have six CPUs. Her exclusive job of one CPU has n1, so four of them; Bob has three CPUs of each
    other node. Her second such job asks for one CPU more, but would get four: a limit holds it, not the
    nodes, and Bob's job of one CPU behind it starts at once. There is no backfill."""
    users = (
        Association("root"),
        Association("a", "ann", parent=0, limits=Limits(grp_tres={"cpu": 6})),
        Association("a", "bob", parent=0),
    )
    on = site(
        ACCOUNTING | {"SchedulerType": "sched/builtin", "PriorityType": "priority/basic"}, associations=users
    )
    cpus = [1, 3, 3, 3, 1, 1]
    jobs = log(
        (0, 1, 60, 60), *[(0, 1, 60, 60)] * 3, (10, 1, 60, 60), (11, 1, 60, 60),
        cpus=cpus, tasks=cpus, exclusive=[1, 0, 0, 0, 1, 0],
        user=["ann", "bob", "bob", "bob", "ann", "bob"], account=["a"] * 6,
    )  # fmt: skip
    *_, held, last = starts(jobs, on)
    assert last < MINUTE and held >= 3600


@pytest.mark.parametrize("bound", ["gres/gpu", "cpu"])
def test_an_exclusive_job_counts_all_that_its_node_has(bound: str) -> None:
    """Ann may have six GPUs, or CPUs. Her first job asks for one of each, but takes a whole node of four.
    With the two of the second one she has six, and the third waits until the first is over."""
    users = (Association("root"), Association("a", "ann", parent=0, limits=Limits(grp_tres={bound: 6})))
    on = site(ACCOUNTING, associations=users)
    on = replace(on, nodes=tuple(replace(one, gres={"gpu": 4}) for one in on.nodes))
    count = [1, 2, 1]
    jobs = log(
        (0, 1, 60, 30), (1, 1, 60, 50), (2, 1, 60, 50), cpus=count, tasks=count, exclusive=[1, 0, 0],
        gres=[f"gpu:{one}" for one in count], user=["ann"] * 3, account=["a"] * 3,
    )  # fmt: skip
    first, second, third = starts(jobs, on)
    assert second < MINUTE and first + 1800 <= third <= first + 1860


def test_a_job_with_gpus_prefers_the_nodes_that_count_already() -> None:
    """Ann may have one node. Bob has n1 for ten minutes, so her first job is on n2. Her second one finds n1
    idle, but n2 is hers already: it starts there at once, as a job without GPUs does."""
    users = (
        Association("root"),
        Association("a", "ann", parent=0, limits=Limits(grp_tres={"node": 1})),
        Association("a", "bob", parent=0),
    )
    on = site(ACCOUNTING, associations=users)
    on = replace(on, nodes=tuple(replace(one, gres={"gpu": 4}) for one in on.nodes))
    jobs = log(
        (0, 1, 10, 10), (60, 1, 60, 60), (900, 1, 60, 60), cpus=[4, 1, 1], tasks=[4, 1, 1],
        exclusive=[1, 0, 0], gres=["", "gpu:1", "gpu:1"], user=["bob", "ann", "ann"], account=["a"] * 3,
    )  # fmt: skip
    schedule = simulated(jobs, on)
    assert schedule.shares is not None
    assert [schedule.shares.nodes_of(place) for place in (1, 2)] == ["n2", "n2"]
    assert int(schedule.start[2]) // 1_000_000 < 900 + MINUTE


def nodes_of_a_user(most: int) -> Site:
    """Each of four users may have so many nodes at once, by their QOS."""
    return site(
        ACCOUNTING,
        qos=(Qos("normal", limits=Limits(max_tres_per_user={"node": most})),),
        associations=(
            Association("root"),
            *(Association("root", who, parent=0) for who in ("ann", "bob", "cid", "dan")),
        ),
    )


def test_plans_take_nodes_that_count_already_for_a_limit_on_nodes() -> None:
    """Bob has n1 to n3 and Ann n4 until all of them are over, about as late as each other. Then Ann wants two
    nodes, and as n4 counts for her already, these are n4 and n1. Bob's job on n2 ends early: Cid's long job
    starts there at once, as nothing is planned on it."""
    jobs = log(
        (0, 1, 10, 10), (0, 1, 10, 4), (0, 1, 10, 10), (1, 1, 10, 10), (60, 2, 10, 10), (120, 1, 60, 10),
        user=["bob", "bob", "bob", "ann", "ann", "cid"], account=["root"] * 6, qos=["normal"] * 6,
    )  # fmt: skip
    *_, ann, cid = starts(jobs, nodes_of_a_user(3))
    assert 240 <= cid < 300
    assert 600 <= ann < 660


@entry
def start_at(state: Any, allowed: int, job: int, loop: int) -> int:
    return try_start(state, allowed, job, 0, 0, loop, 10)


@entry
def submit_at(state: Any, job: int) -> None:
    weigh_at_submission(state, job)


def test_a_submission_makes_nodes_lighter_that_count_already_for_a_limit_on_nodes() -> None:
    """Ann has a job on n4. When she submits another one, the test whether it could ever run makes n1 to n3 a
    unit heavier, also for the plans of others; Bob's submission then sets all weights back. Backfill does so
    only on nodes on which nothing is planned."""
    on = nodes_of_a_user(3)
    jobs = log((0, 1, 10, 10), (60, 1, 10, 10), (120, 1, 10, 10), user=["ann", "ann", "bob"],
               account=["root"] * 3, qos=["normal"] * 3)  # fmt: skip
    platform, policy = on.platform(), parse_spec("slurm").policy
    here = policy.on(platform, jobs)
    columns = {name: jobs.columns[name] for name in here.columns if name in jobs}
    submit, procs, walltime, runtime = (
        jobs.columns[name] for name in ("submit", "procs", "walltime", "runtime")
    )
    arrivals = Arrivals(submit, procs, walltime, runtime, columns, platform, dict(jobs.labels), BEGAN)
    prepared = here.prepare(arrivals, on.cpus)
    state, _ = make_state(Jobs(submit, procs, walltime, runtime, prepared.plan), prepared.setup)
    state.jobs.phase[[0, 2]], state.clock.waits = Phase.WAITING, 2
    state.memory.sets[Scratch.ALLOWED] = [0, 0, 0, 1]
    assert start_at(state, Scratch.ALLOWED, 0, MAIN) == STARTED
    weights = state.memory.nodes.set_weight
    for job, heavier in ((1, [1, 1, 1, 0]), (2, [0, 0, 0, 0])):
        submit_at(state, job)
        assert ((weights - weights.min()) // UNIT).tolist() == heavier
    submit_at(state, 1)
    state.memory.sets[Scratch.WINDOW] = [0, 1, 0, 0]
    assert start_at(state, Scratch.WINDOW, 2, FILLING) == STARTED
    assert ((weights - weights.min()) // UNIT).tolist() == [1, 0, 1, 0]
