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

    ``zero=False`` leaves out jobs of walltime 0; ``columns`` draws the optional fields.  Some instances are
    crowded
    (most jobs come at once), and run times like to be nothing, or exactly what was asked for.
    """
    jobs = []
    last = draw(st.sampled_from([0, 2, horizon // 2, horizon]))
    for i in range(draw(st.integers(1, max_jobs))):
        submit = draw(st.integers(0, last))
        procs = draw(st.one_of(st.integers(1, max(1, m // 2)), st.integers(1, m)))
        walltime = draw(st.integers(0 if zero else 1, longest))
        runtime = walltime
        if not exact and walltime:
            runtime = draw(st.one_of(st.just(walltime), st.integers(0, longest + 2), st.just(0)))
        extra = {name: draw(strategy) for name, strategy in columns.items()}
        jobs.append(Job(i + 1, submit, procs, walltime, runtime, **extra))
    return jobs
