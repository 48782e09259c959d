"""Measure what swapping costs on this machine: suspend a process, write its memory out, read it back.

    python -m headway.papers.urgent.measure_swap                      64 to 1024 MB, into memory (/dev/shm)
    python -m headway.papers.urgent.measure_swap 256 512 --to /tmp    these sizes, to a disk

A process holds so many megabytes of random bytes. It is stopped (SIGSTOP), its memory is copied to a
file (swap out) and overwritten with zeros; then the file is copied back (swap in) and it goes on (SIGCONT),
checks that every byte is what it was, and ends. A line through the times gives the bandwidth for the policy,
``ujfb(bandwidth=...)``, and how long swapping in takes against swapping out, ``swap_in``. Linux only: it uses
``/proc/PID/mem``, which whoever started a process may read and write.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, UsageError
from headway.workload.transform.swap_model import Fit, fit

MB = 1 << 20
SIZES = (64, 128, 256, 512, 1024)
CHUNK = 8 * MB


@dataclass(frozen=True)
class Swap:
    """One swap: megabytes, and seconds out and in."""

    megabytes: int
    out: float
    back: float


HOLDER = """
import ctypes, mmap, os, signal, sys, zlib
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the process that measures
if os.getppid() != int(sys.argv[2]):
    os._exit(1)
size = int(sys.argv[1]) << 20
memory, block = mmap.mmap(-1, size), os.urandom(1 << 20)
for place in range(0, size, 1 << 20):
    memory[place : place + (1 << 20)] = block
memory[:8] = (size * 31).to_bytes(8, "little")
before = zlib.crc32(memory)
print(ctypes.addressof(ctypes.c_char.from_buffer(memory)), flush=True)
sys.stdin.readline()
os._exit(0 if zlib.crc32(memory) == before else 1)
"""
"""The process that is swapped: it says where its memory is, waits, and looks whether it is still the same.

Stopped, it could not notice that nobody waits for it any more: the kernel ends it with its parent."""


def measure(megabytes: int, folder: Path) -> Swap:
    """Swap a process of this size out to a file in a folder, and in again."""
    if not Path("/proc/self/mem").exists():
        raise UsageError("measuring swaps needs /proc/PID/mem, which only Linux has")
    command = [sys.executable, "-c", HOLDER, str(megabytes), str(os.getpid())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            begin, size = int(child.stdout.readline()), megabytes * MB
            os.kill(child.pid, signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
            held = Path(f"/proc/{child.pid}/mem")
            with tempfile.TemporaryFile(dir=folder) as file, held.open("r+b", 0) as memory:
                out = _copy(memory.fileno(), begin, file.fileno(), 0, size)
                _fill(memory.fileno(), begin, size)
                back = _copy(file.fileno(), 0, memory.fileno(), begin, size)
            os.kill(child.pid, signal.SIGCONT)
            child.communicate("go on\n")
        finally:
            child.kill()
    if child.returncode != 0:
        raise HeadwayError("the process did not find its memory as it was: the measurement is worth nothing")
    return Swap(megabytes, out, back)


def _copy(source: int, at: int, target: int, to: int, size: int) -> float:
    """Copy bytes between two open files, each from its own place on; how long it takes (s)."""
    begin, done = time.perf_counter(), 0
    while done < size:
        block = os.pread(source, min(CHUNK, size - done), at + done)
        if not block:
            raise HeadwayError("a process's memory could not be read to its end")
        done += os.pwrite(target, block, to + done)
    return time.perf_counter() - begin


def _fill(target: int, at: int, size: int) -> None:
    """Overwrite with zeros, as if the memory had been given to somebody else."""
    block = bytes(CHUNK)
    for done in range(0, size, CHUNK):
        os.pwrite(target, block[: min(CHUNK, size - done)], at + done)


def lines(swaps: Sequence[Swap]) -> tuple[Fit, Fit]:
    """The model's line, time = intercept + size / bandwidth, for swapping out and in."""
    out = fit("swap out", [("", "", float(one.megabytes), one.out) for one in swaps])
    return out, fit("swap in", [("", "", float(one.megabytes), one.back) for one in swaps])


def report(swaps: Sequence[Swap]) -> str:
    """The times, the two lines, and what to write for the policy."""
    out, back = lines(swaps)
    said = ["    MB   out (s)    in (s)"]
    said += [f"{one.megabytes:6d} {one.out:9.4f} {one.back:9.4f}" for one in swaps]
    said += [
        f"{one.name}: {one.intercept:.4f} s + size / {one.bandwidth:,.0f} MB/s (R² {one.r2:.3f})"
        for one in (out, back)
    ]
    ratio = out.bandwidth / back.bandwidth
    return "\n".join([*said, f"for the policy: ujfb(bandwidth={out.bandwidth:.0f}, swap_in={ratio:.2f})"])


def main(arguments: Sequence[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="measure_swap", description=__doc__.splitlines()[0])
    parser.add_argument("megabytes", nargs="*", type=int, default=list(SIZES), help="sizes of the process")
    parser.add_argument("--repeat", type=int, default=3, help="how often each size is swapped (3)")
    parser.add_argument("--to", type=Path, default=Path("/dev/shm"), help="folder to swap to (/dev/shm)")
    given = parser.parse_args(arguments)
    if min(given.megabytes) < 1 or given.repeat < 1 or len(set(given.megabytes)) < 2:
        parser.error("give at least two sizes of at least 1 MB, and a repeat of at least 1")
    if not given.to.is_dir():
        parser.error(f"--to {given.to}: there is no such folder")
    swaps = [measure(size, given.to) for size in given.megabytes for _ in range(given.repeat)]
    sys.stdout.write(report(swaps) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
