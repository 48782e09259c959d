"""Jobs for tests of the simulator: small instances, the reference of each spec, and busy workloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import headway
from headway import Schedule
from headway.policies.spec import parse_spec
from headway.schedule import WHY
from headway.units import SECOND
from headway.workload import Workload
from reference.conservative import simulate_conservative
from reference.easy import simulate_easy
from reference.jobs import Job, Result
from reference.laws import stretched
from reference.strict import simulate_strict

Row = tuple[int, int, int, int]
"""submit, procs, walltime, runtime; times in seconds."""

MODES = ("early", "every", "fixpoint", "scratch", "none")
STRICT = ("fcfs", "sjf", "ljf", "sqf", "lqf", "saf", "laf", "lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4")
EASY = (
    "easy",
    "easy(backfill=sjf)",
    "easy(order=sjf)",
    "easy(order=saf, backfill=lxf)",
    "easy(order=lxf, backfill=sqf)",
    "easy(order=wfp3, age=6)",
    "easy(order=f1, backfill=ljf)",
    "easy(age=4, backfill=laf)",
    "easy(order=unicef, estimate=exact)",
    "easy(estimate=exact)",
    "easy(estimate=0.5)",
    "easy(estimate=1.7, backfill=sjf)",
    "easy(urgent=first)",
    "easy(order=sjf, urgent=first, age=5)",
    "easy(depth=2)",
    "easy(depth=3, order=sjf, backfill=saf, urgent=first)",
    "easy(depth=2, estimate=0.7, age=5)",
    "easy(depth=all)",
    "easy(depth=all, backfill=sqf, estimate=exact)",
)
CONSERVATIVE = (
    *(f"conservative(compress={mode})" for mode in MODES),
    *(f"conservative(compress={mode}, hole=open, urgent=first)" for mode in MODES),
    "conservative(hole=open)",
    "conservative(compress=scratch, urgent=first)",
)
SPECS = (*STRICT, "fcfs(urgent=first)", "sjf(urgent=first)", "lxf(urgent=first)", *EASY, *CONSERVATIVE)
"""Every policy and mode of the queue policies."""


def jobs_of(*rows: Row, urgent: Sequence[int] = ()) -> list[Job]:
    """Jobs from rows in seconds; ``urgent`` names rows by position."""
    return stretched([Job(i + 1, *row, urgent=i in urgent) for i, row in enumerate(rows)], SECOND)


def log_of(jobs: Sequence[Job], **columns: Any) -> Workload:
    """The workload of jobs whose times are µs."""
    names = ("submit", "procs", "walltime", "runtime", "urgent")
    given: dict[str, Any] = {name: [getattr(job, name) for job in jobs] for name in names}
    return Workload.from_arrays(unit="us", job=[job.id for job in jobs], **given, **columns)


def jobs_in(log: Workload) -> list[Job]:
    """The jobs of a workload as the references know them."""
    urgent = log.urgent if "urgent" in log else np.zeros(len(log), np.bool_)
    columns = zip(log.job, log.submit, log.procs, log.walltime, log.runtime, urgent, strict=True)
    return [Job(int(i), int(r), int(q), int(w), int(p), urgent=bool(u)) for i, r, q, w, p, u in columns]


def results_of(made: Schedule) -> list[Result]:
    """A schedule in the words of the references."""
    promise = made.promise if made.promise is not None else np.full(len(made.start), -1)
    rows = zip(made.start, made.end, made.killed, made.why, promise, strict=True)
    return [Result(int(s), int(e), bool(k), WHY[w], int(p) if p >= 0 else None) for s, e, k, w, p in rows]


def simulated(jobs: Sequence[Job], m: int, spec: str) -> list[Result]:
    """What the simulator under test makes of the jobs."""
    return results_of(headway.simulate(log_of(jobs), m, spec))


def by_reference(jobs: Sequence[Job], m: int, spec: str) -> list[Result]:
    """What the plain reference of the spec makes of the jobs."""
    parsed = parse_spec(spec)
    options: dict[str, Any] = dict(parsed.params)
    if parsed.name == "conservative":
        return simulate_conservative(jobs, m, **options)
    if parsed.name != "easy":
        return simulate_strict(jobs, m, parsed.name, options["urgent"])
    age = options.pop("age")
    return simulate_easy(jobs, m, age=None if age == "none" else round(float(age) * SECOND), **options)


def busy(jobs: int, m: int, load: float = 1.0, seed: int = 1) -> Workload:
    """Jobs for m processors in file order: early ends, kills, ties, jobs of no length, some urgent.

    ``load`` is the offered work over what the machine can do until the last submit.
    """
    random = np.random.default_rng(seed)
    runtime = np.rint(np.exp(random.uniform(0, 8, jobs))) - 1
    procs = np.minimum(2 ** random.integers(0, 12, jobs), random.integers(1, m + 1, jobs))
    walltime = np.ceil(runtime * random.choice([0.8, 1, 1.5, 4], jobs) / 60) * 60
    work = float((np.minimum(runtime, walltime) * procs).sum())
    submit = np.floor(random.uniform(0, work / m / load, jobs) / 30) * 30  # many come at one instant
    return Workload.from_arrays(
        unit="s",
        submit=submit,
        procs=procs,
        runtime=runtime,
        walltime=walltime,
        user=random.integers(0, 20, jobs),
        urgent=random.random(jobs) < 0.1,
    )


def starts(results: list[Result]) -> list[float | None]:
    """When each job starts, in seconds."""
    return [result.start / SECOND for result in results]


def promises(results: list[Result]) -> list[float | None]:
    """The start that each was promised, in seconds."""
    return [None if result.promise is None else result.promise / SECOND for result in results]


def whys(results: list[Result]) -> list[str]:
    """Why each started when it did."""
    return [result.why for result in results]
