"""A Slurm cluster foreseen by Slurm's own rules: nodes, partitions and limits as scontrol shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.engine import Job
from headway.live.slurm.accounting import Accounting
from headway.live.slurm.commands import Slurm
from headway.live.slurm.queue import LOOK, in_order, parse_queue
from headway.live.slurm.rules import Rules, RulesPlan
from headway.live.slurm.server import SlurmServer
from headway.live.wire import NoAnswer, Refused
from headway.policies.grid.composed.cluster import Shape
from headway.policies.spec import parse_spec
from headway.units import NEVER, SECOND
from live_grids import cluster, folder, written

NOW = 1_700_000_000
MINUTE = 60
CONFIG = """\
Configuration data as of 2026-11-01T00:00:00
AccountingStorageType   = (null)
ClusterName             = little
DefMemPerNode           = UNLIMITED
PriorityType            = priority/multifactor
SchedulerParameters     = bf_interval=1,sched_min_interval=0
SchedulerType           = sched/backfill
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CPU
"""
NODES = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=0.0
   AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null)
   RealMemory=1000 AllocMem=0 FreeMem=900 Sockets=4 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main,short

NodeName=n2 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=0.0
   AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null)
   RealMemory=1000 AllocMem=0 FreeMem=900 Sockets=4 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main
"""
PARTITIONS = """\
PartitionName=main
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=n[1-2]
   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=8 TotalNodes=2 SelectTypeParameters=NONE

PartitionName=short
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=NO QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=00:10:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=n1
   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=4 TotalNodes=1 SelectTypeParameters=NONE
"""


RECORD = """\
41|FAILED|2|1699999100|1699999130|00:05:00|1699999000|main|ada
57|COMPLETED|2|1699999200|1699999230|00:05:00|1699999000|main|ada
"""


class Shown(Slurm):
    """Commands that print what is written here."""

    def __init__(self) -> None:
        super().__init__("little", "", 5)
        self.texts = {"config": CONFIG, "node": NODES, "partition": PARTITIONS}
        self.asked: list[str] = []

    def run(self, *words: str, text: str = "") -> str:
        self.asked.append(" ".join(words))
        if words[0] == "sacct" and "sacct" not in self.texts:
            raise NoAnswer("the database does not answer")
        return self.texts["sacct" if words[0] == "sacct" else words[-1]]


@pytest.fixture
def rules(tmp_path: Path) -> Iterator[Rules]:
    yield Rules(Shown(), parse_spec("slurm"), tmp_path / "site")


def line(number: int, state: str, cpus: int, limit: str, priority: int = 1, partition: str = "main") -> str:
    start = NOW - 60 if state == "RUNNING" else "N/A"
    fields = (number, state, cpus, start, "N/A", limit, "Priority", priority, NOW - 90, partition, "ada")
    return "|".join(map(str, (*fields, "", "", "", f"j{number}")))


def planned(rules: Rules, *lines: str, partition: str = "") -> RulesPlan:
    jobs = parse_queue("\n".join(lines))
    running = [job for job in jobs if job.state == "running"]
    return rules.plan(running, in_order(jobs), NOW * SECOND, partition)


def after(instant: int) -> float:
    """Seconds from now on."""
    return (instant - NOW * SECOND) / SECOND


def task(procs: int, minutes: int) -> Job:
    return Job(minutes * MINUTE * SECOND, Shape(procs, 1, 1))


def test_waiting_jobs_start_when_nodes_are_free_and_by_priority(rules: Rules) -> None:
    plan = planned(
        rules,
        line(1, "RUNNING", 8, "11:00"),
        line(2, "PENDING", 8, "5:00", priority=1),
        line(3, "PENDING", 8, "20:00", priority=9),
    )
    start, end = plan.planned(0)
    assert (after(start), after(end)) == (-60, 600)
    first, second = plan.planned(1), plan.planned(2)
    assert 600 <= after(first[0]) <= 660 and after(first[1]) - after(first[0]) == 1200
    assert after(first[1]) <= after(second[0]) <= after(first[1]) + 60
    # Behind both, if it is submitted now; a short one is backfilled, where there is room for it.
    assert after(plan.tried(task(8, 1))) >= after(second[1])
    plan = planned(rules, line(1, "RUNNING", 6, "11:00"), line(2, "PENDING", 8, "5:00"))
    assert after(plan.tried(task(2, 5))) <= 5 * MINUTE + 60
    assert after(plan.tried(task(2, 15))) >= 10 * MINUTE + 15 * MINUTE


def test_a_wait_of_weeks_and_a_queue_of_thousands_are_foreseen(rules: Rules) -> None:
    plan = planned(rules, line(1, "RUNNING", 8, "20-00:00:00"), line(2, "PENDING", 8, "5:00"))
    assert after(plan.planned(1)[0]) == pytest.approx(20 * 86400 - 60, abs=3600)
    many = [line(number, "PENDING", 8, "2:00", priority=5000 - number) for number in range(2, 2500)]
    plan = planned(rules, line(1, "RUNNING", 8, "11:00"), *many)
    starts = [after(plan.planned(number)[0]) for number in range(1, len(many) + 1)]
    assert starts == sorted(starts) and starts[0] >= 600
    assert starts[-1] == pytest.approx(600 + 120 * len(many), rel=0.3)


def test_what_a_partition_does_not_allow_is_not_run(rules: Rules) -> None:
    plan = planned(rules, partition="short")
    assert after(plan.tried(task(4, 10))) <= 10 * MINUTE + 60
    assert plan.tried(task(6, 5)) == NEVER  # on one node of four CPUs
    assert plan.tried(task(1, 30)) == NEVER  # longer than MaxTime
    assert plan.tried(task(9, 5)) == NEVER
    assert after(planned(rules).tried(task(6, 30))) <= 30 * MINUTE + 60  # in main, on two nodes


def test_the_site_is_asked_once_and_what_is_odd_is_told(rules: Rules, tmp_path: Path) -> None:
    planned(rules), planned(rules)
    assert isinstance(rules.slurm, Shown) and len(rules.slurm.asked) == 3
    assert (tmp_path / "site" / "nodes.txt").exists()
    broken = Shown()
    broken.texts["node"] = "NodeName=n1 CPUTot=many\n"
    with pytest.raises(Refused, match=r'nodes.txt:1: .*give the cluster policy = "conservative"'):
        Rules(broken, parse_spec("slurm"), tmp_path / "other").site()
    silent = Shown()
    silent.run = lambda *words, text="": (_ for _ in ()).throw(NoAnswer("silent"))  # type: ignore[method-assign]
    Rules(silent, parse_spec("slurm"), tmp_path / "third").warm()  # a server starts all the same


def test_accounting_tells_of_jobs_that_the_controller_has_forgotten() -> None:
    slurm = Shown()
    assert Accounting(slurm).last("hw-x.1") is None
    assert not any("sacct" in words for words in slurm.asked), "where there is none, it is not asked"
    slurm.texts["config"] = CONFIG.replace("(null)", "accounting_storage/slurmdbd")
    slurm.texts["sacct"] = RECORD
    accounting = Accounting(slurm)
    found = accounting.last("hw-x.1")
    assert found is not None and (found.number, found.state, found.procs) == ("57", "done", 2)
    assert (found.start, found.end) == (1_699_999_200 * SECOND, 1_699_999_230 * SECOND)
    accounting.last("hw-x.1")
    assert sum("sacct" in words for words in slurm.asked) == 1
    assert "--name=hw-x.1" in slurm.asked[-1]
    slurm.texts["sacct"] = ""
    assert Accounting(slurm).last("hw-x.1") is None
    del slurm.texts["sacct"]
    with pytest.raises(NoAnswer):  # unknown is not absent
        Accounting(slurm).last("hw-x.1")


@pytest.mark.parametrize(("record", "state"), [("", "absent"), (RECORD, "failed"), (None, "unknown")])
def test_a_job_that_is_not_in_the_queue(record: str | None, state: str) -> None:
    slurm = Shown()
    slurm.texts["config"] = CONFIG.replace("(null)", "accounting_storage/slurmdbd")
    if record is not None:
        slurm.texts["sacct"] = record
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        server = SlurmServer(grid, grid.sites[0], control=False)
        server.slurm, server.accounting = slurm, Accounting(slurm)
        slurm.texts[LOOK[-1]] = ""
        if state == "unknown":
            with pytest.raises(NoAnswer):
                server.poll(["hw-x.1"])
        else:  # without a fence nothing of the task ran: what Slurm completed was not the task
            assert server.poll(["hw-x.1"])["jobs"]["hw-x.1"]["state"] == state


@pytest.mark.parametrize(("nodes", "state"), [("(null)", "cancelled"), ("", "cancelled"), ("n1", "absent")])
def test_a_job_that_slurm_cancelled_before_its_script_began_is_lost(nodes: str, state: str) -> None:
    slurm = Shown()
    slurm.texts["4"] = (
        f"JobId=4 JobName=hw-x.1\n   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList={nodes}\n"
    )
    slurm.texts[LOOK[-1]] = f"4|CANCELLED|1|{NOW}|{NOW + 1}|1:00|None|1|{NOW}|main|ada||||hw-x.1\n"
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        server = SlurmServer(grid, grid.sites[0], control=False)
        server.slurm, server.accounting = slurm, Accounting(slurm)
        assert server.poll(["hw-x.1"])["jobs"]["hw-x.1"]["state"] == state
