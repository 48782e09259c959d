"""The report that the home page links to: a generated month under three policies."""

from __future__ import annotations

from pathlib import Path

import headway
from headway.report import schedules_page, write
from headway.workload.models import generate

MODEL = "lublin(jobs=2000, procs=128, load=0.75, estimates=tsafrir, seed=1)"
POLICIES = ("easy", "easy(backfill=sjf)", "conservative")


def write_to(path: Path) -> None:
    """Simulate and write the page."""
    log, machine = generate(MODEL), headway.Platform.procs(128)
    runs = [headway.simulate(log, machine, policy) for policy in POLICIES]
    write(schedules_page(runs, title="A sample report: three policies on a generated log"), path)
