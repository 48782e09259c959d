"""Cells on a GPU: numba-cuda plays one here, in Python, so that this holds where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway import Campaign, UsageError
from headway.campaign import Results
from headway.cuda import why_not

pytestmark = pytest.mark.interpreted

SWEEP = """
from headway import Campaign
from headway.cuda import batch, why_not

batch.THREADS, batch.ROOM = 2, 16  # each thread of a GPU that is played is one of Python's
assert why_not() == "", why_not()
POLICIES = ["saf", "easy", "easy(order=lxf, depth=2)", "conservative", "redirection(theta=2)"]
for device in ("cpu", "cuda"):
    Campaign("lublin(jobs=14, procs=8, seed={seed})", POLICIES, seeds=[1, 2]).run(device, device=device)
"""


def test_cells_on_a_gpu_give_the_same_numbers(tmp_path: Path) -> None:
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed (the extra cuda)")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SWEEP], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    cpu, cuda = (Results.open(tmp_path / device).frame for device in ("cpu", "cuda"))
    numbers = [name for name in cpu.columns if name not in ("seconds", "cell")]
    assert cpu.select(numbers).equals(cuda.select(numbers))
    assert cpu.height == 10 and (cpu["status"] == "done").all()


def test_without_a_gpu_a_sentence_says_so(tmp_path: Path) -> None:
    if why_not() == "":
        pytest.skip("there is a GPU here")
    campaign = Campaign("lublin(jobs=14, procs=8)", "easy")
    with pytest.raises(UsageError, match="device cuda: "):
        campaign.run(tmp_path / "results", device="cuda")
    with pytest.raises(UsageError, match="device must be cpu or cuda, not 'tpu'"):
        campaign.run(tmp_path / "results", device="tpu")
    assert not (tmp_path / "results").exists()
