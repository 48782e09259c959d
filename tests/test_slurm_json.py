"""Reading `sacct --json`: versions differ in how they write numbers and states, the jobs are the same."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from headway.errors import InputError
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.slurm import json_jobs


def new_job(number: int = 7, **more: Any) -> dict[str, Any]:
    """A job as recent versions write it: numbers are objects, the state is a list."""
    return {
        "job_id": number, "account": "chem", "user": "ann", "partition": "short", "qos": "normal",
        "cluster": "alpha", "name": "a name, with {braces} and [brackets]",
        "array": {"job_id": 0, "task_id": {"set": False, "infinite": False, "number": 0}, "task": ""},
        "time": {
            "submission": 100, "eligible": 100, "start": 130, "end": 190, "elapsed": 60, "suspended": 0,
            "limit": {"set": True, "infinite": False, "number": 2},
            "total": {"seconds": 120, "microseconds": 0},
        },
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "required": {
            "CPUs": 4, "memory_per_cpu": {"set": True, "infinite": False, "number": 1024},
            "memory_per_node": {"set": False, "infinite": False, "number": 0},
        },
        "tres": {
            "allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4},
                          {"type": "gres", "name": "gpu", "id": 1001, "count": 2}],
            "requested": [{"type": "cpu", "name": "", "id": 1, "count": 4}],
        },
        "allocation_nodes": 1, "nodes": "cn1", "flags": ["STARTED_ON_BACKFILL"],
        "steps": [{"step": {"id": "7.batch"}, "tasks": {"count": 1},
                   "tres": {"requested": {"max": [{"type": "mem", "count": 4096 * 1024}]}}}],
    } | more  # fmt: skip


def old_job(number: int = 7) -> dict[str, Any]:
    """The same job as older versions write it: plain numbers, one word for the state, memory with a mark."""
    job = new_job(number)
    job["time"]["limit"] = 2
    job["state"] = {"current": "COMPLETED", "reason": "None"}
    job["required"] = {"CPUs": 4, "memory": (1 << 63) + 1024}
    job["array"] = {"job_id": 0, "task_id": None}
    return job


def parsed(*jobs: Any, **rules: str) -> Workload:
    document = {"meta": {"plugin": {"type": "openapi"}}, "jobs": list(jobs), "errors": [], "warnings": []}
    return read(io.BytesIO(json.dumps(document, indent=1).encode()), format=None, compiled=None, **rules)


@pytest.mark.parametrize("job", [new_job(), old_job()])
def test_both_layouts_give_the_same_job(job: dict[str, Any]) -> None:
    work = parsed(job)
    assert (work.job[0], work.submit[0], work.wait[0]) == (7, 0, 30 * SECOND)
    assert (work.runtime[0], work.walltime[0], work.procs[0]) == (60 * SECOND, 120 * SECOND, 4)
    assert work.memory_kb[0] == 1024 * 1024 and work.used_memory_kb[0] == 1024
    assert work.cpu_time[0] == 30 * SECOND
    assert work.labels["user"] == ["ann"] and work.labels["queue"] == ["normal"]
    assert work.source.not_modelled == {"GPUs": 1} and work.source.format == "sacct-json"
    assert [(entry.rule, entry.count) for entry in work.ledger] == [("steps", 1)]
    assert work.header.get("UnixStartTime") == "100"


def test_arrays_limits_and_unfinished_jobs() -> None:
    task = {"job_id": 5, "task_id": {"set": True, "infinite": False, "number": 3}, "task": ""}
    rest = {"job_id": 5, "task_id": {"set": False}, "task": "4-9%2"}
    endless = new_job(9)
    endless["time"]["limit"] = {"set": False, "infinite": True, "number": 0}
    work = parsed(
        new_job(6, array=task), new_job(5, array=rest, state={"current": ["PENDING"]}), endless,
        new_job(10, state={"current": ["RUNNING"]}), new_job(11, het={"job_id": 11, "job_offset": 0}),
    )  # fmt: skip
    assert work.job.tolist() == [6, 9, 11]
    assert work.walltime.tolist() == [120 * SECOND, 60 * SECOND, 120 * SECOND]
    assert work.ledger.total == 10 and work.ledger.dropped == 7  # tasks 4 to 9 never started
    assert work.source.not_modelled["job arrays"] == 1
    assert work.source.not_modelled["heterogeneous jobs"] == 1


def test_small_parts_give_the_same_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.workload import stream

    jobs = [new_job(number) for number in range(1, 60)]
    whole = parsed(*jobs)
    monkeypatch.setattr(stream, "CHUNK", 777)
    monkeypatch.setattr(json_jobs, "ROWS", 10)
    parts = parsed(*jobs)
    assert whole.source == parts.source and whole.ledger == parts.ledger
    assert whole.job.tolist() == parts.job.tolist() == list(range(1, 60))


def test_a_cut_document_and_a_foreign_one() -> None:
    text = json.dumps({"meta": {}, "jobs": [new_job(1), new_job(2)]})
    with pytest.raises(InputError, match="ends in the middle of job 2"):
        read(io.BytesIO(text[: len(text) - 100].encode()))
    damaged = text.replace('"elapsed"', "elapsed", 1)
    with pytest.raises(InputError, match="is not JSON in job 1"):
        read(io.BytesIO(damaged.encode()))
    with pytest.raises(InputError, match="is nested too deeply in job 1"):
        read(io.BytesIO(b'{"meta": {}, "jobs": [' + b"[" * 100_000))
    with pytest.raises(InputError, match='has no list "jobs"'):
        read(io.BytesIO(b'{"meta": {}, "job_id": 3}'))
    with pytest.raises(InputError, match="JSON of a kind that is not known"):
        read(io.BytesIO(b'{"shoes": 2}'))
    with pytest.raises(InputError, match="no records of jobs"):
        read(io.BytesIO(b'{"meta": {}, "jobs": []}'))
    with pytest.raises(InputError, match="job 1 is not an object"):
        read(io.BytesIO(b'{"meta": {}, "jobs": [3]}'))
