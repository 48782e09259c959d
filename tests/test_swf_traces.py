"""The reader on real logs: how many jobs are kept, and that every line is accounted for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headway.workload import read, write_swf
from traces import KEPT, trace


@pytest.mark.parametrize("name", KEPT)
def test_every_line_is_kept_or_dropped_under_one_rule(name: str) -> None:
    lines, kept = KEPT[name]
    workload = read(trace(name))
    ledger = workload.ledger
    assert (ledger.total, ledger.kept, len(workload)) == (lines, kept, kept)
    gone = ledger.dropped_jobs()
    assert len(gone) == lines - kept
    assert len(np.union1d(gone, workload.job)) == lines
    assert (workload.procs > 0).all() and (workload.walltime >= 0).all()


@pytest.mark.parametrize("name", ["KTH-SP2", "SDSC-Par", "SDSC-SP2"])
def test_a_log_comes_back_from_its_copy(name: str, tmp_path: Path) -> None:
    workload = read(trace(name))
    write_swf(workload, tmp_path / "copy.swf.gz")
    copy = read(tmp_path / "copy.swf.gz")
    assert copy.header == workload.header
    assert copy.ledger.dropped == 0
    assert list(copy.columns) == list(workload.columns)
    for column, values in workload.columns.items():
        assert np.array_equal(copy.columns[column], values), column


def test_what_is_known_of_the_logs() -> None:
    counts = {entry.rule: entry.count for entry in read(trace("HPC2N")).ledger}
    assert counts["overrun"] == 14_817
    par = read(trace("SDSC-Par"))
    assert par.header.max_procs == 400
    assert np.array_equal(par.walltime, par.runtime)
    assert read(trace("CEA-Curie")).header.max_procs == 93_312
    assert read(trace("SDSC-SP2"), cancelled="keep").ledger.why_dropped(19).rule == "unknown_runtime"  # type: ignore[union-attr]
