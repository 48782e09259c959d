"""What a partition itself says of jobs: whom it lets in, how much memory it gives, how many CPUs of a node
its jobs have together. Four nodes of four CPUs, small enough to be worked out by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.policies.slurm.nodes.memory_bounds import Asked, adapted
from headway.site import Site
from headway.site.model import Association, Node, Partition, Qos, Reservation
from headway.workload.slurm.asked import TEXTS, Lines
from slurm_by_hand import BEGAN, MINUTE, log, simulated, site

NODES = (0, 1, 2, 3)
ACCOUNTS = (
    Association("root", parent=-1), Association("phys", parent=0), Association("chem", parent=0),
    Association("phys", user="ann", parent=1), Association("chem", user="bob", parent=2),
)  # fmt: skip
PEOPLE = {"user": ["ann", "bob"], "account": ["phys", "chem"], "qos": ["normal", "high"]}


def with_partitions(*partitions: Partition, config: dict[str, str] | None = None, **more: Any) -> Site:
    given = {"associations": ACCOUNTS, "qos": (Qos("normal"), Qos("high"))} | more
    return site(config, partitions=partitions, **given)


def main(**rules: Any) -> Partition:
    return Partition("main", NODES, is_default=True, **rules)


def told(schedule: Schedule) -> dict[int, str]:
    """What the ledger says of jobs that a partition kept out."""
    entries = [one for one in schedule.workload.ledger.entries if one.dropped]
    return {job: one.action for one in entries for job in one.jobs}


def ran_in(schedule: Schedule) -> list[str]:
    assert schedule.partition is not None
    return [schedule.labels["partition"][code] for code in schedule.partition.tolist()]


def cpus_by_node(schedule: Schedule, job: int) -> dict[str, int]:
    shares = schedule.shares
    assert shares is not None
    own = shares.of(job)
    names = [shares.names[code] for code in shares.node[own].tolist()]
    return dict(zip(names, shares.cpus[own].tolist(), strict=True))


def two_jobs(**columns: Any) -> headway.Workload:
    return log((0, 1, 10, 10), (1, 1, 10, 10), **(PEOPLE | columns))


@pytest.mark.parametrize(
    ("rules", "refused"),
    [
        ({"allow_accounts": ("phys",)}, {2: "AllowAccounts"}),
        ({"allow_accounts": ("phys", "chem")}, {}),
        ({"deny_accounts": ("phys",)}, {1: "DenyAccounts"}),
        ({"allow_accounts": ("phys",), "deny_accounts": ("phys",)}, {2: "AllowAccounts"}),  # deny: ignored
        ({"allow_qos": ("high",)}, {1: "AllowQos"}),
        ({"deny_qos": ("high", "low")}, {2: "DenyQos"}),
        ({"root_only": True}, {1: "RootOnly", 2: "RootOnly"}),
        ({"req_resv": True}, {1: "ReqResv", 2: "ReqResv"}),
        ({"allow_groups": ("staff",)}, {2: "AllowGroups"}),
    ],
)
def test_a_job_that_its_partition_does_not_let_in_is_refused(
    rules: dict[str, Any], refused: dict[int, str]
) -> None:
    """EnforcePartLimits=ALL: every rule is looked at when a job is submitted."""
    groups = {"staff": frozenset(("ann",))}
    on = with_partitions(main(**rules), config={"EnforcePartLimits": "ALL"}, groups=groups)
    schedule = simulated(two_jobs(reservation=["", ""]), on)
    found = told(schedule)
    assert found.keys() == refused.keys()
    assert all(f"({rule}): refused" in found[job] for job, rule in refused.items())
    assert headway.audit(schedule).ok


@pytest.mark.parametrize("rules", [{"root_only": True}, {"req_resv": True}, {"allow_groups": ("staff",)}])
def test_reservation_root_and_groups_are_looked_at_whatever_is_enforced(rules: dict[str, Any]) -> None:
    """EnforcePartLimits=NO, and only one partition: the job is refused all the same; one who may is not."""
    on = with_partitions(main(**rules), groups={"staff": frozenset()}, reservations=(mine(),))
    jobs = two_jobs(user=["bob", "root"], reservation=["", "mine"])
    assert told(simulated(jobs, on)).keys() == {1}


def mine() -> Reservation:
    return Reservation("mine", BEGAN, BEGAN + 3600, NODES)


def test_a_list_of_partitions_is_accepted_though_one_lets_nobody_in() -> None:
    """EnforcePartLimits=NO: each partition is tested by itself; the second job has no record in the first.
    With ANY no other partition makes up for a group that is missing."""
    parts = (main(allow_groups=("staff",), tier=9), Partition("other", (2, 3)))
    jobs = two_jobs(partition=["main,other", "main,other"])
    on = with_partitions(*parts, groups={"staff": frozenset(("ann",))})
    assert ran_in(simulated(jobs, on)) == ["main", "other"]
    enforced = replace(on, config=on.config.with_value("EnforcePartLimits", "ANY"))
    assert told(simulated(jobs, enforced)).keys() == {2}


def test_with_any_one_partition_that_allows_the_account_is_enough_with_all_it_is_not() -> None:
    parts = (main(allow_accounts=("phys",)), Partition("other", (2, 3)))
    jobs = two_jobs(partition=["main,other", "main,other"])
    schedule = simulated(jobs, with_partitions(*parts, config={"EnforcePartLimits": "ANY"}))
    assert told(schedule) == {} and ran_in(schedule) == ["main", "other"]
    schedule = simulated(jobs, with_partitions(*parts, config={"EnforcePartLimits": "ALL"}))
    assert told(schedule).keys() == {2}


@pytest.mark.parametrize(
    ("rules", "reason"),
    [({"allow_accounts": ("phys",)}, "AccountNotAllowed"), ({"allow_qos": ("normal",)}, "QOSNotAllowed")],
)
def test_account_and_qos_are_looked_at_when_a_job_would_start(rules: dict[str, Any], reason: str) -> None:
    """EnforcePartLimits=NO: the job of another account or QOS is accepted, waits for ever by Slurm's reason,
    and holds up nobody in the main loop: the third job starts at once though it stands behind it."""
    jobs = log(
        (0, 1, 10, 10), (1, 4, 10, 10), (2, 3, 10, 10), user=["ann", "bob", "ann"],
        account=["phys", "chem", "phys"], qos=["normal", "high", "normal"],
    )  # fmt: skip
    schedule = simulated(jobs, with_partitions(main(**rules)))
    assert "waits for ever" in told(schedule)[2]
    assert ("account" if reason == "AccountNotAllowed" else "QOS") in told(schedule)[2]
    assert schedule.workload.job.tolist() == [1, 3]
    assert int(schedule.start[1]) // 10**6 < MINUTE


def test_backfill_plans_for_an_account_that_is_not_allowed_but_not_for_a_qos() -> None:
    """Slurm tests the QOS before a search and the account only when the job would start, so a job of another
    account keeps nodes from those behind it. Job 1 has three nodes for 60 min; job 2 (one node for 100 min)
    could have the fourth now. Job 3 wants all four nodes, job 4 one for 30 min: it fits there before job 3,
    unless the plan of job 2 has that node."""
    jobs = log(
        (0, 3, 60, 60), (1, 1, 100, 10), (2, 4, 10, 10), (3, 1, 30, 10), user=["ann", "bob", "ann", "ann"],
        account=["phys", "chem", "phys", "phys"], qos=["normal", "high", "normal", "normal"],
    )  # fmt: skip
    by_account = simulated(jobs, with_partitions(main(allow_accounts=("phys",))))
    by_qos = simulated(jobs, with_partitions(main(allow_qos=("normal",))))
    assert int(by_qos.start[2]) // 10**6 < 2 * MINUTE
    assert int(by_account.start[2]) // 10**6 >= 3600


@pytest.mark.parametrize("threads", [1, 2])
def test_several_partitions_each_by_its_own_memory(threads: int) -> None:
    """MaxMemPerCPU=1000 in the first: 1,500 MB for a CPU make two CPUs of 750 MB of each task; the second
    partition gives what was asked for. So it is with --hint=nomultithread on cores of two threads: four
    threads in the first, two in the second, each with a core of its own."""
    nodes = tuple(Node(f"n{k}", 4 * threads, memory_mb=8000, threads_per_core=threads) for k in range(1, 5))
    parts = (Partition("a", (0,), max_mem_per_cpu_mb=1000, is_default=True), Partition("b", (1,)))
    jobs = log(
        *[(k, 1, 10, 10) for k in range(2)], partition=["a,b", "b,a"], min_nodes=[1, 1], max_nodes=[1, 1],
        cpus=[2, 2], tasks=[2, 2], exclusive=[0, 0], memory_cpu_mb=[1500, 1500], one_thread=[1, 1],
    )  # fmt: skip
    on = with_partitions(*parts, nodes=nodes, config={"SelectTypeParameters": "CR_Core_Memory"})
    schedule = simulated(jobs, on)
    assert cpus_by_node(schedule, 0) == {"n1": 4 * threads}
    assert cpus_by_node(schedule, 1) == {"n2": 2 * threads}
    assert schedule.shares is not None
    assert [int(schedule.shares.memory_mb[schedule.shares.of(job)].sum()) for job in (0, 1)] == [3000, 3000]
    assert headway.audit(schedule).ok


def test_memory_of_a_node_asks_for_cpus_where_a_cpu_has_a_bound() -> None:
    """MaxMemPerCPU=1000 and 2,500 MB of a node: one task gets three CPUs. A second one finds one CPU left on
    that node and goes to the next."""
    nodes = tuple(Node(f"n{k}", 4, memory_mb=8000) for k in range(1, 5))
    jobs = log(
        (0, 1, 10, 10), (0, 1, 10, 10), min_nodes=[1, 1], max_nodes=[1, 1], cpus=[1, 1], tasks=[1, 1],
        exclusive=[0, 0], memory_node_mb=[2500, 2500],
    )  # fmt: skip
    config = {"SelectTypeParameters": "CR_Core_Memory", "MaxMemPerCPU": "1000"}
    schedule = simulated(jobs, with_partitions(main(), nodes=nodes, config=config))
    assert [cpus_by_node(schedule, job) for job in (0, 1)] == [{"n1": 3}, {"n2": 3}]


def asked(**given: int) -> Asked:
    plain = dict.fromkeys(Asked._fields, -1) | {"cpus": 2, "tasks": 2, "cpus_per_task": 1, "exclusive": 0}
    return Asked(*(np.array([value]) for value in (plain | given).values()))


@pytest.mark.parametrize(("tasks", "of_task"), [(1, 6), (2, 3), (3, 3), (-1, 3)])
def test_tasks_of_a_node_share_the_cpus_that_its_memory_asks_for(tasks: int, of_task: int) -> None:
    """MaxMemPerCPU=1000 and 6,000 MB: six CPUs of each node, which --ntasks-per-node deals to as many tasks,
    as in recorded runs of real Slurm. A task has the three that it asks for at least."""
    request_ = asked(memory_node=6000, cpus=12, tasks=4, cpus_per_task=3, tasks_per_node=tasks)
    made = adapted(with_partitions(main()), main(max_mem_per_cpu_mb=1000), request_)
    assert (made.cpus.item(), made.cpus_per_task.item()) == (12, of_task)
    assert made.node_cpus.item() == max(6, 3 * tasks)


@pytest.mark.parametrize(
    ("bound", "request_", "cpus", "memory_cpu", "node_cpus"),
    [
        ({"max_mem_per_cpu_mb": 4000}, {"memory_cpu": 4000}, 2, 4000, 1),
        ({"max_mem_per_cpu_mb": 4000}, {"memory_cpu": 10000}, 6, 3334, 3),  # ratio 3, 10000 / 3 rounded up
        ({"max_mem_per_cpu_mb": 4000}, {"memory_cpu": 4001, "cpus": 4, "cpus_per_task": 2}, 8, 2001, 4),
        ({"max_mem_per_cpu_mb": 4000}, {"memory_node": 4001}, 2, -1, 2),
        ({"max_mem_per_cpu_mb": 4000}, {}, 2, -1, 4),  # nobody says: all of a node, 16,000 MB
        ({"max_mem_per_cpu_mb": 4000, "def_mem_per_cpu_mb": 5000}, {}, 4, 2500, 2),
    ],
)
def test_more_memory_for_a_cpu_than_allowed_raises_cpus_per_task(
    bound: dict[str, int], request_: dict[str, int], cpus: int, memory_cpu: int, node_cpus: int
) -> None:
    on = with_partitions(main(), nodes=tuple(Node(f"n{k}", 4, memory_mb=16000) for k in range(4)))
    made = adapted(on, main(**bound), asked(**request_))
    found = (made.cpus, made.memory_cpu, made.node_cpus)
    assert tuple(int(one[0]) for one in found) == (cpus, memory_cpu, node_cpus)
    assert made.allowed.all()


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        ({"memory_node": 8000}, True),
        ({"memory_node": 8001}, False),
        ({"memory_node": 0}, False),  # all of the node
        ({"memory_cpu": 4000, "max_nodes": 1}, True),  # two tasks on one node
        ({"memory_cpu": 4001, "max_nodes": 1}, False),
        ({"memory_cpu": 4001, "max_nodes": 2}, True),  # one task on each
        ({"memory_cpu": 2001, "max_nodes": 2, "exclusive": 1}, False),  # four CPUs
    ],
)
def test_more_memory_of_a_node_than_allowed_keeps_a_job_out(request_: dict[str, int], allowed: bool) -> None:
    on = with_partitions(main(), nodes=tuple(Node(f"n{k}", 4, memory_mb=16000) for k in range(4)))
    assert adapted(on, main(max_mem_per_node_mb=8000), asked(**request_)).allowed.tolist() == [allowed]


def test_too_much_memory_of_a_node_leaves_the_other_partition() -> None:
    nodes = tuple(Node(f"n{k}", 4, memory_mb=8000) for k in range(1, 5))
    parts = (main(max_mem_per_node_mb=4000), Partition("other", (3,)))
    jobs = two_jobs(partition=["main,other", "main"], memory_node_mb=[5000, 5000])
    schedule = simulated(jobs, with_partitions(*parts, nodes=nodes))
    assert ran_in(schedule) == ["other"] and told(schedule).keys() == {2}


def test_the_cpus_of_a_node_are_counted_over_all_jobs_of_a_partition() -> None:
    """MaxCPUsPerNode=3 in the first of two partitions with the same node: three jobs of one CPU run, the
    fourth waits though a CPU is free. A job of the other partition takes that if it ends before the fourth is
    planned to start, ten minutes after the first."""
    parts = (Partition("a", (0,), max_cpus_per_node=3, is_default=True), Partition("b", (0,)))
    jobs = log(
        *[(0, 1, 10, 10)] * 4, (60, 1, 5, 5), partition=["a"] * 4 + ["b"], min_nodes=[1] * 5, cpus=[1] * 5,
        max_nodes=[1] * 5, tasks=[1] * 5, exclusive=[0] * 5,
    )  # fmt: skip
    schedule = simulated(jobs, with_partitions(*parts))
    begun = [int(one) // 10**6 for one in schedule.start]
    assert max(begun[:3]) < MINUTE and 600 <= begun[3] < 600 + 2 * MINUTE and begun[4] < 3 * MINUTE
    assert headway.audit(schedule).ok
    assert broken(schedule, replace(parts[0], max_cpus_per_node=2), parts[1]) == {"partition limits"}
    assert broken(schedule, replace(parts[0], root_only=True), parts[1]) == set()  # nobody says whose jobs


@pytest.mark.parametrize("asked", ["one_thread", "one_task_core", ""])
def test_a_bound_on_cpus_is_on_the_threads_that_a_job_uses(asked: str) -> None:
    """MaxCPUsPerNode=6 on a node of eight cores with two threads: a job that uses six threads of as many
    cores starts, as in recorded runs of real Slurm, and holds twelve CPUs; then all of them count, and a job
    of one CPU waits for it, though two cores are free. One of another partition has these."""
    nodes = (Node("n1", 16, memory_mb=8000, threads_per_core=2),)
    parts = (Partition("a", (0,), max_cpus_per_node=6, is_default=True), Partition("b", (0,)))
    jobs = log(
        (0, 1, 10, 10), (60, 1, 10, 10), (60, 1, 5, 5), partition=["a", "a", "b"], min_nodes=[1] * 3,
        max_nodes=[1] * 3, cpus=[6, 1, 4], tasks=[6, 1, 4], exclusive=[0] * 3,
        **({asked: [1, 0, 0]} if asked else {}),
    )  # fmt: skip
    schedule = simulated(jobs, with_partitions(*parts, nodes=nodes))
    begun = [int(one) // 10**6 for one in schedule.start]
    assert begun[0] < MINUTE and 10 * MINUTE <= begun[1] < 12 * MINUTE and begun[2] < 3 * MINUTE
    assert schedule.shares is not None and schedule.shares.cpus[0] == (12 if asked else 6)
    assert headway.audit(schedule).ok
    assert broken(schedule, replace(parts[0], max_cpus_per_node=2), parts[1]) == {"partition limits"}


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ("NO", "NO", False),
        ("YES:2", "NO", True),
        ("NO", "YES:2", False),
        ("YES:2", "YES:2", True),
        ("YES:1", "NO", False),
        ("FORCE:2", "NO", True),
        ("FORCE:1", "NO", False),
        ("FORCE:2", "FORCE:1", False),
        ("NO", "FORCE:1", True),
        ("YES:2", "FORCE:2", True),
        ("EXCLUSIVE", "NO", True),
    ],
)
def test_who_is_on_a_node_with_jobs_that_may_share_their_cpus(first: str, second: str, waits: bool) -> None:
    """A job of one CPU of the first partition runs on the only node; one of the second comes, for which three
    CPUs are free. As in Slurm, a job that shares none is not beside one of another partition of which two may
    have the same CPU (YES:2 without --oversubscribe, FORCE:2); one that always does (FORCE) not beside one
    that shares none. A further job of the first partition is beside its like."""
    ways = (one.partition(":") for one in (first, second))
    parts = [
        Partition(name, (0,), oversubscribe=how, oversubscribe_count=int(count or 4))
        for name, (how, _, count) in zip("ab", ways, strict=True)
    ]
    jobs = log(
        (0, 1, 10, 10), (60, 1, 10, 10), (1200, 1, 10, 10), (1260, 1, 10, 10), partition=["a", "b", "a", "a"],
        min_nodes=[1] * 4, max_nodes=[1] * 4, cpus=[1] * 4, tasks=[1] * 4, exclusive=[0] * 4,
    )  # fmt: skip
    schedule = simulated(jobs, with_partitions(replace(parts[0], is_default=True), parts[1]))
    begun = [int(one) // 10**6 for one in schedule.start]
    assert (600 <= begun[1] < 12 * MINUTE) == waits and (begun[1] < 3 * MINUTE) == (not waits)
    assert (begun[3] < 1400) == (first != "EXCLUSIVE")
    assert headway.audit(schedule).ok


def test_a_bound_on_cpus_may_be_within_a_core() -> None:
    """MaxCPUsPerNode=5 with cores of two threads: five CPUs are three cores, and the last job ever there."""
    nodes = (Node("n1", 8, memory_mb=8000, threads_per_core=2),)
    parts = (Partition("a", (0,), max_cpus_per_node=5, is_default=True),)
    more = {"min_nodes": [1] * 2, "max_nodes": [1] * 2, "exclusive": [0] * 2}
    schedule = simulated(log((0, 1, 10, 10), (9, 1, 10, 10), cpus=[5, 1], tasks=[5, 1], **more),
                         with_partitions(*parts, nodes=nodes))  # fmt: skip
    first, second = (int(one) // 10**6 for one in schedule.start)
    assert first < MINUTE and second >= 10 * MINUTE and headway.audit(schedule).ok


def broken(schedule: Schedule, *partitions: Partition) -> set[str]:
    """Invariants that a schedule breaks where its site has other partitions."""
    platform = schedule.platform
    assert platform.site is not None
    changed = replace(platform, site=replace(platform.site, partitions=partitions))
    return {one.law for one in headway.audit(replace(schedule, platform=changed)).faults}


@pytest.mark.parametrize(
    "rules",
    [{"allow_accounts": ("phys",)}, {"deny_qos": ("high",)}, {"root_only": True}, {"allow_groups": ("s",)}],
)
def test_the_audit_finds_a_job_in_a_partition_that_does_not_let_it_in(rules: dict[str, Any]) -> None:
    on = with_partitions(main(), groups={"s": frozenset(("ann",))})
    schedule = simulated(two_jobs(), on)
    assert broken(schedule, main()) == set()
    assert broken(schedule, main(**rules)) == {"partition access"}


def test_a_job_that_never_fits_in_one_of_its_partitions_holds_nobody_up_there() -> None:
    """MaxCPUsPerNode=2 in the first of two partitions of a job that wants four CPUs of a node. Its other one
    is in use, and so is a node of the first, by a job that has it to itself. Whoever asks for a CPU in the
    first gets it at once: backfill, which would find it later, does not run."""
    parts = (
        Partition("small", (0, 1), max_cpus_per_node=2, is_default=True),
        Partition("first", (0,)), Partition("third", (2,)),
    )  # fmt: skip
    jobs = log(
        (0, 1, 60, 60), (0, 1, 60, 60), (10, 1, 60, 60), (20, 1, 60, 60),
        partition=["first", "third", "small,third", "small"], cpus=[4, 4, 4, 1], tasks=[4, 4, 4, 1],
        exclusive=[1, 1, 0, 0],
    )  # fmt: skip
    schedule = simulated(jobs, with_partitions(*parts, config={"SchedulerType": "sched/builtin"}))
    begun = [int(one) // 10**6 for one in schedule.start]
    assert begun[2] >= 60 * MINUTE and begun[3] < 30


def test_a_whole_node_is_no_place_where_only_some_cpus_may_be_used() -> None:
    """MaxCPUsPerNode=3 of 4: a job that wants nodes to itself never runs there."""
    assert told(simulated(log((0, 1, 10, 10)), site(partitions=(main(max_cpus_per_node=3),)))).keys() == {1}
    assert told(simulated(log((0, 1, 10, 10)), site(partitions=(main(max_cpus_per_node=4),)))) == {}


@pytest.mark.parametrize(
    ("rules", "nodes", "flag"),
    [
        ({"min_nodes": 2}, (1, 1), "PartitionMinNodes"),
        ({"max_nodes": 2}, (3, 3), "PartitionMaxNodes"),
        ({"max_nodes": 2}, (1, 3), "PartitionMaxNodes"),  # -N 1-3: the most that is asked for counts
        ({"max_minutes": 5}, (1, 1), "PartitionTimeLimit"),
    ],
)
def test_bounds_of_nodes_and_time_and_the_qos_that_waives_them(
    rules: dict[str, Any], nodes: tuple[int, int], flag: str
) -> None:
    jobs = two_jobs(min_nodes=[nodes[0]] * 2, max_nodes=[nodes[1]] * 2, cpus=[4] * 2, tasks=[4] * 2)
    qos = (Qos("normal"), Qos("high", flags=frozenset((flag,))))
    schedule = simulated(jobs, with_partitions(main(**rules), qos=qos))
    assert told(schedule).keys() == {1}
    assert not schedule.killed[0]  # it has its own limit of time


def test_a_job_that_names_no_largest_number_gets_the_fewest_nodes_of_its_partition() -> None:
    jobs = two_jobs(min_nodes=[1, 1], max_nodes=[0, 0], cpus=[4] * 2, tasks=[12] * 2)
    schedule = simulated(jobs, with_partitions(main(min_nodes=2)))
    assert [len(cpus_by_node(schedule, job)) for job in (0, 1)] == [2, 2]


def test_what_is_not_modelled_is_counted_by_job() -> None:
    """A reservation of two of the 16 cores, one of cores on no nodes by name, and --oversubscribe, which
    counts only in a partition that lets jobs share."""
    parts = (main(oversubscribe="YES"), Partition("alone", NODES))
    cores = (replace(mine(), cores=2), replace(mine(), name="any", nodes=(), cores=2))
    jobs = log(
        *[(k, 1, 10, 10) for k in range(5)], reservation=["mine", "any", "", "", ""],
        partition=["", "", "", "alone", "main"], oversubscribe=[0, 0, 1, 1, 0],
    )  # fmt: skip
    ledger = simulated(jobs, with_partitions(*parts, reservations=cores)).workload.ledger
    found = {one.action.partition(":")[0]: one.jobs for one in ledger.entries if not one.dropped}
    assert found == {
        "in a reservation of some cores of its nodes": (1,),
        "in a reservation of cores on no nodes by name": (2,),
        "asked to share its CPUs (--oversubscribe) where the partition lets jobs": (3,),
    }


def test_options_that_are_not_modelled_are_told_by_job() -> None:
    options = "-N 2 --reboot", "-n 1 --exclusive=mcs", "--exclusive", "-N 2 --prefer=a --reboot"
    texts = Lines().rows([f"sbatch {one} job.sh" for one in options])[1]
    further = texts[TEXTS.index("further")].to_list()
    assert further == ["reboot", "exclusive=mcs", "", "prefer,reboot"]
    threads = "--hint=memory_bound --threads-per-core=1", "--ntasks-per-core=2 --hint=nomultithread"
    texts = Lines().rows([f"sbatch {one} job.sh" for one in threads])[1]
    assert texts[TEXTS.index("further")].to_list() == ["hint=memory_bound", "ntasks-per-core"]
    jobs = log(*[(k, 1, 10, 10) for k in range(4)], further=further)
    ledger = simulated(jobs, with_partitions(main())).workload.ledger
    found = {one.action.partition(",")[0]: one.jobs for one in ledger.entries if one.rule == "further"}
    assert found == {
        "asked for --exclusive=mcs": (2,), "asked for --prefer": (4,), "asked for --reboot": (1, 4),
    }  # fmt: skip


def test_names_that_the_site_does_not_have_are_in_the_ledger() -> None:
    """Partitions, QOS and accounts go in the course of a year; the log still has them."""
    jobs = log(
        (0, 1, 10, 5), (1, 1, 10, 5), (2, 1, 10, 5), (3, 1, 10, 5),
        partition=["main", "gone,older", "gone,main", ""], qos=["normal", "", "gold", ""],
        user=["ann", "ann", "bob", ""], account=["phys", "chem", "chem", "chem"],
    )  # fmt: skip
    ledger = simulated(jobs, with_partitions(main())).workload.ledger
    found = {one.rule: (one.action, list(one.jobs)) for one in ledger}
    assert found == {
        "partition": ("its partition is not one of the site's: in the default one, main", [2]),
        "qos": ("its QOS is not one of the site's: as normal", [3]),
        "association": (
            "the site has no association of its user and account: no shares and no limits of it",
            [2],
        ),
    }


def test_a_partition_that_is_not_up_runs_nothing_and_says_why() -> None:
    jobs = log((0, 1, 10, 5), (1, 1, 10, 5), (2, 1, 10, 5), partition=["main", "closed", "closed,main"])
    schedule = simulated(jobs, with_partitions(main(), Partition("closed", NODES, state="DOWN")))
    assert schedule.workload.job.tolist() == [1, 3]
    assert told(schedule) == {2: "its partition is not up, by the site's own State of it: not run"}


def test_jobs_that_differ_in_names_and_files_only_ask_for_the_same() -> None:
    lines = Lines()
    given = [f"sbatch -N 2 -o out{k}.txt --job-name=run{k} a.sh" for k in range(3)] + ["sbatch -N 2 b.sh"]
    numbers, texts = lines.rows([*given, given[0], "sbatch -N 3 b.sh"])
    assert numbers[:, 0].tolist() == [2] * 5 + [3]
    assert texts[TEXTS.index("name")].to_list() == ["run0", "run1", "run2", "b.sh", "run0", "b.sh"]
    assert len(lines._asked) == 2
