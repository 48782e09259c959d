"""Batsim's workloads: read, written, and read again."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from headway.errors import InputError
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.batsim import write_batsim
from headway.workload.models import generate
from traces import trace

DOCUMENT: dict[str, Any] = {
    "nb_res": 8,
    "description": "by hand",
    "jobs": [
        {"id": "w0!1", "subtime": 0.5, "res": 4, "walltime": 20, "profile": "short"},
        {"id": "w0!2", "subtime": 3, "res": 8, "profile": "twice"},
        {"id": "w0!three", "subtime": 4, "res": 1, "walltime": -1, "profile": "short"},
        {"id": "w0!4", "subtime": 5, "res": 1, "walltime": 9, "profile": "work"},
    ],
    "profiles": {
        "short": {"type": "delay", "delay": 10.25},
        "twice": {"type": "composed", "repeat": 2, "seq": ["short", "short"]},
        "work": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    },
}


def parsed(document: Any) -> Workload:
    return read(io.BytesIO(json.dumps(document).encode()))


def test_a_workload_by_hand() -> None:
    work = parsed(DOCUMENT)
    assert work.job.tolist() == [1, 2, 5] and work.procs.tolist() == [4, 8, 1]
    assert work.submit.tolist() == [SECOND // 2, 3 * SECOND, 4 * SECOND]
    assert work.runtime.tolist() == [10_250_000, 41_000_000, 10_250_000]
    assert work.walltime.tolist() == [20_000_000, 41_000_000, 10_250_000]
    assert work.header.max_procs == 8 and work.source.format == "batsim"
    found = {entry.rule: entry.count for entry in work.ledger}
    assert found == {"no_number": 1, "unknown_runtime": 1, "no_estimate": 2}
    assert work.ledger.total == 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"jobs": 3}, 'no list "jobs"'),
        ({"profiles": []}, 'no "profiles"'),
        ({"jobs": []}, "has no jobs"),
        ({"jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "none"}]}, "the profile 'none'"),
        (
            {"jobs": [{"id": 1, "subtime": "soon", "res": 1, "profile": "short"}]},
            "'soon', which is not a number",
        ),
        ({"jobs": [{"id": 1, "res": 1, "profile": "short"}]}, "job 1: subtime is missing"),
        ({"jobs": [{"id": 1, "subtime": 0, "res": 1.5, "profile": "short"}]}, "must be a whole number"),
        ({"jobs": [{"id": 1, "subtime": -4, "res": 1, "profile": "short"}]}, "is not a time in seconds"),
        ({"profiles": {"short": {"type": "composed", "seq": ["short"]}}}, "made of itself"),
    ],
)
def test_a_bad_workload_gets_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(DOCUMENT | change)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_cut_file() -> None:
    text = json.dumps(DOCUMENT)
    with pytest.raises(InputError, match="is not JSON"):
        read(io.BytesIO(text[:200].encode()))


def test_there_and_back(tmp_path: Path) -> None:
    work = generate("lublin(jobs=300, procs=64, estimates=tsafrir, seed=4)")
    write_batsim(work, tmp_path / "w.json")
    again = read(tmp_path / "w.json")
    for name in ("job", "submit", "procs", "walltime", "runtime", "user", "queue"):
        assert again.columns[name].tolist() == work.columns[name].tolist(), name
    assert again.header.max_procs == 64
    document = json.loads((tmp_path / "w.json").read_text())
    assert all(job["profile"] in document["profiles"] for job in document["jobs"])


def test_a_real_log_there_and_back(tmp_path: Path) -> None:
    work = read(trace("KTH-SP2"))
    write_batsim(work, tmp_path / "kth.json")
    again = read(tmp_path / "kth.json")
    for name in ("job", "submit", "procs", "walltime", "runtime", "user", "group"):
        assert again.columns[name].tolist() == work.columns[name].tolist(), name
