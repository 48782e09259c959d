"""The twin of a redirection spec, and the simulator's schedule in the twin's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import headway
from headway.policies.spec import Spec, parse_spec
from headway.schedule import ENDED, Schedule
from headway.units import SECOND
from instances import log_of, results_of
from twins.conservative import Conservative
from twins.depth import DeepEasy
from twins.easy import Easy
from twins.jobs import Job
from twins.loop import Machine, Policy
from twins.redirection import Redirected, Redirection, simulate_redirection
from twins.strict import Strict


def nested_twin(spec: Spec) -> Callable[[Machine], Policy]:
    """The twin of a group's policy."""
    options: dict[str, Any] = dict(spec.params)
    if spec.name == "conservative":
        return partial(Conservative, **options)
    if spec.name != "easy":
        return partial(Strict, order=spec.name, urgent=options["urgent"])
    age, depth = options.pop("age"), options.pop("depth")
    options["age"] = None if age == "none" else round(float(age) * SECOND)
    return partial(Easy, **options) if depth == 1 else partial(DeepEasy, depth=depth, **options)


def by_twin(jobs: Sequence[Job], m: int, text: str) -> Redirected:
    """What the plain twin makes of the jobs."""
    params: dict[str, Any] = dict(parse_spec(text).params)
    assert params.pop("restart") == "scratch"
    nested: dict[str, Any] = {name: nested_twin(params.pop(name)) for name in ("principal", "redirected")}
    theta = params.pop("theta")
    return simulate_redirection(jobs, m, math.inf if theta == math.inf else int(theta), **params, **nested)


def made(jobs: Sequence[Job], m: int, text: str) -> tuple[Schedule, Redirected]:
    """The simulator's schedule, itself and in the twin's words: refused jobs are None."""
    schedule = headway.simulate(log_of(jobs), m, text)
    kept = {int(job): row for row, job in enumerate(schedule.workload.job)}
    results = results_of(schedule)
    lost = []
    if schedule.pieces is not None:
        pieces = schedule.pieces
        rows = np.flatnonzero(pieces.ended == ENDED.index("redirected"))
        ids = schedule.workload.job[pieces.job[rows]]
        place = {job.id: at for at, job in enumerate(jobs)}
        lost = [
            Redirection(place[int(job)], int(pieces.start[row]), int(pieces.end[row]))
            for job, row in zip(ids, rows, strict=True)
        ]
    sizes = (schedule.groups["principal"], schedule.groups["redirection"])
    found = [results[kept[job.id]] if job.id in kept else None for job in jobs]
    return schedule, Redirected(found, sorted(lost, key=lambda one: one.killed), sizes)
