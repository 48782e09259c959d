"""Deadlines, hopeless dependencies, limits on submission, constraints with choices, nodes that are switched
off: each on a site small enough to be worked out by hand.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import headway
from headway import Schedule
from headway.changes import Case, changed
from headway.policies.slurm.nodes.constraints import Constraint
from headway.site import Site
from headway.site.model import UNLIMITED, Association, Limits, Node, Partition, Qos
from headway.units import SECOND
from headway.what_if import with_seeds
from slurm_by_hand import BEGAN, MINUTE, UNDISTURBED, log, simulated, site, starts


def refused(schedule: Schedule) -> dict[str, tuple[int, ...]]:
    """Jobs that did not run, by the rule of the ledger."""
    found: dict[str, tuple[int, ...]] = {}
    for entry in schedule.workload.ledger.entries:
        if entry.dropped:
            found[entry.rule] = tuple(sorted(found.get(entry.rule, ()) + entry.jobs))
    return found


def test_a_job_that_could_not_end_by_its_deadline_is_cancelled() -> None:
    """Both wait for 30 min; then the second has 15 min left for its 20, the third 25."""
    jobs = log((0, 4, 30, 30), (1, 4, 20, 5), (2, 4, 20, 5), end_by=["", "now+45minutes", "now+55minutes"])
    schedule = simulated(jobs, site())
    assert refused(schedule) == {"deadline": (2,)}
    assert schedule.workload.job.tolist() == [1, 3]
    assert 1800 <= int(schedule.start[1]) // 10**6 < 1800 + MINUTE
    assert headway.audit(schedule).ok


def test_a_job_that_accepts_less_time_is_cut_to_its_deadline() -> None:
    """It has 40 min left and asks for 60, or at least 10: the main loop gives it the 39 whole ones."""
    jobs = log((0, 1, 60, 50), end_by=["now+40minutes"], time_min=[600])
    schedule = simulated(jobs, site())
    assert refused(schedule) == {}
    assert 38 * MINUTE <= schedule.walltime[0] // 10**6 <= 42 * MINUTE  # it is killed up to a minute late
    assert schedule.killed[0]


@pytest.mark.parametrize(("end_by", "minutes"), [("", 20), ("now+100minutes", 60), ("now+40minutes", 39)])
def test_backfill_gives_a_job_with_a_deadline_all_that_it_asks_for(end_by: str, minutes: int) -> None:
    """An hour, or at least 20 min; one without a deadline has no more than these. Seen in Slurm 22.05."""
    jobs = log((0, 1, 60, 70), end_by=[end_by], time_min=[1200])
    schedule = simulated(jobs, site(scheduler={"sched_interval": "-1", "bf_interval": "1"}))
    ran = int(schedule.end[0] - schedule.start[0]) // SECOND
    assert minutes * MINUTE <= ran <= (minutes + 2) * MINUTE


def test_a_job_with_a_deadline_is_not_shortened_to_fit_before_a_plan() -> None:
    """All nodes are planned at 30 min, for 30 min: an hour or at least 20 min fit before that, but not if the
    job has a deadline."""
    jobs = log(
        (0, 3, 30, 30), (1, 4, 30, 30), (2, 1, 60, 60),
        time_min=[-1, -1, 1200], end_by=["", "", "now+300minutes"],
    )  # fmt: skip
    assert starts(jobs, site())[2] >= 1800


def test_those_who_depend_on_a_cancelled_job_go_by_what_they_asked() -> None:
    jobs = log(
        (0, 4, 30, 30), (1, 4, 20, 5), (2, 1, 5, 5), (3, 1, 5, 5), end_by=["", "now+40minutes", "", ""],
        dependency=["", "", "afterany:2", "afterok:2"],
    )  # fmt: skip
    schedule = simulated(jobs, site())
    assert refused(schedule) == {"deadline": (2,), "dependency": (4,)}
    assert 3 in schedule.workload.job


@pytest.mark.parametrize(("scheduler", "asked"), [({"kill_invalid_depend": ""}, -1), ({}, 1)])
def test_a_hopeless_dependency_is_cancelled_where_site_or_job_say_so(
    scheduler: dict[str, str], asked: int
) -> None:
    """The job is cancelled when the other one has failed, so that a third one need not wait for ever."""
    jobs = log(
        (0, 1, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), dependency=["", "afterok:1", "afterany:2"],
        status=[0, 1, 1], kill_invalid=[-1, asked, -1],
    )  # fmt: skip
    schedule = simulated(jobs, site(scheduler=scheduler))
    assert refused(schedule) == {"dependency": (2,)}
    assert 600 <= int(schedule.start[1]) // 10**6 <= 600 + 2 * MINUTE
    without = simulated(jobs, site()) if asked < 0 else simulated(
        jobs.with_columns(kill_invalid=[-1, 0, -1]), site(scheduler={"kill_invalid_depend": ""})
    )  # fmt: skip
    assert refused(without) == {"dependency": (2, 3)}


def limited(**limits: Any) -> Site:
    enforced = {"AccountingStorageEnforce": "limits", "AccountingStorageType": "accounting_storage/slurmdbd"}
    associations = (
        Association("root", parent=-1), Association("a", parent=0),
        Association("a", user="u", parent=1, limits=Limits(**limits)),
    )  # fmt: skip
    return site(enforced, associations=associations, qos=(Qos("normal"),))


def test_more_jobs_than_may_be_submitted_are_refused() -> None:
    """MaxSubmitJobs=2: the third is one too many; the fourth comes when the first has ended."""
    jobs = log(
        (0, 1, 10, 10), (1, 4, 10, 10), (2, 1, 10, 10), (1500, 1, 10, 10),
        user=["u"] * 4, account=["a"] * 4, qos=["normal"] * 4,
    )  # fmt: skip
    assert refused(simulated(jobs, limited(max_submit=2))) == {"submission": (3,)}
    assert refused(simulated(jobs, limited(max_submit=3))) == {}


@pytest.mark.parametrize("limit", ["max_submit_per_user", "max_submit_per_account"])
def test_a_limit_of_the_qos_on_submission_counts_in_place_of_the_associations(limit: str) -> None:
    """The association allows two at once. The QOS has a word of its own, so that it alone counts."""
    jobs = log(*[(0, 1, 10, 10)] * 3, user=["u"] * 3, account=["a"] * 3, qos=["normal"] * 3)
    on = limited(max_submit=2)
    for most, found in ((3, {}), (2, {"submission": (3,)})):
        normal = Qos("normal", limits=Limits(**{limit: most}))  # type: ignore[arg-type]
        assert refused(simulated(jobs, replace(on, qos=(normal,)))) == found


def test_a_job_that_the_log_shows_to_have_started_was_accepted() -> None:
    """The third job is one too many in the simulated queue, but the site ran it: it is not refused, and it
    counts. A copy without a record of its own is refused, and so is the job itself where the limits are asked
    for."""
    jobs = log(
        (0, 1, 10, 10), (1, 4, 10, 10), (2, 1, 10, 10), (3, 1, 10, 10),
        user=["u"] * 4, account=["a"] * 4, qos=["normal"] * 4, recorded_start=[0, 600, 900, -1],
    )  # fmt: skip
    assert refused(simulated(jobs, limited(max_submit=2))) == {"submission": (4,)}
    enforced = UNDISTURBED.replace(")", ", submit_limits=enforced)")
    schedule = headway.simulate(jobs, limited(max_submit=2).platform(), enforced)
    assert refused(schedule) == {"submission": (3, 4)}
    case = Case(jobs, limited(max_submit=3).platform(), UNDISTURBED)
    assert changed(case, "user.u.maxjobs=1").policy == UNDISTURBED
    assert changed(case, "user.u.maxsubmitjobs=2").policy == enforced
    phases = with_seeds(changed(replace(case, policy="slurm"), "user.u.maxsubmitjobs=2"), 2)
    assert [one.policy for one in phases] == [f"slurm(submit_limits=enforced, seed={k})" for k in (1, 2)]


def test_an_array_is_refused_as_a_whole() -> None:
    jobs = log(
        *[(0, 1, 10, 10)] * 4, (1, 1, 10, 10), array=[7] * 4 + [-1], array_task=[0, 1, 2, 3, -1],
        user=["u"] * 5, account=["a"] * 5, qos=["normal"] * 5,
    )  # fmt: skip
    schedule = simulated(jobs, limited(max_submit=3))
    assert refused(schedule) == {"submission": (1, 2, 3, 4)}


def coloured(*colours: str) -> Site:
    nodes = tuple(Node(f"n{k}", 4, features=tuple(one.split())) for k, one in enumerate(colours, 1))
    return site(nodes=nodes)


@pytest.mark.parametrize(
    ("constraint", "nodes"),
    [("red|blue", "n[1-2]"), ("[red|blue]", "n[2-3]"), ("big&[red|blue]", "n[3-4]")],
)
def test_all_nodes_of_one_alternative(constraint: str, nodes: str) -> None:
    """Red is n1 alone, and n4; blue are n2 and n3; big are n3 and n4."""
    on = coloured("red", "blue", "blue big", "blue big")
    schedule = simulated(log((0, 2, 10, 10), constraint=[constraint]), on)
    assert schedule.shares is not None and schedule.shares.nodes_of(0) == nodes


def test_an_alternative_that_is_busy_leaves_the_other() -> None:
    """Two red and two blue nodes: the first job has the red ones, the second takes the blue ones at once, the
    third waits for either."""
    jobs = log((0, 2, 10, 10), (1, 2, 20, 20), (2, 2, 10, 10), constraint=["[red|blue]"] * 3)
    first, second, third = starts(jobs, coloured("red", "blue", "red", "blue"))
    assert second < MINUTE and first + 600 <= third < first + 660


def test_each_alternative_is_sought_by_itself() -> None:
    """Red are n1, n2 and n5, of which two are taken for 100 minutes; of the blue ones n3 is for 10, the rest
    for 130. A job of three nodes of one colour is planned after 100 minutes: those who end on blue nodes, the
    first of whom would make a group of all others, do not matter there. So n5 is not free for two hours."""
    on = coloured("red", "red", "blue", "blue", "red", "blue")
    on = replace(on, partitions=(Partition("main", tuple(range(6)), is_default=True),))
    jobs = log(
        (0, 2, 100, 100), (0, 1, 10, 10), (0, 2, 130, 130), (1, 3, 30, 30), (2, 1, 120, 120),
        required_nodes=["n[1-2]", "n3", "n[4,6]", "", ""], constraint=["", "", "", "[red|blue]", "red"],
    )  # fmt: skip
    *_, three, one = starts(jobs, on)
    assert 100 * MINUTE <= three <= 101 * MINUTE and one >= three


@pytest.mark.parametrize(
    ("constraint", "nodes"), [("red*1&blue*2", "n[2-4]"), ("blue*1&red*1", "n[1,3-4]"), ("red*2", "n[1-2,4]")]
)
def test_as_many_nodes_of_each_feature_as_asked(constraint: str, nodes: str) -> None:
    """Three nodes of four: red are n1 and n4, blue n2 and n3; what is not counted may be any."""
    schedule = simulated(log((0, 3, 10, 10), constraint=[constraint]), coloured("red", "blue", "blue", "red"))
    assert schedule.shares is not None
    chosen = schedule.shares.node.tolist()
    for part in Constraint.of(constraint).parts:
        (words,), count = part
        have = sum(words <= set(("red", "blue", "blue", "red")[node].split()) for node in chosen)
        assert have >= count
    assert len(chosen) == 3


def test_a_job_tries_again_when_any_node_of_its_partition_comes_free_of_plans() -> None:
    """The sixth job wants two red nodes for 80 minutes. The fourth is planned on the two old ones from minute
    60 to 240, the fifth on a blue one from 120 to 150, which lies behind the 80 minutes. When that blue node
    comes free it tries again, and so is planned from 240 on, on the light red node and an old one. The last
    job wants a red node for 300 minutes; the light one is free, but not so long."""
    coloured_so = coloured("red old", "red old", "red", "blue", "blue").nodes
    nodes = tuple(replace(one, weight=10 if "old" in one.features else 1) for one in coloured_so)
    on = site(nodes=nodes, partitions=(Partition("main", (0, 1, 2, 3, 4), is_default=True),))
    jobs = log(
        (0, 2, 60, 60), (0, 1, 120, 120), (0, 1, 600, 600), (1, 2, 180, 180), (2, 1, 30, 30), (3, 2, 80, 80),
        (4, 1, 300, 300), constraint=["old", "blue", "blue", "old", "blue", "red", "red"],
    )  # fmt: skip
    *_, two, one = starts(jobs, on)
    assert 240 * MINUTE <= two <= 241 * MINUTE and one >= two


def test_nodes_side_by_side() -> None:
    """Of four nodes the second is busy: two are found side by side, three have to wait for it."""
    jobs = log(
        (0, 1, 60, 60), (1, 2, 10, 10), (1200, 3, 10, 10), required_nodes=["n2", "", ""], contiguous=[0, 1, 1]
    )  # fmt: skip
    schedule = simulated(jobs, site())
    assert schedule.shares is not None and schedule.shares.nodes_of(1) == "n[3-4]"
    assert 3600 <= int(schedule.start[2]) // SECOND <= 3660


@pytest.mark.parametrize(
    ("busy", "wanted", "named"), [("n[1,3]", 2, "n2"), ("n[2,4]", 2, "n3"), ("n2", 3, "n[1,3]")]
)
def test_nodes_side_by_side_with_some_that_are_named(busy: str, wanted: int, named: str) -> None:
    """They are sought beside those that the job names, and all between these are required: it waits for the
    nodes in use, though others are idle. That was seen in runs of Slurm 22.05."""
    count = 2 if "[" in busy else 1
    jobs = log((0, count, 60, 60), (60, wanted, 10, 10), required_nodes=[busy, named], contiguous=[0, 1])
    assert starts(jobs, site())[1] >= 3600


@pytest.mark.parametrize(
    ("nodes", "tasks", "per_task", "per_node", "cpus"),
    [
        ((2, 2), 4, 1, 2, [2, 2]),  # as many tasks on each node as asked
        ((2, 2), 3, 2, -1, [4, 2]),  # a task is not divided between nodes
        ((1, 3), 5, 1, -1, [3, 1, 1]),  # the first node has room for four; no more CPUs than asked for
        ((1, 4), 4, 1, 2, [2, 2, 2, 2]),  # where it may have more nodes it has more tasks
    ],
)
def test_how_tasks_are_dealt_to_nodes(
    nodes: tuple[int, int], tasks: int, per_task: int, per_node: int, cpus: list[int]
) -> None:
    jobs = log(
        (0, nodes[0], 10, 10), min_nodes=[nodes[0]], max_nodes=[nodes[1]], cpus=[tasks * per_task],
        tasks=[tasks], cpus_per_task=[per_task], tasks_per_node=[per_node], exclusive=[0],
    )  # fmt: skip
    schedule = simulated(jobs, site())
    assert schedule.shares is not None and schedule.shares.cpus.tolist() == cpus


@pytest.mark.parametrize(("named", "nodes"), [("n3", "n[3-4]"), ("n4", "n[3-4]"), ("n2", "n[1-2]")])
def test_a_job_that_names_some_of_its_nodes_is_filled_up_around_them(named: str, nodes: str) -> None:
    """Up from the node that it names, then down, and only then with the lightest, which is n1; around n2,
    where the weights change, Slurm does not look first. That was seen in a run of Slurm 22.05."""
    weighed = tuple(replace(one, weight=1 if one.name == "n1" else 5) for one in site().nodes)
    schedule = simulated(log((0, 2, 10, 10), required_nodes=[named]), site(nodes=weighed))
    assert schedule.shares is not None and schedule.shares.nodes_of(0) == nodes


def test_a_job_that_names_some_of_its_nodes_holds_up_its_partition() -> None:
    """Who names all of its nodes keeps only these from others; who wants one more holds up the partition, so
    the last job, which is too long to be filled in, starts after it."""
    for wanted, at_once in ((1, True), (2, False)):
        jobs = log((0, 1, 60, 60), (1, wanted, 10, 10), (2, 3, 120, 10), required_nodes=["n1", "n1", ""])
        _, named, other = starts(jobs, site())
        assert (other < MINUTE) is at_once and named >= 3600


@pytest.mark.parametrize(("default", "first"), [("", 1), ("0", 1), ("500", 1), ("10", 0)])
def test_memory_that_nobody_asked_for_counts_in_the_priority(default: str, first: int) -> None:
    """A node has 8,000 MB. A job of four CPUs asks for 1,000, another for none: it has what is the default of
    a CPU, or all of its node where there is none (or 0). Whoever has more is the first on the only node."""
    weights = {"PriorityType": "priority/multifactor", "PriorityWeightTRES": "Mem=1000"}
    config = weights | {"DefMemPerCPU": default}
    main = Partition("main", (0,), is_default=True)
    on = site(config, nodes=(Node("n1", 4, memory_mb=8000),), partitions=(main,))
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), memory_node_mb=[8000, 1000, -1])
    start = starts(jobs, on)[1:]
    assert start[first] < start[1 - first]


def test_a_constraint_that_is_not_modelled_is_told_by_job() -> None:
    schedule = simulated(log((0, 1, 10, 10), constraint=["(red|blue)&big"]), coloured("red", "", "", ""))
    entry = next(one for one in schedule.workload.ledger.entries if one.rule == "constraint")
    assert entry.jobs == (1,) and not entry.dropped


SAVES = {"SuspendTime": "300 sec", "ResumeTimeout": "120 sec"}


def test_a_node_that_was_switched_off_takes_its_time_to_come_back() -> None:
    """n1 is off 300 s after the first job's end; the second job gets it in the next pass and begins 120 s
    later. The third, ten minutes after, finds it warm."""
    jobs = log((0, 1, 10, 10), (2000, 4, 10, 10), (2800, 1, 10, 10))
    off = starts(jobs, site(SAVES))
    on = starts(jobs, site())
    assert off[0] == on[0]
    assert off[1] == on[1] + 120 and off[2] == on[2]
    schedule = simulated(jobs, site(SAVES))
    assert (schedule.end - schedule.start == 600 * 10**6).all()
    assert headway.audit(schedule).ok


def test_nodes_that_are_off_are_taken_last() -> None:
    """n1 is off from 420 s on, the others are idle since 720 s only: seen in a run of the real Slurm."""
    jobs = log((0, 1, 10, 2), (1, 3, 20, 12), (800, 1, 10, 10))
    for more in ({}, SAVES):
        schedule = simulated(jobs, site(more))
        assert schedule.shares is not None
        assert schedule.shares.node[schedule.shares.job == 2].tolist() == [1 if more else 0]
    assert starts(jobs, site(SAVES))[2] < 900


def test_plans_take_a_job_whose_nodes_come_up_to_have_begun() -> None:
    """The first job has n1 to n3 from 2000 s on and begins at 2120 s, to end by 2720 s. Plans made before it
    begins let the second have all nodes at 2600 s, so the third, of ten minutes, may not start on n4. Real
    Slurm planned so, too."""
    jobs = log((0, 1, 10, 1), (2000, 3, 10, 10), (2010, 4, 10, 10), (2011, 1, 10, 10))
    _, first, second, third = starts(jobs, site(SAVES))
    assert 2120 <= first < 2130 and 2720 <= second < third


def test_nodes_that_are_never_switched_off() -> None:
    jobs = log((0, 1, 10, 10), (2000, 1, 10, 10))
    kept = SAVES | {"SuspendExcNodes": "n[1-2]"}
    assert starts(jobs, site(kept)) == starts(jobs, site())
    assert starts(jobs, site(SAVES | {"SuspendExcParts": "main"})) == starts(jobs, site())
    assert site(SAVES | {"SuspendExcNodes": "n[1-3]:2,n4"}).always_on == {0, 1, 3}


def test_power_saving_of_a_partition_holds_for_its_nodes() -> None:
    """The longest time of a node's partitions decides, the site's only where none has one."""

    def start(cloud: Partition, more: Partition, config: dict[str, str]) -> int:
        return starts(jobs, site(config, partitions=(cloud, more)))[1]

    jobs = log((0, 1, 10, 10), (2000, 4, 10, 10), partition=["cloud", "cloud"])
    cloud = Partition("cloud", (0, 1, 2, 3), is_default=True)
    more, saves = Partition("more", (0,)), replace(cloud, off_after=300, boot_seconds=90)
    on = start(cloud, more, {})
    assert start(saves, more, {}) == on + 90
    assert start(replace(saves, boot_seconds=None), more, {}) == on + 60  # ResumeTimeout's default
    assert start(replace(cloud, off_after=UNLIMITED), more, SAVES) == on
    assert start(saves, replace(more, off_after=UNLIMITED, boot_seconds=400), {}) == on + 90  # n2 to n4
    assert start(saves, replace(more, boot_seconds=400), {}) == on + 400
    kept = tuple(Node(f"n{k}", 4, off_after=UNLIMITED) for k in range(1, 5))
    assert starts(jobs, site(nodes=kept, partitions=(saves, more)))[1] == on


def test_deadlines_are_told_by_explain_s_ledger_in_plain_words() -> None:
    jobs = log((0, 4, 30, 30), (1, 4, 20, 5), end_by=["", str(BEGAN + 600)])
    entry = simulated(jobs, replace(site())).workload.ledger.entries[-1]
    assert "--deadline" in entry.action and entry.jobs == (2,)


@pytest.mark.parametrize("kind", ["priority/basic", "priority/multifactor"])
def test_a_nice_job_goes_behind_those_it_would_be_before(kind: str) -> None:
    """All want the whole machine. The second comes first of those that wait, and is nice."""
    jobs = log((0, 4, 10, 10), (10, 4, 10, 10), (20, 4, 10, 10), nice=[0, 100, 0])
    on = site({"PriorityType": kind, "PriorityWeightJobSize": "1000"})
    _, nice, other = starts(jobs, on)
    assert 10 * MINUTE <= other < 11 * MINUTE < nice


def test_the_size_of_a_job_in_points() -> None:
    """One node of four, and four CPUs of sixteen: a quarter of the weight; half a point is rounded up."""
    weighed = {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": "1002"}
    schedule = simulated(log((0, 1, 10, 10), (0, 2, 10, 10)), site(weighed))
    assert schedule.notes["size"].tolist() == [251, 501]


@pytest.mark.parametrize(
    ("asked", "cpus", "mb"),
    [
        ({}, [4], 400),  # three CPUs take two cores, all of which count
        ({"one_thread": [1]}, [6], 300),  # a core for each CPU, memory for the one thread of it
        ({"one_task_core": [1]}, [6], 600),  # a core for each task, memory for all its threads
        ({"one_thread": [1], "cpus_per_task": [3], "tasks": [1]}, [6], 300),
        ({"one_task_core": [1], "cpus_per_task": [3], "tasks": [1]}, [4], 400),
    ],
)
def test_jobs_that_leave_threads_of_their_cores_idle(
    asked: dict[str, list[int]], cpus: list[int], mb: int
) -> None:
    """--hint=nomultithread and --ntasks-per-core=1, as recorded runs of real Slurm have them."""
    two = tuple(Node(f"n{k}", 8, memory_mb=8000, threads_per_core=2) for k in range(1, 5))
    on = site({"SelectTypeParameters": "CR_Core_Memory", "DefMemPerCPU": "100"}, nodes=two)
    given = {"cpus": [3], "tasks": [3], "exclusive": [0]} | asked
    schedule = simulated(log((0, 1, 10, 10), **given), on)
    assert schedule.shares is not None and schedule.shares.cpus.tolist() == cpus
    assert schedule.shares.memory_mb.tolist() == [mb]


@pytest.mark.parametrize(("each", "cpus"), [(1, 6), (2, 6), (3, 4)])
def test_a_site_may_give_every_task_a_core_of_its_own(each: int, cpus: int) -> None:
    """CR_ONE_TASK_PER_CORE: tasks of one CPU and of two have a core, one of three CPUs has two."""
    two = tuple(Node(f"n{k}", 8, threads_per_core=2) for k in range(1, 5))
    on = site({"SelectTypeParameters": "CR_Core,CR_ONE_TASK_PER_CORE"}, nodes=two)
    tasks = 1 if each == 3 else 3
    given = {"cpus": [each * tasks], "tasks": [tasks], "cpus_per_task": [each], "exclusive": [0]}
    schedule = simulated(log((0, 1, 10, 10), **given), on)
    assert schedule.shares is not None and schedule.shares.cpus.tolist() == [cpus]


@pytest.mark.parametrize(("asked", "runs"), [("", True), ("one_thread", False), ("one_task_core", False)])
def test_a_job_that_leaves_threads_idle_needs_as_many_cores(asked: str, runs: bool) -> None:
    """Three tasks on one node of two cores with two threads each."""
    on = site(nodes=tuple(Node(f"n{k}", 4, threads_per_core=2) for k in range(1, 5)))
    given = {"cpus": [3], "tasks": [3], "exclusive": [0]} | ({asked: [1]} if asked else {})
    schedule = simulated(log((0, 1, 10, 10), **given), on)
    assert (len(schedule.start) == 1) == runs
    assert ("too_large" in {entry.rule for entry in schedule.workload.ledger.entries}) != runs


def test_cores_are_not_shared_with_cr_cpu_either() -> None:
    """Two jobs of one CPU each have a core of two threads each: the third waits for one of them."""
    on = site({"SelectTypeParameters": "CR_CPU"}, nodes=(Node("n1", 4, threads_per_core=2),))
    on = replace(on, partitions=(replace(on.partitions[0], nodes=(0,)),))
    jobs = log(*[(k, 1, 10, 10) for k in range(3)], cpus=[1] * 3, tasks=[1] * 3, exclusive=[0] * 3)
    first, second, third = starts(jobs, on)
    assert first <= second < MINUTE < 10 * MINUTE <= third


def test_what_cr_cpu_counts_is_named(tmp_path: Path) -> None:
    """A job is charged for whole cores, where Slurm charges it for the CPUs that it asked for."""
    for threads, told in ((1, False), (2, True)):
        text = f"NodeName=n1 CPUs=4 CoresPerSocket=2 ThreadsPerCore={threads}\nPartitionName=main Nodes=n1\n"
        (tmp_path / "slurm.conf").write_text(f"ClusterName=c\nSelectTypeParameters=CR_CPU_Memory\n{text}")
        names = [one.name for one in Site.load(tmp_path).not_modelled]
        assert any(name.startswith("SelectTypeParameters CR_CPU") for name in names) == told


def test_explain_gives_each_part_of_a_priority_its_name() -> None:
    """The points are those of the first partition, whose priority it is, wherever the job started; a negative
    nice is no resource, and a priority is never less than 1."""
    weights = {"PriorityType": "priority/multifactor", "PriorityWeightPartition": "1000"}
    fast = Partition("fast", (0, 1), job_factor=10)
    on = site(weights, partitions=(Partition("main", (0, 1, 2, 3), is_default=True), fast))
    jobs = log(
        (0, 4, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10), (3, 1, 10, 10), (4, 1, 10, 5),
        nice=[0, 0, -50, 50, 5000],
        partition=["main", "main,fast", "fast,main", "main", "main"], held=[0, 0, 0, 0, 1],
        begin=["", "", "", "now+20minutes", ""],
    )  # fmt: skip
    schedule = simulated(jobs, on)
    said = [headway.explain(schedule, job).text(1000) for job in (2, 3, 4, 5)]
    assert "in the partition fast on n2" in said[0]
    for text, priority in zip(
        said,
        (
            "in main, the first of its partitions, was 100: 100 for its partition.",
            "in fast, the first of its partitions, was 1050: 1000 for its partition + 50 because its nice "
            "was -50.",
            "was 50: 100 for its partition - 50 for nice.",
            "was 1: 100 for its partition - 5000 for nice, and 1 is the least.",
        ),
        strict=True,
    ):
        assert f"At submission its priority {priority}" in text
    assert (
        "could be looked at from 2023-11-14 22:33:23 UTC (20 min after it was submitted) on: it asked for --b"
        in said[2]
    )
    assert "(2 s after it was submitted) on: it was held." in said[3]
    assert "is Resources: nodes that it needed were busy, or kept for jobs before it." in said[1]


def test_a_licence_that_the_site_does_not_have_is_told_by_job() -> None:
    """One of the accounting database stands in no slurm.conf; nothing says how many of it there are."""
    jobs = log(*((k, 1, 10, 10) for k in range(3)), licenses=["matlab:1", "matlab*2,ansys@flex:2", ""])
    ledger = simulated(jobs, site(licenses={"matlab": 3})).workload.ledger
    entry = next(one for one in ledger.entries if one.rule == "licenses")
    assert entry.jobs == (2,) and not entry.dropped and "not in the site's Licenses" in entry.action
    assert not simulated(jobs, site(licenses={"matlab": 3, "ansys@flex": 2})).workload.ledger.entries


def test_a_reservation_that_the_site_does_not_know_is_told_by_job() -> None:
    """So it is where reservations.txt is missing: the job waits and runs as if it had asked for none."""
    jobs = log((0, 1, 10, 10), (1, 1, 10, 10), reservation=["", "course"])
    schedule = simulated(jobs, site())
    [entry] = schedule.workload.ledger.entries
    assert (entry.rule, entry.jobs, entry.dropped) == ("reservation", (2,), 0)
    assert "not in the site's reservations.txt" in entry.action
    assert schedule.start.tolist() == simulated(log((0, 1, 10, 10), (1, 1, 10, 10)), site()).start.tolist()
