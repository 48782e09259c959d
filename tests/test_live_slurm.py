"""The middleware over real Slurm: three clusters on this machine. Skips where Slurm is not installed."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.audit import audit
from headway.live.grid_file import Grid
from headway.live.record import recorded
from headway.live.script import read_fence
from headway.live.shadow import Shadow, compare
from headway.live.slurm.queue import in_order, parse_queue
from headway.live.slurm.server import SlurmServer
from headway.live.slurm.steered import SteeredServer
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused
from headway.policies.grid.notes import STARTED
from headway.policies.spec import parse_spec
from headway.units import SECOND
from live_grids import InProcess, cluster, folder, running, short, written
from slurm_clusters import SlurmCluster, free_port, slurm_clusters

SIZES = (("bordeaux", 4), ("lyon", 2), ("toulouse", 3))


@pytest.fixture(scope="module")
def clusters() -> Iterator[list[SlurmCluster]]:
    with slurm_clusters(SIZES) as made:
        yield made


@pytest.fixture
def live(clusters: list[SlurmCluster]) -> Iterator[InProcess]:
    with folder() as path:
        path.chmod(0o755)
        tables = [cluster(each.name, each.cpus, kind="slurm", conf=str(each.conf)) for each in clusters]
        with running(written(path, "".join(tables), more="timeout = 5")) as made:
            yield made


def marks(path: Path) -> Counter[str]:
    return Counter(path.read_text().split()) if path.exists() else Counter()


@pytest.mark.long
def test_tasks_with_moves_on_three_slurms(live: InProcess) -> None:
    mark = live.grid.file.parent / "m"
    for name, procs, minutes in (("bordeaux", 4, 2), ("lyon", 2, 10), ("toulouse", 3, 10)):
        gate = f'until [ -e "$0" ]; do sleep 0.2; done; echo "$HEADWAY_TASK" >> {mark}'
        words = ("sh", "-c", gate, str(live.grid.file.parent / name))
        blocker = Task(words, procs, minutes * 60 * SECOND, cluster=name)
        live.agent.on_submit(blocker.as_json())
    for number in range(8):
        task = short(0.1 + 0.2 * (number % 3), 60, 1, mark, parallel_fraction=0.9, max_procs=4)
        assert live.agent.on_submit(task.as_json())["cluster"] == "bordeaux", "which is free first"
    (live.grid.file.parent / "lyon").touch()  # much earlier than was planned
    live.until(lambda: sum(row.moves for row in live.agent.journal.all_tasks()) > 0, 120)
    for name in ("bordeaux", "toulouse"):
        (live.grid.file.parent / name).touch()
    live.until(live.all_over, 120)
    rows = live.agent.journal.all_tasks()
    assert {row.state for row in rows} == {"done"}
    assert marks(mark) == Counter(row.fence for row in rows)
    schedule = recorded(live.grid, live.agent.journal)
    assert schedule.moves is not None and len(schedule.moves) > 0
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    assert {each["cluster"] for each in live.agent.on_state()["estimates"]} <= {name for name, _ in SIZES}


@pytest.mark.long
def test_a_controller_that_is_killed_is_unknown_and_doubles_nothing(
    live: InProcess, clusters: list[SlurmCluster]
) -> None:
    mark = live.grid.file.parent / "m"
    for _ in range(9):
        live.agent.on_submit(short(0.5, 60, 1, mark).as_json())
    live.turn()
    for each in clusters[:2]:
        each.kill_controller()
    time.sleep(0.2)
    live.turn()
    assert len(live.agent.accounts.silent) == 2
    for each in clusters[:2]:
        each.start_controller()
    live.until(live.all_over, 120)
    rows = live.agent.journal.all_tasks()
    assert {row.state for row in rows} == {"done"}
    assert marks(mark) == Counter(row.fence for row in rows)


def test_a_job_that_runs_is_not_taken_back(live: InProcess, clusters: list[SlurmCluster]) -> None:
    server = next(each for each in live.servers if each.site.name == "lyon")
    assert isinstance(server, SlurmServer)
    task = short(2, 60, 1).as_json()
    for name in ("hw-t-1.0.1", "hw-t-2.0.2"):
        server.handle("submit", {"name": name, "fence": name[:-2], "task": task})
        assert server.handle("poll", {"names": [name]})["jobs"][name]["state"] == "held"
    server.handle("submit", {"name": "hw-t-1.0.1", "fence": "hw-t-1.0", "task": task})
    assert [job.name for job in server.jobs(fresh=True)].count("hw-t-1.0.1") == 1  # asked twice, done once
    server.handle("release", {"name": "hw-t-1.0.1"})
    end = time.monotonic() + 20
    while server.handle("poll", {"names": ["hw-t-1.0.1"]})["jobs"]["hw-t-1.0.1"]["state"] != "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert server.handle("cancel", {"name": "hw-t-1.0.1"}) == {"gone": False}
    assert server.handle("cancel", {"name": "hw-t-2.0.2"}) == {"gone": True}
    assert server.handle("poll", {"names": [], "prefix": "hw-t-"})["others"] == []
    assert server.handle("kill", {"name": "hw-t-1.0.1"}) == {"gone": True}
    with pytest.raises(Refused, match=r"lyon: .*invalid partition"):
        server.slurm.run("sbatch", "--partition=none", "--wrap=true")


def alone(path: Path, slurm: SlurmCluster, policy: str = "conservative", *, steer: bool = False) -> Grid:
    """A grid of one cluster, whose jobs the agent starts itself if it is to ``steer``."""
    path.chmod(0o755)
    more = {"steer": True} if steer else {}
    table = cluster(slurm.name, 2, kind="slurm", conf=str(slurm.conf), policy=policy, **more)
    return written(path, table.replace("True", "true"), more="timeout = 5")


def test_what_its_user_holds_stays_held(clusters: list[SlurmCluster]) -> None:
    """A task that was let go and waits is held by hand; it is neither released nor moved, but by its user."""
    slurm = clusters[1]
    with folder() as path, running(alone(path, slurm)) as live:
        gate = ("sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', str(path / "gate"))
        live.agent.on_submit(Task(gate, 2, 60 * SECOND).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        live.agent.on_submit(short(0.1, 60).as_json())
        live.turn()
        name = live.agent.on_status(2)["batch_name"]
        (number,) = slurm.run("squeue", "-h", "-n", name, "-o", "%i").split()
        slurm.run("scontrol", "uhold", number)
        (path / "gate").touch()
        live.until(lambda: live.agent.on_status(1)["state"] == "done")
        for _ in range(3):
            live.turn()
            time.sleep(0.3)
        assert slurm.run("squeue", "-h", "-j", number, "-o", "%r").split() == ["JobHeldUser"]
        assert live.agent.on_status(2)["state"] == "waiting"
        [server] = live.servers
        answer = server.handle("estimate", {"name": name, "task": short(0.1, 60).as_json()})
        assert answer == {"completion": STARTED, "procs": 0}
        slurm.run("scontrol", "release", number)
        live.until(live.all_over, 60)
        assert live.agent.on_status(2)["state"] == "done"


@pytest.mark.long
def test_urgent_jobs_suspend_others_on_slurm(clusters: list[SlurmCluster]) -> None:
    with folder() as path, running(alone(path, clusters[0], "ujfb(swap=0)", steer=True)) as live:
        mark = path / "m"
        live.agent.on_submit(short(4, 60, 2, mark).as_json())
        live.until(lambda: read_fence(live.grid.fence / live.agent.journal.task(1).fence) is not None)
        live.agent.on_submit(short(0.2, 60, 2, mark, urgent=True).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "suspended")
        shown = clusters[0].run("squeue", "-h", "-a", "-t", "all", "-o", "%T %j")
        assert f"SUSPENDED {live.agent.on_status(1)['batch_name']}" in shown
        live.until(live.all_over, 60)
        rows = live.agent.journal.all_tasks()
        assert mark.read_text().split() == [rows[1].fence, rows[0].fence]
        schedule = recorded(live.grid, live.agent.journal)
        assert schedule.runs().filter(job=1)["state"].to_list() == ["running", "suspended", "running"]
        assert audit(schedule).ok, audit(schedule).faults


@pytest.mark.long
def test_what_an_operator_suspends_is_on_record(clusters: list[SlurmCluster]) -> None:
    """Slurm says to the second when; a job that ran meanwhile had the processors."""
    slurm = clusters[0]
    with folder() as path, running(alone(path, slurm)) as live:
        live.agent.on_submit(short(4, 60, 2).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        time.sleep(1.1)
        name = live.agent.on_status(1)["batch_name"]
        (number,) = slurm.run("squeue", "-h", "-n", name, "-o", "%i").split()
        slurm.run("scontrol", "suspend", number)
        live.until(lambda: live.agent.on_status(1)["state"] == "suspended")
        live.agent.on_submit(short(1.5, 60, 2).as_json())
        live.until(lambda: live.agent.on_status(2)["state"] == "done")
        time.sleep(1.1)
        slurm.run("scontrol", "resume", number)
        live.until(live.all_over, 60)
        schedule = recorded(live.grid, live.agent.journal)
        states = schedule.runs().filter(job=1)["state"].to_list()
        assert states == ["running", "suspended", "running"]
        assert audit(schedule).ok, audit(schedule).faults


@pytest.mark.long
def test_a_running_job_is_redirected_on_slurm(clusters: list[SlurmCluster]) -> None:
    # One processor in each group; 1 runs, 2 waits for it and its like; theta = 0 sends the one in the way on.
    # The processors are those of the cluster: what is stopped for a newcomer has room to start again.
    policy = "redirection(theta=0, group=1, filter=none)"
    with folder() as path, running(alone(path, clusters[2], policy, steer=True)) as live:
        mark = path / "m"
        live.agent.on_submit(short(3, 60, 1, mark).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        live.agent.on_submit(short(0.2, 60, 1, mark).as_json())
        live.until(live.all_over, 60)
        (server,) = live.servers
        assert isinstance(server, SteeredServer)
        first = server.queue.named(live.agent.on_status(1)["batch_name"])
        assert first is not None and (first.runs, first.pool) == (1, 1)
        keys = [row.fence for row in live.agent.journal.all_tasks()]
        assert Counter(mark.read_text().split()) == Counter([keys[1], f"{keys[0]}+1"])
        assert audit(recorded(live.grid, live.agent.journal)).ok


@pytest.mark.long
def test_a_shadow_watches_and_changes_nothing(live: InProcess, clusters: list[SlurmCluster]) -> None:
    slurm, site = clusters[0], live.grid.site("bordeaux")
    shadow = Shadow(live.grid, site, [parse_spec("easy"), parse_spec("conservative")])
    lines = [json.dumps(shadow.look())]
    for procs in (4, 4, 1):
        slurm.run(
            "sbatch", "--parsable", f"--ntasks={procs}", "--time=1", "--output=/dev/null", "--wrap=sleep 1"
        )
    end = time.monotonic() + 40
    while not lines or sum(len(json.loads(line)["slurm"]) for line in lines) < 3:
        assert time.monotonic() < end
        lines.append(json.dumps(shadow.look()))
        time.sleep(0.3)
    compared = compare(lines, Path("x.jsonl"))
    assert [each.policy for each in compared] == ["easy", "conservative"]
    for each in compared:
        assert each.jobs == 3 and each.earlier + each.same + each.later == 3
        assert each.earlier + each.same >= 2  # Slurm starts nothing before the policy would


def test_no_controller_is_no_answer(live: InProcess) -> None:
    server = live.servers[0]
    assert isinstance(server, SlurmServer)
    nobody = live.grid.file.parent / "slurm.conf"
    text = Path(server.slurm.env["SLURM_CONF"]).read_text()
    nobody.write_text(re.sub("SlurmctldPort=.*", f"SlurmctldPort={free_port()}", text))
    server.slurm.env["SLURM_CONF"] = str(nobody)
    server.slurm.timeout = 1.0  # by itself squeue takes nine seconds to give up
    with pytest.raises(NoAnswer, match=r"bordeaux.*not answer"):
        server.handle("poll", {"names": ["x"]})


def test_the_queue_is_read_in_the_order_of_slurm() -> None:
    text = (
        "7|PENDING|4|N/A|N/A|1:00|JobHeldUser|0|1700000000|main|ada||||hw-a|b\n"
        "8|PENDING|2|N/A|N/A|2:00:00|Priority|10|1700000001|main|ada|(null)|N/A||late\n"
        "9|PENDING|2|N/A|N/A|1-00:00:00|Resources|20|1700000002|main|bob|phys|high||first\n"
        "5|RUNNING|3|1700000000|1700000060|UNLIMITED|None|9|1699999999|main|bob|phys|normal|n[1-3]|runs\n"
        "6|NODE_FAIL|3|1700000000|1700000060|1:00|None|9|1699999999|main|bob||||gone\n"
    )
    jobs = parse_queue(text.splitlines())
    assert [job.name for job in in_order(jobs)] == ["first", "late", "hw-a|b"]
    assert [job.state for job in jobs] == ["held", "waiting", "waiting", "running", "failed"]
    assert [(job.account, job.qos) for job in jobs[1:4]] == [("", ""), ("phys", "high"), ("phys", "normal")]
    assert jobs[1].limit == 7200 * SECOND and jobs[3].start == 1700000000 * SECOND
