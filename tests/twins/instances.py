"""Small random instances for property tests: many ties, early ends, kills, and jobs of no length."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .jobs import Job


@st.composite
def job_lists(
    draw: st.DrawFn,
    /,
    m: int,
    max_jobs: int = 12,
    horizon: int = 20,
    longest: int = 8,
    zero: bool = True,
    exact: bool = False,
    **columns: st.SearchStrategy[Any],
) -> list[Job]:
    """Jobs of at most m processors in file order (not sorted by submit); ``exact`` makes walltime = run time.

    ``zero=False`` leaves out jobs of walltime 0; ``columns`` draws the optional fields.
    """
    jobs = []
    for i in range(draw(st.integers(1, max_jobs))):
        walltime = draw(st.integers(0 if zero else 1, longest))
        runtime = walltime if exact else (draw(st.integers(0, longest + 2)) if walltime else 0)
        extra = {name: draw(strategy) for name, strategy in columns.items()}
        submit, procs = draw(st.integers(0, horizon)), draw(st.integers(1, m))
        jobs.append(Job(i + 1, submit, procs, walltime, runtime, **extra))
    return jobs
