"""Redirection on parts of real logs: the audit finds nothing, and without redirections it is EASY."""

from __future__ import annotations

import numpy as np
import pytest

import headway
from headway.audit import audit
from headway.workload.transform import apply_each
from traces import KEPT, opening


@pytest.mark.parametrize("name", sorted(KEPT))
def test_part_of_a_log(name: str) -> None:
    log = opening(name, 3000)
    [part] = apply_each(log, "first(3000)")
    procs = log.header.max_procs
    assert procs is not None
    # A machine this small keeps the queue filled on every log.
    procs = max(int(part.procs.max()), procs // 4)
    made = headway.simulate(part, procs, "redirection(theta=5, alpha=0.25)")
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    assert "redirections" in {law.name for law in verdict.laws}
    moved = int(np.count_nonzero(made.group == 1))
    assert made.own["redirections"] == moved
    assert moved > 0

    easy = headway.simulate(part, procs, "easy")
    for spec in ("redirection(theta=inf)", "redirection(theta=0, group=0)"):
        other = headway.simulate(part, procs, spec)
        assert np.array_equal(easy.start, other.start) and np.array_equal(easy.end, other.end)


@pytest.mark.parametrize("principal", ["conservative", "dbf"])
@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        pytest.param("KTH-SP2-1996-2.1-cln", 500, marks=pytest.mark.interpreted),
        pytest.param("KTH-SP2-1996-2.1-cln", 2000, marks=pytest.mark.long),
        pytest.param("SDSC-SP2-1998-4.2-cln", 2000, marks=pytest.mark.long),
    ],
)
def test_part_of_a_log_with_deadlines(name: str, jobs: int, principal: str) -> None:
    """Every third job has a deadline; both groups plan ahead."""
    [part] = apply_each(opening(name, jobs), f"first({jobs})", "deadlines(every=3)")
    procs = int(part.procs.max())
    groups = f"principal={principal}, redirected=dbf"
    made = headway.simulate(part, procs, f"redirection(theta=5, alpha=0.5, {groups})")
    verdict = audit(made)
    assert verdict.ok, verdict.faults
    assert int(str(made.own["redirections"])) > 0 and int(str(made.own["accepted_deadlines"])) > 0
    alone = headway.simulate(part, procs, principal)
    other = headway.simulate(part, procs, f"redirection(theta=inf, {groups})")
    assert np.array_equal(alone.start, other.start) and np.array_equal(alone.end, other.end)
