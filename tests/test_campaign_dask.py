"""A campaign on a real Dask cluster of two workers; at night they are processes, one of which is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import headway
from headway.campaign.on_dask import connected

# In a process of its own: a cluster leaves threads and warnings behind that are not ours.
SCRIPT = """
import os, signal, sys
from distributed import Client, LocalCluster
import headway

def campaign():
    return headway.Campaign(
        "lublin(jobs=40, procs=16, seed={seed})",
        ["fcfs", {"policy": "easy", "grid": {"order": ["fcfs", "sjf"]}}],
        baseline="easy", replications=12, classes=True, schedules=True,
        measures=["slow.py:slow"],
    )

def main(with_a_kill):
    alone = campaign().run("alone", workers=1)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=with_a_kill, dashboard_address=None
    ) as cluster, Client(cluster, set_as_default=False) as client:
        victims = list(client.run(os.getpid).values())
        killed = []
        def kill(progress):
            if with_a_kill and progress.done >= 12 and not killed:
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)
        results = campaign().run("cluster", client=client, progress=kill)
        assert killed or not with_a_kill, "the campaign was over before a worker could be killed"
        assert results.progress.done == 36, results.progress
        again = campaign().run("cluster", client=client)
        assert (again.progress.done, again.progress.skipped) == (0, 36), again.progress
    print("finished")

if __name__ == "__main__":
    main(sys.argv[1] == "True")
"""


@pytest.mark.interpreted
@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_same_bytes_from_dask_also_if_a_worker_is_killed(killed: bool, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (pip install headway[dask])")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "slow.py").write_text(
        "import time\ndef slow(schedule):\n    time.sleep(0.02)\n    return {'slept': 1}\n"
    )
    words = [sys.executable, "script.py", str(killed)]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.stdout.endswith("finished\n"), run.stdout + run.stderr
    alone, cluster = tmp_path / "alone", tmp_path / "cluster"
    assert (alone / "results.parquet").read_bytes() == (cluster / "results.parquet").read_bytes()
    schedules = sorted(path.name for path in (alone / "schedules").iterdir())
    assert schedules == sorted(path.name for path in (cluster / "schedules").iterdir())
    assert len(schedules) == 36
    for name in schedules:
        assert (alone / "schedules" / name).read_bytes() == (cluster / "schedules" / name).read_bytes()


def test_an_address_where_nobody_answers_is_one_sentence() -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (pip install headway[dask])")
    # The address is refused before any connection is tried, so that the test does not wait for a time-out.
    with (
        pytest.raises(headway.UsageError, match="--dask nonsense://x: no Dask scheduler answers"),
        connected("nonsense://x"),
    ):
        pass
