"""A release: every place says the same version, and wheel and sdist hold what they should and no more."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from types import ModuleType

import pytest

import headway
from commands import Headway
from surroundings import ROOT


def module(name: str) -> ModuleType:
    """A module of the folder release, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(f"release_{name}", ROOT / "release" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


contents, versions, pythons = module("contents"), module("versions"), module("pythons")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
def test_pythons_that_are_kept_but_not_on_path_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stand_in(path: str, says: str, status: int = 0) -> str:
        script = tmp_path / path
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"#!/bin/sh\necho {says}\nexit {status}\n")
        script.chmod(0o755)
        return str(script)

    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    on_path = stand_in("bin/python3.11", "Python 3.11.9")
    stand_in(".pyenv/versions/3.11.2/bin/python3.11", "Python 3.11.2")  # the one on PATH will do
    stand_in("bin/python3.12", "switched off", status=127)
    stand_in(".pyenv/versions/3.12.1/bin/python3.12", "Python 3.12.1")
    newer = stand_in(".pyenv/versions/3.12.4/bin/python3.12", "Python 3.12.4")
    of_uv = stand_in(".local/share/uv/python/cpython-3.13.0-linux/bin/python3.13", "Python 3.13.0")
    assert pythons.pythons() == [on_path, newer, of_uv]


def test_every_place_says_the_same_version_and_day() -> None:
    assert set(versions.versions().values()) == {headway.__version__}
    [day] = set(versions.dates().values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_what_runs_says_the_same_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed_version("headway") == headway.__version__
    command = Headway(tmp_path, capsys, monkeypatch)
    assert command("--version").out == f"headway {headway.__version__}\n"
    log = headway.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1], walltime=[1])
    headway.simulate(log, 4, "fcfs").save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["version"] == headway.__version__


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist of this checkout, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    for target in ("wheel", "sdist"):
        command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stderr
    return folder


def test_the_wheel_holds_the_package_alone_and_the_sdist_sources_and_no_data(dist: Path) -> None:
    [wheel] = dist.glob("*.whl")
    names = contents.wheel_files(wheel)
    assert contents.wheel_faults(names, headway.__version__) == []
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    [sdist] = dist.glob("*.tar.gz")
    names = contents.sdist_files(sdist)
    assert contents.sdist_faults(names) == []
    assert "tests/test_release.py" in names and "release/__main__.py" in names


def test_data_in_a_release_is_noticed() -> None:
    notices = [f"headway-1.dist-info/{name}" for name in ("licenses/LICENSE", "entry_points.txt")]
    held = ["headway/py.typed", *notices]
    assert contents.wheel_faults(held, "1") == []
    assert contents.wheel_faults([*held, "headway/data/kth.swf.gz", "tests/test_a.py"], "1") == [
        "headway/data/kth.swf.gz is neither code nor a part of the report",
        "tests/test_a.py is outside of the package",
    ]
    assert "tests/logs/kth.swf is data" in contents.sdist_faults(["tests/logs/kth.swf"])
    assert "CITATION.cff is missing" in contents.sdist_faults([])
