"""Peak memory and time of a stream at n, 2 n and 4 n jobs, each in a process of its own.

The log is drawn while it is read, so nothing but the stream is in memory: a machine of 1,024 processors at
load 0.9, with jobs of minutes to days.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.rates import Row

PROCS = 1024
BLOCK = 50_000
SIZES = (1_000_000, 2_000_000, 4_000_000)
QUICK = (50_000, 100_000, 200_000)
WHOLE = (44_000_000,)

PROGRAM = """
import json, sys, time
from benchmarks.streams import DrawnLog, PROCS
from headway.streams import simulate_stream

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("VmHWM")][0] / 1e6

begin = time.process_time()
made = simulate_stream(DrawnLog(int(sys.argv[1])), PROCS, "easy", out=sys.argv[2])
print(json.dumps([made.jobs, peak(), time.process_time() - begin, made.provenance["max_queue"]]))
"""


class DrawnLog:
    """An SWF log that is drawn block by block as it is read; the same for the same number of jobs."""

    name = "drawn log"

    def __init__(self, jobs: int, seed: int = 1) -> None:
        self._jobs, self._made, self._clock = jobs, 0, 0
        self._draw, self._text = np.random.default_rng(seed), b""

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes, all of it where the size is negative."""
        while self._made < self._jobs and (size < 0 or len(self._text) < size):
            self._text += self._block(min(BLOCK, self._jobs - self._made))
        size = len(self._text) if size < 0 else size
        text, self._text = self._text[:size], self._text[size:]
        return text

    def _block(self, jobs: int) -> bytes:
        import polars as pl

        draw = self._draw
        runtime = np.minimum(np.exp(draw.normal(6.5, 1.6, jobs)).astype(np.int64) + 1, 5 * 86400)
        procs = 2 ** draw.integers(0, 8, jobs)
        # Mean area over mean gap is 0.9 of the machine: the draws have 2,391 s x 31.9 processors on average.
        gap = draw.exponential(2391 * 31.9 / (0.9 * PROCS), jobs)
        submit = self._clock + np.cumsum(gap).astype(np.int64)
        self._clock = int(submit[-1])
        columns = {
            "job": self._made + 1 + np.arange(jobs),
            "submit": submit,
            "wait": np.full(jobs, -1),
            "runtime": runtime,
            "allocated": procs,
            "a": np.full(jobs, -1),
            "b": np.full(jobs, -1),
            "requested": procs,
            "walltime": runtime * draw.integers(1, 5, jobs),
            "c": np.full(jobs, -1),
            "status": np.full(jobs, 1),
            "user": draw.integers(1, 200, jobs),
            "group": np.full(jobs, 1),
            "executable": np.full(jobs, -1),
            "queue": draw.integers(1, 5, jobs),
            **{name: np.full(jobs, -1) for name in ("d", "e", "f")},
        }
        self._made += jobs
        return pl.DataFrame(columns).write_csv(separator=" ", include_header=False).encode()


def growth(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Peak memory should stay, CPU time should grow like the jobs; each beside the row before."""
    before = 0.0
    for jobs in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-c", PROGRAM, str(jobs), str(Path(scratch) / "out")]
            folder = Path(__file__).parents[1]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
        made, peak, seconds, queue = json.loads(done.stdout)
        yield {
            "jobs": made,
            "policy": "easy",
            "most waiting": queue,
            "peak GB": round(peak, 3),
            "CPU s": round(seconds, 1),
            "times the row before": round(seconds / before, 2) if before else 0.0,
        }
        before = seconds
