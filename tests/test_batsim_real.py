"""Our policies behind Batsim itself, where it is installed: every job starts as ``simulate`` starts it."""

from __future__ import annotations

import csv
import re
import shutil
import socket
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import headway
from headway.workload.batsim import write_batsim
from instances import busy, jobs_in, log_of

pytest.importorskip("zmq", reason="needs the extra batsim")

BATSIM = shutil.which("batsim")
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="machine" routing="Vivaldi">
    <host id="master_host" coordinates="0 0 0" speed="1Gf"/>
    {hosts}
  </zone>
</platform>
"""
"""Hosts at one place, so that messages take no time."""
HOST = '<host id="host{:03}" coordinates="0 0 0" speed="1Gf"/>'
M = 32


def version() -> str:
    """What Batsim calls itself."""
    assert BATSIM is not None
    told = subprocess.run([BATSIM, "--version"], capture_output=True, text=True, timeout=60, check=True)
    return told.stdout.strip()


@pytest.mark.skipif(BATSIM is None, reason="no batsim on PATH")
@pytest.mark.parametrize("policy", ["fcfs", "sjf", "easy", "conservative"])
def test_batsim_itself_starts_every_job_when_simulate_does(policy: str, tmp_path: Path) -> None:
    from headway.cli.batsim import decide

    if not re.match(r"v?[34]\.", version()):
        pytest.skip(f"batsim {version()} speaks another protocol than that of versions 3 and 4")
    # Batsim refuses delays of no length, and takes equal submissions in the order of the ids as strings:
    # with ids of four digits that is the order of the log.
    jobs = [
        replace(job, id=1000 + i, runtime=max(job.runtime, 1_000_000), walltime=max(job.walltime, 1_000_000))
        for i, job in enumerate(jobs_in(busy(300, M, 1.0, seed=11)))
    ]
    log = log_of(jobs)
    write_batsim(log, tmp_path / "log.json")
    hosts = "\n    ".join(HOST.format(i) for i in range(M))
    (tmp_path / "platform.xml").write_text(PLATFORM.format(hosts=hosts), "utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    listening = threading.Thread(target=decide, args=(policy, endpoint, True), daemon=True)
    listening.start()
    command = [str(BATSIM), "-p", "platform.xml", "-w", "log.json", "-s", endpoint, "-e", "out", "-q"]
    subprocess.run(command, cwd=tmp_path, timeout=300, check=True, capture_output=True)
    listening.join(20)
    assert not listening.is_alive()
    with open(tmp_path / "out_jobs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    started = {int(row["job_id"]): round(float(row["starting_time"]) * 1e6) for row in rows}
    simulated = headway.simulate(log, M, policy)
    assert started == {job.id: int(start) for job, start in zip(jobs, simulated.start, strict=True)}
