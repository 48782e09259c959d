"""What `make kernels` builds is all that a first use needs: nothing is compiled at the user's."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli import forms
from headway.errors import HeadwayError
from headway.jit import cache as jit_cache
from headway.policies.catalogue import POLICIES

PARTS = forms.parts_of(list(POLICIES), whole=False)

EACH = """
from headway.cli import forms
from headway.errors import HeadwayError
from headway.jit import cache

for part in forms.parts_of(list(forms.POLICIES), whole=False):
    for workload, platform in forms.situations():
        try:
            forms.simulate(part, workload, platform)
        except HeadwayError:
            pass
print(cache.compiled)
"""


def without_kernels_of_ones_own(folder: Path, *words: str) -> str:
    """What a command prints that finds no kernels but those of the package."""
    environment = os.environ | {
        "HEADWAY_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)
    }  # fmt: skip
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, *words]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stderr and not list((folder / "cache").rglob(f"*{jit_cache.SUFFIX}"))
    return done.stdout


IN_OTHER_WAYS = {jit_cache.UNTUNED, jit_cache.BOUNDS} & os.environ.keys()
built = pytest.mark.skipif(
    not any(jit_cache.BUILT.glob("*")) or bool(IN_OTHER_WAYS),
    reason="no kernels are built; 'make kernels' does that",
)


@built
def test_a_first_simulation_of_any_policy_compiles_nothing(tmp_path: Path) -> None:
    assert without_kernels_of_ones_own(tmp_path, "-c", EACH).strip() == "[]"


@built
def test_a_first_what_if_and_replay_compile_nothing(tmp_path: Path) -> None:
    without_kernels_of_ones_own(tmp_path, "-m", "headway", "site", "example", "fjord")
    jobs = tmp_path / "fjord" / "jobs.txt.gz"
    lines = gzip.decompress(jobs.read_bytes()).splitlines(keepends=True)
    jobs.write_bytes(gzip.compress(b"".join(lines[:300])))  # some weeks of its half a year
    for words in ("what-if fjord nodes=+10%", "replay fjord"):
        without_kernels_of_ones_own(tmp_path, "-m", "headway", *words.split())


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", PARTS)
def test_there_is_a_machine_to_compile_every_policy_on(policy: str) -> None:
    ran = 0
    for workload, platform in forms.situations()[:-1]:  # the last has many jobs
        try:
            forms.simulate(policy, workload, platform)
            ran += 1
        except HeadwayError:
            continue
    assert ran


def test_forms_are_every_choice_and_policies_within_others() -> None:
    assert {"easy", "easy(order=lxf)", "easy(depth=2)", "easy(depth=all)"} <= {*forms.specs_of("easy")}
    inside = {*forms.specs_of("redirection")}
    assert {"redirection(redirected=dbf)", "redirection(principal=dbf, redirected=dbf)"} <= inside
    assert "redirection(redirected=sjf)" not in inside  # strict orders are one kernel
    assert forms.specs_of("easy(depth=3)") == ["easy(depth=3)"]
