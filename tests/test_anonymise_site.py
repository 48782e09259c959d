"""Anonymous sites: hostile names in every field that Slurm has, and none of them comes out."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from commands import Headway
from headway.errors import InputError, UsageError
from headway.site import Site
from headway.site.anonymise import anonymise_site
from headway.site.archive import pack
from headway.workload.anonymise import anonymise
from headway.workload.slurm.export import ALSO_READ, COLUMNS, FREE_TEXT

SECRET = "sEcRet"
_numbers = itertools.count(1)

_FIELDS = """
Account AdminComment AllocCPUS AllocNodes AllocTRES AssocID AveCPU BlockID Cluster Comment Constraints
ConsumedEnergy Container CPUTime DBIndex DerivedExitCode Elapsed ElapsedRaw Eligible End ExitCode Extra
FailedNode Flags GID Group JobID JobIDRaw JobName Layout Licenses MaxRSS MaxRSSNode McsLabel NCPUS NNodes
NodeList NTasks Partition Planned Priority QOS QOSRAW QOSREQ Reason ReqCPUS ReqMem ReqNodes ReqTRES
Reservation ReservationId Restarts SLUID Start State StdErr StdIn StdOut Submit SubmitLine Suspended
SystemComment SystemCPU Timelimit TimelimitRaw TotalCPU TRESUsageInMax UID User WCKey WorkDir
"""
EVERY_FIELD = dict.fromkeys((*_FIELDS.split(), *COLUMNS, *ALSO_READ, *FREE_TEXT))
"""Columns that sacct has."""


def secret(kind: str = "") -> str:
    """A name that must not come out, in some spelling that a field may hold."""
    return f"{kind}{SECRET}{next(_numbers)}"


SOUND = {
    "JobID": "7", "JobIDRaw": "7", "State": "COMPLETED", "Submit": "1700000000", "Eligible": "1700000000",
    "Start": "1700000010", "End": "1700000070", "ElapsedRaw": "60", "Elapsed": "00:01:00", "ReqCPUS": "2",
    "AllocCPUS": "2", "NNodes": "1", "TimelimitRaw": "5", "ReqTRES": "cpu=2,mem=1G,node=1",
}  # fmt: skip


def hostile_jobs() -> str:
    """One job for each field, in which that field holds a secret and the others are sound or secret names."""
    names = list(EVERY_FIELD)
    lines = ["|".join(names)]
    for place, field in enumerate(names, 1):
        cells = {name: SOUND.get(name, "") for name in names} | {"JobID": str(place), "JobIDRaw": str(place)}
        cells |= {"User": secret("u"), "Account": secret("a"), "Partition": f"{secret()},{secret()}"}
        cells |= {"Constraints": f"{secret()}&{secret()}*2", "NodeList": f"{secret('n')}[1-3],{secret()}"}
        if field not in ("JobID", "JobIDRaw"):
            cells[field] = {
                "State": f"CANCELLED by {SECRET}",
                "ReqTRES": f"cpu=2,gres/{secret()}:{secret()}=1,license/{secret()}=1",
                "AllocTRES": f"{secret()}=2,cpu={SECRET}", "Licenses": f"{secret()}:2",
                "ReqGRES": f"gpu:{secret()}:2", "Reason": f"{secret()} did it",
                "SubmitLine": f"sbatch -A {secret()} -p {secret()} -C {secret()} -w {secret()}[1-2] -n 2 "
                              f"--comment={secret()} --mail-user={secret()}@x --gres=gpu:{secret()}:1 "
                              f"-t {SECRET} -d after:{SECRET} /home/{secret()}/job.sh --{secret()}",
            }.get(field, secret())  # fmt: skip
        lines.append("|".join(cells[name] for name in names))
    return "\n".join(lines) + "\n"


def hostile_site(folder: Path) -> Path:
    """A folder whose files have a secret wherever a person may have written something."""
    user, account, qos, node, part, feature = (secret(kind) for kind in ("u", "a", "q", "n", "p", "f"))
    files = {
        "slurm.conf": (
            f"# written by {secret()}\nClusterName={secret('c')}\nSlurmUser={secret()}\n"
            f"MailProg=/opt/{secret()}\n"
            f"SchedulerParameters=bf_interval=60,{secret()}=1,bf_window={SECRET}\nLicenses={secret()}:3\n"
            f"PriorityWeightTRES=CPU=1,gres/{secret()}=2\nAuthInfo=socket=/{secret()},cred_expire=9\n"
            f"PriorityType=priority/{secret()}\nInclude extra.conf\n"
            f'NodeName={node}[1-4] NodeAddr={secret()} CPUs=8 RealMemory=1000 Feature={feature},{secret()} '
            f'Gres=gpu:{secret()}:2,{secret()}:1 Reason="{secret()} broke it"\n'
            f"NodeSet={secret('s')} Feature={feature}\n"
            f"PartitionName={part} Nodes={node}[1-4] AllowAccounts={account} AllowGroups={secret()} "
            f"QOS={qos} TRESBillingWeights=CPU=1,GRES/gpu:{secret()}=2 Default=YES State=UP\n"
        ),
        "extra.conf": f"# {secret()}\nPriorityWeightAge=1000\nJobCompPass={secret()}\n",
        "qos.txt": (
            "Name|Priority|Preempt|PreemptMode|Flags|UsageFactor|MaxTRESPU|MinTRES|Description\n"
            f"normal|1||cluster||1.0|||{secret()}\n"
            f"{qos}|10|normal|{secret()}|DenyOnLimit,{secret()}|1.0|gres/gpu:{secret()}=2|cpu=1|{secret()}\n"
        ),
        "associations.cfg": (
            f"# {secret()}\nCluster - '{secret('c')}':Fairshare=1:QOS='normal'\nParent - 'root'\n"
            f"Account - '{account}':Description='{secret()}':Organization='{secret()}':Fairshare=50\n"
            f"Parent - '{account}'\nUser - '{user}':Coordinator='{secret()}':DefaultWCKey='{secret()}':"
            f"Fairshare=10:QOS='normal,{qos}':DefaultQOS='{qos}'\n"
        ),
        "shares.txt": f"Account|User|RawShares|RawUsage\nroot||1|5\n {account}|{user}|{secret()}|7\n",
        "events.txt": (
            "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
            f"{secret()}|{node}2|1700000000|1700000009|DOWN|{secret()} fell|{secret()}(5)\n"
        ),
        "reservations.txt": (
            f"ReservationName={secret()} StartTime=1700000000 EndTime=1700000009 Duration=1\n"
            f"   Nodes={node}[1-2] Users={user} Accounts={account} Flags=MAINT,{secret()}\n"
            f"   Comment={secret()} Features={secret()} Licenses={secret()}:1 PartitionName={part}\n"
            f"   BurstBuffer={secret()}\n"
        ),
        "sdiag.txt": f"sdiag output at {secret()}\n\tJobs submitted: 12\n\t{secret()} ( 0) count:3\n",
        "jobs.txt": hostile_jobs(),
        "notes.md": secret(),
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


CONFIG_KEYS = """
AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost
AccountingStorageParameters AccountingStoragePass AccountingStorageTRES AccountingStorageUser
AcctGatherFilesystemType AllowSpecResourcesUsage AuthAltTypes AuthInfo AuthType BackupController
BcastExclude BurstBufferType CliFilterPlugins ClusterName CommunicationParameters ControlMachine CredType
DependencyParameters Epilog EpilogSlurmctld FederationParameters GpuFreqDef GresTypes HealthCheckProgram
JobCompHost JobCompLoc JobCompPass JobCompUser JobSubmitPlugins Licenses LaunchParameters MailDomain
MailProg MCSParameters MpiParams NodeFeaturesPlugins Plugindir PluginDir PrEpParameters PreemptParameters
PrioritySiteFactorParameters PriorityWeightTRES PriorityFlags Prolog PrologSlurmctld RebootProgram
ResumeProgram RoutePlugin SallocDefaultCommand SbcastParameters SchedulerParameters SlurmctldAddr
SlurmctldHost SlurmctldHost[0] SlurmctldLogFile SlurmctldParameters SlurmctldPlugstack SlurmdLogFile
SlurmdParameters SlurmdSpoolDir SlurmUser SrunEpilog SrunProlog StateSaveLocation SuspendExcNodes
SuspendExcParts SuspendProgram SwitchParameters TaskEpilog TaskProlog TmpFS TopologyParam TopologyPlugin
TrackWCKey UnkillableStepProgram PriorityType SchedulerType SelectType SelectTypeParameters PreemptMode
PreemptType AccountingStorageEnforce AccountingStorageType EnforcePartLimits SLURM_CONF SLURM_VERSION
PriorityWeightAge KillWait MaxArraySize
"""
NODE_KEYS = """
Arch CoresPerSocket CPUAlloc CPUTot CPULoad AvailableFeatures ActiveFeatures Gres GresDrain GresUsed
NodeAddr NodeHostName Version OS RealMemory AllocMem FreeMem Sockets Boards State ThreadsPerCore TmpDisk
Weight Owner MCS_label Partitions BootTime SlurmdStartTime LastBusyTime CfgTRES AllocTRES CapWatts
CurrentWatts Reason Comment Extra InstanceId InstanceType MemSpecLimit CoreSpecCount CPUSpecList
ReservationName NextState Topology Port
"""
PARTITION_KEYS = """
AllowGroups AllowAccounts AllowQos AllocNodes Default QoS DefaultTime DisableRootJobs ExclusiveUser
GraceTime Hidden MaxNodes MaxTime MinNodes LLN MaxCPUsPerNode MaxCPUsPerSocket Nodes PriorityJobFactor
PriorityTier RootOnly ReqResv OverSubscribe OverTimeLimit PreemptMode State TotalCPUs TotalNodes
SelectTypeParameters JobDefaults DefMemPerNode MaxMemPerNode DefMemPerCPU MaxMemPerCPU TRES
TRESBillingWeights DenyAccounts DenyQos Alternate ExclusiveTopo SuspendTime ResumeTimeout DefCpuPerGPU
CpuBind
"""


def every_key_shown(folder: Path) -> Path:
    """What scontrol and sacctmgr show, each key of theirs with a secret."""
    node = secret("n")
    tables = {
        "associations.txt": "Cluster|Account|ParentName|User|Partition|Share|Priority|Def QOS|QOS|GrpJobs"
        "|GrpTRES|GrpTRESMins|GrpWall|MaxJobs|MaxSubmit|MaxWall|MaxTRES|MaxTRESMins|Comment|LFT",
        "qos.txt": "Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageThres"
        "|UsageFactor|GrpTRES|MaxTRESPU|MaxJobsPU|MaxWall|MinTRES|Description|LimitFactor",
        "events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User|Event|TRES|ClusterNodes|StateRaw",
        "reservations.txt": "Cluster|ID|Name|TimeStart|TimeEnd|NodeName|Flags|TRES|Assocs|Comment|UnusedWall",
        "shares.txt": "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins"
        "|TRESRunMins|Partition",
    }  # fmt: skip
    files = {
        "config.txt": "Configuration data as of 2024-06-01T00:00:00\n"
        + "".join(f"{key:<24}= {secret()}\n" for key in CONFIG_KEYS.split())
        + "".join(f"{key:<24}= key={secret()},{secret()}:3\n" for key in CONFIG_KEYS.split()),
        "nodes.txt": f"NodeName={node}1 CPUTot=8 RealMemory=1000 State=IDLE\n\n"
        + "".join(
            f"NodeName={node}{place} CPUTot=8 RealMemory=1000\n   {key}={secret()}\n\n"
            for place, key in enumerate(NODE_KEYS.split(), 2)
        ),
        "partitions.txt": "".join(
            f"PartitionName={secret('p')}\n   Nodes={node}1\n   {key}={secret()},{secret()}=2\n\n"
            for key in PARTITION_KEYS.split()
        ),
        **{
            name: f"{head}\n" + "|".join(secret() for _ in head.split("|")) + "\n"
            for name, head in tables.items()
        },
        "jobs.txt": hostile_jobs(),
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_no_hostile_name_comes_out_of_what_scontrol_and_sacctmgr_show(tmp_path: Path) -> None:
    source = every_key_shown(tmp_path / "in")
    anonymise_site(source, tmp_path / "out")
    kept = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert kept == sorted(path.name for path in source.iterdir())
    found = re.findall(rf".*{SECRET}.*", everything(tmp_path / "out"), re.IGNORECASE)
    assert found == []


def everything(folder: Path) -> str:
    return "\n".join(f"{file.name}\n{file.read_text()}" for file in sorted(folder.iterdir()))


@pytest.mark.parametrize("key", [None, "a key of some length"])
def test_no_hostile_name_comes_out_of_any_field(tmp_path: Path, key: str | None) -> None:
    source = hostile_site(tmp_path / "in")
    assert everything(source).lower().count(SECRET.lower()) > 500
    anonymise_site(source, tmp_path / "out", key)
    found = re.findall(rf".*{SECRET}.*", everything(tmp_path / "out"), re.IGNORECASE)
    assert found == []


def shown_site(folder: Path) -> Path:
    """As `scontrol show` tells of a site, with a secret wherever a person may have written something."""
    node, part, account, qos, feature = (secret(kind) for kind in ("n", "p", "a", "q", "f"))
    files = {
        "config.txt": (
            f"Configuration data as of {secret()}\nClusterName             = {secret('c')}\n"
            f"ControlMachine          = {secret()}\nPriorityWeightAge       = 1000\n"
            f"SchedulerParameters     = bf_interval=60,{secret()}\nPrologFlags             = {secret()}\n"
            f"SlurmctldHost[0]        = {secret()}({secret()})\nLicenses                = {secret()}:3\n"
            f"{secret()}              = {secret()}\n\nSlurmctld(primary) at {secret()} is UP\n"
        ),
        "nodes.txt": (
            f"NodeName={node}1 Arch={secret()} CoresPerSocket=4\n   CPUAlloc=0 CPUTot=8 CPULoad=0.1\n"
            f"   AvailableFeatures={feature},{secret()}\n   ActiveFeatures={secret()}\n"
            f"   Gres=gpu:{secret()}:2(S:0)\n   NodeAddr={secret()} Version={secret()}\n"
            f"   OS=Linux {secret()} #1 SMP\n   RealMemory=1000 AllocMem=0 FreeMem=1 Sockets=2 Boards=1\n"
            f"   State=IDLE+{secret()} ThreadsPerCore=1 Weight=1 Owner={secret()} MCS_label={secret()}\n"
            f"   Partitions={part},{secret()}\n   CfgTRES=cpu=8,mem=1000M,billing=8,gres/{secret()}=1\n"
            f"   Reason={secret()} broke it [{secret()}@2024-01-01T00:00:00]\n   Comment={secret()}\n"
            f"   Extra={secret()}\n"
        ),
        "partitions.txt": (
            f"PartitionName={part}\n   AllowGroups={secret()} AllowAccounts={account} AllowQos={qos}\n"
            f"   AllocNodes={secret()} Default=YES QoS={qos}\n   Hidden=NO Alternate={secret()}\n"
            f"   MaxNodes=UNLIMITED MaxTime=1:00:00 MinNodes=0 LLN=NO\n   Nodes={node}1\n"
            f"   JobDefaults={secret()}\n   State=UP TotalCPUs=8 SelectTypeParameters={secret()}\n"
            f"   TRES=cpu=8,gres/gpu:{secret()}=2\n   TRESBillingWeights=CPU=1,GRES/{secret()}=2\n"
        ),
    }  # fmt: skip
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_no_hostile_name_comes_out_of_what_scontrol_shows(tmp_path: Path) -> None:
    source = shown_site(tmp_path / "in")
    assert everything(source).count(SECRET) > 40
    anonymise_site(source, tmp_path / "out")
    assert re.findall(rf".*{SECRET}.*", everything(tmp_path / "out"), re.IGNORECASE) == []
    before, after = Site.load(source), Site.load(tmp_path / "out")
    assert [(node.cpus, node.memory_mb, len(node.features)) for node in after.nodes] == [(8, 1000, 2)]
    assert [part.nodes for part in before.partitions] == [part.nodes for part in after.partitions] == [(0,)]
    assert after.partitions[0].max_minutes == 60 and after.config.get("PriorityWeightAge") == "1000"


def test_an_earlier_copy_is_replaced_as_a_whole_and_nothing_else_is(tmp_path: Path) -> None:
    anonymise_site(hostile_site(tmp_path / "in"), tmp_path / "out")
    assert (tmp_path / "out" / "slurm.conf").is_file()
    anonymise_site(shown_site(tmp_path / "shown"), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"config.txt", "nodes.txt", "partitions.txt"}
    (tmp_path / "out" / "precious").write_text("mine")
    with pytest.raises(UsageError, match="out holds precious, which is not a file of a site"):
        anonymise_site(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out" / "precious").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "shown"]


def test_the_copy_means_the_same_to_a_scheduler(tmp_path: Path) -> None:
    source = hostile_site(tmp_path / "in")
    names = (*SOUND, "User", "Constraints")
    cells = [SOUND | {"JobID": str(job), "JobIDRaw": str(job), "User": secret(), "Constraints": secret()}
             for job in range(1, 9)]  # fmt: skip
    lines = ["|".join(names), *("|".join(one[name] for name in names) for one in cells)]
    (source / "jobs.txt").write_text("\n".join(lines) + "\n")
    done = anonymise_site(source, tmp_path / "out")
    conf = source / "slurm.conf"
    conf.write_text(conf.read_text().replace(f",bf_window={SECRET}", ""))  # which no site is read with
    before, after = Site.load(source), Site.load(tmp_path / "out")
    assert [(node.cpus, node.memory_mb, len(node.features)) for node in before.nodes] == [
        (node.cpus, node.memory_mb, len(node.features)) for node in after.nodes
    ]
    assert [part.nodes for part in before.partitions] == [part.nodes for part in after.partitions]
    assert after.scheduler == {"bf_interval": "60"} and after.config.get("PriorityWeightAge") == "1000"
    [account] = after.partitions[0].allow_accounts or ()
    [user] = [one for one in after.associations if one.user not in ("", "root")]
    assert (user.account, user.qos) == (account, ("normal", after.partitions[0].qos))
    assert user.default_qos == after.qos[1].name and after.events[0].node == after.nodes[1].name
    assert after.reservations[0].users == (user.user,)
    jobs = after.read_jobs()
    assert len(jobs) == len(before.read_jobs()) and len(jobs.labels["constraint"]) == 8
    assert "notes.md" in done.left_out and done.blanked and done.kept


def test_groups_keep_their_members_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "slurm.conf").write_text(
        f"ClusterName=c\nNodeName=n1 CPUs=2\nPartitionName=p Nodes=n1 AllowGroups={SECRET}g\n"
    )
    (tmp_path / "here" / "groups.txt").write_text(
        f"{SECRET}g:x:1001:{SECRET}a,{SECRET}b\nother:*:7:{SECRET}a\n"
    )
    anonymise_site(tmp_path / "here", tmp_path / "away", "key")
    assert SECRET not in everything(tmp_path / "away")
    site = Site.load(tmp_path / "away")
    assert site.groups is not None and site.partitions[0].allow_groups is not None
    allowed = site.groups[site.partitions[0].allow_groups[0]]
    assert len(allowed) == 2 and any(len(users & allowed) == 1 for users in site.groups.values())


def test_archives_and_json(tmp_path: Path) -> None:
    pack(hostile_site(tmp_path / "in"), tmp_path / "in.tar.gz")
    anonymise_site(tmp_path / "in.tar.gz", tmp_path / "out.tar.gz")
    assert (tmp_path / "out.tar.gz").stat().st_size > 1000
    document = {"jobs": [{
        "job_id": 7, "user": secret(), "account": secret(), "partition": secret(), "name": secret(),
        "constraints": secret(), "submit_line": f"sbatch -n 2 {secret()}", "nodes": secret(),
        "comment": {"job": secret()}, "association": {}, "working_directory": secret(),
        "time": {"submission": 5, "start": 6, "end": 9, "elapsed": 3}, "required": {"CPUs": 2},
        "state": {"current": ["COMPLETED"], "reason": secret()},
    }]}  # fmt: skip
    (tmp_path / "jobs.json").write_text(json.dumps(document))
    anonymise(tmp_path / "jobs.json", tmp_path / "jobs.txt")
    assert SECRET not in (tmp_path / "jobs.txt").read_text()


def test_a_folder_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="holds nothing of a site"):
        anonymise_site(tmp_path / "in", tmp_path / "out")


def test_comments_of_swf_with_a_name_in_a_harmless_key(tmp_path: Path) -> None:
    job = "1 0 5 10 2 -1 -1 2 12 -1 1 501 20 7 1 -1 -1 -1\n"
    comments = f"; MaxProcs: 8\n; MaxNodes: 8 of {SECRET}\n; TimeZoneString: {SECRET}\n"
    (tmp_path / "a.swf").write_text(comments + job)
    anonymise(tmp_path / "a.swf", tmp_path / "b.swf")
    assert (tmp_path / "b.swf").read_text().startswith("; MaxProcs: 8\n; MaxNodes: 8\n1 0")


def test_the_key_comes_from_a_file_or_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    log = "JobID|User|State|Submit|Elapsed|AllocCPUS\n7|jane|COMPLETED|100|00:01:00|4\n"
    (headway.folder / "in.txt").write_text(log)
    (headway.folder / "key").write_text("a key of some length\n")
    (headway.folder / "weak").write_text("key\n")
    assert headway("anonymise", "in.txt", "a.txt", "--key-file", "key").status == 0
    monkeypatch.setenv("HEADWAY_KEY", "a key of some length")
    assert headway("anonymise", "in.txt", "b.txt").status == 0
    texts = [(headway.folder / name).read_text() for name in ("a.txt", "b.txt")]
    assert texts[0] == texts[1] and re.search(r"user[0-9a-f]{12}", texts[0])
    refused = headway("anonymise", "in.txt", "c.txt", "--key-file", "weak")
    assert refused.status == 2 and "at least 8 characters" in refused.err
    refused = headway("anonymise", "in.txt", "c.txt", "--key", "a key of some length")
    assert refused.status == 2 and not (headway.folder / "c.txt").exists()
