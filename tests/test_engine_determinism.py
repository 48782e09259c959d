"""The same input gives the same schedule: again, on several threads at once, and in another process."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import headway
from headway import Schedule
from instances import SPECS, busy

LOG = busy(1500, 64, load=1.2, seed=2)
KINDS = ("fcfs", "lxf", "easy", "easy(order=sjf, backfill=lxf)", "easy(depth=3)", "conservative")


def digest(made: Schedule) -> str:
    """All that was decided, in a few letters."""
    columns = (made.start, made.end, made.why, made.killed, np.asarray(made.promise))
    return hashlib.sha256(b"".join(np.ascontiguousarray(column).tobytes() for column in columns)).hexdigest()


@pytest.mark.parametrize("spec", SPECS)
def test_a_repeat_gives_the_same(spec: str) -> None:
    log = busy(250, 64, load=1.2, seed=2)
    assert digest(headway.simulate(log, 64, spec)) == digest(headway.simulate(log, 64, spec))


def test_threads_do_not_disturb_each_other() -> None:
    alone = {spec: digest(headway.simulate(LOG, 64, spec)) for spec in KINDS}
    assert len(set(alone.values())) == len(KINDS)
    together = threading.Barrier(2)

    def run(specs: tuple[str, ...]) -> dict[str, str]:
        found = {}
        for spec in specs:
            together.wait(timeout=60)  # both begin at once
            found[spec] = digest(headway.simulate(LOG, 64, spec))
        return found

    for orders in ((KINDS, KINDS), (KINDS, KINDS[::-1])):  # the same policy, and different ones
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(run, orders)) == [alone, alone]


PROGRAM = """
import headway
from test_engine_determinism import KINDS, LOG, digest
for spec in KINDS:
    print(digest(headway.simulate(LOG, 64, spec)))
"""


def test_another_process_gives_the_same() -> None:
    here = Path(__file__).parent
    path = [str(here), *sys.path]
    program = f"import sys; sys.path[:] = {path!r}; {PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [digest(headway.simulate(LOG, 64, spec)) for spec in KINDS]
