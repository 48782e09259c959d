"""``headway when --live``: the present queue of a real Slurm cluster. Skips where Slurm is not installed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from commands import Headway
from headway.live.slurm.commands import Slurm
from headway.workload import Header, Workload, write_swf
from live_grids import cluster, folder, marked, written
from slurm_clusters import SlurmCluster, slurm_clusters

CPUS = 4
DAY = 86_400


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmCluster]:
    with slurm_clusters([("bordeaux", CPUS)]) as [made]:
        yield made


def past(path: Path) -> None:
    """Three weeks until now in which all jobs of this machine ran for a tenth of what they asked for."""
    rng = np.random.default_rng(4)
    jobs, begin = 300, int(time.time()) - 21 * DAY
    walltime = rng.choice([600, 1200, 3600], jobs)
    log = Workload.from_arrays(
        unit="s",
        submit=np.sort(rng.integers(0, 21 * DAY - 7200, jobs)),
        procs=rng.integers(1, CPUS + 1, jobs),
        walltime=walltime,
        runtime=walltime // 10,
        wait=np.zeros(jobs, np.int64),
        header=Header((f"; MaxProcs: {CPUS}", f"; UnixStartTime: {begin}")),
    )
    write_swf(log, path)


def of_site(site: Path, slurm: SlurmCluster) -> Path:
    """The site's folder, as its commands describe it, with one job that has run."""
    site.mkdir()
    for file, what in (("config.txt", "config"), ("partitions.txt", "partition"), ("nodes.txt", "node")):
        (site / file).write_text(slurm.run("scontrol", "show", what))
    began = int(time.time()) - DAY
    names = "JobIDRaw|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS"
    row = f"1|root|main|COMPLETED|{began}|{began}|{began + 60}|60|10|2|2"
    (site / "jobs.txt").write_text(f"{names}\n{row}\n")
    return site


@pytest.mark.long
def test_when_begins_with_the_queue_as_squeue_shows_it(
    slurm: SlurmCluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for procs, minutes in ((4, 10), (3, 20)):
        words = ("sbatch", "--output=/dev/null", f"--ntasks={procs}", f"--time={minutes}")
        slurm.run(*words, "--wrap", "sleep 600")
    end = time.monotonic() + 60
    while slurm.run("squeue", "-h", "-o", "%t").split() != ["PD", "R"] and time.monotonic() < end:
        time.sleep(0.2)
    before = slurm.run("squeue", "-h")
    with folder() as path:
        past(path / "past.swf")
        grid = written(path, cluster("bordeaux", CPUS, kind="slurm", conf=str(slurm.conf)))
        headway = Headway(path, capsys, monkeypatch)
        asked = ("--procs", "2", "--walltime", "10m", "--live", str(grid.file), "--cluster", "bordeaux")
        done = headway("when", "past.swf", *asked, "--draws", "40", "--teachers", "0", "--json")
        assert done.status == 0, done.err
        told = json.loads(done.out)
        site = of_site(path / "site", slurm)
        by_rules = headway("when", site, *asked, "--draws", "10", "--teachers", "0", "--json")
        assert by_rules.status == 0, by_rules.err
        ruled = json.loads(by_rules.out)
    assert (told["running"], told["waiting"]) == (ruled["running"], ruled["waiting"]) == (1, 1)
    assert ruled["policy"].startswith("slurm") and 1680 < ruled["job"]["plan_wait"] <= 1860
    # Everybody asked for ten times too much: the plan says half an hour, the past says a few minutes.
    job = told["job"]
    assert 1740 < job["plan_wait"] <= 1800
    median = job["wait"][job["levels"].index(0.5)]
    assert 0 < median < 900
    assert [line.split()[0] for line in slurm.run("squeue", "-h").splitlines()] == [
        line.split()[0] for line in before.splitlines()
    ], "nothing is changed"


def shown(run: Headway, monkeypatch: pytest.MonkeyPatch, nodes: str, *jobs: str) -> None:
    """A grid with a Slurm of four CPUs, whose queue and nodes are as said."""
    written(run.folder, cluster("little", CPUS, kind="slurm"))
    past(run.folder / "past.swf")

    def answered(_: Slurm, *words: str) -> str:
        return nodes if words[0] == "sinfo" else marked(words, *jobs)

    monkeypatch.setattr(Slurm, "run", answered)


ASKED = ("--live", "grid.toml", "--cluster", "little", "--draws", "20", "--teachers", "0", "--json")
FULL, IDLE = "n1|main*|up|mixed|2/0/0/2", "n2|main*|up|idle|0/2/0/2"
RUNS = "7|RUNNING|2|{0}|N/A|10:00|None|9|{0}|main|ada||||a"
WIDE = "8|PENDING|4|N/A|N/A|10:00|Resources|8|{0}|main|ada||||b"


@pytest.mark.parametrize(("up", "room"), [(f"{FULL}\n{IDLE}", True), (FULL, False)])
def test_nodes_that_are_down_are_no_room(
    run: Headway, monkeypatch: pytest.MonkeyPatch, up: str, room: bool
) -> None:
    """One of two nodes is up, and full: a job starts when the one that runs there ends, not at once."""
    began = int(time.time()) - 1
    shown(run, monkeypatch, f"{up}\nn3|main*|up|down*|0/0/2/2\n", RUNS.format(began))
    done = run("when", "past.swf", "--procs", "2", "--walltime", "10m", *ASKED)
    assert done.status == 0, done.err
    assert (json.loads(done.out)["job"]["wait"][-1] == 0) == room


CONF = """ClusterName=little
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-2] CPUs=2
PartitionName=main Nodes=n[1-2] Default=YES
"""


@pytest.mark.parametrize("away", ["n2|main*|up|down*|0/0/2/2", "n2|main*|up|drained|0/0/2/2", ""])
def test_a_site_has_its_nodes_in_the_states_of_now(
    run: Headway, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    """The export of two days ago tells that n2 was down. A job runs on n1 for ten minutes at most."""
    now = int(time.time())
    runs = f"7|RUNNING|2|{now - 1}|N/A|10:00|None|9|{now - 1}|main|ada|n1|||a"
    shown(run, monkeypatch, f"{FULL}\n{away or IDLE}\n", runs)
    site = run.folder / "site"
    site.mkdir()
    (site / "slurm.conf").write_text(CONF)
    (site / "jobs.txt").write_text(
        "JobIDRaw|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS\n"
        f"1|ada|main|COMPLETED|{now - 3 * DAY}|{now - 3 * DAY}|{now - 2 * DAY}|{DAY}|1440|2|2\n"
    )
    (site / "events.txt").write_text(
        f"NodeName|TimeStart|TimeEnd|State|Reason\nn2|{now - 3 * DAY}|Unknown|DOWN|disk\n"
    )
    done = run("when", site, "--procs", "2", "--walltime", "10m", *ASKED)
    assert done.status == 0, done.err
    job = json.loads(done.out)["job"]
    assert (job["wait"][-1] > 0) == bool(away) and job["plan_wait"] < 700


def test_jobs_wider_than_the_nodes_that_are_up(run: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits for nodes to come back keeps nobody from starting; who asks about one is told so."""
    now = int(time.time())
    shown(run, monkeypatch, "n1|main*|up|idle|0/2/0/2\nn2|main*|up|drained|0/0/2/2\n", WIDE.format(now))
    done = run("when", "past.swf", "--procs", "2", "--walltime", "10m", *ASKED)
    assert done.status == 0 and json.loads(done.out)["job"]["wait"][0] == 0, done.err
    wide = run("when", "past.swf", "--procs", "3", "--walltime", "10m", *ASKED)
    assert (
        wide.status == 2
        and "little has 2 processors on nodes that are up; a job of 3 must wait for others" in wide.err
    )


@pytest.mark.parametrize("half", [("--live", "grid.toml"), ("--cluster", "bordeaux")])
def test_a_grid_and_its_cluster_belong_together(run: Headway, half: tuple[str, str]) -> None:
    done = run("when", "log.swf", "--procs", "2", "--walltime", "10m", *half)
    assert done.err.startswith("headway: --live GRID.toml and --cluster NAME belong together")
    assert done.status == 2
