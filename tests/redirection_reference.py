"""The reference of a redirection spec, and the simulator's schedule in the reference's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import headway
from headway import Schedule
from headway.audit import audit
from headway.jit import kernels
from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.schedule import ENDED
from headway.units import SECOND
from instances import log_of, results_of
from reference.conservative import Conservative
from reference.dbf import Dbf
from reference.depth import DeepEasy
from reference.easy import Easy
from reference.jobs import Job
from reference.loop import Machine, Policy
from reference.redirection import Redirected, Redirection, simulate_redirection
from reference.strict import Strict

GROUPS = (
    "easy",
    "easy(backfill=sjf)",
    "easy(order=saf, backfill=lxf)",
    "easy(order=f2, age=3)",
    "easy(order=sjf, age=4, urgent=first)",
    "easy(estimate=exact)",
    "easy(estimate=0.5)",
    "easy(depth=2)",
    "easy(depth=all, backfill=sqf)",
    "fcfs",
    "sjf(urgent=first)",
    "laf",
    "lxf",
    "f1",
    "f4",
    "conservative",
    "conservative(compress=every, urgent=first)",
    "conservative(compress=fixpoint)",
    "conservative(compress=scratch)",
    "conservative(compress=none, hole=open)",
)
"""Policies of a group but DBF."""
NOT_OUT_OF_TURN = ("promoted", "redirected")
"""Reasons that say nothing of the turn in which a job started."""
SECOND_KINDS = {
    "easy": ("easy", "conservative"),
    "conservative": ("dbf",),
    "dbf": ("deep", "dbf"),
    "deep": ("strict",),
    "strict": ("easy",),
}
"""Kinds beside each kind of the principal group: each pair of kinds is compiled by itself, so that all of
them would take minutes. Interpreted runs have every pair."""


def kind_of(text: str) -> str:
    """Which code a group's policy needs."""
    name = text.partition("(")[0]
    if name == "easy":
        return "easy" if parse_spec(text).params["depth"] == 1 else "deep"
    return name if name in ("conservative", "dbf") else "strict"


def tried(principal: str, redirected: str) -> bool:
    """Whether tests have this pair here."""
    return kernels.INTERPRETED or kind_of(redirected) in SECOND_KINDS[kind_of(principal)]


def nested_reference(spec: Spec) -> Callable[[Machine], Policy]:
    """The reference of a group's policy."""
    options: dict[str, Any] = dict(spec.params)
    if spec.name == "conservative":
        return partial(Conservative, **options)
    if spec.name == "dbf":
        assert options.pop("hole") == "closed"
        return partial(Dbf, **options)
    if spec.name != "easy":
        return partial(Strict, order=spec.name, urgent=options["urgent"])
    age, depth = options.pop("age"), options.pop("depth")
    options["age"] = None if age == "none" else round(float(age) * SECOND)
    return partial(Easy, **options) if depth == 1 else partial(DeepEasy, depth=depth, **options)


def by_reference(jobs: Sequence[Job], m: int, text: str, slower: Fraction = Fraction(1)) -> Redirected:
    """What the plain reference makes of the jobs; ``slower``: times in the second group over the log's."""
    params: dict[str, Any] = dict(parse_spec(text).params)
    assert params.pop("restart") == "scratch"
    groups = ("principal", "redirected")
    nested: dict[str, Any] = {name: nested_reference(params.pop(name)) for name in groups}
    theta = params.pop("theta")
    limit = math.inf if theta == math.inf else int(theta)
    return simulate_redirection(jobs, m, limit, **params, **nested, slower=slower)


def made(jobs: Sequence[Job], m: int | Platform, text: str) -> tuple[Schedule, Redirected]:
    """The simulator's schedule, itself and in the reference's words: refused jobs are None."""
    deadline = [-1 if job.deadline is None else job.deadline for job in jobs]
    columns = {"deadline": deadline} if max(deadline, default=-1) >= 0 else {}
    schedule = headway.simulate(log_of(jobs, **columns), m, text)
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


def check(jobs: Sequence[Job], m: int, spec: str) -> tuple[Schedule, Redirected]:
    """Runs, kills, reasons, promises and DBF's counts as the reference has them; the audit finds no fault."""
    schedule, found = made(jobs, m, spec)
    expected = by_reference(jobs, m, spec)
    assert found.sizes == expected.sizes
    reserving = any(kind_of(str(each)) in ("conservative", "dbf") for each in nested_specs(spec))
    for job, one, other in zip(jobs, found.results, expected.results, strict=True):
        if reserving and one is not None and other is not None and other.why not in NOT_OUT_OF_TURN:
            assert one.why not in NOT_OUT_OF_TURN
            other.why = one.why  # of a job that starts out of turn the reference says less
        assert one == other, (job, spec)
    assert found.redirections == expected.redirections
    counts = {
        "accepted_deadlines": sum(len(group.accepted) for group in expected.deadlines),
        "promotions": sum(len(group.promoted) for group in expected.deadlines),
        "safety_net": sum(group.safety_net for group in expected.deadlines),
    }
    assert not expected.deadlines or {name: schedule.own[name] for name in counts} == counts
    verdict = audit(schedule)
    assert verdict.ok, verdict.faults
    return schedule, expected


def nested_specs(text: str) -> list[object]:
    """The policies of the two groups."""
    params = parse_spec(text).params
    return [params["principal"], params["redirected"]]
