"""Every input is read once, forward: a pipe gives what a file gives, and a short read is said."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import headway
from commands import Headway
from headway.errors import InputError
from headway.schedule.csv_table import CsvTable
from headway.workload import read_annotations
from headway.workload.anonymise import anonymise
from headway.workload.stream import LogStream

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")

LINE = "{0} {0} -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n"
LOG = ("; MaxProcs: 4\n" + "".join(LINE.format(job) for job in range(1, 4001))).encode()
"""Longer than what is looked at to find the format, and than what a pipe holds."""

SACCT = b"JobID|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS\n" + b"".join(
    b"%d|ann|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|60|5|2\n" % job
    for job in range(1, 1001)
)
BATSIM = (
    b'{"nb_res": 4, "jobs": ['
    + b", ".join(
        b'{"id": %d, "subtime": 0, "walltime": 9, "res": 1, "profile": "p"}' % n for n in range(2000)
    )
    + b'], "profiles": {"p": {"type": "delay", "delay": 5}}}'
)
LOGS = {"swf": LOG, "swf.gz": gzip.compress(LOG), "sacct": SACCT, "batsim": BATSIM}


@contextmanager
def pipe(folder: Path, content: bytes) -> Iterator[Path]:
    """A named pipe through which some bytes come once."""
    path = folder / "pipe"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as file:
            for start in range(0, len(content), 5000):
                file.write(content[start : start + 5000])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield path
    writer.join(timeout=20)
    assert not writer.is_alive()


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_from_a_pipe_is_the_log(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "log"
    file.write_bytes(LOGS[kind])
    from_file = headway.read(file)
    with pipe(tmp_path, LOGS[kind]) as path:
        from_pipe = headway.read(path)
    assert len(from_pipe) == len(from_file)
    assert from_pipe.source.sha256 == from_file.source.sha256
    for name, column in from_file.columns.items():
        assert (from_pipe.columns[name] == column).all()


def test_other_inputs_may_be_pipes_too(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(LOG)
    workload = headway.read(tmp_path / "log")
    with pipe(tmp_path, b"job,urgent\n" + b"".join(b"%d,1\n" % job for job in range(1, 4001))) as path:
        assert read_annotations(workload, path).urgent.all()
    path.unlink()
    with pipe(tmp_path, b'[[cluster]]\nname = "a"\nprocs = 4\n') as path:
        assert headway.Platform.load(path).clusters[0].procs == 4
    path.unlink()
    with pipe(tmp_path, b"job,start\n" + b"1,2\n" * 20_000 + b"x,2\n") as path:
        table = CsvTable(path, ("job", "start"))
        with pytest.raises(InputError, match=":20002: job"):
            table.integers("job")
    path.unlink()
    with pipe(tmp_path, LOG) as path:
        assert anonymise(path, tmp_path / "given.swf").lines == 4000


def test_what_must_be_read_twice_is_refused_from_a_pipe(tmp_path: Path, run: Headway) -> None:
    os.mkfifo(tmp_path / "fifo.py")
    run.write("log", LOG)
    for words in (("simulate", "log", "--policy", "./fifo.py:Mine"), ("datasets", "add", "fifo.py", "mine")):
        told = run(*words)
        assert told.status == 2 and "regular file" in told.err


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))
    return Headway(tmp_path, capsys, monkeypatch)


def test_standard_input_is_given_once(tmp_path: Path, run: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG)))
    told = run("simulate", "-", "--policy", "fcfs", "--annotations", "-")
    assert told.status == 2 and "once only" in told.err
    monkeypatch.setattr(sys, "stdin", None)
    told = run("inspect", "-")
    assert told.status == 2 and "standard input is closed" in told.err


def test_a_file_that_is_cut_while_it_is_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LOG * 20)
    parts = LogStream(path).parts()
    next(parts)
    os.truncate(path, 100)
    with pytest.raises(InputError, match=r"ended after \d+ of \d+ bytes"):
        list(parts)


def test_what_has_no_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, run: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device, or a pipe that never closes; a workload of Batsim's that unpacks to more and more."""
    monkeypatch.setattr("headway.documents.MOST", 1 << 20)
    monkeypatch.setattr("headway.documents.read_bytes.__defaults__", (1 << 20,))
    monkeypatch.setattr("headway.schedule.csv_table.LONGEST_PIPE", 1 << 20)
    monkeypatch.setattr("headway.batsim.exchange.LONGEST_RECORD", 1 << 20)
    monkeypatch.setattr("headway.cli.live.LONGEST_LINE", 1 << 20)
    run.write("log.swf", LOG)
    for kind in ("toml", "csv", "txt", "jsonl", "npz"):
        (run.folder / f"zero.{kind}").symlink_to("/dev/zero")
    for words in (
        "simulate log.swf --policy fcfs --platform zero.toml", "sweep zero.toml", "live record zero.toml",
        "audit zero.csv --trace log.swf", "what-if log.swf --variants zero.txt",
        "batsim log.swf --procs 4 --replay zero.jsonl", "shadow zero.jsonl",
        "submit --walltime 5 --script zero.txt", "simulate log.swf --policy zero.npz",
    ):  # fmt: skip
        done = run(*words.split())
        wanted = "is not a record" if "shadow" in words else "MiB, which is too much; is it the right file?"
        assert done.status == 2 and wanted in done.err, done.err


@pytest.mark.parametrize(
    "data", [gzip.compress(BATSIM)[:200], gzip.compress(BATSIM)[:-5] + b"12345", b"\x1f\x8b\x08"]
)
def test_a_damaged_workload_of_batsim(run: Headway, data: bytes) -> None:
    run.write("work.json.gz", data)
    done = run("batsim", "run", "work.json.gz", "--procs", "4", "--replay", "none.jsonl")
    assert done.status == 2 and done.err.count("\n") == 1, done.err
