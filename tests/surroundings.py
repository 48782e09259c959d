"""What a reader of the documentation has and a test has not: Slurm, a network, a Dask cluster.

`tests/stand_ins` holds the programs that stand in for those of a cluster. Addresses on the network lead to a
server on this machine, and the scheduler that pages call tcp://scheduler:8786 is one on this machine.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.request import Request, urlopen

from headway.workload.datasets.registry import DATASETS

ROOT = Path(__file__).parents[1]
STAND_INS = Path(__file__).parent / "stand_ins"
SCHEDULER = "tcp://scheduler:8786"
TRACE = b"; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n"
"""What lies at https://example.org/trace.swf; the page that gets it has its checksum."""

# In a process of its own, which ends when its input does: a cluster leaves threads and warnings behind.
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


class Surroundings:
    """Everything a page may call; what is costly is begun when it is first asked for."""

    def __init__(self, log: bytes) -> None:
        self._log = log
        self._ending = contextlib.ExitStack()
        self.notes = Path(self._ending.enter_context(tempfile.TemporaryDirectory()))
        self._scheduler = ""

    def __enter__(self) -> Surroundings:
        # Names that other tests may have bound keep the real one: only downloads go elsewhere.
        place = "headway.workload.datasets.download.urlopen"
        self._ending.enter_context(mock.patch(place, self._urlopen))
        # The archive's logs are all the same small one here, and have its checksum.
        packed = hashlib.sha256(gzip.compress(self._log, mtime=0)).hexdigest()
        small = {name: replace(entry, sha256=packed) for name, entry in DATASETS.items()}
        self._ending.enter_context(mock.patch.dict(DATASETS, small))
        return self

    def __exit__(self, *_: object) -> None:
        self._end_jobs()
        self._ending.close()

    @property
    def environment(self) -> dict[str, str]:
        """For commands: the stand-ins are found first, and know what they stand for."""
        path = os.environ.get("PATH", os.defpath)
        return os.environ | {
            "PATH": f"{STAND_INS}{os.pathsep}{path}",
            "REAL_PATH": path,
            "PYTHON_UNDER_TEST": sys.executable,
            "STAND_IN_NOTES": str(self.notes),
            "PROJECT": str(ROOT),
        }

    def here(self, command: str) -> str:
        """A command with the addresses of this machine in the place of the page's."""
        if SCHEDULER in command and not self._scheduler:
            self._scheduler = self._ending.enter_context(_cluster(self.notes))
        return command.replace(SCHEDULER, self._scheduler) if self._scheduler else command

    def _urlopen(self, request: Request, **options: Any) -> Any:
        if not hasattr(self, "_server"):
            served = {"example.org/trace.swf": TRACE}
            self._server = self._ending.enter_context(_server(served, gzip.compress(self._log, mtime=0)))
        request.full_url = f"{self._server}/{request.full_url.partition('://')[2]}"
        return urlopen(request, timeout=30)

    def _end_jobs(self) -> None:
        """What was submitted and was not cancelled."""
        jobs = self.notes / "jobs"
        for line in jobs.read_text().split() if jobs.exists() else []:
            if line.isdigit():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(int(line), signal.SIGKILL)


@contextlib.contextmanager
def _server(served: dict[str, bytes], otherwise: bytes) -> Iterator[str]:
    """A server of files by host and path; every other log of the archive is the same small one."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            body = served.get(name, otherwise if name.endswith(".swf.gz") else None)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """The address of the scheduler of a Dask cluster with one worker."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate(timeout=60)
