"""A site's folder: configuration, accounts and jobs, read right or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import headway
from headway.changes.site_changes import scheduling
from headway.errors import InputError, UsageError
from headway.policies.slurm.setup.record import warm_up_days, warm_up_remark
from headway.policies.slurm.setup.setup import settings_of
from headway.site import PARENT, Site
from headway.site.config import Config
from headway.site.model import UNLIMITED
from headway.site.node_names import compressed, expanded

CONF = """\
ClusterName=small
SchedulerParameters=bf_interval=60,bf_continue
PriorityWeightAge=1000
PriorityMaxAge=1-0
NodeName=DEFAULT CPUs=8 RealMemory=32000 Weight=10
NodeName=n[1-8] State=UNKNOWN
NodeName=n[9-12] RealMemory=64000 \\
    Weight=50 Feature=big,new Gres=gpu:a100:2
PartitionName=DEFAULT MaxTime=1-0
PartitionName=batch Nodes=ALL Default=YES
PartitionName=short Nodes=n[5-12] MaxTime=60 PriorityTier=3   # a comment
"""
DUMP = """\
# To edit this file start with a cluster line for the new cluster
Cluster - 'small':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Description='a: b=c':Fairshare=50:MaxJobs=7:MaxTRESPerJob=cpu=64,gres/gpu:a100=2
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=parent:QOS='+high'
User - 'bob':DefaultAccount='phys':Fairshare=10:MaxJobs=4:MaxTRESPerJob=cpu=8
"""
QOS = """\
Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU|MinTRES
normal|10|00:00:00|||cluster||1.000000|||cpu=80||
high|1000|00:00:30|normal|00:10:00|requeue|DenyOnLimit,NoDecay|0.500000|mem=1G|1-00:00:00||3|
"""


def site_folder(folder: Path, **files: str) -> Path:
    """A folder of files by name, dots as two underscores; the small site where nothing else is said."""
    given = {"slurm__conf": CONF, "associations__cfg": DUMP, "qos__txt": QOS} | files
    for name, text in given.items():
        if text:
            (folder / name.replace("__", ".")).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("line", "cpus"),
    [
        ("CPUs=16 ThreadsPerCore=2", 16),
        ("CPUs=16 ThreadsPerCore=2 CoreSpecCount=1", 14),
        ("CPUs=16 ThreadsPerCore=2 CPUSpecList=0,12-15", 10),  # whole cores: the first and the last two
        ("CPUTot=16 CPUEfctv=14 ThreadsPerCore=2 CoreSpecCount=1 CPUSpecList=14-15", 14),
    ],
)
def test_jobs_have_no_cores_that_are_kept_for_the_system(tmp_path: Path, line: str, cpus: int) -> None:
    text = f"NodeName=n1 {line}\nPartitionName=all Nodes=n1 Default=YES\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=text, associations__cfg="", qos__txt=""))
    assert [node.cpus for node in site.nodes] == [cpus]
    assert not site.not_modelled


@pytest.mark.parametrize("given", ["foo", "[0-", "0-1,x"])
def test_a_broken_list_of_kept_cpus_is_told_by_its_line(tmp_path: Path, given: str) -> None:
    text = f"NodeName=n1 CPUs=4 CPUSpecList={given}\nPartitionName=all Nodes=n1 Default=YES\n"
    folder = site_folder(tmp_path, slurm__conf=text, associations__cfg="", qos__txt="")
    with pytest.raises(InputError, match=r"slurm\.conf:1: CPUSpecList: .* is not a list of CPUs such as"):
        Site.load(folder)


def test_nodes_of_the_future_are_not_there(tmp_path: Path) -> None:
    """Lines may name nodes with State=FUTURE; a cluster has them when somebody says so."""
    conf = CONF.replace("State=UNKNOWN", "State=FUTURE") + "NodeSet=first Nodes=n[1-9]\n"
    conf += "PartitionName=some Nodes=n[7-10]\nPartitionName=set Nodes=first\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=conf))
    assert [node.name for node in site.nodes] == ["n9", "n10", "n11", "n12"] and site.cpus == 32
    assert [one.nodes for one in site.partitions] == [(0, 1, 2, 3), (0, 1, 2, 3), (0, 1), (0,)]


def test_a_value_goes_on_where_its_line_does(tmp_path: Path) -> None:
    """Slurm puts continued lines together without a blank between them."""
    conf = CONF.replace("bf_interval=60,bf_continue", "bf_interval=60,\\\nbf_continue,\\\nbf_window=2880")
    site = Site.load(site_folder(tmp_path, slurm__conf=conf))
    assert site.scheduler == {"bf_interval": "60", "bf_continue": "", "bf_window": "2880"}


def test_files_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    """Windows writes a byte order mark, and ends lines otherwise."""
    folder = site_folder(tmp_path)
    for file in folder.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    site = Site.load(folder)
    assert (site.name, len(site.nodes), [qos.name for qos in site.qos]) == ("small", 12, ["normal", "high"])


def test_slurm_conf_gives_nodes_partitions_and_parameters(tmp_path: Path) -> None:
    site = Site.load(site_folder(tmp_path))
    assert (site.name, site.cpus, len(site.nodes)) == ("small", 96, 12)
    first, last = site.nodes[0], site.nodes[-1]
    assert (first.name, first.cpus, first.memory_mb, first.weight) == ("n1", 8, 32000, 10)
    assert (last.name, last.memory_mb, last.weight, last.features) == ("n12", 64000, 50, ("big", "new"))
    assert last.gres == {"gpu": 2, "gpu:a100": 2}
    batch, short = site.partitions
    assert (batch.nodes, batch.max_minutes, batch.is_default) == (tuple(range(12)), 1440, True)
    assert (short.nodes, short.max_minutes, short.tier) == (tuple(range(4, 12)), 60, 3)
    assert site.config.get("priorityweightage") == "1000"
    assert site.config.get("KillWait") == "30"  # Slurm's default
    assert site.config.seconds("PriorityMaxAge") == 86400
    assert site.scheduler == {"bf_interval": "60", "bf_continue": ""}
    assert site.scheduling("bf_continue") == "" and site.scheduling("bf_licenses") is None
    assert site.scheduling_number("bf_max_job_test") == 500


def test_associations_inherit_limits_and_qos(tmp_path: Path) -> None:
    site = Site.load(site_folder(tmp_path))
    root, administrator, phys, ann, bob = site.associations
    assert (administrator.account, administrator.user) == ("root", "root")  # which Slurm always has
    assert (root.parent, phys.parent, ann.parent, bob.parent) == (-1, 0, 2, 2)
    assert (phys.shares, ann.shares, bob.shares) == (50, PARENT, 10)
    assert (ann.qos, bob.qos) == (("normal", "high"), ("normal",))
    assert phys.limits.max_tres == {"cpu": 64, "gres/gpu:a100": 2}
    assert (ann.limits.max_jobs, bob.limits.max_jobs) == (7, 4)
    assert bob.limits.max_tres == {"cpu": 8, "gres/gpu:a100": 2}


def test_qos_as_sacctmgr_shows_them(tmp_path: Path) -> None:
    normal, high = Site.load(site_folder(tmp_path)).qos
    assert (normal.priority, normal.limits.max_tres_per_user) == (10, {"cpu": 80})
    assert (high.preempt, high.preempt_mode, high.preempt_exempt_seconds) == (("normal",), "REQUEUE", 600)
    assert (high.grace_seconds, high.usage_factor) == (30, 0.5)
    assert high.flags == {"DenyOnLimit", "NoDecay"}
    assert (high.limits.grp_tres, high.limits.max_wall_minutes) == ({"mem": 1024}, 1440)
    assert high.limits.max_jobs_per_user == 3


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ("n[1-3,07]", ["n1", "n2", "n3", "n07"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("a,b-1", ["a", "b-1"]),
    ],
)
def test_node_names_are_taken_apart(names: str, listed: list[str]) -> None:
    assert expanded(names) == listed


def test_node_names_are_put_together_as_they_were() -> None:
    for text in ("n[1-8,10]", "n1", "c[01-12],gpu[1-2]", "n[8-12]", "c[099-101]"):
        assert compressed(expanded(text)) == text


def test_a_node_that_was_switched_off_to_save_power_was_no_outage(tmp_path: Path) -> None:
    lines = ["NodeName|TimeStart|TimeEnd|State|Reason", "n1|100|200|IDLE+POWERED_DOWN|", "n2|100|200|DOWN*|x"]
    site = Site.load(site_folder(tmp_path, events__txt="\n".join(lines)))
    assert [(one.node, one.ends_jobs) for one in site.events] == [("n2", True)]


def test_a_zone_is_that_of_events_reservations_and_log(tmp_path: Path) -> None:
    """Eight o'clock in Berlin is six in June; seconds and times with an offset need no zone."""
    eight = 1717394400  # 2024-06-03T06:00:00Z
    events = f"""NodeName|TimeStart|TimeEnd|State
n1|2024-06-03T08:00:00|Unknown|DOWN
n2|{eight}|2024-06-03T08:30:00|DOWN
n3|2024-06-03T06:00:00+00:00|2024-06-03T09:00:00+02:00|DOWN
"""
    hour = "StartTime=2024-06-03T08:00:00 EndTime=2024-06-03T09:00:00"
    reservation = f"ReservationName=m {hour} Nodes=n1 Users=root"
    log = """JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|ReqCPUS
7|ann|batch|COMPLETED|2024-06-03T08:00:00|2024-06-03T08:00:00|2024-06-03T08:01:00|2|1
"""
    folder = site_folder(tmp_path, events__txt=events, reservations__txt=reservation, jobs__txt=log)
    site = Site.load(folder, zone="Europe/Berlin")
    times = [(one.start - eight, one.end and one.end - eight) for one in site.events]
    assert times == [(0, None), (0, 1800), (0, 3600)]
    assert [(one.start - eight, one.end - eight) for one in site.reservations] == [(0, 3600)]
    assert site.read_jobs().header.unix_start == eight
    as_in_utc = Site.load(folder)
    assert sorted(one.start - eight for one in as_in_utc.events) == [0, 0, 7200]
    with pytest.raises(UsageError, match="there is no time zone 'Berlin'; give one such as"):
        Site.load(folder, zone="Berlin")


def test_the_public_name() -> None:
    assert headway.Site is Site


BAD = [
    ("slurm__conf", CONF.replace("Nodes=n[5-12]", "Nodes=n[5-13]"),
     ":11: Nodes: partition short has the node n13"),
    ("slurm__conf", CONF + "Include other.conf\n", ":12: includes other.conf, which is not there"),
    ("slurm__conf", CONF + "Include slurm.conf\n", "loop: slurm.conf includes slurm.conf"),
    ("slurm__conf", CONF + "what is this\n", ":12: 'what is this' cannot be read"),
    ("slurm__conf", CONF.replace("n[1-8]", "n[8-1]"), ":6: NodeName: 'n[8-1]' is not a list of nodes"),
    ("slurm__conf", CONF.replace("n[9-12] R", "n[8-12] R"), ":7: NodeName: node n8 is defined a second time"),
    ("slurm__conf", CONF.replace("MaxTime=60", "MaxTime=soon"), ":11: MaxTime: 'soon' is not a time such as"),
    ("slurm__conf", CONF.replace("MaxTime=60", "MinNodes=9"), "asks for 9 nodes at least and has 8"),
    ("slurm__conf", CONF.replace("MaxTime=60", "OverSubscribe=MAYBE"), "none of NO, EXCLUSIVE"),
    ("slurm__conf", CONF.replace("MaxTime=60", "QOS=gold"), "has the QOS gold, which qos.txt does not"),
    ("slurm__conf", CONF.replace("CPUs=8", "CPUs=many"), ":6: CPUs: 'many' is not a whole number"),
    ("slurm__conf", CONF + "PriorityWeightAge=nan\n",
     ":12: PriorityWeightAge: 'nan' is not a whole number; correct it, or take it out for Slurm's default"),
    ("slurm__conf", CONF + "PriorityWeightQOS=inf\n", ":12: PriorityWeightQOS: is a number out of range"),
    ("slurm__conf", CONF + "PriorityWeightQOS=-5\n", ":12: PriorityWeightQOS: is a number out of range"),
    ("slurm__conf", CONF + "PriorityMaxAge=soon\n", ":12: PriorityMaxAge: 'soon' is not a time such as"),
    ("slurm__conf", CONF + "ResvOverRun=99999999999999-0\n", ":12: ResvOverRun: is longer than can be kept"),
    ("slurm__conf", CONF + "SchedulerParameters=bf_interval=nan\n",
     ":12: SchedulerParameters: bf_interval=nan is not a whole number; correct it"),
    ("slurm__conf", CONF + f"SchedulerParameters=bf_max_job_user={10**30}\n",
     ":12: SchedulerParameters: bf_max_job_user: is a number out of range"),
    ("slurm__conf", "ClusterName=x\n", "defines no nodes"),
    ("slurm__conf", "NodeName=n1\n", "defines no partition"),
    ("associations__cfg", DUMP.replace("Parent - 'phys'", "Parent - 'chem'"),
     ":5: the account chem is a parent"),
    ("associations__cfg", DUMP.replace("Parent - 'root'\n", ""), ":3: the account phys has no parent"),
    ("associations__cfg", DUMP.replace("+high", "+gold"), ":6: QOS: ann has the QOS gold"),
    ("associations__cfg", DUMP.replace("Fairshare=10", "Fairshare=ten"),
     "Fairshare: 'ten' is not a whole number"),
    ("qos__txt", QOS.replace("3|\n", "3|cpu=97\n"),
     ":3: MinTRES: QOS high asks for cpu=97 at least and the site has 96"),
    ("qos__txt", QOS.replace("|normal|00:10", "|gold|00:10"), ":3: Preempt: QOS high preempts the QOS gold"),
    ("qos__txt", QOS + "normal|10\n", ":4: has 2 fields and the first line names 13"),
    ("shares__txt", "Account|User|RawUsage\nphys||much\n", ":2: RawUsage: 'much' is not a number"),
    ("reservations__txt", "ReservationName=m StartTime=0 EndTime=9\n   Nodes=n[1-\n",
     ":1: Nodes: 'n[1-' is not a list of nodes"),
    ("nodes__txt", "hello\n", ":1: begins with 'hello', not with NodeName="),
]  # fmt: skip


@pytest.mark.parametrize(("file", "text", "sentence"), BAD, ids=lambda value: value[:20])
def test_bad_configuration_gets_one_sentence_with_file_and_line(
    tmp_path: Path, file: str, text: str, sentence: str
) -> None:
    folder = site_folder(tmp_path, **{file: text})
    with pytest.raises(headway.InputError) as caught:
        Site.load(folder)
    message = str(caught.value)
    assert sentence in message and "\n" not in message
    assert str(folder) in message


@pytest.mark.parametrize("text", ["inf", "1e999", "99999999999999999999"])
def test_a_parameter_beyond_all_numbers_is_told_when_it_is_asked_for(text: str) -> None:
    """It ended in a traceback."""
    config = Config.of({"KillWait": text, "PriorityDecayHalfLife": "99999999999999-0"})
    with pytest.raises(headway.InputError, match="KillWait: is a number out of range"):
        config.number("KillWait")
    with pytest.raises(headway.InputError, match="PriorityDecayHalfLife: is longer than can be kept"):
        config.seconds("PriorityDecayHalfLife")


def test_an_include_stands_where_its_lines_would(tmp_path: Path) -> None:
    nodes = [line for line in CONF.splitlines() if line.startswith(("NodeName", "    Weight"))]
    rest = [line for line in CONF.splitlines() if line not in nodes]
    place = next(number for number, line in enumerate(rest) if line.startswith("PartitionName"))
    rest.insert(place, "Include /etc/slurm/nodes.conf")
    folder = site_folder(tmp_path, slurm__conf="\n".join(rest), nodes__conf="\n".join(nodes))
    assert Site.load(folder).nodes == Site.load(site_folder(tmp_path, slurm__conf=CONF)).nodes


def test_an_include_with_a_pattern_means_files_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ages.conf").write_text("PriorityMaxAge=2-0\n")
    (tmp_path / "other.conf").write_text("PriorityMaxAge=3-0\n")
    folder = site_folder(tmp_path, slurm__conf=CONF + "Include parts/*.conf\n")
    assert Site.load(folder).config.get("PriorityMaxAge") == "2-0"
    folder = site_folder(tmp_path, slurm__conf=CONF + "Include /etc/slurm/*.conf\n")  # not slurm.conf itself
    assert Site.load(folder).config.get("PriorityMaxAge") == "3-0"


def test_a_loop_of_includes_is_told_with_its_chain(tmp_path: Path) -> None:
    folder = site_folder(
        tmp_path,
        slurm__conf=CONF + "Include a.conf\n",
        a__conf="\nInclude b.conf\n",
        b__conf="Include a.conf\n",
    )
    with pytest.raises(headway.InputError, match=r"b\.conf:1: .*a\.conf includes b\.conf includes a\.conf"):
        Site.load(folder)


def test_what_is_not_modelled_is_listed_by_name_with_its_place(tmp_path: Path) -> None:
    text = CONF.replace("bf_continue", "bf_topopt_enable") + "TopologyPlugin=topology/ring\nSlurmctldPort=1\n"
    text = text.replace("MaxTime=60", "MaxTime=60 CpuBind=cores")
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    assert [(one.name.split(" (")[0], one.where) for one in site.not_modelled] == [
        ("TopologyPlugin", "slurm.conf:12"),
        ("SchedulerParameters bf_topopt_enable", "slurm.conf:2"),
        ("SelectType", "slurm.conf"),
        ("PartitionName CpuBind", "slurm.conf:11"),
        ("Flags of QOS high", "qos.txt:3"),
    ]
    text = CONF + "PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG\nOverTimeLimit=5\n"
    shared = text.replace("MaxTime=60", "MaxTime=60 OverSubscribe=YES:2")
    found = {one.name for one in Site.load(site_folder(tmp_path, slurm__conf=shared)).not_modelled}
    assert any(name.startswith("OverSubscribe of partition") for name in found)
    forced = text.replace("MaxTime=60", "MaxTime=60 OverSubscribe=FORCE:2")
    found = {one.name for one in Site.load(site_folder(tmp_path, slurm__conf=forced)).not_modelled}
    modelled = ("PreemptType", "PreemptMode", "OverTimeLimit", "OverSubscribe", "SchedulerTimeSlice")
    assert not any(name.startswith(modelled) for name in found)


def test_a_slurm_conf_without_select_type_is_told_what_is_taken(tmp_path: Path) -> None:
    """Slurm 22.05 and 23.02 mean select/linear by that, 23.11 cons_tres: nobody is to guess that unseen."""

    def told(conf: str) -> list[str]:
        site = Site.load(site_folder(tmp_path, slurm__conf=conf))
        return [one.name for one in site.not_modelled if one.name.startswith("SelectType")]

    (name,) = told(CONF)
    assert all(word in name for word in ("not set", "select/cons_tres", "23.11", "select/linear"))
    assert told(CONF + "SelectType=select/linear\n") == told(CONF + "SelectType=select/cons_res\n") == []
    by_hand = '[[node]]\nname = "n[1-4]"\ncpus = 4\n[[partition]]\nname = "all"\nnodes = "ALL"\n'
    (tmp_path / "site.toml").write_text(by_hand)
    assert told(CONF) == []


def test_preempt_parameters_of_newer_versions_are_those_of_the_scheduler(tmp_path: Path) -> None:
    """Since 23.02 the order of victims is in PreemptParameters; what decides no schedule is not told."""
    more = "PreemptParameters=youngest_first,reorder_count=3,min_exempt_priority=5\n"
    more += "ReconfigFlags=KeepPartInfo\n"
    text = CONF.replace("bf_continue", "bf_continue,salloc_wait_nodes,max_script_size=9,delay_boot=1") + more
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    settings = settings_of(site)
    assert settings.youngest_first == 1 and settings.preempt_reorders == 3
    told = [one.name for one in site.not_modelled if "Parameters" in one.name or "Flags" in one.name]
    assert told[:2] == ["SchedulerParameters delay_boot", "PreemptParameters min_exempt_priority"]
    assert not any("ReconfigFlags" in name for name in told)


def test_a_hopeless_dependency_is_cancelled_by_dependency_parameters(tmp_path: Path) -> None:
    """Since 21.08 the word stands there, and no more in SchedulerParameters; a what-if takes it out."""
    text = CONF + "DependencyParameters=disable_remote_singleton,kill_invalid_depend\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=text + "PreemptParameters=youngest_first\n"))
    assert {"kill_invalid_depend", "preempt_youngest_first"} <= site.scheduler.keys()
    assert not any("Dependency" in one.name for one in site.not_modelled)
    for name in ("kill_invalid_depend", "preempt_youngest_first"):
        assert site.scheduler.keys() - scheduling(site, name, "off").scheduler.keys() == {name}


def test_power_saving_as_partitions_and_nodes_have_it(tmp_path: Path) -> None:
    """slurm.conf has it in seconds; scontrol shows GLOBAL where a partition has none, and of each node (since
    26.05) the time that comes out of all."""
    lines = "NodeName=n[1-2] CPUs=4\nNodeName=n3 CPUs=4 SuspendTime=INFINITE\nSuspendTime=900\n"
    lines += "PartitionName=a Nodes=n[1,3] SuspendTime=300 ResumeTimeout=120\nPartitionName=b Nodes=ALL\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=lines))
    assert site.power() == [(300, 120), (900, 60), (UNLIMITED, 120)]
    shown = "".join(f"NodeName=n{k} CPUTot=4 Sockets=4\n   SuspendTime=900\n" for k in (1, 2, 3))
    parts = "PartitionName=a\n   Nodes=n[1,3]\n   ResumeTimeout=GLOBAL SuspendTime=INFINITE\n"
    parts += "\nPartitionName=b\n   Nodes=n[1-3]\n   SuspendTime=GLOBAL PowerDownOnIdle=YES\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=lines, nodes__txt=shown, partitions__txt=parts))
    assert site.power() == [(UNLIMITED, 60), (900, 60), (UNLIMITED, 60)]
    assert [one.name for one in site.not_modelled if "Power" in one.name] == ["PartitionName PowerDownOnIdle"]


def test_nodes_for_one_security_label_are_told(tmp_path: Path) -> None:
    def told(plugin: str) -> list[str]:
        site = Site.load(site_folder(tmp_path, slurm__conf=f"{CONF}MCSPlugin={plugin}\n"))
        return [one.name for one in site.not_modelled if "MCS" in one.name]

    assert told("mcs/none") == [] and told("mcs/user") == ["MCSPlugin"]


def test_parameters_of_newer_versions_act_as_what_they_were_made_from(tmp_path: Path) -> None:
    """defer_batch (24.05) is defer but for interactive jobs, requeue_delay what cred_expire was for."""
    parts = "defer_batch,requeue_delay=10,enable_user_top,bf_ignore_newly_avail_nodes"
    text = CONF.replace("bf_continue", parts)
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    settings = settings_of(site)
    assert settings.defer == 1 and settings.requeue_wait == 11
    assert not any("SchedulerParameters" in one.name for one in site.not_modelled)


def test_yields_groups_and_nodes_of_submission_are_told_as_not_modelled(tmp_path: Path) -> None:
    """Groups only where no file says who is in them."""
    text = CONF.replace("bf_continue", "bf_yield_interval=500000,bf_yield_sleep=1,reduce_completing_frag")
    rules = "MaxTime=60 MaxCPUsPerNode=4 AllowAccounts=a DenyQos=b MaxMemPerCPU=1000 ReqResv=YES"
    text = text.replace("MaxTime=60", f"{rules} AllowGroups=phys AllocNodes=login1")
    folder = site_folder(tmp_path, slurm__conf=text)
    found = [one.name for one in Site.load(folder).not_modelled]
    parts = "bf_yield_interval", "bf_yield_sleep", "reduce_completing_frag"
    yields = {f"SchedulerParameters {name}" for name in parts}
    assert yields <= set(found)
    of_partition = [name.split()[0] for name in found if name.endswith("of partition short")]
    assert of_partition == ["AllowGroups", "AllocNodes"]
    (folder / "groups.txt").write_text("phys:x:1001:ann,bob\n# nobody\nchem:*:7:\n")
    site = Site.load(folder)
    assert site.groups == {"phys": frozenset(("ann", "bob")), "chem": frozenset()}
    assert not any(one.name.startswith("AllowGroups") for one in site.not_modelled)
    (folder / "groups.txt").write_text("phys:x:1001:ann\nphys ann\n")
    with pytest.raises(InputError, match=r"groups\.txt.*2.*phys:x:1001:ann,bob"):
        Site.load(folder)


@pytest.mark.parametrize(
    ("part", "taken"),
    [
        ("bf_max_job_test=0", 500), ("bf_max_job_test=-5", 500), ("bf_max_job_test=1", 1),
        ("bf_max_job_test=1000001", 500),
        ("bf_window=0", 1440),
        ("bf_interval=0", 30), ("bf_interval=-1", -1), ("sched_interval=-1", -1), ("sched_interval=-2", 60),
        ("bf_max_job_user=-1", 0), ("default_queue_depth=0", 0), ("default_queue_depth=-1", 100),
    ],
)  # fmt: skip
def test_a_number_that_slurm_does_not_take_is_the_default(
    tmp_path: Path, part: str, taken: int
) -> None:  # Slurm logs "Invalid SchedulerParameters ..." and goes on with the default
    site = Site.load(site_folder(tmp_path, slurm__conf=f"{CONF}\nSchedulerParameters={part}\n"))
    assert site.scheduling_number(part.partition("=")[0]) == taken


def test_parameters_of_older_versions_are_understood(tmp_path: Path) -> None:
    text = CONF + "\nSchedulerParameters=max_job_bf=70\nFastSchedule=1\nCheckpointType=checkpoint/none\n"
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    assert site.scheduling_number("bf_max_job_test") == 70
    found = {one.name for one in site.not_modelled}
    assert not found & {"FastSchedule", "CheckpointType", "SchedulerParameters max_job_bf"}


def test_parts_of_other_parameters_are_told_as_not_modelled(tmp_path: Path) -> None:
    selection = "SelectTypeParameters=CR_Socket_Memory,CR_Pack_Nodes,CR_LLN"
    text = CONF + f"\n{selection}\nPriorityWeightTRES=CPU=1,Mem=2,GRES/gpu=3,License/x=4\n"
    weights = "TRESBillingWeights=CPU=1,Mem=0.25G,License/matlab=5"
    text = text.replace("MaxTime=60", f"MaxTime=60 LLN=YES {weights}")
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    found = {one.name: one.value for one in site.not_modelled}
    of_short = "TRESBillingWeights license/matlab of partition short"
    assert found.keys() >= {"SelectTypeParameters CR_SOCKET_MEMORY", "PriorityWeightTRES license/x", of_short}
    modelled = {f"SelectTypeParameters {name}" for name in ("CR_PACK_NODES", "CR_LLN")}
    assert not (modelled | {"PriorityWeightTRES mem", "PriorityWeightTRES gres/gpu"}) & found.keys()
    assert [name for name in found if name.endswith("partition short")] == [of_short]


def test_reservations_of_cores_are_told_as_not_modelled(tmp_path: Path) -> None:
    folder = site_folder(tmp_path, slurm__conf=CONF)
    nodes = Site.load(folder).nodes
    whole = nodes[0].cpus // nodes[0].threads_per_core
    shown = "ReservationName={} StartTime=2024-01-01T00:00:00 EndTime=2024-01-02T00:00:00 {}\n"
    lines = [
        f"Nodes={nodes[0].name} CoreCnt={whole}",
        f"Nodes={nodes[0].name} CoreCnt={whole - 1}",
        "CoreCnt=3",
    ]
    text = "\n".join(shown.format(f"r{place}", line) for place, line in enumerate(lines))
    (folder / "reservations.txt").write_text(text)
    found = {one.name: one.value for one in Site.load(folder).not_modelled if "cores" in one.name}
    assert found == {
        "reservations of cores, without nodes": "1",
        "reservations of some cores of their nodes (the whole nodes are reserved)": "1",
    }


def test_what_happened_to_nodes_and_partitions_not_there_is_left_out_and_told(tmp_path: Path) -> None:
    """The accounting keeps what happened to nodes that a site no longer has; this one has n1 to n12."""
    folder = site_folder(tmp_path, slurm__conf=CONF)
    (folder / "reservations.txt").write_text(
        "Name|TimeStart|TimeEnd|NodeName|Flags\n"
        "m|1700000000|1700003600|n[11-14]|MAINT\nold|1600000000|1600003600|gpu[1-2]|MAINT\n"
    )
    (folder / "events.txt").write_text(
        "NodeName|Partition|TimeStart|TimeEnd|State\n"
        "n99||1700001000|1700002000|DOWN\n|lonng|1700001000|1700002000|DOWN\n"
    )
    site = Site.load(folder)
    kept = [[site.nodes[place].name for place in one.nodes] for one in site.reservations]
    assert kept == [["n11", "n12"], []]
    told = {one.name.split(" that")[0]: one.value for one in site.not_modelled}
    assert told["nodes in reservations"] == "gpu[1-2],n[13-14]"
    assert told["nodes in events"] == "n99" and told["partitions in events"] == "lonng"


def test_reservations_that_do_more_than_keep_nodes_are_told_as_not_modelled(tmp_path: Path) -> None:
    """Slurm gives other nodes to one that was made by a number of nodes, once it loses some; n1 was lost."""
    folder = site_folder(tmp_path, slurm__conf=CONF)
    first = Site.load(folder).nodes[0].name
    shown = (
        ("m", first, "SPEC_NODES,MAGNETIC"), ("f", first, "SPEC_NODES,TIME_FLOAT"), ("l", "", "ANY_NODES"),
        ("r", first, "SPEC_NODES,REPLACE"), ("lost", first, "IGNORE_JOBS"), ("kept", first, "SPEC_NODES"),
    )  # fmt: skip
    rows = [f"{name}|1700000000|1700003600|{nodes}|{flags}" for name, nodes, flags in shown]
    rows += [f"later|1700009000|1700009900|{first}|"]
    (folder / "reservations.txt").write_text("\n".join(["Name|TimeStart|TimeEnd|NodeName|Flags", *rows]))
    (folder / "events.txt").write_text(
        f"NodeName|TimeStart|TimeEnd|State\n{first}|1700001000|1700002000|DOWN\n"
    )
    found = {one.name: one.value for one in Site.load(folder).not_modelled if "reservations" in one.name}
    assert found == {
        "reservations that draw jobs in (MAGNETIC)": "1",
        "reservations that move with the clock (TIME_FLOAT)": "1",
        "reservations of licences (ANY_NODES)": "1",
        "reservations whose busy nodes are replaced (REPLACE)": "1",
        "reservations that lost nodes and got others (they keep theirs)": "1",
    }


def test_usage_warms_up_where_nobody_says_what_was_used_before(tmp_path: Path) -> None:
    text = CONF + (
        "PriorityType=priority/multifactor\nPriorityWeightFairshare=100\nPriorityDecayHalfLife=14-0\n"
        "AccountingStorageType=accounting_storage/slurmdbd\n"
    )
    site = Site.load(site_folder(tmp_path, slurm__conf=text))
    assert warm_up_days(site) == 14
    assert "half of what counts is known after 14 days (PriorityDecayHalfLife)" in warm_up_remark(site)
    shares = "Account|User|RawUsage\nphys||50\nphys|ann|50\n"
    assert warm_up_days(Site.load(site_folder(tmp_path, shares__txt=shares))) == 0
    (tmp_path / "shares.txt").unlink()
    without = text.replace("PriorityWeightFairshare=100", "PriorityWeightFairshare=0")
    assert warm_up_remark(Site.load(site_folder(tmp_path, slurm__conf=without))) == ""


def test_node_sets_are_partitions_nodes(tmp_path: Path) -> None:
    text = CONF.replace("Nodes=n[5-12]", "Nodes=new,n1") + "NodeSet=new Feature=new\n"
    assert Site.load(site_folder(tmp_path, slurm__conf=text)).partitions[1].nodes == (0, 8, 9, 10, 11)


BY_HAND = """\
name = "small"
[parameters]
PriorityWeightAge = 1000
PriorityMaxAge = "1-0"
SchedulerParameters = "bf_interval=60,bf_continue"
[[node]]
name = "n[1-8]"
CPUs = 8
RealMemory = 32000
Weight = 10
[[node]]
name = "n[9-12]"
CPUs = 8
RealMemory = 64000
Weight = 50
Feature = ["big", "new"]
Gres = "gpu:a100:2"
[[partition]]
name = "batch"
Nodes = "ALL"
MaxTime = "1-0"
Default = true
[[partition]]
name = "short"
Nodes = "n[5-12]"
MaxTime = 60
PriorityTier = 3
[[qos]]
name = "normal"
Priority = 10
MaxTRESPU = { cpu = 80 }
[[account]]
name = "phys"
Fairshare = 50
[[user]]
name = "bob"
account = "phys"
QOS = ["normal"]
"""


def test_a_site_written_by_hand_is_the_same_site(tmp_path: Path) -> None:
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand" / "site.toml").write_text(BY_HAND)
    hand, files = Site.load(tmp_path / "hand"), Site.load(site_folder(tmp_path))
    assert hand.nodes == files.nodes and hand.partitions == files.partitions
    assert (hand.name, hand.scheduler, hand.qos[0]) == (files.name, files.scheduler, files.qos[0])
    assert [(one.account, one.user, one.parent) for one in hand.associations] == [
        ("root", "", -1),
        ("root", "root", 0),
        ("phys", "", 0),
        ("phys", "bob", 2),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BY_HAND.replace("n[5-12]", "n[5-13]"), ":23: Nodes: partition short has the node n13"),
        (BY_HAND.replace('account = "phys"', ""), ":35: the user bob has no account"),
        (BY_HAND.replace('account = "phys"', 'account = "bio"'), ":35: the user bob is in the account bio"),
        (BY_HAND + "[machine]\n", "machine: unknown key"),
        (BY_HAND + "[[qos]\n", "is not valid TOML"),
    ],
)
def test_a_bad_site_by_hand_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(headway.InputError) as caught:
        Site.load(tmp_path)
    assert sentence in str(caught.value)


SHOWN = """\
Cluster|Account|ParentName|User|Partition|Share|Def QOS|QOS|GrpTRES|MaxJobs
small|root||||1||normal||
small|bio|phys|||20||normal||
small|phys|root|||50|high|normal,high|cpu=24|7
small|phys||ann||parent||normal,high||
small|bio||eve|short|5||normal||2
"""


def test_associations_as_sacctmgr_shows_them(tmp_path: Path) -> None:
    """A child may stand above its parent there; the tree comes out in order all the same."""
    site = Site.load(site_folder(tmp_path, associations__cfg="", associations__txt=SHOWN))
    found = [(one.account, one.user, one.parent, one.limits.max_jobs) for one in site.associations]
    assert found == [
        ("root", "", -1, None), ("root", "root", 0, None), ("phys", "", 0, 7), ("bio", "", 2, 7),
        ("phys", "ann", 2, 7), ("bio", "eve", 3, 2),
    ]  # fmt: skip
    assert site.associations[4].default_qos == "high" and site.associations[5].partition == "short"
    assert site.associations[2].limits.grp_tres == {"cpu": 24}
    assert site.associations[4].limits.grp_tres == {}


def test_associations_without_parents_are_refused_with_the_command(tmp_path: Path) -> None:
    text = "Cluster|Account|User|Share\nsmall|root||1\nsmall|phys||5\n"
    with pytest.raises(headway.InputError, match=r"ParentName"):
        Site.load(site_folder(tmp_path, associations__cfg="", associations__txt=text))


@pytest.mark.parametrize(
    ("asked", "had", "nodes", "exclusive"),
    [
        (2, 16, "n[1-2]", 1),
        (2, 15, "n[1-2]", 0),  # more than it asked for, but not all of its nodes
        (16, 16, "n[1-2]", 0),  # nobody can tell, and nobody else had room
        (2, 16, "n[1-3]", 0),
        (2, 16, "n1,x1", 0),  # a node that the site has no more
        (2, 16, "None assigned", 0),
    ],
)
def test_who_had_all_of_its_nodes_and_asked_for_less_had_them_alone(
    tmp_path: Path, asked: int, had: int, nodes: str, exclusive: int
) -> None:
    """As with --exclusive in a job script, which no log has."""
    head = "JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|NodeList"
    row = f"7|ann|batch|COMPLETED|1700000000|1700000000|1700000060|2|{asked}|{had}|2|{nodes}"
    workload = Site.load(site_folder(tmp_path, jobs__txt=f"{head}\n{row}\n")).read_jobs()
    assert workload.columns["exclusive"].tolist() == [exclusive]
    told = [one for one in workload.ledger if "--exclusive" in one.action]
    assert sum(one.count for one in told) == exclusive


@pytest.mark.parametrize(("each", "exclusive"), [(3, 1), (4, 0)])
def test_who_had_all_of_its_nodes_for_its_gpus_asked_for_them(
    tmp_path: Path, each: int, exclusive: int
) -> None:
    """Two GPUs with four CPUs each take the eight CPUs of n1; with three each they would leave two."""
    head = "JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|NodeList"
    line = f"sbatch --gres=gpu:2 --cpus-per-gpu={each} job.sh"
    row = f"7|ann|batch|COMPLETED|1700000000|1700000000|1700000060|2|1|8|1|n1|{line}"
    workload = Site.load(site_folder(tmp_path, jobs__txt=f"{head}|SubmitLine\n{row}\n")).read_jobs()
    assert workload.columns["exclusive"].tolist() == [exclusive]


def test_who_has_no_limit_has_that_of_the_partition_it_is_in(tmp_path: Path) -> None:
    """short has an hour and batch, which has the jobs of partitions that are gone, a day."""
    head = "JobID|User|Partition|State|Submit|Start|End|Timelimit|ReqCPUS"
    rows = [
        f"{job}|ann|{partition}|COMPLETED|1700000000|1700000000|1700000060|UNLIMITED|1"
        for job, partition in enumerate(("short", "batch", "gone", ""), 7)
    ]
    workload = Site.load(site_folder(tmp_path, jobs__txt="\n".join([head, *rows, ""]))).read_jobs()
    assert (workload.walltime // 60_000_000).tolist() == [60, 1440, 1440, 1440]


def test_a_dump_of_a_newer_version_with_limits_that_nobody_enforces(tmp_path: Path) -> None:
    """sacctmgr dump has MaxTRESRunMins of associations, which Slurm asks nowhere, QOS before the cluster, and
    PreemptExemptTime in seconds; sacctmgr itself takes a bare number for minutes."""
    qos = "QOS - 'normal':Description='Normal':PreemptExemptTime=600:GrpWall=90:UsageFactor=2.000000\n"
    dump = DUMP.replace("MaxJobs=7:", "MaxJobs=7:GrpTRES=cpu=10:MaxTRESRunMins=cpu=5,mem=7:")
    comment, cluster, rest = dump.replace("+high", "+normal").split("\n", 2)
    text = "\n".join([comment, qos + cluster, rest])
    site = Site.load(site_folder(tmp_path, associations__cfg=text, qos__txt=""))
    assert site.qos[0].preempt_exempt_seconds == 600 and site.qos[0].limits.grp_wall_minutes == 90
    [phys] = [one for one in site.associations if one.account == "phys" and not one.user]
    assert phys.limits.grp_tres == {"cpu": 10} and phys.limits.max_jobs == 7
    shown = Site.load(
        site_folder(tmp_path, qos__txt="Name|PreemptExemptTime|UsageFactor\nnormal|10|1\nhigh||1\n")
    )
    assert shown.qos[0].preempt_exempt_seconds == 600


def test_a_file_in_utf_16_is_refused_as_such(tmp_path: Path) -> None:
    """As a shell of Windows writes it."""
    (site_folder(tmp_path) / "slurm.conf").write_bytes(CONF.encode("utf-16"))
    with pytest.raises(InputError, match=r"slurm.conf: is UTF-16 text; save it as plain ASCII or UTF-8"):
        Site.load(tmp_path)


def test_nodes_that_the_configuration_takes_away_are_told(tmp_path: Path) -> None:
    lines = CONF + 'DownNodes=n[1-2] State=DOWN Reason="new boards"\n'
    told = {one.name: one.value for one in Site.load(site_folder(tmp_path, slurm__conf=lines)).not_modelled}
    assert told["DownNodes (to be written into events.txt)"] == "n[1-2]"


def test_what_scontrol_shows_of_other_files_is_no_parameter(tmp_path: Path) -> None:
    """Most sites have a section of cgroup.conf behind the parameters."""
    config = "Configuration data as of 2024-05-01T10:00:00\nClusterName    = c\nSelectType = select/linear\n"
    more = (
        "\nCgroup Support Configuration:\nAllowedRAMSpace         = 100.0%\nConstrainCores          = yes\n"
    )
    shown = {
        "nodes__txt": "NodeName=n1 CPUTot=4 Sockets=4\n   TLSCertLastRenewal=2026-01-01T00:00:00\n",
        "partitions__txt": "PartitionName=a\n   Nodes=n1\n",
    }  # fmt: skip
    empty = {"slurm__conf": "", "associations__cfg": "", "qos__txt": ""}
    site = Site.load(site_folder(tmp_path, config__txt=config + more, **shown, **empty))
    assert dict(site.config) == {"ClusterName": "c", "SelectType": "select/linear"}
    assert site.not_modelled == ()
