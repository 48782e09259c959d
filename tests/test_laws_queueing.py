"""FCFS on serial jobs with Poisson arrivals: the mean waits that queueing theory gives, M/M/c and M/G/1.

Several independent runs give a mean and its standard error; theory must lie within four of them (a chance of
a mistake of about one in 10,000; the seeds are fixed), and the error itself must be small.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import headway
from headway.units import SECOND
from headway.workload.models import poisson

RUNS, JOBS, WARM_UP = 12, 60_000, 5_000


def measured(
    rate: float, service: str, servers: int, policy: str = "fcfs"
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean wait (s) and share of jobs that wait, each with its standard error over the runs."""
    waits, shares = [], []
    for seed in range(RUNS):
        log = poisson(JOBS, rate, service, procs=servers, seed=seed)
        made = headway.simulate(log, servers, policy)
        wait = (made.start - log.submit)[WARM_UP:]
        waits.append(float(wait.mean()) / SECOND)
        shares.append(float((wait > 0).mean()))
    return error_of(waits), error_of(shares)


def error_of(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))


def erlang_c(servers: int, load: float) -> float:
    """The probability that an arrival waits; load = arrival rate x mean service."""
    terms = [load**n / math.factorial(n) for n in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last)


@pytest.mark.parametrize(("servers", "utilization"), [(1, 0.5), (2, 0.8), (5, 0.7), (20, 0.85)])
def test_erlang_c(servers: int, utilization: float) -> None:
    mean = 100.0  # s
    rate = utilization * servers / mean
    waiting = erlang_c(servers, rate * mean)
    expected = waiting * mean / (servers - rate * mean)
    (wait, wait_error), (share, share_error) = measured(rate, f"exponential({mean})", servers)
    assert abs(wait - expected) < 4 * wait_error
    assert abs(share - waiting) < 4 * share_error
    assert wait_error < 0.03 * expected and share_error < 0.01 * waiting


SERVICES = {
    # run times in seconds -> mean, mean square
    "exponential(10)": (10.0, 200.0),
    "constant(10)": (10.0, 100.0),
    "uniform(4, 16)": (10.0, 100.0 + 12.0),  # variance (16 - 4)^2 / 12 = 12
    "erlang(4, 10)": (10.0, 100.0 + 25.0),  # variance 10^2 / 4
    "hyperexponential(0.9, 5, 55)": (10.0, 0.9 * 2 * 25 + 0.1 * 2 * 3025),
}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("utilization", [0.3, 0.7])
def test_pollaczek_khinchine(service: str, utilization: float) -> None:
    mean, mean_square = SERVICES[service]
    rate = utilization / mean
    expected = rate * mean_square / (2 * (1 - utilization))
    (wait, error), (share, share_error) = measured(rate, service, 1)
    assert abs(wait - expected) < 4 * error
    assert error < 0.04 * expected
    assert abs(share - utilization) < 4 * share_error  # arrivals see the server as busy as it is


def test_serial_jobs_leave_nothing_to_backfill() -> None:
    """Jobs of one processor: EASY and, with known run times, conservative backfilling are FCFS."""
    log = poisson(20_000, 0.95 * 8 / 50, "exponential(50)", procs=8, seed=3)
    fcfs = headway.simulate(log, 8, "fcfs")
    assert float((fcfs.start > log.submit).mean()) > 0.5
    for policy in ("easy", "easy(backfill=sjf)", "conservative"):
        assert np.array_equal(headway.simulate(log, 8, policy).start, fcfs.start)
