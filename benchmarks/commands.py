"""The command line as a user meets it: help, a warm simulation, the first use on a fresh machine."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import headway
from benchmarks.rates import Row
from headway.workload import write_swf
from headway.workload.models import lublin

Seconds = tuple[float, float]
"""Wall and CPU seconds."""


def run(arguments: list[str], cache: Path | None = None) -> Seconds:
    """The time of one command; with ``cache`` its compiled kernels are kept there."""
    return timed([sys.executable, "-m", "headway", *arguments], cache)


def timed(command: list[str], cache: Path | None = None) -> Seconds:
    """The time of one process."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    if cache is not None:
        environment.pop("NUMBA_CACHE_DIR", None)
        environment["HEADWAY_CACHE_DIR"] = str(cache)
    begin, cpu = time.perf_counter(), cpu_of_children()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin, cpu_of_children() - cpu


WHOLE = """
import sys
import headway
log = headway.read(sys.argv[1])
made = headway.simulate(log, headway.Platform.procs(log.header.max_procs), sys.argv[2])
assert headway.audit(made).ok and made.summary()["jobs"] > 0
"""


def whole(log: Path, policy: str, cache: Path) -> Seconds:
    """The time of one process that reads a log, simulates it, audits it and sums it up."""
    return timed([sys.executable, "-c", WHOLE, str(log), policy], cache)


def cpu_of_children() -> float:
    """CPU seconds of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


COMPILED = (
    *("fcfs", "easy", "conservative", "redirection", "dbf", "ujfb", "lea"),
    *("reallocation", "reallocation(local=dbf)", "slurm"),
)
"""Policies whose kernels differ most."""


def all_compiled(quick: bool) -> Iterator[Row]:
    """What each policy takes on a machine that has compiled nothing; one process, with its start."""
    compile_dir(Path(headway.__file__).parent, quiet=2)
    for policy in COMPILED[:1] if quick else COMPILED:
        with tempfile.TemporaryDirectory() as scratch:
            warmed = run(["cache", "warm", policy, "--workers", "1"], Path(scratch) / "kernels")
        yield line(policy, [warmed])


def line(name: str, runs: list[Seconds]) -> Row:
    """The best of some runs: a busy machine makes the wall time longer, hardly the CPU time."""
    wall, cpu = (min(run[i] for run in runs) for i in range(2))
    return {"command": name, "wall s": round(wall, 3), "CPU s": round(cpu, 3), "best of": len(runs)}


def all_commands(folder: Path | None, quick: bool) -> Iterator[Row]:
    """Every timed command."""
    repeats = 3 if quick else 5
    compile_dir(Path(headway.__file__).parent, quiet=2)
    yield line("headway --help", [run(["--help"]) for _ in range(repeats)])
    with tempfile.TemporaryDirectory() as scratch:
        found = sorted(folder.glob("KTH-SP2*.swf.gz")) if folder else []
        log = found[0] if found else Path(scratch) / "lublin.swf"
        if not found:
            write_swf(lublin(jobs=28_000, seed=1), log)
        for policy in ("easy", "conservative"):
            simulate = ["simulate", str(log), "--policy", policy, "--quiet"]
            cold = Path(scratch) / f"cold {policy}"
            name = f"headway simulate {log.name.partition('.swf')[0]} --policy {policy}"
            yield line(f"{name}, first use (compiles)", [run(simulate, cold)])
            yield line(f"{name}, warm", [run(simulate, cold) for _ in range(repeats)])
            out = Path(scratch) / f"out {policy}"
            yield line(f"{name} --out", [run([*simulate, "--out", str(out)], cold)])
            walks = [whole(log, policy, cold) for _ in range(repeats + 1)][1:]  # the first loads the kernels
            yield line(f"{policy}: read, simulated, audited and summarised, warm", walks)
            run(["audit", str(out), "--quiet"], cold)  # loads its kernels for the first time
            yield line(f"headway audit of {policy}, warm", [run(["audit", str(out), "--quiet"], cold)])
        yield from first_uses(Path(scratch), 500 if quick else 7_500)


def first_uses(scratch: Path, jobs: int) -> Iterator[Row]:
    """The first use of EASY with n, 2 n and 4 n jobs, each with nothing compiled: how its time grows."""
    for n in (1, 2, 4):
        log = scratch / f"first {n}.swf"
        write_swf(lublin(jobs=n * jobs, seed=1), log)
        simulate = ["simulate", str(log), "--policy", "easy", "--quiet"]
        name = f"headway simulate, {n * jobs:,} generated jobs, first use (compiles)"
        yield line(name, [run(simulate, scratch / f"cold {n}")])
