"""A wheel or an sdist in an environment where nothing else is installed, as a newcomer would have it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

MODEL = "lublin(jobs=500, procs=64, load=0.9, estimates=tsafrir, seed=1)"
POLICIES = ("fcfs", "easy(backfill=sjf)", "conservative")


@dataclass(frozen=True)
class Trial:
    """The interpreter, seconds of installing and of the demonstration, and a digest of the schedules."""

    python: str
    installed: float
    shown: float
    digest: str


def run(command: list[str | Path], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Standard output of a command that must end well."""
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        words = " ".join(str(word) for word in command)
        raise SystemExit(f"{words}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def trial(python: str, package: Path, version: str, folder: Path) -> Trial:
    """Install `package` for one interpreter and use it; stops with the command that failed."""
    folder.mkdir(parents=True)
    run([python, "-m", "venv", folder / "env"], folder)
    bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    begin = time.perf_counter()
    run([bin / "python", "-m", "pip", "--disable-pip-version-check", "install", "--only-binary", ":all:",
         "--no-binary", "headway", package], folder)  # fmt: skip
    installed = time.perf_counter() - begin
    # Nothing of the checkout, of other environments or of earlier kernels may be found.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
    clean |= {"HEADWAY_CACHE_DIR": str(folder / "cache"), "HEADWAY_DATA_DIR": str(folder / "data")}
    headway = bin / "headway"

    said = run([headway, "--version"], folder, clean).strip()
    expect(said == f"headway {version}", f"--version says {said!r}")
    begin = time.perf_counter()
    run([headway, "demo"], folder, clean)
    shown = time.perf_counter() - begin
    expect((folder / "headway-demo.png").stat().st_size > 10_000, "the demonstration drew no picture")

    run([headway, "generate", MODEL, "-o", "log.swf"], folder, clean)
    compared = [word for policy in POLICIES for word in ("--policy", policy)]
    run([headway, "compare", "log.swf", *compared, "--out", "runs"], folder, clean)
    run([headway, "audit", "runs"], folder, clean)
    run([headway, "plot", "runs", "--kind", "gantt", "-o", "gantt.svg"], folder, clean)
    run([headway, "report", "runs", "-o", "report.html"], folder, clean)
    digest = hashlib.sha256()
    results = sorted((folder / "runs").glob("*/run.json"))
    expect(len(results) == len(POLICIES), "a policy has no folder")
    for result in results:
        provenance = json.loads(result.read_text(encoding="utf-8"))
        expect(provenance["version"] == version, f"{result} says version {provenance['version']}")
        digest.update((result.parent / "schedule.csv").read_bytes())
    name = run([bin / "python", "-c", "import platform; print(platform.python_version())"], folder).strip()
    return Trial(name, installed, shown, digest.hexdigest()[:16])


def expect(true: bool, otherwise: str) -> None:
    """Stop with a sentence."""
    if not true:
        raise SystemExit(otherwise)
