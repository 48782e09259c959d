"""Kernels that are built beforehand: what it takes to build them, what a first use takes then, and how
fast those for any processor are against those for this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import headway
from benchmarks.commands import timed
from benchmarks.rates import Row
from headway.jit import cache
from headway.policies.catalogue import POLICIES

ROOT = Path(__file__).parents[1]
SOURCES = ("jit/*.py", "cli/cache.py", "cli/forms.py")
"""What compiles and keeps kernels."""
LOG = "; MaxProcs: 8\n" + "".join(f"{n} {n} -1 9 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n" for n in range(1, 9))

FIRST = """
import sys
from headway.cli import forms
from headway.errors import HeadwayError
from headway.jit import cache
for workload, platform in forms.situations():
    try:
        forms.simulate(sys.argv[1], workload, platform)
        break
    except HeadwayError:
        continue
assert not cache.compiled, cache.compiled
"""
"""A policy's first simulation, on the first kind of machine that it knows."""

RUNS = """
import sys, time
import headway
from headway.workload.models import lublin
log = lublin(jobs=int(sys.argv[2]), procs=256, load=0.9, seed=1)
best = 1e9
for _ in range(7):
    begin = time.process_time()
    headway.simulate(log, 256, sys.argv[1])
    best = min(best, time.process_time() - begin)
print(best)
"""
AGAINST = ("fcfs", "easy", "easy(depth=all)", "conservative", "redirection", "ujfb(swap=30)", "dbf")
"""Policies whose kernels differ most, of those for counted processors."""


def row(what: str, figure: float, unit: str, bar: float) -> Row:
    """One line of the table; the figure should be at most the bar."""
    return {"what": what, "figure": round(figure, 2), "unit": unit, "bar": bar}


def all_of_them(quick: bool) -> Iterator[Row]:
    """What is built beforehand, and what it spares."""
    compile_dir(Path(headway.__file__).parent, quiet=2)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        yield from first_uses(folder, list(POLICIES)[:2] if quick else [*POLICIES])
        if not quick:
            yield from built_whole(folder)
        yield from against_native(folder, AGAINST[:1] if quick else AGAINST)
    texts = [path.read_text("utf-8") for each in SOURCES for path in (ROOT / "src/headway").glob(each)]
    yield row("what compiles and keeps kernels", sum(text.count("\n") for text in texts), "lines", 1_400)


def first_uses(folder: Path, policies: list[str]) -> Iterator[Row]:
    """Commands where nothing is kept but what came with the package; none of them compiles anything."""
    (folder / "log.swf").write_text(LOG)
    begin = [sys.executable, "-m", "headway"]
    simulate = [*begin, "simulate", str(folder / "log.swf"), "--policy", "easy", "--quiet"]
    for what, command, bar in (("help", [*begin, "--help"], 0.3), ("simulate of 8 jobs", simulate, 0.9)):
        least = min(timed(command, folder / "cache")[1] for _ in range(5))
        yield row(f"headway {what}, warm", least, "CPU s", bar)
    for policy in policies:
        first = [sys.executable, "-c", FIRST, policy]
        if policy != "agent":
            yield row(f"first simulation, {policy}", timed(first, folder / "cache")[1], "CPU s", 3)
    site = str(folder / "fjord")
    timed([*begin, "site", "example", site], folder / "cache")
    for words in (["replay", site], ["what-if", site, "nodes=+10%"]):
        spent = timed([*begin, *words], folder / "cache")[1]
        yield row(f"first {words[0]} on the example site", spent, "CPU s", 8)
    assert not list((folder / "cache").rglob(f"*{cache.SUFFIX}")), "something was compiled"


def built_whole(folder: Path) -> Iterator[Row]:
    """All kernels from nothing; then a fresh clone, whose packages are where pip keeps them."""
    package = folder / "package" / "headway"
    shutil.copytree(Path(headway.__file__).parent, package, ignore=shutil.ignore_patterns("built"))
    warm = [sys.executable, "-m", "headway", "cache", "warm", "all", "--built"]
    yield row("make kernels", timed(["env", f"PYTHONPATH={package.parent}", *warm])[0], "s wall", 240)
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    demo = ["make", "--directory", str(clone), "demo"]
    yield row("make demo in a fresh clone", timed(demo, folder / "demo")[0], "s wall", 60)


def against_native(folder: Path, policies: tuple[str, ...]) -> Iterator[Row]:
    """What kernels for any processor take in place of such for this one: CPU time, in turns."""
    from llvmlite import binding

    native = {"NUMBA_CPU_NAME": str(binding.get_host_cpu_name())}
    for policy in policies:
        jobs = 2_000 if policy.startswith(("dbf", "ujfb")) else 20_000
        command = [sys.executable, "-c", RUNS, policy, str(jobs)]
        best: dict[str, list[float]] = {"generic": [], "native": []}
        for _ in range(3):
            for kind, settings in (("generic", {"NUMBA_CPU_NAME": "generic"}), ("native", native)):
                given = os.environ | settings | {"HEADWAY_CACHE_DIR": str(folder / kind)}
                done = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
                best[kind].append(float(done.stdout))
        generic, here = min(best["generic"]), min(best["native"])
        yield row(f"generic against native, {policy}", generic / here, "times the CPU time", 1.05)
