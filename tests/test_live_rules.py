"""A Slurm cluster foreseen by Slurm's own rules: nodes, partitions and limits as scontrol shows them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headway.audit import audit
from headway.live.engine import Job
from headway.live.journal import Journal
from headway.live.queue_now import queue_now
from headway.live.record import recorded
from headway.live.script import FENCED
from headway.live.slurm.accounting import Accounting
from headway.live.slurm.commands import Slurm
from headway.live.slurm.nodes import LOOK as SINFO
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import in_order, parse_queue
from headway.live.slurm.rules import Rules, RulesPlan
from headway.live.slurm.server import SlurmServer
from headway.live.wire import NoAnswer, Refused
from headway.policies.grid.composed.cluster import Shape
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.policies.spec import parse_spec
from headway.units import NEVER, SECOND
from live_grids import cluster, folder, marked, running, short, written

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


NOW_UP = """\
n1|main*|up|idle|0/4/0/4
n1|short|up|idle|0/4/0/4
n2|main*|up|idle|0/4/0/4
"""
RECORD = """\
41|FAILED|2|1699999100|1699999130|00:05:00|1699999000|main|ada
57|COMPLETED|2|1699999200|1699999230|00:05:00|1699999000|main|ada
"""


class Shown(Slurm):
    """Commands that print what is written here."""

    def __init__(self) -> None:
        super().__init__("little", "", 5)
        self.texts = {"config": CONFIG, "node": NODES, "partition": PARTITIONS, SINFO[-1]: NOW_UP}
        self.asked: list[str] = []

    def run(self, *words: str, text: str = "") -> str:
        self.asked.append(" ".join(words))
        if words[0] == "sacct" and "sacct" not in self.texts:
            raise NoAnswer("the database does not answer")
        if words[:3] == ("scontrol", "show", "job") and words[-1] not in self.texts:
            raise Refused("Invalid job id specified")
        if words[0] == "squeue":
            return marked(words, *self.texts["squeue"].splitlines())
        return self.texts["sacct" if words[0] == "sacct" else words[-1]]


@pytest.fixture
def rules(tmp_path: Path) -> Iterator[Rules]:
    yield Rules(Shown(), parse_spec("slurm"), tmp_path / "site")


def line(
    number: int, state: str, cpus: int, limit: str, priority: int = 1, partition: str = "main",
    why: str = "Priority",
) -> str:  # fmt: skip
    start = NOW - 60 if state == "RUNNING" else "N/A"
    fields = (number, state, cpus, start, "N/A", limit, why, priority, NOW - 90, partition, "ada")
    return "|".join(map(str, (*fields, "", "", "", f"j{number}")))


def planned(rules: Rules, *lines: str, partition: str = "") -> RulesPlan:
    jobs = parse_queue(lines)
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
    assert isinstance(rules.slurm, Shown) and len(rules.slurm.asked) == 4
    assert (tmp_path / "site" / "nodes.txt").exists()
    broken = Shown()
    broken.texts["node"] = "NodeName=n1 CPUTot=many\n"
    with pytest.raises(Refused, match=r'nodes.txt:1: .*give the cluster policy = "conservative"'):
        Rules(broken, parse_spec("slurm"), tmp_path / "other").site()
    silent = Shown()
    silent.run = lambda *words, text="": (_ for _ in ()).throw(NoAnswer("silent"))  # type: ignore[method-assign]
    Rules(silent, parse_spec("slurm"), tmp_path / "third").warm()  # a server starts all the same


def test_commands_show_the_whole_queue_whatever_their_user_wants_to_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SQUEUE_PARTITION", "SCANCEL_INTERACTIVE", "SBATCH_WAIT", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "physics")
    shown = Slurm("little", "", 5).run("env")
    assert re.findall("^(S[A-Z]+_.*)=physics$", shown, re.MULTILINE) == ["SBATCH_ACCOUNT"]


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
        slurm.texts["squeue"] = ""
        if state == "unknown":
            with pytest.raises(NoAnswer):
                server.poll(["hw-x.1"])
        else:  # without a fence nothing of the task ran: what Slurm completed was not the task
            assert server.poll(["hw-x.1"])["jobs"]["hw-x.1"]["state"] == state


def test_nodes_that_are_down_or_drained_now_are_not_planned_with(rules: Rules) -> None:
    """Though they were there when the site was read; what runs on one that drains goes on."""
    assert after(planned(rules).tried(task(6, 5))) <= 5 * MINUTE + 60
    slurm = rules.slurm
    assert isinstance(slurm, Shown)
    for state, cpus in (("down*", "0/0/4/4"), ("drained", "0/0/4/4"), ("draining", "2/0/2/4")):
        slurm.texts[SINFO[-1]] = NOW_UP.replace("n2|main*|up|idle|0/4/0/4", f"n2|main*|up|{state}|{cpus}")
        rules.nodes = Nodes(slurm)
        plan = planned(rules, line(1, "RUNNING", 2, "11:00").removesuffix("|j1") + "n2|j1")
        assert plan.tried(task(6, 5)) == NEVER and after(plan.tried(task(4, 5))) <= 5 * MINUTE + 60
        assert after(plan.planned(0)[1]) == 600
    slurm.texts[SINFO[-1]] = NOW_UP.replace("short|up", "short|down")
    rules.nodes = Nodes(slurm)
    assert planned(rules, partition="short").tried(task(1, 5)) == NEVER
    slurm.texts[SINFO[-1]] = NOW_UP
    rules.nodes = Nodes(slurm)
    assert after(planned(rules).tried(task(6, 5))) <= 5 * MINUTE + 60


@pytest.mark.parametrize("policy", ["slurm", "conservative"])
def test_a_task_that_lacks_nodes_for_now_is_told_apart_from_one_that_never_runs(policy: str) -> None:
    slurm = Shown()
    slurm.texts |= {"squeue": "", SINFO[-1]: NOW_UP.replace("idle|0/4/0/4", "down*|0/0/4/4")}
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy=policy))
        server = SlurmServer(grid, grid.sites[0], control=False)
        server.slurm, server.nodes = slurm, Nodes(slurm)
        if server.rules is not None:
            server.rules.slurm, server.rules.nodes = slurm, Nodes(slurm)
        why = {"for_now": "cluster little: too few nodes are up for it"}
        for procs, more in ((1, why), (8, why), (9, {})):
            told = server.estimate("", short(1, procs=procs).as_json())
            assert told == {"completion": NO_ANSWER, "procs": 0} | more


def test_a_task_waits_for_nodes_that_are_down_for_now() -> None:
    slurm = Shown()
    slurm.texts |= {"squeue": "", SINFO[-1]: NOW_UP.replace("idle|0/4/0/4", "down*|0/0/4/4")}
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        with running(grid) as made:
            server = made.servers[0]
            assert isinstance(server, SlurmServer)
            server.slurm, server.nodes = slurm, Nodes(slurm)
            told = made.agent.on_submit(short(1, procs=8).as_json())
            assert told["waits_for"] == "cluster little: too few nodes are up for it"
            assert made.agent.on_status(1)["state"] == "waiting"
            with pytest.raises(Refused, match="no cluster can run it: it needs 9 processors"):
                made.agent.on_submit(short(1, procs=9).as_json())


@pytest.mark.parametrize(("state", "length"), [("killed", 71), ("done", 65), ("done", 20), ("killed", 59)])
@pytest.mark.parametrize("kind", ["slurm", "local"])
def test_what_ran_past_its_limit_is_recorded_as_it_was(kind: str, state: str, length: int) -> None:
    """Slurm looks at limits every 30 seconds, and a server that is paused looks at nothing: a task that it
    kills then has had that as its walltime."""
    with folder() as path:
        grid = written(path, cluster("little", 8, kind=kind, speed=1, policy="conservative"))
        with closing(Journal(grid.folder / "journal.db")) as journal:
            now = journal.epoch
            row = journal.add_task(short(1, walltime=60), now)
            attempt = journal.add_attempt(row, "little", now)
            journal.set_attempt(attempt.number, state="over", procs=1, walltime=MINUTE * SECOND)
            journal.set_task(1, state=state, started=now + SECOND, ended=now + (1 + length) * SECOND)
            result = recorded(grid, journal)
    assert audit(result).ok
    assert ((result.end - result.start) // SECOND).tolist() == [length]
    assert result.killed.tolist() == [state == "killed"]


def test_a_running_task_ends_at_the_latest_a_walltime_after_its_start() -> None:
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        with running(grid) as made:
            journal = made.agent.journal
            row = journal.add_task(short(1, walltime=60), 0)
            attempt = journal.add_attempt(row, "little", 0)
            planned = {"start": 10 * SECOND, "completion": 70 * SECOND, "walltime": MINUTE * SECOND}
            journal.set_attempt(attempt.number, state="released", procs=1, **planned)
            assert made.agent.on_status(1)["completion"] == 70 * SECOND
            journal.set_task(1, state="running", started=50 * SECOND)
            assert made.agent.on_status(1)["completion"] == 110 * SECOND


SHOWN = "JobId=4 JobName=hw-x.1\n   Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode={code}:0\n"


@pytest.mark.parametrize(
    ("slurms", "code", "ago", "state"),
    [
        ("NODE_FAIL", 0, 600, "failed"),
        ("PREEMPTED", 0, 600, "failed"),
        ("OUT_OF_MEMORY", 0, 600, "failed"),
        ("COMPLETED", 0, 600, "done"),
        ("NODE_FAIL", 0, 20, "running"),  # word of its end may still come
        ("FAILED", FENCED, 600, "running"),  # a second copy, which met the fence of the first
        ("FAILED", None, 600, "running"),  # forgotten by Slurm
    ],
)
def test_a_job_that_died_without_a_word_is_over_long_before_its_limit(
    slurms: str, code: int | None, ago: int, state: str
) -> None:
    slurm, now = Shown(), int(time.time())
    ended = now - ago
    slurm.texts["squeue"] = f"4|{slurms}|2|{now - 900}|{ended}|1-00:00:00|x|1|{now - 999}|main|a||||hw-x.1\n"
    if code is not None:
        slurm.texts["4"] = SHOWN.format(code=code)
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        server = SlurmServer(grid, grid.sites[0], control=False)
        server.slurm, server.accounting = slurm, Accounting(slurm)
        fence = grid.fence / "hw-x"
        fence.mkdir(parents=True)
        (fence / "started").write_text("17 little\n")
        os.utime(fence / "started", (now - 890, now - 890))
        found = server.poll(["hw-x.1"])["jobs"]["hw-x.1"]
        assert (found["state"], found["started"]) == (state, (now - 890) * SECOND)
        assert found["ended"] == (None if state == "running" else ended * SECOND)


def test_what_an_operator_holds_stays_held_and_is_not_moved() -> None:
    """A user's hold is a release that a crash undid, and is made again; an operator's is not."""
    slurm = Shown()
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        server = SlurmServer(grid, grid.sites[0], control=True)
        server.slurm, server.accounting = slurm, Accounting(slurm)
        for why, state in (("JobHeldUser", "held"), ("JobHeldAdmin", "waiting")):
            slurm.texts["squeue"] = line(1, "PENDING", 2, "10:00", why=why).replace("j1", "hw-x.1")
            assert server.poll(["hw-x.1"])["jobs"]["hw-x.1"]["state"] == state
        for why in ("JobHeldAdmin", "BeginTime", "Dependency"):
            slurm.texts["squeue"] = line(1, "PENDING", 2, "10:00", why=why).replace("j1", "hw-x.1")
            server.poll(["hw-x.1"])
            answer = server.estimate("hw-x.1", short(1, 60).as_json())
            assert answer == {"completion": STARTED, "procs": 0}


@pytest.mark.parametrize(("nodes", "state"), [("(null)", "cancelled"), ("", "cancelled"), ("n1", "absent")])
def test_a_job_that_slurm_cancelled_before_its_script_began_is_lost(nodes: str, state: str) -> None:
    slurm = Shown()
    slurm.texts["4"] = (
        f"JobId=4 JobName=hw-x.1\n   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList={nodes}\n"
    )
    slurm.texts["squeue"] = f"4|CANCELLED|1|{NOW}|{NOW + 1}|1:00|None|1|{NOW}|main|ada||||hw-x.1\n"
    with folder() as path:
        grid = written(path, cluster("little", 8, kind="slurm", policy="conservative"))
        server = SlurmServer(grid, grid.sites[0], control=False)
        server.slurm, server.accounting = slurm, Accounting(slurm)
        found = server.poll(["hw-x.1"])["jobs"]["hw-x.1"]
        assert found["state"] == state and found.get("started") is None


def test_jobs_that_wait_for_a_time_or_for_others_are_not_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the server, which would promise others a later start, nor in the queue of a forecast."""
    queue = "\n".join(
        [
            line(1, "PENDING", 4, "10:00", 9, why="Dependency"),
            line(2, "PENDING", 4, "10:00", 9, why="BeginTime"),
            line(3, "PENDING", 4, "10:00", 8),
            line(4, "PREEMPTED", 4, "10:00", 9, why="None"),
        ]
    )

    def run(_: Slurm, *words: str) -> str:
        return NOW_UP if words[0] == "sinfo" else marked(words, *queue.splitlines())

    monkeypatch.setattr(Slurm, "run", run)
    with folder() as path:
        grid = written(path, cluster("little", 4, kind="slurm", policy="conservative"))
        jobs, _ = queue_now(grid, grid.sites[0])
        assert [(job.procs, job.start) for job in jobs] == [(4, None)]
        plan = SlurmServer(grid, grid.sites[0], control=False).plan()
        assert plan.knows(0) and not plan.knows(1)
