"""Kill commands at every moment at which they touch the disk, run them again, and compare.

    python tests/kills.py simulate --kills 100

Every run is a process of its own that ends itself with SIGKILL just before its n-th opening, renaming, making
or removing of a file in the folder of results, for n = 0, 1, 2, ... The same command is then run to its end:
its files must have the bytes of an undisturbed run, with no draft beside them. What is there after a kill is
whole: the earlier run, the new one, or nothing that can be read.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # an import changes nothing for others
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars  # noqa: F401  (imported and not used before a fork, because it has threads)

from headway.cli import main

EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.truncate"}
LOG = "".join(
    f"{job} {job} -1 {5 + job % 7} {1 + job % 4} -1 -1 {1 + job % 4} 20 -1 1 {job % 3} 1 -1 1 -1 -1 -1\n"
    for job in range(1, 31)
)
SWEEP = """\
seeds = [1, 2, 3]
metrics = ["mean_wait"]
classes = true
[[workload]]
model = "lublin(jobs=8, procs=8, seed={seed})"
[[policy]]
policy = "fcfs"
[[policy]]
policy = "easy"
"""
COMMANDS = {
    "simulate": ("simulate", "log.swf", "--policy", "easy", "--out", "results/out", "--force", "--quiet"),
    "stream": (
        *("simulate", "log.swf", "--policy", "easy", "--stream"),
        *("--out", "results/out", "--force", "--quiet"),
    ),
    "compare": (
        *("compare", "log.swf", "--policy", "fcfs", "--policy", "easy"),
        *("--out", "results/out", "--quiet"),
    ),
    "report": ("report", "earlier", "-o", "results/out.html", "--force", "--quiet"),
    "plot": ("plot", "earlier", "--kind", "gantt", "-o", "results/out.svg", "--force"),
    "convert": ("convert", "log.swf", "results/out.swf.gz", "--force", "--quiet"),
    "anonymise": ("anonymise", "log.swf", "results/out.swf", "--force", "--quiet"),
    "generate": ("generate", "lublin", "jobs=8", "procs=8", "-o", "results/out.swf", "--force", "--quiet"),
    "what-if": ("what-if", "log.swf", "nodes=+2", "--seeds", "1", "--report", "results/out.html", "--quiet"),
    "forecast": (
        *("forecast", "check", "log.swf", "--simulated", "--jobs", "10", "--draws", "10"),
        *("--out", "results/out", "--force", "--quiet"),
    ),
    "sweep": ("sweep", "sweep.toml", "--workers", "1", "--out", "results/out", "--quiet"),
    "reproduce": ("reproduce", "deadline", "--trace", "kth=log.swf", "--out", "results/out", "--quiet"),
}
GO_ON = ("sweep", "reproduce")
"""Commands that keep what was finished, and go on from where they were killed."""


def forked(words: tuple[str, ...], folder: Path, kill_at: int = -1, told: Path | None = None) -> int:
    """Run a command in a process that kills itself before its n-th event in the folder; its exit code.

    What it imported is `told` in a file, if it is given, so that the next ones need not import it again.
    """
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    status: object = 1
    os.chdir(folder)
    left, place = [kill_at], str(folder / "results")

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS and any(place in os.path.abspath(a) for a in arguments if isinstance(a, str)):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

    if kill_at >= 0:
        sys.addaudithook(hear)
    sys.argv = ["headway", *words]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    finally:
        if told is not None:
            told.write_text("\n".join(name for name in sys.modules if not name.startswith("_")))
        os._exit(status if isinstance(status, int) else 1)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file; without how long a run took, and without locks."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != ".lock":
            data = path.read_bytes()
            if path.name in ("run.json", "runs.json"):
                data = json.dumps(timeless(json.loads(data)), sort_keys=True).encode()
            found[str(path.relative_to(folder))] = data
    return found


def timeless(record: Any) -> Any:
    """A document without how long something took."""
    if isinstance(record, dict):
        return {key: timeless(value) for key, value in record.items() if key not in ("timing", "seconds")}
    return [timeless(value) for value in record] if isinstance(record, list) else record


def readable(words: tuple[str, ...], folder: Path) -> None:
    """What a kill left can be read as a whole, or is refused in a sentence."""
    out = folder / "results" / "out"
    if words[0] == "simulate" and out.exists():
        code = forked(("audit", "results/out"), folder)
        assert code in (0, 2), f"an audit of what was left ended with {code}"


def kills(command: str, most: int) -> tuple[int, int]:
    """Kills, and events that an undisturbed run has."""
    words = COMMANDS[command]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "log.swf").write_text(f"; MaxProcs: 4\n{LOG}")
        (folder / "sweep.toml").write_text(SWEEP)
        assert forked(("simulate", "log.swf", "--policy", "fcfs", "--out", "earlier", "--quiet"), folder) == 0
        (folder / "results").mkdir()
        assert forked(words, folder, told=folder / "modules") == 0
        for name in (folder / "modules").read_text().split("\n"):
            with suppress(ImportError):
                importlib.import_module(name)
        wanted = contents(folder / "results")
        killed = moments = 0
        while killed < most:
            number, before = 0, killed
            while killed < most:
                if command not in GO_ON or number % 7 == 0:
                    shutil.rmtree(folder / "results")
                    (folder / "results").mkdir()
                if command == "simulate":
                    shutil.copytree(folder / "earlier", folder / "results" / "out")
                code = forked(words, folder, number)
                if code == 0:
                    break
                assert code == -signal.SIGKILL, f"{command}: exit code {code} before event {number}"
                killed += 1
                readable(words, folder)
                if command not in GO_ON or number % 7 == 6:
                    ended = forked(words, folder)  # without --force, what is whole already is not replaced
                    assert ended == (0 if "--force" in words or ended == 0 else 2)
                    same = results(contents(folder / "results")) == results(wanted)
                    assert same, f"{command}: other bytes after a kill before event {number}"
                number += 1
                moments = max(moments, number)
            if killed == before:
                break
        return killed, moments


def results(found: dict[str, bytes]) -> dict[str, bytes]:
    """What must be the same: of a sweep the joined table, not the parts that it came in."""
    return {name: data for name, data in found.items() if "/cells/" not in name and "/classes/" not in name}


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("commands", nargs="*", choices=[*COMMANDS, []], default=list(COMMANDS))
    options.add_argument("--kills", type=int, default=100)
    given = options.parse_args()
    for name in given.commands or COMMANDS:
        count, events = kills(name, given.kills)
        told = f"killed {count} times, at each of {events} moments; the bytes are an undisturbed run's"
        print(f"{name}: {told}", flush=True)  # noqa: T201
