"""The smallest real output of Slurm for each fault of a reader, and what it says."""

from __future__ import annotations

import pytest

from headway.errors import InputError
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.read import read_requests
from slurm_files import slurm_file


def minimal(name: str) -> Workload:
    return read_requests(str(slurm_file(f"sacct/minimal/{name}")), {})


# Jobs, processors, run times (s), waits (s), records in the log, records dropped.
KEPT = [
    ("array-throttled.txt", [13, 14, 15, 54, 55, 56, 59, 60, 61, 67, 68, 3], [1] * 12,
     [6] * 3 + [7] * 9, [0] * 3 + [31] * 3 + [38] * 3 + [45] * 3, 12, 0),
    ("constraints-with-pipe.txt", [2, 205], [1, 2], [12, 20], [0, 4], 2, 0),
    ("deadline-never-ran.txt", [2], [1], [12], [0], 2, 1),
    ("exclusive.txt", [28, 102], [4, 4], [2, 17], [75, 193], 5, 3),
    ("mem0-exclusive-24.11.json", [9, 15], [4, 1], [3, 3], [8, 8], 2, 0),
    ("memory-per-cpu-22.05.json", [2, 4], [1, 2], [12, 4], [0, 0], 2, 0),
    ("name-with-newline.txt", [45, 46, 47, 48], [1] * 4, [1, 4, 4, 3], [12, 12, 12, 14], 4, 0),
    ("no-limit-is-525600.txt", [12], [1], [2], [2], 1, 0),
    ("overrun-84-of-60.txt", [19], [1], [84], [1], 1, 0),
    ("preempted-start-none.txt", [74], [4], [38], [81], 7, 6),
    ("requeued-resized-24.11.json", [33, 42], [1, 2], [25, 26], [6, 0], 4, 2),
    ("reservation-id-only-22.05.json", [125], [2], [11], [70], 1, 0),
    ("reservation-name-missing.txt", [125, 126, 127, 153], [2] * 4, [11, 10, 10, 11],
     [70, 70, 81, 100], 4, 0),
    ("resized.txt", [2, 84], [1, 4], [12, 61], [0, 0], 3, 1),
    ("suspended.txt", [2, 71], [1, 2], [12, 26], [0, 0], 2, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "jobs", "procs", "runs", "waits", "total", "dropped"), KEPT)
def test_every_record_is_read_and_accounted_for(
    name: str, jobs: list[int], procs: list[int], runs: list[int], waits: list[int], total: int, dropped: int
) -> None:
    workload = minimal(name)
    assert (workload.job.tolist(), workload.procs.tolist()) == (jobs, procs)
    assert (workload.runtime // SECOND).tolist() == runs
    assert (workload.columns["wait"] // SECOND).tolist() == waits
    assert (workload.ledger.total, workload.ledger.dropped) == (total, dropped)


def test_every_minimal_file_is_one_of_these() -> None:
    names = {path.name for path in slurm_file("sacct/minimal").iterdir()}
    assert names == {row[0] for row in KEPT} | {"squeue-not-sacct.json"}


def test_squeue_is_no_accounting() -> None:
    with pytest.raises(InputError, match="the output of squeue or scontrol show job"):
        minimal("squeue-not-sacct.json")


def test_what_else_the_faults_are_about() -> None:
    assert minimal("constraints-with-pipe.txt").labels["constraint"] == ["intel|amd"]
    assert minimal("reservation-id-only-22.05.json").labels["reservation"] == ["#2"]
    memory = minimal("memory-per-cpu-22.05.json")
    assert (memory.memory_node_mb.tolist(), memory.memory_cpu_mb.tolist()) == ([0, -1], [-1, 200])
    zero = minimal("mem0-exclusive-24.11.json")
    assert (zero.memory_node_mb.tolist(), zero.memory_cpu_mb.tolist()) == ([-1, 0], [200, -1])
    assert minimal("resized.txt").allocated.tolist() == [1, 3]
    assert {entry.rule for entry in minimal("no-limit-is-525600.txt").ledger} == {"no_limit", "no_estimate"}
    assert [entry.rule for entry in minimal("overrun-84-of-60.txt").ledger] == ["overrun"]
    assert minimal("array-throttled.txt").array.tolist() == [3] * 12
