"""Compiled kernels are kept in a folder of the user's alone, or nowhere; others' are not loaded."""

from __future__ import annotations

import ast
import errno
import fcntl
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Headway
from headway.jit import cache as jit_cache
from headway.jit import kernels

KERNEL = """
from headway.jit import kernels

@kernels.entry
def twice(x):
    return 2 * x

print(twice(21), kernels.in_cache(twice), len(kernels.cache.troubles))
"""


def twice(x: Any) -> Any:
    return 2 * x


def hits(compiled: Any) -> int:
    """How often a kernel was taken from what is kept."""
    return sum(compiled.stats.cache_hits.values())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for a cache, which the functions of this process look at anew."""
    monkeypatch.setenv("HEADWAY_CACHE_DIR", str(tmp_path / "cache"))
    jit_cache.keeping.cache_clear()
    yield tmp_path / "cache"
    jit_cache.keeping.cache_clear()


def digest_folder(home: Path) -> Path:
    return home / "headway" / jit_cache.sources_digest()


def test_a_cache_is_made_for_its_user_alone(home: Path) -> None:
    kept = jit_cache.keeping()
    assert kept.folder == digest_folder(home) and not kept.why_not
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    jit_cache.keeping.cache_clear()
    assert jit_cache.keeping() == kept  # found again


def open_to_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def readable(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o755)


def linked(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    (folder.parent / "elsewhere").mkdir(0o700)
    folder.symlink_to("elsewhere")


def under_a_shared_folder(folder: Path) -> None:
    folder.mkdir(0o700, parents=True)
    for shared in (folder.parent, folder.parent.parent):
        shared.chmod(0o777)


def of_another_user(folder: Path) -> None:
    folder.mkdir(0o700, parents=True)
    os.chown(folder, 65534, 65534)


def below_another_user(folder: Path) -> None:
    folder.mkdir(0o700, parents=True)
    os.chown(folder.parent, 65534, 65534)


def with_a_file_of_another_user(folder: Path) -> None:
    folder.mkdir(0o700, parents=True)
    (folder / "planted.nbi").write_bytes(pickle.dumps("code"))
    os.chown(folder / "planted.nbi", 65534, 65534)


PLANTED = [open_to_all, readable, linked, under_a_shared_folder]
PLANTED_BY_OTHERS = [of_another_user, below_another_user, with_a_file_of_another_user]


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")
@pytest.mark.parametrize("plant", PLANTED + PLANTED_BY_OTHERS)
def test_what_others_could_have_put_there_is_not_used(home: Path, plant: Callable[[Path], None]) -> None:
    if plant in PLANTED_BY_OTHERS and os.getuid() != 0:
        pytest.skip("only root can make files of another user")
    home.parent.chmod(0o755)  # else nobody could get below it, and all would be well
    shut = [parent for parent in home.parent.parents if not parent.stat().st_mode & 0o077]
    if shut and plant in (under_a_shared_folder, below_another_user):
        for parent in shut:
            parent.chmod(0o711)
    try:
        plant(digest_folder(home))
        kept = jit_cache.keeping()
    finally:
        for parent in shut:
            parent.chmod(0o700)
    assert kept.folder is None
    assert "HEADWAY_CACHE_DIR" in kept.why_not


def test_nothing_is_looked_for_in_the_temporary_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_text("a file stands where the folder should be")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    digest_folder(tmp_path).mkdir(0o700, parents=True)  # even one that looks like ours
    kept = jit_cache.keeping()
    assert kept.folder is None and str(home) in kept.why_not


def run_kernel(home: Path, code: str = KERNEL) -> str:
    (home.parent / "kernel.py").write_text(code)
    environment = os.environ | {"HEADWAY_CACHE_DIR": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "kernel.py"], env=environment, cwd=home.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_a_cache_kernels_run_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numbas"))  # the user's own, for the user's own code
    home = tmp_path / "cache"
    home.write_text("")
    assert run_kernel(home) == "42 False 0"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cache", "kernel.py"]


compiled = pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")


@pytest.fixture
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where kernels are kept that are made in this test, as a new process would make them."""
    folder = jit_cache.keeping().folder
    assert folder is not None
    monkeypatch.setattr(kernels, "KEPT", folder)
    return folder


def used_anew() -> int:
    """Call a kernel that nobody has called yet in this process: 1 where it is taken from what is kept."""
    made = kernels.entry(twice)
    assert made(21) == 42 and kernels.in_cache(twice)
    return hits(made)


@compiled
def test_kept_code_that_is_damaged_is_made_again(kept: Path) -> None:
    assert used_anew() == 0
    [index] = kept.rglob("*.nbi")
    [code] = kept.rglob("*.nbc")
    for file, content in ((index, index.read_bytes()[:-20]), (code, b"\x80\x05]")):
        file.write_bytes(content)
        assert used_anew() == 0 and not jit_cache.troubles
        assert used_anew() == 1


@compiled
def test_a_kernel_for_a_signature_is_the_one_for_a_call_if_it_returns_nothing(kept: Path) -> None:
    def count(x: Any) -> None:
        x[0] += 1

    int64, float64, void = kernels.types.int64, kernels.types.float64, kernels.types.void
    signed, called = kernels.with_signature(void(int64[::1]))(count), kernels.entry(count)
    numbers = np.zeros(1, np.int64)
    signed(numbers)
    called(numbers)
    assert numbers[0] == 2 and hits(called) == 1
    other, plain = kernels.with_signature(float64(int64))(twice), kernels.entry(twice)
    assert isinstance(other(21), float) and (other(21), plain(21), hits(plain)) == (42.0, 42, 0)


@compiled
def test_a_kernel_that_cannot_be_compiled_waits_for_nobody_when_it_is_tried_again(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noted(jit_cache.Turn):
        PATIENCE = 0.2  # who has to wait goes on soon, and has noted that it waited

        def __init__(self, index: str, signature: str) -> None:
            super().__init__(index, signature)
            waited.append(self.waited)

    @kernels.entry
    def wrong(x: Any) -> Any:
        return x + "text"

    waited: list[bool] = []
    monkeypatch.setattr(jit_cache, "Turn", Noted)
    for _ in range(2):
        with pytest.raises(kernels.numba.TypingError):
            wrong(1)
    assert waited == [False, False]


@compiled
def test_who_compiles_waits_for_another_that_compiles_the_same_kernel(kept: Path) -> None:
    used_anew()
    files = [(path, path.read_bytes()) for path in (*kept.rglob("*.nbi"), *kept.rglob("*.nbc"))]
    [lock] = kept.rglob("*.lock")
    with lock.open("rb+") as held, ThreadPoolExecutor(1) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)  # as a process that compiles
        for path, _ in files:
            path.unlink()
        waiting = pool.submit(used_anew)
        assert not wait([waiting], timeout=3).done
        for path, content in files:
            path.write_bytes(content)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert waiting.result() == 1  # it took what the other one had made


@compiled
def test_a_full_disk_is_named_with_a_remedy_and_the_run_goes_on(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(jit_cache, "troubles", [])
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", full)
    assert kernels.entry(twice)(21) == 42 and not kernels.in_cache(twice)
    [sentence] = jit_cache.troubles
    assert str(kept) in sentence and "No space left" in sentence
    assert "headway cache clear" in sentence and "HEADWAY_CACHE_DIR" in sentence


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    return Headway(tmp_path, capsys, monkeypatch)


def test_the_command_shows_and_clears(home: Path, headway: Headway) -> None:
    other = home / "headway" / "0123456789abcdef"
    other.mkdir(parents=True)
    (other / "a.nbi").write_bytes(b"1")
    (home / "headway" / "notes").mkdir()
    shown = headway("cache")
    assert shown.status == 0 and "of other versions" in shown.out and "in use" in shown.out
    assert str(home) in shown.out and other.name in shown.out
    cleared = headway("cache", "clear")
    assert "1 kernel " in cleared.out
    assert [path.name for path in (home / "headway").iterdir()] == ["notes"]  # nothing else is touched


def test_the_command_names_what_it_takes(headway: Headway) -> None:
    assert "warm and clear" in headway("cache", "fill").err
    assert headway("cache", "clear", "easy").status == 2


def test_there_is_a_machine_to_compile_every_policy_on(home: Path) -> None:
    code = "from headway.cli import main\nimport sys\nsys.argv = ['headway', 'cache', 'warm', 'all']\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env=os.environ | {"HEADWAY_CACHE_DIR": str(home), "PYTHONPATH": os.pathsep.join(sys.path),
                          "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "0 kernels" in done.stdout  # interpreted, so that it is quick


@pytest.mark.long
def test_a_warmed_cache_has_what_a_run_needs(home: Path, headway: Headway) -> None:
    code = "from headway.cli import main\nimport sys\nsys.argv = ['headway', 'cache', 'warm', 'fcfs']\nmain()"
    assert "kernels" in run_kernel(home, code)
    headway.write("log.swf", "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n")
    done = subprocess.run(
        [sys.executable, "-m", "headway", "simulate", "log.swf", "--policy", "fcfs"],
        env=os.environ | {"HEADWAY_CACHE_DIR": str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=True, cwd=headway.folder,
    )  # fmt: skip
    assert "compiling" not in done.stderr


LOADED = """
import sys
import numpy, numba
from headway.engine.profile import clear, new_profile

made = new_profile(1, 4)
clear(made, 0, 5, 8)
print(made.steps[1, 0], sum(clear.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules)
"""
DOT = """
numbers = numpy.ones(3)
print("scipy.linalg" in sys.modules, numba.njit(lambda a: a.dot(a))(numbers), "scipy.linalg" in sys.modules)
"""


@pytest.mark.skipif(jit_cache.UNTUNED in os.environ, reason="numba is left as it is")
def test_what_is_kept_is_loaded_before_numba_can_compile_and_then_it_can(home: Path) -> None:
    pytest.importorskip("scipy")
    assert run_kernel(home, LOADED) == "8 0 True"
    assert run_kernel(home, LOADED + DOT) == "8 1 False\nFalse 3.0 True"


def test_what_kernels_take_from_other_files_is_part_of_the_digest() -> None:
    """A constant or a row of a table that a kernel uses is compiled into it: its file has to count, too."""
    package, sources = Path(jit_cache.__file__).parents[1], set(jit_cache.kernel_sources())
    compiling = {"kernel", "routine", "woven", "entry", "entry_for_all"}
    missing = set()
    for path in sorted(sources):
        tree = ast.parse(path.read_text("utf-8"))
        came_from = {
            name.asname or name.name: package.joinpath(*node.module.split(".")[1:], name.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("headway.")
            for name in node.names
        }
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            if not compiling & {ast.unparse(one) for one in function.decorator_list}:
                continue
            for part in function.body:
                for used in ast.walk(part):
                    place = came_from.get(used.id) if isinstance(used, ast.Name) else None
                    files = (place, place.parent, place.parent / "__init__") if place else ()
                    found = next((one for file in files if (one := file.with_suffix(".py")).is_file()), None)
                    if found is not None and found not in sources:
                        missing.add((path.name, found.relative_to(package).as_posix()))
    assert missing == set()
