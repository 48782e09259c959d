"""Named nodes as people see them: columns of the schedule, the audit's laws, the Gantt chart."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

import headway
from commands import Headway
from headway import Schedule
from headway.figures.bands import bands
from headway.platform import Platform
from headway.schedule import Shares
from headway.schedule.shares import read_shares, share_columns
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, Node, Partition, Qos
from headway.site.node_names import expanded
from headway.units import SECOND
from headway.workload import Source, Workload

NODES = tuple(
    Node(f"n{i}", cpus=4, memory_mb=1000, features=("fast",) if i > 2 else ()) for i in (1, 2, 3, 4)
)

Written = dict[str, object]
"""A job written by hand."""


def a_site(**changes: object) -> Site:
    """Four nodes of 4 CPUs and 1,000 MB; all in `batch`, the last two in `whole`, which gives whole nodes."""
    site = Site(
        name="four",
        nodes=NODES,
        partitions=(
            Partition("batch", (0, 1, 2, 3), max_minutes=60, max_nodes=2, is_default=True),
            Partition("whole", (2, 3), oversubscribe="EXCLUSIVE"),
        ),
        qos=(
            Qos("normal"),
            Qos("small", limits=Limits(max_tres_per_user={"cpu": 4}, max_jobs_per_user=2)),
            Qos("group", limits=Limits(grp_tres={"cpu": 6})),
        ),
        associations=(
            Association("root"),
            Association("chem", parent=0, limits=Limits(grp_tres={"cpu": 12})),
            Association("chem", user="ann", parent=1),
            Association("chem", user="bob", parent=1, limits=Limits(max_jobs=1)),
        ),
        config=Config.of({"AccountingStorageEnforce": "limits", "SelectTypeParameters": "CR_Core_Memory"}),
    )
    return dataclasses.replace(site, **changes)  # type: ignore[arg-type]


def a_schedule(*jobs: Written, site: Site | None = None, **changes: object) -> Schedule:
    """Jobs written by hand: nodes, cpus and memory on each, and when; others have plain values."""
    plain = {
        "start": 0, "end": 100, "nodes": "n1", "cpus": "1", "memory": "", "alone": False,
        "partition": "batch", "qos": "normal", "user": "ann", "minutes": 10, "constraint": "",
    }  # fmt: skip
    rows = [plain | job for job in jobs]
    shares = read_shares(
        [str(row["nodes"]) for row in rows],
        [str(row["cpus"]) for row in rows],
        [str(row["memory"]) or f"100(x{len(expanded(str(row['nodes'])))})" for row in rows],
        np.array([bool(row["alone"]) for row in rows]),
        [node.name for node in NODES],
    )
    labels = {
        "partition": ["batch", "whole"], "queue": ["normal", "small", "group"], "group": ["chem"],
        "user": ["ann", "bob"], "constraint": ["fast"],
    }  # fmt: skip
    start, end = (np.array([int(str(row[name])) for row in rows]) * SECOND for name in ("start", "end"))
    procs = shares.totals(len(rows))

    def codes(column: str, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([labels[column].index(str(row[name])) for row in rows])

    workload = Workload.from_arrays(
        unit="us",
        submit=np.zeros(len(rows), np.int64),
        procs=procs,
        runtime=end - start,
        walltime=np.array([int(str(row["minutes"])) * 60 * SECOND for row in rows]),
        source=Source("by hand", format="sacct"),
        labels=labels,
        group=np.zeros(len(rows), np.int64),
        constraint=np.array([0 if row["constraint"] else -1 for row in rows]),
        partition=codes("partition", "partition"),
        queue=codes("queue", "qos"),
        user=codes("user", "user"),
    )
    partitions = tuple(labels["partition"])
    return Schedule(
        workload=workload,
        platform=(site or a_site()).platform(),
        policy="by hand",
        start=start,
        end=end,
        why=np.zeros(len(rows), np.uint8),
        killed=np.zeros(len(rows), np.bool_),
        partition=workload.partition,
        shares=shares,
        labels={"partition": partitions},
        **changes,  # type: ignore[arg-type]
    )


def broken(schedule: Schedule) -> dict[str, str]:
    """The laws that a schedule breaks, each with its first fault."""
    faults: dict[str, str] = {}
    for fault in headway.audit(schedule).faults:
        faults.setdefault(fault.law, fault.message)
    return faults


def test_a_good_schedule_keeps_all_laws() -> None:
    """Side by side on one node, one after the other alone, and at the very limits."""
    schedule = a_schedule(
        {"nodes": "n[1-2]", "cpus": "4,2", "memory": "900(x2)"},
        {"nodes": "n2", "cpus": "2", "qos": "group"},
        {"nodes": "n3", "cpus": "4", "alone": True, "partition": "whole", "constraint": "fast"},
        {"nodes": "n3", "cpus": "4", "alone": True, "partition": "whole", "start": 100, "end": 200},
        {"nodes": "n[1-2]", "cpus": "2(x2)", "qos": "small", "user": "bob", "start": 100, "end": 101},
    )
    verdict = headway.audit(schedule)
    assert verdict.ok, verdict.faults
    assert {"node CPUs", "node memory", "exclusive nodes", "QOS and account limits"} <= set(verdict.counts)


CASES: dict[str, tuple[list[Written], str]] = {
    "node CPUs": ([{"cpus": "3"}, {"cpus": "2", "start": 50}], "5 CPUs of n1 are held, it has 4"),
    "node memory": ([{"memory": "600"}, {"memory": "600"}], "1200 MB of n1 are held, it has 1000"),
    "exclusive nodes": ([{"alone": True}, {"start": 99, "user": "bob"}], "job 1 is to be alone on n1"),
    "partition nodes": ([{"partition": "whole", "nodes": "n1"}], "on n1, not in it"),
    "partition limits": ([{"minutes": 61}], "the partition batch allows 60 min"),
    "QOS and account limits": (
        [{"qos": "small", "cpus": "3"}, {"qos": "small", "cpus": "2", "nodes": "n2"}],
        "5 cpu are held, MaxTRESPerUser of the QOS small for ann allows 4",
    ),
}


@pytest.mark.parametrize("law", CASES)
def test_each_law_catches_what_breaks_it(law: str) -> None:
    jobs, words = CASES[law]
    found = broken(a_schedule(*jobs))
    assert set(found) == {law} and words in found[law], found


@pytest.mark.parametrize(
    ("law", "jobs", "words"),
    [
        ("partition nodes", [{"constraint": "fast", "nodes": "n[2-3]", "cpus": "1(x2)"}],
         "asked for nodes with fast and ran on n2 without"),
        ("partition limits", [{"nodes": "n[1-3]", "cpus": "1(x3)"}], "has 3 nodes"),
        ("exclusive nodes", [{"partition": "whole", "nodes": "n4"}, {"nodes": "n4"}], "alone on n4"),
        ("QOS and account limits", [{"qos": "small"}, {"qos": "small"}, {"qos": "small"}],
         "3 jobs run, MaxJobsPerUser of the QOS small for ann allows 2"),
        ("QOS and account limits",
         [{"qos": "group", "cpus": "4"}, {"qos": "group", "cpus": "3", "nodes": "n2"}],
         "GrpTRES of the QOS group allows 6"),
        ("QOS and account limits", [{"user": "bob"}, {"user": "bob", "nodes": "n2"}],
         "MaxJobs of bob allows 1"),
        ("QOS and account limits",
         [{"nodes": "n[1-2]", "cpus": "4(x2)"}, {"nodes": "n[3-4]", "cpus": "4,1"}],
         "GrpTRES of the account chem allows 12"),
        ("node shares", [{"nodes": "n1,n1", "cpus": "1(x2)"}], "lists a node twice"),
    ],
)  # fmt: skip
def test_laws_by_their_parts(law: str, jobs: list[Written], words: str) -> None:
    found = broken(a_schedule(*jobs))
    assert set(found) == {law} and words in found[law], found


def test_processors_are_those_of_the_nodes() -> None:
    schedule = a_schedule({"cpus": "2"})
    schedule.procs = np.array([3])
    assert "has 3 processors, on its nodes they are 2" in broken(schedule)["node shares"]


def test_the_qos_of_the_partition_decides_first() -> None:
    """It sets 2 CPUs for each user, the job's own 4; with the flag OverPartQOS the job's comes first."""
    tight = Qos("tight", limits=Limits(max_tres_per_user={"cpu": 2}))
    site = a_site()
    batch = dataclasses.replace(site.partitions[0], qos="tight")
    partitions = (batch, site.partitions[1])
    jobs: list[Written] = [{"qos": "small", "cpus": "2"}, {"qos": "small", "cpus": "2"}]
    strict = dataclasses.replace(site, partitions=partitions, qos=(*site.qos, tight))
    assert "QOS tight for ann allows 2" in broken(a_schedule(*jobs, site=strict))["QOS and account limits"]
    over = dataclasses.replace(site.qos[1], flags=frozenset({"OverPartQOS"}))
    loose = dataclasses.replace(strict, qos=(site.qos[0], over, site.qos[2], tight))
    assert not broken(a_schedule(*jobs, site=loose))


def test_one_job_beyond_a_limit_is_one() -> None:
    site = a_site()
    none = dataclasses.replace(site.qos[1], limits=Limits(max_jobs_per_user=0))
    closed = dataclasses.replace(site, qos=(site.qos[0], none, *site.qos[2:]))
    found = broken(a_schedule({"qos": "small"}, site=closed))["QOS and account limits"]
    assert "1 job runs, MaxJobsPerUser of the QOS small for ann allows 0" in found
    none = dataclasses.replace(none, limits=Limits(max_tres_per_user={"cpu": 0}))
    closed = dataclasses.replace(closed, qos=(site.qos[0], none, *site.qos[2:]))
    found = broken(a_schedule({"qos": "small"}, site=closed))["QOS and account limits"]
    assert "1 cpu is held, MaxTRESPerUser of the QOS small for ann allows 0" in found


def test_limits_that_are_not_enforced_bind_nobody() -> None:
    site = a_site(config=Config.of({}))
    assert not broken(a_schedule({"user": "bob"}, {"user": "bob"}, site=site))


@pytest.mark.parametrize("placed", [True, False])
def test_where_a_job_ran_stands_in_one_order(placed: bool) -> None:
    """Whether the policy chose the partition or the log did."""
    schedule = a_schedule({})
    shown = schedule if placed else dataclasses.replace(schedule, partition=None, shares=None)
    after = shown.frame().columns[12:]
    assert after[: 4 if placed else 3] == ["partition", "qos", "account", "nodes"][: 4 if placed else 3]


def test_columns_are_written_as_slurm_writes_them_and_read_back(tmp_path: Path) -> None:
    schedule = a_schedule(
        {"nodes": "n[1-3]", "cpus": "4(x2),2", "memory": "100(x3)"},
        {"nodes": "n4", "cpus": "4", "alone": True, "partition": "whole"},
    )
    schedule.partition = np.array([0, 0])
    schedule.notes = {"reason": np.array([1, 0]), "planned_at": np.array([-1, 5 * SECOND])}
    schedule.labels = {**schedule.labels, "reason": ("None", "Priority")}
    schedule.save(tmp_path / "out")
    frame = schedule.frame()
    assert frame["nodes"].to_list() == ["n[1-3]", "n4"]
    assert frame["node_cpus"].to_list() == ["4(x2),2", "4"]
    assert frame["exclusive"].to_list() == [0, 1]
    assert frame["partition"].to_list() == ["batch", "batch"]
    assert frame["trace_partition"].to_list() == ["batch", "whole"]
    again = Schedule.load(tmp_path / "out")
    assert again.frame().equals(frame)
    assert again.notes["reason"].tolist() == [1, 0]
    assert again.notes["planned_at"].tolist() == [-1, 5 * SECOND]
    assert (tmp_path / "out" / "notes.csv").read_text() == "job,reason,planned_at\n1,Priority,\n2,None,5\n"


def test_notes_are_quoted_for_spreadsheets_too(tmp_path: Path) -> None:
    schedule = a_schedule({"nodes": "n1"})
    schedule.notes, schedule.labels = {"reason": np.array([0])}, {**schedule.labels, "reason": ("=1+1",)}
    schedule.save(tmp_path / "out", spreadsheet=True)
    assert (tmp_path / "out" / "notes.csv").read_text() == "job,reason\n1,'=1+1\n"
    assert Schedule.load(tmp_path / "out").notes["reason"].tolist() == [0]


def test_a_list_of_nodes_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    a_schedule({}, {"nodes": "n2"}).save(tmp_path / "out")
    file = tmp_path / "out" / "schedule.csv"
    file.write_text(file.read_text().replace("n2", "n[2-"))
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    del record["files"]  # as an older version wrote it, without digests
    (tmp_path / "out" / "run.json").write_text(json.dumps(record))
    with pytest.raises(headway.InputError, match=r"schedule.csv:3: nodes: "):
        Schedule.load(tmp_path / "out")


def test_shares_of_some_jobs() -> None:
    shares = a_schedule({}, {"nodes": "n[2-3]", "cpus": "1(x2)", "memory": "0(x2)"}, {}).shares
    assert shares is not None
    kept = shares.select(np.array([False, True, True]))
    assert kept.job.tolist() == [0, 0, 1] and kept.nodes_of(0) == "n[2-3]"
    assert next(column.name for column in share_columns(kept, 2)) == "nodes"
    assert isinstance(kept, Shares)


def test_the_gantt_chart_has_a_band_for_each_node() -> None:
    shown = bands(a_schedule({"nodes": "n[1-2]", "cpus": "4,2"}, {"nodes": "n2"}))
    assert list(shown.names) == ["n1", "n2", "n3", "n4"] and shown.sizes.tolist() == [4] * 4
    assert sorted(zip(shown.job.tolist(), shown.band.tolist(), shown.procs.tolist(), strict=True)) == [
        (0, 0, 4), (0, 1, 2), (1, 1, 1),
    ]  # fmt: skip


def test_a_platform_without_a_site_still_judges_who_is_alone() -> None:
    schedule = a_schedule({"alone": True}, {})
    schedule.platform = Platform.procs(16)
    assert set(broken(schedule)) == {"exclusive nodes"}


def noted(schedule: Schedule, **changes: int) -> Schedule:
    """A schedule with what the controller noted of its single job."""
    plain = {
        "reason": 1, "limit": -1, "loop": 1, "first_priority": 1540, "priority": 1590, "age": 40,
        "first_fair_share": 1000, "fair_share": 1010, "first_size": 20, "size": 20, "partition_points": 500,
        "qos_points": 20, "association_points": 0, "nice": 0, "planned_at": 30 * SECOND,
        "planned_start": 90 * SECOND, "planned_node": 1, "planned_nodes": 2,
    }  # fmt: skip
    schedule.notes = {name: np.array([value]) for name, value in (plain | changes).items()}
    reasons = ("None", "Priority", "QOSMaxCpuPerUserLimit")
    schedule.labels = {
        **schedule.labels, "reason": reasons, "limit": reasons, "loop": ("main", "backfill"),
        "planned_node": tuple(node.name for node in NODES),
    }  # fmt: skip
    return schedule


def test_explain_tells_priority_reason_plan_loop_and_nodes() -> None:
    schedule = noted(a_schedule({"nodes": "n[1-2]", "cpus": "4,2", "start": 60, "end": 160}), limit=2)
    text = headway.explain(schedule, 1).text(1000)
    assert "At submission its priority was 1540: 1000 for its fair share + 20 for its size + " in text
    assert "When it started its priority was 1590 (age +40, fair share +10)." in text
    assert "squeue would have shown is Priority: jobs of higher priority waited in its partition." in text
    assert "held by a limit, too: QOSMaxCpuPerUserLimit." in text
    assert "at 30 s (30 s after it was submitted), on 2 nodes, the first of them n2, to start at 90 s" in text
    assert "it started 30 s earlier." in text
    assert (
        "Backfill started it at 60 s (60 s after it was submitted) in the partition batch on n[1-2], "
        "with 6 CPUs in all." in text
    )


def test_explain_of_a_job_that_started_at_once_and_of_priority_by_submission() -> None:
    schedule = noted(a_schedule({"alone": True}), reason=0, loop=0, planned_at=-1)
    del schedule.notes["age"]  # type: ignore[attr-defined]
    text = headway.explain(schedule, 1).text(1000)
    assert "without factors the order of submission decides" in text
    assert "squeue" not in text and "planned" not in text
    assert "The main loop started it at 0 s in the partition batch on n1, which it had to itself." in text


CONF = """
ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
PriorityType=priority/multifactor
PriorityWeightJobSize=100
PriorityWeightPartition=1000
NodeName=n[1-4] CPUs=4 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=60 State=UP
PartitionName=whole Nodes=n[3-4] OverSubscribe=EXCLUSIVE PriorityJobFactor=5 MaxTime=60 State=UP
"""

FIELDS = (
    "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|"
    "AllocCPUS|NNodes|ReqNodes|ReqMem|NodeList|SubmitLine"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site's folder: four nodes, two partitions, and a log of ten jobs."""
    home = tmp_path / "site"
    home.mkdir()
    (home / "slurm.conf").write_text(CONF)
    lines = [FIELDS]
    for number in range(1, 11):
        cpus, part = (6, "batch") if number % 3 else (1, "batch,whole")
        t = 1700000000 + 20 * number
        record = (
            number, number, "ann", "chem", part.split(",")[-1], "normal", "COMPLETED", t, t, t, t + 300, 300,
            10, cpus, cpus, 1, 1, "0", "n1", f"sbatch -n {cpus} -t 10 -p {part} job.sh",
        )  # fmt: skip
        lines.append("|".join(map(str, record)))
    (home / "jobs.txt").write_text("\n".join(lines) + "\n")
    return home


def test_a_simulated_site_is_judged_explained_and_compared(folder: Path, tmp_path: Path) -> None:
    """What Slurm's rules give passes its laws, before and after it was saved; every job is explained."""
    site = Site.load(folder)
    jobs = site.read_jobs()
    schedule = headway.simulate(jobs, site.platform(), "slurm(seed=1)")
    assert schedule.shares is not None and headway.audit(schedule).ok
    schedule.save(tmp_path / "slurm")
    again = Schedule.load(tmp_path / "slurm")
    assert again.frame().equals(schedule.frame()) and headway.audit(again).ok
    whole = [name == "whole" for name in again.frame()["partition"]]
    assert any(whole) and (again.procs[whole] == 4).all()  # one CPU was asked for, a whole node was given
    for number in jobs.job.tolist():
        text = headway.explain(again, number).text(1000)
        assert "Its priority" in text and "started it at" in text
    compared = headway.compare([again, headway.simulate(jobs, site.platform(), "easy")])
    assert [row["partition"] for row in again.summary()["by_partition"]] == ["batch", "batch,whole"]
    assert len(compared.names) == 2


def test_a_site_that_has_changed_since_is_told_and_does_not_judge(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Laws of a site hold for the site as it was; it is found from any folder, and said where it is not."""
    command = Headway(tmp_path, capsys, monkeypatch)
    there = folder.relative_to(tmp_path)
    done = command("simulate", there, "--policy", "easy(nodes=shared)", "--out", "run", "--quiet")
    assert (done.status, done.err) == (0, "")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    same = command("audit", "../run")
    assert "node CPUs" in same.out and (same.status, same.err) == (0, "")
    conf = folder / "slurm.conf"
    conf.write_text(f"# a comment\n{conf.read_text()}")
    assert command("audit", "../run").err == ""
    for cpus in ("1", "many", ""):
        text = conf.read_text()
        conf.unlink()
        if cpus:
            conf.write_text(re.sub(r"CPUs=\w+", f"CPUs={cpus}", text))
        how = "has changed since the run was made" if cpus else "is gone"
        sentence = f"{folder}: the site {how}, so its nodes, partitions and limits are not known here"
        other = command("audit", "../run")
        assert other.status == 0 and "node CPUs" not in other.out
        assert other.err == f"{sentence}, and the laws on these are not checked\n"
        assert command("explain", "../run", 1, "--no-what-if").err == f"{sentence}\n"
        assert command("plot", "../run", "-o", "gantt.svg", "--force").err == f"{sentence}\n"
