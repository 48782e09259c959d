"""A site's folder: configuration, accounts and jobs, read right or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import headway
from headway.site import PARENT, Site
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
    root, phys, ann, bob = site.associations
    assert (root.parent, phys.parent, ann.parent, bob.parent) == (-1, 0, 1, 1)
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


def test_the_public_name() -> None:
    assert headway.Site is Site
