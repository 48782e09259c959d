"""What must not matter, on parts of real logs: the unit of time, the size of a processor, the date, names."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import headway
from headway import Schedule
from headway.units import SECOND
from headway.workload import Workload
from traces import opening

LOGS = {"KTH-SP2": (100, 4000), "SDSC-SP2": (128, 4000)}
"""Log -> processors, jobs taken from its beginning."""

SPECS = (
    "fcfs",
    "saf",
    "lxf",
    "easy",
    "easy(backfill=sjf)",
    "easy(order=sjf, age=86400)",
    "easy(estimate=exact)",
    "easy(depth=3)",
    "conservative",
    "conservative(compress=fixpoint, hole=open)",
    "conservative(compress=scratch)",
    "conservative(compress=none)",
)
SCALING = tuple(spec for spec in SPECS if "lxf" not in spec and "age" not in spec)
"""A least walltime of a second, and a limit in seconds, do not scale."""
cases = pytest.mark.parametrize("spec", SPECS)
logs = pytest.mark.parametrize("name", LOGS)


@cache
def part(name: str) -> Workload:
    return opening(name, LOGS[name][1]).select(np.arange(LOGS[name][1]))


@cache
def plain(name: str, spec: str) -> Schedule:
    made = headway.simulate(part(name), LOGS[name][0], spec)
    assert int((made.start > made.workload.submit).sum()) > 400, "too few jobs wait for a law to bite"
    return made


def decided(made: Schedule, k: int = 1, by: int = 0) -> list[npt.NDArray[np.int64]]:
    """All decisions, with times multiplied by k and then moved."""
    promise = np.asarray(made.promise)
    told = np.where(promise < 0, promise, k * promise + by)
    return [k * made.start + by, k * made.end + by, told, made.why.astype(np.int64), 1 * made.killed]


def check_same(one: list[npt.NDArray[np.int64]], other: list[npt.NDArray[np.int64]]) -> None:
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a, b)


@logs
@pytest.mark.parametrize("spec", SCALING)
def test_times_multiplied(name: str, spec: str) -> None:
    log, procs = part(name), LOGS[name][0]
    longer = log.with_columns(submit=7 * log.submit, walltime=7 * log.walltime, runtime=7 * log.runtime)
    check_same(decided(headway.simulate(longer, procs, spec)), decided(plain(name, spec), k=7))


@logs
@cases
def test_processors_multiplied(name: str, spec: str) -> None:
    log, procs = part(name), LOGS[name][0]
    wider = log.with_columns(procs=5 * log.procs)
    check_same(decided(headway.simulate(wider, 5 * procs, spec)), decided(plain(name, spec)))


@logs
@cases
def test_submits_shifted(name: str, spec: str) -> None:
    log, procs = part(name), LOGS[name][0]
    by = 10**9 * SECOND + 123_456
    later = log.with_columns(submit=log.submit + by)
    check_same(decided(headway.simulate(later, procs, spec)), decided(plain(name, spec), by=by))


@logs
@cases
def test_jobs_and_users_renamed(name: str, spec: str) -> None:
    log, procs = part(name), LOGS[name][0]
    names = np.random.default_rng(1).permutation(len(log)) + 1
    renamed = log.with_columns(job=names, user=-log.user, group=-log.group, queue=-log.queue)
    check_same(decided(headway.simulate(renamed, procs, spec)), decided(plain(name, spec)))


@logs
@cases
def test_lines_in_another_order(name: str, spec: str) -> None:
    """Lines may stand in any order; only among jobs of one instant their order decides."""
    log, procs = part(name), LOGS[name][0]
    shuffled = np.random.default_rng(2).permutation(len(log))
    rank = np.argsort(np.argsort(log.submit[shuffled], kind="stable"))
    lines = np.argsort(log.submit, kind="stable")[
        rank
    ]  # each submit's jobs keep their order among themselves
    assert not np.array_equal(lines, np.arange(len(log)))
    made = headway.simulate(log.select(lines), procs, spec)
    check_same(decided(made), [column[lines] for column in decided(plain(name, spec))])
