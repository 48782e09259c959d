"""Real Slurm clusters on this machine, side by side on loopback, for tests. They skip where it is not there.

Debian's packages slurmctld, slurmd, slurm-client and munge; no systemd, no accounting database. Daemons run
as root, under the names by which they know themselves.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = ("slurmctld", "slurmd", "squeue", "sbatch", "munged")
CONF = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge},cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
KillWait=1
MpiDefault=none
MailProg=/bin/true
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd_port} CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def skip_without_slurm() -> None:
    """Skip with the reason where Slurm cannot run."""
    missing = [name for name in PROGRAMS if _found(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed; install Debian's slurmctld slurmd slurm-client munge")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons need root here")


def _found(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class SlurmCluster:
    """One controller and one node."""

    def __init__(self, folder: Path, name: str, cpus: int, munge: Path) -> None:
        self.folder, self.name, self.cpus = folder, name, cpus
        self.conf = folder / "slurm.conf"
        (folder / "state").mkdir(parents=True)
        (folder / f"spool-{name}0").mkdir()
        text = CONF.format(
            name=name, host=socket.gethostname(), port=free_port(), slurmd_port=free_port(), folder=folder,
            munge=munge, nodes=f"{name}0", cpus=cpus,
        )  # fmt: skip
        self.conf.write_text(text, "utf-8")
        self.env = {**os.environ, "SLURM_CONF": str(self.conf)}
        self.controller: subprocess.Popen[bytes] | None = None
        self.node: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.start_controller()
        slurmd = [str(_found("slurmd")), "-D", "-N", f"{self.name}0", "-f", str(self.conf)]
        self.node = self._daemon(slurmd)

    def start_controller(self) -> None:
        self.controller = self._daemon([str(_found("slurmctld")), "-D", "-f", str(self.conf)])

    def _daemon(self, words: list[str]) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            words, env=self.env, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )

    def kill_controller(self) -> None:
        """As by a crash."""
        assert self.controller is not None
        self.controller.send_signal(signal.SIGKILL)
        self.controller.wait()

    def run(self, *words: str) -> str:
        return subprocess.run(
            words, env=self.env, capture_output=True, text=True, timeout=30, check=True
        ).stdout

    def resume(self) -> None:
        """What an operator does with a node that Slurm drained, as for a number that it gave twice."""
        shown = subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=self.env, capture_output=True, text=True, timeout=30
        )
        if "drain" in shown.stdout:
            words = ["scontrol", "update", f"nodename={self.name}0", "state=resume"]
            subprocess.run(words, env=self.env, capture_output=True, timeout=30)

    def wait_until_idle(self, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while True:
            found = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=self.env, capture_output=True, text=True, timeout=30
            )
            if found.stdout.strip() == "idle":
                return
            if time.monotonic() > end:
                log = (self.folder / "slurmctld.log").read_text()[-1500:]
                pytest.skip(f"Slurm does not start here: {found.stdout} {found.stderr} {log}")
            time.sleep(0.3)

    def stop(self) -> None:
        for process in (self.node, self.controller):
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@contextmanager
def slurm_clusters(sizes: Sequence[tuple[str, int]]) -> Iterator[list[SlurmCluster]]:
    """So many clusters (name, CPUs), idle."""
    skip_without_slurm()
    folder = Path(tempfile.mkdtemp(prefix="hwslurm"))
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    munge = folder / "munge.sock"
    files = {"pid": "pid", "log": "log", "seed": "seed"}
    options = [f"--{kind}-file={folder}/munged.{end}" for kind, end in files.items()]
    munged = subprocess.Popen(
        [
            str(_found("munged")),
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={munge}",
            "--num-threads=2",
            *options,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    clusters = [SlurmCluster(folder / name, name, cpus, munge) for name, cpus in sizes]
    try:
        end = time.monotonic() + 20
        while not munge.exists():
            assert time.monotonic() < end and munged.poll() is None, (folder / "munged.log").read_text()
            time.sleep(0.05)
        for cluster in clusters:
            cluster.start()
        for cluster in clusters:
            cluster.wait_until_idle()
        yield clusters
    finally:
        for cluster in clusters:
            cluster.stop()
        munged.terminate()
        munged.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
