"""The first simulation on a machine runs interpreted while its kernels are compiled; the answers agree."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from commands import Headway
from headway.cli import first_use
from headway.jit import cache as jit_cache
from headway.policies.spec import parse_spec

LOG = "; MaxProcs: 4\n" + "".join(
    f"{job} {job} -1 {5 + job % 7} {1 + job % 4} -1 -1 {1 + job % 4} 20 -1 1 1 1 -1 1 -1 -1 -1\n"
    for job in range(1, 41)
)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log, on a machine where nothing was compiled, in a process that has not begun to."""
    monkeypatch.delenv(first_use.OFF, raising=False)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.delitem(sys.modules, "headway.jit.kernels", raising=False)
    monkeypatch.setenv("HEADWAY_CACHE_DIR", str(tmp_path / "cache"))
    jit_cache.keeping.cache_clear()
    (tmp_path / "log.swf").write_text(LOG)
    return tmp_path / "log.swf"


def is_first(log: Path | str, policy: str = "easy", jobs: int = 40) -> bool:
    try:
        return first_use.is_first_use(parse_spec(policy), str(log), jobs)
    finally:
        jit_cache.keeping.cache_clear()


def test_only_the_first_short_run_of_a_simple_policy_is_interpreted(fresh: Path) -> None:
    assert is_first(fresh) and is_first(fresh, "sjf") and is_first(fresh, jobs=30_000)
    assert not is_first(fresh, jobs=30_001)
    assert not is_first(fresh, "dbf")  # too long without its kernels
    assert not is_first("-")  # could not be read again
    kept = jit_cache.keeping().folder
    assert kept is not None
    (kept / "easy.nbi").write_bytes(b"")
    assert not is_first(fresh)


@pytest.mark.parametrize(("name", "value"), [(first_use.OFF, "compile"), ("NUMBA_DISABLE_JIT", "1")])
def test_it_can_be_switched_off(fresh: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert not is_first(fresh)


@pytest.mark.parametrize(("status", "anew"), [(0, True), (1, False), (None, False)])
def test_the_command_begins_anew_when_the_kernels_are_there_first(
    monkeypatch: pytest.MonkeyPatch, status: int | None, anew: bool
) -> None:
    begun: list[Any] = []
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    environment = os.environ
    monkeypatch.setattr(os, "execv", lambda *words: begun.append((words, "NUMBA_DISABLE_JIT" in environment)))
    compiling = SimpleNamespace(poll=lambda: status, returncode=status)
    done = Event()
    if status is None:
        done.set()  # what was interpreted is ready
    first_use.begin_anew_when_compiled(cast(Any, compiling), done)
    assert begun == ([((sys.executable, sys.orig_argv), False)] if anew else [])


@pytest.mark.parametrize(
    ("processors", "seconds", "begun"), [(4, 60.0, True), (2, 0.0, True), (2, 60.0, False)]
)
def test_compiling_waits_where_it_would_slow_down_the_run(
    monkeypatch: pytest.MonkeyPatch, processors: int, seconds: float, begun: bool
) -> None:
    monkeypatch.setattr(first_use, "cores", lambda: processors)
    monkeypatch.setattr(first_use, "HEAD_START", seconds)
    monkeypatch.setattr(first_use, "compile_beside", lambda spec: "compiling")
    watched: list[Any] = []
    monkeypatch.setattr(first_use, "begin_anew_when_compiled", lambda *given: watched.append(given[0]))
    done, has_begun = Event(), Event()
    if not begun:
        done.set()  # what was interpreted is ready
    first_use.watch(parse_spec("easy"), done, has_begun)
    assert (has_begun.is_set(), watched) == (begun, ["compiling"] * begun)


@pytest.mark.parametrize("fails", [False, True])
def test_a_run_that_was_ready_first_leaves_its_kernels_to_a_compiler(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(first_use, "cores", lambda: 2)
    compiled: list[str] = []
    monkeypatch.setattr(first_use, "compile_beside", lambda spec: compiled.append(spec.name))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "")
    display = cast(Any, SimpleNamespace(say=lambda words: None))
    meanwhile = first_use.interpreted_meanwhile(parse_spec("easy"), str(fresh), 40, display)
    with pytest.raises(ZeroDivisionError) if fails else nullcontext(), meanwhile:
        assert os.environ["NUMBA_DISABLE_JIT"] == "1" and compiled == []
        assert 1 // (not fails)
    jit_cache.keeping.cache_clear()
    assert compiled == ([] if fails else ["easy"])


@pytest.mark.long
def test_what_is_interpreted_is_the_same_and_leaves_the_kernels_to_a_compiler(fresh: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def simulate(out: str, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "headway", "simulate", str(fresh), "--policy", "fcfs", "--out", out],
            env=environment | more, cwd=fresh.parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stderr

    assert "first use" in simulate("one")
    assert "first use" not in simulate("two", NUMBA_DISABLE_JIT="1")
    one, two = ((fresh.parent / name / "schedule.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    # The compiler goes on by itself: whoever comes next waits for it, or is interpreted like the first.
    assert simulate("three", HEADWAY_FIRST_USE="compile") is not None
    assert (fresh.parent / "three" / "schedule.csv").read_bytes() == one
    assert [*(fresh.parent / "cache").rglob("*.nbi")]


def test_a_site_has_slurms_rules_compiled_while_people_read(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, run: Headway
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(first_use, "compile_beside", lambda spec: begun.append(spec.name))
    site = str(fresh.parent / "fjord")
    try:
        run("site", "example", str(fresh.parent / "quiet"), "--quiet")
        run("site", str(fresh.parent / "quiet"), "--json")
        assert begun == []  # nobody would be told
        told = run("site", "example", site)
        assert "slurm is being compiled" in told.err and begun == ["slurm"]
        run("site", "export")  # on a login node nobody simulates
        assert begun == ["slurm"]
        kept = jit_cache.keeping().folder
        assert kept is not None
        (kept / "slurm.slurm-330.py311.nbi").write_bytes(b"")
        assert "compiled" not in run("site", site).err and begun == ["slurm"]
        monkeypatch.setenv(first_use.OFF, "compile")
        (kept / "slurm.slurm-330.py311.nbi").unlink()
        assert "compiled" not in run("site", site).err and begun == ["slurm"]
    finally:
        jit_cache.keeping.cache_clear()
