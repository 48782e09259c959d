"""All eight logs: every line accounted for, EASY and conservative run, audits pass, repeats are equal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import headway
from headway.platform import Platform
from headway.workload import Workload
from traces import KEPT, trace


def part(name: str, first: int) -> tuple[Workload, Platform]:
    log = headway.read(trace(name))
    assert log.header.max_procs is not None
    return log.select(np.arange(min(first, len(log)))), Platform.procs(log.header.max_procs)


@pytest.mark.parametrize("first", [10_000, pytest.param(60_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", KEPT)
def test_a_real_log(name: str, first: int, tmp_path: Path) -> None:
    """Of the longest logs the beginning, so that the whole takes a minute."""
    (log, machine), again = part(name, first), part(name, first)
    for spec in ("easy", "conservative"):
        made = headway.simulate(log, machine, spec)
        ledger = made.workload.ledger
        assert ledger.total == KEPT[name][0] == len(made.start) + ledger.dropped
        verdict = headway.audit(made)
        assert verdict.ok, verdict.faults
        assert verdict.jobs == len(made.start)
        made.save(tmp_path / spec)
        headway.simulate(*again, spec).save(tmp_path / f"{spec} again")
        same_files(tmp_path / spec, tmp_path / f"{spec} again")


def same_files(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    assert {"schedule.csv", "schedule.parquet", "summary.json", "run.json"} <= set(names)
    for name in names:
        first, second = (one / name).read_bytes(), (other / name).read_bytes()
        if name == "run.json":  # which says how long it took
            records = [json.loads(content) for content in (first, second)]
            assert all(record.pop("timing") for record in records)
            assert records[0] == records[1]
        else:
            assert first == second, name
