"""Where `ulimit -v` leaves too little memory a command ends, with one sentence, whatever its libraries do."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli import limits
from small_schedules import schedule

SENTENCE = "headway: there is not enough memory for this run; 'ulimit -v' allows {} kB, most logs need {}"
LOG = "".join(f"{job} {job} -1 5 1 -1 -1 1 9 -1 1 1 1 -1 1 -1 -1 -1\n" for job in range(1, 41))
SWEEP = """\
metrics = ["mean_wait"]
[[workload]]
model = "lublin(jobs=8, procs=8, seed={seed})"
[[policy]]
policy = "fcfs"
"""
COMMANDS = {
    "simulate": ("simulate", "log.swf", "--policy", "fcfs", "--out", "out"),
    "report": ("report", "run", "-o", "out.html"),
    "plot": ("plot", "run", "--kind", "gantt", "-o", "out.svg"),
    "sweep": ("sweep", "sweep.toml", "--workers", "2", "--out", "out"),
    "reproduce": ("reproduce", "deadline", "--trace", "kth=log.swf", "--out", "out"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    schedule([(0.0, 2, 10.0, 12.0), (1.0, 3, 5.0, 6.0)], [0, 10], procs=3).save(tmp_path / "run")
    (tmp_path / "log.swf").write_text(f"; MaxProcs: 4\n{LOG}")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


def limited(
    words: tuple[str, ...], folder: Path, kilobytes: int, before: str = "pass", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that may have so much address space; it must end by itself."""
    most = (kilobytes * 1024, kilobytes * 1024)
    return subprocess.run(
        [sys.executable, "-c", f"from headway.cli import limits, main; {before}; main()", *words],
        capture_output=True, text=True, cwd=folder, timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, most),
    )  # fmt: skip


def ended_with_the_sentence(done: subprocess.CompletedProcess[str], folder: Path, kilobytes: int) -> bool:
    """False where the memory was enough; a command that ended otherwise fails the test."""
    if done.returncode == 0:
        return False
    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("<jemalloc>")]
    assert said[-1] == SENTENCE.format(kilobytes, 2000000)
    assert "Traceback" not in done.stderr
    return True


def test_too_little_memory_is_said_in_a_sentence(place: Path) -> None:
    """While libraries are loaded; what happens while kernels are compiled depends on chance, and is below."""
    compiled = {"NUMBA_DISABLE_JIT": "0"}
    for kilobytes in (150_000, 250_000):
        done = limited(COMMANDS["simulate"], place, kilobytes, **compiled)
        if not ended_with_the_sentence(done, place, kilobytes):
            break
        assert not (place / "out").exists()
    assert kilobytes > 150_000


def test_an_error_that_came_of_too_little_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "limit", lambda: 1 << 30)
    try:
        try:
            raise MemoryError
        except MemoryError:
            raise TypeError("'frame' object is not callable") from None
    except TypeError as error:
        assert limits.is_of_the_limit(error)
    assert not limits.is_of_the_limit(TypeError("of another kind"))


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not tell what a thread does")
def test_a_library_that_asks_for_ever_is_ended(place: Path) -> None:
    """Random numbers stand for memory: time in the system without a page or a byte to show for it."""
    (place / "mine.py").write_text("import os\nwhile True:\n    os.getrandom(1 << 15)\n")
    words = ("simulate", "log.swf", "--policy", "strict(order=./mine.py:key)")
    done = limited(words, place, 4_000_000, "limits.PATIENCE = 0.2", NUMBA_DISABLE_JIT="1")
    assert ended_with_the_sentence(done, place, 4_000_000)


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_every_limit_ends_in_order(place: Path, command: str) -> None:
    """From what Python itself needs to what suffices: a sentence or a run each, and in the end a run."""
    refused = []
    for kilobytes in (*range(60_000, 900_000, 60_000), 1_200_000, 1_600_000, 2_000_000, 4_000_000):
        done = limited(COMMANDS[command], place, kilobytes)
        if ended_with_the_sentence(done, place, kilobytes):
            refused.append(kilobytes)
        for made in place.glob("out*"):
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert done.returncode == 0 and len(refused) > 3, refused
