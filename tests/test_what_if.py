"""What if: each change does what it says, and the answer adds up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headway as package
from commands import Headway
from headway.changes import CHANGES, Case, changed
from headway.errors import UsageError
from headway.platform import Platform
from headway.site import Site
from headway.units import SECOND, span_text
from headway.what_if import answer
from headway.what_if.answer import Class
from headway.what_if.sentences import sentences
from headway.workload import Workload
from test_site import CONF, DUMP, site_folder

HOUR = 3600 * SECOND


def workload(jobs: int = 40) -> Workload:
    """Jobs of two partitions and accounts, one every ten minutes."""
    place = np.arange(jobs)
    return Workload.from_arrays(
        unit="us",
        submit=place * 600 * SECOND,
        procs=1 + place % 8,
        runtime=HOUR + place % 5 * HOUR,
        walltime=np.full(jobs, 8 * HOUR),
        partition=place % 2,
        group=place % 3,
        labels={"partition": ["batch", "short"], "group": ["phys", "chem", "bio"]},
    )


@pytest.fixture
def case(tmp_path: Path) -> Case:
    site = Site.load(site_folder(tmp_path))
    return Case(workload(), site.platform(), "easy")


def site_of(case: Case) -> Site:
    assert case.site is not None
    return case.site


def test_nodes_come_and_go_in_every_partition(case: Case) -> None:
    more = site_of(changed(case, "nodes=+25%"))
    assert (len(more.nodes), more.cpus) == (15, 120)
    assert [len(one.nodes) for one in more.partitions] == [15, 10]  # copies of n1, n7 (or n6) and n12
    fewer = site_of(changed(case, "nodes=-3"))
    assert len(fewer.nodes) == 9 and max(fewer.partitions[0].nodes) == 8
    log = Case(workload(), Platform.procs(100), "easy")
    assert changed(log, "nodes=+10%").platform.total_procs == 110


def test_a_walltime_cap_cuts_requests_and_runs_of_its_partition(case: Case) -> None:
    after = changed(case, "partition.short.maxtime=2h")
    short = after.workload.partition == 1
    assert site_of(after).partitions[1].max_minutes == 120
    assert after.workload.walltime[short].max() == after.workload.runtime[short].max() == 2 * HOUR
    assert after.workload.walltime[~short].min() == 8 * HOUR


@pytest.mark.parametrize(
    ("change", "field", "wanted"),
    [
        ("maxmempercpu=2G", "max_mem_per_cpu_mb", 2048), ("maxnodes=3", "max_nodes", 3),
        ("maxmempercpu=UNLIMITED", "max_mem_per_cpu_mb", None), ("allowqos=ALL", "allow_qos", None),
        ("state=drain", "state", "DRAIN"), ("denyaccounts=a,b", "deny_accounts", ("a", "b")),
        ("defmempernode=0", "def_mem_per_node_mb", None), ("prioritytier=4", "tier", 4),
    ],
)  # fmt: skip
def test_keys_of_a_partition_are_read_as_in_slurm_conf(
    case: Case, change: str, field: str, wanted: object
) -> None:
    _, short = site_of(changed(case, f"partition.short.{change}")).partitions
    assert getattr(short, field) == wanted


def test_jobs_without_a_partition_are_cut_with_the_default_one(case: Case) -> None:
    """As in a log without that column, or of a partition that is gone."""
    bare = replace(case, workload=case.workload.with_labels(partition=["gone", "short,gone"]))
    assert set(changed(bare, "partition.batch.maxtime=2h").workload.walltime[::2].tolist()) == {2 * HOUR}
    assert set(changed(bare, "partition.batch.maxtime=2h").workload.walltime[1::2].tolist()) == {8 * HOUR}
    assert set(changed(bare, "partition.short.maxtime=2h").workload.walltime[1::2].tolist()) == {2 * HOUR}


def test_merged_partitions(case: Case) -> None:
    after = changed(case, "merge=short,batch")
    [one] = site_of(after).partitions
    assert (one.name, len(one.nodes), one.max_minutes, one.is_default) == ("short", 12, 1440, True)
    assert after.workload.labels["partition"] == ["short", "short"]


def test_parameters_limits_and_shares(case: Case) -> None:
    site = site_of(changed(case, "PriorityWeightFairshare=20000"))
    assert site.config.get("priorityweightfairshare") == "20000"
    site = site_of(changed(changed(case, "bf_max_job_user=20"), "bf_continue=off"))
    assert site.scheduler == {"bf_interval": "60", "bf_max_job_user": "20"}
    assert site_of(changed(case, "qos.high.maxjobs=10")).qos[1].limits.max_jobs_per_user == 10
    assert site_of(changed(case, "qos.normal.maxtrespu=cpu=8")).qos[0].limits.max_tres_per_user == {"cpu": 8}
    users = {one.user: one for one in site_of(changed(case, "user.bob.fairshare=99")).associations}
    assert users["bob"].shares == 99
    free = site_of(changed(case, "limits=none"))
    assert all(not one.limits.max_tres_per_user for one in free.qos)


def test_limits_are_set_as_sacctmgr_sets_them(case: Case) -> None:
    """0 lets nobody run, -1 takes a limit away, and of resources only those that are named change."""
    high = site_of(changed(case, "qos.high.maxjobs=0")).qos[1].limits
    assert high.max_jobs_per_user == 0 and high.grp_tres == {"mem": 1024}
    assert site_of(changed(case, "qos.high.maxjobs=-1")).qos[1].limits.max_jobs_per_user is None
    both = site_of(changed(case, "qos.normal.maxtrespu=node=2")).qos[0].limits.max_tres_per_user
    assert both == {"cpu": 80, "node": 2}
    assert site_of(changed(case, "qos.normal.maxtrespu=cpu=-1")).qos[0].limits.max_tres_per_user == {}
    assert site_of(changed(case, "qos.normal.maxtrespu=none")).qos[0].limits.max_tres_per_user == {}
    users = {one.user: one for one in site_of(changed(case, "user.bob.maxjobs=0")).associations}
    assert users["bob"].limits.max_jobs == 0


@pytest.mark.parametrize(
    ("change", "ann", "bob"),
    [
        ("account.phys.maxjobs=2", 2, 4),
        ("account.root.maxjobs=2", 7, 4),
        ("account.phys.maxjobs=-1", None, 4),
        ("account.phys.grpjobs=2", 7, 4),
    ],
)
def test_users_inherit_limits_that_they_have_not_of_their_own(
    case: Case, change: str, ann: int | None, bob: int
) -> None:
    """The account phys has MaxJobs=7 of its own, and bob 4."""
    users = {one.user: one.limits.max_jobs for one in site_of(changed(case, change)).associations}
    assert (users["ann"], users["bob"]) == (ann, bob)


def test_resources_are_inherited_one_by_one(case: Case) -> None:
    """The account has cpu=64 and GPUs, bob cpu=8 of his own."""
    after = site_of(changed(case, "account.phys.maxtres=cpu=32,node=3")).associations
    users = {one.user: one.limits.max_tres for one in after}
    assert users["ann"] == {"cpu": 32, "node": 3, "gres/gpu:a100": 2}
    assert users["bob"] == {"cpu": 8, "node": 3, "gres/gpu:a100": 2}


def test_names_may_have_points(tmp_path: Path) -> None:
    dump = DUMP.replace("'bob'", "'bob.b'")
    site = Site.load(site_folder(tmp_path, associations__cfg=dump))
    after = site_of(changed(Case(workload(), site.platform(), "easy"), "user.bob.b.maxjobs=3"))
    assert {one.user: one.limits.max_jobs for one in after.associations}["bob.b"] == 3


def test_switches_and_closed_partitions_go_with_the_nodes(tmp_path: Path) -> None:
    """Nodes 3, 7 and 11 (of 12) are copied or leave; the copies hang where the originals do."""
    conf = CONF + "TopologyPlugin=topology/tree\n"
    tree = "SwitchName=s1 Nodes=n[1-6]\nSwitchName=s2 Nodes=n[7-12]\nSwitchName=top Switches=s[1-2]\n"
    events = "NodeName|Partition|TimeStart|TimeEnd|State|Reason\n|short|1700000000|1700003600|DOWN|upgrade\n"
    folder = site_folder(tmp_path, slurm__conf=conf, topology__conf=tree, events__txt=events)
    case = Case(workload(), Site.load(folder).platform(), "easy")
    more, fewer = site_of(changed(case, "nodes=+3")), site_of(changed(case, "nodes=-3"))
    for site in (more, fewer):
        below = [{site.nodes[place].name for place in one.nodes} for one in site.switches]
        assert below[0] | below[1] == below[2] == {node.name for node in site.nodes}
        assert [one.partition for one in site.events] == ["short"]
    assert [len(one.nodes) for one in more.switches] == [7, 8, 15]
    assert [fewer.nodes[place].name for place in fewer.switches[0].nodes] == ["n1", "n2", "n4", "n5", "n6"]


def test_more_and_fewer_jobs(case: Case) -> None:
    more = changed(case, "jobs=+20%").workload
    assert len(more) == 48 == more.ledger.kept and len(np.unique(more.job)) == 48
    assert np.array_equal(more.procs[:40], case.workload.procs)
    assert len(changed(case, "jobs=-10%").workload) == 36
    assert changed(case, "exact").workload.walltime.tolist() == case.workload.runtime.tolist()


@pytest.mark.parametrize("example", [example for example, _, _ in CHANGES])
def test_every_example_of_the_list_is_a_change(case: Case, example: str) -> None:
    """Names of partitions and accounts may be others here."""
    try:
        assert changed(case, example) is not case
    except UsageError as error:
        assert "the site has no " in str(error)


def test_copies_of_jobs_are_new_jobs_and_the_ledger_keeps_what_it_had() -> None:
    """They follow nobody, and their numbers are not those of jobs that were left out."""
    log = workload(20).with_columns(follows=np.arange(20), think=np.full(20, 60), preceding=np.arange(20))
    log = log.select(log.job <= 10, rule="window", action="too late")
    more = changed(Case(log, Platform.procs(16), "easy"), "jobs=+5").workload
    assert more.job.tolist() == [*range(1, 11), *range(21, 26)]
    assert (more.ledger.total, more.ledger.kept, more.ledger.dropped) == (25, 15, 10)
    assert [(entry.rule, entry.count) for entry in more.ledger.entries] == [("window", 10), ("what_if", 5)]
    for name in ("follows", "think", "preceding"):
        assert more.columns[name][10:].tolist() == [-1] * 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour=red", "there is no change 'colour=red'"),
        ("nodes", "'nodes' has no value; write nodes=VALUE, as in nodes=+10%"),
        ("PriorityMaxAge=", "'PriorityMaxAge=' has no value; write PriorityMaxAge=VALUE"),
        ("node=+10%", "there is no change 'node=+10%' (did you mean 'nodes'?)"),
        ("bf_max_job_tests=9", "(did you mean 'bf_max_job_test'?)"),
        ("bf_max_job_test=0", "Slurm takes no 0 and would use its default, 500"),
        ("bf_max_job_test=-5", "Slurm takes no -5 and would use its default, 500"),
        ("bf_max_job_test=999999999999", "Slurm takes no 999999999999 and would use its default, 500"),
        ("bf_resolution=0", "Slurm takes no 0 and would use its default, 60"),
        ("default_queue_depth=-1", "Slurm takes no -1 and would use its default, 100"),
        ("nodes=ten", "is not a change such as"),
        ("nodes=+1.5", "is not a change such as"),
        ("nodes=+4%", "is less than one, as there are 12; give more, or +1"),
        ("nodes=-100%", "there are 12, and at least one must be left"),
        ("nodes=-13", "there are 12, and at least one must be left"),
        ("jobs=-40", "there are 40, and at least one must be left"),
        ("partition.gold.maxtime=1h", "the site has no partition gold; there are batch, short"),
        ("partition.short.colour=red", "a partition's keys are maxtime"),
        ("partition.short.defaulttime=1h", "which jobs left it to the default"),
        ("partition.short.maxtime=soon", "'soon' is not a time such as"),
        ("qos.gold.maxjobs=1", "the site has no QOS gold"),
        ("qos.high.colour=1", "there is no limit colour"),
        ("user.zoe.maxjobs=1", "the site has no user zoe"),
        ("policy=nonsense", "nonsense"),
        ("limits=some", "limits can only be none"),
        ("qos.high.priority=much", "qos.high.priority=much: 'much' is not a whole number"),
        ("qos.high.usagefactor=nan", "qos.high.usagefactor=nan: 'nan' is not a number from 0 up"),
        ("qos.high.maxjobs=few", "qos.high.maxjobs=few: 'few' is not a whole number"),
        ("account.phys.fairshare=big", "account.phys.fairshare=big: 'big' is not a whole number"),
        ("partition.short.state=open", "'open' is none of UP, DOWN, DRAIN and INACTIVE"),
        ("partition.short.qos=gold", "the site has no QOS gold"),
        ("partition.short.oversubscribe=maybe", "'maybe' is none of NO, EXCLUSIVE"),
        ("partition.short.oversubscribe=FORCE:2", "OverSubscribe of partition short is not modelled"),
        ("PreemptMode=REQEUE", "PreemptMode REQEUE is not modelled"),
        ("bf_yield_interval=10", "SchedulerParameters bf_yield_interval is not modelled"),
        ("qos.high.MaxTRESRunMinsPerUser=cpu=9", "MaxTRESRunMinsPU of QOS high is not modelled"),
    ],
)
def test_a_bad_change_gets_one_sentence(case: Case, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        changed(case, text)
    assert sentence in str(caught.value)


def test_a_change_of_a_site_needs_one() -> None:
    with pytest.raises(UsageError, match="changes a site, and this is a log"):
        changed(Case(workload(), Platform.procs(8), "easy"), "bf_interval=60")


def test_what_changes_no_start_is_told_so(case: Case) -> None:
    cases = (case, changed(case, "nodes=+0"), changed(case, "nodes=-9"))
    base, same, fewer = (package.simulate(one.workload, one.platform, one.policy) for one in cases)
    first, *others = sentences(answer("nodes=+0", [base], [same]))
    assert first == "With nodes=+0 every job starts at the same time as without it."
    assert not any("chance" in sentence or "nobody can be sure" in sentence for sentence in others)
    assert "the mean wait is" in sentences(answer("nodes=-9", [base], [fewer]))[0]


def test_the_first_sentence_says_whose_wait_it_is_where_jobs_no_longer_run(case: Case) -> None:
    """On 4 CPUs jobs of 1 to 4 processors run, 20 of 40."""
    small = replace(case, platform=Platform.procs(4))
    base, fewer = (package.simulate(one.workload, one.platform, "easy") for one in (case, small))
    first = sentences(answer("nodes=-95%", [base], [fewer]))[0]
    assert first.startswith("With nodes=-95% the mean wait of the 20 jobs that run either way is ")


def test_a_change_leads_with_whomever_it_names(tmp_path: Path) -> None:
    """The accounts below a named one count with it; a job without a partition is in the default one."""
    site = Site.load(site_folder(tmp_path))
    jobs = workload().with_labels(partition=["gone", "short"], group=["phys", "chem", "bio"])
    base = Case(jobs, site.platform(), "easy")
    runs = [package.simulate(one.workload, one.platform, "easy") for one in (base, changed(base, "nodes=-9"))]

    def named(name: str) -> dict[str, int]:
        found = answer(name, runs[:1], runs[1:])
        return {part.whose: part.waits.pairs for part in found.named}

    assert named("account.phys.maxjobs=2") == {"account phys": 14, "all others": 26}
    assert named("account.root.fairshare=2 nodes=-9") == {"account root": 14, "all others": 26}
    assert named("partition.batch.state=up") == {"partition batch": 20, "all others": 20}
    assert named("merge=short,batch") == named("nodes=-9") == named("user.bob.maxjobs=4") == {}


def test_jobs_that_are_cut_short_are_no_gain() -> None:
    """Of two queues on a full machine one is cut to nothing: only jobs that keep their run are compared."""
    base = Case(workload(), Platform.procs(8), "fcfs")
    half = base.workload.partition == 1
    runtime = np.where(half, SECOND, base.workload.runtime)
    cut = replace(base, workload=base.workload.with_columns(runtime=runtime, walltime=runtime))
    runs = [package.simulate(one.workload, one.platform, one.policy) for one in (base, cut)]
    found = answer("x", runs[:1], runs[1:])
    waits = [run.wait[~half].mean() / SECOND for run in runs]
    assert (found.ended_early, found.overall.pairs) == (20, 20)
    assert [found.overall.base, found.overall.value] == pytest.approx(waits)
    assert sum(one.jobs for one in found.classes if one.kind == "size") == 20
    area = base.workload.procs * base.workload.runtime
    assert found.undone == pytest.approx(area[half].sum() / area.sum(), rel=1e-3)
    said = sentences(found)
    assert said[0].startswith("With x the mean wait of the 20 jobs that the change does not cut short is ")
    assert "The shorter limit ends 20 jobs before the work is done, " in said[1]
    short = replace(cut, workload=cut.workload.with_columns(runtime=np.full(40, SECOND)))
    every = answer("x", runs[:1], [package.simulate(short.workload, short.platform, short.policy)])
    assert (every.ended_early, every.overall.pairs) == (40, 40)  # then there is nothing else to compare
    assert "left out" not in sentences(every)[1]


def test_classes_that_are_not_named_are_counted() -> None:
    base = Case(workload(400), Platform.procs(16), "fcfs")
    run = package.simulate(base.workload, base.platform, base.policy)
    found = answer("x", [run], [run])
    lost = Class("size", "1", 20, 60.0, 360.0, 300.0, 300.0, None, 1)
    sizes = tuple(replace(lost, name=name, value=60.0 + 300 * place) for place, name in enumerate("1248", 1))
    said = sentences(replace(found, same=False, classes=sizes))
    assert said[2].startswith("Who loses: size 8 by 20 min (20 jobs)")
    assert said[2].endswith("; and 2 others.")


def test_the_answer_adds_up() -> None:
    """Twice the processors: nobody waits longer, and class by class the means make up the whole."""
    base = Case(workload(400), Platform.procs(16), "fcfs")
    runs = [
        package.simulate(one.workload, one.platform, one.policy)
        for one in (base, changed(base, "nodes=+100%"))
    ]
    found = answer("nodes=+100%", [runs[0]], [runs[1]])
    assert found.overall.base == pytest.approx(runs[0].wait.mean() / SECOND)
    assert found.overall.value == pytest.approx(runs[1].wait.mean() / SECOND)
    sizes = [one for one in found.classes if one.kind == "size"]
    assert sum(one.jobs for one in sizes) == 400
    total = sum(one.jobs * one.difference for one in sizes) / 400
    assert total == pytest.approx(found.overall.difference) and all(one.difference < 0 for one in sizes)
    said = sentences(found)
    assert "shorter" in said[0] and "too few for an interval" in said[0]
    assert said[2] == "No group loses a second or more."
    assert all(one.sure is None for one in found.classes)


def test_a_mean_that_stays_and_a_user_who_loses_are_told_as_such() -> None:
    """Of two users one gains what the other loses: the mean stays, and so do sizes."""
    base = Case(workload(400), Platform.procs(16), "fcfs")
    run = package.simulate(base.workload, base.platform, base.policy)
    found = answer("x", [run], [run])
    ann = Class("user", "ann", 200, 3600.0, 60.0, -3540.0, -3540.0, None, 1)
    bob = replace(ann, name="bob", base=60.0, value=3600.0, low=3540.0, high=3540.0)
    mean = replace(found.overall, difference=-1.0, value=found.overall.base - 1.0, change=-0.0004)
    said = sentences(replace(found, same=False, whole=replace(found.whole, waits=mean), users=(ann, bob)))
    assert said[0].startswith(f"With x the mean wait stays at {span_text(mean.base)}, less than 1% shorter; ")
    assert said[1:3] == [
        "No group gains a second or more.",
        "No group loses a second or more.",
    ]
    assert said[3].startswith("Of 2 users, 1 gains and 1 loses; ann gains most, 59 min (200 jobs); bob ")


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    listed = headway("what-if", "--list")
    assert listed.status == 0 and all(example in listed.out for example, _, _ in CHANGES)
    package.workload.write_swf(workload(), tmp_path / "log.swf")
    done = headway("what-if", "log.swf", "nodes=+50%", "--against", "policy=fcfs jobs=+10%", "--procs", 16)
    assert done.status == 0, done.err
    assert "With nodes=+50% the mean wait is" in done.out and "With policy=fcfs jobs=+10%" in done.out
    refused = headway("what-if", "log.swf", "nodes=+x", "--procs", 16)
    assert refused.status == 2 and "such as +10%" in refused.err
    assert headway("what-if", "log.swf").status == 2
    asked = ("what-if", "log.swf", "nodes=+50%", "--procs", 16, "--report", "answer.html")
    headway.write("answer.html", "kept")
    there = headway(*asked)
    assert "answer.html exists; give another name, or --force" in there.err
    assert "written to answer.html" in headway(*asked, "--force").out
    assert "nodes=+50%" in (tmp_path / "answer.html").read_text("utf-8")


def test_a_site_without_any_qos_says_so(tmp_path: Path) -> None:
    site = replace(Site.load(site_folder(tmp_path)), qos=())
    with pytest.raises(UsageError, match="the site has no QOS x; there are none"):
        changed(Case(workload(), site.platform(), "slurm"), "qos.x.maxjobs=1")
