"""What the fuzzer stands on: sound files of every kind, small enough that a command on them takes little."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np

from fuzz import grids
from headway.cli import main
from headway.policies.agent.network import OF_SCORE, Network
from hostile_archives import HOSTILE, hostile, nested

SWF = b"""\
; Version: 2.2
; Computer: Test machine
; MaxProcs: 8
; UnixStartTime: 1700000000
; Queue: 1 batch
1 0 5 10 2 8.5 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1
2 1 -1 10 4 -1 -1 4 10 -1 1 2 1 -1 1 -1 -1 -1
3 2 0 5 2 -1 1024 2 8 2048 1 1 1 4 1 1 -1 -1
4 3 -1 20 1 -1 -1 1 20 -1 0 3 1 -1 2 -1 3 10
5 9 0 7.5 8 -1 -1 8 30 -1 5 3 2 -1 1 -1 -1 -1
"""

SACCT = b"""\
JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|ReqCPUS|NNodes|\
ReqMem|AllocTRES|NodeList|MaxRSS|Suspended|JobName
100|100|ann|bio|short|normal|COMPLETED|2024-03-01T08:00:00|2024-03-01T08:00:00|2024-03-01T08:01:00|\
2024-03-01T08:11:00|600|01:00:00|4|1|4Gn|cpu=4,mem=4G,node=1|n[01-02]||00:00:00|run|me
100.batch|100.batch||bio|||COMPLETED|2024-03-01T08:01:00|2024-03-01T08:01:00|2024-03-01T08:01:00|\
2024-03-01T08:11:00|600||4|1||cpu=4||120K|00:00:00|batch
101_[3-9%2]|101|bob|chem|long|high|PENDING|2024-03-01T08:02:00|Unknown|Unknown|Unknown|0|UNLIMITED|8|2|0n||||00:00:00|a
102_1|104|bob|chem|long|high|CANCELLED by 1000|2024-03-01T08:03:00|2024-03-01T08:03:00|2024-03-01T08:04:00|\
2024-03-01T09:04:00|3600|2-00:00:00|8|2|16G|cpu=8,gres/gpu=2|n[03-04]|1.5G|00:00:10|b
"""

SACCT_JSON = json.dumps(
    {
        "meta": {"plugins": {"accounting_storage": "slurmdbd"}},
        "jobs": [
            {
                "job_id": 7, "user": "ann", "account": "bio", "partition": "short", "qos": "normal", "cluster": "c",
                "state": {"current": ["COMPLETED"], "reason": "None"}, "nodes": "n1",
                "time": {
                    "submission": 1700000000, "eligible": 1700000000, "start": 1700000010, "end": 1700000070,
                    "elapsed": 60, "limit": {"set": True, "infinite": False, "number": 5}, "suspended": 0,
                },
                "required": {"CPUs": 4, "memory_per_node": {"set": True, "number": 4096}},
                "tres": {"allocated": [{"type": "cpu", "count": 4}], "requested": [{"type": "cpu", "count": 4}]},
                "steps": [{"step": {"id": {"job_id": 7, "step_id": "batch"}}, "tasks": {"count": 1}}],
                "array": {"job_id": 0, "task_id": {"set": False}}, "flags": ["STARTED_ON_BACKFILL"],
            }
        ],
    }
).encode()  # fmt: skip

BATSIM = json.dumps(
    {
        "nb_res": 8,
        "jobs": [
            {"id": "w0!1", "subtime": 0.5, "res": 4, "walltime": 20, "profile": "short"},
            {"id": 2, "subtime": 3, "res": 8, "profile": "twice"},
            {"id": "4", "subtime": 5, "res": 1, "walltime": 9, "profile": "work"},
        ],
        "profiles": {
            "short": {"type": "delay", "delay": 10.25},
            "twice": {"type": "composed", "repeat": 2, "seq": ["short", "short"]},
            "work": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
        },
    }
).encode()

ANNOTATIONS = b"""\
job,urgent,deadline,swap,memory_mb,file,file_gb,needs_node_gb,parallel_fraction,max_procs,cluster,local
1,0,100,1.5,512,a,0.5,,0.9,4,one,0
2,1,,2,,b,1,64,,8,two,1
3,,50.25,,1024.5,a,0.5,,1,,,0
"""

PLATFORM = b"""\
[[cluster]]
name = "one"
speed = 1.5
procs = 8

[[cluster]]
name = "two"
[[cluster.nodes]]
count = 2
cores = 4
memory_gb = 64.0
bandwidth_gb_s = 1.5
"""

SWEEP = b"""\
name = "small"
tau = 60
trim = 0.5
seeds = [1, 2]
metrics = ["mean_wait", "mean_bsld"]
baseline = "easy"
classes = true

[[workload]]
model = 'poisson(jobs=5, rate=0.1, service="exponential(20)", procs=8, seed={seed})'

[[workload]]
trace = "log.swf"
apply = ["exact"]

[[policy]]
policy = "easy"
grid = { depth = [1, 2] }

[[platform]]
procs = 8
"""

POLICIES = (
    b"easy(order=sjf, backfill=saf, estimate=1.5, age=60, depth=2)", b"conservative(compress=fixpoint, hole=open)",
    b"redirection(theta=10, alpha=0.15, principal=easy(depth=2), redirected=sjf)", b"dbf(mode=strict, late=refuse)",
    b"ujfb(preempt=suspend, swap=1.5, bandwidth=6000)", b"strict(order=./mine.py:key(k=3))",
    b"reallocation(heuristic=mct, period=3600, threshold=60, local=conservative)", b"lem(threshold=0.8)",
)  # fmt: skip
MODELS = (
    b"lublin(jobs=5, procs=8, load=0.7, estimates=tsafrir, seed=1)", b'poisson(jobs=5, rate=0.1, service="uniform(2, 9)", seed=3)',
)  # fmt: skip
APPLIED = (
    b"exact", b"load(0.9)", b"weeks(count=2)", b"first(3)", b"deadlines(seed=1)", b"estimates(model=tsafrir, seed=2)",
    b"shake(arrivals=60, runtimes=0.5, seed=2)", b"urgent(share=0.1, seed=1)", b"machine(procs=16)", b"split(cores=2)",
    b"moldable(seed=1)", b"swap(seed=1)", b"home(seed=1)", b"without(user=[1, 2])", b"merge([log.swf])", b"inject(seed=3)",
)  # fmt: skip
RULES = (b"overrun=trust", b"zero_runtime=drop", b"procs=allocated", b"partial=join", b"zone=UTC")
NUMBERS = (b"8", b"128", b"1")

SITE = {
    "slurm.conf": b"""\
ClusterName=test
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_max_job_test=100
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityDecayHalfLife=7-0
NodeName=n[01-04] CPUs=8 RealMemory=64000 Gres=gpu:2 State=UNKNOWN
NodeName=big Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=256000
PartitionName=short Nodes=n[01-02] MaxTime=1:00:00 Default=YES State=UP PriorityTier=2
PartitionName=long Nodes=ALL MaxTime=UNLIMITED DefaultTime=60
""",
    "qos.txt": b"""\
Name|Priority|GraceTime|Preempt|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU
normal|0|00:00:00||cluster|1.000000||||
high|100|00:00:00|normal|DenyOnLimit|2.0|cpu=16|1-00:00:00|cpu=8|4
""",
    "associations.txt": b"""\
Cluster|Account|ParentName|User|Partition|Share|GrpTRES|MaxJobs|QOS|Default QOS
test|root||||1||||
test|bio|root|||10|cpu=64||normal,high|normal
test|bio||ann||1||5|normal|
""",
    "events.txt": b"""\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
test|n01|2024-03-01T09:00:00|2024-03-01T10:00:00|DOWN|disk|root(0)
""",
    "reservations.txt": b"""\
ReservationName=maint StartTime=2024-03-02T00:00:00 EndTime=2024-03-02T04:00:00 Duration=04:00:00 Nodes=n[01-04] \
NodeCnt=4 CoreCnt=32 Flags=MAINT Users=root State=INACTIVE
""",
    "jobs.txt": SACCT,
}


CHANGES = (
    b"procs=+10%", b"procs=6", b"jobs=+20%", b"policy=conservative", b"limits=none", b"nodes=-1", b"walltime=1h",
    b"partition.long.maxtime=24h", b"merge=short,long", b"PriorityWeightFairshare=20000", b"bf_max_job_user=20",
    b"qos.high.maxjobs=10", b"load(0.9)",
)  # fmt: skip
VARIANTS = b"""\
# what might be bought
nodes=+1 policy=conservative
'jobs=+20%'
procs=6
"""
SHADOW = b"""\
{"time": 1000000, "policies": {"easy": {"start": ["7"]}}, "slurm": []}
{"time": 2000000, "policies": {"easy": {"start": ["8"]}}, "slurm": [{"job": "7", "start": 1500000}]}
"""
EXCHANGE = b"""\
{"now": 0, "events": [{"timestamp": 0, "type": "SIMULATION_BEGINS", "data": {"nb_resources": 8}}]}
{"now": 0, "events": []}
"""
INSTANTS = (b"12", b"2.5h", b"90", b"2023-11-14T22:13:25", b"10m", b"2d")


def archive() -> bytes:
    """The site's files as `headway site export` packs them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        for name, content in SITE.items():
            member = tarfile.TarInfo(f"site/{name}")
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return packed.getvalue()


ARCHIVES = (*[archive()] * 8, nested(), *(hostile(trick, 5000) for trick in HOSTILE))
"""One as it should be, and others that claim too much, hold archives or cannot be understood."""

EVENTS = b"""\
kind,start,end,procs,processors,announced
maintenance,4,9,8,,2
down,3,12,,0-3,
drain,2023-11-14T22:13:30,20,2,,
"""
FAILURES = (b"mtbf=1m, repair=10, seed=1, procs_per_node=2", b"mtbf=1h, repair=2m, shape=0.7")

BY_HAND = b"""\
name = "small"
jobs = "log.swf"

[parameters]
PriorityWeightAge = 1000
SchedulerParameters = "bf_interval=60"

[[node]]
name = "n[1-4]"
CPUs = 8
RealMemory = 32000

[[partition]]
name = "normal"
Nodes = "ALL"
MaxTime = "6:00:00"
Default = true

[[qos]]
name = "normal"

[[qos]]
name = "high"
Priority = 1000
MaxTRESPU = { cpu = 80 }

[[account]]
name = "phys"
Fairshare = 50

[[user]]
name = "ann"
account = "phys"
QOS = ["normal", "high"]
"""


def agent() -> bytes:
    """The file of a network that was never trained."""
    layers = ((np.full((4, OF_SCORE), 0.125), np.zeros(4)), (np.ones((1, 4)), np.zeros(1)))
    with tempfile.TemporaryDirectory() as place:
        Network(layers, window=4).save(Path(place) / "agent.npz")
        return (Path(place) / "agent.npz").read_bytes()


FOREIGN = b"job,start,end,procs\n1,0,10,2\n2,10,20,4\n3,2.5,7.5,2\n4,3,23,1\n5,23,30.5,8\n"
FOREIGN_RUNS = b"""\
job,run,state,start,end,procs,processors,ended
1,0,running,0,5,2,0-1,suspended
1,0,suspended,5,6,0,,resumed
1,0,running,6,11,2,"0,3",done
"""


def headway(*words: object) -> None:
    """A command that must do its work."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with (
        mock.patch.object(sys, "argv", ["headway", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    if status not in (0, 1):
        raise RuntimeError(f"headway {' '.join(map(str, words))}: {err.getvalue()}")


def laid(folder: Path) -> Path:
    """Lay sound inputs and results of every kind into a folder."""
    (folder / "log.swf").write_bytes(SWF)
    (folder / "log.swf.gz").write_bytes(gzip.compress(SWF))
    (folder / "grid.toml").write_bytes(
        PLATFORM.replace(b"[[cluster.nodes]]", b"procs = 8\n").split(b"count")[0]
    )
    (folder / "notes.csv").write_bytes(ANNOTATIONS)
    (folder / "mine.py").write_text("def key(job, k=1):\n    return k * job.procs\n")
    log = folder / "log.swf"
    headway("simulate", log, "--policy", "easy", "--out", folder / "easy")
    headway(
        "simulate",
        log,
        "--policy",
        "redirection(theta=1, alpha=0.5)",
        "--procs",
        8,
        "--out",
        folder / "moved",
    )
    headway("simulate", log, "--policy", "reallocation(period=5, threshold=1)", "--platform", folder / "grid.toml",
            "--out", folder / "grid")  # fmt: skip
    headway("compare", log, "--policy", "easy", "--policy", "fcfs", "--out", folder / "compared")
    (folder / "sweep.toml").write_bytes(SWEEP)
    headway("sweep", folder / "sweep.toml", "--workers", 1, "--out", folder / "campaign", "--quiet")
    shutil.copytree(folder / "easy", folder / "loose")
    for name in ("loose", "moved", "grid"):  # without digests, so that what is damaged is looked at further
        record = json.loads((folder / name / "run.json").read_text())
        del record["files"]
        (folder / name / "run.json").write_text(json.dumps(record, indent=2))
    (folder / "site").mkdir()
    for name, content in SITE.items():
        (folder / "site" / name).write_bytes(content)
    grids.lay(folder / "live")
    return folder
