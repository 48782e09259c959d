"""A policy of one's own is everything it loads: a change of a helper, however far, makes another policy."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from headway.campaign import Campaign
from headway.campaign.identity import policy_key
from headway.errors import UsageError
from headway.policies.own import loading
from headway.policies.own.loading import digests, sources, unseen
from headway.policies.spec import parse_spec

MODEL = "lublin(jobs=60, procs=16, load=1.5, seed={seed})"
POLICY = """
import numpy as np
from sizes import wanted

def mine(view):
    return sorted((job for job in view.queue), key=wanted)[:1] if np.any(view.free) else []

def key(job, now):
    return wanted(job)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(POLICY)
    (tmp_path / "sizes.py").write_text("import deep.inside\ndef wanted(job):\n    return job.procs\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "inside.py").write_text("from . import beside\n")
    (tmp_path / "deep" / "beside.py").write_text("LIMIT = 1\n")
    return tmp_path


def test_everything_outside_installed_packages_is_found(folder: Path) -> None:
    found = sources(folder / "mine.py")
    assert set(found) == {"", "sizes", "deep.inside", "deep.beside"}
    assert unseen(folder / "mine.py") == []
    (folder / "sizes.py").write_text("import json\nTABLE = json.load(\nopen('table.json'))\n")
    assert unseen(folder / "mine.py") == ["sizes.py:2", "sizes.py:3"]


def test_imports_that_the_text_does_not_show_are_told(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "import sys\nfrom importlib import import_module as taken\n"
        "sys.path.insert(0, 'library')\nimport elsewhere.rules\nfrom other import limit\n"
        "import numpy, deep.inside, headway.gym\nrules = taken('rules')\n"
    )
    assert unseen(folder / "mine.py") == ["mine.py:4", "mine.py:5", "mine.py:7"]


@pytest.mark.parametrize("file", ["mine.py", "sizes.py", "deep/inside.py", "deep/beside.py"])
@pytest.mark.parametrize("spec", ["./mine.py:mine", "strict(order=./mine.py:key)"])
def test_a_change_anywhere_is_another_policy(folder: Path, file: str, spec: str) -> None:
    before = policy_key(parse_spec(spec))
    (folder / file).write_text((folder / file).read_text() + "\nLIMIT = 2\n")
    assert policy_key(parse_spec(spec)) != before


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("place", ["rules.py", "rules/__init__.py", "rules/sizes.py"])
def test_what_lies_on_pythons_path_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, beside: bool
) -> None:
    (folder / "mine.py").write_text("import rules.sizes\n" if "sizes" in place else "import rules\n")
    there = folder / "library" / place
    there.parent.mkdir(parents=True)
    there.write_text("LIMIT = 1\n")
    if beside and "sizes" not in place:
        (folder / "rules").mkdir()  # a folder alone, which Python passes over for a module
    monkeypatch.syspath_prepend(str(folder / "library"))
    assert there.resolve() in sources(folder / "mine.py").values()


def test_a_moved_policy_is_the_same(folder: Path) -> None:
    before = digests(folder / "mine.py")
    os.rename(folder, folder.parent / "moved")
    assert digests(folder.parent / "moved" / "mine.py") == before
    os.rename(folder.parent / "moved", folder)


def test_what_python_cannot_read_is_left_to_loading(folder: Path) -> None:
    (folder / "sizes.py").write_text("def broken(:\n")
    assert set(sources(folder / "mine.py")) == {"", "sizes"}


def waits(folder: Path, **options: Any) -> tuple[list[float], int]:
    campaign = Campaign(MODEL, "strict(order=mine.py:key)", seeds=[1], folder=folder, metrics=["mean_wait"])
    results = campaign.run(folder / "out", workers=1, processes=False, **options)
    assert results.progress is not None and not results.failed.height
    return results.frame["mean_wait"].to_list(), results.progress.done


def test_a_campaign_runs_again_what_a_helper_changed(folder: Path) -> None:
    (folder / "sizes.py").write_text("def wanted(job):\n    return job.procs\n")
    first, done = waits(folder)
    assert done == 1 and waits(folder) == (first, 0)
    # As long as before, and within the same second: only its content tells.
    (folder / "sizes.py").write_text("def wanted(job):\n    return -job.procs\n"[:-1])
    second, done = waits(folder)
    assert done == 1 and second != first
    assert not list(folder.rglob("__pycache__"))


def test_fresh_runs_everything_again(folder: Path) -> None:
    (folder / "sizes.py").write_text(
        "from pathlib import Path\ndef wanted(job):\n    return int(Path('sign').read_text()) * job.procs\n"
    )
    (folder / "sign").write_text("1")
    first, _ = waits(folder)
    (folder / "sign").write_text("-1")
    assert waits(folder) == (first, 0)  # not covered, as is said
    again, done = waits(folder, fresh=True)
    assert done == 1 and again != first
    assert waits(folder) == (again, 0)


def test_two_folders_may_have_helpers_of_one_name(folder: Path) -> None:
    found = []
    for name, value in (("a", 1), ("b", 2), ("a", 1)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "same.py").write_text(f"VALUE = {value}\n")
        (folder / name / "mine.py").write_text("import same\nVALUE = same.VALUE\n")
        found.append(loading.load_file(str(folder / name / "mine.py")).VALUE)
    assert found == [1, 2, 1]


def test_modules_of_the_program_around_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = type(sys)("sizes")
    monkeypatch.setitem(sys.modules, "sizes", theirs)
    loading.load_file("mine.py")
    assert sys.modules["sizes"] is theirs


def test_a_module_that_changed_since_it_was_loaded_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "installed_policy.py").write_text("def mine(view):\n    return view.queue[:1]\n")
    monkeypatch.syspath_prepend(str(folder))
    loading.load_module("installed_policy")
    (folder / "installed_policy.py").write_text("def mine(view):\n    return view.queue[:2]\n")
    with pytest.raises(UsageError, match="has changed since it was loaded"):
        loading.load_module("installed_policy")


def test_a_run_says_what_it_was_made_of(folder: Path) -> None:
    (folder / "sizes.py").write_text("def wanted(job):\n    return job.procs\n")
    source = loading.source_of(loading.find("mine.py", None, "mine"))
    assert source["file"] == "mine.py" and set(source["imports"]) == {"sizes"}
