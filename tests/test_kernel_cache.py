"""Compiled kernels are kept in a folder of the user's alone, or nowhere; others' are not loaded."""

from __future__ import annotations

import ast
import errno
import fcntl
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from enum import IntEnum
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

print(twice(21), kernels.cache.compiled, len(kernels.cache.troubles))
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


def test_a_cache_is_made_for_its_user_alone(home: Path) -> None:
    kept = jit_cache.keeping()
    assert kept.folder == home / "headway" / "kernels" and not kept.why_not
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
    (folder / "planted.kernel").write_bytes(pickle.dumps("code"))
    os.chown(folder / "planted.kernel", 65534, 65534)


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
        plant(home / "headway" / "kernels")
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
    (tmp_path / "headway" / "kernels").mkdir(0o700, parents=True)  # even one that looks like ours
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
    assert run_kernel(home) == "42 ['twice'] 0"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cache", "kernel.py"]


compiled = pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")


def used_again() -> int:
    """Call a kernel that was not called yet in this process: 1 where it is taken from what is kept."""
    made = kernels.entry(twice)
    assert made(21) == 42
    return hits(made)


@compiled
def test_kept_code_that_is_damaged_is_made_again(home: Path) -> None:
    assert used_again() == 0
    [kept] = home.rglob("*.kernel")
    content = kept.read_bytes()
    for damage in (content[:-20], b"\x80\x05]", b""):
        kept.write_bytes(damage)
        assert used_again() == 0 and not jit_cache.troubles
        assert used_again() == 1 and kept.stat().st_size == len(content)


@compiled
def test_a_kernel_for_a_signature_is_the_one_for_a_call_if_it_returns_nothing(home: Path) -> None:
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
def test_a_kernel_that_cannot_be_compiled_is_refused_again_at_once(home: Path) -> None:
    @kernels.entry
    def wrong(x: Any) -> Any:
        return x + "text"

    for _ in range(2):
        with pytest.raises(kernels.numba.TypingError):
            wrong(1)
    assert not list(home.rglob("*.lock"))


@compiled
def test_a_process_waits_for_another_that_compiles_the_same_kernel(home: Path) -> None:
    used_again()
    [kept] = home.rglob("*.kernel")
    content, lock = kept.read_bytes(), Path(f"{kept}.lock")
    before = jit_cache.compiled.count("twice")
    kept.unlink()
    with lock.open("wb") as held, ThreadPoolExecutor(1) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)  # as a process that compiles
        waiting = pool.submit(used_again)
        assert not wait([waiting], timeout=1).done
        kept.write_bytes(content)
        held.close()  # as where it has ended, in whatever way
        waiting.result()
    assert jit_cache.compiled.count("twice") == before  # it took what the other one had made


HANGING = """
import time
from headway.jit import cache

def hang(*arguments):
    print("compiling", flush=True)
    time.sleep(600)

cache.Kept.compile_now = hang
"""


@compiled
def test_a_process_takes_over_from_one_that_is_killed_while_it_compiles(home: Path) -> None:
    (home.parent / "hanging.py").write_text(HANGING + KERNEL)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(home.parent / "hanging.py")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None and first.stdout.readline() == b"compiling\n"
        before = jit_cache.compiled.count("twice")
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(used_again)
            assert not wait([second], timeout=1).done
            first.kill()
            assert second.result(timeout=30) == 0
    assert jit_cache.compiled.count("twice") == before + 1
    assert used_again() == 1 and not list(home.rglob("*.lock"))


@compiled
def test_a_full_disk_is_named_with_a_remedy_and_the_run_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kept = jit_cache.keeping().folder
    monkeypatch.setattr(jit_cache, "troubles", [])
    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert kernels.entry(twice)(21) == 42 and not list(home.rglob("*.kernel"))
    [sentence] = jit_cache.troubles
    assert str(kept) in sentence and "No space left" in sentence
    assert "headway cache clear" in sentence and "HEADWAY_CACHE_DIR" in sentence


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    return Headway(tmp_path, capsys, monkeypatch)


def test_the_command_shows_and_clears(home: Path, headway: Headway) -> None:
    folder = home / "headway" / "kernels"
    folder.mkdir(0o700, parents=True)
    (folder / "easy.0123.kernel").write_bytes(b"1")
    (folder / "notes").mkdir()
    shown = headway("cache")
    assert shown.status == 0 and "of the package" in shown.out and str(home) in shown.out
    assert "1 kernel " in headway("cache", "clear").out
    assert [path.name for path in folder.iterdir()] == ["notes"]  # nothing else is touched


def test_the_command_names_what_it_takes(headway: Headway) -> None:
    assert "No such command 'fill'" in headway("cache", "fill").err
    assert headway("cache", "clear", "easy").status == 2


LOADED = """
import sys
from pathlib import Path
import numpy, numba
from headway.jit import cache

cache.BUILT = Path("none")  # no kernel that came with the package

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


DIGESTS = """
import json, sys
from headway.jit.cache import made_of
from headway.policies.backfilling.conservative import conservative
from headway.policies.backfilling.easy import easy
from headway.policies.deadline.dbf import dbf
from headway.policies.slurm.slurm import slurm

print(json.dumps({hook.__name__: made_of(hook)[0] for hook in (conservative, easy, dbf, slurm)}))
"""


def digests(package: Path) -> dict[str, str]:
    """What some policies are made of, in a process of its own over a copy of the package."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONHASHSEED"] = str(len(package.parts))  # sets have another order in each process
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", DIGESTS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


ROOMS = (
    "engine/clock.py", "engine/profile.py", "jit/cache.py", "jit/kernels.py", "policies/spec.py",
    "policies/slurm/backfill.py", "policies/backfilling/easy.py", "policies/deadline/dbf.py",
)  # fmt: skip


def test_a_kernel_is_compiled_again_where_its_code_changed_and_nowhere_else(tmp_path: Path) -> None:
    """Not for a comment, a docstring, another folder or another time of a file."""
    package = tmp_path / "headway"
    shutil.copytree(Path(jit_cache.__file__).parents[1], package, ignore=shutil.ignore_patterns("built"))
    before = digests(Path(jit_cache.__file__).parents[1])
    for room in ROOMS:
        text = (package / room).read_text("utf-8")
        with_more = re.sub('(:\n +"{3})', r"\1More. ", text)
        (package / room).write_text(f"# A comment.\n{with_more}")
    assert digests(package) == before

    rule = package / "policies/slurm/backfill.py"
    tree = ast.parse(rule.read_text("utf-8"))
    kernel = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list)
    kernel.body.insert(0, ast.parse("changed = 17").body[0])
    rule.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    after = digests(package)
    assert [name for name in before if after[name] != before[name]] == ["slurm"]


def used(number: int, table: Any) -> int:
    return int(table[LIMIT, number])


LIMIT = 3


def test_what_a_kernel_finds_by_name_is_part_of_what_it_is_made_of() -> None:
    def made_with(**names: Any) -> str:
        jit_cache.made_of.cache_clear()
        return jit_cache.made_of(kernels.calling(used, **names))[0]

    plain = made_with(LIMIT=3)
    assert made_with(LIMIT=3, unused=5) == plain
    others = [made_with(LIMIT=value) for value in (4, "3", (3,), np.array([3]), Mode.ON, twice)]
    assert len({plain, *others}) == 7
    with pytest.raises(jit_cache.Unknown, match="uses"):
        made_with(LIMIT=object())


class Mode(IntEnum):
    ON = 3
