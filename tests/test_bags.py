"""Compression where many waiting jobs are equal, as the tasks of one user's bag are."""

from __future__ import annotations

import numpy as np
import pytest

from instances import by_reference, jobs_of, simulated
from reference.jobs import Job, Result

MODES = ("early", "every", "fixpoint", "early, hole=open", "early, urgent=first")


def bags(seed: int) -> tuple[int, list[Job]]:
    """A machine, and bags of jobs that ask for the same; most run for less time than they ask for."""
    random = np.random.default_rng(seed)
    procs = int(random.integers(2, 13))
    rows = []
    for _ in range(random.integers(1, 5)):
        submit, walltime = (
            int(random.integers(0, 20)),
            int(random.choice([10, 10, 25, int(random.integers(0, 30))])),
        )
        size = int(random.integers(1, procs // 2 + 1))
        for _ in range(random.integers(1, 13)):
            rows.append((submit, size, walltime, min(walltime, int(random.integers(0, 31)))))
    return procs, jobs_of(*sorted(rows, key=lambda row: row[0]), urgent=range(0, len(rows), 5))


def times(results: list[Result]) -> list[tuple[int, int, int | None]]:
    """Start, end and promise of each job."""
    return [(result.start, result.end, result.promise) for result in results]


@pytest.mark.parametrize("mode", MODES)
def test_bags_of_equal_jobs_as_the_reference_has_them(mode: str) -> None:
    for seed in range(80):
        procs, jobs = bags(seed)
        spec = f"conservative(compress={mode})"
        assert times(simulated(jobs, procs, spec)) == times(by_reference(jobs, procs, spec)), seed


def test_starts_are_handed_on() -> None:
    # 6 processors, jobs of one processor that ask for 100 s. Six run from 0, 10, 20, 30, 40 and 50 on, so
    # the next six are reserved at 100, 110, ... 150. At 60 those that began at 20 and 40 end: there is room
    # for two jobs until 120, and for one until 140. Two come to 60, the third finds 100, where the first was,
    # the fourth 110, the fifth 130. The sixth keeps 150.
    runs = [(10 * i, 1, 100, 60 - 10 * i if i in (2, 4) else 100) for i in range(6)]
    jobs = jobs_of(*runs, *[(55, 1, 100, 100)] * 6)
    made = simulated(jobs, 6, "conservative")
    assert [result.promise for result in made[6:]] == [
        at * 1_000_000 for at in (100, 110, 120, 130, 140, 150)
    ]
    assert [result.start for result in made[6:]] == [at * 1_000_000 for at in (60, 60, 100, 110, 130, 150)]
