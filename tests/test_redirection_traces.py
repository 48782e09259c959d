"""Redirection on parts of real logs: the audit finds nothing, and without redirections it is EASY."""

from __future__ import annotations

import numpy as np
import pytest

import headway
from headway.audit import audit
from headway.workload.transform import apply_each
from traces import KEPT, trace


@pytest.mark.parametrize("name", sorted(KEPT))
def test_part_of_a_log(name: str) -> None:
    log = headway.read(trace(name))
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
