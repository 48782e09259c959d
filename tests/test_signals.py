"""Ctrl-C and SIGTERM at random instants of every command that compiles or simulates for long.

The command ends soon, with one sentence and the status 130, whatever it is doing; no process of it stays.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import headway
from headway.site.example import write_example
from headway.workload import write_swf
from headway.workload.models import generate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")

SOON = 5
"""Seconds in which a command has ended on an idle machine."""
BUSY = 6
"""How many times as long it may take where other programs run."""

COMMANDS = (
    "simulate log.swf --policy conservative --out new",
    "simulate log.swf --policy fcfs --stream --out new",
    "simulate fjord --policy slurm",
    "compare log.swf --policy easy --policy redirection",
    "sweep sweep.toml --out new --workers 2",
    "reproduce redirection --quick --out new",
    "replay fjord",
    "what-if fjord nodes=-1",
    "when fjord --job-procs 16 --walltime 2h",
    "forecast check log.swf --simulated",
    "audit result",
    "explain result 9000",
    "report result -o new.html",
    "cache warm dbf ujfb --workers 2",
    "policies --check dbf",
)
SWEEP = """\
[[workload]]
trace = "log.swf"
[[policy]]
policy = "easy"
[[policy]]
policy = "conservative"
"""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signals")
    log = generate("lublin(jobs=10000, procs=64, load=0.9, seed=1)")
    write_swf(log, folder / "log.swf")
    headway.simulate(log, 64, "easy").save(folder / "result")
    (folder / "sweep.toml").write_text(SWEEP)
    write_example(folder / "fjord")
    return folder


def processes_of(session: int) -> list[str]:
    """Command lines of the processes of a session that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def catches(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def interrupted(words: list[str], number: int, after: float, cwd: Path, cache: Path | None) -> str:
    """What is wrong with how a command ends that gets a signal so long after it began; mostly nothing."""
    environment = os.environ | {"COLUMNS": "200", "HEADWAY_DATA_DIR": str(cwd / "data")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    if cache is not None:  # for a processor for which no kernel is kept: everything is compiled
        environment |= {"HEADWAY_CACHE_DIR": str(cache), "NUMBA_CPU_NAME": "x86-64"}
    piped = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *words], cwd=cwd, env=environment, text=True,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=piped, stderr=piped,
    ) as running:  # fmt: skip
        while running.poll() is None and not catches(running.pid):
            time.sleep(0.01)
        time.sleep(after)
        at = time.monotonic()
        if running.poll() is None:
            running.send_signal(number)
        try:
            out, err = running.communicate(timeout=SOON * BUSY)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return f"still ran after {SOON * BUSY} s"
        took = time.monotonic() - at
    while (left := processes_of(running.pid)) and time.monotonic() - at < SOON * BUSY:
        time.sleep(0.1)
    if left:
        os.killpg(running.pid, signal.SIGKILL)
        return f"left {left}"
    if running.returncode in (0, 1):
        return ""  # it was done before
    if running.returncode == -number and out.strip() and "Traceback" not in err:
        return ""  # it had given its answer, and Python was leaving
    last = err.splitlines()[-1:] or [""]
    sentence = last[0].startswith("headway: ") and "interrupted" in last[0]
    if running.returncode != 130 or not sentence or "Traceback" in err:
        return f"ended with {running.returncode} after {took:.1f} s: {err[-2000:]}"
    return ""


def tried(command: str, seed: int, compiling: bool, ground: Path, tmp_path: Path) -> None:
    """One signal at one instant, both drawn with a seed."""
    rng = random.Random(f"{command} {seed} {compiling}")
    number = rng.choice((signal.SIGINT, signal.SIGTERM))
    after = rng.choice((0.0, 0.3, 1.0, 3.0, 8.0)) * rng.uniform(0.5, 1.5)
    for path in ground.iterdir():
        (tmp_path / path.name).symlink_to(path)
    cache = tmp_path / "cache" if compiling else None
    wrong = interrupted(command.split(), number, after, tmp_path, cache)
    assert wrong == "", f"{number.name} {after:.2f} s after it began: {wrong}"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_ends_a_command_that_compiles(command: str, ground: Path, tmp_path: Path) -> None:
    tried(command, 1, True, ground, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_ends_a_command_that_simulates(command: str, ground: Path, tmp_path: Path) -> None:
    tried(command, 2, False, ground, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("compiling", [True, False], ids=["compiling", "compiled"])
@pytest.mark.parametrize("seed", range(3, 13))
@pytest.mark.parametrize("command", COMMANDS)
def test_signals_at_many_instants(
    command: str, seed: int, compiling: bool, ground: Path, tmp_path: Path
) -> None:
    tried(command, seed, compiling, ground, tmp_path)
